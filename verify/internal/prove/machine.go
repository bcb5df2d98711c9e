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
// state (draw.go), by induction on the draws: equal images of the earlier
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
				m.at[v] = m.rigid("at("+v.Name+")", linear.Int)
				if v.Sort == p.Bool {
					break
				}
				by := m.rigid("by("+v.Name+")", linearSort(v.Sort))
				low, high := m.bounds(a)
				m.by[v] = by
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
