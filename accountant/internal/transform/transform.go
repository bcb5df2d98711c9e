// Package transform composes Gaussian and Poisson-subsampled Gaussian noise by
// inverting the moment generating function of the privacy loss on a vertical line
// of the complex plane, through the saddle point. The cost does not depend on the
// number of steps.
//
// It guarantees that the bracket holds δ(ε), or ε(δ), of the dominating pair given
// by the terms' float64 numbers: every approximation (quadrature, truncation,
// periods, rounding of float64) has its bound in the result. It relies on math's
// elementary functions being right to a few units in the last place. It does not
// guarantee an answer: where it cannot certify a narrow bracket it returns
// ErrUnsuited, and another method is to be asked.
package transform

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// ErrUnsuited is wrapped by every refusal of a composition, ε or δ that is valid
// but out of this method's reach.
var ErrUnsuited = errors.New("unsuited to numerical inversion")

var errTerm = errors.New("invalid term")

// A Term is Count steps of a Gaussian mechanism on a Poisson sample.
type Term struct {
	Sigma       float64 // standard deviation of the noise
	Sensitivity float64 // of adding or removing a record, in L2; Replace moves by twice as much
	Rate        float64 // sampling probability of a record; 1 is no sampling
	Count       int64
}

// A Composition is one goroutine's, as its meter is.
type Composition struct {
	meter  *work.Meter
	dir    Direction
	events []*event
	gauss  float64 // Σ mu² of the terms without sampling: one Gaussian of mu = its root
	sup    float64 // the greatest loss
}

// New composes terms for one direction. The order of terms does not matter.
func New(meter *work.Meter, terms []Term, d Direction) (*Composition, error) {
	c := &Composition{meter: meter, dir: d}
	merged := make(map[[2]float64]int64)
	for _, t := range terms {
		mu := t.Sensitivity / t.Sigma
		if !(t.Sigma > 0) || !(t.Sensitivity >= 0) || math.IsInf(t.Sigma, 0) || math.IsInf(mu, 0) ||
			!(t.Rate >= 0 && t.Rate <= 1) || t.Count < 0 {
			return nil, fmt.Errorf("compose %+v: %w", t, errTerm)
		}
		if t.Count == 0 || mu == 0 || t.Rate == 0 {
			continue
		}
		merged[[2]float64{mu, t.Rate}] += t.Count
		if merged[[2]float64{mu, t.Rate}] > 1<<53 {
			return nil, fmt.Errorf("compose %+v: %w: too many steps", t, errTerm)
		}
	}
	for k, n := range merged {
		c.events = append(c.events, &event{meter: meter, mu: k[0], q: k[1], n: float64(n), dir: d})
	}
	slices.SortFunc(c.events, func(a, b *event) int {
		switch {
		case a.mu < b.mu || a.mu == b.mu && a.q < b.q:
			return -1
		case a.mu == b.mu && a.q == b.q:
			return 0
		}
		return 1
	})
	var sampled []*event
	for _, e := range c.events {
		if e.q == 1 {
			mu := e.mu
			if d == Replace {
				mu *= 2
			}
			c.gauss += e.n * mu * mu
			continue
		}
		sampled = append(sampled, e)
		c.sup -= e.n * math.Log1p(-e.q)
	}
	c.events = sampled
	if c.gauss > 0 || d != Add {
		c.sup = math.Inf(1)
	}
	return c, nil
}

// nothing reports whether no step has any loss.
func (c *Composition) nothing() bool { return c.gauss == 0 && len(c.events) == 0 }
