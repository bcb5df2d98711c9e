//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/records"
)

// An owner may read every file that the process may.
type owner struct {
	db      *sql.DB
	spill   *spill
	records atomic.Int64 // tables that Records has made
}

// OpenOwner opens an instance for the owner's own commands. It is not locked.
func OpenOwner(ctx context.Context, o Options) (engine.Owner, error) {
	spill, err := spillTo(o.Temp)
	if err != nil {
		return nil, err
	}
	db, err := connect(o, spill.folder, true)
	if err == nil {
		_, err = db.ExecContext(ctx, zone)
	}
	if err != nil {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
		return nil, fmt.Errorf("open duckdb: %w", errors.Join(err, spill.Close()))
	}
	return &owner{db: db, spill: spill}, nil
}

// Records copies CSV or JSON-lines files into a table.
func (o *owner) Records(ctx context.Context, files []datafile.File, t engine.Text) (table string, err error) {
	table = fmt.Sprintf("discreet_records_%d", o.records.Add(1))
	declared := make([]string, len(t.Columns))
	for i := range declared {
		declared[i] = fmt.Sprintf("f%d VARCHAR", i)
	}
	return table, raw(ctx, o.db, func(c *duckdb.Conn) error {
		if _, err := c.ExecContext(ctx, "CREATE TABLE "+table+" ("+strings.Join(declared, ", ")+")", nil); err != nil {
			return err
		}
		for _, f := range files {
			if err := appendFile(ctx, c, f, t, table); err != nil {
				return err
			}
		}
		return nil
	})
}

// appendFile copies one file into a table of texts.
func appendFile(ctx context.Context, c *duckdb.Conn, f datafile.File, t engine.Text, table string) (err error) {
	var r records.Reader
	at, fields := make([]int, len(t.Columns)), make([]string, len(t.Columns))
	if t.JSON {
		r, err = records.OpenJSONLines(ctx, f.Path, t.Columns)
		for i := range at {
			at[i] = i
		}
	} else {
		var csv *records.CSV
		if csv, err = records.OpenCSV(ctx, f.Path, t.Form); err == nil {
			r, at = csv, csv.Typed(csv.Find(t.Columns, catalog.Fold), t.Types)
		}
	}
	if err != nil {
		return fmt.Errorf("open records: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for i, key := range t.Keys {
		if fields[i] = fmt.Sprintf("f%d", i); key >= 0 {
			fields[i], at[i] = valueText(f.Values[key]), -1
		}
	}
	return appendRecords(ctx, c, &watched{Reader: r, tell: t.Read}, at, false, "INSERT INTO "+table+" SELECT "+strings.Join(fields, ", ")+" FROM appended")
}

// Lots divides Parquet files by their schemas.
func (o *owner) Lots(ctx context.Context, p *datafile.Pattern, files []datafile.File) ([]engine.Lot, error) {
	return lots(ctx, func(ctx context.Context, text string) ([][]any, error) {
		_, rows, err := o.Rows(ctx, text)
		return rows, err
	}, p, files)
}

// watched records tell of the bytes of their file that were read.
type watched struct {
	records.Reader
	tell func(bytes int64)
	told int64
}

func (w *watched) Next() (records.Record, error) {
	if r, ok := w.Reader.(interface{ Offset() (read, all int64) }); ok && w.tell != nil {
		if read, _ := r.Offset(); read > w.told {
			w.tell(read - w.told)
			w.told = read
		}
	}
	return w.Reader.Next()
}

// Rows runs any SQL.
func (o *owner) Rows(ctx context.Context, text string, args ...any) (columns []string, all [][]any, err error) {
	rows, err := o.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, nil, unattached(text, err)
	}
	return collect(rows)
}

// collect reads rows to their end, and closes them.
func collect(rows *sql.Rows) (columns []string, all [][]any, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, nil, err
		}
		all = append(all, row)
	}
	return columns, all, rows.Err()
}

// Close ends the instance and removes what it spilled.
func (o *owner) Close() error { return errors.Join(o.db.Close(), o.spill.Close()) }
