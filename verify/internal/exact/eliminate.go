package exact

import (
	"math/bits"
	"slices"
)

// A curve is a function of one variable, of reals or of integers, that answers
// exactly up to the intervals of its values.
type curve[C, N any] interface {
	times(C) C
	within(lo, hi int64) C
	mirrored() C
	// windows is m ↦ the sum over the x with lo <= x+m <= hi.
	windows(lo, hi int64) (C, bool)
	// wedge is m ↦ the sum over the x with a <= x+m <= b and c <= x-m <= d; of reals,
	// all ends are even.
	wedge(a, b, c, d int64) (C, bool)
	// smeared is m ↦ the mean of the curve at x+m, x drawn by a law.
	smeared(law int) (C, bool)
	total() (N, bool)
}

// A factor restricts a signed sum of variables to [lo, hi], and weighs it by a
// curve if it has one.
type factor[C any] struct {
	plus, minus uint64 // sets of variables
	lo, hi      int64
	weight      *C
}

func (f factor[C]) vars() uint64 { return f.plus | f.minus }

// eliminate integrates variables one after the other out of the product of their
// densities and of factors. One that occurs in a single factor with others leaves a
// function of what the factor has besides: sums over windows of a density, where the
// factor is an interval; a convolution, where it is a curve and the density is whole.
// So does one in two factors that are intervals, of v+m and of v-m: an interval that a
// draw widens on both sides. (Dechter 1999, "Bucket elimination", for integrals.) It
// reports false where no variable is of these kinds; trees of comparisons, and sums
// that are revealed one after the other, always have one.
func eliminate[C curve[C, N], N number[N]](densities []C, factors []factor[C], unit N) (N, bool) {
	whole := make([]bool, len(densities))
	left := uint64(0)
	for v := range densities {
		whole[v] = true
		left |= 1 << v
	}
	// absorb multiplies factors of one variable into its density.
	absorb := func() {
		factors = slices.DeleteFunc(factors, func(f factor[C]) bool {
			if bits.OnesCount64(f.vars()) != 1 {
				return false
			}
			v := bits.TrailingZeros64(f.vars())
			if f.minus != 0 {
				f = flipped[C, N](f)
			}
			if f.weight != nil {
				densities[v] = densities[v].times(*f.weight)
			}
			densities[v] = densities[v].within(f.lo, f.hi)
			whole[v] = false
			return true
		})
	}
	product := unit
	for absorb(); left != 0; absorb() {
		v, at := leaf(left, factors, whole)
		if v < 0 {
			var ok bool
			if v, factors, ok = open(left, densities, factors); !ok {
				return unit, false
			}
			left &^= 1 << v
			continue
		}
		left &^= 1 << v
		if at < 0 {
			t, ok := densities[v].total()
			if !ok {
				return unit, false
			}
			product = product.Mul(t)
			continue
		}
		// Write the factor as v + m in [lo, hi], m what it has besides.
		f := factors[at]
		if f.minus&(1<<v) != 0 {
			f = flipped[C, N](f)
		}
		m := factor[C]{plus: f.plus &^ (1 << v), minus: f.minus, lo: minusInf, hi: plusInf}
		var r C
		var ok bool
		if f.weight == nil {
			r, ok = densities[v].windows(f.lo, f.hi)
		} else {
			r, ok = (*f.weight).within(f.lo, f.hi).smeared(v)
		}
		if !ok {
			return unit, false
		}
		m.weight = &r
		factors = slices.Delete(factors, at, at+1)
		factors = join(factors, m)
	}
	return product, true
}

// leaf finds a variable to eliminate next, and its factor, or -1 where it is in none.
func leaf[C any](left uint64, factors []factor[C], whole []bool) (v, at int) {
	best := -1
	for rest := left; rest != 0; rest &= rest - 1 {
		v := bits.TrailingZeros64(rest)
		at := -1
		n := 0
		for i, f := range factors {
			if f.vars()&(1<<v) != 0 {
				n, at = n+1, i
			}
		}
		switch {
		case n == 0:
			return v, -1
		case n == 1 && factors[at].weight == nil:
			return v, at
		case n == 1 && whole[v] && best < 0:
			best = v
		}
	}
	if best < 0 {
		return -1, -1
	}
	at = slices.IndexFunc(factors, func(f factor[C]) bool { return f.vars()&(1<<best) != 0 })
	return best, at
}

// open eliminates a variable that occurs in two intervals, of v+m and of v-m.
func open[C curve[C, N], N any](left uint64, densities []C, factors []factor[C]) (int, []factor[C], bool) {
	for rest := left; rest != 0; rest &= rest - 1 {
		v := bits.TrailingZeros64(rest)
		var own []factor[C]
		for _, f := range factors {
			if f.vars()&(1<<v) == 0 {
				continue
			}
			if f.minus&(1<<v) != 0 {
				f = flipped[C, N](f)
			}
			own = append(own, f)
		}
		if len(own) != 2 || own[0].weight != nil || own[1].weight != nil ||
			own[0].plus&^(1<<v) != own[1].minus || own[0].minus != own[1].plus&^(1<<v) {
			continue
		}
		r, ok := densities[v].wedge(own[0].lo, own[0].hi, own[1].lo, own[1].hi)
		if !ok {
			continue
		}
		m := factor[C]{plus: own[0].plus &^ (1 << v), minus: own[0].minus, lo: minusInf, hi: plusInf, weight: &r}
		factors = slices.DeleteFunc(factors, func(f factor[C]) bool { return f.vars()&(1<<v) != 0 })
		return v, join(factors, m), true
	}
	return -1, factors, false
}

// flipped writes the factor for the opposite sum.
func flipped[C curve[C, N], N any](f factor[C]) factor[C] {
	g := factor[C]{f.minus, f.plus, opposite(f.hi), opposite(f.lo), nil}
	if f.weight != nil {
		w := (*f.weight).mirrored()
		g.weight = &w
	}
	return g
}

// join adds a factor, to one of the same sum if there is one.
func join[C curve[C, N], N any](factors []factor[C], f factor[C]) []factor[C] {
	for i, g := range factors {
		if f.plus == g.minus && f.minus == g.plus {
			f = flipped[C, N](f)
		}
		if f.plus != g.plus || f.minus != g.minus {
			continue
		}
		switch {
		case g.weight == nil:
			g.weight = f.weight
		case f.weight != nil:
			w := (*g.weight).times(*f.weight)
			g.weight = &w
		}
		g.lo, g.hi = max(f.lo, g.lo), min(f.hi, g.hi)
		factors[i] = g
		return factors
	}
	return append(factors, f)
}
