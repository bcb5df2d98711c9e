package rewrite

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// window carries ends through functions over windows.
//
// What picks a value of another row (lag, lead, first_value, last_value, nth_value) has that value's
// ends, of the same row, where no noise orders the rows; it counts as a noisy value of its own.
// Sums, means, least and largest values are those of ends, as in aggregate: the share counts the values of all
// rows, or, where one noisy number is added up over rows of its own release that no noise chose or
// ordered, the noise of the sum is one event. If noisy values order the rows, a frame that is not
// the whole partition holds other rows than it would without noise, and has no interval. A rank by
// noisy values has none either.
func (d *carrier) window(n *plan.Window) (plan.Node, []carried) {
	input, cols := d.node(n.Input)
	picked := d.picks[n.Input]
	d.picked(n, picked)
	width, extra := len(n.Input.Columns()), len(n.Functions)
	w := &windowing{carrier: d, n: n, cols: cols, node: &plan.Window{Input: input, Functions: slices.Clone(n.Functions), Span: n.Span}}
	w.width = len(input.Columns())
	out := make([]carried, width+extra)
	for i, f := range n.Functions {
		out[width+i] = w.function(i, f, picked)
	}
	if len(d.list) == 0 {
		copy(out, cols)
		for i := range out {
			if out[i].noisy() && out[i].ends == nil {
				out[i].ends = map[int]ends{}
			}
		}
		return n, out
	}
	// Columns in the order: the input's own, the functions, the input's ends, the ends of functions.
	exprs, names := refs(w.node)
	own := w.width + extra
	all := slices.Concat(exprs[:width], exprs[w.width:own], exprs[width:w.width])
	called := slices.Concat(names[:width], names[w.width:own], names[width:w.width])
	move := func(e plan.Expr) plan.Expr {
		ref := *e.(*plan.Ref)
		if ref.Index >= width {
			ref.Index += extra
		}
		return &ref
	}
	for i, c := range cols {
		out[i] = c
		out[i].ends = map[int]ends{}
		for s, at := range c.ends {
			out[i].ends[s] = ends{move(at.lower), move(at.upper)}
		}
		if c.noise != nil {
			out[i].noise = &noise{c.noise.Source, map[int][SumColumns]plan.Expr{}}
			for s, at := range c.noise.columns {
				var moved [SumColumns]plan.Expr
				for k := range at {
					moved[k] = move(at[k])
				}
				out[i].noise.columns[s] = moved
			}
		}
	}
	for i := range out[width:] {
		c := &out[width+i]
		for s := range d.list {
			if !c.noisy() {
				continue
			}
			at := c.ends[s]
			all, called = append(all, at.lower, at.upper), append(called, "lower", "upper")
			c.ends[s] = ends{&plan.Ref{Index: len(all) - 2, T: at.lower.Type()}, &plan.Ref{Index: len(all) - 1, T: at.upper.Type()}}
		}
	}
	return &plan.Project{Input: w.node, Exprs: all, Names: called, Span: n.Span}, out
}

// A windowing adds functions to those of a node.
type windowing struct {
	*carrier
	n     *plan.Window
	node  *plan.Window
	cols  []carried
	width int // of the carrying input
}

// function is what is known of function i.
func (w *windowing) function(i int, f plan.WindowFunction, picked bool) (out carried) {
	depends := func(e plan.Expr) bool { return w.expr(e, w.cols, nil).dependsOnNoise() }
	ordered := !(f.Whole() && f.Aggregates()) && slices.ContainsFunc(f.Order, func(k plan.SortKey) bool { return depends(k.Expr) })
	if f.OrderMatters() && !f.PicksAmongPeers() {
		f.Order = w.completed(f.Order)
		w.node.Functions[i].Order = f.Order
	}
	var arg, rest carried // rest: the default of lag and lead
	if len(f.Args) > 0 {
		arg = w.expr(f.Args[0], w.cols, nil)
	}
	if len(f.Args) > 2 {
		rest = w.expr(f.Args[2], w.cols, nil)
	}
	filtered := f.Filter != nil && depends(f.Filter)
	switch {
	case slices.ContainsFunc(f.Partition, depends):
		out.why = "computed of rows that noisy values put together"
		return out
	case ordered:
		out.why = "computed of rows that noisy values order"
		return out
	case f.OrderMatters() && f.PicksAmongPeers():
		out.why = "picks one of rows that ORDER BY leaves tied"
		return out
	case !arg.dependsOnNoise() && !rest.dependsOnNoise():
		switch {
		case filtered || picked:
			out.why = "computed of rows that noisy values chose"
		case w.selected(w.n.Input):
			out.why = "computed of groups that were chosen privately"
		}
		return out
	case arg.why != "" || rest.why != "":
		if out.why = arg.why; out.why == "" {
			out.why = rest.why
		}
		return out
	case rest.dependsOnNoise() || !f.Type.IsNumeric():
		out.why = "computed over a window"
		return out
	}
	// It stands for other rows' values: a marker of its own keeps it apart from them.
	marker := &plan.Window{Input: w.n.Input}
	switch f.Function {
	case plan.Lag, plan.Lead, plan.FirstValue, plan.LastValue, plan.NthValue:
		out.sources = map[leaf]bool{}
		for l := range arg.sources {
			if !l.all {
				l.at = marker
			}
			out.sources[l] = true
		}
		out.ends = w.each(f, arg, false)
	case plan.Sum, plan.Avg, plan.Min, plan.Max:
		own := noiseOf(f.Args[0], w.cols)
		if own != nil && !picked && !filtered && !ordered && !w.moved && (f.Function == plan.Sum || f.Function == plan.Avg) {
			if !slices.Contains(w.summed, own.Source) {
				w.summed = append(w.summed, own.Source)
			}
			out.sources = map[leaf]bool{{Source: own.Source, at: marker}: true}
			out.ends = w.independent(f, own, arg, &plan.Ref{Index: w.width + i, Name: f.Name, T: f.Type})
			return out
		}
		out.sources = everywhere(arg.sources)
		out.ends = w.each(f, arg, true)
	default:
		out.why = "computed over a window"
	}
	return out
}

// completed orders tied rows too, so that a value and its ends are of the same row: by columns
// without noise, and where these are the same by all.
func (w *windowing) completed(order []plan.SortKey) []plan.SortKey {
	order = slices.Clone(order)
	for _, noisy := range []bool{false, true} {
		for i, c := range w.n.Input.Columns() {
			if c.Type.Kind != sqltype.IntervalKind && w.cols[i].dependsOnNoise() == noisy {
				order = append(order, plan.SortKey{Expr: &plan.Ref{Index: i, Name: c.Name, T: c.Type}})
			}
		}
	}
	return order
}

// add returns the column of one more function over the window of f.
func (w *windowing) add(f plan.WindowFunction, function plan.AggregateFunction, arg plan.Expr, t sqltype.Type) plan.Expr {
	f.Function, f.Type, f.Name = function, t, "end"
	f.Args = append([]plan.Expr{arg}, f.Args[min(1, len(f.Args)):]...)
	w.node.Functions = append(w.node.Functions, f)
	return &plan.Ref{Index: w.width + len(w.node.Functions) - 1, Name: "end", T: t}
}

// each is the function of the ends; of an aggregate NULL where one is not known.
func (w *windowing) each(f plan.WindowFunction, arg carried, aggregate bool) map[int]ends {
	out := map[int]ends{}
	for s := range w.list {
		at := arg.ends[s]
		lower, upper := w.add(f, f.Function, at.lower, f.Type), w.add(f, f.Function, at.upper, f.Type)
		if aggregate {
			values := w.add(f, plan.Count, f.Args[0], bigint)
			known := call(plan.And, boolean,
				call(plan.Equal, boolean, w.add(f, plan.Count, at.lower, bigint), values),
				call(plan.Equal, boolean, w.add(f, plan.Count, at.upper, bigint), values))
			lower, upper = when(known, lower), when(known, upper)
		}
		out[s] = ends{lower, upper}
	}
	return out
}

// independent adds the noise of a sum to the sum, as of aggregate's; of a single row it is that row's own.
func (w *windowing) independent(f plan.WindowFunction, own *noise, arg carried, value plan.Expr) map[int]ends {
	out := map[int]ends{}
	if len(w.list) == 0 {
		return out
	}
	rows := w.add(f, plan.Count, f.Args[0], bigint)
	for s := range w.list {
		var most [SumColumns]plan.Expr
		for i, c := range own.columns[s] {
			most[i] = w.add(f, plan.Max, c, double)
		}
		at := arg.ends[s]
		out[s] = noisySum(f.Function, f.Type, value, rows, most,
			ends{w.add(f, f.Function, at.lower, f.Type), w.add(f, f.Function, at.upper, f.Type)})
	}
	return out
}
