package exact

import (
	"context"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A system is a connected part of a region: signed sums of scaled draws in
// intervals. Every draw is scaled so that it enters all its sums with 1 or −1.
type system struct {
	laws    []program.Law
	scales  []*big.Rat // of the scaled draws
	spacing []*big.Rat // what one unit of a discrete draw became
	sums    []sum
}

// A sum is lo <= Σ ±draw <= hi.
type sum struct {
	plus, minus    uint64
	lo, hi         *big.Rat
	loOpen, hiOpen bool
}

// systems splits the region into connected parts. It reports false where a draw
// enters two sums with different weights relative to the others, or there are more
// than 64 draws in a part.
func (r *region) systems() ([]system, bool) {
	at := map[int][]int{} // draw to its bounds
	for i, b := range r.bounds {
		for _, t := range b.terms {
			at[t.draw] = append(at[t.draw], i)
		}
	}
	seen := make([]*big.Rat, len(r.draws)) // the scale of each draw
	var all []system
	for d := range r.draws {
		if seen[d] != nil || at[d] == nil {
			continue
		}
		seen[d] = one
		var s system
		number := map[int]int{d: 0}
		done := map[int]bool{}
		queue := []int{d}
		for len(queue) > 0 {
			v := queue[0]
			queue = queue[1:]
			s.laws = append(s.laws, r.draws[v].law)
			s.spacing = append(s.spacing, seen[v])
			s.scales = append(s.scales, new(big.Rat).Mul(r.draws[v].parameter, seen[v]))
			for _, i := range at[v] {
				if done[i] {
					continue
				}
				done[i] = true
				b := r.bounds[i]
				by := new(big.Rat)
				for _, t := range b.terms {
					if t.draw == v {
						by.Quo(seen[v], new(big.Rat).Abs(t.coefficient))
					}
				}
				one := sum{loOpen: b.loOpen, hiOpen: b.hiOpen}
				for _, t := range b.terms {
					scale := new(big.Rat).Mul(new(big.Rat).Abs(t.coefficient), by)
					if seen[t.draw] == nil {
						seen[t.draw] = scale
						number[t.draw] = len(number)
						queue = append(queue, t.draw)
					} else if seen[t.draw].Cmp(scale) != 0 {
						return nil, false
					}
					n := number[t.draw]
					if n >= 64 {
						return nil, false
					}
					if t.coefficient.Sign() > 0 {
						one.plus |= 1 << n
					} else {
						one.minus |= 1 << n
					}
				}
				if b.lo != nil {
					one.lo = new(big.Rat).Mul(b.lo, by)
				}
				if b.hi != nil {
					one.hi = new(big.Rat).Mul(b.hi, by)
				}
				s.sums = append(s.sums, one)
			}
		}
		all = append(all, s)
	}
	return all, true
}

// A precision is that of the intervals with which a probability is computed.
type precision uint8

const (
	low  precision = iota // float64s
	high                  // 256 bits
)

// probability is that of the region.
func (r *region) probability(ctx context.Context, p precision) (narrow, error) {
	product := narrow{1, 1}
	if r.coins != nil {
		product = rounded(*r.coins)
	}
	for _, d := range r.draws {
		if d.near != nil {
			return product, unsupported("%v with an irrational parameter", d.law)
		}
	}
	systems, ok := r.systems()
	if !ok {
		return product, unsupported("one draw enters two comparisons with different weights")
	}
	for _, s := range systems {
		if err := ctx.Err(); err != nil {
			return product, err
		}
		q, err := s.probability(p)
		if err != nil {
			return product, err
		}
		// Rounding outward must not leave what a probability can be.
		product = product.Mul(narrow{max(0, q.lo), min(1, q.hi)})
	}
	return product, nil
}

// rounded is the narrow interval around a wide one.
func rounded(x numeric.Interval) narrow {
	o := outward(x.Lo(), x.Hi())
	return narrow{o.Lo, o.Hi}
}

func (s *system) probability(p precision) (narrow, error) {
	continuous, discrete := 0, 0
	for _, l := range s.laws {
		switch l {
		case program.Laplace, program.Exponential:
			continuous++
		case program.DiscreteLaplace, program.Geometric, program.DiscreteGaussian:
			discrete++
		}
	}
	n := len(s.laws)
	switch {
	case continuous == n:
		return s.piecewise(p)
	case discrete == n:
		return s.tables()
	case n == 1:
		return s.normal(), nil
	}
	return narrow{}, unsupported("noise of different kinds in one comparison")
}

// piecewise is the probability in closed form.
func (s *system) piecewise(p precision) (narrow, error) {
	var ends, rates []*big.Rat
	for _, c := range s.sums {
		ends = append(ends, c.lo, c.hi)
	}
	unit := common(ends)
	for _, scale := range s.scales {
		rates = append(rates, new(big.Rat).Quo(unit, scale))
	}
	rate := common(rates)
	laws := make([]density, len(s.laws))
	for i, r := range rates {
		k, ok := multiple(r, rate, 1<<22)
		if !ok {
			return narrow{}, unsupported("scales of noise without a common unit")
		}
		height := r
		if s.laws[i] == program.Laplace {
			height = new(big.Rat).Quo(r, big.NewRat(2, 1))
		}
		laws[i] = density{k, height, s.laws[i] == program.Laplace, true}
	}
	sums := make([][2]int64, len(s.sums))
	for i, c := range s.sums {
		lo, ok1 := end(c.lo, unit, minusInf)
		hi, ok2 := end(c.hi, unit, plusInf)
		if !ok1 || !ok2 {
			return narrow{}, unsupported("numbers without a common unit")
		}
		sums[i] = [2]int64{lo, hi}
	}
	if p == low {
		x, ok := closedForm(narrows(rate, laws), s.sums, sums)
		if !ok {
			return narrow{}, unsupported("comparisons that form a cycle")
		}
		return x, nil
	}
	x, ok := closedForm(wides(rate, laws), s.sums, sums)
	if !ok {
		return narrow{}, unsupported("comparisons that form a cycle")
	}
	return rounded(x), nil
}

func closedForm[N number[N]](in *arithmetic[N], sums []sum, ends [][2]int64) (N, bool) {
	densities := make([]piecewise[N], len(in.laws))
	for i, d := range in.laws {
		densities[i] = densityOn(in, d)
	}
	factors := make([]factor[piecewise[N]], len(sums))
	for i, c := range sums {
		factors[i] = factor[piecewise[N]]{plus: c.plus, minus: c.minus, lo: ends[i][0], hi: ends[i][1]}
	}
	return eliminate(densities, factors, in.integer(1))
}

// common is the greatest rational of which all that are given are multiples; 1 if
// there is none.
func common(all []*big.Rat) *big.Rat {
	num, den := new(big.Int), big.NewInt(1)
	for _, r := range all {
		if r == nil || r.Sign() == 0 {
			continue
		}
		num.GCD(nil, nil, num, new(big.Int).Abs(r.Num()))
		gcd := new(big.Int).GCD(nil, nil, den, r.Denom())
		den.Mul(den, new(big.Int).Quo(r.Denom(), gcd))
	}
	if num.Sign() == 0 {
		return one
	}
	return new(big.Rat).SetFrac(num, den)
}

// multiple is r/unit, if that is whole and at most most.
func multiple(r, unit *big.Rat, most int64) (int64, bool) {
	q := new(big.Rat).Quo(r, unit)
	if !q.IsInt() || !q.Num().IsInt64() || abs(q.Num().Int64()) > most {
		return 0, false
	}
	return q.Num().Int64(), true
}

func end(r, unit *big.Rat, infinite int64) (int64, bool) {
	if r == nil {
		return infinite, true
	}
	return multiple(r, unit, 1<<34)
}

// normal is the probability that one Gaussian draw lies in the interval of its sum.
func (s *system) normal() narrow {
	lo, hi := s.sums[0].lo, s.sums[0].hi
	for _, c := range s.sums[1:] {
		if c.lo != nil && (lo == nil || c.lo.Cmp(lo) > 0) {
			lo = c.lo
		}
		if c.hi != nil && (hi == nil || c.hi.Cmp(hi) < 0) {
			hi = c.hi
		}
	}
	if hi != nil && (lo == nil || new(big.Rat).Abs(lo).Cmp(hi) > 0 && lo.Sign() < 0) {
		// The farther end is the left one: the tails are taken on the right.
		lo, hi = negated(hi), negated(lo)
	}
	tail := func(r *big.Rat) numeric.Interval {
		if r == nil {
			return numeric.OfInt(0)
		}
		return numeric.Of(new(big.Rat).Quo(r, s.scales[0])).NormalTail()
	}
	if lo == nil {
		return narrow{1, 1}
	}
	return rounded(tail(lo).Sub(tail(hi)))
}

func negated(r *big.Rat) *big.Rat {
	if r == nil {
		return nil
	}
	return new(big.Rat).Neg(r)
}

// tables is the probability of whole noise: a sum over where all but a sliver of
// the noise lies, and that sliver added to the upper bound.
func (s *system) tables() (narrow, error) {
	in := &masses[narrow]{}
	sums := make([][2]int64, len(s.sums))
	far := int64(0)
	for i, c := range s.sums {
		lo, hi := int64(minusInf), int64(plusInf)
		if c.lo != nil {
			n := numeric.Ceil(c.lo)
			if c.loOpen && c.lo.IsInt() {
				n.Add(n, big.NewInt(1))
			}
			if n.BitLen() > 40 {
				return narrow{}, unsupported("whole numbers beyond 2^40")
			}
			lo = n.Int64()
			far = max(far, abs(lo))
		}
		if c.hi != nil {
			n := numeric.Floor(c.hi)
			if c.hiOpen && c.hi.IsInt() {
				n.Sub(n, big.NewInt(1))
			}
			if n.BitLen() > 40 {
				return narrow{}, unsupported("whole numbers beyond 2^40")
			}
			hi = n.Int64()
			far = max(far, abs(hi))
		}
		sums[i] = [2]int64{lo, hi}
	}
	sliver := narrow{}
	densities := make([]table[narrow], len(s.laws))
	for i, l := range s.laws {
		if s.spacing[i].Cmp(one) != 0 {
			return narrow{}, unsupported("whole noise of different weights in one comparison")
		}
		t, rest, err := mass(in, l, s.scales[i], far)
		if err != nil {
			return narrow{}, err
		}
		densities[i] = t
		sliver = sliver.Add(rest)
	}
	in.laws = densities
	factors := make([]factor[table[narrow]], len(sums))
	for i, c := range s.sums {
		factors[i] = factor[table[narrow]]{plus: c.plus, minus: c.minus, lo: sums[i][0], hi: sums[i][1]}
	}
	x, ok := eliminate(slices.Clone(densities), factors, narrow{1, 1})
	if !ok {
		return narrow{}, unsupported("comparisons that form a cycle")
	}
	return narrow{x.lo, x.Add(narrow{0, sliver.hi}).hi}, nil
}

// mass is the law of whole noise where |x| <= far + reach, and a bound of the mass
// elsewhere.
//
// For Laplace that is 2r^(n+1)/(1+r) and for Geometric r^(n+1), with r = e^(−1/b)
// and n the last x. For Gaussian, of the unnormalised weights e^(−x²/2σ²), of which
// the one at 0 alone is 1: Σ over x > n is at most e^(−(n+1)²/2σ²)/(1−e^(−(n+1)/σ²)),
// since x² − (n+1)² >= 2(n+1)(x−n−1).
func mass(in *masses[narrow], law program.Law, scale *big.Rat, far int64) (table[narrow], narrow, error) {
	reach := int64(75)
	if law == program.DiscreteGaussian {
		reach = 13
	}
	span := numeric.Ceil(new(big.Rat).Mul(scale, new(big.Rat).SetInt64(reach)))
	if !span.IsInt64() || span.Int64() > 1<<18 || far > 1<<18 {
		return table[narrow]{}, narrow{}, unsupported("whole noise over too many values")
	}
	n := far + span.Int64()
	weights := make([]narrow, n+1) // of 0, 1, ..., n
	var rest narrow
	if law == program.DiscreteGaussian {
		exponent := func(x int64) *big.Rat {
			r := new(big.Rat).SetInt64(x)
			r.Quo(r.Mul(r, r), new(big.Rat).Mul(scale, scale))
			return r.Quo(r, big.NewRat(-2, 1))
		}
		z := numeric.OfInt(-1)
		for x := range n + 1 {
			w := numeric.Of(exponent(x)).Exp()
			weights[x] = rounded(w)
			z = z.Add(w).Add(w)
		}
		decay := new(big.Rat).SetInt64(-n - 1)
		decay.Quo(decay, new(big.Rat).Mul(scale, scale))
		tail := numeric.Of(exponent(n + 1)).Exp().Quo(numeric.OfInt(1).Sub(numeric.Of(decay).Exp()))
		tail = tail.Add(tail)
		rest = rounded(tail)
		// The norm is z plus something of at most tail.
		lo, hi := numeric.OfInt(1).Quo(z.Add(tail)), numeric.OfInt(1).Quo(z)
		norm := narrow{rounded(lo).lo, rounded(hi).hi}
		for x := range weights {
			weights[x] = weights[x].Mul(norm)
		}
		return symmetric(in, weights), rest, nil
	}
	r := numeric.Of(new(big.Rat).Neg(new(big.Rat).Inv(scale))).Exp()
	first := numeric.OfInt(1).Sub(r)
	if law == program.DiscreteLaplace {
		first = first.Quo(numeric.OfInt(1).Add(r))
	}
	w := rounded(first)
	ratio := rounded(r)
	for x := range weights {
		weights[x] = w
		w = w.Mul(ratio)
	}
	last := new(big.Rat).SetInt64(-n - 1)
	tail := numeric.Of(last.Quo(last, scale)).Exp()
	if law == program.DiscreteLaplace {
		return symmetric(in, weights), rounded(tail.Add(tail)), nil
	}
	return table[narrow]{in: in, values: weights, compact: true}, rounded(tail), nil
}

// symmetric mirrors the weights of 0, 1, ... to the left.
func symmetric(in *masses[narrow], weights []narrow) table[narrow] {
	t := table[narrow]{in: in, from: 1 - int64(len(weights)), compact: true}
	for i := len(weights) - 1; i > 0; i-- {
		t.values = append(t.values, weights[i])
	}
	t.values = append(t.values, weights...)
	return t
}
