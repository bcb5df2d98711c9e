package exact

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A number is an interval around a real one; every operation rounds outward, so
// that the result of what the operands stand for lies in the result. There are two:
// narrow, of float64s, and numeric.Interval, of 256 bits, for when cancellation has
// left a narrow one too wide.
type number[N any] interface {
	Add(N) N
	Sub(N) N
	Mul(N) N
}

// A narrow is an interval of float64s.
type narrow struct{ lo, hi float64 }

// below and above go one float64 further out than the nearest to a result. An
// error of rounding is at most half a unit in the last place; |x|·2^-52 is at least
// a whole one, and 2^-1074 that of subnormal numbers.
func below(x float64) float64 { return x - (math.Abs(x)*0x1p-52 + 0x1p-1074) }
func above(x float64) float64 { return x + (math.Abs(x)*0x1p-52 + 0x1p-1074) }

func (x narrow) zero() bool { return x.lo == 0 && x.hi == 0 }

// Add returns x + y.
func (x narrow) Add(y narrow) narrow {
	switch {
	case x.zero():
		return y
	case y.zero():
		return x
	}
	return narrow{below(x.lo + y.lo), above(x.hi + y.hi)}.checked()
}

// Sub returns x - y.
func (x narrow) Sub(y narrow) narrow { return x.Add(narrow{-y.hi, -y.lo}) }

// Mul returns x × y.
func (x narrow) Mul(y narrow) narrow {
	if x.zero() || y.zero() {
		return narrow{}
	}
	if x.lo >= 0 && y.lo >= 0 {
		return narrow{max(0, below(x.lo*y.lo)), above(x.hi * y.hi)}.checked()
	}
	a, b, c, d := x.lo*y.lo, x.lo*y.hi, x.hi*y.lo, x.hi*y.hi
	return narrow{below(min(a, b, c, d)), above(max(a, b, c, d))}.checked()
}

// checked replaces what infinities made of an interval by the whole line.
func (x narrow) checked() narrow {
	if x.lo-x.lo != 0 || x.hi-x.hi != 0 {
		return narrow{math.Inf(-1), math.Inf(1)}
	}
	return x
}

// outward returns the float64 interval around [lo, hi].
func outward(lo, hi *big.Rat) Interval {
	a, exact := lo.Float64()
	if !exact {
		a = math.Nextafter(a, math.Inf(-1))
	}
	b, exact := hi.Float64()
	if !exact {
		b = math.Nextafter(b, math.Inf(1))
	}
	return Interval{a, b}
}

// An arithmetic makes numbers: of rationals, and of exponentials of a unit.
type arithmetic[N number[N]] struct {
	rational func(*big.Rat) N
	// exp is e^(−m·rate), for m >= 0; rate is what a unit of an exponent stands for.
	exp  func(m int64) N
	rate rational
	exps map[int64]N
	// laws are the densities of variables.
	laws []density
}

// exponentials remembers e^−x for fractions x.
type exponentials map[rational]narrow

func narrows(rate rational, laws []density, known exponentials) *arithmetic[narrow] {
	return &arithmetic[narrow]{
		rational: func(r *big.Rat) narrow {
			if n := r.Num(); r.IsInt() && n.IsInt64() && abs(n.Int64()) < 1<<53 {
				return narrow{float64(n.Int64()), float64(n.Int64())}
			}
			x := outward(r, r)
			return narrow{x.Lo, x.Hi}
		},
		exp: func(m int64) narrow {
			r := integer(m).times(rate)
			if r.big != nil {
				return rounded(numeric.Of(r.negated().rat()).Exp())
			}
			x, ok := known[r]
			if !ok {
				x = rounded(numeric.Of(r.negated().rat()).Exp())
				known[r] = x
			}
			return x
		},
		rate: rate, laws: laws, exps: map[int64]narrow{},
	}
}

func wides(rate rational, laws []density) *arithmetic[numeric.Interval] {
	return &arithmetic[numeric.Interval]{
		rational: numeric.Of,
		exp: func(m int64) numeric.Interval {
			return numeric.Of(integer(-m).times(rate).rat()).Exp()
		},
		rate: rate, laws: laws, exps: map[int64]numeric.Interval{},
	}
}

// rounded is the narrow interval around a wide one of a number that is not negative.
func rounded(x numeric.Interval) narrow {
	o := outward(x.Lo(), x.Hi())
	return narrow{max(0, o.Lo), max(0, o.Hi)}
}

func (a *arithmetic[N]) integer(n int64) N { return a.rational(new(big.Rat).SetInt64(n)) }

// decay returns e^(−m·rate), for m >= 0.
func (a *arithmetic[N]) decay(m int64) N {
	x, ok := a.exps[m]
	if !ok {
		x = a.exp(m)
		a.exps[m] = x
	}
	return x
}
