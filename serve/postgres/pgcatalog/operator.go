package pgcatalog

import (
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// binary returns what an operator does with two values that are not NULL.
func binary(name string, left, right oid) func(q *query, a, b any) any {
	switch name {
	case "=", "<>", "<", "<=", ">", ">=":
		return func(_ *query, a, b any) any { return holds(name, compare(a, b)) }
	case "~", "~*", "!~", "!~*":
		if integer(left) {
			break
		}
		fold, not := strings.HasSuffix(name, "*"), strings.HasPrefix(name, "!")
		return func(q *query, a, b any) any {
			s, _ := a.(string)
			p, _ := b.(string)
			if len(s) > 64 { // a pattern takes longer than a comparison
				q.tick(len(s) >> 2)
			}
			return q.pattern(p, fold).MatchString(s) != not
		}
	case "~~", "~~*", "!~~", "!~~*":
		fold, not := strings.HasSuffix(name, "*"), strings.HasPrefix(name, "!")
		return func(q *query, a, b any) any {
			s, _ := a.(string)
			p, _ := b.(string)
			if fold {
				s, p = strings.ToLower(s), strings.ToLower(p)
			}
			return q.like(s, p) != not
		}
	case "||":
		if left == oidJSONB {
			return func(*query, any, any) any { return nil }
		}
		return func(q *query, a, b any) any {
			x, y := q.write(left, a), q.write(right, b)
			q.room(len(x) + len(y))
			return x + y
		}
	case "^@":
		return func(_ *query, a, b any) any { return strings.HasPrefix(a.(string), b.(string)) }
	case "+", "-", "*", "/", "%", "&", "|", "#", "<<", ">>", "^":
		return func(q *query, a, b any) any { return arithmetic(q, name, left, right, a, b) }
	case "@>", "<@", "&&":
		return func(q *query, a, b any) any {
			x, ok := a.(*array)
			y, fine := b.(*array)
			if !ok || !fine {
				return nil
			}
			if name == "<@" {
				x, y = y, x
			}
			q.tick(len(x.items) * max(1, len(y.items)))
			in := func(v any) bool {
				return v != nil && slices.ContainsFunc(x.items, func(w any) bool { return w != nil && compare(v, w) == 0 })
			}
			if name == "&&" {
				return slices.ContainsFunc(y.items, in)
			}
			return !slices.ContainsFunc(y.items, func(v any) bool { return !in(v) })
		}
	case "->", "->>", "#>", "#>>":
		return func(q *query, a, b any) any { return q.jsonAt(name, a, b) }
	}
	return func(*query, any, any) any { return nil }
}

// concatArrays joins an array with another, or with an item.
func concatArrays(q *query, left, right oid, a, b any) any {
	x, y := q.elem(left) != 0, q.elem(right) != 0
	out := &array{lower: 1}
	add := func(isArray bool, t oid, v any) {
		if !isArray {
			out.items = append(out.items, v)
			return
		}
		out.elem = q.elem(t)
		if list, ok := v.(*array); ok {
			q.hold(len(list.items))
			out.items = append(out.items, list.items...)
		}
	}
	if x && y && (a == nil || b == nil) {
		if a == nil {
			return b
		}
		return a
	}
	add(x, left, a)
	add(y, right, b)
	return out
}

// operation compiles an operator.
func (c *compiler) operation(s *scope, e *statement.Op) *expr {
	if e.Left == nil {
		return c.prefix(e.Name, c.expr(s, e.Right), e.At)
	}
	if l, ok := e.Left.(*statement.Row); ok {
		if r, ok := e.Right.(*statement.Row); ok && len(l.Items) == len(r.Items) {
			return c.compareRows(s, e.Name, l, r, e.At)
		}
	}
	return c.apply(e.Name, c.expr(s, e.Left), c.expr(s, e.Right), e.At)
}

// compareRows compares rows item by item.
func (c *compiler) compareRows(s *scope, name string, l, r *statement.Row, at int) *expr {
	var pairs []*expr
	var xs, ys []*expr
	for i := range l.Items {
		x, y := c.expr(s, l.Items[i]), c.expr(s, r.Items[i])
		pairs = append(pairs, c.apply("=", x, y, at))
		x, y = c.matched(x, y)
		xs, ys = append(xs, x), append(ys, y)
	}
	return truth(func(f *frame) any {
		if name == "=" || name == "<>" {
			var result any = true
			for _, p := range pairs {
				switch p.eval(f) {
				case false:
					return name == "<>"
				case nil:
					result = nil
				}
			}
			if result == true {
				return name == "="
			}
			return nil
		}
		for i := range xs {
			x, y := xs[i].eval(f), ys[i].eval(f)
			if x == nil || y == nil {
				return nil
			}
			if n := compare(x, y); n != 0 || i == len(xs)-1 {
				return holds(name, n)
			}
		}
		return nil
	})
}

// holds says whether an order is what an operator of comparison asks for.
func holds(name string, order int) any {
	switch name {
	case "=":
		return order == 0
	case "<>", "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	}
	return nil
}

// matched gives two operands one type.
func (c *compiler) matched(x, y *expr) (*expr, *expr) {
	t := c.common([]oid{x.typ, y.typ})
	return c.coerce(x, t, -1), c.coerce(y, t, -1)
}

// apply compiles an operator on two operands.
func (c *compiler) apply(name string, x, y *expr, at int) *expr {
	if name == "!=" {
		name = "<>"
	}
	o := c.operator(name, x.typ, y.typ)
	if o == nil {
		if x.typ == oidRecord || y.typ == oidRecord {
			return truth(func(f *frame) any {
				a, b := x.eval(f), y.eval(f)
				if a == nil || b == nil {
					return nil
				}
				return holds(name, compare(a, b))
			})
		}
		panic(&Error{SQLState: noFunction, Position: at + 1, Message: "operator does not exist: " + c.typeName(x.typ, -1) + " " + name + " " + c.typeName(y.typ, -1)})
	}
	actual := []oid{x.typ, y.typ}
	params := []oid{o.left, o.right}
	x, y = c.coerceParam(x, o.left, params, actual), c.coerceParam(y, o.right, params, actual)
	implement := binary(name, c.base(x.typ), c.base(y.typ))
	if slices.Contains(calculations, name) && !(c.calculable(x.typ) && c.calculable(y.typ)) {
		c.strange = true
	}
	out := &expr{typ: c.concrete(o.result, params, actual), mod: -1, name: "?column?", used: x.used | y.used, outside: x.outside || y.outside, heavy: x.heavy || y.heavy}
	out.eval = func(f *frame) any {
		a, b := x.eval(f), y.eval(f)
		if a == nil || b == nil {
			if name == "||" && (c.elem(x.typ) != 0 || c.elem(y.typ) != 0) { // arrays take NULL for an empty one, or an item
				return concatArrays(f.q, x.typ, y.typ, a, b)
			}
			return nil
		}
		f.q.weigh(a, b)
		return implement(f.q, a, b)
	}
	if name == "||" && (c.elem(x.typ) != 0 || c.elem(y.typ) != 0) {
		out.eval = func(f *frame) any { return concatArrays(f.q, x.typ, y.typ, x.eval(f), y.eval(f)) }
	}
	if name == "=" {
		out.equal = &[2]*expr{x, y}
	}
	return out
}

func (c *compiler) prefix(name string, x *expr, at int) *expr {
	o := c.operator(name, 0, x.typ)
	if name == "+" || name == "-" {
		if x.typ == oidUnknown {
			x = c.coerce(x, oidFloat8, -1)
		}
		out := &expr{typ: x.typ, mod: -1, name: "?column?"}
		out.eval = func(f *frame) any {
			v := x.eval(f)
			if name == "+" {
				return v
			}
			switch v := v.(type) {
			case int64:
				return c.fit(c.base(x.typ), -v)
			case float64:
				return -v
			case *big.Rat:
				return new(big.Rat).Neg(v)
			}
			return nil
		}
		return out
	}
	if o == nil {
		panic(&Error{SQLState: noFunction, Position: at + 1, Message: "operator does not exist: " + name + " " + c.typeName(x.typ, -1)})
	}
	x = c.coerce(x, o.right, -1)
	return &expr{typ: o.result, mod: -1, name: "?column?", eval: func(f *frame) any {
		switch v := x.eval(f).(type) {
		case int64:
			switch name {
			case "~":
				return ^v
			case "@":
				return max(v, -v)
			}
		}
		return nil
	}}
}

// coerceParam gives an operand the type of a parameter, which may stand for others.
func (c *compiler) coerceParam(x *expr, t oid, params, actual []oid) *expr {
	if t == oidAny {
		if x.typ == oidUnknown {
			return c.coerce(x, oidText, -1)
		}
		return x
	}
	if t == oidRecord {
		return x
	}
	if polymorphic(t) {
		if t = c.concrete(t, params, actual); x.typ == oidUnknown || c.elem(x.typ) == 0 && c.elem(t) == 0 {
			return c.coerce(x, t, -1)
		}
		if c.elem(x.typ) != c.elem(t) && c.elem(x.typ) != 0 && c.elem(t) != 0 {
			return c.coerce(x, t, -1)
		}
		return x
	}
	return c.coerce(x, t, -1)
}
