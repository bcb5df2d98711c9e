package noise

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/cli/terminal"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A noised is the answer of a release, in the form of its JSON.
type noised struct {
	Mechanism string `json:"mechanism"`

	Value     json.Number   `json:"value,omitempty"`
	Values    []json.Number `json:"values,omitempty"`
	Labels    []string      `json:"bins,omitempty"`      // what each value counts
	Quantiles []json.Number `json:"quantiles,omitempty"` // what each value estimates
	Choice    string        `json:"choice,omitempty"`
	Choices   []string      `json:"choices,omitempty"`
	Gap       *float64      `json:"gap,omitempty"`       // of the choice to the runner-up
	Gaps      []*float64    `json:"gaps,omitempty"`      // of each choice to the next one; null if there is none
	Threshold json.Number   `json:"threshold,omitempty"` // the least count that is shown
	Passed    *bool         `json:"passed,omitempty"`    // whether there is a value

	// Interval holds the value without noise, with the confidence. Intervals holds each of
	// the values, each with the confidence.
	Interval   *[2]json.Number  `json:"interval,omitempty"`
	Intervals  [][2]json.Number `json:"intervals,omitempty"`
	Confidence float64          `json:"confidence,omitempty"`
	// Accuracy is the most by which the release is off, with the confidence: that of all
	// values together.
	Accuracy json.Number `json:"accuracy,omitempty"`
	Unit     string      `json:"unit,omitempty"` // of the accuracy, if it is not that of the values

	Noise       string      `json:"noise,omitempty"`
	Scale       json.Number `json:"scale,omitempty"`
	Sensitivity json.Number `json:"sensitivity,omitempty"`
	Norm        string      `json:"norm,omitempty"` // of the sensitivity: L1, L2

	Domain    string             `json:"domain"`
	Relation  privacy.Neighbours `json:"relation"`
	Cost      noiseCost          `json:"cost"`
	Remaining discreet.Remaining `json:"remaining"`
	Event     json.RawMessage    `json:"event"`
	Notes     []string           `json:"notes,omitempty"`
	Statement string             `json:"statement"`
}

// A noiseCost is a discreet.Cost. A stored answer keeps its events as they were.
type noiseCost struct {
	filter.Amounts
	Events []json.RawMessage `json:"events"`
}

// lines are what goes to standard output: the release and nothing else.
func (a *noised) lines() (lines []string) {
	switch {
	case a.Value != "":
		return []string{a.Value.String()}
	case a.Choice != "":
		return []string{withGap(a.Choice, a.Gap)}
	case a.Passed != nil:
		return []string{"none"}
	}
	for i, v := range a.Values {
		line := v.String()
		if a.Labels != nil {
			line = terminal.Printable(a.Labels[i]) + "\t" + line
		}
		lines = append(lines, line)
	}
	for i, c := range a.Choices {
		if a.Gaps != nil {
			c = withGap(c, a.Gaps[i])
		}
		lines = append(lines, c)
	}
	return lines
}

func withGap(choice string, gap *float64) string {
	if gap == nil {
		return choice
	}
	return choice + "\t" + terminal.JSONNumber(*gap).String()
}

// talk is what a reader must know besides the release.
func (a *noised) talk() (lines []string) {
	percent := numeric.FormatRat(new(big.Rat).Mul(terminal.Shortest(a.Confidence), big.NewRat(100, 1))) + "% confidence"
	switch {
	case a.Interval != nil:
		lines = append(lines, fmt.Sprintf("interval: [%s, %s] with %s", terminal.Short(a.Interval[0]), terminal.Short(a.Interval[1]), percent))
	case a.Accuracy != "":
		what := terminal.Short(a.Accuracy)
		if a.Unit != "" {
			what += " " + a.Unit
		}
		if len(a.Values) > 1 {
			percent += ", all values together"
		}
		lines = append(lines, fmt.Sprintf("error: at most %s with %s", what, percent))
	}
	sensitivity := fmt.Sprintf("%s (%s)", terminal.Short(a.Sensitivity), a.Norm)
	switch {
	case a.Noise != "" && a.Sensitivity != "":
		lines = append(lines, fmt.Sprintf("noise: %s of scale %s, for a sensitivity of %s", a.Noise, terminal.Short(a.Scale), sensitivity))
	case a.Noise != "":
		lines = append(lines, fmt.Sprintf("noise: %s of scale %s", a.Noise, terminal.Short(a.Scale)))
	case a.Sensitivity != "":
		lines = append(lines, "sensitivity: "+sensitivity)
	}
	lines = append(lines, fmt.Sprintf("protects: every unit of domain %s, %v", a.Domain, a.Relation))
	lines = append(lines, "cost: "+terminal.ChargeText(a.Cost.Amounts), "left: "+terminal.RemainingText(a.Remaining))
	for _, n := range a.Notes {
		lines = append(lines, "note: "+n)
	}
	return lines
}

// interval adds a whole number with its interval.
func (a *noised) interval(x, each *big.Int) {
	a.Values = append(a.Values, json.Number(x.String()))
	a.Intervals = append(a.Intervals, [2]json.Number{json.Number(new(big.Int).Sub(x, each).String()), json.Number(new(big.Int).Add(x, each).String())})
}

// single prints a value by itself, not as a list of one.
func (a *noised) single() {
	if len(a.Values) == 1 {
		a.Value, a.Values = a.Values[0], nil
		if len(a.Intervals) == 1 {
			a.Interval, a.Intervals = &a.Intervals[0], nil
		}
	}
}

// one prints a choice by itself, not as a list of one.
func (a *noised) one() {
	if len(a.Choices) == 1 {
		a.Choice, a.Choices = a.Choices[0], nil
		if len(a.Gaps) == 1 {
			a.Gap, a.Gaps = a.Gaps[0], nil
		}
	}
}

// outward is an interval around x, which rounding does not make narrower.
func outward(x, each float64) [2]json.Number {
	return [2]json.Number{terminal.JSONNumber(math.Nextafter(x-each, math.Inf(-1))), terminal.JSONNumber(math.Nextafter(x+each, math.Inf(1)))}
}
