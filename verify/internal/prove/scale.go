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
