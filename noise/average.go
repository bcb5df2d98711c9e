package noise

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// maxAveraged bounds the reach of two draws together up to which the law of their average is computed term by term.
const maxAveraged = 1 << 15

// BoundOfAverage returns a q such that the average of two independent draws, rounded to one of the nearest integers, lies in
// [−q, q] except with probability at most beta, 0 < beta < 1. Their weights are as one over their variances, u and v, so that it has
// a variance of at most w = uv/(u+v). q is nearly the smallest one, and never too small.
//
// The rounded average is beyond q only if the average is at least q + 1/2 away from 0. Its weights are w/u and w/v; so with a the
// draw of less variance and b the other, that has the probability
//
//	2·Σ_k P(a = k)·P(b ≥ (q + 1/2 − w/u·k)·v/w).
//
// Beyond maxAveraged it compares with normal noise N of variance w: a draw is stochastically at most the normal one and 1
// (DiscreteGaussian.BoundOfSum, whose theorem needs a variance of 1/4), so that the average is at most N + 1, as the weights add up to 1.
func BoundOfAverage(a, b *DiscreteGaussian, beta *big.Rat) (*big.Int, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	if a.variance.Cmp(b.variance) > 0 {
		a, b = b, a
	}
	if a.variance.Cmp(big.NewRat(1, 4)) < 0 {
		return nil, fmt.Errorf("%w: an average of noise of variance %s", ErrParameter, a.variance.RatString())
	}
	lost := new(big.Rat).Quo(beta, big.NewRat(2000, 1))
	reach, err := a.Bound(lost)
	if err != nil {
		return nil, err
	}
	further, err := b.Bound(lost)
	if err != nil {
		return nil, err
	}
	sum := new(big.Rat).Add(a.variance, b.variance)
	if both := new(big.Int).Add(reach, further); both.IsInt64() && both.Int64() <= maxAveraged {
		share, _ := new(big.Rat).Quo(b.variance, sum).Float64()
		return averageByTerms(a.law(int(reach.Int64())), b.law(int(further.Int64())), share, beta), nil
	}
	sigma := numeric.Of(sum.Quo(new(big.Rat).Mul(a.variance, b.variance), sum)).Sqrt()
	return numeric.Ceil(numeric.OfFloat(normalBound(beta)).Mul(sigma).Add(numeric.Of(half)).Hi()), nil
}

// law is the probability of 0, 1, ... reach; at least the true one, as the norm lacks the tails.
func (d *DiscreteGaussian) law(reach int) []float64 {
	variance, _ := d.variance.Float64()
	p := make([]float64, reach+1)
	norm := 0.0
	for k := reach; k >= 0; k-- {
		p[k] = math.Exp(-float64(k) * float64(k) / (2 * variance))
		if norm += p[k]; k > 0 {
			norm += p[k]
		}
	}
	for k := range p {
		p[k] /= norm
	}
	return p
}

// averageByTerms is BoundOfAverage's of draws of two laws, each of which is longer but with a two-thousandth of beta. The first counts with a
// share. As in boundByConvolution, what floating point errs by is far less than the millionth that is kept back.
func averageByTerms(a, b []float64, share float64, beta *big.Rat) *big.Int {
	beyond := make([]float64, len(b)+1) // P(b ≥ j)
	for j := len(b) - 1; j >= 0; j-- {
		beyond[j] = beyond[j+1] + b[j]
	}
	tail := func(q int) float64 {
		sum := 0.0
		for k := 1 - len(a); k < len(a); k++ {
			least := (float64(q) + 0.5 - share*float64(k)) / (1 - share)
			j := int(math.Ceil(least - 1e-9*(1+math.Abs(least)))) // not above the true one, whatever was rounded
			p := 1.0
			switch {
			case j > 0:
				p = beyond[min(j, len(b))]
			case 1-j < len(beyond):
				p = 1 - beyond[1-j]
			}
			sum += a[max(k, -k)] * p
		}
		return 2 * sum
	}
	allowed, _ := beta.Float64()
	allowed *= 1 - 1.0/1000 - 1e-6
	low, high := -1, len(a)+len(b) // too small, and enough
	for high-low > 1 {
		if mid := low + (high-low)/2; tail(mid) <= allowed {
			high = mid
		} else {
			low = mid
		}
	}
	return big.NewInt(int64(high))
}
