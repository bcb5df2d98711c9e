//go:build cgo && unix

package trino_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/enginetest"
	"github.com/discreet-dp/discreet/engine/internal/calls"
	"github.com/discreet-dp/discreet/engine/trino"
	"github.com/discreet-dp/discreet/sqltype"
)

// feeding: see enginetest.RunFeeding.
func (c *cluster) feeding(t *testing.T) {
	kept := func(t testing.TB, c *catalog.Catalog, m engine.Map) engine.Engine {
		e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 1, Temp: t.TempDir(), Maps: map[string]engine.Map{"mapped": m}, Lazy: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		return e
	}
	enginetest.RunFeeding(t, kept, func(t testing.TB, files *catalog.Catalog) (*catalog.Catalog, func(int) engine.Feeder) {
		stored := accepting(c.stored(t, files))
		return stored, func(connections int) engine.Feeder { return c.openWith(t, stored, connections) }
	})
}

// openWith opens the engine alone, for so many statements at once.
func (c *cluster) openWith(t testing.TB, of *catalog.Catalog, connections int) *trino.Engine {
	t.Helper()
	e, err := trino.Open(t.Context(), of, trino.Options{URL: c.As("owner"), Connections: connections})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// fedFrom opens the engine over a table of units and texts in a catalog of the cluster.
func (c *cluster) fedFrom(t testing.TB, in, unit, fill string, connections int) (e *trino.Engine, table string) {
	t.Helper()
	table = c.SchemaIn(t, in) + ".t"
	c.Exec(t, "CREATE TABLE "+table+" AS "+fill)
	bounds := "max_groups_per_unit = 1\nmax_rows_per_group = 9\n"
	if unit == "row" {
		bounds = ""
	}
	return c.openWith(t, accepting(parse(t, people+fmt.Sprintf("[tables.t]\nsource = %q\ndomain = \"people\"\nunit = %q\n%s[tables.t.columns]\nu = { type = \"bigint\" }\nv = { type = \"text\" }\n", table, unit, bounds))), connections), table
}

// filled selects three records of each of 200 units.
func filled(v string) string {
	return "SELECT CAST(n AS BIGINT) AS u, VARCHAR '" + v + "' AS v FROM UNNEST(sequence(1, 200)) AS a(n) CROSS JOIN UNNEST(sequence(1, 3)) AS b(m)"
}

func seenOfT(byUnit bool) engine.Seen {
	return engine.Seen{Table: "t", Columns: []string{"v"}, ByUnit: byUnit}
}

// fedWhile feeds from two ranges, of which the second begins when the first has been read and the
// table has been written anew. It returns how often a unit with these records was seen, and the calls of f.
func (c *cluster) fedWhile(t *testing.T, e *trino.Engine, s engine.Seen, write ...string) (seen map[string]int, batches int) {
	t.Helper()
	leave, err := e.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen = map[string]int{}
	err = e.Feed(t.Context(), s, func(batch []engine.Call) error {
		mu.Lock()
		defer mu.Unlock()
		if batches++; batches == 1 {
			for _, sql := range write {
				c.Exec(t, sql)
			}
			leave()
		}
		for _, call := range batch {
			text := sqltype.Format(call.Unit)
			for _, r := range call.Records {
				text += " " + sqltype.Format(r[0])
			}
			seen[text]++
		}
		return nil
	})
	if err != nil {
		t.Error(cause(err))
	}
	return seen, batches
}

// fedOneState: a range of an Iceberg table that is read when the table has changed is of the state that
// the first one read.
func (c *cluster) fedOneState(t *testing.T) {
	e, table := c.fedFrom(t, "lake", "u", filled("old"), 2)
	seen, batches := c.fedWhile(t, e, seenOfT(true), "DELETE FROM "+table+" WHERE u <= 200", "INSERT INTO "+table+" "+filled("new"))
	for n := range 200 {
		if of := fmt.Sprintf("%d old old old", n+1); seen[of] != 1 {
			t.Errorf("%q is seen %d times", of, seen[of])
		}
	}
	if len(seen) != 200 || batches != 2 {
		t.Errorf("%d calls see %d units", batches, len(seen))
	}
}

// fedMoving: of a table without snapshots each unit is read once, in one state, though units are read in
// different ones. Where rows are units, all are read in one.
func (c *cluster) fedMoving(t *testing.T) {
	e, table := c.fedFrom(t, "memory", "u", filled("old"), 2)
	anew := []string{"TRUNCATE TABLE " + table, "INSERT INTO " + table + " " + filled("new")}
	seen, batches := c.fedWhile(t, e, seenOfT(true), anew...)
	old := 0
	for n := range 200 {
		before, after := fmt.Sprintf("%d old old old", n+1), fmt.Sprintf("%d new new new", n+1)
		if seen[before]+seen[after] != 1 {
			t.Errorf("%q is seen %d times, and %q %d times", before, seen[before], after, seen[after])
		}
		old += seen[before]
	}
	if len(seen) != 200 || batches != 2 || old == 0 || old == 200 {
		t.Errorf("%d calls see %d units, %d of them as they were", batches, len(seen), old)
	}
	e, table = c.fedFrom(t, "memory", "row", "SELECT u, v || CAST(u AS VARCHAR) AS v FROM ("+filled("old")+")", 2)
	seen, _ = c.fedWhile(t, e, seenOfT(false), "TRUNCATE TABLE "+table, "INSERT INTO "+table+" SELECT u, v || CAST(u AS VARCHAR) AS v FROM ("+filled("new")+")")
	rows := 0
	for text, n := range seen {
		if rows += n; !strings.Contains(text, "old") {
			t.Errorf("%q is seen %d times", text, n)
		}
	}
	if rows != 600 {
		t.Errorf("%d rows are seen", rows)
	}
}

// fedLarge: the cluster itself leaves out what a unit has beyond the most that code may see: those
// that the order of values has last.
func (c *cluster) fedLarge(t *testing.T) {
	const more = 20
	e, _ := c.fedFrom(t, "memory", "u", fmt.Sprintf("SELECT BIGINT '1' AS u, lpad(CAST(n * 1000 + m AS VARCHAR), 6, '0') AS v FROM UNNEST(sequence(0, 65)) AS a(n) CROSS JOIN UNNEST(sequence(0, 999)) AS b(m) WHERE n * 1000 + m < %d UNION ALL SELECT 2, 'x'", calls.MaxUnitRecords+more), 1)
	sql, err := e.FeedSQL(t.Context(), seenOfT(true))
	if err != nil {
		t.Fatal(cause(err))
	}
	sent := c.Exec(t, sql)
	if last := *sent[len(sent)-2][0]; len(sent) != calls.MaxUnitRecords+1 || last != "065535" {
		t.Errorf("the cluster sends %d records, of which the large unit's last is %s", len(sent), last)
	}
}

// fedFailures: what the cluster says is not told, and a statement that nobody waits for is ended there.
func (c *cluster) fedFailures(t *testing.T) {
	e, table := c.fedFrom(t, "memory", "u", filled("canary"), 2)
	for name, f := range map[string]func([]engine.Call) error{
		"a receiver that fails": func([]engine.Call) error { return errors.New("canary") },
		"a table that is gone":  nil,
	} {
		s := seenOfT(true)
		if f == nil {
			c.Exec(t, "DROP TABLE "+table)
		}
		if err := e.Feed(t.Context(), s, f); !errors.Is(err, engine.ErrResource) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	endless := fmt.Sprintf("SELECT CAST(a.n AS BIGINT) AS u, VARCHAR 'v' AS v FROM UNNEST(sequence(1, 9000)) AS a(n) CROSS JOIN UNNEST(sequence(1, %d)) AS b(m)", 20)
	e, table = c.fedFrom(t, "memory", "u", endless, 1)
	ctx, cancel := context.WithCancel(t.Context())
	if err := e.Feed(ctx, seenOfT(false), func([]engine.Call) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if running := c.Exec(t, "SELECT query_id FROM system.runtime.queries WHERE state IN ('RUNNING', 'FINISHING') AND strpos(query, '"+table[strings.Index(table, ".")+1:len(table)-2]+"') > 0 AND strpos(query, 'query_id') = 0"); len(running) > 0 {
		t.Errorf("%d statements go on", len(running))
	}
}
