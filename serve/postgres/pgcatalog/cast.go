package pgcatalog

import (
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// castTo compiles CAST and ::, which make a value of one type one of another.
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
