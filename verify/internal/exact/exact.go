// Package exact evaluates the probabilities of what a function reveals on given
// inputs, and searches for inputs on which they refute a claim of privacy; or of
// sensitivity, by what a function without noise returns.
//
// It runs a function with its noise left open: a path is a set of linear
// comparisons of draws, and an event the sum of its paths. Laplace and one-sided
// exponential noise have closed forms, whole noise is summed. Every number is an
// interval, rounded outward: a probability lies in the interval that is returned,
// and one that is exactly zero is returned as [0, 0].
//
// What is evaluated is the function as package program means it, over the reals and
// the integers. A function, or a path of it, that is not linear in its noise is
// refused with ErrUnsupported.
package exact

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

var (
	// ErrUnsupported is wrapped by errors about what no exact evaluation covers.
	ErrUnsupported = errors.New("cannot be evaluated exactly")
	// ErrInput is wrapped by errors about inputs on which the function fails: a
	// division by zero, an index out of range, a scale that is not positive.
	ErrInput = errors.New("the function fails on these inputs")
	// ErrBudget is wrapped by the error of an evaluation that takes too much work.
	ErrBudget = errors.New("too much work")
)

// An Interval holds a probability.
type Interval struct{ Lo, Hi float64 }

// Options bound the work of an evaluation.
type Options struct {
	// Steps is how many statements are run, of all paths together; 0 means a
	// million.
	Steps int
	// Width is the relative width that an interval need not go below; 0 means 1e-6.
	Width float64
	// Paths is how many paths an event may have; 0 means 100 000.
	Paths int
}

// Probability returns an interval that holds the probability of an event.
func Probability(ctx context.Context, f *program.Function, in program.Inputs, e Event, o Options) (Interval, error) {
	c, err := compile(f)
	if err != nil {
		return Interval{}, err
	}
	values, err := c.values(in)
	if err != nil {
		return Interval{}, err
	}
	if o.Steps == 0 {
		o.Steps = 1_000_000
	}
	if o.Width == 0 {
		o.Width = 1e-6
	}
	if o.Paths == 0 {
		o.Paths = 100_000
	}
	m := newMeasurer(c)
	p, err := m.event(ctx, values, &e, o)
	return Interval{p.lo, p.hi}, err
}

// event is the probability of an event on inputs.
func (m *measurer) event(ctx context.Context, in []value, e *Event, o Options) (narrow, error) {
	var regions []region
	x := &explorer{code: m.code, event: e, steps: o.Steps, found: func(s *state) error {
		if regions = append(regions, s.region); len(regions) > o.Paths {
			return ErrBudget
		}
		return nil
	}}
	err := x.explore(ctx, in)
	m.work += o.Steps - max(0, x.steps)
	if err != nil {
		return narrow{}, err
	}
	p, err := m.total(ctx, regions, low)
	if err == nil && p.hi-p.lo > o.Width*p.hi {
		p, err = m.total(ctx, regions, high)
	}
	if e.Not {
		q := narrow{below(1 - p.hi), above(1 - p.lo)}
		if p.lo >= 1 {
			q.hi = 0
		}
		p = q
	}
	if x.slack > 0 {
		p = narrow{below(p.lo - x.slack), above(p.hi + x.slack)}
	}
	return narrow{max(0, p.lo), min(1, p.hi)}, err
}

// total is the probability of disjoint regions.
func (m *measurer) total(ctx context.Context, regions []region, p precision) (narrow, error) {
	var sum narrow
	for i := range regions {
		n := len(regions[i].bounds)
		m.work += 20 * n * n
		if p == high {
			m.work += 200 * n * n
		}
		q, err := m.region(ctx, &regions[i], p)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(q)
	}
	return sum, nil
}
