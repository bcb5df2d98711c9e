package bind

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// middle is about the middle of what a number may be: itself where each column is in the middle of its
// declared bounds. Any constant would do, since what is less it is bounded by itself; this one makes sums small. Points in time are in
// days of dates, and in microseconds of all else.
func (a *aggregates) middle(x plan.Expr) (float64, bool) {
	v, ok := a.middleOf(x)
	return v + 0, ok && !math.IsInf(v, 0) && !math.IsNaN(v)
}

func (a *aggregates) middleOf(x plan.Expr) (float64, bool) {
	switch x := x.(type) {
	case *plan.Literal:
		return middleOfBounds(x.Value, x.Value)
	case *plan.Ref:
		if a.rows == nil || a.rows.node == nil {
			return 0, false
		}
		column := plan.Source(a.rows.node, x.Index)
		if column == nil || column.Lower == nil {
			return 0, false
		}
		return middleOfBounds(column.Lower, column.Upper)
	case *plan.Cast:
		v, ok := a.middleOf(x.Arg)
		switch from, to := x.Arg.Type(), x.T; {
		case from.Kind == sqltype.DateKind && to.Kind == sqltype.TimestampKind:
			return v * microsADay, ok
		case from.Kind == sqltype.TimestampKind && to.Kind == sqltype.DateKind:
			return v / microsADay, ok
		default:
			return v, ok && (from.IsNumeric() && to.IsNumeric() || from == to)
		}
	case *plan.Call:
		return a.middleOfCall(x)
	}
	return 0, false
}

const microsADay = 86_400_000_000

func (a *aggregates) middleOfCall(x *plan.Call) (float64, bool) {
	if x.Function == plan.Extract {
		field, _ := x.Args[0].(*plan.Literal).Value.(string)
		v, ok := a.middleOf(x.Args[1])
		from := x.Args[1].Type().Kind
		switch {
		case field == "epoch" && from == sqltype.DateKind:
			return v * 86_400, ok
		case field == "epoch":
			return v / 1e6, ok
		case from == sqltype.IntervalKind:
			return 0, false
		}
		v, ok = middles[field]
		return v, ok
	}
	args := make([]float64, len(x.Args))
	for i, e := range x.Args {
		var ok bool
		if args[i], ok = a.middleOf(e); !ok {
			return 0, false
		}
	}
	switch x.Function {
	case plan.Add, plan.AddDays:
		return args[0] + args[1], true
	case plan.Subtract, plan.SubtractDays, plan.Elapsed:
		return args[0] - args[1], true
	case plan.Multiply:
		return args[0] * args[1], true
	case plan.Divide:
		return args[0] / args[1], true
	case plan.Negate:
		return -args[0], true
	}
	return 0, false
}

// middles are the middles of fields that are the same whatever the time is.
var middles = map[string]float64{
	"month": 6.5, "day": 16, "hour": 11.5, "minute": 29.5, "second": 30, "quarter": 2.5, "dow": 3, "isodow": 4, "doy": 183.5, "week": 27,
}

func middleOfBounds(lower, upper sqltype.Value) (float64, bool) {
	sum := new(big.Rat)
	for _, end := range []sqltype.Value{lower, upper} {
		switch v := end.(type) {
		case int64:
			sum.Add(sum, new(big.Rat).SetInt64(v))
		case float64:
			sum.Add(sum, new(big.Rat).SetFloat64(v))
		case sqltype.Decimal:
			sum.Add(sum, v.Rat())
		case sqltype.Date:
			sum.Add(sum, new(big.Rat).SetInt64(int64(v)))
		case sqltype.Timestamp:
			sum.Add(sum, new(big.Rat).SetInt64(int64(v)))
		default:
			return 0, false
		}
	}
	v, _ := sum.Mul(sum, big.NewRat(1, 2)).Float64()
	return v, true
}
