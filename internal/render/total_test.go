//go:build cgo

package render_test

import (
	"database/sql"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// wild are values that DuckDB's types hold and PostgreSQL's do not, or that no
// sane file has: a table may hold them all.
var wild = map[string][]string{
	"boolean":   {"TRUE", "FALSE"},
	"smallint":  {"-32768", "32767", "0", "-1", "1"},
	"integer":   {"-2147483648", "2147483647", "0", "-1", "1"},
	"bigint":    {"-9223372036854775808", "9223372036854775807", "0", "-1", "1"},
	"real":      {"-3.4028235e38::FLOAT", "3.4028235e38::FLOAT", "1e-45::FLOAT", "0::FLOAT", "-1.5::FLOAT"},
	"double":    {"-1.7976931348623157e308", "1.7976931348623157e308", "5e-324", "0e0", "-1e0", "4.5e15", "1e19"},
	"decimal":   {"repeat('9', 99)", "'-' || repeat('9', 99)", "'0'", "'1'"}, // cut to the type below
	"text":      {"''", "repeat('ab', 50000)", "chr(0) || 'x'", "'👍🏽'", "'1e999999999'", "repeat('9', 400)", "'0.' || repeat('0', 400) || '1'", "'-'", "'5000000-01-01'", "'%_\\'"},
	"date":      {"'5877642-06-25 (BC)'::DATE", "'5881580-07-10'::DATE", "'1970-01-01'::DATE", "'0001-01-01 (BC)'::DATE", "'10000-01-01'::DATE"},
	"timestamp": {"'290309-12-22 (BC) 00:00:00'::TIMESTAMP", "'294247-01-10 04:00:54.775806'::TIMESTAMP", "'1970-01-01'::TIMESTAMP", "'0001-01-01 (BC)'::TIMESTAMP"},
	"time":      {"'00:00:00'::TIME", "'24:00:00'::TIME"},
}

// openWild returns a database with the wild table, each column in a cycle of
// its own, and a few rows of NULL.
func openWild(t testing.TB) *sql.DB {
	db := openDuck(t)
	var columns, values []string
	for i, c := range nasty {
		kind, _, _ := strings.Cut(c.typ, "(")
		columns = append(columns, fmt.Sprintf(`"%s" %s`, c.name, c.typ))
		choices := wild[kind]
		if kind == "decimal" {
			typ, _ := sqltype.Parse(c.typ)
			whole, scale := int(typ.Precision-typ.Scale), int(typ.Scale)
			nines := fmt.Sprintf("repeat('9', %d) || '.' || repeat('9', %d)", whole, scale)
			choices = []string{"(" + nines + ")", "('-' || " + nines + ")", "'0'", "'0." + strings.Repeat("0", max(0, scale-1)) + "1'"}
		}
		choices = append(choices[:len(choices):len(choices)], "NULL")
		cycle := fmt.Sprintf("CASE (n * %d + n // %d) %% %d", i+1, len(choices), len(choices))
		for k, v := range choices {
			cycle += fmt.Sprintf(" WHEN %d THEN CAST(%s AS %s)", k, v, c.typ)
		}
		values = append(values, cycle+" END")
	}
	values[0] = "n"
	for _, text := range []string{
		"CREATE TABLE t (" + strings.Join(columns, ", ") + ")",
		"INSERT INTO t SELECT " + strings.Join(values, ", ") + " FROM range(120) AS r(n)",
		"CREATE TABLE o (k integer, label text, w decimal(6,2))",
		"INSERT INTO o VALUES " + strings.Join(otherRows, ", "),
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return db
}

// TestTotal: no expression fails on any value that a table can hold, and each
// value is canonical (attacks E1, E2, B7, B8). Of windows CI takes a quarter, others in each run.
func TestTotal(t *testing.T) {
	db, cat := openWild(t), nastyCatalog(t)
	run := func(t check, statement string) {
		n, err := compile(cat, statement)
		if err != nil {
			return // refused
		}
		text, err := render.Relation(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := duckQuery(db, text, n.Columns()); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	list, err := os.ReadFile("testdata/postgres/expressions")
	if err != nil {
		t.Fatal(err)
	}
	for _, expr := range strings.Split(string(list), "\n") {
		if expr != "" && !strings.HasPrefix(expr, "--") {
			run(t, "SELECT "+expr+" FROM t")
			run(t, "SELECT count(*) FROM t WHERE id >= 0 AND ("+expr+") IS NULL GROUP BY "+expr)
		}
	}
	statements, err := os.ReadFile("testdata/postgres/statements.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range strings.Split(string(statements), ";\n") {
		run(t, statement)
	}
	for _, c := range nasty { // keys of RANGE, which the offset is added to
		for _, key := range []string{c.name, "CAST(" + c.name + " AS decimal(37,6))"} {
			for _, offset := range []string{"1", "0.5", "999999999999", "1e300", "INTERVAL '10 years'"} {
				for _, way := range []string{"", " DESC"} {
					if !soak() && rand.IntN(4) > 0 {
						continue
					}
					run(t, fmt.Sprintf("SELECT count(*) OVER (ORDER BY %s%s RANGE BETWEEN %s PRECEDING AND %s FOLLOWING) FROM t", key, way, offset, offset))
				}
			}
		}
	}
	for _, c := range nasty { // every aggregate of every column
		for _, f := range []string{"count(%s)", "count(DISTINCT %s)", "sum(%s)", "avg(%s)", "var_pop(%s)", "stddev(%s)", "min(%s)", "max(%s)", "bool_and(%s)"} {
			run(t, "SELECT "+fmt.Sprintf(f, c.name)+" FROM t")
			run(t, "SELECT q, "+fmt.Sprintf(f, c.name)+" FROM t GROUP BY q")
		}
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"int", "bigint", "decimal", "double", "approx", "bool", "text", "date", "timestamp"}).Draw(t, "kind")
		expr := grammar{t}.expr(kind, 4)
		t.Log(expr)
		run(t, "SELECT "+expr+" FROM t")
	})
}

// TestFixed: plan.Fixed clamps first and is exact: it lies between the rounded
// bounds, and on the grid it is the value itself.
func TestFixed(t *testing.T) {
	db := openWild(t)
	table := nastyCatalog(t).Tables[0]
	index := func(name string) (int, sqltype.Type) {
		for i, c := range table.Columns {
			if c.Name == name {
				return i, c.Type
			}
		}
		t.Fatal(name)
		return 0, sqltype.Type{}
	}
	for _, c := range []struct {
		column, lower, upper string
		grid                 sqltype.Value // the denominator
	}{
		{"s", "-5", "100", int64(1)},
		{"i", "-2147483648", "2147483647", int64(1)},
		{"b", "-1000000000000000000", "4611686018427387904", int64(1)},
		{"f", "0", "5000", 1024.0},
		{"f", "-1.5", "1.5", float64(1 << 60)},
		{"f", "-1e300", "1e300", 1.0 / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 62) / (1 << 10)},
		{"d", "-100.00", "99999999.99", int64(100)},
		{"e", "0.0000", "99999999.9999", int64(10000)},
		{"h", "-1000.000000", "4611686018427.000000", int64(1000000)},
		{"p", "-0.500", "0.999", int64(1000)},
	} {
		at, typ := index(c.column)
		lower, err := sqltype.ParseValue(typ, c.lower)
		if err != nil {
			t.Fatal(err)
		}
		upper, err := sqltype.ParseValue(typ, c.upper)
		if err != nil {
			t.Fatal(err)
		}
		ref := &plan.Ref{Index: at, T: typ}
		gridType := sqltype.Of(sqltype.Bigint)
		if typ.IsFloat() {
			gridType = sqltype.Of(sqltype.Double)
		}
		n := &plan.Project{Input: &plan.Scan{Table: table}, Names: []string{"x", "fixed"}, Exprs: []plan.Expr{ref, &plan.Call{
			Function: plan.Fixed, T: sqltype.Of(sqltype.Bigint),
			Args: []plan.Expr{ref, &plan.Literal{Value: lower, T: typ}, &plan.Literal{Value: upper, T: typ}, &plan.Literal{Value: c.grid, T: gridType}},
		}}}
		text, err := render.Relation(n)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := duckQuery(db, text, n.Columns())
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			var want sqltype.Value
			if row[0] != nil {
				x := row[0]
				if sqltype.Compare(x, lower) < 0 {
					x = lower
				} else if sqltype.Compare(x, upper) > 0 {
					x = upper
				}
				scaled := new(big.Rat).Mul(rat(x), rat(c.grid))
				n, _ := new(big.Int).SetString(scaled.FloatString(0), 10) // half away from zero
				want = n.Int64()
			}
			if row[1] != want {
				t.Errorf("%s in [%s, %s] on 1/%v: %v gives %v, want %v", c.column, c.lower, c.upper, c.grid, row[0], row[1], want)
			}
		}
	}
}

// TestFixedDecimals: decimals of every scale, with bounds of every number of digits, are counted in units of their last digit.
func TestFixedDecimals(t *testing.T) {
	db := openWild(t)
	table := nastyCatalog(t).Tables[0]
	power := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	for scale := range uint8(19) {
		typ := sqltype.DecimalOf(38, scale)
		literal := func(n *big.Int) *plan.Literal {
			return &plan.Literal{Value: sqltype.Decimal{Unscaled: n, Scale: scale}, T: typ}
		}
		n := &plan.Project{Input: &plan.Scan{Table: table}}
		var want []int64
		for digits := 1; digits <= 18; digits++ {
			most := new(big.Int).Sub(power(digits), big.NewInt(1))
			for _, x := range []*big.Int{most, new(big.Int).Neg(most), new(big.Int).Div(power(digits), big.NewInt(7)), big.NewInt(-1), power(digits)} {
				want = append(want, min(x.Int64(), most.Int64()))
				n.Names = append(n.Names, fmt.Sprintf("x%d", len(want)))
				n.Exprs = append(n.Exprs, &plan.Call{Function: plan.Fixed, T: sqltype.Of(sqltype.Bigint), Args: []plan.Expr{
					literal(x), literal(new(big.Int).Neg(most)), literal(most), &plan.Literal{Value: power(int(scale)).Int64(), T: sqltype.Of(sqltype.Bigint)},
				}})
			}
		}
		text, err := render.Relation(n)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := duckQuery(db, text, n.Columns())
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range rows[0] {
			if x != want[i] {
				t.Errorf("%d digits behind the point: %v for %d", scale, x, want[i])
			}
		}
	}
}

func rat(v sqltype.Value) *big.Rat {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case float64:
		return new(big.Rat).SetFloat64(v)
	case sqltype.Decimal:
		return v.Rat()
	}
	panic(v)
}

// TestOrderOfRows: an aggregate over doubles is the same bit for bit whatever
// the order of the rows and the number of threads (attack B3).
func TestOrderOfRows(t *testing.T) {
	db := openDuck(t)
	cat := &catalog.Catalog{Tables: []*catalog.Table{{Name: "t", Columns: []*catalog.Column{
		{Name: "g", Type: sqltype.Of(sqltype.Integer)}, {Name: "x", Type: sqltype.Of(sqltype.Double)},
		{Name: "d", Type: sqltype.DecimalOf(30, 5)},
	}}}}
	n, err := compile(cat, "SELECT g, sum(x), avg(x), var_pop(x), stddev(x), sum(x * x), avg(d), var_samp(d) FROM t GROUP BY g ORDER BY g")
	if err != nil {
		t.Fatal(err)
	}
	text, err := render.Relation(n)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(text string) {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	// Values of every magnitude, so that a sum of doubles rounds at each step.
	exec("CREATE TABLE base AS SELECT (n % 3)::INTEGER AS g, (hash(n) / 1e19 - 0.9) * power(10, n % 17) AS x, CAST(n * 1000.5 AS DECIMAL(30,5)) AS d FROM range(250000) AS r(n)")
	var first string
	for i, order := range []string{"hash(x)", "x", "-x", "g, hash(x + 1)", "abs(x)"} {
		exec("CREATE OR REPLACE TABLE t AS SELECT * FROM base ORDER BY " + order)
		exec(fmt.Sprintf("SET threads = %d", 1+i%4))
		rows, err := duckQuery(db, text, n.Columns())
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%b", rows)
		if i == 0 {
			first = got
		} else if got != first {
			t.Errorf("ordered by %s:\n%s\nbefore:\n%s", order, got, first)
		}
	}
}
