package stability

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// domainOf returns the complete public domain of an expression over the
// columns of n, as a union, or nil if it has none. Values that do not come
// from private data are a domain: literals, declared domains, columns of
// public tables, and the ranges of functions with few results. NULL is in no
// domain: rows with a NULL key are dropped like rows outside the domain.
func (f *facts) domainOf(n plan.Node, e plan.Expr) []*catalog.PublicDomain {
	switch e := e.(type) {
	case *plan.Ref:
		return f.columnDomain(n, e.Index)
	case *plan.Literal:
		if e.Value == nil || e.T.Kind == sqltype.IntervalKind {
			return nil
		}
		return []*catalog.PublicDomain{{Values: []sqltype.Value{e.Value}}}
	case *plan.Case:
		results := make([]plan.Expr, 0, len(e.Whens)+1)
		for i, w := range e.Whens {
			if !f.emptyBucket(n, e.Whens, i) {
				results = append(results, w.Result)
			}
		}
		if e.Else != nil {
			results = append(results, e.Else)
		}
		return f.unionOf(n, e.T, results)
	case *plan.Call:
		switch e.Function {
		case plan.Coalesce:
			return f.unionOf(n, e.T, e.Args)
		case plan.WidthBucket:
			if last, ok := e.Args[3].(*plan.Literal); ok {
				if count, ok := sqltype.Rat(last.Value); ok && count.Sign() > 0 {
					if d := f.finite(n, e); d != nil { // without the buckets beyond the bounds
						return d
					}
					return wholeRange(new(big.Rat), new(big.Rat).Add(count, big.NewRat(1, 1)))
				}
			}
		case plan.Extract:
			if lower, upper, ok := fieldRange(e); ok {
				if d := f.finite(n, e); d != nil { // the months between the bounds, say
					return d
				}
				return wholeRange(big.NewRat(lower, 1), big.NewRat(upper, 1))
			}
		}
	}
	if e.Type().Kind == sqltype.Boolean {
		return []*catalog.PublicDomain{{Values: []sqltype.Value{false, true}}}
	}
	return nil
}

func wholeRange(lower, upper *big.Rat) []*catalog.PublicDomain {
	return []*catalog.PublicDomain{{Lower: lower, Upper: upper, Step: big.NewRat(1, 1)}}
}

// unionOf is the union of the domains of several expressions, NULL literals
// aside; nil if one of them has none.
func (f *facts) unionOf(n plan.Node, t sqltype.Type, es []plan.Expr) []*catalog.PublicDomain {
	var union []*catalog.PublicDomain
	for _, e := range es {
		if isNull(e) {
			continue
		}
		d := f.domainOf(n, e)
		if d == nil || e.Type() != t {
			return nil
		}
		union = joined(union, d)
	}
	return union
}

// emptyBucket reports whether no value within the declared bounds is in a bucket of width_bucket(x, ARRAY[...]). Other CASEs keep
// what their author wrote: bind marks these conditions as written by nobody.
func (f *facts) emptyBucket(n plan.Node, whens []plan.When, i int) bool {
	compared := func(i int) (*plan.Call, *big.Rat) {
		c, ok := whens[i].Condition.(*plan.Call)
		if !ok || len(c.Args) != 2 || c.Span.Start != c.Span.End || c.Function != plan.Less && c.Function != plan.GreaterOrEqual {
			return nil, nil
		}
		threshold, ok := c.Args[1].(*plan.Literal)
		if !ok {
			return nil, nil
		}
		at, _ := extent(threshold.Value)
		return c, at
	}
	c, threshold := compared(i)
	if threshold == nil {
		return false
	}
	if f.declared == nil {
		f.declared = newFacts()
	}
	r := f.declared.rangeOf(n, c.Args[0]) // groups follow from what is declared, not from what was found: see Found
	if c.Function == plan.GreaterOrEqual {
		return r.upper != nil && r.upper.Cmp(threshold) < 0
	}
	if r.lower != nil && r.lower.Cmp(threshold) >= 0 {
		return true
	}
	if i == 0 || r.upper == nil {
		return false
	}
	_, before := compared(i - 1)
	return before != nil && r.upper.Cmp(before) < 0
}

// joined is the union of two domains, with every part once.
func joined(a, b []*catalog.PublicDomain) []*catalog.PublicDomain {
	a = a[:len(a):len(a)]
	for _, d := range b {
		if !slices.Contains(a, d) {
			a = append(a, d)
		}
	}
	return a
}

// columnDomain looks at each column of a node once.
func (f *facts) columnDomain(n plan.Node, i int) []*catalog.PublicDomain {
	at := place{n, i}
	d, ok := f.domains[at]
	if !ok {
		d = f.findDomain(n, i)
		f.domains[at] = d
	}
	return d
}

func (f *facts) findDomain(n plan.Node, i int) []*catalog.PublicDomain {
	switch n := n.(type) {
	case *plan.Scan:
		c := n.Table.Columns[i]
		switch {
		case c.Domain != nil:
			return []*catalog.PublicDomain{f.declaredDomain(c)}
		case n.Table.Public:
			return []*catalog.PublicDomain{f.tableDomain(n.Table, c, c.Type)}
		case c.Type.Kind == sqltype.Boolean:
			return []*catalog.PublicDomain{{Values: []sqltype.Value{false, true}}}
		}
	case *plan.Values:
		es := make([]plan.Expr, len(n.Rows))
		for r, row := range n.Rows {
			es[r] = row[i]
		}
		return f.unionOf(n, n.Types[i], es)
	case *plan.Project:
		// Rows with keys outside it are dropped, whoever declares it.
		if c := n.Declares(i); c != nil && c.Domain != nil {
			return []*catalog.PublicDomain{f.declaredDomain(c)}
		}
		return f.domainOf(n.Input, n.Exprs[i])
	case *plan.Join:
		if left := len(n.Left.Columns()); i < left {
			return f.columnDomain(n.Left, i)
		} else {
			return f.columnDomain(n.Right, i-left)
		}
	case *plan.Union:
		var union []*catalog.PublicDomain
		for _, b := range n.Branches {
			d := f.columnDomain(b, i)
			if d == nil {
				return nil
			}
			union = joined(union, d)
		}
		return union
	case *plan.Aggregate:
		if i < len(n.Keys) {
			return f.domainOf(n.Input, n.Keys[i])
		}
		switch a := n.Aggregations[i-len(n.Keys)]; a.Function {
		case plan.Min, plan.Max, plan.PercentileDisc:
			return f.domainOf(n.Input, a.Arg)
		case plan.BoolAnd, plan.BoolOr:
			return []*catalog.PublicDomain{{Values: []sqltype.Value{false, true}}}
		}
	case *plan.Filter:
		return f.narrowedDomain(f.columnDomain(n.Input, i), n.Input.Columns()[i].Type, i, n.Condition)
	case *plan.Window:
		if width := len(n.Input.Columns()); i >= width {
			return f.windowDomain(n, n.Functions[i-width])
		}
		return f.columnDomain(n.Input, i)
	case *plan.Sort:
		return f.columnDomain(n.Input, i)
	case *plan.Limit:
		return f.columnDomain(n.Input, i)
	}
	return nil
}
