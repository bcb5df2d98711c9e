package stability

import (
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
)

// join: a join of two private relations is unit-preserving if only rows of one
// unit meet: the condition must equate the unit's key, or follow the declared
// reference by which one table finds its unit in the other. The rewriter adds
// the equality of the two relations' own units to every such join, so the rule
// here decides what is meant, not what is safe.
//
// A join with a public relation copies or drops rows of a unit one by one. An
// outer join may not preserve a public side: whether a public row stays
// unmatched depends on all units at once. A released relation is public, since it is computed before: see Stage.
func (a *analysis) join(n *plan.Join) (*relation, error) {
	if sooner := sifted(n); sooner != nil {
		return a.node(sooner)
	}
	n = a.named(n)
	l, err := a.node(n.Left)
	if err != nil {
		return nil, err
	}
	r, err := a.node(n.Right)
	if err != nil {
		return nil, err
	}
	out := &relation{node: &plan.Join{Kind: n.Kind, Left: l.node, Right: r.node, On: n.On, Span: n.Span}, state: max(l.state, r.state)}
	if out.state != private {
		return out, nil
	}
	for _, side := range []**relation{&l, &r} {
		if (*side).state == released {
			if *side, err = a.staged(*side); err != nil {
				return nil, err
			}
		}
	}
	out.node = &plan.Join{Kind: n.Kind, Left: l.node, Right: r.node, On: n.On, Span: n.Span}
	width := len(n.Left.Columns())
	if n.Kind == plan.Semi || n.Kind == plan.Anti {
		return a.semiJoin(n, l, r, out, width)
	}
	if l.state == private && r.state == private {
		if err := sameRowTable(l, r, n); err != nil {
			return nil, err
		}
		if !a.meetsOnUnit(n, l, r, width) {
			return nil, offUnit(n, l, r)
		}
		out.tables = append(l.tables[:len(l.tables):len(l.tables)], r.tables...)
		out.maxGroups = both(l.maxGroups, r.maxGroups, larger)
		out.maxRows = both(l.maxRows, r.maxRows, rowsOf(n, l, r, width))
		out.rowsPerUnit = both(l.rowsPerUnit, r.rowsPerUnit, saturatingMultiply)
		if n.Kind == plan.Full {
			// If none of a unit's rows meet, all of both sides stay: l + r, which
			// exceeds l·r where one of them is 1.
			out.rowsPerUnit = max(out.rowsPerUnit, both(l.rowsPerUnit, r.rowsPerUnit, saturatingAdd))
		}
		out.unit, out.halves = map[int]bool{}, map[int]int{}
		for c := range l.unit {
			switch n.Kind {
			case plan.Inner, plan.Left, plan.Cross:
				out.unit[c] = true
			default:
				out.halves[c] = 1
			}
		}
		for c := range r.unit {
			switch n.Kind {
			case plan.Inner, plan.Right, plan.Cross:
				out.unit[width+c] = true
			default:
				out.halves[width+c] = 2
			}
		}
		return out, nil
	}
	side, offset, preserved := l, 0, plan.Left
	if r.state == private {
		side, offset, preserved = r, width, plan.Right
	}
	if n.Kind != plan.Inner && n.Kind != plan.Cross && n.Kind != preserved {
		return nil, diagnostic.New("D042", n.Span, "%s JOIN keeps unmatched rows of a public table beside private rows", n.Kind).
			Because("whether a public row stays unmatched depends on everybody's rows at once").
			Try("use an inner join, or preserve the private side; groups of a public domain appear even when they are empty")
	}
	out.tables, out.maxGroups, out.maxRows = side.tables, side.maxGroups, side.maxRows
	if other := map[bool]*relation{true: r, false: l}[side == l]; other.one {
		out.rowsPerUnit = side.rowsPerUnit // one row copies none
	}
	out.unit, out.halves = map[int]bool{}, map[int]int{}
	for c := range side.unit {
		out.unit[offset+c] = true
	}
	for c, h := range side.halves {
		out.halves[offset+c] = h
	}
	return out, nil
}

// semiJoin: x IN (SELECT ...) and EXISTS keep or drop rows of the left side.
func (a *analysis) semiJoin(n *plan.Join, l, r, out *relation, width int) (*relation, error) {
	switch {
	case l.state != private:
		return nil, diagnostic.New("D042", n.Span, "public rows filtered by private ones").
			Because("which public rows remain depends on everybody's rows at once").
			Try("start from the private table and join the public one")
	case r.state == private:
		if err := sameRowTable(l, r, n); err != nil {
			return nil, err
		}
		if !a.meetsOnUnit(n, l, r, width) {
			return nil, offUnit(n, l, r)
		}
	}
	kept := *l
	kept.node = out.node
	kept.tables = append(l.tables[:len(l.tables):len(l.tables)], r.tables...)
	return &kept, nil
}

// rowsOf returns what R is for a join of two private relations: as many rows as each row of one may meet of the
// other, the product, unless the condition follows a declared reference. Then a row of the child meets one
// of the parent, so that there are as many rows as the child has, and those of a preserved parent that meet none.
//
// Nothing needs to be proved of the data: R is enforced at the aggregation, whatever it is. Where the parent's key is not unique,
// rows are lost, and no more is revealed. What is only believed by construction, rowsPerUnit, stays the product.
//
// Where the parent has been joined with others of its unit, a row of the child meets as many rows as these have.
func rowsOf(n *plan.Join, l, r *relation, width int) func(l, r int64) int64 {
	// Where a unit has one row on one side, its rows on the other side meet that alone.
	switch {
	case r.rowsPerUnit == 1 && (n.Kind == plan.Inner || n.Kind == plan.Left):
		return func(l, _ int64) int64 { return l }
	case l.rowsPerUnit == 1 && (n.Kind == plan.Inner || n.Kind == plan.Right):
		return func(_, r int64) int64 { return r }
	}
	for _, c := range conjuncts(n.On) {
		i, j, ok := equated(c, width)
		if !ok {
			continue
		}
		lt, lc := origin(n.Left, i)
		rt, rc := origin(n.Right, j)
		var child func(l, r int64) int64
		var preserved bool // the parent's rows
		switch {
		case follows(lt, lc, rt, rc) && beside(r, rt) > 0:
			child, preserved = func(l, _ int64) int64 { return saturatingMultiply(l, beside(r, rt)) }, n.Kind == plan.Right || n.Kind == plan.Full
		case follows(rt, rc, lt, lc) && beside(l, lt) > 0:
			child, preserved = func(_, r int64) int64 { return saturatingMultiply(r, beside(l, lt)) }, n.Kind == plan.Left || n.Kind == plan.Full
		default:
			continue
		}
		if preserved {
			return saturatingAdd
		}
		return child
	}
	return saturatingMultiply
}

// beside is how many rows a row of a table stands beside in a relation that is joined of it and others, each once; 0
// where that is not known. Alone it is one.
func beside(r *relation, t *catalog.Table) int64 {
	product, seen := int64(1), 0
	for _, u := range r.tables {
		if product = saturatingMultiply(product, max(u.MaxRows, 1)); u == t {
			seen++
		}
	}
	if seen != 1 || len(r.tables) > 1 && product != r.maxRows {
		return 0
	}
	return product / max(t.MaxRows, 1)
}

// equated returns the columns of both sides that a conjunct equates.
func equated(conjunct plan.Expr, width int) (i, j int, ok bool) {
	eq := equality(conjunct)
	if eq == nil {
		return 0, 0, false
	}
	x, y := unwiden(eq.Args[0]), unwiden(eq.Args[1])
	if x == nil || y == nil {
		return 0, 0, false
	}
	if x.Index >= width {
		x, y = y, x
	}
	return x.Index, y.Index - width, x.Index < width && y.Index >= width
}

// meetsOnUnit reports whether a conjunct of the join condition equates the
// units' keys, or a reference with the column that it refers to, or two that stand for the same one.
func (a *analysis) meetsOnUnit(n *plan.Join, l, r *relation, width int) bool {
	for _, c := range conjuncts(n.On) {
		i, j, ok := equated(c, width)
		if !ok {
			continue
		}
		if (l.unit[i] || l.halves[i] != 0) && (r.unit[j] || r.halves[j] != 0) {
			return true
		}
		lt, lc := origin(n.Left, i)
		rt, rc := origin(n.Right, j)
		if follows(lt, lc, rt, rc) || follows(rt, rc, lt, lc) {
			return true
		}
		if key := a.identified(lt, lc); key != nil && key == a.identified(rt, rc) {
			return true
		}
	}
	return false
}

// equality returns the equation that a conjunct is: x = y, or, from NOT IN,
// x = y OR (x = y) IS NULL, or, from INTERSECT and EXCEPT, NOT (x IS DISTINCT FROM y), which are
// the same of units, since they are not NULL.
func equality(e plan.Expr) *plan.Call {
	c, ok := e.(*plan.Call)
	switch {
	case ok && c.Function == plan.Equal:
		return c
	case ok && c.Function == plan.Not:
		if distinct, ok := c.Args[0].(*plan.Call); ok && distinct.Function == plan.DistinctFrom {
			return distinct
		}
	case ok && c.Function == plan.Or:
		if null, ok := c.Args[1].(*plan.Call); ok && null.Function == plan.IsNull && null.Args[0] == c.Args[0] {
			return equality(c.Args[0])
		}
	}
	return nil
}

// follows reports whether column c of t is the reference by which t's rows
// find their unit, and d of u the column that it refers to.
func follows(t *catalog.Table, c *catalog.Column, u *catalog.Table, d *catalog.Column) bool {
	return t != nil && u != nil && t.Unit.Kind == catalog.UnitReference &&
		t.Unit.Column == c && t.Unit.References == u && t.Unit.Referred == d
}

// origin returns the table column that output column i of n is a copy of.
func origin(n plan.Node, i int) (*catalog.Table, *catalog.Column) {
	switch n := n.(type) {
	case *plan.Scan:
		return n.Table, n.Table.Columns[i]
	case *plan.Project:
		if ref := unwiden(n.Exprs[i]); ref != nil {
			return origin(n.Input, ref.Index)
		}
	case *plan.Join:
		if left := len(n.Left.Columns()); i < left {
			return origin(n.Left, i)
		} else {
			return origin(n.Right, i-left)
		}
	case *plan.Filter:
		return origin(n.Input, i)
	case *plan.Window:
		if i < len(n.Input.Columns()) {
			return origin(n.Input, i)
		}
	case *plan.Sort:
		return origin(n.Input, i)
	case *plan.Aggregate:
		if i < len(n.Keys) {
			if ref := unwiden(n.Keys[i]); ref != nil {
				return origin(n.Input, ref.Index)
			}
		}
	}
	return nil, nil
}

// unwiden returns the reference below casts between integer types, or nil.
func unwiden(e plan.Expr) *plan.Ref {
	switch e := e.(type) {
	case *plan.Ref:
		return e
	case *plan.Cast:
		if e.T.IsInteger() && e.Arg.Type().IsInteger() {
			return unwiden(e.Arg)
		}
	}
	return nil
}

func conjuncts(e plan.Expr) []plan.Expr {
	if c, ok := e.(*plan.Call); ok && c.Function == plan.And {
		var all []plan.Expr
		for _, arg := range c.Args {
			all = append(all, conjuncts(arg)...)
		}
		return all
	}
	if e == nil {
		return nil
	}
	return []plan.Expr{e}
}

func offUnit(n *plan.Join, l, r *relation) error {
	d := diagnostic.New("D046", n.Span, "private tables %q and %q are joined on something other than their unit", l.tables[0].Name, r.tables[0].Name).
		Because("rows of different units would meet, so that removing one unit could change another's rows")
	lu, ru := unitName(l), unitName(r)
	if lu == "" || ru == "" {
		return d.Try("join along the declared reference, or aggregate each side by its unit first")
	}
	if lu == ru { // a table and itself: its names in the statement are other ones
		column := l.tables[0].Unit.Column.Name
		return d.Try("add the equality of the units to the condition, as a.%s = b.%s where the two are called a and b", column, column)
	}
	return d.Try("add the equality of the units to the condition: %s = %s", lu, ru)
}

func unitName(r *relation) string {
	t := r.tables[0]
	if t.Unit.Kind == catalog.UnitColumn && len(r.unit) > 0 {
		return t.Name + "." + t.Unit.Column.Name
	}
	return ""
}
