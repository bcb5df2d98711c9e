package pgcatalog

import "github.com/discreet-dp/discreet/internal/sqlparse/statement"

// logic compiles AND, OR and NOT, with NULL for what is not known.
func (c *compiler) logic(s *scope, e *statement.Logic) *expr {
	var args []*expr
	heavy := false
	for _, a := range e.Args {
		x := c.coerce(c.expr(s, a), oidBool, -1)
		args = append(args, x)
		heavy = heavy || x.heavy
	}
	out := truth(nil)
	out.heavy = heavy
	switch e.Op {
	case "NOT":
		out.eval = func(f *frame) any {
			if v := args[0].eval(f); v != nil {
				return v == false
			}
			return nil
		}
	default:
		decides := e.Op == "OR"
		out.eval = func(f *frame) any {
			var result any = !decides
			for _, a := range args {
				switch v := a.eval(f); {
				case v == nil:
					result = nil
				case v == decides:
					return decides
				}
			}
			return result
		}
	}
	return out
}

func (c *compiler) test(s *scope, e *statement.Test) *expr {
	x := c.expr(s, e.X)
	if e.What == "null" {
		if x.typ == oidRecord {
			return truth(func(f *frame) any {
				r, ok := x.eval(f).(*record)
				if !ok {
					return !e.Not
				}
				for _, v := range r.values {
					if (v == nil) == e.Not {
						return false
					}
				}
				return true
			})
		}
		return truth(func(f *frame) any { return (x.eval(f) == nil) != e.Not })
	}
	x = c.coerce(x, oidBool, -1)
	var want any
	switch e.What {
	case "true":
		want = true
	case "false":
		want = false
	}
	return truth(func(f *frame) any { return (x.eval(f) == want) != e.Not })
}

func same(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return compare(a, b) == 0
}

func (c *compiler) between(s *scope, e *statement.Between) *expr {
	x, low, high := c.expr(s, e.X), c.expr(s, e.Low), c.expr(s, e.High)
	above, below := c.apply(">=", x, low, e.At), c.apply("<=", x, high, e.At)
	inside := func(f *frame) any { return both(above.eval(f), below.eval(f)) }
	if e.Symmetric {
		a, b := c.apply(">=", x, high, e.At), c.apply("<=", x, low, e.At)
		first := inside
		inside = func(f *frame) any {
			if v := first(f); v != false {
				return v
			}
			return both(a.eval(f), b.eval(f))
		}
	}
	return truth(func(f *frame) any {
		v := inside(f)
		if v == nil {
			return nil
		}
		return v != e.Not
	})
}

func both(a, b any) any {
	switch {
	case a == false || b == false:
		return false
	case a == nil || b == nil:
		return nil
	}
	return true
}

func (c *compiler) cases(s *scope, e *statement.Case) *expr {
	var operand *expr
	if e.Operand != nil {
		if operand = c.expr(s, e.Operand); operand.typ == oidUnknown {
			operand = c.coerce(operand, oidText, -1)
		}
	}
	type branch struct{ when, then *expr }
	var branches []branch
	var types []oid
	for _, w := range e.When {
		when := c.expr(s, w.If)
		if operand != nil {
			when = c.apply("=", operand, when, e.At)
		} else {
			when = c.coerce(when, oidBool, -1)
		}
		then := c.expr(s, w.Then)
		branches = append(branches, branch{when, then})
		types = append(types, then.typ)
	}
	otherwise := fixed(oidUnknown, nil)
	otherwise.null = true
	if e.Else != nil {
		otherwise = c.expr(s, e.Else)
	}
	// PostgreSQL looks at ELSE first.
	t := c.common(append([]oid{otherwise.typ}, types...))
	mod := otherwise.mod
	for i := range branches {
		if branches[i].then.mod != mod || branches[i].then.typ != t {
			mod = -1
		}
		branches[i].then = c.coerce(branches[i].then, t, -1)
	}
	name, weak := "case", true
	if !otherwise.weak && otherwise.name != "?column?" {
		name, weak = otherwise.name, false
	}
	otherwise = c.coerce(otherwise, t, -1)
	return &expr{typ: t, mod: mod, name: name, weak: weak, eval: func(f *frame) any {
		for _, b := range branches {
			if b.when.eval(f) == true {
				return b.then.eval(f)
			}
		}
		return otherwise.eval(f)
	}}
}

func (c *compiler) coalesce(s *scope, e *statement.Coalesce) *expr {
	args := c.exprs(s, e.Args)
	var types []oid
	for _, a := range args {
		types = append(types, a.typ)
	}
	t := c.common(types)
	for i := range args {
		args[i] = c.coerce(args[i], t, -1)
	}
	out := &expr{typ: t, mod: -1, name: e.Name}
	out.eval = func(f *frame) any {
		var best any
		for _, a := range args {
			v := a.eval(f)
			switch {
			case v == nil:
			case e.Name == "coalesce":
				return v
			case best == nil, e.Name == "greatest" && compare(v, best) > 0, e.Name == "least" && compare(v, best) < 0:
				best = v
			}
		}
		return best
	}
	return out
}

func (c *compiler) quantified(s *scope, e *statement.Quantified) *expr {
	if e.Array == nil {
		if row, ok := e.X.(*statement.Row); ok {
			var args []statement.Expr
			for _, item := range e.List {
				args = append(args, &statement.Op{Name: e.Op, Left: row, Right: item, At: e.At})
			}
			op := "OR"
			if e.All {
				op = "AND"
			}
			return c.logic(s, &statement.Logic{Op: op, Args: args})
		}
		x := c.expr(s, e.X)
		items := c.exprs(s, e.List)
		types := []oid{x.typ}
		for _, i := range items {
			types = append(types, i.typ)
		}
		// One type for all, so that long lists of constants cost little.
		t := c.common(types)
		x = c.coerce(x, t, -1)
		for i := range items {
			items[i] = c.coerce(items[i], t, -1)
		}
		out := truth(func(f *frame) any {
			v := x.eval(f)
			if v == nil {
				return nil
			}
			var result any = e.All
			for _, i := range items {
				switch w := i.eval(f); {
				case w == nil:
					result = nil
				case compare(v, w) == 0:
					return !e.All
				}
			}
			return result
		})
		return out
	}
	x, list := c.expr(s, e.X), c.expr(s, e.Array)
	if list.typ == oidUnknown {
		t := x.typ
		if t == oidUnknown {
			t = oidText
		}
		list = c.coerce(list, c.arrayOf(t), -1)
	}
	elem := c.elem(list.typ)
	if elem == 0 {
		fail("42809", "op ANY/ALL (array) requires array on right side")
	}
	value := &expr{typ: elem, mod: -1, eval: func(f *frame) any { return f.q.item }}
	test := c.apply(e.Op, x, value, e.At)
	return truth(func(f *frame) any {
		v := list.eval(f)
		a, ok := v.(*array)
		if !ok {
			return nil
		}
		var result any = e.All
		saved := f.q.item
		defer func() { f.q.item = saved }()
		for _, i := range a.items {
			f.q.tick(1)
			f.q.item = i
			switch r := test.eval(f); {
			case r == nil:
				result = nil
			case r != e.All:
				return !e.All
			}
		}
		return result
	})
}
