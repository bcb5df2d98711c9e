//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/discreet-dp/discreet/engine"
)

// An owner may read every file that the process may.
type owner struct {
	db   *sql.DB
	temp string
}

// OpenOwner opens an instance for the owner's own commands. It is not locked.
func OpenOwner(ctx context.Context, o Options) (engine.Owner, error) {
	temp, err := os.MkdirTemp(o.Temp, "discreet-")
	if err != nil {
		return nil, fmt.Errorf("make temporary directory: %w", err)
	}
	db, err := connect(o, temp, true)
	if err == nil {
		_, err = db.ExecContext(ctx, "SET TimeZone = 'UTC'")
	}
	if err != nil {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
		return nil, fmt.Errorf("open duckdb: %w", errors.Join(err, os.RemoveAll(temp)))
	}
	return &owner{db, temp}, nil
}

// Rows runs any SQL.
func (o *owner) Rows(ctx context.Context, text string, args ...any) (columns []string, all [][]any, err error) {
	rows, err := o.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, nil, err
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
func (o *owner) Close() error { return errors.Join(o.db.Close(), os.RemoveAll(o.temp)) }
