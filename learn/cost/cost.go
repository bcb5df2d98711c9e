// Package cost holds what all learners that look at private examples need: the guarantee of a run,
// its charge to a budget before it reads data, and how many examples of a privacy unit it reads.
//
// It guarantees that a run is charged whole and first, for the relation of the budget
// that pays; that the noise of its parts together costs no more than what is charged;
// and that a unit has no more examples in a run than were charged for.
//
// It does not guarantee the sensitivities that a learner states: they are the learner's
// theorem.
package cost

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ErrParameter is wrapped by the refusal of options that no guarantee covers, or that
// mean nothing.
var ErrParameter = errors.New("bad parameter of learning")

// Options say what a run guarantees for a privacy unit, with all that it returns.
type Options struct {
	// Epsilon alone asks for a pure guarantee, by Laplace noise. With Delta it asks for
	// (ε, δ)-differential privacy, by Gaussian noise.
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
	// Rho asks for zero-concentrated differential privacy instead of Epsilon. Delta is then
	// only the δ at which a filter converts it.
	Rho privacy.Rho
	// Within is what a run may cost, of a guarantee with a delta, in the measure of the budget
	// that pays; nil: what a budget of Epsilon and Delta admits. See Calibrate.
	Within filter.Filter
	// PerUnit is how many examples of a unit count at most: the first ones of those
	// that are whole. Required of a set with Units; without, each example is a unit.
	PerUnit int
	// Progress, if not nil, is told the share of the run that is done.
	Progress func(share float64)
}

// maxPerUnit keeps sensitivities far from overflow.
const maxPerUnit = 1 << 16

// A Plan is what one run will release, fixed before it looks at the examples.
type Plan struct {
	budget  budget.Budget
	options Options
	set     *example.Set
	rho     *big.Rat // of the whole run; nil if the guarantee is pure
	perUnit int
	events  []privacy.Event
	used    *big.Rat // the shares given out so far
}

// New begins the plan of a run over set that b pays for. It reads of the set only its
// form, which is public: the width, and whether there are units, labels or targets.
func New(b budget.Budget, set *example.Set, o Options) (*Plan, error) {
	p := &Plan{budget: b, options: o, perUnit: 1, used: new(big.Rat)}
	if set != nil {
		own := *set // a copy: Run.Fit changes it
		p.set = &own
	}
	switch {
	case b == nil:
		return nil, fmt.Errorf("%w: no budget pays", ErrParameter)
	case set == nil || set.Width < 1:
		return nil, fmt.Errorf("%w: the examples have no features", ErrParameter)
	case set.Outputs > 1:
		return nil, fmt.Errorf("%w: examples with %d outputs; this learner has one", ErrParameter, set.Outputs)
	case o.PerUnit < 0 || o.PerUnit > maxPerUnit:
		return nil, fmt.Errorf("%w: %d examples of a unit are not between 1 and %d", ErrParameter, o.PerUnit, maxPerUnit)
	case set.Units != nil && o.PerUnit == 0:
		return nil, fmt.Errorf("%w: units have several examples; PerUnit must say how many count", ErrParameter)
	case set.Units != nil:
		p.perUnit = o.PerUnit
	}
	switch {
	case (o.Epsilon.Sign() > 0) == (o.Rho.Sign() > 0):
		return nil, fmt.Errorf("%w: exactly one of epsilon and rho must be positive", ErrParameter)
	case o.Rho.Sign() > 0:
		p.rho = o.Rho.Rat()
	case o.Delta.Sign() > 0:
		rho, err := filter.ZCDPRho(o.Epsilon, o.Delta)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameter, err)
		}
		p.rho = rho.Rat()
	}
	return p, nil
}

// Set are the examples that the run learns from: those that New was given, or their
// form alone until Run.Fit is given others.
func (p *Plan) Set() *example.Set { return p.set }

// Progress tells the Options' that part of all is made.
func (p *Plan) Progress(part, all int) {
	if p.options.Progress != nil {
		p.options.Progress(float64(part) / float64(all))
	}
}

// Pure reports whether the guarantee has no delta.
func (p *Plan) Pure() bool { return p.rho == nil }

// Examples is k: neighbours are examples of a unit more or less, at most k of them. Under
// ReplaceOne it is twice PerUnit: a unit's examples leave, others come.
func (p *Plan) Examples() int64 {
	if p.budget.Neighbours() == privacy.ReplaceOne {
		return 2 * int64(p.perUnit)
	}
	return int64(p.perUnit)
}

// PerUnit is how many examples of a unit count at most.
func (p *Plan) PerUnit() int { return p.perUnit }

// Epsilon and Delta are the guarantee that was asked for; zero if it was a rho.
func (p *Plan) Epsilon() privacy.Epsilon { return p.options.Epsilon }

// Delta is that of the Options.
func (p *Plan) Delta() privacy.Delta { return p.options.Delta }

// EpsilonShare is that share of a pure epsilon.
func (p *Plan) EpsilonShare(share *big.Rat) (privacy.Epsilon, error) {
	if !p.Pure() {
		return privacy.Epsilon{}, fmt.Errorf("%w: the guarantee has no pure epsilon", ErrParameter)
	}
	return privacy.NewEpsilon(new(big.Rat).Mul(p.options.Epsilon.Rat(), share))
}

// RhoShare is that share of the rho.
func (p *Plan) RhoShare(share *big.Rat) (privacy.Rho, error) {
	if p.Pure() {
		return privacy.Rho{}, fmt.Errorf("%w: the guarantee is pure, it has no rho", ErrParameter)
	}
	return privacy.NewRho(new(big.Rat).Mul(p.rho, share))
}

// Charge adds an event that costs a share of the whole, as its caller answers for. It
// refuses what makes the shares more than one.
func (p *Plan) Charge(share *big.Rat, e privacy.Event) error {
	if share.Sign() <= 0 {
		return fmt.Errorf("%w: a share of %v of the guarantee", ErrParameter, share)
	}
	if p.used.Add(p.used, share); p.used.Cmp(big.NewRat(1, 1)) > 0 {
		return fmt.Errorf("%w: the parts of a run exceed its guarantee", ErrParameter)
	}
	p.events = append(p.events, e)
	return nil
}

// Events are what the run reveals: what Spend charges.
func (p *Plan) Events() []privacy.Event { return p.events }

// Rows returns the numbers of the examples that count. An example with a feature that
// is not finite, or without a label ([example.Set.Label]), or without a finite target,
// counts as absent; then the first PerUnit of each unit are taken. Labels says whether
// the learner needs labels or targets.
//
// Whether an example counts depends on its own unit's examples alone, so that a unit
// that is added or removed changes nothing else. Which examples are missing is never
// told.
func (p *Plan) Rows(labels bool) []int {
	s := p.set
	var kept []int
	seen := map[int32]int{}
	for i := range s.Len() {
		if !whole(s.Features[i*s.Width:(i+1)*s.Width]) || labels && !labelled(s, i) {
			continue
		}
		if s.Units != nil {
			if i >= len(s.Units) || seen[s.Units[i]] >= p.perUnit {
				continue
			}
			seen[s.Units[i]]++
		}
		kept = append(kept, i)
	}
	return kept
}

func whole(features []float32) bool {
	for _, x := range features {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return false
		}
	}
	return true
}

func labelled(s *example.Set, i int) bool {
	if s.Classes > 0 {
		return i < len(s.Labels) && s.Label(i) >= 0
	}
	return i < len(s.Targets) && whole(s.Targets[i:i+1])
}

// A Sensitivity is how far one example moves a vector of integers.
type Sensitivity struct {
	L1        *big.Rat // the sum of absolute changes
	L2Squared *big.Rat // the sum of their squares
}

// Noise hides vectors of integers.
type Noise struct{ additive mechanism.Additive }

// Noise takes a share of the guarantee for a vector that is released several times, and
// returns its noise: discrete Laplace if the guarantee is pure, else discrete Gaussian.
//
// Theorem. Adding or removing k examples moves a sum of their vectors by at most k times
// what one does, in either norm (the triangle inequality), and replacing k by k others by at
// most 2k times. On integers at that distance the theorems of mechanism.NewLaplace and
// NewGaussian hold; ε and ρ of releases that see each other add up (Dwork et al. 2006; Bun
// and Steinke 2016, Lemma 2.3).
//
// Scales are rounded up to whole numbers where they are large, which makes draws cheap.
func (p *Plan) Noise(share *big.Rat, times int, s Sensitivity) (*Noise, error) {
	if times < 1 || share.Sign() <= 0 {
		return nil, fmt.Errorf("%w: a release %d times at a share of %v", ErrParameter, times, share)
	}
	each := new(big.Rat).Quo(share, big.NewRat(int64(times), 1))
	k := new(big.Rat).SetInt64(p.Examples())
	var a mechanism.Additive
	var err error
	if p.Pure() {
		a, err = laplace(k.Mul(k, s.L1), each.Mul(each, p.options.Epsilon.Rat()))
	} else {
		k.Mul(k, k)
		a, err = gaussian(k.Mul(k, s.L2Squared), each.Mul(each, p.rho))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	if err := p.Charge(share, Repeated(a.Event(), times)); err != nil {
		return nil, err
	}
	return &Noise{a}, nil
}

// Repeated is an event that happens times times.
func Repeated(e privacy.Event, times int) privacy.Event {
	if times == 1 {
		return e
	}
	return privacy.Repeat{Count: times, Event: e}
}

// coarse is the size from which a scale that is rounded up to a whole number costs
// nothing that matters.
const coarse = 1 << 20

func laplace(sensitivity, epsilon *big.Rat) (mechanism.Additive, error) {
	scale := new(big.Rat).Quo(sensitivity, epsilon)
	if scale.Cmp(big.NewRat(coarse, 1)) > 0 {
		scale.SetInt(numeric.Ceil(scale))
		epsilon = new(big.Rat).Quo(sensitivity, scale)
	}
	e, err := privacy.NewEpsilon(epsilon)
	if err != nil {
		return nil, err
	}
	return mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: sensitivity, Epsilon: e})
}

func gaussian(sensitivitySquared, rho *big.Rat) (mechanism.Additive, error) {
	twice := new(big.Rat).Add(rho, rho)
	variance := twice.Quo(sensitivitySquared, twice)
	if variance.Cmp(big.NewRat(coarse, 1)) > 0 {
		variance.SetInt(numeric.Ceil(variance))
	} else {
		variance = numeric.CeilDigits(variance, 15) // keeps the digits of events few
	}
	return mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: sensitivitySquared, Variance: variance})
}

// Add returns the values with noise, in a unit of which one integer is 2^-places.
func (n *Noise) Add(bits noise.Bits, values []int64, places int) ([]float64, error) {
	steps := make([]*big.Int, len(values))
	for i, v := range values {
		steps[i] = big.NewInt(v)
	}
	if err := n.additive.AddTo(bits, steps); err != nil {
		return nil, fmt.Errorf("add noise: %w", err)
	}
	noisy := make([]float64, len(values))
	for i, v := range steps {
		f, _ := new(big.Float).SetInt(v).Float64()
		noisy[i] = math.Ldexp(f, -places)
	}
	return noisy, nil
}

// Deviation is the standard deviation of the noise on one value, in that unit.
func (n *Noise) Deviation(places int) float64 {
	return math.Ldexp(math.Sqrt(n.additive.Variance()), -places)
}

// Halves takes a share of a rho for a vector in two parts, and returns the noise for
// each: that of the second has half the variance. What one example moves must have a sum
// of squares in the first part, and of twice the squares in the second, of at most
// square.
//
// Theorem (Canonne, Kamath and Steinke 2020, Theorem 14, by coordinates): independent
// discrete Gaussian noise of variance σᵢ² on integers that move by Δᵢ is Σ Δᵢ²/2σᵢ²-zCDP.
func (p *Plan) Halves(share, square *big.Rat) (first, second *Noise, err error) {
	rho, err := p.RhoShare(share)
	if err != nil {
		return nil, nil, err
	}
	k := new(big.Rat).SetInt64(p.Examples())
	moved := k.Mul(k, k)
	moved.Mul(moved, square)
	a, err := gaussian(moved, rho.Rat())
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	// The same sensitivity at twice the rho has half the variance; the event is the
	// first's alone, by the theorem.
	b, err := gaussian(moved, new(big.Rat).Add(rho.Rat(), rho.Rat()))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	if err := p.Charge(share, privacy.ZCDP{Rho: rho}); err != nil {
		return nil, nil, err
	}
	return &Noise{a}, &Noise{b}, nil
}
