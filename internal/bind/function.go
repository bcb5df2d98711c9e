package bind

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A function types one call: its arguments are bound, their number is checked.
type function struct {
	least, most int // arguments
	bind        func(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr
}

// functions is the allow-list. What is absent is refused, whatever the engine
// offers: it may be volatile, raise, or grow without bound.
func functions() map[string]function {
	text, whole, double, truth := typeOf(sqltype.Text), typeOf(sqltype.Integer), typeOf(sqltype.Double), typeOf(sqltype.Boolean)
	out := map[string]function{
		"coalesce":          {1, 100, unified(plan.Coalesce)},
		"if":                {3, 3, choice},
		"greatest":          {1, 100, unified(plan.Greatest)},
		"least":             {1, 100, unified(plan.Least)},
		"nullif":            {2, 2, nullIf},
		"ifnull":            {2, 2, unified(plan.Coalesce)},
		"safe_divide":       {2, 2, safeDivide},
		"concat":            {1, 100, concat},
		"concat_ws":         {2, 100, joined},
		"lpad":              {2, 3, padded(true)},
		"rpad":              {2, 3, padded(false)},
		"regexp_like":       {2, 3, regexpLike},
		"regexp_count":      {2, 2, matchCount},
		"regexp_substr":     {2, 2, matchText},
		"regexp_replace":    {3, 4, matchReplaced},
		"ascii":             {1, 1, fixed(plan.CodePoint, whole, text)},
		"abs":               {1, 1, abs},
		"sign":              {1, 1, sign},
		"round":             {1, 2, rounding(plan.Round)},
		"trunc":             {1, 2, rounding(plan.Trunc)},
		"floor":             {1, 1, rounding(plan.Floor)},
		"ceil":              {1, 1, rounding(plan.Ceil)},
		"mod":               {2, 2, mod},
		"exp":               {1, 1, fixed(plan.Exp, double, double)},
		"ln":                {1, 1, fixed(plan.Ln, double, double)},
		"log10":             {1, 1, fixed(plan.Log10, double, double)},
		"sqrt":              {1, 1, fixed(plan.Sqrt, double, double)},
		"power":             {2, 2, fixed(plan.Power, double, double, double)},
		"width_bucket":      {4, 4, widthBucket},
		"lower":             {1, 1, fixed(plan.Lower, text, text)},
		"upper":             {1, 1, fixed(plan.Upper, text, text)},
		"length":            {1, 1, fixed(plan.Length, whole, text)},
		"reverse":           {1, 1, fixed(plan.Reverse, text, text)},
		"left":              {2, 2, fixed(plan.LeftPart, text, text, whole)},
		"right":             {2, 2, fixed(plan.RightPart, text, text, whole)},
		"strpos":            {2, 2, fixed(plan.Position, whole, text, text)},
		"starts_with":       {2, 2, fixed(plan.StartsAt, truth, text, text)},
		"split_part":        {3, 3, fixed(plan.SplitPart, text, text, text, whole)},
		"substring":         {2, 3, substring},
		"btrim":             {1, 2, trim(plan.Trim)},
		"ltrim":             {1, 2, trim(plan.TrimLeft)},
		"rtrim":             {1, 2, trim(plan.TrimRight)},
		"replace":           {3, 3, replace},
		"initcap":           {1, 1, fixed(plan.InitCap, text, text)},
		"translate":         {3, 3, translate},
		"repeat":            {2, 2, repeated},
		"to_date":           {2, 2, dateForm(sqltype.DateKind)},
		"to_timestamp":      {1, 2, readTimestamp},
		"timestamp_seconds": {1, 1, readTimestamp},
		"to_char":           {2, 2, shaped(false)},
		"date_diff":         {3, 3, difference},
		"format_date":       {2, 2, shaped(true)},
		"date_trunc":        {2, 2, dateTrunc},
		"extract":           {2, 2, extract},
		"date_part":         {2, 2, datePart},
	}
	for name, of := range map[string]string{
		"ceiling": "ceil", "pow": "power", "log": "log10", "substr": "substring",
		"char_length": "length", "character_length": "length", "timestamp_trunc": "date_trunc", "datetime_trunc": "date_trunc",
		"datetime_diff": "date_diff", "timestamp_diff": "date_diff", "format_timestamp": "format_date", "format_datetime": "format_date",
	} {
		out[name] = out[of]
	}
	return out
}

// call binds a function or an aggregate.
func (c *context) call(e *sqlparse.Call) plan.Expr {
	name := e.Name.Name
	if e.Over != nil {
		return c.windowed(e)
	}
	if _, ok := windowFunctions[name]; ok {
		refuse(diagnostic.New("D031", e.Span, "%s needs OVER", name).
			Because("it looks at the rows around a row").Try("write %s OVER (PARTITION BY x ORDER BY y)", callText(e)))
	}
	if f, ok := aggregateFunctions[name]; ok {
		return c.aggregate(f, e)
	}
	if name == "grouping" {
		return c.grouping(e)
	}
	f, ok := functions()[name]
	if !ok {
		refuse(unknownFunction(e))
	}
	if e.Star || e.Distinct || e.Filter != nil {
		refuse(diagnostic.New("D013", e.Span, "%s is not an aggregate", name).
			Because("*, DISTINCT and FILTER are for aggregates").Try("leave it out, or put CASE WHEN ... END into the argument"))
	}
	if list := thresholdsOf(e); list != nil {
		return c.thresholds(e, list)
	}
	if n := len(e.Args); n < f.least || n > f.most {
		refuse(wrongCount(e, f.least, f.most))
	}
	e = differing(truncated(e))
	args := make([]plan.Expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = c.expr(a)
	}
	return f.bind(c, e, args)
}

func unknownFunction(e *sqlparse.Call) *diagnostic.Diagnostic {
	d := diagnostic.New("D013", e.Name.Span, "unknown function %s", e.Name.Name).
		Because("only functions on a list may run: each is total, deterministic and has PostgreSQL's meaning").
		Try("%s", cmp.Or(instead(e.Name.Name), nearest(e.Name.Name, alike(e, functions()))))
	if d.Hint == "" {
		d.Try("%s", otherFunctions).By(diagnostic.ListFunctions)
	}
	return d
}

// alike lists the functions that can be called as e is: with as many arguments,
// and with *, DISTINCT and FILTER if they are aggregates.
func alike(e *sqlparse.Call, table map[string]function) []string {
	var out []string
	if len(e.Args) == 1 || e.Star {
		out = slices.Collect(maps.Keys(aggregateFunctions))
	}
	for name, f := range table {
		if !e.Star && !e.Distinct && e.Filter == nil && f.least <= len(e.Args) && len(e.Args) <= f.most {
			out = append(out, name)
		}
	}
	return out
}

// callText is a call without its arguments' text.
func callText(e *sqlparse.Call) string {
	if len(e.Args) == 0 {
		return e.Name.Name + "()"
	}
	return e.Name.Name + "(...)"
}

func wrongCount(e *sqlparse.Call, least, most int) *diagnostic.Diagnostic {
	takes := fmt.Sprintf("%d arguments", least)
	switch {
	case most == 1:
		takes = "one argument"
	case least != most:
		takes = fmt.Sprintf("%d to %d arguments", least, most)
	}
	letters := strings.Split("xyzabcdefg", "")
	form := strings.Join(letters[:min(max(least, 1), len(letters))], ", ")
	if e.Name.Name == "log" {
		form = "x), of another base ln(x) / ln(base"
	}
	return diagnostic.New("D016", e.Span, "%s takes %s, not %d", e.Name.Name, takes, len(e.Args)).
		Try("write %s(%s)", e.Name.Name, form)
}

func call(f plan.Function, t sqltype.Type, e *sqlparse.Call, args ...plan.Expr) plan.Expr {
	return &plan.Call{Function: f, Args: args, T: t, Span: e.Span}
}

// fixed types a function of fixed argument types.
func fixed(f plan.Function, result sqltype.Type, params ...sqltype.Type) func(*context, *sqlparse.Call, []plan.Expr) plan.Expr {
	return func(_ *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
		for i, a := range args {
			args[i] = coerce(a, params[i], e.Name.Name)
		}
		return call(f, result, e, args...)
	}
}

// unified types a function of arguments of one type, which is its result.
func unified(f plan.Function) func(*context, *sqlparse.Call, []plan.Expr) plan.Expr {
	return func(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
		args, t := unify(args, e.Name.Name)
		if f != plan.Coalesce {
			checkOrdered(t, e.Span, e.Name.Name)
		}
		return call(f, t, e, args...)
	}
}

// nullIf compares as = does, and has the type in which the first argument is
// compared: its own, unless PostgreSQL has no operator for the two types.
func nullIf(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	l, r := c.comparable(args[0], args[1], "=", e.Span)
	first := coerceUnknown(args[0], l.Type())
	if !sameFamily(first.Type(), args[1].Type()) {
		first = l
	}
	return call(plan.NullIf, first.Type(), e, first, r)
}

// sameFamily reports whether PostgreSQL compares the types without a cast.
func sameFamily(a, b sqltype.Type) bool {
	return a.IsInteger() && b.IsInteger() || a.IsFloat() && b.IsFloat() || a.Kind == b.Kind || isPoint(a.Kind) && isPoint(b.Kind)
}

// numeric gives an undecided constant the type double and refuses what is no
// number.
func numeric(e *sqlparse.Call, a plan.Expr) plan.Expr {
	a = coerceUnknown(a, typeOf(sqltype.Double))
	if !a.Type().IsNumeric() {
		d := diagnostic.New("D015", a.Place(), "%s wants a number, not %s", e.Name.Name, article(a.Type()))
		if isPoint(a.Type().Kind) {
			refuse(d.Try("convert it: extract(epoch FROM x) is its seconds, of which to_timestamp(CAST(... AS bigint)) makes a timestamp again"))
		}
		if a.Type().Kind == sqltype.IntervalKind {
			refuse(d.Try("write extract(epoch FROM x) for its seconds, divided by 86400 for days"))
		}
		refuse(d.Try("convert it with CAST"))
	}
	return a
}

func abs(_ *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	a := numeric(e, args[0])
	return call(plan.Abs, a.Type(), e, a)
}

func sign(_ *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	a := numeric(e, args[0])
	if a.Type().Kind == sqltype.DecimalKind {
		return call(plan.Sign, sqltype.DecimalOf(1, 0), e, a)
	}
	return call(plan.Sign, typeOf(sqltype.Double), e, cast(a, typeOf(sqltype.Double)))
}

// rounding types round, trunc, floor and ceil: decimals stay exact, all other
// numbers become doubles. To a number of digits only decimals are rounded;
// quotients and averages, which are decimals in PostgreSQL but doubles here,
// become decimals for it.
func rounding(f plan.Function) func(*context, *sqlparse.Call, []plan.Expr) plan.Expr {
	return func(_ *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
		a := numeric(e, args[0])
		digits := int64(0)
		if len(args) == 2 {
			digits = wholeConstant(e.Name.Name, "the number of digits", args[1])
			a = cast(a, bareNumeric(a.Type()))
		}
		if a.Type().Kind != sqltype.DecimalKind {
			return call(f, typeOf(sqltype.Double), e, cast(a, typeOf(sqltype.Double)))
		}
		room := maxDigits - 1 - int64(a.Type().Digits())
		digits = max(-maxDigits, min(digits, max(room, int64(a.Type().Scale))))
		t := decimal(int(a.Type().Digits())+1, int(max(digits, 0)))
		if len(args) == 1 {
			return call(f, t, e, a)
		}
		return call(f, t, e, a, integer(digits, args[1].Place()))
	}
}

// choice is GoogleSQL's IF(condition, a, b).
func choice(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	results, t := unify(args[1:], "if")
	return &plan.Case{Whens: []plan.When{{Condition: c.boolean(args[0], "IF"), Result: results[0]}}, Else: results[1], T: t, Span: e.Span}
}

func mod(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	return c.arithmetic("%", args[0], args[1], e.Span)
}

// wholeConstant returns the value of an argument that must be a whole constant.
func wholeConstant(function, what string, a plan.Expr) int64 {
	if l, ok := coerceUnknown(a, typeOf(sqltype.Integer)).(*plan.Literal); ok {
		if n, ok := l.Value.(int64); ok {
			return n
		}
	}
	refuse(diagnostic.New("D021", a.Place(), "%s of %s must be a whole constant", what, function).Try("write the number itself, as in 2"))
	return 0
}

// word is textConstant where not every text will do: such is one that does, for a parameter that has no value yet.
func (c *context) word(function, what string, a plan.Expr, such string) string {
	if u, ok := a.(*unknown); ok && u.decided != nil {
		u.as(typeOf(sqltype.Text))
		return such
	}
	if p := c.binder.parameters; p != nil && p.samples[a] && a.Type().Kind == sqltype.Text {
		return such
	}
	return textConstant(function, what, a)
}

// textConstant returns the value of an argument that must be a text constant.
func textConstant(function, what string, a plan.Expr) string {
	if l, ok := known(a).(*plan.Literal); ok {
		if s, ok := l.Value.(string); ok {
			return s
		}
	}
	refuse(diagnostic.New("D021", a.Place(), "%s of %s must be a constant in quotes", what, function).Try("write it in single quotes, as in 'month'; for each case write CASE WHEN ... END"))
	return ""
}

// widthBucket computes in decimals if all arguments are exact and one is a
// decimal, else in doubles, as PostgreSQL chooses.
func widthBucket(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	t := typeOf(sqltype.Integer)
	for i, a := range args[:3] {
		args[i] = numeric(e, a)
		t, _ = operands(t, args[i].Type())
	}
	if t.Kind != sqltype.DecimalKind {
		t = typeOf(sqltype.Double)
	}
	for i, a := range args[:3] {
		args[i] = cast(a, t)
		if _, ok := args[i].(*plan.Literal); i > 0 && !ok {
			refuse(diagnostic.New("D021", a.Place(), "the bounds of width_bucket must be constants").Try("write the numbers themselves: width_bucket(x, 0, 100, 10)"))
		}
	}
	n := wholeConstant("width_bucket", "the number of buckets", args[3])
	lo, hi := args[1].(*plan.Literal).Value, args[2].(*plan.Literal).Value
	if p := c.binder.parameters; p != nil && p.describing && lo != nil && hi != nil && sqltype.Compare(lo, hi) == 0 { // both can stand for parameters
		if hi, _ = parseConstant(t, "2"); hi == nil || sqltype.Compare(lo, hi) == 0 {
			hi, _ = parseConstant(t, "3")
		}
		args[2] = &plan.Literal{Value: hi, T: t, Span: args[2].Place()}
	}
	if lo == nil || hi == nil || sqltype.Compare(lo, hi) == 0 {
		refuse(diagnostic.New("D017", e.Span, "the bounds of width_bucket must differ").Try("write the smallest and the largest value: width_bucket(x, 0, 100, 10)"))
	}
	if n < 1 || n >= 1<<31-1 {
		refuse(diagnostic.New("D017", args[3].Place(), "the number of buckets must be at least 1 and fit an integer").Try("write a number such as 10"))
	}
	args[3] = integer(n, args[3].Place())
	return call(plan.WidthBucket, typeOf(sqltype.Integer), e, args...)
}

// Functions lists the scalar functions by name, with the least and the most
// arguments that each takes.
func Functions() map[string][2]int {
	out := map[string][2]int{}
	for name, f := range functions() {
		out[name] = [2]int{f.least, f.most}
	}
	return out
}

// Aggregates lists the aggregate functions by name.
func Aggregates() []string { return slices.Sorted(maps.Keys(aggregateFunctions)) }

// safeDivide is GoogleSQL's: of doubles, and NULL where the divisor is 0, as every division here.
func safeDivide(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	t := typeOf(sqltype.Double)
	for i, a := range args {
		args[i] = coerce(numeric(e, a), t, e.Name.Name)
	}
	return call(plan.Divide, t, e, args...)
}

// truncations are GoogleSQL's names of date_trunc.
var truncations = []string{"timestamp_trunc", "datetime_trunc"}

// truncated returns date_trunc('month', x) of GoogleSQL's date_trunc(x, MONTH), whose unit is a word.
func truncated(e *sqlparse.Call) *sqlparse.Call {
	google := slices.Contains(truncations, e.Name.Name)
	if len(e.Args) != 2 || !google && e.Name.Name != "date_trunc" {
		return e
	}
	switch e.Args[0].(type) {
	case *sqlparse.String, *sqlparse.Parameter:
		return e // PostgreSQL's
	}
	unit, ok := e.Args[1].(*sqlparse.Name)
	if !ok || unit.Qualifier.Name != "" || !slices.Contains(truncUnits, unit.Column.Name) {
		return e
	}
	out := *e
	out.Args = []sqlparse.Expr{&sqlparse.String{Value: unit.Column.Name, Span: unit.Span}, e.Args[0]}
	return &out
}
