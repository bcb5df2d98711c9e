package pgcatalog

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// An outRow is a row of a result with the keys by which it is sorted, those of DISTINCT ON first.
type outRow struct{ values, keys []any }

// A sortKey is a key of ORDER BY: a column of the result, or an expression.
type sortKey struct {
	position         int // or -1
	expr             *expr
	desc, nullsFirst bool
}

// sortKeys finds what ORDER BY means.
func (c *compiler) sortKeys(s *scope, order []statement.Order, columns []column, expression func(statement.Expr) *expr) (keys []sortKey) {
	for _, o := range order {
		k := sortKey{position: -1, desc: o.Desc, nullsFirst: o.NullsFirst}
		if n, ok := o.Expr.(*statement.Const); ok {
			i, ok := n.Value.(int64)
			if ok && (i < 1 || int(i) > len(columns)) {
				fail("42P10", "ORDER BY position %d is not in select list", i)
			}
			if ok {
				k.position = int(i) - 1
			}
		}
		if col, ok := o.Expr.(*statement.Column); ok && len(col.Parts) == 1 && !col.Star && k.position < 0 {
			k.position = slices.IndexFunc(columns, func(x column) bool { return x.name == col.Parts[0] })
		}
		if k.position < 0 {
			if expression == nil {
				fail(unsupported, "ORDER BY of this query must name its columns")
			}
			k.expr = expression(o.Expr)
		}
		keys = append(keys, k)
	}
	return keys
}

// ordering compiles ORDER BY, LIMIT and OFFSET of rows that are all there.
func (c *compiler) ordering(s *scope, q *statement.Select, columns []column, expression func(statement.Expr) *expr) func(*frame, []outRow, func([]any) bool) {
	keys := c.sortKeys(s, q.Order, columns, expression)
	limits := c.limits(s, q)
	return func(f *frame, rows []outRow, yield func([]any) bool) {
		if len(keys) > 0 {
			sortRows(f.q, rows, keys)
		}
		skip, most := limits(f)
		for _, row := range rows {
			if skip > 0 {
				skip--
				continue
			}
			if most == 0 || !yield(row.values) {
				return
			}
			most--
		}
	}
}

// sortRows sorts by keys: those that are expressions have their values in the rows.
func sortRows(q *query, rows []outRow, keys []sortKey) {
	slices.SortStableFunc(rows, func(a, b outRow) int {
		q.tick(1)
		for i, k := range keys {
			var x, y any
			if k.position >= 0 {
				x, y = a.values[k.position], b.values[k.position]
			} else {
				x, y = a.keys[i], b.keys[i]
			}
			n := 0
			switch {
			case x == nil && y == nil:
				continue
			case x == nil:
				n = 1
				if k.nullsFirst {
					n = -1
				}
				return n
			case y == nil:
				n = -1
				if k.nullsFirst {
					n = 1
				}
				return n
			}
			if n = compare(x, y); n != 0 {
				if k.desc {
					n = -n
				}
				return n
			}
		}
		return 0
	})
}

// limits compiles LIMIT and OFFSET; a limit of -1 is none.
func (c *compiler) limits(s *scope, q *statement.Select) func(*frame) (skip, most int64) {
	bound := func(e statement.Expr) *expr {
		if e == nil {
			return nil
		}
		return c.coerce(c.expr(s, e), oidInt8, -1)
	}
	limit, offset := bound(q.Limit), bound(q.Offset)
	return func(f *frame) (skip, most int64) {
		most = -1
		if limit != nil {
			if n, ok := limit.eval(f).(int64); ok {
				if most = n; n < 0 {
					fail("2201W", "LIMIT must not be negative")
				}
			}
		}
		if offset != nil {
			if n, ok := offset.eval(f).(int64); ok {
				if skip = n; n < 0 {
					fail("2201X", "OFFSET must not be negative")
				}
			}
		}
		return skip, most
	}
}
