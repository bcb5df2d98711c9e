package bind

import (
	"slices"

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

// translate replaces each character of a constant text by the one at its place in another, or drops it where that
// is shorter. Of a character that stands twice the first place counts.
func translate(_ *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	text := typeOf(sqltype.Text)
	args[0] = coerce(args[0], text, "translate")
	from := []rune(textConstant("translate", "the characters to find", args[1]))
	to := []rune(textConstant("translate", "the characters in their place", args[2]))
	if slices.Contains(from, 0) || slices.Contains(to, 0) {
		refuse(diagnostic.New("D020", e.Span, "a text of translate holds a zero byte").Try("leave it out"))
	}
	var once, places []rune
	for i, r := range from {
		if slices.Contains(once, r) {
			continue
		}
		if once = append(once, r); i < len(to) {
			places = append(places, to[i])
		}
	}
	constant := func(r []rune) plan.Expr { return &plan.Literal{Value: string(r), T: text, Span: e.Span} }
	return call(plan.Translate, text, e, args[0], constant(once), constant(places))
}

// maxRepeated bounds how often REPEAT writes a text.
const maxRepeated = 100

// repeated is a text a constant number of times behind itself, which || bounds in length.
func repeated(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	text := typeOf(sqltype.Text)
	x := coerce(args[0], text, "repeat")
	n := wholeConstant("repeat", "the number", args[1])
	if n > maxRepeated {
		refuse(diagnostic.New("D021", args[1].Place(), "repeat writes a text at most %d times", maxRepeated).
			Because("functions whose result can grow without bound are refused").Try("write a smaller number"))
	}
	if n <= 0 {
		return call(plan.LeftPart, text, e, x, integer(0, e.Span))
	}
	c.repeat(x, int(n)-1)
	out := x
	for range n - 1 {
		out = call(plan.Concat, text, e, out, x)
	}
	return out
}
