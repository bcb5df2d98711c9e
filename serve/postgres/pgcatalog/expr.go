package pgcatalog

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// expr compiles an expression, and notes which tables of its query it names.
func (c *compiler) expr(s *scope, e statement.Expr) *expr {
	saved, escaped := s.used, s.escapes
	s.used, s.escapes = 0, false
	x := c.node(s, e)
	x.used |= s.used
	x.outside = x.outside || s.escapes
	s.used |= saved
	s.escapes = s.escapes || escaped
	return x
}

func (c *compiler) exprs(s *scope, list []statement.Expr) (out []*expr) {
	for _, e := range list {
		out = append(out, c.expr(s, e))
	}
	return out
}

func (c *compiler) node(s *scope, e statement.Expr) *expr {
	switch e := e.(type) {
	case *statement.Const:
		return c.constant(e)
	case *statement.Param:
		return c.parameter(e)
	case *statement.Column:
		if e.Star {
			fail(syntax, "* is not allowed here")
		}
		return s.resolve(e.Parts, e.At+1)
	case *statement.Op:
		return c.operation(s, e)
	case *statement.Logic:
		return c.logic(s, e)
	case *statement.Test:
		return c.test(s, e)
	case *statement.Cast:
		return c.castTo(s, e)
	case *statement.Case:
		return c.cases(s, e)
	case *statement.Call:
		return c.call(s, e)
	case *statement.Quantified:
		return c.quantified(s, e)
	case *statement.Distinction:
		x, y := c.matched(c.expr(s, e.X), c.expr(s, e.Y))
		return truth(func(f *frame) any { return same(x.eval(f), y.eval(f)) == e.Not })
	case *statement.Between:
		return c.between(s, e)
	case *statement.Sublink:
		return c.sublink(s, e)
	case *statement.Array:
		return c.array(s, e)
	case *statement.Row:
		return c.row(s, e)
	case *statement.Index:
		return c.index(s, e)
	case *statement.Field:
		return c.field(s, e)
	case *statement.Coalesce:
		return c.coalesce(s, e)
	case *statement.Nullif:
		x, y := c.expr(s, e.X), c.expr(s, e.Y)
		eq := c.apply("=", x, y, e.At)
		if x.typ == oidUnknown {
			x = c.coerce(x, oidText, -1)
		}
		return &expr{typ: x.typ, mod: x.mod, name: "nullif", eval: func(f *frame) any {
			if eq.eval(f) == true {
				return nil
			}
			return x.eval(f)
		}}
	case *statement.Named:
		return c.namedValue(e.Name)
	}
	fail(unsupported, "this expression is not supported")
	return nil
}

func truth(eval func(*frame) any) *expr {
	return &expr{typ: oidBool, mod: -1, name: "?column?", eval: eval}
}

func fixed(typ oid, v any) *expr {
	return &expr{typ: typ, mod: -1, name: "?column?", eval: func(*frame) any { return v }}
}

func (c *compiler) constant(e *statement.Const) *expr {
	switch v := e.Value.(type) {
	case nil:
		x := fixed(oidUnknown, nil)
		x.null = true
		return x
	case bool:
		return fixed(oidBool, v)
	case int64:
		return fixed(oidInt4, v)
	case statement.Number:
		if n, ok := v.Int(); ok {
			return fixed(oidInt8, n)
		}
		return fixed(oidNumeric, c.read(oidNumeric, string(v)))
	case string:
		x := fixed(oidUnknown, v)
		x.literal = &v
		return x
	case statement.Bits:
		return fixed(oidBit, strings.TrimPrefix(string(v), "b"))
	}
	fail(unsupported, "this constant is not supported")
	return nil
}

// maxParameters is the protocol's bound.
const maxParameters = 65535

func (c *compiler) parameter(e *statement.Param) *expr {
	if e.N < 1 || e.N > maxParameters {
		fail("42P02", "there is no parameter $%d", e.N)
	}
	for len(c.params) < e.N {
		c.params = append(c.params, &parameter{typ: oidUnknown})
	}
	p := c.params[e.N-1]
	x := &expr{typ: p.typ, mod: -1, name: "?column?", param: p, number: e.N}
	x.eval = func(f *frame) any { return f.q.argument(e.N, x.typ) }
	return x
}
