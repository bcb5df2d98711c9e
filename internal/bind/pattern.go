package bind

import (
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// Bounds on regular expressions, so that an engine compiles every one.
const (
	maxPattern = 1000 // bytes
	maxWeight  = 2000 // atoms, counting repetitions
	maxCount   = 255  // in {m,n}, as PostgreSQL's
)

// constantPattern returns a pattern; NULL is a pattern too.
func constantPattern(what string, e plan.Expr) (*plan.Literal, string) {
	l, ok := inCase(known(e)).(*plan.Literal)
	if ok && l.Value == nil {
		return l, ""
	}
	if ok && l.T.Kind != sqltype.Text {
		refuse(diagnostic.New("D020", e.Place(), "the pattern of %s must be a text, not %s", what, article(l.T)).
			Try("write the pattern in single quotes, as in %s '5%%'; to compare with a value write =", what))
	}
	if !ok {
		refuse(diagnostic.New("D020", e.Place(), "the pattern of %s must be a constant", what).
			Because("a pattern from the data could fail or take arbitrarily long").
			Try("compare with =, starts_with or strpos"))
	}
	return l, l.Value.(string)
}

// inCase computes lower and upper of a constant of ASCII, in which all locales agree: some programs
// compare upper(x) LIKE upper('%abc%').
func inCase(e plan.Expr) plan.Expr {
	f, ok := e.(*plan.Call)
	if !ok || f.Function != plan.Lower && f.Function != plan.Upper {
		return e
	}
	l, ok := f.Args[0].(*plan.Literal)
	if !ok {
		return e
	}
	text, ok := l.Value.(string)
	if l.Value != nil && (!ok || strings.ContainsFunc(text, func(r rune) bool { return r > 127 })) {
		return e
	}
	out := *l
	switch {
	case l.Value == nil:
	case f.Function == plan.Lower:
		out.Value = strings.ToLower(text)
	default:
		out.Value = strings.ToUpper(text)
	}
	return &out
}

func (c *context) like(e *sqlparse.Like) plan.Expr {
	f, what := plan.Like, "LIKE"
	if e.Insensitive {
		f, what = plan.ILike, "ILIKE"
	}
	arg := coerce(c.expr(e.Arg), typeOf(sqltype.Text), what)
	l, pattern := constantPattern(what, c.expr(e.Pattern))
	if n := len(pattern) - len(strings.TrimRight(pattern, `\`)); n%2 == 1 {
		refuse(diagnostic.New("D020", l.Span, "the pattern ends with an escape character").Try(`write \\ for a backslash`))
	}
	return negateIf(e.Not, boolean(f, e.Span, arg, l))
}

// matches types ~ and its kin.
func (c *context) matches(op string, l, r plan.Expr, at diagnostic.Span) plan.Expr {
	f := plan.Matches
	if strings.HasSuffix(op, "*") {
		f = plan.IMatches
	}
	arg := coerce(l, typeOf(sqltype.Text), op)
	return negateIf(op[0] == '!', boolean(f, at, arg, checkedPattern(op, r)))
}

// checkedPattern returns a regular expression that all engines read alike.
func checkedPattern(what string, e plan.Expr) *plan.Literal {
	literal, pattern := constantPattern(what, e)
	if d := checkPattern(pattern); d != "" {
		refuse(diagnostic.New("D020", literal.Span, "the regular expression %s", d).
			Because("only what means the same in PostgreSQL and in the engine may run").
			Try("use literals, ., [...], ^, $, (...), |, *, +, ?, {m,n}, \\d and escaped punctuation"))
	}
	return literal
}

// checkPattern says what puts a pattern outside the subset on which
// PostgreSQL's advanced regular expressions and RE2 agree, or "".
//
// Of the letters' escapes only \d is in it: \w and \s know more characters in
// PostgreSQL than in RE2.
func checkPattern(s string) string {
	if len(s) > maxPattern {
		return fmt.Sprintf("is longer than %d bytes", maxPattern)
	}
	if strings.HasPrefix(s, "***") {
		return "begins with a director"
	}
	p := pattern{rest: s}
	w := p.alternatives()
	switch {
	case p.problem != "":
		return p.problem
	case p.rest != "":
		return "has a ) without ("
	case w > maxWeight:
		return "repeats too much"
	}
	if _, err := syntax.Parse(s, syntax.Perl|syntax.DotNL); err != nil {
		return "is not valid"
	}
	return ""
}

// A pattern is what is left of a pattern, and the first problem found. Its
// methods return how many atoms they read, counting repetitions.
type pattern struct {
	rest    string
	depth   int
	problem string
}

func (p *pattern) fail(format string, args ...any) {
	if p.problem == "" {
		p.problem = fmt.Sprintf(format, args...)
	}
	p.rest = ""
}

// next removes and returns the next character.
func (p *pattern) next() rune {
	r, n := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[n:]
	return r
}

func (p *pattern) alternatives() int {
	if p.depth++; p.depth > 50 {
		p.fail("nests too deeply")
	}
	defer func() { p.depth-- }()
	weight := 0
	start := true // at the start of a branch, where ^ is allowed
	for p.rest != "" && p.rest[0] != ')' {
		switch r := p.rest[0]; {
		case r == '|':
			p.next()
			start = true
			continue
		case r == '^' && !start:
			p.fail("has a ^ that is not at the beginning")
		case r == '$' && len(p.rest) > 1 && p.rest[1] != ')' && p.rest[1] != '|':
			p.fail("has a $ that is not at the end")
		default:
			weight += p.quantified()
		}
		start = false
	}
	return weight
}

func (p *pattern) quantified() int {
	weight, anchor := 1, false
	switch r := p.next(); r {
	case '^', '$':
		anchor = true
	case '.':
	case '(':
		if strings.HasPrefix(p.rest, "?") && !strings.HasPrefix(p.rest, "?:") {
			p.fail("has a group with ?")
			return 0
		}
		p.rest = strings.TrimPrefix(p.rest, "?:")
		weight = 1 + p.alternatives()
		if p.rest == "" {
			p.fail("has a ( without )")
			return 0
		}
		p.next()
	case '[':
		p.class()
	case '\\':
		p.escape(true)
	case '*', '+', '?', '{', '}', ']':
		p.fail("has %c where there is nothing to repeat or close", r)
	}
	if p.rest == "" || !strings.ContainsRune("*+?{", rune(p.rest[0])) {
		return weight
	}
	if anchor {
		p.fail("repeats an anchor")
		return weight
	}
	if p.rest[0] == '{' {
		weight *= max(1, p.count())
	} else {
		p.next()
	}
	if p.rest != "" && strings.ContainsRune("*+?{", rune(p.rest[0])) {
		p.fail("has two quantifiers in a row")
	}
	return weight
}

// count reads {m}, {m,} or {m,n} and returns the largest count.
func (p *pattern) count() int {
	end := strings.IndexByte(p.rest, '}')
	if end < 0 {
		p.fail("has a { without }")
		return 0
	}
	low, high, ranged := strings.Cut(p.rest[1:end], ",")
	p.rest = p.rest[end+1:]
	m, err := strconv.ParseUint(low, 10, 16)
	n := m
	if ranged && high != "" && err == nil {
		n, err = strconv.ParseUint(high, 10, 16)
	}
	if err != nil || m > n || n > maxCount {
		p.fail("has a count that is not 0 to %d", maxCount)
	}
	return int(n)
}

// escape reads what follows a backslash; class escapes only where they may be.
func (p *pattern) escape(classes bool) {
	r := p.next()
	if r >= utf8.RuneSelf || !strings.ContainsRune(`\.^$*+?()[]{}|-/"'#&,:;<>=@_~!%`+"` tnr", r) && (r != 'd' || !classes) || r == '_' || r == ' ' {
		p.fail(`has the escape \%c`, r)
	}
}

// class reads a bracket expression after its [.
func (p *pattern) class() {
	p.rest = strings.TrimPrefix(p.rest, "^")
	if p.rest == "" || p.rest[0] == ']' {
		p.fail("has an empty [] or a ] that is not escaped")
		return
	}
	previous, ranged := rune(-1), false // the last character, and whether a - followed it
	for first := true; p.rest != ""; first = false {
		r := p.next()
		switch {
		case r == ']':
			return
		case r == '[':
			p.fail("has a [ inside [] that is not escaped")
		case r == '\\':
			digit := strings.HasPrefix(p.rest, "d")
			escaped, _ := utf8.DecodeRuneInString(p.rest)
			p.escape(!ranged)
			r = escaped
			if digit || strings.ContainsRune("tnr", r) {
				r = -1
				if ranged || strings.HasPrefix(p.rest, "-") && !strings.HasPrefix(p.rest, "-]") {
					p.fail("has a range that does not end in plain characters")
				}
			}
		case r == '-' && !first && !ranged && p.rest != "" && p.rest[0] != ']':
			if previous < 0 {
				p.fail("has a range that does not begin with a character")
			}
			ranged = true
			continue
		case r == '-' && !first && p.rest != "" && p.rest[0] != ']':
			p.fail("has a - inside [] that is not escaped")
		}
		if ranged {
			if r < previous {
				p.fail("has a range from a later to an earlier character")
			}
			previous, ranged = -1, false
			continue
		}
		previous = r
	}
	p.fail("has a [ without ]")
}
