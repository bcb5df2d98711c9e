package stability

import (
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
)

// A table whose unit is found by a reference has a column that names a row of another table, by
// a column that is declared to be a key there: lineitem.order names orders.id. Rows that agree in
// either belong to one unit, so that GROUP BY them keeps each group within one unit, and a join on
// them joins rows of one unit.
//
// Nothing needs to be true of the data for that. The rewriter adds the unit's own key to the keys of
// each aggregation, and its equality to each join, so that rows of two units never share a group and never
// meet. Where the key that is referred to is not unique, groups are finer than the statement says, and
// rows of different units that the statement would join are not: the answer differs, and no more is revealed.

// references notes the columns that tables of the statement refer to.
func (a *analysis) references(n plan.Node) {
	if s, ok := n.(*plan.Scan); ok && !s.Table.Public && s.Table.Unit.Kind == catalog.UnitReference {
		a.referred[s.Table.Unit.Referred] = true
	}
	for _, in := range n.Inputs() {
		a.references(in)
	}
}

// identified is the column of the table referred to by which a column tells the unit of a row: a reference's, or
// that column itself; or nil.
func (a *analysis) identified(t *catalog.Table, c *catalog.Column) *catalog.Column {
	switch {
	case t == nil || c == nil || t.Public:
		return nil
	case t.Unit.Kind == catalog.UnitReference && t.Unit.Column == c:
		return t.Unit.Referred
	case a.referred[c]:
		return c
	}
	return nil
}

// keyOf is what an expression over a node identifies, if it is such a column and not NULL for being
// unmatched: NULLs of several units are no group of one.
func (a *analysis) keyOf(n plan.Node, e plan.Expr) *catalog.Column {
	ref := unwiden(e)
	if ref == nil || unmatched(n, ref.Index) {
		return nil
	}
	return a.identified(origin(n, ref.Index))
}

// unmatched reports whether output column i of n may be NULL because an outer join found no row for it.
func unmatched(n plan.Node, i int) bool {
	switch n := n.(type) {
	case *plan.Project:
		ref := unwiden(n.Exprs[i])
		return ref == nil || unmatched(n.Input, ref.Index)
	case *plan.Join:
		if left := len(n.Left.Columns()); i >= left {
			return n.Kind == plan.Left || n.Kind == plan.Full || unmatched(n.Right, i-left)
		}
		return n.Kind == plan.Right || n.Kind == plan.Full || unmatched(n.Left, i)
	case *plan.Aggregate:
		if i < len(n.Keys) {
			ref := unwiden(n.Keys[i])
			return ref == nil || unmatched(n.Input, ref.Index)
		}
	}
	return slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return i < len(in.Columns()) && unmatched(in, i) })
}
