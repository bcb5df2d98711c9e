//go:build cgo

package render_test

import (
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// nastyBounds are those of columns whose copies have values on their grid.
var nastyBounds = map[string][2]string{
	"s": {"-5", "100"}, "i": {"-2147483648", "46341"}, "b": {"-42", "3037000500"}, "r": {"-2.5", "1e6"}, "f": {"-1e16", "12345.678"}, "g": {"0.5", "10"},
	"d": {"-2.50", "1234.56"}, "e": {"-1.5", "7.25"}, "h": {"-123.456789", "1000000"}, "p": {"-0.125", "0.5"},
}

// bounded declares bounds of the columns.
func bounded(t *testing.T, table *catalog.Table) {
	t.Helper()
	for _, c := range table.Columns {
		bounds, ok := nastyBounds[c.Name]
		if !ok {
			continue
		}
		var err error
		if c.Lower, err = sqltype.ParseValue(c.Type, bounds[0]); err != nil {
			t.Fatal(err)
		}
		if c.Upper, err = sqltype.ParseValue(c.Type, bounds[1]); err != nil {
			t.Fatal(err)
		}
	}
}

// What a copy of a table says where every row counts is what the table's own rows say, of values of every type: those that the copy has on their grid, and
// those that are asked within other bounds, which it has not. A copy that has something else is found out.
func TestWholeOverCopies(t *testing.T) {
	p := &pair{catalog: nastyCatalog(t), duck: openDuck(t)}
	p.create(t)
	table := p.catalog.Tables[0]
	bounded(t, table)
	at := func(name string) int {
		return slices.IndexFunc(table.Columns, func(c *catalog.Column) bool { return c.Name == name })
	}
	bigint, boolean := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Boolean)
	unit := at("i")
	table.Unit = catalog.Unit{Kind: catalog.UnitColumn, Column: table.Columns[unit]}
	call := func(f plan.Function, typ sqltype.Type, args ...plan.Expr) plan.Expr {
		return &plan.Call{Function: f, Args: args, T: typ}
	}
	number := func(n int64, typ sqltype.Type) plan.Expr { return &plan.Literal{Value: n, T: typ} }
	// As package rewrite threads the unit, with its columns in another order above.
	last := len(table.Columns)
	keyed := &plan.Project{Input: &plan.Scan{Table: table}, Names: make([]string, last+1)}
	turned := &plan.Project{Names: make([]string, last+1)}
	ref := func(name string) plan.Expr {
		return &plan.Ref{Index: last - 1 - at(name), T: table.Columns[at(name)].Type}
	}
	for i, c := range table.Columns {
		keyed.Exprs = append(keyed.Exprs, &plan.Ref{Index: i, T: c.Type})
		turned.Exprs = append(turned.Exprs, &plan.Ref{Index: last - 1 - i, T: table.Columns[last-1-i].Type})
	}
	keyed.Exprs = append(keyed.Exprs, &plan.Cast{Arg: &plan.Ref{Index: unit, T: table.Columns[unit].Type}, T: bigint})
	theUnit := &plan.Ref{Index: last, T: bigint}
	turned.Exprs = append(turned.Exprs, theUnit)
	turned.Input = &plan.Filter{Input: keyed, Condition: call(plan.Not, boolean, call(plan.IsNull, boolean, theUnit))}
	some := &plan.Filter{Input: turned, Condition: ref("u")}

	fixed := func(name string, bounds [2]string) plan.Expr {
		c := *table.Columns[at(name)]
		var err error
		if c.Lower, err = sqltype.ParseValue(c.Type, bounds[0]); err != nil {
			t.Fatal(err)
		}
		if c.Upper, err = sqltype.ParseValue(c.Type, bounds[1]); err != nil {
			t.Fatal(err)
		}
		grid, ok := plan.DeclaredGrid(&c)
		if !ok {
			t.Fatalf("%s: there is no grid", name)
		}
		return grid.Fixed(ref(name))
	}
	type summed struct {
		value plan.Expr
		held  bool
	}
	values := []summed{{number(1, bigint), false}, {&plan.Case{Whens: []plan.When{{Condition: ref("q"), Result: number(1, bigint)}}, T: bigint}, false}}
	for name, bounds := range nastyBounds {
		x := fixed(name, bounds)
		values = append(values, summed{x, true}, summed{call(plan.Subtract, bigint, x, number(3, bigint)), true},
			summed{call(plan.Squared, bigint, call(plan.Subtract, bigint, x, number(5, bigint)), number(62, bigint)), true},
			summed{&plan.Case{Whens: []plan.When{{Condition: ref("q"), Result: x}}, T: bigint}, true})
		for _, other := range [][2]string{{bounds[0], bounds[0]}, {bounds[1], bounds[1]}, {"0", bounds[1]}} {
			values = append(values, summed{fixed(name, other), false})
		}
	}
	texts := []string{"a", "c", "%", "never", ""}
	half := call(plan.Divide, table.Columns[at("s")].Type, ref("s"), number(2, table.Columns[at("s")].Type))
	among := func(rows plan.Node, e plan.Expr, lower, upper int64) plan.Node {
		return &plan.Filter{Input: rows, Condition: call(plan.And, boolean,
			call(plan.GreaterOrEqual, boolean, e, number(lower, e.Type())), call(plan.LessOrEqual, boolean, e, number(upper, e.Type())))}
	}
	var bodies []plan.Bounded
	for _, input := range []plan.Node{turned, some} {
		bodies = append(bodies, plan.Bounded{Input: input},
			plan.Bounded{Input: input, Keys: []plan.Expr{ref("y")}, Listed: [][]string{texts}},
			plan.Bounded{Input: input, Keys: []plan.Expr{ref("day")}},
			plan.Bounded{Input: among(input, half, -2, 3), Keys: []plan.Expr{half}, Ranges: []*plan.Range{{First: -2, Step: 1, Count: 6}}},
			plan.Bounded{Input: among(among(input, half, -2, 3), ref("c"), -1, 2), Keys: []plan.Expr{half, ref("y"), ref("c")}, Listed: [][]string{nil, texts, nil}})
	}
	copied := func(of *catalog.Table, change func(string) string) string {
		columns, err := render.Beside(of)
		if err != nil {
			t.Fatal(err)
		}
		return change("SELECT r.*, " + strings.Join(columns, ", ") + " FROM t AS r WHERE i IS NOT NULL")
	}
	scale := regexp.MustCompile(`\* ([0-9.e+]+)\) AS BIGINT\)`)
	bound := regexp.MustCompile(`> ([0-9.e+]+) THEN [0-9.e+]+ WHEN`)
	copies := map[string]string{"": copied(table, func(s string) string { return s })}
	for fault, change := range map[string]func(string) string{
		"rows without a unit": func(s string) string { return strings.Replace(s, " WHERE i IS NOT NULL", "", 1) },
		"another grid":        func(s string) string { return scale.ReplaceAllString(s, "* $1 / 2) AS BIGINT)") },
		"another bound":       func(s string) string { return bound.ReplaceAllString(s, "> $1 / 2 THEN $1 / 2 WHEN") },
		"another column":      func(s string) string { return strings.Replace(s, `r."g"`, `r."f"`, -1) },
	} {
		copies[fault] = copied(table, change)
		if copies[fault] == copies[""] {
			t.Fatalf("%s: the copy is the same: %s", fault, copies[""])
		}
	}
	for fault, rows := range copies {
		copies[fault] = strings.ReplaceAll("copy of "+fault, " ", "_")
		if _, err := p.duck.Exec("CREATE TABLE " + copies[fault] + " AS " + rows); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]bool{}
	for i, b := range bodies {
		b.Whole, b.Unit, b.Names, b.MaxRows, b.MaxGroups = true, last, make([]string, len(b.Keys)), 100, 1000
		var all []plan.Contribution
		for _, v := range values {
			b.Contributions = []plan.Contribution{{Kind: plan.Added, Value: v.value}}
			all = append(all, b.Contributions...)
			q := released(t, &b)
			if q.Whole == nil || strings.Contains(q.Whole.SQL, "IS NULL") {
				t.Fatalf("%d: rows without a unit are looked for: %+v", i, q.Whole)
			}
			if has := strings.Contains(q.Whole.SQL, "sum(v0) AS HUGEINT)") && regexp.MustCompile(engine.FixedColumn+`\d+[^,]* AS v0`).MatchString(q.Whole.SQL); has != v.held {
				t.Fatalf("%d: a value on its grid is read: %t, want %t: %s", i, has, v.held, q.Whole.SQL)
			}
		}
		b.Contributions = all
		q := released(t, &b)
		want := sortedRows(t, p.duck, q.SQL, 0)
		for fault, rows := range copies {
			got := sortedRows(t, p.duck, strings.ReplaceAll(q.Whole.SQL, fmt.Sprintf("%q", engine.LaidName("t")), rows), 0)
			if same := reflect.DeepEqual(got, want); fault == "" && !same {
				t.Fatalf("%d: %.300s in %s, and over a copy %.300s in %s", i, want, q.SQL, got, q.Whole.SQL)
			} else if !same {
				found[fault] = true
			}
		}
	}
	for fault := range copies {
		if fault != "" && !found[fault] {
			t.Errorf("%s: no question tells", fault)
		}
	}
}

// Over a copy, units are bounded in groups that are numbered by the places of texts in their columns' lists, as the copy has them; of another list than the owner's
// places are computed. A copy with places in another order is found out.
func TestPlacesInCopies(t *testing.T) {
	db := openDuck(t)
	bigint, text, boolean := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Text), sqltype.Of(sqltype.Boolean)
	var many, few []sqltype.Value
	for i := range 40 {
		many = append(many, fmt.Sprintf("it's %02d", i))
	}
	few = append(few, "a", "b", "c")
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: bigint}, {Name: "g", Type: text, Domain: &catalog.PublicDomain{Values: many}},
		{Name: "h", Type: text, Domain: &catalog.PublicDomain{Values: few}}}}
	table.Unit = catalog.Unit{Kind: catalog.UnitColumn, Column: table.Columns[0]}
	beside, err := render.Beside(table)
	if err != nil || len(beside) != 2 {
		t.Fatal(beside, err)
	}
	copied := func(name, places string) string {
		return fmt.Sprintf("CREATE TABLE %s AS SELECT r.*, %s, dense_rank() OVER (ORDER BY u) AS discreet_unit, count(*) OVER (PARTITION BY u) AS discreet_unit_rows FROM t AS r WHERE u IS NOT NULL ORDER BY hash(r);\n", name, places)
	}
	all := strings.Join(beside, ", ")
	turned := strings.Replace(strings.Replace(all, "'a', 'b', 'c'", "'b', 'a', 'c'", 1), "'it''s 00', 'it''s 01'", "'it''s 01', 'it''s 00'", 1)
	if turned == all {
		t.Fatal(all)
	}
	if _, err := db.Exec(`CREATE TABLE t AS SELECT CASE WHEN i % 50 > 0 THEN CAST(hash(i) % 300 AS BIGINT) END AS u, CASE WHEN i % 9 > 0 THEN 'it''s ' || lpad((hash(3 * i) % 42)::VARCHAR, 2, '0') END AS g,
		CASE WHEN i % 7 > 0 THEN chr(97 + (sqrt(hash(5 * i) % 16))::INTEGER) END AS h FROM range(4000) AS r(i);` + copied("laid", all) + copied("turned", turned)); err != nil {
		t.Fatal(err)
	}
	ref := func(i int) plan.Expr { return &plan.Ref{Index: i, T: table.Columns[i].Type} }
	is := func(f plan.Function, e plan.Expr) plan.Expr {
		return &plan.Call{Function: f, Args: []plan.Expr{e}, T: boolean}
	}
	input := &plan.Filter{Input: &plan.Scan{Table: table}, Condition: is(plan.Not, is(plan.IsNull, ref(0)))}
	texts := func(values []sqltype.Value) (out []string) {
		for _, v := range values {
			out = append(out, v.(string))
		}
		return out
	}
	back := texts(many)
	slices.Reverse(back)
	for name, test := range map[string]struct {
		keys   []int
		listed [][]string
		places int
	}{
		"many":     {[]int{1}, [][]string{texts(many)}, 1},
		"few":      {[]int{2}, [][]string{texts(few)}, 1},
		"both":     {[]int{2, 1}, [][]string{texts(few), texts(many)}, 2},
		"less":     {[]int{1}, [][]string{texts(many)[:35]}, 0},
		"reversed": {[]int{1}, [][]string{back}, 0},
		"one":      {[]int{1, 2}, [][]string{back, texts(few)}, 1},
	} {
		b := &plan.Bounded{Input: input, Listed: test.listed, MaxGroups: 2, MaxRows: 2, Contributions: []plan.Contribution{{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: bigint}}}}
		for _, i := range test.keys {
			b.Keys, b.Names = append(b.Keys, ref(i)), append(b.Names, "")
		}
		q := released(t, b)
		if q.Totals == nil {
			t.Fatalf("%s: there is no form over copies", name)
		}
		if n := len(regexp.MustCompile(engine.PlaceColumn+`\d AS k`).FindAllString(q.Totals.SQL, -1)); n != test.places {
			t.Errorf("%s: %d places are read, want %d: %s", name, n, test.places, q.Totals.SQL)
		}
		register(t, db, nil, q.Totals)
		for salt := range 3 {
			want := sortedRows(t, db, q.SQL, salt)
			for copy, alike := range map[string]bool{"laid": true, "turned": test.places == 0} {
				got := sortedRows(t, db, strings.ReplaceAll(q.Totals.SQL, `"discreet_laid_t"`, copy), salt)
				if reflect.DeepEqual(got, want) != alike || len(want) == 0 {
					t.Errorf("%s, salt %d, %s: %.200s, want %.200s", name, salt, copy, got, want)
				}
			}
		}
	}
}

// Each key has the place of its own column, of two with one list, too, and whatever stands between it and the table; texts differ by case and blanks, and lists are as long as they may be. All
// forms then say the same. Longer lists have no places, and those with a text that is none of DuckDB's.
func TestPlacesAreOfTheirColumns(t *testing.T) {
	db := openDuck(t)
	db.SetMaxOpenConns(1)
	numbered := func(n int) (texts []string) {
		for i := range n {
			texts = append(texts, fmt.Sprintf("x%03d", i))
		}
		return texts
	}
	lists := [][]string{nil, {"a", "b", "c"}, {"a", "b", "c"}, {"", " a", "A", "a", "a ", "it's"}, numbered(1), numbered(32), numbered(33), numbered(33), numbered(255), numbered(256), numbered(257), {"a", "b\x00"}}
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: sqltype.Of(sqltype.Bigint)}}}
	table.Unit = catalog.Unit{Kind: catalog.UnitColumn, Column: table.Columns[0]}
	columns := []string{"CAST(hash(i) % 90 AS BIGINT) AS u"}
	for i, list := range lists[1:] {
		c := &catalog.Column{Name: fmt.Sprint("Column ", i+1), Type: sqltype.Of(sqltype.Text), Domain: &catalog.PublicDomain{}}
		for _, text := range list {
			c.Domain.Values = append(c.Domain.Values, text)
		}
		table.Columns = append(table.Columns, c)
		of := "['a', 'b', 'c', 'A', ' a', 'a ', '', 'it''s', 'd']"
		if len(list) == 1 || len(list) > 6 {
			of = fmt.Sprintf("list_transform(range(%d), lambda j: 'x' || lpad(j::VARCHAR, 3, '0'))", len(list)+1)
		}
		columns = append(columns, fmt.Sprintf(`CASE WHEN hash(i, %d) %% 9 > 0 THEN (%s)[1 + (hash(i, -%d) %% len(%s))::BIGINT] END AS "%s"`, i, of, i+1, of, c.Name))
	}
	beside, err := render.Beside(table)
	if err != nil || len(beside) != 9 {
		t.Fatalf("%d columns, %v", len(beside), err)
	}
	if _, err := db.Exec(fmt.Sprintf(`CREATE TABLE t AS SELECT %s FROM range(5000) AS r(i); CREATE TABLE laid AS SELECT r.*, %s, dense_rank() OVER (ORDER BY u) AS discreet_unit,
		count(*) OVER (PARTITION BY u) AS discreet_unit_rows FROM t AS r ORDER BY hash(r)`, strings.Join(columns, ", "), strings.Join(beside, ", "))); err != nil {
		t.Fatal(err)
	}
	last := len(table.Columns) - 1
	turned := &plan.Project{Input: &plan.Scan{Table: table}, Names: make([]string, last+1)}
	for i := range table.Columns {
		turned.Exprs = append(turned.Exprs, &plan.Ref{Index: last - i, T: table.Columns[last-i].Type})
	}
	for _, keys := range [][]int{{1}, {2}, {1, 2}, {2, 1}, {3}, {3, 2}, {4}, {5}, {6}, {7}, {7, 6}, {8}, {9}, {10}, {4, 9}} {
		for name, input := range map[string]plan.Node{"the table": &plan.Scan{Table: table}, "columns in another order": turned} {
			at := func(i int) int { return i }
			if name != "the table" {
				at = func(i int) int { return last - i }
			}
			b := &plan.Bounded{Input: input, Unit: at(0), MaxGroups: 2, MaxRows: 3, Contributions: []plan.Contribution{{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: sqltype.Of(sqltype.Bigint)}}, {Kind: plan.UnitCount}}}
			for _, i := range keys {
				b.Keys, b.Names, b.Listed = append(b.Keys, &plan.Ref{Index: at(i), T: table.Columns[i].Type}), append(b.Names, ""), append(b.Listed, lists[i])
			}
			q := released(t, b)
			if q.Totals == nil {
				t.Fatalf("%v of %s: there is no form over copies", keys, name)
			}
			for k, i := range keys {
				if has := strings.Contains(q.Totals.SQL, fmt.Sprintf("%s%d AS k%d,", engine.PlaceColumn, i, k)); has != (len(lists[i]) <= 256) {
					t.Errorf("%v of %s: the place of column %d is read: %t", keys, name, i, has)
				}
			}
			register(t, db, nil, q.Totals)
			if got, want := sortedRows(t, db, strings.ReplaceAll(q.Totals.SQL, `"discreet_laid_t"`, "laid"), 5), sortedRows(t, db, q.SQL, 5); !reflect.DeepEqual(got, want) || len(want) == 0 {
				t.Errorf("%v of %s: %.200s, want %.200s", keys, name, got, want)
			}
		}
	}
}

// A copy has no values on a grid of columns without bounds, of bounds that are looked for in the data or that are too wide for exact sums, and of
// tables whose units are rows.
func TestFixedColumns(t *testing.T) {
	c := func(typ string, lower, upper sqltype.Value) *catalog.Column {
		parsed, err := sqltype.Parse(typ)
		if err != nil {
			t.Fatal(err)
		}
		return &catalog.Column{Name: "x", Type: parsed, Lower: lower, Upper: upper}
	}
	auto := c("bigint", int64(0), int64(5))
	auto.Auto = true
	for name, test := range map[string]struct {
		column *catalog.Column
		kind   catalog.UnitKind
		n      int
	}{
		"bounds":        {c("bigint", int64(0), int64(5)), catalog.UnitColumn, 1},
		"no bounds":     {c("bigint", nil, nil), catalog.UnitColumn, 0},
		"half":          {c("double", 1.5, nil), catalog.UnitColumn, 0},
		"wide":          {c("bigint", int64(-1<<63), int64(5)), catalog.UnitColumn, 0},
		"widest":        {c("bigint", int64(-1<<62+1), int64(1<<62-1)), catalog.UnitColumn, 1},
		"many digits":   {c("decimal(38,19)", sqltype.Decimal{Unscaled: big.NewInt(1), Scale: 19}, sqltype.Decimal{Unscaled: big.NewInt(1), Scale: 19}), catalog.UnitColumn, 0},
		"days":          {c("date", sqltype.Date(0), sqltype.Date(5)), catalog.UnitColumn, 0},
		"auto":          {auto, catalog.UnitColumn, 0},
		"rows as units": {c("bigint", int64(0), int64(5)), catalog.UnitRow, 0},
	} {
		columns, err := render.Beside(&catalog.Table{Name: "t", Columns: []*catalog.Column{test.column}, Unit: catalog.Unit{Kind: test.kind, Column: test.column}})
		if err != nil || len(columns) != test.n {
			t.Errorf("%s: %q, %v", name, columns, err)
		}
	}
}
