// Package rewrite turns certified plans into plans to run: the unit's key
// threaded through private rows, keys outside a public domain dropped,
// contributions bounded at the aggregation, intervals carried through
// post-processing. Plan to plan.
//
// It enforces what package stability's certificate states and assumes nothing
// of the data: bounds are applied even where the owner declares them.
package rewrite

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

var (
	bigint  = sqltype.Of(sqltype.Bigint)
	boolean = sqltype.Of(sqltype.Boolean)
	double  = sqltype.Of(sqltype.Double)
)

// Release returns the exact query of a release. Its columns are the keys, then
// one integer for each component that is no tree, then, if the groups are privately
// selected, the number of distinct units. values are those of each key's public domain, of
// the keys that bound where these are finer, where they are known; nil if they are not.
func Release(r *stability.Release, values [][]sqltype.Value) *plan.Bounded {
	b := bounded(r, values)
	for _, c := range r.Components {
		if c.Kind != stability.Tree {
			b.Contributions = append(b.Contributions, contribution(c))
		}
	}
	if r.Private {
		b.Contributions = append(b.Contributions, plan.Contribution{Kind: plan.UnitCount})
	}
	for _, c := range b.Contributions {
		if r.Kept && c.Kind != plan.Added && c.Kind != plan.DistinctValues {
			panic("rewrite: what looks at all of a unit's rows is bounded by single rows")
		}
	}
	return b
}

// Summed reports whether a release has a query besides those of its trees: where all of its
// components are trees, and its groups are public, there is nothing else to ask.
func Summed(r *stability.Release) bool {
	return r.Private || len(r.Components) == 0 ||
		slices.ContainsFunc(r.Components, func(c stability.Component) bool { return c.Kind != stability.Tree })
}

// Trees returns, for each component that is a tree, the exact query of its leaves: the keys,
// the number of a place, and how many rows are there. Each applies the release's bounds to
// all of its rows, so that a unit keeps as many groups and rows in it as in Release's.
func Trees(r *stability.Release, values [][]sqltype.Value) []*plan.Bounded {
	var out []*plan.Bounded
	for _, c := range r.Components {
		if c.Kind == stability.Tree {
			b := bounded(r, values)
			b.Bin = place(c)
			b.Contributions = []plan.Contribution{{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: bigint}}}
			out = append(out, b)
		}
	}
	return out
}

// place is the number of the place that is nearest to x, NULL where x does not count.
func place(c stability.Component) plan.Expr {
	half := new(big.Int).Rsh(c.Step, 1)
	number := func(n *big.Int) plan.Expr { return &plan.Literal{Value: n.Int64(), T: bigint} }
	above := call(plan.Subtract, bigint, fixed(c), number(new(big.Int).Sub(c.LowerUnits, half)))
	return when(c.Filter, call(plan.Divide, bigint, above, number(c.Step)))
}

// bounded is the aggregation of a release without what is summed.
func bounded(r *stability.Release, values [][]sqltype.Value) *plan.Bounded {
	var keyed []*catalog.Table
	if !r.OneRow {
		keyed = rowTables(r.Input)
	}
	rows := thread(r.Input, keyed)
	unit := len(rows.Columns()) - 1
	b := &plan.Bounded{Unit: unit, Whole: r.OneRow || r.Kept, MaxGroups: r.MaxGroups, MaxRows: r.MaxRows, Span: r.Span}
	groups := int64(1)
	keys := r.Keys
	if r.Within != nil {
		keys, b.Shown = r.Within, r.Shown
		if b.Shown == nil {
			b.Shown = []int{}
		}
	}
	for i, k := range keys {
		var texts []string
		var numbers *plan.Range
		if !r.Private {
			var n int64
			if texts, n = listed(k, values, i); texts == nil {
				rows, numbers = within(rows, k), ranged(k)
			}
			groups = times(groups, n)
		}
		b.Ranges = append(b.Ranges, numbers)
		b.Keys, b.Names, b.Listed = append(b.Keys, k.Expr), append(b.Names, k.Name), append(b.Listed, texts)
	}
	b.Input = rows
	b.EveryGroup = !r.Private && groups != 0 && groups <= b.MaxGroups
	return b
}

// ranged are the numbers that a key may be, nil where they are no short range of whole ones.
func ranged(k stability.Key) *plan.Range {
	if len(k.Domain) != 1 || k.Domain[0].Step == nil || !k.Expr.Type().IsInteger() || k.Numbered != nil {
		return nil
	}
	d := k.Domain[0]
	n, _ := d.Size()
	width := new(big.Rat).Sub(d.Upper, d.Lower)
	if n > mostListed || !d.Lower.IsInt() || !d.Step.IsInt() || !d.Lower.Num().IsInt64() || !d.Upper.Num().IsInt64() || !width.Num().IsInt64() {
		return nil
	}
	return &plan.Range{First: d.Lower.Num().Int64(), Step: d.Step.Num().Int64(), Count: n}
}

// mostListed bounds the texts that stand in a query as a key's type.
const mostListed = 1000

// listed returns the texts that a key may be, nil where that is not a short list, and how
// many values its public domain has at most, 0 where the query does not decide that: the
// values of a public table are its rows, when the query runs.
func listed(k stability.Key, values [][]sqltype.Value, i int) (texts []string, n int64) {
	var all []sqltype.Value
	for _, d := range k.Domain {
		size, ok := d.Size()
		if !ok {
			n = 0
			break
		}
		n += size
		if d.Step == nil {
			all = append(all, d.Values...)
		}
	}
	if values != nil {
		all = values[i]
	}
	if k.Expr.Type().Kind != sqltype.Text || n == 0 && values == nil || len(all) > mostListed {
		return nil, n
	}
	seen := map[string]bool{}
	for _, v := range all {
		text, ok := v.(string)
		if !ok || strings.Contains(text, "\x00") { // which no constant can hold
			return nil, n
		}
		if !seen[text] {
			seen[text], texts = true, append(texts, text)
		}
	}
	return texts, int64(len(texts))
}

// times multiplies numbers of groups; 0 stands for one that is not known, or too large.
func times(a, b int64) int64 {
	if a > math.MaxInt32 || b > math.MaxInt32 {
		return 0
	}
	return a * b
}

// within keeps the rows whose key lies in its public domain, before any bound
// is applied: rows that cannot be released must not use up a unit's groups.
func within(rows plan.Node, k stability.Key) plan.Node {
	if k.Numbered != nil { // the rows were joined with all that there are
		return rows
	}
	var tests []plan.Expr
	var tables []plan.Node
	t := k.Expr.Type()
	listed := []plan.Expr{k.Expr} // the key and the values of all parts, in one IN list
	for _, d := range k.Domain {
		switch {
		case d.FromTable != nil:
			for i, c := range d.FromTable.Columns {
				if c == d.FromColumn {
					tables = append(tables, &plan.Project{Input: &plan.Scan{Table: d.FromTable},
						Exprs: []plan.Expr{&plan.Ref{Index: i, Name: c.Name, T: c.Type}}, Names: []string{c.Name}})
				}
			}
		case d.Step != nil:
			tests = append(tests, inRange(k.Expr, d))
		default:
			for _, v := range d.Values {
				listed = append(listed, &plan.Literal{Value: v, T: t})
			}
		}
	}
	if len(listed) > 1 {
		tests = append(tests, call(plan.In, boolean, listed...))
	}
	if len(tables) == 0 {
		return &plan.Filter{Input: rows, Condition: anyOf(tests)}
	}
	// EXISTS: a semi join never copies rows, however often a value is listed.
	right := tables[0]
	if len(tables) > 1 {
		right = &plan.Union{Branches: tables}
	}
	value := &plan.Ref{Index: len(rows.Columns()), T: t}
	on := anyOf(append(tests, call(plan.Equal, boolean, k.Expr, value)))
	return &plan.Join{Kind: plan.Semi, Left: rows, Right: right, On: on}
}

// inRange tests that a number is Lower + i·Step for a whole i, and at most Upper. Its remainder by Step has its own sign: it is
// Lower's from 0 on, or that less a Step. The number is not subtracted from, as the difference may not fit its type.
func inRange(e plan.Expr, d *catalog.PublicDomain) plan.Expr {
	t := e.Type()
	within := call(plan.And, boolean,
		call(plan.GreaterOrEqual, boolean, e, numeral(t, d.Lower)),
		call(plan.LessOrEqual, boolean, e, numeral(t, d.Upper)))
	if d.Step.Cmp(big.NewRat(1, 1)) == 0 && t.IsInteger() {
		return within
	}
	steps := new(big.Rat).Quo(d.Lower, d.Step)
	steps.SetInt(new(big.Int).Div(steps.Num(), steps.Denom())) // rounded down
	rest := new(big.Rat).Sub(d.Lower, steps.Mul(steps, d.Step))
	among := []plan.Expr{call(plan.Modulo, t, e, numeral(t, d.Step)), numeral(t, rest)}
	if rest.Sign() > 0 {
		among = append(among, numeral(t, rest.Sub(rest, d.Step)))
	}
	return call(plan.And, boolean, within, call(plan.In, boolean, among...))
}

// numeral is a number as a literal of an integer or decimal type that holds it.
func numeral(t sqltype.Type, r *big.Rat) plan.Expr {
	v, err := sqltype.ParseValue(t, r.FloatString(int(t.Scale)))
	if err != nil {
		panic("rewrite: a domain's bound does not fit its column's type: " + err.Error())
	}
	return &plan.Literal{Value: v, T: t}
}

func anyOf(tests []plan.Expr) plan.Expr {
	if len(tests) == 1 {
		return tests[0]
	}
	return call(plan.Or, boolean, tests...)
}

func call(f plan.Function, t sqltype.Type, args ...plan.Expr) *plan.Call {
	return &plan.Call{Function: f, Args: args, T: t}
}

// contribution states a component as what each row adds.
func contribution(c stability.Component) plan.Contribution {
	one := &plan.Literal{Value: int64(1), T: bigint}
	switch c.Kind {
	case stability.Rows:
		condition := c.Filter
		if c.Arg != nil {
			present := call(plan.Not, boolean, call(plan.IsNull, boolean, c.Arg))
			if condition != nil {
				condition = call(plan.And, boolean, present, condition)
			} else {
				condition = present
			}
		}
		return plan.Contribution{Kind: plan.Added, Value: when(condition, one)}
	case stability.Units:
		return plan.Contribution{Kind: plan.UnitCount, Value: c.Filter}
	case stability.Distinct:
		return plan.Contribution{Kind: plan.DistinctValues, Value: when(c.Filter, c.Arg)}
	}
	value := fixed(c)
	if c.Center.Sign() != 0 {
		value = call(plan.Subtract, bigint, value, &plan.Literal{Value: c.Center.Int64(), T: bigint})
	}
	if c.Kind == stability.Squares {
		value = call(plan.Squared, bigint, value, &plan.Literal{Value: int64(c.Shift), T: bigint})
	}
	value = when(c.Filter, value)
	if c.Kind == stability.PartialSum {
		return plan.Contribution{Kind: plan.Clamped, Value: value, Lower: c.PartialLower, Upper: c.PartialUpper}
	}
	return plan.Contribution{Kind: plan.Added, Value: value}
}

// fixed is x in units of its grid.
func fixed(c stability.Component) plan.Expr {
	return plan.Grid{Lower: c.Lower, Upper: c.Upper, Unit: c.ArgGrid}.Fixed(c.Arg)
}

// when is the value where the condition is true, and NULL elsewhere.
func when(condition, value plan.Expr) plan.Expr {
	if condition == nil {
		return value
	}
	return &plan.Case{Whens: []plan.When{{Condition: condition, Result: value}}, T: value.Type()}
}
