//go:build cgo && unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/sqltype"
)

// everything has a column of each type that code may see.
const everything = `
[domains.people]
measure = "pure"
epsilon = 1
[tables.t]
source = "t.csv"
domain = "people"
unit = %q
%s
[tables.t.columns]
u = { type = %q }
b = { type = "boolean" }
i = { type = "integer" }
d = { type = "decimal(9,2)" }
f = { type = "double" }
s = { type = "text" }
day = { type = "date" }
at = { type = "timestamp" }
clock = { type = "time" }
`

var seenOfIt = []string{"s", "clock", "b", "i", "d", "f", "day", "at"}

// records are some of 40 units, with NULL, equal ones, texts that collations order otherwise, and a
// unit that is nobody.
func records(number bool) string {
	var text strings.Builder
	text.WriteString("u,b,i,d,f,s,day,at,clock\n")
	pick := func(n int, of ...string) string { return of[n%len(of)] }
	for n := range 600 {
		unit := fmt.Sprint(n * 7 % 40)
		if !number {
			unit = pick(n*7, "a", "B", "b", `"a "`, "Ä", "z", "Z", "_", "10", "9", "é", "e")
		}
		if n%17 == 0 {
			unit = ""
		}
		fmt.Fprintf(&text, "%s,%s,%s,%s,%s,%s,%s,%s,%s\n", unit, pick(n, "true", "false", ""), pick(n/2, "-5", "", "7", "10"), pick(n/3, "1.50", "-2", ""),
			pick(n/5, "0.1", "-0.0", "", "1e300"), pick(n/4, "x", "X", `""`, "Ä", "_", "", "a b"), pick(n/7, "2025-01-02", "", "1969-12-31"),
			pick(n/11, "2025-01-02 03:04:05.000006", ""), pick(n/13, "23:59:59.5", "", "00:00:00"))
	}
	return text.String()
}

// hashed is code that makes one row of what it sees, which hangs on every value and on their order.
func hashed(_ context.Context, records [][]sqltype.Value) ([][]sqltype.Value, error) {
	h := fnv.New64a()
	for _, r := range records {
		for _, v := range r {
			fmt.Fprintf(h, "%T %s|", v, sqltype.Format(v))
		}
	}
	return [][]sqltype.Value{{float64(h.Sum64() >> 12)}}, nil
}

// made are the rows of the mapped table that an engine keeps, in some order.
func made(t *testing.T, c *catalog.Catalog, m engine.Map) []string {
	t.Helper()
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 1, Temp: t.TempDir(), Maps: map[string]engine.Map{"mapped": m}, Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	table, _ := c.Table("mapped")
	var types []sqltype.Type
	var names []string
	for _, c := range table.Columns {
		types, names = append(types, c.Type), append(names, c.Name)
	}
	x, err := e.Exact(t.Context(), engine.Query{SQL: "SELECT " + strings.Join(names, ", ") + " FROM mapped", Tables: []string{"mapped"}, Keys: types})
	if err != nil {
		t.Fatal(cause(err))
	}
	var all []string
	for _, row := range x.RevealExact() {
		all = append(all, fmt.Sprintf("%q", row))
	}
	slices.Sort(all)
	return all
}

// alone is a catalog with the mapped table and nothing else.
func alone(c *catalog.Catalog) *catalog.Catalog {
	out := *c
	out.Tables = out.Tables[len(out.Tables)-1:]
	return &out
}

// feeding: what code makes of a database's records is, value for value, what it makes of the same
// records in a file, however many connections read them. So every release of it is the same, too.
func (s *server) feeding(t *testing.T) {
	for _, x := range []struct {
		unit, kind string
		byUnit     bool
	}{{"u", "text", true}, {"u", "text", false}, {"u", "bigint", true}, {"row", "bigint", false}} {
		bounds := "max_groups_per_unit = 1\nmax_rows_per_group = 3"
		if x.unit == "row" {
			bounds = ""
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(records(x.kind != "text")), 0o600); err != nil {
			t.Fatal(err)
		}
		files, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), fmt.Sprintf(everything, x.unit, bounds, x.kind))
		if err != nil {
			t.Fatal(err)
		}
		o := catalog.MapOptions{Name: "mapped", Of: "t", Columns: seenOfIt, ByUnit: x.byUnit, Upper: 1 << 60}
		both, err := files.Map(o)
		if err != nil {
			t.Fatal(err)
		}
		want := made(t, both, engine.Map{Rows: engine.Each(hashed)})
		if len(want) < 12 {
			t.Fatalf("%d rows", len(want))
		}
		stored, url := s.stored(t, files)
		remote, err := stored.Map(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, connections := range []int{1, 3} {
			e, err := postgres.Open(t.Context(), stored, postgres.Options{URL: url, Connections: connections})
			if err != nil {
				t.Fatal(err)
			}
			feed := func(ctx context.Context, f func([]engine.Call) error) error {
				return e.Feed(ctx, engine.Seen{Table: "t", Columns: seenOfIt, ByUnit: x.byUnit}, f)
			}
			if got := made(t, alone(remote), engine.Map{Rows: engine.Each(hashed), Feed: feed}); !slices.Equal(got, want) {
				t.Errorf("%v over %d connections: %d rows, want %d\n%.300v\n%.300v", x, connections, len(got), len(want), got, want)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// fedFrom opens the engine over a table of units and integers, mapped by unit.
func (s *server) fedFrom(t *testing.T, connections int, fill string) (e *postgres.Engine, schema string) {
	t.Helper()
	schema = s.schema(t)
	s.exec(t, "CREATE TABLE %[1]s.t (u text, v text); INSERT INTO %[1]s.t "+fill, schema)
	_, url := s.role(t, schema, schema+".t")
	e, err := postgres.Open(t.Context(), parse(t, fmt.Sprintf(of, schema+".t", "text")), postgres.Options{URL: url, Connections: connections})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, schema
}

// seenOfT is what code sees of it.
func seenOfT(room int64) engine.Seen {
	return engine.Seen{Table: "t", Columns: []string{"v"}, ByUnit: true, Room: room}
}

// fedOneState: a connection that begins to read when the table has changed reads what the first one
// read. It can begin only then: its place is taken until the first has read, and changed the table.
func (s *server) fedOneState(t *testing.T) {
	e, schema := s.fedFrom(t, 2, "SELECT n, 'old' FROM generate_series(1, 200) AS n")
	held, err := e.Snapshot(t.Context(), []string{"t"})
	if err != nil {
		t.Fatal(err)
	}
	var first sync.Once
	second := make(chan struct{})
	var mu sync.Mutex
	seen := map[string]int{}
	calls := 0
	err = e.Feed(t.Context(), seenOfT(0), func(batch []engine.Call) error {
		waits := false
		first.Do(func() {
			waits = true
			s.exec(t, "UPDATE %[1]s.t SET v = 'new'; INSERT INTO %[1]s.t SELECT n, 'new' FROM generate_series(1, 500) AS n", schema)
			held.Close()
		})
		if waits {
			<-second
		} else {
			close(second)
		}
		mu.Lock()
		defer mu.Unlock()
		calls++
		for _, c := range batch {
			for _, r := range c.Records {
				seen[sqltype.Format(r[0])]++
			}
		}
		return nil
	})
	if err != nil || calls != 2 || seen["old"] != 200 || len(seen) != 1 {
		t.Errorf("%d calls saw %v: %v", calls, seen, cause(err))
	}
}

// fedLarge: of a unit with more records than code may see, the server cuts off those that the order
// of values has last.
func (s *server) fedLarge(t *testing.T) {
	e, _ := s.fedFrom(t, 2, "SELECT 'one', lpad(n::text, 6, '0') FROM generate_series(1, 65600) AS n UNION ALL SELECT 'two', 'x'")
	sizes := map[string]string{}
	var mu sync.Mutex
	gather := func(batch []engine.Call) error {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range batch {
			sizes[sqltype.Format(c.Unit)] = fmt.Sprintf("%d to %s", len(c.Records), sqltype.Format(c.Records[len(c.Records)-1][0]))
		}
		return nil
	}
	for room, want := range map[int64]string{0: "65536 to 065536", 220: "11 to 000011"} {
		clear(sizes)
		if err := e.Feed(t.Context(), seenOfT(room), gather); err != nil || sizes["one"] != want || sizes["two"] != "1 to x" {
			t.Errorf("room %d: %v, %v", room, sizes, cause(err))
		}
	}
}

// fedFailures: a lost server, a caller that gives up and a receiver that fails end it without a word
// of the server's; a connection that waits behind somebody who changes the table is done without.
func (s *server) fedFailures(t *testing.T) {
	e, schema := s.fedFrom(t, 2, "SELECT n, repeat('canary', 20) FROM generate_series(1, 20000) AS n")
	lost := func([]engine.Call) error {
		s.exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet' AND state = 'active'")
		return nil
	}
	if err := e.Feed(t.Context(), seenOfT(0), lost); !errors.Is(err, engine.ErrResource) || strings.Contains(err.Error(), "canary") {
		t.Errorf("a lost connection: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := e.Feed(ctx, seenOfT(0), func([]engine.Call) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	full := errors.New("canary")
	if err := e.Feed(t.Context(), seenOfT(0), func([]engine.Call) error { return full }); !errors.Is(err, engine.ErrResource) || strings.Contains(err.Error(), "canary") {
		t.Errorf("a receiver that fails: %v", err)
	}

	held, err := e.Snapshot(t.Context(), []string{"t"}) // the second place
	if err != nil {
		t.Fatal(err)
	}
	var records atomic.Int64
	var first sync.Once
	done := make(chan error, 1)
	err = e.Feed(t.Context(), seenOfT(0), func(batch []engine.Call) error {
		records.Add(int64(len(batch)))
		first.Do(func() {
			go func() { done <- s.waiting(schema) }()
			for waits := ""; waits == ""; {
				results, err := s.admin.Exec(t.Context(), "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'").ReadAll()
				if err != nil {
					t.Error(err)
					return
				}
				if len(results[0].Rows) > 0 {
					waits = "yes"
				}
			}
			held.Close()
		})
		return nil
	})
	if err != nil || records.Load() != 20000 {
		t.Errorf("before somebody who waits: %d calls, %v", records.Load(), cause(err))
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// waiting changes a table, which waits for all who read it.
func (s *server) waiting(schema string) error {
	conn, err := pgconn.Connect(context.Background(), s.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), "ALTER TABLE "+schema+".t ADD COLUMN more text").ReadAll()
	return err
}
