package mechanism

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Selection decides privately which groups may be shown, by their number of
// distinct units: a group that a single unit makes appears with probability at
// most delta.
type Selection interface {
	// Select returns for each group whether it is kept. units are exact counts;
	// groups without units must not be listed, and would not be kept.
	Select(units []*big.Int, bits noise.Bits) ([]bool, error)
	// Events is what the choice of groups reveals.
	Events() []privacy.Event
	// Name is "truncated_geometric", "laplace_threshold" or "gaussian_threshold".
	Name() string
	// Scale is the noise's scale or standard deviation in units; 0 if the
	// decision is not by noise.
	Scale() float64
	// HalfCount is the smallest number of units at which a group is kept with
	// probability at least 1/2.
	HalfCount() *big.Int
}

// SelectionOptions say what a selection may reveal.
type SelectionOptions struct {
	// MaxGroups is the number of groups that a unit is in at most. Required.
	MaxGroups  int64
	Neighbours privacy.Neighbours
	// Epsilon or Rho is the guarantee of the selection over all groups, beside
	// Delta. Exactly one is required.
	Epsilon privacy.Epsilon
	Rho     privacy.Rho
	Delta   privacy.Delta // required
}

// ChooseSelection returns the selection with the smallest HalfCount, a choice
// that rests on the options alone.
//
// Composition. Adding or removing a unit changes the counts of at most L0
// groups by 1, replacing one those of at most 2·L0 groups by 1 (in a group that
// both were in nothing changes). The decisions are independent, so k = L0 or
// 2·L0 of them compose: k times (ε₀, δ₀)-DP, or as the thresholds say.
func ChooseSelection(o SelectionOptions) (Selection, error) {
	switch {
	case o.MaxGroups < 1:
		return nil, fmt.Errorf("%w: the number of groups a unit is in is not positive", ErrParameter)
	case o.Delta.Sign() <= 0:
		return nil, fmt.Errorf("%w: delta is not positive", ErrParameter)
	case (o.Epsilon.Sign() > 0) == (o.Rho.Sign() > 0):
		return nil, fmt.Errorf("%w: exactly one of epsilon and rho must be given", ErrParameter)
	}
	changed := new(big.Int).SetInt64(o.MaxGroups)
	if o.Neighbours == privacy.ReplaceOne {
		changed.Lsh(changed, 1)
	}
	candidates := []func(SelectionOptions, *big.Int) (Selection, error){newTruncatedGeometric, newThreshold}
	var best Selection
	var failure error
	for _, candidate := range candidates {
		s, err := candidate(o, changed)
		if err != nil {
			failure = err
			continue
		}
		if best == nil || s.HalfCount().Cmp(best.HalfCount()) < 0 {
			best = s
		}
	}
	if best == nil {
		return nil, failure
	}
	return best, nil
}

// truncatedGeometric keeps a group of n units with probability π(n), the
// largest function that any (ε₀, δ₀)-DP decision with π(0) = 0 can have:
//
//	π(n+1) = min( e^ε₀·π(n) + δ₀,  1 − e^−ε₀·(1 − π(n) − δ₀),  1 )
//
// Theorem (Desfontaines, Voss, Gipson and Mandayam 2022, "Differentially private
// partition selection", Theorem 1). The table holds a sequence rounded so that
// the same inequalities hold for it: with E ≤ e^ε₀, each step is at most the
// minimum above with E for e^ε₀, computed from the rounded π(n), so that both
// π(n+1) ≤ e^ε₀·π(n) + δ₀ and 1−π(n) ≤ e^ε₀·(1−π(n+1)) + δ₀ hold; the reverse
// inequalities hold because the sequence does not fall.
type truncatedGeometric struct {
	one     *big.Int   // the denominator of the table, a power of two
	keep    []*big.Int // π(1), π(2), ... below 1; certain from there on
	event   privacy.Selection
	changed *big.Int
}

// maxTable bounds the table's length; longer ones take a threshold instead.
const maxTable = 50_000

func newTruncatedGeometric(o SelectionOptions, changed *big.Int) (Selection, error) {
	k := new(big.Rat).SetInt(changed)
	var epsilon *big.Rat
	if o.Rho.Sign() > 0 {
		// k decisions that are (ε₀, δ₀)-DP are (kδ₀)-approximately k·ε₀²/2-zCDP,
		// which is ρ for ε₀ = √(2ρ/k).
		epsilon = numeric.Of(new(big.Rat).Quo(new(big.Rat).Add(o.Rho.Rat(), o.Rho.Rat()), k)).Sqrt().Lo()
	} else {
		epsilon = new(big.Rat).Quo(o.Epsilon.Rat(), k)
	}
	delta := new(big.Rat).Quo(o.Delta.Rat(), k)
	if epsilon.Cmp(big.NewRat(700, 1)) > 0 {
		epsilon.SetInt64(700) // more would change no digit
	}
	epsilon = numeric.FloorDigits(epsilon, 30)
	if epsilon.Sign() <= 0 {
		return nil, fmt.Errorf("%w: epsilon is too small for group selection", ErrParameter)
	}
	e0, err := privacy.NewEpsilon(epsilon)
	if err != nil {
		return nil, fmt.Errorf("calibrate group selection: %w", err)
	}
	d0, err := privacy.NewDelta(delta)
	if err != nil {
		return nil, fmt.Errorf("calibrate group selection: %w", err)
	}
	t := &truncatedGeometric{event: privacy.Selection{Epsilon: e0, Delta: d0}, changed: changed}
	bits := uint(256 + new(big.Int).Quo(delta.Denom(), delta.Num()).BitLen())
	t.one = new(big.Int).Lsh(big.NewInt(1), bits)
	scale := new(big.Rat).SetInt(t.one)
	d := numeric.Floor(new(big.Rat).Mul(delta, scale))
	e := numeric.Floor(new(big.Rat).Mul(numeric.Of(epsilon).Exp().Lo(), scale))
	for p := new(big.Int); ; {
		rising := new(big.Int).Mul(e, p)
		rising.Rsh(rising, bits).Add(rising, d)
		// 1 − (1−π−δ)/E, the quotient rounded up
		missing := new(big.Int).Sub(t.one, p)
		missing.Sub(missing, d).Lsh(missing, bits).Add(missing, e).Sub(missing, big.NewInt(1)).Div(missing, e)
		next := missing.Sub(t.one, missing)
		if rising.Cmp(next) < 0 {
			next = rising
		}
		if next.Cmp(t.one) >= 0 {
			return t, nil
		}
		if next.Cmp(p) < 0 || len(t.keep) == maxTable {
			return nil, fmt.Errorf("%w: epsilon and delta are too small for group selection by table", ErrParameter)
		}
		t.keep = append(t.keep, next)
		p = next
	}
}

func (t *truncatedGeometric) Name() string   { return "truncated_geometric" }
func (t *truncatedGeometric) Scale() float64 { return 0 }

func (t *truncatedGeometric) Events() []privacy.Event {
	if t.changed.Cmp(big.NewInt(1)) == 0 {
		return []privacy.Event{t.event}
	}
	return []privacy.Event{privacy.Repeat{Count: int(t.changed.Int64()), Event: t.event}}
}

func (t *truncatedGeometric) HalfCount() *big.Int {
	for i, p := range t.keep {
		if new(big.Int).Lsh(p, 1).Cmp(t.one) >= 0 {
			return big.NewInt(int64(i + 1))
		}
	}
	return big.NewInt(int64(len(t.keep) + 1))
}

// Select draws a uniform number for every group, also where the decision is
// certain, and compares.
func (t *truncatedGeometric) Select(units []*big.Int, bits noise.Bits) ([]bool, error) {
	kept := make([]bool, len(units))
	for i, n := range units {
		u, err := noise.Uniform(bits, t.one)
		if err != nil {
			return nil, err
		}
		kept[i] = u.Cmp(t.probability(n)) < 0
	}
	return kept, nil
}

// probability returns π(n) in units of 1/one.
func (t *truncatedGeometric) probability(n *big.Int) *big.Int {
	if n.Sign() <= 0 {
		return new(big.Int)
	}
	if !n.IsInt64() || n.Int64() > int64(len(t.keep)) {
		return t.one
	}
	return t.keep[n.Int64()-1]
}

// threshold keeps a group if its count with noise K reaches the threshold τ.
//
// Theorem (Korolova et al. 2009; Wilson et al. 2020; for Gaussian noise Swanberg
// et al. 2023). Groups that both neighbours have differ by the noise's
// guarantee alone. A group that one of them lacks has one unit in the other,
// and shows there with probability P(1+K ≥ τ) ≤ δ₀; there are at most k of them,
// so with probability 1−k·δ₀ none shows.
type threshold struct {
	noise Additive
	least *big.Int // τ
	name  string
	delta privacy.Delta
}

func newThreshold(o SelectionOptions, changed *big.Int) (Selection, error) {
	t := &threshold{name: "laplace_threshold", delta: o.Delta}
	k := new(big.Rat).SetInt(changed)
	var err error
	if o.Rho.Sign() > 0 {
		t.name = "gaussian_threshold"
		t.noise, err = NewGaussian(GaussianOptions{SensitivitySquared: k, Rho: o.Rho})
	} else {
		t.noise, err = NewLaplace(LaplaceOptions{Sensitivity: k, Epsilon: o.Epsilon})
	}
	if err != nil {
		return nil, err
	}
	// The noise is symmetric: P(K > q) ≤ β/2 where P(|K| > q) ≤ β.
	twice := new(big.Rat).Quo(o.Delta.Rat(), k)
	twice.Add(twice, twice)
	if twice.Cmp(big.NewRat(1, 2)) > 0 {
		twice.SetFrac64(1, 2)
	}
	q, err := t.noise.Bound(twice)
	if err != nil {
		return nil, fmt.Errorf("calibrate threshold: %w", err)
	}
	t.least = q.Add(q, big.NewInt(2)) // 1+K ≥ q+2 exactly when K > q
	return t, nil
}

func (t *threshold) Name() string        { return t.name }
func (t *threshold) Scale() float64      { return t.noise.ScaleIn(big.NewRat(1, 1)) }
func (t *threshold) HalfCount() *big.Int { return new(big.Int).Set(t.least) }

func (t *threshold) Events() []privacy.Event {
	return []privacy.Event{t.noise.Event(), privacy.Selection{Delta: t.delta}}
}

func (t *threshold) Select(units []*big.Int, bits noise.Bits) ([]bool, error) {
	noisy := make([]*big.Int, len(units))
	for i, n := range units {
		noisy[i] = new(big.Int).Set(n)
	}
	if err := t.noise.AddTo(bits, noisy); err != nil {
		return nil, err
	}
	kept := make([]bool, len(units))
	for i, n := range noisy {
		kept[i] = units[i].Sign() > 0 && n.Cmp(t.least) >= 0
	}
	return kept, nil
}
