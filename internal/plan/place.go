package plan

import (
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Move gives all of a plan one place: of text that is not the statement's.
func Move(n Node, at diagnostic.Span) {
	var exprs []Expr
	switch n := n.(type) {
	case *Scan:
		n.Span = at
	case *Values:
		n.Span = at
		for _, row := range n.Rows {
			exprs = append(exprs, row...)
		}
	case *Filter:
		n.Span = at
		exprs = append(exprs, n.Condition)
	case *Project:
		n.Span = at
		exprs = append(exprs, n.Exprs...)
	case *Join:
		n.Span = at
		exprs = append(exprs, n.On)
	case *Union:
		n.Span = at
	case *Aggregate:
		n.Span = at
		exprs = append(exprs, n.Keys...)
		if n.Sets != nil {
			exprs = append(exprs, n.Sets.Keys...)
		}
		for i := range n.Aggregations {
			n.Aggregations[i].Span = at
			exprs = append(exprs, n.Aggregations[i].Arg, n.Aggregations[i].Filter)
		}
	case *Window:
		n.Span = at
		for i := range n.Functions {
			n.Functions[i].Span = at
			exprs = append(exprs, n.Functions[i].Exprs()...)
		}
	case *Sort:
		n.Span = at
		for _, k := range n.Keys {
			exprs = append(exprs, k.Expr)
		}
	case *Limit:
		n.Span = at
	case *Stage:
		n.Span = at
	}
	for _, e := range exprs {
		Walk(e, func(e Expr) bool {
			switch e := e.(type) {
			case *Ref:
				e.Span = at
			case *Literal:
				e.Span = at
			case *Call:
				e.Span = at
			case *Case:
				e.Span = at
			case *Cast:
				e.Span = at
			}
			return true
		})
	}
	for _, in := range n.Inputs() {
		Move(in, at)
	}
}

// Source returns the declared column that a column of a node is, unchanged, or nil: a table's
// or a view's.
func Source(n Node, i int) *catalog.Column {
	switch n := n.(type) {
	case *Scan:
		return n.Table.Columns[i]
	case *Project:
		if c := n.Declares(i); c != nil {
			return c
		}
		if r, ok := n.Exprs[i].(*Ref); ok {
			return Source(n.Input, r.Index)
		}
	case *Join:
		if left := len(n.Left.Columns()); i >= left {
			return Source(n.Right, i-left)
		}
		return Source(n.Left, i)
	case *Filter:
		return Source(n.Input, i)
	case *Window:
		if i < len(n.Input.Columns()) {
			return Source(n.Input, i)
		}
	case *Sort:
		return Source(n.Input, i)
	case *Limit:
		return Source(n.Input, i)
	}
	return nil
}

// ReadsPrivate reports whether a plan reads a private table.
func ReadsPrivate(n Node) bool {
	if s, ok := n.(*Scan); ok {
		return !s.Table.Public
	}
	return slices.ContainsFunc(n.Inputs(), ReadsPrivate)
}
