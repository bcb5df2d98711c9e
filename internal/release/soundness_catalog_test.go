//go:build cgo

package release_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// A draws is the source of an example's choices. Everything random comes from
// rapid, so that a failing example shrinks and replays.
type draws struct{ t *rapid.T }

// n draws from 0 to less than the limit; 0 is the simplest.
func (g draws) n(limit int) int { return rapid.IntRange(0, limit-1).Draw(g.t, "n") }

// one reports true once in so many draws.
func (g draws) one(in int) bool { return g.n(in) == in-1 }

func pick[T any](g draws, of []T) T { return of[g.n(len(of))] }

// some draws between least and most of the elements, without repetition.
func some[T any](g draws, of []T, least, most int) []T {
	rest := slices.Clone(of)
	n := min(len(of), least+g.n(most-least+1))
	var out []T
	for range n {
		i := g.n(len(rest))
		out, rest = append(out, rest[i]), slices.Delete(rest, i, i+1)
	}
	return out
}

// A kind is what the grammar of statements needs to know of a type.
type kind string

const (
	boolean  kind = "boolean"
	whole    kind = "whole"
	exact    kind = "exact"
	floating kind = "floating"
	textual  kind = "text"
	date     kind = "date"
	stamp    kind = "timestamp"
	clock    kind = "time"
	span     kind = "interval"
)

func (k kind) number() bool { return k == whole || k == exact || k == floating }

// A template is a column as several tables may have it: the same type and the
// same few values, so that joins find partners. Values are texts that the
// engine casts to the type.
type template struct {
	name, typ string
	kind      kind
	values    []string
	// bounds are pairs of lower and upper; sums of sum_lower and sum_upper.
	bounds, sums [][2]string
	quoted       bool // TOML writes the values in quotes
}

var nastyTexts = []string{"a", "b", "", "A", " a", "a ", "ä", "a\u0308", "ß", "İ", "😀", "%", "_", `\`, "'", `"`, "1", "-2.5", "1e5", "NaN", "2024-02-29", "x\ny", "a\u200d", "zzzzzzzzzzzzzzzzzzzzzzzz"}

var templates = []template{
	{"i", "integer", whole, []string{"0", "1", "2", "3", "-1", "7", "2147483647", "-2147483648", "100"},
		[][2]string{{"0", "10"}, {"5", "7"}, {"-3", "2"}, {"1", "1"}, {"-2147483648", "2147483647"}}, [][2]string{{"0", "12"}, {"-2", "3"}, {"4", "5"}}, false},
	{"s", "text", textual, nastyTexts, nil, nil, true},
	{"f", "double", floating, []string{"0", "1.5", "0.1", "0.2", "0.3", "-0.0", "nan", "inf", "-inf", "1e15", "-2.25", "5e-324", "1.7976931348623157e308", "-1e308", "3.3333333333333335", "7"},
		[][2]string{{"0.0", "4.0"}, {"5.0", "7.0"}, {"-1.5", "2.5"}, {"0.0", "1e15"}, {"-1e300", "1e300"}, {"0.0", "0.0"}, {"0.1", "0.3"}}, [][2]string{{"0.0", "5.0"}, {"-0.5", "0.75"}}, false},
	{"b", "bigint", whole, []string{"0", "1", "2", "-1", "5", "9223372036854775807", "-9223372036854775808", "1152921504606846976"},
		[][2]string{{"0", "3"}, {"2", "9"}, {"-1152921504606846976", "1152921504606846976"}}, [][2]string{{"-7", "7"}}, false},
	{"n", "smallint", whole, []string{"0", "1", "2", "32767", "-32768", "4"},
		[][2]string{{"0", "4"}, {"-32768", "32767"}, {"3", "5"}}, [][2]string{{"0", "3"}}, false},
	{"r", "real", floating, []string{"0", "0.5", "0.1", "-0.0", "nan", "inf", "3.4028235e38", "1e-45", "16777216", "-3"},
		[][2]string{{"0.0", "1.0"}, {"-3.0", "8.0"}, {"2.0", "3.0"}}, [][2]string{{"0.0", "1.5"}}, false},
	{"d", "decimal(7,2)", exact, []string{"0.00", "1.50", "0.01", "-0.01", "99999.99", "-99999.99", "5.00"},
		[][2]string{{"0.00", "5.00"}, {"1.50", "3.00"}, {"-99999.99", "99999.99"}}, [][2]string{{"0.0", "4.0"}, {"-1.0", "6.25"}}, true},
	{"m", "decimal(38,10)", exact, []string{"0", "1.5", "9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999", "0.0000000001"},
		[][2]string{{"0.0000000000", "2.5000000000"}, {"-10.0000000000", "10.0000000000"}}, nil, true},
	{"q", "boolean", boolean, []string{"false", "true"}, nil, nil, false},
	{"t", "date", date, []string{"2024-01-01", "2024-02-29", "1970-01-01", "0001-01-01", "9999-12-31", "infinity", "-infinity", "5877640-06-24"},
		[][2]string{{"2024-01-01", "2024-01-05"}}, nil, true},
	{"z", "timestamp", stamp, []string{"2024-01-01 00:00:00", "2024-02-29 23:59:59.999999", "1970-01-01 00:00:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "infinity", "294246-01-10 04:00:54"},
		[][2]string{{"2024-01-01", "2025-01-01"}}, nil, true},
	{"c", "time", clock, []string{"00:00:00", "23:59:59.999999", "12:30:00"}, nil, nil, true},
	{"v", "interval", span, []string{"1 month", "30 days", "720 hours", "0 days", "-1 month", "1 year"}, nil, nil, true},
}

// A column is a template as one table declares it.
type column struct {
	template
	declared string // TOML, behind the type
	bounded  bool
}

// A unitKind is how a table's rows name their unit.
type unitKind int

const (
	unitColumn unitKind = iota
	unitRow
	unitReference
)

// A table is a declared table. Private tables have the columns "id", a key that
// need not be unique, and "u", the unit, or "ref", a reference to another
// table's "id".
type table struct {
	name    string
	public  bool
	domain  string
	unit    unitKind
	refers  *table
	columns []column
	bounds  string // TOML
}

func (t *table) at(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
}

// A row holds a table's values: texts, or nil for NULL.
type row []any

// A database holds each table's rows.
type database map[string][]row

// An example is one catalog, database and neighbour.
type example struct {
	tables     []*table
	text       string // the catalog
	units      map[string][]string
	d, e       database
	replaced   bool   // d and e differ by a replacement, not by a removal
	changed    string // the domain whose unit was changed
	all        bool   // statements are drawn from all that there is: see firstExample
	statements []string
}

// Bounds on contributions are small, so that units exceed them.
var smallBounds = []int64{1, 2, 1, 3}

// newExample draws a catalog, a database over it, a neighbour and statements.
func newExample(t *rapid.T) *example { return drawExample(t, true) }

// firstExample draws the examples by whose numbers planted faults are found: what statements have learnt
// since would give each number another example.
func firstExample(t *rapid.T) *example { return drawExample(t, false) }

func drawExample(t *rapid.T, all bool) *example {
	g := draws{t}
	x := &example{units: map[string][]string{}, d: database{}, all: all}
	pools := map[string]template{}
	for _, c := range templates {
		most := pick(g, []int{4, 6, 12})
		switch flavour := g.n(4); {
		case c.kind == floating && flavour%2 == 1: // their sum depends on the order
			c.values = append([]string{"0.1", "0.7", "0.013", "1.1", "0.2"}, pick(g, c.values[5:]))
		case c.kind == floating && flavour == 2:
			c.values = []string{"0", "-0.0", "1.5"}
		default:
			c.values = some(g, c.values, 2, most)
		}
		pools[c.name] = c
	}
	keys := some(g, []string{"0", "1", "2", "3", "4"}, 2, 5)
	for _, domain := range []string{"one", "two"} {
		ids := []string{"1", "2", "3", "0", "-1", "32767"}
		switch g.n(6) {
		case 4:
			ids = []string{"a", "b", "", "ä", "a\u0308"}
		case 5:
			ids = []string{"2024-01-01", "2024-02-29", "0001-01-01", "9999-12-31"}
		}
		x.units[domain] = some(g, ids, 2, 4)
	}
	for i := range 1 + g.n(2) {
		x.tables = append(x.tables, g.publicTable(fmt.Sprintf("p%d", i), pools))
	}
	for i := range 1 + g.n(4) {
		x.tables = append(x.tables, g.privateTable(x, fmt.Sprintf("t%d", i), pools, keys))
	}
	x.text = x.catalog()
	for _, t := range x.tables {
		for range pick(g, []int{8, 4, 14, 2, 10, 0}) {
			x.d[t.name] = append(x.d[t.name], g.row(x, t))
		}
	}
	g.neighbour(x)
	for range 6 {
		x.statements = append(x.statements, g.statement(x))
	}
	return x
}

func (g draws) publicTable(name string, pools map[string]template) *table {
	t := &table{name: name, public: true}
	for _, c := range some(g, templates, 1, 4) {
		t.columns = append(t.columns, column{template: pools[c.name]})
	}
	return t
}

func (g draws) privateTable(x *example, name string, pools map[string]template, keys []string) *table {
	t := &table{name: name, domain: "one"}
	if g.one(6) {
		t.domain = "two"
	}
	integers := []string{"bigint", "integer", "smallint"}
	key := func(name string, values []string) column {
		c := column{template: template{name: name, typ: pick(g, integers), kind: whole, values: values}}
		if _, err := strconv.Atoi(values[0]); err != nil {
			c.typ, c.kind = "text", textual
			if strings.HasPrefix(values[0], "2024") || strings.HasSuffix(values[0], "-31") || strings.HasPrefix(values[0], "0001") {
				c.typ, c.kind = "date", date
			}
		}
		return c
	}
	var owners []*table
	for _, o := range x.tables {
		if !o.public && o.domain == t.domain && o.unit != unitRow {
			owners = append(owners, o)
		}
	}
	t.columns = append(t.columns, key("id", keys))
	switch choice := g.n(6); {
	case choice == 5:
		t.unit = unitRow
	case choice >= 3 && len(owners) > 0:
		t.unit, t.refers = unitReference, pick(g, owners)
		t.columns = append(t.columns, key("ref", keys))
	default:
		t.columns = append(t.columns, key("u", x.units[t.domain]))
	}
	if t.unit != unitRow {
		if !g.one(20) {
			t.bounds += fmt.Sprintf("max_groups_per_unit = %d\n", pick(g, smallBounds))
		}
		if !g.one(20) {
			t.bounds += fmt.Sprintf("max_rows_per_group = %d\n", pick(g, smallBounds))
		}
	}
	for _, c := range some(g, templates, 1, 5) {
		t.columns = append(t.columns, g.declare(x, pools[c.name]))
	}
	return t
}

// declare draws bounds, sum bounds and a public domain.
func (g draws) declare(x *example, c template) column {
	out := column{template: c}
	toml := func(v string) string {
		if c.quoted {
			return tomlString(v)
		}
		return v
	}
	if len(c.bounds) > 0 && !g.one(5) {
		b := pick(g, c.bounds)
		out.bounded = c.kind.number()
		out.declared += fmt.Sprintf(", lower = %s, upper = %s", toml(b[0]), toml(b[1]))
		if len(c.sums) > 0 && g.one(2) {
			s := pick(g, c.sums)
			out.declared += fmt.Sprintf(", sum_lower = %s, sum_upper = %s", s[0], s[1])
		}
		small := len(b[0]) < 3 && len(b[1]) < 3
		switch {
		case c.kind == whole && small && g.one(2), c.kind == date && g.one(2):
			out.declared += ", step = 1"
			return out
		case c.name == "d" && b[0] != "-99999.99" && g.one(2):
			out.declared += `, step = "0.50"`
			return out
		}
	}
	if c.kind == span || c.kind == boolean || !g.one(3) {
		return out
	}
	for _, p := range x.tables {
		if p.public && p.at(c.name) >= 0 && g.one(2) {
			out.declared += fmt.Sprintf(`, domain = { from = "%s.%s" }`, p.name, c.name)
			return out
		}
	}
	var listed []string
	for _, v := range some(g, c.values, 1, 3) {
		if !slices.Contains([]string{"nan", "inf", "-inf", "infinity", "-infinity", "5877640-06-24", "294246-01-10 04:00:54", "-0.0", "5e-324", "1e-45"}, v) {
			if c.kind == floating && !strings.ContainsAny(v, ".e") {
				v += ".0"
			}
			if c.name == "m" && !strings.Contains(v, ".") {
				v += ".0"
			}
			listed = append(listed, toml(v))
		}
	}
	if len(listed) > 0 {
		out.declared += fmt.Sprintf(", domain = [%s]", strings.Join(listed, ", "))
	}
	return out
}

func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// catalog writes the declarations.
func (x *example) catalog() string {
	var b strings.Builder
	for _, domain := range []string{"one", "two"} {
		fmt.Fprintf(&b, "[domains.%s]\nmeasure = \"zcdp\"\nepsilon = 3.0\ndelta = 1e-7\n", domain)
	}
	for _, t := range x.tables {
		fmt.Fprintf(&b, "[tables.%s]\nsource = \"%s.parquet\"\n", t.name, t.name)
		unit := `"row"`
		switch t.unit {
		case unitColumn:
			unit = `"u"`
		case unitReference:
			unit = fmt.Sprintf(`{ column = "ref", references = "%s.id" }`, t.refers.name)
		}
		if t.public {
			b.WriteString("public = true\n")
		} else {
			fmt.Fprintf(&b, "domain = \"%s\"\nunit = %s\n%s", t.domain, unit, t.bounds)
		}
		fmt.Fprintf(&b, "[tables.%s.columns]\n", t.name)
		for _, c := range t.columns {
			fmt.Fprintf(&b, "%s = { type = \"%s\"%s }\n", c.name, c.typ, c.declared)
		}
	}
	return b.String()
}

// row draws a table's row.
func (g draws) row(x *example, t *table) row {
	var r row
	for _, c := range t.columns {
		if i := g.n(len(c.values) + 1); i == len(c.values) {
			r = append(r, nil)
		} else {
			r = append(r, c.values[i])
		}
	}
	return r
}

// unitsOf returns the unit of each copy of a row: none where it does not
// resolve, several where a referenced key is not unique.
func (d database) unitsOf(t *table, r row) []string {
	switch t.unit {
	case unitColumn:
		if u, ok := r[t.at("u")].(string); ok {
			return []string{u}
		}
	case unitReference:
		key, ok := r[t.at("ref")].(string)
		if !ok {
			return nil
		}
		var units []string
		for _, o := range d[t.refers.name] {
			if o[t.refers.at("id")] == key {
				units = append(units, d.unitsOf(t.refers, o)...)
			}
		}
		return units
	}
	return nil
}

// neighbour draws e: d with one unit removed or replaced. That the removed one
// may as well be the added one is the symmetry of the distance. Rows that
// belong to no unit are excluded from every statement, so e may differ from d
// in them as it likes.
func (g draws) neighbour(x *example) {
	x.e = database{}
	for name, rows := range x.d {
		x.e[name] = slices.Clone(rows)
	}
	x.replaced = g.one(3)
	x.changed = "one"
	if g.one(8) {
		x.changed = "two"
	}
	var rowTables []*table
	for _, t := range x.tables {
		if !t.public && t.domain == x.changed && t.unit == unitRow && len(x.d[t.name]) > 0 {
			rowTables = append(rowTables, t)
		}
	}
	if len(rowTables) > 0 && g.one(2) {
		t := pick(g, rowTables)
		i := g.n(len(x.e[t.name]))
		x.e[t.name] = slices.Delete(x.e[t.name], i, i+1)
		if x.replaced {
			t := pick(g, rowTables)
			x.e[t.name] = append(x.e[t.name], g.row(x, t))
		}
		return
	}
	var present []string
	added := ""
	for _, u := range x.units[x.changed] {
		if len(x.copies(x.d, x.changed)[u]) > 0 {
			present = append(present, u)
		} else {
			added = u
		}
	}
	if len(present) == 0 {
		present = x.units[x.changed]
	}
	removed := pick(g, present)
	if added == "" {
		added = removed
	}
	// Tables come after those that they refer to.
	for _, t := range x.tables {
		if t.public || t.domain != x.changed || t.unit == unitRow {
			continue
		}
		var rows []row
		for _, r := range x.d[t.name] {
			units := x.d.unitsOf(t, r)
			others := slices.ContainsFunc(units, func(u string) bool { return u != removed })
			// An unresolved row, or one that leads to nothing but the removed
			// unit, may stay or go.
			if others || t.unit == unitReference && g.one(2) || len(units) == 0 && g.one(2) {
				rows = append(rows, r)
			}
		}
		for range g.n(6) {
			r := g.row(x, t)
			if t.unit == unitColumn {
				r[t.at("u")] = nil
				if x.replaced && !g.one(4) {
					r[t.at("u")] = added
				}
			}
			if !slices.ContainsFunc(x.e.unitsOf(t, r), func(u string) bool { return !x.replaced || u != added }) {
				rows = append(rows, r)
			}
		}
		x.e[t.name] = rows
	}
}

// copies lists, for each unit of a domain, its rows in each table, sorted.
func (x *example) copies(d database, domain string) map[string][]string {
	out := map[string][]string{}
	for _, t := range x.tables {
		if t.public || t.domain != domain || t.unit == unitRow {
			continue
		}
		for _, r := range d[t.name] {
			for _, u := range d.unitsOf(t, r) {
				out[u] = append(out[u], fmt.Sprintf("%s%q", t.name, r))
			}
		}
	}
	for _, rows := range out {
		slices.Sort(rows)
	}
	return out
}

// String prints the example as one may replay it by hand.
func (x *example) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nD' is D with a unit of domain %q %s.\n", x.text, x.changed, map[bool]string{false: "removed", true: "replaced"}[x.replaced])
	for _, t := range x.tables {
		fmt.Fprintf(&b, "%s (", t.name)
		for _, c := range t.columns {
			b.WriteString(" " + c.name)
		}
		fmt.Fprintf(&b, " )\n  D  %s\n  D' %s\n", rowsText(x.d[t.name]), rowsText(x.e[t.name]))
	}
	return b.String()
}

func rowsText(rows []row) string {
	var out []string
	for _, r := range rows {
		var values []string
		for _, v := range r {
			if v == nil {
				values = append(values, "NULL")
			} else {
				values = append(values, fmt.Sprintf("%q", v))
			}
		}
		out = append(out, "("+strings.Join(values, ", ")+")")
	}
	return strings.Join(out, " ")
}
