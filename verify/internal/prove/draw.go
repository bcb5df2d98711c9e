package prove

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// draw couples a draw of both runs.
//
// Laws, f being the density or the probability of a sample x, b the scale:
//   - Laplace, DiscreteLaplace: f(x)/f(x+s) = exp((|x+s|-|x|)/b) <= exp(|s|/b).
//   - Exponential, Geometric, on x >= 0: f(x)/f(x+s) = exp(s/b); s >= 0 keeps x+s
//     in the support.
//   - Of integers s is whole.
//   - All others are coupled by equality: at no cost if their parameter is public.
//   - Uniform below n, the same in both runs, is the same law: coupled to be equal.
//   - Choose of scores u with u'-u in [l, h] takes i with P/P' =
//     exp(ε(u(i)-u'(i))/2)·Σexp(εu'/2)/Σexp(εu/2) <= exp(ε(h-l)/2) (McSherry &
//     Talwar, FOCS 2007).
func (m *machine) draw(d *p.Draw, st *state) {
	parameter := m.eval(d.Parameter, st)
	m.must(st, "the parameter of the noise is the same in both runs", linear.Eq(parameter.diff, linear.Term{}))
	if shifted(d.Law) || d.Law == p.Choose {
		// Costs were counted for the parameter with its definitions written out.
		counted := m.eval(m.parameters[d], &state{})
		m.must(st, "the parameter of the noise is what its definition says", linear.Eq(parameter.num, counted.num))
		for _, c := range m.budget.counters {
			m.must(st, "the noise is of a positive scale", linear.Implies(m.units(), linear.Ge(m.eval(c.rate[d], &state{}).num, linear.Term{})))
		}
	}
	var x linear.Term
	var symbol linear.Var
	if m.test != nil {
		x = m.test.sample(m, d)
	}
	switch d.Law {
	case p.Bernoulli:
		b := linear.Eq(x, linear.Number(1))
		if m.test == nil {
			b = m.fresh(d.To.Name, linear.Bool).Formula()
		}
		st.vars[d.To] = truth(b, b)
		return
	case p.Uniform:
		if m.test == nil {
			i := m.fresh(d.To.Name, linear.Int)
			m.facts[i] = append(m.facts[i], linear.Ge(i.Term(), linear.Term{}), linear.Lt(i.Term(), parameter.num))
			x = i.Term()
		} else if n, ok := parameter.num.IsConstant(); !ok || !n.IsInt() || n.Sign() <= 0 {
			m.failed("a test draws below %v", parameter.num)
			return
		} else if k, _ := x.IsConstant(); k != nil {
			x = linear.Constant(new(big.Rat).SetInt(new(big.Int).Mod(k.Num(), n.Num())))
		}
		st.vars[d.To] = number(x, linear.Term{})
		return
	case p.Choose:
		if m.test == nil {
			i := m.fresh(d.To.Name, linear.Int)
			m.facts[i] = append(m.facts[i], linear.Ge(i.Term(), linear.Term{}), linear.Lt(i.Term(), m.length(d.Scores, st).num))
			x = i.Term()
		}
		st.vars[d.To] = number(x, linear.Term{})
		m.pay(d, st, m.scoreRange(d.Scores))
		return
	}
	if m.test == nil {
		symbol = m.fresh(d.To.Name, linearSort(d.To.Sort))
		x = symbol.Term()
		if d.Law == p.Exponential || d.Law == p.Geometric {
			m.facts[symbol] = append(m.facts[symbol], linear.Ge(x, linear.Term{}))
		}
		m.sample = &symbol
	}
	st.vars[d.To] = number(x, linear.Term{})
	s := shift{cost: make([]linear.Term, len(m.budget.counters))}
	if e, ok := m.align[d]; ok && e != nil {
		if why := depends(e, d.To); why != "" {
			m.failed("the alignment %s of %s depends on %s outside of conditions: it might not keep volume", e, d.To.Name, why)
			return
		}
		s = m.shift(d, e, st)
	}
	m.sample = nil
	if !shifted(d.Law) {
		m.must(st, fmt.Sprintf("%v noise is not shifted", d.Law), linear.Eq(s.by, linear.Term{}))
	}
	if d.Law == p.Exponential || d.Law == p.Geometric {
		m.must(st, "one-sided noise is shifted upwards", linear.Ge(s.by, linear.Term{}))
	}
	m.paid(st, s.by)
	if d.To.Sort == p.Int && !s.by.IsInt() {
		m.failed("the shift %s of an integer is not whole by its form", m.align[d])
		return
	}
	if m.test == nil {
		m.injective(d, st, symbol, s.by)
	}
	st.vars[d.To] = number(x, s.by)
	for i := range st.cost {
		st.cost[i] = st.cost[i].Add(s.cost[i])
	}
}

// A shift is how far a sample moves, and what that costs on each counter.
type shift struct {
	by   linear.Term
	cost []linear.Term
}

// shift evaluates an alignment case by case.
func (m *machine) shift(d *p.Draw, x p.Expression, st *state) shift {
	if r, ok := x.(p.Ref); ok && m.leaves[r.Var] != nil {
		if m.came != nil {
			m.came(r.Var, st)
		}
		x = m.leaves[r.Var]
	}
	if c, ok := x.(p.If3); ok {
		cond := m.eval(c.Cond, st).one
		switch {
		case cond.IsTrue():
			return m.shift(d, c.Then, st)
		case cond.IsFalse():
			return m.shift(d, c.Else, st)
		}
		a, b := m.shift(d, c.Then, st), m.shift(d, c.Else, st)
		s := shift{by: linear.Ite(cond, a.by, b.by)}
		for i := range a.cost {
			s.cost = append(s.cost, linear.Ite(cond, a.cost[i], b.cost[i]))
		}
		return s
	}
	s := shift{by: m.eval(x, st).num}
	m.measure(x, s.by)
	for _, c := range m.budget.counters {
		rate := m.eval(c.rate[d], &state{}).num
		s.cost = append(s.cost, m.times(rate, s.by, d))
	}
	return s
}

// measure keeps the greatest size of a shift that a test came to.
func (m *machine) measure(x p.Expression, by linear.Term) {
	r, ok := by.IsConstant()
	if m.test == nil || !ok {
		return
	}
	if m.moved == nil {
		m.moved = map[string]*big.Rat{}
	}
	m.moved.most(x.String(), new(big.Rat).Abs(r))
}

// sizes are those of the shifts that tests came to, by the leaf of an alignment.
type sizes map[string]*big.Rat

func (s sizes) most(leaf string, size *big.Rat) {
	if old := s[leaf]; old == nil || old.Cmp(size) < 0 {
		s[leaf] = size
	}
}

// times is rate·|by|, or at least that if both are symbols: rate times a constant
// bound of |by|.
func (m *machine) times(rate, by linear.Term, d *p.Draw) linear.Term {
	if r, ok := by.IsConstant(); ok {
		return rate.Scale(new(big.Rat).Abs(r))
	}
	high, above := m.atMost(by)
	low, below := m.atMost(by.Neg())
	size := linear.Abs(by)
	switch { // bounds save a case distinction
	case below && low.Sign() <= 0:
		size = by
	case above && high.Sign() <= 0:
		size = by.Neg()
	}
	if r, ok := rate.IsConstant(); ok {
		return size.Scale(r)
	}
	if r, ok := size.IsConstant(); ok {
		return rate.Scale(r)
	}
	if above && below {
		if high.Cmp(low) < 0 {
			high = low
		}
		return rate.Scale(high) // it is at least 0, as the interval is not empty
	}
	m.failed("the shift %s has no constant bound, by which its cost could be counted", m.align[d])
	return rate
}

// atMost is a constant bound of a term by those of its symbols.
func (m *machine) atMost(t linear.Term) (*big.Rat, bool) {
	c, coefficients, ok := t.Linear()
	if !ok {
		return nil, false
	}
	sum := new(big.Rat).Set(c)
	for v, k := range coefficients {
		bound, ok := m.high[v]
		if k.Sign() < 0 {
			bound, ok = m.low[v]
		}
		if !ok {
			return nil, false
		}
		sum.Add(sum, new(big.Rat).Mul(k, bound))
	}
	return sum, true
}

// pay adds what moving by size costs.
func (m *machine) pay(d *p.Draw, st *state, size linear.Term) {
	m.paid(st, size)
	for i, c := range m.budget.counters {
		st.cost[i] = st.cost[i].Add(m.times(m.eval(c.rate[d], &state{}).num, size, d))
	}
}

// scoreRange is h-l of scores.
func (m *machine) scoreRange(scores *p.Variable) linear.Term {
	v := scores
	if a, ok := m.alias[v]; ok {
		v = a
	}
	a, ok := m.adjacent[v]
	if !v.Input || !ok {
		return linear.Term{} // equal in both runs
	}
	low, high := m.bounds(a)
	if a.Relation == claim.One { // the others do not move
		return linear.Max(high, linear.Term{}).Sub(linear.Min(low, linear.Term{}))
	}
	return high.Sub(low)
}

// injective is the obligation that no two samples have one image.
func (m *machine) injective(d *p.Draw, st *state, x linear.Var, by linear.Term) {
	y := m.fresh(d.To.Name, x.Sort)
	rename := linear.Substitution{x: y.Term()}
	other := by.Subst(rename)
	if linear.Eq(by, other).IsTrue() {
		return // the shift does not depend on the sample
	}
	for _, f := range m.facts[x] {
		m.facts[y] = append(m.facts[y], f.Subst(rename))
	}
	image := linear.Eq(x.Term().Add(by), y.Term().Add(other))
	m.must(st, fmt.Sprintf("the alignment of %s is injective", d.To.Name), linear.Implies(image, linear.Eq(x.Term(), y.Term())))
}

// depends reports on what a shift depends, other than in conditions, that makes it
// change with the sample.
func depends(x p.Expression, sample *p.Variable) string {
	why := ""
	var visit func(x p.Expression)
	visit = func(x p.Expression) {
		switch x := x.(type) {
		case p.Ref:
			if x.Var == sample {
				why = sample.Name
			}
		case p.Element:
			visit(x.Index)
		case p.Unary:
			visit(x.X)
		case p.Binary:
			visit(x.X)
			visit(x.Y)
		case p.Call:
			for _, a := range x.Args {
				visit(a)
			}
		case p.If3:
			visit(x.Then)
			visit(x.Else)
		case p.Diff:
			visit(x.X)
		}
	}
	visit(x)
	return why
}
