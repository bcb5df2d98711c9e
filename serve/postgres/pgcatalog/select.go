package pgcatalog

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// selection compiles one SELECT.
func (c *compiler) selection(s *scope, q *statement.Select) *plan {
	s.named = q.Windows
	source := &group{}
	for _, item := range q.From {
		n, names := c.from(s, item)
		if inner, ok := n.(*group); ok {
			source.nodes, source.own = append(source.nodes, inner.nodes...), append(source.own, inner.own...)
		} else {
			source.nodes = append(source.nodes, n)
		}
		s.visible = s.visible.join(names)
	}
	var where []conjunct
	if q.Where != nil {
		where = c.conjuncts(s, q.Where)
	}
	if rest := source.attach(0, where); len(rest) > 0 {
		fail(unsupported, "this order of joins is not supported")
	}
	targets := c.targets(s, q)
	var columns []column
	origins := make([]origin, len(targets))
	for i, t := range targets {
		columns = append(columns, column{t.name, t.typ, t.mod, t.fields})
		origins[i] = origin{t.table, t.attnum}
	}
	grouping := c.grouping(s, q, targets)
	var having *expr
	if q.Having != nil {
		having = c.coerceBool(c.expr(s, q.Having))
	}
	expression := func(e statement.Expr) *expr { return c.expr(s, e) }
	keys := c.sortKeys(s, q.Order, columns, expression)
	var on []sortKey
	for _, e := range q.DistinctOn {
		on = append(on, c.sortKeys(s, []statement.Order{{Expr: e}}, columns, expression)...)
	}
	limits := c.limits(s, q)
	grouped := len(q.Group) > 0 || len(s.aggregates) > 0 || having != nil
	width := len(targets)
	p := &plan{columns: columns, origins: origins}
	streams := !grouped && len(s.windows) == 0 && len(keys) == 0 && !q.Distinct && len(on) == 0

	// frames calls give for each row before the targets are evaluated.
	frames := func(f *frame, give func() bool) {
		switch {
		case grouped:
			c.groups(f, s, source, grouping, having, give)
		default:
			source.run(f, give)
		}
	}
	p.run = func(qu *query, outer *frame, yield func([]any) bool) {
		f := &frame{q: qu, outer: outer, rows: make([][]any, len(s.rtes)), sets: make([]any, len(s.setCalls))}
		skip, most := limits(f)
		if most == 0 {
			return
		}
		var rows []outRow
		give := func() bool {
			return c.project(f, s, func() bool {
				qu.tick(1)
				row := outRow{values: make([]any, width)}
				for i, t := range targets {
					row.values[i] = t.eval(f)
				}
				if streams {
					if skip > 0 {
						skip--
						return true
					}
					if !yield(row.values) {
						return false
					}
					most--
					return most != 0
				}
				qu.hold(width + len(keys) + 4)
				if len(keys)+len(on) > 0 {
					row.keys = make([]any, len(keys)+len(on))
					for i, k := range slices.Concat(keys, on) {
						if k.expr != nil {
							row.keys[i] = k.expr.eval(f)
						} else {
							row.keys[i] = row.values[k.position]
						}
					}
				}
				rows = append(rows, row)
				return true
			})
		}
		if len(s.windows) > 0 {
			c.overWindows(f, s, frames, give)
		} else {
			frames(f, give)
		}
		if streams {
			return
		}
		sortRows(qu, rows, keys)
		seen := map[string]bool{}
		for _, row := range rows {
			if q.Distinct || len(on) > 0 {
				id := row.values
				if len(on) > 0 {
					id = row.keys[len(keys):]
				}
				k := string(key(nil, &record{values: id}))
				if seen[k] {
					continue
				}
				seen[k] = true
			}
			if skip > 0 {
				skip--
				continue
			}
			if !yield(row.values) {
				return
			}
			if most--; most == 0 {
				return
			}
		}
	}
	return p
}

// targets compiles the columns of the result.
func (c *compiler) targets(s *scope, q *statement.Select) (out []*expr) {
	for _, t := range q.Targets {
		if col, ok := t.Expr.(*statement.Column); ok && col.Star {
			out = append(out, c.star(s, col)...)
			continue
		}
		if f, ok := t.Expr.(*statement.Field); ok && f.Star {
			x := c.expr(s, f.X)
			for i, col := range x.fields {
				out = append(out, &expr{typ: col.typ, mod: col.mod, name: col.name, eval: func(fr *frame) any {
					if r, ok := x.eval(fr).(*record); ok {
						return r.values[i]
					}
					return nil
				}})
			}
			continue
		}
		x := *c.expr(s, t.Expr)
		if t.Name != "" {
			x.name = t.Name
		}
		out = append(out, &x)
	}
	if len(out) > 1664 {
		fail("54011", "target lists can have at most 1664 entries")
	}
	return out
}

// star expands * and t.*.
func (c *compiler) star(s *scope, col *statement.Column) (out []*expr) {
	if len(col.Parts) == 0 {
		if len(s.visible.columns) == 0 {
			fail(syntax, "SELECT * with no tables specified is not valid")
		}
		for _, v := range s.visible.columns {
			x := *v.get()
			x.name = v.name
			out = append(out, &x)
		}
		return out
	}
	depth := 0
	for at := s; at != nil; at, depth = at.outer, depth+1 {
		for _, r := range at.visible.rtes {
			if at.hidden || !r.is(col.Parts) {
				continue
			}
			for i := range r.columns {
				out = append(out, s.columnOf(r, i, depth))
			}
			return out
		}
	}
	panic(&Error{SQLState: noTable, Message: "missing FROM-clause entry for table \"" + col.Parts[len(col.Parts)-1] + "\"", Position: col.At + 1})
}

// grouping compiles GROUP BY, whose items may be positions or names of the result.
func (c *compiler) grouping(s *scope, q *statement.Select, targets []*expr) (out []*expr) {
	for _, e := range q.Group {
		if n, ok := e.(*statement.Const); ok {
			if i, ok := n.Value.(int64); ok {
				if i < 1 || int(i) > len(targets) {
					fail("42P10", "GROUP BY position %d is not in select list", i)
				}
				out = append(out, targets[i-1])
				continue
			}
		}
		if col, ok := e.(*statement.Column); ok && len(col.Parts) == 1 && !slices.ContainsFunc(s.visible.columns, func(v visibleColumn) bool { return v.name == col.Parts[0] }) {
			if i := slices.IndexFunc(targets, func(t *expr) bool { return t.name == col.Parts[0] }); i >= 0 {
				out = append(out, targets[i])
				continue
			}
		}
		out = append(out, c.expr(s, e))
	}
	return out
}

// groups runs the source, and gives each group in the frame: one of its rows, and its aggregates.
func (c *compiler) groups(f *frame, s *scope, source node, by []*expr, having *expr, give func() bool) {
	type bucket struct {
		rows   [][]any
		states []accumulator
	}
	start := func() *bucket {
		b := &bucket{rows: slices.Clone(f.rows)}
		for _, a := range s.aggregates {
			b.states = append(b.states, a.start())
		}
		return b
	}
	var order []*bucket
	found := map[string]*bucket{}
	source.run(f, func() bool {
		var id []byte
		for _, e := range by {
			id = key(id, e.eval(f))
		}
		b := found[string(id)]
		if b == nil {
			f.q.hold(len(f.rows) + 8*len(s.aggregates) + 4)
			b = start()
			found[string(id)] = b
			order = append(order, b)
		}
		for i, a := range s.aggregates {
			a.add(f, b.states[i])
		}
		return true
	})
	if len(by) == 0 && len(order) == 0 {
		f.clear(^uint64(0))
		order = append(order, start())
	}
	for _, b := range order {
		copy(f.rows, b.rows)
		f.aggs = make([]any, len(b.states))
		for i, state := range b.states {
			f.aggs[i] = state.result(f.q)
		}
		if having != nil && having.eval(f) != true {
			continue
		}
		if !give() {
			return
		}
	}
}

// project calls give once, or, where the targets have functions that return sets, once for
// each of their rows, side by side.
func (c *compiler) project(f *frame, s *scope, give func() bool) bool {
	if len(s.setCalls) == 0 {
		return give()
	}
	var all [][][]any
	most := 0
	for i, call := range s.setCalls {
		f.sets[i] = nil
		rows := call.run(f)
		all = append(all, rows)
		most = max(most, len(rows))
	}
	for n := range most {
		for i, rows := range all {
			f.sets[i] = nil
			if n < len(rows) {
				if call := s.setCalls[i]; call.composite {
					f.sets[i] = &record{call.columns, rows[n]}
				} else {
					f.sets[i] = rows[n][0]
				}
			}
		}
		if !give() {
			return false
		}
	}
	return true
}
