package bind

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

var aggregateFunctions = map[string]plan.AggregateFunction{
	"count": plan.Count, "sum": plan.Sum, "avg": plan.Avg, "min": plan.Min, "max": plan.Max,
	"var_pop": plan.VarPop, "var_samp": plan.VarSamp, "variance": plan.VarSamp,
	"stddev_pop": plan.StddevPop, "stddev_samp": plan.StddevSamp, "stddev": plan.StddevSamp,
	"bool_and": plan.BoolAnd, "bool_or": plan.BoolOr, "every": plan.BoolAnd,
	"countif":     plan.CountStar,
	"logical_and": plan.BoolAnd, "logical_or": plan.BoolOr, "approx_count_distinct": plan.Count,
	// Of two numbers: see regressions.
	"covar_pop": plan.Sum, "covar_samp": plan.Sum, "corr": plan.Sum, "regr_count": plan.Sum, "regr_avgx": plan.Sum, "regr_avgy": plan.Sum,
	"regr_sxx": plan.Sum, "regr_syy": plan.Sum, "regr_sxy": plan.Sum, "regr_slope": plan.Sum, "regr_intercept": plan.Sum, "regr_r2": plan.Sum,
	"median": plan.PercentileCont, "percentile_cont": plan.PercentileCont, "percentile_disc": plan.PercentileDisc,
}

// An aggregates collects a SELECT's aggregates; equal ones count once.
type aggregates struct {
	list []plan.Aggregation
	args *context // of their arguments: the rows before grouping
	rows *rows

	groupings []*groupingRef
}

// An aggregateRef stands for a collected aggregate until the SELECT is
// assembled.
type aggregateRef struct {
	index int
	t     sqltype.Type
	at    diagnostic.Span
}

func (a *aggregateRef) Type() sqltype.Type     { return a.t }
func (a *aggregateRef) Place() diagnostic.Span { return a.at }

func (c *context) aggregate(f plan.AggregateFunction, e *sqlparse.Call) plan.Expr {
	if c.aggregates == nil {
		d := diagnostic.New("D018", e.Span, "aggregate %s cannot stand in %s", e.Name.Name, c.clause)
		switch c.clause {
		case "an aggregate":
			d.Because("aggregates do not nest").Try("aggregate once in a subquery: SELECT avg(n) FROM (SELECT count(*) AS n FROM ... GROUP BY ...) AS t")
		case "WHERE":
			d.Because("WHERE chooses rows before they are grouped").Try("put the condition into HAVING")
		default:
			d.Try("aggregate in a subquery in FROM, and use its column here")
		}
		refuse(d)
	}
	if _, ok := regressions[e.Name.Name]; ok {
		return c.regression(e)
	}
	if e.Name.Name == "countif" {
		return c.countIf(e)
	}
	a := plan.Aggregation{Function: f, Name: e.Name.Name, Distinct: e.Distinct, Span: e.Span}
	if e.Name.Name == "approx_count_distinct" { // of GoogleSQL; which way it is counted makes no odds beside noise
		if e.Star {
			refuse(wrongCount(e, 1, 1))
		}
		a.Distinct = true
	}
	args := c.aggregates.args
	if e.Filter != nil {
		filter := *args
		filter.clause = "FILTER"
		a.Filter = filter.condition(e.Filter)
	}
	if f == plan.PercentileCont || f == plan.PercentileDisc {
		e = c.quantile(&a, e)
	} else if e.Within != nil {
		refuse(diagnostic.New("D018", e.Span, "%s takes no WITHIN GROUP", e.Name.Name).
			Because("it does not depend on the order of rows").Try("write %s(x)", e.Name.Name))
	}
	switch {
	case e.Star && f == plan.Count:
		a.Function, a.Distinct = plan.CountStar, false
	case e.Star:
		refuse(diagnostic.New("D016", e.Span, "%s needs a column", e.Name.Name).Because("only count takes *").Try("name the column: %s(x)", e.Name.Name))
	case len(e.Args) != 1:
		refuse(wrongCount(e, 1, 1))
	default:
		a.Arg = args.expr(e.Args[0])
	}
	a.Arg, a.Type = typeAggregate(f, a.Arg, e)
	if a.Distinct {
		switch f {
		case plan.Count:
			checkOrdered(a.Arg.Type(), e.Span, "DISTINCT")
		case plan.Min, plan.Max, plan.BoolAnd, plan.BoolOr:
			a.Distinct = false // it changes nothing
		default:
			refuse(diagnostic.New("D018", e.Span, "%s(DISTINCT ...) is not supported", e.Name.Name).
				Try("count(DISTINCT ...), or make the rows distinct in a subquery"))
		}
	}
	return c.collect(a)
}

// collect adds an aggregate to the SELECT's, or finds an equal one.
func (c *context) collect(a plan.Aggregation) plan.Expr {
	i := slices.IndexFunc(c.aggregates.list, func(b plan.Aggregation) bool {
		return a.Function == b.Function && a.Distinct == b.Distinct && sameFraction(a.Fraction, b.Fraction) && equal(a.Arg, b.Arg) && equal(a.Filter, b.Filter)
	})
	if i < 0 {
		i = len(c.aggregates.list)
		c.aggregates.list = append(c.aggregates.list, a)
	}
	return &aggregateRef{i, a.Type, a.Span}
}

// quantile reads which one is meant, and returns the call as one of the values alone.
func (c *context) quantile(a *plan.Aggregation, e *sqlparse.Call) *sqlparse.Call {
	of := *e
	if e.Distinct {
		refuse(diagnostic.New("D018", e.Span, "%s(DISTINCT ...) is not supported", e.Name.Name).
			Try("make the rows distinct in a subquery"))
	}
	if e.Name.Name == "median" && e.Within == nil {
		a.Fraction = big.NewRat(1, 2)
		return &of
	}
	if e.Name.Name == "median" {
		refuse(diagnostic.New("D018", e.Span, "median takes no WITHIN GROUP").Try("write median(x), or percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"))
	}
	if e.Within == nil {
		refuse(diagnostic.New("D018", e.Span, "%s needs WITHIN GROUP", e.Name.Name).
			Because("its argument says which quantile is meant, and ORDER BY of which values").
			Try("write %s(0.5) WITHIN GROUP (ORDER BY x)", e.Name.Name))
	}
	if len(e.Args) != 1 {
		refuse(wrongCount(e, 1, 1))
	}
	if list, ok := e.Args[0].(*sqlparse.Array); ok {
		refuse(diagnostic.New("D018", list.Span, "an array of quantiles cannot be computed with").
			Because("it stands for several columns").
			Try("let it stand alone in the select list, or write %s for each number", e.Name.Name))
	}
	a.Fraction = c.fraction(e, e.Args[0])
	of.Args = []sqlparse.Expr{e.Within}
	return &of
}

// fraction reads a constant between 0 and 1.
func (c *context) fraction(e *sqlparse.Call, of sqlparse.Expr) *big.Rat {
	x := numeric(e, c.aggregates.args.expr(of))
	var r *big.Rat
	if l, ok := x.(*plan.Literal); ok {
		switch v := l.Value.(type) {
		case int64:
			r = big.NewRat(v, 1)
		case float64:
			r = new(big.Rat).SetFloat64(v)
		case sqltype.Decimal:
			r = v.Rat()
		}
	}
	if r == nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0 {
		refuse(diagnostic.New("D017", of.Place(), "a quantile is named by a constant between 0 and 1").
			Try("write %s(0.5) for the middle value", e.Name.Name))
	}
	return r
}

func sameFraction(a, b *big.Rat) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Cmp(b) == 0
}

// several returns the items that stand in the place of one: of an array of quantiles one
// for each, named after its percentage.
func several(item sqlparse.Item) []sqlparse.Item {
	call, ok := item.Expr.(*sqlparse.Call)
	if ok && call.Name.Name == "approx_quantiles" {
		return evenly(item, call)
	}
	if !ok || call.Within == nil || len(call.Args) != 1 {
		return []sqlparse.Item{item}
	}
	list, ok := call.Args[0].(*sqlparse.Array)
	if !ok {
		return []sqlparse.Item{item}
	}
	var out []sqlparse.Item
	for i, p := range list.Items {
		of, one := *call, item
		of.Args, one.Expr = []sqlparse.Expr{p}, &of
		one.Alias.Name = fmt.Sprintf("%s_%s", outputName(item), percentage(p, i))
		out = append(out, one)
	}
	return out
}

// mostQuantiles bounds n of approx_quantiles(x, n).
const mostQuantiles = 100

// evenly returns, of GoogleSQL's approx_quantiles(x, n), the quantiles 0, 1/n, ... 1: values of the data's kind, as percentile_disc's.
func evenly(item sqlparse.Item, call *sqlparse.Call) (out []sqlparse.Item) {
	if len(call.Args) != 2 || call.Star || call.Within != nil {
		refuse(wrongCount(call, 2, 2))
	}
	n, ok := call.Args[1].(*sqlparse.Number)
	parts := 0
	if ok {
		parts, _ = strconv.Atoi(n.Text)
	}
	if parts < 1 || parts > mostQuantiles {
		refuse(diagnostic.New("D017", call.Args[1].Place(), "into how many parts is not a number from 1 to %d", mostQuantiles).Try("write approx_quantiles(x, 4)"))
	}
	for i := range parts + 1 {
		p := big.NewRat(int64(i), int64(parts)).FloatString(12)
		of, one := *call, item
		of.Name.Name, of.Within, one.Expr = "percentile_disc", call.Args[0], &of
		of.Args = []sqlparse.Expr{&sqlparse.Number{Text: p, Span: call.Args[1].Place()}}
		one.Alias.Name = fmt.Sprintf("%s_%d", outputName(item), i)
		out = append(out, one)
	}
	return out
}

// percentage names a quantile: 25 of 0.25, 99_9 of 0.999, and by its place what is no number.
func percentage(p sqlparse.Expr, place int) string {
	number, ok := p.(*sqlparse.Number)
	if !ok {
		return strconv.Itoa(place + 1)
	}
	r, ok := new(big.Rat).SetString(number.Text)
	if !ok {
		return strconv.Itoa(place + 1)
	}
	r.Mul(r, big.NewRat(100, 1))
	digits, _ := r.FloatPrec()
	return strings.ReplaceAll(r.FloatString(min(digits, 12)), ".", "_")
}

// typeAggregate returns the argument as the aggregate wants it and the
// result's type: PostgreSQL's, but double for every average and deviation and
// for sums of reals.
func typeAggregate(f plan.AggregateFunction, arg plan.Expr, e *sqlparse.Call) (plan.Expr, sqltype.Type) {
	double := typeOf(sqltype.Double)
	switch f {
	case plan.CountStar, plan.Count:
		if arg != nil {
			arg = known(arg)
		}
		return arg, typeOf(sqltype.Bigint)
	case plan.BoolAnd, plan.BoolOr:
		arg = coerce(arg, typeOf(sqltype.Boolean), e.Name.Name)
		return arg, arg.Type()
	case plan.Min, plan.Max:
		arg = known(arg)
		if k := arg.Type().Kind; k == sqltype.IntervalKind {
			checkOrdered(arg.Type(), e.Span, e.Name.Name)
		} else if k == sqltype.Boolean {
			refuse(diagnostic.New("D015", e.Span, "%s wants something with an order, not a boolean", e.Name.Name).Try("use bool_and or bool_or"))
		}
		return arg, arg.Type()
	}
	if f == plan.PercentileDisc {
		arg = known(arg)
		checkOrdered(arg.Type(), e.Span, e.Name.Name)
		return arg, arg.Type()
	}
	if arg.Type().Kind == sqltype.Boolean && f != plan.PercentileCont { // the share of TRUE, and how many are
		arg = truth(arg)
	}
	arg = numeric(e, arg)
	if f != plan.Sum {
		return arg, double
	}
	switch t := arg.Type(); {
	case t.Kind == sqltype.Smallint || t.Kind == sqltype.Integer:
		return arg, typeOf(sqltype.Bigint)
	case t.Kind == sqltype.Bigint:
		return arg, sqltype.DecimalOf(maxDigits, 0)
	case t.Kind == sqltype.DecimalKind:
		return arg, sqltype.DecimalOf(maxDigits, t.Scale)
	}
	return cast(arg, double), double
}

// truth is 1 for TRUE and 0 for FALSE.
func truth(e plan.Expr) plan.Expr {
	whole := func(n int64) plan.Expr { return integer(n, e.Place()) }
	return &plan.Case{Whens: []plan.When{{Condition: e, Result: whole(1)}, {Condition: boolean(plan.Not, e.Place(), e), Result: whole(0)}},
		T: typeOf(sqltype.Integer), Span: e.Place()}
}

// countIf is GoogleSQL's count(*) FILTER (WHERE x).
func (c *context) countIf(e *sqlparse.Call) plan.Expr {
	if e.Star || e.Distinct || e.Within != nil || len(e.Args) != 1 {
		refuse(diagnostic.New("D016", e.Span, "countif takes one condition").Try("write countif(x > 0)"))
	}
	filter := *c.aggregates.args
	filter.clause = "countif"
	a := plan.Aggregation{Function: plan.CountStar, Filter: filter.condition(e.Args[0]), Name: "countif", Type: typeOf(sqltype.Bigint), Span: e.Span}
	if e.Filter != nil {
		filter.clause = "FILTER"
		a.Filter = boolean(plan.And, e.Span, filter.condition(e.Filter), a.Filter)
	}
	return c.collect(a)
}

// equal reports whether two expressions are the same but for their places.
func equal(a, b plan.Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a := a.(type) {
	case *plan.Ref:
		b, ok := b.(*plan.Ref)
		return ok && a.Index == b.Index
	case *plan.Literal:
		b, ok := b.(*plan.Literal)
		return ok && sqltype.Key(a.Value) == sqltype.Key(b.Value)
	case *plan.Call:
		b, ok := b.(*plan.Call)
		return ok && a.Function == b.Function && slices.EqualFunc(a.Args, b.Args, equal)
	case *plan.Case:
		b, ok := b.(*plan.Case)
		return ok && equal(a.Else, b.Else) && slices.EqualFunc(a.Whens, b.Whens, func(x, y plan.When) bool {
			return equal(x.Condition, y.Condition) && equal(x.Result, y.Result)
		})
	case *plan.Cast:
		b, ok := b.(*plan.Cast)
		return ok && equal(a.Arg, b.Arg)
	case *aggregateRef:
		b, ok := b.(*aggregateRef)
		return ok && a.index == b.index
	case *groupingRef:
		b, ok := b.(*groupingRef)
		return ok && a.index == b.index
	case *windowRef:
		b, ok := b.(*windowRef)
		return ok && a.index == b.index
	case *scalarRef:
		b, ok := b.(*scalarRef)
		return ok && a.index == b.index
	}
	return false
}

// replaceExprs rebuilds e; where f returns an expression, that stands in the place of
// the one it was given.
func replaceExprs(e plan.Expr, f func(plan.Expr) plan.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	if out := f(e); out != nil {
		return out
	}
	switch e := e.(type) {
	case *plan.Call:
		c := *e
		c.Args = make([]plan.Expr, len(e.Args))
		for i, a := range e.Args {
			c.Args[i] = replaceExprs(a, f)
		}
		return &c
	case *plan.Case:
		c := *e
		c.Whens = make([]plan.When, len(e.Whens))
		for i, w := range e.Whens {
			c.Whens[i] = plan.When{Condition: replaceExprs(w.Condition, f), Result: replaceExprs(w.Result, f)}
		}
		c.Else = replaceExprs(e.Else, f)
		return &c
	case *plan.Cast:
		c := *e
		c.Arg = replaceExprs(e.Arg, f)
		return &c
	}
	return e
}
