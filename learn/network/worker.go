package network

import (
	"math"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// A job is one call of a pass.
type job struct {
	set    *example.Set
	rows   []int
	last   stage
	out    []float32 // scores, for forwardOnly
	losses []float64 // for lossesOnly
	sum    []float32 // for the gradients
	scale  Scaler    // for clippedSum
}

// A stage is how far a job goes.
type stage int

const (
	forwardOnly stage = iota
	lossesOnly
	gradientSum
	clippedSum
)

// A worker computes some rows of a job, chunk by chunk, in its own memory.
type worker struct {
	net    *Network
	engine *gemm.Engine
	chunk  int
	states []state
	learn  []learner // those of states that have parameters, as the network's blocks

	input, scores, slope []float32 // the first layer's x, the last one's y and dy

	invalid []bool
	results []result
	squared []float64 // blocks x chunk
	factors []float32 // blocks x chunk
	norms   []float64 // of one example
	ones    []float64

	partial []float32 // gradient of this worker's rows
	part    []float32 // gradient of a chunk, if there are several
	stats   Statistics
}

// cacheBudget is the number of float32 that a worker's chunk of examples should
// take: about what a core has of the cache.
const cacheBudget = 1 << 19

// fittingBatch is the number of examples whose numbers fit the budget.
func (net *Network) fittingBatch() int {
	each := 2 * size(net.spec.Input)
	for _, l := range net.layers {
		each += 2*size(l.output()) + l.scratch()
	}
	return max(1, min(256, cacheBudget/each))
}

func newWorker(net *Network, engine *gemm.Engine, chunk int) *worker {
	blocks := len(net.blocks)
	w := &worker{
		net: net, engine: engine, chunk: chunk,
		invalid: make([]bool, chunk),
		results: make([]result, chunk),
		squared: make([]float64, blocks*chunk),
		factors: make([]float32, blocks*chunk),
		norms:   make([]float64, blocks),
		ones:    make([]float64, blocks),
	}
	f := frame{chunk: chunk, engine: engine}
	f.y = make([]float32, chunk*net.Width())
	w.input = f.y
	var below layer // the layer before the one in hand
	learns := false
	for _, l := range net.layers {
		f.x, f.dx = f.y, f.dy
		length := chunk * size(l.output())
		shares := l.inPlace() && (below == nil || !below.needsOutput())
		if !shares {
			f.y = make([]float32, length)
		}
		learns = learns || l.parameters() > 0
		switch {
		case !learns:
			f.dy = nil
		case !shares || f.dx == nil:
			f.dy = make([]float32, length)
		}
		s := l.bind(f)
		w.states = append(w.states, s)
		if l.parameters() > 0 {
			w.learn = append(w.learn, s.(learner))
		}
		below = l
	}
	w.scores, w.slope = f.y, f.dy
	return w
}

// work computes rows from <= i < to and adds their gradients to sum, which is 0.
func (w *worker) work(j job, from, to int, sum []float32) {
	w.stats = Statistics{}
	chunks := (to - from + w.chunk - 1) / w.chunk
	into := sum
	if chunks > 1 && sum != nil {
		if w.part == nil {
			w.part = make([]float32, len(sum))
		}
		into = w.part
	}
	for c := range chunks {
		if chunks > 1 {
			clear(into)
		}
		w.step(j, from+c*(to-from)/chunks, from+(c+1)*(to-from)/chunks, into)
		if chunks > 1 && sum != nil {
			// Chunk sums are added up by themselves, so that rounding is relative to
			// them and not to all that came before ([Pass.Rounding]).
			w.engine.Axpy(1, into, sum)
		}
	}
}

// step computes one chunk of rows.
func (w *worker) step(j job, from, to int, sum []float32) {
	n := to - from
	w.load(j, from, to)
	b := 0
	for l, s := range w.states {
		s.forward(w.weights(l, &b), n)
	}
	per := w.net.loss.scores
	if j.last == forwardOnly {
		copy(j.out[from*per:to*per], w.scores)
		return
	}
	w.lose(j, from, to)
	if j.last == lossesOnly {
		for i := range n {
			j.losses[from+i] = w.results[i].loss
		}
		w.count(n)
		return
	}
	for l := len(w.states) - 1; l >= 0; l-- {
		if w.net.layers[l].parameters() > 0 {
			b--
		}
		at := b
		w.states[l].backward(w.weights(l, &at), n)
	}
	if j.last == clippedSum {
		w.choose(j, from, n)
	}
	for i := range n {
		if w.invalid[i] {
			for _, l := range w.learn {
				l.erase(i)
			}
		}
	}
	w.count(n)
	for b, l := range w.learn {
		g := sum[w.net.blocks[b].From:w.net.blocks[b].To]
		if j.last == clippedSum {
			l.scaled(n, w.factors[b*w.chunk:][:n], g)
		} else {
			l.sum(n, g)
		}
	}
}

// weights are layer l's parameters; b counts the layers before it that have some.
func (w *worker) weights(l int, b *int) []float32 {
	if w.net.layers[l].parameters() == 0 {
		return nil
	}
	block := w.net.blocks[*b]
	*b++
	return w.net.params[block.From:block.To]
}

// load copies the rows' features. A row that is not finite is found here, and
// becomes zeros where gradients are asked for.
func (w *worker) load(j job, from, to int) {
	width := j.set.Width
	for i, row := range j.rows[from:to] {
		x := w.input[i*width:][:width]
		copy(x, j.set.Features[row*width:])
		w.invalid[i] = !finite(w.engine.Dot(x, x))
		if w.invalid[i] && j.last >= gradientSum {
			clear(x)
		}
	}
}

// lose computes the losses and, for a gradient, their slopes.
func (w *worker) lose(j job, from, to int) {
	per := w.net.loss.scores
	for i, row := range j.rows[from:to] {
		var slope []float32
		if j.last >= gradientSum {
			slope = w.slope[i*per:][:per]
		}
		r := w.net.loss.of(j.set, row, w.scores[i*per:][:per], slope)
		if w.invalid[i] = w.invalid[i] || !finite(r.loss); w.invalid[i] {
			r = result{loss: math.NaN()}
			clear(slope)
		}
		w.results[i] = r
	}
}

// count adds the chunk's results to the statistics.
func (w *worker) count(n int) {
	for i, r := range w.results[:n] {
		if w.invalid[i] {
			w.stats.Invalid++
			continue
		}
		w.stats.Loss += r.loss
		w.stats.Labels += r.labels
		w.stats.Correct += r.correct
	}
}

// choose computes the norms and asks the scaler for factors. An example that
// turns out invalid gets factors 0.
func (w *worker) choose(j job, from, n int) {
	clear(w.squared)
	for b, l := range w.learn {
		l.norms(n, w.squared[b*w.chunk:][:n])
	}
	for i := range n {
		ok := !w.invalid[i]
		for b := range w.norms {
			w.norms[b] = w.squared[b*w.chunk+i]
			w.ones[b] = 1
			ok = ok && finite(w.norms[b])
		}
		if ok {
			j.scale(from+i, w.norms, w.ones)
		}
		clipped := false
		for b, f := range w.ones {
			ok = ok && f >= 0 && finite(f)
			clipped = clipped || f < 1
			w.factors[b*w.chunk+i] = roundDown(f)
		}
		if ok && clipped {
			w.stats.Clipped++
		}
		if w.invalid[i] = !ok; !ok {
			for b := range w.ones {
				w.factors[b*w.chunk+i] = 0
			}
		}
	}
}

// roundDown is a float32 a little below f, so that neither its own rounding nor
// that of the products with it makes a gradient longer: both are at most 1+2^-24.
// Factor 1 stays: a product with it is exact. A factor without full precision
// (subnormal) becomes zero: to round it up could make it twice as large.
func roundDown(f float64) float32 {
	if f == 1 {
		return 1
	}
	if f *= 1 - 0x1p-22; f < 0x1p-126 {
		return 0
	}
	return float32(f)
}
