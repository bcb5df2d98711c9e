package stability

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// Where a release is joined on all of its keys with columns of public tables, its other groups meet nothing:
//
//	FROM visits v JOIN departments d ON ... WHERE v.cost > (SELECT avg(cost) FROM visits x WHERE x.department = d.name)
//
// So it is made of the groups alone that public rows name: their keys are numbered, 1 to n, the number is the release's
// one key, whose domain is complete, and what is released is joined with the keys of that number. This is a statement that could
// have been written so, and proved as it stands: private rows joined with public ones, grouped by a public column's
// values, and a join of a release. Rows of other groups are dropped before any bound, no delta is spent on choosing
// groups, and of two keys only those pairs that there are make groups.
//
// The public rows are a superset of those that the release is joined with: conditions that private columns have a part
// in are left out. They are read and numbered once, before anything is charged, and are constants from then on, a Stage over no
// release: a public table that changes meanwhile gives no group the name of another.

// named gives an aggregation that a join reads the public rows by which its groups are named, if there are any.
func (a *analysis) named(n *plan.Join) *plan.Join {
	width := len(n.Left.Columns())
	var equal []naming
	for _, c := range conjuncts(n.On) {
		if i, j, ok := equated(c, width); ok {
			equal = append(equal, naming{i, j, equality(c).Function == plan.DistinctFrom})
		}
	}
	if len(equal) == 0 {
		return n
	}
	switch n.Kind {
	case plan.Inner, plan.Left, plan.Semi:
		if right := nameGroups(n.Right, n.Left, equal); right != nil {
			return &plan.Join{Kind: n.Kind, Left: n.Left, Right: right, On: n.On, Span: n.Span}
		}
	}
	switch n.Kind {
	case plan.Inner, plan.Right:
		for i, e := range equal {
			equal[i].other, equal[i].own = e.own, e.other
		}
		if left := nameGroups(n.Left, n.Right, equal); left != nil {
			return &plan.Join{Kind: n.Kind, Left: left, Right: n.Right, On: n.On, Span: n.Span}
		}
	}
	return n
}

// sifted keeps the public rows that a semi-join with public ones keeps before they are joined with what is released, where the condition is on
// them alone: so that no more groups are named than are wanted. Whether a row is kept depends on it alone, so that the two commute. It is
// nil where there is nothing of the kind.
func sifted(n *plan.Join) plan.Node {
	if n.Kind != plan.Semi || plan.ReadsPrivate(n.Right) || !plan.ReadsPrivate(n.Left) {
		return nil
	}
	var sift func(plan.Node) plan.Node
	sift = func(below plan.Node) plan.Node {
		switch below := below.(type) {
		case *plan.Filter:
			if input := sift(below.Input); input != nil {
				return &plan.Filter{Input: input, Condition: below.Condition, Span: below.Span}
			}
		case *plan.Join:
			if below.Kind != plan.Inner && below.Kind != plan.Left || plan.ReadsPrivate(below.Left) {
				return nil
			}
			before, now := len(n.Left.Columns()), len(below.Left.Columns())
			at := map[int]int{}
			for i := range now {
				at[i] = i
			}
			for i := range n.Right.Columns() {
				at[before+i] = now + i
			}
			if on := over(n.On, at, 0); on != nil {
				return &plan.Join{Kind: below.Kind, Left: &plan.Join{Kind: plan.Semi, Left: below.Left, Right: n.Right, On: on, Span: n.Span}, Right: below.Right, On: below.On, Span: below.Span}
			}
		}
		return nil
	}
	return sift(n.Left)
}

// A naming equates a column of the public rows with one of the aggregation.
type naming struct {
	other, own int
	null       bool // by IS NOT DISTINCT FROM, so that NULL names the group of NULL
}

// nameGroups returns a relation whose aggregation over private rows has as groups those that the public rows of another
// name. It is nil if a key is not named.
func nameGroups(n, by plan.Node, equal []naming) plan.Node {
	switch n := n.(type) {
	case *plan.Project:
		var below []naming
		for _, e := range equal {
			if ref := unwiden(n.Exprs[e.own]); ref != nil {
				below = append(below, naming{e.other, ref.Index, e.null})
			}
		}
		if input := nameGroups(n.Input, by, below); input != nil {
			out := *n
			out.Input = input
			return &out
		}
	case *plan.Filter: // HAVING: of groups, each by itself
		if input := nameGroups(n.Input, by, equal); input != nil {
			return &plan.Filter{Input: input, Condition: n.Condition, Span: n.Span}
		}
	case *plan.Aggregate:
		if n.Sets != nil || len(n.Keys) == 0 || !plan.ReadsPrivate(n) {
			return nil
		}
		var columns []int
		var null []bool
		for i, k := range n.Keys {
			at := -1
			for _, e := range equal {
				if e.own == i && (k.Type().IsInteger() || by.Columns()[e.other].Type == k.Type() && numbers(k.Type())) {
					at = len(columns)
					columns, null = append(columns, e.other), append(null, e.null)
					break
				}
			}
			if at < 0 {
				return nil
			}
		}
		public, at := publicRows(by, columns)
		if public == nil {
			return nil
		}
		out := *n
		out.Among = &plan.Among{Numbered: numberedKeys(public, columns, at, n), Null: null, Beside: plan.ReadsPrivate(by)}
		return &out
	}
	return nil
}

// numbers reports whether keys of a type are numbered in one order by every engine.
func numbers(t sqltype.Type) bool {
	return t.Kind == sqltype.Text || t.Kind == sqltype.DateKind || t.Kind == sqltype.Boolean
}

// publicRows returns a public relation in which the rows of n are, as far as these columns go, and where it has them. It is
// nil if they are not of public rows. They are numbered in a scratch instance, and the engine may join the same rows with what is
// released, so that they are rows that both have alike: conditions of which that is not known are left out, as those of private columns are.
func publicRows(n plan.Node, columns []int) (public plan.Node, at map[int]int) {
	if !plan.ReadsPrivate(n) && alike(n) {
		at = map[int]int{}
		for i := range n.Columns() {
			at[i] = i
		}
		return n, at
	}
	switch n := n.(type) {
	case *plan.Filter:
		if public, at = publicRows(n.Input, columns); public == nil {
			return nil, nil
		}
		for _, c := range conjuncts(n.Condition) {
			if moved := over(c, at, 0); moved != nil && exact(moved) {
				public = &plan.Filter{Input: public, Condition: moved, Span: n.Span}
			}
		}
		return public, at
	case *plan.Project:
		below := make([]int, len(columns))
		for i, c := range columns {
			ref, ok := n.Exprs[c].(*plan.Ref)
			if !ok {
				return nil, nil
			}
			below[i] = ref.Index
		}
		public, in := publicRows(n.Input, below)
		if public == nil {
			return nil, nil
		}
		at = map[int]int{}
		for i, e := range n.Exprs {
			if ref, ok := e.(*plan.Ref); ok {
				if j, ok := in[ref.Index]; ok {
					at[i] = j
				}
			}
		}
		return public, at
	case *plan.Join:
		left, right := len(n.Left.Columns()), 0
		below := make([]int, len(columns))
		for i, c := range columns {
			if below[i] = c; c >= left {
				right, below[i] = right+1, c-left
			}
		}
		switch {
		case n.Kind == plan.Semi || n.Kind == plan.Anti || right == 0:
			return publicRows(n.Left, below)
		case right == len(columns):
			public, in := publicRows(n.Right, below)
			at = map[int]int{}
			for i, j := range in {
				at[i+left] = j
			}
			return public, at
		}
	}
	return nil, nil
}

// alike reports whether every engine has the same rows of a public relation: those that its tables have, chosen by comparisons.
func alike(n plan.Node) bool {
	exprs := []plan.Expr{}
	switch n := n.(type) {
	case *plan.Scan, *plan.Union, *plan.Sort:
	case *plan.Values:
		for _, row := range n.Rows {
			exprs = append(exprs, row...)
		}
	case *plan.Filter:
		exprs = append(exprs, n.Condition)
	case *plan.Project:
		exprs = n.Exprs
	case *plan.Join:
		if n.On != nil {
			exprs = append(exprs, n.On)
		}
	case *plan.Aggregate:
		if exprs = n.Keys; len(n.Aggregations) > 0 || n.Sets != nil {
			return false
		}
	default:
		return false
	}
	return !slices.ContainsFunc(exprs, func(e plan.Expr) bool { return !exact(e) }) &&
		!slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return !alike(in) })
}

// exact reports whether every engine computes the same: comparisons of columns and constants, bit for bit. What letters are in upper
// case, and the last digits of a logarithm, are an engine's own.
func exact(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Ref, *plan.Literal:
		return true
	case *plan.Cast:
		return e.T.IsInteger() && e.Arg.Type().IsInteger() && exact(e.Arg)
	case *plan.Call:
		switch e.Function {
		case plan.And, plan.Or, plan.Not, plan.IsNull, plan.Equal, plan.NotEqual, plan.Less, plan.LessOrEqual, plan.Greater, plan.GreaterOrEqual, plan.DistinctFrom, plan.In, plan.Like:
			return !slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return !exact(a) })
		}
	}
	return false
}

// over is an expression over other columns; nil where one has no place.
func over(e plan.Expr, at map[int]int, shift int) plan.Expr {
	ok := true
	moved := plan.Map(e, func(ref *plan.Ref) plan.Expr {
		i, there := at[ref.Index]
		ok = ok && there
		out := *ref
		out.Index = i + shift
		return &out
	})
	if !ok {
		return nil
	}
	return moved
}

// numberedKeys are the distinct keys that public rows name, and behind them their number in their order.
func numberedKeys(public plan.Node, columns []int, at map[int]int, of *plan.Aggregate) plan.Node {
	distinct := &plan.Aggregate{Input: public, Span: of.Span}
	var order []plan.SortKey
	for i, c := range columns {
		col := public.Columns()[at[c]]
		distinct.Keys = append(distinct.Keys, &plan.Ref{Index: at[c], Name: col.Name, T: col.Type, Span: of.Span})
		distinct.Names = append(distinct.Names, of.Names[i])
		order = append(order, plan.SortKey{Expr: &plan.Ref{Index: i, Name: of.Names[i], T: col.Type, Span: of.Span}})
	}
	return &plan.Window{Input: distinct, Span: of.Span, Functions: []plan.WindowFunction{
		{Function: plan.RowNumber, Order: order, Name: "number", Type: sqltype.Of(sqltype.Bigint), Span: of.Span}}}
}

// narrows reports whether an aggregation is to be released of the groups that public rows name: where its own are chosen
// privately or may be too many.
func (a *analysis) narrows(n *plan.Aggregate) (bool, error) {
	if n.Among == nil || len(n.Keys) == 1 && !n.Among.Beside {
		return false, nil
	}
	keys, complete, err := a.groupedBy(n)
	if err != nil {
		return false, err
	}
	all, known := cells(keys)
	return n.Among.Beside && !complete || complete && (!known || all > MaxStage), nil
}

// releaseNamed releases an aggregation of the groups that public rows name.
func (a *analysis) releaseNamed(n *plan.Aggregate) (*relation, error) {
	public, err := a.node(n.Among.Numbered)
	if err != nil {
		return nil, err
	}
	numbered := a.stage(&Stage{Plan: public.node}, n.Span)
	width, keys := len(n.Input.Columns()), len(n.Keys)
	cols := numbered.Columns()
	of := func(i, shift int) *plan.Ref {
		return &plan.Ref{Index: shift + i, Name: cols[i].Name, T: cols[i].Type, Span: n.Span}
	}
	join := &plan.Join{Kind: plan.Inner, Left: n.Input, Right: numbered, Span: n.Span}
	for i, k := range n.Keys {
		join.On = conjunction(join.On, sameKey(k, of(i, width), n.Among.Null[i], n))
	}
	out := *n
	out.Input, out.Among = join, &plan.Among{Numbered: numbered, Number: true}
	out.Keys, out.Names = []plan.Expr{of(keys, width)}, []string{cols[keys].Name}
	r, err := a.aggregate(&out)
	if err != nil {
		return nil, err
	}
	back := &plan.Join{Kind: plan.Inner, Left: r.node, Right: numbered, Span: n.Span}
	columns := len(out.Columns())
	back.On = sameKey(&plan.Ref{Index: 0, Name: cols[keys].Name, T: cols[keys].Type, Span: n.Span}, of(keys, columns), false, n)
	project := &plan.Project{Input: back, Span: n.Span}
	for i, k := range n.Keys {
		var e plan.Expr = of(i, columns)
		if e.Type() != k.Type() {
			e = &plan.Cast{Arg: e, T: k.Type(), Span: n.Span}
		}
		project.Exprs, project.Names = append(project.Exprs, e), append(project.Names, n.Names[i])
	}
	for i, g := range n.Aggregations {
		project.Exprs = append(project.Exprs, &plan.Ref{Index: 1 + i, Name: g.Name, T: g.Type, Span: g.Span})
		project.Names = append(project.Names, g.Name)
	}
	return &relation{node: project, state: released}, nil
}

func conjunction(a, b plan.Expr) plan.Expr {
	if a == nil {
		return b
	}
	return &plan.Call{Function: plan.And, Args: []plan.Expr{a, b}, T: sqltype.Of(sqltype.Boolean), Span: b.Place()}
}

// sameKey equates two keys, integers in their widest type; where null says so, NULL with NULL.
func sameKey(x, y plan.Expr, null bool, at *plan.Aggregate) plan.Expr {
	widest := func(e plan.Expr) plan.Expr {
		if t := sqltype.Of(sqltype.Bigint); e.Type().IsInteger() && e.Type() != t {
			return &plan.Cast{Arg: e, T: t, Span: at.Span}
		}
		return e
	}
	args, boolean := []plan.Expr{widest(x), widest(y)}, sqltype.Of(sqltype.Boolean)
	if null {
		distinct := &plan.Call{Function: plan.DistinctFrom, Args: args, T: boolean, Span: at.Span}
		return &plan.Call{Function: plan.Not, Args: []plan.Expr{distinct}, T: boolean, Span: at.Span}
	}
	return &plan.Call{Function: plan.Equal, Args: args, T: boolean, Span: at.Span}
}
