package stability

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// applied is the value of a function where its arguments have these values, NULL where
// the engine has it. known is false where this package does not compute what engines do;
// of NULL arguments it knows GREATEST and LEAST alone.
func applied(e *plan.Call, args []sqltype.Value) (v sqltype.Value, known bool) {
	switch e.Function {
	case plan.Greatest, plan.Least:
		for _, a := range args {
			if a != nil && (v == nil || (sqltype.Compare(a, v) > 0) == (e.Function == plan.Greatest)) {
				v = a
			}
		}
		return v, true
	case plan.Trim, plan.TrimLeft, plan.TrimRight, plan.InitCap, plan.Lower, plan.Upper, plan.Length, plan.LeftPart, plan.RightPart, plan.Substring, plan.Concat, plan.Replace, plan.SplitPart, plan.CodePoint:
		return appliedText(e, args)
	case plan.DateTrunc, plan.Extract, plan.AddDays, plan.SubtractDays, plan.AddInterval:
		return appliedTime(e, args)
	}
	if !e.T.IsNumeric() || e.T.Kind == sqltype.Real {
		return nil, false
	}
	xs := make([]*big.Rat, len(args))
	for i, a := range args {
		var ok bool
		if xs[i], ok = sqltype.Rat(a); !ok || e.Args[i].Type().Kind == sqltype.Real {
			return nil, false
		}
	}
	r, known := appliedNumber(e, xs)
	if !known || r == nil {
		return nil, known
	}
	return fitted(e.T, r)
}

// fitted is a number as a value of a type: the nearest double, NULL beyond an exact type;
// known is false where an exact type has no such value.
func fitted(t sqltype.Type, r *big.Rat) (v sqltype.Value, known bool) {
	if t.Kind == sqltype.Double {
		f, _ := r.Float64()
		if math.IsInf(f, 0) {
			return nil, true
		}
		return f + 0, true
	}
	unit := unitOf(t)
	if unit == nil || !new(big.Rat).Quo(r, unit).IsInt() {
		return nil, false
	}
	v, ok := valueAt(t, r)
	if !ok {
		return nil, true
	}
	return v, true
}

// appliedNumber is the exact result of arithmetic, nil for NULL.
func appliedNumber(e *plan.Call, x []*big.Rat) (r *big.Rat, known bool) {
	out := new(big.Rat)
	switch e.Function {
	case plan.Add:
		return out.Add(x[0], x[1]), true
	case plan.Subtract:
		return out.Sub(x[0], x[1]), true
	case plan.Multiply:
		return out.Mul(x[0], x[1]), true
	case plan.Negate:
		return out.Neg(x[0]), true
	case plan.Abs:
		return out.Abs(x[0]), true
	case plan.Sign:
		return out.SetInt64(int64(x[0].Sign())), true
	case plan.Divide:
		if x[1].Sign() == 0 {
			return nil, true
		}
		if out.Quo(x[0], x[1]); e.T.IsInteger() {
			return wholePart(out), true
		}
		return out, true
	case plan.Modulo:
		if x[1].Sign() == 0 {
			return nil, true
		}
		times := wholePart(out.Quo(x[0], x[1]))
		return new(big.Rat).Sub(x[0], times.Mul(times, x[1])), true
	case plan.Floor, plan.Ceil, plan.Trunc, plan.Round:
		return roundedBy(e, x[0]), true
	case plan.Sqrt:
		if x[0].Sign() < 0 {
			return nil, true
		}
		f, _ := x[0].Float64()
		return out.SetFloat64(math.Sqrt(f)), true
	case plan.WidthBucket:
		return bucketOf(e, x[0]), true
	}
	return nil, false
}

// roundedBy is FLOOR, CEIL, TRUNC or ROUND of x, to digits if the call names them.
func roundedBy(e *plan.Call, x *big.Rat) *big.Rat {
	unit := big.NewRat(1, 1)
	if len(e.Args) == 2 {
		unit = unitOfDigits(e)
	}
	x = new(big.Rat).Quo(x, unit)
	var out *big.Rat
	switch e.Function {
	case plan.Floor:
		out = new(big.Rat).SetInt(floor(x))
	case plan.Ceil:
		out = new(big.Rat).SetInt(ceil(x))
	case plan.Trunc:
		out = wholePart(x)
	default:
		out = nearestWhole(x, e.T.IsFloat())
	}
	return out.Mul(out, unit)
}

// unitOfDigits is 10^-digits of round(x, digits) and trunc(x, digits).
func unitOfDigits(e *plan.Call) *big.Rat {
	digits := e.Args[1].(*plan.Literal).Value.(int64)
	unit := new(big.Rat).SetInt(powerOfTen(uint8(max(digits, -digits))))
	if digits > 0 {
		unit.Inv(unit)
	}
	return unit
}

func wholePart(x *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Quo(x.Num(), x.Denom()))
}

// nearestWhole rounds to a whole number; from the middle to the even one, or away from zero.
func nearestWhole(x *big.Rat, even bool) *big.Rat {
	down := floor(x)
	half := new(big.Rat).Sub(x, new(big.Rat).SetInt(down))
	order := half.Cmp(big.NewRat(1, 2))
	if order > 0 || order == 0 && (even && down.Bit(0) == 1 || !even && x.Sign() > 0) {
		down.Add(down, big.NewInt(1))
	}
	return new(big.Rat).SetInt(down)
}

// bucketOf is WIDTH_BUCKET by PostgreSQL's formula, in doubles where the engine has doubles.
func bucketOf(e *plan.Call, x *big.Rat) *big.Rat {
	low, _ := sqltype.Rat(e.Args[1].(*plan.Literal).Value)
	high, _ := sqltype.Rat(e.Args[2].(*plan.Literal).Value)
	count := e.Args[3].(*plan.Literal).Value.(int64)
	from, to := x.Cmp(low), x.Cmp(high)
	if low.Cmp(high) > 0 {
		from, to = -from, -to
	}
	switch {
	case from < 0:
		return new(big.Rat)
	case to >= 0:
		return big.NewRat(count+1, 1)
	}
	if e.Args[0].Type().IsFloat() {
		v, _ := x.Float64()
		lo, _ := low.Float64()
		hi, _ := high.Float64()
		if math.IsInf(hi-lo, 0) {
			v, lo, hi = v/2, lo/2, hi/2
		}
		share := float64(v-lo) / float64(hi-lo)
		return big.NewRat(1+min(int64(math.Floor(float64(count)*share)), count-1), 1)
	}
	share := new(big.Rat).Quo(new(big.Rat).Sub(x, low), new(big.Rat).Sub(high, low))
	return new(big.Rat).SetInt(new(big.Int).Add(floor(share.Mul(share, big.NewRat(count, 1))), big.NewInt(1)))
}

// appliedText computes with texts. Engines have letters of their own beyond ASCII.
func appliedText(e *plan.Call, args []sqltype.Value) (v sqltype.Value, known bool) {
	text := func(i int) string { s, _ := args[i].(string); return s }
	whole := func(i int) (int, bool) {
		n, ok := args[i].(int64)
		return int(n), ok && n >= 0 && n < 1<<20
	}
	s := text(0)
	switch e.Function {
	case plan.Lower, plan.Upper:
		if strings.ContainsFunc(s, func(r rune) bool { return r > 126 }) {
			return nil, false
		}
		if e.Function == plan.Lower {
			return strings.ToLower(s), true
		}
		return strings.ToUpper(s), true
	case plan.Trim:
		return strings.Trim(s, text(1)), true
	case plan.TrimLeft:
		return strings.TrimLeft(s, text(1)), true
	case plan.TrimRight:
		return strings.TrimRight(s, text(1)), true
	case plan.InitCap:
		return inWords(s)
	case plan.Length:
		return int64(utf8.RuneCountInString(s)), true
	case plan.CodePoint:
		r, size := utf8.DecodeRuneInString(s)
		if size == 0 {
			r = 0
		}
		return int64(r), true
	case plan.LeftPart, plan.RightPart:
		n, ok := whole(1)
		if !ok { // what a negative number cuts is not computed here
			return nil, false
		}
		letters := []rune(s)
		if n = min(n, len(letters)); e.Function == plan.LeftPart {
			return string(letters[:n]), true
		}
		return string(letters[len(letters)-n:]), true
	case plan.Substring:
		from, ok := whole(1)
		letters := []rune(s)
		end := len(letters)
		if len(args) == 3 {
			n, also := whole(2)
			ok, end = ok && also, min(end, max(from-1, 0)+n)
		}
		if from < 1 || !ok {
			return nil, false
		}
		return string(letters[min(from-1, end):end]), true
	case plan.Concat:
		return s + text(1), len(s)+len(text(1)) < 1000
	case plan.Replace:
		return strings.ReplaceAll(s, text(1), text(2)), text(1) != "" && len(s)*(1+len(text(2))) < 1000
	}
	n, ok := whole(2)
	if !ok || n < 1 || text(1) == "" {
		return nil, false
	}
	if parts := strings.Split(s, text(1)); n <= len(parts) {
		return parts[n-1], true
	}
	return "", true
}

// inWords has the first letter of each word large and the others small; only of ASCII is known what a word is.
func inWords(s string) (sqltype.Value, bool) {
	out := []byte(strings.ToLower(s))
	within := false
	for i, b := range out {
		letter, digit := 'a' <= b && b <= 'z', '0' <= b && b <= '9'
		if b > 126 {
			return nil, false
		}
		if letter && !within {
			out[i] -= 'a' - 'A'
		}
		within = letter || digit
	}
	return string(out), true
}

// appliedTime computes with dates and timestamps.
func appliedTime(e *plan.Call, args []sqltype.Value) (v sqltype.Value, known bool) {
	inCalendar := func(r *big.Rat) (sqltype.Value, bool) {
		v, ok := valueAt(e.T, r)
		if !ok {
			return nil, true // what leaves the calendar is NULL
		}
		return v, true
	}
	switch e.Function {
	case plan.DateTrunc:
		t, ok := truncated(args[0].(string), args[1].(sqltype.Timestamp))
		if !ok {
			return nil, false
		}
		return inCalendar(big.NewRat(int64(t), 1))
	case plan.Extract:
		at, ok := args[1].(sqltype.Timestamp)
		if day, is := args[1].(sqltype.Date); is {
			at, ok = sqltype.Timestamp(int64(day)*dayMicros), true
		}
		if !ok {
			return nil, false
		}
		n, ok := fieldOf(args[0].(string), at)
		if !ok {
			return nil, false
		}
		return fitted(e.T, big.NewRat(n, 1))
	case plan.AddDays:
		return inCalendar(big.NewRat(int64(args[0].(sqltype.Date))+args[1].(int64), 1))
	case plan.SubtractDays:
		return int64(args[0].(sqltype.Date)) - int64(args[1].(sqltype.Date)), true
	}
	i, ok := args[1].(sqltype.Interval)
	if !ok {
		return nil, false
	}
	t, ok := shifted(args[0].(sqltype.Timestamp), i)
	if !ok {
		return nil, false
	}
	return inCalendar(big.NewRat(int64(t), 1))
}

// converted is the value of a cast of one value; known is false where it is not computed here.
func converted(v sqltype.Value, from, to sqltype.Type) (out sqltype.Value, known bool) {
	switch {
	case from == to:
		return v, true
	case to.Kind == sqltype.Text:
		if from.IsFloat() {
			return nil, false
		}
		return sqltype.Format(v), true
	case from.Kind == sqltype.Boolean:
		if v == true {
			return int64(1), to.IsInteger()
		}
		return int64(0), to.IsInteger()
	}
	switch v := v.(type) {
	case sqltype.Date:
		return sqltype.Timestamp(int64(v) * dayMicros), to.Kind == sqltype.TimestampKind
	case sqltype.Timestamp:
		switch to.Kind {
		case sqltype.DateKind:
			return sqltype.Date(dayOf(v)), true
		case sqltype.TimeKind:
			return sqltype.Time(int64(v) - dayOf(v)*dayMicros), true
		}
		return nil, false
	}
	x, ok := sqltype.Rat(v)
	if !ok || !to.IsNumeric() || to.Kind == sqltype.Real {
		return nil, false
	}
	return fitted(to, convertedNumber(x, from, to))
}

// convertedNumber is what a number is rounded to by a cast, before it is found to fit or not.
func convertedNumber(x *big.Rat, from, to sqltype.Type) *big.Rat {
	switch {
	case to.IsInteger():
		return nearestWhole(x, from.IsFloat())
	case to.Kind == sqltype.DecimalKind:
		if from.IsFloat() { // by the digits that are always right
			digits := 15
			if from.Kind == sqltype.Real {
				digits = 6
			}
			f, _ := x.Float64()
			x, _ = new(big.Rat).SetString(strconv.FormatFloat(f, 'e', digits-1, 64))
		}
		unit := unitOf(to)
		out := nearestWhole(new(big.Rat).Quo(x, unit), false)
		return out.Mul(out, unit)
	}
	return x
}
