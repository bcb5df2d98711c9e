package bind

import (
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// maxGroups keeps the number of a group, and of two more that a rendering may add, to one digit.
const maxGroups = 7

// agreed returns the pattern of a function that tells what matches, and what is known of its matches. A NULL pattern gives nil.
func agreed(what string, e plan.Expr) (*plan.Literal, matches) {
	l := checkedPattern(what, e)
	if l.Value == nil {
		return nil, matches{}
	}
	m := matchesOf(l.Value.(string))
	if m.first != "" {
		refuse(diagnostic.New("D020", l.Span, "the pattern of %s %s", what, m.first).
			Because("PostgreSQL takes the longest match, and other engines the first one").
			Try("let parts exclude each other, as in '([^@]*)@' or '[a-z]+[0-9]*'; where it is only asked whether x matches, write x ~ 'pattern'"))
	}
	return l, m
}

// withoutGroups is a pattern that matches the same and has no groups.
func withoutGroups(l *plan.Literal) *plan.Literal {
	return &plan.Literal{Value: ungrouped(l.Value.(string)), T: l.T, Span: l.Span}
}

// matchCount is how often a pattern matches, from left to right.
func matchCount(_ *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	whole := typeOf(sqltype.Integer)
	x := coerce(args[0], typeOf(sqltype.Text), "regexp_count")
	l, m := agreed("regexp_count", args[1])
	if l == nil {
		return &plan.Literal{T: whole, Span: e.Span}
	}
	m.refuseForAll("regexp_count", l)
	return call(plan.MatchCount, whole, e, x, withoutGroups(l))
}

// refuseForAll is for patterns of which all matches are looked for. Behind a match some engines find another, empty one, and some
// do not. And one person's text must not decide how long a statement takes.
func (m matches) refuseForAll(what string, l *plan.Literal) {
	if m.empty {
		refuse(diagnostic.New("D020", l.Span, "the pattern of %s can match the empty text", what).
			Because("engines differ in how many empty matches there are").Try("write + in place of *, or leave out what is optional"))
	}
	if rescans(m.program) {
		refuse(diagnostic.New("D020", l.Span, "the pattern of %s can read a text again for each match", what).
			Because("where a long match fails, the search goes back to the short one before it, so that time could grow with the square of a text's length").
			Try("let what is repeated leave out the letter that a match begins with, as in '<[^<>]*>|<' in place of '<[^>]*>|<'"))
	}
}

// refuseGroup: a group has one text in each match, the same in every engine.
func (m matches) refuseGroup(what string, l *plan.Literal, group int) {
	if m.twofold || !m.constant[group] {
		refuse(diagnostic.New("D020", l.Span, "group %d of the pattern of %s can have several texts, or none", group, what).
			Because("engines differ in which they take").
			Try("write a group that is in each match once and is not repeated, of parts that exclude each other: '^([^-]*)-'"))
	}
}

// matchText is the text of the first match.
func matchText(_ *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	text := typeOf(sqltype.Text)
	x := coerce(args[0], text, e.Name.Name)
	l, _ := agreed(e.Name.Name, args[1])
	if l == nil {
		return &plan.Literal{T: text, Span: e.Span}
	}
	return call(plan.MatchText, text, e, x, withoutGroups(l), integer(0, e.Span))
}

// substring is a part of a text by its place or, of a constant text in the place of a number, by a pattern: the first match's first
// group, if the pattern has one, or all of it.
func substring(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	text, whole := typeOf(sqltype.Text), typeOf(sqltype.Integer)
	u, undecided := args[1].(*unknown)
	if len(args) == 3 || args[1].Type().Kind != sqltype.Text && (!undecided || u.text == nil || u.parameter) {
		return fixed(plan.Substring, text, text, whole, whole)(c, e, args)
	}
	x := coerce(args[0], text, "substring")
	l, m := agreed("substring", args[1])
	if l == nil {
		return &plan.Literal{T: text, Span: e.Span}
	}
	if m.groups == 0 {
		return call(plan.MatchText, text, e, x, l, integer(0, e.Span))
	}
	m.refuseGroup("substring", l, 1)
	return call(plan.MatchText, text, e, x, l, integer(1, e.Span))
}

// matchReplaced puts a constant text in the place of the first match, or with the flag g of all.
func matchReplaced(c *context, e *sqlparse.Call, args []plan.Expr) plan.Expr {
	const what = "regexp_replace"
	text := typeOf(sqltype.Text)
	x := coerce(args[0], text, what)
	isNull := func(e plan.Expr) bool {
		l, ok := known(e).(*plan.Literal)
		return ok && l.Value == nil
	}
	null := isNull(args[2])
	f := plan.MatchFirst
	if len(args) == 4 && isNull(args[3]) {
		null = true
	} else if len(args) == 4 {
		switch flags := c.word(what, "the options", args[3], ""); flags {
		case "":
		case "g":
			f = plan.MatchEach
		default:
			refuse(diagnostic.New("D020", args[3].Place(), "the options %q are not supported", clip(flags)).Try("write 'g' to replace all matches, or leave them out; [Aa] matches both letters"))
		}
	}
	l, m := agreed(what, args[1])
	if l == nil {
		return &plan.Literal{T: text, Span: e.Span}
	}
	if null {
		return &plan.Literal{T: text, Span: e.Span}
	}
	if f == plan.MatchEach {
		m.refuseForAll(what, l)
	}
	written := textConstant(what, "the replacement", args[2])
	pieces, ok := plan.Replacement(written)
	if !ok {
		refuse(diagnostic.New("D020", args[2].Place(), "the replacement has a backslash before something else than a digit, & or \\").
			Try(`write \\ for a backslash, \1 for the first group and \& for the match`))
	}
	for _, p := range pieces {
		if p.Group > m.groups {
			refuse(diagnostic.New("D020", args[2].Place(), "the pattern has no group %d", p.Group).Try("put the part that is meant into parentheses"))
		}
		if p.Group > 0 {
			m.refuseGroup(what, l, p.Group)
		}
	}
	if m.groups > maxGroups {
		refuse(diagnostic.New("D020", l.Span, "the pattern has more than %d groups", maxGroups).Try("write (?:...) for those that the replacement does not name"))
	}
	return call(f, text, e, x, l, &plan.Literal{Value: written, T: text, Span: args[2].Place()})
}
