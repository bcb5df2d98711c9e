package bind

import (
	"cmp"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

const maxDigits = 38 // of a decimal

// An unknown is a quoted constant or NULL whose type the context decides, as
// in PostgreSQL. It never leaves this package.
type unknown struct {
	text *string // nil for NULL
	at   diagnostic.Span

	parameter bool               // not written in the statement: types of columns do not depend on its digits
	decided   func(sqltype.Type) // of a parameter without a value: learns its type
}

func (u *unknown) Type() sqltype.Type     { return sqltype.Of(sqltype.Null) }
func (u *unknown) Place() diagnostic.Span { return u.at }

// category is PostgreSQL's type category: types of one convert implicitly
// towards the wider.
func category(t sqltype.Type) string {
	switch {
	case t.IsNumeric():
		return "number"
	case t.Kind == sqltype.DateKind || t.Kind == sqltype.TimestampKind:
		return "date"
	}
	return t.String()
}

// decimal returns decimal(precision, scale), its precision capped at 38 digits.
func decimal(integer, scale int) sqltype.Type {
	return sqltype.DecimalOf(uint8(min(maxDigits, max(1, integer+scale))), uint8(min(maxDigits, scale)))
}

// asDecimal returns the decimal type that holds an exact numeric type.
func asDecimal(t sqltype.Type) sqltype.Type {
	if t.Kind == sqltype.DecimalKind {
		return t
	}
	return decimal(int(t.Digits()), 0)
}

// common returns the type that values of both types convert to in CASE,
// COALESCE, UNION and comparisons, or false.
func common(a, b sqltype.Type) (sqltype.Type, bool) {
	switch {
	case a == b:
		return a, true
	case a.Kind == sqltype.Null:
		return b, true
	case b.Kind == sqltype.Null:
		return a, true
	case category(a) != category(b):
		return a, false
	case !a.IsNumeric():
		return typeOf(sqltype.TimestampKind), true
	case a.Kind == sqltype.Double || b.Kind == sqltype.Double:
		return typeOf(sqltype.Double), true
	case a.Kind == sqltype.Real || b.Kind == sqltype.Real:
		return typeOf(sqltype.Real), true
	case a.IsInteger() && b.IsInteger():
		return typeOf(max(a.Kind, b.Kind)), true
	}
	a, b = asDecimal(a), asDecimal(b)
	return decimal(max(int(a.Digits()), int(b.Digits())), max(int(a.Scale), int(b.Scale))), true
}

// operands returns the type in which PostgreSQL computes with both types: as
// common, but a real and another type of number meet in double.
func operands(a, b sqltype.Type) (sqltype.Type, bool) {
	t, ok := common(a, b)
	if t.Kind == sqltype.Real && a != b && a.Kind != sqltype.Null && b.Kind != sqltype.Null {
		t = typeOf(sqltype.Double)
	}
	return t, ok
}

// coerce converts e implicitly, or refuses; what names the construct.
func coerce(e plan.Expr, t sqltype.Type, what string) plan.Expr {
	if u, ok := e.(*unknown); ok {
		return u.as(t)
	}
	from := e.Type()
	if from == t {
		return e
	}
	if c, ok := common(from, t); !ok || c.Kind != t.Kind {
		refuse(diagnostic.New("D015", e.Place(), "%s wants %s, not %s", what, article(t), article(from)).
			Try("convert it: CAST(... AS %s)", t))
	}
	return cast(e, t)
}

// cast converts without a check, and constants at once where that is exact.
func cast(e plan.Expr, t sqltype.Type) plan.Expr {
	if e.Type() == t {
		return e
	}
	if l, ok := e.(*plan.Literal); ok {
		if v, ok := convert(l.Value, t); ok {
			return &plan.Literal{Value: v, T: t, Span: l.Span}
		}
	}
	return &plan.Cast{Arg: e, T: t, Span: e.Place()}
}

// convert converts an exact number to a type that holds it exactly, or a date
// to a timestamp.
func convert(v sqltype.Value, t sqltype.Type) (sqltype.Value, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case int64, sqltype.Decimal:
		if !t.IsInteger() && t.Kind != sqltype.DecimalKind && t.Kind != sqltype.Double {
			return nil, false
		}
		out, err := sqltype.ParseValue(t, sqltype.Format(v))
		return out, err == nil
	case sqltype.Date:
		if t.Kind == sqltype.TimestampKind {
			return sqltype.Timestamp(int64(v) * 86_400_000_000), true
		}
	}
	return nil, false
}

// examples show how constants of a type are written.
var examples = map[sqltype.Kind]string{
	sqltype.Boolean: "write TRUE or FALSE", sqltype.DateKind: "write a date of the calendar, as in '2025-01-31'",
	sqltype.TimestampKind: "write it as in '2025-01-31 12:30:00'", sqltype.TimeKind: "write it as in '12:30:00'",
	sqltype.IntervalKind: "write it as in '1 day 2 hours'",
}

// as gives the constant a type.
func (u *unknown) as(t sqltype.Type) plan.Expr {
	l := &plan.Literal{T: t, Span: u.at}
	if t.Kind == sqltype.Null {
		l.T = typeOf(sqltype.Text)
	}
	switch {
	case u.decided != nil:
		u.decided(l.T)
		l.Value = sample(l.T)
		return l
	case u.text == nil:
		return l
	}
	v, err := parseConstant(l.T, *u.text)
	if err != "" {
		refuse(diagnostic.New("D017", u.at, "'%s' is not %s: %s", clip(*u.text), article(l.T), err).Try("%s", cmp.Or(examples[l.T.Kind], "write a number, as in 12.5")))
	}
	l.Value = v
	return l
}

// known gives a constant of undecided type the type text.
func known(e plan.Expr) plan.Expr { return coerceUnknown(e, typeOf(sqltype.Text)) }

// coerceUnknown gives a constant of undecided type the type t.
func coerceUnknown(e plan.Expr, t sqltype.Type) plan.Expr {
	if u, ok := e.(*unknown); ok {
		return u.as(t)
	}
	return e
}

// number gives a numeric constant PostgreSQL's type: integer, bigint or
// numeric with just its digits.
func number(text string, at diagnostic.Span) plan.Expr {
	for _, k := range []sqltype.Kind{sqltype.Integer, sqltype.Bigint} {
		if v, err := sqltype.ParseValue(typeOf(k), text); err == nil {
			return &plan.Literal{Value: v, T: typeOf(k), Span: at}
		}
	}
	if t, ok := decimalTypeOf(text); ok {
		if v, err := sqltype.ParseValue(t, text); err == nil {
			return &plan.Literal{Value: v, T: t, Span: at}
		}
	}
	v, err := sqltype.ParseValue(typeOf(sqltype.Double), text)
	if err != nil {
		refuse(diagnostic.New("D017", at, "the number is out of range").Try("write a smaller one: the largest is 1.8e308"))
	}
	return &plan.Literal{Value: v, T: typeOf(sqltype.Double), Span: at}
}

// decimalTypeOf returns the decimal type with the digits of a number as
// written, or false when 38 digits do not hold it.
func decimalTypeOf(text string) (sqltype.Type, bool) {
	text = strings.TrimLeft(strings.ToLower(strings.TrimSpace(text)), "+-")
	mantissa, exponent, _ := strings.Cut(text, "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	e, ok := new(big.Int).SetString("0"+strings.TrimLeft(exponent, "+-"), 10)
	if !ok || !e.IsInt64() || e.Int64() > 100 {
		return sqltype.Type{}, false
	}
	n := int(e.Int64())
	if strings.HasPrefix(exponent, "-") {
		n = -n
	}
	integer, scale := len(strings.TrimLeft(whole, "0"))+n, max(0, len(fraction)-n)
	if integer = max(0, integer); integer+scale > maxDigits {
		return sqltype.Type{}, false
	}
	return decimal(integer, scale), true
}

func article(t sqltype.Type) string {
	if t.Kind == sqltype.Integer || t.Kind == sqltype.IntervalKind {
		return "an " + t.String()
	}
	return "a " + t.String()
}

// clip shortens a constant of the statement for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}
