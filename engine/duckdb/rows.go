//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// errNotOneSelect is returned for anything but a single SELECT.
var errNotOneSelect = errors.New("not a single SELECT")

// selectRows runs one SELECT and returns its rows as values of the given types.
// Its errors are failures without words, or the context's.
func selectRows(ctx context.Context, db *sql.DB, text string, types []sqltype.Type, args ...driver.NamedValue) ([][]sqltype.Value, error) {
	var out [][]sqltype.Value
	err := raw(ctx, db, func(c *duckdb.Conn) (err error) {
		out, err = query(ctx, c, transport(text, types), types, args)
		return err
	})
	return out, failure(ctx, err)
}

// failure hides an engine's error; that the caller gave up is no secret.
func failure(ctx context.Context, err error) error {
	var hidden *engine.Failure
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.As(err, &hidden):
		return err
	}
	return engine.Fail(err)
}

func raw(ctx context.Context, db *sql.DB, f func(*duckdb.Conn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error { return f(c.(*duckdb.Conn)) })
}

// transport wraps a SELECT so that the driver hands every value on exactly:
// dates, times and timestamps as the integers that count them.
func transport(text string, types []sqltype.Type) string {
	var columns, names []string
	for i, t := range types {
		c := fmt.Sprintf("c%d", i)
		names = append(names, c)
		switch v := fmt.Sprintf("TRY_CAST(%s AS %s)", c, typeName(t)); t.Kind {
		case sqltype.DateKind:
			columns = append(columns, fmt.Sprintf("CASE WHEN isfinite(%s) THEN date_diff('day', DATE '1970-01-01', %s) END", v, v))
		case sqltype.TimestampKind:
			columns = append(columns, fmt.Sprintf("CASE WHEN isfinite(%s) THEN epoch_us(%s) END", v, v))
		case sqltype.TimeKind:
			columns = append(columns, "epoch_us("+v+")")
		case sqltype.DecimalKind:
			if t == sums { // more than 38 digits fit
				v = "TRY_CAST(" + c + " AS HUGEINT)"
			}
			columns = append(columns, v)
		default:
			columns = append(columns, v)
		}
	}
	return fmt.Sprintf("SELECT %s FROM (\n%s\n) AS q(%s)", strings.Join(columns, ", "), text, strings.Join(names, ", "))
}

// sums is the type of exact aggregates: 128-bit integers.
var sums = sqltype.DecimalOf(38, 0)

// selectStatement prepares one SELECT. Conn.Prepare refuses several statements
// at once (PrepareContext would run all but the last).
func selectStatement(c *duckdb.Conn, text string) (*duckdb.Stmt, error) {
	prepared, err := c.Prepare(text)
	if err != nil {
		return nil, err
	}
	stmt := prepared.(*duckdb.Stmt)
	if kind, err := stmt.StatementType(); err != nil || kind != duckdb.STATEMENT_TYPE_SELECT {
		return nil, errors.Join(errNotOneSelect, stmt.Close())
	}
	return stmt, nil
}

// query runs one SELECT.
func query(ctx context.Context, c *duckdb.Conn, text string, types []sqltype.Type, args []driver.NamedValue) (out [][]sqltype.Value, err error) {
	err = each(ctx, c, text, types, args, func(row []sqltype.Value) error {
		out = append(out, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// each runs one SELECT and calls f with every row.
func each(ctx context.Context, c *duckdb.Conn, text string, types []sqltype.Type, args []driver.NamedValue, f func([]sqltype.Value) error) (err error) {
	stmt, err := selectStatement(c, text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	return eachOf(ctx, stmt, types, args, f)
}

// all runs a planned SELECT.
func all(ctx context.Context, stmt *duckdb.Stmt, types []sqltype.Type, args []driver.NamedValue) (out [][]sqltype.Value, err error) {
	err = eachOf(ctx, stmt, types, args, func(row []sqltype.Value) error {
		out = append(out, row)
		return nil
	})
	return out, err
}

// eachOf runs a planned SELECT and calls f with every row.
func eachOf(ctx context.Context, stmt *duckdb.Stmt, types []sqltype.Type, args []driver.NamedValue, f func([]sqltype.Value) error) (err error) {
	rows, err := stmt.QueryContext(ctx, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(types))
	for {
		if err := rows.Next(row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		values := make([]sqltype.Value, len(types))
		for i, v := range row {
			if values[i], err = value(v, types[i]); err != nil {
				return fmt.Errorf("column %d: %w", i, err)
			}
		}
		if err := f(values); err != nil {
			return err
		}
	}
}

// value converts what the driver returns for a transported column.
func value(v any, t sqltype.Type) (sqltype.Value, error) {
	if v == nil {
		return nil, nil
	}
	switch t.Kind {
	case sqltype.Boolean:
		if b, ok := v.(bool); ok {
			return b, nil
		}
	case sqltype.Smallint, sqltype.Integer, sqltype.Bigint, sqltype.DateKind, sqltype.TimeKind, sqltype.TimestampKind:
		if n, ok := integer(v); ok {
			switch t.Kind {
			case sqltype.DateKind:
				return sqltype.Date(n), nil
			case sqltype.TimeKind:
				return sqltype.Time(n), nil
			case sqltype.TimestampKind:
				return sqltype.Timestamp(n), nil
			}
			return n, nil
		}
	case sqltype.Real, sqltype.Double:
		f, ok := v.(float64)
		if g, is := v.(float32); is {
			f, ok = float64(g), true
		}
		switch {
		case ok && (math.IsNaN(f) || math.IsInf(f, 0)):
			return nil, nil
		case ok:
			return f + 0, nil // −0 becomes 0
		}
	case sqltype.DecimalKind:
		switch v := v.(type) {
		case *big.Int:
			return sqltype.Decimal{Unscaled: v}, nil
		case duckdb.Decimal:
			return sqltype.Decimal{Unscaled: v.Value, Scale: v.Scale}, nil
		}
	case sqltype.Text:
		if s, ok := v.(string); ok {
			return s, nil
		}
	case sqltype.IntervalKind:
		if i, ok := v.(duckdb.Interval); ok {
			return sqltype.Interval{Months: i.Months, Days: i.Days, Micros: i.Micros}, nil
		}
	}
	return nil, fmt.Errorf("a %T is no %s", v, t)
}

func integer(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int32:
		return int64(n), true
	case int16:
		return int64(n), true
	}
	return 0, false
}
