package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/sqltype"
)

// A Mapping is what makes a table's rows of another table's: code that nobody
// trusts, which sees one record, or all records of one unit, and nothing else.
//
// The rows of a unit are then a function of that unit's records alone, so the
// mapped table is as unit-preserving as a projection, and what a unit may
// contribute is bounded where it is aggregated, as everywhere.
type Mapping struct {
	Of *Table // the private table whose records the code sees
	// Columns are those of Of that the code sees, in this order.
	Columns []*Column
	// ByUnit says that the code sees all of a unit's records at once, not one.
	ByUnit bool
	// Outputs is how many rows the code makes at most of what it sees at once. Of
	// more, the first count.
	Outputs int64
	// Code stands for the code with all that it depends on, in histories: a hash.
	Code string
}

// MapOptions describe a table to be mapped.
type MapOptions struct {
	Name    string   // of the new table
	Of      string   // the private table
	Columns []string // that the code sees
	ByUnit  bool     // needs a table whose unit is a column
	Code    string   // see Mapping

	// Keys are the keys that the code may give a row, if it gives any: a complete
	// public domain. The rows have a column key then, of type text.
	Keys []string
	// Lower and Upper bound the column value, of type double.
	Lower, Upper float64
	// Outputs is how many rows the code makes at most of what it sees at once;
	// 1 if 0.
	Outputs int64
	// MaxGroups and MaxRows are the new table's contribution bounds; if 0, what Of's
	// amount to when every record becomes Outputs rows.
	MaxGroups, MaxRows int64
}

// The names of a mapped table's columns, after the unit's.
const (
	MappedKey   = "key"
	MappedValue = "value"
	MappedUnit  = "unit" // where the units of Of are its rows, and a row may become several
)

// A Sealed error refuses a column that code may not see.
type Sealed struct {
	Table  *Table
	Column *Column
	Others []string // the columns of the table that it may see
}

func (e *Sealed) Error() string {
	return fmt.Sprintf("column %q of table %q is shown to no code", e.Column.Name, e.Table.Name)
}

// sealed reports whether code may not see a column. Where the owner does not say, a column is sealed
// that reads what a sealed one reads, under another name or in another table of the same source, and
// one that is computed in a table of which any column is sealed: its expression may name that one.
func (c *Catalog) sealed(of *Table, column *Column) bool {
	if column.Mapped != nil {
		return !*column.Mapped
	}
	for _, t := range c.Tables {
		if t.Mapping != nil || !t.SameSource(of) {
			continue
		}
		for _, other := range t.Columns {
			same := column.Is != nil || other.Is == nil && Fold(other.Field()) == Fold(column.Field())
			if other.Mapped != nil && !*other.Mapped && same {
				return true
			}
		}
	}
	return false
}

func (c *Catalog) unsealed(of *Table) (names []string) {
	for _, column := range of.Columns {
		if !c.sealed(of, column) && column.Type.Kind != sqltype.IntervalKind {
			names = append(names, column.Name)
		}
	}
	return names
}

// Map returns a catalog with one more table. Nothing is read.
func (c *Catalog) Map(o MapOptions) (*Catalog, error) {
	of, ok := c.Table(o.Of)
	if !ok || of.Public {
		var names []string
		for _, t := range c.Tables {
			if !t.Public {
				names = append(names, t.Name)
			}
		}
		return nil, fmt.Errorf("there is no private table %q; there is %s", o.Of, strings.Join(names, ", "))
	}
	if of.Mapping != nil {
		return nil, fmt.Errorf("table %q is itself mapped", o.Of)
	}
	if _, taken := c.Table(o.Name); taken || o.Name == "" || Reserved(o.Name) || Fold(o.Name) != o.Name {
		return nil, fmt.Errorf("%q cannot be the name of a mapped table", o.Name)
	}
	m := &Mapping{Of: of, ByUnit: o.ByUnit, Outputs: cmp.Or(o.Outputs, 1), Code: o.Code}
	if len(o.Columns) == 0 {
		return nil, fmt.Errorf("no columns of %q are named for the code to see", o.Of)
	}
	for _, name := range o.Columns {
		column, ok := of.Column(name)
		if !ok {
			return nil, fmt.Errorf("table %q has no column %q", o.Of, name)
		}
		if slices.Contains(m.Columns, column) {
			return nil, fmt.Errorf("column %q is named twice", name)
		}
		if c.sealed(of, column) {
			return nil, &Sealed{Table: of, Column: column, Others: c.unsealed(of)}
		}
		if column.Type.Kind == sqltype.IntervalKind {
			return nil, fmt.Errorf("column %q is an interval, and those have no total order", name)
		}
		m.Columns = append(m.Columns, column)
	}
	if m.Outputs < 1 || o.MaxGroups < 0 || o.MaxRows < 0 || max(m.Outputs, o.MaxGroups, o.MaxRows) > maxBound {
		return nil, fmt.Errorf("outputs and contribution bounds must lie between 1 and %d", int64(maxBound))
	}
	if !(o.Lower < o.Upper) || o.Upper-o.Lower > 1e300 {
		return nil, fmt.Errorf("the value's bounds %v and %v are not in order, or not finite", o.Lower, o.Upper)
	}

	t := &Table{Name: o.Name, Source: of.Source, Domain: of.Domain, Unit: of.Unit, Mapping: m}
	if err := t.addUnit(m); err != nil {
		return nil, err
	}
	if o.Keys != nil {
		keys, err := domainOf(o.Keys)
		if err != nil {
			return nil, err
		}
		t.Columns = append(t.Columns, &Column{Name: MappedKey, Type: sqltype.Of(sqltype.Text), Domain: keys})
	}
	t.Columns = append(t.Columns, &Column{Name: MappedValue, Type: sqltype.Of(sqltype.Double), Lower: o.Lower + 0, Upper: o.Upper + 0})
	for i, column := range t.Columns {
		for _, other := range t.Columns[:i] {
			if Fold(column.Name) == Fold(other.Name) {
				return nil, fmt.Errorf("the unit of %q is in a column named %q, which a mapped table has already", o.Of, other.Name)
			}
		}
	}
	if t.Unit.Kind == UnitRow {
		t.MaxGroups, t.MaxRows = 1, 1
	} else {
		t.MaxGroups, t.MaxRows = o.bounds(m)
	}
	out := *c
	out.Tables = append(slices.Clone(c.Tables), t)
	return &out, nil
}

// addUnit gives t the column that carries the unit, if any.
func (t *Table) addUnit(m *Mapping) error {
	switch of := m.Of; {
	case m.ByUnit && of.Unit.Kind != UnitColumn:
		return fmt.Errorf("table %q has no column with its units, so code cannot see all records of a unit in one call", of.Name)
	case of.Unit.Kind == UnitRow && m.Outputs == 1:
	case of.Unit.Kind == UnitRow:
		// A row that becomes several needs a name for all of them.
		unit := &Column{Name: MappedUnit, Type: sqltype.Of(sqltype.Text)}
		t.Unit, t.Columns = Unit{Kind: UnitColumn, Column: unit}, []*Column{unit}
	default:
		t.Columns = []*Column{of.Unit.Column}
	}
	return nil
}

// bounds are the new table's contribution bounds. Nobody's privacy depends on their
// size, since they are enforced; 0 where neither options nor owner say anything.
func (o MapOptions) bounds(m *Mapping) (groups, rows int64) {
	seen := func(declared int64) int64 {
		if m.ByUnit || m.Of.Unit.Kind == UnitRow {
			declared = 1
		}
		return min(declared*m.Outputs, maxBound)
	}
	groups = cmp.Or(o.MaxGroups, min(seen(m.Of.MaxGroups), int64(max(1, len(o.Keys)))))
	return groups, cmp.Or(o.MaxRows, seen(m.Of.MaxRows))
}

func domainOf(keys []string) (*PublicDomain, error) {
	if len(keys) == 0 || len(keys) > MaxDomain {
		return nil, fmt.Errorf("there must be between 1 and %d keys", MaxDomain)
	}
	d := &PublicDomain{}
	for _, k := range keys {
		if why := BadName(k); why != "" {
			return nil, fmt.Errorf("%q cannot be a key: it %s", k, why)
		}
		d.Values = append(d.Values, k)
	}
	slices.SortFunc(d.Values, sqltype.Compare)
	if len(slices.CompactFunc(slices.Clone(d.Values), func(a, b sqltype.Value) bool { return a == b })) < len(keys) {
		return nil, fmt.Errorf("a key is given twice")
	}
	return d, nil
}
