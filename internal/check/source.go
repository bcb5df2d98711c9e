package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/sqltype"
)

// A source is a file as check reads it: as it is, before what does not fit the
// catalog becomes NULL.
type source struct {
	// relation is SQL text of a SELECT with, for the i-th declared column, what
	// the file holds as r<i>, and its value of the declared type, or NULL, as v<i>.
	relation  string
	types     []string // of the declared columns in the file; "" where text is all there is
	missing   []bool   // the file has no such column
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
	src := &source{types: make([]string, len(t.Columns)), missing: make([]bool, len(t.Columns))}
	var from string
	var raw []string
	var err error
	switch t.Source.Format {
	case catalog.CSV:
		if raw, err = src.csv(ctx, t); err == nil {
			from, err = s.owner.Records(ctx, t.Source.Path, text(t))
		}
	case catalog.JSONLines:
		if raw, err = src.jsonLines(ctx, t); err == nil {
			from, err = s.owner.Records(ctx, t.Source.Path, text(t))
		}
	case catalog.Parquet:
		from = "read_parquet(" + literal(t.Source.Path) + ")"
		raw, err = s.typed(ctx, src, t, from)
	default:
		if from, err = s.attach(ctx, t.Source); err == nil {
			raw, err = s.typed(ctx, src, t, from)
		}
	}
	if err != nil {
		return nil, err
	}
	var list []string
	for i, c := range t.Columns {
		list = append(list, fmt.Sprintf("%s AS r%d, %s AS v%d", raw[i], i, value(raw[i], src.types[i], c.Type), i))
	}
	src.relation = "SELECT " + strings.Join(list, ", ") + " FROM " + from
	if s.opened == nil {
		s.opened = map[*catalog.Table]*source{}
	}
	s.opened[t] = src
	return src, nil
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
	if t.IsFloat() {
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

// text is how a table's file is read.
func text(t *catalog.Table) engine.Text {
	out := engine.Text{JSON: t.Source.Format == catalog.JSONLines, Form: t.Form}
	for _, c := range t.Columns {
		out.Columns, out.Types = append(out.Columns, c.Field()), append(out.Types, c.Type)
	}
	return out
}

// csv reads every declared field as text.
func (src *source) csv(ctx context.Context, t *catalog.Table) (raw []string, err error) {
	r, err := records.OpenCSV(ctx, t.Source.Path, t.Form)
	switch {
	case errors.Is(err, records.ErrNoHeader):
		return nil, err
	case err != nil:
		return nil, errors.New("it cannot be read")
	}
	defer r.Close()
	for i, n := range r.Find(text(t).Columns, catalog.Fold) {
		src.missing[i] = n < 0
		raw = append(raw, fmt.Sprintf("f%d", i))
	}
	if src.malformed, err = malformed(r); err != nil {
		return nil, err
	}
	src.openQuotes = r.OpenQuotes()
	return raw, nil
}

// jsonLines reads every declared member as text.
func (src *source) jsonLines(ctx context.Context, t *catalog.Table) (raw []string, err error) {
	r, err := records.OpenJSONLines(ctx, t.Source.Path, text(t).Columns)
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	defer r.Close()
	if src.malformed, err = malformed(r); err != nil {
		return nil, err
	}
	for i := range t.Columns {
		src.missing[i] = !r.Seen(i)
		raw = append(raw, fmt.Sprintf("f%d", i))
	}
	return raw, nil
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
func (s *sources) typed(ctx context.Context, src *source, t *catalog.Table, from string) (raw []string, err error) {
	_, rows, err := s.owner.Rows(ctx, "DESCRIBE SELECT * FROM "+from)
	if err != nil {
		return nil, err
	}
	names, types := map[string]string{}, map[string]string{}
	for _, row := range rows {
		name := fmt.Sprint(row[0])
		names[catalog.Fold(name)], types[catalog.Fold(name)] = name, fmt.Sprint(row[1])
	}
	for i, c := range t.Columns {
		name, ok := names[catalog.Fold(c.Field())]
		if !ok {
			src.missing[i] = true
			raw = append(raw, "NULL::VARCHAR")
			continue
		}
		src.types[i] = types[catalog.Fold(c.Field())]
		raw = append(raw, quote(name))
	}
	return raw, nil
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
