package input

import (
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A private source that is given as a plain file is recognised under any name, link or folder. What
// it costs, and who may see the result, must not depend on its name.

// isPrivate returns the tables whose source a file is.
func isPrivate(path string, tables []*catalog.Table) *diagnostic.Diagnostic {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	return diagnostic.New("D166", diagnostic.Span{}, "%s is the source of private table %s", path, strings.Join(names, " and ")).
		Because("reading it is charged, or recorded, like reading the table, whatever the file is called")
}

// recognise treats a file that is a private source as its table.
func (e *Examples) recognise(w *workplace.Workplace) error {
	for _, path := range []string{e.CSV, e.Images, e.Labels} {
		if path == "" {
			continue
		}
		declared, tables, err := w.Private(path)
		if err != nil {
			return err
		}
		if len(tables) == 0 {
			continue
		}
		d, t := isPrivate(path, tables), tables[0]
		switch {
		case e.Public:
			return d.Try("leave --public-data out: the catalog says that the data are private")
		case !e.AsTable || path != e.CSV:
			return d.Try("--table %s", t.Name)
		case len(tables) > 1:
			return d.Try("name one of them with --table")
		case e.Unit != "" && (t.Unit.Column == nil || t.Unit.Kind != catalog.UnitColumn || t.Unit.Column.Name != e.Unit):
			return d.Try("leave --unit out: the catalog says what the unit is")
		case w.Catalog != nil && w.CatalogPath != declared:
			return d.Try("name one catalog that declares all of the data")
		}
		w.CatalogPath = declared
		e.Table, e.File, e.CSV, e.Unit = t.Name, path, "", ""
	}
	return nil
}

// Tell reports that a file was recognised.
func (e *Examples) Tell(t *terminal.Terminal) {
	if e.File != "" {
		t.Say("%s is the source of private table %s, and read as that", e.File, e.Table)
	}
}
