package prove

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// eval is the value of x in a state of both runs.
func (m *machine) eval(x p.Expression, st *state) value {
	switch x := x.(type) {
	case p.Number:
		return number(linear.Constant(x.Value), linear.Term{})
	case p.Truth:
		return truth(linear.Truth(bool(x)), linear.Truth(bool(x)))
	case p.Ref:
		if v, ok := st.vars[x.Var]; ok {
			return v
		}
		if v, ok := m.inputs[x.Var]; ok {
			return v
		}
		if x.Var.Slice {
			return m.failed("the slice %s stands where a number is needed", x.Var.Name)
		}
		return zero(x.Var.Sort)
	case p.Element:
		return m.element(x, st)
	case p.Length:
		return m.length(x.Slice, st)
	case p.Unary:
		v := m.eval(x.X, st)
		if x.Op == p.Not {
			return truth(linear.Not(v.one), linear.Not(v.two))
		}
		return number(v.num.Neg(), v.diff.Neg())
	case p.Binary:
		return m.binary(x, st)
	case p.Call:
		return m.call(x, st)
	case p.If3:
		return choose(m.eval(x.Cond, st), m.eval(x.Then, st), m.eval(x.Else, st), p.SortOf(x))
	case p.Diff:
		return number(m.eval(x.X, st).diff, linear.Term{})
	}
	return m.failed("an expression of an unknown form")
}

func (m *machine) binary(x p.Binary, st *state) value {
	v, w := m.eval(x.X, st), m.eval(x.Y, st)
	switch x.Op {
	case p.And:
		return truth(linear.And(v.one, w.one), linear.And(v.two, w.two))
	case p.Or:
		return truth(linear.Or(v.one, w.one), linear.Or(v.two, w.two))
	case p.Eq, p.Ne, p.Lt, p.Le, p.Gt, p.Ge:
		return compare(x.Op, v, w, p.SortOf(x.X))
	case p.Add:
		return number(v.num.Add(w.num), v.diff.Add(w.diff))
	case p.Sub:
		return number(v.num.Sub(w.num), v.diff.Sub(w.diff))
	case p.Min, p.Max:
		less := compare(p.Le, v, w, p.Real)
		if x.Op == p.Max {
			less = compare(p.Ge, v, w, p.Real)
		}
		return choose(less, v, w, p.Real)
	case p.Mul:
		for range 2 {
			if c, ok := v.num.IsConstant(); ok && v.diff.IsZero() {
				return number(w.num.Scale(c), w.diff.Scale(c))
			}
			v, w = w, v
		}
	case p.Quo:
		if c, ok := w.num.IsConstant(); ok && w.diff.IsZero() && c.Sign() != 0 && p.SortOf(x) == p.Real {
			c = new(big.Rat).Inv(c)
			return number(v.num.Scale(c), v.diff.Scale(c))
		}
	}
	return m.opaque(string(x.Op), p.SortOf(x), v, w)
}

func compare(op p.Op, v, w value, s p.Sort) value {
	if s == p.Bool {
		one, two := linear.Iff(v.one, w.one), linear.Iff(v.two, w.two)
		if op == p.Ne {
			return truth(linear.Not(one), linear.Not(two))
		}
		return truth(one, two)
	}
	return truth(compareTerms(op, v.num, w.num), compareTerms(op, v.second(), w.second()))
}

func compareTerms(op p.Op, t, u linear.Term) linear.Formula {
	switch op {
	case p.Eq:
		return linear.Eq(t, u)
	case p.Ne:
		return linear.Ne(t, u)
	case p.Lt:
		return linear.Lt(t, u)
	case p.Le:
		return linear.Le(t, u)
	case p.Gt:
		return linear.Gt(t, u)
	}
	return linear.Ge(t, u)
}

func (m *machine) call(x p.Call, st *state) value {
	args := make([]value, len(x.Args))
	for i, a := range x.Args {
		args[i] = m.eval(a, st)
	}
	switch x.Func {
	case "real":
		return args[0]
	case "abs":
		minus := number(args[0].num.Neg(), args[0].diff.Neg())
		return choose(compare(p.Ge, args[0], value{}, p.Real), args[0], minus, p.Real)
	}
	v := m.opaque(x.Func, p.SortOf(x), args...)
	switch x.Func {
	case "grid":
		m.onGrid(x.Args[1], args[0], v, st)
	case "floor", "ceil":
		m.rounded(args[0], v, false)
	case "int": // numbers between -1 and 1 all become 0
		m.rounded(args[0], v, true)
	}
	return v
}

// gridLimit is 2^41: noise of a smaller scale has a grid of which 1 is a multiple.
var gridLimit = new(big.Rat).SetInt64(1 << 41)

// onGrid is what is known of distances of numbers that are rounded to the grid of
// noise. Rounding to multiples of g keeps order, and moving by a multiple of g
// commutes with it; so x' - x <= k implies round(x') - round(x) <= k if g divides k,
// and g = 2^(⌊log₂ scale⌋-40) divides all whole numbers if scale < 2^41. Beyond 2^51
// steps nothing moves: what moves by k or more may then move by 0, and no more is
// known of it than that it does not move back.
func (m *machine) onGrid(scale p.Expression, from, to value, st *state) {
	if m.test != nil || to.diff.IsZero() {
		return
	}
	b := &budget{}
	sides := []laurent{laurentOf(inline(scale, m.definitions)), constantLaurent(gridLimit)}
	clear(sides, b)
	for _, x := range b.positive {
		m.demand(st, fmt.Sprintf("%s is positive", x), linear.Gt(m.eval(x, st).num, linear.Term{}))
	}
	m.demand(st, fmt.Sprintf("the scale %s is below 2^41, where the grid is finer than 1", scale),
		linear.Lt(m.eval(sides[0].polynomial(rational(1)), &state{}).num, m.eval(sides[1].polynomial(rational(1)), &state{}).num))
	m.rounded(from, to, true)
}

// rounded is what is known of the distance of numbers that are rounded to multiples of a
// divisor of 1, by a map that keeps order and commutes with moving by 1: where they move
// by at most a whole k, so do the results. Of floor and ceil, not of round, which
// takes -1/2 and 1/2 two apart. Where what is far out is cut off, or what is near 0, they
// may move by less.
func (m *machine) rounded(from, to value, cut bool) {
	v := linear.Vars(to.diff)
	if m.test != nil || len(v) == 0 {
		return
	}
	for _, k := range m.wholeBounds() {
		t := linear.Constant(k)
		if !cut || k.Sign() >= 0 {
			m.facts[v[0]] = append(m.facts[v[0]], linear.Implies(linear.Le(from.diff, t), linear.Le(to.diff, t)))
		}
		if !cut || k.Sign() <= 0 {
			m.facts[v[0]] = append(m.facts[v[0]], linear.Implies(linear.Ge(from.diff, t), linear.Ge(to.diff, t)))
		}
	}
}

// wholeBounds are the whole numbers among the bounds of adjacencies.
func (m *machine) wholeBounds() []*big.Rat {
	ks := []*big.Rat{new(big.Rat)}
	for _, a := range m.c.Adjacent {
		if a.Low == nil || a.High == nil {
			continue
		}
		low, high := m.bounds(a)
		for _, t := range []linear.Term{low, high} {
			if r, ok := t.IsConstant(); ok && r.IsInt() {
				ks = append(ks, r)
			}
		}
	}
	return ks
}

// opaque is the value of a function of which only this is used, that equal
// arguments give equal values.
func (m *machine) opaque(op string, s p.Sort, args ...value) value {
	first, second := make([]linear.Term, len(args)), make([]linear.Term, len(args))
	same := linear.True()
	for i, a := range args {
		first[i], second[i] = a.num, a.second()
		same = linear.And(same, linear.Eq(a.diff, linear.Term{}))
	}
	one := m.apply(op, s, first)
	if same.IsTrue() {
		return number(one, linear.Term{})
	}
	two := m.apply(op, s, second)
	if v, ok := asVar(two); ok {
		m.facts[v] = append(m.facts[v], linear.Implies(same, linear.Eq(one, two)))
	}
	return number(one, two.Sub(one))
}

// apply is the symbol of an application; computed, if all is known.
func (m *machine) apply(op string, s p.Sort, args []linear.Term) linear.Term {
	known := make([]*big.Rat, len(args))
	all := true
	for i, a := range args {
		r, ok := a.IsConstant()
		known[i], all = r, all && ok
		m.notOfSample(a)
	}
	if all {
		if r, ok := compute(op, s, known, m.test != nil); ok {
			return linear.Constant(r)
		}
	}
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = strings.ReplaceAll(a.String(), "|", `"`)
	}
	v := linear.Var{Name: op + "(" + strings.Join(texts, ", ") + ")", Sort: linearSort(s)}
	if _, ok := m.facts[v]; !ok {
		t := v.Term()
		var facts []linear.Formula
		switch op {
		case "*":
			if args[0].String() == args[1].String() {
				facts = append(facts, linear.Ge(t, linear.Term{}))
			}
			for i := range args { // signs, and growth by a factor of at least 1
				a, b := args[i], args[1-i]
				facts = append(facts,
					linear.Implies(linear.And(linear.Gt(a, linear.Term{}), linear.Gt(b, linear.Term{})), linear.Gt(t, linear.Term{})),
					linear.Implies(linear.And(linear.Ge(a, linear.Number(1)), linear.Ge(b, linear.Term{})), linear.Ge(t, b)))
			}
		case "%":
			b := args[1]
			facts = append(facts,
				linear.Implies(linear.And(linear.Ge(args[0], linear.Term{}), linear.Gt(b, linear.Term{})),
					linear.And(linear.Ge(t, linear.Term{}), linear.Lt(t, b), linear.Le(t, args[0]))))
		case "exp":
			facts = append(facts, linear.Gt(t, linear.Term{}))
		case "sqrt":
			facts = append(facts, linear.Ge(t, linear.Term{}))
		}
		m.facts[v] = facts
	}
	return v.Term()
}

// compute is a function of numbers; approximate where it must be, which is allowed
// in tests alone.
func compute(op string, s p.Sort, x []*big.Rat, roughly bool) (*big.Rat, bool) {
	round := func(r *big.Rat, f func(float64) float64) (*big.Rat, bool) {
		v, _ := r.Float64()
		y := f(v)
		if !roughly || math.IsNaN(y) || math.IsInf(y, 0) {
			return nil, false
		}
		return new(big.Rat).SetFloat64(y), true
	}
	floor := func(r *big.Rat) *big.Rat { return new(big.Rat).SetInt(new(big.Int).Div(r.Num(), r.Denom())) }
	switch op {
	case "*":
		return new(big.Rat).Mul(x[0], x[1]), true
	case "/", "%":
		if x[1].Sign() == 0 {
			return nil, false
		}
		if s == p.Real {
			return new(big.Rat).Quo(x[0], x[1]), true
		}
		if !x[0].IsInt() || !x[1].IsInt() {
			return nil, false
		}
		q, r := new(big.Int).QuoRem(x[0].Num(), x[1].Num(), new(big.Int))
		if op == "%" {
			q = r
		}
		return new(big.Rat).SetInt(q), true
	case "grid":
		return x[0], roughly // tests are of numbers on the grid
	case "floor":
		return floor(x[0]), true
	case "ceil":
		return new(big.Rat).Neg(floor(new(big.Rat).Neg(x[0]))), true
	case "int":
		return new(big.Rat).SetInt(new(big.Int).Quo(x[0].Num(), x[0].Denom())), true
	case "round":
		return round(x[0], math.Round)
	case "exp":
		return round(x[0], math.Exp)
	case "log":
		return round(x[0], math.Log)
	case "sqrt":
		return round(x[0], math.Sqrt)
	case "pow":
		y, _ := x[1].Float64()
		return round(x[0], func(v float64) float64 { return math.Pow(v, y) })
	}
	return nil, false
}

// length is that of a slice.
func (m *machine) length(v *p.Variable, st *state) value {
	if a, ok := m.alias[v]; ok {
		v = a
	}
	if l, ok := st.lists[v]; ok {
		return l.length
	}
	if l, ok := m.lengths[v]; ok {
		return l
	}
	return value{}
}

// element is q[i]. Inputs do not change, so equal indices mean one element; an
// element at an unknown index is any, within the adjacency.
func (m *machine) element(x p.Element, st *state) value {
	index := m.eval(x.Index, st)
	v := x.Slice
	if a, ok := m.alias[v]; ok {
		v = a
	}
	m.notOfSample(index.num)
	if !v.Input {
		return m.localElement(v, index, st)
	}
	if m.test != nil {
		return m.test.element(m, v, index)
	}
	key := v.Name + "[" + index.num.String() + "]"
	if !index.diff.IsZero() {
		key += "[" + index.diff.String() + "]"
	}
	if e, ok := m.elements[key]; ok {
		return e
	}
	e := value{}
	if v.Sort == p.Bool {
		b := m.fresh(v.Name+"[]", linear.Bool).Formula()
		e = truth(b, b)
		if !index.diff.IsZero() || m.private[v] {
			e.two = m.fresh(v.Name+"[]'", linear.Bool).Formula()
			if a, ok := m.adjacent[v]; ok && a.Relation == claim.One && index.diff.IsZero() {
				other := linear.Eq(index.num, m.at[v].Term())
				e.two = linear.Or(linear.And(other, e.two), linear.And(linear.Not(other), b))
			}
		}
		m.elements[key] = e
		return e
	}
	n := m.fresh(v.Name+"[]", linearSort(v.Sort))
	if v.Natural {
		m.facts[n] = append(m.facts[n], linear.Ge(n.Term(), linear.Term{}))
	}
	e.num = n.Term()
	same := linear.Eq(index.diff, linear.Term{})
	a, adjacent := m.adjacent[v]
	switch {
	case adjacent && a.Relation == claim.One && same.IsTrue():
		e.diff = linear.Ite(linear.Eq(index.num, m.at[v].Term()), m.by[v].Term(), linear.Term{})
	case adjacent || !same.IsTrue():
		d := m.fresh("diff("+v.Name+"[])", linearSort(v.Sort))
		e.diff = d.Term()
		within := linear.Eq(d.Term(), linear.Term{})
		if adjacent {
			low, high := m.bounds(a)
			within = linear.And(linear.Le(low, d.Term()), linear.Le(d.Term(), high))
			if a.Relation == claim.One { // or it is one of the others
				within = linear.Or(within, linear.Eq(d.Term(), linear.Term{}))
			}
			if same.IsTrue() {
				m.bounded(d, low, high)
			}
		}
		m.facts[d] = append(m.facts[d], linear.Implies(same, within))
		if v.Natural {
			m.facts[d] = append(m.facts[d], linear.Ge(e.second(), linear.Term{}))
		}
	}
	m.elements[key] = e
	return e
}

// localElement is an element of a local slice: both runs agree on it if they agree
// on the index.
func (m *machine) localElement(v *p.Variable, index value, st *state) value {
	if m.test != nil {
		l := st.lists[v]
		i, ok := index.num.IsConstant()
		if !ok || !i.IsInt() || i.Sign() < 0 || i.Num().Cmp(big.NewInt(int64(len(l.elements)))) >= 0 {
			return m.failed("an index of %s is out of range", v.Name)
		}
		if v.Sort == p.Bool {
			b := linear.Eq(l.elements[i.Num().Int64()], linear.Number(1))
			return truth(b, b)
		}
		return number(l.elements[i.Num().Int64()], linear.Term{})
	}
	m.must(st, fmt.Sprintf("both runs read the same element of %s", v.Name), linear.Eq(index.diff, linear.Term{}))
	if v.Sort == p.Bool {
		b := m.fresh(v.Name+"[]", linear.Bool).Formula()
		return truth(b, b)
	}
	return number(m.fresh(v.Name+"[]", linearSort(v.Sort)).Term(), linear.Term{})
}

func asVar(t linear.Term) (linear.Var, bool) {
	vars := linear.Vars(t)
	if len(vars) != 1 || vars[0].Term().String() != t.String() {
		return linear.Var{}, false
	}
	return vars[0], true
}
