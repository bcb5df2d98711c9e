package exact

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// An explorer runs a function on concrete inputs with draws left open: every
// comparison of draws that the path so far does not decide forks it.
type explorer struct {
	*code
	// event, if not nil, cuts the paths that contradict it.
	event *Event
	// found is given each path to its end.
	found func(*state) error
	// steps are those left, of all paths together.
	steps int
	// slack bounds the probability that a path is another one because numbers that
	// are no rationals were replaced by some nearby.
	slack float64
	// parameters are those of draws that are the same on all paths, by their steps.
	parameters map[int]*form
	// source, if not nil, makes every draw: there is one path then.
	source *noise.Source
}

// A state is a path as far as it has come.
type state struct {
	region
	at   int
	vars []value
	// outputs are kept when there is no event.
	outputs [][]value
	tuples  int
}

func (s *state) fork() *state {
	t := *s
	t.vars = slices.Clone(s.vars)
	t.draws = slices.Clip(s.draws)
	s.draws = slices.Clip(s.draws)
	t.outputs = slices.Clip(s.outputs)
	s.outputs = slices.Clip(s.outputs)
	return &t
}

// values are a function's inputs, in its order.
func (c *code) values(in program.Inputs) ([]value, error) {
	all := make([]value, len(c.function.Inputs))
	for i, v := range c.function.Inputs {
		given, ok := in[v.Name]
		if !ok || !v.Slice && given.Number == nil {
			return nil, fmt.Errorf("%w: input %s is missing", ErrInput, v.Name)
		}
		if !v.Slice {
			all[i] = value{scalar: constant(rationalOf(given.Number))}
			continue
		}
		all[i].elements = make([]*form, len(given.Elements))
		for j, e := range given.Elements {
			if e == nil {
				return nil, fmt.Errorf("%w: element %d of %s is missing", ErrInput, j, v.Name)
			}
			all[i].elements[j] = constant(rationalOf(e))
		}
	}
	return all, nil
}

// explore runs all paths from the inputs.
func (x *explorer) explore(ctx context.Context, in []value) error {
	s := &state{vars: make([]value, len(x.index))}
	copy(s.vars, in) // compile counts inputs first
	open := []*state{s}
	for len(open) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, open = open[len(open)-1], open[:len(open)-1]
		more, err := x.run(s)
		if err != nil {
			return err
		}
		open = append(open, more...)
	}
	return nil
}

func (x *explorer) load(s *state, v *program.Variable) value {
	i, ok := x.index[v]
	if !ok {
		return value{}
	}
	return s.vars[i]
}

// run follows a path to its end, or to a fork, of which it returns the branches.
func (x *explorer) run(s *state) ([]*state, error) {
	for s.at < len(x.code.steps) {
		if x.steps--; x.steps < 0 {
			return nil, ErrBudget
		}
		here := x.code.steps[s.at]
		branches, alive, err := x.step(s, here)
		if err == nil {
			if branches != nil || !alive {
				return branches, nil
			}
			continue
		}
		var open *undecided
		if errors.As(err, &open) {
			t := s.fork()
			var both []*state
			if t.assume(open.terms, open.at, open.strict, true) {
				both = append(both, t)
			}
			if s.assume(open.terms, open.at, open.strict, false) {
				both = append(both, s)
			}
			return both, nil
		}
		return nil, x.place(here.at, err)
	}
	return nil, x.finish(s, nil)
}

// place says at which line an error is.
func (x *explorer) place(at program.Statement, err error) error {
	if file := x.function.File; file != nil && at != nil && at.Position().IsValid() {
		return fmt.Errorf("line %d: %w", file.Line(at.Position()), err)
	}
	return err
}

// step makes one step. It leaves the state as it was when it returns an error.
func (x *explorer) step(s *state, here step) (branches []*state, alive bool, err error) {
	if here.statement == nil {
		if here.cond != nil {
			b, err := x.truth(s, here.cond)
			if err != nil {
				return nil, false, err
			}
			if b {
				s.at++
				return nil, true, nil
			}
		}
		s.at = here.target
		return nil, true, nil
	}
	switch st := here.statement.(type) {
	case *program.Assign:
		if st.To.Slice {
			ref, ok := st.Value.(program.Ref)
			if !ok {
				return nil, false, unsupported("a slice from %v", st.Value)
			}
			s.vars[x.index[st.To]] = x.load(s, ref.Var)
			break
		}
		v, err := x.number(s, st.Value)
		if err != nil {
			return nil, false, err
		}
		if v.open == nil && v.scalar.c.long() {
			return nil, false, ErrBudget
		}
		s.vars[x.index[st.To]] = v
	case *program.Make:
		n, err := x.position(s, st.Length, longest)
		if err != nil {
			return nil, false, err
		}
		elements := make([]*form, n)
		for i := range elements {
			elements[i] = truth(false)
		}
		s.vars[x.index[st.To]] = value{elements: elements}
	case *program.Append:
		f, err := x.scalar(s, st.Value)
		if err != nil {
			return nil, false, err
		}
		old := s.vars[x.index[st.To]].elements
		if len(old) >= longest {
			return nil, false, ErrBudget
		}
		if !x.expected(s, st.To, len(old), f) {
			return nil, false, nil
		}
		s.vars[x.index[st.To]] = value{elements: append(slices.Clip(old), f)}
	case *program.Store:
		old := s.vars[x.index[st.To]].elements
		i, err := x.position(s, st.Index, len(old))
		if err != nil {
			return nil, false, err
		}
		f, err := x.scalar(s, st.Value)
		if err != nil {
			return nil, false, err
		}
		elements := slices.Clone(old)
		elements[i] = f
		s.vars[x.index[st.To]] = value{elements: elements}
	case *program.Draw:
		branches, err := x.draw(s, st)
		return branches, true, err
	case *program.Output:
		tuple, err := x.reveal(s, st.Values)
		if err != nil {
			return nil, false, err
		}
		if ok, err := x.follow(s, tuple); !ok {
			return nil, false, err
		}
	case *program.Return:
		tuple, err := x.reveal(s, st.Values)
		if err != nil {
			return nil, false, err
		}
		return nil, false, x.finish(s, tuple)
	default:
		return nil, false, unsupported("statement %T", st)
	}
	s.at++
	return nil, true, nil
}

// longest bounds the slices of a run.
const longest = 1 << 16

// reveal evaluates what is shown at once.
func (x *explorer) reveal(s *state, values []program.Expression) ([]value, error) {
	tuple := make([]value, len(values))
	for i, e := range values {
		if ref, ok := e.(program.Ref); ok && ref.Var.Slice {
			tuple[i] = value{elements: x.load(s, ref.Var).elements}
			if tuple[i].elements == nil {
				tuple[i].elements = []*form{}
			}
			continue
		}
		v, err := x.number(s, e)
		if err != nil {
			return nil, err
		}
		if f := v.scalar; f != nil && (f.near != nil || f.slack > 0) {
			return nil, unsupported("%v reveals an irrational number", e)
		}
		tuple[i] = v
		if v.open != nil {
			x.opened.Store(true)
		}
	}
	return tuple, nil
}

// number evaluates what is kept or shown: what is made of noise may stay open.
func (x *explorer) number(s *state, e program.Expression) (value, error) {
	f, err := x.scalar(s, e)
	if errors.Is(err, ErrUnsupported) && x.source == nil && len(s.draws) > 0 {
		return value{open: err}, nil
	}
	return value{scalar: f}, err
}

// follow holds a tuple against the event; false cuts the path.
func (x *explorer) follow(s *state, tuple []value) (bool, error) {
	s.tuples++
	if x.event == nil {
		s.outputs = append(slices.Clip(s.outputs), tuple)
		return true, nil
	}
	if s.tuples > len(x.event.Outputs) {
		return x.event.Prefix, nil
	}
	return s.within(tuple, x.event.Outputs[s.tuples-1])
}

// within narrows the path to a tuple that lies in ranges. What is open has to lie in none.
func (s *state) within(tuple []value, ranges []Range) (bool, error) {
	if !s.matchAll(tuple, ranges) {
		return false, nil
	}
	for i, v := range tuple {
		if v.open != nil && (ranges[i].Low != nil || ranges[i].High != nil) {
			return false, v.open
		}
	}
	return true, nil
}

// expected holds an element that will be returned against the event; false cuts the
// path.
func (x *explorer) expected(s *state, v *program.Variable, at int, f *form) bool {
	place, ok := x.growing[v]
	if !ok || x.event == nil || x.event.Return == nil || f.near != nil || f.slack > 0 {
		return true
	}
	if place >= len(x.event.Return) || !x.event.Return[place].Slice {
		return false
	}
	elements := x.event.Return[place].Elements
	return at < len(elements) && s.match(value{scalar: f}, elements[at])
}

// finish ends a path.
func (x *explorer) finish(s *state, tuple []value) error {
	if x.event != nil {
		if s.tuples < len(x.event.Outputs) {
			return nil
		}
		if x.event.Return != nil {
			if ok, err := s.within(tuple, x.event.Return); !ok {
				return err
			}
		}
	} else {
		s.outputs = append(slices.Clip(s.outputs), tuple)
	}
	return x.found(s)
}

func (s *state) matchAll(tuple []value, ranges []Range) bool {
	if len(tuple) != len(ranges) {
		return false
	}
	for i, r := range ranges {
		if !s.match(tuple[i], r) {
			return false
		}
	}
	return true
}

// match narrows the path to those draws with which a value lies in a range.
func (s *state) match(v value, r Range) bool {
	if r.Slice {
		if v.open != nil || v.elements == nil || len(v.elements) != len(r.Elements) {
			return false
		}
		for i, e := range r.Elements {
			if !s.match(value{scalar: v.elements[i]}, e) {
				return false
			}
		}
		return true
	}
	if v.elements != nil {
		return r.Low == nil && r.High == nil
	}
	if v.open != nil {
		return true // see within
	}
	if r.Low != nil && !s.matchSide(v.scalar, rationalOf(r.Low), false) {
		return false
	}
	return r.High == nil || s.matchSide(v.scalar, rationalOf(r.High), true)
}

// matchSide narrows to f >= at, or f <= at.
func (s *state) matchSide(f *form, at rational, below bool) bool {
	if f.concrete() {
		c := f.c.cmp(at)
		return c == 0 || c < 0 == below
	}
	terms, v, flipped := canonical(&form{c: f.c.minus(at), terms: f.terms})
	// At least v, or at most v: not above it.
	below = below != flipped
	return s.assume(terms, v, below, below)
}

// draw makes a draw: a coin or a choice branches, with weights; other noise stays
// open.
func (x *explorer) draw(s *state, st *program.Draw) ([]*state, error) {
	f, err := x.parameter(s, st)
	if err != nil {
		return nil, err
	}
	if !f.concrete() {
		return nil, unsupported("the parameter %v of a draw depends on noise", st.Parameter)
	}
	if x.source != nil {
		return nil, x.sample(s, st, f)
	}
	switch st.Law {
	case program.Bernoulli:
		return x.coin(s, st, f)
	case program.Choose:
		return x.choose(s, st, f)
	case program.Uniform:
		return x.uniform(s, st, f)
	}
	if sign, ok := f.sign(); !ok || sign <= 0 {
		return nil, fmt.Errorf("%w: %v draws with parameter %v, which is not positive", ErrInput, st.Law, st.Parameter)
	}
	d := draw{st.Law, f.c}
	if f.near != nil {
		p, err := x.rounded(st.Law, f)
		if err != nil {
			return nil, err
		}
		d.parameter = p
	}
	i := len(s.draws)
	s.draws = append(slices.Clip(s.draws), d)
	noise := &form{terms: []formTerm{{i, integer(1)}}}
	if d.law == program.Exponential || d.law == program.Geometric {
		s.assume(noise.terms, rational{}, false, false)
	}
	s.vars[x.index[st.To]] = value{scalar: noise}
	s.at++
	return nil, nil
}

// parameter evaluates that of the draw at which a path is.
func (x *explorer) parameter(s *state, st *program.Draw) (*form, error) {
	if f := x.parameters[s.at]; f != nil {
		return f, nil
	}
	f, err := x.scalar(s, st.Parameter)
	if err == nil && x.code.steps[s.at].fixed {
		if x.parameters == nil {
			x.parameters = map[int]*form{}
		}
		x.parameters[s.at] = f
	}
	return f, err
}

func (x *explorer) coin(s *state, st *program.Draw, p *form) ([]*state, error) {
	q, _ := constant(integer(1)).plus(p, integer(-1))
	low, ok1 := p.sign()
	high, ok2 := q.sign()
	if !ok1 || !ok2 || low < 0 || high < 0 {
		return nil, fmt.Errorf("%w: %v is no probability", ErrInput, st.Parameter)
	}
	var branches []*state
	for i, weight := range []*form{q, p} {
		if sign, _ := weight.sign(); sign == 0 {
			continue
		}
		t := s.fork()
		t.toss(weight.enclosure())
		t.vars[x.index[st.To]] = value{scalar: truth(i == 1)}
		t.at++
		branches = append(branches, t)
	}
	return branches, nil
}

// maxUniform bounds the branches of one draw.
const maxUniform = 1000

// uniform branches over the integers below n, which are equally likely.
func (x *explorer) uniform(s *state, st *program.Draw, n *form) ([]*state, error) {
	if !n.known() || !n.c.rat().IsInt() || n.c.sign() <= 0 {
		return nil, fmt.Errorf("%w: uniform below %v, which is no positive integer", ErrInput, st.Parameter)
	}
	if n.c.cmp(integer(maxUniform)) > 0 {
		return nil, unsupported("more than %d values of a uniform draw", maxUniform)
	}
	branches := make([]*state, n.c.rat().Num().Int64())
	for i := range branches {
		t := s.fork()
		t.toss(numeric.Of(big.NewRat(1, int64(len(branches)))))
		t.vars[x.index[st.To]] = value{scalar: constant(integer(int64(i)))}
		t.at++
		branches[i] = t
	}
	return branches, nil
}

// choose branches over the exponential mechanism's choices: exp(eps·score/2),
// relative to the best score, so that nothing overflows.
func (x *explorer) choose(s *state, st *program.Draw, eps *form) ([]*state, error) {
	scores := x.load(s, st.Scores).elements
	if len(scores) == 0 {
		return nil, fmt.Errorf("%w: a choice among none", ErrInput)
	}
	best := scores[0]
	for _, f := range scores {
		if !f.known() {
			return nil, unsupported("scores that depend on noise")
		}
		if f.c.cmp(best.c) > 0 {
			best = f
		}
	}
	if sign, ok := eps.sign(); !ok || sign <= 0 {
		return nil, fmt.Errorf("%w: %v is not positive", ErrInput, st.Parameter)
	}
	weights := make([]numeric.Interval, len(scores))
	var sum numeric.Interval
	for i, f := range scores {
		d := f.c.minus(best.c).times(fraction(1, 2))
		weights[i] = numeric.Of(d.rat()).Mul(eps.enclosure()).Exp()
		sum = sum.Add(weights[i])
	}
	branches := make([]*state, len(scores))
	for i := range scores {
		t := s.fork()
		t.toss(weights[i].Quo(sum))
		t.vars[x.index[st.To]] = value{scalar: constant(integer(int64(i)))}
		t.at++
		branches[i] = t
	}
	return branches, nil
}

// rounded replaces the scale of a draw by a rational, and pays for it. The laws of
// real noise with scales b and b' are at most |ln b/b'| apart in total variation: half
// of E|∂ ln f/∂ ln b| is half of E| |X|/b − 1 | <= 1, and of E|X²/σ² − 1| <= 2 for
// Gaussian.
func (x *explorer) rounded(law program.Law, f *form) (rational, error) {
	lo := rationalOf(f.near.Lo())
	switch law {
	case program.Laplace, program.Exponential: // of few digits: they get a common unit
		g, ok := f.approximate()
		if !ok {
			return lo, unsupported("a scale that is not known")
		}
		lo = g.c
	case program.Gaussian:
	default:
		return lo, unsupported("%v with an irrational parameter", law)
	}
	if lo.sign() <= 0 {
		return lo, unsupported("a scale that is not known")
	}
	ratio, _ := new(big.Rat).Quo(new(big.Rat).Sub(f.near.Hi(), lo.rat()), lo.rat()).Float64()
	x.slack = above(x.slack + 2*ratio + 0x1p-1000)
	return lo, nil
}
