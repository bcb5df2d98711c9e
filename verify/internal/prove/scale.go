package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A scaling takes a public input c > 0, by which the adjacency bounds distances, for
// the unit: the function of it has 1 in the place of c.
//
// Theorem (scaling; Kennedy, "Relational parametricity and units of measure", POPL
// 1997). Let each variable v have a degree d(v) such that both sides of each sum,
// comparison and assignment are of one degree, a product is of the sum of degrees and
// a quotient of their difference, noise is of the degree of its scale, and conditions,
// indices, lengths and arguments of all other functions are of degree 0. Then the
// runs of the function on inputs x are those on inputs x/c^d, with all values divided
// by c^d and the same probabilities.
// Proof: dividing commutes with each statement; of each law here X/c has the law of
// scale b/c if X has that of scale b (of Choose, u/c and ε·c give the chances that u
// and ε do).
//
// Bounds, costs and requirements are put in the unit likewise, so that a proof for 1
// at the inputs x/c^d is one for c at x: results are told apart alike, as c is public.
// Whole variables of a degree other than 0 become real ones, of which the quotients
// are some: what is proved of all reals holds of them; and shifts of whole draws are
// whole if they are by their form, before they are divided (isWhole). A constant of
// such a degree becomes an input of which nothing is known. A requirement that has no
// degree is left out.
type scaling struct {
	unit      *p.Variable
	degrees   map[*p.Variable]int
	known     map[*p.Variable]bool
	real      map[*p.Variable]*p.Variable // in the place of whole ones
	originals map[*p.Variable]p.Expression
	constants []*p.Variable
	partial   bool // a constant or a requirement has no degree
	err       error
}

// A scaled function is one in which units were taken in turn; of none, as it was.
type scaled struct {
	f      *p.Function
	c      *claim.Claim
	units  []*scaling
	before *p.Function
	drawn  []*p.Variable // by the draws, before
}

// unscaled is a function without units.
func unscaled(f *p.Function, c *claim.Claim) *scaled {
	s := &scaled{f: own(f), before: own(f)}
	s.c = equate(s.f, c)
	p.Each(s.f.Body, func(st p.Statement) {
		if d, ok := st.(*p.Draw); ok {
			s.drawn = append(s.drawn, d.To)
		}
	})
	return s
}

// units are the public inputs by which the adjacencies bound distances.
func units(c *claim.Claim) []*p.Variable {
	var us []*p.Variable
	seen := map[*p.Variable]bool{}
	for _, a := range c.Adjacent {
		seen[a.Input] = true
	}
	for _, a := range c.Adjacent {
		for _, x := range []p.Expression{a.Low, a.High} {
			p.Walk(x, func(x p.Expression) {
				if r, ok := x.(p.Ref); ok && r.Var.Input && r.Var.Sort != p.Bool && !seen[r.Var] {
					seen[r.Var] = true
					us = append(us, r.Var)
				}
			})
		}
	}
	return us
}

// scale puts a function in the units, in turn.
func scale(f *p.Function, c *claim.Claim, units []*p.Variable) (*scaled, error) {
	s := unscaled(f, c)
	for _, u := range units {
		for _, k := range s.units {
			u = k.variable(u)
		}
		if err := s.by(u); err != nil {
			return nil, fmt.Errorf("count in units of %s: %w", u.Name, err)
		}
	}
	return s, nil
}

// by divides by one more unit.
func (s *scaled) by(unit *p.Variable) error {
	k := &scaling{
		unit:      unit,
		degrees:   map[*p.Variable]int{unit: 1},
		known:     map[*p.Variable]bool{unit: true},
		real:      map[*p.Variable]*p.Variable{},
		originals: map[*p.Variable]p.Expression{},
	}
	for _, v := range changed(s.f.Body) {
		if v == unit {
			return fmt.Errorf("%s is assigned", unit.Name)
		}
	}
	k.infer(s.f, s.c)
	f := *s.f
	f.Inputs = nil
	for _, v := range s.f.Inputs { // the unit stays one, so that its name is taken
		f.Inputs = append(f.Inputs, k.variable(v))
	}
	c := *s.c
	c.Adjacent = nil
	for _, a := range s.c.Adjacent {
		if a.Relation == claim.Bag {
			return fmt.Errorf("%s counts rows", a.High)
		}
		d := k.degrees[a.Input]
		a.Low, a.High = k.to(a.Low, d), k.to(a.High, d)
		a.Input = k.variable(a.Input)
		c.Adjacent = append(c.Adjacent, a)
	}
	if k.constants != nil {
		return fmt.Errorf("bounds of degrees of their own")
	}
	cost := *s.c.Cost
	cost.Epsilon = k.to(cost.Epsilon, 0)
	c.Cost = &cost
	if k.err != nil {
		return k.err
	}
	f.Requires, c.Requires = k.requirements(s.f.Requires), k.requirements(s.c.Requires)
	k.statements(f.Body)
	if f.Outcome != nil && !outcomeIsWhole(&f, k.degrees[f.Outcome]) {
		return errors.New("the result that an alignment names is not whole in units")
	}
	f.Inputs = append(f.Inputs, k.constants...)
	if k.err != nil {
		return k.err
	}
	s.f, s.c, s.units = &f, &c, append(s.units, k)
	return nil
}

// outcomeIsWhole reports whether a result that the source's alignments name still is an
// integer or a truth in units, as is the variable that stands for it.
func outcomeIsWhole(f *p.Function, degree int) bool {
	whole := degree == 0
	p.Each(f.Body, func(s p.Statement) {
		if r, ok := s.(*p.Return); ok && len(r.Values) > 0 {
			whole = whole && p.SortOf(r.Values[0]) != p.Real
		}
	})
	return whole
}

// requirements are those that have a degree: others say less without a unit.
func (k *scaling) requirements(xs []p.Expression) []p.Expression {
	var kept []p.Expression
	for _, x := range conjuncts(xs) {
		n := len(k.constants)
		y := k.to(x, 0)
		if k.err != nil || len(k.constants) > n {
			k.err, k.constants, k.partial = nil, k.constants[:n], true
			continue
		}
		kept = append(kept, y)
	}
	return kept
}

// conjuncts takes conjunctions apart.
func conjuncts(xs []p.Expression) []p.Expression {
	var parts []p.Expression
	for _, x := range xs {
		if b, ok := x.(p.Binary); ok && b.Op == p.And {
			parts = append(parts, conjuncts([]p.Expression{b.X, b.Y})...)
		} else {
			parts = append(parts, x)
		}
	}
	return parts
}

func (k *scaling) failed(format string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf(format, args...)
	}
}

// variable is v in units.
func (k *scaling) variable(v *p.Variable) *p.Variable {
	if v.Sort != p.Int || k.degrees[v] == 0 {
		return v
	}
	if k.real[v] == nil {
		w := *v
		w.Sort = p.Real
		k.real[v] = &w
		k.originals[&w] = p.Ref{Var: v}
		k.degrees[&w] = k.degrees[v]
	}
	return k.real[v]
}

// statements puts statements in units, in their place.
func (k *scaling) statements(list []p.Statement) {
	p.Each(list, func(s p.Statement) {
		switch s := s.(type) {
		case *p.Assign:
			if r, ok := s.Value.(p.Ref); ok && s.To.Slice {
				if k.degrees[s.To] != k.degrees[r.Var] {
					k.failed("%s and %s are of different degrees", s.To.Name, r.Var.Name)
				}
				s.Value = p.Ref{Var: k.variable(r.Var)}
			} else {
				s.Value = k.to(s.Value, k.degrees[s.To])
			}
			s.To = k.variable(s.To)
		case *p.Make:
			s.Length, s.To = k.to(s.Length, 0), k.variable(s.To)
		case *p.Append:
			s.Value, s.To = k.to(s.Value, k.degrees[s.To]), k.variable(s.To)
		case *p.Store:
			s.Index, s.Value, s.To = k.to(s.Index, 0), k.to(s.Value, k.degrees[s.To]), k.variable(s.To)
		case *p.Draw:
			k.draw(s)
		case *p.If:
			s.Cond = k.to(s.Cond, 0)
		case *p.Loop:
			s.Cond = k.to(s.Cond, 0)
			s.Invariants = slices.Clone(s.Invariants)
			for i, x := range s.Invariants {
				s.Invariants[i] = k.exactly(x, 0)
			}
		case *p.Output:
			s.Values = k.results(s.Values)
		case *p.Return:
			s.Values = k.results(s.Values)
		}
	})
}

func (k *scaling) draw(s *p.Draw) {
	d := k.degrees[s.To]
	if s.Align != nil {
		s.Align = k.exactly(s.Align, d)
	}
	of := d
	switch s.Law {
	case p.Bernoulli:
		of = 0
	case p.Uniform:
		of = 0
		if d != 0 {
			k.failed("an integer of degree %d", d)
		}
	case p.Choose:
		of = -k.degrees[s.Scores]
		if d != 0 {
			k.failed("an index of degree %d", d)
		}
		s.Scores = k.variable(s.Scores)
	}
	s.Parameter, s.To = k.exactly(s.Parameter, of), k.variable(s.To)
}

// results may be of any degree.
func (k *scaling) results(values []p.Expression) []p.Expression {
	xs := slices.Clone(values)
	for i, x := range xs {
		if r, ok := x.(p.Ref); ok && r.Var.Slice {
			xs[i] = p.Ref{Var: k.variable(r.Var)}
			continue
		}
		xs[i] = k.of(x).x
	}
	return xs
}

// A measured expression is one in units, with its degree; of a constant, which is of
// any degree, the degree is 0.
type measured struct {
	x        p.Expression
	degree   int
	constant bool
}

// to is x in units, of the degree.
func (k *scaling) to(x p.Expression, degree int) p.Expression {
	m := k.of(x)
	return k.lift(m, degree)
}

// exactly is x in units, without a constant that the function does not have.
func (k *scaling) exactly(x p.Expression, degree int) p.Expression {
	n := len(k.constants)
	y := k.to(x, degree)
	if len(k.constants) > n {
		k.failed("a constant of a degree of its own in %s", x)
	}
	return y
}

// lift is a constant as one of another degree: divided by c it may be anything, if it
// is not 0.
func (k *scaling) lift(m measured, degree int) p.Expression {
	switch n, number := m.x.(p.Number); {
	case m.degree == degree && !m.constant, degree == 0 && m.constant:
	case number && n.Value.Sign() == 0:
	case m.constant:
		name := fmt.Sprintf("(%s)/%s^%d", m.x, k.unit.Name, degree)
		for _, v := range k.constants {
			if v.Name == name {
				return p.Ref{Var: v}
			}
		}
		v := &p.Variable{Name: name, Sort: p.Real, Input: true}
		k.constants, k.partial = append(k.constants, v), true
		k.originals[v] = m.x
		k.degrees[v] = degree
		return p.Ref{Var: v}
	default:
		k.failed("%s is of degree %d in %s, where %d is needed", m.x, m.degree, k.unit.Name, degree)
	}
	return m.x
}

// same are two expressions that meet, of one degree.
func (k *scaling) same(x, y p.Expression) (a, b p.Expression, degree int, constant bool) {
	m := k.of(x)
	n := k.of(y)
	degree = m.degree
	if m.constant {
		degree = n.degree
	}
	return k.lift(m, degree), k.lift(n, degree), degree, m.constant && n.constant
}

// of is x in units, and its degree.
func (k *scaling) of(x p.Expression) measured {
	switch x := x.(type) {
	case p.Number:
		return measured{x, 0, true}
	case p.Ref:
		if x.Var == k.unit {
			return measured{p.Number{Value: rational(1), Sort: x.Var.Sort}, 1, false}
		}
		return measured{p.Ref{Var: k.variable(x.Var)}, k.degrees[x.Var], false}
	case p.Element:
		return measured{p.Element{Slice: k.variable(x.Slice), Index: k.to(x.Index, 0)}, k.degrees[x.Slice], false}
	case p.Length:
		return measured{p.Length{Slice: k.variable(x.Slice)}, 0, false}
	case p.Unary:
		m := k.of(x.X)
		m.x = p.Unary{Op: x.Op, X: m.x}
		return m
	case p.Diff:
		m := k.of(x.X)
		m.x = p.Diff{X: m.x}
		return m
	case p.If3:
		a, b, d, constant := k.same(x.Then, x.Else)
		return measured{p.If3{Cond: k.to(x.Cond, 0), Then: a, Else: b}, d, constant}
	case p.Binary:
		return k.binary(x)
	case p.Call:
		return k.call(x)
	}
	return measured{x, 0, false}
}

func (k *scaling) binary(x p.Binary) measured {
	switch x.Op {
	case p.Mul, p.Quo:
		m := k.of(x.X)
		n := k.of(x.Y)
		sign := 1
		if x.Op == p.Quo {
			sign = -1
			if p.SortOf(x) == p.Int && (m.degree != 0 || n.degree != 0) {
				k.failed("%s is rounded", x)
			}
		}
		return measured{p.Binary{Op: x.Op, X: m.x, Y: n.x}, m.degree + sign*n.degree, m.constant && n.constant}
	case p.Rem, p.And, p.Or:
		return measured{p.Binary{Op: x.Op, X: k.to(x.X, 0), Y: k.to(x.Y, 0)}, 0, false}
	}
	a, b, d, constant := k.same(x.X, x.Y)
	y := measured{p.Binary{Op: x.Op, X: a, Y: b}, d, constant}
	switch x.Op {
	case p.Eq, p.Ne, p.Lt, p.Le, p.Gt, p.Ge:
		y.degree, y.constant = 0, false
	}
	return y
}

func (k *scaling) call(x p.Call) measured {
	if sameDegree(x) {
		m := k.of(x.Args[0])
		if n, ok := m.x.(p.Number); ok && x.Func == "real" {
			m.x = p.Number{Value: n.Value, Sort: p.Real}
			return m
		}
		m.x = p.Call{Func: x.Func, Args: []p.Expression{m.x}}
		return m
	}
	y := p.Call{Func: x.Func}
	for _, a := range x.Args {
		y.Args = append(y.Args, k.to(a, 0))
	}
	return measured{y, 0, false}
}

// isWhole reports whether an expression is a whole number by its form.
func isWhole(x p.Expression) bool {
	switch x := x.(type) {
	case p.Number:
		return x.Value.IsInt()
	case p.Ref, p.Element:
		return p.SortOf(x) == p.Int
	case p.Length:
		return true
	case p.Unary:
		return isWhole(x.X)
	case p.Diff:
		return isWhole(x.X)
	case p.If3:
		return isWhole(x.Then) && isWhole(x.Else)
	case p.Binary:
		switch x.Op {
		case p.Add, p.Sub, p.Mul, p.Min, p.Max:
			return isWhole(x.X) && isWhole(x.Y)
		}
	case p.Call:
		return sameDegree(x) && isWhole(x.Args[0])
	}
	return false
}

// shift puts a shift of a draw in units.
func (s *scaled) shift(x p.Expression, draw int) (p.Expression, error) {
	written, of := x, s.drawn[draw]
	for _, k := range s.units {
		k.err = nil
		x, of = k.exactly(x, k.degrees[of]), k.variable(of)
		if k.err != nil {
			return nil, k.err
		}
	}
	if of.Sort != s.drawn[draw].Sort && !isWhole(written) {
		return nil, fmt.Errorf("the shift %s of an integer is not whole by its form", written)
	}
	return x, nil
}

// written is a shift in units as one of the function without.
func (s *scaled) written(x p.Expression, draw int) (p.Expression, error) {
	of := s.drawn[draw]
	degrees := make([]int, len(s.units))
	for i, k := range s.units {
		degrees[i], of = k.degrees[of], k.variable(of)
	}
	for i, k := range slices.Backward(s.units) {
		k.err = nil
		if x = k.restore(x, degrees[i]); k.err != nil {
			return nil, k.err
		}
	}
	return x, nil
}

// partial reports whether anything was left out that has no unit.
func (s *scaled) partial() bool {
	return slices.ContainsFunc(s.units, func(k *scaling) bool { return k.partial })
}

// candidates are inputs in units as inputs.
func (s *scaled) candidates(pairs []p.Pair) []p.Pair {
	for _, pair := range pairs {
		for _, k := range s.units {
			pair.First[k.unit.Name] = p.Value{Number: rational(1)}
			pair.Second[k.unit.Name] = p.Value{Number: rational(1)}
			for _, v := range k.constants {
				delete(pair.First, v.Name)
				delete(pair.Second, v.Name)
			}
		}
	}
	return pairs
}

// names are the units'.
func (s *scaled) names() []string {
	var names []string
	for _, k := range s.units {
		names = append(names, k.unit.Name)
	}
	return names
}

// divide takes for units the inputs by which distances are bounded, as far as there
// are degrees, and the requirements make them positive.
func divide(ctx context.Context, f *p.Function, c *claim.Claim) (*scaled, error) {
	best := unscaled(f, c)
	if c.Cost == nil || c.Cost.Measure != claim.Pure {
		return best, nil
	}
	var us []*p.Variable
	for _, u := range units(best.c) {
		s, err := scale(f, c, append(slices.Clip(us), u))
		if err != nil {
			continue
		}
		ok, err := s.justified(f, c).hold(ctx)
		if err != nil {
			return nil, err
		}
		if ok {
			us, best = append(us, u), s
		}
	}
	return best, nil
}

// named is the function in the units that a certificate names.
func named(f *p.Function, c *claim.Claim, names []string) (*scaled, error) {
	if len(names) > 0 && (c.Cost == nil || c.Cost.Measure != claim.Pure) {
		return nil, fmt.Errorf("%w: the claim is not of a pure cost", ErrOutside)
	}
	var us []*p.Variable
	all := units(equate(own(f), c))
	for _, name := range names {
		at := slices.IndexFunc(all, func(v *p.Variable) bool { return v.Name == name })
		if at < 0 || slices.Contains(us, all[at]) {
			return nil, fmt.Errorf("%w: no distances are counted in units of %q", ErrCertificate, name)
		}
		us = append(us, all[at])
	}
	s, err := scale(f, c, us)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	return s, nil
}

// justified are the obligations that the requirements make the units positive; nil
// if there are none.
func (s *scaled) justified(f *p.Function, c *claim.Claim) *machine {
	m := newMachine(analyse(own(f), c), c, &budget{}, nil, nil)
	st := m.begin()
	m.pos = f.Pos
	for _, k := range s.units {
		for _, v := range f.Inputs {
			if v.Name == k.unit.Name {
				m.demand(st, v.Name+", in which distances are counted, is positive", linear.Gt(m.eval(p.Ref{Var: v}, st).num, linear.Term{}))
			}
		}
	}
	return m
}

// hold reports whether the obligations follow from the requirements.
func (m *machine) hold(ctx context.Context) (bool, error) {
	for _, o := range m.obligations {
		r, err := linear.Unsat(ctx, m.refutation(o, nil), linear.Limits{})
		if err != nil || r.Verdict != linear.Refuted {
			return false, err
		}
	}
	return m.err == nil, nil
}

// restore writes a shift that was found in units as one of the function before.
func (k *scaling) restore(x p.Expression, degree int) p.Expression {
	times := func(x p.Expression, of int) p.Expression {
		for range degree - of {
			x = p.Binary{Op: p.Mul, X: x, Y: p.Ref{Var: k.unit}}
		}
		if of > degree {
			k.failed("%s is of degree %d in %s, where %d is needed", x, of, k.unit.Name, degree)
		}
		return simplify(x)
	}
	switch x := x.(type) {
	case p.Number:
		if x.Value.Sign() == 0 {
			return x
		}
		return times(x, 0)
	case p.Ref:
		return times(k.original(x), k.degrees[x.Var])
	case p.Element:
		return times(p.Element{Slice: k.slice(x.Slice), Index: k.restore(x.Index, 0)}, k.degrees[x.Slice])
	case p.Length:
		return times(p.Length{Slice: k.slice(x.Slice)}, 0)
	case p.Diff:
		d := k.degreeOf(x.X)
		return times(p.Diff{X: k.restore(x.X, d)}, d)
	case p.Unary:
		return p.Unary{Op: x.Op, X: k.restore(x.X, degree)}
	case p.If3:
		return p.If3{Cond: k.restore(x.Cond, 0), Then: k.restore(x.Then, degree), Else: k.restore(x.Else, degree)}
	case p.Binary:
		switch x.Op {
		case p.Add, p.Sub, p.Min, p.Max, p.And, p.Or:
			return p.Binary{Op: x.Op, X: k.restore(x.X, degree), Y: k.restore(x.Y, degree)}
		case p.Mul:
			if _, ok := x.X.(p.Number); ok {
				return p.Binary{Op: x.Op, X: x.X, Y: k.restore(x.Y, degree)}
			}
		case p.Quo:
			if _, ok := x.Y.(p.Number); ok {
				return p.Binary{Op: x.Op, X: k.restore(x.X, degree), Y: x.Y}
			}
		case p.Eq, p.Ne, p.Lt, p.Le, p.Gt, p.Ge:
			d := max(k.degreeOf(x.X), k.degreeOf(x.Y))
			return p.Binary{Op: x.Op, X: k.restore(x.X, d), Y: k.restore(x.Y, d)}
		}
		if d := k.degreeOf(x); d == 0 {
			return times(p.Binary{Op: x.Op, X: k.restore(x.X, 0), Y: k.restore(x.Y, 0)}, 0)
		}
	case p.Truth:
		return x
	case p.Call:
		if sameDegree(x) {
			return p.Call{Func: x.Func, Args: []p.Expression{k.restore(x.Args[0], degree)}}
		}
	}
	k.failed("%s is not of one degree", x)
	return x
}

func (k *scaling) original(x p.Ref) p.Expression {
	if y, ok := k.originals[x.Var]; ok {
		return y
	}
	return x
}

func (k *scaling) slice(v *p.Variable) *p.Variable {
	if r, ok := k.original(p.Ref{Var: v}).(p.Ref); ok {
		return r.Var
	}
	return v
}

// degreeOf is the degree of an expression in units: the greatest of its parts that
// meet.
func (k *scaling) degreeOf(x p.Expression) int {
	switch x := x.(type) {
	case p.Ref:
		return k.degrees[x.Var]
	case p.Element:
		return k.degrees[x.Slice]
	case p.Unary:
		return k.degreeOf(x.X)
	case p.Diff:
		return k.degreeOf(x.X)
	case p.If3:
		return max(k.degreeOf(x.Then), k.degreeOf(x.Else))
	case p.Call:
		if sameDegree(x) {
			return k.degreeOf(x.Args[0])
		}
	case p.Binary:
		switch x.Op {
		case p.Add, p.Sub, p.Min, p.Max:
			return max(k.degreeOf(x.X), k.degreeOf(x.Y))
		case p.Mul:
			return k.degreeOf(x.X) + k.degreeOf(x.Y)
		case p.Quo:
			return k.degreeOf(x.X) - k.degreeOf(x.Y)
		}
	}
	return 0
}
