package convex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// objective perturbation finds the minimum of F(w) + b·w for a random b.
//
// Theorem (Chaudhuri, Monteleoni and Sarwate 2011, Theorem 9; Kifer, Smith and Thakurta
// 2012; here for a sum that k examples join or leave, Λ being fixed). Let b have density
// μ. The exact minimum w has b = −∇F(w), a bi-Lipschitz map of w since ∇F is Lipschitz
// and Λ-strongly monotone, so that w has density μ(−∇F(w))·det ∇²F(w) (for huber, whose
// gradient is Lipschitz, almost everywhere: the area formula). With v(w) the gradient of
// the k losses, the log-ratio of the densities with and without them is
//
//	ln μ(b)/μ(b+v) + ln det(H+E)/det(H),  H ⪰ ΛI,  E = Σ ℓ″ x xᵀ of rank k,
//
// and 0 <= ln det(H+E)/det(H) <= k·ln(1 + c‖x‖²/Λ): one example after the other, each
// by det(H+ℓ″xxᵀ)/det(H) = 1 + ℓ″·xᵀH⁻¹x. If k are replaced by k, the two determinants'
// ratios to what they have in common lie in that interval both, and so does their
// difference in size. The slack is taken from ε. Where it exceeds half of ε, Λ is raised
// until it does not (the paper's case ε' <= 0, which adds to Λ as well).
//
// Pure: ln μ(b)/μ(b+v) <= ‖v‖₁/t for Laplace noise of scale t in each coordinate, and
// ‖v‖₁ <= √d·‖v‖₂ <= √d·m·r, where m is k, or 2k with replacement. (The paper's noise,
// ∝ exp(−β‖b‖), has no exact sampler here.)
//
// With δ: b ~ N(0, σ²I), and v = Σ sᵢxᵢ over m fixed vectors with |sᵢ| <= 1. But the
// slopes sᵢ depend on w, and so on b: b·v is not Gaussian. (Agarwal, Kale, Singh and
// Thakurta 2023 and Redberg, Koskela and Wang 2023 note that the proof of 2012 passes
// over this.) It is at most the largest of the b·Σ±xᵢ over 2^m signs, and each of these
// is N(0, σ²‖Σ±xᵢ‖²) with a norm of at most mr. So, with s = mr/σ, the log-ratio is
// below slack + the largest of 2^m normal variables of deviation at most s, + s²/2, and
//
//	δ <= E[(1−e^(ε−loss))⁺] <= 2^m·(Φᶜ(z) − e^ε'·Φᶜ(z+s)),  z = ε'/s − s/2,
//
// where ε' = ε − slack; for m = 1 it is Theorem 3.1 of Redberg, Koskela and Wang. Their
// union bound needs ε' and z positive, which the search below keeps to.
//
// The minimum is not exact, and b is a multiple of a grid g (Iyengar et al. 2019: approximate
// minima). Read the b that is drawn as the rounding of a continuous one: for Laplace that
// with a density constant on the cells of the grid, at which ‖v‖₁ grows by d·g; for
// Gaussian N(0, σ²I) itself, of whose rounding the discrete law is off by factors of
// 1±2^-70 up to 40σ, g being 2^-40·σ (the midpoint rule for a cell: its relative
// error is at most (g/σ)²(1+(x/σ)²)/24), beyond which lie 2d·e^-800: an allowance of
// 2^-40 of ε and of δ covers it for d up to 2^20. What is found is then within
// α = (τ + g√d)/Λ of the exact minimum for the continuous b: it is that minimum, plus
// what, given the minimum, is a vector of norm at most α for either data, which noise for an
// L2 distance of 2α hides at a fiftieth of ε by the pure theorem of mechanism.Vector.
type objectivePerturbation struct {
	t      *training
	lambda float64 // at least
	draw   func(noise.Bits) (*big.Int, error)
	grid   float64
	scale  float64 // of b, to choose Λ by
	final  *mechanism.Vector
}

// maxSigns is the largest m of which 2^m signs are summed.
const maxSigns = 16

// least is the least Λ that is chosen: a smaller one does nothing but slow the search.
const least = 1.0 / 1024

// newObjective calibrates to the least Λ that may be used; a larger one only lowers the
// slack.
func newObjective(t *training, share *big.Rat) (way, error) {
	o := &objectivePerturbation{t: t}
	if t.plan.Epsilon().Sign() == 0 {
		return nil, errors.New("objective perturbation needs an epsilon: its guarantee is no zCDP")
	}
	epsilon := new(big.Rat).Mul(t.plan.Epsilon().Rat(), share)
	// The slack: k·ln(1 + c‖x‖²/Λ) <= half.
	k := int64(t.plan.PerUnit())
	e, _ := epsilon.Float64()
	curvature := t.loss().smoothness() * float64(t.normSquared())
	o.lambda = t.o.Regularization
	if o.lambda == 0 {
		o.lambda = max(least, curvature/math.Expm1(e/(8*float64(k))))
	}
	o.lambda = max(o.lambda, curvature/math.Expm1(e/(2*float64(k)))*(1+1e-9))
	if !(o.lambda <= 1<<40) {
		return nil, fmt.Errorf("an epsilon of %v needs a regularization of %v, beyond what is accurate", e, o.lambda)
	}
	ratio := numeric.OfFloat(curvature).Quo(numeric.OfFloat(o.lambda)).Add(numeric.OfInt(1))
	slack := numeric.OfInt(k).Mul(ratio.Log()).Hi()
	// b gets what the slack and the last noise leave.
	last := new(big.Rat).Mul(epsilon, big.NewRat(1, 50))
	left := new(big.Rat).Sub(epsilon, last)
	left.Sub(left, slack)
	left.Sub(left, new(big.Rat).Mul(epsilon, big.NewRat(1, 1<<40)))
	if left.Sign() <= 0 {
		return nil, errors.New("the slack leaves nothing of epsilon")
	}
	var err error
	if t.plan.Delta().Sign() == 0 {
		err = o.laplace(left)
	} else {
		err = o.gaussian(left, new(big.Rat).Mul(t.plan.Delta().Rat(), share))
	}
	if err != nil {
		return nil, err
	}
	return o, o.finish(last, epsilon, share)
}

// distance is m·r, at which m gradients lie.
func (o *objectivePerturbation) distance() numeric.Interval {
	return numeric.OfInt(o.t.plan.Examples()).Mul(numeric.OfInt(o.t.normSquared()).Sqrt())
}

// laplace draws b with scale (√d·m·r + d·g)/ε on a grid of about 2^-40 of it.
func (o *objectivePerturbation) laplace(epsilon *big.Rat) error {
	d := numeric.OfInt(int64(o.t.width))
	l1 := d.Sqrt().Mul(o.distance()).Hi()
	size, _ := new(big.Rat).Quo(l1, epsilon).Float64()
	_, exponent := math.Frexp(size)
	o.grid = math.Ldexp(1, exponent-40)
	grid := new(big.Rat).SetFloat64(o.grid)
	l1.Add(l1, new(big.Rat).Mul(grid, d.Hi()))
	steps := numeric.Ceil(l1.Quo(l1, new(big.Rat).Mul(epsilon, grid)))
	l, err := noise.NewDiscreteLaplace(new(big.Rat).SetInt(steps))
	if err != nil {
		return err
	}
	o.draw, o.scale = l.Sample, math.Sqrt2*size
	return nil
}

// gaussian draws b with the least σ that the theorem allows, on a grid of about 2^-40 of
// it.
func (o *objectivePerturbation) gaussian(epsilon, delta *big.Rat) error {
	m := o.t.plan.Examples()
	if m > maxSigns {
		return fmt.Errorf("objective perturbation with a delta is for units of at most %d examples, not %d", maxSigns, m)
	}
	// More than 50 of ε is not used: e^ε would leave float64.
	if most := big.NewRat(50, 1); epsilon.Cmp(most) > 0 {
		epsilon = most
	}
	signs := numeric.OfInt(1 << m)
	target := new(big.Rat).Mul(delta, new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(1, 1<<40)))
	eps := numeric.Of(epsilon)
	suffices := func(s float64) bool {
		z := eps.Quo(numeric.OfFloat(s)).Sub(numeric.OfFloat(s / 2))
		if !z.Positive() {
			return false
		}
		far := eps.Exp().Mul(z.Add(numeric.OfFloat(s)).NormalTail())
		return signs.Mul(z.NormalTail().Sub(far)).Hi().Cmp(target) <= 0
	}
	// Search in float64, then prove the result exactly.
	e, _ := epsilon.Float64()
	want, _ := target.Float64()
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	lo, hi := 0.0, min(math.Sqrt(2*e), 64) // of s; z is positive
	for range 60 {
		s := (lo + hi) / 2
		if z := e/s - s/2; math.Ldexp(tail(z)-math.Exp(e)*tail(z+s), int(m)) <= want {
			lo = s
		} else {
			hi = s
		}
	}
	for lo *= 1 - 1e-9; lo > 0 && !suffices(lo); {
		if lo *= 0.99; lo < 1e-9 {
			lo = 0
		}
	}
	if lo == 0 {
		return errors.New("no Gaussian noise gives this epsilon and delta")
	}
	sigma := o.distance().Quo(numeric.OfFloat(lo)).Hi()
	size, _ := sigma.Float64()
	_, exponent := math.Frexp(size)
	o.grid = math.Ldexp(1, exponent-40)
	steps := new(big.Rat).SetInt(numeric.Ceil(sigma.Quo(sigma, new(big.Rat).SetFloat64(o.grid))))
	g, err := noise.NewDiscreteGaussian(steps.Mul(steps, steps))
	if err != nil {
		return err
	}
	o.draw, o.scale = g.Sample, size
	return nil
}

// finish calibrates the last noise, on Λ·w, as output perturbation does, and charges for
// both.
func (o *objectivePerturbation) finish(last, epsilon, share *big.Rat) error {
	d := numeric.OfInt(int64(o.t.width)).Sqrt()
	alpha := numeric.OfFloat(tolerance).Add(numeric.OfFloat(o.grid).Mul(d))
	l1 := numeric.OfInt(2).Mul(alpha).Mul(d)
	e, err := privacy.NewEpsilon(last)
	if err != nil {
		return err
	}
	if o.final, err = mechanism.NewVector(mechanism.VectorOptions{Length: o.t.width, L1: short(l1.Hi()), Epsilon: e}); err != nil {
		return err
	}
	whole, err := privacy.NewEpsilon(epsilon)
	if err != nil {
		return err
	}
	if o.t.plan.Delta().Sign() == 0 {
		return o.t.charge(share, privacy.Pure{Epsilon: whole})
	}
	delta, err := privacy.NewDelta(new(big.Rat).Mul(o.t.plan.Delta().Rat(), share))
	if err != nil {
		return err
	}
	return o.t.charge(share, privacy.Approx{Epsilon: whole, Delta: delta})
}

func (o *objectivePerturbation) learn(ctx context.Context, bits noise.Bits, p *problem, size float64) ([]float64, error) {
	linear := make([]float64, o.t.width)
	for j := range linear {
		k, err := o.draw(bits)
		if err != nil {
			return nil, err
		}
		f, _ := new(big.Float).SetInt(k).Float64() // a draw beyond 2^53 steps is rounded; see finish
		linear[j] = f * o.grid
	}
	lambda := o.lambda
	if o.t.o.Regularization == 0 {
		lambda = max(lambda, o.regularization(size))
	}
	w, err := p.minimum(ctx, lambda, linear)
	if err != nil {
		return nil, err
	}
	for j := range w {
		w[j] *= lambda
	}
	noisy, err := o.final.Release(bits, w)
	if err != nil {
		return nil, err
	}
	for j := range noisy {
		noisy[j] /= lambda
	}
	return noisy, nil
}

// regularization balances Λ‖w‖²/2 with what b costs where the examples say little, half
// of the d directions: (d/2)s²/2Λ.
func (o *objectivePerturbation) regularization(float64) float64 {
	return o.scale * math.Sqrt(float64(o.t.width)/2/o.t.weightSquared())
}
