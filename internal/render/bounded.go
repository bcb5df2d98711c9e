package render

import (
	"fmt"
	"math"
	"math/bits"
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

// A sifting dialect looks for a key in its list once for each group, and not for each row, where every row counts: what
// is left out then takes nothing from what stays.
type sifting interface {
	sifted(key, texts string) string // a condition on groups
}

// sifting is the dialect in which keys that are none of their lists are left out after rows are grouped, or nil.
func (w *bounded) sifting() sifting {
	d, ok := w.dialect.(sifting)
	if !ok || !w.node.Whole || w.node.Shown != nil || !slices.ContainsFunc(w.node.Listed, func(list []string) bool { return list != nil }) {
		return nil
	}
	return d
}

// texts prints constants.
func (s scope) texts(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = s.literal(text, sqltype.Of(sqltype.Text))
	}
	return strings.Join(quoted, ", ")
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

// A packing dialect keeps the least of a unit's integers without a sort.
type packing interface {
	high(hash string, low int) string                // a bigint that is not negative, of a hash's high bits above low ones that are 0
	leastOf(x string, n int64, groups string) string // SELECTs, as h, the n least x of each unit
	nthLeast(x string, n int64) string               // aggregates bigints of which there are as many
	nth(list, i string) string                       // of constants, from 0
}

// What packs has few bits, so that most of the integer remains the hash's, and few groups of a
// unit are kept. Groups are ordered by as many bits of the hash in each form of a query, so that all forms keep the same ones: which form is asked
// may depend on the data: each unit's place for them is taken before it is known how many it has.
const (
	packedBits   = 24
	packedGroups = 16
)

// A placing dialect looks for a text in a short list faster than it compares types of lists.
type placing interface {
	packing
	place(value, texts string) string // of a text among constants, from 1; 0 or NULL where it is none of them
	placed(place string) string       // the same from 0, without a sign
}

// shortList is how many texts a list has at most in which each text is looked for one by one.
const shortList = 32

// placing is the dialect in which key i is a place in a list, or nil where it is a text, or of
// a type of the list's.
func (w *bounded) placing(i int) placing {
	d, ok := w.dialect.(placing)
	if n := len(w.listed(i)); !ok || w.compared || n == 0 || n > shortList {
		return nil
	}
	return d
}

// unlisted is the text of a listed key.
func (w *bounded) unlisted(i int) string {
	if d := w.placing(i); d != nil {
		return d.nth(w.texts(w.listed(i)), w.keys[i]+" - 1")
	}
	if w.numbered() {
		return w.dialect.(splitting).element(w.texts(w.listed(i)), w.keys[i])
	}
	if d := w.gathering(); d != nil {
		return d.nth(w.texts(w.listed(i)), w.keys[i]+" - 1")
	}
	return w.dialect.unlisted(w.keys[i])
}

// A numbers is a key's plan.Range, where the dialect tells groups apart by their numbers.
type numbers plan.Range

func (w *bounded) ranged(i int) *numbers {
	if _, able := w.dialect.(totalling); !able || w.compared || i >= len(w.node.Ranges) {
		return nil
	}
	return (*numbers)(w.node.Ranges[i])
}

// place is which of the numbers a key is, from 0; of any other key it is one of them, too, so that it fails of none.
func (of *numbers) place(key string) string {
	return fmt.Sprintf("((least(greatest(CAST(%s AS BIGINT), %d), %d) - %d) // %d)", key, of.First, of.First+(of.Count-1)*of.Step, of.First, of.Step)
}

// count is how many values a key may have, 0 where that is not known.
func (w *bounded) count(i int) int {
	if of := w.ranged(i); of != nil {
		return int(of.Count)
	}
	return len(w.listed(i))
}

// numberOf says which of its list a key is, from 0, or "".
func (w *bounded) numberOf(i int) string {
	if of := w.ranged(i); of != nil {
		return "CAST(" + of.place(w.keys[i]) + " AS UBIGINT)"
	}
	if d := w.placing(i); d != nil {
		return d.placed(w.keys[i])
	}
	return w.dialect.number(w.keys[i])
}

// fieldBits is how many bits what a unit adds to a group takes, if that is known and never
// negative.
func (w *bounded) fieldBits(c plan.Contribution) (size int, ok bool) {
	switch c.Kind {
	case plan.UnitCount:
		return 1, true
	case plan.Added: // counts rows, where w is summable
		return bits.Len64(uint64(w.node.MaxRows)), true
	}
	return 0, false
}

// packs reports whether each of a unit's groups is one integer: the hash of the group, its
// number, and what the unit adds to it.
func (w *bounded) packs() bool {
	code, size := w.number()
	_, able := w.dialect.(packing)
	if !able || !w.cuts() || code == "" || !w.summable() || w.node.MaxGroups > packedGroups {
		return false
	}
	for _, c := range w.node.Contributions {
		field, ok := w.fieldBits(c)
		if !ok || w.node.Shown != nil && c.Kind == plan.UnitCount { // units of several groups are looked at
			return false
		}
		size += field
	}
	return size <= packedBits
}

// leastPacked sums, by key, what units add to those of their groups that have the least
// hashes. The number behind the hash breaks ties, so that what stands behind it decides
// nothing.
func (w *bounded) leastPacked(groups string) string {
	d := w.dialect.(packing)
	code, size := w.number()
	var parts, sums []string
	total := 0
	for i := len(w.node.Contributions) - 1; i >= 0; i-- {
		field, _ := w.fieldBits(w.node.Contributions[i])
		part := fmt.Sprintf("p%d", i)
		if w.node.Contributions[i].Value != nil && w.node.Contributions[i].Kind != plan.Added {
			part = "coalesce(" + part + ", 0)"
		}
		parts = append(parts, at(part, total))
		h := "h"
		if total > 0 {
			h = fmt.Sprintf("(h >> %d)", total)
		}
		sums = append(sums, fmt.Sprintf("%s AS x%d", w.dialect.sum(fmt.Sprintf("sum(%s & %d)", h, int64(1)<<field-1)), i))
		total += field
	}
	slices.Reverse(sums)
	parts = append(parts, at(code, total), d.high(w.hash(w.keys), packedBits))
	slices.Reverse(parts)
	columns := w.textsOf(d)
	return fmt.Sprintf("SELECT %s FROM (SELECT h, (h >> %d) & %d AS g FROM (%s) AS t) AS t GROUP BY g",
		strings.Join(append(columns, sums...), ", "), total, int64(1)<<size-1, d.leastOf(strings.Join(parts, " | "), w.node.MaxGroups, groups))
}

// at is a number above as many bits of 0.
func at(number string, low int) string {
	number = "CAST(" + number + " AS BIGINT)"
	if low == 0 {
		return number
	}
	return fmt.Sprintf("%s * %d", number, int64(1)<<low)
}

// cuts reports whether a unit can be in more groups than it may.
func (w *bounded) cuts() bool { return len(w.node.Keys) > 0 && !w.node.EveryGroup }

// listed are the texts that a key may be, or nil.
func (w *bounded) listed(i int) []string {
	if i < len(w.node.Listed) {
		return w.node.Listed[i]
	}
	return nil
}

// textsOf are the texts of the keys of the group that has number g.
func (w *bounded) textsOf(d packing) (columns []string) {
	stride := 1
	for i := range w.keys {
		n := w.count(i)
		place := fmt.Sprintf("(g // %d) %% %d", stride, n)
		if of := w.ranged(i); of != nil {
			columns = append(columns, fmt.Sprintf("CAST(%d + (%s) * %d AS %s)", of.First, place, of.Step, w.dialect.typeName(w.types[w.keys[i]])))
		} else {
			columns = append(columns, d.nth(w.texts(w.listed(i)), place))
		}
		stride *= n
	}
	return columns
}

// numberBits bounds how much of a group's hash its number takes.
const numberBits = 20

// number is the number of a group among all that there can be, and how many bits it has;
// empty where that is not known.
func (w *bounded) number() (code string, size int) {
	var parts []string
	all := 1
	for i := range w.keys {
		n, code := w.count(i), w.numberOf(i)
		if n == 0 || code == "" || w.compared || all > 1<<numberBits/n {
			return "", 0
		}
		if all > 1 {
			code += fmt.Sprintf(" * %d", all)
		}
		parts = append(parts, code)
		all *= n
	}
	return strings.Join(parts, " + "), bits.Len(uint(all - 1))
}

// groupHash is what the groups of a unit are ordered by, and groupOrder the columns that
// make that a total order.
func (w *bounded) groupHash() string {
	if d := w.rehashing(); d != nil {
		return w.hashedNumber(d)
	}
	hash := w.hash(w.keys)
	if code, _ := w.number(); code != "" {
		return fmt.Sprintf("(%s & CAST(%d AS UBIGINT)) + %s", hash, uint64(math.MaxUint64)>>(packedBits+1)<<(packedBits+1), code)
	}
	return hash
}

func (w *bounded) groupOrder() []string {
	if code, _ := w.number(); code != "" || w.rehashing() != nil {
		return []string{"hk"}
	}
	return append([]string{"hk"}, w.keys...)
}

// rowHash is what the rows of a unit's group are ordered by, before the chosen columns, which break ties.
func (w *bounded) rowHash() string {
	d := w.rehashing()
	if d == nil || slices.ContainsFunc(w.chosen, func(c string) bool { return !w.types[c].IsInteger() }) {
		return w.hash(append(w.keys[:len(w.keys):len(w.keys)], w.chosen...))
	}
	hash := w.hashedNumber(d)
	for _, c := range w.chosen {
		hash = d.rehash(hash, "coalesce("+c+", 0)", w.types[c])
	}
	return fmt.Sprintf("%s << %d", hash, hashBits)
}

// hash is the salted hash of the unit and more columns.
func (w *bounded) hash(columns []string) string {
	columns = append([]string{"u"}, columns...)
	if w.compared {
		return w.digest(columns, func(c string) string { return c })
	}
	return w.dialect.hash(columns)
}

// digest is the hash that all engines share, of columns that stand where within says.
func (w *bounded) digest(columns []string, within func(string) string) string {
	parts := []string{w.dialect.salt()}
	for _, c := range columns {
		x := within(c)
		if i := slices.Index(w.keys, c); i >= 0 && w.listed(i) != nil {
			switch d := w.gathering(); {
			case w.numbered():
				x = w.dialect.(splitting).element(w.texts(w.listed(i)), x)
			case d != nil:
				x = d.nth(w.texts(w.listed(i)), x+" - 1")
			}
		}
		parts = append(parts, w.dialect.counted(w.dialect.convert(w.scope, x, w.types[c], sqltype.Of(sqltype.Text))))
	}
	return w.dialect.digest(parts) // as hexadecimal digits, which are in the order of the bytes
}

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
