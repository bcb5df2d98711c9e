package datanode

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Subsampled runs a mechanism on a sample of the rows that is drawn anew for every
// answer and never shown, which reveals less. Its numbers are about the sample.
//
// Under replace-one, Size rows of Of are drawn without replacement. Of must be the true
// number of rows, which is public: a larger one would understate what is revealed. Under
// add-remove, every row is drawn by itself with probability Rate.
type Subsampled struct {
	Mechanism Mechanism
	Size, Of  int64
	Rate      *big.Rat
}

func (m Subsampled) String() string {
	sample := fmt.Sprintf("poisson(%v)", m.Rate)
	if m.Rate == nil {
		sample = fmt.Sprintf("without_replacement(%d, %d)", m.Size, m.Of)
	}
	return join(sample, fmt.Sprint(m.Mechanism))
}

func (Subsampled) access() {}

func (m Subsampled) declared() []Vouched {
	if m.Mechanism == nil {
		return nil
	}
	return m.Mechanism.declared()
}

func (m Subsampled) release(s shape) (release, error) {
	if m.Mechanism == nil {
		return release{}, fmt.Errorf("%w: the mechanism of a sample is missing", ErrQuery)
	}
	sampled := s
	fixed := m.Rate == nil
	switch {
	case !fixed && (m.Size != 0 || m.Of != 0):
		return release{}, fmt.Errorf("%w: a sample has a size or a rate", ErrQuery)
	case !fixed && (m.Rate.Sign() <= 0 || m.Rate.Cmp(big.NewRat(1, 1)) > 0):
		return release{}, fmt.Errorf("%w: the rate is not above 0 and at most 1", ErrQuery)
	case !fixed && s.replaced:
		return release{}, fmt.Errorf("%w: a sample at a rate is for rows that are added or removed (%v); otherwise give a size", ErrQuery, privacy.AddRemove)
	case fixed && !s.replaced:
		return release{}, fmt.Errorf("%w: a sample of fixed size shows how many rows there are, so a row may only be replaced (%v); otherwise give a rate", ErrQuery, privacy.ReplaceOne)
	case fixed && (m.Size < 1 || m.Size > m.Of):
		return release{}, fmt.Errorf("%w: the sample is empty, or larger than the data", ErrQuery)
	case fixed && m.Of != int64(s.rows):
		return release{}, fmt.Errorf("%w: the data do not have %d rows", ErrQuery, m.Of)
	case fixed:
		sampled.rows = int(m.Size)
	}
	r, err := m.Mechanism.release(sampled)
	if err != nil {
		return release{}, err
	}
	if len(r.events) != 1 || r.events[0] == nil {
		return release{}, ErrNoEvent
	}
	event := privacy.Event(privacy.Poisson{Rate: m.Rate, Event: r.events[0]})
	if fixed {
		event = privacy.WithoutReplacement{M: m.Size, N: m.Of, Event: r.events[0]}
	}
	inner := r.answer
	r.statement, r.events = m.String(), []privacy.Event{event}
	r.answer = func(bits noise.Bits, f *frame) (Answer, error) {
		rows, err := m.draw(bits, f.rows)
		if err != nil {
			return Answer{}, err
		}
		a, err := inner(bits, f.pick(rows))
		a.Statement, a.Events = r.statement, r.events
		return a, err
	}
	return r, nil
}

// draw returns the sample's rows. The number of its draws depends on the number of rows, or
// on the sample's size, and not on what is drawn.
func (m Subsampled) draw(bits noise.Bits, n int) (rows []int, err error) {
	if m.Rate != nil {
		for r := range n {
			in, err := noise.Bernoulli(bits, m.Rate)
			if err != nil {
				return nil, err
			}
			if in {
				rows = append(rows, r)
			}
		}
		return rows, nil
	}
	all := make([]int, n)
	for r := range all {
		all[r] = r
	}
	for i := range int(m.Size) { // the first steps of a shuffle (Fisher and Yates)
		j, err := noise.Uniform(bits, big.NewInt(int64(n-i)))
		if err != nil {
			return nil, err
		}
		k := i + int(j.Int64())
		all[i], all[k] = all[k], all[i]
	}
	return slices.Clone(all[:m.Size]), nil
}

// amplified returns one event for a sampled one that f can charge for: the guarantee
// that an accountant certifies for it. Sensitivities in e are those of the relation.
func amplified(e privacy.Event, f filter.Filter, n privacy.Neighbours, delta privacy.Delta) (privacy.Event, error) {
	plan := privacy.Under{Neighbours: n, Event: e}
	o := accountant.Options{Neighbours: n}
	g, err := accountant.Guarantee(context.Background(), plan, f, delta, o)
	if err == nil {
		return g, nil
	}
	// Other measures take the pure guarantee, if there is one.
	pure, failure := filter.New(filter.Budget{Measure: filter.Pure, Epsilon: one(), Neighbours: n})
	if failure != nil {
		return nil, failure
	}
	if g, failure := accountant.Guarantee(context.Background(), plan, pure, privacy.Delta{}, o); failure == nil {
		return g, nil
	}
	return nil, errors.Join(ErrQuery, err)
}

func one() privacy.Epsilon {
	e, err := privacy.NewEpsilon(big.NewRat(1, 1))
	if err != nil {
		panic(err) // 1 is a valid epsilon
	}
	return e
}
