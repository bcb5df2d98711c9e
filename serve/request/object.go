package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// An object is the members of a JSON object as they were written: no number has been read.
type object map[string]json.RawMessage

// refuse says what is wrong with a request. It has no place: places are the statement's.
func refuse(format string, args ...any) *diagnostic.Diagnostic {
	return diagnostic.New("D210", diagnostic.Span{}, format, args...)
}

// readObject reads one JSON object whose members have these names, each at most once, and
// nothing after it. Of two members with a name, of another spelling of a name and of broken
// text, package json would take something.
func readObject(text []byte, known ...string) (object, error) {
	if !utf8.Valid(text) {
		return nil, refuse("the request is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	first, err := d.Token()
	if err != nil {
		return nil, malformed(err)
	}
	if first != json.Delim('{') {
		return nil, refuse("the request is no JSON object").Try(`send an object such as {"sql": "SELECT count(*) FROM visits"}`)
	}
	o := object{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, malformed(err)
		}
		name, _ := token.(string) // a decoder has nothing else in a name's place
		if !slices.Contains(known, name) {
			return nil, unknown(name, known)
		}
		if _, twice := o[name]; twice {
			return nil, refuse("the member %q is given twice", name).Because("readers disagree about which of the two holds")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, malformed(err)
		}
		o[name] = value
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return nil, malformed(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, refuse("something follows the request's object").Try("send one object, and nothing after it")
	}
	return o, nil
}

func malformed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse("the request ends in the middle of its JSON")
	}
	return refuse("the request is no JSON: %v", err)
}

func unknown(name string, known []string) error {
	d := refuse("there is no member %q here", name)
	if len(known) > 0 {
		d.Try("there are %s", strings.Join(known, ", "))
	}
	if near := diagnostic.Nearest(name, known); near != "" {
		d.Try("did you mean %q?", near)
	}
	return d
}

// has reports whether a member is there. null stands for nothing: clients write it for what
// they leave out.
func (o object) has(name string) bool {
	value, is := o[name]
	return is && string(value) != "null"
}

// text is a member that must be a string, "" if it is not there.
func (o object) text(name string) (string, error) {
	if !o.has(name) {
		return "", nil
	}
	if o[name][0] != '"' {
		return "", refuse("%s is no string", name).Try("put it in quotes")
	}
	return unquote(name, o[name])
}

// unquote reads a JSON string, and refuses half of a surrogate pair, which package json
// would replace: a statement would be another one.
func unquote(name string, quoted json.RawMessage) (string, error) {
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return "", malformed(err)
	}
	const replacement = "\ufffd"
	written := strings.Count(string(quoted), replacement) + strings.Count(strings.ToLower(string(quoted)), `\ufffd`)
	if strings.Count(s, replacement) > written {
		return "", refuse("%s has half of a surrogate pair in it", name).Because("it stands for no character")
	}
	return s, nil
}

// decimal is a member that is a number, or a string with one in it, as it was written.
func (o object) decimal(name string) (string, error) {
	switch value := o[name]; {
	case value[0] == '"':
		return unquote(name, value)
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		return string(value), nil
	}
	return "", refuse("%s is neither a number nor a string with one in it", name).Try(`write %s as 0.1 or "0.1"`, name)
}

// boolean is a member that is true or false, false if it is not there.
func (o object) boolean(name string) (bool, error) {
	if !o.has(name) {
		return false, nil
	}
	switch string(o[name]) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, refuse("%s is neither true nor false", name)
}

// list is a member that is a list, its items as they were written.
func (o object) list(name string) ([]json.RawMessage, error) {
	if !o.has(name) {
		return nil, nil
	}
	return items(name, o[name])
}

// items are those of a list.
func items(name string, written json.RawMessage) ([]json.RawMessage, error) {
	if written[0] != '[' {
		return nil, refuse("%s is no list", name)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(written, &list); err != nil {
		return nil, malformed(err)
	}
	return list, nil
}
