package numeric

import (
	"math"
	"math/big"
)

// Max returns the greater of x and y.
func (x Interval) Max(y Interval) Interval {
	a, b := x.bounds()
	c, d := y.bounds()
	return Interval{greater(a, c), greater(b, d)}
}

// Min returns the lesser of x and y.
func (x Interval) Min(y Interval) Interval {
	a, b := x.bounds()
	c, d := y.bounds()
	return Interval{lesser(a, c), lesser(b, d)}
}

// Hull returns the least interval that holds both x and y.
func (x Interval) Hull(y Interval) Interval {
	a, b := x.bounds()
	c, d := y.bounds()
	return Interval{lesser(a, c), greater(b, d)}
}

// Ends returns the two bounds as intervals of one point.
func (x Interval) Ends() (lo, hi Interval) {
	a, b := x.bounds()
	return Interval{a, a}, Interval{b, b}
}

// Cmp returns -1 if x is certainly below y, 1 if it is certainly above, and 0 if
// the bounds do not tell.
func (x Interval) Cmp(y Interval) int {
	a, b := x.bounds()
	c, d := y.bounds()
	switch {
	case b.Cmp(c) < 0:
		return -1
	case a.Cmp(d) > 0:
		return 1
	}
	return 0
}

// Float64s returns float64 bounds of x, rounded outward.
func (x Interval) Float64s() (lo, hi float64) {
	a, b := x.bounds()
	lo, _ = a.Float64() // to nearest, with denormal numbers
	hi, _ = b.Float64()
	if new(big.Float).SetFloat64(lo).Cmp(a) > 0 {
		lo = math.Nextafter(lo, math.Inf(-1))
	}
	if new(big.Float).SetFloat64(hi).Cmp(b) < 0 {
		hi = math.Nextafter(hi, math.Inf(1))
	}
	return lo, hi
}

func greater(a, b *big.Float) *big.Float {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

func lesser(a, b *big.Float) *big.Float {
	if a.Cmp(b) > 0 {
		return b
	}
	return a
}
