package numeric

import (
	"math"
	"math/big"
	"sync"
)

// The series run on fixed-point integers, in units of 2^-fixed, rounding every
// step down; what that can have lost in all is added to the upper bound. A bound
// has 128 bits fewer.
const fixed = 384

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
	if lo.Cmp(least) < 0 {
		return Interval{down(), exp(hi).hi}
	}
	bottom := exp(lo)
	if lo.Cmp(hi) == 0 {
		return bottom
	}
	// e^hi = e^lo e^d, and e^d <= 1 + d + d² for d <= 1.
	if d := up().Sub(hi, lo); d.Cmp(narrow) < 0 {
		factor := up().Mul(d, d)
		factor.Add(factor, d).Add(factor, unit)
		return Interval{bottom.lo, factor.Mul(factor, bottom.hi)}
	}
	return Interval{bottom.lo, exp(hi).hi}
}

var (
	narrow = new(big.Float).SetMantExp(big.NewFloat(1), -100)
	unit   = big.NewFloat(1)
)

// exp returns e^x for the one number x. What rounding loses never puts it on the wrong
// side of 1.
func exp(x *big.Float) Interval {
	sum, lost, n := scaledExp(x)
	z := scaled(sum, lost, fixed-n)
	switch {
	case x.Sign() <= 0 && z.hi.Cmp(unit) > 0:
		z.hi = up().SetInt64(1)
	case x.Sign() >= 0 && z.lo.Cmp(unit) < 0:
		z.lo = down().SetInt64(1)
	}
	return z
}

// halvings is how often an argument of the exponential series is halved, and its sum squared.
const halvings = 16

// guard is how many more bits than fixed a multiple of ln 2 is taken from an argument with.
const guard = 32

// scaledExp returns e^x between sum and sum+lost, in units of 2^(n-fixed), for |x| <= 2^20.
//
// With x = n·ln 2 + r and 0 <= r < 0.7, e^x is 2^n times the square, halvings times, of
// the series of e^y, y = r/2^halvings.
func scaledExp(x *big.Float) (sum *big.Int, lost int64, n int) {
	f, _ := x.Float64()
	n = int(math.Floor(f / math.Ln2))
	// The multiple of ln 2 is rounded up, so that r is too small, if at all. It is by less
	// than 2^22 units of 2^-(fixed+guard), so by less than one of 2^-fixed.
	units := ln2Units()
	r, multiple := fixedPoint(x, fixed+guard), new(big.Int)
	for ; ; n-- { // once, or twice where the float64 quotient was rounded up
		of := units[1]
		if n < 0 {
			of = units[0]
		}
		if multiple.Mul(of, big.NewInt(int64(n))); r.Cmp(multiple) >= 0 {
			break
		}
	}
	y := r.Sub(r, multiple)
	y.Rsh(y, guard+halvings)

	sum = new(big.Int).Lsh(big.NewInt(1), fixed)
	term, product, divisor := new(big.Int).Set(sum), new(big.Int), new(big.Int)
	for k := int64(1); term.Sign() > 0; k++ {
		product.Mul(term, y)
		product.Rsh(product, fixed)
		term.Quo(product, divisor.SetInt64(k))
		sum.Add(sum, term)
	}
	// y is too small by less than 2 units. Of fewer than 30 terms each is by less than 2
	// (an error shrinks with the next factor y/k), and the rest of the series is less than
	// 2: less than 2^6 in all. A square doubles that, times what it is the square of, and
	// adds 1; all of these factors are e^r < 2.1 together.
	for range halvings {
		product.Mul(sum, sum)
		sum.Rsh(product, fixed)
	}
	return sum, 1 << (halvings + 8), n
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
	// ln hi <= ln lo + (hi-lo)/lo.
	if d := up().Sub(x.hi, x.lo); d.Quo(d, x.lo).Cmp(narrow) < 0 {
		return Interval{bottom.lo, d.Add(d, bottom.hi)}
	}
	return Interval{bottom.lo, log(x.hi).hi}
}

// ln 2, between its first 80 decimals and the next number of as many.
const (
	ln2Lo = "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471"
	ln2Hi = "0.69314718055994530941723212145817656807550013436025525412068000949339362196969472"
)

var ln2 = sync.OnceValue(func() Interval { return between(ln2Lo, ln2Hi) })

// ln2Units are whole numbers next to each other, or nearly, that ln 2 lies between, in units
// of 2^-(fixed+guard): 2·artanh(1/3), summed with 64 bits more.
var ln2Units = sync.OnceValue(func() [2]*big.Int {
	sum, lost := artanhUnits(big.NewInt(1), big.NewInt(3), fixed+guard+64)
	above := new(big.Int).Add(sum, big.NewInt(lost))
	above.Rsh(above, 63)
	return [2]*big.Int{sum.Rsh(sum, 63), above.Add(above, big.NewInt(1))}
})

// between returns the interval of two decimals.
func between(lo, hi string) Interval {
	a, _ := new(big.Rat).SetString(lo)
	b, _ := new(big.Rat).SetString(hi)
	return Interval{Of(a).lo, Of(b).hi}
}

// log returns ln x for the one positive number x = m·2^e, as ln m + e·ln 2.
func log(x *big.Float) Interval {
	m := new(big.Float)
	e := x.MantExp(m)
	if m.Cmp(big.NewFloat(0.7)) < 0 { // 0.7 <= m < 1.4
		m.SetMantExp(m, 1)
		e--
	}
	z := logNearOne(m)
	if e != 0 { // e = 0 must stay free of cancellation, near 1
		z = z.Add(OfInt(int64(e)).Mul(ln2()))
	}
	return z
}

// logNearOne returns ln m = 2·artanh((m-1)/(m+1)), for m of at most 256 bits in [0.7, 1.4].
func logNearOne(m *big.Float) Interval {
	rest := new(big.Float).Sub(m, unit) // exactly
	if small := rest.MantExp(nil); rest.Sign() == 0 || small < -16 {
		num := fixedPoint(rest, 2*precision)
		den := new(big.Int).Lsh(big.NewInt(1), 2*precision+1)
		return artanh(num, den.Add(den, num), fixed-small).twice()
	}
	// Away from 1 the series is short for p = m·e^-y, y the float64 next to ln m. It is too
	// small by less than 2^25 units, p being next to 1, and its logarithm by less than 2^26.
	f, _ := m.Float64()
	y := math.Log(f)
	sum, _, n := scaledExp(big.NewFloat(-y))
	p := sum.Mul(sum, fixedPoint(m, fixed))
	p.Rsh(p, uint(fixed-n))
	one := new(big.Int).Lsh(big.NewInt(1), fixed)
	z := artanh(new(big.Int).Sub(p, one), p.Add(p, one), fixed).twice()
	lost := up().SetMantExp(unit, 26-fixed)
	return z.Add(Interval{down(), lost}).Add(OfFloat(y))
}

// twice returns 2x.
func (x Interval) twice() Interval {
	return Interval{down().SetMantExp(x.lo, 1), up().SetMantExp(x.hi, 1)}
}

// artanh returns artanh z, z = num/den in [-1/3, 1/3], with so many bits behind the point.
func artanh(num, den *big.Int, bits int) Interval {
	sum, lost := artanhUnits(new(big.Int).Abs(num), den, bits)
	z := scaled(sum, lost, bits)
	if num.Sign() < 0 {
		return z.Neg()
	}
	return z
}

// artanhUnits returns artanh z = z + z³/3 + z⁵/5 + …, for z = num/den in [0, 1/3], between sum
// and sum+lost, in units of 2^-bits.
func artanhUnits(num, den *big.Int, bits int) (sum *big.Int, lost int64) {
	if num.Sign() == 0 {
		return new(big.Int), 0
	}
	power := new(big.Int).Lsh(num, uint(bits))
	power.Quo(power, den)
	square := new(big.Int).Mul(power, power)
	square.Rsh(square, uint(bits))
	sum = new(big.Int).Set(power)
	term, product, divisor := new(big.Int), new(big.Int), new(big.Int)
	for n := int64(3); power.Sign() > 0; n += 2 {
		product.Mul(power, square)
		power.Rsh(product, uint(bits))
		sum.Add(sum, term.Quo(power, divisor.SetInt64(n)))
	}
	// Fewer than 210 terms (each is at most a ninth of the one before), each less
	// than 3 units too small, and the rest of the series is less than 1.
	return sum, 1024
}

// fixedPoint returns x in units of 2^-bits, rounded down.
func fixedPoint(x *big.Float, bits int) *big.Int {
	i, accuracy := new(big.Float).SetMantExp(x, bits).Int(nil)
	if accuracy == big.Above { // Int rounds toward 0
		i.Sub(i, big.NewInt(1))
	}
	return i
}

// scaled returns the interval from units to units+lost, in units of 2^-bits.
func scaled(units *big.Int, lost int64, bits int) Interval {
	lo := down().SetInt(units)
	hi := up().SetInt(new(big.Int).Add(units, big.NewInt(lost)))
	return Interval{lo.SetMantExp(lo, -bits), hi.SetMantExp(hi, -bits)}
}
