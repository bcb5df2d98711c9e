package exact

import (
	"math"
	"math/big"
)

// A rational is an exact number: a fraction of int64s where it fits, as those of
// programs and their inputs do, and a big.Rat where it does not. The zero rational
// is 0.
type rational struct {
	n, d int64 // in lowest terms, d > 0; d = 0 stands for 1
	big  *big.Rat
}

func integer(n int64) rational { return rational{n: n, d: 1} }

func rationalOf(r *big.Rat) rational {
	if r.Num().IsInt64() && r.Denom().IsInt64() {
		return rational{n: r.Num().Int64(), d: r.Denom().Int64()}
	}
	return rational{big: r}
}

// rat is the number as a big.Rat, which must not be changed.
func (x rational) rat() *big.Rat {
	if x.big != nil {
		return x.big
	}
	return big.NewRat(x.n, max(x.d, 1))
}

// small reports whether products of two such numbers' parts fit.
func (x rational) small() bool {
	return x.big == nil && x.n < 1<<31 && x.n > -1<<31 && x.d < 1<<31
}

// fraction is n/d in lowest terms, d > 0.
func fraction(n, d int64) rational {
	if n == 0 {
		return rational{d: 1}
	}
	if d == 1 {
		return rational{n: n, d: 1}
	}
	a := gcd(abs(n), d)
	return rational{n: n / a, d: d / a}
}

func (x rational) plus(y rational) rational {
	if x.small() && y.small() {
		p, q := max(x.d, 1), max(y.d, 1)
		if p == q {
			return fraction(x.n+y.n, p)
		}
		return fraction(x.n*q+y.n*p, p*q)
	}
	return rationalOf(new(big.Rat).Add(x.rat(), y.rat()))
}

func (x rational) minus(y rational) rational { return x.plus(y.negated()) }

func (x rational) times(y rational) rational {
	if x.small() && y.small() {
		return fraction(x.n*y.n, max(x.d, 1)*max(y.d, 1))
	}
	return rationalOf(new(big.Rat).Mul(x.rat(), y.rat()))
}

func (x rational) negated() rational {
	if x.big == nil && x.n != -1<<63 {
		return rational{n: -x.n, d: x.d}
	}
	return rationalOf(new(big.Rat).Neg(x.rat()))
}

// inverse is 1/x, of x other than 0.
func (x rational) inverse() rational {
	if x.big == nil && x.n != -1<<63 {
		if x.n < 0 {
			return rational{n: -max(x.d, 1), d: -x.n}
		}
		return rational{n: max(x.d, 1), d: x.n}
	}
	return rationalOf(new(big.Rat).Inv(x.rat()))
}

func (x rational) abs() rational {
	if x.sign() < 0 {
		return x.negated()
	}
	return x
}

func (x rational) sign() int {
	switch {
	case x.big != nil:
		return x.big.Sign()
	case x.n > 0:
		return 1
	case x.n < 0:
		return -1
	}
	return 0
}

func (x rational) cmp(y rational) int {
	if x.small() && y.small() {
		a, b := x.n*max(y.d, 1), y.n*max(x.d, 1)
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	}
	return x.rat().Cmp(y.rat())
}

// long reports whether a number has so many digits that squaring it again and again would
// not end.
func (x rational) long() bool {
	return x.big != nil && x.big.Num().BitLen()+x.big.Denom().BitLen() > 1<<14
}

// coarse is a number of eight bits near one that is no fraction of int64s, for events that people
// read.
func (x rational) coarse() rational {
	if x.big == nil {
		return x
	}
	f, _ := x.big.Float64()
	m, e := math.Frexp(f)
	f = math.Ldexp(math.Round(m*256), e-8)
	if f == 0 || math.IsInf(f, 0) {
		return x
	}
	return rationalOf(new(big.Rat).SetFloat64(f))
}

func (x rational) isInt() bool {
	if x.big != nil {
		return x.big.IsInt()
	}
	return x.d <= 1
}

// int64 is a whole number that fits.
func (x rational) int64() (int64, bool) { return x.n, x.big == nil && x.d <= 1 }

func rationalOfInt(n *big.Int) rational { return rationalOf(new(big.Rat).SetInt(n)) }
