package absorb

import "github.com/discreet-dp/discreet/verify/internal/program"

// each visits a statement and those in it.
func each(s program.Statement, visit func(program.Statement)) {
	visit(s)
	switch s := s.(type) {
	case program.If:
		for _, list := range [][]program.Statement{s.Then, s.Else} {
			for _, t := range list {
				each(t, visit)
			}
		}
	case *program.Loop:
		for _, list := range [][]program.Statement{s.Body, s.Post} {
			for _, t := range list {
				each(t, visit)
			}
		}
	}
}

// outermost replaces the parts of an expression for which by is true, the whole before
// its parts.
func outermost(x program.Expression, by func(program.Expression) (program.Expression, bool)) program.Expression {
	if x == nil {
		return nil
	}
	if y, ok := by(x); ok {
		return y
	}
	switch y := x.(type) {
	case program.Element:
		y.Index = outermost(y.Index, by)
		return y
	case program.Unary:
		y.X = outermost(y.X, by)
		return y
	case program.Binary:
		y.X, y.Y = outermost(y.X, by), outermost(y.Y, by)
		return y
	case program.Call:
		args := make([]program.Expression, len(y.Args))
		for i, a := range y.Args {
			args[i] = outermost(a, by)
		}
		y.Args = args
		return y
	case program.If3:
		y.Cond, y.Then, y.Else = outermost(y.Cond, by), outermost(y.Then, by), outermost(y.Else, by)
		return y
	case program.Diff:
		y.X = outermost(y.X, by)
		return y
	}
	return x
}

// A copying copies statements with other expressions and draws. Loops are new ones, and
// are left and begun again as such.
type copying struct {
	expression func(program.Expression) program.Expression
	draw       func(program.Draw) program.Draw
	loops      map[*program.Loop]*program.Loop
}

func (c *copying) list(list []program.Statement) []program.Statement {
	var out []program.Statement
	for _, s := range list {
		out = append(out, c.statement(s))
	}
	return out
}

func (c *copying) statement(s program.Statement) program.Statement {
	switch s := s.(type) {
	case program.Assign:
		s.Value = c.expression(s.Value)
		return s
	case program.Make:
		s.Length = c.expression(s.Length)
		return s
	case program.Append:
		s.Value = c.expression(s.Value)
		return s
	case program.Store:
		s.Index, s.Value = c.expression(s.Index), c.expression(s.Value)
		return s
	case program.Draw:
		s.Parameter = c.expression(s.Parameter)
		return c.draw(s)
	case program.If:
		s.Cond, s.Then, s.Else = c.expression(s.Cond), c.list(s.Then), c.list(s.Else)
		return s
	case *program.Loop:
		t := *s
		if c.loops == nil {
			c.loops = map[*program.Loop]*program.Loop{}
		}
		c.loops[s] = &t
		t.Cond, t.Body, t.Post = c.expression(s.Cond), c.list(s.Body), c.list(s.Post)
		return &t
	case program.Break:
		s.Of = c.loops[s.Of]
		return s
	case program.Continue:
		s.Of = c.loops[s.Of]
		return s
	case program.Output:
		s.Values = c.all(s.Values)
		return s
	case program.Return:
		s.Values = c.all(s.Values)
		return s
	}
	return s
}

func (c *copying) all(list []program.Expression) []program.Expression {
	if list == nil {
		return nil
	}
	out := make([]program.Expression, len(list))
	for i, x := range list {
		out[i] = c.expression(x)
	}
	return out
}
