package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// A Calibration is the parameter that a plan leaves open, so that the plan meets
// the guarantee asked for.
type Calibration struct {
	Value      float64 // the end of [Low, High] that meets it: noise up; counts, rates and ε down
	Low, High  float64 // where the search ended; equal if every value on the costly side is refused by the plan
	Accountant Name    // the one whose bound shows it
}

// ErrUnreachable is wrapped when no value of the parameter meets the guarantee.
var ErrUnreachable = errors.New("no value meets the guarantee")

// precision is the relative width at which the search for a real number ends.
const precision = 1e-11

// Calibrate finds the value of the plan's unknown at which it is (epsilon,
// delta)-DP by the best accountant, or by o.Accountant, and costs the most. It does not
// depend on the clock: a ctx that ends is an error.
func Calibrate(ctx context.Context, p plan.Plan, epsilon, delta float64, o Options) (Calibration, error) {
	switch {
	case !p.Unknown():
		return Calibration{}, errors.New("calibrate: the plan has no unknown: put ? for the number that is to be found")
	case !(epsilon > 0) || math.IsInf(epsilon, 1):
		return Calibration{}, fmt.Errorf("calibrate: epsilon %v is not positive and finite", epsilon)
	case !(delta >= 0 && delta < 1):
		return Calibration{}, fmt.Errorf("calibrate: delta %v does not lie in [0, 1)", delta)
	}
	s := search{meter: work.New(ctx), plan: p, parameter: p.Parameter(), epsilon: epsilon, delta: delta, options: o, known: map[value]outcome{}}
	c, err := s.run()
	if ended := ctx.Err(); ended != nil {
		err = ended // an answer that was cut short is not used
	}
	if err != nil {
		return Calibration{}, fmt.Errorf("calibrate %s: %w", s.parameter.Name, err)
	}
	return c, nil
}

// A search finds the value of one parameter. Valid are values at which an accountant's
// High is at most epsilon: nothing else is taken from what the search assumes, that
// the bound is monotone and smooth.
type search struct {
	meter          *work.Meter
	plan           plan.Plan
	parameter      plan.Parameter
	epsilon, delta float64
	options        Options
	err            error   // what refused the last value
	width          float64 // relative, of the last bracket of ε: to search much finer finds rounding
	known          map[value]outcome
}

// A value of the parameter is asked of an accountant, with an outcome: the excess, and the
// relative width of the bracket of ε.
type (
	value struct {
		x  float64
		by Name
	}
	outcome struct{ excess, width float64 }
)

// excess returns ln(High/epsilon) of the least High of some accountants, and its name;
// +Inf where the plan means nothing or has no bound.
func (s *search) excess(x float64, of []Name) (least float64, name Name) {
	least = math.Inf(1)
	r, err := numeric.FromFloat(x)
	if err != nil {
		return least, ""
	}
	e, err := s.plan.With(r)
	if err != nil {
		s.err = err
		return least, ""
	}
	plans, ms, err := prepare(s.meter, e, s.options)
	if err != nil {
		s.err = err
		return least, ""
	}
	for _, m := range ms {
		if !slices.Contains(of, m.name) {
			continue
		}
		if k, ok := s.known[value{x, m.name}]; ok {
			if k.excess < least {
				least, name, s.width = k.excess, m.name, k.width
			}
			continue
		}
		a, err := worst(s.meter, s.options, m, plans, func(p *flat) (answer, error) { return m.epsilon(p, s.delta) })
		if err != nil {
			s.err = fmt.Errorf("%s: %w", m.name, err)
			continue
		}
		if math.IsInf(a.High, 1) {
			s.err = errors.New("no finite ε at this δ: " + a.note)
		}
		// Compared as they are, so that rounding of the logarithm does not decide.
		f := math.Log(math.Max(a.High, 1e-300) / s.epsilon)
		switch {
		case a.High <= s.epsilon:
			f = math.Min(f, 0)
		case f <= 0:
			f = 0x1p-60
		}
		width := s.width
		if a.Low > 0 {
			width = (a.High - a.Low) / a.High
		}
		s.known[value{x, m.name}] = outcome{f, width}
		if f < least {
			least, name, s.width = f, m.name, width
		}
	}
	return least, name
}

// toward moves x by the factor f to costly values, or for f < 1 to cheap ones.
func (s *search) toward(x, f float64) float64 {
	if !s.parameter.Increasing {
		f = 1 / f
	}
	y := x * f
	if s.parameter.Whole {
		if y = math.Floor(y); y == x && f > 1 {
			y++
		}
	}
	return y
}

// limit bounds the parameter on either side: no noise, count or rate beyond it is
// of use.
const limit = 1e18

func (s *search) inRange(x float64) bool {
	return x <= limit && (x >= 1/limit && !s.parameter.Whole || x >= 1)
}

// An end is a value and its excess: met if that is at most 0.
type end struct{ x, f float64 }

func (e end) met() bool { return e.f <= 0 }

// bracket walks from a value to two ends, the first met and the second not, by
// steps that grow from the factor f.
func (s *search) bracket(start, f float64, of []Name) (good, bad end, err error) {
	at := func(x float64) end { f, _ := s.excess(x, of); return end{x, f} }
	e := at(start)
	if e.met() {
		for good = e; s.inRange(good.x); good, f = bad, math.Min(f*f, 16) {
			if bad = at(s.toward(good.x, f)); !bad.met() {
				return good, bad, nil
			}
		}
		return good, bad, fmt.Errorf("every value that was tried meets it, up to %g", good.x)
	}
	refused := s.err
	for bad = e; s.inRange(bad.x); f = math.Min(f*f, 16) {
		good = at(s.toward(bad.x, 1/f))
		if good.met() {
			return good, bad, nil
		}
		// If the step left the range of meaningful values, halve it until it does not.
		for range 60 {
			if !math.IsInf(good.f, 1) || math.IsInf(bad.f, 1) || s.parameter.Whole || math.Abs(good.x/bad.x-1) < 1e-3 {
				break
			}
			if good = at(math.Sqrt(good.x * bad.x)); good.met() {
				return good, bad, nil
			}
		}
		if math.Abs(good.x/bad.x-1) < 1e-3 {
			break
		}
		bad, refused = good, s.err
	}
	if refused != nil && math.IsInf(bad.f, 1) {
		return good, bad, fmt.Errorf("%w: %w", ErrUnreachable, refused)
	}
	return good, bad, fmt.Errorf("%w: the least ε that was found, at %g, is %.4g", ErrUnreachable, bad.x, s.epsilon*math.Exp(bad.f))
}

// narrow brings two ends together by the secant in logarithms. Where a step replaces the
// same end as the step before, the excess of the other end is halved (Illinois), so that
// both ends move. Three steps that do not halve the distance are followed by one that does.
// No step is shorter than half of the distance sought: from an end that is a root but for
// rounding, one step reaches the other side.
func (s *search) narrow(good, bad end, precision float64, of []Name) (end, end) {
	at := func(x float64) end { f, _ := s.excess(x, of); return end{x, f} }
	fg, fb := good.f, bad.f
	moved, slow := 0, 0 // moved: 1 if the last step replaced good, -1 if bad
	for range 300 {
		before := math.Abs(math.Log(bad.x / good.x))
		near := math.Max(precision, math.Min(1e-3*s.width, 1e-6))
		if s.parameter.Whole {
			if math.Abs(bad.x-good.x) <= 1 {
				break
			}
		} else if before <= near {
			break
		}
		t := fg / (fg - fb)
		if math.IsInf(fb, 0) || !(t >= 0 && t <= 1) || slow >= 3 {
			t, slow = 0.5, 0
		}
		least := math.Min(0.5, near/2/before)
		t = math.Max(least, math.Min(t, 1-least))
		x := good.x * math.Pow(bad.x/good.x, t)
		if s.parameter.Whole {
			x = math.Round(x)
			lo, hi := math.Min(good.x, bad.x), math.Max(good.x, bad.x)
			x = math.Max(lo+1, math.Min(hi-1, x))
		}
		if x == good.x || x == bad.x {
			x = good.x + (bad.x-good.x)/2
			if x == good.x || x == bad.x {
				break
			}
		}
		if e := at(x); e.met() {
			if good, fg = e, e.f; moved > 0 {
				fb /= 2
			}
			moved = 1
		} else {
			if bad, fb = e, e.f; moved < 0 {
				fg /= 2
			}
			moved = -1
		}
		if math.Abs(math.Log(bad.x/good.x)) > before/2 {
			slow++
		} else {
			slow = 0
		}
	}
	return good, bad
}

func (s *search) run() (Calibration, error) {
	asked := Names()
	if s.options.Accountant != "" {
		if asked = []Name{s.options.Accountant}; !slices.Contains(Names(), asked[0]) {
			return Calibration{}, fmt.Errorf("there is no accountant %q", s.options.Accountant)
		}
	}
	// A guess by accountants that cost little, from anywhere: 1 is a count, a scale, a
	// rate and an ε; a probability is below.
	cheap := slices.DeleteFunc(Names(), func(name Name) bool { return name == PLD })
	start := math.NaN()
	for _, x := range []float64{1, 0.75, 0.9, 0.5, 2, 10, 100, 1000, 1e6, 0.1, 0.01} {
		if f, _ := s.excess(x, cheap); !math.IsInf(f, 1) || math.IsNaN(start) && s.means(x) {
			start = x
			if !math.IsInf(f, 1) {
				break
			}
		}
	}
	if math.IsNaN(start) {
		return Calibration{}, fmt.Errorf("no value gives a plan: %w", s.err)
	}
	step := 2.0
	good, bad, err := s.bracket(start, 2, cheap)
	switch {
	case err == nil:
		good, _ = s.narrow(good, bad, 0.02, cheap)
		start, step = good.x, 1.05
	case errors.Is(err, ErrUnreachable) && s.means(bad.x):
		// The plan costs least at bad. A target that is missed there is missed everywhere.
		if f, _ := s.excess(bad.x, asked); f > 0 {
			return Calibration{}, err
		}
		start = bad.x
	}
	// Search on with the accountant that is best there. If another is best at the
	// end, go on with that one.
	of := asked
	if _, name := s.excess(start, asked); name != "" {
		of = []Name{name}
	}
	if good, bad, err = s.bracket(start, step, of); err != nil {
		return Calibration{}, err
	}
	for {
		good, bad = s.narrow(good, bad, precision, of)
		f, name := s.excess(bad.x, asked)
		if f > 0 {
			break
		}
		of = []Name{name}
		if good, bad, err = s.bracket(bad.x, 1.01, of); err != nil {
			return Calibration{}, err
		}
	}
	_, name := s.excess(good.x, asked)
	return Calibration{Value: good.x, Low: math.Min(good.x, bad.x), High: math.Max(good.x, bad.x), Accountant: name}, nil
}

// means reports whether the plan means something at x.
func (s *search) means(x float64) bool {
	r, err := numeric.FromFloat(x)
	if err == nil {
		_, err = s.plan.With(r)
	}
	return err == nil
}
