package stability

import "github.com/discreet-dp/discreet/internal/plan"

// Emptied returns the plan, or, where its result has no row whatever the data are, one that says so
// over constants alone. Programs learn the columns of a table or of a statement in this way: SELECT *
// FROM t WHERE 1 = 0, or LIMIT 0.
//
// Theorem: if the node n at which Emptied stops has no row, neither has the result. Proof: n is LIMIT 0,
// or a filter by a condition that is FALSE or NULL by its constants, so it has no row for any input.
// Each node between it and the root (projection, filter, order, limit, window) has at most one row
// for each row of its input. So the result is the empty relation with the plan's columns, a function of
// the catalog and the text: it reveals nothing of any unit, and nothing is charged.
//
// An aggregation ends the walk: without keys it has a row of its own, and over the keys of a
// complete domain it has a row for each of them.
func Emptied(root plan.Node) plan.Node {
	for n := root; ; n = n.Inputs()[0] {
		switch n := n.(type) {
		case *plan.Limit:
			if n.Count == 0 {
				return &plan.Limit{Input: nothing(root), Count: 0, Span: n.Span}
			}
		case *plan.Filter:
			if neverTrue(n.Condition) {
				never := &plan.Literal{Value: false, T: n.Condition.Type(), Span: n.Condition.Place()}
				return &plan.Filter{Input: nothing(root), Condition: never, Span: n.Span}
			}
		case *plan.Project, *plan.Sort, *plan.Window:
		default:
			return root
		}
	}
}

// nothing has the columns of a node and one row of NULLs.
func nothing(n plan.Node) plan.Node {
	p := &plan.Project{Input: &plan.Values{Rows: [][]plan.Expr{{}}, Span: n.Place()}, Span: n.Place()}
	for _, c := range n.Columns() {
		p.Names, p.Exprs = append(p.Names, c.Name), append(p.Exprs, &plan.Literal{T: c.Type, Span: n.Place()})
	}
	return p
}
