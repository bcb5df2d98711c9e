//go:build cgo

package duckdb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// origin is where a Parquet or DuckDB source is read.
func origin(t *catalog.Table, attached string) string {
	if t.Source.Format == catalog.DuckDB {
		return attached + "." + quote(schema(t)) + "." + quote(t.Source.Table)
	}
	return parquet(t.Source.Path)
}

// schema is that of a DuckDB file in which a table is.
func schema(t *catalog.Table) string { return cmp.Or(t.Source.Schema, "main") }

// A stored column is one of a source: how to write it, and DuckDB's name of its
// type there.
type stored struct{ raw, native string }

// selection casts fields to a table's columns, totally and in canonical form, and
// computes those that are derived of them. A value that is none of its column's type is
// NULL; under the rule SkipRecord its record is dropped. That is not said of a derived
// value, nor of a field that is read for such values alone: they can be NULL.
func selection(r *derive.Reading, fields []stored, from string) (string, error) {
	var columns, whole []string
	for i, f := range r.Fields {
		value := canonical(fields[i], f.Type)
		if columns = append(columns, value+" AS "+fmt.Sprintf("c%d", i)); f.Column != nil {
			whole = append(whole, fmt.Sprintf("(%s IS NULL OR %s IS NOT NULL)", fields[i].raw, value))
		}
	}
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + from
	if r.Table.Malformed == catalog.SkipRecord && len(whole) > 0 {
		text += " WHERE " + strings.Join(whole, " AND ")
	}
	values, err := r.Columns()
	if err != nil {
		return "", fmt.Errorf("render derived columns of %s: %w", r.Table.Name, err)
	}
	for i, c := range r.Table.Columns {
		values[i] += " AS " + quote(c.Name)
	}
	return "SELECT " + strings.Join(values, ", ") + " FROM (" + text + ") AS t", nil
}

// canonical casts a value of any type, or makes it NULL. Values that compare
// equal become identical: −0 becomes 0. NaN, infinities and infinite dates
// become NULL.
func canonical(f stored, t sqltype.Type) string {
	raw := f.raw
	if least, greatest := limits(f.native); least != "" {
		raw = fmt.Sprintf("CASE WHEN %[1]s BETWEEN %[2]s AND %[3]s THEN %[1]s END", raw, least, greatest)
	}
	if f.native == "VARCHAR" && (t.Kind == sqltype.DateKind || t.Kind == sqltype.TimestampKind) {
		// DuckDB takes 01/12/24 for a day of the year 1.
		raw = fmt.Sprintf("CASE WHEN ltrim(%[1]s) LIKE '____-%%' THEN %[1]s END", raw)
	}
	v := "TRY_CAST(" + raw + " AS " + typeName(t) + ")"
	if !castsTotally(f.native, t) {
		v = "TRY(TRY_CAST(TRY(" + raw + ") AS " + typeName(t) + "))"
	}
	switch {
	case f.native == "VARCHAR" && t.Kind == sqltype.Text: // a cast would leave its collation, by which different bytes are equal
		return v + " COLLATE C"
	case t.IsFloat():
		return fmt.Sprintf("CASE WHEN %s = 0 THEN 0::%s WHEN isfinite(%s) THEN %s END", v, typeName(t), v, v)
	case t.Kind == sqltype.DateKind || t.Kind == sqltype.TimestampKind:
		return fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s END", v, v)
	}
	return v
}

// limits are the least and the greatest value of those native types that a Parquet
// file can hold other values of, which are none: DuckDB takes the file's integers
// for a time, a timestamp or a decimal as they are. With a time beyond 24:00 it
// writes over memory.
func limits(native string) (least, greatest string) {
	switch kind, digits, _ := strings.Cut(native, "("); {
	case native == "TIME", native == "TIME_NS":
		return "'00:00:00'::" + native, "'24:00:00'::" + native
	case native == "TIME WITH TIME ZONE":
		return "'00:00:00+15:59:59'::TIMETZ", "'24:00:00-15:59:59'::TIMETZ"
	case native == "TIMESTAMP", native == "TIMESTAMP WITH TIME ZONE":
		return "'-infinity'::" + native, "'infinity'::" + native
	case kind == "DECIMAL" && strings.HasSuffix(digits, ")"):
		var precision, scale int
		if _, err := fmt.Sscanf(digits, "%d,%d)", &precision, &scale); err == nil {
			nines := strings.Repeat("9", precision-scale) + "." + strings.Repeat("9", scale)
			return "'-" + nines + "'::" + native, "'" + nines + "'::" + native
		}
	}
	return "", ""
}

// holdsTimes reports whether a native type contains times of day in something
// else, where no limits can be set to them.
func holdsTimes(native string) bool {
	if strings.HasPrefix(native, "ENUM(") || !strings.ContainsAny(native, "([") {
		return false
	}
	return timeOfDay.MatchString(strings.ReplaceAll(native, "TIMESTAMP WITH TIME ZONE", ""))
}

var timeOfDay = regexp.MustCompile(`\bTIME(_NS)?\b`)

// castsTotally reports whether DuckDB's TRY_CAST from a native type gives NULL where
// it cannot convert. From other types, such as BIT, BIGNUM, TIMESTAMP WITH TIME
// ZONE and all that contain them, it fails on some values, which the outer TRY
// makes NULL. The inner one hides the column's statistics: DuckDB casts the least
// and the greatest value when it plans, where nothing catches a failure. Without
// statistics some queries are slower, so that the types of most columns keep them.
// TestNativeTypes holds all to it.
func castsTotally(native string, to sqltype.Type) bool {
	if kind, digits, _ := strings.Cut(native, "("); kind == "DECIMAL" && strings.HasSuffix(digits, ")") { // no list of them
		return true
	}
	switch native {
	case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
		"FLOAT", "DOUBLE", "VARCHAR", "DATE", "TIME":
		return true
	case "TIMESTAMP":
		return to.Kind != sqltype.TimeKind // infinity
	}
	return false
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

// neededBy says which derived columns use a field that is not declared, and so what
// misspelt it.
func neededBy(r *derive.Reading, f derive.Field) string {
	if f.Column != nil {
		return ""
	}
	i := slices.Index(r.Fields, f)
	for _, c := range r.Table.Columns {
		if slices.Contains(r.Uses(c), i) {
			return fmt.Sprintf(", which the derived column %q uses and the catalog does not declare", c.Name)
		}
	}
	return ""
}

// readable says early and clearly what is wrong with a file, before DuckDB waits for
// it: also of the log that DuckDB looks for beside a file of its own.
func readable(ctx context.Context, t *catalog.Table) error {
	files, err := listed(t)
	if err != nil {
		return err
	}
	for _, f := range files {
		opened, err := datafile.Open(ctx, f.Path)
		if err != nil {
			return unopened(ctx, t, err)
		}
		opened.Close()
	}
	if t.Source.Format == catalog.DuckDB {
		if _, err := datafile.Stat(t.Source.Path + ".wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cannotOpen(t, "the log beside it, .wal, is not a file that can be read")
		}
	}
	return nil
}

// unopened says why a file cannot be opened, if that was not said. Of several it does not say which.
func unopened(ctx context.Context, t *catalog.Table, err error) error {
	var said *diagnostic.Diagnostic
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &said):
		return said
	case t.Source.Pattern != nil && errors.Is(err, fs.ErrNotExist):
		return cannotOpen(t, "one of its files is gone")
	case t.Source.Pattern != nil:
		return cannotOpen(t, "one of its files cannot be read")
	case errors.Is(err, fs.ErrNotExist):
		return cannotOpen(t, "there is no such file")
	case errors.Is(err, datafile.ErrNotFile):
		return cannotOpen(t, "it is not a file")
	}
	return cannotOpen(t, "it cannot be read")
}

// databases are the DuckDB files that are attached, each once, whatever it is called.
type databases []database

type database struct {
	paths []string
	file  fs.FileInfo
}

// add notes a file's path, and reports whether the file is to be attached.
func (d *databases) add(path string) (fresh bool, err error) {
	file, err := datafile.Stat(path)
	if err != nil {
		return false, err
	}
	for i := range *d {
		if os.SameFile((*d)[i].file, file) {
			(*d)[i].paths = append((*d)[i].paths, path)
			return false, nil
		}
	}
	*d = append(*d, database{[]string{path}, file})
	return true, nil
}

// alias is the name that a file has in the instance.
func (d databases) alias(path string) string {
	i := slices.IndexFunc(d, func(b database) bool { return slices.Contains(b.paths, path) })
	return fmt.Sprintf("discreet_file_%d", i)
}

// refuseViews refuses views as sources: whose rows a view has is in its text, and
// could be those of any table, or of another file.
func (e *Engine) refuseViews(ctx context.Context, conn *sql.Conn, readings []*derive.Reading) error {
	rows, err := conn.QueryContext(ctx, "SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE starts_with(database_name, 'discreet_file_')")
	if err != nil {
		return failure(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var alias, in, view string
		if err := rows.Scan(&alias, &in, &view); err != nil {
			return failure(ctx, err)
		}
		for _, r := range readings {
			t := r.Table
			if t.Source.Format == catalog.DuckDB && e.attached.alias(t.Source.Path) == alias && catalog.Fold(t.Source.Table) == catalog.Fold(view) && catalog.Fold(schema(t)) == catalog.Fold(in) {
				return cannotOpen(t, "it is a view, whose rows can be those of any table; name the table itself")
			}
		}
	}
	return failure(ctx, rows.Err())
}

// explainFailure finds the table of which no view could be made.
func (e *Engine) explainFailure(ctx context.Context, conn *sql.Conn, readings []*derive.Reading) error {
	try := func(text string) error {
		rows, err := conn.QueryContext(ctx, text)
		if err != nil {
			return err
		}
		defer rows.Close()
		return rows.Err()
	}
	for _, r := range readings {
		t := r.Table
		from := origin(t, e.attached.alias(t.Source.Path))
		err := try("SELECT * FROM " + from + " LIMIT 0")
		switch {
		case err != nil && t.Source.Format == catalog.DuckDB:
			return cannotOpen(t, "it has no such table")
		case err != nil:
			return cannotOpen(t, "it is not a Parquet file")
		}
		for _, f := range r.Fields {
			if try("SELECT "+canonical(stored{raw: quote(f.Name)}, f.Type)+" FROM "+from+" LIMIT 0") != nil {
				return cannotOpen(t, fmt.Sprintf("column %q cannot be read as %s", f.Name, f.Type))
			}
		}
	}
	return errors.New("open duckdb: no view of a table can be made")
}
