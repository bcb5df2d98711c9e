package numeric

import "math/big"

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
	return normalDensity(i).Mul(millsRatio(i))
}

// normalDensity returns e^(-x²/2) / √(2π).
func normalDensity(x Interval) Interval {
	return x.Mul(x).Quo(OfInt(2)).Neg().Exp().Quo(OfInt(2).Mul(between(piLo, piHi)).Sqrt())
}

// normalSeries returns (Φ(x) - 1/2) / φ(x) = x + x³/3 + x⁵/(3·5) + …, for 0 <= x <= 8.
//
// All terms, and each product of factors x²/n, are below 1.26e^(x²/2) < 2^48. A term is too
// small by what the one before was, times x²/n, and by 2 units for its own rounding and
// 2^48 for that of x². Of fewer than 2^10 terms each is so less than 2^107 units too small,
// their sum less than 2^117; where the terms end they at least halve, so that the rest of the
// series is less than that.
func normalSeries(x *big.Float) Interval {
	term := toFixed(x, 0)
	square := new(big.Int).Mul(term, term)
	square.Rsh(square, fixed)
	sum := new(big.Int).Set(term)
	for n := int64(3); term.Sign() > 0; n += 2 {
		term.Mul(term, square)
		term.Rsh(term, fixed)
		term.Quo(term, big.NewInt(n))
		sum.Add(sum, term)
	}
	lost := new(big.Int).Lsh(big.NewInt(1), 120)
	lo, hi := down().SetInt(sum), up().SetInt(lost.Add(lost, sum))
	return Interval{lo.SetMantExp(lo, -fixed), hi.SetMantExp(hi, -fixed)}
}

// millsRatio returns P(N > x) / φ(x) for x >= 6 between two neighbouring
// convergents of Laplace's continued fraction 1/(x+1/(x+2/(x+3/(x+…)))), which lie
// alternately above and below it. The depth is what it takes for 60 digits.
func millsRatio(x Interval) Interval {
	from, _ := x.lo.Float64()
	depth := 40 + int64(3000/(from*from))
	convergent := func(n int64) Interval {
		z := x
		for ; n > 0; n-- {
			z = x.Add(OfInt(n).Quo(z))
		}
		return OfInt(1).Quo(z)
	}
	a, b := convergent(depth), convergent(depth+1)
	if a.lo.Cmp(b.lo) > 0 {
		a, b = b, a
	}
	return Interval{a.lo, b.hi}
}
