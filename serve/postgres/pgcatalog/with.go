package pgcatalog

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// with compiles a query that WITH names.
func (c *compiler) with(s *scope, w *statement.CTE, recursive bool) {
	e := &cte{scope: s}
	if recursive && w.Query.Op == "UNION" && names(w.Query.Right, w.Name) {
		if len(w.Query.Order) > 0 || w.Query.Limit != nil || len(w.Query.With) > 0 {
			fail(unsupported, "ORDER BY, LIMIT and WITH in a recursive query are not supported")
		}
		e.plan = c.query(w.Query.Left, s)
		e.columns = rename(e.plan.columns, w.Columns)
		e.all, e.working = w.Query.All, true
		s.ctes = with(s.ctes, w.Name, e)
		recursive := c.query(w.Query.Right, s)
		if len(recursive.columns) != len(e.columns) {
			fail(syntax, "each UNION query must have the same number of columns")
		}
		var types []oid
		for _, col := range e.columns {
			types = append(types, col.typ)
		}
		e.recursive = c.as(recursive, types)
		e.working = false
		return
	}
	e.plan = c.query(w.Query, s)
	e.columns = rename(e.plan.columns, w.Columns)
	s.ctes = with(s.ctes, w.Name, e)
}

func with(m map[string]*cte, name string, e *cte) map[string]*cte {
	if m == nil {
		m = map[string]*cte{}
	}
	m[name] = e
	return m
}

// names says whether a query names a relation without a schema.
func names(q *statement.Select, name string) (found bool) {
	visit(q, func(r *statement.Relation) { found = found || r.Schema == "" && r.Name == name }, nil)
	return found
}

// table runs a query of WITH.
func (e *cte) table(owner *frame) *table {
	q := owner.q
	t := e.plan.table(q, owner)
	if e.recursive == nil {
		return t
	}
	seen := map[string]bool{}
	fresh := func(rows [][]any) (out [][]any) {
		for _, row := range rows {
			if !e.all {
				k := string(key(nil, &record{values: row}))
				if seen[k] {
					continue
				}
				seen[k] = true
			}
			out = append(out, row)
		}
		return out
	}
	step := fresh(t.rows)
	total := slices.Clone(step)
	for len(step) > 0 {
		q.tick(10)
		inner := &frame{q: q, outer: owner.outer, rows: owner.rows, cache: map[any]any{e: &table{rows: step}}}
		for k, v := range owner.cache { // what else WITH names, once run
			if k != any(e) {
				inner.cache[k] = v
			}
		}
		step = fresh(e.recursive.table(q, inner).rows)
		total = append(total, step...)
	}
	return &table{rows: total}
}

func (c *compiler) cteItem(s *scope, e *cte, depth int, name string, renamed []string) (node, namespace) {
	entry := s.add(&rte{alias: name, columns: rename(e.columns, renamed)})
	at := s
	for range depth {
		at.escapes = true
		at = at.outer
	}
	if e.working {
		source := func(f *frame) *table { return f.up(depth).cache[e].(*table) }
		return &scan{rte: entry.index, source: source, size: 20}, s.entry(entry)
	}
	source := func(f *frame) *table {
		owner := f.up(depth)
		return owner.once(e.plan, func() *table { return e.table(owner) })
	}
	return &scan{rte: entry.index, source: source, size: 100}, s.entry(entry)
}
