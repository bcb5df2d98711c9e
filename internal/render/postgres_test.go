//go:build cgo

package render_test

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// A deviation is a known difference from PostgreSQL: where ours is NULL or
// another value on purpose. The table is complete: the tests fail on any other.
type deviation struct {
	why   string
	holds func(expr string, ours sqltype.Value, t sqltype.Type, pg pgResult) bool
}

var deviations = []deviation{
	{"an error is NULL where it arises, and COALESCE, CASE, IS NULL and the like go on from there",
		func(expr string, _ sqltype.Value, _ sqltype.Type, pg pgResult) bool {
			return pg.err != nil && absorbing.MatchString(expr)
		}},
	{"decimals hold 38 digits: beyond, the value is NULL", func(_ string, ours sqltype.Value, t sqltype.Type, pg pgResult) bool {
		f, ok := new(big.Float).SetString(pg.text)
		limit := new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision-t.Scale)), nil))
		return ours == nil && pg.valid && t.Kind == sqltype.DecimalKind && ok && f.Abs(f).Cmp(limit) >= 0
	}},
	{"a numeric without digits has 15 after the point", func(expr string, ours sqltype.Value, t sqltype.Type, pg pgResult) bool {
		d, ok := ours.(sqltype.Decimal)
		r, _ := new(big.Rat).SetString(pg.text)
		return ok && pg.valid && strings.Contains(expr, "::numeric") && d.Scale == 15 && new(big.Rat).Sub(r, d.Rat()).Abs(new(big.Rat).Sub(r, d.Rat())).Cmp(big.NewRat(1, 1e15)) < 0
	}},
	{"the calendar ends with the year 9999: beyond, the value is NULL", func(_ string, ours sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		return ours == nil && pg.valid && beyondCalendar.MatchString(pg.text)
	}},
	{"a double that underflows is 0, where PostgreSQL raises", func(_ string, _ sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		return pg.err != nil && pg.err.Code == "22003" && strings.Contains(pg.err.Message, "underflow")
	}},
	{"text becomes a date, time or timestamp in ISO form alone, and a number in decimal", func(expr string, ours sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		return ours == nil && pg.valid && regexp.MustCompile(`[xy]::(date|time|double|real)`).MatchString(expr)
	}},
	{"there is no -0: its text is 0", func(_ string, ours sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		return ours == "0" && pg.text == "-0"
	}},
	{"a double's text is the shortest that reads as it, even if it lies in the middle of two and is rounded", func(expr string, ours sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		s, ok := ours.(string)
		f, err := strconv.ParseFloat(s, 64)
		g, err2 := strconv.ParseFloat(pg.text, 64)
		return ok && err == nil && err2 == nil && f == g && len(s) < len(pg.text) && strings.HasSuffix(expr, "::text")
	}},
	{"decimals of different scales that meet in CASE, COALESCE and the like take the larger scale, which their text shows",
		func(expr string, ours sqltype.Value, _ sqltype.Type, pg pgResult) bool {
			s, ok := ours.(string)
			return ok && strings.Contains(expr, "::text") && strings.Contains(s, ".") && strings.TrimRight(s, "0.") == strings.TrimRight(pg.text, "0.")
		}},
	{"quotients of decimals are doubles: a tie rounds to even", func(expr string, ours sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		return strings.HasPrefix(expr, "round(s / 2.0)")
	}},
	{"PostgreSQL 14 reads each field of an interval into 32 bits", func(expr string, _ sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		return pg.err != nil && pg.err.Code == "22015" && strings.Contains(expr, "3000000000 milliseconds")
	}},
	{"right(x, -2^31) keeps the whole text in PostgreSQL, whose integer overflows", func(expr string, ours sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		return strings.HasPrefix(expr, "right(x, j") && ours == ""
	}},
	{"width_bucket of a double rounds to the bucket above the last in PostgreSQL before 16", func(expr string, ours sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		return expr == "width_bucket(f, 10, 0, 5)" && ours == int64(5) && pg.text == "6"
	}},
}

var (
	absorbing      = regexp.MustCompile(`(?i)\b(coalesce|nullif|case|is|greatest|least|concat|in|and|or|any|all)\b`)
	beyondCalendar = regexp.MustCompile(`^[0-9]{5,}-| BC$`)
)

// typeAgrees reports whether PostgreSQL's type is ours, or one that we compute in
// double on purpose.
func typeAgrees(t sqltype.Type, pg string) bool {
	names := map[sqltype.Kind]string{
		sqltype.Boolean: "bool", sqltype.Smallint: "int2", sqltype.Integer: "int4", sqltype.Bigint: "int8",
		sqltype.Real: "float4", sqltype.Double: "float8", sqltype.DecimalKind: "numeric", sqltype.Text: "text",
		sqltype.DateKind: "date", sqltype.TimeKind: "time", sqltype.TimestampKind: "timestamp", sqltype.IntervalKind: "interval",
	}
	switch {
	case names[t.Kind] == pg:
		return true
	case t.Kind == sqltype.Double && pg == "numeric", t.Kind == sqltype.Double && pg == "float4": // documented: computed in double
		return true
	case t.Kind == sqltype.Text && pg == "varchar", t.Kind == sqltype.TimestampKind && pg == "timestamptz":
		return true
	}
	return false
}

// TestPostgres compares with a PostgreSQL server.
func TestPostgres(t *testing.T) {
	p := openPair(t)
	t.Run("expressions", p.expressions)
	t.Run("statements", p.statements)
	t.Run("random", p.random)
	t.Run("patterns", p.patterns)
	t.Run("matches", p.matches)
	t.Run("total", p.total)
}

var since15 = regexp.MustCompile(`regexp_(like|count|substr)\(`)

// expressions holds every expression of testdata/postgres/expressions on
// every row of the nasty table: where PostgreSQL has a value ours is the same,
// where it raises ours is NULL, and the engine never fails.
func (p *pair) expressions(t *testing.T) {
	text, err := os.ReadFile("testdata/postgres/expressions")
	if err != nil {
		t.Fatal(err)
	}
	for _, expr := range strings.Split(string(text), "\n") {
		if expr = strings.TrimSpace(expr); expr != "" && !strings.HasPrefix(expr, "--") {
			t.Run(expr, func(t *testing.T) {
				if p.version < 15_00_00 && since15.MatchString(expr) {
					t.Skip("no oracle: PostgreSQL 14 has no such function")
				}
				p.checkExpr(t, expr, func(int) bool { return false })
			})
		}
	}
}

// A check is a test or a rapid check.
type check interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

func (p *pair) checkExpr(t check, expr string, leaveOut func(row int) bool) {
	n, err := compile(p.catalog, "SELECT "+expr+" FROM t ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := p.duckRows(n)
	if err != nil {
		t.Fatal(err)
	}
	theirs, pgType := p.pgColumn(t, expr)
	typ := n.Columns()[0].Type
	if pgType != "" && !typeAgrees(typ, pgType) {
		t.Errorf("the type is %s, PostgreSQL's %s", typ, pgType)
	}
	if len(ours) != len(theirs) {
		t.Fatalf("%d rows, PostgreSQL %d", len(ours), len(theirs))
	}
	p.checkPostgres(t, n, ours)
	bad := 0
	for i, row := range ours {
		if leaveOut(i) || p.newNumber(expr, i) || agree(row[0], typ, theirs[i]) || slices.ContainsFunc(deviations, func(d deviation) bool { return d.holds(expr, row[0], typ, theirs[i]) }) {
			continue
		}
		if bad++; bad <= 3 {
			t.Errorf("row %d %s: ours %v (%s), PostgreSQL %v", i, p.inputs(n, i), sqltype.Format(row[0]), typ, theirs[i])
		}
	}
}

var numberOfText = regexp.MustCompile(`\bx\b.*::(smallint|integer|bigint|numeric)`)

// newNumber reports whether an expression makes a number of a text that is one since PostgreSQL 16 alone,
// an integer with a prefix or with underscores: ours is NULL over every version.
func (p *pair) newNumber(expr string, row int) bool {
	x, _ := nastyValue(slices.IndexFunc(nasty, func(c nastyColumn) bool { return c.name == "x" }), row)
	return p.version >= 16_00_00 && (x == "0x1F" || x == "1_000") && numberOfText.MatchString(expr)
}

// checkPostgres holds what a plan gives in PostgreSQL, in that engine's own rendering,
// against what it gives in DuckDB: it never raises, and is the same.
func (p *pair) checkPostgres(t check, n plan.Node, ours [][]sqltype.Value) {
	text, err := render.Postgres.Relation(n)
	if err != nil {
		t.Fatal(err)
	}
	theirs, types, err := p.pgRows(text)
	if err != nil {
		t.Fatalf("PostgreSQL raises: %v\n%s", err, text)
	}
	if len(theirs) != len(ours) {
		t.Fatalf("%d rows, in PostgreSQL %d", len(ours), len(theirs))
	}
	bad := 0
	for j, c := range n.Columns() {
		if !typeAgrees(c.Type, types[j]) || c.Type.Kind == sqltype.Double && types[j] == "numeric" {
			t.Errorf("column %d is %s, in PostgreSQL %s", j, c.Type, types[j])
		}
		for i, row := range ours {
			if v := theirs[i][j]; !agree(row[j], c.Type, v) && !slices.ContainsFunc(renderings, func(d rendering) bool { return d.holds(row[j], c.Type, v) }) {
				if bad++; bad <= 3 {
					t.Errorf("row %d %s: in DuckDB %v (%s), in PostgreSQL %v\n%s", i, p.inputs(n, i), sqltype.Format(row[j]), c.Type, v, text)
				}
			}
		}
	}
}

// A rendering is a known difference between what two engines make of a plan.
type rendering struct {
	why   string
	holds func(duck sqltype.Value, t sqltype.Type, pg pgResult) bool
}

var renderings = []rendering{
	{"a double's text is the shortest that reads as it, even if it lies in the middle of two and is rounded", func(duck sqltype.Value, _ sqltype.Type, pg pgResult) bool {
		s, ok := duck.(string)
		f, err := strconv.ParseFloat(s, 64)
		g, err2 := strconv.ParseFloat(pg.text, 64)
		return ok && err == nil && err2 == nil && f == g && len(s) < len(pg.text)
	}},
}

// inputs prints a row's values of the columns that a plan's expressions read.
func (p *pair) inputs(n plan.Node, row int) string {
	var out []string
	var visit func(plan.Node)
	visit = func(n plan.Node) {
		if project, ok := n.(*plan.Project); ok {
			if _, ok := project.Input.(*plan.Scan); ok {
				for _, e := range project.Exprs {
					plan.Walk(e, func(e plan.Expr) bool {
						if r, ok := e.(*plan.Ref); ok && r.Name != "id" {
							v, ok := nastyValue(r.Index, row)
							if !ok {
								v = "NULL"
							}
							out = append(out, fmt.Sprintf("%s=%q", r.Name, v))
						}
						return true
					})
				}
			}
		}
		for _, in := range n.Inputs() {
			visit(in)
		}
	}
	visit(n)
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// pgColumn evaluates an expression on every row, row by row if one raises.
func (p *pair) pgColumn(t check, expr string) (out []pgResult, typ string) {
	rows, types, err := p.pgRows("SELECT " + expr + " FROM t ORDER BY id")
	if err == nil {
		for _, r := range rows {
			out = append(out, r[0])
		}
		return out, types[0]
	}
	for id := range nastyRows {
		rows, types, err := p.pgRows(fmt.Sprintf("SELECT %s FROM t WHERE id = %d", expr, id))
		var pg *pgconn.PgError
		switch {
		case errors.As(err, &pg) && (strings.HasPrefix(pg.Code, "42") || pg.Code == "0A000"):
			t.Fatalf("PostgreSQL refuses what we accept: %v", err)
		case errors.As(err, &pg):
			out = append(out, pgResult{err: pg})
		case err != nil:
			t.Fatal(err)
		default:
			out, typ = append(out, rows[0][0]), types[0]
		}
	}
	return out, typ
}

// statements runs whole statements on both. Where the statement does not
// order its rows they are compared as multisets.
func (p *pair) statements(t *testing.T) {
	text, err := os.ReadFile("testdata/postgres/statements.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range strings.Split(string(text), ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			t.Run(statement, func(t *testing.T) { p.checkStatement(t, statement) })
		}
	}
}

func (p *pair) checkStatement(t testing.TB, statement string) {
	n, err := compile(p.catalog, statement)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := p.duckRows(n)
	if err != nil {
		t.Fatal(err)
	}
	theirs, types, err := p.pgRows(statement)
	if err != nil {
		t.Fatal(err)
	}
	columns := n.Columns()
	if len(columns) != len(types) || len(ours) != len(theirs) {
		t.Fatalf("%d rows of %d columns, PostgreSQL %d of %d", len(ours), len(columns), len(theirs), len(types))
	}
	for i, c := range columns {
		if !typeAgrees(c.Type, types[i]) {
			t.Errorf("column %s is %s, PostgreSQL's %s", c.Name, c.Type, types[i])
		}
	}
	if !strings.Contains(statement, "ORDER BY") {
		// Numbers print differently on both sides, so that they order by value.
		key := func(cells []string) string { return strings.Join(cells, "\x00") }
		sort.Slice(ours, func(a, b int) bool { return key(sortable(ours[a], columns)) < key(sortable(ours[b], columns)) })
		sort.Slice(theirs, func(a, b int) bool { return key(pgSortable(theirs[a], columns)) < key(pgSortable(theirs[b], columns)) })
	}
	for i, row := range ours {
		for j, v := range row {
			if !agree(v, columns[j].Type, theirs[i][j]) {
				t.Errorf("row %d column %s: ours %v, PostgreSQL %v", i, columns[j].Name, sqltype.Format(v), theirs[i][j])
			}
		}
	}
}

// sortable prints numbers so that nearly equal ones print alike.
func sortable(row []sqltype.Value, columns []plan.Column) []string {
	var out []string
	for i, v := range row {
		switch v := v.(type) {
		case nil:
			out = append(out, "null")
		case bool:
			out = append(out, fmt.Sprint(v)[:1])
		default:
			out = append(out, rounded(sqltype.Format(v), columns[i].Type))
		}
	}
	return out
}

func pgSortable(row []pgResult, columns []plan.Column) []string {
	var out []string
	for i, v := range row {
		if !v.valid || !finiteText(v.text, columns[i].Type) {
			out = append(out, "null")
			continue
		}
		out = append(out, rounded(v.text, columns[i].Type))
	}
	return out
}

func rounded(text string, t sqltype.Type) string {
	var f float64
	if !t.IsNumeric() {
		return text
	}
	fmt.Sscan(text, &f)
	return fmt.Sprintf("%.6e", f+0)
}
