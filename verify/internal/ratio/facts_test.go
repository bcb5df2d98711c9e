package ratio

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exactly evaluates a polynomial at a point.
func exactly(p polynomial, at map[string]*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, t := range p {
		x := new(big.Rat).Set(t.coef)
		for v, e := range t.powers {
			for range e.Num().Int64() {
				x.Mul(x, at[v])
			}
		}
		sum.Add(sum, x)
	}
	return sum
}

// What is learnt from facts holds wherever they do, and so does what follows from them;
// a region that is said to be empty is.
func TestFactsImply(t *testing.T) {
	values := []*big.Rat{big.NewRat(-1, 1), zero, big.NewRat(1, 4), half, big.NewRat(3, 4), one, big.NewRat(3, 2), big.NewRat(2, 1)}
	names := []string{"p", "q", "r"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func() polynomial {
			var terms []term
			for range rapid.IntRange(1, 3).Draw(t, "terms") {
				powers := map[string]*big.Rat{}
				for _, v := range names {
					powers[v] = big.NewRat(int64(rapid.IntRange(0, 1).Draw(t, v)), 1)
				}
				terms = append(terms, term{big.NewRat(int64(rapid.IntRange(-2, 2).Draw(t, "coef")), 1), powers})
			}
			return sum(terms...)
		}
		r := newRegion()
		for _, v := range names {
			if rapid.Bool().Draw(t, "low") {
				r.above(v, bound{zero, rapid.Bool().Draw(t, "strict")})
			}
			if rapid.Bool().Draw(t, "high") {
				r.below(v, bound{one, rapid.Bool().Draw(t, "strict")})
			}
		}
		for range rapid.IntRange(1, 3).Draw(t, "facts") {
			r.facts = append(r.facts, draw())
		}
		was := *newRegion()
		for v, b := range r.low {
			was.above(v, b)
		}
		for v, b := range r.high {
			was.below(v, b)
		}
		inside := func(r *region, at map[string]*big.Rat) bool {
			for v, b := range r.low {
				if c := at[v].Cmp(b.value); c < 0 || c == 0 && b.strict {
					return false
				}
			}
			for v, b := range r.high {
				if c := at[v].Cmp(b.value); c > 0 || c == 0 && b.strict {
					return false
				}
			}
			return true
		}
		r.learn()
		none, f := r.empty(), draw()
		if rapid.Bool().Draw(t, "near a fact") {
			f = r.facts[0].plus(f)
		}
		sign := r.nonnegative(f)
		for _, x := range values {
			for _, y := range values {
			point:
				for _, z := range values {
					at := map[string]*big.Rat{"p": x, "q": y, "r": z}
					if !inside(&was, at) {
						continue
					}
					for _, fact := range r.facts {
						if exactly(fact, at).Sign() < 0 {
							continue point
						}
					}
					if none || !inside(r, at) {
						t.Fatalf("%v meets all facts, and %v, %v does not; empty: %v", at, r.low, r.high, none)
					}
					if sign && exactly(f, at).Sign() < 0 {
						t.Fatalf("%v is negative at %v", f, at)
					}
				}
			}
		}
	})
}

// p <= r·q and 1−p <= r·(1−q) say that r is at least 1, that p < 1 where q < 1, and what
// has something to spare.
func TestFactsAreLearnt(t *testing.T) {
	r := newRegion()
	p, q, x := variable("p"), variable("q"), variable("r")
	r.above("p", bound{zero, true})
	r.above("q", bound{zero, true})
	r.above("r", bound{zero, true})
	r.below("q", bound{one, true})
	r.below("p", bound{big.NewRat(2, 1), true})
	r.facts = []polynomial{
		x.times(q).minus(p), x.times(whole(1).minus(q)).minus(whole(1).minus(p)),
		x.times(p).minus(q), x.times(whole(1).minus(p)).minus(whole(1).minus(q)),
	}
	r.learn()
	if b := r.low["r"]; b.value.Cmp(one) != 0 || b.strict {
		t.Errorf("r is above %v", b)
	}
	if b := r.high["p"]; b.value.Cmp(one) != 0 || !b.strict {
		t.Errorf("p is below %v", b)
	}
	if r.empty() {
		t.Error("p = q = 1/2 meets all")
	}
	if f := r.facts[0].scale(half).plus(p.times(q)); !r.follows(f) {
		t.Errorf("%v does not follow", f)
	}
	if f := r.facts[0].minus(p.times(q)); r.follows(f) {
		t.Errorf("%v follows", f)
	}
	r.below("r", bound{half, false})
	if !r.empty() {
		t.Error("r is below 1")
	}
}
