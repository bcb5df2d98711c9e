package stability

import (
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// window: over released and public rows it is a function of those.
//
// Over private rows it is unit-preserving if each function's partition has the unit among its
// keys: a row's value is then a function of rows of its own unit. It is a function of their
// multiset, bit for bit, whatever their physical order: rank, dense_rank, percent_rank, cume_dist
// and aggregates over RANGE and GROUPS look at rows that are equal by ORDER BY together, and sums run in fixed
// point. What numbers rows, or picks one, or sums a number of them, has its order completed by all
// columns of its input, so that rows that remain tied are the same, and it does not matter which
// is which. Where both would be needed, it is refused. The rewriter adds the unit's own key
// to each partition, as it does to GROUP BY.
func (a *analysis) window(n *plan.Window) (*relation, error) {
	r, err := a.node(n.Input)
	if err != nil {
		return nil, err
	}
	out := *r
	out.numbered = map[int]bool{}
	maps.Copy(out.numbered, r.numbered)
	w := &plan.Window{Input: r.node, Span: n.Span}
	for i, f := range n.Functions {
		if r.state == private && !slices.ContainsFunc(f.Partition, r.isUnit) {
			return nil, acrossUnits(r, f)
		}
		if f.OrderMatters() && r.state != released {
			if f.PicksAmongPeers() {
				return nil, diagnostic.New("D054", f.Span, "%s over a frame of rows that ORDER BY leaves tied", f.Name).
					Because("which of them it picks would depend on how they lie").
					Try("write ROWS in place of RANGE and GROUPS, without EXCLUDE; or of all rows ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
			}
			f.Order = completed(n.Input, f)
		}
		w.Functions = append(w.Functions, f)
		finer := slices.ContainsFunc(f.Partition, func(e plan.Expr) bool { return !r.isUnit(e) })
		if r.state == private && f.Function == plan.RowNumber && !finer {
			out.numbered[len(n.Input.Columns())+i] = true
		}
	}
	out.node = w
	return &out, nil
}

func acrossUnits(r *relation, f plan.WindowFunction) error {
	d := diagnostic.New("D054", f.Span, "%s over rows of several units", f.Name).
		Because("one unit could change its value for all others, without a bound")
	if unit := unitName(r); unit != "" {
		return d.Try("aggregate first: over released rows windows are free, as rank() OVER (ORDER BY count(*) DESC) with GROUP BY; within one unit write PARTITION BY %s", unit)
	}
	return d.Try("aggregate first: over released rows windows are free, as rank() OVER (ORDER BY count(*) DESC) with GROUP BY")
}

// completed is a function's order completed by all columns of its input.
func completed(n plan.Node, f plan.WindowFunction) []plan.SortKey {
	order := slices.Clone(f.Order)
	for i, c := range n.Columns() {
		known := func(e plan.Expr) bool { ref, ok := e.(*plan.Ref); return ok && ref.Index == i }
		if slices.ContainsFunc(f.Partition, known) || slices.ContainsFunc(order, func(k plan.SortKey) bool { return known(k.Expr) }) {
			continue
		}
		order = append(order, plan.SortKey{Expr: tieBreaker(i, c)})
	}
	return order
}

// tieBreaker is a column as a key that tells all of its values apart.
func tieBreaker(i int, c plan.Column) plan.Expr {
	var key plan.Expr = &plan.Ref{Index: i, Name: c.Name, T: c.Type}
	if c.Type.Kind == sqltype.IntervalKind { // 1 month equals 30 days, but is not it
		key = &plan.Cast{Arg: key, T: sqltype.Of(sqltype.Text)}
	}
	return key
}

// keptOf is how many rows of a unit pass a condition on a column that numbers them from 1; 0 where it
// says nothing of that.
func (r *relation) keptOf(condition plan.Expr) (rows int64) {
	for _, c := range conjuncts(condition) {
		e, ok := c.(*plan.Call)
		if !ok || len(e.Args) != 2 {
			continue
		}
		f, of, constant := e.Function, e.Args[0], e.Args[1]
		if _, ok := of.(*plan.Literal); ok {
			of, constant = constant, of
			if g, ok := mirrored[f]; ok {
				f = g
			}
		}
		ref, l := unwiden(of), literalOf(constant)
		if ref == nil || !r.numbered[ref.Index] || l == nil {
			continue
		}
		most := int64(0)
		switch f {
		case plan.Equal:
			most = 1
		case plan.LessOrEqual:
			most = *l
		case plan.Less:
			most = *l - 1
		}
		if most >= 1 && (rows == 0 || most < rows) {
			rows = most
		}
	}
	return rows
}

// literalOf is a whole number, or nil.
func literalOf(e plan.Expr) *int64 {
	if l, ok := e.(*plan.Literal); ok {
		if v, ok := l.Value.(int64); ok {
			return &v
		}
	}
	return nil
}

// windowRange is where a function's values lie.
func (f *facts) windowRange(n *plan.Window, w plan.WindowFunction) interval {
	switch w.Function {
	case plan.RowNumber, plan.Rank, plan.DenseRank:
		return interval{lower: big.NewRat(1, 1)}
	case plan.PercentRank, plan.CumeDist:
		return between(0, 1)
	case plan.Ntile:
		return between(1, *literalOf(w.Args[0]))
	case plan.CountStar, plan.Count:
		return interval{lower: new(big.Rat)}
	case plan.Min, plan.Max, plan.Avg, plan.FirstValue, plan.LastValue, plan.NthValue:
		return f.rangeOf(n.Input, w.Args[0])
	case plan.Lag, plan.Lead:
		r := f.rangeOf(n.Input, w.Args[0])
		if len(w.Args) > 2 {
			r = r.hull(f.rangeOf(n.Input, w.Args[2]))
		}
		return r
	case plan.Sum:
		return sumRange(f.rangeOf(n.Input, w.Args[0]))
	}
	return interval{}
}

// sumRange: sums of non-negative values are non-negative, and so on.
func sumRange(r interval) interval {
	if r.lower != nil && r.lower.Sign() >= 0 {
		return interval{lower: new(big.Rat)}
	}
	if r.upper != nil && r.upper.Sign() <= 0 {
		return interval{upper: new(big.Rat)}
	}
	return interval{}
}

// windowImage is what values a function may have.
func (f *facts) windowImage(n *plan.Window, w plan.WindowFunction) *image {
	one := big.NewRat(1, 1)
	switch w.Function {
	case plan.RowNumber, plan.Rank, plan.DenseRank:
		return &image{lower: one, step: one}
	case plan.Ntile:
		return &image{lower: one, upper: big.NewRat(*literalOf(w.Args[0]), 1), step: one}
	case plan.CountStar, plan.Count:
		return &image{lower: new(big.Rat), step: one}
	case plan.Min, plan.Max, plan.FirstValue, plan.LastValue, plan.NthValue:
		return f.imageOf(n.Input, w.Args[0])
	case plan.Lag, plan.Lead:
		if len(w.Args) > 2 {
			return f.anyOf([]*image{f.imageOf(n.Input, w.Args[0]), f.imageOf(n.Input, w.Args[2])}, w.Type)
		}
		return f.imageOf(n.Input, w.Args[0])
	}
	return everyOf(w.Type)
}

// windowDomain is the complete public domain of a function's values, or nil.
func (f *facts) windowDomain(n *plan.Window, w plan.WindowFunction) []*catalog.PublicDomain {
	switch w.Function {
	case plan.Min, plan.Max, plan.FirstValue, plan.LastValue, plan.NthValue:
		return f.domainOf(n.Input, w.Args[0])
	case plan.Lag, plan.Lead:
		return f.unionOf(n.Input, w.Type, append([]plan.Expr{w.Args[0]}, w.Args[2:]...))
	case plan.BoolAnd, plan.BoolOr:
		return []*catalog.PublicDomain{{Values: []sqltype.Value{false, true}}}
	}
	return nil
}
