package noise

import (
	"math"
	"math/big"
)

// DiscreteGaussian is the distribution on all integers k with P(k) proportional to
//
//	exp(-k²/(2σ²)),
//
// σ² being its variance parameter; the variance of the distribution is at most
// that. A DiscreteGaussian is immutable and safe for concurrent use.
type DiscreteGaussian struct {
	variance *big.Rat // σ²
	proposal *DiscreteLaplace

	// tInverse and alpha approximate 1/t and t/σ, t being the proposal's scale.
	tInverse, alpha float64

	lanes *lazy
}

// NewDiscreteGaussian returns the distribution with the given σ², which must be
// positive.
func NewDiscreteGaussian(variance *big.Rat) (*DiscreteGaussian, error) {
	if err := checkParameter("variance", variance); err != nil {
		return nil, err
	}
	// t = floor(σ) + 1; floor(sqrt(a/b)) = floor(sqrt(floor(a/b))).
	t := new(big.Int).Quo(variance.Num(), variance.Denom())
	t.Sqrt(t).Add(t, one)
	scale := new(big.Rat).SetInt(t)
	proposal, err := NewDiscreteLaplace(scale)
	if err != nil {
		return nil, err
	}
	d := &DiscreteGaussian{variance: new(big.Rat).Set(variance), proposal: proposal}
	d.tInverse, _ = new(big.Rat).Inv(scale).Float64()
	square := new(big.Rat).Mul(scale, scale)
	alpha, _ := square.Quo(square, variance).Float64()
	d.alpha = math.Sqrt(alpha)
	d.lanes = &lazy{worth: 4096, make: func() (*laned, bool) { return newGaussianLanes(d.variance) }}
	return d, nil
}

// Variance returns a copy of the distribution's parameter σ².
func (d *DiscreteGaussian) Variance() *big.Rat { return new(big.Rat).Set(d.variance) }

// Sample returns one draw.
func (d *DiscreteGaussian) Sample(b Bits) (*big.Int, error) { return sample(b, d) }

// AddTo adds an independent draw to each of the values. On an error all of them
// are replaced by nil, so that none can be taken for a noisy one.
func (d *DiscreteGaussian) AddTo(b Bits, values []*big.Int) error {
	return addTo(b, values, d, d.lanes)
}

// draw sets z to one draw.
//
// Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), Algorithm 3: a draw Y of the
// discrete Laplace distribution with scale t = floor(σ) + 1 is accepted with
// probability exp(-x), x = (|Y| - σ²/t)²/(2σ²); then
//
//	exp(-|Y|/t)·exp(-x) = exp(-Y²/(2σ²))·constant.
func (d *DiscreteGaussian) draw(s *Stream, z *big.Int) error {
	for {
		lo, hi := math.NaN(), math.NaN()
		if d.proposal.native {
			u, v, err := d.proposal.blocks(s)
			if err != nil {
				return err
			}
			d.proposal.assemble(z, u, v)
			lo, hi = d.bracket(u, v)
		} else if err := d.proposal.bigMagnitude(s, z); err != nil {
			return err
		}
		minus, err := s.bits(1)
		if err != nil {
			return err
		}
		if minus == 1 && z.Sign() == 0 {
			continue // -0, as in the proposal's own draw
		}
		ok, err := d.accept(s, lo, hi, z)
		if err != nil {
			return err
		}
		if ok {
			if minus == 1 {
				z.Neg(z)
			}
			return nil
		}
	}
}

// bracket returns bounds of the exponent x for |Y| = u + t·v.
//
// It is a floating-point filter: nearly always the bounds decide, and where they
// do not, exact arithmetic does, so that the distribution does not depend on
// their width. With S = |Y|/σ + σ/t and d = 2^-53, the roundings of u, t, v + u/t
// and alpha leave a relative error of at most 10d in |Y|/σ and 3d in σ/t, so at
// most 11dS in their difference, of size at most S, and 13dS² < 2^-49·S² in half
// its square; the width below leaves a factor 8 above that. With numbers out of
// range the bounds are infinite or NaN, which decides nothing.
func (d *DiscreteGaussian) bracket(u uint128, v uint64) (lo, hi float64) {
	y := (float64(v) + (float64(u.hi)*0x1p64+float64(u.lo))*d.tInverse) * d.alpha
	c := 1 / d.alpha
	x := (y - c) * (y - c) / 2
	e := 0x1p-46 * (y + c) * (y + c)
	return max(x-e, 0), x + e
}

// exponent returns x = num/den for a magnitude y: with σ² = a/b,
// (y - a/(bt))²·b/(2a) = (ybt - a)²/(2abt²).
func (d *DiscreteGaussian) exponent(y *big.Int) (num, den *big.Int) {
	a, b, t := d.variance.Num(), d.variance.Denom(), d.proposal.num
	num = new(big.Int).Mul(y, b)
	num.Mul(num, t).Sub(num, a)
	num.Mul(num, num)
	den = new(big.Int).Mul(a, b)
	den.Mul(den, t).Mul(den, t).Lsh(den, 1)
	return num, den
}

// accept returns true with probability exp(-x), given bounds of x. It is
// bernoulliExp without big integers, where the bounds allow it.
func (d *DiscreteGaussian) accept(s *Stream, lo, hi float64, y *big.Int) (bool, error) {
	n := math.Floor(lo)
	if math.Floor(hi) != n || math.IsInf(hi, 1) {
		return s.bernoulliExp(d.exponent(y))
	}
	for range int64(n) {
		if ok, err := s.bernoulliExp1(); !ok || err != nil {
			return false, err
		}
	}
	return s.evenRun(func() (bool, error) {
		return s.bernoulliBetween(lo-n, hi-n, func() (num, den *big.Int) {
			num, den = d.exponent(y)
			return num.Rem(num, den), den
		})
	})
}

// bernoulliBetween returns true with probability f, 0 <= f < 1, given bounds
// 0 <= lo <= f <= hi < 1, and f itself on demand, as num/den. It draws the digits
// of a uniform real as bernoulli does; doubling a bound and subtracting one from
// what lies in [1, 2) are exact in floating point.
func (s *Stream) bernoulliBetween(lo, hi float64, f func() (num, den *big.Int)) (bool, error) {
	for k := uint(0); ; k++ {
		lo, hi = 2*lo, 2*hi
		var digit uint64
		switch {
		case hi < 1:
		case lo >= 1:
			digit = 1
			lo, hi = lo-1, hi-1
		default: // the bounds do not say; the k digits before are those of f
			num, den := f()
			num.Lsh(num, k).Rem(num, den)
			return s.bernoulli(num, den)
		}
		bit, err := s.bits(1)
		if err != nil {
			return false, err
		}
		if bit != digit {
			return bit < digit, nil
		}
	}
}
