//go:build cgo

package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
)

var _ engine.Preparer = (*Engine)(nil)

// Prepare plans a statement over empty tables. They are temporary ones of a
// connection of their own, in which they stand before the views of the same
// names, so that no file is read, not even its statistics, and the catalog's
// other tables are not named. The connection is closed afterwards, never
// returned to the pool: no query can take its tables for the real ones. A statement that
// differs from one before in digits of numbers alone is not planned again. A source
// that cannot be opened is said now, before anything is charged.
func (e *Engine) Prepare(ctx context.Context, text string, tables []engine.Table) error {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	if err := e.ready(ctx, e.named(names)); err != nil {
		return err
	}
	shape := shapeOf(text, tables)
	if e.shapes.has(shape) {
		return ctx.Err()
	}
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return failure(ctx, err)
	}
	defer conn.Close()
	err = errors.New("not prepared")
	_ = conn.Raw(func(c any) error {
		err = prepare(ctx, c.(*duckdb.Conn), text, tables)
		return driver.ErrBadConn
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case err == nil:
		e.shapes.add(shape)
	case cannotPlan(err):
		return engine.ErrPlan
	}
	return nil // the statement itself will show what else is wrong
}

func prepare(ctx context.Context, c *duckdb.Conn, text string, tables []engine.Table) error {
	for _, t := range tables {
		columns := make([]string, len(t.Columns))
		for i, column := range t.Columns {
			columns[i] = quote(column.Name) + " " + typeName(column.Type)
		}
		if _, err := c.ExecContext(ctx, fmt.Sprintf("CREATE TEMP TABLE %s (%s)", quote(t.Name), strings.Join(columns, ", ")), nil); err != nil {
			return err
		}
	}
	stmt, err := selectStatement(c, "SELECT * FROM (\n"+text+"\n) AS q") // within another, as it will run
	if err != nil {
		return err
	}
	return stmt.Close()
}

// cannotPlan reports whether err is one of a statement's parsing, binding or
// planning. Others (want of memory, an instance that has failed) may come from
// what else runs here.
func cannotPlan(err error) bool {
	var e *duckdb.Error
	if !errors.As(err, &e) {
		return errors.Is(err, errNotOneSelect)
	}
	switch e.Type {
	case duckdb.ErrorTypeParser, duckdb.ErrorTypeSyntax, duckdb.ErrorTypeCatalog, duckdb.ErrorTypeBinder, duckdb.ErrorTypeExpression,
		duckdb.ErrorTypePlanner, duckdb.ErrorTypeOptimizer, duckdb.ErrorTypeNotImplemented, duckdb.ErrorTypeInvalidInput,
		duckdb.ErrorTypeMismatchType, duckdb.ErrorTypeInvalidType, duckdb.ErrorTypeUnknownType, duckdb.ErrorTypeOutOfRange, duckdb.ErrorTypeConversion,
		duckdb.ErrorTypeParameterNotResolved, duckdb.ErrorTypeParameterNotAllowed, duckdb.ErrorTypeInternal:
		return true
	}
	return false
}
