package mechanism

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// threshold keeps a group if its count of units with noise reaches a threshold τ.
// Counts, noise and τ are integers: there is nothing to round.
//
// Theorem (Korolova et al. 2009; Wilson et al. 2020; with Gaussian noise Gopi et
// al. 2020). Counts that both neighbours have differ as the
// noise hides. A group that one of them lacks has one unit in the other, and is
// kept there with probability P(1+K >= τ) <= δ/k. At most k groups are such, so
// with probability 1−δ none of them is kept; given that, what is kept is a
// function of noisy counts. Hence (ε, δ)-DP, or δ-approximate ρ-zCDP (Bun and
// Steinke 2016, Definition 8.1).
type threshold struct {
	noise  Additive
	least  *big.Int                 // τ
	above  func(q *big.Int) float64 // P(K > q)
	name   string
	events []privacy.Event
}

func newLaplaceThreshold(o SelectionOptions, k *big.Rat) (Selection, error) {
	a, err := NewLaplace(LaplaceOptions{Sensitivity: k, Epsilon: o.Epsilon})
	if err != nil {
		return nil, err
	}
	t := &threshold{
		noise:  a,
		above:  a.(laplace).Above,
		name:   "laplace_threshold",
		events: o.under(privacy.Selection{Epsilon: o.Epsilon, Delta: o.Delta}),
	}
	return t, t.setLeast(o.Delta.Rat(), k)
}

// newGaussianThreshold takes the L2 sensitivity of k counts that change by 1, √k.
// For an epsilon, half of delta pays for the noise.
func newGaussianThreshold(o SelectionOptions, k *big.Rat) (Selection, error) {
	rho, delta := o.Rho, o.Delta.Rat()
	if o.Epsilon.Sign() > 0 {
		delta.Mul(delta, half)
		var err error
		if rho, err = rhoFor(o.Epsilon, delta); err != nil {
			return nil, err
		}
	}
	a, err := NewGaussian(GaussianOptions{SensitivitySquared: k, Rho: rho})
	if err != nil {
		return nil, err
	}
	t := &threshold{
		noise:  a,
		above:  a.(gaussian).Above,
		name:   "gaussian_threshold",
		events: o.under(a.Event(), privacy.Selection{Delta: o.Delta}),
	}
	if o.Epsilon.Sign() > 0 {
		t.events = o.under(privacy.Selection{Epsilon: o.Epsilon, Delta: o.Delta})
	}
	return t, t.setLeast(delta, k)
}

var half = big.NewRat(1, 2)

// rhoFor returns a ρ that implies (ε, δ)-DP, nearly the largest of which this
// says so: ρ-zCDP implies (ρ + 2√(ρL), δ)-DP, L = ln 1/δ (Bun and Steinke 2016,
// Proposition 1.3), which is ε for ρ = (√(ε+L) − √L)² = (ε/(√(ε+L) + √L))².
func rhoFor(epsilon privacy.Epsilon, delta *big.Rat) (privacy.Rho, error) {
	e, l := numeric.Of(epsilon.Rat()), numeric.Of(delta).Log().Neg()
	root := e.Quo(e.Add(l).Sqrt().Add(l.Sqrt()))
	rho, err := privacy.NewRho(numeric.FloorDigits(root.Mul(root).Lo(), 20))
	if err != nil {
		return rho, fmt.Errorf("%w: as the cost of Gaussian noise, %w", ErrParameter, err)
	}
	return rho, nil
}

// setLeast sets τ to the least that a group of one unit reaches with probability
// at most δ/k. The noise is symmetric: P(K > q) <= δ/k where P(|K| > q) <= 2δ/k;
// and 1+K >= q+2 says K > q.
func (t *threshold) setLeast(delta, k *big.Rat) error {
	beta := new(big.Rat).Quo(delta, k)
	beta.Add(beta, beta)
	if beta.Cmp(half) > 0 {
		beta.Set(half) // less than the caller allows, so that it stays below 1
	}
	q, err := t.noise.Bound(beta)
	if err != nil {
		return fmt.Errorf("calibrate threshold: %w: %w", ErrParameter, err)
	}
	t.least = q.Add(q, big.NewInt(2))
	return nil
}

func (t *threshold) Select(bits noise.Bits, units []*big.Int) ([]bool, error) {
	noisy := make([]*big.Int, len(units))
	for i, n := range units {
		noisy[i] = new(big.Int).Set(n)
	}
	if err := t.noise.AddTo(bits, noisy); err != nil {
		return nil, fmt.Errorf("select groups: %w", err)
	}
	kept := make([]bool, len(units))
	for i, n := range noisy {
		kept[i] = units[i].Sign() > 0 && n.Cmp(t.least) >= 0
	}
	return kept, nil
}

// KeepProbability is P(n+K >= τ) = P(K > τ−n−1).
func (t *threshold) KeepProbability(units *big.Int) float64 {
	if units.Sign() <= 0 {
		return 0
	}
	q := new(big.Int).Sub(t.least, units)
	return t.above(q.Sub(q, big.NewInt(1)))
}

// HalfCount is τ: P(K >= 0) > 1/2 > P(K >= 1).
func (t *threshold) HalfCount() *big.Int { return new(big.Int).Set(t.least) }

func (t *threshold) Events() []privacy.Event { return t.events }
func (t *threshold) Name() string            { return t.name }
func (t *threshold) Scale() float64          { return t.noise.ScaleIn(big.NewRat(1, 1)) }
