package stability

import (
	"math"
	"math/big"
	"slices"
	"unicode"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// facts are what is known of the columns of a plan. A subquery's column may be
// used several times, at every level of a statement: without this memory, the
// time would be exponential in their number.
type facts struct {
	ranges  map[place]interval
	domains map[place][]*catalog.PublicDomain
	images  map[place]*image
	work    int // how many values images have looked at
	found   *Found

	declared *facts // of ranges where nothing was found, once they are asked for

	compared int // how many values conditions were compared with: see narrowed

	public Public
	listed map[typedColumn]*catalog.PublicDomain // of public, each once
	unread []*catalog.PublicDomain               // that would be known better by values of their public columns
}

// A place is a column of a node.
type place struct {
	node   plan.Node
	column int
}

func newFacts() *facts {
	return &facts{ranges: map[place]interval{}, domains: map[place][]*catalog.PublicDomain{}, images: map[place]*image{}, listed: map[typedColumn]*catalog.PublicDomain{}}
}

// rangeOf returns the interval of an expression over the columns of n.
func (f *facts) rangeOf(n plan.Node, e plan.Expr) interval {
	switch e := e.(type) {
	case *plan.Ref:
		return f.columnRange(n, e.Index)
	case *plan.Literal:
		if r, ok := extent(e.Value); ok {
			return point(r)
		}
		return interval{}
	case *plan.Cast:
		return castRange(e, f.rangeOf(n, e.Arg))
	case *plan.Case:
		var r interval
		some := false
		add := func(n plan.Node, result plan.Expr) {
			if result == nil || isNull(result) { // NULL is nowhere
				return
			}
			of := f.rangeOf(n, result)
			if some {
				of = r.hull(of)
			}
			r, some = of, true
		}
		for _, w := range e.Whens {
			add(&plan.Filter{Input: n, Condition: w.Condition}, w.Result)
		}
		add(n, e.Else)
		return r
	case *plan.Call:
		args := make([]interval, len(e.Args))
		for i, a := range e.Args {
			args[i] = f.rangeOf(n, a)
		}
		return callRange(e, args).computed(e.T).short()
	}
	return interval{}
}

func isNull(e plan.Expr) bool {
	l, ok := e.(*plan.Literal)
	return ok && l.Value == nil
}

// rounded widens r to what a cast to an exact type rounds to.
func rounded(r interval, to, from sqltype.Type) interval {
	switch {
	case to.IsInteger() && !from.IsInteger():
		return outward(r)
	case to.Kind == sqltype.DecimalKind && !from.IsInteger():
		return outwardTo(unitOf(to), r)
	}
	return r
}

func callRange(e *plan.Call, args []interval) interval {
	switch e.Function {
	case plan.Add:
		return interval{sum(args[0].lower, args[1].lower), sum(args[0].upper, args[1].upper)}
	case plan.Subtract:
		return interval{difference(args[0].lower, args[1].upper), difference(args[0].upper, args[1].lower)}
	case plan.Negate:
		return interval{negated(args[0].upper), negated(args[0].lower)}
	case plan.Multiply:
		r := product(args[0], args[1])
		if plan.FormatExpr(e.Args[0]) == plan.FormatExpr(e.Args[1]) { // a square
			r.lower = new(big.Rat)
			if a := args[0]; a.bounded() && a.lower.Sign()*a.upper.Sign() > 0 {
				r.lower = product(a, a).lower
			}
		}
		return r
	case plan.Divide:
		r := quotient(args[0], args[1])
		if e.T.IsInteger() {
			return outward(r)
		}
		return r
	case plan.Modulo:
		if m := args[1]; m.bounded() {
			most := greater(new(big.Rat).Abs(m.lower), new(big.Rat).Abs(m.upper))
			r := interval{negated(most), most}
			if args[0].lower != nil && args[0].lower.Sign() >= 0 {
				r.lower = new(big.Rat)
			}
			return r
		}
	case plan.Abs:
		if r := args[0]; r.bounded() {
			if r.lower.Sign() >= 0 {
				return r
			}
			if r.upper.Sign() <= 0 {
				return interval{negated(r.upper), negated(r.lower)}
			}
			return interval{new(big.Rat), greater(negated(r.lower), r.upper)}
		}
		return interval{lower: new(big.Rat)}
	case plan.Sign:
		return between(-1, 1)
	case plan.Floor, plan.Ceil, plan.Round, plan.Trunc:
		if len(e.Args) == 2 { // to tens, too
			return interval{roundedEnd(e, args[0].lower), roundedEnd(e, args[0].upper)}
		}
		return outward(args[0])
	case plan.Greatest, plan.Least:
		return extremeRange(e, args)
	case plan.Coalesce:
		r := args[0]
		for i, a := range args[1:] {
			if !isNull(e.Args[i+1]) {
				r = r.hull(a)
			}
		}
		return r
	case plan.NullIf:
		return args[0]
	case plan.Length, plan.Position, plan.MatchCount:
		return interval{lower: new(big.Rat)}
	case plan.CodePoint:
		return between(0, unicode.MaxRune)
	case plan.Sqrt:
		if r := args[0]; r.bounded() && r.upper.Sign() >= 0 {
			upper := new(big.Int).Sqrt(ceil(r.upper))
			return interval{new(big.Rat), new(big.Rat).SetInt(upper.Add(upper, big.NewInt(1)))}
		}
		return interval{lower: new(big.Rat)}
	case plan.WidthBucket:
		if n := args[3]; n.bounded() {
			return interval{new(big.Rat), new(big.Rat).Add(n.upper, big.NewRat(1, 1))}
		}
	case plan.Exp:
		return interval{curved(args[0].lower, math.Exp), curved(args[0].upper, math.Exp)}
	case plan.Ln:
		return interval{curved(args[0].lower, math.Log), curved(args[0].upper, math.Log)}
	case plan.Log10:
		return interval{curved(args[0].lower, math.Log10), curved(args[0].upper, math.Log10)}
	case plan.Power:
		return powerRange(args[0], args[1])
	case plan.AddDays, plan.SubtractDays, plan.Elapsed, plan.AddInterval, plan.DateTrunc, plan.Extract:
		return timeRange(e, args)
	}
	return interval{}
}

// extremeRange: GREATEST and LEAST pass over NULL, so that an argument that can be NULL does not bound the others.
func extremeRange(e *plan.Call, args []interval) interval {
	r := args[0]
	for _, a := range args[1:] {
		r = r.hull(a)
	}
	for i, a := range args {
		switch {
		case !neverNull(e.Args[i]):
		case e.Function == plan.Greatest:
			r.lower = maxOf(r.lower, a.lower)
		default:
			r.upper = minOf(r.upper, a.upper)
		}
	}
	return r
}

// neverNull reports whether an expression is plainly a value in each row.
func neverNull(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Literal:
		return e.Value != nil
	case *plan.Cast:
		return e.T.Kind == sqltype.Double && neverNull(e.Arg)
	case *plan.Call:
		return slices.Contains([]plan.Function{plan.Greatest, plan.Least, plan.Coalesce}, e.Function) && slices.ContainsFunc(e.Args, neverNull)
	}
	return false
}

func roundedEnd(e *plan.Call, end *big.Rat) *big.Rat {
	if end == nil {
		return nil
	}
	return roundedBy(e, end)
}

// curved is an end that a growing function has moved; nil where its value is not finite.
func curved(end *big.Rat, f func(float64) float64) *big.Rat {
	if end == nil {
		return nil
	}
	x, _ := end.Float64()
	return new(big.Rat).SetFloat64(f(x)) // nil of infinities and NaN
}

// powerRange is the interval of x^p for a constant p above 0.
func powerRange(x, p interval) interval {
	if !x.bounded() || !p.bounded() || p.lower.Cmp(p.upper) != 0 || p.lower.Sign() <= 0 {
		return interval{}
	}
	exponent, _ := p.lower.Float64()
	whole, odd := math.Mod(exponent, 1) == 0, math.Mod(exponent, 2) == 1
	to := func(end *big.Rat) *big.Rat {
		return curved(end, func(v float64) float64 { return math.Pow(v, exponent) })
	}
	switch {
	case x.lower.Sign() >= 0 || odd:
		return interval{to(x.lower), to(x.upper)}
	case whole:
		return interval{new(big.Rat), to(greater(negated(x.lower), x.upper))}
	}
	return interval{lower: new(big.Rat), upper: to(x.upper)} // a negative number has no such power
}

// fieldRange is the range of extract's field of a date or time. An interval's
// fields have none: it can be of 300 days, or of minus one hour.
func fieldRange(e *plan.Call) (lower, upper int64, ok bool) {
	l, ok := e.Args[0].(*plan.Literal)
	if !ok || e.Args[1].Type().Kind == sqltype.IntervalKind {
		return 0, 0, false
	}
	f, ok := fields[l.Value.(string)]
	if l.Value == "hour" && e.Args[1].Type().Kind == sqltype.TimeKind {
		f.upper = 24 // PostgreSQL has the time 24:00
	}
	return f.lower, f.upper, ok
}

// fields are the ranges of extract's fields that do not depend on the data.
// Seconds are excluded: they are fractions.
var fields = map[string]struct{ lower, upper int64 }{
	"month": {1, 12}, "day": {1, 31}, "hour": {0, 23}, "minute": {0, 59}, "quarter": {1, 4},
	"dow": {0, 6}, "isodow": {1, 7}, "doy": {1, 366}, "week": {1, 53},
}

// columnRange looks at each column of a node once.
func (f *facts) columnRange(n plan.Node, i int) interval {
	at := place{n, i}
	r, ok := f.ranges[at]
	if !ok {
		r = f.findRange(n, i)
		f.ranges[at] = r
	}
	return r
}

// declaredRange is what the owner declares of a column.
func declaredRange(c *catalog.Column) (r interval) {
	if c.Lower != nil {
		r.lower, _ = ordinal(c.Lower)
	}
	if c.Upper != nil {
		r.upper, _ = ordinal(c.Upper)
	}
	return r
}

func (f *facts) findRange(n plan.Node, i int) interval {
	switch n := n.(type) {
	case *plan.Scan:
		return f.found.narrow(n.Table.Columns[i], declaredRange(n.Table.Columns[i]))
	case *plan.Values:
		r := f.rangeOf(n, n.Rows[0][i])
		for _, row := range n.Rows[1:] {
			r = r.hull(f.rangeOf(n, row[i]))
		}
		return r
	case *plan.Project:
		// The owner's word, as at a table. Values are clamped where they are aggregated, so
		// that nothing depends on whether it is true.
		if c := n.Declares(i); c != nil && c.Lower != nil {
			return declaredRange(c)
		}
		return f.rangeOf(n.Input, n.Exprs[i])
	case *plan.Join:
		if left := len(n.Left.Columns()); i < left {
			return f.columnRange(n.Left, i)
		} else {
			return f.columnRange(n.Right, i-left)
		}
	case *plan.Union:
		r := f.columnRange(n.Branches[0], i)
		for _, b := range n.Branches[1:] {
			r = r.hull(f.columnRange(b, i))
		}
		return r
	case *plan.Aggregate:
		if i < len(n.Keys) {
			return f.rangeOf(n.Input, n.Keys[i])
		}
		switch a := n.Aggregations[i-len(n.Keys)]; a.Function {
		case plan.CountStar, plan.Count:
			return interval{lower: new(big.Rat)}
		case plan.Min, plan.Max, plan.Avg, plan.PercentileCont, plan.PercentileDisc:
			return f.rangeOf(n.Input, a.Arg)
		case plan.Sum:
			return sumRange(f.rangeOf(n.Input, a.Arg))
		case plan.VarPop, plan.VarSamp, plan.StddevPop, plan.StddevSamp:
			return interval{lower: new(big.Rat)}
		}
		return interval{}
	case *plan.Filter:
		return narrowedRange(f.columnRange(n.Input, i), n.Input.Columns()[i].Type, i, n.Condition)
	case *plan.Window:
		if width := len(n.Input.Columns()); i >= width {
			return f.windowRange(n, n.Functions[i-width])
		}
		return f.columnRange(n.Input, i)
	case *plan.Sort:
		return f.columnRange(n.Input, i)
	case *plan.Limit:
		return f.columnRange(n.Input, i)
	}
	return interval{}
}
