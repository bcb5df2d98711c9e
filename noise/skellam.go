package noise

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Skellam is the distribution of the difference of two independent Poisson numbers of mean μ/2:
//
//	P(k) = e^(−μ)·I_|k|(μ),
//
// μ being its variance and I the modified Bessel function. The sum of draws of variances μ1 and μ2 is a draw
// of variance μ1 + μ2, exactly: what one of h parties draws of variance μ/h is its share of μ. A Skellam is immutable
// and safe for concurrent use.
type Skellam struct {
	variance *big.Rat
	whole    *poisson // of ⌊μ/2⌋; nil of 0
	rest     *big.Rat // half of what is left of μ/2: below 1/2
}

// NewSkellam returns the distribution of a variance, which must be positive.
func NewSkellam(variance *big.Rat) (*Skellam, error) {
	if err := checkParameter("variance", variance); err != nil {
		return nil, err
	}
	d := &Skellam{variance: new(big.Rat).Set(variance)}
	mean := new(big.Rat).Mul(variance, half)
	whole := new(big.Int).Quo(mean.Num(), mean.Denom())
	d.rest = mean.Sub(mean, new(big.Rat).SetInt(whole))
	d.rest.Mul(d.rest, half)
	if whole.Sign() > 0 {
		d.whole = newPoisson(whole)
	}
	return d, nil
}

// Variance returns a copy of the distribution's variance.
func (d *Skellam) Variance() *big.Rat { return new(big.Rat).Set(d.variance) }

// Sample returns one draw.
func (d *Skellam) Sample(b Bits) (*big.Int, error) { return sample(b, d) }

// AddTo adds an independent draw to each of the values. On an error all of them are replaced by
// nil, so that none can be taken for a noisy one.
func (d *Skellam) AddTo(b Bits, values []*big.Int) error {
	return addTo(b, values, d, &lazy{make: func() (*laned, bool) { return nil, false }})
}

// draw sets z to one draw.
func (d *Skellam) draw(s *Stream, z *big.Int) error {
	minus := new(big.Int)
	if err := d.poisson(s, z); err != nil {
		return err
	}
	if err := d.poisson(s, minus); err != nil {
		return err
	}
	z.Sub(z, minus)
	return nil
}

// poisson sets z to a Poisson number of mean μ/2: the sum of three, of ⌊μ/2⌋ and twice of half of the rest.
func (d *Skellam) poisson(s *Stream, z *big.Int) error {
	z.SetInt64(0)
	if d.whole != nil {
		if err := d.whole.draw(s, z); err != nil {
			return err
		}
	}
	if d.rest.Sign() == 0 {
		return nil
	}
	for range 2 {
		n, err := s.poisson(d.rest)
		if err != nil {
			return err
		}
		z.Add(z, big.NewInt(int64(n)))
	}
	return nil
}

// Bound returns a q such that |K| ≤ q for a draw K, except with probability at most beta, 0 < beta < 1:
// nearly the smallest one, and never too small.
func (d *Skellam) Bound(beta *big.Rat) (*big.Int, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	if d.variance.Cmp(big.NewRat(maxSummedSkellam, 1)) <= 0 {
		return d.boundBySum(beta), nil
	}
	return d.boundByNormal(beta), nil
}

// BoundOfSum is Bound of the sum of n independent draws.
func (d *Skellam) BoundOfSum(n int, beta *big.Rat) (*big.Int, error) {
	if n < 1 || n > maxSummands {
		return nil, fmt.Errorf("%w: a sum of %d draws", ErrParameter, n)
	}
	sum, err := NewSkellam(new(big.Rat).Mul(d.variance, big.NewRat(int64(n), 1)))
	if err != nil {
		return nil, err
	}
	return sum.Bound(beta)
}

// maxSummedSkellam is up to which variance the law is added up term by term.
const maxSummedSkellam = 1 << 20

// reach is a k with P(K ≥ k) < e^−above, by Chernoff's bound e^(μ(√(1+(k/μ)²)−1) − k·asinh(k/μ)).
func (d *Skellam) reach(above float64) int {
	mu, _ := d.variance.Float64()
	k := 1.0
	for mu*(math.Hypot(1, k/mu)-1)-k*math.Asinh(k/mu) > -above {
		k += 1 + math.Floor(k/8)
	}
	return int(k)
}

// law is P(k) for 0 ≤ k ≤ n, relative to what all of −n to n have. I_(k+1)/I_k comes from the recurrence
// r(k−1) = 1/(2k/μ + r(k)), downwards from where P is far below any that matters: it is stable, and all terms are
// positive (Gautschi 1967), so that a term errs by a few units of its last place for each factor.
func (d *Skellam) law(n int) []float64 {
	mu, _ := d.variance.Float64()
	ratios := make([]float64, n)
	r := 0.0
	for k := 2*n + 50; k >= 1; k-- {
		if r = 1 / (2*float64(k)/mu + r); k <= n {
			ratios[k-1] = r
		}
	}
	p := make([]float64, n+1)
	p[0] = 1
	for k, r := range ratios {
		p[k+1] = p[k] * r
	}
	norm := 0.0
	for k := n; k > 0; k-- {
		norm += 2 * p[k]
	}
	norm += p[0]
	for k := range p {
		p[k] /= norm
	}
	return p
}

// boundBySum adds up the law from far out, where a thousandth of beta is left out; a millionth is kept
// back for rounding: 2^−52 times some ten for each of at most 2^16 factors is less.
func (d *Skellam) boundBySum(beta *big.Rat) *big.Int {
	log, _ := numeric.Of(beta).Log().Neg().Hi().Float64()
	far := d.reach(log + math.Log(2000))
	if log > 600 { // the terms have no float64
		return big.NewInt(int64(far))
	}
	p := d.law(far)
	allowed, _ := beta.Float64()
	allowed *= 1 - 1.0/1000 - 1e-6
	q := len(p) - 1
	for tail := 0.0; q > 0; q-- {
		if tail += 2 * p[q]; tail > allowed {
			break
		}
	}
	return big.NewInt(int64(q))
}

// boundByNormal takes the better of two bounds of P(|K| ≥ x√μ).
//
// K is the sum of any number of independent ones of the same law: by the inequality of Berry and Esseen for them
// its distribution function is that of a normal one up to 0.4748/√μ (Shevtsova 2011; the third absolute moment of one
// of m, over its variance, tends to 1).
//
// And I_ν/I_(ν−1) < e^(−asinh((ν−½)/μ)) and > e^(−asinh(ν/μ)) (Amos 1974). By the former, for a concave function is at
// least its mean over an interval around, P(k) ≤ P(0)·e^(−μ·f(k/μ)), f(y) = y·asinh(y) − √(1+y²) + 1 ≥ y²/2 − y⁴/24; by the
// latter P(k) ≥ P(0)·e^(−k(k+1)/2μ), and as they sum to 1, P(0) ≤ 1/(√(2πμ)−1). From k on ratios fall, so that what
// follows is at most a geometric series: P(K ≥ k) ≤ P(k)/(1−e^−a), with a = asinh(k/μ) ≥ y − y³/6, and 1/(1−e^−a) ≤ 1/a + 1.
func (d *Skellam) boundByNormal(beta *big.Rat) *big.Int {
	sigma := numeric.Of(d.variance).Sqrt()
	one, two := numeric.OfInt(1), numeric.OfInt(2)
	central := numeric.Of(big.NewRat(4748*2, 10000)).Quo(sigma)
	top := one.Quo(rootTwoPi().Mul(sigma).Sub(one)) // π is cut, which makes it greater
	tail := func(x float64) numeric.Interval {
		at := numeric.OfFloat(x)
		y := at.Quo(sigma)
		square := y.Mul(y)
		exponent := at.Mul(at).Quo(two).Mul(one.Sub(square.Quo(numeric.OfInt(12))))
		a := y.Mul(one.Sub(square.Quo(numeric.OfInt(6))))
		return two.Mul(top).Mul(exponent.Neg().Exp()).Mul(one.Quo(a).Add(one))
	}
	x := least(beta, tail)
	if numeric.Of(beta).Sub(central).Positive() {
		x = min(x, least(beta, func(x float64) numeric.Interval { return normalTail(x).Add(central) }))
	}
	return numeric.Ceil(numeric.OfFloat(x).Mul(sigma).Hi())
}
