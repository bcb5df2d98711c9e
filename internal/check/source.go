package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/internal/render"
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
	missing   []string // what a file lacks of the declared columns: its name of them; "" if nothing
	without   []string // of several: the first file that lacks it
	hidden    []bool   // the column is a partition, and the files have a field of its name
	files     *datafile.Listing
	size      int64 // of them, in bytes
	malformed int64
	// openQuotes are those of them that leave a quote open.
	openQuotes int64
}

type sources struct {
	owner    engine.Owner
	dialect  dialect
	attached map[string]string // DuckDB files by path
	opened   map[*catalog.Table]*source
	watch    func(Progress) // nil if nobody watches
	now      Progress
}

// tell tells who watches what is done.
func (s *sources) tell(doing string, done, all int64) {
	if s.watch != nil {
		s.now.Doing, s.now.Done, s.now.All, s.now.Bytes = doing, done, all, false
		s.watch(s.now)
	}
}

// read tells how much of a table's files was read, which may be another than the one that
// is being checked: a public domain's, say.
func (s *sources) read(t *catalog.Table, src *source, doing string) func(bytes int64) {
	if s.watch == nil {
		return nil
	}
	if t.Name != s.now.Table {
		doing += " (" + t.Name + ")"
	}
	s.tell(doing, 0, src.size)
	s.now.Bytes = true
	return func(bytes int64) {
		s.now.Done = min(s.now.Done+bytes, s.now.All) // it may have grown
		s.watch(s.now)
	}
}

// open reads what a file says of itself.
func (s *sources) open(ctx context.Context, t *catalog.Table) (*source, error) {
	if src, ok := s.opened[t]; ok {
		return src, nil
	}
	reading, err := derive.Read(t)
	if err != nil {
		return nil, err
	}
	src := &source{}
	if t.Source.Format == catalog.Relation {
		f := newFile(reading)
		if err := s.relation(ctx, src, f); err != nil {
			return nil, err
		}
		return s.keep(t, src, f), nil
	}
	if src.files, err = t.Files(); err != nil {
		return nil, err
	}
	for _, f := range src.files.Files {
		info, err := datafile.Stat(f.Path)
		if err != nil {
			return nil, inFile(t, f, notOpened(err))
		}
		src.size += info.Size()
	}
	f := newFile(reading)
	switch {
	case t.Source.Format == catalog.CSV || t.Source.Format == catalog.JSONLines:
		err = s.texts(ctx, src, f)
	case t.Source.Pattern != nil:
		err = s.lots(ctx, src, f)
	default:
		from := parquet(t.Source.Path)
		if t.Source.Format == catalog.DuckDB {
			from, err = s.attach(ctx, t.Source)
		}
		if err == nil {
			err = s.typed(ctx, f, from)
		}
		if err == nil {
			src.relation, err = f.relation(from, false)
		}
	}
	if err != nil {
		return nil, err
	}
	return s.keep(t, src, f), nil
}

func (s *sources) keep(t *catalog.Table, src *source, f *file) *source {
	src.describe(f)
	if s.opened == nil {
		s.opened = map[*catalog.Table]*source{}
	}
	s.opened[t] = src
	return src
}

func notOpened(err error) error {
	if errors.Is(err, datafile.ErrNotFile) {
		return datafile.ErrNotFile
	}
	return errors.New("there is no such file")
}

// inFile says of which of several files an error is.
func inFile(t *catalog.Table, f datafile.File, err error) error {
	if t.Source.Pattern == nil {
		return err
	}
	return fmt.Errorf("%s: %w", nameOf(t, f.Path), err)
}

// nameOf is a file's path from the folder in which its pattern begins; "" of a single one.
func nameOf(t *catalog.Table, path string) string {
	if t.Source.Pattern == nil {
		return ""
	}
	if rel, err := filepath.Rel(t.Source.Pattern.Root, path); err == nil {
		return rel
	}
	return path
}

// parquet is the text that reads a Parquet file; the names of its folders mean nothing.
func parquet(path string) string {
	return "read_parquet([" + literal(path) + "], hive_partitioning = false)"
}

// describe says of the declared columns what the fields are.
func (src *source) describe(f *file) {
	r := f.reading
	for _, c := range r.Table.Columns {
		uses := r.Uses(c)
		missing, without, hidden, native := "", "", false, ""
		if n := slices.IndexFunc(uses, func(n int) bool { return f.missing[n] }); n >= 0 {
			missing, without = r.Fields[uses[n]].Name, f.without[uses[n]]
		}
		if !r.Derived(c) {
			hidden, native = f.hidden[uses[0]], f.types[uses[0]]
		}
		src.missing, src.without, src.hidden, src.types = append(src.missing, missing), append(src.without, without), append(src.hidden, hidden), append(src.types, native)
	}
}

// relation is the text of the declared columns over what holds the fields. Fields of
// several files are shown as text where their types differ.
func (f *file) relation(from string, asText bool) (string, error) {
	r := f.reading
	var fields, computed, columns []string
	for i, field := range r.Fields {
		shown := f.raw[i]
		if asText {
			shown = "CAST(" + shown + " AS VARCHAR)"
		}
		read := f.values[i]
		if read == "" {
			read = value(f.raw[i], f.types[i], field.Type)
		}
		fields = append(fields, fmt.Sprintf("%s AS q%d, %s AS c%d", shown, i, read, i))
	}
	values, err := r.ColumnsIn(f.dialect)
	if err != nil {
		return "", err
	}
	for i, c := range r.Table.Columns {
		uses := r.Uses(c)
		computed = append(computed, fmt.Sprintf("%s AS v%d", values[i], i))
		if !r.Derived(c) {
			columns = append(columns, fmt.Sprintf("q%d AS r%d, v%d", uses[0], i, i))
			continue
		}
		given := []string{"true"}
		for _, n := range uses {
			given = append(given, fmt.Sprintf("q%d IS NOT NULL", n))
		}
		columns = append(columns, fmt.Sprintf("CASE WHEN v%[1]d IS NOT NULL OR %[2]s THEN 1 END AS r%[1]d, v%[1]d", i, strings.Join(given, " AND ")))
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT *, %s FROM (SELECT %s FROM %s) AS t) AS t",
		strings.Join(columns, ", "), strings.Join(computed, ", "), strings.Join(fields, ", "), from), nil
}

// texts reads CSV or JSON-lines files.
func (s *sources) texts(ctx context.Context, src *source, f *file) error {
	t := f.reading.Table
	read := src.csv
	if t.Source.Format == catalog.JSONLines {
		read = src.jsonLines
		for i, key := range f.keys() {
			f.missing[i] = key < 0 // until a record has it
		}
	}
	for i := range f.raw {
		f.raw[i] = fmt.Sprintf("f%d", i)
	}
	tell := s.read(t, src, "looking for malformed records")
	for _, of := range src.files.Files {
		if err := read(ctx, f, of.Path, tell); err != nil {
			return inFile(t, of, err)
		}
	}
	text := f.text()
	text.Read = s.read(t, src, "reading")
	from, err := s.owner.Records(ctx, src.files.Files, text)
	if err == nil {
		src.relation, err = f.relation(from, false)
	}
	return err
}

// lots reads the Parquet files of a pattern, by their schemas.
func (s *sources) lots(ctx context.Context, src *source, f *file) error {
	t := f.reading.Table
	all, err := s.owner.Lots(ctx, t.Source.Pattern, src.files.Files)
	if err != nil {
		return s.blame(ctx, t, src.files.Files, err)
	}
	var branches []string
	for _, lot := range all {
		of := newFile(f.reading)
		if err := s.typed(ctx, of, parquet(lot.Like)); err != nil {
			return err
		}
		for i, key := range f.keys() {
			switch {
			case key >= 0:
				f.hidden[i] = f.hidden[i] || !of.missing[i]
				of.raw[i], of.types[i] = lot.Keys[key], ""
			case of.missing[i] && !f.missing[i]:
				f.missing[i], f.without[i] = true, nameOf(t, lot.Like)
			case f.types[i] == "":
				f.types[i] = of.types[i]
			case of.types[i] != "" && !strings.Contains(", "+f.types[i]+", ", ", "+of.types[i]+", "):
				f.types[i] += ", " + of.types[i]
			}
		}
		branch, err := of.relation(lot.From, len(all) > 1)
		if err != nil {
			return err
		}
		branches = append(branches, branch)
	}
	src.relation = strings.Join(branches, " UNION ALL ")
	return nil
}

// blame names the file that is no Parquet file.
func (s *sources) blame(ctx context.Context, t *catalog.Table, files []datafile.File, err error) error {
	for _, f := range files {
		if _, _, err := s.owner.Rows(ctx, "SELECT 1 FROM "+parquet(f.Path)+" LIMIT 0"); err != nil {
			return inFile(t, f, errors.New("it is not a Parquet file"))
		}
	}
	return err
}

// A file is what check reads of one or several: of each field, how to write it, its type
// there, whether it is missing, in which of several, and whether it is a partition beside
// which the records have a field of that name.
type file struct {
	reading *derive.Reading
	dialect render.Dialect
	raw     []string
	values  []string // how it is read, where that is not by value
	types   []string
	missing []bool
	without []string
	hidden  []bool
}

// keys are the partitions that fields are; -1 of those of records.
func (f *file) keys() []int {
	keys := make([]int, len(f.reading.Fields))
	for i, field := range f.reading.Fields {
		keys[i] = f.reading.Table.Source.Key(field.Name)
	}
	return keys
}

func newFile(r *derive.Reading) *file {
	n := len(r.Fields)
	return &file{r, render.DuckDB, make([]string, n), make([]string, n), make([]string, n), make([]bool, n), make([]string, n), make([]bool, n)}
}

// value reads a raw field as a value of the declared type, NULL if it is none.
func value(raw, fileType string, t sqltype.Type) string {
	if fileType == "TIMESTAMP WITH TIME ZONE" {
		raw = "(" + raw + " AT TIME ZONE 'UTC')"
	}
	if (fileType == "" || fileType == "VARCHAR") && (t.Kind == sqltype.DateKind || t.Kind == sqltype.TimestampKind) {
		raw = fmt.Sprintf("CASE WHEN ltrim(%[1]s) LIKE '____-%%' THEN %[1]s END", raw) // as the engine reads texts
	}
	v := fmt.Sprintf("TRY_CAST(%s AS %s)", raw, dialect{}.name(t))
	if t.IsFloat() || t.Kind == sqltype.DateKind || t.Kind == sqltype.TimestampKind {
		return fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s END", v, v)
	}
	return v
}

// text is how the file is read.
func (f *file) text() engine.Text {
	t := f.reading.Table
	out := engine.Text{JSON: t.Source.Format == catalog.JSONLines, Form: t.Form, Keys: f.keys()}
	for _, field := range f.reading.Fields {
		out.Columns, out.Types = append(out.Columns, field.Name), append(out.Types, field.Type)
	}
	return out
}

// csv looks which fields a file has, and reads it to its end.
func (src *source) csv(ctx context.Context, f *file, path string, tell func(bytes int64)) error {
	t := f.reading.Table
	r, err := records.OpenCSV(ctx, path, t.Form)
	switch {
	case errors.Is(err, records.ErrNoHeader):
		return err
	case err != nil:
		return errors.New("it cannot be read")
	}
	defer r.Close()
	keys := f.keys()
	for i, n := range r.Find(f.text().Columns, catalog.Fold) {
		switch {
		case keys[i] >= 0:
			f.hidden[i] = f.hidden[i] || n >= 0 && !t.Form.NoHeader
		case n < 0 && !f.missing[i]:
			f.missing[i], f.without[i] = true, nameOf(t, path)
		}
	}
	n, err := malformed(r, tell)
	src.malformed, src.openQuotes = src.malformed+n, src.openQuotes+r.OpenQuotes()
	return err
}

// jsonLines looks which members a file's records have, and reads it to its end.
func (src *source) jsonLines(ctx context.Context, f *file, path string, tell func(bytes int64)) error {
	r, err := records.OpenJSONLines(ctx, path, f.text().Columns)
	if err != nil {
		return errors.New("it cannot be read")
	}
	defer r.Close()
	n, err := malformed(r, tell)
	src.malformed += n
	for i, key := range f.keys() {
		f.missing[i] = f.missing[i] && !r.Seen(i)
		f.hidden[i] = f.hidden[i] || key >= 0 && r.Seen(i)
	}
	return err
}

// located records know where in their file they are.
type located interface {
	records.Reader
	Offset() (read, all int64)
}

// malformed counts the records that do not read as declared, to the end.
func malformed(r located, tell func(bytes int64)) (n int64, err error) {
	told := int64(0)
	for {
		if read, _ := r.Offset(); tell != nil && read > told {
			tell(read - told)
			told = read
		}
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
