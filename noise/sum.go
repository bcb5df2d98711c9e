package noise

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// maxSummands bounds how many draws are added up, and maxConvolved the reach of their sum up
// to which its law is computed term by term.
const (
	maxSummands  = 256
	maxConvolved = 8192
)

// BoundOfSum returns a q such that the sum of n independent draws lies in [−q, q] except with
// probability at most beta, 0 < beta < 1; nearly the smallest one, and never too small.
//
// For large scales it compares with continuous noise. A geometric draw is the floor of an
// exponential one, so a discrete Laplace draw lies within 1 of a Laplace one of the same
// scale, and a sum of n within n of the sum of n. That sum's density is
//
//	f(x) = e^(−x)/((n−1)!·2^n) · Σ_{j<n} (n−1+j)!/((n−1−j)!·j!) · x^(n−1−j)/2^j, x > 0,
//
// in units of the scale (Kotz, Kozubowski and Podgórski 2001, 2.3.2).
func (d *DiscreteLaplace) BoundOfSum(n int, beta *big.Rat) (*big.Int, error) {
	reach, err := reachOfEach(n, beta, d.Bound)
	if err != nil || n == 1 {
		return reach, err
	}
	if reach.IsInt64() && reach.Int64() <= int64(maxConvolved/n) {
		inverse, _ := new(big.Rat).Inv(d.scale).Float64()
		return boundByConvolution(n, int(reach.Int64()), beta, func(k float64) float64 { return math.Exp(-k * inverse) }), nil
	}
	x := least(beta, sumOfLaplaceTail(n))
	q := numeric.Ceil(numeric.OfFloat(x).Mul(numeric.Of(d.scale)).Hi())
	return q.Add(q, big.NewInt(int64(n-1))), nil
}

// sumOfLaplaceTail returns x ↦ P(|S| > x) for the sum S of n Laplace variables of scale 1: twice the
// integral of the density, of which ∫_x^∞ y^k·e^(−y) dy = k!·e^(−x)·Σ_{i≤k} x^i/i!. So the tail is
// e^(−x)/((n−1)!·2^(n−1)) times the polynomial whose i-th coefficient is 1/i! times the sum over
// j ≤ n−1−i of (n−1+j)!/(j!·2^j). All of them are positive, and intervals stay narrow.
func sumOfLaplaceTail(n int) func(x float64) numeric.Interval {
	norm := new(big.Int).MulRange(1, int64(n-1))
	norm.Lsh(norm, uint(n-1))
	coefficients := make([]numeric.Interval, n)
	c := new(big.Rat).SetFrac(new(big.Int).MulRange(1, int64(n-1)), norm) // (n−1+j)!/(j!·2^j), over the norm
	sums := make([]*big.Rat, n)
	sum := new(big.Rat)
	for j := range n {
		sum = new(big.Rat).Add(sum, c)
		sums[j] = sum
		c = new(big.Rat).Mul(c, big.NewRat(int64(n+j), int64(2*(j+1))))
	}
	for i := range n {
		factorial := new(big.Int).MulRange(1, int64(i)) // of 0 it is 1
		coefficients[i] = numeric.Of(new(big.Rat).Quo(sums[n-1-i], new(big.Rat).SetInt(factorial)))
	}
	return func(x float64) numeric.Interval {
		at, total := numeric.OfFloat(x), numeric.OfInt(0)
		for i := n - 1; i >= 0; i-- {
			total = total.Mul(at).Add(coefficients[i])
		}
		return total.Mul(at.Neg().Exp())
	}
}

// BoundOfSum returns a q such that the sum of n independent draws lies in [−q, q] except with
// probability at most beta, 0 < beta < 1; nearly the smallest one, and never too small.
//
// For large variances it compares with normal noise N of variance σ² ≥ 1/4: a draw K is
// stochastically at most N + 1, so that a sum of n is at most the normal one of variance nσ²
// plus n, and by symmetry at least that one less n. For k ≥ 1 that P(K ≥ k) ≤ P(N ≥ k−1) is
// boundByNormal's. For k ≤ 0 it says P(K ≥ j) ≥ P(N ≥ j) with j = 1−k ≥ 1: with
// f(i) = exp(−i²/2σ²), f(i+u) ≤ f(i)·e^(−iu/σ²), so that the integral of f over [i, i+1] is at
// most f(i)·(1−e^(−a))/a ≤ f(i)/(1+a/2), a = i/σ²; the sum of f from j is thus at least
// 1 + 1/2σ² times the integral, and the norm at most 1 + 2Σexp(−2π²σ²k²) times √(2π)σ, which
// is less from σ² = 1/4 on.
func (d *DiscreteGaussian) BoundOfSum(n int, beta *big.Rat) (*big.Int, error) {
	reach, err := reachOfEach(n, beta, d.Bound)
	if err != nil || n == 1 {
		return reach, err
	}
	if reach.IsInt64() && reach.Int64() <= int64(maxConvolved/n) {
		variance, _ := d.variance.Float64()
		return boundByConvolution(n, int(reach.Int64()), beta, func(k float64) float64 { return math.Exp(-k * k / (2 * variance)) }), nil
	}
	sigma := numeric.Of(new(big.Rat).Mul(d.variance, big.NewRat(int64(n), 1))).Sqrt()
	q := numeric.Ceil(numeric.OfFloat(normalBound(beta)).Mul(sigma).Hi())
	return q.Add(q, big.NewInt(int64(n))), nil
}

// reachOfEach bounds each of n draws so that all are within it but for a thousandth of beta;
// of one draw it is the bound itself.
func reachOfEach(n int, beta *big.Rat, bound func(*big.Rat) (*big.Int, error)) (*big.Int, error) {
	if n < 1 || n > maxSummands {
		return nil, fmt.Errorf("%w: a sum of %d draws", ErrParameter, n)
	}
	if n == 1 {
		return bound(beta)
	}
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	return bound(new(big.Rat).Quo(beta, big.NewRat(int64(1000*n), 1)))
}

// boundByConvolution adds up the law of the sum of n draws, each at most reach but with a
// probability that is counted as lost. It multiplies laws of 1, 2, 4, 8, ... draws, whose far ends are cut off: were each
// draw added by itself, there would be fewer than 2n products, and each loses at most beta/(2n·10⁶). Every term is positive, so that each product
// and sum errs by a few units of its last place: far less than the other millionth that is kept back.
func boundByConvolution(n, reach int, beta *big.Rat, f func(k float64) float64) *big.Int {
	law := make([]float64, reach+1) // of 0, 1, 2, ...: laws are symmetric
	norm := 0.0
	for k := range law {
		law[k] = f(float64(k))
		norm += law[k]
	}
	norm = 2*norm - law[0]
	for k := range law {
		law[k] /= norm // at least the true probability, as the norm lacks the tails
	}
	allowed, _ := beta.Float64()
	lost := allowed / 1e6 / float64(2*n)
	sum := []float64{1}
	for rest := n; ; {
		if rest&1 == 1 {
			sum = cut(convolved(sum, law), lost)
		}
		if rest >>= 1; rest == 0 {
			break
		}
		law = cut(convolved(law, law), lost)
	}
	allowed *= 1 - 1.0/1000 - 2e-6
	return big.NewInt(int64(max(len(cut(sum, allowed))-1, 0)))
}

// convolved is the law of the sum of two draws of symmetric laws, which are given from 0 on.
func convolved(a, b []float64) []float64 {
	both := make([]float64, 2*len(b)-1) // b from its lower end on
	for j, q := range b {
		both[len(b)-1+j], both[len(b)-1-j] = q, q
	}
	sum := make([]float64, len(a)+len(b)-1)
	for i := 1 - len(a); i < len(a); i++ {
		p, from := a[max(i, -i)], i-len(b)+1 // both[j] adds to from + j
		for j := max(0, -from); j < len(both); j++ {
			sum[from+j] += p * both[j]
		}
	}
	return sum
}

// cut leaves out the far ends of a symmetric law that together have at most lost.
func cut(law []float64, lost float64) []float64 {
	tail := 0.0
	for k := len(law) - 1; k > 0; k-- {
		if tail += 2 * law[k]; tail > lost {
			return law[:k+1]
		}
	}
	return law[:1]
}

// least returns an x, nearly the smallest, with tail(x) <= beta for a tail that falls.
func least(beta *big.Rat, tail func(x float64) numeric.Interval) float64 {
	within := func(x float64) bool { return numeric.Of(beta).Sub(tail(x)).Positive() }
	low, high := 0.0, 1.0
	for !within(high) {
		low, high = high, 2*high
	}
	for range 40 {
		if mid := (low + high) / 2; within(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
