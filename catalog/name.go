package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// maxName bounds the bytes of a name.
const maxName = 255

// names calls each for the fields of n, after it has refused names that SQL
// could not tell apart. Names stand as they are written, as if quoted; engines
// fold case, so no two may differ in case alone.
func (l *loader) names(n *node, what string, each func(*node)) {
	seen := map[string]*node{}
	for _, f := range n.fields {
		if f.name == "?" && what != "column" {
			l.refuse("D082", f.key, "the name of this %s is undecided", what).
				Because("only the owner of the data can decide it").Try("write the name that you decide on")
		}
		if first, twice := seen[Fold(f.name)]; twice {
			l.refuse("D085", f.key, "%s %q differs from %q in case alone", what, f.name, first.name).
				Because("SQL does not tell the two names apart")
			continue
		}
		seen[Fold(f.name)] = f
		if why := BadName(f.name); why != "" {
			l.refuse("D085", f.key, "%s cannot be named %q", what, f.name).Because("the name %s", why)
		}
		each(f)
	}
}

// BadName says why a table or column cannot have a name, or returns "".
func BadName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return "is too long"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "contains a control character"
	case !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError):
		return "is not text"
	}
	return ""
}

// reserved are the names and beginnings of names under which engines keep
// tables of their own.
var reserved = struct{ names, prefixes []string }{
	[]string{"information_schema", "main", "temp", "system", "memory"},
	[]string{"pg_", "duckdb_", "sqlite_", "discreet_"},
}

// Reserved reports whether engines keep tables of their own under such a name.
func Reserved(name string) bool {
	name = Fold(name)
	for _, n := range reserved.names {
		if name == n {
			return true
		}
	}
	for _, p := range reserved.prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// Fold maps names that differ in case alone to one name.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return unicode.ToLower(least)
	}, name)
}

// resolve finds the column that a "table.column" names. Both may contain dots,
// so every dot is tried.
func (l *loader) resolve(n *node, text string) (*Table, *Column) {
	var table *Table
	var column *Column
	var known []string
	dotted, tableFound := false, ""
	for i, r := range text {
		if r != '.' {
			continue
		}
		dotted = true
		t, ok := l.catalog.Table(text[:i])
		if !ok {
			continue
		}
		tableFound = t.Name
		known = nil
		for _, c := range t.Columns {
			known = append(known, c.Name)
		}
		c, ok := t.Column(text[i+1:])
		if !ok {
			continue
		}
		if table != nil {
			l.refuse("D089", n.value, "%q names two columns", text).Try("rename a table or column whose name has a dot")
			return nil, nil
		}
		table, column = t, c
	}
	switch {
	case column != nil:
	case !dotted:
		l.refuse("D089", n.value, "%q does not name a table and a column", text).Try(`write "table.column"`)
	case tableFound == "":
		name, _, _ := strings.Cut(text, ".")
		d := l.refuse("D089", n.value, "there is no table %q", name)
		var tables []string
		for _, t := range l.catalog.Tables {
			tables = append(tables, t.Name)
		}
		suggest(d, name, tables)
	default:
		name := strings.TrimPrefix(text, tableFound+".")
		suggest(l.refuse("D089", n.value, "table %q has no column %q", tableFound, name), name, known)
	}
	return table, column
}

// suggest adds the nearest of the known names as the hint.
func suggest(d *diagnostic.Diagnostic, name string, known []string) *diagnostic.Diagnostic {
	if near := diagnostic.Nearest(name, known); near != "" {
		d.Try("did you mean %q?", near)
	}
	return d
}
