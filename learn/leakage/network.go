package leakage

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
)

// NewScorer scores examples of a set by a network, which nobody may change meanwhile.
func NewScorer(net *network.Network, set *example.Set) Scorer {
	return ScorerFunc(func(ctx context.Context, rows []int, phi []float64) error {
		pass := net.NewPass(network.PassOptions{Workers: 1})
		const most = 4096 // between looks at the context
		for len(rows) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(most, len(rows))
			if err := score(net, pass, set, rows[:n], phi[:n]); err != nil {
				return err
			}
			rows, phi = rows[n:], phi[n:]
		}
		return nil
	})
}

func score(net *network.Network, pass *network.Pass, set *example.Set, rows []int, phi []float64) error {
	if net.Spec().Loss != network.CrossEntropy || set.Outputs != 1 {
		if _, err := pass.Losses(set, rows, phi); err != nil {
			return err
		}
		for i, r := range rows {
			if phi[i] = logOdds(phi[i]); !set.Labelled(r) {
				phi[i] = 0 // no label, no loss
			}
		}
		return nil
	}
	// From the scores, not from the loss: where p is all but 1, the loss has lost it.
	if err := net.Fits(set); err != nil {
		return err
	}
	classes := net.OutputSize()
	out := make([]float32, len(rows)*classes)
	if err := pass.Outputs(set, rows, out); err != nil {
		return err
	}
	for i, r := range rows {
		phi[i] = margin(out[i*classes:(i+1)*classes], int(set.Labels[r]))
	}
	return nil
}

// margin is φ of a class: its score less ln Σ exp of all others.
func margin(scores []float32, class int) float64 {
	if class < 0 || class >= len(scores) {
		return 0
	}
	top := math.Inf(-1)
	for c, z := range scores {
		if c != class {
			top = max(top, float64(z))
		}
	}
	sum := 0.0
	for c, z := range scores {
		if c != class {
			sum += math.Exp(float64(z) - top)
		}
	}
	phi := float64(scores[class]) - top - math.Log(sum)
	if math.IsNaN(phi) {
		return 0
	}
	return min(limit, max(-limit, phi))
}

// Plain trains networks as anybody would who protects nobody: without clipping and
// without noise. It makes shadow models, and targets to show what a model leaks
// without protection. It is no mode of a private trainer, and no such trainer knows it.
type Plain struct {
	Spec      network.Spec
	Set       *example.Set
	Optimizer optimizer.Spec
	Batch     int // 0: 64
	Epochs    int // 0: 10
	// Bits shuffle the rows and seed the weights; nil: the system's.
	Bits noise.Bits
}

// Train implements Learner.
func (p *Plain) Train(ctx context.Context, rows []int) (Scorer, error) {
	net, err := p.Network(ctx, rows)
	if err != nil {
		return nil, err
	}
	return NewScorer(net, p.Set), nil
}

// Network returns the network itself.
func (p *Plain) Network(ctx context.Context, rows []int) (*network.Network, error) {
	return p.train(ctx, p.Set, rows, func([]float32) {})
}

// Run implements Trainer: it shows every step.
func (p *Plain) Run(ctx context.Context, set *example.Set, rows []int, see func([]float32)) error {
	_, err := p.train(ctx, set, rows, see)
	return err
}

func (p *Plain) train(ctx context.Context, set *example.Set, rows []int, see func([]float32)) (*network.Network, error) {
	bits := p.Bits
	if bits == nil {
		bits = noise.System()
	}
	net, err := network.New(p.Spec)
	if err != nil {
		return nil, err
	}
	seed, err := bits.Uint64()
	if err != nil {
		return nil, fmt.Errorf("draw initial weights: %w", err)
	}
	net.Initialize(seed)
	see(net.Parameters())
	if len(rows) == 0 {
		return net, nil
	}
	batch, epochs := min(cmp.Or(p.Batch, 64), len(rows)), cmp.Or(p.Epochs, 10)
	steps := epochs * ((len(rows) + batch - 1) / batch)
	opt, err := optimizer.New(p.Optimizer, len(net.Parameters()), steps)
	if err != nil {
		return nil, err
	}
	pass := net.NewPass(network.PassOptions{Workers: 1})
	sum, gradient := make([]float32, len(net.Parameters())), make([]float64, len(net.Parameters()))
	for range epochs {
		order, err := shuffled(bits, rows)
		if err != nil {
			return nil, err
		}
		for some := range slices.Chunk(order, batch) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if _, err := pass.Gradient(set, some, sum); err != nil {
				return nil, err
			}
			for i, g := range sum {
				gradient[i] = float64(g) / float64(len(some))
			}
			opt.Step(net.Parameters(), gradient)
			see(net.Parameters())
		}
	}
	return net, nil
}

// shuffled is a copy of rows in random order.
func shuffled(bits noise.Bits, rows []int) ([]int, error) {
	type keyed struct {
		key uint64
		row int
	}
	all := make([]keyed, len(rows))
	for i, r := range rows {
		k, err := bits.Uint64()
		if err != nil {
			return nil, fmt.Errorf("shuffle: %w", err)
		}
		all[i] = keyed{k, r}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	out := make([]int, len(rows))
	for i, k := range all {
		out[i] = k.row
	}
	return out, nil
}
