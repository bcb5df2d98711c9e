package exact

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A system is a connected part of a region: signed sums of scaled draws in
// intervals. Every draw is scaled so that it enters all its sums with 1 or −1.
type system struct {
	laws    []program.Law
	scales  []rational // of the scaled draws
	spacing []rational // what one unit of a discrete draw became
	sums    []sum
}

// A sum is lo <= Σ ±draw <= hi.
type sum struct {
	plus, minus    uint64
	lo, hi         limit
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
	seen := make([]rational, len(r.draws)) // the scale of each draw; 0 before it is known
	var all []system
	for d := range r.draws {
		if seen[d].sign() != 0 || at[d] == nil {
			continue
		}
		seen[d] = integer(1)
		var s system
		number := map[int]int{d: 0}
		done := map[int]bool{}
		queue := []int{d}
		for len(queue) > 0 {
			v := queue[0]
			queue = queue[1:]
			s.laws = append(s.laws, r.draws[v].law)
			s.spacing = append(s.spacing, seen[v])
			s.scales = append(s.scales, r.draws[v].parameter.times(seen[v]))
			for _, i := range at[v] {
				if done[i] {
					continue
				}
				done[i] = true
				b := r.bounds[i]
				var by rational
				for _, t := range b.terms {
					if t.draw == v {
						by = seen[v].times(t.coefficient.abs().inverse())
					}
				}
				one := sum{loOpen: b.loOpen, hiOpen: b.hiOpen}
				for _, t := range b.terms {
					scale := t.coefficient.abs().times(by)
					if seen[t.draw].sign() == 0 {
						seen[t.draw] = scale
						number[t.draw] = len(number)
						queue = append(queue, t.draw)
					} else if seen[t.draw].cmp(scale) != 0 {
						return nil, false
					}
					n := number[t.draw]
					if n >= 64 {
						return nil, false
					}
					if t.coefficient.sign() > 0 {
						one.plus |= 1 << n
					} else {
						one.minus |= 1 << n
					}
				}
				one.lo = limit{b.lo.times(by), b.lo.set}
				one.hi = limit{b.hi.times(by), b.hi.set}
				s.sums = append(s.sums, one)
			}
		}
		all = append(all, s)
	}
	return all, true
}

// errCycle is of a part that no elimination of draws, one after the other, takes apart.
var errCycle = unsupported("comparisons that form a cycle")

// A precision is that of the intervals with which a probability is computed.
type precision uint8

const (
	low  precision = iota // float64s
	high                  // 256 bits
)

// A measurer computes probabilities. It is not safe for concurrent use.
type measurer struct {
	code  *code
	known exponentials
	laws  map[lawKey]lawTable
	// What was computed before, of the same numbers: with many events of few inputs it is
	// asked for again and again.
	tails map[rational]numeric.Interval
	// work is what was done so far.
	work int
}

func newMeasurer(c *code) *measurer {
	return &measurer{code: c, known: exponentials{}, laws: map[lawKey]lawTable{}, tails: map[rational]numeric.Interval{}}
}

type lawKey struct {
	law   program.Law
	scale rational
	n     int64
}

type lawTable struct {
	table table
	rest  narrow
}

// region is the probability of a region. Where comparisons form a cycle, those that others
// imply are left out, and whole noise that is part of one is given each of its values.
func (m *measurer) region(ctx context.Context, r *region, p precision) (narrow, error) {
	q, err := m.parts(ctx, r, p, false)
	if !errors.Is(err, errCycle) {
		return q, err
	}
	r, some := r.reduced()
	if !some {
		return narrow{}, nil
	}
	return m.parts(ctx, r, p, true)
}

// parts is the product of the probabilities of the connected parts of a region.
func (m *measurer) parts(ctx context.Context, r *region, p precision, cycles bool) (narrow, error) {
	product := narrow{1, 1}
	if r.coins != nil {
		product = rounded(*r.coins)
	}
	systems, ok := r.systems()
	if !ok {
		return product, unsupported("one draw enters two comparisons with different weights")
	}
	for _, s := range systems {
		if err := ctx.Err(); err != nil {
			return product, err
		}
		q, err := m.system(&s, p, cycles)
		if err != nil {
			return product, err
		}
		// Rounding outward must not leave what a probability can be.
		product = product.Mul(narrow{max(0, q.lo), min(1, q.hi)})
	}
	return product, nil
}

func (m *measurer) system(s *system, p precision, cycles bool) (narrow, error) {
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
		return m.piecewise(s, p)
	case discrete == n:
		return m.tables(s, p, cycles)
	case n == 1:
		return m.normal(s), nil
	}
	return narrow{}, unsupported("noise of different kinds in one comparison")
}

// piecewise is the probability in closed form.
func (m *measurer) piecewise(s *system, p precision) (narrow, error) {
	var ends, rates []rational
	for _, c := range s.sums {
		ends = append(ends, c.lo.rational, c.hi.rational)
	}
	unit := common(ends)
	if s.crossing() {
		unit = unit.times(fraction(1, 2)) // half of a difference of ends is whole
	}
	for _, scale := range s.scales {
		rates = append(rates, unit.times(scale.inverse()))
	}
	rate := common(rates)
	laws := make([]density, len(s.laws))
	far, fast := int64(1), int64(0)
	for i, r := range rates {
		k, ok := multiple(r, rate, 1<<22)
		if !ok {
			return narrow{}, unsupported("scales of noise without a common unit")
		}
		height := r
		if s.laws[i] == program.Laplace {
			height = r.times(fraction(1, 2))
		}
		laws[i] = density{k, height.rat(), s.laws[i] == program.Laplace, true}
	}
	sums := make([][2]int64, len(s.sums))
	for i, c := range s.sums {
		lo, ok1 := end(c.lo, unit, minusInf)
		hi, ok2 := end(c.hi, unit, plusInf)
		if !ok1 || !ok2 {
			return narrow{}, unsupported("numbers without a common unit")
		}
		sums[i] = [2]int64{lo, hi}
		for _, x := range sums[i] {
			if x != minusInf && x != plusInf {
				far = max(far, abs(x))
			}
		}
	}
	// Exponents are products of sums of both, and must fit.
	for _, d := range laws {
		fast += d.k
	}
	if far > 1<<60/(fast*int64(4*len(s.sums)+4)) {
		return narrow{}, unsupported("numbers without a common unit")
	}
	if p == low {
		x, ok := closedForm(narrows(rate, laws, m.known), s.sums, sums)
		if !ok {
			return narrow{}, errCycle
		}
		return x, nil
	}
	x, ok := closedForm(wides(rate, laws), s.sums, sums)
	if !ok {
		return narrow{}, errCycle
	}
	return rounded(x), nil
}

// crossing reports whether two sums are of the same draws.
func (s *system) crossing() bool {
	for i, x := range s.sums {
		for _, y := range s.sums[:i] {
			if x.plus|x.minus == y.plus|y.minus {
				return true
			}
		}
	}
	return false
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

// common is the greatest number of which all that are given are multiples; 1 if
// there is none.
func common(all []rational) rational {
	if n, d, ok := commonSmall(all); ok {
		return fraction(n, d)
	}
	num, den := new(big.Int), big.NewInt(1)
	for _, x := range all {
		if x.sign() == 0 {
			continue
		}
		r := x.rat()
		num.GCD(nil, nil, num, new(big.Int).Abs(r.Num()))
		gcd := new(big.Int).GCD(nil, nil, den, r.Denom())
		den.Mul(den, new(big.Int).Quo(r.Denom(), gcd))
	}
	if num.Sign() == 0 {
		return integer(1)
	}
	return rationalOf(new(big.Rat).SetFrac(num, den))
}

// commonSmall is common while everything fits.
func commonSmall(all []rational) (n, d int64, ok bool) {
	d = 1
	for _, x := range all {
		if x.sign() == 0 {
			continue
		}
		if !x.small() || d >= 1<<31 {
			return 0, 0, false
		}
		n = gcd(n, abs(x.n))
		d *= x.d / gcd(d, x.d)
	}
	if n == 0 {
		return 1, 1, true
	}
	return n, d, true
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// multiple is r/unit, if that is whole and at most most.
func multiple(r, unit rational, most int64) (int64, bool) {
	n, ok := r.times(unit.inverse()).int64()
	return n, ok && abs(n) <= most
}

func end(r limit, unit rational, infinite int64) (int64, bool) {
	if !r.set {
		return infinite, true
	}
	return multiple(r.rational, unit, 1<<50)
}

// normal is the probability that one Gaussian draw lies in the interval of its sum.
func (m *measurer) normal(s *system) narrow {
	lo, hi := s.sums[0].lo, s.sums[0].hi
	for _, c := range s.sums[1:] {
		if c.lo.set && (!lo.set || c.lo.cmp(lo.rational) > 0) {
			lo = c.lo
		}
		if c.hi.set && (!hi.set || c.hi.cmp(hi.rational) < 0) {
			hi = c.hi
		}
	}
	if hi.set && (!lo.set || lo.sign() < 0 && lo.abs().cmp(hi.rational) > 0) {
		// The farther end is the left one: the tails are taken on the right.
		lo, hi = limit{hi.negated(), hi.set}, limit{lo.negated(), lo.set}
	}
	tail := func(r limit) numeric.Interval {
		if !r.set {
			return numeric.OfInt(0)
		}
		x := r.times(s.scales[0].inverse())
		t, ok := m.tails[x]
		if !ok {
			if t = numeric.Of(x.rat()).NormalTail(); x.big == nil { // else the key is a pointer
				m.tails[x] = t
			}
		}
		return t
	}
	if !lo.set {
		return narrow{1, 1}
	}
	return rounded(tail(lo).Sub(tail(hi)))
}

// tables is the probability of whole noise: a sum over where all but a sliver of
// the noise lies, and that sliver added to the upper bound.
func (m *measurer) tables(s *system, p precision, cycles bool) (narrow, error) {
	in := &masses{}
	sums := make([][2]int64, len(s.sums))
	far := int64(0)
	for i, c := range s.sums {
		lo, hi := int64(minusInf), int64(plusInf)
		if c.lo.set {
			n := numeric.Ceil(c.lo.rat())
			if c.loOpen && c.lo.isInt() {
				n.Add(n, big.NewInt(1))
			}
			if n.BitLen() > 40 {
				return narrow{}, unsupported("whole numbers beyond 2^40")
			}
			lo = n.Int64()
			far = max(far, abs(lo))
		}
		if c.hi.set {
			n := numeric.Floor(c.hi.rat())
			if c.hiOpen && c.hi.isInt() {
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
	densities := make([]table, len(s.laws))
	for i, l := range s.laws {
		if s.spacing[i].cmp(integer(1)) != 0 {
			return narrow{}, unsupported("whole noise of different weights in one comparison")
		}
		t, rest, err := m.mass(l, s.scales[i], far, p)
		if err != nil {
			return narrow{}, err
		}
		t.in = in
		m.work += len(t.values) / 8
		densities[i] = t
		sliver = sliver.Add(rest)
	}
	in.laws = densities
	factors := make([]factor[table], len(sums))
	for i, c := range s.sums {
		factors[i] = factor[table]{plus: c.plus, minus: c.minus, lo: sums[i][0], hi: sums[i][1]}
	}
	x, ok := eliminate(slices.Clone(densities), slices.Clone(factors), narrow{1, 1})
	for v := 0; v < len(densities) && !ok && cycles; v++ {
		x, ok = m.given(v, in, factors)
	}
	if !ok {
		return narrow{}, errCycle
	}
	return narrow{x.lo, x.Add(narrow{0, sliver.hi}).hi}, nil
}

// given is the sum, over the values of a variable, of its probability and that of the others
// with it; from the likely ones outward, until what is left is a sliver of the sum, and is
// added to its upper bound. It reports false where comparisons still form a cycle.
func (m *measurer) given(v int, in *masses, factors []factor[table]) (narrow, bool) {
	law, values := in.laws[v], 0
	for _, l := range in.laws {
		values += len(l.values)
	}
	if values*len(law.values) > 1<<21 {
		return narrow{}, false
	}
	first, last := law.from, law.end()-1
	far := max(abs(first), abs(last))
	beyond := make([]narrow, far+2) // beyond[n] is the mass where |x| >= n
	for n := far; n >= 0; n-- {
		beyond[n] = beyond[n+1].Add(law.at(n))
		if n > 0 {
			beyond[n] = beyond[n].Add(law.at(-n))
		}
	}
	sum := narrow{}
	for n := range far + 1 {
		if beyond[n].hi < sum.lo*0x1p-24 {
			return narrow{sum.lo, sum.Add(beyond[n]).hi}, true
		}
		for _, x := range []int64{n, -n} {
			left, possible := fixed(factors, v, x)
			if x < first || x > last || !possible {
				continue
			}
			m.work += values / 16
			densities := slices.Clone(in.laws)
			densities[v] = law.within(x, x)
			p, ok := eliminate(densities, left, narrow{1, 1})
			if !ok {
				return narrow{}, false
			}
			sum = sum.Add(p)
			if n == 0 {
				break
			}
		}
	}
	return sum, true
}

// fixed are factors with a value in place of a variable; false if it contradicts them.
func fixed(factors []factor[table], v int, x int64) (left []factor[table], possible bool) {
	for _, f := range factors {
		switch {
		case f.plus&(1<<v) != 0:
			f.lo, f.hi = plusFinite(f.lo, -x), plusFinite(f.hi, -x)
		case f.minus&(1<<v) != 0:
			f.lo, f.hi = plusFinite(f.lo, x), plusFinite(f.hi, x)
		}
		f.plus, f.minus = f.plus&^(1<<v), f.minus&^(1<<v)
		switch {
		case f.vars() != 0:
			left = join(left, f)
		case f.lo > 0 || f.hi < 0:
			return nil, false
		}
	}
	return left, true
}

// mass is the law of whole noise where |x| <= far + reach and more, and a bound of
// the mass elsewhere.
//
// For Laplace that is 2r^(n+1)/(1+r) and for Geometric r^(n+1), with r = e^(−1/b)
// and n the last x. For Gaussian, of the unnormalised weights e^(−x²/2σ²), of which
// the one at 0 alone is 1: Σ over x > n is at most e^(−(n+1)²/2σ²)/(1−e^(−(n+1)/σ²)),
// since x² − (n+1)² >= 2(n+1)(x−n−1).
func (m *measurer) mass(law program.Law, by rational, far int64, p precision) (table, narrow, error) {
	scale := by.rat()
	reach := int64(40)
	if p == high {
		reach = 120
	}
	if law == program.DiscreteGaussian {
		reach = 9 + reach/10
	}
	span := numeric.Ceil(new(big.Rat).Mul(scale, new(big.Rat).SetInt64(reach)))
	if !span.IsInt64() || span.Int64() > 1<<18 || far > 1<<18 {
		return table{}, narrow{}, unsupported("whole noise over too many values")
	}
	n := (far + span.Int64() + 63) &^ 63 // few different tables
	key := lawKey{law, by, n}
	t, ok := m.laws[key]
	if !ok {
		t.table, t.rest = mass(law, scale, n)
		if by.big == nil { // else the key is a pointer
			m.laws[key] = t
		}
	}
	return t.table, t.rest, nil
}

// mass is the law where |x| <= n, and a bound of the rest.
func mass(law program.Law, scale *big.Rat, n int64) (table, narrow) {
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
		return symmetric(weights), rest
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
	t := table{values: weights, compact: true, first: rounded(first), ratio: ratio}
	if law == program.DiscreteLaplace {
		s := symmetric(weights)
		s.first, s.ratio = t.first, t.ratio
		return s, rounded(tail.Add(tail))
	}
	return t, rounded(tail)
}

// symmetric mirrors the weights of 0, 1, ... to the left.
func symmetric(weights []narrow) table {
	t := table{from: 1 - int64(len(weights)), compact: true}
	for i := len(weights) - 1; i > 0; i-- {
		t.values = append(t.values, weights[i])
	}
	t.values = append(t.values, weights...)
	return t
}
