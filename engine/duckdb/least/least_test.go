//go:build cgo

package least_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/engine/duckdb/least"
)

// open opens an instance that knows the shapes.
func open(t *testing.T, settings string, shapes ...least.Shape) *sql.Conn {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), settings); err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		if err := conn.Raw(func(c any) error { return least.Register(c.(*duckdb.Conn), s) }); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// A group is what is kept of one.
type group struct {
	code   int64
	rows   int
	values []string // <nil> where all are NULL
}

// kept asks for the groups of each unit, in the order of their codes.
func kept(conn *sql.Conn, s least.Shape, table string) (map[int64][]group, error) {
	arguments, fields := []string{"code"}, []string{"h"}
	for j := range s.Values {
		arguments, fields = append(arguments, fmt.Sprintf("v%d", j)), append(fields, fmt.Sprintf("s%d", j))
	}
	rows, err := conn.QueryContext(context.Background(), fmt.Sprintf("SELECT u, %s FROM (SELECT u, unnest(kept, recursive := true) FROM (SELECT u, %s(%s) AS kept FROM %s GROUP BY u)) ORDER BY u, h",
		strings.Join(fields, ", "), s.Name(), strings.Join(arguments, ", "), table))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64][]group{}
	for rows.Next() {
		var u, h int64
		values := make([]any, s.Values)
		into := []any{&u, &h}
		for j := range values {
			into = append(into, &values[j])
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		g := group{code: h &^ 255, rows: int(h & 255), values: make([]string, s.Values)}
		for j, v := range values {
			g.values[j] = fmt.Sprint(v)
		}
		out[u] = append(out[u], g)
	}
	return out, rows.Err()
}

// A row of a table: a value is NULL where there is none.
type row struct {
	u, code int64
	values  []*int64
}

// model returns the least groups of each unit, from the definition.
func model(rows []row, s least.Shape) map[int64][]group {
	type sums struct {
		rows   int
		values []*big.Int
	}
	all := map[int64]map[int64]*sums{}
	for _, r := range rows {
		if all[r.u] == nil {
			all[r.u] = map[int64]*sums{}
		}
		code := r.code &^ 255
		g := all[r.u][code]
		if g == nil {
			g = &sums{values: make([]*big.Int, s.Values)}
			all[r.u][code] = g
		}
		g.rows = min(g.rows+1, 255)
		for j := range s.Values {
			if r.values[j] == nil {
				continue
			}
			if g.values[j] == nil {
				g.values[j] = new(big.Int)
			}
			g.values[j].Add(g.values[j], big.NewInt(*r.values[j]))
		}
	}
	out := map[int64][]group{}
	for u, groups := range all {
		for code, g := range groups {
			one := group{code: code, rows: g.rows, values: make([]string, s.Values)}
			for j, v := range g.values {
				if one.values[j] = "<nil>"; v != nil {
					one.values[j] = v.String()
				}
			}
			out[u] = append(out[u], one)
		}
		slices.SortFunc(out[u], func(a, b group) int { return cmp.Compare(a.code, b.code) })
		out[u] = out[u][:min(len(out[u]), s.Groups)]
	}
	return out
}

// differ says where two results do, or "".
func differ(got, want map[int64][]group) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d units, not %d", len(got), len(want))
	}
	for u, w := range want {
		g := got[u]
		if len(g) != len(w) {
			return fmt.Sprintf("unit %d has %d groups, not %d", u, len(g), len(w))
		}
		for i := range w {
			if fmt.Sprint(g[i]) != fmt.Sprint(w[i]) {
				return fmt.Sprintf("unit %d: %v, not %v", u, g[i], w[i])
			}
		}
	}
	return ""
}

var extremes = []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1 << 62, -1 << 62, 1 << 32, -1 << 32}

// Whatever the rows, in whatever order: what is kept is what the definition says.
func TestLeastGroups(t *testing.T) {
	var all []least.Shape
	for groups := range 9 {
		for values := range least.Most + 1 {
			all = append(all, least.Shape{Groups: groups + 1, Values: values})
		}
	}
	conn := open(t, "SET threads = 1", all...)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "shape")
		var rows []row
		for range rapid.IntRange(0, 400).Draw(t, "rows") {
			r := row{u: rapid.Int64Range(0, 4).Draw(t, "unit"), code: rapid.Int64Range(0, 14).Draw(t, "code")*0x0123_4567_89ab_cd00&math.MaxInt64 | rapid.Int64Range(0, 255).Draw(t, "ignored")}
			for range s.Values {
				var v *int64
				if rapid.IntRange(0, 3).Draw(t, "null") > 0 {
					x := rapid.OneOf(rapid.SampledFrom(extremes), rapid.Int64()).Draw(t, "value")
					v = &x
				}
				r.values = append(r.values, v)
			}
			rows = append(rows, r)
		}
		if err := fill(conn, s, rows); err != nil {
			t.Fatal(err)
		}
		got, err := kept(conn, s, "t")
		if err != nil {
			t.Fatal(err)
		}
		if d := differ(got, model(rows, s)); d != "" {
			t.Fatal(d)
		}
	})
}

// fill makes a table t of rows.
func fill(conn *sql.Conn, s least.Shape, rows []row) error {
	columns := "u BIGINT, code BIGINT"
	for j := range s.Values {
		columns += fmt.Sprintf(", v%d BIGINT", j)
	}
	if _, err := conn.ExecContext(context.Background(), "CREATE OR REPLACE TABLE t("+columns+")"); err != nil || len(rows) == 0 {
		return err
	}
	var tuples []string
	for _, r := range rows {
		tuple := fmt.Sprintf("%d, %d", r.u, r.code)
		for _, v := range r.values {
			if v == nil {
				tuple += ", NULL"
			} else {
				tuple += fmt.Sprintf(", %d", *v)
			}
		}
		tuples = append(tuples, "("+tuple+")")
	}
	_, err := conn.ExecContext(context.Background(), "INSERT INTO t VALUES "+strings.Join(tuples, ", "))
	return err
}

// Threads, states that are combined, and states on disk change nothing: of many rows in every order, the
// same groups of each unit are kept, as SQL alone says which they are.
func TestLeastGroupsOfManyRows(t *testing.T) {
	s := least.Shape{Groups: 4, Values: 1}
	conn := open(t, "SET temp_directory = '"+t.TempDir()+"'", s)
	run := func(text string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE rows AS SELECT CAST(hash(i, 1) % 100000 AS BIGINT) AS u, CAST((hash(hash(i, 1) % 100000, hash(i, 2) % 7) >> 9) << 8 AS BIGINT) AS code,
		CASE WHEN i % 5 > 0 THEN CAST(hash(i, 3) >> 1 AS BIGINT) - 4611686018427387904 END AS v0 FROM range(300000) AS t(i)`)
	run("CREATE TABLE sorted AS SELECT * FROM rows ORDER BY u")
	run(`CREATE TABLE theirs AS SELECT u, code | least(n, 255) AS h, s0 FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY code) AS r FROM
		(SELECT u, code, count(*) AS n, sum(v0) AS s0 FROM rows GROUP BY u, code)) WHERE r <= 4`)
	for _, settings := range []string{"SET threads = 1", "SET threads = 4", "SET preserve_insertion_order = false; SET memory_limit = '35MB'"} {
		run(settings)
		for _, table := range []string{"rows", "sorted"} {
			run(fmt.Sprintf("CREATE OR REPLACE TABLE mine AS SELECT u, unnest(kept, recursive := true) FROM (SELECT u, %s(code, v0) AS kept FROM %s GROUP BY u)", s.Name(), table))
			var alike, all int64
			if err := conn.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM mine JOIN theirs ON mine.u = theirs.u AND mine.h = theirs.h WHERE mine.s0 IS NOT DISTINCT FROM theirs.s0),
				greatest((SELECT count(*) FROM mine), (SELECT count(*) FROM theirs))`).Scan(&alike, &all); err != nil {
				t.Fatal(err)
			}
			if alike != all || all < 200_000 {
				t.Errorf("%s, %s: of %d groups %d are alike", settings, table, all, alike)
			}
		}
	}
}

// Rows are counted as far as 255, in one state and in states that are combined.
func TestCountsEnd(t *testing.T) {
	s := least.Shape{Groups: 2}
	conn := open(t, "SET threads = 4", s)
	for _, n := range []int{1, 254, 255, 256, 300, 70_000, 1_000_000} {
		if _, err := conn.ExecContext(t.Context(), fmt.Sprintf("CREATE OR REPLACE TABLE t AS SELECT CAST(i %% 2 AS BIGINT) AS u, CAST(512 AS BIGINT) AS code FROM range(2 * %d) AS t(i)", n)); err != nil {
			t.Fatal(err)
		}
		got, err := kept(conn, s, "t")
		if err != nil {
			t.Fatal(err)
		}
		one := []group{{code: 512, rows: min(n, 255), values: []string{}}}
		if d := differ(got, map[int64][]group{0: one, 1: one}); d != "" {
			t.Errorf("%d rows: %s", n, d)
		}
	}
}

// A row without a code is in no group, and a unit without others has none.
func TestNoCode(t *testing.T) {
	s := least.Shape{Groups: 2}
	conn := open(t, "SET threads = 1", s)
	if _, err := conn.ExecContext(t.Context(), "CREATE TABLE t AS SELECT i // 4 AS u, CASE WHEN i % 4 < 2 AND i < 8 THEN 256 * (i % 4) END AS code FROM range(12) AS t(i)"); err != nil {
		t.Fatal(err)
	}
	got, err := kept(conn, s, "t")
	if err != nil {
		t.Fatal(err)
	}
	two := []group{{code: 0, rows: 1, values: []string{}}, {code: 256, rows: 1, values: []string{}}}
	if d := differ(got, map[int64][]group{0: two, 1: two}); d != "" {
		t.Error(d)
	}
}

// Every shape that a query may have is one that DuckDB takes.
func TestShapes(t *testing.T) {
	conn := open(t, "SET threads = 1")
	for groups := 1; groups <= 64; groups++ {
		for values := range least.Most + 1 {
			if err := conn.Raw(func(c any) error {
				return least.Register(c.(*duckdb.Conn), least.Shape{Groups: groups, Values: values})
			}); err != nil {
				t.Errorf("%d groups, %d values: %v", groups, values, err)
			}
		}
	}
}
