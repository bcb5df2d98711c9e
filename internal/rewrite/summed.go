package rewrite

import (
	"iter"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// SumColumns is how many columns a released table has for a noisy number that is added up
// over its rows, for each share: the same in each row. With a, b and c in them, in this order, the noise of a
// sum over m rows is at most √(m·a) up to MostExact rows, and √(m·b) + c for more, but with
// the probability of the share.
const SumColumns = 3

// MostExact is up to how many rows the first of SumColumns holds.
const MostExact = 64

func sumColumns() []plan.Column {
	return slices.Repeat([]plan.Column{{Name: "sum", Type: double}}, SumColumns)
}

// A noise is where SumColumns of a released number stand, by share, as long as what is read
// is that number, in rows of the release's own, each at most once.
type noise struct {
	Source
	columns map[int][SumColumns]plan.Expr
}

// additive finds the noise of a released number that is one noisy count or sum.
func (d *carrier) additive(n *plan.Released, column int, shares int) *noise {
	r := d.certificate.Releases[n.Index]
	g := r.Aggregates[column-len(r.Keys)]
	if len(g.Components) != 1 || r.Components[g.Components[0]].Kind == stability.Tree || !g.Type.IsNumeric() {
		return nil
	}
	out := &noise{Source{n.Index, column}, map[int][SumColumns]plan.Expr{}}
	first := len(n.Cols) + 2*len(r.Aggregates)*shares
	for _, s := range d.summed {
		if s.Release != n.Index {
			continue
		}
		if s.Column == column {
			for share := range shares {
				var at [SumColumns]plan.Expr
				for i := range at {
					at[i] = &plan.Ref{Index: first + share*SumColumns + i, Name: "sum", T: double}
				}
				out.columns[share] = at
			}
		}
		first += shares * SumColumns
	}
	return out
}

// columnsOf yields a noise's columns in the order of shares; none where it is not added up.
func (d *carrier) columnsOf(n *noise) iter.Seq2[int, [SumColumns]plan.Expr] {
	return func(yield func(int, [SumColumns]plan.Expr) bool) {
		for s := range d.list {
			if at, ok := n.columns[s]; ok && !yield(s, at) {
				return
			}
		}
	}
}

// noiseOf is the noise of an expression that is a column, in a type that holds its values.
func noiseOf(e plan.Expr, cols []carried) *noise {
	if c, ok := e.(*plan.Cast); ok {
		from, to := c.Arg.Type(), c.T
		if !(from.IsInteger() && (to.Kind == sqltype.Bigint || to.Kind == sqltype.DecimalKind || to.Kind == sqltype.Double) ||
			from.Kind == sqltype.DecimalKind && to.Kind == sqltype.Double) {
			return nil
		}
		e = c.Arg
	}
	if ref, ok := e.(*plan.Ref); ok {
		return cols[ref.Index].noise
	}
	return nil
}

// union: a row is of one branch, and its value depends on the noisy ones of that branch alone.
// The leaves of both sides are taken together, which is more than any row needs.
func (d *carrier) union(n *plan.Union) (plan.Node, []carried) {
	width := len(n.Columns())
	out := make([]carried, width)
	branches := make([]plan.Node, len(n.Branches))
	all := make([][]carried, len(n.Branches))
	picked := false
	for b, branch := range n.Branches {
		branches[b], all[b] = d.node(branch)
		picked = picked || d.picks[branch]
	}
	d.picked(n, picked)
	for i := range out {
		sources, most := map[leaf]bool{}, 0
		for b := range all {
			if why := all[b][i].why; why != "" && out[i].why == "" {
				out[i].why = why
			}
			// Of leaves that stand for one value each, those of one branch are enough.
			single := 0
			for l := range all[b][i].sources {
				if l.all {
					sources[l] = true
				} else {
					single++
				}
			}
			most = max(most, single)
		}
		for b := range all {
			single := 0
			for l := range all[b][i].sources {
				if !l.all {
					single++
				}
			}
			if single == most && most > 0 {
				for l := range all[b][i].sources {
					if !l.all {
						sources[l] = true
					}
				}
				break
			}
		}
		out[i].sources = sources
		out[i].ends = map[int]ends{}
	}
	// Each branch: its columns, then the ends of every noisy one for each share.
	u := &plan.Union{Span: n.Span}
	for b, branch := range branches {
		exprs, names := refs(branch)
		exprs, names = exprs[:width:width], names[:width:width]
		for i := range out {
			if !out[i].noisy() {
				continue
			}
			for s := range d.list {
				at, ok := all[b][i].ends[s]
				if !ok { // not noisy in this branch
					at = ends{exprs[i], exprs[i]}
				}
				exprs, names = append(exprs, at.lower, at.upper), append(names, "lower", "upper")
			}
		}
		u.Branches = append(u.Branches, &plan.Project{Input: branch, Exprs: exprs, Names: names, Span: n.Span})
	}
	at := width
	for i := range out {
		if !out[i].noisy() {
			continue
		}
		for s := range d.list {
			t := n.Columns()[i].Type
			out[i].ends[s] = ends{&plan.Ref{Index: at, T: t}, &plan.Ref{Index: at + 1, T: t}}
			at += 2
		}
	}
	return u, out
}

// aggregate carries ends through SUM, AVG, MIN and MAX over released rows.
//
// If the interval of each noisy value of all rows holds, so does the sum, the mean, the least
// and the largest of lower ends and of upper ends, whatever chose the rows: the share counts
// the values of all rows. The sum of one noisy number over rows of its own release that no
// noise chose has independent noise, whose sum is much less than the sum of half widths: its
// interval is that of release's SumColumns, and one event, not one for each row. Of values that
// were moved it is not: their errors no longer are 0 in the mean.
func (d *carrier) aggregate(n *plan.Aggregate) (plan.Node, []carried) {
	input, cols := d.node(n.Input)
	out := make([]carried, len(n.Columns()))
	noisyKeys := false
	for _, k := range n.Keys {
		noisyKeys = noisyKeys || d.expr(k, cols, nil).dependsOnNoise()
	}
	picked := d.picks[n.Input]
	d.picked(n, picked || noisyKeys)
	b := &summing{carrier: d, n: n, cols: cols, aggregations: slices.Clone(n.Aggregations)}
	var later []func() // ends above the grouping
	for i, a := range n.Aggregations {
		c := &out[len(n.Keys)+i]
		var arg, filter carried
		if a.Arg != nil {
			arg = d.expr(a.Arg, cols, nil)
		}
		if a.Filter != nil {
			filter = d.expr(a.Filter, cols, nil)
		}
		chosen := picked || filter.dependsOnNoise()
		switch {
		case noisyKeys:
			c.why = "grouped by noisy values"
		case !chosen && !arg.dependsOnNoise():
			if (a.Function == plan.Count || a.Function == plan.CountStar) && d.selected(n.Input) {
				c.why = "counts groups that were chosen privately"
			}
		case arg.why != "":
			c.why = arg.why
		case a.Distinct || !arg.noisy() || a.Function != plan.Sum && a.Function != plan.Avg && a.Function != plan.Min && a.Function != plan.Max || !a.Type.IsNumeric():
			c.why = "aggregated over released values"
		default:
			own := noiseOf(a.Arg, cols)
			if own != nil && !chosen && !d.moved && (a.Function == plan.Sum || a.Function == plan.Avg) {
				if !slices.Contains(d.summed, own.Source) {
					d.summed = append(d.summed, own.Source)
				}
				c.sources = map[leaf]bool{{Source: own.Source, at: n}: true}
				later = append(later, func() { c.ends = b.independent(len(n.Keys)+i, a, own, arg) })
				continue
			}
			c.sources = everywhere(arg.sources)
			later = append(later, func() { c.ends = b.each(a, arg) })
		}
	}
	for i := range n.Keys {
		if noisyKeys {
			out[i].why = "grouped by noisy values"
		}
	}
	if len(d.list) == 0 {
		for i := range out {
			if out[i].noisy() {
				out[i].ends = map[int]ends{}
			}
		}
		return n, out
	}
	for _, f := range later {
		f()
	}
	grouped := &plan.Aggregate{Input: input, Keys: n.Keys, Names: n.Names, Aggregations: b.aggregations, Span: n.Span}
	exprs, names := refs(n)
	for i := range out {
		for s := range d.list {
			if !out[i].noisy() {
				continue
			}
			at := out[i].ends[s]
			exprs, names = append(exprs, at.lower, at.upper), append(names, "lower", "upper")
			out[i].ends[s] = ends{&plan.Ref{Index: len(exprs) - 2, T: at.lower.Type()}, &plan.Ref{Index: len(exprs) - 1, T: at.upper.Type()}}
		}
	}
	return &plan.Project{Input: grouped, Exprs: exprs, Names: names, Span: n.Span}, out
}

// selected reports whether rows are groups that private selection chose.
func (d *carrier) selected(n plan.Node) bool {
	if r, ok := n.(*plan.Released); ok {
		return d.certificate.Releases[r.Index].Private
	}
	return slices.ContainsFunc(n.Inputs(), d.selected)
}

// A summing adds aggregations to those of a node.
type summing struct {
	*carrier
	n            *plan.Aggregate
	cols         []carried
	aggregations []plan.Aggregation
}

// add returns the column of one more aggregation.
func (b *summing) add(f plan.AggregateFunction, arg, filter plan.Expr, t sqltype.Type) plan.Expr {
	for i, known := range b.aggregations[len(b.n.Aggregations):] {
		if known.Function == f && known.Type == t && sameExpr(known.Arg, arg) && sameExpr(known.Filter, filter) {
			return &plan.Ref{Index: len(b.n.Keys) + len(b.n.Aggregations) + i, T: t}
		}
	}
	b.aggregations = append(b.aggregations, plan.Aggregation{Function: f, Arg: arg, Filter: filter, Name: "end", Type: t})
	return &plan.Ref{Index: len(b.n.Keys) + len(b.aggregations) - 1, T: t}
}

func sameExpr(a, b plan.Expr) bool {
	return a == nil && b == nil || a != nil && b != nil && plan.FormatExpr(a) == plan.FormatExpr(b)
}

// each aggregates the ends; NULL where one is not known.
func (b *summing) each(a plan.Aggregation, arg carried) map[int]ends {
	out := map[int]ends{}
	for s := range b.list {
		at := arg.ends[s]
		lower, upper := b.add(a.Function, at.lower, a.Filter, a.Type), b.add(a.Function, at.upper, a.Filter, a.Type)
		values := b.add(plan.Count, a.Arg, a.Filter, bigint)
		known := call(plan.And, boolean,
			call(plan.Equal, boolean, b.add(plan.Count, at.lower, a.Filter, bigint), values),
			call(plan.Equal, boolean, b.add(plan.Count, at.upper, a.Filter, bigint), values))
		out[s] = ends{when(known, lower), when(known, upper)}
	}
	return out
}

// independent adds the noise of a sum to the sum; of a single row it is that row's own.
func (b *summing) independent(column int, a plan.Aggregation, own *noise, arg carried) map[int]ends {
	out := map[int]ends{}
	rows := b.add(plan.Count, a.Arg, a.Filter, bigint)
	value := &plan.Ref{Index: column, T: a.Type}
	for s := range b.list {
		var most [SumColumns]plan.Expr
		for i, c := range own.columns[s] {
			most[i] = b.add(plan.Max, c, a.Filter, double)
		}
		at := arg.ends[s]
		out[s] = noisySum(a.Function, a.Type, value, rows, most,
			ends{b.add(a.Function, at.lower, a.Filter, a.Type), b.add(a.Function, at.upper, a.Filter, a.Type)})
	}
	return out
}

// noisySum are the ends of a sum or mean of so many noisy values, given the greatest of
// SumColumns; of a single one they are its own.
func noisySum(f plan.AggregateFunction, t sqltype.Type, value, rows plan.Expr, most [SumColumns]plan.Expr, single ends) ends {
	number := func(n int64) plan.Expr { return &plan.Literal{Value: n, T: bigint} }
	m := &plan.Cast{Arg: rows, T: double}
	root := func(of plan.Expr) plan.Expr { return call(plan.Sqrt, double, call(plan.Multiply, double, m, of)) }
	var half plan.Expr = &plan.Case{T: double, Whens: []plan.When{
		{Condition: call(plan.LessOrEqual, boolean, rows, number(MostExact)), Result: root(most[0])}},
		Else: call(plan.Add, double, root(most[1]), most[2])}
	if f == plan.Avg {
		half = call(plan.Divide, double, half, m)
	}
	half = upward(half, t)
	choose := func(one plan.Expr, op plan.Function) plan.Expr {
		return &plan.Case{T: t, Whens: []plan.When{{Condition: call(plan.Equal, boolean, rows, number(1)), Result: one}}, Else: call(op, t, value, half)}
	}
	return ends{choose(single.lower, plan.Subtract), choose(single.upper, plan.Add)}
}

// upward converts a half width to a type in which it is no smaller.
func upward(half plan.Expr, t sqltype.Type) plan.Expr {
	switch {
	case t.IsFloat():
		return half
	case t.Kind == sqltype.DecimalKind && t.Scale > 0: // rounded to the nearest, of which one more is not below
		unit := sqltype.Decimal{Unscaled: big.NewInt(1), Scale: t.Scale}
		return call(plan.Add, t, &plan.Cast{Arg: half, T: t}, &plan.Literal{Value: unit, T: t})
	}
	return &plan.Cast{Arg: call(plan.Ceil, double, half), T: t}
}
