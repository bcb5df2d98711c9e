package bind

import (
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// concat types ||: text, and anything that has a text form beside a text.
func (c *context) concat(l, r plan.Expr, at diagnostic.Span) plan.Expr {
	text := typeOf(sqltype.Text)
	lt, rt := l.Type().Kind, r.Type().Kind
	if lt != sqltype.Text && lt != sqltype.Null && rt != sqltype.Text && rt != sqltype.Null {
		refuse(noOperator(at, "||", l.Type(), r.Type()))
	}
	return &plan.Call{
		Function: plan.Concat, T: text, Span: at,
		Args: []plan.Expr{c.explicit(l, text, l.Place()), c.explicit(r, text, r.Place())},
	}
}

// concat types CONCAT, in which NULL counts as the empty text and a boolean is
// t or f.
func concat(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	text := typeOf(sqltype.Text)
	var out plan.Expr
	for _, a := range args {
		if a.Type().Kind == sqltype.Boolean {
			letter := func(s string) plan.Expr { return &plan.Literal{Value: s, T: text, Span: a.Place()} }
			a = &plan.Case{T: text, Span: a.Place(), Else: letter(""),
				Whens: []plan.When{{Condition: a, Result: letter("t")}, {Condition: boolean(plan.Not, a.Place(), a), Result: letter("f")}}}
			c.repeat(a, 1)
		}
		a = call(plan.Coalesce, text, e, c.explicit(a, text, a.Place()), &plan.Literal{Value: "", T: text, Span: a.Place()})
		if out == nil {
			out = a
		} else {
			out = call(plan.Concat, text, e, out, a)
		}
	}
	return out
}

func trim(f plan.Function) func(*context, *sqlparse.Call, []plan.Expr) plan.Expr {
	text := typeOf(sqltype.Text)
	return func(_ *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
		args[0] = coerce(args[0], text, e.Name.Name)
		set := " "
		if len(args) == 2 {
			set = textConstant(e.Name.Name, "the set of characters", args[1])
		}
		return call(f, text, e, args[0], &plan.Literal{Value: set, T: text, Span: e.Span})
	}
}

// replace bounds its output: both texts are constants.
func replace(_ *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	text := typeOf(sqltype.Text)
	args[0] = coerce(args[0], text, "replace")
	for i, what := range []string{1: "the text to find", 2: "the replacement"} {
		if i > 0 {
			args[i] = &plan.Literal{Value: textConstant("replace", what, args[i]), T: text, Span: args[i].Place()}
		}
	}
	return call(plan.Replace, text, e, args...)
}
