package pgcatalog

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// setOperation compiles UNION, INTERSECT and EXCEPT.
func (c *compiler) setOperation(s *scope, q *statement.Select) *plan {
	left, right := c.parts(q.Left, s), c.parts(q.Right, s)
	if len(left.columns) != len(right.columns) {
		fail(syntax, "each %s query must have the same number of columns", q.Op)
	}
	var types []oid
	p := &plan{origins: make([]origin, len(left.columns))}
	for i, l := range left.columns {
		r := right.columns[i]
		t := c.common([]oid{l.typ, r.typ})
		if l.typ == oidUnknown && r.typ == oidUnknown {
			t = oidText
		}
		types = append(types, t)
		mod := l.mod
		if l.typ != t || r.typ != t || l.mod != r.mod {
			mod = -1
		}
		p.columns = append(p.columns, column{l.name, t, mod, l.fields})
	}
	left, right = c.as(left, types), c.as(right, types)
	finish := c.ordering(s, q, p.columns, nil)
	p.run = func(qu *query, outer *frame, yield func([]any) bool) {
		f := &frame{q: qu, outer: outer}
		l, r := left.table(qu, f).rows, right.table(qu, f).rows
		var rows []outRow
		give := func(row []any) { rows = append(rows, outRow{row, nil}) }
		id := func(row []any) string { qu.tick(1); return string(key(nil, &record{values: row})) }
		seen := map[string]int{}
		switch q.Op {
		case "UNION":
			for _, row := range slices.Concat(l, r) {
				if k := id(row); q.All || seen[k] == 0 {
					seen[k]++
					give(row)
				}
			}
		default:
			for _, row := range r {
				seen[id(row)]++
			}
			given := map[string]bool{}
			for _, row := range l {
				k := id(row)
				in := seen[k] > 0
				if in && q.All {
					seen[k]--
				}
				if in == (q.Op == "INTERSECT") && (q.All || !given[k]) {
					given[k] = true
					give(row)
				}
			}
		}
		finish(f, rows, yield)
	}
	return p
}
