package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/privacy"
)

// UnmarshalEvent reads one event from its JSON form, and validates it: an object
// whose one key is the event's name, and whose value has an argument at each key,
// as {"poisson": {"rate": 0.01, "event": {"gaussian": {"sigma": "sqrt(2)"}}}}.
// A number may be a string with a constant expression of plans, such as "1/3".
// Arguments with a default may be left out; unknown names, names given twice and
// null are errors. {"sum": [...]} and {"parallel": [...]} have a list of events,
// rdp {"orders": [...], "eps": [...]}, and a repetition is
// {"repeat": {"count": 10, "event": {...}}}.
func UnmarshalEvent(data []byte) (privacy.Event, error) {
	p, err := unmarshal(data)
	if err == nil {
		var e privacy.Event
		if e, err = p.Event(); err == nil {
			return e, nil
		}
	}
	return nil, fmt.Errorf("unmarshal event: %w", err)
}

func unmarshal(data []byte) (Plan, error) {
	if len(data) > maxText {
		return Plan{}, span{0, len(data)}.fail("the event is longer than 256 KiB", "")
	}
	r := jsonReader{decoder: json.NewDecoder(bytes.NewReader(data)), data: data}
	r.decoder.UseNumber()
	root, err := r.event(0)
	if err != nil {
		return Plan{}, err
	}
	end := int(r.decoder.InputOffset())
	if rest := bytes.TrimLeft(data[end:], " \t\r\n"); len(rest) > 0 {
		return Plan{}, span{len(data) - len(rest), len(data)}.fail("text after the event", "")
	}
	return newPlan(root)
}

// A jsonReader reads an event into the tree that a plan's text is read into.
type jsonReader struct {
	decoder *json.Decoder
	data    []byte
	unknown *node
}

// A jsonToken's value is a json.Delim, a string, a json.Number, a bool or nil.
type jsonToken struct {
	value any
	span  span
}

func (r *jsonReader) next() (jsonToken, error) {
	start := int(r.decoder.InputOffset())
	rest := bytes.TrimLeft(r.data[start:], " \t\r\n,:")
	at := span{len(r.data) - len(rest), len(r.data)}
	t, err := r.decoder.Token()
	if err != nil {
		why := err.Error()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			why = "it ends too early"
		}
		return jsonToken{}, span{at.start, min(at.start+1, at.end)}.fail("not JSON: "+why, "")
	}
	at.end = int(r.decoder.InputOffset())
	return jsonToken{t, at}, nil
}

// want reads one token, which must be the delimiter.
func (r *jsonReader) want(delimiter json.Delim, what string) (jsonToken, error) {
	t, err := r.next()
	if err == nil && t.value != delimiter {
		err = t.span.fail("want "+what, "")
	}
	return t, err
}

// event reads {"name": arguments}, within depth other events.
func (r *jsonReader) event(depth int) (*node, error) {
	open, err := r.want('{', `an event, as {"pure": {"eps": 0.1}}`)
	if err != nil {
		return nil, err
	}
	if depth >= maxEventDepth {
		return nil, open.span.fail("events are nested more than 16 deep", "")
	}
	name, err := r.next()
	if err != nil {
		return nil, err
	}
	text, ok := name.value.(string)
	if !ok { // the closing brace
		return nil, name.span.fail("an event has one key, its name", "")
	}
	n, err := r.arguments(text, name, open.span, depth+1)
	if err != nil {
		return nil, err
	}
	closed, err := r.next()
	if err == nil && closed.value != json.Delim('}') {
		err = closed.span.fail("an event has one key, its name", "a sum of events is a list")
	}
	n.span.end = closed.span.end
	return n, err
}

func (r *jsonReader) arguments(name string, at jsonToken, from span, depth int) (*node, error) {
	switch name {
	case "sum":
		return r.events(summed, "", at, from, depth)
	case "parallel":
		return r.events(call, name, at, from, depth)
	}
	s, ok := signatureOf(name)
	if name == "repeat" {
		s, ok = signature{name: name, parameters: []parameter{{"count", wholeUp, ""}, eventParameter}}, true
	}
	if !ok {
		return nil, unknownName(token{letters, name, at.span})
	}
	b := callBuilder{signature: s, name: at.span}
	if _, err := r.want('{', "the arguments of "+name+" as an object"); err != nil {
		return nil, err
	}
	var left, right []*node // of pairs
	pairs := ok && s.parameters[0].kind.paired()
	keys := map[string][2]string{"rdp": {"orders", "eps"}, "pair": {"p", "q"}}[name]
	for {
		key, err := r.next()
		if err != nil {
			return nil, err
		}
		text, ok := key.value.(string)
		if !ok {
			break
		}
		switch {
		case !pairs:
			var value *node
			if value, err = r.value(s, text, depth); err == nil {
				err = b.named(text, key.span, value)
			}
		case text == keys[0] && left == nil:
			left, err = r.numbers()
		case text == keys[1] && right == nil:
			right, err = r.numbers()
		default:
			err = key.span.fail(fmt.Sprintf("%s takes %s and %s, once each", name, keys[0], keys[1]), "")
		}
		if err != nil {
			return nil, err
		}
	}
	if len(left) != len(right) {
		if name == "rdp" {
			return nil, at.span.fail(fmt.Sprintf("rdp has %d orders but %d values", len(left), len(right)), "")
		}
		return nil, at.span.fail(fmt.Sprintf("%s has %d of %s but %d of %s", name, len(left), keys[0], len(right), keys[1]), "")
	}
	for i := range left {
		if err := b.pair(left[i], right[i]); err != nil {
			return nil, err
		}
	}
	n, err := b.node(from)
	if err == nil && name == "repeat" {
		n.op, n.text = repeated, ""
	}
	return n, err
}

// value reads the argument of that name.
func (r *jsonReader) value(s signature, name string, depth int) (*node, error) {
	if i := s.find(name); i >= 0 && s.parameters[i].kind.event() {
		return r.event(depth)
	}
	return r.number()
}

// number reads a number, or a string with an expression.
func (r *jsonReader) number() (*node, error) {
	t, err := r.next()
	if err != nil {
		return nil, err
	}
	switch v := t.value.(type) {
	case json.Number:
		return newLiteral(v.String(), t.span)
	case string:
		p := parser{text: v, unknown: r.unknown}
		n, err := p.parse()
		if err == nil && n.op.event() {
			err = errors.New("want a number, not an event")
		}
		if err != nil {
			return nil, inString(err, t.span)
		}
		r.unknown = p.unknown
		n.place(t.span)
		return n, nil
	}
	return nil, t.span.fail("want a number, or an expression in a string", "")
}

// inString returns the error about an expression within the string that stands at
// the given place.
func inString(err error, at span) error {
	var e *SyntaxError
	if errors.As(err, &e) {
		return at.fail(e.Message, e.Hint)
	}
	return at.fail(err.Error(), "")
}

// place moves n and all its parts to one place.
func (n *node) place(at span) {
	n.span = at
	for _, part := range n.of {
		part.place(at)
	}
}

func (r *jsonReader) numbers() ([]*node, error) {
	if _, err := r.want('[', "a list of numbers"); err != nil {
		return nil, err
	}
	return r.list(r.number)
}

// events reads a list of events, or {"events": [...]}.
func (r *jsonReader) events(o op, text string, name jsonToken, from span, depth int) (*node, error) {
	const what = "a list of events"
	open, err := r.next()
	if err != nil {
		return nil, err
	}
	object := open.value == json.Delim('{')
	if object {
		key, err := r.next()
		if err == nil && key.value != "events" {
			err = key.span.fail("want "+what, "")
		}
		if err == nil {
			_, err = r.want('[', what)
		}
		if err != nil {
			return nil, err
		}
	} else if open.value != json.Delim('[') {
		return nil, open.span.fail("want "+what, "")
	}
	nodes, err := r.list(func() (*node, error) { return r.event(depth) })
	if err == nil && object {
		_, err = r.want('}', "only events")
	}
	if err == nil && len(nodes) == 0 {
		err = name.span.fail(fmt.Sprintf("%v has no events", name.value), "")
	}
	if err != nil {
		return nil, err
	}
	return newNode(o, text, from, nodes...)
}

// list reads items up to the closing bracket.
func (r *jsonReader) list(item func() (*node, error)) ([]*node, error) {
	nodes := []*node{}
	for r.decoder.More() {
		n, err := item()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	_, err := r.next()
	return nodes, err
}
