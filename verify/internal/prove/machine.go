package prove

import (
	"fmt"
	"go/token"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A machine runs a function twice at once, in lockstep: the second run has the
// neighbouring inputs, and at each draw the first run's sample moved by the draw's
// alignment. What must hold for the alignment to prove the claim are the machine's
// obligations.
//
// Theorem (randomness alignment; Zhang & Kifer, LightDP, POPL 2017, and Wang et
// al., CheckDP, CCS 2020; as approximate couplings, Barthe et al., LICS 2016, and
// Albarghouthi & Hsu, POPL 2018). Let D, D' be neighbours, E an event over outputs,
// and let φ map each sequence x of samples with M(D, x) ∈ E to one with
// M(D', φ(x)) ∈ E. If φ is injective, keeps volume, and moves each sample within
// the support of its law, and if the cost Σ |φ(x)ᵢ-xᵢ|/scaleᵢ is at most c on all
// of them, then P[M(D) ∈ E] <= e^c P[M(D') ∈ E].
// Proof: ∫ f(x) dx <= e^c ∫ f(φ(x)) dx <= e^c ∫ f(y) dy over φ(x) ∈ φ(E).
//
// φ moves the i-th sample by a shift that depends on the state before it and, in
// conditions alone, on the sample: it is triangular with slopes of 1 where it is
// smooth, and keeps volume. It is injective if each draw's own map is in every
// state (injective.go), by induction on the draws: equal images of the earlier
// samples are of equal samples, which lead to one state. A result that is fixed to
// o (pointwise) restricts E to the outcomes with that component; they are countably
// many, and inequalities add up.
type machine struct {
	*static
	f      *p.Function
	c      *claim.Claim
	budget *budget
	align  map[*p.Draw]p.Expression
	// swapped takes the second database for the first.
	swapped bool
	// goal is the part of the claimed cost that may be spent.
	goal *big.Rat
	// leaves are the shifts in the place of leaves of templates; came is told of those
	// that a test comes to, each time.
	leaves map[*p.Variable]p.Expression
	came   func(at *p.Variable, st *state)
	test   *test

	inputs   map[*p.Variable]value // at the start, which costs and bounds speak of
	lengths  map[*p.Variable]value
	at       map[*p.Variable]linear.Var // where neighbours of "one" differ
	by       map[*p.Variable]linear.Var // and by how much
	outcomes []*p.Variable              // result, as alignments read it
	facts    map[linear.Var][]linear.Formula
	low      map[linear.Var]*big.Rat // constant bounds of distances
	high     map[linear.Var]*big.Rat
	elements map[string]value
	requires []linear.Formula
	fixed    map[linear.Var]bool // symbols that never change
	names    int
	fuel     int

	pos    token.Pos
	sample *linear.Var
	stop   bool
	err    error

	obligations []obligation
	heads       map[*p.Loop]*head
	// Of tests: what the first run returns, and the states at heads of loops.
	result  []linear.Term
	ratio   *big.Rat // the greatest part of the claimed cost that was spent
	moved   sizes
	visits  []instance // if watched
	watched bool
	blind   bool   // nothing needs to hold
	open    string // an obligation that no invariant was found for
}

// An obligation holds if the premises and the invariants assumed imply the goal or,
// if keep is set, an invariant.
type obligation struct {
	name     string
	pos      token.Pos
	premises []linear.Formula
	assumed  []instance
	goal     linear.Formula
	keep     *instance
	demand   bool // it follows from the requirements, or not at all
}

// A head is what an invariant may speak of, by name.
type head struct {
	loop  *p.Loop
	names []linear.Var
	vars  map[linear.Var]*p.Variable // the names of first values
	lists map[linear.Var]*p.Variable // the names of lengths
	// entries are the costs with which the loop is entered.
	entries [][]linear.Term
}

// maxPaths bounds what one function may take: a path is a conjunction of branches.
const maxPaths = 4000

func newMachine(s *static, c *claim.Claim, b *budget, align map[*p.Draw]p.Expression, t *test) *machine {
	return &machine{
		static: s, f: s.f, c: c, budget: b, align: align, test: t, goal: rational(1),
		inputs: map[*p.Variable]value{}, lengths: map[*p.Variable]value{},
		at: map[*p.Variable]linear.Var{}, by: map[*p.Variable]linear.Var{},
		facts: map[linear.Var][]linear.Formula{}, low: map[linear.Var]*big.Rat{}, high: map[linear.Var]*big.Rat{},
		elements: map[string]value{}, fixed: map[linear.Var]bool{}, heads: map[*p.Loop]*head{},
		fuel: maxPaths,
	}
}

func (m *machine) failed(format string, args ...any) value {
	if m.err == nil {
		m.err = &Position{m.pos, fmt.Sprintf(format, args...)}
	}
	m.stop = true
	return zero(p.Bool)
}

func (m *machine) fresh(name string, s linear.Sort) linear.Var {
	m.names++
	return linear.Var{Name: fmt.Sprintf("%s#%d", name, m.names), Sort: s}
}

// rigid is a symbol of an input: it has its name in every state.
func (m *machine) rigid(name string, s linear.Sort) linear.Var {
	v := linear.Var{Name: name, Sort: s}
	m.fixed[v] = true
	return v
}

// bounded notes constant bounds of a distance.
func (m *machine) bounded(v linear.Var, low, high linear.Term) {
	if r, ok := low.IsConstant(); ok {
		m.low[v] = r
	}
	if r, ok := high.IsConstant(); ok {
		m.high[v] = r
	}
}

// bounds are those of the distances of an adjacency, in the machine's direction.
func (m *machine) bounds(a claim.Adjacency) (low, high linear.Term) {
	st := &state{}
	low, high = m.eval(a.Low, st).num, m.eval(a.High, st).num
	if m.swapped {
		return high.Neg(), low.Neg()
	}
	return low, high
}

// diffName names the distance of a variable in invariants, twinName the truth value
// of the second run.
func diffName(v string) string { return "diff(" + v + ")" }

func lengthName(v string) string { return "len(" + v + ")" }

func twinName(v string) string { return v + "'" }

// begin makes the inputs.
func (m *machine) begin() *state {
	natural := func(v *p.Variable, x value) {
		if n, ok := asVar(x.num); ok && v.Natural {
			m.facts[n] = append(m.facts[n], linear.Ge(n.Term(), linear.Term{}), linear.Ge(x.second(), linear.Term{}))
		}
	}
	var later []*p.Variable
	for _, v := range m.f.Inputs {
		switch {
		case m.test != nil:
			if v.Slice {
				m.lengths[v] = number(linear.Number(int64(len(m.test.slices[v]))), linear.Term{})
			} else {
				m.inputs[v] = m.test.scalar(v)
			}
		case v.Slice:
			n := m.rigid("len("+v.Name+")", linear.Int)
			m.facts[n] = append(m.facts[n], linear.Ge(n.Term(), linear.Term{}))
			m.lengths[v] = number(n.Term(), linear.Term{})
		case v.Sort == p.Bool:
			b := m.rigid(v.Name, linear.Bool).Formula()
			m.inputs[v] = truth(b, b)
		default:
			m.inputs[v] = number(m.rigid(v.Name, linearSort(v.Sort)).Term(), linear.Term{})
			natural(v, m.inputs[v])
		}
		if _, ok := m.adjacent[v]; ok {
			later = append(later, v)
		}
	}
	if m.test == nil {
		for _, v := range later {
			a := m.adjacent[v]
			switch {
			case a.Relation == claim.Bag:
				m.failed("bags and streams are outside of alignments")
			case v.Slice && a.Relation == claim.One:
				at, by := m.rigid("at("+v.Name+")", linear.Int), m.rigid("by("+v.Name+")", linearSort(v.Sort))
				low, high := m.bounds(a)
				m.at[v], m.by[v] = at, by
				m.bounded(by, low, high)
				m.facts[by] = append(m.facts[by], linear.Le(low, by.Term()), linear.Le(by.Term(), high))
			case v.Slice:
			case v.Sort == p.Bool:
				m.inputs[v] = truth(m.inputs[v].one, m.rigid(twinName(v.Name), linear.Bool).Formula())
			default:
				d := m.rigid(diffName(v.Name), linearSort(v.Sort))
				low, high := m.bounds(a)
				m.bounded(d, low, high)
				m.facts[d] = append(m.facts[d], linear.Le(low, d.Term()), linear.Le(d.Term(), high))
				m.inputs[v] = number(m.inputs[v].num, d.Term())
				natural(v, m.inputs[v])
			}
		}
	}
	st := &state{vars: map[*p.Variable]value{}, lists: map[*p.Variable]list{}, cost: make([]linear.Term, len(m.budget.counters))}
	for v, x := range m.inputs {
		st.vars[v] = x
	}
	for i, v := range m.outcomes {
		if v == nil {
			continue // compared as it is
		}
		if m.test == nil {
			m.inputs[v] = number(m.rigid(v.Name, linear.Int).Term(), linear.Term{})
		} else {
			m.inputs[v] = number(linear.Constant(m.test.outcome[i]), linear.Term{})
		}
	}
	for _, x := range append(append([]p.Expression(nil), m.f.Requires...), m.c.Requires...) {
		v := m.eval(x, st)
		m.requires = append(m.requires, v.one, v.two)
		if m.test != nil && (!v.one.IsTrue() || !v.two.IsTrue()) {
			m.failed("a test is of inputs that are not allowed")
		}
	}
	for _, x := range m.budget.positive {
		if slices.ContainsFunc(m.budget.guarded, func(y p.Expression) bool { return y.String() == x.String() }) {
			continue
		}
		m.demand(st, fmt.Sprintf("%s is positive", x), m.above(x))
	}
	return st
}

// must adds an obligation.
func (m *machine) must(st *state, name string, goal linear.Formula) {
	if goal.IsTrue() || m.stop || m.blind {
		return
	}
	if m.test != nil && goal.IsFalse() {
		m.stop = true
	}
	m.obligations = append(m.obligations, obligation{
		name: name, pos: m.pos, premises: st.path, assumed: st.assumed, goal: goal})
}

// demand is an obligation that only the requirements can show.
func (m *machine) demand(st *state, name string, goal linear.Formula) {
	n := len(m.obligations)
	m.must(st, name, goal)
	for i := n; i < len(m.obligations); i++ {
		m.obligations[i].demand = true
	}
}

// run does the whole function.
func (m *machine) run() {
	st := m.begin()
	m.exec(m.f.Body, st, control{}, func(st *state) { m.reveal(nil, st) })
}

// A control is where break and continue go.
type control struct{ brk, cont map[*p.Loop]func(*state) }

func (c control) with(l *p.Loop, brk, cont func(*state)) control {
	d := control{map[*p.Loop]func(*state){l: brk}, map[*p.Loop]func(*state){l: cont}}
	for k, f := range c.brk {
		d.brk[k], d.cont[k] = f, c.cont[k]
	}
	return d
}

// exec runs the statements and hands each state in which they end to next.
func (m *machine) exec(list []p.Statement, st *state, c control, next func(*state)) {
	for i, s := range list {
		if m.stop {
			return
		}
		m.pos = s.Position()
		if len(m.settled[s]) > 0 {
			st = m.assumeSettled(s, st)
		}
		rest := list[i+1:]
		switch s := s.(type) {
		case *p.If:
			if pure(s) {
				st = m.diverge(s, st)
				continue
			}
			cond := m.eval(s.Cond, st)
			m.must(st, "both runs take the same branch", linear.Iff(cond.one, cond.two))
			after := func(st *state) { m.exec(rest, st, c, next) }
			m.split(st, cond,
				func(st *state) { m.exec(s.Then, st, c, after) },
				func(st *state) { m.exec(s.Else, st, c, after) })
			return
		case *p.Loop:
			m.loop(s, st, c, func(st *state) { m.exec(rest, st, c, next) })
			return
		case *p.Break:
			c.brk[s.Of](st)
			return
		case *p.Continue:
			c.cont[s.Of](st)
			return
		case *p.Return:
			m.reveal(s.Values, st)
			return
		default:
			m.step(s, st)
		}
	}
	if !m.stop {
		next(st)
	}
}

// assumeSettled keeps to the runs that end in the outcome that is looked at.
func (m *machine) assumeSettled(s p.Statement, st *state) *state {
	st = st.clone()
	for _, f := range m.settled[s] {
		if f.component >= len(m.outcomes) || m.outcomes[f.component] == nil {
			continue
		}
		x, o := m.eval(p.Ref{Var: f.v}, st), m.inputs[m.outcomes[f.component]]
		same := linear.Eq(x.num, o.num)
		if m.test == nil {
			st.assume(same)
		} else if same.IsFalse() && !m.blind {
			m.stop = true
		}
		m.must(st, fmt.Sprintf("%s is %s in the second run too", f.v.Name, m.outcomes[f.component].Name), linear.Eq(x.second(), o.num))
	}
	return st
}

// split goes both ways, where they are possible.
func (m *machine) split(st *state, cond value, yes, no func(*state)) {
	for _, way := range []struct {
		cond value
		do   func(*state)
	}{{cond, yes}, {truth(linear.Not(cond.one), linear.Not(cond.two)), no}} {
		if way.cond.one.IsFalse() || m.stop {
			continue
		}
		if m.fuel--; m.fuel < 0 {
			m.failed("the function has too many paths")
			return
		}
		if m.test != nil { // there is no other way
			way.do(st)
			return
		}
		s := st.clone()
		s.assume(way.cond.one)
		s.assume(way.cond.two)
		if !s.impossible() {
			way.do(s)
		}
	}
}

// diverge runs an if that only assigns: each run by its own condition.
func (m *machine) diverge(s *p.If, st *state) *state {
	cond := m.eval(s.Cond, st)
	switch { // in a test there is no other way, if the runs agree
	case m.test != nil && cond.one.IsTrue() && cond.two.IsTrue():
		return m.assign(s.Then, st)
	case m.test != nil && cond.one.IsFalse() && cond.two.IsFalse():
		return m.assign(s.Else, st)
	}
	a, b := m.assign(s.Then, st.clone()), m.assign(s.Else, st.clone())
	merged := st.clone()
	for _, v := range changed(s.Then, s.Else) {
		merged.vars[v] = choose(cond, m.eval(p.Ref{Var: v}, a), m.eval(p.Ref{Var: v}, b), v.Sort)
	}
	return merged
}

func (m *machine) assign(list []p.Statement, st *state) *state {
	for _, s := range list {
		switch s := s.(type) {
		case *p.Assign:
			st.vars[s.To] = m.eval(s.Value, st)
		case *p.If:
			st = m.diverge(s, st)
		}
	}
	return st
}

// step runs a statement that neither branches nor jumps.
func (m *machine) step(s p.Statement, st *state) {
	switch s := s.(type) {
	case *p.Assign:
		switch {
		case !s.To.Slice:
			st.vars[s.To] = m.eval(s.Value, st)
		case s.To.Input:
			m.failed("the input slice %s is written to", s.To.Name)
		case m.alias[s.To] == nil:
			r, ok := s.Value.(p.Ref)
			if l, known := st.lists[r.Var]; ok && known {
				st.lists[s.To] = l
			} else if m.failed("a copy of %s that is written to is outside of alignments", s.Value); true {
				return
			}
		}
	case *p.Make:
		if s.To.Input {
			m.failed("the input slice %s is written to", s.To.Name)
			return
		}
		n := m.eval(s.Length, st)
		m.must(st, fmt.Sprintf("%s has the same length in both runs", s.To.Name), linear.Eq(n.diff, linear.Term{}))
		l := list{length: number(n.num, linear.Term{})}
		if r, ok := n.num.IsConstant(); ok && m.test != nil {
			if !r.IsInt() || r.Sign() < 0 || r.Cmp(rational(1000)) > 0 {
				m.failed("a test makes a slice of length %s", r.RatString())
				return
			}
			l.elements = make([]linear.Term, r.Num().Int64())
		}
		st.lists[s.To] = l
	case *p.Append:
		if s.To.Input {
			m.failed("the input slice %s is written to", s.To.Name)
			return
		}
		x := m.written(s.To, s.Value, st)
		l := st.lists[s.To]
		l.length.num = l.length.num.Add(linear.Number(1))
		l.elements = append(l.elements[:len(l.elements):len(l.elements)], x)
		st.lists[s.To] = l
	case *p.Store:
		if s.To.Input {
			m.failed("the input slice %s is written to", s.To.Name)
			return
		}
		i := m.eval(s.Index, st)
		m.must(st, fmt.Sprintf("both runs write the same element of %s", s.To.Name), linear.Eq(i.diff, linear.Term{}))
		x := m.written(s.To, s.Value, st)
		if m.test != nil {
			l := st.lists[s.To]
			r, ok := i.num.IsConstant()
			if !ok || !r.IsInt() || r.Sign() < 0 || r.Cmp(rational(int64(len(l.elements)))) >= 0 {
				m.failed("an index of %s is out of range", s.To.Name)
				return
			}
			l.elements = append([]linear.Term(nil), l.elements...)
			l.elements[r.Num().Int64()] = x
			st.lists[s.To] = l
		}
	case *p.Draw:
		m.draw(s, st)
	case *p.Output:
		for _, x := range s.Values {
			m.revealed(x, st, linear.True(), "the output is the same in both runs")
		}
	default:
		m.failed("a statement of an unknown form")
	}
}

// written is a value that goes into a local slice: it must be equal in both runs.
func (m *machine) written(to *p.Variable, x p.Expression, st *state) linear.Term {
	v := m.eval(x, st)
	m.must(st, fmt.Sprintf("what %s receives is the same in both runs", to.Name), v.equal(to.Sort))
	if to.Sort == p.Bool {
		return linear.Ite(v.one, linear.Number(1), linear.Number(0))
	}
	return v.num
}

// revealed demands that x is equal in both runs, where the premise holds.
func (m *machine) revealed(x p.Expression, st *state, premise linear.Formula, name string) {
	if r, ok := x.(p.Ref); ok && r.Var.Slice {
		v := r.Var
		if a, ok := m.alias[v]; ok {
			v = a
		}
		if v.Input && m.private[v] {
			m.must(st, fmt.Sprintf("%s is the same in both runs", r.Var.Name), linear.Not(premise))
			return
		}
		m.must(st, fmt.Sprintf("%s has the same length in both runs", r.Var.Name),
			linear.Implies(premise, linear.Eq(m.length(v, st).diff, linear.Term{})))
		return
	}
	m.must(st, name, linear.Implies(premise, m.eval(x, st).equal(p.SortOf(x))))
}

// reveal ends the function: the results are equal and the costs are covered, for
// the outcome that is looked at.
func (m *machine) reveal(values []p.Expression, st *state) {
	if m.test != nil {
		for _, x := range values {
			v := linear.Term{}
			if !isSlice(x) && p.SortOf(x) != p.Bool {
				v = m.eval(x, st).num
			} else if !isSlice(x) {
				v = linear.Ite(m.eval(x, st).one, linear.Number(1), linear.Number(0))
			}
			m.result = append(m.result, v)
		}
	}
	premise := linear.True()
	var others []p.Expression
	for i, x := range values {
		if i >= len(m.outcomes) || m.outcomes[i] == nil {
			others = append(others, x)
			continue
		}
		o := m.inputs[m.outcomes[i]].num
		v := m.eval(x, st)
		if p.SortOf(x) == p.Bool {
			v = number(linear.Ite(v.one, linear.Number(1), linear.Number(0)), linear.Term{})
		}
		premise = linear.And(premise, linear.Eq(v.num, o))
	}
	for i, x := range values {
		if i >= len(m.outcomes) || m.outcomes[i] == nil {
			continue
		}
		o := m.inputs[m.outcomes[i]].num
		v := m.eval(x, st)
		second := v.second()
		if p.SortOf(x) == p.Bool {
			second = linear.Ite(v.two, linear.Number(1), linear.Number(0))
		}
		m.must(st, fmt.Sprintf("if the first run returns %s, so does the second", m.outcomes[i].Name),
			linear.Implies(premise, linear.Eq(second, o)))
	}
	for _, x := range others {
		m.revealed(x, st, premise, "the result is the same in both runs")
	}
	free, units := m.free(st.cost), m.units()
	for i, c := range m.budget.counters {
		goal := m.eval(c.goal, &state{}).num
		m.note(st.cost[i], goal, premise)
		goal = goal.Scale(m.goal)
		m.must(st, fmt.Sprintf("the %s is covered by the claim", c.name), linear.Implies(premise, linear.Or(free, linear.And(units, linear.Le(st.cost[i], goal)))))
	}
}

// note keeps the greatest part of the claimed cost that a test came to.
func (m *machine) note(cost, goal linear.Term, premise linear.Formula) {
	if m.test == nil || !premise.IsTrue() {
		return
	}
	c, one := cost.IsConstant()
	g, two := goal.IsConstant()
	if one && two && g.Sign() > 0 {
		if r := new(big.Rat).Quo(c, g); m.ratio == nil || r.Cmp(m.ratio) > 0 {
			m.ratio = r
		}
	}
}

// loop unrolls in a test; else it cuts: what is proved of the head of the loop on
// entry, and of the next head from this one, holds of all.
func (m *machine) loop(s *p.Loop, st *state, c control, next func(*state)) {
	if m.test != nil {
		m.unroll(s, st, c, next)
		return
	}
	h := m.head(s, st)
	h.entries = append(h.entries, st.cost)
	m.keep(s, st, "the invariant holds where "+s.Name+" begins")
	cut := st.clone()
	draws := false
	p.Each(append(s.Body[:len(s.Body):len(s.Body)], s.Post...), func(x p.Statement) {
		_, ok := x.(*p.Draw)
		draws = draws || ok
	})
	for _, v := range changed(s.Body, s.Post) {
		if v.Slice {
			if l, ok := cut.lists[v]; ok && m.alias[v] == nil {
				n := m.fresh("len("+v.Name+")", linear.Int)
				m.facts[n] = append(m.facts[n], linear.Ge(n.Term(), linear.Term{}))
				l.length = number(n.Term(), linear.Term{})
				cut.lists[v] = l
			}
			continue
		}
		cut.vars[v] = m.unknown(v)
	}
	if draws {
		for i, b := range m.budget.counters {
			cut.cost[i] = m.fresh(b.name, linear.Real).Term()
		}
	}
	cut.assumed = append(cut.assumed, instance{s, m.bind(s, cut)})
	m.pos = s.Position()
	cond := m.eval(s.Cond, cut)
	m.must(cut, "both runs stay in "+s.Name, linear.Iff(cond.one, cond.two))
	again := func(st *state) {
		m.exec(s.Post, st, c, func(st *state) { m.keep(s, st, s.Name+" keeps the invariant") })
	}
	inner := c.with(s, next, again)
	m.split(cut, cond, func(st *state) { m.exec(s.Body, st, inner, again) }, next)
}

// unknown is any value of a variable, equal in both runs if it is not private.
func (m *machine) unknown(v *p.Variable) value {
	if v.Sort == p.Bool {
		b := m.fresh(v.Name, linear.Bool).Formula()
		if !m.private[v] {
			return truth(b, b)
		}
		return truth(b, m.fresh(twinName(v.Name), linear.Bool).Formula())
	}
	x := number(m.fresh(v.Name, linearSort(v.Sort)).Term(), linear.Term{})
	if m.private[v] {
		x.diff = m.fresh(diffName(v.Name), linearSort(v.Sort)).Term()
	}
	return x
}

// unroll runs a loop of a test.
func (m *machine) unroll(s *p.Loop, st *state, c control, next func(*state)) {
	m.pos = s.Position()
	if m.watched {
		m.visits = append(m.visits, instance{s, m.bind(s, st)})
	}
	cond := m.eval(s.Cond, st)
	m.must(st, "both runs stay in "+s.Name, linear.Iff(cond.one, cond.two))
	again := func(st *state) {
		m.exec(s.Post, st, c, func(st *state) { m.unroll(s, st, c, next) })
	}
	m.split(st, cond, func(st *state) { m.exec(s.Body, st, c.with(s, next, again), again) }, next)
}

// head makes the names of which invariants of the loop may speak.
func (m *machine) head(s *p.Loop, st *state) *head {
	if h, ok := m.heads[s]; ok {
		return h
	}
	h := &head{loop: s, vars: map[linear.Var]*p.Variable{}, lists: map[linear.Var]*p.Variable{}}
	for _, v := range m.scalars(s, st) {
		n := linear.Var{Name: v.Name, Sort: linearSort(v.Sort)}
		h.names = append(h.names, n)
		h.vars[n] = v
		switch {
		case !m.private[v]:
		case v.Sort == p.Bool:
			h.names = append(h.names, linear.Var{Name: twinName(v.Name), Sort: linear.Bool})
		default:
			h.names = append(h.names, linear.Var{Name: diffName(v.Name), Sort: linearSort(v.Sort)})
		}
	}
	for _, v := range m.grown(s, st) {
		n := linear.Var{Name: lengthName(v.Name), Sort: linear.Int}
		h.names = append(h.names, n)
		h.lists[n] = v
	}
	for _, b := range m.budget.counters {
		h.names = append(h.names, linear.Var{Name: b.name, Sort: linear.Real})
	}
	m.heads[s] = h
	return h
}

// scalars are the variables that live where the loop begins, in order of their
// names.
func (m *machine) scalars(s *p.Loop, st *state) []*p.Variable {
	var vs []*p.Variable
	for v := range m.live[s] {
		if _, ok := st.vars[v]; ok && !v.Slice {
			vs = append(vs, v)
		}
	}
	sortVariables(vs)
	return vs
}

// grown are the local slices that the loop writes to and whose lengths are asked for,
// in order of their names.
func (m *machine) grown(s *p.Loop, st *state) []*p.Variable {
	var vs []*p.Variable
	for _, v := range changed(s.Body, s.Post) {
		if _, ok := st.lists[v]; ok && m.counted[v] {
			vs = append(vs, v)
		}
	}
	sortVariables(vs)
	return vs
}

// bind gives the names of a loop's invariants their values.
func (m *machine) bind(s *p.Loop, st *state) linear.Substitution {
	h := m.head(s, st)
	sub := linear.Substitution{}
	for n, v := range h.lists {
		sub[n] = m.length(v, st).num
	}
	for _, n := range h.names {
		v, ok := h.vars[n]
		if !ok {
			continue
		}
		x := m.eval(p.Ref{Var: v}, st)
		if v.Sort == p.Bool {
			sub[n] = x.one
			sub[linear.Var{Name: twinName(v.Name), Sort: linear.Bool}] = x.two
		} else {
			sub[n] = x.num
			sub[linear.Var{Name: diffName(v.Name), Sort: linearSort(v.Sort)}] = x.diff
		}
	}
	for i, b := range m.budget.counters {
		sub[linear.Var{Name: b.name, Sort: linear.Real}] = st.cost[i]
	}
	return sub
}

// keep is the obligation that the loop's invariant holds.
func (m *machine) keep(s *p.Loop, st *state, name string) {
	if m.stop {
		return
	}
	m.pos = s.Position()
	for _, v := range changed(s.Body, s.Post) { // what unknown takes for granted
		if x, ok := st.vars[v]; ok && !v.Slice && !m.private[v] {
			m.must(st, fmt.Sprintf("%s is the same in both runs", v.Name), x.equal(v.Sort))
		}
	}
	m.obligations = append(m.obligations, obligation{
		name: name, pos: s.Position(), premises: st.path, assumed: st.assumed, keep: &instance{s, m.bind(s, st)}})
}

// notOfSample refuses, within an alignment, what is neither linear nor a condition
// on the sample: between its breaks the shift must not depend on it.
func (m *machine) notOfSample(t linear.Term) {
	if m.sample == nil {
		return
	}
	for _, v := range linear.Vars(t) {
		if v == *m.sample {
			m.failed("an alignment may only compare the sample, linearly")
		}
	}
}

// line is where an obligation or a draw stands.
func (m *machine) line(pos token.Pos) int {
	if m.f.File == nil || !pos.IsValid() {
		return 0
	}
	if base := token.Pos(m.f.File.Base()); pos < base || int(pos-base) > m.f.File.Size() {
		return 0
	}
	return m.f.File.Line(pos)
}

func (m *machine) describe(o obligation) string {
	var b strings.Builder
	if n := m.line(o.pos); n > 0 {
		fmt.Fprintf(&b, "line %d: ", n)
	}
	b.WriteString(o.name)
	return b.String()
}
