package bind

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// maxPadded bounds the characters of LPAD and RPAD: what they add is a constant.
const maxPadded = 1000

// padded is LPAD or RPAD to a constant length: a longer text is cut at its right end.
func padded(left bool) func(*context, *sqlparse.Call, []plan.Expr) plan.Expr {
	return func(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
		text, whole := typeOf(sqltype.Text), typeOf(sqltype.Integer)
		name := e.Name.Name
		s, fill := coerce(args[0], text, name), " "
		l, ok := coerceUnknown(args[1], whole).(*plan.Literal)
		var n int64
		if ok {
			n, ok = l.Value.(int64)
		}
		if !ok || n > maxPadded {
			refuse(diagnostic.New("D021", args[1].Place(), "the length of %s must be a constant of at most %d", name, maxPadded).
				Because("functions whose result can grow without bound are refused").Try("write the number itself, as in %s(x, 6, '0')", name))
		}
		n = max(n, 0)
		if len(args) == 3 {
			fill = textConstant(name, "the text to fill", args[2])
		}
		cut := call(plan.LeftPart, text, e, s, integer(n, e.Span))
		if fill == "" || n == 0 {
			return cut
		}
		c.repeat(s, 3)
		length := call(plan.Length, whole, e, s)
		filled := []rune(strings.Repeat(fill, int(n)))[:n]
		missing := call(plan.Subtract, whole, e, integer(n, e.Span), length)
		parts := []plan.Expr{call(plan.LeftPart, text, e, &plan.Literal{Value: string(filled), T: text, Span: e.Span}, missing), s}
		if !left {
			slices.Reverse(parts)
		}
		return &plan.Case{Whens: []plan.When{{Condition: boolean(plan.GreaterOrEqual, e.Span, length, integer(n, e.Span)), Result: cut}},
			Else: call(plan.Concat, text, e, parts...), T: text, Span: e.Span}
	}
}

// joined is CONCAT_WS with a constant separator: each argument that is not NULL behind a separator, without
// the first separator.
func joined(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	text := typeOf(sqltype.Text)
	separator := textConstant("concat_ws", "the separator", args[0])
	if strings.ContainsRune(separator, 0) {
		refuse(diagnostic.New("D020", args[0].Place(), "the separator holds a zero byte").Try("write another separator"))
	}
	between := &plan.Literal{Value: separator, T: text, Span: args[0].Place()}
	pieces := make([]plan.Expr, 0, len(args)-1)
	for _, a := range args[1:] {
		if a.Type().Kind == sqltype.Boolean {
			letter := func(s string) plan.Expr { return &plan.Literal{Value: s, T: text, Span: a.Place()} }
			a = &plan.Case{T: text, Span: a.Place(), Whens: []plan.When{{Condition: a, Result: letter("t")}, {Condition: boolean(plan.Not, a.Place(), a), Result: letter("f")}}}
			c.repeat(a, 1)
		}
		pieces = append(pieces, call(plan.Concat, text, e, between, c.explicit(a, text, a.Place())))
	}
	all := concat(c, e, pieces)
	if separator == "" {
		return all
	}
	return call(plan.Substring, text, e, all, integer(int64(len([]rune(separator)))+1, e.Span))
}

// regexpLike is ~, or with the flag i ~*.
func regexpLike(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	op := "~"
	if len(args) == 3 {
		switch flags := c.word("regexp_like", "the options", args[2], ""); flags {
		case "", "c":
		case "i":
			op = "~*"
		default:
			refuse(diagnostic.New("D020", args[2].Place(), "the options %q are not supported", flags).Try("leave them out, or write 'i' to match without case"))
		}
	}
	return c.matches(op, args[0], args[1], e.Span)
}
