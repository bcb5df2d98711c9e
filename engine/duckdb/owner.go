//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/records"
)

// An owner may read every file that the process may.
type owner struct {
	db   *sql.DB
	temp string
}

// OpenOwner opens an instance for the owner's own commands. It is not locked.
// Besides DuckDB's functions it has discreet_csv(file) and discreet_jsonl(file,
// names), which read text sources by the rule that queries read them by: their
// columns f0, f1, ... are the header's, or those of the names (a JSON array of
// text), as text.
func OpenOwner(ctx context.Context, o Options) (engine.Owner, error) {
	temp, err := os.MkdirTemp(o.Temp, "discreet-")
	if err != nil {
		return nil, fmt.Errorf("make temporary directory: %w", err)
	}
	db, err := connect(o, temp, true)
	if err == nil {
		err = ownerFunctions(ctx, db, o.threads())
	}
	if err != nil {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
		return nil, fmt.Errorf("open duckdb: %w", errors.Join(err, os.RemoveAll(temp)))
	}
	return &owner{db, temp}, nil
}

func ownerFunctions(ctx context.Context, db *sql.DB, threads int) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	if err != nil {
		return err
	}
	csv := func(_ map[string]any, args ...any) (duckdb.ParallelChunkTableSource, error) {
		r, err := records.OpenCSV(args[0].(string))
		if err != nil {
			return nil, err
		}
		return numbered(r, len(r.Header()), threads), nil
	}
	jsonLines := func(_ map[string]any, args ...any) (duckdb.ParallelChunkTableSource, error) {
		var names []string
		if err := json.Unmarshal([]byte(args[1].(string)), &names); err != nil {
			return nil, err
		}
		r, err := records.OpenJSONLines(args[0].(string), names)
		if err != nil {
			return nil, err
		}
		return numbered(r, len(names), threads), nil
	}
	register := func(name string, bind bindFunction, arguments ...duckdb.TypeInfo) error {
		return duckdb.RegisterTableUDF(conn, name, duckdb.ParallelChunkTableFunction{
			Config: duckdb.TableFunctionConfig{Arguments: arguments}, BindArguments: bind})
	}
	_, err = conn.ExecContext(ctx, "SET TimeZone = 'UTC'")
	return errors.Join(err, register("discreet_csv", csv, text), register("discreet_jsonl", jsonLines, text, text))
}

type bindFunction = func(map[string]any, ...any) (duckdb.ParallelChunkTableSource, error)

// numbered hands on all columns of r.
func numbered(r records.Reader, columns, threads int) *recordsSource {
	s := &recordsSource{threads: threads}
	var at []int
	for i := range columns {
		s.columns, at = append(s.columns, fmt.Sprintf("f%d", i)), append(at, i)
	}
	s.open = func() (records.Reader, []int, error) { return r, at, nil }
	return s
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
