package numeric

import "math/big"

// The series run on fixed-point integers, in units of 2^-fixed, rounding every
// step down; what that can have lost in all is added to the upper bound.
const fixed = 640

// Exp returns e^x. It panics if x may exceed 2^20; below -2^20 the lower bound
// is 0. (The limit keeps bounds short as rationals, and admits any epsilon.)
func (x Interval) Exp() Interval {
	lo, hi := x.bounds()
	limit := new(big.Float).SetInt64(1 << 20)
	if hi.Cmp(limit) > 0 {
		panic("numeric: overflow in exp")
	}
	least := new(big.Float).Neg(limit)
	if hi.Cmp(least) < 0 {
		hi = least
	}
	top := exp(hi)
	z := Interval{down(), top.hi}
	switch {
	case lo.Cmp(hi) == 0:
		z.lo = top.lo
	case lo.Cmp(least) >= 0:
		z.lo = exp(lo).lo
	}
	return z
}

// exp returns e^x for the one number x, by e^x = (e^(x/2^k))^(2^k) and the
// exponential series.
func exp(x *big.Float) Interval {
	if x.Sign() < 0 {
		return OfInt(1).Quo(exp(new(big.Float).Neg(x)))
	}
	// Take k so that y = x/2^k < 2^-8, which the scaling gives exactly. A
	// precision of 256 bits leaves all of y above 2^-fixed, or nearly nothing.
	k := max(0, x.MantExp(nil)+8)
	y := toFixed(x, k)
	sum := new(big.Int).Lsh(big.NewInt(1), fixed)
	term := new(big.Int).Set(sum)
	for n := int64(1); term.Sign() > 0; n++ {
		term.Mul(term, y)
		term.Rsh(term, fixed)
		term.Quo(term, big.NewInt(n))
		sum.Add(sum, term)
	}
	// Fewer than 100 terms, each less than 2 units too small (an error shrinks
	// with the next factor y/n), 2 more for y itself, and the rest of the series
	// is less than 1.
	z := fromFixed(sum, 256)
	for range k {
		z = z.square()
	}
	return z
}

// square returns x² for a positive x.
func (x Interval) square() Interval {
	return Interval{down().Mul(x.lo, x.lo), up().Mul(x.hi, x.hi)}
}

// Log returns the natural logarithm of x. It panics unless x is positive.
func (x Interval) Log() Interval {
	if !x.Positive() {
		panic("numeric: logarithm of what may not be positive")
	}
	bottom := log(x.lo)
	if x.lo.Cmp(x.hi) == 0 {
		return bottom
	}
	return Interval{bottom.lo, log(x.hi).hi}
}

// ln 2, between its first 80 decimals and the next number of as many.
const (
	ln2Lo = "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471"
	ln2Hi = "0.69314718055994530941723212145817656807550013436025525412068000949339362196969472"
)

// between returns the interval of two decimals.
func between(lo, hi string) Interval {
	a, _ := new(big.Rat).SetString(lo)
	b, _ := new(big.Rat).SetString(hi)
	return Interval{Of(a).lo, Of(b).hi}
}

// log returns ln x for the one positive number x = m·2^e, as ln m + e·ln 2, with
// ln m = 2·artanh((m-1)/(m+1)).
func log(x *big.Float) Interval {
	m := new(big.Float)
	e := x.MantExp(m)
	if m.Cmp(big.NewFloat(0.7)) < 0 { // 0.7 <= m < 1.4: the series is short
		m.SetMantExp(m, 1)
		e--
	}
	one := new(big.Int).Lsh(big.NewInt(1), fixed)
	f := toFixed(m, 0)
	num, den := new(big.Int).Sub(f, one), new(big.Int).Add(f, one)
	z := OfInt(2).Mul(artanh(new(big.Int).Abs(num), den))
	if num.Sign() < 0 {
		z = z.Neg()
	}
	if e != 0 { // e = 0 must stay free of cancellation, near 1
		z = z.Add(OfInt(int64(e)).Mul(between(ln2Lo, ln2Hi)))
	}
	return z
}

// artanh returns artanh z = z + z³/3 + z⁵/5 + …, for z = num/den in [0, 1/3].
func artanh(num, den *big.Int) Interval {
	if num.Sign() == 0 {
		return Interval{}
	}
	power := new(big.Int).Lsh(num, fixed)
	power.Quo(power, den)
	square := new(big.Int).Mul(power, power)
	square.Rsh(square, fixed)
	sum := new(big.Int).Set(power)
	term := new(big.Int)
	for n := int64(3); power.Sign() > 0; n += 2 {
		power.Mul(power, square)
		power.Rsh(power, fixed)
		sum.Add(sum, term.Quo(power, big.NewInt(n)))
	}
	// Fewer than 210 terms (each is at most a ninth of the one before), each less
	// than 3 units too small, and the rest of the series is less than 1.
	return fromFixed(sum, 1024)
}

// toFixed returns x/2^k in units of 2^-fixed, rounded down.
func toFixed(x *big.Float, k int) *big.Int {
	i, _ := new(big.Float).SetMantExp(x, fixed-k).Int(nil)
	return i
}

// fromFixed returns the interval from units to units+lost.
func fromFixed(units *big.Int, lost int64) Interval {
	lo := down().SetInt(units)
	hi := up().SetInt(new(big.Int).Add(units, big.NewInt(lost)))
	return Interval{lo.SetMantExp(lo, -fixed), hi.SetMantExp(hi, -fixed)}
}
