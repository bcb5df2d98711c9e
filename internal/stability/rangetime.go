package stability

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// Intervals of points in time are in days of dates, and in microseconds of all else: of
// timestamps since 1970, of times since midnight, of intervals (as far as they have no months) in all.

// extent is the place of a constant in its interval; false of one that has none, such as an interval
// with months, or one of days less hours: its days are not those that its length has.
func extent(v sqltype.Value) (*big.Rat, bool) {
	if i, ok := v.(sqltype.Interval); ok {
		length := new(big.Rat).Mul(big.NewRat(int64(i.Days), 1), big.NewRat(dayMicros, 1))
		return length.Add(length, big.NewRat(i.Micros, 1)), i.Months == 0 && (i.Days >= 0 && i.Micros >= 0 || i.Days <= 0 && i.Micros <= 0)
	}
	return ordinal(v)
}

var typeOfTimes = sqltype.Type{Kind: sqltype.TimestampKind}

// castRange is the interval of a cast's result.
func castRange(e *plan.Cast, r interval) interval {
	from, day := e.Arg.Type(), big.NewRat(dayMicros, 1)
	switch {
	case e.T.IsNumeric() && from.Kind == sqltype.Boolean:
		return between(0, 1)
	case e.T.IsNumeric():
		return rounded(r, e.T, from)
	case e.T == from:
		return r
	case e.T.Kind == sqltype.TimestampKind && from.Kind == sqltype.DateKind:
		return product(r, point(day))
	case e.T.Kind == sqltype.DateKind && from.Kind == sqltype.TimestampKind:
		return floored(quotient(r, point(day)))
	}
	return interval{}
}

// floored is where numbers of an interval lie once they are rounded down.
func floored(r interval) interval {
	if r.upper != nil {
		r.upper = new(big.Rat).SetInt(floor(r.upper))
	}
	return outward(r)
}

// timeRange is the interval of a function of points in time.
func timeRange(e *plan.Call, args []interval) interval {
	switch e.Function {
	case plan.AddDays:
		return interval{sum(args[0].lower, args[1].lower), sum(args[0].upper, args[1].upper)}
	case plan.SubtractDays, plan.Elapsed:
		return interval{difference(args[0].lower, args[1].upper), difference(args[0].upper, args[1].lower)}
	case plan.AddInterval:
		if e.Args[0].Type() == e.T {
			return interval{sum(args[0].lower, args[1].lower), sum(args[0].upper, args[1].upper)}
		}
	case plan.DateTrunc:
		return cutRange(e, args[1])
	case plan.Extract:
		return extractRange(e, args[1])
	}
	return interval{}
}

// cutRange is the interval of times that are cut down to a unit.
func cutRange(e *plan.Call, r interval) interval {
	unit, ok := e.Args[0].(*plan.Literal)
	if !ok || r.lower == nil {
		return interval{}
	}
	first, ok := valueAt(typeOfTimes, r.lower)
	if !ok {
		return interval{}
	}
	cut, ok := truncated(unit.Value.(string), first.(sqltype.Timestamp))
	if !ok {
		return interval{}
	}
	return interval{big.NewRat(int64(cut), 1), r.upper}
}

// extractRange is the interval of a field. A time's own fields have theirs whatever the time is.
func extractRange(e *plan.Call, r interval) interval {
	if lower, upper, ok := fieldRange(e); ok {
		return between(lower, upper)
	}
	l, ok := e.Args[0].(*plan.Literal)
	if !ok {
		return interval{}
	}
	field, _ := l.Value.(string)
	kind := e.Args[1].Type().Kind
	switch {
	case field == "epoch" && kind == sqltype.DateKind:
		return product(r, point(big.NewRat(86_400, 1)))
	case field == "epoch":
		return product(r, point(big.NewRat(1, 1_000_000)))
	case field == "day" && kind == sqltype.IntervalKind && r.bounded():
		return outward(quotient(r, point(big.NewRat(dayMicros, 1)))).hull(between(0, 0))
	case grows(field) && kind != sqltype.IntervalKind && r.bounded():
		first, ok := fieldAt(field, kind, r.lower)
		last, also := fieldAt(field, kind, r.upper)
		if ok && also {
			return between(first, last)
		}
	}
	return interval{}
}

// fieldAt is a field of a date or timestamp that is given by its place.
func fieldAt(field string, kind sqltype.Kind, at *big.Rat) (int64, bool) {
	if kind == sqltype.DateKind {
		at = new(big.Rat).Mul(at, big.NewRat(dayMicros, 1))
	}
	t, ok := valueAt(typeOfTimes, at)
	if !ok {
		return 0, false
	}
	return fieldOf(field, t.(sqltype.Timestamp))
}
