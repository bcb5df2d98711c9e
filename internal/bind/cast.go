package bind

import (
	"regexp"
	"strconv"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

var limitedText = regexp.MustCompile(`^(?:varchar|character varying)\((\d+)\)$`)

// cast binds an explicit cast.
func (c *context) cast(e *sqlparse.Cast) plan.Expr {
	arg := c.expr(e.Arg)
	if m := limitedText.FindStringSubmatch(e.Type); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 32)
		if err != nil || n < 1 {
			refuse(diagnostic.New("D019", e.TypeSpan, "the length of varchar must be at least 1"))
		}
		text := c.explicit(arg, typeOf(sqltype.Text), e.Span)
		return &plan.Call{Function: plan.LeftPart, Args: []plan.Expr{text, integer(n, e.TypeSpan)}, T: text.Type(), Span: e.Span}
	}
	t, ok := c.typeName(e, arg)
	if !ok {
		d := diagnostic.New("D019", e.TypeSpan, "unknown type %s", e.Type)
		refuse(d.Try("%s", nearest(e.Type, sqltype.Names())))
	}
	return c.explicit(arg, t, e.Span)
}

// typeName resolves the type of a cast. A bare numeric takes its digits from
// the argument: PostgreSQL's has no bound.
func (c *context) typeName(e *sqlparse.Cast, arg plan.Expr) (sqltype.Type, bool) {
	if e.Type == "numeric" || e.Type == "decimal" {
		if u, ok := arg.(*unknown); ok && u.text != nil {
			if t, ok := decimalTypeOf(*u.text); ok {
				return t, true
			}
		}
		return bareNumeric(arg.Type()), true
	}
	t, err := sqltype.Parse(e.Type)
	return t, err == nil
}

// bareNumeric returns the decimal type for a cast to numeric without digits.
func bareNumeric(t sqltype.Type) sqltype.Type {
	if t.IsInteger() || t.Kind == sqltype.DecimalKind {
		return asDecimal(t)
	}
	return sqltype.DecimalOf(maxDigits, 15) // a double has 15 digits that are always right
}

func integer(n int64, at diagnostic.Span) plan.Expr {
	return &plan.Literal{Value: n, T: typeOf(sqltype.Integer), Span: at}
}

// explicit converts e to t if PostgreSQL has an explicit cast.
func (c *context) explicit(e plan.Expr, t sqltype.Type, at diagnostic.Span) plan.Expr {
	if u, ok := e.(*unknown); ok {
		if u.text == nil {
			return &plan.Literal{T: t, Span: at}
		}
		l := u.as(t).(*plan.Literal)
		l.Span = at
		return l
	}
	from := e.Type()
	if from == t {
		return e
	}
	if !castable(from, t) {
		refuse(diagnostic.New("D019", at, "there is no cast from %s to %s", from, t))
	}
	if l, ok := e.(*plan.Literal); ok {
		if v, ok := convert(l.Value, t); ok {
			return &plan.Literal{Value: v, T: t, Span: at}
		}
	}
	return &plan.Cast{Arg: e, T: t, Span: at}
}

// castable lists PostgreSQL's explicit casts, but those between interval and
// text, whose formats differ between engines.
func castable(from, to sqltype.Type) bool {
	f, t := from.Kind, to.Kind
	switch {
	case f == sqltype.IntervalKind || t == sqltype.IntervalKind:
		return false
	case f == sqltype.Text || t == sqltype.Text:
		return true
	case from.IsNumeric() && to.IsNumeric():
		return true
	case f == sqltype.Boolean:
		return t == sqltype.Integer
	case t == sqltype.Boolean:
		return f == sqltype.Integer
	case isPoint(f) && isPoint(t):
		return true
	}
	return f == sqltype.TimestampKind && t == sqltype.TimeKind
}
