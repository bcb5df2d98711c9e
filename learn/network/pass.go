package network

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// PassOptions say how a pass computes. They change its results by rounding only.
type PassOptions struct {
	// Batch is how many examples a worker computes at once, which bounds memory;
	// a call may have any number. 0: as many as a processor's cache has room for.
	Batch int

	// Workers is the number of goroutines; 0: one a processor.
	Workers int
}

// A Pass computes losses and gradients of a network, and holds the memory for it.
// One call at a time.
type Pass struct {
	net     *Network
	workers []*worker
	batch   int
	wg      sync.WaitGroup
}

// Statistics say what a call met. They are exact values of private data: nothing
// of them may be published without a charge.
type Statistics struct {
	Examples int     // asked for
	Invalid  int     // of these, not finite somewhere: they add nothing
	Clipped  int     // of these, scaled by a factor below 1 in some block
	Labels   int     // outputs of valid examples that have a label or target
	Correct  int     // of these, where the label has the highest score
	Loss     float64 // of the valid examples, added up
}

func (s *Statistics) add(o Statistics) {
	s.Invalid += o.Invalid
	s.Clipped += o.Clipped
	s.Labels += o.Labels
	s.Correct += o.Correct
	s.Loss += o.Loss
}

// A Scaler sets the factor of each block of an example's gradient, given an upper
// bound of each block's squared norm (tight to rounding). Number i is the
// example's place among the rows of the call; calls for different examples may
// come at the same time and in any order. Factors are 1 at first. One that is
// negative or not finite leaves the example out.
type Scaler func(i int, squared, factors []float64)

// Clip scales an example's whole gradient to norm bound where it is longer.
func Clip(bound float64) Scaler {
	return func(_ int, squared, factors []float64) {
		total := 0.0
		for _, s := range squared {
			total += s
		}
		f := shorten(bound, total)
		for b := range factors {
			factors[b] = f
		}
	}
}

// ClipBlocks scales each block of an example's gradient to its own bound; the
// norm of the whole is then at most the root of the bounds' squares.
func ClipBlocks(bounds []float64) Scaler {
	return func(_ int, squared, factors []float64) {
		for b, s := range squared {
			factors[b] = shorten(bounds[b], s)
		}
	}
}

// shorten is the factor that brings a vector to norm bound if it is longer.
func shorten(bound, squared float64) float64 {
	if !(bound > 0) { // also for NaN: no vector is short enough
		return 0
	}
	return min(1, bound/math.Sqrt(squared))
}

// NewPass makes a pass over the network.
func (net *Network) NewPass(o PassOptions) *Pass { return net.newPass(o, gemm.New) }

func (net *Network) newPass(o PassOptions, engine func() *gemm.Engine) *Pass {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Batch <= 0 {
		o.Batch = net.fittingBatch()
	}
	p := &Pass{net: net, batch: o.Batch}
	for range o.Workers {
		p.workers = append(p.workers, newWorker(net, engine(), o.Batch))
	}
	return p
}

// Outputs writes the scores of the examples, [Network.OutputSize] each. It needs
// no labels. Scores of an example that is not finite need not be either.
func (p *Pass) Outputs(set *example.Set, rows []int, out []float32) error {
	if set.Width != p.net.Width() {
		return fmt.Errorf("network: examples have %d features, the network takes %d", set.Width, p.net.Width())
	}
	if len(out) != len(rows)*p.net.loss.scores {
		return fmt.Errorf("network: room for %d scores of %d examples with %d each", len(out), len(rows), p.net.loss.scores)
	}
	_, err := p.run(job{set: set, rows: rows, out: out, last: forwardOnly})
	return err
}

// Losses writes the loss of each example; NaN where the example is invalid, and 0 where
// it has no label.
func (p *Pass) Losses(set *example.Set, rows []int, losses []float64) (Statistics, error) {
	if err := p.net.Fits(set); err != nil {
		return Statistics{}, err
	}
	if len(losses) != len(rows) {
		return Statistics{}, fmt.Errorf("network: room for %d losses of %d examples", len(losses), len(rows))
	}
	return p.run(job{set: set, rows: rows, losses: losses, last: lossesOnly})
}

// ErrOverflow is returned for a sum of gradients that is not finite in float32: the
// weights, the rate or the features are too large.
var ErrOverflow = errors.New("network: the sum of the gradients is beyond float32")

// Gradient sets sum to the sum of the examples' gradients, without a bound on
// any. Examples whose features or loss are not finite add nothing. A sum that is not
// finite is [ErrOverflow], and 0. So an error may depend on the data, as the sum does;
// those of Clipped do not.
func (p *Pass) Gradient(set *example.Set, rows []int, sum []float32) (Statistics, error) {
	s, err := p.gradients(job{set: set, rows: rows, sum: sum, last: gradientSum})
	if err == nil && !finite(p.workers[0].engine.Dot(sum, sum)) {
		clear(sum)
		err = ErrOverflow
	}
	return s, err
}

// Clipped sets sum to the sum of the examples' gradients, each block times the
// factor that scale gives it.
//
// If every factor times the root of its squared norm is at most some bound, then
// so is the norm of what the example adds, in real numbers: norms are told with
// their rounding added, factors are rounded down. The sum itself rounds:
// [Pass.Rounding] bounds by how much, for bounds of a block from 2^-40 on. An example
// whose features, loss or gradient are not finite, or whose numbers before a matrix at
// several positions are beyond 2^40, adds exactly 0; this is not an error.
func (p *Pass) Clipped(set *example.Set, rows []int, scale Scaler, sum []float32) (Statistics, error) {
	if scale == nil {
		return Statistics{}, fmt.Errorf("network: clipped sum without a scaler")
	}
	return p.gradients(job{set: set, rows: rows, sum: sum, scale: scale, last: clippedSum})
}

func (p *Pass) gradients(j job) (Statistics, error) {
	if err := p.net.Fits(j.set); err != nil {
		return Statistics{}, err
	}
	if len(j.sum) != len(p.net.params) {
		return Statistics{}, fmt.Errorf("network: gradient of %d numbers for %d parameters", len(j.sum), len(p.net.params))
	}
	return p.run(j)
}

// Explicit gives each example's gradient, computed from a batch of one: the
// reference for Clipped. An invalid example's is 0, and so is one that is not finite.
func (p *Pass) Explicit(set *example.Set, rows []int) ([][]float32, error) {
	all := make([][]float32, len(rows))
	for i := range rows {
		all[i] = make([]float32, len(p.net.params))
		if _, err := p.Gradient(set, rows[i:i+1], all[i]); err != nil && !errors.Is(err, ErrOverflow) {
			return nil, err
		}
	}
	return all, nil
}

// run shares the rows out among the workers, by their place alone.
func (p *Pass) run(j job) (Statistics, error) {
	n := j.set.Len()
	for _, r := range j.rows {
		if r < 0 || r >= n {
			return Statistics{}, fmt.Errorf("network: row %d of %d examples", r, n)
		}
	}
	clear(j.sum)
	count := min(len(p.workers), len(j.rows))
	for w := 1; w < count; w++ {
		p.wg.Add(1)
		go p.work(w, count, j)
	}
	if count > 0 {
		p.workers[0].work(j, 0, len(j.rows)/count, j.sum)
	}
	p.wg.Wait()
	s := Statistics{Examples: len(j.rows)}
	for w := range count {
		s.add(p.workers[w].stats)
		if w > 0 && j.last >= gradientSum {
			p.workers[0].engine.Axpy(1, p.workers[w].partial, j.sum)
		}
	}
	return s, nil
}

// work computes worker w's part of the rows.
func (p *Pass) work(w, count int, j job) {
	defer p.wg.Done()
	me := p.workers[w]
	if j.last >= gradientSum {
		if me.partial == nil {
			me.partial = make([]float32, len(p.net.params))
		}
		clear(me.partial)
	}
	me.work(j, w*len(j.rows)/count, (w+1)*len(j.rows)/count, me.partial)
}
