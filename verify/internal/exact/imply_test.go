package exact

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Orders of three, whose comparisons form cycles, are evaluated, and all of them together
// are certain.
func TestOrders(t *testing.T) {
	found := 0
	for _, u := range gallery(t) {
		switch u.Name {
		case "FlipThree", "FlipThreeShort", "WholeThree", "BestOfThree":
		default:
			continue
		}
		found++
		for _, q := range [][3]int64{{0, 0, 0}, {1, 0, -1}, {-2, 1, 1}} {
			in := program.Inputs{"eps": {Number: big.NewRat(1, 1)}, "u": {}}
			v := in["u"]
			for _, x := range q {
				v.Elements = append(v.Elements, big.NewRat(x, 1))
			}
			in["u"] = v
			lo, hi := 0.0, 0.0
			for k := range int64(4) {
				p, err := Probability(t.Context(), u.Function, in, Event{Return: []Range{Is(big.NewRat(k, 1))}}, Options{Width: 1e-9})
				if err != nil {
					t.Fatalf("%s of %v returns %d: %v", u.Name, q, k, err)
				}
				lo, hi = lo+p.Lo, hi+p.Hi
			}
			if lo > 1 || hi < 1 || hi-lo > 1e-6 {
				t.Errorf("%s of %v returns something with a probability in [%v, %v]", u.Name, q, lo, hi)
			}
		}
	}
	if found != 4 {
		t.Errorf("%d functions", found)
	}
}

// linear is the linear part with the coefficients of three draws.
func linear(coefficients ...int64) (terms []formTerm) {
	for i, c := range coefficients {
		if c != 0 {
			terms = append(terms, formTerm{i, integer(c)})
		}
	}
	return terms
}

// A comparison of the third of three draws with the first is left out where those with the
// second imply it, and is false where they contradict it.
func TestImplied(t *testing.T) {
	const closed, open = false, true
	for _, c := range []struct {
		law           program.Law
		first, second bool  // x - y and y - z are above 0, or at least
		third         int64 // x - z is above or at least that; or below or at most
		strict, below bool
		some          bool
		bounds        int
	}{
		{program.DiscreteLaplace, closed, closed, 0, closed, false, true, 2},
		{program.DiscreteLaplace, closed, closed, 0, open, false, true, 3},
		{program.DiscreteLaplace, open, closed, 0, open, false, true, 2},
		{program.DiscreteLaplace, closed, open, 0, open, false, true, 2},
		{program.DiscreteLaplace, open, open, -1, open, false, true, 2},
		{program.DiscreteLaplace, closed, closed, -1, open, false, true, 2},
		{program.DiscreteLaplace, closed, closed, 1, closed, false, true, 3},
		{program.DiscreteLaplace, closed, closed, -1, closed, true, false, 0},
		{program.DiscreteLaplace, closed, closed, 0, open, true, false, 0},
		{program.DiscreteLaplace, closed, closed, 0, closed, true, true, 3},
		{program.DiscreteLaplace, open, closed, 0, closed, true, false, 0},
		{program.DiscreteLaplace, closed, open, 0, closed, true, false, 0},
		{program.DiscreteLaplace, open, open, 1, closed, true, true, 3},
		{program.Laplace, closed, closed, 0, open, false, true, 2},
		{program.Laplace, closed, closed, 0, closed, true, false, 0},
	} {
		for _, mirrored := range []bool{false, true} { // all signs are changed
			r := &region{draws: []draw{{law: c.law}, {law: c.law}, {law: c.law}}}
			bounded := func(v int64, open, below bool, coefficients ...int64) {
				b := bound{terms: linear(coefficients...), continuous: c.law == program.Laplace}
				if mirrored {
					v = -v
				}
				if below != mirrored {
					b.hi, b.hiOpen = limit{integer(v), true}, open
				} else {
					b.lo, b.loOpen = limit{integer(v), true}, open
				}
				r.bounds = append(r.bounds, b)
			}
			bounded(0, c.first, false, 1, -1)
			bounded(0, c.second, false, 0, 1, -1)
			bounded(c.third, c.strict, c.below, 1, 0, -1)
			left, some := r.reduced()
			if some != c.some || some && len(left.bounds) != c.bounds {
				t.Errorf("%v, mirrored %v: %v, %v", c, mirrored, some, left)
			}
		}
	}
}

// A region keeps its points without the bounds that others imply, but for ties of continuous
// noise; and has none where two of them contradict a third.
func TestReduced(t *testing.T) {
	sums := [][]formTerm{linear(1, -1), linear(0, 1, -1), linear(1, 0, -1), linear(1, 0, 1), linear(1), linear(0, 1)}
	fewer, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 30 {
			r := &region{}
			for range 3 {
				law := rapid.SampledFrom([]program.Law{program.Laplace, program.DiscreteLaplace, program.DiscreteLaplace}).Draw(t, "law")
				r.draws = append(r.draws, draw{law: law})
			}
			for range rapid.IntRange(3, 9).Draw(t, "comparisons") {
				terms, v := rapid.SampledFrom(sums).Draw(t, "sum"), integer(rapid.Int64Range(-1, 1).Draw(t, "limit"))
				if before := *r; !r.assume(terms, v, rapid.Bool().Draw(t, "strict"), rapid.Bool().Draw(t, "below")) {
					*r = before
				}
			}
			left, some := r.reduced()
			if !some {
				none++
				left = &region{bounds: []bound{{lo: limit{integer(1), true}}}} // 0 is not above 1
			} else if len(left.bounds) < len(r.bounds) {
				fewer++
			}
			var at, between [3]rational
			for i, d := range r.draws {
				if d.continuous() {
					between[i] = fraction(rapid.Int64Range(0, 15).Draw(t, "between"), 16)
				}
			}
			for n := range 5 * 5 * 5 {
				for i := range at {
					at[i] = integer(int64([]int{n % 5, n / 5 % 5, n / 25}[i]) - 2).plus(between[i])
				}
				before, tied := r.holds(at)
				if after, _ := left.holds(at); after != before && !tied {
					t.Fatalf("%v: %v in %v, and then %v in %v", at, before, r.bounds, after, left.bounds)
				}
			}
		}
	})
	if fewer == 0 || none == 0 {
		t.Errorf("%d regions have fewer bounds, and %d have no points", fewer, none)
	}
}

// holds reports whether a point is in a region, and whether it is at the end of a bound of
// continuous noise.
func (r *region) holds(at [3]rational) (in, tied bool) {
	in = true
	for _, b := range r.bounds {
		var sum rational
		for _, term := range b.terms {
			sum = sum.plus(term.coefficient.times(at[term.draw]))
		}
		if b.lo.set {
			c := sum.cmp(b.lo.rational)
			in = in && (c > 0 || c == 0 && !b.loOpen)
			tied = tied || c == 0 && b.continuous
		}
		if b.hi.set {
			c := sum.cmp(b.hi.rational)
			in = in && (c < 0 || c == 0 && !b.hiOpen)
			tied = tied || c == 0 && b.continuous
		}
	}
	return in, tied
}
