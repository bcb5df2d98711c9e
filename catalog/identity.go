package catalog

import (
	"errors"
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
// what Recheck says, before data is read. A table of another database is known here by its
// name, of which there is one at a time; that database's adapter knows what else shares its
// records.

// A place is where a source is: what its path leads to, if that is known.
type place struct {
	path  string // absolute and clean
	files []fs.FileInfo
	ids   map[any]bool // of those files of which they are known
	twice bool         // a file of those has two names

	// Of a pattern: what it names, or why that is not known.
	listing *datafile.Listing
	err     error
}

func (s Source) locate() place {
	if s.Format == Relation { // all are in one database: see within
		return place{path: "relations of the engine"}
	}
	p := at(s.Path)
	if s.Pattern == nil {
		if info, err := os.Stat(s.Path); err == nil { // if there is none, its path is all that is known
			p.add(info)
		}
		return p
	}
	p.listing, p.err = s.Pattern.List()
	for _, f := range p.listing.Files {
		p.add(f.Info)
	}
	return p
}

func at(path string) place {
	p := place{path: filepath.Clean(path), ids: map[any]bool{}}
	if abs, err := filepath.Abs(p.path); err == nil {
		p.path = abs
	}
	return p
}

// now is what a place has become: which files its paths lead to. That of a pattern has
// those which match it now, too, though they are not read before it is listed again.
func (p place) now(s Source) place {
	if p.listing == nil {
		return s.locate()
	}
	now := at(s.Path)
	for _, f := range p.listing.Files {
		if info, err := os.Stat(f.Path); err == nil {
			now.add(info)
		}
	}
	match := s.locate()
	for _, f := range match.files {
		if !now.has(f) {
			now.add(f)
		}
	}
	now.err = match.err
	return now
}

func (p *place) add(file fs.FileInfo) {
	p.twice = p.twice || p.has(file)
	p.files = append(p.files, file)
	if id := datafile.Identity(file); id != nil {
		p.ids[id] = true
	}
}

// same reports whether two places share a file.
func (p place) same(q place) bool {
	return p.path == q.path || slices.ContainsFunc(p.files, q.has)
}

func (p place) has(file fs.FileInfo) bool {
	if id := datafile.Identity(file); id != nil {
		return p.ids[id]
	}
	return slices.ContainsFunc(p.files, func(f fs.FileInfo) bool { return os.SameFile(f, file) })
}

// Files returns the files of the table's source: of a pattern those that matched when the
// catalog was loaded, so that what it was decided for is what is read. Their information is
// of that time, too.
func (t *Table) Files() (*datafile.Listing, error) {
	t = t.origin()
	switch {
	case t.Source.Pattern == nil:
		return &datafile.Listing{Files: []datafile.File{{Path: t.Source.Path}}}, nil
	case t.found.path == "": // it was never loaded
		return t.Source.Pattern.List()
	}
	if t.found.err != nil {
		return nil, t.found.err
	}
	return t.found.listing, nil
}

// within reports whether two sources of one file can share records: unless both are
// tables of a DuckDB file, and different ones.
func (s Source) within(other Source) bool {
	if s.Format == Relation {
		return s.Table == other.Table && s.Schema == other.Schema
	}
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
	switch {
	case t.found.path != "":
		return t.found
	case t.Source.Format == Relation:
		return t.Source.locate()
	}
	return place{path: filepath.Clean(t.Source.Path)}
}

// sources holds that each source belongs to exactly one unit domain, under one
// unit: otherwise its rows would be paid for from two budgets, or a unit would
// be protected as something smaller than it is.
func (l *loader) sources() {
	var sound []*Table // what is wrong with a table is said once
	for _, t := range l.catalog.Tables {
		if t.Source.Text == "" {
			continue
		}
		if t.found = t.Source.locate(); errors.Is(t.found.err, datafile.ErrTwice) {
			l.refuse("D087", l.tables[t].field("source").value, "%q names a file twice", t.Source.Text).
				Because("%v, and its records would count twice", t.found.err).Try("name each file once: remove the link, or write a narrower pattern")
			continue
		}
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
		if t.Source.Pattern != nil || other.Source.Pattern != nil {
			is = fmt.Sprintf("it has files of the source of table %q, %s", other.Name, other.Source.Text)
		}
	}
	switch {
	case t.Public != other.Public:
		l.refuse("D087", at, "%q is declared both private and public", t.Source.Text).Because("%s", is)
	case t.Domain != other.Domain && t.Domain != nil && other.Domain != nil && !t.shares(other):
		l.refuse("D087", at, "%q is bound to two domains", t.Source.Text).
			Because("%s, and its units have one budget", is).
			Try("to let each domain spend a budget of its own on these records, so that the losses add up, write also_in = [%q]", other.Domain.ID)
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
		return a.Column.Name == b.Column.Name && sameColumns(t, u) && samePartitions(t.Source, u.Source)
	case a.Column.Is != nil || b.Column.Is != nil:
		return false
	}
	if t.Source.Format == JSONLines || t.Source.Format == Relation { // whose members and columns are found as they are written
		return a.Column.Field() == b.Column.Field()
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

// samePartitions reports whether a record has the same partitions in two sources that
// share its file. By another pattern, or by a link, the folders on its way are others.
func samePartitions(s, u Source) bool {
	partitioned := func(s Source) bool { return s.Pattern != nil && len(s.Pattern.Keys) > 0 }
	return s.Path == u.Path || !partitioned(s) && !partitioned(u)
}

// Recheck refuses when a source of one of the named tables, or of any where none is
// named, has become that of another table since the catalog was loaded: a file was replaced by a link, say. What was
// certified for them as two would not hold. Of files that are replaced while a
// statement reads them it can know nothing. Its error is a *diagnostic.Diagnostic.
func (c *Catalog) Recheck(names ...string) error {
	now := make([]place, len(c.Tables))
	for i, t := range c.Tables {
		now[i] = t.origin().place().now(t.Source)
	}
	for i, t := range c.Tables {
		if len(names) > 0 && !slices.Contains(names, t.Name) {
			continue
		}
		if now[i].twice || errors.Is(now[i].err, datafile.ErrTwice) {
			return diagnostic.New("D087", diagnostic.Span{}, "two files of %q have become one", t.Source.Text).
				Because("they were two when the catalog was loaded, and the records of table %q would count twice", t.Name).
				Try("the owner puts the files back in their places, or loads the catalog again")
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
		if t.Public || t.Mapping != nil {
			continue
		}
		now := t.Source.locate()
		if now.has(info) {
			tables = append(tables, t)
		} else if now.err != nil && !errors.Is(now.err, datafile.ErrNoMatch) {
			return nil, fmt.Errorf("list the files of table %s: %w", t.Name, now.err)
		}
	}
	return tables, nil
}
