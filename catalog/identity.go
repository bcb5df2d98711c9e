package catalog

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// What data a source is, is not in its name: a file is known by its device and
// number, a table of a DuckDB file by that file and its name as DuckDB folds it.
// Everything that holds for a source (one unit, one role, one domain, rows that are
// units once) is decided by SameSource. A file that is not there yet is known by its
// path alone; that no two sources have become one since the catalog was loaded is
// what Recheck says, before data is read.

// A place is where a source is: what its path leads to, if that is known.
type place struct {
	path string      // absolute and clean
	file fs.FileInfo // nil if there is no such file
}

func locate(path string) place {
	p := place{path: filepath.Clean(path)}
	if abs, err := filepath.Abs(p.path); err == nil {
		p.path = abs
	}
	p.file, _ = os.Stat(path) // if there is none, its path is all that is known
	return p
}

func (p place) same(q place) bool {
	return p.path == q.path || p.file != nil && q.file != nil && os.SameFile(p.file, q.file)
}

// within reports whether two sources of one file can share records: unless both are
// tables of a DuckDB file, and different ones.
func (s Source) within(other Source) bool {
	return s.Table == "" || other.Table == "" || Fold(s.Table) == Fold(other.Table) && Fold(s.Schema) == Fold(other.Schema)
}

// origin is the table whose records t's rows are, or are made of.
func (t *Table) origin() *Table {
	for t.Mapping != nil {
		t = t.Mapping.Of
	}
	return t
}

// SameSource reports whether the rows of t and u are, or may be, those of the same
// records: of one file under two names, one table of a database, or made of such by
// code. Records that a file had when the catalog was loaded decide nothing: only which
// file it was.
func (t *Table) SameSource(u *Table) bool {
	t, u = t.origin(), u.origin()
	return t == u || t.Source.within(u.Source) && t.place().same(u.place())
}

// place is where the table was found, or, of one that was never loaded, its path.
func (t *Table) place() place {
	if t.found.path == "" {
		return place{path: filepath.Clean(t.Source.Path)}
	}
	return t.found
}

// sources holds that each source belongs to exactly one unit domain, under one
// unit: otherwise its rows would be paid for from two budgets, or a unit would
// be protected as something smaller than it is.
func (l *loader) sources() {
	var sound []*Table // what is wrong with a table is said once
	for _, t := range l.catalog.Tables {
		if t.Source.Path == "" {
			continue
		}
		t.found = locate(t.Source.Path)
		if !slices.ContainsFunc(sound, func(other *Table) bool { return t.SameSource(other) && l.conflict(t, other) }) {
			sound = append(sound, t)
		}
	}
}

// conflict refuses two tables of one source that disagree on what it is.
func (l *loader) conflict(t, other *Table) bool {
	at := l.tables[t].field("source").value
	is := fmt.Sprintf("table %q declares the same source", other.Name)
	if t.Source.Text != other.Source.Text {
		is = fmt.Sprintf("it is the source of table %q, %s, by another name", other.Name, other.Source.Text)
	}
	switch {
	case t.Public != other.Public:
		l.refuse("D087", at, "%q is declared both private and public", t.Source.Text).Because("%s", is)
	case t.Domain != other.Domain && t.Domain != nil && other.Domain != nil && !t.shares(other):
		l.refuse("D087", at, "%q is bound to two domains", t.Source.Text).
			Because("%s, and its units have one budget", is).
			Try("if each domain shall spend a budget of its own on these records, so that the losses add up: also_in = [%q]", other.Domain.ID)
	case !t.Public && !t.Form.Equal(&other.Form):
		l.refuse("D087", at, "%q is declared to be written in two ways", t.Source.Text).
			Because("%s, and a record that reads otherwise there could be of another unit", is).Try("declare the same [csv] in both tables")
	case t.Domain == other.Domain && !sameUnit(t, other):
		l.refuse("D087", at, "%q is declared with two units", t.Source.Text).Because("%s, with another unit", is)
	default:
		return false
	}
	return true
}

// shares reports whether the owner says of one of two tables that its records are in
// the other's domain as well.
func (t *Table) shares(u *Table) bool {
	return slices.Contains(t.AlsoIn, u.Domain.ID) || slices.Contains(u.AlsoIn, t.Domain.ID)
}

func sameUnit(t, u *Table) bool {
	a, b := t.Unit, u.Unit
	if a.Kind != b.Kind || a.References != b.References || a.Referred != b.Referred || (a.Column == nil) != (b.Column == nil) {
		return false
	}
	switch {
	case a.Column == nil:
		return true
	case a.Column.Is != nil && b.Column.Is != nil:
		// One expression is one unit only if all that it may name is one.
		return a.Column.Is.Text == b.Column.Is.Text && a.Column.Type == b.Column.Type && sameColumns(t, u)
	case a.Column.Is != nil || b.Column.Is != nil:
		return false
	}
	return Fold(a.Column.Field()) == Fold(b.Column.Field())
}

// sameColumns reports whether two tables of a source declare the same columns of it.
func sameColumns(t, u *Table) bool {
	if len(t.Columns) != len(u.Columns) {
		return false
	}
	return !slices.ContainsFunc(t.Columns, func(c *Column) bool {
		d, ok := u.Column(c.Name)
		return !ok || c.From != d.From || c.Type != d.Type || (c.Is == nil) != (d.Is == nil) || c.Is != nil && c.Is.Text != d.Is.Text
	})
}

// Recheck refuses when a source of one of the named tables, or of any where none is
// named, has become that of another table since the catalog was loaded: a file was replaced by a link, say. What was
// certified for them as two would not hold. Of files that are replaced while a
// statement reads them it can know nothing. Its error is a *diagnostic.Diagnostic.
func (c *Catalog) Recheck(names ...string) error {
	now := make([]place, len(c.Tables))
	for i, t := range c.Tables {
		now[i] = locate(t.origin().Source.Path)
	}
	for i, t := range c.Tables {
		if len(names) > 0 && !slices.Contains(names, t.Name) {
			continue
		}
		for j, u := range c.Tables {
			if t.Public && u.Public || t.SameSource(u) || !t.origin().Source.within(u.origin().Source) || !now[i].same(now[j]) {
				continue
			}
			return diagnostic.New("D087", diagnostic.Span{}, "%q and %q have become one file", t.Source.Text, u.Source.Text).
				Because("they were two when the catalog was loaded, and tables %q and %q are taken for two populations of rows", t.Name, u.Name).
				Try("the owner puts the files back in their places, or declares what they are and loads the catalog again")
		}
	}
	return nil
}

// PrivateFile returns the private tables whose source is in the file that a path leads
// to, by whatever name.
func (c *Catalog) PrivateFile(path string) (tables []*Table, err error) {
	info, err := datafile.Stat(path)
	if err != nil {
		return nil, err
	}
	for _, t := range c.Tables {
		if !t.Public && t.Mapping == nil && locate(t.Source.Path).same(place{file: info}) {
			tables = append(tables, t)
		}
	}
	return tables, nil
}
