package referee

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A Bound is what is known of the greatest δ(ε) over all mechanisms that a plan
// describes and all neighbours: at least Floor's lower end, at most Ceiling's upper
// end. Where both are set by one attained pair they are the same.
type Bound struct{ Floor, Ceiling Profile } // nil where nothing is known

func exactly(p Profile) Bound { return Bound{p, p} }

// worse joins two ways in which neighbours may lie.
func (b Bound) worse(c Bound) Bound {
	return Bound{join(b.Floor, c.Floor, true), join(b.Ceiling, c.Ceiling, false)}
}

func join(p, q Profile, either bool) Profile {
	switch {
	case p != nil && q != nil:
		return p.Worse(q)
	case !either:
		return nil
	case p == nil:
		return q
	}
	return p
}

// Of returns what is known of count events e on neighbours under the relation.
// Sensitivities are those of AddRemove, as in plans. No more than work outputs are told
// apart; where an event has more, it is seen through fewer, or counted once.
func Of(e privacy.Event, rel privacy.Neighbours, count, work int64) Bound {
	switch e := e.(type) {
	case privacy.Repeat:
		if high, _ := bits.Mul64(uint64(e.Count), uint64(count)); high == 0 && int64(e.Count)*count > 0 {
			return Of(e.Event, rel, int64(e.Count)*count, work)
		}
		return Of(e.Event, rel, int64(e.Count), work) // on overflow fewer repetitions: still a lower bound
	case privacy.Sum:
		return ofSum(e, rel, count, work)
	}
	if mu2 := gaussian(e, rel); mu2 != nil {
		return exactly(Gaussian(root(new(big.Rat).Mul(mu2, big.NewRat(count, 1)))))
	}
	once := single(e, rel, work)
	if count == 1 {
		return once
	}
	return Bound{Floor: once.Floor}.many(e, rel, count, work)
}

// single is one event that is no Gaussian noise.
func single(e privacy.Event, rel privacy.Neighbours, work int64) Bound {
	switch e := e.(type) {
	case privacy.Laplace:
		return exactly(laplaceNoise(numeric.Of(new(big.Rat).Quo(distance(e.Sensitivity, rel), e.Scale))))
	case privacy.Exponential:
		return exactly(boundedRange(numeric.Of(e.Epsilon.Rat())))
	case privacy.ZCDP: // which Gaussian noise has
		return Bound{Floor: Gaussian(root(new(big.Rat).Mul(e.Rho.Rat(), big.NewRat(2, 1))))}
	case privacy.PermuteAndFlip:
		return choice(e.Epsilon.Rat())
	case privacy.NoisyMax:
		return choice(e.Epsilon.Rat())
	case privacy.SparseVector:
		return Bound{Ceiling: Response(e.Epsilon.Rat(), new(big.Rat), 1)}
	case privacy.WithoutReplacement:
		// One query attains Removed's bound at each ε (see there): all other units look
		// like the replacement.
		if rel != privacy.ReplaceOne {
			return Bound{}
		}
		return Of(e.Event, rel, 1, work).through(func(p Profile) Profile { return removed(big.NewRat(e.M, e.N), p) })
	case privacy.Poisson:
		if there, back, ok := laws(e.Event, rel); ok {
			if rel != privacy.AddRemove {
				return Bound{}
			}
			return exactly(there.Removed(e.Rate).Profile().Worse(back.Added(e.Rate).Profile()))
		}
		inner := Of(e.Event, rel, 1, work)
		if rel == privacy.ReplaceOne {
			if mu2 := gaussian(e.Event, privacy.AddRemove); mu2 != nil && !states(e.Event) {
				return Bound{Floor: replaced(root(mu2), numeric.Of(e.Rate))}
			}
			return Bound{}
		}
		return inner.through(func(p Profile) Profile { return removed(e.Rate, p) }).
			worse(inner.through(func(p Profile) Profile { return added(e.Rate, p) }))
	}
	if there, back, ok := laws(e, rel); ok {
		return exactly(there.Profile().Worse(back.Profile()))
	}
	if l, ok := law(e, rel, work); ok {
		return exactly(l.Profile())
	}
	return Bound{}
}

// maxStated is the longest stated pair that is looked at: an output takes some ten µs.
const maxStated = 256

// laws is an event whose law differs with the direction in which neighbours lie.
func laws(e privacy.Event, rel privacy.Neighbours) (there, back Law, ok bool) {
	switch e := e.(type) {
	case privacy.Pair:
		return stated(e.P, e.Q), stated(e.Q, e.P), len(e.P) <= maxStated
	case privacy.RandomizedResponse:
		if rel == privacy.ReplaceSpecial {
			uniform := big.NewRat(1, int64(e.K))
			rest := func(p *big.Rat) *big.Rat { return new(big.Rat).Sub(big.NewRat(1, 1), p) }
			p, q := []*big.Rat{e.P, rest(e.P)}, []*big.Rat{uniform, rest(uniform)}
			return stated(p, q), stated(q, p), true
		}
	}
	return Law{}, Law{}, false
}

func (b Bound) through(f func(Profile) Profile) Bound {
	if b.Floor != nil {
		b.Floor = f(b.Floor)
	}
	if b.Ceiling != nil {
		b.Ceiling = f(b.Ceiling)
	}
	return b
}

// choice is the profile of choices of ε: at most that of all ε-DP events. Permute and
// flip, which is the largest of scores with exponential noise (Ding et al. 2021), takes
// the worse of two candidates with probability e^(-ε·gap/2)/2, and a unit moves a gap
// by 2. A candidate that was worse by g and is better by 2-g goes from e^-v/2 to
// 1 - e^(v-ε)/2, v = εg/2; at v = (ε+x)/2 they are apart by 1 - e^(-(ε-x)/2) after a
// factor of e^x for the one.
func choice(eps *big.Rat) Bound {
	x := numeric.Of(eps)
	return Bound{
		Floor:   func(eps Interval) Interval { return fall(positive(x.Sub(eps)).Quo(two())) },
		Ceiling: Response(eps, new(big.Rat), 1),
	}
}

// replaced is the divergence of (1-q)N(0,1)+qN(μ,1) from (1-q)N(0,1)+qN(-μ,1), by the
// test that rejects above a threshold: any is a lower bound, and the one where the
// ratio is about e^ε attains it.
func replaced(mu, rate Interval) Profile {
	rest := one().Sub(rate)
	return decreasing(func(eps Interval) Interval {
		if eps.Cmp(most()) > 0 {
			return zero()
		}
		_, m := mu.Float64s()
		_, q := rate.Float64s()
		_, x := eps.Float64s()
		ratio := func(u float64) float64 {
			up, down := m*u-m*m/2, -m*u-m*m/2
			top := math.Max(up, 0)
			return top + math.Log((1-q)*math.Exp(-top)+q*math.Exp(up-top)) - math.Log1p(q*math.Expm1(down))
		}
		lo, hi := 0.0, 2*(x-math.Log(q))/m+2*m
		if math.IsNaN(hi) || math.IsInf(hi, 1) {
			return zero()
		}
		for range 100 {
			if mid := lo + (hi-lo)/2; ratio(mid) < x {
				lo = mid
			} else {
				hi = mid
			}
		}
		u := numeric.OfFloat(lo)
		p := rest.Mul(tail(u)).Add(rate.Mul(tail(u.Sub(mu))))
		q2 := rest.Mul(tail(u)).Add(rate.Mul(tail(u.Add(mu))))
		return positive(p.Sub(exp(eps).Mul(q2)))
	})
}

// many adds to once what is known of count events.
func (b Bound) many(e privacy.Event, rel privacy.Neighbours, count, work int64) Bound {
	add := func(p Profile) { b.Floor = join(b.Floor, p, true) }
	switch e := e.(type) {
	case privacy.Pure:
		if count <= work {
			return exactly(Response(e.Epsilon.Rat(), new(big.Rat), count))
		}
	case privacy.Approx:
		if count <= work {
			return exactly(Response(e.Epsilon.Rat(), e.Delta.Rat(), count))
		}
	case privacy.Selection:
		if count <= work {
			return exactly(Response(e.Epsilon.Rat(), e.Delta.Rat(), count))
		}
	case privacy.ZCDP:
		add(Gaussian(root(new(big.Rat).Mul(e.Rho.Rat(), big.NewRat(2*count, 1)))))
	case privacy.Exponential: // one() choice has the losses ±ε/2
		if count <= work {
			add(Response(new(big.Rat).Quo(e.Epsilon.Rat(), big.NewRat(2, 1)), new(big.Rat), count))
		}
	case privacy.Laplace: // seen through what is on which side of both centres
		if t := new(big.Rat).Quo(distance(e.Sensitivity, rel), e.Scale); count*count <= work {
			add(sides(t).Repeat(count).Profile())
		}
	case privacy.Poisson:
		if rel == privacy.ReplaceOne {
			break
		}
		if mu2 := gaussian(e.Event, rel); mu2 != nil {
			if count > work || mu2.Cmp(big.NewRat(1<<20, 1)) > 0 {
				break
			}
			mu := root(mu2)
			for z := int64(-1); z <= 3; z += 2 {
				l := cells(mu, []Interval{mu.Quo(two()).Add(numeric.OfInt(z))})
				add(l.Removed(e.Rate).Repeat(count).Profile())
				add(l.Added(e.Rate).Repeat(count).Profile())
			}
			break
		}
		if l, ok := law(e.Event, rel, work); ok && l.moderate() {
			removed, added := l.Removed(e.Rate), l.Added(e.Rate)
			if repeats(removed, count, work) && repeats(added, count, work) {
				return exactly(removed.Repeat(count).Profile().Worse(added.Repeat(count).Profile()))
			}
		}
	}
	if there, back, ok := laws(e, rel); ok {
		if repeats(there, count, work) && repeats(back, count, work) {
			return exactly(there.Repeat(count).Profile().Worse(back.Repeat(count).Profile()))
		}
		return b
	}
	if l, ok := law(e, rel, work); ok && repeats(l, count, work) {
		return exactly(l.Repeat(count).Profile())
	}
	return b
}

// repeats reports whether count of a law have few outputs: those on a lattice, or of two
// or three kinds.
func repeats(l Law, count, work int64) bool {
	n := int64(len(l.Outputs))
	if n == 0 {
		return false
	}
	if l.Outputs[0].At > 1<<39 { // a lattice
		return 2*n*count <= work
	}
	switch n {
	case 1, 2:
		return count <= work
	case 3:
		return count*count <= work
	}
	return false
}

// sides is Laplace noise seen through which of both centres an output is beyond.
func sides(t *big.Rat) Law {
	x := numeric.Of(t)
	lower, half := exp(x.Neg()).Quo(two()), one().Quo(two())
	return Law{Outputs: []Output{
		{lower, x.Neg(), 1},
		{half, x, 1 << 20},
		{half.Sub(lower), zero(), 1 << 40}, // by symmetry
	}}
}

// law is that of an event with few outputs.
func law(e privacy.Event, rel privacy.Neighbours, work int64) (Law, bool) {
	switch e := e.(type) {
	case privacy.Pure:
		return approx(e.Epsilon.Rat(), new(big.Rat)), true
	case privacy.Approx:
		return approx(e.Epsilon.Rat(), e.Delta.Rat()), true
	case privacy.Selection:
		return approx(e.Epsilon.Rat(), e.Delta.Rat()), true
	case privacy.RandomizedResponse:
		return answers(e.P, int64(e.K)), rel == privacy.ReplaceOne // of ReplaceSpecial, see single and many
	case privacy.DiscreteLaplace:
		if s := distance(e.Sensitivity, rel); s.IsInt() && s.Cmp(big.NewRat(work, 1)) < 0 {
			return discreteLaplace(e.Scale, s.Num().Int64()), true
		}
	case privacy.DiscreteGaussian:
		s2 := e.SensitivitySquared
		s, whole := numeric.ExactSqrt(s2)
		if !whole || !s.IsInt() || s.Cmp(big.NewRat(work, 1)) >= 0 || e.Variance.Cmp(big.NewRat(work*work, 1)) > 0 {
			return Law{}, false
		}
		v, _ := e.Variance.Float64()
		reach := int64(math.Ceil(40*math.Sqrt(v))) + 2
		if n := distance(s, rel).Num().Int64(); 2*reach+n < work {
			return discreteGaussian(e.Variance, n, reach), true
		}
	}
	return Law{}, false
}

// ofSum: the noise of Gaussian events adds up; of others the worst alone is a floor.
func ofSum(e privacy.Sum, rel privacy.Neighbours, count, work int64) Bound {
	sum := new(big.Rat)
	for _, t := range e.Events {
		mu2 := gaussian(t, rel)
		if mu2 == nil {
			sum = nil
			break
		}
		sum.Add(sum, mu2)
	}
	if sum != nil {
		return exactly(Gaussian(root(sum.Mul(sum, big.NewRat(count, 1)))))
	}
	var b Bound
	for _, t := range e.Events {
		b.Floor = join(b.Floor, Of(t, rel, count, work).Floor, true)
	}
	return b
}

// gaussian is μ² of an event that is as bad as N(μ,1) against N(0,1), or nil.
func gaussian(e privacy.Event, rel privacy.Neighbours) *big.Rat {
	square := func(s2, v *big.Rat) *big.Rat {
		m := new(big.Rat).Quo(s2, v)
		if rel == privacy.ReplaceOne {
			m.Mul(m, big.NewRat(4, 1))
		}
		return m
	}
	switch e := e.(type) {
	case privacy.Gaussian:
		return square(e.SensitivitySquared, e.Variance)
	case privacy.GDP:
		return new(big.Rat).Mul(e.Mu, e.Mu)
	case privacy.Tree:
		levels := int64(bits.Len64(uint64(e.Leaves-1))) + 1
		s2 := new(big.Rat).Mul(e.Sensitivity, e.Sensitivity)
		return square(s2.Mul(s2, big.NewRat(levels, 1)), new(big.Rat).Mul(e.Sigma, e.Sigma))
	case privacy.Repeat:
		if inner := gaussian(e.Event, rel); inner != nil {
			return inner.Mul(inner, big.NewRat(int64(e.Count), 1))
		}
	case privacy.Sum:
		sum := new(big.Rat)
		for _, t := range e.Events {
			inner := gaussian(t, rel)
			if inner == nil {
				return nil
			}
			sum.Add(sum, inner)
		}
		return sum
	}
	return nil
}

// states reports whether e has a GDP event, whose μ is the whole distance under
// either relation.
func states(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.GDP:
		return true
	case privacy.Repeat:
		return states(e.Event)
	case privacy.Sum:
		for _, t := range e.Events {
			if states(t) {
				return true
			}
		}
	}
	return false
}

// distance is a sensitivity under the relation: a replacement is a removal and an
// addition.
func distance(s *big.Rat, rel privacy.Neighbours) *big.Rat {
	if rel == privacy.ReplaceOne {
		return new(big.Rat).Mul(s, big.NewRat(2, 1))
	}
	return s
}

func root(x *big.Rat) Interval { return numeric.Of(x).Sqrt() }
