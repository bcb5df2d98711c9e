package pgcatalog

import "github.com/discreet-dp/discreet/internal/sqlparse/statement"

// sublink compiles a query in an expression.
func (c *compiler) sublink(s *scope, e *statement.Sublink) *expr {
	p := c.query(e.Query, s)
	rows := func(f *frame) *table {
		if !p.escapes {
			return f.q.once(p, func() *table { return p.table(f.q, f) })
		}
		return p.table(f.q, f)
	}
	switch e.Kind {
	case "exists":
		return &expr{typ: oidBool, mod: -1, name: "exists", heavy: true, eval: func(f *frame) any {
			if !p.escapes {
				return len(rows(f).rows) > 0
			}
			found := false
			p.run(f.q, f, func([]any) bool { found = true; return false })
			return found
		}}
	case "any", "all":
		return c.anySublink(s, e, p, rows)
	}
	if len(p.columns) != 1 {
		fail(syntax, "subquery must return only one column")
	}
	col := p.columns[0]
	if e.Kind == "array" {
		typ, elem := c.arrayOf(col.typ), col.typ
		return &expr{typ: typ, mod: -1, name: "array", heavy: true, eval: func(f *frame) any {
			a := &array{elem: elem, lower: 1}
			for _, row := range rows(f).rows {
				a.items = append(a.items, row[0])
			}
			return a
		}}
	}
	return &expr{typ: col.typ, mod: col.mod, name: col.name, heavy: true, fields: col.fields, eval: func(f *frame) any {
		t := rows(f)
		switch len(t.rows) {
		case 0:
			return nil
		case 1:
			return t.rows[0][0]
		}
		fail("21000", "more than one row returned by a subquery used as an expression")
		return nil
	}}
}

// anySublink compiles x IN (query) and its like.
func (c *compiler) anySublink(s *scope, e *statement.Sublink, p *plan, rows func(*frame) *table) *expr {
	var left []*expr
	if row, ok := e.X.(*statement.Row); ok {
		left = c.exprs(s, row.Items)
	} else {
		left = []*expr{c.expr(s, e.X)}
	}
	if len(left) != len(p.columns) {
		fail(syntax, "subquery has wrong number of columns")
	}
	var tests []*expr
	for i, x := range left {
		col := p.columns[i]
		y := &expr{typ: col.typ, mod: col.mod, eval: func(f *frame) any { return f.q.row[i] }}
		tests = append(tests, c.apply(e.Op, x, y, e.At))
	}
	every := e.Kind == "all"
	return &expr{typ: oidBool, mod: -1, name: "?column?", heavy: true, eval: func(f *frame) any {
		t := rows(f)
		saved := f.q.row
		defer func() { f.q.row = saved }()
		// With one column that can be looked up, the others need not be seen.
		list := t.rows
		if len(tests) == 1 && e.Op == "=" && !every && tests[0].equal != nil && len(list) > 8 {
			f.q.row = list[0]
			if v := tests[0].equal[0].eval(f); v != nil {
				if found, ok := t.lookup(0, v); ok && len(found) > 0 {
					return true
				}
			}
		}
		var result any = every
		for _, row := range list {
			f.q.tick(1)
			f.q.row = row
			var v any = true
			for _, t := range tests {
				v = both(v, t.eval(f))
			}
			switch {
			case v == nil:
				result = nil
			case v != every:
				return !every
			}
		}
		return result
	}}
}
