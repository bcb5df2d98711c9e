package main

import (
	"encoding/json"
	"fmt"
	"math/big"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A noised is the answer of a release, in the form of its JSON.
type noised struct {
	Mechanism string `json:"mechanism"`

	Value  json.Number   `json:"value,omitempty"`
	Values []json.Number `json:"values,omitempty"`

	// Interval holds the value without noise, with the confidence; Intervals each
	// of the values, each with the confidence.
	Interval   *[2]json.Number  `json:"interval,omitempty"`
	Intervals  [][2]json.Number `json:"intervals,omitempty"`
	Confidence float64          `json:"confidence"`
	// Accuracy is how far the release is off at most, with the confidence: all
	// values together.
	Accuracy json.Number `json:"accuracy,omitempty"`

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

// A noiseCost is discreet.Cost, of which a stored answer keeps the events as they are.
type noiseCost struct {
	filter.Amounts
	Events []json.RawMessage `json:"events"`
}

// lines are what goes to standard output: the release and nothing else.
func (a *noised) lines() (lines []string) {
	if a.Value != "" {
		return []string{a.Value.String()}
	}
	for _, v := range a.Values {
		lines = append(lines, v.String())
	}
	return lines
}

// talk is what a reader must know beside it.
func (a *noised) talk() (lines []string) {
	percent := numeric.FormatRat(new(big.Rat).Mul(shortest(a.Confidence), big.NewRat(100, 1))) + "% confidence"
	switch {
	case a.Interval != nil:
		lines = append(lines, fmt.Sprintf("interval: [%s, %s] with %s", a.Interval[0], a.Interval[1], percent))
	case a.Accuracy != "":
		lines = append(lines, fmt.Sprintf("error: at most %s with %s, all values together", a.Accuracy, percent))
	}
	if a.Noise != "" {
		lines = append(lines, fmt.Sprintf("noise: %s of scale %s, for a sensitivity of %s (%s) between %s", a.Noise, short(a.Scale), short(a.Sensitivity), a.Norm, neighbourText(a.Relation)))
	}
	lines = append(lines, "cost: "+chargeText(a.Cost.Amounts), "left: "+remainingText(a.Remaining))
	for _, n := range a.Notes {
		lines = append(lines, "note: "+n)
	}
	return lines
}

// neighbourText says what the relation compares.
func neighbourText(n privacy.Neighbours) string {
	if n == privacy.ReplaceOne {
		return "data sets of which one has another unit in one's place (replace-one)"
	}
	return "data sets of which one has one unit more (add-remove)"
}

// short prints a number in at most four digits.
func short(n json.Number) string {
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return fmt.Sprintf("%.4g", f)
}

// shortest is the decimal that a float64 was written as.
func shortest(f float64) *big.Rat {
	r, err := numeric.FromFloat(f)
	if err != nil {
		return new(big.Rat)
	}
	return r
}
