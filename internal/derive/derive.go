// Package derive gives the SQL of a catalog its meaning: derived columns, which are
// expressions over the columns of one row, and views.
//
// It guarantees that a derived value is a function of one record, bit for bit and
// whatever stands in it: the expression is bound and printed as a statement's are, so
// that it is total, uses the functions of the allow-list alone, and has no aggregate,
// no subquery and nothing that is not determined by the data. A derived column is so
// a projection of the records, which preserves units: the rows of a unit remain a
// function of that unit's records, and a column that identifies the unit may be derived
// too. Nothing here depends on the files: what a source has is seen when it is read.
//
// A name in an expression is
//
//   - a declared column, read or derived, as the type that it is declared with;
//   - otherwise a column of the source, as text: of CSV as it is written, of JSON as its
//     text, of Parquet and DuckDB as DuckDB writes its type;
//   - the column's own name: the source's column of that name, likewise as text.
package derive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Reading says how a table's rows come from its records.
type Reading struct {
	Table  *catalog.Table
	Fields []Field // what is read of each record: the columns that are read come first

	exprs map[*catalog.Column]plan.Expr // over the fields
	says  map[*catalog.Column][]string  // what the names in its expression mean
}

// A Field is a column of the source, as the type that it is read as.
type Field struct {
	Name   string // the source's
	Type   sqltype.Type
	Column *catalog.Column // nil of one that only derived columns use
}

// maxSize bounds an expression with all that it uses, in parts.
const maxSize = 10_000

// Check returns diagnostic.List if an expression or a view of a catalog means nothing.
func Check(c *catalog.Catalog) error {
	var all diagnostic.List
	for _, t := range c.Tables {
		_, problems := read(t)
		all = append(all, problems...)
	}
	for _, v := range c.Views {
		var d *diagnostic.Diagnostic
		if _, err := View(c, v); errors.As(err, &d) {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b *diagnostic.Diagnostic) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return all
}

// Read returns a table's reading. Its error is of type diagnostic.List.
func Read(t *catalog.Table) (*Reading, error) {
	r, problems := read(t)
	if len(problems) > 0 {
		return nil, problems
	}
	return r, nil
}

func read(t *catalog.Table) (*Reading, diagnostic.List) {
	d := &deriver{
		Reading: &Reading{Table: t, exprs: map[*catalog.Column]plan.Expr{}, says: map[*catalog.Column][]string{}},
		texts:   map[*catalog.Column][]string{}, refused: map[*catalog.Column]*diagnostic.Diagnostic{},
	}
	for _, c := range t.Columns {
		if !d.Derived(c) {
			d.exprs[c] = d.field(Field{c.Field(), c.Type, c})
		}
	}
	var problems diagnostic.List
	for _, c := range t.Columns {
		if _, refused := d.column(c); refused != nil && !slices.Contains(problems, refused) {
			problems = append(problems, refused)
		}
	}
	if len(problems) == 0 && len(d.Fields) == 0 {
		c := t.Columns[0]
		problems = append(problems, c.Is.Place(diagnostic.New("D104", diagnostic.Span{End: len(c.Is.Text)}, "table %q reads nothing of its source", t.Name).
			Because("all of its columns are constants")))
	}
	if c := t.Unit.Column; len(problems) == 0 && c != nil && d.Derived(c) && d.ofPartitions(c) {
		problems = append(problems, c.Is.Place(diagnostic.New("D088", diagnostic.Span{End: len(c.Is.Text)}, "column %q is made of partitions alone, and cannot identify a unit", c.Name).
			Because("the list of partitions counts as public, and each would be a unit")))
	}
	return d.Reading, problems
}

// ofPartitions reports whether a column is a function of partitions, and of no record.
func (r *Reading) ofPartitions(c *catalog.Column) bool {
	uses := r.Uses(c)
	return len(uses) > 0 && !slices.ContainsFunc(uses, func(i int) bool { return r.Table.Source.Key(r.Fields[i].Name) < 0 })
}

// Derived reports whether a column is. The rows of a mapped table are made by code.
func (r *Reading) Derived(c *catalog.Column) bool { return c.Is != nil && r.Table.Mapping == nil }

// Plain reports whether no column is derived: then the fields are the columns.
func (r *Reading) Plain() bool { return !slices.ContainsFunc(r.Table.Columns, r.Derived) }

// Uses returns the fields of which a column is made, by their places.
func (r *Reading) Uses(c *catalog.Column) (fields []int) {
	plan.Walk(r.exprs[c], func(e plan.Expr) bool {
		if ref, ok := e.(*plan.Ref); ok && !slices.Contains(fields, ref.Index) {
			fields = append(fields, ref.Index)
		}
		return true
	})
	slices.Sort(fields)
	return fields
}

// Columns returns SQL of DuckDB: see ColumnsIn.
func (r *Reading) Columns() ([]string, error) { return r.ColumnsIn(render.DuckDB) }

// ColumnsIn returns SQL that computes each of the table's columns over a relation whose
// columns c0, c1, ... are the fields, in canonical form.
func (r *Reading) ColumnsIn(d render.Dialect) ([]string, error) {
	exprs := make([]plan.Expr, len(r.Table.Columns))
	for i, c := range r.Table.Columns {
		exprs[i] = r.exprs[c]
	}
	return d.Exprs(exprs)
}

// Beside selects what a copy of a table has beside the table's columns: see render.Beside.
func Beside(t *catalog.Table) ([]string, error) { return render.Beside(t) }

// Definition says of what a column is made, down to the source: for records of what a
// catalog declared. It stays the same as long as the owner's words do.
func (r *Reading) Definition(c *catalog.Column) string {
	if !r.Derived(c) {
		return fmt.Sprintf("%q as %s", c.Field(), c.Type)
	}
	return strings.Join(append([]string{fmt.Sprintf("%q as %s", c.Is.Text, c.Type)}, r.says[c]...), ", ")
}
