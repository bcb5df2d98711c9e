//go:build cgo

package least_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine/duckdb/least"
)

// copied makes a table of rows of units of every size, of which one is spread over many blocks of the table.
const copied = `CREATE TABLE rows AS SELECT *, dense_rank() OVER (ORDER BY u) AS n, count(*) OVER (PARTITION BY u) AS m FROM
	(SELECT CASE WHEN i % 4 = 0 THEN 7 ELSE CAST(hash(i, 1) % 40000 AS BIGINT) END AS u, CAST(hash(i, 2) % 30 AS BIGINT) AS g, hash(i, 4) % 10 > 0 AS f, hash(hash(i, 5) % 999) AS hr,
		CASE WHEN i % 5 > 0 THEN CAST(hash(i, 3) >> 1 AS BIGINT) - 4611686018427387904 END AS a, CASE WHEN i % 3 > 0 THEN CAST(i % 100 AS BIGINT) - 50 END AS b, i FROM range(400000) AS t(i));
	CREATE TABLE coded AS SELECT *, hash(u, g) AS o, (CAST(o >> 1 AS BIGINT) & 9223372036837998592) | g * 256 AS code FROM rows;
	CREATE TABLE sorted AS FROM coded ORDER BY u;
	CREATE TABLE shuffled AS FROM coded ORDER BY hash(i)`

// totalled is what SQL alone says of L0 = 4 and R = 3.
const totalled = `WITH ranked AS (SELECT *, dense_rank() OVER (PARTITION BY u ORDER BY code) AS d, row_number() OVER (PARTITION BY u, g ORDER BY hr, a, b) AS r FROM coded WHERE f),
	groups AS (SELECT u, g, least(count(*), 3) AS x0, sum(a) FILTER (WHERE r <= 3) AS x1, sum(b) FILTER (WHERE r <= 3) AS x2, CASE WHEN count(b) > 0 THEN least(greatest(sum(b), -20), 30) END AS x3, max(CASE WHEN b IS NOT NULL THEN 1 END) AS x5 FROM ranked WHERE d <= 4 GROUP BY u, g)
	SELECT g, sum(x0)::HUGEINT AS x0, sum(x1)::HUGEINT AS x1, sum(x2)::HUGEINT AS x2, sum(x3)::HUGEINT AS x3, count(*)::HUGEINT AS x4, sum(x5)::HUGEINT AS x5 FROM groups GROUP BY g`

func totals(t *testing.T, settings string, all ...least.Totals) *sql.Conn {
	t.Helper()
	conn := open(t, settings)
	for _, f := range all {
		if err := conn.Raw(func(c any) error { return f.Register(c.(*duckdb.Conn)) }); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// Whatever the order of a copy's rows, the number of threads, and the size of units, all units together contribute what SQL says.
func TestTotals(t *testing.T) {
	f := least.Totals{Values: 2, Totals: 6}
	conn := totals(t, copied, f)
	run := func(text string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE theirs AS " + totalled)
	for _, settings := range []string{"SET threads = 1", "SET threads = 4", "SET preserve_insertion_order = false"} {
		run(settings)
		for _, table := range []string{"sorted", "shuffled", "coded"} {
			run(fmt.Sprintf("CREATE OR REPLACE TABLE mine AS SELECT unnest(x, recursive := true) FROM (SELECT %s('4 3 30 n a0 a1 c1:-20:30 u s1', n, m, f OR i %% 3 = 0, CASE WHEN f THEN g::INTEGER WHEN i %% 2 = 0 THEN -g::INTEGER - 1 END, o, hr, a, b) AS x FROM %s)", f.Name(), table))
			var differ, all int
			if err := conn.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM (FROM mine EXCEPT FROM theirs)) + (SELECT count(*) FROM (FROM theirs EXCEPT FROM mine)), (SELECT count(*) FROM mine)").Scan(&differ, &all); err != nil {
				t.Fatal(err)
			}
			if differ != 0 || all != 30 {
				t.Errorf("%s, %s: %d of %d groups differ", settings, table, differ, all)
			}
		}
	}
}

// Many threads with little memory, of queries that are given up at any time: what is answered is right, and so is what is asked next.
func TestTotalsUnderPressure(t *testing.T) {
	f := least.Totals{Values: 2, Totals: 6}
	conn := totals(t, copied, f)
	ask := func(ctx context.Context, table string) (text string, err error) {
		return text, conn.QueryRowContext(ctx, fmt.Sprintf("SELECT string_agg(t::VARCHAR, ' ' ORDER BY t.g) FROM (SELECT unnest(x, recursive := true) FROM (SELECT %s('4 3 30 n a0 a1 c1:-20:30 u s1', n, m, f, g::INTEGER, o, hr, a, b) AS x FROM %s)) AS t", f.Name(), table)).Scan(&text)
	}
	want, err := ask(t.Context(), "sorted")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "CHECKPOINT; SET memory_limit = '64MB'; SET threads = 8"); err != nil {
		t.Fatal(err)
	}
	gaveUp := 0
	for i := range 10 {
		ctx, stop := context.WithTimeout(t.Context(), time.Duration(3*i)*time.Millisecond)
		got, err := ask(ctx, []string{"sorted", "shuffled"}[i%2])
		stop()
		switch {
		case err != nil:
			gaveUp++
		case got != want:
			t.Fatalf("%s, want %s", got, want)
		}
	}
	if gaveUp == 0 {
		t.Error("no query was given up")
	}
	for _, table := range []string{"sorted", "shuffled"} {
		if got, err := ask(t.Context(), table); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", table, got, err, want)
		}
	}
}

// Sums of 128 bits and rows that tie in their hashes: the values decide, NULL last.
func TestTotalsOfExtremes(t *testing.T) {
	f := least.Totals{Values: 1, Totals: 2}
	conn := totals(t, `CREATE TABLE t AS SELECT 1::BIGINT AS n, 4::BIGINT AS m, unnest([9223372036854775807, NULL, 9223372036854775806, -9223372036854775808]) AS v`, f)
	for asked, want := range map[string]string{
		"1 1 1 a0 c0:-5:99": "-9223372036854775808 99",
		"1 2 1 a0 c0:-5:5":  "-2 5",
		"1 3 1 a0 u":        "9223372036854775805 1",
		"1 9 1 a0 n":        "9223372036854775805 4",
		"1 1 1 s0 c0:-9:-1": "1 -1",
		"1 1 1 n c0:-170141183460469231731687303715884105727:170141183460469231731687303715884105727": "1 9223372036854775805",
	} {
		var got string
		if err := conn.QueryRowContext(t.Context(), fmt.Sprintf("SELECT x0 || ' ' || x1 FROM (SELECT unnest(x, recursive := true) FROM (SELECT %s('%s', n, m, true, 0::INTEGER, 0::UBIGINT, 7::UBIGINT, v) AS x FROM t))", f.Name(), asked)).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", asked, got, err, want)
		}
	}
}

// Of a unit's groups those come first whose orders have the least first 39 bits, and of these those with the least numbers, as elsewhere.
func TestTotalsInOrder(t *testing.T) {
	f := least.Totals{Totals: 1}
	conn := totals(t, "SET threads = 1", f)
	for orders, want := range map[string]int{
		"5 << 25 | 9, 5 << 25 | 1": 0, "6 << 25, 5 << 25": 1, "5 << 25, 6 << 25": 0, "5 << 25 | 33554431, 6 << 25": 0, "5 << 25 | 16777216, 5 << 25": 0,
		"18446744073709551615, 9223372036854775807": 1, "9223372036854775807, 9223372036854775808": 0, "18446744073709551615, 18446744073709551614": 0,
	} {
		var got int
		if err := conn.QueryRowContext(t.Context(), fmt.Sprintf("SELECT g FROM (SELECT unnest(x, recursive := true) FROM (SELECT %s('1 1 2 u', 1, 2, true, g::INTEGER, o::UBIGINT, 0::UBIGINT) AS x FROM "+
			"(SELECT unnest([%s]) AS o, unnest([0, 1]) AS g)))", f.Name(), orders)).Scan(&got); err != nil || got != want {
			t.Errorf("%s: group %d, %v, want %d", orders, got, err, want)
		}
	}
	var kept string // of groups that tie, in whatever order they come
	if err := conn.QueryRowContext(t.Context(), fmt.Sprintf("SELECT string_agg(g, ' ' ORDER BY g) FROM (SELECT unnest(x, recursive := true) FROM (SELECT %s('2 1 3 u', 1, 3, true, g::INTEGER, 7::UBIGINT, 0::UBIGINT) AS x FROM "+
		"(SELECT unnest([1, 2, 0]) AS g)))", f.Name())).Scan(&kept); err != nil || kept != "0 1" {
		t.Errorf("groups %s, %v", kept, err)
	}
}

// Rows that are missing, are one too many, of no unit, or say different sizes of one unit are no copy's, and what is asked must be something: the query fails, and no total is wrong. Of no
// rows there are no groups.
func TestTotalsOfOtherRows(t *testing.T) {
	f := least.Totals{Totals: 1}
	conn := totals(t, copied, f)
	ask := func(asked, from string) (n int, err error) {
		return n, conn.QueryRowContext(context.Background(), fmt.Sprintf("SELECT count(*) FROM (SELECT unnest(x) FROM (SELECT %s('%s', n, m, f, g::INTEGER, o, 0::UBIGINT) AS x FROM %s))", f.Name(), asked, from)).Scan(&n)
	}
	for from, want := range map[string]int{"sorted": 30, "sorted WHERE false": 0, "sorted WHERE n < 20": 0} {
		if n, err := ask("4 3 30 n", from); err != nil || want > 0 && n != want || want == 0 && strings.Contains(from, "false") && n != 0 {
			t.Errorf("%s: %d groups, %v", from, n, err)
		}
	}
	for _, from := range []string{"sorted WHERE i <> 77", "shuffled WHERE i <> 77", "(SELECT * REPLACE (CASE WHEN i = 80 THEN m + 1 ELSE m END AS m) FROM shuffled)", "(FROM sorted UNION ALL FROM sorted WHERE i = 77)",
		"(SELECT * REPLACE (CASE WHEN i <> 77 THEN n END AS n) FROM sorted)", "(SELECT * REPLACE (g + 30 AS g) FROM sorted)", "(SELECT * REPLACE (CASE WHEN g > 0 THEN g ELSE 30 END AS g) FROM sorted)"} {
		if n, err := ask("4 3 30 n", from); err == nil {
			t.Errorf("%s: %d groups", from, n)
		}
	}
	// Units and how many rows each is said to have, row by row: a unit waits where another comes between its rows.
	for rows, want := range map[string]bool{
		"(1, 2), (1, 2)":                         true,
		"(1, 2), (2, 1), (1, 2)":                 true,
		"(1, 2), (1, 3)":                         false, // one after the other
		"(1, 2), (1, 1)":                         false,
		"(1, 2), (2, 1), (1, 3)":                 false, // after a wait, of either
		"(1, 3), (2, 1), (1, 2)":                 false,
		"(1, 3), (1, 3), (2, 1), (1, 3), (1, 3)": false, // a row too many after a wait
	} {
		if n, err := ask("4 3 30 n", "(SELECT n, m, true AS f, 0 AS g, 0::UBIGINT AS o FROM (VALUES "+rows+") AS v(n, m))"); (err == nil) != want || want && n != 1 {
			t.Errorf("%s: %d groups, %v", rows, n, err)
		}
	}
	if n, err := ask(fmt.Sprintf("4 %d 30 n", least.MostRows), "sorted"); err != nil || n != 30 {
		t.Errorf("%d groups of most rows, %v", n, err)
	}
	for _, asked := range []string{fmt.Sprintf("4 %d 30 n", least.MostRows+1), "", "n", "4 3 30", "4 3 30 x", "4 3 30 a0", "4 3 30 n n", "0 3 30 n", "4 3 0 n", "4 3 65537 n", "4 3 30 c0:1", "4 3 30 n ", strings.Repeat("9", 2000)} {
		if _, err := ask(asked, "sorted"); err == nil && asked != "4 3 30 n " {
			t.Errorf("%q is asked", asked)
		}
	}
	for _, none := range []least.Totals{{}, {Totals: least.MostTotals + 1}, {Values: -1, Totals: 1}, {Values: least.MostSums + 1, Totals: 1}} {
		if err := conn.Raw(func(c any) error { return none.Register(c.(*duckdb.Conn)) }); err == nil {
			t.Errorf("%s is there", none.Name())
		}
	}
}
