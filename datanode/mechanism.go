package datanode

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Mechanism is a query with the noise that protects it. Only this package has
// mechanisms (but see Declared, for owners): what one reveals follows from its fields,
// whoever asks.
//
// It is an access definition by itself: it answers once, and gives that same answer from
// then on, so that asking again reveals nothing more.
type Mechanism interface {
	Access
	fmt.Stringer
	// release says what an answer would reveal, from what is public alone.
	release(s shape) (release, error)
	// declared are the sensitivities for which an owner vouches.
	declared() []Vouched
}

// A release is an answer to come.
type release struct {
	statement string
	events    []privacy.Event
	delta     privacy.Delta
	declared  []Vouched // sensitivities on which the events rest
	answer    func(bits noise.Bits, f *frame) (Answer, error)
}

// An Answer is what leaves the node.
type Answer struct {
	// Statement says what was computed, and how it was protected.
	Statement string `json:"statement"`
	// Events are what the answer reveals; an unprotected answer has none.
	Events []privacy.Event `json:"events,omitempty"`
	// Labels name the values that have names: the bins of a histogram.
	Labels []string `json:"labels,omitempty"`
	// Values are the numbers; Texts are unprotected texts, or a chosen candidate.
	Values []float64 `json:"values,omitempty"`
	Texts  []string  `json:"texts,omitempty"`
}

// clone copies an answer, so that its reader cannot change the one that is kept.
func (a Answer) clone() Answer {
	a.Events, a.Labels = slices.Clone(a.Events), slices.Clone(a.Labels)
	for i, e := range a.Events {
		if own, err := privacy.New(e); err == nil { // an invalid event was refused when it was asked
			a.Events[i] = own
		}
	}
	a.Values, a.Texts = slices.Clone(a.Values), slices.Clone(a.Texts)
	return a
}

// Value returns the first value; NaN if the answer has none.
func (a Answer) Value() float64 {
	if len(a.Values) == 0 {
		return math.NaN()
	}
	return a.Values[0]
}

// Laplace adds discrete Laplace noise to a query's numbers: all of them together are
// Epsilon-DP.
type Laplace struct {
	Query   Query
	Epsilon privacy.Epsilon
}

func (m Laplace) String() string {
	return join(fmt.Sprintf("laplace(epsilon=%v)", m.Epsilon), fmt.Sprint(m.Query))
}

func (m Laplace) release(s shape) (release, error) {
	c, err := compile(m.Query, s)
	if err != nil {
		return release{}, err
	}
	if c.l1 == nil {
		return release{}, fmt.Errorf("%w: Laplace noise needs an L1 sensitivity", ErrQuery)
	}
	a, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: c.l1, Epsilon: m.Epsilon})
	if err != nil {
		return release{}, err
	}
	return additive(m.String(), c, a), nil
}

func (m Laplace) declared() []Vouched {
	if m.Query == nil {
		return nil
	}
	return m.Query.declared()
}

// Gaussian adds discrete Gaussian noise to a query's numbers: all of them together
// are Rho-zCDP. (accountant.GaussianRho gives the Rho of an (ε, δ).)
type Gaussian struct {
	Query Query
	Rho   privacy.Rho
	// Delta is where budgets that count (ε, δ) convert it.
	Delta privacy.Delta
}

func (m Gaussian) String() string {
	return join(fmt.Sprintf("gaussian(rho=%v)", m.Rho), fmt.Sprint(m.Query))
}

func (m Gaussian) release(s shape) (release, error) {
	c, err := compile(m.Query, s)
	if err != nil {
		return release{}, err
	}
	if c.l2squared == nil {
		return release{}, fmt.Errorf("%w: Gaussian noise needs an L2 sensitivity", ErrQuery)
	}
	a, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: c.l2squared, Rho: m.Rho})
	if err != nil {
		return release{}, err
	}
	r := additive(m.String(), c, a)
	r.delta = m.Delta
	return r, nil
}

func (m Gaussian) declared() []Vouched {
	if m.Query == nil {
		return nil
	}
	return m.Query.declared()
}

func compile(q Query, s shape) (compiled, error) {
	if q == nil {
		return compiled{}, fmt.Errorf("%w: it is missing", ErrQuery)
	}
	return q.compile(s)
}

// additive is the release of a query's integers with noise.
func additive(statement string, c compiled, a mechanism.Additive) release {
	event := a.Event()
	return release{
		statement: statement,
		events:    []privacy.Event{event},
		declared:  c.declared,
		answer: func(bits noise.Bits, f *frame) (Answer, error) {
			values := c.exact(f)
			if err := a.AddTo(bits, values); err != nil {
				return Answer{}, err
			}
			noisy := make([]float64, len(values))
			for i, v := range values {
				x := new(big.Rat).SetInt(v)
				noisy[i], _ = x.Mul(x, c.worth[min(i, len(c.worth)-1)]).Float64()
				noisy[i] = min(max(noisy[i], -math.MaxFloat64), math.MaxFloat64)
			}
			if c.finish != nil {
				noisy = c.finish(noisy)
			}
			return Answer{Statement: statement, Events: []privacy.Event{event}, Labels: c.labels, Values: noisy}, nil
		},
	}
}
