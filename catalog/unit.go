package catalog

import (
	"fmt"

	"github.com/discreet-dp/discreet/sqltype"
)

// unit resolves to which privacy unit a table's rows belong.
func (l *loader) unit(t *Table, n *node) {
	if t.Public || n.kind != tableNode {
		return
	}
	f := n.field("unit")
	if f == nil {
		l.missing(n, "unit", `name the column that identifies a unit, or write unit = "row" if each row is one`)
		return
	}
	if f.kind == tableNode {
		l.keys(f, "column", "references")
		c := f.field("column")
		if c == nil {
			l.missing(f, "column", `write { column = "visit_id", references = "visits.visit_id" }`)
			return
		}
		if t.Unit.Column = l.unitColumn(t, c); t.Unit.Column == nil || f.field("references") == nil {
			return
		}
		t.Unit.Kind = UnitReference
		l.reference(t, f.field("references"))
		if f := n.field("max_rows_per_unit"); f != nil {
			l.refuse("D094", f.key, "%q needs the unit in the table itself", f.name).
				Because("the rows beyond it are left out when the table alone is read, and its units are found by a reference").
				Try("declare the other two bounds")
		}
		return
	}
	if s, ok := l.str(f); ok && s == "row" {
		l.rowUnit(t, n)
	} else if ok {
		t.Unit.Column = l.unitColumn(t, f)
	}
}

func (l *loader) rowUnit(t *Table, n *node) {
	t.Unit.Kind = UnitRow
	if _, ambiguous := t.Column("row"); ambiguous {
		l.refuse("D088", n.field("unit").value, `"row" could mean that each row is a unit, or the column row`).
			Try(`write unit = { column = "row" } for the column; for the rows, leave the column undeclared`)
	}
	for _, key := range []string{"max_groups_per_unit", "max_rows_per_group", "max_rows_per_unit", "contribution"} {
		if f := n.field(key); f != nil {
			l.refuse("D094", f.key, "%q has no meaning where each row is a unit", key).
				Because("both bounds are then 1").Try("remove it")
		}
	}
	t.MaxGroups, t.MaxRows, t.MaxUnitRows, t.Auto = 1, 1, 0, false
}

// unitColumn finds the column that names the unit or refers to it.
func (l *loader) unitColumn(t *Table, n *node) *Column {
	name, ok := l.str(n)
	if !ok {
		return nil
	}
	c, ok := t.Column(name)
	if !ok {
		d := l.refuse("D088", n.value, "table %q has no column %q", t.Name, name)
		var known []string
		for _, c := range t.Columns {
			known = append(known, c.Name)
		}
		if suggest(d, name, known); d.Hint == "" {
			d.Try("declare it under [tables.%s.columns]", t.Name)
		}
		return nil
	}
	if l.columns[c] != nil && c.Type.Kind != sqltype.Null && family(c.Type) == "" {
		l.refuse("D088", n.value, "column %q of type %s cannot identify a unit", name, c.Type).
			Because("the same unit must always have the same bits").
			Try("use an integer, text, date, time or timestamp column")
		return nil
	}
	if c.Is == nil && t.Source.Key(c.Field()) >= 0 {
		l.refuse("D088", n.value, "column %q is a partition, and cannot identify a unit", name).
			Because("the list of partitions counts as public, and each would be a unit").
			Try("write the units into the records, and partition by day or place")
		return nil
	}
	return c
}

// family returns the name of the family of types whose values can be the same
// unit, or "" for types that cannot identify one.
func family(t sqltype.Type) string {
	switch {
	case t.IsInteger():
		return "integers"
	case t.Kind == sqltype.Text, t.IsTemporal():
		return t.String()
	}
	return ""
}

// reference resolves "table.column" to the private table that leads to the unit.
func (l *loader) reference(t *Table, n *node) {
	text, ok := l.str(n)
	if !ok {
		return
	}
	target, column := l.resolve(n, text)
	if target == nil {
		return
	}
	switch {
	case target.Public:
		l.refuse("D089", n.value, "table %q is public and has no units", target.Name).
			Try("refer to the private table whose rows carry the unit")
	case t.Domain != nil && target.Domain != nil && t.Domain != target.Domain:
		l.refuse("D089", n.value, "table %q belongs to domain %q, not %q", target.Name, target.Domain.ID, t.Domain.ID).
			Because("a unit belongs to one domain")
	case column.Type.Kind != sqltype.Null && t.Unit.Column.Type.Kind != sqltype.Null && family(column.Type) != family(t.Unit.Column.Type):
		l.refuse("D089", n.value, "column %q of type %s cannot refer to %q of type %s",
			t.Unit.Column.Name, t.Unit.Column.Type, text, column.Type)
	default:
		t.Unit.References, t.Unit.Referred = target, column
	}
}

// units checks what concerns several tables: that references lead to a unit
// and that the units of a domain are comparable.
func (l *loader) units() {
	type origin struct {
		family string
		column string
	}
	first := map[*Domain]origin{}
	for _, t := range l.catalog.Tables {
		if t.Domain == nil || t.Unit.Column == nil {
			continue
		}
		if t.Unit.Kind == UnitReference {
			l.path(t)
			continue
		}
		this := origin{family(t.Unit.Column.Type), fmt.Sprintf("%q of table %q", t.Unit.Column.Name, t.Name)}
		if other, ok := first[t.Domain]; !ok {
			first[t.Domain] = this
		} else if this.family != "" && other.family != "" && this.family != other.family {
			l.refuse("D088", l.tables[t].field("unit").value, "the units of domain %q are of two types", t.Domain.ID).
				Because("here they are of type %s, in column %s they are %s", t.Unit.Column.Type, other.column, other.family).
				Try("give different populations domains of their own, or declare the same type")
		}
	}
}

// path follows a table's references to the table that owns the unit.
func (l *loader) path(t *Table) {
	seen := map[*Table]bool{}
	at := l.tables[t].field("unit").value
	for owner := t; ; owner = owner.Unit.References {
		switch {
		case owner == nil: // refused already
			return
		case seen[owner]:
			l.refuse("D089", at, "the references of table %q go in a circle", t.Name).
				Because("they must end at a table with a column that identifies the unit")
			return
		case owner.Unit.Kind == UnitRow:
			l.refuse("D089", at, "table %q leads to %q, where each row is a unit", t.Name, owner.Name).
				Because("rows have no key that a reference could carry").
				Try("declare the key of %q as its unit", owner.Name)
			return
		case owner.Unit.Kind == UnitColumn:
			return
		}
		seen[owner] = true
	}
}
