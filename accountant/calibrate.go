package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A Calibration is the parameter that a plan leaves open, so that the plan meets
// the guarantee asked for.
type Calibration struct {
	Value      float64 // the end of [Low, High] that meets it: noise up; counts, rates and ε down
	Low, High  float64 // where the search ended; equal if every value on the costly side is refused by the plan
	Accountant string  // the one whose bound shows it
}

// ErrUnreachable is wrapped when no value of the parameter meets the guarantee.
var ErrUnreachable = errors.New("no value meets the guarantee")

// precision is the relative width at which the search for a real number ends.
const precision = 1e-12

// Calibrate finds the value of the plan's unknown at which it is (epsilon,
// delta)-DP by the best accountant, or by o.Accountant, and costs the most.
func Calibrate(plan privacy.Plan, epsilon, delta float64, o Options) (Calibration, error) {
	switch {
	case !plan.Unknown():
		return Calibration{}, errors.New("calibrate: the plan has no unknown: put ? for the number that is to be found")
	case !(epsilon > 0) || math.IsInf(epsilon, 1):
		return Calibration{}, fmt.Errorf("calibrate: epsilon %v is not positive and finite", epsilon)
	case !(delta >= 0 && delta < 1):
		return Calibration{}, fmt.Errorf("calibrate: delta %v does not lie in [0, 1)", delta)
	}
	s := search{plan: plan, parameter: plan.Parameter(), epsilon: epsilon, delta: delta, options: o}
	c, err := s.run()
	if err != nil {
		return Calibration{}, fmt.Errorf("calibrate %s: %w", s.parameter.Name, err)
	}
	return c, nil
}

// A search walks along one parameter, from cheap values to costly ones.
type search struct {
	plan           privacy.Plan
	parameter      privacy.Parameter
	epsilon, delta float64
	options        Options
	last           string // the accountant that showed the last value that was met
	err            error  // what refused the last value that was not
}

// A verdict says what a value of the parameter is.
type verdict int

const (
	met     verdict = iota
	missed          // the plan costs too much
	invalid         // the plan means nothing
)

func (s *search) try(x float64) verdict {
	r, err := numeric.FromFloat(x)
	if err != nil {
		return invalid
	}
	e, err := s.plan.With(r)
	if err != nil {
		s.err = err
		return invalid
	}
	plans, err := flatten(e, s.options)
	if err != nil {
		s.err = err
		return invalid
	}
	s.err = nil
	meets := func(m method) bool {
		a, err := worst(plans, func(p *flat) (answer, error) { return m.epsilon(p, s.delta) })
		if err != nil {
			s.err = errors.Join(s.err, fmt.Errorf("%s: %w", m.name, err))
		}
		return err == nil && a.High <= s.epsilon
	}
	for _, first := range []bool{true, false} {
		for _, m := range methods() {
			asked := s.options.Accountant == "" || s.options.Accountant == m.name
			if asked && (m.name == s.last) == first && meets(m) {
				s.last = m.name
				return met
			}
		}
	}
	return missed
}

// costlier moves x away by the factor f.
func (s *search) costlier(x, f float64) float64 {
	if s.parameter.Increasing {
		return x * f
	}
	return x / f
}

// between returns a value between two others, or one of them if there is none.
func (s *search) between(a, b float64) float64 {
	if s.parameter.Whole {
		return math.Floor((a + b) / 2)
	}
	if math.Abs(a-b) <= precision*math.Max(a, b) {
		return a
	}
	return math.Sqrt(a) * math.Sqrt(b)
}

// limit bounds the parameter on either side: no noise, count or rate beyond it is
// of use.
const limit = 1e18

func (s *search) run() (Calibration, error) {
	good, bad := math.NaN(), math.NaN()
	// Start anywhere; 1 is a count, a scale, a rate and an ε; a probability is below.
	for _, x := range []float64{1, 0.75, 0.9, 0.5, 2, 10, 100, 1000, 1e6, 0.1, 0.01} {
		switch s.try(x) {
		case met:
			good = x
		case missed:
			bad = x
		case invalid:
			continue
		}
		break
	}
	switch {
	case !math.IsNaN(good):
		for bad = s.costlier(good, 2); s.try(bad) == met; bad = s.costlier(good, 2) {
			if good = bad; !inRange(good) {
				return Calibration{}, fmt.Errorf("every value that was tried meets it, up to %g", good)
			}
		}
	case !math.IsNaN(bad):
		refused := s.err
		x := s.costlier(bad, 0.5)
		for ; inRange(x); x = s.between(x, bad) {
			v := s.try(x)
			if v == met {
				good = x
				break
			}
			if v == missed {
				bad, refused = x, s.err
				x = s.costlier(bad, 0.25)
			}
			if s.parameter.Whole && x < 1 || s.between(x, bad) == x {
				break
			}
		}
		if math.IsNaN(good) {
			if refused != nil && s.last == "" {
				return Calibration{}, fmt.Errorf("%w: tried down to the cost at %g: %w", ErrUnreachable, bad, refused)
			}
			return Calibration{}, fmt.Errorf("%w: tried down to the cost at %g", ErrUnreachable, bad)
		}
	default:
		return Calibration{}, fmt.Errorf("no value gives a plan: %w", s.err)
	}
	for {
		mid := s.between(good, bad)
		if mid == good || mid == bad {
			break
		}
		if s.try(mid) == met {
			good = mid
		} else {
			bad = mid
		}
	}
	return Calibration{Value: good, Low: math.Min(good, bad), High: math.Max(good, bad), Accountant: s.best(good)}, nil
}

func inRange(x float64) bool { return x <= limit && x >= 1/limit }

// best names the accountant with the least bound at x.
func (s *search) best(x float64) string {
	r := new(big.Rat).Set(exactly(x))
	if e, err := s.plan.With(r); err == nil {
		if report, err := Epsilon(e, s.delta, s.options); err == nil {
			if b, ok := report.Best(); ok {
				return b.Accountant
			}
		}
	}
	return s.last
}
