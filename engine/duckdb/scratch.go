//go:build cgo

package duckdb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"database/sql/driver"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// A scratch is an instance of its own: no view or file of the catalog is in it. An instance
// takes as long to open as a small statement to run, so that one that served without a failure is
// emptied and kept for the next.
type scratch struct {
	db     *sql.DB
	answer int64 // the most bytes that it returns; any number if 0
	home   *scratches
	loaded []string // tables
	failed bool
}

// scratches are empty instances that wait for the next who needs one, at most one a processor.
type scratches struct {
	mu     sync.Mutex
	idle   []*sql.DB
	closed bool
}

func (s *scratches) take() *sql.DB {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) == 0 {
		return nil
	}
	db := s.idle[len(s.idle)-1]
	s.idle = s.idle[:len(s.idle)-1]
	return db
}

// give keeps an instance that is empty, or closes it.
func (s *scratches) give(db *sql.DB) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.idle) >= runtime.GOMAXPROCS(0) {
		return db.Close()
	}
	s.idle = append(s.idle, db)
	return nil
}

func (s *scratches) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, db := range s.idle {
		err = errors.Join(err, db.Close())
	}
	s.idle, s.closed = nil, true
	return err
}

// Scratch returns an empty instance, locked. With one thread and rows in order
// its answers are the same bit for bit, float sums included.
func (e *Engine) Scratch(ctx context.Context) (engine.Scratch, error) {
	if db := e.scratches.take(); db != nil {
		return &scratch{db: db, answer: e.options.Answer, home: &e.scratches}, nil
	}
	o := e.options
	o.Threads, o.Memory = 1, cmp.Or(o.scratch, o.Memory)
	db, err := connect(o, e.spill.folder, true)
	if err != nil {
		return nil, failure(ctx, err)
	}
	if _, err := db.ExecContext(ctx, zone+"; SET enable_external_access = false; SET lock_configuration = true"); err != nil {
		return nil, failure(ctx, errors.Join(err, db.Close()))
	}
	return &scratch{db: db, answer: o.Answer, home: &e.scratches}, nil
}

// Close drops what was loaded and gives the instance back; one that failed, or that cannot be
// emptied, it ends.
func (s *scratch) Close() error {
	for _, table := range s.loaded {
		if s.failed {
			break
		}
		_, err := s.db.ExecContext(context.Background(), "DROP TABLE "+quote(table))
		s.failed = err != nil
	}
	if s.failed {
		return s.db.Close()
	}
	return s.home.give(s.db)
}

// Query returns the rows of a rendered SELECT.
func (s *scratch) Query(ctx context.Context, text string, types []sqltype.Type) (out [][]sqltype.Value, err error) {
	size := int64(0)
	err = raw(ctx, s.db, func(c *duckdb.Conn) error {
		return each(ctx, c, transport(text, types), types, nil, func(row []sqltype.Value) error {
			for _, v := range row {
				size += sqltype.Size(v)
			}
			if s.answer > 0 && size > s.answer {
				return engine.ErrTooLarge
			}
			out = append(out, row)
			return nil
		})
	})
	s.failed = s.failed || err != nil
	if errors.Is(err, engine.ErrTooLarge) {
		return nil, engine.ErrTooLarge
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	return out, nil
}

// Load creates a table and fills it. The driver is handed the integers that
// count dates, times and timestamps: its own conversions lose 24:00 and refuse
// early years.
func (s *scratch) Load(ctx context.Context, table string, columns []engine.Column, rows [][]sqltype.Value) error {
	err := raw(ctx, s.db, func(c *duckdb.Conn) error { return load(ctx, c, table, columns, rows) })
	s.loaded, s.failed = append(s.loaded, table), s.failed || err != nil
	return failure(ctx, err)
}

func load(ctx context.Context, c *duckdb.Conn, table string, columns []engine.Column, rows [][]sqltype.Value) (err error) {
	var declared, names, values []string
	var types []duckdb.TypeInfo
	for i, col := range columns {
		name := fmt.Sprintf("c%d", i)
		names, declared = append(names, name), append(declared, quote(col.Name)+" "+typeName(col.Type))
		info, back, err := staged(name, col.Type)
		if err != nil {
			return err
		}
		types, values = append(types, info), append(values, back)
	}
	if _, err := c.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (%s)", quote(table), strings.Join(declared, ", ")), nil); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	insert := fmt.Sprintf("INSERT INTO %s SELECT %s FROM staged", quote(table), strings.Join(values, ", "))
	appender, err := duckdb.NewQueryAppender(c, insert, "staged", types, names)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, appender.Close()) }()
	staging := make([]driver.Value, len(columns))
	for _, row := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, v := range row {
			staging[i] = stage(v, columns[i].Type)
		}
		if err := appender.AppendRow(staging...); err != nil {
			return err
		}
	}
	return nil
}

// staged returns the type in which a column's values reach DuckDB, and the
// expression that makes them what they are.
func staged(name string, t sqltype.Type) (duckdb.TypeInfo, string, error) {
	kind, back := duckdb.TYPE_BIGINT, fmt.Sprintf("CAST(%s AS %s)", name, typeName(t))
	switch t.Kind {
	case sqltype.Boolean:
		kind = duckdb.TYPE_BOOLEAN
	case sqltype.Real, sqltype.Double:
		kind = duckdb.TYPE_DOUBLE
	case sqltype.DecimalKind:
		info, err := duckdb.NewDecimalInfo(t.Precision, t.Scale)
		return info, name, err
	case sqltype.Text:
		kind = duckdb.TYPE_VARCHAR
	case sqltype.DateKind:
		back = fmt.Sprintf("DATE '1970-01-01' + CAST(%s AS INTEGER)", name)
	case sqltype.TimestampKind:
		back = fmt.Sprintf("make_timestamp(%s)", name)
	case sqltype.TimeKind:
		back = fmt.Sprintf("CASE WHEN %s = 86400000000 THEN TIME '24:00:00' ELSE CAST(make_timestamp(%s) AS TIME) END", name, name)
	case sqltype.IntervalKind:
		kind = duckdb.TYPE_INTERVAL
	}
	info, err := duckdb.NewTypeInfo(kind)
	return info, back, err
}

func stage(v sqltype.Value, t sqltype.Type) driver.Value {
	switch v := v.(type) {
	case sqltype.Decimal:
		return duckdb.Decimal{Width: t.Precision, Scale: t.Scale, Value: v.Unscaled}
	case sqltype.Date:
		return int64(v)
	case sqltype.Time:
		return int64(v)
	case sqltype.Timestamp:
		return int64(v)
	case sqltype.Interval:
		return duckdb.Interval{Months: v.Months, Days: v.Days, Micros: v.Micros}
	}
	return v
}
