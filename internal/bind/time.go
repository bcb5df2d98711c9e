package bind

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// Units of date_trunc. PostgreSQL's century and millennium begin in years that
// end in 1; other engines disagree, so they are left out.
var truncUnits = []string{"microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade"}

func dateTrunc(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	t := typeOf(sqltype.TimestampKind)
	unit := strings.ToLower(c.word("date_trunc", "the unit", args[0], "month"))
	if !slices.Contains(truncUnits, unit) {
		if s := strings.TrimSuffix(unit, "s"); slices.Contains(truncUnits, s) {
			unit = s
		} else {
			refuse(diagnostic.New("D017", args[0].Place(), "date_trunc has no unit '%s'", clip(unit)).
				Try("%s", oneOf(unit, truncUnits)))
		}
	}
	return call(plan.DateTrunc, t, e, &plan.Literal{Value: unit, T: typeOf(sqltype.Text), Span: args[0].Place()}, coerce(args[1], t, "date_trunc"))
}

// A field of extract: the kinds that have it and the decimal that it returns.
// A date has no time of day: PostgreSQL refuses its hour too.
var (
	allKinds  = []sqltype.Kind{sqltype.DateKind, sqltype.TimestampKind, sqltype.TimeKind, sqltype.IntervalKind}
	dayKinds  = []sqltype.Kind{sqltype.DateKind, sqltype.TimestampKind}
	spanKinds = []sqltype.Kind{sqltype.DateKind, sqltype.TimestampKind, sqltype.IntervalKind}
	timeKinds = []sqltype.Kind{sqltype.TimestampKind, sqltype.TimeKind, sqltype.IntervalKind}
)

type field struct {
	kinds []sqltype.Kind
	t     sqltype.Type
}

func fields() map[string]field {
	whole := sqltype.DecimalOf(18, 0)
	return map[string]field{
		"year": {spanKinds, whole}, "quarter": {spanKinds, whole}, "month": {spanKinds, whole},
		"day": {spanKinds, whole}, "decade": {spanKinds, whole},
		"week": {dayKinds, whole}, "dow": {dayKinds, whole}, "isodow": {dayKinds, whole},
		"doy": {dayKinds, whole}, "isoyear": {dayKinds, whole},
		"hour": {timeKinds, whole}, "minute": {timeKinds, whole}, "microseconds": {timeKinds, whole},
		"second": {timeKinds, sqltype.DecimalOf(18, 6)}, "milliseconds": {timeKinds, sqltype.DecimalOf(18, 3)},
		"epoch": {allKinds, sqltype.DecimalOf(20, 6)},
	}
}

// fieldsOf lists what extract finds in a type.
func fieldsOf(t sqltype.Type) string {
	var names []string
	for name, f := range fields() {
		if slices.Contains(f.kinds, t.Kind) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "convert it to a date or a timestamp with CAST"
	}
	return "there are " + strings.Join(names, ", ")
}

func extract(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	name := strings.ToLower(c.word("extract", "the field", args[0], "epoch"))
	if e.Name.Name == "extract" { // GoogleSQL's, in which 1 is Sunday; date_part is PostgreSQL's alone
		switch name {
		case "dayofweek":
			return c.arithmetic("+", extract(c, e, []plan.Expr{&plan.Literal{Value: "dow", T: typeOf(sqltype.Text), Span: args[0].Place()}, args[1]}), integer(1, e.Span), e.Span)
		case "dayofyear":
			name = "doy"
		}
	}
	table := fields()
	f, ok := table[name]
	if !ok {
		if f, ok = table[strings.TrimSuffix(name, "s")]; ok {
			name = strings.TrimSuffix(name, "s")
		}
	}
	if !ok {
		var names []string
		for n := range table {
			names = append(names, n)
		}
		slices.Sort(names)
		refuse(diagnostic.New("D017", args[0].Place(), "extract has no field %s", clip(name)).Try("%s", oneOf(name, names)))
	}
	arg := args[1]
	if _, ok := arg.(*unknown); ok {
		refuse(diagnostic.New("D015", arg.Place(), "the type of extract's argument is unknown").Try("write DATE or TIMESTAMP before the constant"))
	}
	if !slices.Contains(f.kinds, arg.Type().Kind) {
		refuse(diagnostic.New("D015", e.Span, "%s has no %s", article(arg.Type()), name).Try("%s", fieldsOf(arg.Type())))
	}
	t := f.t
	if name == "epoch" && arg.Type().Kind == sqltype.IntervalKind {
		t = sqltype.DecimalOf(22, 6) // 178,956,970 years
	}
	return call(plan.Extract, t, e, &plan.Literal{Value: name, T: typeOf(sqltype.Text), Span: args[0].Place()}, arg)
}

// datePart is extract with a double as its result.
func datePart(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	if args[1].Type().Kind == sqltype.DateKind {
		args[1] = cast(args[1], typeOf(sqltype.TimestampKind))
	}
	return cast(extract(c, e, args), typeOf(sqltype.Double))
}

func oneOf(name string, known []string) string {
	if hint := nearest(name, slices.Clone(known)); hint != "" {
		return hint
	}
	return "use one of " + strings.Join(known, ", ")
}
