package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/sqltype"
)

// A source is a file as check reads it: as it is, before what does not fit the
// catalog becomes NULL.
type source struct {
	// relation is SQL text of a SELECT with, for the i-th declared column, what
	// the file holds as r<i>, and its value of the declared type, or NULL, as v<i>. Of a
	// derived column r<i> is NULL where it has no value and a field of its is NULL.
	relation  string
	types     []string // of the declared columns in the file; "" where text is all there is, and of derived ones
	missing   []string // what the file lacks of the declared columns: its name of them; "" if nothing
	malformed int64
	// openQuotes are those of them that leave a quote open.
	openQuotes int64
}

type sources struct {
	owner    engine.Owner
	attached map[string]string // DuckDB files by path
	opened   map[*catalog.Table]*source
}

// open reads what a file says of itself.
func (s *sources) open(ctx context.Context, t *catalog.Table) (*source, error) {
	if src, ok := s.opened[t]; ok {
		return src, nil
	}
	if _, err := datafile.Stat(t.Source.Path); errors.Is(err, datafile.ErrNotFile) {
		return nil, datafile.ErrNotFile
	} else if err != nil {
		return nil, errors.New("there is no such file")
	}
	reading, err := derive.Read(t)
	if err != nil {
		return nil, err
	}
	src := &source{}
	f := newFile(reading)
	var from string
	switch t.Source.Format {
	case catalog.CSV:
		if err = src.csv(ctx, f); err == nil {
			from, err = s.owner.Records(ctx, t.Source.Path, f.text())
		}
	case catalog.JSONLines:
		if err = src.jsonLines(ctx, f); err == nil {
			from, err = s.owner.Records(ctx, t.Source.Path, f.text())
		}
	case catalog.Parquet:
		from = parquet(t)
		err = s.typed(ctx, f, from)
	default:
		if from, err = s.attach(ctx, t.Source); err == nil {
			err = s.typed(ctx, f, from)
		}
	}
	if err == nil {
		err = src.relate(f, from)
	}
	if err != nil {
		return nil, err
	}
	if s.opened == nil {
		s.opened = map[*catalog.Table]*source{}
	}
	s.opened[t] = src
	return src, nil
}

func parquet(t *catalog.Table) string { return "read_parquet(" + literal(t.Source.Path) + ")" }

// relate makes the relation of the declared columns.
func (src *source) relate(f *file, from string) error {
	r := f.reading
	var fields, computed, columns []string
	for i, field := range r.Fields {
		fields = append(fields, fmt.Sprintf("%s AS q%d, %s AS c%d", f.raw[i], i, value(f.raw[i], f.types[i], field.Type), i))
	}
	values, err := r.Columns()
	if err != nil {
		return err
	}
	for i, c := range r.Table.Columns {
		uses := r.Uses(c)
		missing := slices.IndexFunc(uses, func(n int) bool { return f.missing[n] })
		src.missing = append(src.missing, "")
		if missing >= 0 {
			src.missing[i] = r.Fields[uses[missing]].Name
		}
		computed = append(computed, fmt.Sprintf("%s AS v%d", values[i], i))
		if !r.Derived(c) {
			columns = append(columns, fmt.Sprintf("q%d AS r%d, v%d", uses[0], i, i))
			src.types = append(src.types, f.types[uses[0]])
			continue
		}
		given := []string{"true"}
		for _, n := range uses {
			given = append(given, fmt.Sprintf("q%d IS NOT NULL", n))
		}
		columns = append(columns, fmt.Sprintf("CASE WHEN v%[1]d IS NOT NULL OR %[2]s THEN 1 END AS r%[1]d, v%[1]d", i, strings.Join(given, " AND ")))
		src.types = append(src.types, "")
	}
	src.relation = fmt.Sprintf("SELECT %s FROM (SELECT *, %s FROM (SELECT %s FROM %s))",
		strings.Join(columns, ", "), strings.Join(computed, ", "), strings.Join(fields, ", "), from)
	return nil
}

// A file is what check reads of one: of each field, how to write it, its type there,
// and whether it is there.
type file struct {
	reading *derive.Reading
	raw     []string
	types   []string
	missing []bool
}

func newFile(r *derive.Reading) *file {
	n := len(r.Fields)
	return &file{r, make([]string, n), make([]string, n), make([]bool, n)}
}

// value reads a raw field as a value of the declared type, NULL if it is none.
func value(raw, fileType string, t sqltype.Type) string {
	if fileType == "TIMESTAMP WITH TIME ZONE" {
		raw = "(" + raw + " AT TIME ZONE 'UTC')"
	}
	if (fileType == "" || fileType == "VARCHAR") && (t.Kind == sqltype.DateKind || t.Kind == sqltype.TimestampKind) {
		raw = fmt.Sprintf("CASE WHEN ltrim(%[1]s) LIKE '____-%%' THEN %[1]s END", raw) // as the engine reads texts
	}
	v := fmt.Sprintf("TRY_CAST(%s AS %s)", raw, sqlName(t))
	if t.IsFloat() || t.Kind == sqltype.DateKind || t.Kind == sqltype.TimestampKind {
		return fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s END", v, v)
	}
	return v
}

// sqlName is DuckDB's name of a type.
func sqlName(t sqltype.Type) string {
	if t.Kind == sqltype.Text {
		return "VARCHAR"
	}
	return strings.ToUpper(t.String())
}

// text is how the file is read.
func (f *file) text() engine.Text {
	t := f.reading.Table
	out := engine.Text{JSON: t.Source.Format == catalog.JSONLines, Form: t.Form}
	for _, field := range f.reading.Fields {
		out.Columns, out.Types = append(out.Columns, field.Name), append(out.Types, field.Type)
	}
	return out
}

// csv reads every field as text.
func (src *source) csv(ctx context.Context, f *file) error {
	r, err := records.OpenCSV(ctx, f.reading.Table.Source.Path, f.reading.Table.Form)
	switch {
	case errors.Is(err, records.ErrNoHeader):
		return err
	case err != nil:
		return errors.New("it cannot be read")
	}
	defer r.Close()
	for i, n := range r.Find(f.text().Columns, catalog.Fold) {
		f.missing[i] = n < 0
		f.raw[i] = fmt.Sprintf("f%d", i)
	}
	if src.malformed, err = malformed(r); err != nil {
		return err
	}
	src.openQuotes = r.OpenQuotes()
	return nil
}

// jsonLines reads every member as text.
func (src *source) jsonLines(ctx context.Context, f *file) error {
	r, err := records.OpenJSONLines(ctx, f.reading.Table.Source.Path, f.text().Columns)
	if err != nil {
		return errors.New("it cannot be read")
	}
	defer r.Close()
	if src.malformed, err = malformed(r); err != nil {
		return err
	}
	for i := range f.reading.Fields {
		f.missing[i] = !r.Seen(i)
		f.raw[i] = fmt.Sprintf("f%d", i)
	}
	return nil
}

// malformed counts the records that do not read as declared, to the end.
func malformed(r records.Reader) (n int64, err error) {
	for {
		rec, err := r.Next()
		switch {
		case err == io.EOF:
			return n + r.Skipped(), nil
		case err != nil:
			return 0, errors.New("it cannot be read to its end")
		case rec.Malformed:
			n++
		}
	}
}

// typed reads a relation that has types of its own.
func (s *sources) typed(ctx context.Context, f *file, from string) error {
	_, rows, err := s.owner.Rows(ctx, "DESCRIBE SELECT * FROM "+from)
	if err != nil {
		return err
	}
	names, types := map[string]string{}, map[string]string{}
	for _, row := range rows {
		name := fmt.Sprint(row[0])
		names[catalog.Fold(name)], types[catalog.Fold(name)] = name, fmt.Sprint(row[1])
	}
	for i, field := range f.reading.Fields {
		name, ok := names[catalog.Fold(field.Name)]
		if !ok {
			f.missing[i] = true
			f.raw[i] = "NULL::VARCHAR"
			continue
		}
		f.types[i] = types[catalog.Fold(field.Name)]
		f.raw[i] = quote(name)
	}
	return nil
}

// attach opens a DuckDB file, once, and names the table in it.
func (s *sources) attach(ctx context.Context, src catalog.Source) (string, error) {
	schema := cmp.Or(src.Schema, "main")
	alias, ok := s.attached[src.Path]
	if !ok {
		alias = fmt.Sprintf("discreet_check_%d", len(s.attached))
		if _, err := datafile.Stat(src.Path + ".wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", errors.New("the log beside it, .wal, is not a file that can be read")
		}
		if _, _, err := s.owner.Rows(ctx, "ATTACH "+literal(src.Path)+" AS "+alias+" (READ_ONLY)"); err != nil {
			var u *engine.Unopened
			if errors.As(err, &u) {
				return "", fmt.Errorf("%w: %s", u, u.Hint)
			}
			return "", err
		}
		s.attached[src.Path] = alias
	}
	_, rows, err := s.owner.Rows(ctx, "SELECT view_name FROM duckdb_views() WHERE database_name = '"+alias+"' AND lower(schema_name) = lower("+literal(schema)+")")
	if err != nil {
		return "", err
	}
	for _, row := range rows {
		if catalog.Fold(fmt.Sprint(row[0])) == catalog.Fold(src.Table) {
			return "", errors.New("it is a view: name the table that its rows are of")
		}
	}
	return alias + "." + quote(schema) + "." + quote(src.Table), nil
}

// detach closes the files; those that will not close go with the handle.
func (s *sources) detach(ctx context.Context) {
	for _, alias := range s.attached {
		_, _, _ = s.owner.Rows(context.WithoutCancel(ctx), "DETACH "+alias)
	}
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
