//go:build cgo

package render_test

import (
	"database/sql"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// An extreme type has the values at its ends, and those that functions stumble
// over. A table may hold them all: reading makes no others of them NULL.
type extreme struct {
	name, typ string
	values    []string // as DuckDB's expressions
}

// extremes are the types that a column can have.
var extremes = []extreme{
	{"b", "boolean", []string{"TRUE", "FALSE"}},
	{"s", "smallint", []string{"-32768", "32767", "0", "-1", "1"}},
	{"i", "integer", []string{"-2147483648", "2147483647", "0", "-1", "1", "2147483646", "65536", "30"}},
	{"l", "bigint", []string{"-9223372036854775808", "9223372036854775807", "0", "-1", "1", "9007199254740993", "-2147483649", "4294967296"}},
	{"r", "real", []string{"-3.4028235e38", "3.4028235e38", "1e-45", "0", "-1.5", "16777217", "0.1"}},
	{"f", "double", []string{"-1.7976931348623157e308", "1.7976931348623157e308", "5e-324", "0", "-1", "9223372036854775807", "-9223372036854775808", "2147483647.5", "-5e-324", "1e38", "709.8", "-745.2", "0.5", "4503599627370495.5"}},
	{"d1", "decimal(1,0)", []string{"-9", "9", "0"}},
	{"d4", "decimal(4,2)", []string{"-99.99", "99.99", "0", "0.01", "-0.5"}},
	{"d18", "decimal(18,2)", []string{"-9999999999999999.99", "9999999999999999.99", "0", "0.01", "-0.01"}},
	{"d19", "decimal(19,19)", []string{"-0.9999999999999999999", "0.9999999999999999999", "0", "0.0000000000000000001"}},
	{"d38", "decimal(38,0)", []string{"'-' || repeat('9', 38)", "repeat('9', 38)", "0", "1", "-1", "'5' || repeat('0', 37)"}},
	{"e38", "decimal(38,10)", []string{"'-' || repeat('9', 28) || '.' || repeat('9', 10)", "repeat('9', 28) || '.' || repeat('9', 10)", "0", "'0.0000000001'", "-1.5"}},
	{"z38", "decimal(38,38)", []string{"'-0.' || repeat('9', 38)", "'0.' || repeat('9', 38)", "0", "'0.' || repeat('0', 37) || '1'"}},
	{"x", "text", []string{"''", "repeat('ab', 40000)", "chr(0) || 'x'", "'👍🏽e' || chr(769)", "'1e999999999'", "repeat('9', 400)", "'0.' || repeat('0', 400) || '1'", "'-'", "' 12 '", "'nan'", "'-infinity'",
		"'5881580-07-11'", "'2024-02-30'", "'0000-01-01'", "'24:00:00'", "'9999-12-31 23:59:59.9999999'", "'%_\\'", "'true'", "'-9223372036854775809'", "'1e-400'", "chr(1114111)", "'ß' || chr(304)"}},
	{"day", "date", []string{"'5877642-06-25 (BC)'", "'5881580-07-10'", "'1970-01-01'", "'0001-01-01'", "'9999-12-31'", "'0001-12-31 (BC)'", "'10000-01-01'", "'2024-02-29'"}},
	{"tm", "time", []string{"'00:00:00'", "'24:00:00'", "'23:59:59.999999'"}},
	{"at", "timestamp", []string{"'290309-12-22 (BC) 00:00:00'", "make_timestamp(9223372036854775806)", "'1970-01-01'", "'0001-01-01'", "'9999-12-31 23:59:59.999999'", "'0001-12-31 (BC) 23:59:59'", "'10000-01-01'", "'1969-12-31 23:59:59.999999'"}},
	{"iv", "interval", []string{"to_months(-2147483648)", "to_months(2147483647)", "to_days(-2147483648)", "to_days(2147483647)", "to_microseconds((-9223372036854775808)::BIGINT)", "to_microseconds(9223372036854775807)",
		"to_months(2147483647) + to_days(2147483647) + to_microseconds(9223372036854775807)", "to_months(-2147483648) + to_days(-2147483648) + to_microseconds((-9223372036854775808)::BIGINT)", "to_days(0)", "to_months(1) + to_days(-1)", "to_microseconds(-1)"}},
}

// A bench is two instances over the same table t of extremes, of which one reads
// it in another order, with more threads. Its columns a_x, b_x and c_x are of
// every type; in its rows every value of a column meets every value of those with
// the other letters.
type bench struct {
	catalog  *catalog.Catalog
	one, two *sql.DB
}

func openBench(t testing.TB) *bench {
	const size = 23 // a prime that none of the lists' lengths reaches
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "id", Type: sqltype.Of(sqltype.Integer)}}}
	columns := []string{"n AS id"}
	for _, place := range []struct{ letter, index string }{{"a", "n // 23"}, {"b", "n % 23"}, {"c", "(n // 23 + n) % 23"}} {
		for _, x := range extremes {
			typ, err := sqltype.Parse(x.typ)
			if err != nil {
				t.Fatal(err)
			}
			values := append(x.values[:len(x.values):len(x.values)], "NULL")
			if len(values) > size {
				t.Fatalf("%s has %d values", x.typ, len(values))
			}
			text := fmt.Sprintf("CASE (%s) %% %d", place.index, len(values))
			for i, v := range values {
				text += fmt.Sprintf(" WHEN %d THEN CAST(%s AS %s)", i, v, duckName(typ))
			}
			name := place.letter + "_" + x.name
			table.Columns = append(table.Columns, &catalog.Column{Name: name, Type: typ})
			columns = append(columns, text+" END AS "+name)
		}
	}
	b := &bench{catalog: &catalog.Catalog{Tables: []*catalog.Table{table}}, one: openDuck(t), two: openDuck(t)}
	create := fmt.Sprintf("CREATE TABLE t AS SELECT %s FROM range(%d) AS r(n)", strings.Join(columns, ", "), size*size)
	for db, texts := range map[*sql.DB][]string{b.one: {"SET threads = 1", create}, b.two: {"SET threads = 3", create + " ORDER BY hash(n)"}} {
		for _, text := range texts {
			if _, err := db.Exec(text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	return b
}

// calls writes every function and operator over columns of every combination of
// types, and over constants. What the binder refuses is left out later; of a function that it
// refuses over a column and some arguments of each kind, no others are tried with that column.
func calls(binds func(expr string) bool) (out []string) {
	constants := []string{"NULL", "0", "-1", "2", "39", "-39", "2147483647", "9223372036854775807", "1e308", "''", "'a'", "'%_'", "INTERVAL '10000 years'", "DATE '9999-12-31'"}
	units := []string{"'microseconds'", "'milliseconds'", "'second'", "'minute'", "'hour'", "'day'", "'week'", "'month'", "'quarter'", "'year'", "'decade'", "'dow'", "'isodow'", "'doy'", "'isoyear'", "'epoch'"}
	all := func(letter string) (names []string) {
		for _, x := range extremes {
			names = append(names, letter+"_"+x.name)
		}
		return names
	}
	a, b, c := all("a"), all("b"), all("c")
	some, pairs := []string{"NULL", "2", "'a'", "INTERVAL '1 day'", "b_b", "b_day", "b_at"}, []string(nil)
	for _, y := range some {
		for _, z := range some {
			pairs = append(pairs, y+", "+z)
		}
	}
	for _, x := range a {
		out = append(out, fmt.Sprintf("EXTRACT(epoch FROM %s)", x), x, "-"+x, "NOT "+x, x+" IS NULL", x+" IS TRUE", x+" IS NOT FALSE", x+" IS UNKNOWN", "CASE WHEN "+x+" THEN 1 END", "CASE WHEN b_b THEN "+x+" END",
			x+" LIKE '%a_'", x+" ILIKE 'Ab%'", x+" ~ '^(a|b)+$'", x+" !~* '[0-9]{2,}'", "CAST("+x+" AS varchar(3))", "CAST("+x+" AS numeric)", "width_bucket("+x+", 0, 10, 5)",
			"width_bucket("+x+", 1.5, -0.5, 2147483646)", "width_bucket("+x+", -1.7e308::double precision, 1.7e308::double precision, 3)", "replace("+x+", 'a', 'abcdefgh')", "replace("+x+", 'ab', '')", "translate("+x+", 'ab', 'b')", "regexp_replace("+x+", '(a)b', '\\1\\1\\&cd', 'g')", "regexp_replace("+x+", '[a-z]*', 'long')", "regexp_replace("+x+", 'ab', '', 'g')", "substring("+x+" FROM 'a(.)')", "width_bucket("+x+", ARRAY[0, 1.5, 30])", "width_bucket("+x+", ARRAY['', 'a'])", "translate('abc', "+x+", 'x')")
		for _, typ := range append(sqltype.Names(), "decimal(1,0)", "decimal(4,2)", "decimal(9,9)", "decimal(19,0)", "decimal(38,0)", "decimal(38,10)", "decimal(38,38)") {
			out = append(out, fmt.Sprintf("CAST(%s AS %s)", x, typ))
		}
		for _, y := range append(b, constants...) {
			for _, op := range []string{"+", "-", "*", "/", "%", "^", "||", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "AND", "OR"} {
				out = append(out, fmt.Sprintf("%s %s %s", x, op, y))
				if !slices.Contains(b, y) {
					out = append(out, fmt.Sprintf("%s %s %s", y, op, x))
				}
			}
			out = append(out, fmt.Sprintf("CASE WHEN c_b THEN %s ELSE %s END", x, y), fmt.Sprintf("%s IN (%s, NULL)", x, y), fmt.Sprintf("%s BETWEEN %s AND c_%s", x, y, x[2:]), fmt.Sprintf("%s IN (%s, c_%s)", x, y, x[2:]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bind.Functions())) {
		arity := bind.Functions()[name]
		most := min(3, arity[1])
		if arity[1] > 3 && !soak() {
			most = min(2, most) // of those with any number of arguments
		}
		for n := arity[0]; n <= most; n++ {
			switch n {
			case 1:
				for _, x := range a {
					out = append(out, fmt.Sprintf("%s(%s)", name, x))
				}
			case 2:
				for _, x := range slices.Concat(a, constants, units) {
					if slices.Contains(a, x) && !slices.ContainsFunc(some, func(y string) bool { return binds(fmt.Sprintf("%s(%s, %s)", name, x, y)) }) {
						continue
					}
					for _, y := range slices.Concat(b, constants) {
						if slices.Contains(a, x) || slices.Contains(b, y) {
							out = append(out, fmt.Sprintf("%s(%s, %s)", name, x, y))
						}
					}
				}
			case 3:
				for _, x := range a {
					if !slices.ContainsFunc(pairs, func(yz string) bool { return binds(fmt.Sprintf("%s(%s, %s)", name, x, yz)) }) {
						continue
					}
					for _, y := range slices.Concat(b, constants[:5], constants[9:11]) {
						for _, z := range slices.Concat(c, constants[:5]) {
							out = append(out, fmt.Sprintf("%s(%s, %s, %s)", name, x, y, z))
						}
					}
				}
			}
		}
	}
	return out
}

// A probe is an expression that the binder takes, and its type.
type probe struct {
	expr string
	typ  sqltype.Type
	also bool // in the other order of rows
}

// binds says whether the binder takes an expression.
func (b *bench) binds(expr string) bool {
	_, err := compile(b.catalog, "SELECT "+expr+" FROM t")
	return err == nil
}

// probes binds expressions, and notes the functions of the plan that are in them. Of those that
// are alike, the same functions of the same types but for a decimal's digits, CI takes the first
// and a twelfth, of a third of these kinds and of one of each list of functions, by chance; and of what it takes, the first and every third in two orders of rows. It
// returns how many were bound, too.
func (b *bench) probes(exprs []string, functions map[string]bool) (out []probe, bound int) {
	seen, taken, chosen := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, e := range exprs {
		n, err := compile(b.catalog, "SELECT "+e+" FROM t")
		if err != nil {
			continue
		}
		alike, named := fmt.Sprint(n.Columns()[0].Type.Kind), ""
		note := func(e plan.Expr) bool {
			if c, ok := e.(*plan.Call); ok {
				functions[string(c.Function)] = true
				alike, named = alike+" "+string(c.Function), named+" "+string(c.Function)
			}
			alike += fmt.Sprintf(" %T %d", e, e.Type().Kind)
			return true
		}
		for _, e := range n.(*plan.Project).Exprs {
			plan.Walk(e, note)
		}
		bound++
		seen[alike]++
		if seen[alike] == 1 {
			chosen[alike] = taken[named] == 0 || rand.IntN(3) == 0
		}
		if !soak() && (!chosen[alike] || seen[alike] > 1 && rand.IntN(12) > 0) {
			continue
		}
		taken[named]++
		at := taken[named]
		out = append(out, probe{e, n.Columns()[0].Type, soak() || at == 1 || at%3 == 0})
	}
	return out, bound
}

// values asks for the values of expressions in every row, and holds them to what
// is promised of them: canonical, of bounded size, and the same in any order.
func (b *bench) values(probes []probe) error {
	exprs, sums, again := []string{"id"}, []string{}, []string{}
	for i, p := range probes {
		exprs = append(exprs, p.expr)
		v, wrong := fmt.Sprintf("c%d", i+1), "FALSE"
		switch {
		case p.typ.IsFloat():
			wrong = fmt.Sprintf("NOT isfinite(%[1]s) OR %[1]s = 0 AND signbit(%[1]s)", v)
		case p.typ.Kind == sqltype.DecimalKind:
			nines := "'" + strings.Repeat("9", int(p.typ.Precision-p.typ.Scale)) + "." + strings.Repeat("9", int(p.typ.Scale)) + "'::" + duckName(p.typ)
			wrong = fmt.Sprintf("%s NOT BETWEEN -(%s) AND %s", v, nines, nines)
		case p.typ.Kind == sqltype.Text:
			wrong = fmt.Sprintf("strlen(%s) > 100000", v)
		case p.typ.Kind == sqltype.DateKind || p.typ.Kind == sqltype.TimestampKind:
			wrong = fmt.Sprintf("NOT isfinite(%s)", v)
		case p.typ.Kind == sqltype.TimeKind:
			wrong = fmt.Sprintf("epoch_us(%s) NOT BETWEEN 0 AND 86400000000", v)
		}
		sums = append(sums, fmt.Sprintf("CAST(bit_xor(hash(c0, %s)) AS VARCHAR) || CASE WHEN bool_or(%s) THEN ' not canonical' ELSE '' END", v, wrong))
		if p.also {
			again = append(again, sums[i])
		}
	}
	n, err := compile(b.catalog, "SELECT "+strings.Join(exprs, ", ")+" FROM t")
	if err != nil {
		return err
	}
	for i, c := range n.Columns()[1:] {
		if c.Type != probes[i].typ {
			return fmt.Errorf("is a %s, and alone a %s", c.Type, probes[i].typ)
		}
	}
	text, err := render.Relation(n)
	if err != nil {
		return err
	}
	first, err := one(b.one, "SELECT "+strings.Join(sums, ", ")+" FROM ("+text+") AS q", len(sums))
	if err != nil {
		return err
	}
	for _, sum := range first {
		if strings.HasSuffix(sum, "canonical") {
			return fmt.Errorf("%s", sum)
		}
	}
	if len(again) == 0 {
		return nil
	}
	second, err := one(b.two, "SELECT "+strings.Join(again, ", ")+" FROM ("+text+") AS q", len(again))
	if err != nil {
		return err
	}
	for i, p := range probes {
		if p.also {
			if first[i] != second[0] {
				return fmt.Errorf("differs with the order of rows")
			}
			second = second[1:]
		}
	}
	return nil
}

// clauses runs a statement for each expression, with it in some clause.
func (b *bench) clauses(form string) func([]probe) error {
	return func(probes []probe) error {
		var parts []string
		for _, p := range probes {
			parts = append(parts, strings.ReplaceAll(form, "EXPR", "("+p.expr+")"))
		}
		n, err := compile(b.catalog, strings.Join(parts, " UNION ALL "))
		if err != nil {
			if len(probes) == 1 {
				return nil // refused, as an interval is in GROUP BY
			}
			return err
		}
		text, err := render.Relation(n)
		if err != nil {
			return err
		}
		_, err = one(b.one, "SELECT CAST(count(*) AS VARCHAR) FROM ("+text+") AS q", 1)
		return err
	}
}

// one returns the texts of a query's one row.
func one(db *sql.DB, text string, n int) ([]string, error) {
	values, pointers := make([]sql.NullString, n), make([]any, n)
	for i := range values {
		pointers[i] = &values[i]
	}
	if err := db.QueryRow(text).Scan(pointers...); err != nil {
		return nil, err
	}
	out := make([]string, n)
	for i, v := range values {
		out[i] = v.String
	}
	return out, nil
}

// failing runs probes in batches and halves those that fail, down to single ones.
func failing(probes []probe, size int, run func([]probe) error, report func(probe, error)) {
	for batch := range slices.Chunk(probes, size) {
		err := run(batch)
		switch {
		case err == nil:
		case len(batch) == 1:
			report(batch[0], err)
		default:
			failing(batch, (len(batch)+1)/2, run, report)
		}
	}
}

// soak says that the sweeps are to be long ones: make soak.
func soak() bool { return os.Getenv("DISCREET_SOAK") != "" }

// TestSweep: every function, operator and cast gives a canonical value, the same
// in any order of rows, over all pairs of the extremes of all its arguments'
// types; and fails nowhere in a statement (attacks L1, E1, E2). All comes from the
// allow-list, so that a new function is swept when it is there.
func TestSweep(t *testing.T) {
	b := openBench(t)
	swept := map[string]bool{}
	probes, bound := b.probes(calls(b.binds), swept)
	t.Logf("%d expressions, of which %d are swept", bound, len(probes))
	for _, f := range allowed(t) {
		if !swept[f] && f != string(plan.Fixed) && f != string(plan.Squared) && f != string(plan.RowKey) { // the rewriter's
			t.Errorf("no expression has the function %s", f)
		}
	}
	if bound < 10_000 || len(probes) < 800 {
		t.Errorf("only %d expressions, and %d are swept", bound, len(probes))
	}
	wrong := 0
	report := func(what string) func(probe, error) {
		return func(p probe, err error) {
			if wrong++; wrong <= 60 {
				t.Errorf("%s: %s: %v", what, p.expr, err)
			}
		}
	}
	failing(probes, 100, b.values, report("value"))
	forms := []string{
		"SELECT count(*) FROM t WHERE EXPR IS NULL",
		"SELECT count(*) FROM t GROUP BY EXPR",
		"SELECT count(DISTINCT EXPR) FROM t",
		"SELECT count(*) FROM t JOIN (SELECT id, EXPR AS k FROM t AS t) AS u ON u.k = EXPR AND u.id = t.id",
		"SELECT id FROM (SELECT id FROM t ORDER BY EXPR DESC, id LIMIT 3) AS q",
		"SELECT sum(CASE WHEN EXPR IS NOT NULL THEN 1 END) FROM t HAVING count(EXPR) > 1",
	}
	for i, form := range forms {
		some := probes
		if !soak() { // every fourth expression in one clause
			some = nil
			for j := i; j < len(probes); j += 4 * len(forms) {
				some = append(some, probes[j])
			}
		}
		failing(some, 40, b.clauses(form), report(form))
	}
	columns := slices.DeleteFunc(slices.Clone(probes), func(p probe) bool { return p.expr[0] != 'a' || strings.ContainsAny(p.expr, " (") })
	for _, form := range []string{ // of each type
		"SELECT count(*) FROM t WHERE EXPR", "SELECT min(EXPR), max(EXPR) FROM t", "SELECT id % 3, min(EXPR), max(EXPR), count(DISTINCT EXPR) FROM t GROUP BY 1", "SELECT sum(EXPR) FROM t", "SELECT avg(EXPR) FROM t",
		"SELECT var_pop(EXPR), stddev(EXPR) FROM t", "SELECT id % 5, sum(EXPR), avg(EXPR), var_samp(EXPR), stddev_pop(EXPR) FROM t GROUP BY 1", "SELECT bool_and(EXPR), bool_or(EXPR) FROM t",
		"SELECT DISTINCT EXPR FROM t", "SELECT EXPR FROM t UNION SELECT EXPR FROM t", "SELECT count(*) FROM t WHERE EXPR IN (SELECT EXPR FROM t)",
	} {
		failing(columns, 1, b.clauses(form), report(form))
	}
	if wrong > 0 {
		t.Errorf("%d fail", wrong)
	}
}

// allowed are the names of package plan's functions, as its source has them.
func allowed(t *testing.T) (out []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "../plan/function.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, name)
		}
		return true
	})
	if len(out) < 50 {
		t.Fatalf("found %d functions", len(out))
	}
	return out
}
