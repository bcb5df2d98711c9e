package bind

import (
	"cmp"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A windows collects the functions over windows of a SELECT; equal ones count once. They are
// computed of the rows that HAVING leaves, before DISTINCT, ORDER BY and LIMIT.
type windows struct{ list []plan.WindowFunction }

// A windowRef stands for a collected function until the SELECT is assembled.
type windowRef struct {
	index int
	t     sqltype.Type
	at    diagnostic.Span
}

func (w *windowRef) Type() sqltype.Type     { return w.t }
func (w *windowRef) Place() diagnostic.Span { return w.at }

// windowFunctions have a meaning behind OVER alone; an ordinary aggregate has one there too.
var windowFunctions = map[string]plan.AggregateFunction{
	"row_number": plan.RowNumber, "rank": plan.Rank, "dense_rank": plan.DenseRank, "percent_rank": plan.PercentRank, "cume_dist": plan.CumeDist,
	"ntile": plan.Ntile, "lag": plan.Lag, "lead": plan.Lead, "first_value": plan.FirstValue, "last_value": plan.LastValue, "nth_value": plan.NthValue,
}

// windowAggregates are those that are computed over windows.
var windowAggregates = []plan.AggregateFunction{plan.CountStar, plan.Count, plan.Sum, plan.Avg, plan.Min, plan.Max, plan.BoolAnd, plan.BoolOr}

// windowed binds a call with OVER.
func (c *context) windowed(e *sqlparse.Call) plan.Expr {
	if c.windows == nil {
		d := diagnostic.New("D031", e.Span, "a window function cannot stand in %s", c.clause)
		switch c.clause {
		case "a window function":
			refuse(d.Because("windows do not nest").Try("compute the inner one in a subquery in FROM"))
		case "an aggregate":
			refuse(d.Because("aggregates are computed before windows").Try("compute it in a subquery in FROM, and aggregate its column"))
		}
		refuse(d.Because("windows look at the rows that WHERE, GROUP BY and HAVING leave").
			Try("compute it in a subquery in FROM, and write the condition around it"))
	}
	in := *c
	in.windows, in.clause = nil, "a window function"
	f := plan.WindowFunction{Name: e.Name.Name, Span: e.Span}
	in.over(&f, e.Over)
	own, ok := windowFunctions[e.Name.Name]
	aggregate, also := aggregateFunctions[e.Name.Name]
	switch {
	case ok:
		f.Function = own
		in.windowArguments(&f, e)
	case also && slices.Contains(windowAggregates, aggregate) && regressions[e.Name.Name] == nil:
		f.Function = aggregate
		in.windowAggregate(&f, e)
	case also:
		refuse(diagnostic.New("D031", e.Span, "%s is not computed over a window", e.Name.Name).
			Because("windows have count, sum, avg, min, max, bool_and and bool_or").
			Try("compute it of groups in a subquery, and join that"))
	default:
		if _, ok := functions()[e.Name.Name]; !ok {
			refuse(unknownFunction(e))
		}
		refuse(diagnostic.New("D031", e.Span, "%s is no window function", e.Name.Name).Try("leave OVER out"))
	}
	i := slices.IndexFunc(c.windows.list, func(known plan.WindowFunction) bool { return sameWindow(known, f) })
	if i < 0 {
		i = len(c.windows.list)
		c.windows.list = append(c.windows.list, f)
	}
	return &windowRef{i, f.Type, e.Span}
}

// over reads partition, order and frame.
func (c *context) over(f *plan.WindowFunction, w *sqlparse.Window) {
	w = c.defined(w)
	for _, p := range w.Partition {
		f.Partition = append(f.Partition, c.windowKey(p, "PARTITION BY"))
	}
	for _, o := range w.Order {
		f.Order = append(f.Order, plan.SortKey{Expr: c.windowKey(o.Expr, "ORDER BY"), Descending: o.Descending, NullsFirst: o.NullsFirst})
	}
	if w.Frame != nil {
		f.Frame = c.frame(f, w.Frame)
	}
}

func (c *context) windowKey(e sqlparse.Expr, what string) plan.Expr {
	switch e := e.(type) {
	case *sqlparse.Number, *sqlparse.String, *sqlparse.Parameter, *sqlparse.NullConst, *sqlparse.Bool:
		refuse(diagnostic.New("D021", e.Place(), "a constant cannot be a key of a window's %s", what).
			Because("it is the same in all rows, and does not mean a column by its number here").Try("name the column or repeat the expression"))
	}
	key := c.value(e)
	checkOrdered(key.Type(), e.Place(), what)
	return key
}

// defined is a window with what it takes from those of WINDOW that it names.
func (c *context) defined(w *sqlparse.Window) *sqlparse.Window {
	for depth := 0; ; depth++ {
		name := w.From
		if name.Name == "" && w.Span == w.Name.Span { // OVER name
			name = w.Name
		}
		if name.Name == "" {
			return w
		}
		i := slices.IndexFunc(c.named, func(d *sqlparse.Window) bool { return d.Name.Name == name.Name })
		if i < 0 || depth > len(c.named) {
			var known []string
			for _, d := range c.named {
				known = append(known, d.Name.Name)
			}
			refuse(diagnostic.New("D031", name.Span, "unknown window %s", name.Name).
				Because("the WINDOW clause does not define it").Try("%s", cmp.Or(nearest(name.Name, known), "write the window itself: OVER (PARTITION BY x ORDER BY y)")))
		}
		d := c.named[i]
		if w.From.Name == "" {
			w = &sqlparse.Window{From: d.From, Partition: d.Partition, Order: d.Order, Frame: d.Frame, Span: d.Span}
			continue
		}
		switch {
		case len(w.Partition) > 0:
			refuse(diagnostic.New("D031", w.Span, "a window cannot have PARTITION BY and take that of window %s", name.Name).Try("leave one of them out"))
		case len(w.Order) > 0 && len(d.Order) > 0:
			refuse(diagnostic.New("D031", w.Span, "window %s has an ORDER BY already", name.Name).Try("leave one of them out"))
		case d.Frame != nil:
			refuse(diagnostic.New("D031", w.Span, "window %s has a frame, and cannot be changed", name.Name).Try("write OVER %s, or the whole window", name.Name))
		}
		out := *w
		out.From, out.Partition = d.From, d.Partition
		if len(d.Order) > 0 {
			out.Order = d.Order
		}
		w = &out
	}
}

// frame reads the rows that a function looks at.
func (c *context) frame(f *plan.WindowFunction, w *sqlparse.Frame) *plan.Frame {
	out := &plan.Frame{Mode: plan.FrameMode(w.Mode), Exclude: w.Exclude}
	bad := func(why, hint string) {
		refuse(diagnostic.New("D031", w.Span, "this frame cannot be").Because("%s", why).Try("%s", hint))
	}
	out.Start.Kind, out.End.Kind = plan.FrameEndKind(w.Start.Kind), plan.FrameEndKind(w.End.Kind)
	switch {
	case out.Start.Kind == plan.UnboundedFollowing || out.End.Kind == plan.UnboundedPreceding || out.Start.Kind > out.End.Kind:
		bad("it ends before it begins", "write the earlier end first: BETWEEN 1 PRECEDING AND CURRENT ROW")
	case out.Mode == plan.GroupsMode && len(f.Order) == 0:
		bad("GROUPS counts groups of rows that are equal by ORDER BY", "add ORDER BY to the window, or write ROWS")
	}
	out.Start.Offset = c.frameOffset(f, w, w.Start.Offset, bad)
	out.End.Offset = c.frameOffset(f, w, w.End.Offset, bad)
	if out.Mode == plan.RangeMode && (out.Start.Offset != nil || out.End.Offset != nil) {
		// Wide enough for the key plus and minus the offset.
		if key := f.Order[0].Expr; !key.Type().IsFloat() {
			f.Order = slices.Clone(f.Order)
			f.Order[0].Expr = cast(key, sqltype.DecimalOf(maxDigits, key.Type().Scale))
		}
	}
	return out
}

// mostFrame bounds how many rows or groups an end is away.
const mostFrame = 1 << 40

func (c *context) frameOffset(f *plan.WindowFunction, w *sqlparse.Frame, offset sqlparse.Expr, bad func(why, hint string)) plan.Expr {
	if offset == nil {
		return nil
	}
	e := c.expr(offset)
	if w.Mode != string(plan.RangeMode) {
		l, ok := coerceUnknown(e, typeOf(sqltype.Bigint)).(*plan.Literal)
		if ok {
			if n, ok := l.Value.(int64); ok && n >= 0 && n <= mostFrame {
				return &plan.Literal{Value: n, T: typeOf(sqltype.Bigint), Span: e.Place()}
			}
		}
		bad("its ends must be known before the rows are read", "write a whole number that is not negative: 6 PRECEDING")
	}
	if len(f.Order) != 1 {
		bad("RANGE adds the offset to the one key of ORDER BY", "order by one column, or write ROWS")
	}
	key := f.Order[0].Expr.Type()
	switch {
	case key.Kind == sqltype.DateKind || key.Kind == sqltype.TimestampKind:
		// An engine adds the span to each row's key, and fails where the sum is later than all times. Whether
		// a row lies there is private.
		bad("a date plus a span of time may be later than all dates", "order by extract(epoch FROM ...), with the span in seconds, or write ROWS")
	case key.Kind == sqltype.DecimalKind && key.Precision == maxDigits:
		// The sum may have more digits than a decimal, which is an error that tells of a row.
		bad("a decimal of 38 digits plus an offset may have more digits", "order by a cast to fewer digits, as in CAST(x AS decimal(18, 2))")
	case key.IsNumeric():
		to := sqltype.DecimalOf(maxDigits, key.Scale)
		if key.IsFloat() {
			to = typeOf(sqltype.Double)
		}
		l, ok := c.explicit(e, to, e.Place()).(*plan.Literal)
		if ok && smallOffset(l.Value) {
			return l
		}
		bad("the offset must be a constant that is not negative, of at most 18 digits", "write the number itself: 10 PRECEDING")
	}
	bad("RANGE adds the offset to the key of ORDER BY, which is "+article(key), "order by a number, or write ROWS")
	return nil
}

// smallOffset reports whether an offset can be added to any key without overflow.
func smallOffset(v sqltype.Value) bool {
	switch v := v.(type) {
	case float64:
		return v >= 0 && v <= 1e300
	case sqltype.Decimal:
		return v.Unscaled.Sign() >= 0 && v.Unscaled.BitLen() <= 59
	}
	return false
}

// windowArguments types a call that has a meaning over windows alone.
func (c *context) windowArguments(f *plan.WindowFunction, e *sqlparse.Call) {
	if e.Star || e.Distinct || e.Filter != nil || e.Within != nil {
		refuse(diagnostic.New("D031", e.Span, "%s is not an aggregate", e.Name.Name).
			Because("*, DISTINCT and FILTER are for aggregates").Try("leave it out, or choose the rows in a subquery"))
	}
	least, most := 0, 0
	f.Type = typeOf(sqltype.Bigint)
	switch f.Function {
	case plan.PercentRank, plan.CumeDist:
		f.Type = typeOf(sqltype.Double)
	case plan.Ntile, plan.FirstValue, plan.LastValue:
		least, most = 1, 1
	case plan.NthValue:
		least, most = 2, 2
	case plan.Lag, plan.Lead:
		least, most = 1, 3
	}
	if n := len(e.Args); n < least || n > most {
		if most == 0 {
			refuse(diagnostic.New("D016", e.Span, "%s takes no argument", e.Name.Name).Try("write %s() OVER (...)", e.Name.Name))
		}
		refuse(wrongCount(e, least, most))
	}
	switch f.Function {
	case plan.FirstValue, plan.LastValue, plan.NthValue:
	default:
		f.Frame = nil // PostgreSQL passes over it
	}
	whole := func(i int, least int64) plan.Expr {
		n := wholeConstant(e.Name.Name, "argument "+[...]string{"1", "2"}[i], c.expr(e.Args[i]))
		if n < least {
			refuse(diagnostic.New("D017", e.Args[i].Place(), "%s takes a number from %d on", e.Name.Name, least).Try("write 1, say"))
		}
		return &plan.Literal{Value: n, T: typeOf(sqltype.Bigint), Span: e.Args[i].Place()}
	}
	switch f.Function {
	case plan.Ntile:
		f.Type, f.Args = typeOf(sqltype.Integer), []plan.Expr{whole(0, 1)}
	case plan.FirstValue, plan.LastValue:
		f.Args = []plan.Expr{c.value(e.Args[0])}
		f.Type = f.Args[0].Type()
	case plan.NthValue:
		f.Args = []plan.Expr{c.value(e.Args[0]), whole(1, 1)}
		f.Type = f.Args[0].Type()
	case plan.Lag, plan.Lead:
		var offset plan.Expr = &plan.Literal{Value: int64(1), T: typeOf(sqltype.Bigint), Span: e.Span}
		if len(e.Args) > 1 {
			offset = whole(1, -math.MaxInt32)
		}
		values := []plan.Expr{c.expr(e.Args[0])}
		if len(e.Args) > 2 {
			values = append(values, c.expr(e.Args[2]))
		}
		values, f.Type = unify(values, e.Name.Name)
		f.Args = append([]plan.Expr{values[0], offset}, values[1:]...)
	}
}

// windowAggregate types an aggregate over a window.
func (c *context) windowAggregate(f *plan.WindowFunction, e *sqlparse.Call) {
	if e.Distinct {
		refuse(diagnostic.New("D031", e.Span, "DISTINCT is not computed over a window").Try("make the rows distinct in a subquery"))
	}
	if e.Within != nil {
		refuse(diagnostic.New("D018", e.Span, "%s takes no WITHIN GROUP", e.Name.Name).
			Because("it does not depend on the order of rows").Try("write %s(x)", e.Name.Name))
	}
	filter := *c
	filter.clause = "FILTER"
	if e.Filter != nil {
		f.Filter = filter.condition(e.Filter)
	}
	var arg plan.Expr
	switch {
	case e.Star && f.Function == plan.Count:
		f.Function = plan.CountStar
	case e.Star:
		refuse(diagnostic.New("D016", e.Span, "%s needs a column", e.Name.Name).Because("only count takes *").Try("name the column: %s(x)", e.Name.Name))
	case len(e.Args) != 1:
		refuse(wrongCount(e, 1, 1))
	case f.Function == plan.CountStar: // countif
		f.Filter = and(f.Filter, filter.condition(e.Args[0]))
	default:
		arg = c.expr(e.Args[0])
	}
	arg, f.Type = typeAggregate(f.Function, arg, e)
	if arg != nil {
		f.Args = []plan.Expr{arg}
	}
}

// sameWindow reports whether two functions are the same but for their places.
func sameWindow(a, b plan.WindowFunction) bool {
	sameKey := func(x, y plan.SortKey) bool {
		return x.Descending == y.Descending && x.NullsFirst == y.NullsFirst && equal(x.Expr, y.Expr)
	}
	sameEnd := func(x, y plan.FrameEnd) bool { return x.Kind == y.Kind && equal(x.Offset, y.Offset) }
	sameFrame := a.Frame == nil && b.Frame == nil || a.Frame != nil && b.Frame != nil && a.Frame.Mode == b.Frame.Mode &&
		a.Frame.Exclude == b.Frame.Exclude && sameEnd(a.Frame.Start, b.Frame.Start) && sameEnd(a.Frame.End, b.Frame.End)
	return a.Function == b.Function && a.Type == b.Type && sameFrame && equal(a.Filter, b.Filter) &&
		slices.EqualFunc(a.Args, b.Args, equal) && slices.EqualFunc(a.Partition, b.Partition, equal) && slices.EqualFunc(a.Order, b.Order, sameKey)
}
