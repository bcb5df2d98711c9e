package numeric

import (
	"fmt"
	"math/big"
)

// precision is that of the bounds of an interval, in bits. The results of this
// package are good to some 200 of them.
const precision = 256

// An Interval holds a real number between two bounds; every operation rounds the
// bounds outward, so that the true result of true arguments stays inside. A
// decision takes the bound that is against the spender, Lo or Hi.
//
// Intervals are immutable; the zero Interval is the number 0.
type Interval struct{ lo, hi *big.Float }

// Of returns the interval around the rational r.
func Of(r *big.Rat) Interval {
	return Interval{down().SetRat(r), up().SetRat(r)}
}

// OfInt returns the interval around n.
func OfInt(n int64) Interval { return Interval{down().SetInt64(n), up().SetInt64(n)} }

// OfFloat returns the interval that is exactly the finite number f.
func OfFloat(f float64) Interval {
	return Interval{down().SetFloat64(f), up().SetFloat64(f)}
}

func down() *big.Float { return new(big.Float).SetPrec(precision).SetMode(big.ToNegativeInf) }
func up() *big.Float   { return new(big.Float).SetPrec(precision).SetMode(big.ToPositiveInf) }

func (x Interval) bounds() (lo, hi *big.Float) {
	if x.lo == nil {
		return down(), up()
	}
	return x.lo, x.hi
}

// Lo returns the lower bound, exactly.
func (x Interval) Lo() *big.Rat {
	lo, _ := x.bounds()
	r, _ := lo.Rat(nil)
	return r
}

// Hi returns the upper bound, exactly.
func (x Interval) Hi() *big.Rat {
	_, hi := x.bounds()
	r, _ := hi.Rat(nil)
	return r
}

// Positive reports whether every number in x is positive.
func (x Interval) Positive() bool {
	lo, _ := x.bounds()
	return lo.Sign() > 0
}

// String returns both bounds, to 20 digits.
func (x Interval) String() string {
	lo, hi := x.bounds()
	return fmt.Sprintf("[%.20g, %.20g]", lo, hi)
}

// Add returns x + y.
func (x Interval) Add(y Interval) Interval {
	a, b := x.bounds()
	c, d := y.bounds()
	return Interval{down().Add(a, c), up().Add(b, d)}
}

// Neg returns -x.
func (x Interval) Neg() Interval {
	a, b := x.bounds()
	return Interval{down().Neg(b), up().Neg(a)}
}

// Sub returns x - y.
func (x Interval) Sub(y Interval) Interval { return x.Add(y.Neg()) }

// Mul returns x × y.
func (x Interval) Mul(y Interval) Interval {
	a, b := x.bounds()
	c, d := y.bounds()
	if a.Sign() >= 0 && c.Sign() >= 0 {
		return Interval{down().Mul(a, c), up().Mul(b, d)}
	}
	var z Interval
	for _, f := range [][2]*big.Float{{a, c}, {a, d}, {b, c}, {b, d}} {
		if lo := down().Mul(f[0], f[1]); z.lo == nil || lo.Cmp(z.lo) < 0 {
			z.lo = lo
		}
		if hi := up().Mul(f[0], f[1]); z.hi == nil || hi.Cmp(z.hi) > 0 {
			z.hi = hi
		}
	}
	return z
}

// Quo returns x / y. It panics unless y is positive.
func (x Interval) Quo(y Interval) Interval {
	if !y.Positive() {
		panic("numeric: division by what may not be positive")
	}
	if x.lo != nil && x.lo.Sign() >= 0 {
		return Interval{down().Quo(x.lo, y.hi), up().Quo(x.hi, y.lo)}
	}
	return x.Mul(Interval{down().Quo(unit, y.hi), up().Quo(unit, y.lo)})
}

// Sqrt returns the square root of x. It panics if x may be negative.
func (x Interval) Sqrt() Interval {
	lo, hi := x.bounds()
	if lo.Sign() < 0 {
		panic("numeric: square root of what may be negative")
	}
	return Interval{sqrt(lo, down()), sqrt(hi, up())}
}

// sqrt sets z to the square root of x, in the direction of z's mode. It is
// computed on integers, because big.Float.Sqrt does not promise the direction:
// x = m·4^k with a whole m of twice the precision, so that ⌊√m⌋·2^k is below,
// by less than one unit.
func sqrt(x, z *big.Float) *big.Float {
	if x.Sign() == 0 {
		return z
	}
	shift := 2*precision - x.MantExp(nil)
	shift += shift & 1
	m, acc := new(big.Float).SetPrec(0).SetMantExp(x, shift).Int(nil)
	root := new(big.Int).Sqrt(m)
	exact := acc == big.Exact && new(big.Int).Mul(root, root).Cmp(m) == 0
	if z.Mode() == big.ToPositiveInf && !exact {
		root.Add(root, big.NewInt(1))
	}
	z.SetInt(root)
	return z.SetMantExp(z, -shift/2)
}
