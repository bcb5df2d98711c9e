package fuse

import "github.com/discreet-dp/discreet/verify/internal/program"

// A rewriting copies statements with other expressions.
type rewriting struct {
	// expression is applied to the parts of an expression before the whole.
	expression func(program.Expression) program.Expression
	// after are statements to follow one, as it was.
	after func(program.Statement) []program.Statement
	// from is left, or begun again, as to.
	from, to *program.Loop
}

func (r *rewriting) list(list []program.Statement) (out []program.Statement) {
	for _, s := range list {
		out = append(out, r.statement(s))
		if r.after != nil {
			out = append(out, r.after(s)...)
		}
	}
	return out
}

// statement rewrites any but loops, which stay as they are.
func (r *rewriting) statement(s program.Statement) program.Statement {
	switch s := s.(type) {
	case program.Assign:
		s.Value = r.of(s.Value)
		return s
	case program.Make:
		s.Length = r.of(s.Length)
		return s
	case program.Append:
		s.Value = r.of(s.Value)
		return s
	case program.Store:
		s.Index, s.Value = r.of(s.Index), r.of(s.Value)
		return s
	case program.Draw:
		s.Parameter, s.Align = r.of(s.Parameter), r.of(s.Align)
		return s
	case program.If:
		s.Cond, s.Then, s.Else = r.of(s.Cond), r.list(s.Then), r.list(s.Else)
		return s
	case program.Break:
		if s.Of == r.from {
			s.Of = r.to
		}
		return s
	case program.Continue:
		if s.Of == r.from {
			s.Of = r.to
		}
		return s
	case program.Output:
		s.Values = r.all(s.Values)
		return s
	case program.Return:
		s.Values = r.all(s.Values)
		return s
	}
	return s
}

func (r *rewriting) all(xs []program.Expression) []program.Expression {
	if xs == nil {
		return nil
	}
	out := make([]program.Expression, len(xs))
	for i, x := range xs {
		out[i] = r.of(x)
	}
	return out
}

func (r *rewriting) of(x program.Expression) program.Expression {
	switch y := x.(type) {
	case nil:
		return nil
	case program.Element:
		y.Index = r.of(y.Index)
		x = y
	case program.Unary:
		y.X = r.of(y.X)
		x = y
	case program.Binary:
		y.X, y.Y = r.of(y.X), r.of(y.Y)
		x = y
	case program.Call:
		y.Args = r.all(y.Args)
		x = y
	case program.If3:
		y.Cond, y.Then, y.Else = r.of(y.Cond), r.of(y.Then), r.of(y.Else)
		x = y
	case program.Diff:
		y.X = r.of(y.X)
		x = y
	}
	return r.expression(x)
}
