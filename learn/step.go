package learn

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/gaussian"
	"github.com/discreet-dp/discreet/learn/internal/normal"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
)

// A trainer makes the steps of a plan. It keeps no budget: the caller of step must have paid.
type trainer struct {
	plan      Plan
	set       *example.Set
	net       *network.Network
	pass      *network.Pass
	optimizer *optimizer.Optimizer
	allowance allowance
	stages    stages

	done int     // steps
	clip float64 // of Adaptive, for the next step

	rows    []int
	weights []float64 // of each row in its unit
	below   []bool    // whether its gradient was within the clip
	sum     []float32
}

// stages are the parts of a step in their order, apart so that tests can break each.
type stages struct {
	// load draws the step's rows.
	load func(rows []int, weights []float64) ([]int, []float64, error)
	// add sets sum to the rows' gradients, each clipped first, added up.
	add func(rows []int, clip float64, sum []float32) (network.Statistics, error)
	// blur adds noise of a standard deviation to every number.
	blur func(sum []float32, sigma float64) error
	// denominator divides the sum: units a step in expectation.
	denominator float64
}

func newTrainer(p Plan, set *example.Set, net *network.Network, workers int) (*trainer, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if set != nil {
		if err := set.Validate(); err != nil {
			return nil, err
		}
		if err := net.Fits(set); err != nil {
			return nil, err
		}
	}
	d := len(net.Parameters())
	t := &trainer{plan: p, set: set, net: net, clip: p.Clip.Norm, sum: make([]float32, d)}
	t.pass = net.NewPass(network.PassOptions{Batch: p.physical(), Workers: workers})
	var err error
	if t.allowance, err = newAllowance(p, t.pass, d); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	for _, r := range p.noises() { // so that no step fails that was paid for
		z := r.multiplier
		if p.Clip.Mode == Adaptive {
			if z, err = p.gradientNoise(z); err != nil {
				return nil, fmt.Errorf("train: %w", err)
			}
		}
		if _, err := t.allowance.deviation(z, p.Clip.Norm, d); err != nil {
			return nil, fmt.Errorf("train: %w", err)
		}
	}
	if t.optimizer, err = optimizer.New(p.Optimizer, d, p.Steps); err != nil {
		return nil, err
	}
	if set == nil { // the rest needs the data
		return t, nil
	}
	source := entropy.New()
	loader, err := newLoader(set, p, source)
	if err != nil {
		return nil, err
	}
	t.stages = stages{load: loader.load, add: t.addClipped, denominator: float64(p.Batch)}
	if p.Noise.Sampler == Exact {
		t.stages.blur = normal.New(noise.System, workers).Add
	} else {
		t.stages.blur = gaussian.New(source, workers).Add
	}
	return t, nil
}

// step makes the next step of the plan and returns figures for the owner.
//
// What it changes (parameters, optimizer, clip) depends on the data through the noisy
// sum and the noisy count alone. An error leaves it unchanged.
func (t *trainer) step() (Figures, error) {
	p, d := t.plan, len(t.sum)
	clip := t.clip
	if p.Clip.Mode != Adaptive {
		clip = p.clipAt(t.done)
	}
	z := p.multiplier(t.done)
	if p.Clip.Mode == Adaptive {
		var err error
		if z, err = p.gradientNoise(z); err != nil {
			return Figures{}, err
		}
	}
	sigma, err := t.allowance.deviation(z, clip, d)
	if err != nil {
		return Figures{}, err
	}
	if t.rows, t.weights, err = t.stages.load(t.rows[:0], t.weights[:0]); err != nil {
		return Figures{}, err
	}
	defer clear(t.sum)
	t.below = append(t.below[:0], make([]bool, len(t.rows))...)
	s, err := t.stages.add(t.rows, clip, t.sum)
	if err != nil {
		return Figures{}, err
	}
	f := newFigures(s, t.sum, sigma)
	next := clip
	if p.Clip.Mode == Adaptive {
		if next, err = t.follow(clip); err != nil {
			return Figures{}, err
		}
	}
	if err := t.stages.blur(t.sum, sigma); err != nil {
		return Figures{}, err
	}
	// From here on everything is post-processing.
	t.optimizer.StepMean(t.net.Parameters(), t.sum, t.stages.denominator)
	t.clip = next
	t.done++
	return f, nil
}

// follow returns the clip after one whose quantile was counted: with a unit's number
// the share of its examples below the clip less 1/2, so that it is in [-1/2, 1/2].
// See gradientNoise.
func (t *trainer) follow(clip float64) (float64, error) {
	p := t.plan
	total := 0.0
	for i, w := range t.weights {
		if t.below[i] {
			total += w / 2
		} else {
			total -= w / 2
		}
	}
	most := float64(2 * t.allowance.most) // samples never reach this; see noise.go
	noisy := []float32{float32(max(-most, min(most, total)))}
	sigma, err := t.allowance.countDeviation(p.countNoise())
	if err != nil {
		return 0, err
	}
	if err := t.stages.blur(noisy, sigma); err != nil {
		return 0, err
	}
	fraction := float64(noisy[0])/t.stages.denominator + 0.5
	rate := p.Clip.Rate
	if rate == 0 {
		rate = 0.2
	}
	next := clip * math.Exp(-rate*(fraction-p.Clip.Quantile))
	// However long it drifts, it stays in the range of float32 gradients.
	return min(max(next, p.Clip.Norm*0x1p-30, p.leastClip()), p.Clip.Norm*0x1p30), nil
}

// addClipped is the stage of the same name: see noise.go for the two ways.
func (t *trainer) addClipped(rows []int, clip float64, sum []float32) (network.Statistics, error) {
	if t.plan.Units.Mode == Bounded {
		clip /= float64(t.plan.Units.examples())
	}
	if len(rows) <= t.allowance.fast {
		return t.pass.Clipped(t.set, rows, t.scaler(clip, 0), sum)
	}
	return t.addSingly(rows, clip, sum)
}

// addSingly adds on a grid, exactly, so that rounding in one example's gradient is that
// example's own affair. However many examples there are, one more moves the sum by no
// more: neither clamping numbers nor projecting on a ball makes a distance larger.
func (t *trainer) addSingly(rows []int, clip float64, sum []float32) (all network.Statistics, err error) {
	const full = 1 << 62
	step := clip * 0x1p-40
	total := make([]int64, len(sum))
	for i := range rows {
		s, err := t.pass.Clipped(t.set, rows[i:i+1], t.scaler(clip, i), sum)
		if err != nil {
			return network.Statistics{}, err
		}
		for j, x := range sum {
			// Finite, and within the clip, so that what is clamped does not overflow.
			total[j] = max(-full, min(full, total[j]+int64(math.RoundToEven(float64(x)/step))))
		}
		all = network.Statistics{Examples: all.Examples + s.Examples, Invalid: all.Invalid + s.Invalid, Clipped: all.Clipped + s.Clipped,
			Labels: all.Labels + s.Labels, Correct: all.Correct + s.Correct, Loss: all.Loss + s.Loss}
	}
	square := 0.0
	for _, n := range total {
		square += float64(n) * float64(n)
	}
	shrink := min(1, float64(4*t.allowance.most)*0x1p40/math.Sqrt(square)) // to a norm of 4·most clips
	for j, n := range total {
		sum[j] = float32(float64(n) * shrink * step)
	}
	return all, nil
}

// scaler clips the example of each call; its number among the step's rows begins at
// first.
func (t *trainer) scaler(clip float64, first int) network.Scaler {
	inner := network.Clip(clip)
	if t.plan.Clip.Mode == PerLayer {
		blocks := len(t.net.Blocks())
		inner = network.ClipBlocks(slices.Repeat([]float64{clip / math.Sqrt(float64(blocks))}, blocks))
	}
	if t.plan.Clip.Mode != Adaptive {
		return inner
	}
	return func(i int, squared, factors []float64) {
		inner(i, squared, factors)
		t.below[first+i] = factors[0] == 1
	}
}
