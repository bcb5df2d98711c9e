package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A parser reads the text of a plan:
//
//	plan  := term {"+" term}
//	term  := [number "*"] event
//	event := name "(" arguments ")" | "(" plan ")"
//
// Numbers and events share one grammar of sums and products, because an opening
// parenthesis does not tell which of them follows; every operator then looks at
// what it joins.
type parser struct {
	text    string
	at      int // where the next token is looked for
	depth   int // of parentheses
	unknown *node
	open    func(name string) ([]byte, error) // nil where no file may be read
}

// A token's kind is one of these, otherwise the character that it is.
const (
	end     rune = -1 - iota
	digits       // a number
	letters      // a name
	quoted       // the name of a file, with its quotes
)

type token struct {
	kind rune
	text string
	span span
}

func (p *parser) peek() token {
	rest := p.text[p.at:]
	blank := len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
	rest = rest[blank:]
	c, size := utf8.DecodeRuneInString(rest)
	kind, n := c, size
	switch {
	case rest == "":
		kind = end
	case isDigit(c):
		kind, n = digits, numberLen(rest)
	case c == '"':
		kind, n = quoted, len(rest)
		if i := strings.IndexByte(rest[1:], '"'); i >= 0 {
			n = i + 2
		}
	case isLetter(c):
		kind, n = letters, strings.IndexFunc(rest, func(c rune) bool { return !isLetter(c) && !unicode.IsDigit(c) })
		if n < 0 {
			n = len(rest)
		}
	}
	return token{kind, rest[:n], span{p.at + blank, p.at + blank + n}}
}

func isDigit(c rune) bool  { return c >= '0' && c <= '9' || c == '.' }
func isLetter(c rune) bool { return c == '_' || unicode.IsLetter(c) }

// numberLen returns how much of s, which begins with a digit or a point, is a
// number: digits and points, then an exponent.
func numberLen(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "0123456789."))
	exponent := strings.TrimLeft(s[n:], "eE")
	if len(exponent) != len(s)-n-1 {
		return n
	}
	if exponent != "" && strings.ContainsRune("+-", rune(exponent[0])) {
		exponent = exponent[1:]
	}
	if rest := strings.TrimLeft(exponent, "0123456789"); len(rest) < len(exponent) {
		return len(s) - len(rest)
	}
	return n
}

func (p *parser) next() token {
	t := p.peek()
	p.at = t.span.end
	return t
}

// skip reads the next token if it is of the kind.
func (p *parser) skip(kind rune) (token, bool) {
	t := p.peek()
	if t.kind == kind {
		p.at = t.span.end
	}
	return t, t.kind == kind
}

func (t token) String() string {
	if t.kind == end {
		return "the end of the plan"
	}
	s := t.text
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "..."
	}
	if strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) || c == utf8.RuneError }) {
		return strconv.Quote(s) // it shall not steer a terminal
	}
	return s
}

// parse reads the whole text as a sum.
func (p *parser) parse() (*node, error) {
	n, err := p.sum()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != end {
		return nil, t.unexpected(n)
	}
	return n, nil
}

// unexpected is the error about a token that cannot follow n.
func (t token) unexpected(n *node) error {
	hint := ""
	_, isEvent := signatureOf(t.text)
	switch {
	case isEvent && n.op.event():
		hint = "put + between events"
	case isEvent:
		hint = "put * between a count and its event"
	case t.kind == ',':
		hint = "put + between events"
	case t.kind == '^':
		hint = "there are + - * / sqrt exp ln ceil floor"
	}
	return t.span.fail("unexpected "+t.String(), hint)
}

func (p *parser) sum() (*node, error) {
	x, err := p.product()
	if err != nil {
		return nil, err
	}
	terms := []*node{x} // of events
	for {
		t := p.peek()
		if t.kind != '+' && t.kind != '-' {
			break
		}
		p.next()
		y, err := p.product()
		switch {
		case err != nil:
			return nil, err
		case x.op.event() && !y.op.event():
			return nil, numberFor(y)
		case !x.op.event() && y.op.event():
			return nil, numberFor(x)
		case x.op.event() && t.kind == '-':
			return nil, t.span.fail("events cannot be subtracted", "")
		case x.op.event():
			terms = append(terms, y)
			continue
		}
		o := added
		if t.kind == '-' {
			o = less
		}
		if x, err = newNode(o, "", x.span.to(y.span), x, y); err != nil {
			return nil, err
		}
	}
	if len(terms) == 1 {
		return x, nil
	}
	return newNode(summed, "", x.span.to(terms[len(terms)-1].span), terms...)
}

// numberFor is the error about a number where an event belongs.
func numberFor(n *node) error {
	return n.span.fail(fmt.Sprintf("the number %v stands where an event belongs", n), "a count is multiplied: 3*pure(0.1)")
}

func (p *parser) product() (*node, error) {
	x, err := p.signed()
	if err != nil {
		return nil, err
	}
	for {
		t := p.peek()
		if t.kind != '*' && t.kind != '/' {
			return x, nil
		}
		p.next()
		y, err := p.signed()
		if err != nil {
			return nil, err
		}
		at := x.span.to(y.span)
		switch {
		case t.kind == '/' && (x.op.event() || y.op.event()):
			return nil, t.span.fail("events cannot be divided", "")
		case t.kind == '/':
			x, err = newNode(over, "", at, x, y)
		case !x.op.event() && !y.op.event():
			x, err = newNode(times, "", at, x, y)
		case !x.op.event():
			x, err = newNode(repeated, "", at, x, y)
		case y.op.event():
			return nil, t.span.fail("events cannot be multiplied", "put + between events")
		default:
			return nil, t.span.fail("the count stands after its event", "the count comes first: 3*pure(0.1)")
		}
		if err != nil {
			return nil, err
		}
	}
}

// signed reads any number of signs before a number, of which + is dropped.
func (p *parser) signed() (*node, error) {
	t := p.peek()
	if t.kind != '-' && t.kind != '+' {
		return p.primary()
	}
	p.next()
	if err := p.enter(t); err != nil {
		return nil, err
	}
	x, err := p.signed()
	p.depth--
	switch {
	case err != nil:
		return nil, err
	case x.op.event():
		return nil, t.span.fail("an event has no sign", "")
	case t.kind == '+':
		return x, nil
	}
	return newNode(negated, "", t.span.to(x.span), x)
}

func (p *parser) enter(t token) error {
	if p.depth++; p.depth > 200 {
		return t.span.fail("parentheses are nested too deeply", "")
	}
	return nil
}

func (p *parser) primary() (*node, error) {
	switch t := p.next(); t.kind {
	case digits:
		return newLiteral(t.text, t.span)
	case '?':
		n, err := newNode(unknown, "", t.span)
		if p.unknown != nil {
			return nil, t.span.fail("a second unknown", "a plan has at most one ?: fix the other numbers")
		}
		p.unknown = n
		return n, err
	case '(':
		if err := p.enter(t); err != nil {
			return nil, err
		}
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		p.depth--
		if err := p.close(t, n); err != nil {
			return nil, err
		}
		if n.op != unknown { // a place to show, with its parentheses
			n.span = span{t.span.start, p.at}
		}
		return n, nil
	case letters:
		return p.named(t)
	default:
		return nil, t.span.fail("want an event or a number, got "+t.String(), "")
	}
}

// newLiteral returns the node of a decimal.
func newLiteral(text string, at span) (*node, error) {
	r, err := numeric.ParseDecimal(text)
	if err == nil && !isShort(r) {
		err = errTooLong
	}
	if err != nil {
		return nil, at.fail(err.Error(), "")
	}
	n, err := newNode(literal, text, at)
	if err == nil {
		n.value = r
	}
	return n, err
}

// close reads the parenthesis that closes open, after n.
func (p *parser) close(open token, n *node) error {
	t := p.next()
	switch {
	case t.kind == ')':
		return nil
	case t.kind == end:
		return open.span.fail("the parenthesis is not closed", "")
	}
	return t.unexpected(n)
}

// named reads what begins with a name: a function of a number, or an event.
func (p *parser) named(name token) (*node, error) {
	signature, isEvent := signatureOf(name.text)
	if !isEvent && !isFunction(name.text) {
		return nil, unknownName(name)
	}
	open, ok := p.skip('(')
	if !ok {
		usage := name.text + "(x)"
		if isEvent {
			usage = signature.String()
		}
		return nil, name.span.fail(name.text+" lacks its arguments", "write "+usage)
	}
	if err := p.enter(open); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if isEvent {
		return p.arguments(name, open, signature)
	}
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	if x.op.event() {
		return nil, x.span.fail(name.text+" takes a number, not an event", "")
	}
	if err := p.close(open, x); err != nil {
		return nil, err
	}
	return newNode(function, name.text, span{name.span.start, p.at}, x)
}

func unknownName(name token) error {
	var names []string
	for _, s := range signatures {
		names = append(names, s.name)
	}
	names = append(names, "sqrt", "exp", "ln", "floor", "ceil")
	hint := ""
	switch near := nearest(name.text, names); {
	case slices.Contains([]string{"repeat", "self_composed", "sum", "composed", "compose"}, name.text):
		hint = "3*pure(0.1) is an event three times, pure(0.1) + zcdp(0.01) one after the other"
	case name.text == "log":
		hint = "the natural logarithm is ln(x)"
	case near != "":
		hint = "did you mean " + near + "?"
		if s, ok := signatureOf(near); ok {
			hint = "did you mean " + s.String() + "?"
		}
	default:
		hint = "events are " + strings.Join(names[:len(signatures)], ", ")
	}
	return name.span.fail(fmt.Sprintf("no event or function is named %v", name), hint)
}

// arguments reads an event's arguments and the closing parenthesis.
func (p *parser) arguments(name, open token, signature signature) (*node, error) {
	b := callBuilder{signature: signature, name: name.span}
	if file, ok := p.skip(quoted); ok {
		if err := p.file(&b, file); err != nil {
			return nil, err
		}
		if t := p.next(); t.kind != ')' {
			return nil, file.span.fail("a file stands alone within "+name.text, "")
		}
		return b.node(span{name.span.start, p.at})
	}
	if _, empty := p.skip(')'); !empty {
		for {
			start := p.at
			argument := p.next()
			if equals, ok := p.skip('='); !ok || argument.kind != letters {
				p.at = start
				argument = token{}
			} else if signature.variadic() {
				return nil, argument.span.to(equals.span).fail(name.text+" takes no names", "write "+signature.String())
			}
			value, err := p.sum()
			if err != nil {
				return nil, err
			}
			if argument.kind == letters {
				err = b.named(argument.text, argument.span, value)
			} else if _, colon := p.skip(':'); colon {
				var second *node
				if second, err = p.sum(); err == nil {
					err = b.pair(value, second)
				}
			} else {
				err = b.positional(value)
			}
			if err != nil {
				return nil, err
			}
			if _, more := p.skip(','); more {
				continue
			}
			if err := p.close(open, value); err != nil {
				return nil, err
			}
			break
		}
	}
	return b.node(span{name.span.start, p.at})
}
