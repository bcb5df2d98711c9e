package linear

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
)

// A number is an exact rational: num/(over+1) in lowest terms while both parts
// are below 2^63 in size, and big otherwise. The zero number is 0, and equal
// numbers that are not big are equal structs. Every operation on the small form
// detects overflow and falls back to big.
type number struct {
	num, over int64
	big       *big.Rat // never written to after it is stored
}

func whole(n int64) number {
	if n == math.MinInt64 {
		return fromBig(new(big.Rat).SetInt64(n))
	}
	return number{num: n}
}

// fromBig takes r over.
func fromBig(r *big.Rat) number {
	if x, ok := small(r); ok {
		return x
	}
	return number{big: r}
}

// fromRat leaves r to its owner.
func fromRat(r *big.Rat) number {
	if x, ok := small(r); ok {
		return x
	}
	return number{big: new(big.Rat).Set(r)}
}

// small is r as a number that is not big, if both parts fit.
func small(r *big.Rat) (number, bool) {
	n := r.Num()
	if !n.IsInt64() || n.Int64() == math.MinInt64 {
		return number{}, false
	}
	if r.IsInt() {
		return number{num: n.Int64()}, true
	}
	d := r.Denom()
	if !d.IsInt64() {
		return number{}, false
	}
	return number{num: n.Int64(), over: d.Int64() - 1}, true
}

func (x number) rat() *big.Rat {
	if x.big != nil {
		return new(big.Rat).Set(x.big)
	}
	return x.view()
}

// view is x as a big.Rat that must not be written to if x is big.
func (x number) view() *big.Rat {
	switch {
	case x.big != nil:
		return x.big
	case x.over == 0: // there is nothing to reduce
		return new(big.Rat).SetInt64(x.num)
	}
	return big.NewRat(x.num, x.over+1)
}

func (x number) sign() int {
	if x.big != nil {
		return x.big.Sign()
	}
	return cmp.Compare(x.num, 0)
}

func (x number) isZero() bool { return x.big == nil && x.num == 0 }

func (x number) isInt() bool {
	if x.big != nil {
		return x.big.IsInt()
	}
	return x.over == 0
}

func (x number) neg() number {
	if x.big != nil {
		return number{big: new(big.Rat).Neg(x.big)}
	}
	return number{num: -x.num, over: x.over}
}

func (x number) add(y number) number {
	if x.big == nil && y.big == nil {
		if x.over == 0 && y.over == 0 {
			if s, ok := add64(x.num, y.num); ok {
				return number{num: s}
			}
		} else if p, ok := mul64(x.num, y.over+1); ok {
			if q, ok := mul64(y.num, x.over+1); ok {
				if s, ok := add64(p, q); ok {
					if d, ok := mul64(x.over+1, y.over+1); ok {
						return lowest(s, d)
					}
				}
			}
		}
	}
	return fromBig(new(big.Rat).Add(x.view(), y.view()))
}

func (x number) sub(y number) number { return x.add(y.neg()) }

func (x number) mul(y number) number {
	if x.big == nil && y.big == nil {
		if n, ok := mul64(x.num, y.num); ok {
			if x.over == 0 && y.over == 0 {
				return number{num: n}
			}
			if d, ok := mul64(x.over+1, y.over+1); ok {
				return lowest(n, d)
			}
		}
	}
	return fromBig(new(big.Rat).Mul(x.view(), y.view()))
}

// inv is 1/x; x is not 0.
func (x number) inv() number {
	if x.big != nil {
		return fromBig(new(big.Rat).Inv(x.big))
	}
	if x.num < 0 {
		return number{num: -(x.over + 1), over: -x.num - 1}
	}
	return number{num: x.over + 1, over: x.num - 1}
}

func (x number) cmp(y number) int {
	if x.big == nil && y.big == nil {
		if x.over == y.over {
			return cmp.Compare(x.num, y.num)
		}
		if p, ok := mul64(x.num, y.over+1); ok {
			if q, ok := mul64(y.num, x.over+1); ok {
				return cmp.Compare(p, q)
			}
		}
	}
	return x.view().Cmp(y.view())
}

func (x number) equal(y number) bool {
	if x.big == nil && y.big == nil {
		return x == y
	}
	return x.cmp(y) == 0
}

// floor is the greatest integer that is at most x.
func (x number) floor() number {
	if x.isInt() {
		return x
	}
	if x.big != nil {
		n := new(big.Int).Div(x.big.Num(), x.big.Denom()) // Euclidean; the denominator is positive
		return fromBig(new(big.Rat).SetInt(n))
	}
	n := x.num / (x.over + 1)
	if x.num < 0 {
		n--
	}
	return number{num: n}
}

func (x number) ceil() number { return x.neg().floor().neg() }

// lowest is n/d in lowest terms, d > 0.
func lowest(n, d int64) number {
	if d == 1 {
		return number{num: n}
	}
	g := gcd64(n, d)
	return number{num: n / g, over: d/g - 1}
}

// gcd64 is the greatest common divisor, not negative; n and d are not the least int64.
func gcd64(n, d int64) int64 {
	for d != 0 {
		n, d = d, n%d
	}
	return max(n, -n)
}

// add64 fails on overflow and on the least int64.
func add64(x, y int64) (int64, bool) {
	s := x + y
	return s, (s > x) == (y > 0) && s != math.MinInt64
}

// mul64 fails on overflow and on the least int64.
func mul64(x, y int64) (int64, bool) {
	if x == int64(int32(x)) && y == int64(int32(y)) {
		return x * y, true
	}
	hi, lo := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if (x < 0) != (y < 0) {
		return -int64(lo), true
	}
	return int64(lo), true
}

// content is the positive rational g for which the x/g are integers without a
// common divisor: gcd(numerators)/lcm(denominators). Some x is not 0.
func content(xs []monomial) number {
	n, d := new(big.Int), big.NewInt(1)
	var n64, d64 int64 = 0, 1
	small := true
	for _, x := range xs {
		c := x.coef
		if small && c.big == nil {
			g := gcd64(d64, c.over+1)
			if l, ok := mul64(d64/g, c.over+1); ok {
				n64, d64 = gcd64(n64, c.num), l
				continue
			}
		}
		if small {
			small = false
			n.SetInt64(n64)
			d.SetInt64(d64)
		}
		r := c.view()
		n.GCD(nil, nil, n, new(big.Int).Abs(r.Num()))
		g := new(big.Int).GCD(nil, nil, d, r.Denom())
		d.Mul(d, g.Quo(r.Denom(), g))
	}
	if small {
		return lowest(n64, d64)
	}
	return fromBig(new(big.Rat).SetFrac(n, d))
}
