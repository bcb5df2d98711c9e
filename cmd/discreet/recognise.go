package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A private source is recognised when it is given as a plain file, by whatever name, link
// or folder: what it costs, and who is told, must not depend on how it is called.

// private returns the private tables whose source a file is, and the catalog that declares
// them: the one that the flags name, or one beside the file. A catalog that is there and
// cannot be read is an error, since it could declare the file.
func (w *workplace) private(path string) (declared string, tables []*catalog.Table, err error) {
	candidates := []string{cmp.Or(w.catalogPath, "discreet.toml"), filepath.Join(filepath.Dir(path), "discreet.toml")}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		candidates = append(candidates, filepath.Join(filepath.Dir(real), "discreet.toml"))
	}
	var seen []fs.FileInfo
	for _, candidate := range candidates {
		info, err := os.Stat(candidate)
		if errors.Is(err, fs.ErrNotExist) || err == nil && slices.ContainsFunc(seen, func(s fs.FileInfo) bool { return os.SameFile(s, info) }) {
			continue
		}
		seen = append(seen, info)
		c, err := catalog.Load(candidate)
		if err != nil {
			return "", nil, err
		}
		tables, err := c.PrivateFile(path)
		if err != nil {
			return "", nil, unreadable(path, err)
		}
		if len(tables) > 0 {
			return candidate, tables, nil
		}
	}
	return "", nil, nil
}

// isPrivate says which tables a file is.
func isPrivate(path string, tables []*catalog.Table) *diagnostic.Diagnostic {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	return diagnostic.New("D166", diagnostic.Span{}, "%s is the source of private table %s", path, strings.Join(names, " and ")).
		Because("what is read of it is charged, or recorded, as the table is, whatever the file is called")
}

// recognise reads a private source that was given as a file as the table that it is.
func (e *exampleFlags) recognise(w *workplace) error {
	for _, path := range []string{e.csv, e.images, e.labels} {
		if path == "" {
			continue
		}
		declared, tables, err := w.private(path)
		if err != nil {
			return err
		}
		if len(tables) == 0 {
			continue
		}
		d, t := isPrivate(path, tables), tables[0]
		switch {
		case e.public:
			return d.Try("leave --public-data away: the catalog says that the data are private")
		case !e.asTable || path != e.csv:
			return d.Try("--table %s", t.Name)
		case len(tables) > 1:
			return d.Try("--table says which of them is meant")
		case e.unit != "" && (t.Unit.Column == nil || t.Unit.Kind != catalog.UnitColumn || t.Unit.Column.Name != e.unit):
			return d.Try("leave --unit away: the catalog says what the unit is")
		case w.catalog != nil && w.catalogPath != declared:
			return d.Try("name one catalog that declares all of the data")
		}
		w.catalogPath = declared
		e.table, e.file, e.csv, e.unit = t.Name, path, "", ""
	}
	return nil
}

// tell says that a file was recognised.
func (e *exampleFlags) tell(t *terminal) {
	if e.file != "" {
		t.say("%s is the source of private table %s, and read as that", e.file, e.table)
	}
}
