package gemm

import "math"

// A Squash computes y = scale/(1+exp(-temperature*x)) - offset, within a few units of
// the last place of scale; NaN for NaN.
type Squash struct {
	temperature, scale, offset float64
	rows                       [squashRows][8]float32 // the kernel's constants, eight times each
}

const squashRows = 15

// squashLimit is where the exponential is as good as 0 or infinite, and its float32
// still a number.
const squashLimit = 87

// NewSquash makes a Squash.
func NewSquash(temperature, scale, offset float64) *Squash {
	s := &Squash{temperature: temperature, scale: scale, offset: offset}
	for row, c := range [squashRows]float64{-temperature, squashLimit, -squashLimit, math.Log2E, -math.Ln2,
		1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1, scale, offset} {
		for i := range s.rows[row] {
			s.rows[row][i] = float32(c)
		}
	}
	return s
}

// Apply sets y to the function of x; y may be x.
func (s *Squash) Apply(e *Engine, x, y []float32) {
	y = y[:len(x)]
	i := 0
	if e.kernels {
		i = squashKernel(&s.rows, x, y)
	}
	for ; i < len(x); i++ {
		y[i] = float32(s.scale*Logistic(s.temperature*float64(x[i])) - s.offset)
	}
}

// Logistic is 1/(1+exp(-x)) to about 1e-9, and NaN for NaN: several times as fast as
// with math.Exp, whose last bits a float32 has no use for.
func Logistic(x float64) float64 {
	x = max(-squashLimit, min(squashLimit, x))
	// exp(-x) = 2^k exp(r) with |r| <= ln(2)/2. Adding 1.5*2^52 rounds to a whole
	// number and leaves it in the low bits.
	const shift = 3 << 51
	k := x*(-math.Log2E) + shift
	r := -x - (k-shift)*math.Ln2
	// Taylor's polynomial; the remainder is below (ln(2)/2)^9/9! = 2e-10.
	p := 1 + r*(1+r*(1./2+r*(1./6+r*(1./24+r*(1./120+r*(1./720+r*(1./5040+r*(1./40320))))))))
	e := p * math.Float64frombits((math.Float64bits(k)+1023)<<52)
	return 1 / (1 + e)
}
