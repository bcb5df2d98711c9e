// Package declaration is what a catalog declares, as analysts are told it: of tables and
// views the columns, types, bounds and public domains, and never where the data are. It reads
// no data.
package declaration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// EachRow is the Unit of a table whose every row is a unit of its own.
const EachRow = "each row"

// A Table is what an analyst is told of a table or a view.
type Table struct {
	Table     string `json:"table"`
	View      string `json:"view,omitempty"` // the query that it stands for
	Public    bool   `json:"public"`
	Domain    string `json:"domain,omitempty"`
	Unit      string `json:"unit,omitempty"`
	MaxGroups int64  `json:"max_groups_per_unit,omitempty"`
	MaxRows   int64  `json:"max_rows_per_group,omitempty"`
	UnitRows  int64  `json:"max_rows_per_unit,omitempty"`
	// Contribution is "auto" where tighter ones may have been found, and a column's Bounds likewise.
	Contribution string   `json:"contribution,omitempty"`
	Budget       string   `json:"budget,omitempty"`
	Columns      []Column `json:"columns"`
}

// A Column is what an analyst is told of a column.
type Column struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Lower  string `json:"lower,omitempty"`
	Upper  string `json:"upper,omitempty"`
	Bounds string `json:"bounds,omitempty"`
	Domain string `json:"domain,omitempty"`
	Is     string `json:"is,omitempty"` // what a derived column is computed from
}

// Tables are the declarations of the table or view of a name, or of all if the name is empty.
// Of a public domain at most so many values are listed. Of a part of a catalog, nothing tells
// what else there is.
func Tables(c *catalog.Catalog, name string, most int) ([]Table, error) {
	all := []Table{}
	var names []string
	for _, table := range c.Tables {
		if names = append(names, table.Name); name == "" || name == table.Name {
			all = append(all, ofTable(c, table, most))
		}
	}
	for _, view := range c.Views {
		if names = append(names, view.Name); name != "" && name != view.Name {
			continue
		}
		d, err := ofView(c, view, most)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	if name != "" && len(all) == 0 {
		d := diagnostic.New("D010", diagnostic.Span{}, "unknown table %s", name).Because("the catalog does not declare it").Try("there are %s", strings.Join(names, ", "))
		if near := diagnostic.Nearest(name, names); near != "" {
			d.Try("did you mean %s?", near)
		}
		return nil, d
	}
	return all, nil
}

func ofTable(c *catalog.Catalog, t *catalog.Table, most int) Table {
	d := Table{Table: t.Name, Public: t.Public, MaxGroups: t.MaxGroups, MaxRows: t.MaxRows, UnitRows: t.MaxUnitRows}
	if t.Auto {
		d.Contribution = "auto"
	}
	if !t.Public {
		b := t.Domain
		d.Domain, d.Unit = b.ID, EachRow
		d.Budget = fmt.Sprintf("%s, %s, epsilon %s", b.Neighbours, b.Measure, b.Epsilon)
		if b.Delta.Sign() > 0 {
			d.Budget += fmt.Sprintf(", delta %s", b.Delta)
		}
		switch t.Unit.Kind {
		case catalog.UnitColumn:
			d.Unit = t.Unit.Column.Name
		case catalog.UnitReference:
			d.Unit = fmt.Sprintf("%s, by way of %s", t.Unit.Column.Name, named(c, t.Unit.References, t.Unit.Referred))
		}
	}
	for _, of := range t.Columns {
		column := Column{Name: of.Name, Type: of.Type.String()}
		if column.bounds(c, of, most); of.Is != nil {
			column.Is = of.Is.Text
		}
		d.Columns = append(d.Columns, column)
	}
	return d
}

// bounds says of a column what is declared of c.
func (d *Column) bounds(c *catalog.Catalog, of *catalog.Column, most int) {
	if d.Domain = domain(c, of, most); of.Lower != nil {
		d.Lower, d.Upper = sqltype.Format(of.Lower), sqltype.Format(of.Upper)
		if of.Auto {
			d.Bounds = "auto"
		}
	}
}

// named is a column of a table, if that can be seen.
func named(c *catalog.Catalog, t *catalog.Table, column *catalog.Column) string {
	if !sees(c, t) {
		return "another table"
	}
	return t.Name + "." + column.Name
}

func sees(c *catalog.Catalog, t *catalog.Table) bool {
	_, ok := c.Table(t.Name)
	return ok
}

// ofView says what a view's columns are; of those that are a table's, with their bounds and
// domains.
func ofView(c *catalog.Catalog, v *catalog.View, most int) (Table, error) {
	d := Table{Table: v.Name, View: v.Query.Text}
	n, err := derive.View(c.Whole(), v)
	if err != nil {
		return d, err
	}
	if !seesAll(c, n) {
		d.View = "a query over tables that are not listed"
	}
	d.Public = !plan.ReadsPrivate(n)
	for i, column := range n.Columns() {
		out := Column{Name: column.Name, Type: column.Type.String()}
		if of := plan.Source(n, i); of != nil {
			out.bounds(c, of, most)
		}
		d.Columns = append(d.Columns, out)
	}
	return d, nil
}

// seesAll reports whether all tables that a plan reads can be seen.
func seesAll(c *catalog.Catalog, n plan.Node) bool {
	if s, ok := n.(*plan.Scan); ok && !sees(c, s.Table) {
		return false
	}
	return !slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return !seesAll(c, in) })
}

func domain(c *catalog.Catalog, of *catalog.Column, most int) string {
	d := of.Domain
	switch {
	case d == nil:
		return ""
	case d.FromTable != nil:
		return "the values of " + named(c, d.FromTable, d.FromColumn)
	case d.Step != nil:
		return fmt.Sprintf("%s to %s in steps of %s", numeric.FormatRat(d.Lower), numeric.FormatRat(d.Upper), numeric.FormatRat(d.Step))
	}
	values := make([]string, min(len(d.Values), most))
	for i := range values {
		values[i] = sqltype.Format(d.Values[i])
	}
	if more := len(d.Values) - len(values); more > 0 {
		values = append(values, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(values, ", ")
}
