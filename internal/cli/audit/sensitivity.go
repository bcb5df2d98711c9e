package audit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
)

// A sensitivityReport says how far answers moved when one unit was removed.
type sensitivityReport struct {
	Data    string              `json:"data"`
	Private bool                `json:"private"` // made from exact values of the owner's
	Notice  string              `json:"notice,omitempty"`
	Units   int                 `json:"units"` // in the data
	Results []sensitivityResult `json:"results"`
}

type sensitivityResult struct {
	Query string `json:"query"`
	audit.SensitivityLowerBound
	Unit  string   `json:"unit,omitempty"`  // whose removal moved it most
	Truth *float64 `json:"truth,omitempty"` // over all databases, where it is known
}

// textbook measures queries whose sensitivity is known, over bits that are drawn.
func (a *auditing) textbook(ctx context.Context, t *terminal.Terminal) error {
	bits, err := audit.Bits(a.bits, max(a.units, 2))
	if err != nil {
		return err
	}
	db := make([]float64, len(bits))
	for i, b := range bits {
		if b {
			db[i] = 1
		}
	}
	total := sum(db)
	above := func(k float64) func([]float64) float64 {
		return func(x []float64) float64 {
			if sum(x) > k {
				return 1
			}
			return 0
		}
	}
	r := sensitivityReport{Data: "drawn bits", Units: len(db)}
	for _, q := range []struct {
		name  string
		f     func([]float64) float64
		truth float64
	}{
		{"count", func(x []float64) float64 { return float64(len(x)) }, 1},
		{"sum of bits", sum, 1},
		{"mean of bits", func(x []float64) float64 { return sum(x) / float64(len(x)) }, 0.5}, // reached by (0, 1) and (1)
		{"median of bits", median, 0.5},
		{fmt.Sprintf("sum above %v", total-1), above(total - 1), 1},
		{fmt.Sprintf("sum above %v", total), above(total), 1},
	} {
		s, err := audit.Sensitivity(ctx, db, func(x []float64) []float64 { return []float64{q.f(x)} }, a.norm)
		if err != nil {
			return unplayable(err)
		}
		r.Results = append(r.Results, sensitivityResult{Query: q.name, SensitivityLowerBound: s, Truth: &q.truth})
	}
	if a.json {
		return t.WriteJSON(r)
	}
	r.write(t)
	return nil
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// write prints a report for people.
func (r *sensitivityReport) write(t *terminal.Terminal) {
	if r.Private {
		fmt.Fprintf(t.Out, "%s\n\n", terminal.Wrap(r.Notice, t.Paragraph()))
	}
	g := terminal.Grid{{Title: "query", Most: 60}, {Title: "moved by", Right: true}, {Title: "from", Right: true}, {Title: "to", Right: true}}
	if r.Private {
		g = append(g, terminal.Column{Title: "without unit"})
	} else {
		g = append(g, terminal.Column{Title: "sensitivity", Right: true})
	}
	looked := 0
	for _, x := range r.Results {
		looked = x.Databases
		last := terminal.Printable(x.Unit)
		if x.Truth != nil {
			last = numberText(*x.Truth)
		}
		for j, cell := range []string{terminal.OneLine(x.Query), numberText(x.LowerBound), numbersText(x.With), numbersText(x.Without), last} {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	g.Write(t.Out)
	t.Say("without each of %d units, of %d; the sensitivity is at least this; it may be larger", looked, r.Units)
}

func numberText(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func numbersText(x []float64) string {
	var out []string
	for _, v := range x {
		out = append(out, numberText(v))
	}
	return strings.Join(out, ", ")
}
