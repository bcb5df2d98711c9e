//go:build cgo && unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/enginetest"
	"github.com/discreet-dp/discreet/engine/internal/calls"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/sqltype"
)

// feeding: see enginetest.RunFeeding.
func (s *server) feeding(t *testing.T) {
	enginetest.RunFeeding(t, kept, func(t testing.TB, files *catalog.Catalog) (*catalog.Catalog, func(int) engine.Feeder) {
		stored, url := s.stored(t, files)
		return stored, func(connections int) engine.Feeder {
			e, err := postgres.Open(t.Context(), stored, postgres.Options{URL: url, Connections: connections})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return e
		}
	})
}

// kept is the engine that keeps what code makes.
func kept(t testing.TB, c *catalog.Catalog, m engine.Map) engine.Engine {
	t.Helper()
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 1, Temp: t.TempDir(), Maps: map[string]engine.Map{"mapped": m}, Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
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

// cutThere: the server itself leaves out what a unit has beyond the most that code may see, so that
// neither the way nor this process carries it.
func (s *server) cutThere(t *testing.T) {
	e, schema := s.fedFrom(t, 1, fmt.Sprintf("SELECT 'one', n::text FROM generate_series(1, %d) AS n UNION ALL SELECT 'two', 'x'", calls.MaxUnitRecords+20))
	sql, err := e.FeedSQL(t.Context(), seenOfT(0))
	if err != nil {
		t.Fatal(cause(err))
	}
	s.exec(t, "CREATE TABLE %s.sent AS "+sql, schema)
	results, err := s.admin.Exec(t.Context(), "SELECT count(*) FROM "+schema+".sent").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(results[0].Rows[0][0]); got != fmt.Sprint(calls.MaxUnitRecords+1) {
		t.Errorf("the server sends %s records", got)
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
