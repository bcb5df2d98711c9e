package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// sample makes a draw.
func (x *explorer) sample(s *state, st *program.Draw, parameter *form) error {
	in := parameter.enclosure()
	p, _ := in.Lo().Float64()
	var scores []float64
	if st.Law == program.Choose {
		for _, f := range x.load(s, st.Scores).elements {
			if !f.known() {
				return unsupported("scores that are irrational")
			}
			r, _ := f.c.rat().Float64()
			scores = append(scores, r)
		}
	}
	drawn, err := noise.Try(func() float64 {
		switch st.Law {
		case program.Laplace:
			return x.source.Laplace(p)
		case program.Exponential:
			return x.source.Exponential(p)
		case program.Gaussian:
			return x.source.Gaussian(p)
		case program.DiscreteLaplace:
			return float64(x.source.DiscreteLaplace(p))
		case program.Geometric:
			return float64(x.source.Geometric(p))
		case program.DiscreteGaussian:
			return float64(x.source.DiscreteGaussian(p))
		case program.Uniform:
			return float64(x.source.Uniform(int(p)))
		case program.Choose:
			return float64(x.source.Choose(scores, p))
		}
		if x.source.Bernoulli(p) {
			return 1
		}
		return 0
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	s.vars[x.index[st.To]] = value{scalar: constant(rationalOf(new(big.Rat).SetFloat64(drawn)))}
	s.at++
	return nil
}

// samples runs the function n times, and gives what each run revealed.
func (c *code) samples(ctx context.Context, in []value, n int, source *noise.Source, found func(*state)) error {
	x := &explorer{code: c, source: source, found: func(s *state) error { found(s); return nil }}
	for range n {
		x.steps = 100_000
		if err := x.explore(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// Sampling bounds a statistical search.
type Sampling struct {
	// Source draws the noise.
	Source *noise.Source
	// Samples is how many runs of each input confirm an event; 0 means 20 000. A
	// tenth of them look for it.
	Samples int
	// Pairs is how many pairs are tried; 0 means 12.
	Pairs int
	// Failure bounds the probability that a claim that holds is called refuted;
	// 0 means 1e-9.
	Failure float64
}

// Statistical searches for a counterexample by samples, for functions that no exact
// evaluation covers. Its P and Q hold the probabilities except with probability
// Failure, over all pairs that are tried: the event is fixed before the samples that
// confirm it are drawn, and each of the bounds fails with a share of Failure. A bound
// is that of Chernoff: n runs of which k are in the event exclude p where
// n·KL(k/n, p) > ln(1/α) (Hoeffding 1963, Theorem 1).
func Statistical(ctx context.Context, f *program.Function, cl *claim.Claim, hints []program.Pair, o Sampling) (*Counterexample, *Tried, error) {
	tried := &Tried{}
	if cl.Cost == nil || o.Source == nil {
		return nil, tried, fmt.Errorf("%w: there is no cost to refute, or no source of noise", ErrUnsupported)
	}
	c, err := compile(f)
	if err != nil {
		return nil, tried, err
	}
	if o.Samples == 0 {
		o.Samples = 20_000
	}
	if o.Pairs == 0 {
		o.Pairs = 12
	}
	if o.Failure == 0 {
		o.Failure = 1e-9
	}
	r := &refuter{space: newSpace(c, cl), tried: tried}
	var pairs []pair
	for _, h := range hints {
		if p, ok := c.pairOf(h); ok && c.neighbours(cl, p) == nil {
			pairs = append(pairs, p)
		}
	}
	for n := 1; n <= 3; n++ {
		for _, s := range r.settings(2, searchDepth) {
			pairs = append(pairs, spread(r.pairs(r.flat(s, n), 30), 4)...)
		}
	}
	for _, p := range pairs[:min(o.Pairs, len(pairs))] {
		t, err := c.sampled(ctx, cl, p, o)
		if errors.Is(err, ErrInput) || errors.Is(err, ErrUnsupported) {
			tried.Reason = err
			continue
		}
		if err != nil {
			return nil, tried, err
		}
		r.note(1, t)
		l, err := c.allowed(cl, t.pair)
		if err != nil {
			tried.Reason = err
			continue
		}
		if v := l.judge(t.p, t.q); v.refuted {
			return &Counterexample{
				Pair:      program.Pair{First: c.inputs(t.pair.first), Second: c.inputs(t.pair.second)},
				Event:     c.words(t.event),
				Condition: *t.event,
				P:         Interval{t.p.lo, t.p.hi},
				Q:         Interval{t.q.lo, t.q.hi},
				Forced:    v.forced, Claimed: v.claimed, Measure: l.measure,
			}, tried, nil
		}
	}
	return nil, tried, nil
}

// sampled finds an event that looks worst on some samples, and bounds it with others.
func (c *code) sampled(ctx context.Context, cl *claim.Claim, p pair, o Sampling) (trial, error) {
	var events []*Event
	seen := map[string]bool{}
	var runs [2][]*state
	for i, run := range [][][]rational{p.first, p.second} {
		err := c.samples(ctx, c.bind(run), o.Samples/10, o.Source, func(s *state) { runs[i] = append(runs[i], s) })
		if err != nil {
			return trial{}, err
		}
		for _, s := range runs[i][:min(50, len(runs[i]))] {
			for _, e := range aroundSample(s) {
				if k := e.key(); !seen[k] {
					seen[k] = true
					events = append(events, e)
				}
			}
		}
	}
	l, err := c.allowed(cl, p)
	if err != nil {
		return trial{}, err
	}
	best := trial{pair: p, score: math.Inf(-1)}
	alpha := o.Failure / float64(4*o.Pairs)
	for _, e := range events {
		a, b := expected(inside(runs[0], e), len(runs[0]), o.Samples, alpha), expected(inside(runs[1], e), len(runs[1]), o.Samples, alpha)
		for _, t := range []trial{{pair: p, event: e, score: l.score(a, b)}, {pair: p.swapped(), event: e, score: l.score(b, a)}} {
			if t.score > best.score {
				best = t
			}
		}
	}
	if best.event == nil {
		return best, nil
	}
	for i, run := range [][][]rational{best.pair.first, best.pair.second} {
		k := 0
		err := c.samples(ctx, c.bind(run), o.Samples, o.Source, func(s *state) {
			if within(s, best.event) {
				k++
			}
		})
		if err != nil {
			return best, err
		}
		q := chernoff(k, o.Samples, alpha)
		if i == 0 {
			best.p = q
		} else {
			best.q = q
		}
	}
	best.score = l.score(best.p, best.q)
	return best, nil
}

// aroundSample are events that a sample suggests: what it revealed, with half-lines
// for numbers that are not whole.
func aroundSample(s *state) []*Event {
	sh := shapeOf(s)
	var reals []int
	for i, leaf := range sh.event.leaves() {
		if !leaf.Low.IsInt() {
			reals = append(reals, i)
		}
	}
	if len(reals) == 0 {
		return []*Event{sh.event}
	}
	var all []*Event
	for _, i := range reals {
		for side := range 2 {
			e := sh.event.clone()
			for _, j := range reals {
				leaf := e.leaves()[j]
				at := leaf.Low
				leaf.Low, leaf.High = nil, nil
				if j == i && side == 0 {
					leaf.Low = at
				} else if j == i {
					leaf.High = at
				}
			}
			all = append(all, e)
		}
	}
	return all
}

func inside(runs []*state, e *Event) int {
	n := 0
	for _, s := range runs {
		if within(s, e) {
			n++
		}
	}
	return n
}

// within reports whether a run that is all numbers lies in an event.
func within(s *state, e *Event) bool {
	last := len(s.outputs) - 1
	if last < len(e.Outputs) || last > len(e.Outputs) && !e.Prefix {
		return false
	}
	t := *s
	for i, ranges := range e.Outputs {
		if !t.matchAll(s.outputs[i], ranges) {
			return false
		}
	}
	return e.Return == nil || t.matchAll(s.outputs[last], e.Return)
}

// expected is the bound that m runs would give if k of n were in the event by no luck:
// what tells most of the two inputs may be too rare for m runs to show it. What was
// hardly seen is taken as a little less rare.
func expected(k, n, m int, alpha float64) narrow {
	low, high := chernoff(k*m/n, m, alpha), chernoff(max(k, 5)*m/n, m, alpha)
	return narrow{low.lo, high.hi}
}

// chernoff is the interval outside of which p would give k of n, or fewer, or more,
// with probability at most alpha on either side.
func chernoff(k, n int, alpha float64) narrow {
	x := float64(k) / float64(n)
	excluded := func(p float64) bool { return float64(n)*divergence(x, p) > math.Log(1/alpha) }
	bisect := func(in, out float64) float64 {
		for range 60 {
			if mid := (in + out) / 2; excluded(mid) {
				out = mid
			} else {
				in = mid
			}
		}
		return out
	}
	return narrow{max(0, bisect(x, 0)), min(1, bisect(x, 1))}
}

// divergence is that of Kullback and Leibler between two coins.
func divergence(x, p float64) float64 {
	part := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/b)
	}
	return part(x, p) + part(1-x, 1-p)
}
