// Package prove searches for proofs by randomness alignment that a function keeps
// its claim, and checks them.
//
// Guarantees: a certificate that Check accepts proves the claim for inputs of any
// size, of the meaning that package program gives the function; Check starts no
// solver, and believes nothing that the certificate says. It does not guarantee
// that a proof is found where there is one.
package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/smt"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// Options are how a proof is searched for.
type Options struct {
	// Solver is how z3 is run.
	Solver smt.Options
	// Progress is told what happens; may be nil.
	Progress func(string)
}

// A Status is how a search ended.
type Status uint8

// The ends of searches.
const (
	// Unknown: no proof was found, and none was ruled out.
	Unknown Status = iota
	// Proved: with a certificate that Check accepts.
	Proved
	// NoAlignment: the candidates rule out all alignments that were looked at.
	NoAlignment
)

// An Outcome is the end of a search.
type Outcome struct {
	Status      Status
	Certificate *Certificate
	// LeastCost is the least cost for which a proof was found.
	LeastCost string
	// Candidates are inputs that no alignment of the templates passes; the first
	// database is that of the direction that failed.
	Candidates []p.Pair
	// Tried says what was tried, for people.
	Tried []string
}

// ErrOutside is of claims that are not for alignments.
var ErrOutside = errors.New("not for alignments")

// A failure is why a direction was not proved.
type failure struct {
	status     Status
	candidates []p.Pair
	tried      []string
	more       bool // there may be further alignments
}

const (
	maxRounds  = 200 // of tests and solver
	firstTries = 300 // tests of an alignment
)

// maxFailed are how many alignments may pass the tests and have no proof. Templates are
// tried with few of them first: those of a later depth may have the proof at once.
var maxFailed = [...]int{2, 6}

// direct searches for the proof of one direction, with so many alignments that fail.
func (s *search) direct(ctx context.Context, most int, progress func(string)) (*Orientation, *failure, error) {
	fail := &failure{}
	lost := 0
	given := "" // what is wrong with the alignments of the source
	for range maxRounds {
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("search for a proof: %w", err)
		}
		a := s.next()
		if a == nil {
			if s.exhausted && lost == 0 {
				fail.status = NoAlignment
			}
			for _, t := range s.tests {
				fail.candidates = append(fail.candidates, t.pair())
			}
			if given != "" {
				fail.tried = append(fail.tried, given)
			}
			return nil, fail, nil
		}
		t, seen := s.challenge(ctx, a, firstTries)
		if t != nil {
			given = s.given(a, t)
			s.tests = append(s.tests, t)
			continue
		}
		if s.failed[a.String()] {
			lost = max(lost, 1)
			s.exclude()
			continue
		}
		progress(fmt.Sprintf("proving %v", a))
		o, why, err := s.confirm(ctx, a, seen)
		if err != nil {
			return nil, nil, err
		}
		if o != nil {
			o, err = s.cheapest(ctx, a, o)
			return o, nil, err
		}
		fail.tried = append(fail.tried, fmt.Sprintf("with %v, %s", a, why))
		s.failed[a.String()] = true
		if t, _ := s.challenge(ctx, a, 10*firstTries); t != nil {
			s.tests = append(s.tests, t)
			continue
		}
		if lost++; lost == most {
			fail.more = true
			break
		}
		s.exclude()
	}
	for _, t := range s.tests {
		fail.candidates = append(fail.candidates, t.pair())
	}
	return nil, fail, nil
}

// given says which obligation fails in a test, if the source gives an alignment.
func (s *search) given(a alignment, t *test) string {
	if !slices.ContainsFunc(s.draws, func(d *p.Draw) bool { return d.Align != nil }) {
		return ""
	}
	m := s.machine(a, t)
	m.run()
	for _, o := range m.obligations {
		if o.goal.IsFalse() {
			return fmt.Sprintf("with the shifts of //dp:align, %s, it is not so for some neighbours that %s", a, m.describe(o))
		}
	}
	return ""
}

// confirm proves an alignment for inputs of any size.
func (s *search) confirm(ctx context.Context, a alignment, seen map[string][]linear.Model) (*Orientation, string, error) {
	m := s.machine(a, nil)
	m.moved = s.moved
	m.run()
	if m.err != nil {
		return nil, "", m.err
	}
	for _, o := range m.obligations {
		if !o.demand {
			continue
		}
		r, err := linear.Unsat(ctx, m.refutation(o, nil), linear.Limits{})
		if err != nil {
			return nil, "", err
		}
		if r.Verdict != linear.Refuted {
			return nil, "", &Position{o.pos, "the requirements do not say that " + o.name}
		}
	}
	for level := 1; level <= 2; level++ {
		candidates := m.candidates(level, seen)
		inv, err := m.houdini(ctx, s.solver, candidates)
		if err != nil {
			return nil, "", err
		}
		if inv != nil {
			o, err := m.orientation(inv)
			return o, "", err
		}
	}
	return nil, "no invariant was found for: " + m.open, nil
}

// outcomes are the variables that stand for components of the result.
func (s *static) outcomeVariables() []*p.Variable {
	var vs []*p.Variable
	for i, pointwise := range s.pointwise {
		if !pointwise {
			vs = append(vs, nil)
			continue
		}
		if i == 0 && s.f.Outcome != nil {
			vs = append(vs, s.f.Outcome)
			continue
		}
		name := "result"
		if i > 0 {
			name = fmt.Sprintf("result%d", i+1)
		}
		name = s.unused(name)
		vs = append(vs, &p.Variable{Name: name, Sort: p.Int, Input: true})
	}
	for _, v := range vs {
		if v != nil {
			return vs
		}
	}
	return nil
}

// unused makes a name that no variable of the function has: a symbol stands for one
// thing.
func (s *static) unused(name string) string {
	taken := variables(s.f, nil)
	for taken[name] != nil {
		name += "_"
	}
	return name
}

// prepare analyses a function and its claim.
func prepare(ctx context.Context, in *scaled) (*static, *budget, error) {
	f, c := in.f, in.c
	if c.Cost == nil || c.Cost.Measure != claim.Pure {
		return nil, nil, fmt.Errorf("%w: the claim is not of a pure cost", ErrOutside)
	}
	s := analyse(f, c)
	s.in = in
	public := []p.Expression{c.Cost.Epsilon}
	for _, a := range c.Adjacent {
		if a.Relation == claim.Bag {
			return nil, nil, fmt.Errorf("%w: bags are not compared element by element", ErrOutside)
		}
		public = append(public, a.Low, a.High)
	}
	for _, x := range public {
		if x == nil || s.isPrivate(x) {
			return nil, nil, fmt.Errorf("%w: the claim depends on private data", ErrOutside)
		}
	}
	modified := map[*p.Variable]bool{}
	for _, v := range changed(f.Body) {
		modified[v] = true
	}
	b, err := normalise(s.draws, c.Cost.Epsilon, s.definitions, modified)
	if err != nil {
		return nil, nil, err
	}
	for i := range b.counters {
		b.counters[i].name = s.unused(b.counters[i].name)
	}
	if err := s.guard(ctx, b); err != nil {
		return nil, nil, err
	}
	return s, b, nil
}

// directions are the orders of the databases in which the claim must be proved.
func directions(c *claim.Claim) []bool {
	for _, a := range c.Adjacent {
		if !a.Symmetric() {
			return []bool{false, true}
		}
	}
	return []bool{false}
}

// Prove searches for a proof. The error is of the solver or the context, or
// ErrOutside, or a *Position in the function that alignments do not get past.
func Prove(ctx context.Context, f *p.Function, c *claim.Claim, o Options) (*Outcome, error) {
	in, err := divide(ctx, f, c)
	if err != nil {
		return nil, err
	}
	out, err := prove(ctx, f, c, in, o)
	if in.partial() && (err != nil || out.Status != Proved) && ctx.Err() == nil {
		return prove(ctx, f, c, unscaled(f, c), o) // what has no unit may be what it rests on
	}
	return out, err
}

// prove searches for a proof in units.
func prove(ctx context.Context, f *p.Function, c *claim.Claim, in *scaled, o Options) (*Outcome, error) {
	st, b, err := prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	progress := o.Progress
	if progress == nil {
		progress = func(string) {}
	}
	out := &Outcome{}
	var found []Orientation
	for _, swapped := range directions(c) {
		s := &search{static: st, c: in.c, budget: b, outcomes: st.outcomeVariables(), swapped: swapped, goal: rational(1), maker: newMaker(st, in.c, b)}
		orientation, fail, err := s.start(ctx, o, progress)
		if err != nil {
			return nil, err
		}
		if orientation == nil {
			out.Status, out.Candidates, out.Tried = fail.status, in.candidates(fail.candidates), fail.tried
			return out, nil
		}
		found = append(found, *orientation)
	}
	cert := newCertificate(f, c, in.names(), found)
	out.LeastCost = leastCost(c.Cost.Epsilon, found)
	if err := Check(ctx, f, c, cert); err != nil {
		return &Outcome{Tried: append(out.Tried, err.Error())}, ctx.Err()
	}
	out.Status, out.Certificate = Proved, cert
	return out, nil
}

// start runs the search of one direction with a solver of its own: first with
// simple templates, then with deeper ones.
func (s *search) start(ctx context.Context, o Options, progress func(string)) (*Orientation, *failure, error) {
	var err error
	if s.solver, err = startSolver(ctx, o.Solver); err != nil {
		return nil, nil, err
	}
	defer s.solver.close()
	s.failed = map[string]bool{}
	var fail *failure
	var done [later + 1]bool
	for _, most := range maxFailed {
		before := "none"
		for depth := plain; depth <= later; depth++ {
			if depth <= outcome && s.outcomes == nil || depth == plain && !s.threshold() || done[depth] {
				continue
			}
			text := s.plant(depth)
			if text == before {
				continue
			}
			before = text
			orientation, why, err := s.direct(ctx, most, progress)
			if err != nil || orientation != nil {
				return orientation, nil, err
			}
			if fail != nil {
				why.tried = append(fail.tried, why.tried...)
			}
			fail, done[depth] = why, !why.more || depth == plain
		}
	}
	return nil, fail, nil
}

// threshold reports whether noise is drawn before a loop that draws: what is compared with
// it needs to know of no outcome.
func (s *static) threshold() bool {
	before := false
	for _, d := range s.draws {
		if before && len(s.around[d]) > 0 {
			return true
		}
		before = before || len(s.around[d]) == 0
	}
	return false
}

// plant makes the templates, in the place of those before, and says what they are.
func (s *search) plant(depth depth) string {
	s.templates = templates(s.static, s.c, s.outcomes, depth)
	s.leaves, s.last, s.groups, s.steps, s.runs, s.exhausted, s.hopeless = nil, nil, nil, 0, 0, false, false
	text := ""
	for i := range s.templates {
		t := &s.templates[i]
		t.shift = s.budget.within(t.shift)
		s.leaves = append(s.leaves, t.leaves...)
		text += t.shift.String() + ";"
	}
	s.nogoods, s.places = nil, map[*p.Variable]int{}
	for i, l := range s.leaves {
		s.places[l.at] = i
		s.nogoods = append(s.nogoods, map[int][]nogood{})
	}
	return text
}
