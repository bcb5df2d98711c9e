package plan

import "github.com/discreet-dp/discreet/catalog"

// Used returns the columns of tables that expressions over a node's columns depend on.
func Used(n Node, exprs ...Expr) map[*catalog.Column]bool {
	u := usage{columns: map[*catalog.Column]bool{}}
	u.node(n, u.refs(map[int]bool{}, exprs...))
	return u.columns
}

// Shown returns the columns of tables whose values expressions over a node's columns are made of. Of what decides alone
// which rows there are, as conditions do, nothing is shown.
func Shown(n Node, exprs ...Expr) map[*catalog.Column]bool {
	u := usage{columns: map[*catalog.Column]bool{}, values: true}
	u.node(n, u.refs(map[int]bool{}, exprs...))
	return u.columns
}

type usage struct {
	columns map[*catalog.Column]bool
	values  bool // those alone of which values are made
}

// refs adds the columns that expressions refer to.
func (u usage) refs(columns map[int]bool, exprs ...Expr) map[int]bool {
	for _, e := range exprs {
		Walk(e, func(e Expr) bool {
			if r, ok := e.(*Ref); ok {
				columns[r.Index] = true
			}
			return true
		})
	}
	return columns
}

// node notes what some of n's columns, and which rows there are, depend on.
func (u usage) node(n Node, columns map[int]bool) {
	var exprs []Expr // over the input
	switch n := n.(type) {
	case *Scan:
		for i := range columns {
			u.columns[n.Table.Columns[i]] = true
		}
		return
	case *Join:
		if !u.values {
			u.refs(columns, n.On)
		}
		left := len(n.Left.Columns())
		sides := [2]map[int]bool{{}, {}}
		for i := range columns {
			if i < left {
				sides[0][i] = true
			} else {
				sides[1][i-left] = true
			}
		}
		u.node(n.Left, sides[0])
		u.node(n.Right, sides[1])
		return
	case *Project:
		for i := range columns {
			exprs = append(exprs, n.Exprs[i])
		}
		columns = map[int]bool{}
	case *Aggregate:
		for i, k := range n.Keys {
			if columns[i] || !u.values {
				exprs = append(exprs, k)
			}
		}
		for i := range columns {
			if i >= len(n.Keys) {
				a := n.Aggregations[i-len(n.Keys)]
				if exprs = append(exprs, a.Arg); !u.values {
					exprs = append(exprs, a.Filter)
				}
			}
		}
		columns = map[int]bool{}
	case *Filter:
		if !u.values {
			exprs = append(exprs, n.Condition)
		}
	case *Window:
		below, width := map[int]bool{}, len(n.Input.Columns())
		for i := range columns {
			if i < width {
				below[i] = true
			} else {
				exprs = append(exprs, n.Functions[i-width].Exprs()...)
			}
		}
		columns = below
	case *Sort:
		for _, k := range n.Keys {
			if !u.values {
				exprs = append(exprs, k.Expr)
			}
		}
	}
	for _, in := range n.Inputs() {
		below := u.refs(map[int]bool{}, exprs...)
		for i := range columns {
			below[i] = true
		}
		u.node(in, below)
	}
}
