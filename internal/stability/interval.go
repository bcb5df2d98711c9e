package stability

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/sqltype"
)

// An interval is where the values of an expression lie according to the
// declared bounds; nil ends are unbounded. It is a proposal, not a proof:
// the aggregation clamps to it, so a wrong interval costs accuracy alone.
type interval struct{ lower, upper *big.Rat }

func (r interval) bounded() bool { return r.lower != nil && r.upper != nil }

// maxEnd bounds an end's size in bits: squares of squares would fill the memory,
// and no sum's bounds need as many.
const maxEnd = 1 << 13

// short drops ends that are too long to compute with.
func (r interval) short() interval {
	fits := func(end *big.Rat) *big.Rat {
		if end == nil || end.Num().BitLen() > maxEnd || end.Denom().BitLen() > maxEnd {
			return nil
		}
		return end
	}
	return interval{fits(r.lower), fits(r.upper)}
}

// computed rounds the ends of doubles to doubles, as engines do with what lies between: that keeps the order. Exact quotients of
// quotients would have ever more digits.
func (r interval) computed(t sqltype.Type) interval {
	if t.Kind != sqltype.Double {
		return r
	}
	to := func(end *big.Rat) *big.Rat {
		if end == nil {
			return nil
		}
		if f, _ := end.Float64(); !math.IsInf(f, 0) {
			return new(big.Rat).SetFloat64(f)
		}
		return end
	}
	return interval{to(r.lower), to(r.upper)}
}

func point(r *big.Rat) interval { return interval{r, r} }

func between(lower, upper int64) interval {
	return interval{big.NewRat(lower, 1), big.NewRat(upper, 1)}
}

// hull is the smallest interval that contains both.
func (r interval) hull(s interval) interval {
	return interval{lesser(r.lower, s.lower), greater(r.upper, s.upper)}
}

func lesser(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func greater(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

// tighter and looser ends: nil stands for no bound at all.
func maxOf(a, b *big.Rat) *big.Rat {
	switch {
	case a == nil:
		return b
	case b == nil || a.Cmp(b) >= 0:
		return a
	}
	return b
}

func minOf(a, b *big.Rat) *big.Rat {
	switch {
	case a == nil:
		return b
	case b == nil || a.Cmp(b) <= 0:
		return a
	}
	return b
}

func outward(r interval) interval { return outwardTo(big.NewRat(1, 1), r) }

// outwardTo widens r to multiples of a unit.
func outwardTo(unit *big.Rat, r interval) interval {
	to := func(end *big.Rat, rounded func(*big.Rat) *big.Int) *big.Rat {
		if end == nil {
			return nil
		}
		units := new(big.Rat).SetInt(rounded(new(big.Rat).Quo(end, unit)))
		return units.Mul(units, unit)
	}
	return interval{to(r.lower, floor), to(r.upper, ceil)}
}

func sum(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	return new(big.Rat).Add(a, b)
}

func difference(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	return new(big.Rat).Sub(a, b)
}

func negated(a *big.Rat) *big.Rat {
	if a == nil {
		return nil
	}
	return new(big.Rat).Neg(a)
}

func product(a, b interval) interval {
	if a.bounded() && b.bounded() {
		var r interval
		for i, p := range [4][2]*big.Rat{{a.lower, b.lower}, {a.lower, b.upper}, {a.upper, b.lower}, {a.upper, b.upper}} {
			x := point(new(big.Rat).Mul(p[0], p[1]))
			if i == 0 {
				r = x
			} else {
				r = r.hull(x)
			}
		}
		return r
	}
	// Non-negative times non-negative stays non-negative.
	if a.lower != nil && b.lower != nil && a.lower.Sign() >= 0 && b.lower.Sign() >= 0 {
		return interval{lower: new(big.Rat).Mul(a.lower, b.lower)}
	}
	return interval{}
}

// quotient is a/b where b's interval excludes zero.
func quotient(a, b interval) interval {
	if !b.bounded() || b.lower.Sign()*b.upper.Sign() <= 0 {
		return interval{}
	}
	return product(a, interval{new(big.Rat).Inv(b.upper), new(big.Rat).Inv(b.lower)})
}

func floor(r *big.Rat) *big.Int {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	_ = m // Euclidean: the remainder is never negative, so q is the floor
	return q
}

func ceil(r *big.Rat) *big.Int {
	return new(big.Int).Neg(floor(new(big.Rat).Neg(r)))
}
