//go:build cgo

package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/sqltype"
)

// A copied source is a CSV or JSON-lines file, or what a Map makes of any source,
// and the table of DuckDB's to which its records are copied before a query reads
// them. The view with the table's name is made then, so that no query takes it for
// an empty one.
//
// DuckDB's own readers fail on some malformed files, and a failure of the CSV
// reader ends the whole instance; so internal/records reads. A table function
// must not hand its records on: DuckDB allocates the text of a scan's chunk
// within the memory limit, by a call of the C API that throws, and a C++
// exception that meets Go code ends the process. The appender's chunks are
// allocated outside the limit (they are bounded by flushBytes), and what is
// done within it, flushing, catches what it throws and returns an error.
type copied struct {
	table *catalog.Table
	open  open
	turn  chan struct{} // holds one token: who has it may copy
	of    fs.FileInfo   // the file as it was copied; nil if it must be copied again
	into  string        // the table, if there is one
}

// open opens a table's records, and says which of theirs the fields of its reading are.
type open func(context.Context, *derive.Reading) (records.Reader, []int, error)

// flushBytes of text are copied at a time.
const flushBytes = 4 << 20

// copies is the schema of the tables, beside the catalog's names.
const copies = "discreet_copies"

func newCopy(t *catalog.Table, o open) *copied {
	s := &copied{table: t, open: o, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// opens says early and clearly what is wrong with a file.
func opens(ctx context.Context, t *catalog.Table) error {
	reading, err := derive.Read(t)
	if err != nil {
		return err
	}
	r, _, err := openRecords(ctx, reading)
	if err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return cannotOpen(t, "it cannot be read")
	}
	return nil
}

// restless is how long a file must have been left alone before its copy counts
// as the file: a later change within the grain of the file system's clock
// would not show. The coarsest, FAT's, is two seconds.
const restless = 2 * time.Second

// fresh copies those files that a query reads. It refuses to read at all when two
// sources have become one, or one is no file any more, which DuckDB would wait for.
func (e *Engine) fresh(ctx context.Context, tables []string) error {
	if err := e.catalog.Recheck(tables...); err != nil {
		return err
	}
	if err := e.ready(ctx, e.named(tables)); err != nil {
		return err
	}
	for _, name := range tables {
		if s := e.copyOf(name); s != nil {
			if err := e.copy(ctx, s); err != nil {
				return err
			}
		} else if t, ok := e.catalog.Table(name); ok {
			if _, err := datafile.Stat(t.Source.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// copy copies a file, unless the copy is of the file as it is. Queries that run
// go on with the copy that they began with.
func (e *Engine) copy(ctx context.Context, s *copied) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.turn:
	}
	defer func() { s.turn <- struct{}{} }()
	begun, err := e.spill.now()
	if err != nil {
		return err
	}
	now, err := datafile.Stat(s.table.Source.Path)
	if err != nil {
		return err
	}
	if s.of != nil && os.SameFile(s.of, now) && s.of.Size() == now.Size() && s.of.ModTime().Equal(now.ModTime()) {
		return nil
	}
	into := fmt.Sprintf("%s.copy_%d", copies, e.made.Add(1))
	return raw(ctx, e.db, func(c *duckdb.Conn) error {
		err := s.fill(ctx, c, into)
		if err == nil {
			_, err = c.ExecContext(ctx, "CREATE OR REPLACE VIEW "+quote(s.table.Name)+" AS FROM "+into, nil)
		}
		useless := s.into
		if err != nil {
			useless = into
		} else if s.of, s.into = nil, into; begun.Sub(now.ModTime()) > restless {
			s.of = now
		}
		if useless != "" {
			_, dropped := c.ExecContext(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+useless, nil)
			err = errors.Join(err, dropped)
		}
		return err
	})
}

// fill makes the table of the declared columns and appends the file's records.
func (s *copied) fill(ctx context.Context, c *duckdb.Conn, into string) error {
	reading, err := derive.Read(s.table)
	if err != nil {
		return err
	}
	r, at, err := s.open(ctx, reading)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was read to its end, or the copy has failed
	columns, fields := make([]string, len(s.table.Columns)), make([]stored, len(at))
	for i, column := range s.table.Columns {
		columns[i] = quote(column.Name) + " " + typeName(column.Type)
	}
	for i := range at {
		fields[i] = stored{fmt.Sprintf("f%d", i), "VARCHAR"}
	}
	rows, err := selection(reading, fields, "appended")
	if err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "CREATE TABLE "+into+" ("+strings.Join(columns, ", ")+")", nil); err != nil {
		return err
	}
	return appendRecords(ctx, c, r, at, s.table.Malformed == catalog.SkipRecord, "INSERT INTO "+into+" "+rows)
}

// appendRecords runs an INSERT over the fields at of r's records, which are f0,
// f1, ... of appended, as text. Each flush is a transaction: DuckDB holds more
// of a larger one in memory than it can spill.
func appendRecords(ctx context.Context, c *duckdb.Conn, r records.Reader, at []int, skipMalformed bool, insert string) (err error) {
	text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	if err != nil {
		return err
	}
	names, types := make([]string, len(at)), make([]duckdb.TypeInfo, len(at))
	for i := range at {
		names[i], types[i] = fmt.Sprintf("f%d", i), text
	}
	appender, err := duckdb.NewQueryAppender(c, insert, "appended", types, names)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, appender.Clear())
		}
		err = errors.Join(err, appender.CloseWithCancel(ctx))
	}()
	row := make([]driver.Value, len(at))
	for bytes := 0; ; {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if rec.Malformed && skipMalformed {
			continue
		}
		for i, from := range at {
			if row[i] = nil; from >= 0 && rec.Fields[from] != nil {
				row[i] = rec.Fields[from]
				bytes += len(rec.Fields[from])
			}
		}
		if err := appender.AppendRow(row...); err != nil {
			return err
		}
		if bytes >= flushBytes {
			if err := appender.FlushWithCancel(ctx); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			bytes = 0
		}
	}
}

func missingColumn(r *derive.Reading, f derive.Field) string {
	if r.Table.Form.NoHeader {
		return "its columns are c1, c2, ..., and not \"" + f.Name + "\": name them with from"
	}
	return "its header has no column \"" + f.Name + "\"" + neededBy(r, f)
}

// openRecords opens a source and finds the fields in it: by the header's names, of which
// the first counts where several differ in case alone.
func openRecords(ctx context.Context, reading *derive.Reading) (records.Reader, []int, error) {
	t := reading.Table
	names, types, at := make([]string, len(reading.Fields)), make([]sqltype.Type, len(reading.Fields)), make([]int, len(reading.Fields))
	for i, f := range reading.Fields {
		names[i], types[i], at[i] = f.Name, f.Type, i
	}
	if t.Source.Format == catalog.JSONLines {
		r, err := records.OpenJSONLines(ctx, t.Source.Path, names)
		if err != nil {
			return nil, nil, unopened(ctx, t, err)
		}
		return r, at, nil
	}
	r, err := records.OpenCSV(ctx, t.Source.Path, t.Form)
	switch {
	case err == records.ErrNoHeader:
		return nil, nil, cannotOpen(t, err.Error())
	case err != nil:
		return nil, nil, unopened(ctx, t, err)
	}
	at = r.Find(names, catalog.Fold)
	if i := slices.Index(at, -1); i >= 0 {
		r.Close()
		return nil, nil, cannotOpen(t, missingColumn(reading, reading.Fields[i]))
	}
	return r, r.Typed(at, types), nil
}
