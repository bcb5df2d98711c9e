// Package ftrl trains networks by following the regularized leader with tree aggregation
// (Kairouz, McMahan, Song, Thakkar, Thakurta and Xu 2021, "Practical and Private (Deep)
// Learning Without Sampling or Shuffling", DP-FTRL).
//
// A pass over the examples is a fixed number of steps. Each unit takes part in one step
// of a pass, with all of its examples that count. After each step the weights are a
// function of the noisy sum of all clipped gradients so far. Noise is drawn for the nodes
// of a binary tree over the steps: a sum has the noise of a few nodes, and a gradient is
// in few of them. Momentum applies to the noisy sums.
//
// It guarantees what the options state, whatever the order in which units come to their
// steps: it uses no amplification by sampling, and needs no secret order. Each unit's step
// is drawn by a coin of its own, because a position in a list would shift where another
// unit is added or removed. A further pass is a further tree, in which each unit takes
// part, and costs as much as the first. Between passes the tree is completed: the next
// pass begins with the noise of the root alone.
//
// It does not guarantee speed. Each example's gradient is computed by itself and put on an
// integer grid, where sums are exact: that suits some thousands of weights. Package learn
// is for large networks.
package ftrl

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
)

// Options say what is trained, how, and under which guarantee.
type Options struct {
	cost.Options
	// Clip bounds the norm of an example's gradient; longer ones are scaled down. 1 if
	// it is 0.
	Clip float64
	// Steps is the number of steps of a pass; 64 if it is 0. Powers of two make best use
	// of the noise.
	Steps int
	// Passes is how often all examples are used; 1 if it is 0.
	Passes int
	// Rate is the learning rate, of the mean gradient of a step. Required.
	Rate float64
	// Momentum is at least 0 and below 1.
	Momentum float64
	// Examples is about how many examples there are, if that is public; it makes sums
	// into means, and no guarantee depends on it. If it is 0, a fiftieth of the
	// guarantee is taken for a noisy count.
	Examples int
}

// A Model is the network that was trained. Its weights are released.
type Model struct {
	Spec       network.Spec `json:"spec"`
	Parameters []float32    `json:"parameters"`
}

// Network returns the trained network.
func (m *Model) Network() (*network.Network, error) {
	net, err := network.New(m.Spec)
	if err != nil {
		return nil, err
	}
	if len(m.Parameters) != len(net.Parameters()) {
		return nil, fmt.Errorf("%w: %d parameters of %d", cost.ErrParameter, len(m.Parameters), len(net.Parameters()))
	}
	copy(net.Parameters(), m.Parameters)
	return net, nil
}

const (
	maxSteps  = 1 << 20
	maxPasses = 1 << 16
)

// A training is calibrated noise for everything that a run releases.
type training struct {
	o           Options
	set         *example.Set
	plan        *cost.Plan
	net         *network.Network
	count, node *cost.Noise
}

// Train trains net, from the weights it has, on the examples of set, and charges b for it
// beforehand. The net's weights change. It fails only for its options, the forms of set and
// net, the budget and the bits.
func Train(ctx context.Context, random noise.Bits, b budget.Budget, net *network.Network, set *example.Set, o Options) (*Model, error) {
	r, err := Plan(b, net, set, o)
	if err != nil {
		return nil, err
	}
	return r.Train(ctx, random)
}

// Plan returns the run that Train makes, before b is charged for it: of set it takes the
// form alone.
func Plan(b budget.Budget, net *network.Network, set *example.Set, o Options) (*cost.Run[*Model], error) {
	return cost.Calibrate(b, o.Options, false, func(c cost.Options) (*cost.Run[*Model], error) {
		o := o
		o.Options = c
		t, err := newTraining(b, net, set, o)
		if err != nil {
			return nil, err
		}
		return cost.NewRun(t.plan, "train a network by DP-FTRL", t.run), nil
	})
}

// newTraining calibrates.
//
// Theorem (Kairouz et al. 2021, Theorem 4.1, for zCDP). Let a unit take part in one step of a pass.
// Fix what was released so far. All gradients so far are functions of this and of the data. With
// and without the unit they are the same, except the unit's own. So the exact sum of a node differs
// by what the unit adds, at most k times the clipping bound, if its step is below the node, and not
// at all otherwise. Its step is below h = ⌈log₂ steps⌉ + 1 nodes. Each noisy node sum is a Gaussian
// mechanism, they are released one after the other, and all weights are functions of them: a pass
// is h·k²C²/2σ²-zCDP (adaptive composition: Bun and Steinke 2016, Lemma 2.3), and passes add up. A
// unit that is replaced changes two leaves, by at most 2kC along both paths together.
func newTraining(b budget.Budget, net *network.Network, set *example.Set, o Options) (*training, error) {
	for _, d := range []struct {
		value *int
		to    int
	}{{&o.Steps, 64}, {&o.Passes, 1}} {
		if *d.value == 0 {
			*d.value = d.to
		}
	}
	if o.Clip == 0 {
		o.Clip = 1
	}
	t := &training{o: o, net: net}
	var err error
	if t.plan, err = cost.New(b, set, o.Options); err != nil {
		return nil, err
	}
	t.set = t.plan.Set()
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", cost.ErrParameter, err)
	}
	share := big.NewRat(1, 1)
	if o.Examples == 0 {
		if t.count, err = t.plan.Noise(big.NewRat(1, 50), 1, cost.Sensitivity{L1: share, L2Squared: share}); err != nil {
			return nil, err
		}
		share = big.NewRat(49, 50)
	}
	t.node, err = t.plan.Noise(share, o.Passes, path(o.Steps, len(net.Parameters())))
	return t, err
}

// path is how far an example moves all nodes above its leaf, for d weights.
func path(steps, d int) cost.Sensitivity {
	h := int64(cost.Nodes(steps))
	l1 := numeric.OfInt(int64(d)).Sqrt().Mul(numeric.OfInt(h * cost.One)).Hi()
	return cost.Sensitivity{
		L1:        new(big.Rat).SetInt(numeric.Ceil(l1)),
		L2Squared: new(big.Rat).Mul(big.NewRat(h, 1), big.NewRat(cost.One*cost.One, 1)),
	}
}

func (t *training) check() error {
	o := t.o
	switch {
	case t.net == nil:
		return fmt.Errorf("there is no network")
	case o.Steps < 1 || o.Steps > maxSteps || o.Passes < 1 || o.Passes > maxPasses || o.Examples < 0:
		return fmt.Errorf("%d steps, %d passes, %d examples", o.Steps, o.Passes, o.Examples)
	case !(o.Clip > 0) || math.IsInf(o.Clip, 0) || !(o.Rate > 0) || math.IsInf(o.Rate, 0):
		return fmt.Errorf("a clipping bound of %v and a rate of %v", o.Clip, o.Rate)
	case !(o.Momentum >= 0 && o.Momentum < 1):
		return fmt.Errorf("a momentum of %v is not in [0, 1)", o.Momentum)
	}
	return t.net.Fits(t.set)
}

func (t *training) run(ctx context.Context, random noise.Bits) (*Model, error) {
	rows := t.plan.Rows(true)
	batch := float64(t.o.Examples)
	if t.count != nil {
		n, err := t.count.Add(random, []int64{int64(len(rows))}, 0)
		if err != nil {
			return nil, err
		}
		batch = n[0]
	}
	batch = max(batch/float64(t.o.Steps), 1)
	l := newLeader(t.net.Parameters(), t.o.Rate*t.o.Clip/batch, t.o.Momentum)
	for pass := range t.o.Passes {
		t.plan.Progress(pass, t.o.Passes)
		if err := t.pass(ctx, random, l, rows); err != nil {
			return nil, err
		}
	}
	return &Model{Spec: t.net.Spec(), Parameters: append([]float32{}, t.net.Parameters()...)}, nil
}

// pass goes over the examples once.
func (t *training) pass(ctx context.Context, random noise.Bits, l *leader, rows []int) error {
	steps, err := t.assign(random, rows)
	if err != nil {
		return err
	}
	d := len(t.net.Parameters())
	zero := make([]int64, d)
	draw := func() ([]float64, error) { return t.node.Add(random, zero, cost.Places) }
	tree := &cost.Tree{}
	sum := make([]int64, d)
	for _, rows := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.gradients(rows, sum); err != nil {
			return err
		}
		if err := tree.Grow(draw); err != nil {
			return err
		}
		l.follow(sum, tree.Noise(d))
	}
	if err := tree.Complete(t.o.Steps, draw); err != nil {
		return err
	}
	l.rest(sum, tree.Noise(d))
	return nil
}

// assign gives each unit a step, by coins of its own: which step others have does not
// depend on it.
func (t *training) assign(random noise.Bits, rows []int) ([][]int, error) {
	stream := noise.NewStream(random)
	steps := make([][]int, t.o.Steps)
	of := map[int32]uint64{}
	for _, row := range rows {
		s, known := uint64(0), false
		if t.set.Units != nil {
			s, known = of[t.set.Units[row]]
		}
		if !known {
			var err error
			if s, err = stream.Below(uint64(t.o.Steps)); err != nil {
				return nil, err
			}
			if t.set.Units != nil {
				of[t.set.Units[row]] = s
			}
		}
		steps[s] = append(steps[s], row)
	}
	return steps, nil
}

// gradients adds the examples' clipped gradients to sum.
func (t *training) gradients(rows []int, sum []int64) error {
	workers := min(runtime.GOMAXPROCS(0), max(1, len(rows)/8))
	sums, errs := make([][]int64, workers), make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			sums[w] = make([]int64, len(sum))
			p := t.net.NewPass(network.PassOptions{Batch: 1, Workers: 1})
			gradient, on := make([]float32, len(sum)), make([]int64, len(sum))
			for i := w; i < len(rows); i += workers {
				if _, errs[w] = p.Clipped(t.set, rows[i:i+1], network.Clip(t.o.Clip), gradient); errs[w] != nil {
					return
				}
				cost.Clip(on, gradient, t.o.Clip)
				for j, k := range on {
					sums[w][j] += k
				}
			}
		})
	}
	wait.Wait()
	for w := range sums {
		if errs[w] != nil {
			return errs[w]
		}
		for j, k := range sums[w] {
			sum[j] += k
		}
	}
	return nil
}
