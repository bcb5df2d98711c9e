package plan

import (
	"math/big"
	"strings"
)

// A node is a part of a plan as it was written: a constant expression or an event.
type node struct {
	op      op
	text    string   // of a literal its digits, of a call its name
	value   *big.Rat // of a literal
	of      []*node
	span    span
	depth   int
	unknown bool // there is a ? in it
}

type op uint8

const (
	literal  op = iota
	unknown     // ?
	negated     // -x
	added       // x + y
	less        // x - y
	times       // x*y
	over        // x/y
	function    // sqrt(x) and so on
	call        // an event with its arguments, in the order of its parameters; nil is the default
	repeated    // count*event
	summed      // event + event + ...
)

func (o op) event() bool { return o >= call }

// A span is where a node stands in the text, in bytes.
type span struct{ start, end int }

func (s span) to(t span) span { return span{s.start, t.end} }

// Limits on plans, which keep a short hostile text from costing much time.
const (
	maxText       = 1 << 18
	maxEventDepth = 17  // an event within 16 others
	maxDepth      = 500 // of constant expressions
)

// newNode returns a node with the given parts.
func newNode(o op, text string, at span, of ...*node) (*node, error) {
	n := &node{op: o, text: text, span: at, of: of, unknown: o == unknown}
	for _, part := range of {
		if part != nil {
			n.unknown = n.unknown || part.unknown
			if o.event() == part.op.event() {
				n.depth = max(n.depth, part.depth)
			}
		}
	}
	n.depth++
	switch {
	case o.event() && n.depth > maxEventDepth:
		return nil, at.fail("events are nested more than 16 deep", "")
	case n.depth > maxDepth:
		return nil, at.fail("the expression is too long", "")
	}
	return n, nil
}

// String prints n as a plan that reads back as n.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// precedence is how tightly n's text holds together.
func (n *node) precedence() int {
	switch n.op {
	case added, less, summed:
		return 1
	case times, over, repeated:
		return 2
	}
	return 3
}

// write prints n where what surrounds it holds together with the precedence least.
func (n *node) write(b *strings.Builder, least int) {
	if n.precedence() < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	two := func(operator string) {
		n.of[0].write(b, n.precedence())
		b.WriteString(operator)
		n.of[1].write(b, n.precedence()+1)
	}
	switch n.op {
	case literal:
		b.WriteString(n.text)
	case unknown:
		b.WriteByte('?')
	case negated:
		b.WriteByte('-')
		n.of[0].write(b, 3)
	case added:
		two(" + ")
	case less:
		two(" - ")
	case times, repeated:
		two("*")
	case over:
		two("/")
	case summed:
		for i, term := range n.of {
			if i > 0 {
				b.WriteString(" + ")
			}
			term.write(b, 2)
		}
	case function, call:
		b.WriteString(n.text)
		b.WriteByte('(')
		n.writeArguments(b)
		b.WriteByte(')')
	}
}

func (n *node) writeArguments(b *strings.Builder) {
	signature, isEvent := signatureOf(n.text)
	first, pairs := true, isEvent && signature.parameters[0].kind.paired()
	for i, argument := range n.of {
		if argument == nil {
			continue
		}
		switch {
		case first:
		case pairs && i%2 == 1:
			b.WriteString(": ")
		default:
			b.WriteString(", ")
		}
		if isEvent && !signature.variadic() && signature.parameters[i].fallback != "" {
			b.WriteString(signature.parameters[i].name + "=")
		}
		argument.write(b, 0)
		first = false
	}
}
