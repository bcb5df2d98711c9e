// Package pca finds principal components: the directions in which examples vary most, by
// their second moments with noise (Dwork, Talwar, Thakurta and Zhang 2014, "Analyze
// Gauss").
//
// It guarantees what the options state, for all that is released: the components, and the
// variance that each explains, which is read off the same noisy moments.
//
// It does not guarantee that a component of little variance is more than noise.
package pca

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/learn/internal/moment"
	"github.com/discreet-dp/discreet/noise"
)

// Options say what is looked for, and under which guarantee.
type Options struct {
	cost.Options
	// Components is how many. Required.
	Components int
	// Norm bounds the L2 norm of an example's features; longer ones are scaled down.
	// Required.
	Norm float64
	// Center takes the mean away, which is released for it; without, components are
	// those of the second moments about the origin.
	Center bool
}

// A Model is the components that were found.
type Model struct {
	Norm float64 `json:"norm"`
	// Mean is the noisy mean, zero without Center.
	Mean []float64 `json:"mean"`
	// Components are unit vectors, orthogonal to each other, the first one first.
	Components [][]float64 `json:"components"`
	// Variances are what the examples vary in each component, by noisy moments, which may
	// make one negative: it is 0 then.
	Variances []float64 `json:"variances"`
	// Total is what they vary in all directions.
	Total float64 `json:"total"`
	// Examples is the noisy number of examples.
	Examples float64 `json:"examples"`
}

// Project returns an example's components, of the example that is scaled down to the norm.
func (m *Model) Project(features []float32) []float64 {
	x := make([]int32, len(features))
	fixed.Vector(x, features, m.Norm)
	p := make([]float64, len(m.Components))
	for c, direction := range m.Components {
		for j, v := range x {
			p[c] += (float64(v)/fixed.One*m.Norm - m.Mean[j]) * direction[j]
		}
	}
	return p
}

// Check refuses a model that does not fit together, or not with examples of a width:
// somebody may have written it.
func (m *Model) Check(width int) error {
	if !(m.Norm > 0) || len(m.Mean) != width || len(m.Components) == 0 || len(m.Variances) != len(m.Components) {
		return fmt.Errorf("%d components about a mean of %d numbers, and a norm of %v", len(m.Components), len(m.Mean), m.Norm)
	}
	for _, c := range m.Components {
		if len(c) != width {
			return fmt.Errorf("a component of %d numbers among examples of %d", len(c), width)
		}
	}
	return nil
}

// A training is calibrated noise for everything that a run releases.
type training struct {
	o          Options
	set        *example.Set
	plan       *cost.Plan
	count, sum *cost.Noise
	moments    *moment.Second
}

// Train finds the components of the examples of set, and charges b for it beforehand. It
// fails only for its options, the form of the set, the budget and the bits. Labels are not
// looked at.
func Train(ctx context.Context, bits noise.Bits, b budget.Budget, set *example.Set, o Options) (*Model, error) {
	r, err := Plan(b, set, o)
	if err != nil {
		return nil, err
	}
	return r.Train(ctx, bits)
}

// Plan returns the run that Train makes, before b is charged for it: of set it takes the
// form alone.
func Plan(b budget.Budget, set *example.Set, o Options) (*cost.Run[*Model], error) {
	return cost.Calibrate(b, o.Options, false, func(c cost.Options) (*cost.Run[*Model], error) {
		o := o
		o.Options = c
		t, err := newTraining(b, set, o)
		if err != nil {
			return nil, err
		}
		return cost.NewRun(t.plan, "find principal components", func(_ context.Context, bits noise.Bits) (*Model, error) { return t.run(bits) }), nil
	})
}

// newTraining calibrates: package moment has the theorem. A sum of examples moves by at
// most 1 in L2 and √d in L1, their count by 1.
func newTraining(b budget.Budget, set *example.Set, o Options) (*training, error) {
	t := &training{o: o}
	var err error
	if t.plan, err = cost.New(b, set, o.Options); err != nil {
		return nil, err
	}
	t.set = t.plan.Set()
	switch {
	case o.Components < 1 || o.Components > set.Width:
		return nil, fmt.Errorf("%w: %d components of %d features", cost.ErrParameter, o.Components, set.Width)
	case !(o.Norm > 0) || math.IsInf(o.Norm, 0):
		return nil, fmt.Errorf("%w: a norm of %v bounds no examples", cost.ErrParameter, o.Norm)
	case set.Width > 1<<13:
		return nil, fmt.Errorf("%w: moments of %d features", cost.ErrParameter, set.Width)
	}
	one := big.NewRat(1, 1)
	left := big.NewRat(19, 20)
	if t.count, err = t.plan.Noise(big.NewRat(1, 20), 1, cost.Sensitivity{L1: one, L2Squared: one}); err != nil {
		return nil, err
	}
	if o.Center {
		left = big.NewRat(15, 20)
		l1 := numeric.OfInt(int64(set.Width)).Sqrt().Mul(numeric.OfInt(fixed.One)).Hi()
		s := cost.Sensitivity{L1: new(big.Rat).SetInt(numeric.Ceil(l1)), L2Squared: big.NewRat(fixed.One*fixed.One, 1)}
		if t.sum, err = t.plan.Noise(big.NewRat(4, 20), 1, s); err != nil {
			return nil, err
		}
	}
	t.moments, err = moment.New(t.plan, left, set.Width, 1)
	return t, err
}

func (t *training) run(bits noise.Bits) (*Model, error) {
	x := fixed.Clip(t.set, t.plan.Rows(false), t.o.Norm, false)
	m := &Model{Norm: t.o.Norm, Mean: make([]float64, x.Width)}
	n, err := t.count.Add(bits, []int64{int64(x.Len())}, 0)
	if err != nil {
		return nil, err
	}
	m.Examples = max(n[0], 1)
	if t.sum != nil {
		sums := make([]int64, x.Width)
		for i := range x.Len() {
			fixed.Add(sums, x.Row(i), 1)
		}
		if m.Mean, err = t.sum.Add(bits, sums, fixed.Places); err != nil {
			return nil, err
		}
	}
	c, err := t.moments.Release(bits, x)
	if err != nil {
		return nil, err
	}
	for j := range m.Mean {
		m.Mean[j] *= t.o.Norm / m.Examples
	}
	for i := range x.Width {
		for j := i; j < x.Width; j++ {
			c.SetSym(i, j, c.At(i, j)*t.o.Norm*t.o.Norm/m.Examples-m.Mean[i]*m.Mean[j])
		}
	}
	return m, m.decompose(c, t.o.Components)
}

// decompose finds the components of a noisy covariance.
func (m *Model) decompose(c *mat.SymDense, components int) error {
	var eigen mat.EigenSym
	if !eigen.Factorize(c, true) {
		return errors.New("noisy moments have no components that float64 arithmetic finds")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil) // ascending
	for i := range components {
		k := len(values) - 1 - i
		m.Components = append(m.Components, mat.Col(nil, k, &vectors))
		m.Variances = append(m.Variances, max(values[k], 0))
	}
	m.Total = max(mat.Trace(c), 0)
	return nil
}
