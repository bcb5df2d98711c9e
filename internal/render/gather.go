package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A gathering dialect has functions over arrays, which it computes where an array is: see gather.
type gathering interface {
	place(value, texts string) string // of a text among constants, from 1; 0 or NULL where it is none of them
	nth(texts, i string) string       // of constants, from 0
	rehash(hash, x string, t sqltype.Type) string
}

// gathering is the dialect, if units' rows are to be gathered: where single rows contribute, and
// some may have to be left out.
func (w *bounded) gathering() gathering {
	b := w.node
	d, able := w.dialect.(gathering)
	if !able || b.Whole || b.Bin != nil || b.MaxRows < 1 || !w.added() || w.summable() && len(b.Keys) == 0 {
		return nil
	}
	for i, key := range b.Keys {
		if t := key.Type(); w.listed(i) == nil && !t.IsInteger() && t.Kind != sqltype.Boolean && t.Kind != sqltype.Text && t.Kind != sqltype.DateKind {
			return nil // zero has no value for it
		}
	}
	return d
}

// codes is how many groups there are where all keys are listed, or 0: a group is then one number.
func (w *bounded) codes() int {
	all := 1
	for i := range w.node.Keys {
		n := len(w.listed(i))
		if n == 0 || all > math.MaxInt32/n {
			return 0
		}
		all *= n
	}
	return all
}

// zero is some value of a type that a key may be of.
func (w *bounded) zero(t sqltype.Type) string {
	var v sqltype.Value = int64(0)
	switch t.Kind {
	case sqltype.Boolean:
		v = false
	case sqltype.Text:
		v = ""
	case sqltype.DateKind:
		v = sqltype.Date(0)
	}
	return w.literal(v, t)
}

// A gatheredColumn is one whose values stand in an array for each unit.
type gatheredColumn struct {
	name  string
	typ   sqltype.Type
	total bool // it is never NULL
}

// gather gathers the rows of each unit in arrays, one for each column, of which it takes the places
// that the bounds leave, and adds up what they contribute: rows cross the cluster once, to where
// their unit is, or not at all where the table is laid out by unit.
//
// Of a unit that has few enough groups, and rows in each, bounding would keep every row: it numbers
// the unit's groups from 1 to d, and the rows of a group from 1 to how many there are. Its arrays
// are taken as they are. With c rows in d groups, p of them with an odd number, there are at most
// c − d + 1 rows in any one, as each of the others has one at least, and at most c − 2d + p + 2: see
// split. As 1 ≤ d ≤ c, nothing is counted where c ≤ L0 and c ≤ R.
//
// The rows of others are sorted by the hash of their group, the group, the hash of the row, and the
// row, with whether there are values: only identical rows remain tied. Where d > L0, groups are those
// up to the L0-th in that order. Of the rest, from its end, a row is left out if the R-th behind it is
// of the same group: R of its group come before it. What remains is a function of the unit's own
// rows, in whatever order they were gathered.
//
// Arrays of one aggregation have their rows in one order. Rows that are of no listed group are left
// out where they are gathered, beside a count of all: the planner would pull a condition down to the
// scan, and look for each row's text twice.
func (w *bounded) gather(d gathering, rows string) string {
	b := w.node
	keys, values := w.gatheredColumns()
	columns := append(slices.Clone(keys), values...)
	units := []string{"u"}
	filter := w.ofListedGroups()
	for _, c := range columns {
		units = append(units, fmt.Sprintf("array_agg(%s)%s AS %s", c.name, filter, c.name))
	}
	if filter != "" {
		units = append(units, "count(*) AS n")
	}
	source := rows
	if w.codes() > 0 && len(b.Keys) > 0 {
		source = fmt.Sprintf("SELECT *, %s AS k FROM (%s) AS t", w.codeOf(), rows)
	}
	text := fmt.Sprintf("SELECT %s FROM (%s) AS t GROUP BY u", strings.Join(units, ", "), source)

	// Which units are cut.
	all := fmt.Sprintf("cardinality(%s)", columns[0].name)
	cut := fmt.Sprintf("%s > %d", all, b.MaxRows)
	if len(keys) > 0 {
		few := b.MaxRows
		if w.cuts() {
			few = min(few, b.MaxGroups)
		}
		groups, odd := w.groupsInArray(keys)
		text = fmt.Sprintf("SELECT *, CASE WHEN %s > %d THEN %s END AS d FROM (%s) AS t", all, few, groups, text)
		cut = fmt.Sprintf("%s - d + 1 > %d", all, b.MaxRows)
		if odd != "" {
			cut = fmt.Sprintf("%s AND %s - 2 * d + %s + 2 > %d", cut, all, odd, b.MaxRows)
		}
		if w.cuts() {
			cut = fmt.Sprintf("d > %d OR %s", b.MaxGroups, cut)
		}
	}
	text = fmt.Sprintf("SELECT *, CASE WHEN cut THEN %s END AS hu FROM (SELECT *, %s AS cut FROM (%s) AS t) AS t", w.unitHash(), cut, text)

	// Of these, what stays.
	row := w.rowsInOrder(d, keys, values)
	text = fmt.Sprintf("SELECT *, CASE WHEN cut THEN array_sort(%s) END AS s FROM (%s) AS t", row.array, text)
	stays := "s"
	if w.cuts() {
		text = fmt.Sprintf("SELECT *, CASE WHEN d > %d THEN element_at(array_sort(array_distinct(transform(s, r -> %s))), %d) END AS last FROM (%s) AS t", b.MaxGroups, row.group("r"), b.MaxGroups, text)
		stays = fmt.Sprintf("CASE WHEN d > %d THEN filter(s, r -> %s <= last) ELSE s END", b.MaxGroups, row.group("r"))
	}
	if len(keys) == 0 {
		stays = fmt.Sprintf("slice(s, 1, %d)", b.MaxRows)
	} else {
		text = fmt.Sprintf("SELECT *, reverse(%s) AS rest FROM (%s) AS t", stays, text)
		stays = fmt.Sprintf("filter(zip_with(rest, slice(rest, %d, cardinality(rest)), (x, y) -> CASE WHEN y IS NULL OR %s <> %s THEN x END), x -> x IS NOT NULL)", b.MaxRows+1, row.group("x"), row.group("y"))
	}
	text = fmt.Sprintf("SELECT *, %s AS stays FROM (%s) AS t", stays, text)
	var arrays, names []string
	for i, c := range columns {
		arrays = append(arrays, fmt.Sprintf("CASE WHEN cut THEN transform(stays, r -> %s) ELSE %s END AS %s", row.column(i), c.name, c.name))
		names = append(names, c.name)
	}
	text = fmt.Sprintf("SELECT %s FROM (SELECT %s FROM (%s) AS t) AS t CROSS JOIN UNNEST(%s) AS r(%s)",
		strings.Join(w.decoded(values), ", "), strings.Join(arrays, ", "), text, strings.Join(prefixed("t.", names), ", "), strings.Join(names, ", "))
	return w.group(text, func(i int, c plan.Contribution) string {
		if isOne(c.Value) {
			return "count(*)"
		}
		return w.sumOf(fmt.Sprintf("v%d", i))
	})
}

// gatheredColumns are what makes a row's group, and what it contributes.
func (w *bounded) gatheredColumns() (keys, values []gatheredColumn) {
	integer, bigint := sqltype.Of(sqltype.Integer), sqltype.Of(sqltype.Bigint)
	if w.codes() > 0 && len(w.keys) > 0 {
		keys = []gatheredColumn{{"k", integer, true}}
	} else {
		for i, key := range w.keys {
			if w.listed(i) != nil {
				keys = append(keys, gatheredColumn{key, integer, true})
			} else {
				keys = append(keys, gatheredColumn{key, w.types[key], false})
			}
		}
	}
	for i, c := range w.node.Contributions {
		if !isOne(c.Value) {
			values = append(values, gatheredColumn{fmt.Sprintf("v%d", i), bigint, false})
		}
	}
	return keys, values
}

// ofListedGroups is the condition of an aggregate that takes rows of listed groups alone.
func (w *bounded) ofListedGroups() string {
	var listed []string
	for i, key := range w.keys {
		if w.listed(i) != nil {
			listed = append(listed, key+" > 0")
		}
	}
	if listed == nil {
		return ""
	}
	return " FILTER (WHERE " + strings.Join(listed, " AND ") + ")"
}

// codeOf numbers groups from 0, and decoded are the keys of that number beside values.
func (w *bounded) codeOf() string {
	var parts []string
	stride := 1
	for i, key := range w.keys {
		parts = append(parts, fmt.Sprintf("(%s - 1) * %d", key, stride))
		stride *= len(w.listed(i))
	}
	return strings.Join(parts, " + ")
}

func (w *bounded) decoded(values []gatheredColumn) (columns []string) {
	stride, coded := 1, w.codes() > 0
	for i, key := range w.keys {
		if n := len(w.listed(i)); coded {
			columns = append(columns, fmt.Sprintf("r.k / %d %% %d + 1 AS %s", stride, n, key))
			stride *= n
		} else {
			columns = append(columns, "r."+key)
		}
	}
	for _, c := range values {
		columns = append(columns, "r."+c.name)
	}
	return columns
}

// groupsInArray counts the groups of a unit, and those with an odd number of rows, or "".
func (w *bounded) groupsInArray(keys []gatheredColumn) (groups, odd string) {
	if n := w.codes(); n > 0 && n <= maskPlaces {
		bits := func(of string) string {
			return fmt.Sprintf("reduce(k, BIGINT '0', (m, x) -> %s(m, bitwise_left_shift(BIGINT '1', x)), m -> bit_count(m, 64))", of)
		}
		return bits("bitwise_or"), bits("bitwise_xor")
	}
	of := keys[0].name
	if len(keys) > 1 {
		of = rowsOf(keys)
	}
	return fmt.Sprintf("cardinality(array_distinct(%s))", of), ""
}

// An orderedRow is how rows that are cut stand in an array, so that sorting it brings them into the order of the hash of
// their group, the group, the hash of the row, and the row.
type orderedRow struct {
	array  string
	group  func(r string) string // its group with the hash, which are in the order of the rows
	column func(i int) string    // of a row r
}

// rowsInOrder are bytes, where a group is one number, as each array of numbers can be: rows of fields take
// three times as long to sort.
func (w *bounded) rowsInOrder(d gathering, keys, values []gatheredColumn) orderedRow {
	if w.codes() > 0 {
		return w.packedRows(keys, values)
	}
	return w.fieldedRows(d, keys, values)
}

// Bytes of a packed row: a hash, a group, a value with whether there is one.
const hashBytes, groupBytes, valueBytes = 8, 4, 9

// packedRows makes bytes of rows: the group, and the values. The same bytes are the same row.
func (w *bounded) packedRows(keys, values []gatheredColumn) orderedRow {
	columns := append(slices.Clone(keys), values...)
	group := len(keys) * groupBytes // there is one at most
	field := func(i int, x string) string {
		if i < len(keys) {
			return fmt.Sprintf("to_big_endian_32(%s)", x)
		}
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN X'%s' ELSE concat(X'01', to_big_endian_64(%s)) END", x, strings.Repeat("00", valueBytes), x)
	}
	part := func(from, bytes int) string { return fmt.Sprintf("substr(r, %d, %d)", from+1, bytes) }
	unpacked := func(i, from int) string { // of a column, of which the group begins there, or the first value
		if i < len(keys) {
			return fmt.Sprintf("from_big_endian_32(%s)", part(from, groupBytes))
		}
		from += (i - len(keys)) * valueBytes
		return fmt.Sprintf("CASE WHEN %s = X'01' THEN from_big_endian_64(%s) END", part(from, 1), part(from+1, valueBytes-1))
	}
	array := fmt.Sprintf("transform(%s, x -> %s)", columns[0].name, field(0, "x"))
	if len(columns) > 1 {
		array = fmt.Sprintf("zip_with(%s, %s, (x, y) -> concat(%s, %s))", columns[0].name, columns[1].name, field(0, "x"), field(1, "y"))
	}
	for i := 2; i < len(columns); i++ {
		array = fmt.Sprintf("zip_with(%s, %s, (r, x) -> concat(r, %s))", array, columns[i].name, field(i, "x"))
	}
	hash := rowHashes{fmt.Sprintf("xxhash64(concat(hu, %s))", part(0, group)), "xxhash64(concat(hu, r))"}
	if w.compared {
		hash = w.comparedHashes(keys, func(i int) string {
			if i < len(keys) {
				return unpacked(i, 0)
			}
			return unpacked(i, group)
		})
		hash.group, hash.row = "from_hex("+hash.group+")", "from_hex("+hash.row+")"
	}
	var parts []string
	at := 0 // where values begin
	if len(keys) > 0 {
		parts, at = append(parts, hash.group, part(0, group)), hashBytes+group
	}
	if len(values) > 0 {
		parts, at = append(parts, hash.row, fmt.Sprintf("substr(r, %d)", group+1)), at+hashBytes
	}
	return orderedRow{
		array: fmt.Sprintf("transform(%s, r -> concat(%s))", array, strings.Join(parts, ", ")),
		group: func(r string) string { return fmt.Sprintf("substr(%s, 1, %d)", r, hashBytes+group) },
		column: func(i int) string {
			if i < len(keys) {
				return unpacked(i, hashBytes)
			}
			return unpacked(i, at)
		},
	}
}

// fieldedRows have fields with numbers, as those with names are made anew to have them. NULL stands as a field of its own.
func (w *bounded) fieldedRows(d gathering, keys, values []gatheredColumn) orderedRow {
	columns := append(slices.Clone(keys), values...)
	hash := w.rowHashes(d, keys)
	sorted, at := []string{hash.group}, make([]int, len(columns))
	for i, c := range columns {
		if i == len(keys) {
			sorted = append(sorted, hash.row)
		}
		if value := fmt.Sprintf("r[%d]", i+1); c.total {
			sorted = append(sorted, value)
		} else {
			sorted = append(sorted, value+" IS NULL", fmt.Sprintf("coalesce(%s, %s)", value, w.zero(c.typ)))
		}
		at[i] = len(sorted)
	}
	if len(values) == 0 {
		sorted = append(sorted, hash.row)
	}
	return orderedRow{
		array: fmt.Sprintf("transform(%s, r -> ROW(%s))", rowsOf(columns), strings.Join(sorted, ", ")),
		group: func(r string) string { return "ROW(" + strings.Join(numbered(r, at[len(keys)-1]), ", ") + ")" },
		column: func(i int) string {
			if columns[i].total {
				return fmt.Sprintf("r[%d]", at[i])
			}
			return fmt.Sprintf("CASE WHEN NOT r[%d] THEN r[%d] END", at[i]-1, at[i])
		},
	}
}

// rowsOf puts arrays together to one of rows.
func rowsOf(columns []gatheredColumn) string {
	text := fmt.Sprintf("transform(%s, x -> ROW(x))", columns[0].name)
	for i, c := range columns[1:] {
		text = fmt.Sprintf("zip_with(%s, %s, (r, x) -> ROW(%s, x))", text, c.name, strings.Join(numbered("r", i+1), ", "))
	}
	return text
}

// numbered are the first fields of a row.
func numbered(row string, n int) (fields []string) {
	for i := range n {
		fields = append(fields, fmt.Sprintf("%s[%d]", row, i+1))
	}
	return fields
}

func prefixed(prefix string, names []string) []string {
	names = slices.Clone(names)
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

// unitHash is the salted hash of a unit, which the hashes of its groups and rows are made of; where
// engines are compared, which hash all at once, the unit.
func (w *bounded) unitHash() string {
	switch {
	case w.compared:
		return "u"
	case w.codes() > 0:
		return "to_big_endian_64(" + w.dialect.hash([]string{"u"}) + ")"
	}
	return w.dialect.hash([]string{"u"})
}

type rowHashes struct{ group, row string }

// comparedHashes are those that engines share, of a row whose columns stand where column says.
func (w *bounded) comparedHashes(keys []gatheredColumn, column func(i int) string) rowHashes {
	within := func(c string) string {
		if c == "u" {
			return "hu"
		}
		i := slices.Index(w.keys, c)
		switch stride := 1; {
		case i < 0: // a value
			return column(len(keys) + slices.Index(w.chosen, c))
		case w.codes() > 0:
			for j := range i {
				stride *= len(w.listed(j))
			}
			return fmt.Sprintf("%s / %d %% %d + 1", column(0), stride, len(w.listed(i)))
		}
		return column(i)
	}
	group := append([]string{"u"}, w.keys...)
	return rowHashes{w.digest(group, within), w.digest(append(group[:len(group):len(group)], w.chosen...), within)}
}

// rowHashes are the hashes of a row r's group and of the row, of numbered fields.
func (w *bounded) rowHashes(d gathering, keys []gatheredColumn) rowHashes {
	if w.compared {
		return w.comparedHashes(keys, func(i int) string { return fmt.Sprintf("r[%d]", i+1) })
	}
	group := "hu"
	for i, c := range keys {
		group = d.rehash(group, fmt.Sprintf("r[%d]", i+1), c.typ)
	}
	row := group
	for i := range w.chosen {
		row = d.rehash(row, fmt.Sprintf("r[%d]", len(keys)+1+i), sqltype.Of(sqltype.Bigint))
	}
	return rowHashes{group, row}
}
