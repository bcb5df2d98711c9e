//go:build cgo && unix

package render_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/internal/trinotest"
	"github.com/discreet-dp/discreet/sqltype"
)

// A lake is a Trino and a DuckDB with the same tables.
type lake struct {
	*pair
	trino   *trinotest.Cluster
	refused map[string]int // what has no form in Trino
}

// TestTrino holds what a plan gives in Trino against what it gives in DuckDB, which TestPostgres
// holds against PostgreSQL: no statement fails there, and values are the same but for the known
// differences. What Trino lacks is refused by name.
func TestTrino(t *testing.T) {
	trino := trinotest.Start(t)
	l := &lake{pair: &pair{catalog: nastyCatalog(t), duck: openDuck(t)}, trino: trino, refused: map[string]int{}}
	l.create(t)
	l.createTrino(t)
	t.Run("expressions", l.expressions)
	t.Run("random", l.random)
	t.Run("matches", l.matches)
	for what, n := range l.refused {
		t.Logf("%d times refused: %s", n, what)
	}
}

// What has no form in Trino is refused by name, and nothing else is: without a cluster.
func TestTrinoRefuses(t *testing.T) {
	text, err := os.ReadFile("testdata/postgres/expressions")
	if err != nil {
		t.Fatal(err)
	}
	c, rendered, known := nastyCatalog(t), 0, trinoFunctions(t)
	for _, expr := range strings.Split(string(text), "\n") {
		if expr = strings.TrimSpace(expr); expr == "" || strings.HasPrefix(expr, "--") {
			continue
		}
		n, err := compile(c, "SELECT "+expr+" FROM t")
		if err != nil {
			t.Fatal(err)
		}
		sql, err := render.Trino.Relation(n)
		var d *diagnostic.Diagnostic
		switch {
		case err == nil:
			rendered++
			for _, name := range unknownFunctions(sql, known) {
				t.Errorf("%s: Trino has no function %s: %s", expr, name, sql)
			}
			if strings.Contains(sql, render.TrinoSalt) {
				t.Errorf("%s holds the mark of the salt: %s", expr, sql)
			}
		case !errors.As(err, &d) || d.Code != "D106" || !strings.Contains(d.Message, "Trino"):
			t.Errorf("%s: %v", expr, err)
		}
	}
	if rendered < 500 {
		t.Errorf("%d expressions have a form", rendered)
	}
	for constant, want := range map[string]string{
		"'$salt'": "from_utf8(X'2473616C74')", `x LIKE '\a\%\\%'`: `ESCAPE '\'`, `x ~ '^a$'`: `'(?s)\Aa\z'`, `x ~ '[^a^&]\d[\d.]'`: `'(?s)[^a\^\&][0-9][0-9.]'`,
		"i IN (1, NULL, 7)": "(CASE WHEN c2 IN (INTEGER '1', INTEGER '7') THEN TRUE END)", "i IN (NULL)": "CAST(NULL AS BOOLEAN)", "i IN (1, b)": "IS NULL OR c4 IS NULL THEN NULL ELSE FALSE END)",
		"day - INTERVAL '1 month -1 day'": "date_add('day', 1, date_add('month', -1, ", "at + NULL::interval": "CAST(NULL AS TIMESTAMP(6))",
		"sum(b)": "sum(CAST(", "9223372036854775807": "BIGINT '9223372036854775807'",
	} {
		n, err := compile(c, "SELECT "+constant+" FROM t")
		if err != nil {
			t.Fatal(err)
		}
		if sql, err := render.Trino.Relation(n); err != nil || !strings.Contains(sql, want) {
			t.Errorf("%s: %v\n%s", constant, err, sql)
		}
	}
	for pattern, form := range map[string]string{"x ~ '^([a-z]+ ?)+$'": "", "regexp_replace(x, '(?:a|[a-z])+b', '')": "", "x ~ '^[a-z]+( [a-z]+)*$'": "regexp_like", "rtrim(x)": `\A`} {
		n, err := compile(c, "SELECT "+pattern+" FROM t")
		if err != nil {
			t.Fatal(err)
		}
		sql, err := render.Trino.Relation(n)
		if form == "" && (err == nil || !strings.Contains(err.Error(), "D106")) || form != "" && (err != nil || !strings.Contains(sql, form)) {
			t.Errorf("%s: %v\n%s", pattern, err, sql)
		}
	}
	// Longer than the binder takes: no step may leave the range of a timestamp.
	at := sqltype.Of(sqltype.TimestampKind)
	for _, i := range []sqltype.Interval{{Months: 240_001}, {Days: -7_320_001}, {Micros: math.MinInt64}} {
		sum := &plan.Call{Function: plan.AddInterval, T: at, Args: []plan.Expr{&plan.Ref{T: at, Name: "at"}, &plan.Call{Function: plan.Negate, T: sqltype.Of(sqltype.IntervalKind),
			Args: []plan.Expr{&plan.Literal{Value: i, T: sqltype.Of(sqltype.IntervalKind)}}}}}
		if out, err := render.Trino.Exprs([]plan.Expr{sum}); err != nil || out[0] != "CAST(NULL AS TIMESTAMP(6))" {
			t.Errorf("%s: %v, %v", i, out, err)
		}
	}
}

// trinoFunctions are the names of SHOW FUNCTIONS of Trino 476, and those of its grammar.
func trinoFunctions(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/trino/functions")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"try": true, "coalesce": true, "extract": true, "position": true, "format": true}
	for _, name := range strings.Fields(string(text)) {
		known[name] = true
	}
	return known
}

var called = regexp.MustCompile(`\b([a-z][a-z0-9_]*)\(`)

// unknownFunctions are the names of what a statement calls, outside of its texts, that are none of
// those: what the renderer itself writes is in small letters if it is a function's name.
func unknownFunctions(sql string, known map[string]bool) (unknown []string) {
	for i, part := range strings.Split(sql, "'") {
		for _, m := range called.FindAllStringSubmatch(part, -1) {
			if i%2 == 0 && !known[m[1]] && !relationName.MatchString(m[1]) {
				unknown = append(unknown, m[1])
			}
		}
	}
	return unknown
}

var relationName = regexp.MustCompile(`^[tlreqo][0-9]*$`) // with the names of its columns

// Bounded aggregations call nothing either that Trino does not have.
func TestTrinoReleasesCallKnownFunctions(t *testing.T) {
	known := trinoFunctions(t)
	c, err := catalog.Parse("discreet.toml", `
[domains.people]
measure = "zcdp"
epsilon = 1.0
delta = 1e-7
[tables.t]
source = "t.csv"
domain = "people"
unit = "u"
max_groups_per_unit = 2
max_rows_per_group = 3
[tables.t.columns]
u = { type = "bigint" }
g = { type = "text", domain = ["a", "b", "c"] }
h = { type = "integer" }
f = { type = "double", lower = 0, upper = 5 }
d = { type = "decimal(7,2)", lower = 0, upper = 5, sum_lower = 0, sum_upper = 7 }
i = { type = "integer", lower = 0, upper = 10, step = 1 }
`)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, statement := range []string{
		"SELECT g, count(*), sum(f), avg(i) FROM t GROUP BY g", "SELECT sum(d), variance(f) FROM t", "SELECT h, count(*), sum(f) FROM t GROUP BY h",
		"SELECT g, i, count(*), sum(f) FROM t GROUP BY g, i", "SELECT count(DISTINCT h), count(DISTINCT u) FROM t", "SELECT g, median(i), avg(s) FROM (SELECT u, g, i, least(greatest(sum(f), 0), 9) AS s FROM t GROUP BY u, g, i) AS x GROUP BY g",
		"SELECT g, sum(f) FROM t WHERE h IN (1, NULL) GROUP BY ROLLUP (g)",
	} {
		tree, err := sqlparse.Parse(statement)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := bind.Statement(tree, c, bind.Parameters{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := stability.Analyze(bound)
		if err != nil {
			t.Logf("%s: %v", statement, err)
			continue
		}
		for _, r := range certificate.Releases {
			all := rewrite.Trees(r, nil)
			if rewrite.Summed(r) {
				all = append(all, rewrite.Release(r, nil))
			}
			for _, b := range all {
				for _, f := range []func(*plan.Bounded) (engine.Query, error){render.Trino.Release, render.Trino.Compared} {
					q, err := f(b)
					if err != nil {
						t.Errorf("%s: %v", statement, err)
						continue
					}
					seen++
					for _, name := range unknownFunctions(q.SQL, known) {
						t.Errorf("%s: Trino has no function %s: %s", statement, name, q.SQL)
					}
				}
			}
		}
	}
	if seen < 12 {
		t.Errorf("only %d queries were looked at", seen)
	}
}

// createTrino makes both tables: it has no time 24:00, which is NULL there.
func (l *lake) createTrino(t *testing.T) {
	var columns, rows []string
	for i, c := range l.catalog.Tables[0].Columns {
		columns = append(columns, fmt.Sprintf("%q %s", c.Name, trinoType(l.catalog.Tables[0].Columns[i].Type)))
	}
	for row := range nastyRows {
		var values []string
		for i, c := range l.catalog.Tables[0].Columns {
			var v sqltype.Value
			if text, ok := nastyValue(i, row); ok && text != "24:00:00" {
				var err error
				if v, err = sqltype.ParseValue(c.Type, text); err != nil {
					t.Fatal(err)
				}
			}
			out, err := render.Trino.Exprs([]plan.Expr{&plan.Literal{Value: v, T: c.Type}})
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, out[0])
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	for _, table := range []string{"t", "o"} {
		l.trino.Exec(t, "DROP TABLE IF EXISTS memory.default."+table)
	}
	l.trino.Exec(t, "CREATE TABLE memory.default.t ("+strings.Join(columns, ", ")+")")
	l.trino.Exec(t, "INSERT INTO memory.default.t VALUES "+strings.Join(rows, ", "))
	l.trino.Exec(t, "CREATE TABLE memory.default.o (k INTEGER, label VARCHAR, w DECIMAL(6,2))")
	l.trino.Exec(t, "INSERT INTO memory.default.o VALUES "+strings.Join(otherRows, ", "))
}

func trinoType(t sqltype.Type) string {
	switch t.Kind {
	case sqltype.Text:
		return "VARCHAR"
	case sqltype.TimeKind, sqltype.TimestampKind:
		return strings.ToUpper(t.String()) + "(6)"
	}
	return t.String()
}

// expressions are those of TestPostgres, some in one statement.
func (l *lake) expressions(t *testing.T) {
	text, err := os.ReadFile("testdata/postgres/expressions")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, expr := range strings.Split(string(text), "\n") {
		if expr = strings.TrimSpace(expr); expr != "" && !strings.HasPrefix(expr, "--") {
			all = append(all, expr)
		}
	}
	for some := range slices.Chunk(all, 48) {
		l.check(t, some)
	}
}

// random are expressions of the grammar, some in one statement.
func (l *lake) random(t *testing.T) {
	many := 40
	if testing.Short() {
		many = 8
	}
	for n := range many {
		some := rapid.Custom(func(t *rapid.T) (some []string) {
			g := grammar{t}
			for range 6 {
				kind := rapid.SampledFrom([]string{"int", "bigint", "decimal", "double", "bool", "text", "date", "timestamp", "digits"}).Draw(t, "kind")
				if expr := g.expr(kind, 3); len(expr) < 600 {
					if _, err := compile(l.catalog, "SELECT "+expr+" FROM t"); err == nil {
						some = append(some, expr)
					}
				}
			}
			return some
		}).Example(n)
		l.check(t, some)
	}
}

// matches are functions of random patterns, some in one statement.
func (l *lake) matches(t *testing.T) {
	for n := range 40 {
		l.check(t, rapid.Custom(func(t *rapid.T) (some []string) {
			g := grammar{t}
			for range 8 {
				form := g.pick("substring(X FROM 'P')", "substring(X FROM '(P)')", `regexp_replace(X, 'P', '<\&>')`, `regexp_replace(X, 'a(P)', '[\1|\1]0')`, `regexp_replace(X, 'P', '$1\\', 'g')`, `regexp_replace(X, '(P)c', '\1\&', 'g')`, "regexp_count(X, 'P')")
				some = append(some, g.acceptedIn(l.catalog, strings.Replace(form, "X", "(x || 'abcab')", 1), "P"))
			}
			return some
		}).Example(n))
	}
}

// check compares expressions. What Trino lacks is left out, and counted.
func (l *lake) check(t *testing.T, exprs []string) {
	t.Helper()
	var able []string
	for _, expr := range exprs {
		n, err := compile(l.catalog, "SELECT "+expr+" FROM t")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := render.Trino.Relation(n); err != nil {
			l.refused[err.Error()]++
			continue
		}
		able = append(able, expr)
	}
	if len(able) == 0 {
		return
	}
	n, err := compile(l.catalog, "SELECT "+strings.Join(able, ", ")+" FROM t ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := l.duckRows(n)
	if err != nil {
		t.Fatal(err)
	}
	text, err := render.Trino.Relation(n)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := l.trino.Query("WITH t AS (SELECT * FROM memory.default.t) " + text)
	if err != nil {
		if len(exprs) > 1 {
			for _, expr := range able {
				l.check(t, []string{expr})
			}
			return
		}
		t.Errorf("%s: Trino raises: %v\n%s", able[0], err, text[:min(len(text), 3000)])
		return
	}
	if len(ours) != len(theirs) {
		t.Fatalf("%d rows, in Trino %d", len(ours), len(theirs))
	}
	for j, c := range n.Columns() {
		bad := 0
		for i, row := range ours {
			if got := ofTrino(theirs[i][j], c.Type); !agree(row[j], c.Type, got) && !l.known(able[j], i, row[j], c.Type, got) {
				if bad++; bad <= 3 {
					t.Errorf("%s, row %d %s: in DuckDB %v (%s), in Trino %v", able[j], i, l.inputs(n, i), sqltype.Format(row[j]), c.Type, got)
				}
			}
		}
	}
}

// ofTrino is a value in the form of PostgreSQL's texts.
func ofTrino(v *string, t sqltype.Type) pgResult {
	if v == nil {
		return pgResult{}
	}
	text := *v
	switch {
	case t.Kind == sqltype.Boolean:
		text = text[:1]
	case (t.Kind == sqltype.TimestampKind || t.Kind == sqltype.TimeKind) && strings.Contains(text, "."):
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return pgResult{text: text, valid: true}
}

// known are the differences of the two renderings.
func (l *lake) known(expr string, row int, ours sqltype.Value, t sqltype.Type, got pgResult) bool {
	tm := slices.IndexFunc(l.catalog.Tables[0].Columns, func(c *catalog.Column) bool { return c.Name == "tm" })
	if v, _ := nastyValue(tm, row); v == "24:00:00" && strings.Contains(expr, "tm") {
		return true // there is no such time in Trino
	}
	if strings.HasPrefix(fmt.Sprint(ours), "24:00") {
		return true
	}
	return false
}
