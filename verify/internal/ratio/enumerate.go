package ratio

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/linear"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Limits of an enumeration: beyond them the part is related in lockstep, or not at all.
const (
	maxRuns    = 20000 // of one proof
	maxSteps   = 2000  // of one run
	maxSecrets = 64    // private states
	maxAtoms   = 6     // public conditions that are assumed
)

// errOutcome is of an outcome that tells neighbours apart for certain.
var errOutcome = fmt.Errorf("%w: the outcome", errUndecided)

// A question is what a run needs to know of its data before it can go on: the value of
// a private variable, or whether a condition holds.
type question struct {
	key     string
	options []program.Expression
	secret  bool
	input   *program.Variable // of a private scalar input
}

func (q *question) Error() string { return "depends on " + q.key }

// A fork is a draw whose outcome is not chosen yet.
type fork struct{ ways int }

func (f *fork) Error() string { return "an outcome is to be chosen" }

// An enumeration is of the outcomes of a part of a function: what it reveals, how it
// ends, and what it leaves in the variables that are read later.
//
// Theorem. If for every outcome o, every two private states σ, σ' that neighbours can
// be in, and every public state, P_σ[o] <= r·P_σ'[o], the part can be coupled so that
// its outcome is equal at cost ln r: the definition of r = e^ε differential privacy for
// a countable set of outcomes. Private conditions that are not decided by the state are
// taken as arbitrary in both runs, public ones as arbitrary but the same; outcomes
// are compared as expressions, which only splits events that are the same.
type enumeration struct {
	*prover
	list    []program.Statement
	at      state
	exposed []*program.Variable
	secrets map[string]bool // leaves whose values differ, by name
	// found is how the part ends, and the lengths it leaves slices with.
	ends    map[signal]bool
	lengths map[*program.Variable]map[string]program.Expression
	// kept are the variables that a run by itself does not set.
	kept map[*program.Variable]bool
	// mostly is what comparisons with noise are taken for, but with the probability of
	// a tail.
	mostly bool
	// apart are the symbols of a pointwise comparison whose values differ.
	apart map[linear.Var]bool
	// outcomes and states are counted for the explanation.
	outcomes, states int
}

// A signal is how a list of statements ends.
type signal struct {
	kind byte // 0 for its end, or b, c, r for break, continue and return
	loop *program.Loop
}

// part relates a list of statements by the probabilities of its outcomes.
func (p *prover) part(list []program.Statement, at state) (effect, error) {
	var draws []*program.Draw
	program.Each(list, func(s program.Statement) {
		if d, ok := s.(*program.Draw); ok {
			draws = append(draws, d)
		}
	})
	if len(draws) == 0 {
		return effect{}, undecided("a part without draws")
	}
	for _, d := range draws {
		if d.Law != program.Bernoulli && d.Law != program.Choose && d.Law != program.Uniform {
			return effect{}, undecided("%v has no finite outcomes", d.Law)
		}
	}
	e, ratios, err := p.compared(list, at, draws)
	if err != nil {
		return effect{}, err
	}
	var costs []cost
	for _, r := range ratios {
		costs = append(costs, cost{p.logarithm(r), rational(zero)})
	}
	if len(ratios) == 0 {
		costs = append(costs, free())
	}
	costs = p.largest(costs) // with each ratio there is its inverse: one of them is at least 1
	for _, c := range costs {
		if slices.ContainsFunc(c.variables(), func(v string) bool { return p.moving[v] }) {
			return effect{}, undecided("the ratio of probabilities %v is no expression of inputs", c)
		}
	}
	how := fmt.Sprintf("%d outcomes in each of %d private states, compared one by one", e.outcomes, e.states)
	if e.states == 0 {
		how = fmt.Sprintf("%d ways to an outcome, compared for any one value of it", e.outcomes)
	}
	step := Step{p.line(draws[0].Pos), fmt.Sprintf("%s: the probabilities differ at most by the factor %s", how, factors(costs))}
	return e.effect(costs, step), nil
}

// compared returns the ratios of the probabilities of a part's outcomes: one by one, or,
// with uniform draws, also value by value.
func (p *prover) compared(list []program.Statement, at state, draws []*program.Draw) (*enumeration, []fraction, error) {
	var failure error
	if slices.ContainsFunc(draws, func(d *program.Draw) bool { return d.Law == program.Uniform }) {
		e, ratios, err := p.pointwise(list, at)
		if err == nil {
			return e, ratios, nil
		}
		failure = err
	}
	e := p.enumerate(list, at)
	ratios, err := e.solve(map[string]program.Expression{})
	if err != nil && failure != nil {
		err = failure
	}
	return e, ratios, err
}

// enumerate prepares the enumeration of a part.
func (p *prover) enumerate(list []program.Statement, at state) *enumeration {
	e := &enumeration{
		prover: p, list: list, at: at,
		secrets: map[string]bool{}, ends: map[signal]bool{}, lengths: map[*program.Variable]map[string]program.Expression{}, kept: map[*program.Variable]bool{}, apart: map[linear.Var]bool{},
	}
	for v := range exposed(p.f, list) {
		e.exposed = append(e.exposed, v)
	}
	slices.SortFunc(e.exposed, func(v, w *program.Variable) int { return strings.Compare(v.Name, w.Name) })
	return e
}

// factors names the ratios that decide.
func factors(costs []cost) string {
	var names []string
	for _, x := range costs {
		c := x.epsilon
		switch {
		case c.free():
			names = append(names, "1")
		case len(c.logs) == 1 && len(c.rest.num) == 0:
			names = append(names, c.logs[0].of.String())
		default:
			names = append(names, "math.Exp("+c.String()+")")
		}
	}
	return strings.Join(names, " or ")
}

// logarithm returns ln r, of a product of exponentials without a logarithm.
func (p *prover) logarithm(r fraction) amount {
	if c, ok := r.constant(); ok && c.Cmp(one) == 0 {
		return nothing()
	}
	if len(r.num) == 1 && len(r.den) == 1 && r.num.terms()[0].coef.Cmp(r.den.terms()[0].coef) == 0 {
		sum, all := polynomial{}, true
		for v, e := range r.num.divide(r.den.terms()[0].powers).terms()[0].powers {
			m, ok := p.exps[v]
			sum, all = sum.plus(m.scale(e)), all && ok
		}
		if all {
			return fixed(fraction{sum, whole(1)})
		}
	}
	return amount{[]logarithm{{rational(one), r}}, rational(zero)}
}

// effect is what an enumerated part leads to.
func (e *enumeration) effect(costs []cost, step Step) effect {
	p, end := e.prover, e.at
	end.fresh = nil
	for v := range assigned(e.list) {
		if e.kept[v] {
			continue
		}
		x := value{relation: apart}
		if slices.Contains(e.exposed, v) {
			x = value{lengths: v.Slice}
			if len(e.lengths[v]) == 1 {
				for _, n := range e.lengths[v] {
					x.length = n
				}
			}
		}
		end = end.set(v, x)
	}
	end.paid = p.after(e.at.paid, costs)
	result := effect{end: state{dead: true}, exits: map[exit][]state{}, steps: []Step{step}}
	for s := range e.ends {
		switch s.kind {
		case 0:
			result.end = end
		case 'b', 'c':
			result.exits[exit{s.loop, s.kind == 'c'}] = []state{end}
		case 'r':
			result.returned = end.paid
		}
	}
	return result
}

// solve returns the ratios of probabilities of outcomes in any two private states,
// under assumptions on what is public.
func (e *enumeration) solve(public map[string]program.Expression) ([]fraction, error) {
	var secrets []*question
again:
	states := []map[string]program.Expression{{}}
	for _, q := range secrets {
		var more []map[string]program.Expression
		for _, s := range states {
			for _, o := range q.options {
				t := maps.Clone(s)
				t[q.key] = o
				more = append(more, t)
			}
		}
		states = more
	}
	if len(states) > maxSecrets {
		return nil, undecided("more than %d private states", maxSecrets)
	}
	laws := make([]map[string]fraction, len(states))
	for i, s := range states {
		law, err := e.law(public, s)
		var q *question
		switch {
		case errors.As(err, &q) && q.secret:
			secrets = append(secrets, q)
			goto again
		case errors.As(err, &q):
			return e.split(public, q)
		case err != nil:
			return nil, err
		}
		laws[i] = law
		e.outcomes = max(e.outcomes, len(law))
	}
	e.states = max(e.states, len(states))
	return e.ratios(secrets, states, laws)
}

// split assumes either answer to a public question.
func (e *enumeration) split(public map[string]program.Expression, q *question) ([]fraction, error) {
	if len(public) == maxAtoms {
		return nil, undecided("more than %d public conditions", maxAtoms)
	}
	var all []fraction
	for _, o := range q.options {
		more := maps.Clone(public)
		more[q.key] = o
		ratios, err := e.solve(more)
		if err != nil {
			return nil, err
		}
		all = append(all, ratios...)
	}
	return all, nil
}

// ratios compares the laws of states that neighbours can be in.
func (e *enumeration) ratios(secrets []*question, states []map[string]program.Expression, laws []map[string]fraction) ([]fraction, error) {
	seen := map[string]fraction{}
	for i := range states {
		for j := range states {
			if i == j || !e.along(states[i], states[j]) || !e.neighbours(secrets, states[i], states[j]) {
				continue
			}
			for _, o := range slices.Sorted(maps.Keys(laws[i])) {
				q, ok := laws[j][o]
				if !ok {
					return nil, fmt.Errorf("%w: %q is possible for some private data and impossible for their neighbours", errOutcome, o)
				}
				r, err := e.quo(laws[i][o], q)
				if err != nil {
					return nil, err
				}
				if !e.positive(r.num) {
					return nil, fmt.Errorf("%w: %q may have probability zero", errOutcome, o)
				}
				seen[r.String()] = r
			}
		}
	}
	var all []fraction
	for _, k := range slices.Sorted(maps.Keys(seen)) {
		all = append(all, seen[k])
	}
	return all, nil
}

// neighbours reports whether one state may be the neighbour of another one, in either
// order.
func (e *enumeration) neighbours(secrets []*question, s, t map[string]program.Expression) bool {
	may := func(s, t map[string]program.Expression) bool {
		for _, q := range secrets {
			x, numeric := s[q.key].(program.Number)
			if q.input == nil || !numeric {
				continue
			}
			d := new(big.Rat).Sub(t[q.key].(program.Number).Value, x.Value)
			for _, a := range e.claim.Adjacent {
				if a.Input != q.input {
					continue
				}
				if low, ok := fold(a.Low).(program.Number); ok && d.Cmp(low.Value) < 0 {
					return false
				}
				if high, ok := fold(a.High).(program.Number); ok && d.Cmp(high.Value) > 0 {
					return false
				}
			}
		}
		return true
	}
	return may(s, t) || may(t, s)
}

// law runs a part along every outcome of its draws.
func (e *enumeration) law(public, secret map[string]program.Expression) (map[string]fraction, error) {
	law := map[string]fraction{}
	for todo := [][]int{nil}; len(todo) > 0; {
		choices := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if *e.runs--; *e.runs < 0 {
			return nil, undecided("more than %d paths", maxRuns)
		}
		m := e.machine(choices)
		m.public, m.secret = public, secret
		outcome, err := m.run()
		var f *fork
		switch {
		case errors.As(err, &f):
			for k := range f.ways {
				todo = append(todo, append(slices.Clone(choices), k))
			}
		case err != nil:
			return nil, err
		case len(m.weight.num) > 0:
			if old, ok := law[outcome]; ok {
				law[outcome] = old.plus(m.weight)
			} else {
				law[outcome] = m.weight
			}
		}
	}
	return law, nil
}

// machine begins a run.
func (e *enumeration) machine(choices []int) *machine {
	return &machine{enumeration: e, choices: choices, steps: maxSteps, weight: rational(one), vars: map[*program.Variable]program.Expression{}, slices: map[*program.Variable]sequence{}}
}
