package plan

import "fmt"

// A callBuilder puts an event's arguments in the order of its parameters and
// checks that each takes what it is given. Text and JSON both use it.
type callBuilder struct {
	signature signature
	name      span // where the event's name stands
	of        []*node
	given     int  // arguments so far
	byName    bool // one of them by its name
}

func (b *callBuilder) wrong(at span, message string) error {
	return at.fail(message, "write "+b.signature.String())
}

// positional takes the next argument.
func (b *callBuilder) positional(value *node) error {
	s := b.signature
	switch {
	case s.parameters[0].kind == points:
		return b.wrong(value.span, "rdp takes pairs of an order and a value")
	case s.parameters[0].kind == masses:
		return b.wrong(value.span, "pair takes pairs of two probabilities of an outcome")
	case s.variadic():
		if err := b.fits(s.parameters[0], value); err != nil {
			return err
		}
		b.of = append(b.of, value)
		return nil
	case b.byName:
		return b.wrong(value.span, "an argument without a name follows one with a name")
	case b.given == len(s.parameters):
		return b.wrong(value.span, "too many arguments of "+s.name)
	}
	return b.set(b.given, value)
}

// named takes the argument of that name.
func (b *callBuilder) named(name string, at span, value *node) error {
	i := b.signature.find(name)
	if i < 0 {
		var names []string
		for _, p := range b.signature.parameters {
			names = append(names, p.name)
		}
		hint := "write " + b.signature.String()
		if near := nearest(name, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		return at.fail(fmt.Sprintf("%s has no argument %s", b.signature.name, token{kind: letters, text: name}), hint)
	}
	if b.of != nil && b.of[i] != nil {
		return at.fail(fmt.Sprintf("%s is given twice", name), "")
	}
	b.byName = true
	return b.set(i, value)
}

// pair takes one point of a curve.
func (b *callBuilder) pair(order, value *node) error {
	if !b.signature.parameters[0].kind.paired() {
		return b.wrong(order.span.to(value.span), b.signature.name+" takes no pairs")
	}
	for _, n := range []*node{order, value} {
		if err := b.fits(b.signature.parameters[0], n); err != nil {
			return err
		}
	}
	b.of = append(b.of, order, value)
	return nil
}

func (b *callBuilder) set(i int, value *node) error {
	if err := b.fits(b.signature.parameters[i], value); err != nil {
		return err
	}
	if b.of == nil {
		b.of = make([]*node, len(b.signature.parameters))
	}
	b.of[i] = value
	b.given++
	return nil
}

func (b *callBuilder) fits(p parameter, value *node) error {
	switch isEvent := value.op.event(); {
	case isEvent && !p.kind.event():
		return b.wrong(value.span, fmt.Sprintf("%s of %s is a number, not an event", p.name, b.signature.name))
	case !isEvent && p.kind.event():
		return b.wrong(value.span, fmt.Sprintf("%s of %s is an event, not a number", p.name, b.signature.name))
	}
	return nil
}

// node returns the call, which stands at the given place.
func (b *callBuilder) node(at span) (*node, error) {
	if b.signature.variadic() {
		if len(b.of) == 0 {
			return nil, b.wrong(b.name, b.signature.name+" lacks its arguments")
		}
		return newNode(call, b.signature.name, at, b.of...)
	}
	if b.of == nil {
		b.of = make([]*node, len(b.signature.parameters))
	}
	for i, p := range b.signature.parameters {
		if b.of[i] == nil && p.fallback == "" {
			return nil, b.wrong(b.name, fmt.Sprintf("%s lacks %s", b.signature.name, p.name))
		}
	}
	return newNode(call, b.signature.name, at, b.of...)
}
