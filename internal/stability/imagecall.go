package stability

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// callImage is the image of a function whose arguments have the images args: its values at each
// combination of theirs where these are few, and else what follows from their ends.
func (f *facts) callImage(e *plan.Call, args []*image) *image {
	if r := f.evaluated(e, args); r != nil {
		return r
	}
	spans := make([]*image, len(args))
	for i, a := range args {
		if a == nil {
			continue
		}
		if spans[i] = a.span(e.Args[i].Type()); spans[i] == nil {
			continue
		}
		if spans[i].lower != nil && spans[i].upper != nil && spans[i].lower.Cmp(spans[i].upper) > 0 && strictIn(e.Function) {
			return listOf() // no value, so that the result is NULL
		}
	}
	if r := spanOf(e, args, spans); r != nil {
		return r.in(e.T)
	}
	return everyOf(e.T)
}

// strictIn reports whether a function of NULL is NULL.
func strictIn(f plan.Function) bool { return f != plan.Greatest && f != plan.Least }

// in drops ends that a type cannot hold, and numbers that are too long to compute with.
func (r *image) in(t sqltype.Type) *image {
	if r.listed {
		return r
	}
	short := interval{r.lower, r.upper}.short()
	out := &image{lower: short.lower, upper: short.upper, step: r.step}
	if t.Kind == sqltype.Double {
		// Sums, products and quotients of doubles are rounded to the nearest double, which
		// keeps the order: the rounded ends still hold all of them.
		for _, end := range []**big.Rat{&out.lower, &out.upper} {
			if *end == nil {
				continue
			}
			f, _ := (*end).Float64()
			if math.IsInf(f, 0) {
				*end = nil
				continue
			}
			*end = new(big.Rat).SetFloat64(f)
		}
		exact := big.NewRat(1<<53, 1) // whole numbers up to here are doubles
		if !isWhole(out) || out.lower == nil || out.upper == nil || negated(out.lower).Cmp(exact) > 0 || out.upper.Cmp(exact) > 0 {
			if out.step != nil && !wholeResults(out) {
				out.step = nil
			}
		}
	}
	return out
}

// wholeResults reports whether an image of doubles is known to hold whole numbers alone,
// whatever their size: a step of 1 is given to such alone.
func wholeResults(r *image) bool { return r.step.Cmp(big.NewRat(1, 1)) == 0 }

// evaluated applies a function to each combination of values; nil where these are not
// listed, too many, or the function is not known.
func (f *facts) evaluated(e *plan.Call, args []*image) *image {
	lists := make([][]sqltype.Value, len(args))
	total := 1
	for i, a := range args {
		values, ok := a.list(e.Args[i].Type(), f.affordable())
		if !ok {
			return nil
		}
		if _, constant := e.Args[i].(*plan.Literal); !constant && !strictIn(e.Function) {
			values = append(slices.Clone(values), nil)
		}
		if len(values) == 0 {
			return listOf()
		}
		if lists[i] = values; total > f.affordable()/len(values) {
			return nil
		}
		total *= len(values)
	}
	f.work += total
	apply := applied
	if m := matcher(e); m != nil {
		apply = m
	}
	seen := map[string]bool{}
	var out []sqltype.Value
	at := make([]sqltype.Value, len(args))
	for n := range total {
		for i, values := range lists {
			at[i], n = values[n%len(values)], n/len(values)
		}
		v, known := apply(e, at)
		if !known {
			return nil
		}
		if key := sqltype.Key(v); v != nil && !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	return listOf(sorted(out)...)
}

// spanOf is the image that follows from the ends of the arguments'; nil where no rule applies.
func spanOf(e *plan.Call, args, spans []*image) *image {
	switch e.Function {
	case plan.Extract:
		return extractImage(e, spans[1])
	case plan.DateTrunc:
		return truncImage(e, spans[1])
	case plan.AddInterval:
		return addIntervalImage(e, spans[0])
	}
	for i, s := range spans {
		if s == nil || e.Args[i].Type().Kind == sqltype.Real {
			return nil
		}
	}
	of := func(i int) interval { return interval{spans[i].lower, spans[i].upper} }
	unit := unitOf(e.T)
	switch e.Function {
	case plan.Add, plan.AddDays:
		r := callRange(&plan.Call{Function: plan.Add, T: e.T}, []interval{of(0), of(1)})
		return &image{lower: r.lower, upper: r.upper, step: commonStep(spans[0], spans[1], unit)}
	case plan.Subtract, plan.SubtractDays:
		r := callRange(&plan.Call{Function: plan.Subtract, T: e.T}, []interval{of(0), of(1)})
		return &image{lower: r.lower, upper: r.upper, step: commonStep(spans[0], spans[1], unit)}
	case plan.Negate:
		r := &image{lower: negated(spans[0].upper), upper: negated(spans[0].lower), step: spans[0].step}
		if r.lower != nil && spans[0].lower != nil && r.step != nil { // the lattice starts at the old lower end
			r.lower = new(big.Rat).Sub(r.upper, lastStep(spans[0]))
		}
		return r
	case plan.Multiply:
		r := product(of(0), of(1))
		out := &image{lower: r.lower, upper: r.upper, step: unit}
		if l, ok := e.Args[1].(*plan.Literal); ok && !args[0].listed {
			if c, ok := sqltype.Rat(l.Value); ok && c.Sign() > 0 && spans[0].step != nil && spans[0].lower != nil {
				out.step = new(big.Rat).Mul(spans[0].step, c)
			}
		}
		if unit == nil && out.step == nil && isWhole(spans[0]) && isWhole(spans[1]) {
			out.step = big.NewRat(1, 1)
		}
		return out
	case plan.Divide:
		r := quotient(of(0), of(1))
		if e.T.IsInteger() {
			return &image{lower: truncatedEnd(r.lower), upper: truncatedEnd(r.upper), step: unit}
		}
		return &image{lower: r.lower, upper: r.upper}
	case plan.Modulo:
		return moduloImage(spans[0], spans[1], unit)
	case plan.Abs:
		r := callRange(&plan.Call{Function: plan.Abs, T: e.T}, []interval{of(0)})
		return &image{lower: r.lower, upper: r.upper, step: wholeOr(unit, spans[0])}
	case plan.Sign:
		return &image{lower: big.NewRat(-1, 1), upper: big.NewRat(1, 1), step: big.NewRat(1, 1)}
	case plan.Floor, plan.Ceil, plan.Round, plan.Trunc:
		step := big.NewRat(1, 1)
		if len(e.Args) == 2 {
			step = maxOf(unitOfDigits(e), unitOf(e.Args[0].Type()))
		}
		f := func(end *big.Rat) *big.Rat {
			if end == nil {
				return nil
			}
			return roundedBy(e, end)
		}
		return &image{lower: f(spans[0].lower), upper: f(spans[0].upper), step: step}
	case plan.Sqrt, plan.Ln, plan.Log10, plan.Exp:
		return curveImage(e.Function, spans[0])
	case plan.Greatest, plan.Least:
		return extremeImage(e, spans, unit)
	case plan.NullIf:
		return args[0]
	case plan.WidthBucket:
		return bucketImage(e, spans[0])
	}
	return nil
}

// lastStep is the width from an image's lower end to the last place of its lattice.
func lastStep(r *image) *big.Rat {
	width := new(big.Rat).Sub(r.upper, r.lower)
	steps := new(big.Rat).SetInt(floor(new(big.Rat).Quo(width, r.step)))
	return steps.Mul(steps, r.step)
}

// commonStep is the step of sums and differences: that of the one if the other is a
// constant, else the type's own.
func commonStep(a, b *image, unit *big.Rat) *big.Rat {
	constant := func(r *image) bool { return r.lower != nil && r.upper != nil && r.lower.Cmp(r.upper) == 0 }
	switch {
	case a.step == nil || b.step == nil:
		return nil
	case constant(b) && a.lower != nil && (unit != nil || isWhole(a) && isWhole(b)):
		return a.step
	case unit == nil && isWhole(a) && isWhole(b):
		return big.NewRat(1, 1)
	}
	return unit
}

// wholeOr is the type's unit, or, of a floating type, 1 where all of r are whole.
func wholeOr(unit *big.Rat, r *image) *big.Rat {
	if unit == nil && isWhole(r) {
		return big.NewRat(1, 1)
	}
	return unit
}

func truncatedEnd(end *big.Rat) *big.Rat {
	if end == nil {
		return nil
	}
	return wholePart(end)
}

// moduloImage: a remainder has its dividend's sign and is smaller than the divisor.
func moduloImage(x, m *image, unit *big.Rat) *image {
	if m.lower == nil || m.upper == nil || unit == nil {
		return nil
	}
	largest := greater(new(big.Rat).Abs(m.lower), new(big.Rat).Abs(m.upper))
	largest = new(big.Rat).Sub(largest, unit)
	if largest.Sign() < 0 {
		return listOf()
	}
	zero := new(big.Rat)
	out := &image{lower: negated(largest), upper: largest, step: unit}
	if x.lower != nil { // no remainder is beyond its dividend, nor on the other side of 0
		out.lower = maxOf(out.lower, minOf(x.lower, zero))
	}
	if x.upper != nil {
		out.upper = minOf(out.upper, maxOf(x.upper, zero))
	}
	return out
}

// curveImage is that of growing functions whose last digits are the engine's own: their ends
// are taken further out, but where they are whole, which engines agree on.
func curveImage(f plan.Function, x *image) *image {
	end := func(r *big.Rat, toward float64) *big.Rat {
		if r == nil {
			return nil
		}
		v, _ := r.Float64()
		switch f {
		case plan.Sqrt:
			v = math.Sqrt(max(v, 0))
		case plan.Exp:
			v = math.Exp(v)
		case plan.Ln:
			v = math.Log(v)
		case plan.Log10:
			v = math.Log10(v)
		}
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		if f != plan.Sqrt && v != math.Trunc(v) {
			for range 8 {
				v = math.Nextafter(v, math.Inf(int(toward)))
			}
		}
		return new(big.Rat).SetFloat64(v)
	}
	out := &image{lower: end(x.lower, -1), upper: end(x.upper, 1)}
	switch f {
	case plan.Sqrt:
		if x.lower == nil {
			out.lower = new(big.Rat)
		}
	case plan.Exp:
		if out.lower == nil {
			out.lower = new(big.Rat)
		}
	}
	return out
}

// extremeImage: GREATEST and LEAST pass over NULL, so that each argument but a constant may
// be missing.
func extremeImage(e *plan.Call, spans []*image, unit *big.Rat) *image {
	out := &image{step: unit}
	if unit == nil && !slices.ContainsFunc(spans, func(r *image) bool { return !isWhole(r) }) {
		out.step = big.NewRat(1, 1)
	}
	var constants []*big.Rat
	for i, s := range spans {
		if _, ok := e.Args[i].(*plan.Literal); ok && s.lower.Cmp(s.upper) <= 0 {
			constants = append(constants, s.lower)
		}
		if i == 0 {
			out.lower, out.upper = s.lower, s.upper
			continue
		}
		out.lower, out.upper = lesser(out.lower, s.lower), greater(out.upper, s.upper)
	}
	for _, c := range constants {
		if e.Function == plan.Greatest {
			out.lower = maxOf(out.lower, c)
		} else {
			out.upper = minOf(out.upper, c)
		}
	}
	return out
}

// bucketImage: the number of a bucket grows with x, or falls where the bounds are exchanged.
func bucketImage(e *plan.Call, x *image) *image {
	low, _ := sqltype.Rat(e.Args[1].(*plan.Literal).Value)
	high, _ := sqltype.Rat(e.Args[2].(*plan.Literal).Value)
	count := e.Args[3].(*plan.Literal).Value.(int64)
	lower, upper := x.lower, x.upper
	if low.Cmp(high) > 0 {
		lower, upper = upper, lower
	}
	out := &image{lower: new(big.Rat), upper: big.NewRat(count+1, 1), step: big.NewRat(1, 1)}
	if lower != nil {
		out.lower = bucketOf(e, lower)
	}
	if upper != nil {
		out.upper = bucketOf(e, upper)
	}
	return out
}

// extractImage walks through the days or hours of a short time; of a longer one a field has
// all values that it can have.
func extractImage(e *plan.Call, x *image) *image {
	field := e.Args[0].(*plan.Literal).Value.(string)
	var out *image
	if lower, upper, ok := fieldRange(e); ok {
		out = &image{lower: big.NewRat(lower, 1), upper: big.NewRat(upper, 1), step: big.NewRat(1, 1)}
	}
	from := e.Args[1].Type()
	if x == nil || x.lower == nil || x.upper == nil || from.Kind != sqltype.TimestampKind && from.Kind != sqltype.DateKind {
		return out
	}
	factor := int64(1)
	if from.Kind == sqltype.DateKind {
		factor = dayMicros
	}
	first, last := x.lower.Num().Int64()*factor, x.upper.Num().Int64()*factor
	if grows(field) {
		lower, _ := fieldOf(field, sqltype.Timestamp(first))
		upper, _ := fieldOf(field, sqltype.Timestamp(last))
		return &image{lower: big.NewRat(lower, 1), upper: big.NewRat(upper, 1), step: big.NewRat(1, 1)}
	}
	pace := int64(dayMicros)
	switch field {
	case "hour":
		pace = 3_600_000_000
	case "minute":
		pace = 60_000_000
	}
	if _, ok := fieldOf(field, 0); !ok || (last-first)/pace > mostEvaluated {
		return out
	}
	seen := map[int64]bool{}
	var values []sqltype.Value
	for at := floorDivide(first, pace) * pace; at <= last; at += pace {
		n, _ := fieldOf(field, sqltype.Timestamp(at))
		if seen[n] {
			continue
		}
		seen[n] = true
		if v, known := fitted(e.T, big.NewRat(n, 1)); known && v != nil {
			values = append(values, v)
		}
	}
	return listOf(sorted(values)...)
}

// truncImage lists the months, quarters, years and decades of a time; shorter units lie
// evenly.
func truncImage(e *plan.Call, x *image) *image {
	unit := e.Args[0].(*plan.Literal).Value.(string)
	if x == nil || x.lower == nil || x.upper == nil {
		return nil
	}
	first, ok := truncated(unit, sqltype.Timestamp(x.lower.Num().Int64()))
	last, also := truncated(unit, sqltype.Timestamp(x.upper.Num().Int64()))
	if !ok || !also {
		return nil
	}
	if length, ok := even[unit]; ok {
		return &image{lower: big.NewRat(int64(first), 1), upper: big.NewRat(int64(last), 1), step: big.NewRat(length, 1)}
	}
	var values []sqltype.Value
	for at := first; at <= last; at, _ = following(unit, at) {
		values = append(values, at) // at most 12 of each of 9999 years
	}
	return listOf(values...)
}

// addIntervalImage moves the ends where no month is added, whose length varies.
func addIntervalImage(e *plan.Call, x *image) *image {
	i, ok := constantInterval(e.Args[1])
	if !ok || i.Months != 0 || x == nil || x.lower == nil || x.upper == nil {
		return nil
	}
	lower, ok := shifted(sqltype.Timestamp(x.lower.Num().Int64()), i)
	upper, also := shifted(sqltype.Timestamp(x.upper.Num().Int64()), i)
	if !ok || !also {
		return nil
	}
	return &image{lower: big.NewRat(int64(lower), 1), upper: big.NewRat(int64(upper), 1), step: x.step}
}

func constantInterval(e plan.Expr) (i sqltype.Interval, ok bool) {
	if c, is := e.(*plan.Call); is && c.Function == plan.Negate {
		if i, ok = constantInterval(c.Args[0]); !ok || i.Micros == math.MinInt64 || i.Days == math.MinInt32 || i.Months == math.MinInt32 {
			return i, false
		}
		return sqltype.Interval{Months: -i.Months, Days: -i.Days, Micros: -i.Micros}, true
	}
	if l, is := e.(*plan.Literal); is {
		i, ok = l.Value.(sqltype.Interval)
	}
	return i, ok
}

// castImage converts each value where they are few, and the ends otherwise: conversions
// between numbers, and between points of time, keep the order.
func (f *facts) castImage(e *plan.Cast, arg *image) *image {
	from := e.Arg.Type()
	if values, ok := arg.list(from, f.affordable()); ok {
		f.work += len(values)
		out := listOf()
		known := true
		for _, v := range values {
			w, ok := converted(v, from, e.T)
			if known = known && ok; known && w != nil {
				out.values = append(out.values, w)
			}
		}
		if known {
			out.values = sorted(out.values)
			return out
		}
	}
	if arg == nil {
		return everyOf(e.T)
	}
	r := arg.span(from)
	if r == nil {
		return everyOf(e.T)
	}
	var convert func(*big.Rat) *big.Rat
	step := unitOf(e.T)
	switch {
	case from.IsNumeric() && e.T.IsNumeric() && e.T.Kind != sqltype.Real:
		convert = func(end *big.Rat) *big.Rat { return convertedNumber(end, from, e.T) }
		if isWhole(r) && r.lower != nil {
			step = r.step
		}
	case from.Kind == sqltype.DateKind && e.T.Kind == sqltype.TimestampKind:
		convert = func(end *big.Rat) *big.Rat { return new(big.Rat).Mul(end, big.NewRat(dayMicros, 1)) }
		step = new(big.Rat).Mul(r.step, big.NewRat(dayMicros, 1))
		if r.lower == nil {
			step = big.NewRat(1, 1)
		}
	case from.Kind == sqltype.TimestampKind && e.T.Kind == sqltype.DateKind:
		convert = func(end *big.Rat) *big.Rat {
			return new(big.Rat).SetInt(floor(new(big.Rat).Quo(end, big.NewRat(dayMicros, 1))))
		}
	default:
		return everyOf(e.T)
	}
	out := &image{step: step}
	if r.lower != nil {
		out.lower = convert(r.lower)
	}
	if r.upper != nil {
		out.upper = convert(r.upper)
	}
	return out.in(e.T)
}
