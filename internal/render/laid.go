package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// Beside selects what a copy of a table has beside the table's columns, over rows r of the table in DuckDB: of each column with bounds its values on the grid,
// as statements ask for them that sum the column within these bounds, and of each with a short list of texts the place in it, as statements number groups
// by it that bound units over the copy. Who changes what a copy has makes other copies: see engine/duckdb, which names them by this text.
func Beside(t *catalog.Table) ([]string, error) {
	r := &renderer{dialect: duckDB{}}
	s := r.scope(func(i int) string { return "r." + quote(t.Columns[i].Name) })
	var out []string
	for _, f := range fixedColumns(t) {
		out = append(out, s.expr(f.grid.Fixed(f.ref(f.column)))+" AS "+f.name)
	}
	for _, p := range placeColumns(t) {
		out = append(out, s.position(s.name(p.column), p.list)+" AS "+p.name)
	}
	return out, r.err
}

// A fixedColumn is what a copy has of a column of its table.
type fixedColumn struct {
	name   string
	column int
	typ    sqltype.Type
	grid   plan.Grid
}

func (f fixedColumn) ref(i int) *plan.Ref { return &plan.Ref{Index: i, T: f.typ} }

// fixedColumns are those of which there is one: where units can have many rows, and bounds are the owner's.
func fixedColumns(t *catalog.Table) (out []fixedColumn) {
	if t.Unit.Kind != catalog.UnitColumn || t.Mapping != nil {
		return nil
	}
	for i, c := range t.Columns {
		if grid, ok := plan.DeclaredGrid(c); ok && !c.Auto {
			out = append(out, fixedColumn{fmt.Sprint(engine.FixedColumn, i), i, c.Type, grid})
		}
	}
	return out
}

// A placeColumn is what a copy has of a column of its table.
type placeColumn struct {
	name   string
	column int
	list   []string
}

// placeColumns are those of which there is one: where units are bounded for each statement, and a list is the owner's.
func placeColumns(t *catalog.Table) (out []placeColumn) {
	if t.Unit.Kind != catalog.UnitColumn || t.Mapping != nil || !t.Bounded() {
		return nil
	}
	for i, c := range t.Columns {
		if c.Type.Kind != sqltype.Text || c.Domain == nil || len(c.Domain.Values) == 0 || len(c.Domain.Values) > positions {
			continue
		}
		p := placeColumn{fmt.Sprint(engine.PlaceColumn, i), i, nil}
		for _, v := range c.Domain.Values {
			if text, ok := v.(string); ok && !strings.Contains(text, "\x00") {
				p.list = append(p.list, text)
			}
		}
		if len(p.list) == len(c.Domain.Values) {
			out = append(out, p)
		}
	}
	return out
}

// position is where a text stands in a list, as groups are numbered by it: from 1 in a short one, as elsewhere, so that hashes are the same, and otherwise from 0.
func (s scope) position(value string, list []string) string {
	if len(list) <= shortList {
		return s.dialect.(placing).place(value, s.texts(list))
	}
	return s.dialect.(totalling).position(value, s.texts(list))
}

// placed is the position of a key, as the copy has it if it was made by the same text.
func (s scope) placed(key plan.Expr, list []string) string {
	value := s.expr(key)
	asked := s.position(value, list)
	if ref, ok := key.(*plan.Ref); ok {
		t, i := source(s.rows, ref.Index)
		if t == nil {
			return asked
		}
		for _, p := range placeColumns(t) {
			if p.column == i && s.position(value, p.list) == asked {
				return p.name
			}
		}
	}
	return asked
}

// fixedIn is the column of a copy that has what e, which is plan.Fixed, makes of each of the rows of n, or "". It is the one that was made by the same text.
func fixedIn(n plan.Node, e *plan.Call) string {
	arg := e.Args[0]
	if c, ok := arg.(*plan.Cast); ok {
		arg = c.Arg
	}
	ref, ok := arg.(*plan.Ref)
	if !ok {
		return ""
	}
	t, i := source(n, ref.Index)
	if t == nil {
		return ""
	}
	for _, f := range fixedColumns(t) {
		if f.column != i || f.typ != ref.T {
			continue
		}
		asked, err := Exprs([]plan.Expr{e})
		has, failed := Exprs([]plan.Expr{f.grid.Fixed(f.ref(ref.Index))})
		if err == nil && failed == nil && slices.Equal(asked, has) {
			return f.name
		}
	}
	return ""
}

// source is the table of whose rows a relation is made, one of each, and which of the table's columns its column i is as it stands there; nil if it is none.
func source(n plan.Node, i int) (*catalog.Table, int) {
	switch n := n.(type) {
	case *plan.Scan:
		return n.Table, i
	case *plan.Filter:
		return source(n.Input, i)
	case *plan.Project:
		if ref, ok := n.Exprs[i].(*plan.Ref); ok {
			return source(n.Input, ref.Index)
		}
	}
	return nil, 0
}

// laid prints a relation over a copy. It is "" of a relation that is not made of single rows of one table with that unit.
//
// With all, it has all rows of the copy, and beside its columns there are n, the number of the unit, which
// column unit has, m, how many rows it has, and f, whether the row is one of the relation. Otherwise it has the relation's own rows.
// Both have the copy's other columns: see Beside.
func (r *renderer) laid(n plan.Node, unit int, all bool) string {
	switch n := n.(type) {
	case *plan.Scan:
		t := n.Table
		if t.Unit.Kind != catalog.UnitColumn || unit >= len(t.Columns) || t.Columns[unit] != t.Unit.Column || t.Mapping != nil || all && !t.Bounded() {
			return ""
		}
		return allOf(t, list(len(t.Columns), func(i int) string { return quote(t.Columns[i].Name) + " AS " + column(i) }), all)
	case *plan.Filter:
		of := r.laid(n.Input, unit, all)
		switch condition := r.scope(column).expr(n.Condition); {
		case of == "":
			return ""
		case present(n.Condition) == unit: // the rows of a copy have a unit
			return of
		case all:
			return fmt.Sprintf("SELECT * REPLACE (f AND (%s) AS f) FROM (%s) AS t", condition, of)
		default:
			return fmt.Sprintf("SELECT * FROM (%s) AS t WHERE %s", of, condition)
		}
	case *plan.Project:
		if unit >= len(n.Exprs) {
			return ""
		}
		if n.Found != nil {
			if !r.holds || !all || unit != len(n.Found.Columns) {
				return ""
			}
			return allOf(n.Found, r.held(n.Found), all)
		}
		ref, ok := n.Exprs[unit].(*plan.Ref)
		if cast, is := n.Exprs[unit].(*plan.Cast); is && cast.T.IsInteger() { // the unit in the domain's type
			ref, ok = cast.Arg.(*plan.Ref)
		}
		if !ok {
			return ""
		}
		if of := r.laid(n.Input, ref.Index, all); of != "" {
			s := r.scope(column)
			exprs := list(len(n.Exprs), func(i int) string { return as(s.expr(n.Exprs[i]), column(i)) })
			return fmt.Sprintf("SELECT %s FROM (%s) AS t", strings.Join(append([]string{exprs}, beside(tableOf(n), all)...), ", "), of)
		}
	}
	return ""
}

// tableOf is the one table that is read below n.
func tableOf(n plan.Node) *catalog.Table {
	for {
		switch of := n.(type) {
		case *plan.Scan:
			return of.Table
		case *plan.Project:
			if of.Found != nil {
				return of.Found
			}
		}
		n = n.Inputs()[0]
	}
}

// beside are the columns of a relation over a copy beside its own.
func beside(t *catalog.Table, all bool) (columns []string) {
	if all {
		columns = []string{"n", "m", "f"}
	}
	for _, f := range fixedColumns(t) {
		columns = append(columns, f.name)
	}
	for _, p := range placeColumns(t) {
		columns = append(columns, p.name)
	}
	return columns
}

// allOf are the rows of a table's copy.
func allOf(t *catalog.Table, columns string, all bool) string {
	if all {
		columns += fmt.Sprintf(", %s AS n, %s AS m, TRUE AS f", engine.UnitNumber, engine.UnitRows)
	}
	for _, name := range beside(t, false) {
		columns += ", " + name
	}
	return fmt.Sprintf("SELECT %s FROM %s", columns, quote(engine.LaidName(t.Name)))
}

// present is the column of which a condition says that it is not NULL, or -1.
func present(condition plan.Expr) int {
	if not, ok := condition.(*plan.Call); ok && not.Function == plan.Not {
		if null, ok := not.Args[0].(*plan.Call); ok && null.Function == plan.IsNull {
			if ref, ok := null.Args[0].(*plan.Ref); ok {
				return ref.Index
			}
		}
	}
	return -1
}

// keysApart takes from rows the conditions on keys alone, where every row counts. Rows with the same keys are left out together, so
// that groups can be left out in their place: they are fewer.
func keysApart(b *plan.Bounded) (rows plan.Node, among []plan.Expr) {
	for rows = b.Input; b.Whole && b.Shown == nil && len(b.Keys) > 0; {
		f, ok := rows.(*plan.Filter)
		if !ok {
			break
		}
		condition, ok := ofKeys(f.Condition, b.Keys)
		if !ok {
			break
		}
		rows, among = f.Input, append(among, condition)
	}
	return rows, among
}

// ofKeys is an expression in which keys stand by their numbers, if it is a function of keys alone.
func ofKeys(e plan.Expr, keys []plan.Expr) (plan.Expr, bool) {
	if i := slices.Index(keys, e); i >= 0 {
		return &plan.Ref{Index: i, T: e.Type()}, true
	}
	switch e := e.(type) {
	case *plan.Literal:
		return e, true
	case *plan.Call:
		c := *e
		c.Args = make([]plan.Expr, len(e.Args))
		for i, a := range e.Args {
			var ok bool
			if c.Args[i], ok = ofKeys(a, keys); !ok {
				return nil, false
			}
		}
		return &c, true
	}
	return nil, false
}
