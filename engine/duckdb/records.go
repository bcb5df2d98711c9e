//go:build cgo

package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
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
	parts func(*derive.Reading) ([]part, error)
	turn  chan struct{} // holds one token: who has it may copy
	of    files         // as they were copied; nil if they must be copied again
	into  string        // the table, if there is one
	from  *attachedCopy // where it is, if it is an archive's
}

// A part of a copied source is read at a time: one of its files.
type part struct {
	// open opens the records, and says which of theirs the fields of the reading are.
	open func(context.Context) (records.Reader, []int, error)
	// values are texts that hold for the whole part, by the field.
	values map[int]string
}

// parts are the files of a table.
func parts(r *derive.Reading) ([]part, error) {
	all, err := listed(r.Table)
	if err != nil {
		return nil, err
	}
	out := make([]part, len(all))
	for i, f := range all {
		values := map[int]string{}
		for j, field := range r.Fields {
			if key := r.Table.Source.Key(field.Name); key >= 0 {
				values[j] = valueText(f.Values[key])
			}
		}
		out[i] = part{func(ctx context.Context) (records.Reader, []int, error) { return openRecords(ctx, r, f.Path) }, values}
	}
	return out, nil
}

// flushBytes of text are copied at a time.
const flushBytes = 4 << 20

// copies is the schema of the tables, beside the catalog's names.
const copies = "discreet_copies"

func newCopy(t *catalog.Table, of func(*derive.Reading) ([]part, error)) *copied {
	s := &copied{table: t, parts: of, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// opens says early and clearly what is wrong with a table's files.
func opens(ctx context.Context, t *catalog.Table) error {
	reading, err := derive.Read(t)
	if err != nil {
		return err
	}
	all, err := parts(reading)
	if err != nil {
		return err
	}
	for _, p := range all {
		r, _, err := p.open(ctx)
		if err != nil {
			return err
		}
		if err := r.Close(); err != nil {
			return cannotOpen(t, "it cannot be read")
		}
	}
	return nil
}

// fresh copies those files that a query reads. It refuses to read at all when two
// sources have become one, or one is no file any more, which DuckDB would wait for.
func (e *Engine) fresh(ctx context.Context, tables []string) error {
	if err := e.catalog.Recheck(tables...); err != nil {
		return err
	}
	return e.refresh(ctx, tables)
}

// refresh is fresh of sources that are looked at already, all that a query names.
func (e *Engine) refresh(ctx context.Context, tables []string) error {
	if err := e.ready(ctx, e.named(tables)); err != nil {
		return err
	}
	for _, name := range tables {
		if s := e.copyOf(name); s != nil {
			if err := e.copy(ctx, s); err != nil {
				return err
			}
		} else if t, ok := e.catalog.Table(name); ok {
			if t.Source.Pattern == nil {
				if _, err := datafile.Stat(t.Source.Path); err != nil {
					return err
				}
			}
			if err := e.keep(ctx, t); err != nil {
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
	now, err := e.filesOf(s.table)
	if err != nil {
		return err
	}
	if s.of != nil && s.of.same(now) {
		return nil
	}
	into := fmt.Sprintf("%s.copy_%d", copies, e.made.Add(1))
	return raw(ctx, e.db, func(c *duckdb.Conn) error {
		useless, err := s.drop(), error(nil)
		found, kept := e.archived(ctx, c, s.table, now, begun)
		if found != nil {
			into = found.table
		} else if err = s.fill(ctx, c, into); err == nil && kept != nil {
			_ = kept(into) // else it is copied again
		}
		switch {
		case err != nil:
		case found != nil:
			err = show(ctx, c, s.table, found)
		default:
			_, err = c.ExecContext(ctx, "CREATE OR REPLACE VIEW "+quote(s.table.Name)+" AS FROM "+into, nil)
		}
		if err != nil {
			if useless = "DROP TABLE IF EXISTS " + into; found != nil {
				useless = "DETACH " + found.alias
			}
		} else if s.of, s.into, s.from = nil, into, found; e.settled(now, begun) {
			s.of = now
		}
		err = errors.Join(err, e.plans.drop()) // which hold it, or would be planned anew each time
		if useless != "" {
			_, dropped := c.ExecContext(context.WithoutCancel(ctx), useless, nil)
			err = errors.Join(err, dropped)
		}
		return err
	})
}

// now are the files that it is of, when nobody copies them.
func (s *copied) now(ctx context.Context) (files, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.turn:
	}
	defer func() { s.turn <- struct{}{} }()
	return s.of, nil
}

// drop is the statement that removes what there is.
func (s *copied) drop() string {
	switch {
	case s.from != nil:
		return "DETACH " + s.from.alias
	case s.into != "":
		return "DROP TABLE IF EXISTS " + s.into
	}
	return ""
}

// An attachedCopy is one of an archive.
type attachedCopy struct{ alias, table string }

// attachCopy attaches an archive's copy.
func (e *Engine) attachCopy(ctx context.Context, c *duckdb.Conn, path string) (*attachedCopy, error) {
	alias := fmt.Sprintf("discreet_archived_%d", e.made.Add(1))
	_, err := c.ExecContext(ctx, "ATTACH "+literal(path)+" AS "+alias+" (READ_ONLY)", nil)
	return &attachedCopy{alias, alias + ".main.records"}, err
}

// archived attaches a table's copy if there is one of its files as they are. If there is none, it
// returns what keeps one of a relation of its records, nil where nothing is kept: of files that may still change unseen.
func (e *Engine) archived(ctx context.Context, c *duckdb.Conn, t *catalog.Table, now files, begun time.Time) (found *attachedCopy, keep func(records string) error) {
	if e.archive == nil || t.Mapping != nil || !now.watched() || !e.settled(now, begun) {
		return nil, nil
	}
	name, of, paths, err := e.archive.nameOf([]*catalog.Table{t}, now)
	if err != nil {
		return nil, nil
	}
	if path, err := e.archive.find(ctx, name, paths, begun); err == nil {
		if found, err := e.attachCopy(ctx, c, path); err == nil {
			return found, nil
		}
	}
	there, err := wayTo(paths)
	if err != nil {
		return nil, nil
	}
	return nil, func(records string) error {
		laid, err := laidOut(t, records)
		if err != nil {
			return err
		}
		return e.archive.keep(ctx, c, laid, fmt.Sprintf("discreet_archived_%d", e.made.Add(1)), name, of, paths, func() bool {
			after, err := filesOf(t)
			then, gone := wayTo(paths)
			return err == nil && gone == nil && now.same(after) && there.same(then)
		})
	}
}

// fill makes the table of the declared columns and appends the records.
func (s *copied) fill(ctx context.Context, c *duckdb.Conn, into string) (err error) {
	reading, err := derive.Read(s.table)
	if err != nil {
		return err
	}
	columns := make([]string, len(s.table.Columns))
	for i, column := range s.table.Columns {
		columns[i] = quote(column.Name) + " " + typeName(column.Type)
	}
	all, err := s.parts(reading)
	if err != nil {
		return err
	}
	rows := into
	if s.table.MaxUnitRows > 0 {
		rows = into + "_all"
	}
	if _, err := c.ExecContext(ctx, "CREATE TABLE "+rows+" ("+strings.Join(columns, ", ")+")", nil); err != nil {
		return err
	}
	if rows != into {
		defer func() {
			_, dropped := c.ExecContext(context.WithoutCancel(ctx), "DROP TABLE "+rows, nil)
			err = errors.Join(err, dropped)
		}()
	}
	for _, p := range all {
		if err := s.append(ctx, c, reading, p, rows); err != nil {
			return err
		}
	}
	if rows != into {
		_, err = c.ExecContext(ctx, "CREATE TABLE "+into+" AS "+ofUnits(s.table, "FROM "+rows), nil)
	}
	return err
}

// append copies the records of one part.
func (s *copied) append(ctx context.Context, c *duckdb.Conn, reading *derive.Reading, p part, into string) error {
	r, at, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was read to its end, or the copy has failed
	fields := make([]stored, len(at))
	for i := range fields {
		fields[i] = stored{fmt.Sprintf("f%d", i), "VARCHAR"}
		if text, ok := p.values[i]; ok {
			fields[i].raw = text
		}
	}
	rows, err := selection(reading, fields, "appended")
	if err != nil {
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
	if r.Table.Source.Pattern != nil && !r.Table.Form.NoHeader {
		return "one of its files has no column \"" + f.Name + "\" in its header" + neededBy(r, f)
	}
	if r.Table.Form.NoHeader {
		return "its columns are c1, c2, ..., and not \"" + f.Name + "\": name them with from"
	}
	return "its header has no column \"" + f.Name + "\"" + neededBy(r, f)
}

// openRecords opens one file of a source and finds the fields in it: by the header's names,
// of which the first counts where several differ in case alone. A partition is none of them.
func openRecords(ctx context.Context, reading *derive.Reading, path string) (records.Reader, []int, error) {
	t := reading.Table
	names, types, at := make([]string, len(reading.Fields)), make([]sqltype.Type, len(reading.Fields)), make([]int, len(reading.Fields))
	for i, f := range reading.Fields {
		names[i], types[i], at[i] = f.Name, f.Type, i
	}
	if t.Source.Format == catalog.JSONLines {
		r, err := records.OpenJSONLines(ctx, path, names)
		if err != nil {
			return nil, nil, unopened(ctx, t, err)
		}
		return r, at, nil
	}
	r, err := records.OpenCSV(ctx, path, t.Form)
	switch {
	case err == records.ErrNoHeader && t.Source.Pattern != nil:
		return nil, nil, cannotOpen(t, "one of its files has no first record that names the columns")
	case err == records.ErrNoHeader:
		return nil, nil, cannotOpen(t, err.Error())
	case err != nil:
		return nil, nil, unopened(ctx, t, err)
	}
	at = r.Find(names, catalog.Fold)
	for i, f := range reading.Fields {
		if t.Source.Key(f.Name) >= 0 {
			at[i] = -1
		} else if at[i] < 0 {
			r.Close()
			return nil, nil, cannotOpen(t, missingColumn(reading, f))
		}
	}
	return r, r.Typed(at, types), nil
}
