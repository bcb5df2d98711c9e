package verify

import (
	"fmt"
	"slices"
	"strings"
)

// An attempt is a way to a verdict that led to none.
type attempt struct {
	by  string
	why []string
}

const (
	couplings       = "couplings"
	counterexamples = "counterexamples"
	samples         = "samples"
)

func (d *decision) try(by string, why ...string) {
	d.tried = append(d.tried, attempt{by, why})
}

// mostReasons is how many reasons of one attempt are shown.
const mostReasons = 3

// open ends a decision that found nothing: the note says what was tried, and the problems why
// it led nowhere.
func (d *decision) open() {
	placed := d.result.Problems
	var words []string
	for _, t := range d.tried {
		if t.by == counterexamples || t.by == samples {
			words = append(words, t.by+": "+strings.Join(t.why, ", "))
			continue
		}
		words = append(words, t.by)
		for i, why := range t.why {
			said := func(p Problem) bool { return p.Kind == Unproved && strings.Contains(why, p.Text) }
			switch {
			case slices.ContainsFunc(placed, said):
			case i == mostReasons:
				d.problem(Unproved, fmt.Sprintf("%s: and %d more", t.by, len(t.why)-i), "")
			case i < mostReasons:
				d.problem(Unproved, t.by+": "+why, "")
			}
		}
	}
	d.note("tried: " + strings.Join(words, "; "))
}
