package bind

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

var limitedText = regexp.MustCompile(`^(?:varchar|character varying)\((\d+)\)$`)

// cast binds an explicit cast.
func (c *context) cast(e *sqlparse.Cast) plan.Expr { return c.to(e, c.expr(e.Arg)) }

// to binds the cast of an argument that is bound.
func (c *context) to(e *sqlparse.Cast, arg plan.Expr) plan.Expr {
	if m := limitedText.FindStringSubmatch(e.Type); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 32)
		if err != nil || n < 1 {
			refuse(diagnostic.New("D019", e.TypeSpan, "the length of varchar must be at least 1").Try("write text, or varchar(20)"))
		}
		text := c.explicit(arg, typeOf(sqltype.Text), e.Span)
		return &plan.Call{Function: plan.LeftPart, Args: []plan.Expr{text, integer(n, e.TypeSpan)}, T: text.Type(), Span: e.Span}
	}
	if u, ok := arg.(*unknown); ok && e.Type == "timestamptz" && u.text != nil && !u.parameter {
		return c.instant(u, e)
	}
	t, ok := c.typeName(e, arg)
	if !ok {
		d := diagnostic.New("D019", e.TypeSpan, "unknown type %s", e.Type)
		if hint := cmp.Or(insteadOfType(e.Type), nearest(e.Type, sqltype.Names())); hint != "" {
			refuse(d.Try("%s", hint))
		}
		refuse(d.Try("the types are boolean, smallint, integer, bigint, real, double precision, numeric(p,s) with at most %d digits, text, varchar(n), date, time, timestamp and interval", maxDigits))
	}
	return c.explicit(arg, t, e.Span)
}

// instant is a constant point in time with a zone: the timestamp in UTC, which is the zone of all sessions. A text
// without a zone is in UTC.
func (c *context) instant(u *unknown, e *sqlparse.Cast) plan.Expr {
	timestamp := typeOf(sqltype.TimestampKind)
	text, ok := sqltype.InUTC(*u.text)
	if !ok {
		if _, err := sqltype.ParseValue(timestamp, strings.TrimSpace(text)); err != nil {
			refuse(diagnostic.New("D017", u.at, "'%s' is not a timestamp with a zone", clip(text)).Try("write it as in '2025-01-31 12:30:00+02'"))
		}
	}
	return c.explicit(&unknown{text: &text, at: u.at}, timestamp, e.Span)
}

// typeName resolves the type of a cast. A bare numeric takes its digits from
// the argument: PostgreSQL's has no bound.
func (c *context) typeName(e *sqlparse.Cast, arg plan.Expr) (sqltype.Type, bool) {
	if e.Type == "numeric" || e.Type == "decimal" {
		if u, ok := arg.(*unknown); ok && u.text != nil && !u.parameter {
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
	return sqltype.DecimalOf(maxDigits, 15) // 15 digits of a double are always exact
}

func integer(n int64, at diagnostic.Span) plan.Expr {
	return &plan.Literal{Value: n, T: typeOf(sqltype.Integer), Span: at}
}

// explicit converts e to t if PostgreSQL has an explicit cast.
func (c *context) explicit(e plan.Expr, t sqltype.Type, at diagnostic.Span) plan.Expr {
	if u, ok := e.(*unknown); ok {
		l := u.as(t).(*plan.Literal)
		l.Span = at
		return l
	}
	from := e.Type()
	if from == t {
		return e
	}
	if !castable(from, t) {
		refuse(diagnostic.New("D019", at, "there is no cast from %s to %s", from, t).Try("%s", otherCast(from, t)))
	}
	if l, ok := e.(*plan.Literal); ok {
		if v, ok := convert(l.Value, t); ok {
			return &plan.Literal{Value: v, T: t, Span: at}
		}
	}
	return &plan.Cast{Arg: e, T: t, Span: at}
}

// otherCast says what to write for a cast that there is not.
func otherCast(from, to sqltype.Type) string {
	switch {
	case from.Kind == sqltype.IntervalKind:
		return "its length in seconds is a number: extract(epoch FROM x)"
	case to.Kind == sqltype.IntervalKind:
		return "write a constant interval: INTERVAL '1 day 2 hours'"
	case to.Kind == sqltype.Boolean:
		return "compare it with a value: x <> 0"
	case from.Kind == sqltype.Boolean:
		return "write CASE WHEN x THEN 1 ELSE 0 END"
	case from.IsTemporal() && to.IsNumeric():
		return "take a field of it, extract(year FROM x), or the days since another date: x - DATE '2000-01-01'"
	}
	return "convert it to text first: CAST(CAST(x AS text) AS ...)"
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
