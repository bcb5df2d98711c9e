package prove

import (
	"context"
	"math/big"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// cheapest looks for the least part of the claimed cost that suffices: what the
// proved alignment costs in tests is proved to be all that it costs, and then a
// cheaper alignment is looked for, not for long.
func (s *search) cheapest(ctx context.Context, a alignment, proved *Orientation) (*Orientation, error) {
	defer func(goal *big.Rat) { s.goal = goal }(s.goal)
	for range 3 {
		_, seen := s.challenge(ctx, a, firstTries)
		if s.dearest == nil || s.ratio.Sign() <= 0 {
			return proved, nil
		}
		ratio := s.ratio
		if ratio.Cmp(s.goal) < 0 {
			s.goal = ratio
			o, _, err := s.confirm(ctx, a, seen)
			if err != nil {
				return nil, err
			}
			if o == nil {
				return proved, nil // what tests saw is not all
			}
			proved = o
		}
		s.tests = append(s.tests, s.dearest)
		s.goal = new(big.Rat).Mul(ratio, big.NewRat(99, 100))
		s.steps, s.runs = maxSteps*9/10, maxRuns*9/10 // a tenth is left
		for next := true; next; {
			a = s.next()
			if a == nil {
				return proved, nil
			}
			var t *test
			if t, _ = s.challenge(ctx, a, firstTries); t != nil {
				s.tests = append(s.tests, t)
			}
			next = t != nil
		}
	}
	return proved, nil
}

// leastCost is the part of the claimed cost that the proofs need.
func leastCost(claimed p.Expression, os []Orientation) string {
	part := new(big.Rat)
	for _, o := range os {
		if r, ok := o.part(); ok && r.Cmp(part) > 0 {
			part = r
		}
	}
	if part.Cmp(rational(1)) == 0 {
		return claimed.String()
	}
	l := laurentOf(claimed).times(constantLaurent(part))
	for _, t := range l.terms {
		for _, n := range t.powers {
			if n < 0 {
				return part.RatString() + "*(" + claimed.String() + ")"
			}
		}
	}
	return l.polynomial(rational(1)).String()
}

// part is the part of the claimed cost that the proof needs, in (0, 1].
func (o Orientation) part() (*big.Rat, bool) {
	if o.Part == "" {
		return rational(1), true
	}
	if len(o.Part) > 100 {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(o.Part)
	return r, ok && r.RatString() == o.Part && r.Sign() > 0 && r.Cmp(rational(1)) < 0
}
