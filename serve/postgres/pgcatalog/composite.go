package pgcatalog

import "github.com/discreet-dp/discreet/internal/sqlparse/statement"

// array compiles ARRAY[...], whose items get one type.
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
