package learn

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// A Plan is a run of training, fixed before it begins: everything that its guarantee depends on,
// and what else a continuation must not change. Nothing in it may be chosen by looking at the data,
// except by answers that were charged elsewhere.
type Plan struct {
	Population Population         `json:"population"`
	Units      Units              `json:"units,omitzero"`
	Batch      int64              `json:"batch"`              // units a step in expectation: the rate is Batch/Population.Units, the denominator Batch
	Steps      int                `json:"steps"`              // all of which are paid for at the start
	Physical   int                `json:"physical,omitempty"` // examples computed at a time, which changes no sensitivity; 0 is 64
	Clip       Clip               `json:"clip"`
	Noise      Noise              `json:"noise"`
	Optimizer  optimizer.Spec     `json:"optimizer"`
	Delta      privacy.Delta      `json:"delta"`
	Neighbours privacy.Neighbours `json:"neighbours"`
}

// A Population says how many units there are (with Grouped units: examples), and why
// that may be known. The rate at which they are sampled, and so the noise and the length
// of the run, show it. The guarantee holds whatever the data have.
type Population struct {
	Units int64 `json:"units"`
	Basis Basis `json:"basis"`
	// Count is the event of a NoisyCount, in the text form of plans: what the number
	// itself reveals, which is in the guarantee of all that is released.
	Count string `json:"count,omitempty"`
	// Alike says that the steps' events are the same for every count: neither rate nor
	// noise nor length of the run follow from it. See Plan.Released.
	Alike bool `json:"alike,omitempty"`
}

// count is the event of a noisy count; nil of a number that shows nothing.
func (p Population) count(n privacy.Neighbours) (privacy.Event, error) {
	switch {
	case p.Basis != NoisyCount && p.Count == "":
		return nil, nil
	case p.Basis != NoisyCount:
		return nil, fmt.Errorf("a number of units that is %s, with the event of a count", p.Basis)
	case p.Count == "":
		return nil, errors.New("a noisy count of units, without the event that it was charged as")
	}
	count, err := plan.Parse(p.Count)
	if err != nil {
		return nil, fmt.Errorf("the event of the noisy count: %w", err)
	}
	e, err := count.Event()
	if err == nil {
		err = privacy.Holds(e, n)
	}
	if err != nil {
		return nil, fmt.Errorf("the event of the noisy count: %w", err)
	}
	return e, nil
}

// A Basis says why a number may be known.
type Basis string

// The bases. There is no default: a caller who does not know must find out.
const (
	Public     Basis = "public"      // anybody may know it, whatever the data
	Declared   Basis = "declared"    // the owner's guess, made without looking
	NoisyCount Basis = "noisy count" // a count with noise, charged before this plan
)

// Units says what one privacy unit can add.
type Units struct {
	Mode UnitMode `json:"mode,omitempty"`
	// Examples is how many examples of a unit are used: the first ones in the set.
	Examples int `json:"examples,omitempty"`
}

// A UnitMode is how the examples of a unit are bounded.
type UnitMode string

// The modes. The zero UnitMode is Single.
const (
	Single  UnitMode = "single"  // each example is its own unit
	Bounded UnitMode = "bounded" // a unit is sampled with all its k examples, each of which is clipped at 1/k of the clip
	Grouped UnitMode = "grouped" // examples are sampled, and the guarantee is that of k examples that change together
)

// Clip bounds what one unit adds to a step.
type Clip struct {
	Mode     ClipMode           `json:"mode,omitempty"`
	Norm     float64            `json:"norm"`              // of a unit's part, in L2; Adaptive begins with it
	Schedule optimizer.Schedule `json:"schedule,omitzero"` // of Norm; not with Adaptive
	// With Adaptive: the norm follows the quantile of the gradients' norms, by the
	// factor exp(-Rate·(noisy fraction below it - Quantile)) a step.
	Quantile float64 `json:"quantile,omitempty"`
	Rate     float64 `json:"rate,omitempty"` // 0 is 0.2
	// CountNoise is the standard deviation of the noise on the count of those below.
	// 0 is Batch/20, as in Andrew et al.
	CountNoise float64 `json:"count_noise,omitempty"`
}

// A ClipMode is how gradients are clipped.
type ClipMode string

// The modes. The zero ClipMode is Flat.
const (
	Flat     ClipMode = "flat"      // the whole gradient
	PerLayer ClipMode = "per-layer" // each of m blocks at Norm/√m: together they are within Norm
	Adaptive ClipMode = "adaptive"  // flat, at a quantile that is followed; its count is paid for within the plan
)

// Noise is what hides a unit.
type Noise struct {
	// Multiplier is the standard deviation in terms of what a unit can add to a
	// step: to its gradient or, with Adaptive, to its gradient and count together.
	Multiplier float64 `json:"multiplier"`
	// Schedule may be constant or step, with at most 64 different values.
	Schedule optimizer.Schedule `json:"schedule,omitzero"`
	Sampler  Sampler            `json:"sampler,omitempty"`
}

// A Sampler is how noise is drawn.
type Sampler string

// The samplers. The zero Sampler is Fast where the budget has a delta for what that adds,
// and Exact elsewhere.
const (
	Fast  Sampler = "fast"  // float64 normals of a cryptographic stream, rounded down to the grid
	Exact Sampler = "exact" // the normal law rounded down to the grid, with no error at all
)

const maxNoiseValues = 64

// Validate reports what of the plan means nothing, or nothing safe.
func (p Plan) Validate() error {
	switch p.Population.Basis {
	case Public, Declared, NoisyCount:
	case "":
		return errors.New("plan: say why the number of units may be known: public, declared or noisy count")
	default:
		return fmt.Errorf("plan: %q is no basis of a number: public, declared or noisy count", p.Population.Basis)
	}
	switch n := p.Population.Units; {
	case n < 1 || n > privacy.MaxCount:
		return fmt.Errorf("plan: a population of %d units", n)
	case p.Batch < 1 || p.Batch > n:
		return fmt.Errorf("plan: a batch of %d of %d units", p.Batch, n)
	case p.Steps < 1 || p.Steps > 1e9:
		return fmt.Errorf("plan: %d steps", p.Steps)
	case p.Physical < 0 || p.Physical > 1<<16:
		return fmt.Errorf("plan: %d examples at a time", p.Physical)
	case p.Delta.Sign() <= 0:
		return errors.New("plan: Gaussian noise needs a delta above 0")
	case p.Neighbours != privacy.AddRemove && p.Neighbours != privacy.ReplaceOne:
		return errors.New("plan: the relation is neither add-remove nor replace-one")
	}
	if _, err := p.Population.count(p.Neighbours); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	for _, check := range []func() error{p.Units.validate, p.Clip.validate, p.validateNoise, p.Optimizer.Validate} {
		if err := check(); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
	}
	return nil
}

func (u Units) validate() error {
	switch u.Mode {
	case "", Single:
		if u.Examples > 1 {
			return errors.New("a unit that is one example has no more: say bounded or grouped")
		}
	case Bounded, Grouped:
		if u.Examples < 1 {
			return fmt.Errorf("%s units need the number of examples of each", u.Mode)
		}
	default:
		return fmt.Errorf("units %q are not single, bounded or grouped", u.Mode)
	}
	return nil
}

// examples is k.
func (u Units) examples() int { return max(u.Examples, 1) }

// positive is false for NaN and infinities.
func positive(x float64) bool { return x > 0 && x <= math.MaxFloat64 }

func (c Clip) validate() error {
	if !positive(c.Norm) {
		return fmt.Errorf("a clip of %v", c.Norm)
	}
	if err := c.Schedule.Validate(); err != nil {
		return fmt.Errorf("clip: %w", err)
	}
	if c.Schedule.Shape == optimizer.Cosine && c.Schedule.Final == 0 {
		return errors.New("clip: a schedule that ends at 0")
	}
	switch c.Mode {
	case "", Flat, PerLayer:
		if c.Quantile != 0 || c.Rate != 0 || c.CountNoise != 0 {
			return errors.New("only adaptive clipping has a quantile, a rate and count noise")
		}
	case Adaptive:
		switch {
		case c.Schedule != optimizer.Schedule{}:
			return errors.New("adaptive clipping has no schedule")
		case !(c.Quantile > 0 && c.Quantile < 1):
			return fmt.Errorf("adaptive clipping at the quantile %v", c.Quantile)
		case !(c.Rate >= 0 && c.Rate <= 10):
			return fmt.Errorf("adaptive clipping at the rate %v", c.Rate)
		case c.CountNoise != 0 && !positive(c.CountNoise):
			return fmt.Errorf("adaptive clipping with count noise %v", c.CountNoise)
		}
	default:
		return fmt.Errorf("clipping %q is not flat, per-layer or adaptive", c.Mode)
	}
	return nil
}

func (p Plan) validateNoise() error {
	switch p.Noise.Sampler {
	case "", Fast, Exact:
	default:
		return fmt.Errorf("noise %q is not fast or exact", p.Noise.Sampler)
	}
	if err := p.Noise.Schedule.Validate(); err != nil {
		return fmt.Errorf("noise: %w", err)
	}
	if s := p.Noise.Schedule; s.WarmUp != 0 || s.Shape == optimizer.Cosine {
		return errors.New("noise: a schedule that is not constant or step")
	}
	if s := p.Noise.Schedule; s.Every > 0 && (p.Steps-1)/s.Every >= maxNoiseValues {
		return fmt.Errorf("noise: a schedule of more than %d values", maxNoiseValues)
	}
	for _, r := range p.noises() {
		// From 2^-10 on the grid has room for the sum; see noise.go.
		switch z := r.multiplier; {
		case !(z >= 1.0/1024):
			return fmt.Errorf("a noise multiplier of %v: below 1/1024, where noise hides nobody", z)
		case z > 1e6:
			return fmt.Errorf("a noise multiplier of %v: above a million, where noise is all there is", z)
		}
		if err := p.scales(r.multiplier); err != nil {
			return err
		}
		if p.Clip.Mode == Adaptive {
			if _, err := p.gradientNoise(r.multiplier); err != nil {
				return err
			}
		}
	}
	return nil
}

// scales refuses noise, with a multiplier, that a schedule of the clip would take out of
// the range in which package gaussian draws: a run would fail after it was paid for.
// Schedules have their extremes at the ends and at the end of the warm-up.
func (p Plan) scales(multiplier float64) error {
	for _, step := range []int{0, min(p.Clip.Schedule.WarmUp, p.Steps-1), p.Steps - 1} {
		if c := p.clipAt(step); !(c >= p.leastClip()) {
			return fmt.Errorf("a clip of %v: below %v", c, p.leastClip())
		}
		if s := multiplier * p.clipAt(step); !(s >= 1e-15 && s <= 1e15) {
			return fmt.Errorf("a clip of %v and a noise multiplier of %v: their product is not between 1e-15 and 1e15", p.clipAt(step), multiplier)
		}
	}
	return nil
}

// A noiseRun is how many steps in a row have one multiplier.
type noiseRun struct {
	steps      int
	multiplier float64
}

func (p Plan) noises() []noiseRun {
	if p.Noise.Schedule.Every == 0 {
		return []noiseRun{{p.Steps, p.Noise.Multiplier}}
	}
	var runs []noiseRun
	for at := 0; at < p.Steps; at += p.Noise.Schedule.Every {
		runs = append(runs, noiseRun{min(p.Noise.Schedule.Every, p.Steps-at), p.multiplier(at)})
	}
	return runs
}

// multiplier is the noise multiplier of a step.
func (p Plan) multiplier(step int) float64 {
	return p.Noise.Multiplier * p.Noise.Schedule.At(step, p.Steps)
}

// countNoise is the standard deviation of the noise on the count.
func (p Plan) countNoise() float64 {
	if p.Clip.CountNoise != 0 {
		return p.Clip.CountNoise
	}
	return float64(p.Batch) / 20
}

// gradientNoise is the multiplier of the noise on the gradient alone, where the
// gradient and the count together have multiplier z.
//
// Theorem (Andrew, Thakkar, McMahan and Ramaswamy 2021, Theorem 1): let a unit add to
// a step a vector of norm at most C and a number in [-1/2, 1/2]. With independent
// noise of deviation z_Δ·C on the one and σ_b on the other, both together are a
// Gaussian mechanism of multiplier z if 1/z² = 1/z_Δ² + 1/(2σ_b)². Proof: divided by
// their deviations the two are one vector with noise N(0, I) that a unit moves by at
// most √(1/z_Δ² + 1/(2σ_b)²).
func (p Plan) gradientNoise(z float64) (float64, error) {
	rest := 1/(z*z) - 1/(4*p.countNoise()*p.countNoise())
	// A gradient with a hundred times the noise has no use, and 1/z² no digits left.
	if !(rest*z*z >= 1e-4) {
		return 0, fmt.Errorf("adaptive clipping: the count's noise %v must exceed half the noise multiplier %v", p.countNoise(), z)
	}
	// Rounded up by more than the operations above can have lost.
	return (1 + 1e-9) / math.Sqrt(rest), nil
}

// clipAt is the clip of a step of a plan that is not Adaptive.
func (p Plan) clipAt(step int) float64 { return p.Clip.Norm * p.Clip.Schedule.At(step, p.Steps) }

// leastClip keeps the clip of an example, of one block among a million too, in the range
// where package network bounds its rounding.
func (p Plan) leastClip() float64 {
	if p.Units.Mode == Bounded {
		return 1e-9 * float64(p.Units.examples())
	}
	return 1e-9
}

// physical is how many examples are computed at a time.
func (p Plan) physical() int {
	if p.Physical == 0 {
		return 64
	}
	return p.Physical
}

// Rate is the probability with which a unit is in a step.
func (p Plan) Rate() *big.Rat { return big.NewRat(p.Batch, p.Population.Units) }

// Released is the event of everything that the run reveals about the units: Event, and the noisy
// count that the plan uses.
//
// Theorem. Given the count the run is what Event says. If that is the same for every count
// (Population.Alike), one pair of distributions dominates the run, and both are a fixed plan
// of two parts, of which accountants compose any (Zhu, Dong and Wang 2022, Theorem 10).
// Otherwise no pair does, and this event states the parts only: of two runs, one chosen by
// the count's answer can reveal more than the count beside either. Guarantee adds up
// epsilons then.
func (p Plan) Released() (privacy.Event, error) {
	steps, err := p.Event()
	if err != nil {
		return nil, err
	}
	count, err := p.Population.count(p.Neighbours)
	if count == nil || err != nil {
		return steps, err
	}
	return joined(count, steps), nil
}

// Event is what the steps of the whole run reveal, under Plan.Neighbours, as a plan of package
// accountant: as "4688 * poisson(512/60000, gaussian(1.23))". Grouped units are not
// in it, but in Accounting.
//
// Everything that a step shows is a function of its noisy sum (and its noisy count),
// of the steps before and of public numbers, so that the steps' events add up; how
// the sum is within the noise multiplier although it is computed in floating point
// is said in noise.go.
func (p Plan) Event() (privacy.Event, error) { return p.eventFrom(0) }

// eventFrom is what is revealed from a step on.
func (p Plan) eventFrom(step int) (privacy.Event, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	var parts []privacy.Event
	at := 0
	for _, r := range p.noises() {
		at += r.steps
		count := min(r.steps, at-step)
		if count <= 0 {
			continue
		}
		var e privacy.Event = gaussianEvent(r.multiplier)
		if p.Batch < p.Population.Units { // at rate 1 there is no sampling
			e = privacy.Poisson{Rate: p.Rate(), Event: e}
		}
		if count > 1 {
			e = privacy.Repeat{Count: count, Event: e}
		}
		parts = append(parts, e)
	}
	switch len(parts) {
	case 0:
		return nil, errors.New("plan: no steps are left")
	case 1:
		return parts[0], nil
	}
	return privacy.Sum{Events: parts}, nil
}

// gaussianEvent is Gaussian noise of a multiplier, as the decimal that was written. It may
// differ from the float64 by half of its last bit, which is among the allowances.
func gaussianEvent(multiplier float64) privacy.Gaussian {
	m, err := numeric.FromFloat(multiplier)
	if err != nil {
		m = new(big.Rat) // refused by Validate, of the plan and of the event
	}
	return privacy.Gaussian{Variance: m.Mul(m, m), SensitivitySquared: big.NewRat(1, 1)}
}
