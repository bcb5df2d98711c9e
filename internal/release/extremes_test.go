//go:build cgo

package release_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// ends are the columns of the tables of extremes: their names begin with their kind.
var ends = []struct{ name, typ, values string }{
	{"q", "boolean", "TRUE, FALSE"},
	{"n_s", "smallint", "-32768, 32767, 0"},
	{"n_i", "integer", "-2147483648, 2147483647, 0, -1"},
	{"n_l", "bigint", "-9223372036854775808, 9223372036854775807, 0, -1, 2147483648"},
	{"n_r", "real", "-3.4028235e38, 3.4028235e38, 1e-45, 0.5"},
	{"n_f", "double", "-1.7976931348623157e308, 1.7976931348623157e308, 5e-324, 0, 9223372036854775807, 0.5, 1e38"},
	{"n_d", "decimal(10,2)", "-99999999.99, 99999999.99, 0, 0.01"},
	{"n_h", "decimal(38,0)", "'-' || repeat('9', 38), repeat('9', 38), '0', '1'"},
	{"n_z", "decimal(38,38)", "'-0.' || repeat('9', 38), '0.' || repeat('9', 38), '0'"},
	{"x", "text", "'', repeat('ab', 33000), chr(0) || 'x', '👍🏽', '1e999999', repeat('9', 400), '-', '5881580-07-11', '24:00:00', '%_\\', 'true', '0000-00-00'"},
	{"y_d", "date", "'5877642-06-25 (BC)', '5881580-07-10', '1970-01-01', '0001-01-01', '9999-12-31'"},
	{"y_t", "timestamp", "'290309-12-22 (BC) 00:00:00', make_timestamp(9223372036854775806), '1970-01-01', '0001-01-01', '9999-12-31 23:59:59.999999'"},
	{"z", "time", "'00:00:00', '24:00:00', '23:59:59.999999'"},
	{"v", "interval", "to_months(-2147483648), to_months(2147483647), to_days(-2147483648), to_microseconds(9223372036854775807), to_microseconds((-9223372036854775808)::BIGINT), to_days(0)"},
}

// extremeCatalog has a private table t and a public one p of nothing but extremes,
// in DuckDB and in Parquet.
func extremeCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	dir := t.TempDir()
	o, err := duckdb.OpenOwner(t.Context(), duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	made := []string{"n % 7 AS u"}
	private, public := "u = { type = \"integer\" }\n", "u = { type = \"integer\" }\n"
	for i, e := range ends {
		values := strings.Split(e.values, ", ")
		for j := 0; j < len(values); j++ { // commas within calls
			for strings.Count(values[j], "(") > strings.Count(values[j], ")") {
				values[j] += ", " + values[j+1]
				values = append(values[:j+1], values[j+2:]...)
			}
		}
		text := fmt.Sprintf("CASE (n * %d + n // %d) %% %d", i+1, 3+i, len(values)+1)
		typ := strings.Replace(strings.Replace(e.typ, "real", "FLOAT", 1), "text", "VARCHAR", 1)
		for j, v := range values {
			text += fmt.Sprintf(" WHEN %d THEN CAST(%s AS %s)", j, v, typ)
		}
		made = append(made, text+" END AS "+e.name)
		bounds := ""
		if strings.HasPrefix(e.name, "n_") && e.name != "n_z" {
			bounds = ", lower = -100, upper = 100"
		}
		private += fmt.Sprintf("%s = { type = %q%s }\n", e.name, e.typ, bounds)
		public += fmt.Sprintf("%s = { type = %q }\n", e.name, e.typ)
	}
	for _, text := range []string{
		"ATTACH '" + dir + "/t.duckdb' AS f", "CREATE TABLE f.t AS SELECT " + strings.Join(made, ", ") + " FROM range(61) AS r(n)",
		"CREATE TABLE f.p AS FROM f.t WHERE u < 3", "DETACH f",
	} {
		if _, _, err := o.Rows(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), `
[domains.d]
measure = "approx"
epsilon = 1000.0
delta = 0.1
[tables.t]
source = "t.duckdb#t"
domain = "d"
unit = "u"
max_groups_per_unit = 3
max_rows_per_group = 2
[tables.t.columns]
`+private+"[tables.p]\nsource = \"t.duckdb#p\"\npublic = true\n[tables.p.columns]\n"+public)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A writer writes statements over the tables of extremes.
type writer struct{ *rand.Rand }

func (w writer) pick(of ...string) string { return of[w.IntN(len(of))] }

func (w writer) column(table, kind string) string {
	var of []string
	for _, e := range ends {
		if strings.HasPrefix(e.name, kind) {
			of = append(of, table+"."+e.name)
		}
	}
	return w.pick(of...)
}

// expr writes an expression of a kind over a table: boolean q, number n, text x,
// day or timestamp y, time z, interval v.
func (w writer) expr(kind, table string, depth int) string {
	if depth == 0 || w.IntN(5) == 0 {
		return w.column(table, kind)
	}
	of := func(kind string) string { return w.expr(kind, table, depth-1) }
	any := func() string { return of(w.pick("q", "n", "x", "y")) }
	if w.IntN(5) == 0 && kind != "v" && kind != "z" {
		return w.pick(
			fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", of("q"), of(kind), of(kind)),
			fmt.Sprintf("%s(%s, %s)", w.pick("coalesce", "nullif", "greatest", "least"), of(kind), of(kind)))
	}
	switch kind {
	case "q":
		k := w.pick("n", "x", "y", "q")
		return w.pick(
			fmt.Sprintf("(%s %s %s)", of(k), w.pick("=", "<>", "<", ">=", "IS DISTINCT FROM"), of(k)),
			fmt.Sprintf("(%s %s %s)", of("v"), w.pick("=", "<", ">="), of("v")),
			fmt.Sprintf("(%s %s %s)", of("q"), w.pick("AND", "OR"), of("q")),
			fmt.Sprintf("(NOT %s)", of("q")), fmt.Sprintf("(%s IS NULL)", any()),
			fmt.Sprintf("(%s IN (%s, %s))", of(k), of(k), of(k)), fmt.Sprintf("(%s BETWEEN %s AND %s)", of(k), of(k), of(k)),
			fmt.Sprintf("(%s %s)", of("x"), w.pick("LIKE '%a_'", "ILIKE '%B%'", "~ '^[0-9]+$'", "!~* '(a|b){2,}'")),
			fmt.Sprintf("starts_with(%s, %s)", of("x"), of("x")), fmt.Sprintf("CAST(%s AS boolean)", of("x")))
	case "n":
		return w.pick(
			fmt.Sprintf("(%s %s %s)", of("n"), w.pick("+", "-", "*", "/", "%", "^"), of("n")), fmt.Sprintf("(- %s)", of("n")),
			fmt.Sprintf("%s(%s)", w.pick("abs", "sign", "round", "trunc", "floor", "ceil", "exp", "ln", "log10", "sqrt"), of("n")),
			fmt.Sprintf("CAST(%s AS %s)", of(w.pick("n", "x")), w.pick("smallint", "integer", "bigint", "real", "double precision", "numeric", "decimal(5,2)", "decimal(38,0)", "decimal(38,38)")),
			fmt.Sprintf("round(CAST(%s AS numeric), %s)", of("n"), w.pick("0", "3", "-3", "-38")),
			fmt.Sprintf("%s(%s)", w.pick("length", "char_length"), of("x")), fmt.Sprintf("strpos(%s, %s)", of("x"), of("x")),
			fmt.Sprintf("width_bucket(%s, -5, 1e9, 7)", of("n")), fmt.Sprintf("width_bucket(%s, ARRAY[-1e300, 0, 0.5, 1e18])", of("n")), fmt.Sprintf("width_bucket(%s, ARRAY['', 'a'])", of("x")),
			fmt.Sprintf("regexp_count(%s, '%s')", of("x"), w.pick("[a-z]+", ".", "[0-9]|e[+-]")), fmt.Sprintf("ascii(%s)", of("x")),
			fmt.Sprintf("extract(%s FROM %s)", w.pick("epoch", "year", "month", "day", "decade"), of(w.pick("y", "v"))),
			fmt.Sprintf("extract(%s FROM %s)", w.pick("epoch", "hour", "microseconds", "second", "milliseconds"), of(w.pick("z", "v"))),
			fmt.Sprintf("date_part('%s', %s)", w.pick("epoch", "week", "doy", "isoyear"), of("y")))
	case "x":
		return w.pick(
			fmt.Sprintf("substring(%s FROM '%s')", of("x"), w.pick("^(.).", ".*$", "[^0-9]+")), fmt.Sprintf("regexp_replace(%s, '(.)', '\\1\\&%s'%s)", of("x"), w.pick("", "é"), w.pick("", ", 'g'")),
			fmt.Sprintf("(%s || %s)", of("x"), any()), fmt.Sprintf("CAST(%s AS text)", of(w.pick("n", "y", "q", "z"))),
			fmt.Sprintf("%s(%s, CAST(%s AS integer))", w.pick("left", "right", "substring"), of("x"), of("n")),
			fmt.Sprintf("substring(%s, CAST(%s AS integer), CAST(%s AS integer))", of("x"), of("n"), of("n")),
			fmt.Sprintf("split_part(%s, %s, CAST(%s AS integer))", of("x"), of("x"), of("n")),
			fmt.Sprintf("replace(%s, '%s', '%s')", of("x"), w.pick("a", "ab", ""), w.pick("", "bb", "abababababababababab")),
			fmt.Sprintf("%s(%s)", w.pick("lower", "upper", "reverse", "btrim"), of("x")), fmt.Sprintf("concat(%s, %s, %s)", any(), any(), any()))
	case "y":
		return w.pick(
			fmt.Sprintf("(%s %s %s)", of("y"), w.pick("+", "-"), of("v")), fmt.Sprintf("((%s - %s) - %s)", of("y"), of("v"), of("v")),
			fmt.Sprintf("(CAST(%s AS date) %s CAST(%s AS integer))", of("y"), w.pick("+", "-"), of("n")),
			fmt.Sprintf("date_trunc('%s', %s)", w.pick("microseconds", "hour", "week", "quarter", "decade"), of("y")),
			fmt.Sprintf("CAST(%s AS %s)", of(w.pick("x", "y")), w.pick("date", "timestamp")))
	case "z":
		return fmt.Sprintf("CAST(%s AS time)", of(w.pick("x", "y")))
	}
	return w.pick(fmt.Sprintf("(- %s)", of("v")), fmt.Sprintf("(%s - %s)", of("y"), of("y")))
}

// statement writes a release, or post-processing, or both.
func (w writer) statement() string {
	e := func(kind, table string) string { return w.expr(kind, table, 1+w.IntN(3)) }
	aggregate := func(a string) string {
		return w.pick("count(*)", "count("+e("x", a)+")", "count(DISTINCT "+e("n", a)+")", "sum(least(greatest("+e("n", a)+", -5), 5))", "avg("+a+".n_d)", "sum("+a+".n_i) FILTER (WHERE "+e("q", a)+")",
			"var_pop("+a+".n_f)", "stddev("+a+".n_h)", "sum(CASE WHEN "+e("q", a)+" THEN 1 ELSE 0 END)", "sum("+a+".n_r)", "sum("+a+".n_l)")
	}
	key := func(a string) string { return e(w.pick("q", "n", "x", "y"), a) }
	switch w.IntN(9) {
	case 0:
		return fmt.Sprintf("SELECT %s FROM t WHERE %s", aggregate("t"), e("q", "t"))
	case 1:
		return fmt.Sprintf("SELECT %s AS k, %s, %s FROM t GROUP BY 1 HAVING count(*) > -1 ORDER BY 1 DESC", key("t"), aggregate("t"), aggregate("t"))
	case 2:
		return fmt.Sprintf("SELECT %s FROM t JOIN t AS s ON s.u = t.u AND %s", aggregate("t"), w.pick(e("q", "s"), "("+e("x", "s")+" = "+e("x", "t")+")"))
	case 3:
		return fmt.Sprintf("SELECT %s FROM t JOIN p ON %s", aggregate("t"), w.pick(e("q", "p"), "("+e("n", "p")+" = "+e("n", "t")+")"))
	case 4:
		f := w.pick("max", "min", "sum", "avg", "stddev")
		return fmt.Sprintf("SELECT sum(least(greatest(m, 0), 9)), count(*) FROM (SELECT u, %s(%s) AS m, max(%s) AS x FROM t GROUP BY u) AS s", f, e("n", "t"), e(w.pick("n", "x", "y"), "t"))
	case 5:
		return fmt.Sprintf("SELECT count(*) FROM t WHERE u IN (SELECT u FROM t AS s WHERE %s) OR %s", e("q", "s"), e("q", "t"))
	case 6:
		return fmt.Sprintf("SELECT %s AS a, %s AS b FROM p WHERE %s ORDER BY %s, 1 LIMIT 50", key("p"), e(w.pick("n", "x", "y", "v", "z"), "p"), e("q", "p"), key("p"))
	case 7:
		k := e(w.pick("n", "y", "x"), "p")
		return fmt.Sprintf("SELECT %s AS k, sum(%s), avg(%s), min(%s), var_samp(%s), count(DISTINCT %s) FROM p GROUP BY 1 HAVING count(*) > 0", k, e("n", "p"), e("n", "p"), key("p"), e("n", "p"), key("p"))
	}
	return fmt.Sprintf("SELECT r.c * p.n_f, r.a / p.n_d, CAST(r.a AS integer) + p.n_i, CAST(r.c AS text) || p.x, %s FROM (SELECT count(*) AS c, avg(n_f) AS a FROM t) AS r JOIN p ON r.c > p.n_l OR %s", e("n", "p"), e("q", "p"))
}

// TestExtremes: no statement fails over tables that hold nothing but the extremes of
// every type, neither in a release nor above it (attacks L1, E1, E2). Released
// tables hold extremes, too, which noise alone could make. The statements are the same
// in each run: the first 100 of the 100,000 of make soak.
func TestExtremes(t *testing.T) {
	n := soak(100, 100_000)
	c := extremeCatalog(t)
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 2, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x := &answerer{engine: e, loaded: map[string]bool{}}
	if x.public, err = e.Scratch(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer x.public.Close()
	asked, failed := 0, 0
	for i := range n {
		if i > 0 && i%10_000 == 0 {
			t.Logf("statement %d: %d answered, %d failed", i, asked-failed, failed)
		}
		sql := writer{rand.New(rand.NewPCG(11, uint64(i)))}.statement()
		certificate, err := certified(sql, c)
		if err != nil {
			continue // refused
		}
		asked++
		if err := x.answered(t.Context(), certificate, i%4 == 0 || n > 100); err != nil {
			if failed++; failed <= 20 {
				t.Errorf("statement %d: %s\n%v", i, sql, err)
			}
		}
	}
	t.Logf("%d of %d statements were answered", asked, n)
	if asked < n/2 {
		t.Errorf("only %d of %d statements were not refused", asked, n)
	}
}

func certified(sql string, c *catalog.Catalog) (*stability.Certificate, error) {
	tree, err := sqlparse.Parse(sql)
	if err != nil {
		return nil, err
	}
	bound, err := bind.Bind(tree, c)
	if err != nil {
		return nil, err
	}
	if plan.TooLarge(bound, 10_000) != nil {
		return nil, fmt.Errorf("too large")
	}
	return stability.Analyze(bound)
}

// An answerer runs statements without their noise.
type answerer struct {
	engine *duckdb.Engine
	public engine.Scratch // for statements over public tables alone
	loaded map[string]bool
}

// answered runs a statement's releases over the private tables, and what stands
// above them, if above is set, over released tables of extremes.
func (x *answerer) answered(ctx context.Context, c *stability.Certificate, above bool) error {
	e := x.engine
	cause := func(err error) error {
		if f, ok := err.(*engine.Failure); ok {
			return f.Cause()
		}
		return err
	}
	for _, r := range c.Releases {
		q, err := render.Release(rewrite.Release(r, nil))
		if err != nil {
			return err
		}
		q.Salt = 7
		if _, err := e.Exact(ctx, q); err != nil {
			return cause(err)
		}
	}
	post := rewrite.Intervals(c, rewrite.Options{})
	if len(c.Releases) > 0 && !above {
		return nil
	}
	sql, err := render.Relation(post.Plan)
	if err != nil {
		return err
	}
	s, loaded := x.public, x.loaded
	if len(c.Releases) > 0 {
		if s, err = e.Scratch(ctx); err != nil {
			return cause(err)
		}
		defer s.Close()
		loaded = map[string]bool{}
	}
	var load func(n plan.Node) error
	load = func(n plan.Node) error {
		name, columns, rows := "", []engine.Column(nil), [][]sqltype.Value(nil)
		switch n := n.(type) {
		case *plan.Released:
			name = render.ReleasedName(n.Index)
			for _, col := range n.Cols {
				columns = append(columns, engine.Column{Name: col.Name, Type: col.Type})
			}
			columns = render.ReleasedColumns(columns)
			for i := range 7 {
				row := make([]sqltype.Value, len(columns))
				for j, col := range columns {
					row[j] = extremeValue(col.Type, i+j)
				}
				rows = append(rows, row)
			}
		case *plan.Scan:
			name = n.Table.Name
			if columns, rows, err = e.Public(ctx, name); err != nil {
				return cause(err)
			}
		}
		if name != "" && !loaded[name] {
			loaded[name] = true
			if err := s.Load(ctx, name, columns, rows); err != nil {
				return fmt.Errorf("load %s: %w", name, cause(err))
			}
		}
		for _, in := range n.Inputs() {
			if err := load(in); err != nil {
				return err
			}
		}
		return nil
	}
	if err := load(post.Plan); err != nil {
		return err
	}
	var types []sqltype.Type
	for _, col := range post.Plan.Columns() {
		types = append(types, col.Type)
	}
	_, err = s.Query(ctx, sql, types)
	return cause(err)
}

// extremeValue is one of those of a type, or NULL.
func extremeValue(t sqltype.Type, i int) sqltype.Value {
	texts := map[sqltype.Kind][]string{
		sqltype.Boolean: {"true", "false"}, sqltype.Smallint: {"-32768", "32767", "0"}, sqltype.Integer: {"-2147483648", "2147483647", "0"},
		sqltype.Bigint: {"-9223372036854775808", "9223372036854775807", "0", "-1"}, sqltype.Real: {"3.4028235e38", "-3.4028235e38", "1e-45"},
		sqltype.Double: {"1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "0"}, sqltype.Text: {"", "\x00", "9e999"}, sqltype.DateKind: {"0001-01-01", "9999-12-31"},
		sqltype.TimeKind: {"00:00:00", "23:59:59.999999"}, sqltype.TimestampKind: {"0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"},
	}[t.Kind]
	if t.Kind == sqltype.DecimalKind {
		nines := strings.Repeat("9", int(t.Precision-t.Scale)) + "." + strings.Repeat("9", int(t.Scale))
		texts = []string{strings.TrimSuffix(nines, "."), "-" + strings.TrimSuffix(nines, "."), "0"}
	}
	if i %= len(texts) + 1; i == len(texts) {
		return nil
	}
	v, err := sqltype.ParseValue(t, texts[i])
	if err != nil {
		panic(err)
	}
	return v
}
