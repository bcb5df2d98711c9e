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
	spill, err := newSpill(o.Temp)
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

// Records copies a CSV or JSON-lines file into a table.
func (o *owner) Records(ctx context.Context, path string, t engine.Text) (table string, err error) {
	var r records.Reader
	at := make([]int, len(t.Columns))
	if t.JSON {
		r, err = records.OpenJSONLines(ctx, path, t.Columns)
		for i := range at {
			at[i] = i
		}
	} else {
		var csv *records.CSV
		if csv, err = records.OpenCSV(ctx, path, t.Form); err == nil {
			r, at = csv, csv.Typed(csv.Find(t.Columns, catalog.Fold), t.Types)
		}
	}
	if err != nil {
		return "", fmt.Errorf("open records: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	table = fmt.Sprintf("discreet_records_%d", o.records.Add(1))
	declared := make([]string, len(at))
	for i := range at {
		declared[i] = fmt.Sprintf("f%d VARCHAR", i)
	}
	return table, raw(ctx, o.db, func(c *duckdb.Conn) error {
		if _, err := c.ExecContext(ctx, "CREATE TABLE "+table+" ("+strings.Join(declared, ", ")+")", nil); err != nil {
			return err
		}
		return appendRecords(ctx, c, r, at, false, "INSERT INTO "+table+" FROM appended")
	})
}

// Rows runs any SQL.
func (o *owner) Rows(ctx context.Context, text string, args ...any) (columns []string, all [][]any, err error) {
	rows, err := o.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, nil, unattached(text, err)
	}
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
