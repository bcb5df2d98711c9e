// Package optimizer turns gradients into new parameters: plain descent, momentum, Adam
// and Yogi, with schedules of the rate.
//
// It guarantees that an optimizer whose state was written down and read back goes on
// exactly as it would have.
//
// It does not guarantee privacy: it draws no noise. New parameters are post-processing of
// the gradient, as private as it was.
package optimizer

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Kind names an algorithm.
type Kind string

// The algorithms. The zero Kind is SGD.
const (
	SGD      Kind = "sgd"      // x -= rate·g
	Momentum Kind = "momentum" // v = momentum·v + g; x -= rate·v
	Adam     Kind = "adam"     // Kingma and Ba 2015, Algorithm 1
	Yogi     Kind = "yogi"     // Zaheer et al. 2018: Adam whose second moment moves by the sign of its error
)

// A Spec is an optimizer as plain data.
type Spec struct {
	Kind     Kind     `json:"kind,omitempty"`
	Rate     float64  `json:"rate"`
	Schedule Schedule `json:"schedule,omitzero"`
	Momentum float64  `json:"momentum,omitempty"` // of Momentum; 0 is 0.9
	Beta1    float64  `json:"beta1,omitempty"`    // of Adam and Yogi; 0 is 0.9
	Beta2    float64  `json:"beta2,omitempty"`    // of Adam and Yogi; 0 is 0.999
	Epsilon  float64  `json:"epsilon,omitempty"`  // of Adam and Yogi; 0 is 1e-8
	Decay    float64  `json:"decay,omitempty"`    // of the parameters, rate·decay a step, apart from the gradient
}

// complete fills in what is left out.
func (s Spec) complete() Spec {
	set := func(x *float64, otherwise float64) {
		if *x == 0 {
			*x = otherwise
		}
	}
	if s.Kind == "" {
		s.Kind = SGD
	}
	set(&s.Momentum, 0.9)
	set(&s.Beta1, 0.9)
	set(&s.Beta2, 0.999)
	set(&s.Epsilon, 1e-8)
	return s
}

// Validate reports what of the spec means nothing.
func (s Spec) Validate() error {
	c := s.complete()
	within := func(x float64) bool { return x >= 0 && x < 1 } // false for NaN
	switch {
	case !slices.Contains([]Kind{SGD, Momentum, Adam, Yogi}, c.Kind):
		return fmt.Errorf("optimizer %q is not one of sgd, momentum, adam, yogi", s.Kind)
	case !(s.Rate > 0) || math.IsInf(s.Rate, 0):
		return fmt.Errorf("optimizer: the rate %v is not positive", s.Rate)
	case !within(c.Momentum) || !within(c.Beta1) || !within(c.Beta2):
		return errors.New("optimizer: momentum and betas lie in [0, 1)")
	case !(c.Epsilon > 0) || !(c.Decay >= 0) || math.IsInf(c.Epsilon, 0) || math.IsInf(c.Decay, 0):
		return errors.New("optimizer: epsilon is positive, decay not negative, both finite")
	}
	if err := s.Schedule.Validate(); err != nil {
		return fmt.Errorf("optimizer: rate: %w", err)
	}
	return nil
}

// An Optimizer is a Spec at work on parameters.
type Optimizer struct {
	spec          Spec
	steps         int // of the whole run, for the schedule
	done          int
	first, second []float64 // moments, of those that have them
}

// A State is what an optimizer knows beside its Spec.
type State struct {
	Done          int
	First, Second []float64
}

// New returns an optimizer of n parameters for a run of so many steps.
func New(s Spec, n, steps int) (*Optimizer, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if n < 0 || steps <= 0 {
		return nil, fmt.Errorf("optimizer: %d parameters, %d steps", n, steps)
	}
	o := &Optimizer{spec: s.complete(), steps: steps}
	if o.spec.Kind != SGD {
		o.first = make([]float64, n)
	}
	if o.spec.Kind == Adam || o.spec.Kind == Yogi {
		o.second = make([]float64, n)
	}
	return o, nil
}

// State returns a copy of the optimizer's state.
func (o *Optimizer) State() State {
	return State{o.done, slices.Clone(o.first), slices.Clone(o.second)}
}

// Restore puts an optimizer of the same spec into a state.
func (o *Optimizer) Restore(s State) error {
	if s.Done < 0 || s.Done > o.steps || len(s.First) != len(o.first) || len(s.Second) != len(o.second) {
		return errors.New("optimizer: the state is one of another optimizer")
	}
	o.done, o.first, o.second = s.Done, slices.Clone(s.First), slices.Clone(s.Second)
	return nil
}

// Step moves parameters against a gradient of the same length.
func (o *Optimizer) Step(parameters []float32, gradient []float64) { step(o, parameters, gradient, 1) }

// StepMean moves parameters against a gradient that is sum/n.
func (o *Optimizer) StepMean(parameters, sum []float32, n float64) { step(o, parameters, sum, n) }

func step[G float32 | float64](o *Optimizer, parameters []float32, sum []G, n float64) {
	rate := o.spec.Rate * o.spec.Schedule.At(o.done, o.steps)
	o.done++
	keep := 1 - rate*o.spec.Decay
	switch o.spec.Kind {
	case SGD:
		for i, s := range sum {
			parameters[i] = float32(float64(parameters[i])*keep - rate*(float64(s)/n))
		}
	case Momentum:
		for i, s := range sum {
			o.first[i] = o.spec.Momentum*o.first[i] + float64(s)/n
			parameters[i] = float32(float64(parameters[i])*keep - rate*o.first[i])
		}
	case Adam, Yogi:
		b1, b2 := o.spec.Beta1, o.spec.Beta2
		// The moments start at zero; dividing by 1-β^t takes that out of their means.
		c1, c2 := 1-math.Pow(b1, float64(o.done)), 1-math.Pow(b2, float64(o.done))
		for i, s := range sum {
			g := float64(s) / n
			o.first[i] = b1*o.first[i] + (1-b1)*g
			if o.spec.Kind == Adam {
				o.second[i] = b2*o.second[i] + (1-b2)*g*g
			} else if off := o.second[i] - g*g; off > 0 {
				o.second[i] -= (1 - b2) * g * g
			} else if off < 0 {
				o.second[i] += (1 - b2) * g * g
			}
			step := (o.first[i] / c1) / (math.Sqrt(o.second[i]/c2) + o.spec.Epsilon)
			parameters[i] = float32(float64(parameters[i])*keep - rate*step)
		}
	}
}
