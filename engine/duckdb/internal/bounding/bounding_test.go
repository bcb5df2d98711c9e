//go:build cgo

package bounding_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb/internal/bounding"
	"github.com/discreet-dp/discreet/engine/duckdb/internal/sink"
	"github.com/discreet-dp/discreet/sqltype"
)

// An instance has a function that hands rows over.
type instance struct {
	db    *sql.DB
	sinks sink.Sinks
}

func newInstance(t *testing.T, threads int) *instance {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	i := &instance{db: db}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error { return i.sinks.Register(c.(*duckdb.Conn), "receive") }); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), fmt.Sprintf("SET threads = %d; SET preserve_insertion_order = false", threads)); err != nil {
		t.Fatal(err)
	}
	return i
}

// hand hands the rows of a SELECT to a receiver.
func (i *instance) hand(ctx context.Context, rows string, to sink.Receiver) error {
	number := i.sinks.Open(to)
	defer i.sinks.Close(number)
	columns := "a, b, c"
	var n int64
	return i.db.QueryRowContext(ctx, fmt.Sprintf("SELECT count(receive(%d::BIGINT, %s)) FROM (%s) AS t(%s)", number, columns, rows, columns)).Scan(&n)
}

// counts counts the rows of each group, of two groups and three rows of each unit in one.
func counts() *engine.Ordered {
	return &engine.Ordered{Keys: []engine.OrderedKey{{Type: sqltype.Of(sqltype.Bigint)}}, MaxGroups: 2, MaxRows: 3,
		Contributions: []engine.OrderedContribution{{Kind: engine.RowsAdded, Value: -1}}}
}

// Rows that do not come in the order of their units, or whose places are no places of one table, are refused, whichever threads read them.
func TestOrderIsChecked(t *testing.T) {
	t.Parallel()
	const rows = 250_000
	for name, test := range map[string]struct {
		table string // of columns u and g
		rows  string
		want  error
	}{
		"in order":                 {"SELECT i // 10, i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records", nil},
		"filtered":                 {"SELECT i // 10, i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records WHERE (rowid // 3000) % 3 = 1", nil},
		"one unit":                 {"SELECT 5, i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records", nil},
		"without units":            {"SELECT NULL::BIGINT, i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records", nil},
		"shuffled":                 {"SELECT (hash(i) %% 1000)::BIGINT, i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records", bounding.ErrOrder},
		"descending":               {"SELECT -(i // 10), i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records", bounding.ErrOrder},
		"descending by row groups": {"SELECT -(i // 122880), i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records", bounding.ErrOrder},
		"one row elsewhere":        {"SELECT CASE WHEN i = 200000 THEN 7 ELSE i // 10 END, i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records", bounding.ErrOrder},
		"one row before":           {"SELECT CASE WHEN i = 0 THEN 24000 ELSE i // 10 END, i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records", bounding.ErrOrder},
		"read twice":               {"SELECT i // 10, i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records UNION ALL SELECT rowid, u, g FROM records", bounding.ErrOrder},
		"one unit read twice":      {"SELECT 5, i % 7 FROM range(%d) AS t(i)", "SELECT rowid, u, g FROM records WHERE rowid < 100000 UNION ALL SELECT rowid, u, g FROM records WHERE rowid < 100000", bounding.ErrOrder},
		"places descend":           {"SELECT i // 10, i % 7 FROM range(%d) AS t(i)", "SELECT -rowid, u, g FROM records", bounding.ErrOrder},
	} {
		for _, threads := range []int{1, 4} {
			t.Run(fmt.Sprint(name, " ", threads), func(t *testing.T) {
				i := newInstance(t, threads)
				table := strings.ReplaceAll(strings.Replace(test.table, "%d", fmt.Sprint(rows), 1), "%%", "%")
				if _, err := i.db.ExecContext(t.Context(), "CREATE TABLE records AS SELECT u::BIGINT AS u, g::BIGINT AS g FROM ("+table+") AS t(u, g)"); err != nil {
					t.Fatal(err)
				}
				q := bounding.New(counts(), 1, 1<<30)
				err := i.hand(t.Context(), test.rows, q.Receive)
				if err == nil {
					_, _, err = q.Finish()
				}
				if test.want == nil && err != nil || test.want != nil && (err == nil || !strings.Contains(err.Error(), test.want.Error())) {
					t.Fatalf("%v, want %v", err, test.want)
				}
			})
		}
	}
}

// What does not fit in the memory that a query may take is said, and not answered in part.
func TestRoomIsBounded(t *testing.T) {
	t.Parallel()
	i := newInstance(t, 2)
	if _, err := i.db.ExecContext(t.Context(), "CREATE TABLE records AS SELECT i // 10 AS u, i AS g FROM range(300000) AS t(i)"); err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]string{
		"many groups":         "SELECT rowid, u, g FROM records",
		"many rows of a unit": "SELECT rowid, 5::BIGINT, 1::BIGINT FROM records",
	} {
		q := bounding.New(counts(), 1, 1<<20)
		err := i.hand(t.Context(), rows, q.Receive)
		if err == nil { // or its parts have room, and not the whole
			_, _, err = q.Finish()
		}
		if err == nil || !strings.Contains(err.Error(), bounding.ErrRoom.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A receiver that fails or panics ends the query, not the process; so does one that gives up, and columns of other types.
func TestReceiversThatFail(t *testing.T) {
	t.Parallel()
	i := newInstance(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	for name, of := range map[string]struct {
		ctx  context.Context
		rows string
		to   sink.Receiver
	}{
		"fails":       {t.Context(), "SELECT i, i, i FROM range(300000) AS t(i)", func(uint64, *sink.Chunk) error { return errors.New("no") }},
		"panics":      {t.Context(), "SELECT i, i, i FROM range(300000) AS t(i)", func(uint64, *sink.Chunk) error { panic("no") }},
		"other types": {t.Context(), "SELECT i, i::VARCHAR, i FROM range(300000) AS t(i)", bounding.New(counts(), 1, 1<<20).Receive},
		"cancelled": {ctx, "SELECT i, i, i FROM range(100000000000) AS t(i)", func(uint64, *sink.Chunk) error {
			if calls.Add(1) == 100 {
				cancel()
			}
			return nil
		}},
	} {
		if err := i.hand(of.ctx, of.rows, of.to); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := i.db.QueryRowContext(t.Context(), "SELECT receive(99::BIGINT, 1)").Scan(new(int64)); err == nil {
		t.Error("nobody has this number")
	}
	var one int
	if err := i.db.QueryRowContext(t.Context(), "SELECT 1").Scan(&one); err != nil || one != 1 {
		t.Errorf("the instance answers no more: %v", err)
	}
}
