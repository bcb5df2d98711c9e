package convex

import (
	"context"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

// output adds noise to the minimum.
//
// Theorem (Chaudhuri, Monteleoni and Sarwate 2011, Lemma 7, for a sum). Let F be
// Λ-strongly convex, and F' = F + g with ‖∇g‖ <= kr everywhere. The minima differ by
// at most kr/Λ: Λ‖w−w'‖ <= ‖∇F'(w)−∇F'(w')‖ = ‖∇F'(w)‖ = ‖∇g(w)‖. Here g is the losses
// of k examples more or less (with replacement, of 2k), r = ‖x‖. What is found
// is within τ/Λ of each minimum (see minimum), so that the distance is (kr + 2τ)/Λ.
//
// Noise is that of mechanism.Vector: Gaussian for ρ; for ε Laplace on each of d
// coordinates, for the L1 distance of √d times as much. (The paper's has density
// ∝ exp(−ε‖b‖/Δ). Its norm is smaller by √2 at large d; it has no exact sampler here.)
//
// What the noise hides is in proportion to 1/Λ, so that Λ must be known to calibrate it,
// before there is a noisy count to choose Λ by: the noise is calibrated for Λ = 1, and
// Λ·w is what is released.
type output struct {
	t      *training
	vector *mechanism.Vector
}

func newOutput(t *training, share *big.Rat) (way, error) {
	k := numeric.OfInt(t.plan.Examples())
	distance := k.Mul(numeric.OfInt(t.normSquared()).Sqrt()).Add(numeric.OfFloat(2 * tolerance))
	o := mechanism.VectorOptions{Length: t.width}
	var err error
	if t.plan.Pure() {
		o.L1 = distance.Mul(numeric.OfInt(int64(t.width)).Sqrt()).Hi()
		o.Epsilon, err = t.plan.EpsilonShare(share)
	} else {
		o.L2 = distance.Hi()
		o.Rho, err = t.plan.RhoShare(share)
	}
	if err != nil {
		return nil, err
	}
	o.L1, o.L2 = short(o.L1), short(o.L2)
	v, err := mechanism.NewVector(o)
	if err != nil {
		return nil, err
	}
	return output{t, v}, t.charge(share, v.Event())
}

// short rounds a bound up to 20 digits, lest events be long.
func short(r *big.Rat) *big.Rat {
	if r == nil {
		return nil
	}
	return numeric.CeilDigits(r, 20)
}

// learn releases Λ·w and divides by Λ.
func (o output) learn(ctx context.Context, bits noise.Bits, p *problem, size float64) ([]float64, error) {
	lambda := o.t.o.Regularization
	if lambda == 0 {
		lambda = o.regularization(size)
	}
	w, err := p.minimum(ctx, lambda, make([]float64, o.t.width))
	if err != nil {
		return nil, err
	}
	for j := range w {
		w[j] *= lambda
	}
	noisy, err := o.vector.Release(bits, w)
	if err != nil {
		return nil, err
	}
	for j := range noisy {
		noisy[j] /= lambda
	}
	return noisy, nil
}

// weightSquared is the guess of ‖w‖² that the choices of Λ make, at which they balance
// what regularization and noise add to F: weights of features in units of their norm, for
// margins of some units, or for targets in [-1, 1].
func (t *training) weightSquared() float64 {
	if t.set.Classes > 0 {
		return 100
	}
	return 4
}

// regularization balances Λ‖w‖²/2 with what noise s/Λ on each weight adds to the loss,
// n·c·(s/Λ)²·‖x‖²/2, c being the curvature: Λ³ = 2n·c·s²·‖x‖²/‖w‖² where the sum is least.
func (o output) regularization(size float64) float64 {
	s := o.vector.Scale()
	if o.t.plan.Pure() {
		s *= math.Sqrt2
	}
	c := o.t.loss().smoothness() / 2
	return max(1, math.Cbrt(2*size*c*s*s*float64(o.t.normSquared())/o.t.weightSquared()))
}
