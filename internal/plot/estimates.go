package plot

import (
	"fmt"
	"math"
	"strings"
)

// Estimates are what was estimated of some groups: a row for each group, a panel for each
// quantity, a mark for each series, with a whisker as long as its range.
type Estimates struct {
	Title      string
	Groups     []string // from above
	Series     []string // none if there is one
	Quantities []Quantity
	Notes      []string // at the foot
	About      string   // in words, for who cannot see it
}

// A Quantity is estimated of each group.
type Quantity struct {
	Label string       // with its unit
	Marks [][]Estimate // by group, then by series
}

// An Estimate is a value and how far it can be off.
type Estimate struct {
	Value float64 // NaN if there is none
	Range Range
	Text  string // the value in words
}

// has reports whether an estimate can be drawn.
func (e Estimate) has() bool { return !math.IsNaN(e.Value) && Axis{}.has(e.Value) }

// whisker is the range, as far as it can be drawn.
func (e Estimate) whisker() (r Range, known bool) {
	return e.Range, !e.Range.IsUnknown() && Axis{}.has(e.Range.Low) && Axis{}.has(e.Range.High)
}

// series is how many marks a row has.
func (e Estimates) series() int { return max(1, len(e.Series)) }

// label stands above a quantity, unless the title has said it.
func (e Estimates) label(q Quantity) string {
	if len(e.Quantities) == 1 && strings.HasPrefix(e.Title+" ", q.Label+" ") {
		return ""
	}
	return q.Label
}

// check refuses estimates that are not of the shape of their groups and series.
func (e Estimates) check() error {
	if len(e.Quantities) == 0 {
		return errEmpty
	}
	for _, q := range e.Quantities {
		if len(q.Marks) != len(e.Groups) {
			return fmt.Errorf("plot: %s is of %d groups, not %d", q.Label, len(q.Marks), len(e.Groups))
		}
		for i, marks := range q.Marks {
			if len(marks) != e.series() {
				return fmt.Errorf("plot: %s has %d marks of group %d, not %d", q.Label, len(marks), i, e.series())
			}
		}
	}
	return nil
}

// scale fits an axis to the estimates and their ranges. It begins at 0 where 0 is near:
// distances from 0 are what people read first.
func (q Quantity) scale(ticks int) (s scale, ok bool) {
	r := Axis{}.reach()
	for _, marks := range q.Marks {
		for _, e := range marks {
			if !e.has() {
				continue
			}
			ok = true
			r.include(e.Value)
			if w, known := e.whisker(); known {
				r.include(w.Low)
				r.include(w.High)
			}
		}
	}
	if !ok {
		return scale{}, false
	}
	switch {
	case r.lo > 0 && r.lo <= r.hi/2:
		r.lo = 0
	case r.hi < 0 && r.hi >= r.lo/2:
		r.hi = 0
	case r.lo == r.hi && r.lo != 0: // a single exact value
		r.include(0)
	}
	return r.scale(ticks, loose), true
}

// describe says in words what is drawn.
func (e Estimates) describe() string {
	var b strings.Builder
	b.WriteString(e.About)
	for _, q := range e.Quantities {
		for g, marks := range q.Marks {
			for s, m := range marks {
				name := e.Groups[g]
				if len(e.Series) > 0 {
					name += ", " + e.Series[s]
				}
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(strings.TrimPrefix(name+": ", ": ") + q.Label + " " + m.Text)
			}
		}
	}
	return b.String()
}
