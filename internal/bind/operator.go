package bind

import (
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

var arithmetic = map[string]plan.Function{
	"+": plan.Add, "-": plan.Subtract, "*": plan.Multiply, "/": plan.Divide, "%": plan.Modulo, "^": plan.Power,
}

var comparisons = map[string]plan.Function{
	"=": plan.Equal, "<>": plan.NotEqual, "<": plan.Less, "<=": plan.LessOrEqual, ">": plan.Greater, ">=": plan.GreaterOrEqual,
}

func (c *context) binary(e *sqlparse.Binary) plan.Expr {
	l, r := c.expr(e.Left), c.expr(e.Right)
	if f, ok := comparisons[e.Op]; ok {
		return c.compare(f, l, r, e.Span)
	}
	switch e.Op {
	case "and":
		return boolean(plan.And, e.Span, c.boolean(l, "AND"), c.boolean(r, "AND"))
	case "or":
		return boolean(plan.Or, e.Span, c.boolean(l, "OR"), c.boolean(r, "OR"))
	case "||":
		return c.concat(l, r, e.Span)
	case "~", "~*", "!~", "!~*":
		return c.matches(e.Op, l, r, e.Span)
	}
	return c.arithmetic(e.Op, l, r, e.Span)
}

func noOperator(at diagnostic.Span, op string, types ...sqltype.Type) *diagnostic.Diagnostic {
	if len(types) == 1 {
		return diagnostic.New("D015", at, "there is no operator %s for %s", op, article(types[0])).Try("convert it with CAST")
	}
	return diagnostic.New("D015", at, "there is no operator %s for %s and %s", op, article(types[0]), article(types[1])).
		Try("convert one side with CAST")
}

// compare makes a comparison.
func (c *context) compare(f plan.Function, l, r plan.Expr, at diagnostic.Span) plan.Expr {
	l, r = c.comparable(l, r, string(f), at)
	return boolean(f, at, l, r)
}

// comparable converts both sides to the type in which they are compared.
func (c *context) comparable(l, r plan.Expr, op string, at diagnostic.Span) (plan.Expr, plan.Expr) {
	l, r = compared(l, r.Type()), compared(r, l.Type())
	t, ok := operands(l.Type(), r.Type())
	if !ok {
		refuse(noOperator(at, op, l.Type(), r.Type()))
	}
	if t.Kind == sqltype.Null {
		t = typeOf(sqltype.Text)
	}
	return cast(coerceUnknown(l, t), t), cast(coerceUnknown(r, t), t)
}

// compared gives a constant in quotes that is compared with a decimal just its digits, as
// PostgreSQL does, whose numeric has no bound: what a column cannot hold may be asked about.
func compared(e plan.Expr, with sqltype.Type) plan.Expr {
	u, ok := e.(*unknown)
	if !ok || u.text == nil || with.Kind != sqltype.DecimalKind {
		return e
	}
	t, ok := decimalTypeOf(*u.text)
	if !ok {
		return e
	}
	v, err := sqltype.ParseValue(t, *u.text)
	if err != nil {
		return e // its refusal names the decimal's type
	}
	return &plan.Literal{Value: v, T: t, Span: u.at}
}

// checkOrdered refuses a type whose values have no canonical form to be a key by.
func checkOrdered(t sqltype.Type, at diagnostic.Span, what string) {
	if t.Kind == sqltype.IntervalKind {
		refuse(diagnostic.New("D025", at, "an interval cannot stand in %s", what).
			Because("different intervals can compare equal, as 1 month and 30 days do").
			Try("use its length in seconds: extract(epoch from ...)"))
	}
}

// arithmetic types + - * / % ^ as PostgreSQL's operators do.
func (c *context) arithmetic(op string, l, r plan.Expr, at diagnostic.Span) plan.Expr {
	if e := c.temporal(op, l, r, at); e != nil {
		return e
	}
	t, ok := operands(l.Type(), r.Type())
	if !ok {
		refuse(noOperator(at, op, l.Type(), r.Type()))
	}
	if t.Kind == sqltype.Null {
		refuse(diagnostic.New("D015", at, "the types of both sides of %s are unknown", op).Try("convert one side with CAST"))
	}
	if !t.IsNumeric() {
		refuse(noOperator(at, op, l.Type(), r.Type()))
	}
	f := arithmetic[op]
	switch {
	case f == plan.Power, t.Kind == sqltype.DecimalKind && f == plan.Divide:
		t = typeOf(sqltype.Double)
	case t.IsFloat() && f == plan.Modulo:
		refuse(noOperator(at, op, l.Type(), r.Type()).Try("convert both sides to decimals: x::numeric(18,6) %% 2"))
	case t.Kind == sqltype.DecimalKind:
		return c.decimals(f, coerceUnknown(l, t), coerceUnknown(r, t), at)
	}
	return &plan.Call{Function: f, Args: []plan.Expr{cast(coerceUnknown(l, t), t), cast(coerceUnknown(r, t), t)}, T: t, Span: at}
}

// decimals types exact arithmetic so that no digit is lost, up to 38 digits.
func (c *context) decimals(f plan.Function, l, r plan.Expr, at diagnostic.Span) plan.Expr {
	a, b := asDecimal(l.Type()), asDecimal(r.Type())
	t := decimal(max(int(a.Digits()), int(b.Digits())), max(int(a.Scale), int(b.Scale)))
	switch f {
	case plan.Add, plan.Subtract:
		t = decimal(int(t.Digits())+1, int(t.Scale))
	case plan.Multiply:
		scale := int(a.Scale) + int(b.Scale)
		if scale > maxDigits {
			refuse(diagnostic.New("D027", at, "the product has %d digits after the point, more than %d", scale, maxDigits).
				Try("round a factor first, or convert it to double: x::double precision"))
		}
		t = decimal(int(a.Digits())+int(b.Digits()), scale)
		return &plan.Call{Function: f, Args: []plan.Expr{cast(l, a), cast(r, b)}, T: t, Span: at}
	}
	return &plan.Call{Function: f, Args: []plan.Expr{cast(l, t), cast(r, t)}, T: t, Span: at}
}

// temporal types arithmetic on dates, timestamps, times and intervals, or
// returns nil for numbers.
func (c *context) temporal(op string, l, r plan.Expr, at diagnostic.Span) plan.Expr {
	lt, rt := l.Type().Kind, r.Type().Kind
	temporal := func(k sqltype.Kind) bool { return typeOf(k).IsTemporal() || k == sqltype.IntervalKind }
	if !temporal(lt) && !temporal(rt) {
		return nil
	}
	if op == "+" && !isPoint(lt) && isPoint(rt) { // PostgreSQL's + commutes
		l, r, lt, rt = r, l, rt, lt
	}
	call := func(f plan.Function, t sqltype.Kind, a, b plan.Expr) plan.Expr {
		return &plan.Call{Function: f, Args: []plan.Expr{a, b}, T: typeOf(t), Span: at}
	}
	timestamp := func(e plan.Expr) plan.Expr {
		return cast(coerceUnknown(e, typeOf(sqltype.TimestampKind)), typeOf(sqltype.TimestampKind))
	}
	whole := typeOf(sqltype.Integer)
	switch {
	case op == "-" && lt == sqltype.DateKind && (rt == sqltype.DateKind || rt == sqltype.Null):
		return call(plan.SubtractDays, sqltype.Integer, l, coerceUnknown(r, typeOf(sqltype.DateKind)))
	case op == "-" && isPoint(lt) && (isPoint(rt) || rt == sqltype.Null), op == "-" && lt == sqltype.Null && isPoint(rt):
		if lt == sqltype.Null && rt == sqltype.DateKind {
			return call(plan.SubtractDays, sqltype.Integer, coerceUnknown(l, typeOf(rt)), r)
		}
		return call(plan.Elapsed, sqltype.IntervalKind, timestamp(l), timestamp(r))
	case (op == "+" || op == "-") && isPoint(lt) && rt == sqltype.IntervalKind:
		if op == "-" {
			r = &plan.Call{Function: plan.Negate, Args: []plan.Expr{r}, T: r.Type(), Span: r.Place()}
		}
		return call(plan.AddInterval, sqltype.TimestampKind, timestamp(l), r)
	case (op == "+" || op == "-") && lt == sqltype.DateKind && (rt == sqltype.Smallint || rt == sqltype.Integer):
		r = cast(r, whole)
		if op == "-" {
			r = &plan.Call{Function: plan.Negate, Args: []plan.Expr{r}, T: whole, Span: r.Place()}
		}
		return call(plan.AddDays, sqltype.DateKind, l, r)
	}
	refuse(noOperator(at, op, l.Type(), r.Type()))
	return nil
}

// isPoint reports whether values of the kind are points in time.
func isPoint(k sqltype.Kind) bool { return k == sqltype.DateKind || k == sqltype.TimestampKind }
