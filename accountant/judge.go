package accountant

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A floor is what a plan certainly costs: by post-processing no plan reveals less than
// any one of its terms, which package referee knows in intervals, independently of
// all accountants. A bound below a floor is wrong. Its accountant is refused, and the
// next best one stands: a number that an accountant lost is never repaired here.

// floorTerms is how many different events of a plan are looked at, and floorOutputs how
// many outputs of one are told apart: a few milliseconds each. floorDepth is how deep
// samplings may lie in each other: each asks what it samples four times, for two directions
// and both ends of an interval, so that sixteen of them would never end.
const (
	floorTerms   = 16
	floorOutputs = 256
	floorDepth   = 3
)

// judge refuses the accountants whose High lies below what one event of the plan costs.
// Bounds are sorted, and what holds of the least High holds of the others.
func (r *Report) judge(floors []certain) {
	for len(r.Bounds) > 0 {
		why := r.below(floors, r.Bounds[0])
		if why == "" {
			return
		}
		r.Refused = append(r.Refused, Refusal{Accountant: r.Bounds[0].Accountant, Why: why})
		r.Bounds = r.Bounds[1:]
	}
}

// floorsOf lists what is certain of the first events of the plans.
func floorsOf(plans []*flat) (floors []certain) {
	for _, p := range plans {
		for _, t := range p.terms[:min(len(p.terms), floorTerms)] {
			if len(floors) < floorTerms {
				if f, ok := t.certain(); ok {
					floors = append(floors, f)
				}
			}
		}
	}
	return floors
}

// A certain cost is a term with its profile from below.
type certain struct {
	term
	profile referee.Profile
}

func (t term) certain() (certain, bool) {
	if samplings(t.event) > floorDepth {
		return certain{}, false
	}
	b := referee.Of(t.event, t.rel, int64(t.count), floorOutputs)
	return certain{t, b.Floor}, b.Floor != nil
}

// samplings is how many samplings lie in each other, of those that package referee knows.
func samplings(e privacy.Event) (deepest int) {
	switch e := e.(type) {
	case privacy.Poisson:
		return 1 + samplings(e.Event)
	case privacy.WithoutReplacement:
		return 1 + samplings(e.Event)
	case privacy.Repeat:
		return samplings(e.Event)
	case privacy.Sum:
		for _, one := range e.Events {
			deepest = max(deepest, samplings(one))
		}
	}
	return deepest
}

// below says which event of the plan costs more than a bound, if any does.
func (r *Report) below(floors []certain, b Bound) string {
	for _, f := range floors {
		switch {
		case b.Epsilon != nil && b.Epsilon.High < math.Inf(1):
			if at := f.profile.At(exactly(b.Epsilon.High)); at.Cmp(numeric.Of(exactly(*r.Delta))) > 0 {
				lo, _ := at.Float64s()
				return fmt.Sprintf("its bound, ε = %v, lies below what %v costs alone, δ = %.6g there: a fault", b.Epsilon.High, f.event, lo)
			}
		case b.Delta != nil && b.Delta.High < 1:
			if at := f.profile.At(exactly(*r.Epsilon)); at.Cmp(numeric.Of(exactly(b.Delta.High))) > 0 {
				lo, _ := at.Float64s()
				return fmt.Sprintf("its bound, δ = %v, lies below what %v costs alone, δ = %.6g: a fault", b.Delta.High, f.event, lo)
			}
		}
	}
	return ""
}
