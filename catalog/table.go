package catalog

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/notation"
)

// maxBound bounds max_groups_per_unit, max_rows_per_group and max_rows_per_unit, so that no
// product of a few of them leaves 64 bits unnoticed.
const maxBound = 1 << 31

func (l *loader) relation(n *node) {
	t := &Table{Name: n.name}
	l.tables[t] = n
	l.catalog.Tables = append(l.catalog.Tables, t)
	if Reserved(n.name) {
		l.refuse("D085", n.key, "table cannot be named %q", n.name).Because("engines keep tables of their own under such names")
	}
	if _, ok := l.table(n); !ok {
		return
	}
	l.keys(n, "source", "public", "domain", "also_in", "unit", "max_groups_per_unit", "max_rows_per_group", "max_rows_per_unit", "contribution", "malformed", "csv", "columns")
	t.Public, _ = l.boolean(n.field("public"))
	if f := n.field("source"); f == nil {
		l.missing(n, "source", `name the file, as in source = "visits.parquet"`)
	} else if s, ok := l.str(f); ok && l.catalog.Engine.Remote() {
		t.Source, _ = l.named(f, s)
	} else if ok {
		t.Source, _ = l.source(f, s)
	}
	if f := n.field("malformed"); f != nil {
		switch s, ok := l.str(f); {
		case !ok:
		case s == "null":
			t.Malformed = NullField
		case s == "skip":
			t.Malformed = SkipRecord
		default:
			l.refuse("D084", f.value, "unknown rule %q for malformed records", s).
				Try(`use "null" (a field that cannot be read is NULL) or "skip" (its record is dropped)`)
		}
	}
	if f, ok := l.table(n.field("csv")); ok {
		l.written(t, f)
	}
	if t.Public {
		for _, key := range []string{"domain", "also_in", "unit", "max_groups_per_unit", "max_rows_per_group", "max_rows_per_unit", "contribution"} {
			if f := n.field(key); f != nil {
				l.refuse("D093", f.key, "a public table has no %q", key).
					Because("what is public has no privacy unit and needs no bounds").
					Try("remove it, or remove public = true")
			}
		}
	} else {
		l.private(t, n)
	}
	l.declareColumns(t, n)
}

// private reads what only a private table has; its unit is resolved later.
func (l *loader) private(t *Table, n *node) {
	if f := n.field("domain"); f == nil {
		l.missing(n, "domain", `name the domain of its units, or write public = true if anyone may read the table`)
	} else if id, ok := l.str(f); ok {
		if t.Domain, ok = l.catalog.Domain(id); !ok {
			d := l.refuse("D088", f.value, "there is no domain %q", id)
			var ids []string
			for _, d := range l.catalog.Domains {
				ids = append(ids, d.ID)
			}
			if suggest(d, id, ids); d.Hint == "" {
				d.Try("declare it as [domains.%s]", id)
			}
		}
	}
	if f := n.field("also_in"); f != nil {
		l.alsoIn(t, f)
	}
	for _, b := range []struct {
		key  string
		into *int64
	}{{"max_groups_per_unit", &t.MaxGroups}, {"max_rows_per_group", &t.MaxRows}, {"max_rows_per_unit", &t.MaxUnitRows}} {
		f := n.field(b.key)
		if f == nil {
			continue
		}
		v, ok := f.data.(int64)
		if !ok {
			l.wrong(f, "a whole number")
			continue
		}
		if *b.into = v; v < 1 || v > maxBound {
			l.refuse("D094", f.value, "%q must lie between 1 and %d", b.key, int64(maxBound))
		}
	}
	if f := n.field("max_rows_per_unit"); f != nil && l.catalog.Engine.Remote() {
		l.refuse("D094", f.key, "%q has no meaning for tables of a database", f.name).
			Because("the rows beyond it are left out when files are read").Try("make a table there that has as many rows of each unit, and declare the other two bounds")
	}
	if t.Auto = l.auto("D094", n.field("contribution"), "max_groups_per_unit and max_rows_per_group"); t.Auto {
		t.MaxGroups, t.MaxRows = cmp.Or(t.MaxGroups, mostFound), cmp.Or(t.MaxRows, mostFound)
	}
}

// mostFound is how many groups and rows of a unit are looked for where the owner names no number.
const mostFound = 1024

// auto reads a key whose one value is "auto".
func (l *loader) auto(code string, n *node, otherwise string) bool {
	s, ok := l.str(n)
	if ok && s != "auto" {
		l.refuse(code, n.value, "%q is no value of %q", s, n.name).Because("it is \"auto\", or it is not written").
			Try("write %s = \"auto\", or declare %s alone", n.name, otherwise)
	}
	return ok && s == "auto"
}

// written reads how a CSV file is written.
func (l *loader) written(t *Table, n *node) {
	l.keys(n, "delimiter", "quote", "decimal", "thousands", "date", "timestamp", "null", "encoding", "header", "multiline")
	if t.Source.Text != "" && t.Source.Format != CSV {
		l.refuse("D081", n.key, "%q is no CSV file", t.Source.Text).Because("how a CSV file is written means nothing for it").Try("remove the table csv")
	}
	f := &t.Form
	f.Multiline, _ = l.boolean(n.field("multiline"))
	if header, ok := l.boolean(n.field("header")); ok {
		f.NoHeader = !header
	}
	f.Delimiter, _ = l.mark(n.field("delimiter"))
	if q := n.field("quote"); q != nil && q.data == "" {
		f.Unquoted = true
	} else {
		f.Quote, _ = l.mark(q)
	}
	f.Decimal, _ = l.mark(n.field("decimal"))
	if m := n.field("thousands"); m != nil {
		s, ok := l.str(m)
		switch {
		case !ok:
		case utf8.RuneCountInString(s) != 1 || strings.ContainsAny(s, "0123456789+-eE\r\n"):
			l.refuse("D084", m.value, "%q cannot separate thousands", s).Try(`write one character, as in thousands = "."`)
		default:
			f.Thousands = s
		}
	}
	f.Date = l.pattern(n.field("date"), false)
	f.Timestamp = l.pattern(n.field("timestamp"), true)
	l.nulls(f, n.field("null"))
	if m := n.field("encoding"); m != nil {
		switch s, ok := l.str(m); {
		case !ok, s == "utf8":
		case s == string(notation.Latin1) || s == string(notation.UTF16):
			f.Encoding = notation.Encoding(s)
		default:
			l.refuse("D084", m.value, "unknown encoding %q", s).Try(`use "utf8", "latin1" or "utf16"`)
		}
	}
	delimiter, quote := f.Marks()
	decimal := cmp.Or(f.Decimal, '.')
	switch {
	case delimiter == quote:
		l.refuse("D084", n.key, "delimiter and quote are one character")
	case f.Thousands == string(decimal):
		l.refuse("D084", n.key, "decimal and thousands are one character").Try("a number with both would have two meanings")
	}
}

// mark reads one character that stands between things.
func (l *loader) mark(n *node) (byte, bool) {
	s, ok := l.str(n)
	if !ok {
		return 0, false
	}
	if len(s) != 1 || s[0] >= utf8.RuneSelf || strings.ContainsAny(s, "0123456789+-\r\n\x00") {
		l.refuse("D084", n.value, "%q is no %s", s, n.name).Try(`write one ASCII character that is no digit, sign or line end, as in ";"`)
		return 0, false
	}
	return s[0], true
}

// pattern reads how dates or timestamps are written.
func (l *loader) pattern(n *node, time bool) notation.Pattern {
	s, ok := l.str(n)
	if !ok {
		return notation.Pattern{}
	}
	p, err := notation.ParsePattern(s)
	switch {
	case err != nil:
		l.refuse("D084", n.value, "%v", err).Because("a pattern is of YYYY YY MM Mon Month DD HH24 HH12 AM MI SS MS US and what stands between them").
			Try(`write it as in "DD.MM.YYYY" or "MM/DD/YYYY HH24:MI"`)
	case !time && p.HasTime():
		l.refuse("D084", n.value, "the pattern of dates has hours").Try("declare it as timestamp, and the columns of that type")
	default:
		return p
	}
	return notation.Pattern{}
}

// nulls reads the texts that are NULL.
func (l *loader) nulls(f *notation.Form, n *node) {
	if n == nil {
		return
	}
	if n.kind != arrayNode {
		l.wrong(n, `an array of texts, as ["", "NA"]`)
		return
	}
	f.Null = []string{}
	for _, item := range n.items {
		s, ok := item.data.(string)
		if !ok {
			l.wrong(n, `an array of texts, as ["", "NA"]`)
			return
		}
		f.Null = append(f.Null, s)
	}
}

// alsoIn reads the owner's word that a table's records are in further domains.
func (l *loader) alsoIn(t *Table, n *node) {
	if n.kind != arrayNode {
		l.wrong(n, `an array of domains, as ["household"]`)
		return
	}
	for _, item := range n.items {
		id, ok := item.data.(string)
		if !ok {
			l.wrong(n, `an array of domains, as ["household"]`)
			return
		}
		if d, ok := l.catalog.Domain(id); !ok || d == t.Domain {
			l.refuse("D088", item.value, "there is no other domain %q", id).
				Because("also_in names the further domains that declare the same records")
			continue
		}
		t.AlsoIn = append(t.AlsoIn, id)
	}
}

// formats are the endings of sources.
var formats = []struct {
	ending string
	format Format
}{{".csv", CSV}, {".parquet", Parquet}, {".jsonl", JSONLines}, {".csv.gz", CSV}, {".jsonl.gz", JSONLines},
	{".csv.zst", CSV}, {".jsonl.zst", JSONLines}}

// source reads where a table's records are.
func (l *loader) source(n *node, text string) (Source, bool) {
	refuse := func(why, hint string) (Source, bool) {
		l.refuse("D087", n.value, "%q cannot be a source", text).Because("%s", why).Try("%s", hint)
		return Source{}, false
	}
	s := Source{Text: text}
	file, table, isDatabase := strings.Cut(text, "#")
	switch {
	case BadName(text) != "":
		return refuse("it "+BadName(text), "name a file")
	case strings.Contains(text, "://"):
		return refuse("sources are files", "fetch the file and name it")
	case isDatabase && datafile.IsPattern(file):
		return refuse("it is a pattern, and a DuckDB file is one file", "name one file whose name has none of * ? [")
	case isDatabase:
		if !hasEnding(file, ".duckdb") && !hasEnding(file, ".db") {
			return refuse("the part before # must be a DuckDB file", `write it as in "clinic.duckdb#visits"`)
		}
		if table == "" {
			return refuse("no table is named after #", `write it as in "clinic.duckdb#visits"`)
		}
		s.Format, s.Table = DuckDB, table
		if schema, name, ok := strings.Cut(table, "."); ok {
			if schema == "" || name == "" {
				return refuse("the part after # must be a table, or a schema, a dot and a table", `write it as in "clinic.duckdb#visits" or "clinic.duckdb#archive.visits"`)
			}
			if s.Table = name; Fold(schema) != "main" {
				s.Schema = schema
			}
		}
	case hasEnding(file, ".duckdb") || hasEnding(file, ".db"):
		return refuse("a DuckDB file holds many tables", `name one, as in "`+text+`#visits"`)
	default:
		found := false
		for _, f := range formats {
			if hasEnding(file, f.ending) {
				s.Format, found = f.format, true
			}
		}
		if !found {
			return refuse("no format has its ending", `use a .csv, .parquet or .jsonl file, several as in "visits/*.csv", or FILE.duckdb#TABLE`)
		}
	}
	s.Path = filepath.Clean(file)
	if !filepath.IsAbs(s.Path) {
		s.Path = filepath.Join(filepath.Dir(l.catalog.Path), s.Path)
	}
	if datafile.IsPattern(file) {
		var err error
		if s.Pattern, err = datafile.ParsePattern(filepath.Dir(l.catalog.Path), filepath.ToSlash(file)); err != nil {
			return refuse(err.Error(), `write it as in "visits/*.csv" or "visits/year=*/month=*/*.parquet"`)
		}
		for i, key := range s.Pattern.Keys {
			if slices.ContainsFunc(s.Pattern.Keys[:i], func(other string) bool { return Fold(other) == Fold(key) }) {
				return refuse(fmt.Sprintf("partition %q stands in it twice", key), "name each partition once")
			}
		}
	}
	opened := s.Path
	if s.Pattern != nil {
		opened = s.Pattern.Root
	}
	if s.Format == Parquet && datafile.IsPattern(opened) { // DuckDB would read what matches it: other files
		return refuse("a folder on its way has one of * ? [ in its name", "rename the folder, or put the files into another")
	}
	return s, true
}

func hasEnding(file, ending string) bool {
	return len(file) > len(ending) && strings.EqualFold(file[len(file)-len(ending):], ending)
}
