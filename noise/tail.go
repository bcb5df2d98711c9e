package noise

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Bound returns a q such that |K| <= q for a draw K, except with probability at
// most beta, 0 < beta < 1. It is the smallest one for scales up to 2^100, and
// never too small. For n draws at once, Bound(beta/n) holds for all of them.
//
// With p = exp(-1/t), P(|K| > q) = 2·p^(q+1)/(1 + p).
func (d *DiscreteLaplace) Bound(beta *big.Rat) (*big.Int, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	p := numeric.Of(new(big.Rat).Inv(d.scale)).Neg().Exp()
	ratio := numeric.OfInt(2).Quo(numeric.Of(beta).Mul(p.Add(numeric.OfInt(1))))
	q := numeric.Ceil(numeric.Of(d.scale).Mul(ratio.Log()).Hi())
	return q.Sub(q, one), nil // ratio > 1, so q was at least 1
}

// Bound returns a q such that |K| <= q for a draw K, except with probability at
// most beta, 0 < beta < 1. It is the smallest one for σ² up to 1000, nearly so
// above, and never too small. For n draws at once, Bound(beta/n) holds for all of
// them.
func (d *DiscreteGaussian) Bound(beta *big.Rat) (*big.Int, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	if d.variance.Cmp(big.NewRat(maxSummedVariance, 1)) <= 0 {
		return d.boundBySum(beta), nil
	}
	return d.boundByNormal(beta), nil
}

func checkBeta(beta *big.Rat) error {
	if err := checkParameter("beta", beta); err != nil {
		return err
	}
	if beta.Cmp(big.NewRat(1, 1)) >= 0 {
		return fmt.Errorf("%w: beta is not below 1", ErrParameter)
	}
	return nil
}

const maxSummedVariance = 1000

// boundBySum adds up f(k) = exp(-k²/(2σ²)): P(|K| > q) is twice the sum over
// k > q, divided by 1 plus twice the sum over k > 0.
func (d *DiscreteGaussian) boundBySum(beta *big.Rat) *big.Int {
	var (
		inverse = new(big.Rat).Inv(d.variance)
		shrink  = numeric.Of(inverse).Neg().Exp()                      // f(k+1)/f(k) over f(k)/f(k-1)
		ratio   = numeric.Of(inverse.Mul(inverse, half)).Neg().Exp()   // f(1)/f(0)
		last    = new(big.Rat).Mul(beta, big.NewRat(1, math.MaxInt64)) // terms below it do not matter
		f       = []numeric.Interval{numeric.OfInt(1)}
		norm    = numeric.OfInt(1)
	)
	for {
		term := f[len(f)-1].Mul(ratio)
		f = append(f, term)
		norm = norm.Add(term).Add(term)
		ratio = ratio.Mul(shrink)
		if numeric.Of(last).Sub(term).Positive() {
			break
		}
	}
	// The ratios only fall, so the terms not added are less than a geometric series.
	tail := f[len(f)-1].Mul(ratio).Quo(numeric.OfInt(1).Sub(ratio))
	allowed := numeric.Of(beta).Mul(norm)
	q := len(f) - 1
	for ; q > 0; q-- {
		tail = tail.Add(f[q])
		if !allowed.Sub(tail.Add(tail)).Positive() {
			break
		}
	}
	return big.NewInt(int64(q))
}

var half = big.NewRat(1, 2)

// boundByNormal compares with the normal distribution of variance σ². The norm of
// the discrete law is at least that of the normal one, √(2π)σ: by Poisson's
// summation formula it is √(2π)σ·(1 + 2·exp(-2π²σ²) + …). And the sum of
// f(k) = exp(-k²/(2σ²)) over k > q is at most the integral of f from q, as f falls;
// if q + 1/2 >= σ, f is convex from there, so that f(k) is at most its mean over
// [k-1/2, k+1/2], and the sum at most the integral from q + 1/2.
func (d *DiscreteGaussian) boundByNormal(beta *big.Rat) *big.Int {
	x := normalBound(beta)
	edge := numeric.OfFloat(x).Mul(numeric.Of(d.variance).Sqrt())
	if x > 1 {
		edge = edge.Sub(numeric.Of(half))
	}
	return numeric.Ceil(edge.Hi())
}

// normalBound returns an x, nearly the smallest, with P(|N| > x) <= beta for a
// standard normal N.
func normalBound(beta *big.Rat) float64 {
	goal, _ := beta.Float64()
	low, high := 0.0, 40.0
	for range 60 {
		if mid := (low + high) / 2; math.Erfc(mid/math.Sqrt2) > goal {
			low = mid
		} else {
			high = mid
		}
	}
	// The estimate rests on floating point; what is returned does not.
	for x := high * (1 + 0x1p-30); ; x *= 1 + 0x1p-20 {
		if numeric.Of(beta).Sub(normalTail(x)).Positive() {
			return x
		}
	}
}

// normalTail returns an interval whose upper end is at least P(|N| > x), x > 0,
// and nearly that. With the density φ, for small x it is
//
//	1 - 2φ(x)·(x + x³/3 + x⁵/(3·5) + …),
//
// and for large x less than 2φ(x)/x·(1 - 1/x² + 3/x⁴), an asymptotic series that
// is alternately too small and too large (Abramowitz and Stegun 26.2.11, 26.2.12).
func normalTail(x float64) numeric.Interval {
	exact := numeric.OfFloat(x)
	square := exact.Mul(exact)
	density := square.Mul(numeric.Of(half)).Neg().Exp().Quo(rootTwoPi())
	two := numeric.OfInt(2)
	if x > 8 {
		inverse := numeric.OfInt(1).Quo(square)
		series := numeric.OfInt(1).Sub(inverse).Add(numeric.OfInt(3).Mul(inverse).Mul(inverse))
		return two.Mul(density).Quo(exact).Mul(series)
	}
	// All terms are positive, so that leaving some out errs on the safe side. Where they are small
	// and each is less than half of the one before, those left out are less than the last.
	term, sum := exact, exact
	size := x
	for n := int64(3); n < 600 && (size > 1e-45 || float64(n) < 2*x*x); n += 2 {
		term = term.Mul(square).Quo(numeric.OfInt(n))
		sum = sum.Add(term)
		size *= x * x / float64(n)
	}
	tail := numeric.OfInt(1).Sub(two.Mul(density).Mul(sum))
	return tail.Add(numeric.OfFloat(1e-60)) // more than cutting pi takes away
}

// rootTwoPi returns √(2π), too small by less than 1e-60.
func rootTwoPi() numeric.Interval {
	pi, _ := new(big.Rat).SetString("3.14159265358979323846264338327950288419716939937510582097494459")
	return numeric.OfInt(2).Mul(numeric.Of(pi)).Sqrt()
}

// Above returns P(K > q), rounded to float64: for display and comparison, not for
// guarantees.
func (d *DiscreteLaplace) Above(q *big.Int) float64 {
	return above(q, func(q *big.Int) float64 {
		k := new(big.Rat).SetInt(q.Add(q, one))
		x, _ := k.Quo(k, d.scale).Float64()
		y, _ := new(big.Rat).Inv(d.scale).Float64()
		return math.Exp(-x) / (1 + math.Exp(-y))
	})
}

// Above returns P(K > q), to about six digits: for display and comparison, not
// for guarantees.
func (d *DiscreteGaussian) Above(q *big.Int) float64 {
	variance, _ := d.variance.Float64()
	sigma := math.Sqrt(variance)
	return above(q, func(q *big.Int) float64 {
		x, _ := new(big.Float).SetInt(q).Float64()
		switch {
		case x > 40*sigma:
			return 0
		case sigma > 1000:
			return math.Erfc((x+0.5)/(sigma*math.Sqrt2)) / 2
		}
		tail, norm := 0.0, 1.0
		for k := math.Ceil(40*sigma) + 1; k > 0; k-- { // the small terms first
			f := math.Exp(-k * k / (2 * variance))
			if norm += 2 * f; k > x {
				tail += f
			}
		}
		return tail / norm
	})
}

// above extends P(K > q) from q >= 0 to all q, by symmetry. It passes on a copy.
func above(q *big.Int, tail func(*big.Int) float64) float64 {
	if q.Sign() >= 0 {
		return tail(new(big.Int).Set(q))
	}
	return 1 - tail(new(big.Int).Not(q)) // P(K <= q) = P(K >= -q) = P(K > -q-1)
}
