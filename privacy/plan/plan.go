// Package plan is the language for releases that are fixed in advance. A plan is a text such as
//
//	ceil(60*60000/256) * poisson(256/60000, gaussian(1.1))
//
// [Parse] reads a plan, as this text or as JSON, and [Plan.Event] is the [privacy.Event] that it
// means. Events print in both forms, and the printed form reads back as the same event. Numbers are
// exact; a number that is not rational is rounded towards the greater loss of privacy. One number
// may be unknown, as "?", for package accountant to find.
//
// It guarantees that every error is a [*SyntaxError] with its place, and that a hostile
// text costs little time.
//
// It does not guarantee that anybody can bound what a plan reveals, nor that its events hold under
// the relation in question: see [privacy.Holds].
package plan

import (
	"errors"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/privacy"
)

// A Plan is releases fixed in advance, as they were written: an event, or an
// event with one unknown number. Plans are immutable; the zero Plan is not one.
type Plan struct {
	root  *node
	event privacy.Event // nil with an unknown
	param Parameter     // of the unknown
}

// A Parameter says what the unknown of a plan is.
type Parameter struct {
	Event string // the event whose argument it is in, "" for a count
	Name  string // of that argument, such as "sigma", "eps", "order", "count"
	// Whole is whether the argument must be a whole number.
	Whole bool
	// Increasing is whether the plan costs more as the unknown grows, in the range
	// where the argument means something. (A randomized response costs least at
	// p = 1/k and is taken to be above.)
	Increasing bool
	Offset     int // of the ? in the text, in bytes
}

// Parse reads a plan such as "14063 * poisson(256/60000, gaussian(1.1))":
//
//	plan  := term {"+" term}
//	term  := [number "*"] event
//	event := name "(" arguments ")" | "(" plan ")"
//
// An argument that is an event may be a plan. Arguments stand in the order of the
// event's JSON form or have their names, as in gaussian(1.1, sensitivity=2); those of
// rdp are pairs, order: eps.
//
// A number is a constant expression of decimals, + - * / ( ) ceil floor sqrt ln
// exp, or holds the plan's one unknown, "?". Rational numbers are exact, and so are
// sigma and sensitivity of a Gaussian where they are roots of rationals. What is
// left, as exp(1), is rounded to 60 digits, towards the greater loss of privacy:
// sigma, b and orders down, p away from 1/k, all else up. Counts and sizes must be
// whole numbers.
//
// A text that begins with { is the JSON form instead, that UnmarshalEvent reads; a ?
// is a string there.
//
// Texts are at most 256 KiB, events nest at most 16 deep, numbers have at most 1000
// digits, and what takes long to compute is refused. Every error is a *SyntaxError.
func Parse(text string) (Plan, error) { return parse(text, nil) }

func parse(text string, open func(string) ([]byte, error)) (Plan, error) {
	if len(text) > maxText {
		return Plan{}, span{0, len(text)}.fail("the plan is longer than 256 KiB", "")
	}
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return unmarshal([]byte(text))
	}
	p := parser{text: text, open: open}
	root, err := p.parse()
	if err != nil {
		return Plan{}, err
	}
	return newPlan(root)
}

func newPlan(root *node) (Plan, error) {
	if !root.op.event() {
		return Plan{}, numberFor(root)
	}
	v := evaluator{}
	e, err := v.event(root)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{root: root, event: e}
	if root.unknown {
		p.param, err = v.parameter(root)
	}
	return p, err
}

// Unknown reports whether a number of the plan is "?".
func (p Plan) Unknown() bool { return p.root != nil && p.root.unknown }

// Parameter returns what the plan's unknown is, the zero Parameter without one.
func (p Plan) Parameter() Parameter { return p.param }

// Event returns the plan as an event. It fails if the plan has an unknown.
func (p Plan) Event() (privacy.Event, error) {
	switch {
	case p.root == nil:
		return nil, errors.New("no plan")
	case p.root.unknown:
		return nil, span{p.param.Offset, p.param.Offset + 1}.fail("the plan has an unknown number",
			"put a number for ?, or let it be found with account calibrate")
	}
	return privacy.New(p.event)
}

// With returns the plan's event with x for the unknown. It fails, mostly with a
// *SyntaxError, where x makes an argument that means nothing, such as a count that
// is not whole.
func (p Plan) With(x *big.Rat) (privacy.Event, error) {
	if !p.Unknown() {
		return nil, errors.New("the plan has no unknown number")
	}
	if !isShort(x) {
		return nil, errTooLong
	}
	v := evaluator{x: new(big.Rat).Set(x)}
	return v.event(p.root)
}

// String returns the plan as it was written, spaced evenly: it reads back as the
// same plan.
func (p Plan) String() string {
	if p.root == nil {
		return ""
	}
	return p.root.String()
}

// parameter finds the unknown below the event n.
func (v *evaluator) parameter(n *node) (Parameter, error) {
	i := 0
	for n.of[i] == nil || !n.of[i].unknown {
		i++
	}
	below := n.of[i]
	if below.op.event() {
		return v.parameter(below)
	}
	kind, p := wholeUp, Parameter{Name: "count"}
	if n.op == call {
		s, _ := signatureOf(n.text)
		p.Event = n.text
		switch {
		case s.parameters[0].kind == masses:
			return Parameter{}, below.span.fail("a probability of a pair is unknown", "the others add up to what is left for it")
		case s.parameters[0].kind != points:
			kind, p.Name = s.parameters[i].kind, s.parameters[i].name
		case i%2 == 0:
			kind, p.Name = down, "order"
		default:
			kind, p.Name = up, "eps"
		}
	}
	slope, at, rounded, err := v.slope(below)
	if err != nil {
		return Parameter{}, err
	}
	if slope == 0 {
		return Parameter{}, below.span.fail("the value of "+abridged(below.String())+" does not depend on ?", "")
	}
	p.Whole = kind.whole() && !rounded
	p.Increasing = kind.grows() == (slope > 0)
	p.Offset = at
	return p, nil
}

// slope returns the sign with which n grows as its unknown does, which stands at
// the given place, perhaps within ceil or floor.
func (v *evaluator) slope(n *node) (sign, at int, rounded bool, err error) {
	if n.op == unknown {
		return 1, n.span.start, false, nil
	}
	i := 0
	if !n.of[0].unknown {
		i = 1
	}
	if sign, at, rounded, err = v.slope(n.of[i]); err != nil {
		return 0, 0, false, err
	}
	switch n.op {
	case negated:
		sign = -sign
	case less, over:
		if i == 1 {
			sign = -sign
		}
	case function:
		rounded = rounded || n.text == "ceil" || n.text == "floor"
	}
	if n.op == times || n.op == over {
		x, err := v.number(n.of[1-i])
		if err != nil {
			return 0, 0, false, err
		}
		sign *= x.sign()
	}
	return sign, at, rounded, nil
}
