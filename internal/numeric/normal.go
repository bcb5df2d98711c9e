package numeric

import (
	"math/big"
	"sync"
)

// π, between its first 80 decimals and the next number of as many.
const (
	piLo = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"
	piHi = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620900"
)

// NormalTail returns P(N > x) for a standard normal N. Its relative width is
// below 1e-40 for x up to 40.
func (x Interval) NormalTail() Interval {
	lo, hi := x.bounds()
	bottom := normalTail(hi)
	if lo.Cmp(hi) == 0 {
		return bottom
	}
	return Interval{bottom.lo, normalTail(lo).hi}
}

func normalTail(x *big.Float) Interval {
	if x.Sign() < 0 {
		return OfInt(1).Sub(normalTail(new(big.Float).Neg(x)))
	}
	i := Interval{x, x}
	if x.Cmp(big.NewFloat(6)) < 0 {
		return Of(big.NewRat(1, 2)).Sub(normalDensity(i).Mul(normalSeries(x)))
	}
	return normalDensity(i).Mul(millsRatio(x))
}

// normalDensity returns e^(-x²/2) / √(2π).
func normalDensity(x Interval) Interval {
	square := x.Mul(x)
	half := Interval{down().SetMantExp(square.lo, -1), up().SetMantExp(square.hi, -1)}
	return half.Neg().Exp().Mul(densityAtZero())
}

// densityAtZero is 1/√(2π).
var densityAtZero = sync.OnceValue(func() Interval {
	return OfInt(1).Quo(between(piLo, piHi).twice().Sqrt())
})

// normalSeries returns (Φ(x) - 1/2) / φ(x) = x + x³/3 + x⁵/(3·5) + …, for 0 <= x <= 8.
//
// All terms, and each product of factors x²/n, are below 1.26e^(x²/2) < 2^48. A term is too
// small by what the one before was, times x²/n, and by 2 units for its own rounding and
// 2^48 for that of x². Of fewer than 2^10 terms each is so less than 2^107 units too small,
// their sum less than 2^117; where the terms end they at least halve, so that the rest of the
// series is less than that.
func normalSeries(x *big.Float) Interval {
	term := fixedPoint(x, fixed)
	square := new(big.Int).Mul(term, term)
	square.Rsh(square, fixed)
	sum := new(big.Int).Set(term)
	product, divisor := new(big.Int), new(big.Int)
	for n := int64(3); term.Sign() > 0; n += 2 {
		product.Mul(term, square)
		product.Rsh(product, fixed)
		term.Quo(product, divisor.SetInt64(n))
		sum.Add(sum, term)
	}
	lost := new(big.Int).Lsh(big.NewInt(1), 120)
	lo, hi := down().SetInt(sum), up().SetInt(lost.Add(lost, sum))
	return Interval{lo.SetMantExp(lo, -fixed), hi.SetMantExp(hi, -fixed)}
}

// millsRatio returns P(N > x) / φ(x) for x >= 6 by Laplace's continued fraction
// 1/(x+1/(x+2/(x+3/(x+…)))). What stands below any of its bars lies between x and x + n/x,
// n the numerator that follows, and each step outward turns the ends about. The depth is
// what it takes for 60 digits.
func millsRatio(x *big.Float) Interval {
	from, _ := x.Float64()
	depth := 40 + int64(3000/(from*from))
	one := big.NewInt(1)
	first := fixedPoint(x, precision)
	next := new(big.Int).Add(first, one) // x lies between them
	shifted := new(big.Int)
	over := func(n int64, z *big.Int) *big.Int { // n/z, rounded down
		shifted.SetInt64(n)
		return new(big.Int).Quo(shifted.Lsh(shifted, 2*precision), z)
	}
	lo, hi := first, over(depth+1, first)
	hi.Add(hi, next).Add(hi, one)
	for n := depth; n > 0; n-- {
		lo, hi = over(n, hi), over(n, lo)
		lo.Add(lo, first)
		hi.Add(hi, next).Add(hi, one)
	}
	bottom, top := down().SetInt(over(1, hi)), up().SetInt(shifted.Add(over(1, lo), one))
	return Interval{bottom.SetMantExp(bottom, -precision), top.SetMantExp(top, -precision)}
}
