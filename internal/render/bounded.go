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
// Where no row has to be chosen among others (rows are counted, or partial sums clamped), the
// rows of each unit and group are aggregated: what they add is a function of the unit's own
// rows, bounded by R or its clamp. If a unit can be in more groups than it may, its groups are
// then sorted by their hashes, and the first L0 are kept; their rows need no sort. What is
// kept is summed. Where a group's number and what a unit adds to it are few bits, both stand
// behind the group's hash in one integer, of which each unit's least are kept: that needs no
// sort at all.
//
// Elsewhere the rows are sorted once by (unit, hash of the group, group, hash of the row,
// row); three window functions share that sort:
//
//	d  which of the unit's groups this is, in the order of their hashes
//	r  which of the unit's rows in the group, in the order of theirs
//
// Hashes are salted and of 64 bits; the columns behind them break ties, so that
// only identical rows remain tied, and which of those is kept changes nothing.
// Identical rows have one hash and so are kept or dropped in a run: which rows
// are kept is a function of the unit's own rows and the salt alone. Where all keys are
// listed, the last bits of a group's hash are its number among all groups, which breaks
// ties as well and is sorted faster.
//
// A dialect may do less. Forms of one dialect keep the same groups of a unit, as they order them by the same numbers, and, where groups
// are numbered in both, the same rows of a group:
//
//	group  all           where every row counts, or none is to be left out
//	order  PostgreSQL    rows are counted: their numbers are gathered in order
//	split  PostgreSQL    sums, trees: rows are gathered by unit, and those of units that a bound cuts are ranked
//	gather Trino         rows are gathered by unit, and chosen within arrays
//	least  DuckDB        rows are grouped first, and those of groups that a bound cuts are ranked
//	byUnit DuckDB        instead of the others, if our own aggregate is there: one grouping by unit
//	totals DuckDB        the same over a copy of a table
//	bound  all           anything else, such as distinct values
//
// Where there are no more than L0 groups, no unit can be in more, and none is left out.
func (d Dialect) Release(b *plan.Bounded) (engine.Query, error) { return d.release(b, nil, false) }

// Stages are the rows of each plan.Stage, by its number: constants that were released before.
type Stages map[int][][]sqltype.Value

// ReleaseOver is Release where stages are known.
func (d Dialect) ReleaseOver(b *plan.Bounded, stages Stages) (engine.Query, error) {
	return d.release(b, stages, false)
}

// Release renders the contribution-bounded aggregation of a release in DuckDB's SQL: see
// Dialect.Release.
func Release(b *plan.Bounded) (engine.Query, error) { return DuckDB.Release(b) }

// Compared is Release with hashes that are the same in every engine, the first 8 bytes of
// a SHA-256 of salt, unit and group, so that every engine keeps the same rows. It is slower,
// and for tests that compare engines.
func (d Dialect) Compared(b *plan.Bounded) (engine.Query, error) { return d.release(b, nil, true) }

// ComparedOver is Compared where stages are known.
func (d Dialect) ComparedOver(b *plan.Bounded, stages Stages) (engine.Query, error) {
	return d.release(b, stages, true)
}

func (d Dialect) release(b *plan.Bounded, stages Stages, compared bool) (engine.Query, error) {
	r, err := d.renderer()
	if err != nil {
		return engine.Query{}, err
	}
	r.stages = stages
	q, err := r.release(b, compared)
	if _, able := r.dialect.(totalling); err != nil || !able {
		return q, err
	}
	if b.Whole {
		copied := &renderer{dialect: r.dialect, stages: stages, copied: true}
		l, err := copied.release(b, compared)
		if l.SQL != "" {
			q.Whole = &engine.Whole{SQL: l.SQL}
		}
		return q, err
	}
	if !r.found {
		return q, err
	}
	over := &renderer{dialect: r.dialect, stages: stages, holds: true}
	h, err := over.release(b, compared)
	q.Held = &engine.Held{SQL: h.SQL, Groups: h.Groups, Least: h.Least, Totals: h.Totals, Copies: over.copies, Tables: over.tables}
	return q, err
}

func (r *renderer) release(b *plan.Bounded, compared bool) (engine.Query, error) {
	slice := r.dialect.slice("u")
	q := engine.Query{Values: len(b.Contributions), Sliceable: !b.Whole && slice != ""}
	input, scope := "", r.scope(column)
	w := &bounded{node: b, scope: scope, compared: compared, types: map[string]sqltype.Type{"u": b.Input.Columns()[b.Unit].Type}}
	if r.copied {
		var of plan.Node
		of, w.among = keysApart(b)
		if input = r.laid(of, b.Unit, false); input == "" {
			return engine.Query{}, r.err
		}
		scope = scope.over(of)
	} else {
		input = r.relation(b.Input)
	}
	for _, i := range w.shown() {
		q.Keys = append(q.Keys, b.Keys[i].Type())
	}
	rows, columns := []string{column(b.Unit) + " AS u"}, []string{"u"} // of a subquery, and of what is around it
	var where, listed, joins []string                                  // listed says of keys that they are in their lists
	fence := ""
	splits := w.splitting()
	for i, k := range b.Keys {
		key, value := fmt.Sprintf("k%d", i), scope.expr(k)
		selected := key
		if list := w.listed(i); list != nil { // NULL, or no place, where it is none of them
			switch d, g := w.placing(i), w.gathering(); {
			case w.sifting() != nil:
			case d != nil:
				value = d.place(value, scope.texts(list))
				where = append(where, key+" > 0")
			case g != nil:
				value = g.place(value, scope.texts(list))
			case w.numbered():
				joins = append(joins, fmt.Sprintf(" JOIN %s ON %s = l%d.name", w.numbers(i), key, i))
				selected = fmt.Sprintf("l%d.place AS %s", i, key)
			default:
				value = r.dialect.listed(scope, value, scope.texts(list))
				listed = append(listed, key+" IS NOT NULL")
			}
		}
		w.keys, w.types[key] = append(w.keys, key), k.Type()
		rows, columns = append(rows, value+" AS "+key), append(columns, selected)
	}
	if b.Bin != nil {
		q.Keys = append(q.Keys, b.Bin.Type())
		rows, columns = append(rows, scope.expr(b.Bin)+" AS b"), append(columns, "b")
		w.chosen, w.types["b"] = append(w.chosen, "b"), b.Bin.Type()
	}
	for i, c := range b.Contributions {
		if c.Kind == plan.DistinctValues {
			q.Sliceable = false
		}
		if c.Value == nil {
			continue
		}
		name := fmt.Sprintf("v%d", i)
		w.types[name] = c.Value.Type()
		value, selected := "", name
		if call, ok := c.Value.(*plan.Call); ok && splits != nil && call.Function == plan.Fixed {
			if product, round, ok := splits.scaled(scope, call); ok {
				value, selected, fence = product, round(name)+" AS "+name, splits.fence()
			}
		}
		if value == "" {
			value = scope.expr(c.Value)
		}
		rows, columns = append(rows, value+" AS "+name), append(columns, selected)
		if c.Kind == plan.Added && !isOne(c.Value) {
			w.chosen = append(w.chosen, name)
		}
	}
	if !b.Whole && slice != "" {
		where = append(where, slice)
	}
	source := func(input string, where []string) string {
		text := fmt.Sprintf("SELECT %s FROM (%s) AS t%s", strings.Join(rows, ", "), input, fence)
		if len(where)+len(joins) > 0 || fence != "" {
			text = fmt.Sprintf("SELECT %s FROM (%s) AS t%s", selection(columns), text, strings.Join(joins, ""))
			if len(where) > 0 {
				text += " WHERE " + strings.Join(where, " AND ")
			}
		}
		return text
	}
	all := append(listed, where...)
	w.of = func(units string) string {
		return source(fmt.Sprintf("SELECT t.* FROM (%s) AS t SEMI JOIN (%s) AS cut ON t.%s = cut.u", input, units, column(b.Unit)), all)
	}
	q.SQL, q.Tables = w.render(source(input, all)), r.tables
	q.Least = w.byUnit(source(input, where))
	q.Totals = w.totals(r, rows)
	q.Groups = w.groups
	return q, r.err
}

// selection selects columns, all of them by a star if each is as it is.
func selection(columns []string) string {
	if !slices.ContainsFunc(columns, func(c string) bool { return strings.Contains(c, " ") }) {
		return "*"
	}
	return strings.Join(columns, ", ")
}

func isOne(e plan.Expr) bool {
	l, ok := e.(*plan.Literal)
	return ok && l.T == sqltype.Of(sqltype.Bigint) && l.Value == int64(1)
}

type bounded struct {
	scope
	node     *plan.Bounded
	keys     []string                // k0, k1, ...
	chosen   []string                // values that the choice of rows matters to
	types    map[string]sqltype.Type // of u, of the keys, and of the values v0, v1, ...
	compared bool
	among    []plan.Expr               // conditions on groups, in which keys stand by their numbers
	of       func(units string) string // the rows of some units, which a SELECT of them names
	groups   string                    // what does not depend on the salt: see engine.Query.Groups
}

func (w *bounded) render(rows string) string {
	if w.node.Whole {
		return w.group(rows, w.whole)
	}
	if d := w.splitting(); d != nil {
		return w.split(d, rows)
	}
	if d := w.gathering(); d != nil {
		return w.gather(d, rows)
	}
	if d, ok := w.least(); ok && !w.packs() {
		return w.leastGroups(d, rows)
	}
	return w.bound(rows)
}

// bound bounds what each unit contributes.
func (w *bounded) bound(rows string) string {
	b := w.node
	switch {
	case w.packs():
		w.groups = w.unitGroups(rows, false)
		return w.addUp(w.leastPacked(w.groups))
	case w.summable():
		w.groups = w.unitGroups(rows, false)
		return w.group(w.firstGroups(w.groups), w.ofGroups)
	}
	hashed := []string{"*", w.groupHash() + " AS hk"}
	group := w.groupOrder()
	row := group
	if len(w.chosen) > 0 {
		hashed = append(hashed, w.rowHash()+" AS hr")
		row = append(append(group[:len(group):len(group)], "hr"), w.chosen...)
	}
	byGroup := fmt.Sprintf("OVER (PARTITION BY u ORDER BY %s)", strings.Join(group, ", "))
	byRow := fmt.Sprintf("OVER (PARTITION BY u ORDER BY %s)", strings.Join(row, ", "))
	ranked := []string{"*"}
	var kept []string
	if w.cuts() {
		ranked = append(ranked, fmt.Sprintf("dense_rank() %s AS d", byGroup))
		kept = append(kept, fmt.Sprintf("d <= %d", b.MaxGroups))
	}
	ranked = append(ranked, fmt.Sprintf("row_number() %s - rank() %s + 1 AS r", byRow, byGroup))
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
				all := fmt.Sprintf("bool_or(v%d)", i)
				if c.Kind == plan.Clamped {
					all = w.sumOf(fmt.Sprintf("v%d", i))
				}
				ranked = append(ranked, fmt.Sprintf("%s OVER (PARTITION BY %s) AS s%d", all, strings.Join(byUnit, ", "), i))
			}
		}
	}
	if w.rowsOnly() {
		kept = append(kept, fmt.Sprintf("r <= %d", b.MaxRows))
	}
	text := fmt.Sprintf("SELECT %s FROM (SELECT %s FROM (%s) AS t) AS t", strings.Join(ranked, ", "), strings.Join(hashed, ", "), rows)
	if len(kept) > 0 {
		text = fmt.Sprintf("SELECT * FROM (%s) AS t WHERE %s", text, strings.Join(kept, " AND "))
	}
	if !distinct && slices.ContainsFunc(b.Contributions, w.ofUnit) {
		return w.group(w.unitGroups(text, false), w.ofGroups)
	}
	return w.group(text, w.boundedValue)
}

// sumOf prints the sum of a column, or of what is made of it.
func (w *bounded) sumOf(x string) string { return "sum(" + w.dialect.summand(x) + ")" }

// shown are the keys by which what is kept is summed.
func (w *bounded) shown() []int {
	if w.node.Shown != nil {
		return w.node.Shown
	}
	all := make([]int, len(w.node.Keys))
	for i := range all {
		all[i] = i
	}
	return all
}

// addUp sums groups by the keys that are shown.
func (w *bounded) addUp(groups string) string {
	if w.node.Shown == nil && len(w.keys) > 0 {
		return groups
	}
	var names, columns, by []string
	for i := range w.keys {
		names = append(names, fmt.Sprintf("c%d", i))
	}
	for _, i := range w.node.Shown {
		columns, by = append(columns, names[i]), append(by, names[i])
	}
	for i := range w.node.Contributions {
		names = append(names, fmt.Sprintf("x%d", i))
		columns = append(columns, w.dialect.sum(w.sumOf(fmt.Sprintf("x%d", i)))+fmt.Sprintf(" AS x%d", i))
	}
	text := fmt.Sprintf("SELECT %s FROM (%s) AS t(%s)", strings.Join(columns, ", "), groups, strings.Join(names, ", "))
	if len(by) > 0 {
		text += " GROUP BY " + strings.Join(by, ", ")
	}
	return text
}

// ofGroups is a contribution over what units add to their kept groups. A unit that is in several
// groups of one that is shown is still one.
func (w *bounded) ofGroups(i int, c plan.Contribution) string {
	if w.node.Shown != nil && c.Kind == plan.UnitCount {
		return fmt.Sprintf("count(DISTINCT u) FILTER (WHERE p%d IS NOT NULL)", i)
	}
	return w.sumOf(fmt.Sprintf("p%d", i))
}

// ofUnit reports whether a contribution looks at all of a unit's rows in a group.
func (w *bounded) ofUnit(c plan.Contribution) bool {
	return c.Kind == plan.Clamped || c.Kind == plan.UnitCount && c.Value != nil
}

// unitGroups computes each unit's contributions to each of its groups. Where some of their
// rows are to be chosen, they are ranked; with whole, there are no more than may be.
func (w *bounded) unitGroups(rows string, whole bool) string {
	byUnit := append([]string{"u"}, w.keys...)
	columns := byUnit[:len(byUnit):len(byUnit)]
	for i, c := range w.node.Contributions {
		part := w.unitPart(i, c)
		switch {
		case c.Kind == plan.Added && w.summable():
			part = fmt.Sprintf("least(count(*), %d)", w.node.MaxRows)
		case c.Kind == plan.Added && whole:
			part = w.sumOf(fmt.Sprintf("v%d", i))
		case c.Kind == plan.Added:
			part = fmt.Sprintf("%s FILTER (WHERE r <= %d)", w.sumOf(fmt.Sprintf("v%d", i)), w.node.MaxRows)
		}
		columns = append(columns, fmt.Sprintf("%s AS p%d", part, i))
	}
	return fmt.Sprintf("SELECT %s FROM (%s) AS t GROUP BY %s", strings.Join(columns, ", "), rows, strings.Join(byUnit, ", "))
}

// unitPart is what a unit adds to a group by a contribution that no rows are chosen for.
func (w *bounded) unitPart(i int, c plan.Contribution) string {
	switch {
	case c.Kind == plan.Clamped: // a sum of nothing adds nothing
		sum := w.sumOf(fmt.Sprintf("v%d", i))
		return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN least(greatest(%s, %s), %s) END", sum, sum, c.Lower, c.Upper)
	case c.Kind == plan.UnitCount && c.Value != nil:
		return fmt.Sprintf("CASE WHEN bool_or(v%d) THEN 1 END", i)
	}
	return "1"
}

// firstGroups keeps as many of each unit's groups as it may be in.
func (w *bounded) firstGroups(groups string) string {
	if !w.cuts() {
		return groups
	}
	return fmt.Sprintf("SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY %s) AS d FROM (SELECT *, %s AS hk FROM (%s) AS t) AS t) AS t WHERE d <= %d",
		strings.Join(w.groupOrder(), ", "), w.groupHash(), groups, w.node.MaxGroups)
}

// cuts reports whether a unit can be in more groups than it may.
func (w *bounded) cuts() bool { return len(w.node.Keys) > 0 && !w.node.EveryGroup }

// summable reports whether what a unit adds to a group needs no choice among its rows.
func (w *bounded) summable() bool {
	if w.node.Bin != nil { // rows of one bin are chosen among those of all
		return false
	}
	for _, c := range w.node.Contributions {
		if c.Kind == plan.DistinctValues || c.Kind == plan.Added && !isOne(c.Value) {
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

// group sums the contributions by key and bin.
func (w *bounded) group(rows string, value func(int, plan.Contribution) string) string {
	var columns, by, having []string
	for _, i := range w.shown() {
		key := w.keys[i]
		by = append(by, key)
		if d := w.sifting(); w.listed(i) != nil && d != nil {
			having = append(having, d.sifted(key, w.texts(w.listed(i))))
		} else if w.listed(i) != nil {
			key = w.unlisted(i)
		}
		if key != w.keys[i] && w.numbered() {
			key += " AS " + w.keys[i]
		}
		columns = append(columns, key)
	}
	if w.node.Bin != nil {
		columns, by = append(columns, "b"), append(by[:len(by):len(by)], "b")
		rows = fmt.Sprintf("SELECT * FROM (%s) AS t WHERE b IS NOT NULL", rows)
	}
	for i, c := range w.node.Contributions {
		columns = append(columns, fmt.Sprintf("%s AS x%d", w.dialect.sum(value(i, c)), i))
	}
	for _, condition := range w.among {
		having = append(having, "CASE WHEN count(*) > 0 THEN "+w.renderer.scope(func(i int) string { return w.keys[i] }).expr(condition)+" END")
	}
	text := fmt.Sprintf("SELECT %s FROM (%s) AS t", strings.Join(columns, ", "), rows)
	if len(by) > 0 {
		text += " GROUP BY " + strings.Join(by, ", ")
	}
	if len(having) > 0 {
		text += " HAVING " + strings.Join(having, " AND ")
	}
	return text
}

// whole is a contribution where every row counts, and is the only one of its unit where units are counted or
// sums of one clamped.
func (w *bounded) whole(i int, c plan.Contribution) string {
	v := fmt.Sprintf("v%d", i)
	switch {
	case c.Kind == plan.Clamped:
		return w.sumOf(fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN least(greatest(%s, %s), %s) END", v, v, c.Lower, c.Upper))
	case c.Kind == plan.DistinctValues:
		return fmt.Sprintf("count(DISTINCT %s)", v)
	case c.Kind == plan.UnitCount && c.Value == nil, isOne(c.Value):
		return "count(*)"
	case c.Kind == plan.UnitCount:
		return fmt.Sprintf("count(*) FILTER (WHERE %s)", v)
	}
	return w.sumOf(v)
}

// boundedValue is a contribution over ranked rows of kept groups.
func (w *bounded) boundedValue(i int, c plan.Contribution) string {
	switch {
	case c.Kind == plan.Clamped:
		// Once for each unit and group, at its first row; NULL adds nothing.
		return w.sumOf(fmt.Sprintf("CASE WHEN s%d IS NOT NULL THEN least(greatest(s%d, %s), %s) END", i, i, c.Lower, c.Upper)) + " FILTER (WHERE r = 1)"
	case c.Kind == plan.DistinctValues:
		return fmt.Sprintf("count(DISTINCT v%d) FILTER (WHERE s%d <= %d)", i, i, w.node.MaxRows)
	case c.Kind == plan.UnitCount && w.node.Shown != nil && c.Value == nil:
		return "count(DISTINCT u)"
	case c.Kind == plan.UnitCount && w.node.Shown != nil:
		return fmt.Sprintf("count(DISTINCT u) FILTER (WHERE s%d)", i)
	case c.Kind == plan.UnitCount && c.Value == nil:
		return "count(*) FILTER (WHERE r = 1)"
	case c.Kind == plan.UnitCount:
		return fmt.Sprintf("count(*) FILTER (WHERE r = 1 AND s%d)", i)
	case w.rowsOnly():
		return w.sumOf(fmt.Sprintf("v%d", i))
	}
	return fmt.Sprintf("%s FILTER (WHERE r <= %d)", w.sumOf(fmt.Sprintf("v%d", i)), w.node.MaxRows)
}
