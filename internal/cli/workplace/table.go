package workplace

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// NoTable refuses, by a code, a name that no table of the catalog has, where the rows of a
// table are read and no statement is asked: a view has none of its own.
func (w *Workplace) NoTable(code, name string) *diagnostic.Diagnostic {
	if view, is := w.Catalog.View(name); is {
		return diagnostic.New(code, diagnostic.Span{}, "%s is a view, and only statements read views", view.Name).
			Because("this reads the records of a table, each of which is its unit's").
			Try("name the table that it selects from, and declare there, as derived columns, what it computes. If it leaves rows out, write the others to a file and declare that as a table")
	}
	var names []string
	for _, t := range w.Catalog.Tables {
		names = append(names, t.Name)
	}
	d := diagnostic.New(code, diagnostic.Span{}, "the catalog has no table %q", name)
	if near := diagnostic.Nearest(name, names); near != "" {
		return d.Try("did you mean %s?", near)
	}
	return d.Try("it has %s", strings.Join(names, ", "))
}
