package bind

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// Differences of points in time, in GoogleSQL's words: date_diff(later, earlier, MONTH) counts the months that begin between the two, and
// timestamp_diff(later, earlier, HOUR) the whole hours that have passed. DuckDB's date_diff('month', earlier, later) is the first.

var differences = []string{"date_diff", "datetime_diff", "timestamp_diff"}

var differenceUnits = []string{"second", "minute", "hour", "day", "month", "quarter", "year"}

// differing writes the unit of a difference, a word, as a text, and the later point first.
func differing(e *sqlparse.Call) *sqlparse.Call {
	if !slices.Contains(differences, e.Name.Name) || len(e.Args) != 3 {
		return e
	}
	out := *e
	if _, ok := e.Args[0].(*sqlparse.String); ok { // DuckDB's
		out.Args = []sqlparse.Expr{e.Args[0], e.Args[2], e.Args[1]}
		return &out
	}
	unit, ok := e.Args[2].(*sqlparse.Name)
	if !ok || unit.Qualifier.Name != "" {
		return e
	}
	out.Args = []sqlparse.Expr{&sqlparse.String{Value: unit.Column.Name, Span: unit.Span}, e.Args[0], e.Args[1]}
	return &out
}

func difference(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	name, long, date := e.Name.Name, typeOf(sqltype.Bigint), typeOf(sqltype.DateKind)
	unit := c.word(name, "the unit", args[0], "day")
	later, earlier := args[1], args[2]
	for _, x := range []*plan.Expr{&later, &earlier} {
		if !isPoint((*x).Type().Kind) {
			refuse(diagnostic.New("D015", (*x).Place(), "%s is of dates and timestamps, and this is %s", name, article((*x).Type())).
				Try("write %s(later, earlier, DAY); before a constant in quotes write DATE or TIMESTAMP", name))
		}
	}
	of := func(x plan.Expr, field string, times int64) plan.Expr {
		n := cast(extract(c, e, []plan.Expr{&plan.Literal{Value: field, T: typeOf(sqltype.Text), Span: e.Span}, x}), long)
		return c.arithmetic("*", n, &plan.Literal{Value: times, T: long, Span: e.Span}, e.Span)
	}
	less := func(f func(plan.Expr) plan.Expr) plan.Expr { return c.arithmetic("-", f(later), f(earlier), e.Span) }
	seconds := map[string]int64{"second": 1, "minute": 60, "hour": 3600, "day": 86400}[unit]
	switch {
	case name == "timestamp_diff" && seconds > 0:
		passed := extract(c, e, []plan.Expr{&plan.Literal{Value: "epoch", T: typeOf(sqltype.Text), Span: e.Span},
			c.temporal("-", cast(later, typeOf(sqltype.TimestampKind)), cast(earlier, typeOf(sqltype.TimestampKind)), e.Span)})
		whole := cast(&plan.Call{Function: plan.Trunc, Args: []plan.Expr{passed}, T: passed.Type(), Span: e.Span}, long)
		return c.arithmetic("/", whole, &plan.Literal{Value: seconds, T: long, Span: e.Span}, e.Span)
	case name == "timestamp_diff" || !slices.Contains(differenceUnits, unit):
		refuse(diagnostic.New("D017", args[0].Place(), "%s has no unit %s", name, clip(unit)).
			Because("timestamp_diff counts what has passed, in units of one length each").
			Try("write date_diff(later, earlier, MONTH), or DAY, QUARTER or YEAR; of timestamp_diff there are SECOND, MINUTE, HOUR and DAY"))
	case unit == "day":
		return cast(less(func(x plan.Expr) plan.Expr { return cast(x, date) }), long)
	case seconds > 0:
		return less(func(x plan.Expr) plan.Expr {
			cut := call(plan.DateTrunc, typeOf(sqltype.TimestampKind), e, &plan.Literal{Value: unit, T: typeOf(sqltype.Text), Span: e.Span}, cast(x, typeOf(sqltype.TimestampKind)))
			return c.arithmetic("/", of(cut, "epoch", 1), &plan.Literal{Value: seconds, T: long, Span: e.Span}, e.Span)
		})
	case unit == "year":
		return less(func(x plan.Expr) plan.Expr { return of(x, "year", 1) })
	}
	c.repeat(later, 1)
	c.repeat(earlier, 1)
	return less(func(x plan.Expr) plan.Expr {
		return c.arithmetic("+", of(x, "year", map[string]int64{"month": 12, "quarter": 4}[unit]), of(x, unit, 1), e.Span)
	})
}
