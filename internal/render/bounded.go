package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// Release renders the contribution-bounded aggregation of a release.
//
// The rows are sorted once by (unit, hash of the group, group, hash of the row,
// row); three window functions share that sort:
//
//	d  which of the unit's groups this is, in the order of their hashes
//	r  which of the unit's rows in the group, in the order of theirs
//
// Hashes are salted and of 64 bits; the columns behind them break ties, so that
// only identical rows remain tied, and which of those is kept changes nothing.
// Identical rows have one hash and so are kept or dropped in a run: which rows
// are kept is a function of the unit's own rows and the salt alone.
func Release(b *plan.Bounded) (engine.Query, error) {
	q := engine.Query{Values: len(b.Contributions), Sliceable: !b.OneRow}
	for _, k := range b.Keys {
		q.Keys = append(q.Keys, k.Type())
	}
	r := &renderer{}
	input, scope := r.relation(b.Input), r.scope(column)
	w := &bounded{node: b}
	rows := []string{column(b.Unit) + " AS u"}
	for i, k := range b.Keys {
		w.keys = append(w.keys, fmt.Sprintf("k%d", i))
		rows = append(rows, fmt.Sprintf("%s AS k%d", scope.expr(k), i))
	}
	for i, c := range b.Contributions {
		if c.Kind == plan.DistinctValues {
			q.Sliceable = false
		}
		if c.Value == nil {
			continue
		}
		rows = append(rows, fmt.Sprintf("%s AS v%d", scope.expr(c.Value), i))
		if c.Kind == plan.Added && !isOne(c.Value) {
			w.chosen = append(w.chosen, fmt.Sprintf("v%d", i))
		}
	}
	source := fmt.Sprintf("SELECT %s FROM (%s) AS t", strings.Join(rows, ", "), input)
	if !b.OneRow {
		source = fmt.Sprintf("SELECT * FROM (%s) AS t WHERE hash(u) %% CAST($slices AS UBIGINT) = CAST($slice AS UBIGINT)", source)
	}
	q.SQL, q.Tables = w.render(source), r.tables
	return q, r.err
}

func isOne(e plan.Expr) bool {
	l, ok := e.(*plan.Literal)
	return ok && l.T == sqltype.Of(sqltype.Bigint) && l.Value == int64(1)
}

type bounded struct {
	node   *plan.Bounded
	keys   []string // k0, k1, ...
	chosen []string // values that the choice of rows matters to
}

func (w *bounded) render(rows string) string {
	b := w.node
	switch {
	case b.OneRow:
		return w.group(rows, w.oneRow)
	case len(w.keys) == 0 && w.countsOnly():
		// One group and no choice among rows: counting each unit's rows will do.
		units := fmt.Sprintf("SELECT u, count(*) AS n FROM (%s) AS t GROUP BY u", rows)
		return w.group(units, func(i int, c plan.Contribution) string {
			if c.Kind == plan.UnitCount {
				return "count(*)"
			}
			return fmt.Sprintf("sum(least(n, %d))", b.MaxRows)
		})
	}
	hashed := []string{"*", w.hash(w.keys) + " AS hk"}
	group := append([]string{"hk"}, w.keys...)
	row := group
	if len(w.chosen) > 0 {
		hashed = append(hashed, w.hash(append(w.keys[:len(w.keys):len(w.keys)], w.chosen...))+" AS hr")
		row = append(append(group[:len(group):len(group)], "hr"), w.chosen...)
	}
	byGroup := fmt.Sprintf("OVER (PARTITION BY u ORDER BY %s)", strings.Join(group, ", "))
	byRow := fmt.Sprintf("OVER (PARTITION BY u ORDER BY %s)", strings.Join(row, ", "))
	ranked := []string{"*",
		fmt.Sprintf("dense_rank() %s AS d", byGroup),
		fmt.Sprintf("row_number() %s - rank() %s + 1 AS r", byRow, byGroup)}
	byUnit := append([]string{"u"}, w.keys...)
	distinct := false
	for i, c := range b.Contributions {
		if c.Kind == plan.DistinctValues {
			distinct = true
			ranked = append(ranked, fmt.Sprintf("dense_rank() OVER (PARTITION BY %s ORDER BY v%d IS NULL, %s, v%d) AS s%d",
				strings.Join(byUnit, ", "), i, w.hash(append(w.keys[:len(w.keys):len(w.keys)], fmt.Sprintf("v%d", i))), i, i))
		}
	}
	if distinct { // whole groups of a unit are then looked at by windows too
		for i, c := range b.Contributions {
			if w.ofUnit(c) {
				ranked = append(ranked, fmt.Sprintf("%s(v%d) OVER (PARTITION BY %s) AS s%d",
					map[plan.ContributionKind]string{plan.Clamped: "sum", plan.UnitCount: "bool_or"}[c.Kind], i, strings.Join(byUnit, ", "), i))
			}
		}
	}
	kept := fmt.Sprintf("d <= %d", b.MaxGroups)
	if w.rowsOnly() {
		kept += fmt.Sprintf(" AND r <= %d", b.MaxRows)
	}
	text := fmt.Sprintf("SELECT * FROM (SELECT %s FROM (SELECT %s FROM (%s) AS t) AS t) AS t WHERE %s",
		strings.Join(ranked, ", "), strings.Join(hashed, ", "), rows, kept)
	if !distinct && slices.ContainsFunc(b.Contributions, w.ofUnit) {
		return w.group(w.unitGroups(text, byUnit), func(i int, _ plan.Contribution) string { return fmt.Sprintf("sum(p%d)", i) })
	}
	return w.group(text, w.boundedValue)
}

// ofUnit reports whether a contribution looks at all of a unit's rows in a group.
func (w *bounded) ofUnit(c plan.Contribution) bool {
	return c.Kind == plan.Clamped || c.Kind == plan.UnitCount && c.Value != nil
}

// unitGroups computes each unit's contributions to each of its kept groups.
func (w *bounded) unitGroups(rows string, byUnit []string) string {
	columns := append([]string(nil), byUnit...)
	for i, c := range w.node.Contributions {
		part := "1"
		switch {
		case c.Kind == plan.Clamped: // a sum of nothing adds nothing
			part = fmt.Sprintf("CASE WHEN sum(v%d) IS NOT NULL THEN least(greatest(sum(v%d), %s), %s) END", i, i, c.Lower, c.Upper)
		case c.Kind == plan.UnitCount && c.Value != nil:
			part = fmt.Sprintf("CASE WHEN bool_or(v%d) THEN 1 END", i)
		case c.Kind == plan.Added:
			part = fmt.Sprintf("sum(v%d) FILTER (WHERE r <= %d)", i, w.node.MaxRows)
		}
		columns = append(columns, fmt.Sprintf("%s AS p%d", part, i))
	}
	return fmt.Sprintf("SELECT %s FROM (%s) AS t GROUP BY %s", strings.Join(columns, ", "), rows, strings.Join(byUnit, ", "))
}

// hash is the salted hash of the unit and more columns. DuckDB ends the hash of
// several columns with an exclusive or of the last one's own hash, which would
// rank some values before others under most salts; hashing the hash once more
// makes every order equally likely.
func (w *bounded) hash(columns []string) string {
	return fmt.Sprintf("hash(hash(%s))", strings.Join(append([]string{"CAST($salt AS BIGINT)", "u"}, columns...), ", "))
}

// countsOnly reports whether every contribution counts rows or units as they are.
func (w *bounded) countsOnly() bool {
	for _, c := range w.node.Contributions {
		if !(c.Kind == plan.UnitCount && c.Value == nil || c.Kind == plan.Added && isOne(c.Value)) {
			return false
		}
	}
	return true
}

// rowsOnly reports whether no contribution looks at rows beyond the kept ones.
func (w *bounded) rowsOnly() bool {
	if w.node.MaxRows == 0 {
		return false
	}
	for _, c := range w.node.Contributions {
		if c.Kind != plan.Added && (c.Kind != plan.UnitCount || c.Value != nil) {
			return false
		}
	}
	return true
}

// group sums the contributions by key.
func (w *bounded) group(rows string, value func(int, plan.Contribution) string) string {
	columns := w.keys[:len(w.keys):len(w.keys)]
	for i, c := range w.node.Contributions {
		columns = append(columns, fmt.Sprintf("CAST(%s AS HUGEINT) AS x%d", value(i, c), i))
	}
	text := fmt.Sprintf("SELECT %s FROM (%s) AS t", strings.Join(columns, ", "), rows)
	if len(w.keys) > 0 {
		text += " GROUP BY " + strings.Join(w.keys, ", ")
	}
	return text
}

// oneRow is a contribution where every row is the only one of its unit.
func (w *bounded) oneRow(i int, c plan.Contribution) string {
	v := fmt.Sprintf("v%d", i)
	switch {
	case c.Kind == plan.Clamped:
		return fmt.Sprintf("sum(CASE WHEN %s IS NOT NULL THEN least(greatest(%s, %s), %s) END)", v, v, c.Lower, c.Upper)
	case c.Kind == plan.DistinctValues:
		return fmt.Sprintf("count(DISTINCT %s)", v)
	case c.Kind == plan.UnitCount && c.Value == nil:
		return "count(*)"
	case c.Kind == plan.UnitCount:
		return fmt.Sprintf("count(*) FILTER (WHERE %s)", v)
	}
	return fmt.Sprintf("sum(%s)", v)
}

// boundedValue is a contribution over ranked rows of kept groups.
func (w *bounded) boundedValue(i int, c plan.Contribution) string {
	switch {
	case c.Kind == plan.Clamped:
		// Once for each unit and group, at its first row; NULL adds nothing.
		return fmt.Sprintf("sum(CASE WHEN s%d IS NOT NULL THEN least(greatest(s%d, %s), %s) END) FILTER (WHERE r = 1)", i, i, c.Lower, c.Upper)
	case c.Kind == plan.DistinctValues:
		return fmt.Sprintf("count(DISTINCT v%d) FILTER (WHERE s%d <= %d)", i, i, w.node.MaxRows)
	case c.Kind == plan.UnitCount && c.Value == nil:
		return "count(*) FILTER (WHERE r = 1)"
	case c.Kind == plan.UnitCount:
		return fmt.Sprintf("count(*) FILTER (WHERE r = 1 AND s%d)", i)
	case w.rowsOnly():
		return fmt.Sprintf("sum(v%d)", i)
	}
	return fmt.Sprintf("sum(v%d) FILTER (WHERE r <= %d)", i, w.node.MaxRows)
}
