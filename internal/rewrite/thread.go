package rewrite

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// thread returns n with the unit's key as one more, last, column, if n reads a
// private table; a public relation is returned as it is. Rows whose unit is
// NULL or does not resolve are dropped. Rows that are units themselves get a key
// of their own if their table is among rows; otherwise no caller reads it.
//
// Every join of two private relations gets the equality of their units, so
// that only rows of one unit meet whatever the condition says and whether or
// not a referenced key is unique.
func thread(n plan.Node, rows []*catalog.Table) plan.Node {
	if !plan.ReadsPrivate(n) {
		return n
	}
	switch n := n.(type) {
	case *plan.Scan:
		return threadScan(n, rows)
	case *plan.Filter:
		return &plan.Filter{Input: thread(n.Input, rows), Condition: n.Condition, Span: n.Span}
	case *plan.Project:
		input := thread(n.Input, rows)
		return &plan.Project{Input: input, Exprs: with(n.Exprs, last(input)), Names: with(n.Names, unitName), Span: n.Span}
	case *plan.Union:
		u := &plan.Union{Span: n.Span}
		for _, b := range n.Branches {
			u.Branches = append(u.Branches, thread(b, rows))
		}
		return u
	case *plan.Aggregate:
		return threadAggregate(n, rows)
	case *plan.Window:
		return threadWindow(n, rows)
	case *plan.Join:
		return threadJoin(n, rows)
	}
	panic(fmt.Sprintf("rewrite: no unit can be threaded through %T", n))
}

const unitName = "unit"

func with[T any](list []T, more ...T) []T { return append(list[:len(list):len(list)], more...) }

// last refers to the last column of n.
func last(n plan.Node) plan.Expr {
	cols := n.Columns()
	c := cols[len(cols)-1]
	return &plan.Ref{Index: len(cols) - 1, Name: c.Name, T: c.Type}
}

func refs(n plan.Node) (exprs []plan.Expr, names []string) {
	for i, c := range n.Columns() {
		exprs = append(exprs, &plan.Ref{Index: i, Name: c.Name, T: c.Type})
		names = append(names, c.Name)
	}
	return exprs, names
}

// rowTables lists the tables below n whose unit is the row.
func rowTables(n plan.Node) []*catalog.Table {
	var out []*catalog.Table
	if s, ok := n.(*plan.Scan); ok && !s.Table.Public && s.Table.Unit.Kind == catalog.UnitRow {
		out = append(out, s.Table)
	}
	for _, in := range n.Inputs() {
		out = append(out, rowTables(in)...)
	}
	return out
}

func threadScan(n *plan.Scan, rows []*catalog.Table) plan.Node {
	exprs, names := refs(n)
	t := n.Table
	switch t.Unit.Kind {
	case catalog.UnitRow:
		var key plan.Expr = &plan.Literal{Value: int64(0), T: bigint}
		if i := slices.Index(rows, t); i >= 0 {
			number := &plan.Literal{Value: int64(i), T: bigint}
			key = call(plan.RowKey, sqltype.Of(sqltype.Text), append([]plan.Expr{number}, exprs...)...)
		}
		return &plan.Project{Input: n, Exprs: with(exprs, key), Names: with(names, unitName), Span: n.Span}
	case catalog.UnitReference:
		// The row's unit is that of the row it refers to. Where the referred
		// key is not unique each copy carries its own unit, which is sound.
		owner := thread(&plan.Scan{Table: t.Unit.References}, rows)
		referred := column(t.Unit.References, t.Unit.Referred)
		keyed := &plan.Project{Input: owner, Exprs: []plan.Expr{referred, last(owner)}, Names: []string{referred.Name, unitName}}
		reference := column(t, t.Unit.Column)
		on := equal(reference, &plan.Ref{Index: len(exprs), Name: referred.Name, T: referred.T})
		joined := &plan.Join{Kind: plan.Inner, Left: n, Right: keyed, On: on, Span: n.Span}
		return &plan.Project{Input: joined, Exprs: with(exprs, last(joined)), Names: with(names, unitName), Found: t, Span: n.Span}
	}
	var key plan.Expr = column(t, t.Unit.Column)
	if key.Type().IsInteger() && key.Type() != bigint {
		key = &plan.Cast{Arg: key, T: bigint} // one encoding for all tables of the domain
	}
	keyed := &plan.Project{Input: n, Exprs: with(exprs, key), Names: with(names, unitName), Span: n.Span}
	present := call(plan.Not, boolean, call(plan.IsNull, boolean, last(keyed)))
	return &plan.Filter{Input: keyed, Condition: present, Span: n.Span}
}

func column(t *catalog.Table, c *catalog.Column) *plan.Ref {
	for i, known := range t.Columns {
		if known == c {
			return &plan.Ref{Index: i, Name: c.Name, T: c.Type}
		}
	}
	panic("rewrite: column " + c.Name + " is not of table " + t.Name)
}

// equal compares two keys, integers in their widest type.
func equal(a, b plan.Expr) plan.Expr {
	widen := func(e plan.Expr) plan.Expr {
		if e.Type().IsInteger() && e.Type().Kind != sqltype.Bigint {
			return &plan.Cast{Arg: e, T: bigint}
		}
		return e
	}
	return call(plan.Equal, boolean, widen(a), widen(b))
}

// threadAggregate adds the unit to the keys of a per-unit aggregation. The
// groups are the same: a key that the certificate took for the unit's is it.
func threadAggregate(n *plan.Aggregate, rows []*catalog.Table) plan.Node {
	input := thread(n.Input, rows)
	keys := len(n.Keys)
	grouped := &plan.Aggregate{Input: input, Keys: with(n.Keys, last(input)), Names: with(n.Names, unitName),
		Aggregations: n.Aggregations, Span: n.Span}
	exprs, names := refs(grouped)
	unit := exprs[keys]
	exprs = with(append(exprs[:keys:keys], exprs[keys+1:]...), unit)
	names = with(append(names[:keys:keys], names[keys+1:]...), unitName)
	return &plan.Project{Input: grouped, Exprs: exprs, Names: names, Span: n.Span}
}

// threadWindow adds the unit to each partition. The partitions are the same: a key that the
// certificate took for the unit's is it.
func threadWindow(n *plan.Window, rows []*catalog.Table) plan.Node {
	input := thread(n.Input, rows)
	w := &plan.Window{Input: input, Span: n.Span}
	for _, f := range n.Functions {
		f.Partition = with(f.Partition, last(input))
		w.Functions = append(w.Functions, f)
	}
	exprs, names := refs(w)
	at := len(input.Columns()) - 1 // the unit stands between the input's columns and the functions
	return &plan.Project{Input: w, Exprs: with(append(exprs[:at:at], exprs[at+1:]...), exprs[at]),
		Names: with(append(names[:at:at], names[at+1:]...), unitName), Span: n.Span}
}

func threadJoin(n *plan.Join, rows []*catalog.Table) plan.Node {
	l, r := thread(n.Left, rows), thread(n.Right, rows)
	lw, rw := len(n.Left.Columns()), len(n.Right.Columns())
	lp, rp := plan.ReadsPrivate(n.Left), plan.ReadsPrivate(n.Right)
	shift := 0
	if lp {
		shift = 1 // the left unit's column stands between the two sides
	}
	joined := &plan.Join{Kind: n.Kind, Left: l, Right: r, Span: n.Span}
	joined.On = plan.Map(n.On, func(ref *plan.Ref) plan.Expr {
		if ref.Index < lw {
			return ref
		}
		moved := *ref
		moved.Index += shift
		return &moved
	})
	leftUnit := &plan.Ref{Index: lw, Name: unitName}
	rightUnit := &plan.Ref{Index: lw + shift + rw, Name: unitName}
	if lp {
		leftUnit.T = last(l).Type()
	}
	if rp {
		rightUnit.T = last(r).Type()
	}
	if lp && rp {
		joined.On = call(plan.And, boolean, joined.On, equal(leftUnit, rightUnit))
	}
	if n.Kind == plan.Semi || n.Kind == plan.Anti {
		return joined // the left columns, the unit last among them
	}
	var exprs []plan.Expr
	var names []string
	for i, c := range n.Columns() {
		at := i
		if i >= lw {
			at += shift
		}
		exprs, names = append(exprs, &plan.Ref{Index: at, Name: c.Name, T: c.Type}), append(names, c.Name)
	}
	var unit plan.Expr
	switch {
	case !rp:
		unit = leftUnit
	case !lp || n.Kind == plan.Right:
		unit = rightUnit
	case n.Kind == plan.Full:
		unit = call(plan.Coalesce, leftUnit.T, leftUnit, rightUnit)
	default:
		unit = leftUnit
	}
	return &plan.Project{Input: joined, Exprs: with(exprs, unit), Names: with(names, unitName), Span: n.Span}
}
