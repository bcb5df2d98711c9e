package stability

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// MostDerived bounds how many groups a release publishes because of domains that follow
// from declared bounds. Beyond it the groups are chosen privately, as without bounds.
const MostDerived = 10_000

// mostEvaluated bounds the work of finding one expression's values.
const mostEvaluated = 20_000

// An image holds all values, NULL aside, that an expression takes while the columns below it
// keep their declared bounds. It may hold more.
//
// Privacy does not depend on it: it is a function of the statement and the catalog, and
// rows whose key lies outside are dropped before any bound is applied, as with a domain
// that the owner declares. A value that were missing here would cost its rows.
type image struct {
	// values are all of them, ascending, if listed. Otherwise they are numbers of the type
	// (see ordinal) from lower to upper, nil where unbounded, that lie lower + i·step apart,
	// or on multiples of step where lower is unbounded; anywhere if step is nil.
	listed             bool
	values             []sqltype.Value
	lower, upper, step *big.Rat
	closed             bool // without step, that an end may be what a comparison leaves out
}

func listOf(values ...sqltype.Value) *image { return &image{listed: true, values: values} }

// everyOf is all of a type, where its values are numbers; nil of a text.
func everyOf(t sqltype.Type) *image {
	switch t.Kind {
	case sqltype.Boolean:
		return listOf(false, true)
	case sqltype.Text, sqltype.IntervalKind, sqltype.Null:
		return nil
	}
	return &image{step: unitOf(t)}
}

// unitOf is the distance of neighbouring values of a type; nil of floating ones.
func unitOf(t sqltype.Type) *big.Rat {
	switch {
	case t.IsFloat():
		return nil
	case t.Kind == sqltype.DecimalKind:
		return new(big.Rat).SetFrac(big.NewInt(1), powerOfTen(t.Scale))
	}
	return big.NewRat(1, 1)
}

func powerOfTen(n uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// ordinal is the number by which an image knows a value: numbers are themselves, dates
// count days, times and timestamps microseconds.
func ordinal(v sqltype.Value) (*big.Rat, bool) {
	switch v := v.(type) {
	case sqltype.Date:
		return big.NewRat(int64(v), 1), true
	case sqltype.Time:
		return big.NewRat(int64(v), 1), true
	case sqltype.Timestamp:
		return big.NewRat(int64(v), 1), true
	}
	return sqltype.Rat(v)
}

// valueAt is the value of a type with an ordinal; false where the type has none.
func valueAt(t sqltype.Type, r *big.Rat) (sqltype.Value, bool) {
	if t.IsFloat() {
		f, exact := r.Float64()
		return f + 0, exact && t.Kind == sqltype.Double
	}
	if t.Kind == sqltype.DecimalKind {
		scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(powerOfTen(t.Scale)))
		if !scaled.IsInt() || scaled.Num().CmpAbs(powerOfTen(t.Precision)) >= 0 {
			return nil, false
		}
		return sqltype.Decimal{Unscaled: new(big.Int).Set(scaled.Num()), Scale: t.Scale}, true
	}
	if !r.IsInt() || !r.Num().IsInt64() {
		return nil, false
	}
	n := r.Num().Int64()
	switch t.Kind {
	case sqltype.Smallint, sqltype.Integer, sqltype.Bigint:
		return n, plan.WholeWithin(t, r.Num()) == n
	case sqltype.DateKind:
		return sqltype.Date(n), firstDay <= n && n <= lastDay
	case sqltype.TimestampKind:
		return sqltype.Timestamp(n), firstDay*dayMicros <= n && n < (lastDay+1)*dayMicros
	case sqltype.TimeKind:
		return sqltype.Time(n), 0 <= n && n <= dayMicros
	}
	return nil, false
}

// list returns the values, ascending, if there are at most so many.
func (r *image) list(t sqltype.Type, most int) ([]sqltype.Value, bool) {
	switch {
	case r == nil:
		return nil, false
	case r.listed:
		return r.values, len(r.values) <= most
	case r.lower == nil || r.upper == nil:
		return nil, false
	case r.lower.Cmp(r.upper) > 0:
		return []sqltype.Value{}, true
	case r.lower.Cmp(r.upper) == 0:
		if v, ok := valueAt(t, r.lower); ok {
			return []sqltype.Value{v}, true
		}
		return nil, false
	case r.step == nil:
		return nil, false
	}
	steps := floor(new(big.Rat).Quo(new(big.Rat).Sub(r.upper, r.lower), r.step))
	if steps.Cmp(big.NewInt(int64(most))) >= 0 {
		return nil, false
	}
	values := make([]sqltype.Value, 0, steps.Int64()+1)
	next := new(big.Rat).Set(r.lower)
	for range cap(values) {
		v, ok := valueAt(t, next)
		if !ok && t.IsFloat() {
			return nil, false
		}
		if ok { // beyond the type a value is NULL
			values = append(values, v)
		}
		next = new(big.Rat).Add(next, r.step)
	}
	return values, true
}

// span is the image without its list.
func (r *image) span(t sqltype.Type) *image {
	if !r.listed {
		return r
	}
	if len(r.values) == 0 {
		return &image{lower: big.NewRat(1, 1), upper: new(big.Rat), step: big.NewRat(1, 1)}
	}
	first, ok := ordinal(r.values[0])
	last, also := ordinal(r.values[len(r.values)-1])
	if !ok || !also {
		return nil
	}
	out := &image{lower: first, upper: last, step: unitOf(t)}
	if t.IsFloat() && !slices.ContainsFunc(r.values, func(v sqltype.Value) bool { x, ok := sqltype.Rat(v); return !ok || !x.IsInt() }) {
		out.step = big.NewRat(1, 1)
	}
	return out
}

// anyOf is what is in one of several images of a type.
func (f *facts) anyOf(all []*image, t sqltype.Type) *image {
	listed := listOf()
	var spans []*image
	for _, r := range all {
		if r == nil {
			return nil
		}
		if values, ok := r.list(t, f.affordable()); ok {
			f.work += len(values)
			listed.values = append(listed.values, values...)
		} else {
			spans = append(spans, r)
		}
	}
	listed.values = sorted(listed.values)
	if len(spans) == 0 {
		return listed
	}
	if len(listed.values) > 0 {
		spans = append(spans, listed)
	}
	var out *image
	for i, r := range spans {
		s := r.span(t)
		if s == nil {
			return nil
		}
		if i == 0 {
			out = &image{lower: s.lower, upper: s.upper, step: wholeOr(unitOf(t), s)}
			continue
		}
		out.lower, out.upper = lesser(out.lower, s.lower), greater(out.upper, s.upper)
		if t.IsFloat() && !isWhole(s) {
			out.step = nil
		}
	}
	return out
}

// affordable is how many more values may be looked at: mostEvaluated for an expression,
// and some times as many for a statement, so that its text decides nothing about resources.
func (f *facts) affordable() int { return min(mostEvaluated, 5*mostEvaluated-f.work) }

// isWhole reports whether all values are whole numbers.
func isWhole(r *image) bool {
	return r.step != nil && r.step.IsInt() && (r.lower == nil || r.lower.IsInt())
}

func sorted(values []sqltype.Value) []sqltype.Value {
	slices.SortFunc(values, sqltype.Compare)
	return slices.CompactFunc(values, func(a, b sqltype.Value) bool { return sqltype.Compare(a, b) == 0 })
}

// finite returns the complete domain of a key that follows from declared bounds, or nil.
func (f *facts) finite(n plan.Node, key plan.Expr) []*catalog.PublicDomain {
	t := key.Type()
	if t.Kind == sqltype.IntervalKind || t.Kind == sqltype.Real {
		return nil
	}
	r := f.imageOf(n, key)
	values, ok := r.list(t, MostDerived)
	if !ok || len(values) == 0 {
		return nil
	}
	if !r.listed && len(values) > 1 && (t.IsInteger() || t.Kind == sqltype.DecimalKind) {
		lower, _ := sqltype.Rat(values[0])
		upper, _ := sqltype.Rat(values[len(values)-1])
		step := new(big.Rat).Quo(new(big.Rat).Sub(upper, lower), big.NewRat(int64(len(values)-1), 1))
		return []*catalog.PublicDomain{{Lower: lower, Upper: upper, Step: step}}
	}
	return []*catalog.PublicDomain{{Values: values}}
}

// imageOf returns the image of an expression over the columns of n; nil if nothing is known.
func (f *facts) imageOf(n plan.Node, e plan.Expr) *image {
	t := e.Type()
	if t.Kind == sqltype.Boolean {
		if l, ok := e.(*plan.Literal); !ok || l.Value != nil {
			return listOf(false, true)
		}
	}
	switch e := e.(type) {
	case *plan.Ref:
		return f.columnImage(n, e.Index)
	case *plan.Literal:
		if e.Value == nil {
			return listOf()
		}
		return listOf(e.Value)
	case *plan.Case:
		var all []*image
		for _, w := range e.Whens {
			all = append(all, f.imageOf(n, w.Result))
		}
		if e.Else != nil {
			all = append(all, f.imageOf(n, e.Else))
		}
		return f.anyOf(all, t)
	case *plan.Cast:
		return f.castImage(e, f.imageOf(n, e.Arg))
	case *plan.Call:
		if i, ok := constantInterval(e); ok {
			return listOf(i)
		}
		args := make([]*image, len(e.Args))
		for i, a := range e.Args {
			args[i] = f.imageOf(n, a)
		}
		if e.Function == plan.Coalesce {
			return f.anyOf(args, t)
		}
		return f.callImage(e, args)
	}
	return nil
}

// columnImage looks at each column of a node once.
func (f *facts) columnImage(n plan.Node, i int) *image {
	at := place{n, i}
	r, ok := f.images[at]
	if !ok {
		r = f.findImage(n, i)
		f.images[at] = r
	}
	return r
}

func (f *facts) findImage(n plan.Node, i int) *image {
	switch n := n.(type) {
	case *plan.Scan:
		return f.declaredImage(n.Table.Columns[i])
	case *plan.Values:
		all := make([]*image, len(n.Rows))
		for r, row := range n.Rows {
			all[r] = f.imageOf(n, row[i])
		}
		return f.anyOf(all, n.Types[i])
	case *plan.Project:
		if c := n.Declares(i); c != nil && (c.Domain != nil || c.Lower != nil) {
			return f.declaredImage(c)
		}
		return f.imageOf(n.Input, n.Exprs[i])
	case *plan.Join:
		if left := len(n.Left.Columns()); i < left {
			return f.columnImage(n.Left, i)
		} else {
			return f.columnImage(n.Right, i-left)
		}
	case *plan.Union:
		all := make([]*image, len(n.Branches))
		for b, branch := range n.Branches {
			all[b] = f.columnImage(branch, i)
		}
		return f.anyOf(all, n.Columns()[i].Type)
	case *plan.Aggregate:
		if i < len(n.Keys) {
			return f.imageOf(n.Input, n.Keys[i])
		}
		switch a := n.Aggregations[i-len(n.Keys)]; a.Function {
		case plan.Min, plan.Max, plan.PercentileDisc:
			return f.imageOf(n.Input, a.Arg)
		case plan.CountStar, plan.Count:
			least := int64(0)
			if a.Function == plan.CountStar && a.Filter == nil && len(n.Keys) > 0 {
				least = 1 // a group has rows
			}
			return &image{lower: big.NewRat(least, 1), step: big.NewRat(1, 1)}
		default:
			return everyOf(a.Type)
		}
	case *plan.Filter:
		r := f.columnImage(n.Input, i)
		return f.narrowed(r, n.Input.Columns()[i].Type, i, n.Condition)
	case *plan.Window:
		if width := len(n.Input.Columns()); i >= width {
			return f.windowImage(n, n.Functions[i-width])
		}
		return f.columnImage(n.Input, i)
	case *plan.Sort:
		return f.columnImage(n.Input, i)
	case *plan.Limit:
		return f.columnImage(n.Input, i)
	}
	return nil
}

// declaredImage is what the owner declares of a column.
func (f *facts) declaredImage(c *catalog.Column) *image {
	switch domain := f.declaredDomain(c); {
	case domain != nil:
		f.need(domain)
		if n, ok := domain.Size(); !ok || n > mostEvaluated {
			if c.Lower == nil {
				return everyOf(c.Type)
			}
			break
		}
		return listOf(sorted(slices.Collect(domain.All(c.Type)))...)
	case c.Lower == nil:
		return everyOf(c.Type)
	}
	lower, ok := ordinal(c.Lower)
	upper, also := ordinal(c.Upper)
	if !ok || !also {
		return everyOf(c.Type)
	}
	return &image{lower: lower, upper: upper, step: unitOf(c.Type)}
}
