package pgcatalog

import (
	"math/big"
	"slices"
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

// coerce makes a value of another type, as an assignment or a request would; from and to of
// no known way go by text.
func (c *compiler) coerce(x *expr, to oid, mod int32) *expr {
	k := c.knowledge
	if x.typ == to && (mod < 0 || mod == x.mod) {
		return x
	}
	out := *x
	out.typ, out.mod = to, mod
	out.equal, out.param, out.literal = nil, nil, nil
	base := k.base(to)
	switch {
	case x.null:
		return &out
	case x.literal != nil:
		text := *x.literal
		if reference(base) {
			out.eval = func(f *frame) any { return f.q.object(base, text) }
			return &out
		}
		if elem := k.elem(base); reference(elem) {
			names := k.readArray(oidText, text)
			out.eval = func(f *frame) any { return f.q.objects(elem, names) }
			return &out
		}
		v := k.read(to, text)
		if s, ok := v.(string); ok {
			v = shorten(base, mod, s)
		}
		out.eval = func(*frame) any { return v }
		return &out
	case x.param != nil && (x.typ == oidUnknown || x.param.typ == oidUnknown):
		if x.param.typ == oidUnknown {
			x.param.typ = to
		}
		n, typ := x.number, x.param.typ
		given := &expr{typ: typ, mod: -1, name: x.name}
		given.eval = func(f *frame) any { return f.q.argument(n, typ) }
		return c.coerce(given, to, mod)
	}
	convert := c.conversion(x.typ, to, mod)
	if convert == nil {
		return &out // the same values
	}
	out.column = nil
	eval := x.eval
	out.eval = func(f *frame) any {
		v := eval(f)
		if v == nil {
			return nil
		}
		return convert(f.q, v)
	}
	return &out
}

// shorten cuts a text to the length that its type has.
func shorten(t oid, mod int32, s string) string {
	switch {
	case t == oidVarchar && mod > 4, t == oidBpchar && mod > 4:
		n := int(mod - 4)
		if r := []rune(s); len(r) > n {
			return string(r[:n])
		}
	case t == oidChar && len(s) > 1:
		return s[:1]
	case t == oidName && len(s) > 63:
		return strings.ToValidUTF8(s[:63], "")
	}
	return s
}

// object says whether a type is of numbers of objects, which have no sign.
func object(t oid) bool { return integer(t) && t != oidInt2 && t != oidInt4 && t != oidInt8 }

func textual(t oid) bool {
	switch t {
	case oidText, oidVarchar, oidBpchar, oidName, oidChar, oidUnknown, oidJSON, oidJSONB:
		return true
	}
	return false
}

// conversion returns how values of one type become those of another; nil where they are the same.
func (c *compiler) conversion(from, to oid, mod int32) func(*query, any) any {
	k := c.knowledge
	target := to
	from, to = k.base(from), k.base(to)
	switch {
	case integer(from) && integer(to):
		if to == oidInt8 || object(from) && object(to) || from == oidInt2 && to == oidInt4 {
			return nil
		}
		return func(_ *query, v any) any {
			n := v.(int64)
			if to == oidInt4 && object(from) && n >= 1<<31 { // PostgreSQL takes the same bits
				n -= 1 << 32
			}
			return k.fit(to, n)
		}
	case integer(from) && float(to):
		return func(_ *query, v any) any { return float64(v.(int64)) }
	case integer(from) && to == oidNumeric:
		return func(_ *query, v any) any { return new(big.Rat).SetInt64(v.(int64)) }
	case integer(from) && to == oidBool:
		return func(_ *query, v any) any { return v.(int64) != 0 }
	case from == oidBool && integer(to):
		return func(_ *query, v any) any {
			if v == true {
				return int64(1)
			}
			return int64(0)
		}
	case from == oidBool && textual(to) && to != oidName && to != oidChar:
		return func(_ *query, v any) any {
			if v == true {
				return "true"
			}
			return "false"
		}
	case from == oidNumeric && integer(to), float(from) && integer(to):
		return func(_ *query, v any) any { return k.fit(to, rounded(v)) }
	case from == oidNumeric && float(to):
		return func(_ *query, v any) any { f, _ := v.(*big.Rat).Float64(); return f }
	case float(from) && to == oidNumeric:
		return func(_ *query, v any) any { return k.read(oidNumeric, formatFloat(from, v.(float64))) }
	case float(from) && float(to):
		return nil
	case from == oidNumeric && to == oidNumeric:
		if mod < 4 {
			return nil
		}
		scale := int((mod - 4) & 0x7ff)
		return func(_ *query, v any) any { r, _ := new(big.Rat).SetString(v.(*big.Rat).FloatString(scale)); return r }
	case k.elem(from) != 0 && k.elem(to) != 0:
		inner := c.conversion(k.elem(from), k.elem(to), mod)
		return func(q *query, v any) any {
			a, ok := v.(*array)
			if !ok {
				return v
			}
			out := &array{elem: k.elem(to), lower: a.lower, items: make([]any, len(a.items))}
			q.hold(len(a.items))
			for i, item := range a.items {
				if _, nested := item.(*array); item != nil && inner != nil && !nested {
					item = inner(q, item)
				}
				out.items[i] = item
			}
			return out
		}
	case reference(k.elem(to)) && textual(from):
		return func(q *query, v any) any {
			q.tick(len(v.(string)) >> 1)
			return q.objects(k.elem(to), k.readArray(oidText, v.(string)))
		}
	case k.elem(to) != 0 && textual(from):
		return func(q *query, v any) any { q.tick(len(v.(string)) >> 1); return k.read(to, v.(string)) }
	case textual(from) && textual(to):
		if to == oidName || to == oidChar || mod > 0 || from == oidBpchar {
			return func(_ *query, v any) any {
				s, _ := v.(string)
				if from == oidBpchar {
					s = strings.TrimRight(s, " ")
				}
				return shorten(to, mod, s)
			}
		}
		return nil
	case textual(to):
		return func(q *query, v any) any { return shorten(to, mod, q.write(from, v)) }
	case to == oidRecord || from == oidRecord:
		return nil
	case textual(from):
		return func(q *query, v any) any {
			s, ok := v.(string)
			if !ok {
				return v
			}
			if reference(to) {
				return q.object(to, s)
			}
			return k.read(target, s)
		}
	}
	return func(q *query, v any) any { return k.read(target, q.write(from, v)) }
}

// rounded returns the integer nearest to a number: of two, the even one of a float, that
// away from zero of a numeric.
func rounded(v any) int64 {
	r, ok := v.(*big.Rat)
	if !ok {
		f := v.(float64)
		if f != f || f < -9.3e18 || f > 9.3e18 {
			fail(outOfRange, "bigint out of range")
		}
		r = new(big.Rat)
		r.SetFloat64(f)
		floor := new(big.Int).Div(r.Num(), r.Denom())
		rest := new(big.Rat).Sub(r, new(big.Rat).SetInt(floor))
		up := rest.Cmp(big.NewRat(1, 2))
		if up > 0 || up == 0 && floor.Bit(0) == 1 {
			floor.Add(floor, big.NewInt(1))
		}
		if !floor.IsInt64() {
			fail(outOfRange, "bigint out of range")
		}
		return floor.Int64()
	}
	n, ok := new(big.Int).SetString(r.FloatString(0), 10)
	if !ok || !n.IsInt64() {
		fail(outOfRange, "bigint out of range")
	}
	return n.Int64()
}

func (c *compiler) castTo(s *scope, e *statement.Cast) *expr {
	x := c.expr(s, e.X)
	t, mod := c.typeOf(e.Type)
	c.strange = c.strange || temporal(c.base(t)) // its text is taken as it is
	if a, ok := e.X.(*statement.Array); ok && len(a.Items) == 0 {
		x = fixed(t, &array{elem: c.elem(t), lower: 1})
	}
	out := *c.coerce(x, t, mod)
	if out.name = x.name; x.weak || x.name == "?column?" {
		out.name, out.weak = c.shortName(t), true
	}
	return &out
}

// shortName returns the name of a type as pg_type has it.
func (c *compiler) shortName(t oid) string {
	if info := c.types[t]; info != nil {
		return info.name
	}
	if get, ok := c.rowWhere("pg_type", "oid", t); ok {
		return get("typname").(string)
	}
	return "?column?"
}

// typeOf finds a type by its written form.
func (c *compiler) typeOf(t *statement.Type) (oid, int32) {
	name := t.Name
	info := c.typeNames["pg_catalog."+name]
	switch {
	case t.Schema != "" && t.Schema != "pg_catalog":
		info = c.typeNames[t.Schema+"."+name]
		if info == nil {
			info = c.declaredType(t.Schema, name)
		}
	case info == nil:
		info = c.declaredType("public", name)
	}
	if info == nil {
		panic(&Error{SQLState: noObject, Message: "type \"" + name + "\" does not exist", Position: t.At + 1})
	}
	mod := int32(-1)
	var args []int64
	for _, m := range t.Modifiers {
		n, ok := m.(*statement.Const)
		if !ok {
			fail(syntax, "type modifiers must be constants")
		}
		v, _ := n.Value.(int64)
		args = append(args, v)
	}
	if len(args) > 0 {
		switch info.oid {
		case oidVarchar, oidBpchar:
			mod = int32(args[0]) + 4
		case oidNumeric:
			scale := int64(0)
			if len(args) > 1 {
				scale = args[1]
			}
			mod = int32(args[0]<<16|scale&0x7ff) + 4
		case oidTimestamp, oidTimestamptz, oidTime, oidTimetz, oidBit, oidVarbit:
			mod = int32(args[0])
		}
	}
	if t.Array {
		return c.arrayOf(info.oid), mod
	}
	return info.oid, mod
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

func (c *compiler) array(s *scope, e *statement.Array) *expr {
	items := c.exprs(s, e.Items)
	var types []oid
	for _, i := range items {
		types = append(types, i.typ)
	}
	t := c.common(types)
	for i := range items {
		items[i] = c.coerce(items[i], t, -1)
	}
	typ, elem := c.arrayOf(t), t
	if inner := c.elem(t); inner != 0 && t != oidInt2vector && t != oidOidvector {
		typ, elem = t, inner
	}
	return &expr{typ: typ, mod: -1, name: "array", eval: func(f *frame) any {
		a := &array{elem: elem, lower: 1}
		for _, i := range items {
			a.items = append(a.items, i.eval(f))
		}
		return a
	}}
}

func (c *compiler) row(s *scope, e *statement.Row) *expr {
	items := c.exprs(s, e.Items)
	var columns []column
	for i, x := range items {
		if x.typ == oidUnknown {
			items[i] = c.coerce(x, oidText, -1)
		}
		columns = append(columns, column{"f" + itoa(i+1), items[i].typ, items[i].mod, items[i].fields})
	}
	return &expr{typ: oidRecord, mod: -1, name: "row", fields: columns, eval: func(f *frame) any {
		r := &record{columns: columns}
		for _, i := range items {
			r.values = append(r.values, i.eval(f))
		}
		return r
	}}
}

func (c *compiler) index(s *scope, e *statement.Index) *expr {
	x := c.expr(s, e.X)
	elem := c.elem(x.typ)
	if x.typ == oidName && !e.Slice { // the bytes of a name, from 0
		i := c.coerce(c.expr(s, e.I), oidInt4, -1)
		return &expr{typ: oidChar, mod: -1, name: x.name, eval: func(f *frame) any {
			text, ok := x.eval(f).(string)
			n, known := i.eval(f).(int64)
			if !ok || !known || n < 0 || n > 63 {
				return nil
			}
			if n >= int64(len(text)) {
				return ""
			}
			return text[n : n+1]
		}}
	}
	if elem == 0 {
		fail(wrongType, "cannot subscript type %s because it does not support subscripting", c.typeName(x.typ, -1))
	}
	bound := func(e statement.Expr) *expr {
		if e == nil {
			return nil
		}
		return c.coerce(c.expr(s, e), oidInt4, -1)
	}
	lower, i := bound(e.Lower), bound(e.I)
	if !e.Slice {
		return &expr{typ: elem, mod: -1, name: x.name, eval: func(f *frame) any {
			a, ok := x.eval(f).(*array)
			n, known := i.eval(f).(int64)
			if !ok || !known || n < int64(a.lower) || n >= int64(a.lower+len(a.items)) {
				return nil
			}
			v := a.items[n-int64(a.lower)]
			return v
		}}
	}
	return &expr{typ: x.typ, mod: -1, name: x.name, eval: func(f *frame) any {
		a, ok := x.eval(f).(*array)
		if !ok {
			return nil
		}
		from, to := int64(a.lower), int64(a.lower+len(a.items)-1)
		for _, b := range []struct {
			e    *expr
			into *int64
		}{{lower, &from}, {i, &to}} {
			if b.e == nil {
				continue
			}
			n, known := b.e.eval(f).(int64)
			if !known {
				return nil
			}
			*b.into = n
		}
		from, to = max(from, int64(a.lower)), min(to, int64(a.lower+len(a.items)-1))
		out := &array{elem: a.elem, lower: 1}
		if from <= to {
			out.items = a.items[from-int64(a.lower) : to-int64(a.lower)+1]
		}
		return out
	}}
}

func (c *compiler) field(s *scope, e *statement.Field) *expr {
	if e.Star {
		fail(unsupported, "expansion of a row by .* is not supported here")
	}
	x := c.expr(s, e.X)
	for i, f := range x.fields {
		if f.name == e.Name {
			return &expr{typ: f.typ, mod: f.mod, name: e.Name, fields: f.fields, eval: func(fr *frame) any {
				if r, ok := x.eval(fr).(*record); ok && i < len(r.values) {
					return r.values[i]
				}
				return nil
			}}
		}
	}
	if len(x.fields) > 0 {
		fail(noColumn, "column %q not found in data type %s", e.Name, c.typeName(x.typ, -1))
	}
	out := fixed(oidText, nil) // a record of which nothing is known
	out.name = e.Name
	return out
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

// calculations are the operators of which arithmetic knows numbers alone.
var calculations = []string{"+", "-", "*", "/", "%", "^"}

func (k *knowledge) calculable(t oid) bool {
	t = k.base(t)
	return integer(t) || float(t) || t == oidNumeric
}

func temporal(t oid) bool {
	switch t {
	case oidDate, oidTime, oidTimetz, oidTimestamp, oidTimestamptz, oidInterval:
		return true
	}
	return false
}
