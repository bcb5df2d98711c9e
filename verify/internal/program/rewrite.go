package program

// Parts returns an expression with by applied to its direct parts.
func Parts(x Expression, by func(Expression) Expression) Expression {
	switch x := x.(type) {
	case Element:
		x.Index = by(x.Index)
		return x
	case Unary:
		x.X = by(x.X)
		return x
	case Binary:
		x.X, x.Y = by(x.X), by(x.Y)
		return x
	case Call:
		x.Args = each(x.Args, by)
		return x
	case If3:
		x.Cond, x.Then, x.Else = by(x.Cond), by(x.Then), by(x.Else)
		return x
	case Diff:
		x.X = by(x.X)
		return x
	}
	return x
}

// Replace applies by to all parts of an expression, and then to the whole. Nil stays.
func Replace(x Expression, by func(Expression) Expression) Expression {
	if x == nil {
		return nil
	}
	return by(Parts(x, func(part Expression) Expression { return Replace(part, by) }))
}

func each(xs []Expression, by func(Expression) Expression) []Expression {
	if xs == nil {
		return nil
	}
	out := make([]Expression, len(xs))
	for i, x := range xs {
		out[i] = by(x)
	}
	return out
}

// A Rewriter copies statements: the copies share variables with what they are of, and
// nothing that could be written to.
type Rewriter struct {
	// Expression, if not nil, returns what takes the place of a whole expression.
	Expression func(Expression) Expression
	// Statement, if not nil, returns what takes the place of a copied statement.
	Statement func(Statement) []Statement
	// Loops are copies, by what they are of, to which Break and Continue belong. Those of
	// loops that are not copied may be given; else they stay with the loop.
	Loops map[*Loop]*Loop
}

// List copies statements.
func (r *Rewriter) List(list []Statement) (out []Statement) {
	for _, s := range list {
		s = r.copy(s)
		if r.Statement != nil {
			out = append(out, r.Statement(s)...)
		} else {
			out = append(out, s)
		}
	}
	return out
}

func (r *Rewriter) copy(s Statement) Statement {
	switch s := s.(type) {
	case Assign:
		s.Value = r.of(s.Value)
		return s
	case Make:
		s.Length = r.of(s.Length)
		return s
	case Append:
		s.Value = r.of(s.Value)
		return s
	case Store:
		s.Index, s.Value = r.of(s.Index), r.of(s.Value)
		return s
	case Draw:
		s.Parameter, s.Align = r.of(s.Parameter), r.of(s.Align)
		return s
	case If:
		s.Cond, s.Then, s.Else = r.of(s.Cond), r.List(s.Then), r.List(s.Else)
		return s
	case *Loop:
		l := *s
		if r.Loops == nil {
			r.Loops = map[*Loop]*Loop{}
		}
		r.Loops[s] = &l
		l.Cond, l.Invariants = r.of(s.Cond), each(s.Invariants, r.of)
		l.Body, l.Post = r.List(s.Body), r.List(s.Post)
		return &l
	case Break:
		s.Of = r.loop(s.Of)
		return s
	case Continue:
		s.Of = r.loop(s.Of)
		return s
	case Output:
		s.Values = each(s.Values, r.of)
		return s
	case Return:
		s.Values = each(s.Values, r.of)
		return s
	}
	return s
}

func (r *Rewriter) of(x Expression) Expression {
	switch {
	case x == nil:
		return nil
	case r.Expression == nil:
		return Replace(x, func(part Expression) Expression { return part })
	}
	return r.Expression(x)
}

func (r *Rewriter) loop(l *Loop) *Loop {
	if c, ok := r.Loops[l]; ok {
		return c
	}
	return l
}
