package render

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// aggregate prints grouping. Keys and arguments get names in a subquery, so
// that each is computed once; FILTER becomes an argument that is NULL.
func (r *renderer) aggregate(n *plan.Aggregate) string {
	s := r.scope(column)
	var inner, keys, out, means []string
	for i, k := range n.Keys {
		key := fmt.Sprintf("k%d", i)
		keys = append(keys, key)
		inner = append(inner, s.expr(k)+" AS "+key)
		out = append(out, key+" AS "+column(i))
	}
	for i, a := range n.Aggregations {
		arg := fmt.Sprintf("a%d", i)
		if a.Arg != nil || a.Filter != nil {
			inner = append(inner, s.argument(a)+" AS "+arg)
		}
		if (a.Function == plan.PercentileCont || a.Function == plan.PercentileDisc) && !r.dialect.percentiles() {
			return r.lacks(n.Span, string(a.Function)+" of the rows of a unit")
		}
		if isDeviation(a.Function) {
			if !r.dialect.squares() {
				return r.lacks(n.Span, string(a.Function)+" of the rows of a unit")
			}
			means = append(means, fmt.Sprintf("%s / count(%s) OVER w AS m%d", r.dialect.fixedSum(s, arg, " OVER w"), arg, i))
		}
		out = append(out, fmt.Sprintf("%s AS %s", s.aggregation(a, arg, fmt.Sprintf("m%d", i)), column(len(n.Keys)+i)))
	}
	if len(out) == 0 { // SELECT with HAVING but no aggregate
		out = append(out, "count(*) AS one")
	}
	from := fmt.Sprintf("(SELECT %s FROM %s) AS t", orOne(strings.Join(inner, ", ")), r.input(n.Input, "t"))
	if len(means) > 0 {
		partition := ""
		if len(keys) > 0 {
			partition = "PARTITION BY " + strings.Join(keys, ", ")
		}
		from = fmt.Sprintf("(SELECT *, %s FROM %s WINDOW w AS (%s)) AS t", strings.Join(means, ", "), from, partition)
	}
	sql := fmt.Sprintf("SELECT %s FROM %s", strings.Join(out, ", "), from)
	if len(keys) > 0 {
		sql += " GROUP BY " + strings.Join(keys, ", ")
	}
	return sql
}

// argument prints an aggregate's argument in the type that it is computed in.
func (s scope) argument(a plan.Aggregation) string {
	if a.Arg == nil {
		return fmt.Sprintf("CASE WHEN %s THEN 1 END", s.expr(a.Filter))
	}
	x := s.expr(a.Arg)
	if isDeviation(a.Function) || a.Function == plan.PercentileCont || a.Function == plan.Avg && a.Arg.Type().Kind == sqltype.Real {
		x = s.double(x)
	}
	if a.Filter == nil {
		return x
	}
	return fmt.Sprintf("CASE WHEN %s THEN %s END", s.expr(a.Filter), x)
}

func (s scope) double(x string) string {
	return fmt.Sprintf("CAST(%s AS %s)", x, s.dialect.typeName(sqltype.Of(sqltype.Double)))
}

func isDeviation(f plan.AggregateFunction) bool {
	return f == plan.VarPop || f == plan.VarSamp || f == plan.StddevPop || f == plan.StddevSamp
}

// aggregation prints an aggregate of the column x; mean holds the group's mean
// for deviations.
func (s scope) aggregation(a plan.Aggregation, x, mean string) string {
	switch a.Function {
	case plan.CountStar:
		if a.Filter == nil {
			return "count(*)"
		}
		return fmt.Sprintf("count(%s)", x)
	case plan.Count:
		if a.Distinct {
			return fmt.Sprintf("count(DISTINCT %s)", x)
		}
		return fmt.Sprintf("count(%s)", x)
	case plan.Min, plan.Max, plan.BoolAnd, plan.BoolOr:
		return fmt.Sprintf("%s(%s)", a.Function, x)
	case plan.PercentileCont, plan.PercentileDisc: // of all engines PostgreSQL's
		return fmt.Sprintf("%s(%s) WITHIN GROUP (ORDER BY %s)", a.Function, a.Fraction.FloatString(17), x)
	case plan.Sum:
		if a.Arg.Type().IsFloat() {
			return s.dialect.fixedSum(s, x, "")
		}
		if a.Type.IsInteger() {
			return s.dialect.narrow(s, s.dialect.exactSum(x, "", a.Arg.Type()), a.Type)
		}
		return s.dialect.fit(s, s.dialect.exactSum(x, "", a.Arg.Type()), a.Type)
	case plan.Avg:
		sum := s.dialect.fixedSum(s, x, "")
		if !a.Arg.Type().IsFloat() {
			sum = s.double(s.dialect.exactSum(x, "", a.Arg.Type()))
		}
		return fmt.Sprintf("CASE WHEN count(%s) > 0 THEN %s / count(%s) END", x, sum, x)
	}
	less, root := 0, "%s"
	if a.Function == plan.VarSamp || a.Function == plan.StddevSamp {
		less = 1
	}
	if a.Function == plan.StddevPop || a.Function == plan.StddevSamp {
		root = "sqrt(%s)"
	}
	square := fmt.Sprintf("((%s - %s) * (%s - %s))", x, mean, x, mean)
	return fmt.Sprintf("CASE WHEN count(%s) > %d THEN "+root+" END", x, less, fmt.Sprintf("%s / (count(%s) - %d)", s.dialect.fixedSum(s, square, ""), x, less))
}

// exactSum sums integers and decimals. Up to 18 digits the accumulator has
// room for more rows than there can be; of wider decimals, the sum is NULL if
// one has more than 28 digits, so that 10^10 others cannot overflow it.
func (duckDB) exactSum(x, over string, t sqltype.Type) string {
	if t.Kind != sqltype.DecimalKind || t.Precision <= 28 {
		return fmt.Sprintf("sum(%s)%s", x, over)
	}
	limit := decimal(pow10(28), t.Scale)
	return fmt.Sprintf("CASE WHEN max(abs(%s))%s < %s THEN sum(CASE WHEN abs(%s) < %s THEN %s END)%s END", x, over, limit, x, limit, x, over)
}

// fixedSum sums doubles in fixed point, in two parts of 128 bits: the whole
// ones, and the rest in units of 2^-90. Addition of integers is associative,
// which that of doubles is not. Up to 2^36 values below 2^90 cannot overflow;
// if one is larger, the sum is NULL.
func (duckDB) fixedSum(s scope, x, over string) string {
	limit := new(big.Float).SetMantExp(big.NewFloat(1), 90).Text('e', 20)
	in := fmt.Sprintf("abs(%s) <= %s", x, limit)
	whole := fmt.Sprintf("sum(CASE WHEN %s THEN CAST(round(%s) AS HUGEINT) END)%s", in, x, over)
	rest := fmt.Sprintf("sum(CASE WHEN %s THEN CAST((%s - round(%s)) * %s AS HUGEINT) END)%s", in, x, x, limit, over)
	return fmt.Sprintf("(CASE WHEN max(abs(%s))%s <= %s THEN CAST(%s AS DOUBLE) + CAST(%s AS DOUBLE) / %s END)", x, over, limit, whole, rest, limit)
}
