package prove

import (
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// equate writes out what is required of public inputs that never change: where
// scale(a) == 2*scale(b) is required, a function with scale(a) is one with
// 2*scale(b) in its place, on all inputs that are allowed. Costs are then counted in
// one unit. The function must be own.
func equate(f *p.Function, c *claim.Claim) *claim.Claim {
	fixed := map[*p.Variable]bool{}
	for _, v := range f.Inputs {
		fixed[v] = v.Sort != p.Bool && !v.Slice
	}
	for _, a := range c.Adjacent {
		delete(fixed, a.Input)
	}
	for _, v := range changed(f.Body) {
		delete(fixed, v)
	}
	d := *c
	d.Requires = conjuncts(c.Requires)
	for _, x := range d.Requires {
		v, y := definition(x, fixed)
		if v == nil {
			continue
		}
		in := func(x p.Expression) p.Expression {
			return replace(x, func(x p.Expression) (p.Expression, bool) {
				r, ok := x.(p.Ref)
				return y, ok && r.Var == v
			})
		}
		for j, x := range d.Requires {
			d.Requires[j] = in(x) // this one says nothing any more
		}
		d.Adjacent = slices.Clone(d.Adjacent)
		for j, a := range d.Adjacent {
			d.Adjacent[j].Low, d.Adjacent[j].High = in(a.Low), in(a.High)
		}
		if d.Cost != nil {
			cost := *d.Cost
			cost.Epsilon = in(cost.Epsilon)
			d.Cost = &cost
		}
		rewrite(f.Body, in)
	}
	return &d
}

// definition is a real input that x says to be equal to what does not speak of it.
func definition(x p.Expression, fixed map[*p.Variable]bool) (*p.Variable, p.Expression) {
	b, ok := x.(p.Binary)
	if !ok || b.Op != p.Eq {
		return nil, nil
	}
	for _, side := range [][2]p.Expression{{b.X, b.Y}, {b.Y, b.X}} {
		r, ok := side[0].(p.Ref)
		if !ok || !fixed[r.Var] || r.Var.Sort != p.Real {
			continue
		}
		plain := true
		p.Walk(side[1], func(x p.Expression) {
			switch x := x.(type) {
			case p.Ref:
				plain = plain && fixed[x.Var] && x.Var != r.Var
			case p.Number, p.Unary, p.Binary:
			case p.Call:
				plain = plain && x.Func == "real"
			default:
				plain = false
			}
		})
		if plain {
			return r.Var, side[1]
		}
	}
	return nil, nil
}

// rewrite replaces the expressions of statements, in their place.
func rewrite(list []p.Statement, in func(p.Expression) p.Expression) {
	all := func(xs []p.Expression) []p.Expression {
		ys := slices.Clone(xs)
		for i, x := range ys {
			ys[i] = in(x)
		}
		return ys
	}
	p.Each(list, func(s p.Statement) {
		switch s := s.(type) {
		case *p.Assign:
			s.Value = in(s.Value)
		case *p.Make:
			s.Length = in(s.Length)
		case *p.Append:
			s.Value = in(s.Value)
		case *p.Store:
			s.Index, s.Value = in(s.Index), in(s.Value)
		case *p.Draw:
			s.Parameter, s.Align = in(s.Parameter), in(s.Align)
		case *p.If:
			s.Cond = in(s.Cond)
		case *p.Loop:
			s.Cond, s.Invariants = in(s.Cond), all(s.Invariants)
		case *p.Output:
			s.Values = all(s.Values)
		case *p.Return:
			s.Values = all(s.Values)
		}
	})
}
