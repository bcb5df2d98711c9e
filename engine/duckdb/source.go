//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// relation is the SELECT that reads a Parquet or DuckDB source: its declared columns,
// cast totally to the declared types, in canonical form.
func relation(t *catalog.Table, attached string) string {
	var names []string
	for _, c := range t.Columns {
		names = append(names, quote(c.Name))
	}
	from := "read_parquet(" + literal(t.Source.Path) + ")"
	if t.Source.Format == catalog.DuckDB {
		from = attached + ".main." + quote(t.Source.Table)
	}
	return selection(t, names, from)
}

// selection casts raw values to those of a table's columns. A value that is
// none of its column's type is NULL; under the rule SkipRecord its record is
// dropped.
func selection(t *catalog.Table, raw []string, from string) string {
	var columns, whole []string
	for i, c := range t.Columns {
		value := canonical(raw[i], c.Type)
		columns = append(columns, value+" AS "+quote(c.Name))
		whole = append(whole, fmt.Sprintf("(%s IS NULL OR %s IS NOT NULL)", raw[i], value))
	}
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + from
	if t.Malformed == catalog.SkipRecord {
		text += " WHERE " + strings.Join(whole, " AND ")
	}
	return text
}

// canonical casts a value of any type, or makes it NULL. Values that compare
// equal become identical: −0 becomes 0. NaN, infinities and infinite dates
// become NULL.
func canonical(raw string, t sqltype.Type) string {
	v := "TRY_CAST(" + raw + " AS " + typeName(t) + ")"
	switch {
	case t.IsFloat():
		return fmt.Sprintf("CASE WHEN %s = 0 THEN 0::%s WHEN isfinite(%s) THEN %s END", v, typeName(t), v, v)
	case t.Kind == sqltype.DateKind || t.Kind == sqltype.TimestampKind:
		return fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s END", v, v)
	}
	return v
}

// typeName is DuckDB's name of a type.
func typeName(t sqltype.Type) string {
	switch t.Kind {
	case sqltype.Text:
		return "VARCHAR"
	case sqltype.Null:
		return "INTEGER"
	}
	return strings.ToUpper(t.String())
}

// cannotOpen is for the owner. It says nothing in DuckDB's words: those may
// quote what stands in a file.
func cannotOpen(t *catalog.Table, why string) error {
	return diagnostic.New("D101", diagnostic.Span{}, "table %q cannot be opened", t.Name).
		Because("%s: %s", t.Source.Text, why).Try("discreet check")
}

// readable says early and clearly what is wrong with a file.
func readable(t *catalog.Table) error {
	f, err := os.Open(t.Source.Path)
	if os.IsNotExist(err) {
		return cannotOpen(t, "there is no such file")
	}
	if err != nil {
		return cannotOpen(t, "it cannot be read")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return cannotOpen(t, "it is not a file")
	}
	return nil
}

// explainFailure finds the table that made setUp fail. The instance is not
// used afterwards.
func (e *Engine) explainFailure(ctx context.Context, conn *sql.Conn, attached map[string]string) error {
	try := func(text string) (names []string, err error) {
		rows, err := conn.QueryContext(ctx, text)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
		return rows.Columns()
	}
	for _, t := range e.catalog.Tables {
		if t.Mapping != nil {
			continue
		}
		from := "read_parquet(" + literal(t.Source.Path) + ")"
		switch t.Source.Format {
		case catalog.CSV, catalog.JSONLines:
			continue
		case catalog.DuckDB:
			alias := attached[t.Source.Path]
			if _, err := try("ATTACH IF NOT EXISTS " + literal(t.Source.Path) + " AS " + alias + " (READ_ONLY)"); err != nil {
				return cannotOpen(t, "it is not a DuckDB file of this version, or another process writes to it")
			}
			from = alias + ".main." + quote(t.Source.Table)
		}
		names, err := try("SELECT * FROM " + from + " LIMIT 0")
		switch {
		case err != nil && t.Source.Format == catalog.DuckDB:
			return cannotOpen(t, "it has no such table")
		case err != nil:
			return cannotOpen(t, "it is not a Parquet file")
		}
		for _, c := range t.Columns {
			same := func(name string) bool { return catalog.Fold(name) == catalog.Fold(c.Name) }
			if !slices.ContainsFunc(names, same) {
				return cannotOpen(t, fmt.Sprintf("it has no column %q", c.Name))
			}
			if _, err := try("SELECT " + canonical(quote(c.Name), c.Type) + " FROM " + from + " LIMIT 0"); err != nil {
				return cannotOpen(t, fmt.Sprintf("column %q cannot be read as %s", c.Name, c.Type))
			}
		}
	}
	return fmt.Errorf("open duckdb: it refuses its own settings")
}
