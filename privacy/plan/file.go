package plan

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
)

// Read is Parse for texts that may name files, as in rdp("curve.csv") and
// pair("pair.csv"), which open returns the contents of. What the file says stands in the
// event: neither its text nor its JSON form depends on the file.
//
// A file has a line for each point of a curve, order,eps, or each outcome of a pair,
// p,q. A first line with these names, empty lines and lines that begin with # are left
// out. Numbers are constant expressions.
func Read(text string, open func(name string) ([]byte, error)) (Plan, error) {
	return parse(text, open)
}

// file reads the points that stand in a file into b.
func (p *parser) file(b *callBuilder, at token) error {
	name := strings.Trim(at.text, `"`)
	fail := func(message, hint string) error { return at.span.fail(message, hint) }
	switch kind := b.signature.parameters[0].kind; {
	case !kind.paired():
		return fail(b.signature.name+" takes no file", "write "+b.signature.String())
	case p.open == nil:
		return fail("a file cannot be read here", "write the numbers themselves: "+b.signature.String())
	case name == "" || len(at.text) < 2 || !strings.HasSuffix(at.text, `"`):
		return fail("want the name of a file in quotes", "")
	}
	data, err := p.open(name)
	if err != nil {
		return err
	}
	if len(data) > maxText {
		return fail(fmt.Sprintf("%s is longer than 256 KiB", token{kind: letters, text: name}), "")
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comment, r.TrimLeadingSpace, r.FieldsPerRecord = '#', true, -1
	columns := strings.Split(b.signature.parameters[0].name, ": ")
	hint := fmt.Sprintf("a line has two numbers, %s,%s", columns[0], columns[1])
	rows := 0
	for {
		row, err := r.Read()
		if row == nil && err != nil {
			var parse *csv.ParseError
			if errors.As(err, &parse) {
				return fail(fmt.Sprintf("%s, line %d: %v", token{kind: letters, text: name}, parse.Line, parse.Err), hint)
			}
			break // the end
		}
		line, _ := r.FieldPos(0)
		wrong := func(format string, args ...any) error {
			return fail(fmt.Sprintf("%s, line %d: ", token{kind: letters, text: name}, line)+fmt.Sprintf(format, args...), hint)
		}
		if len(row) != 2 {
			return wrong("%d fields", len(row))
		}
		if rows++; rows == 1 && strings.EqualFold(strings.TrimSpace(row[0]), columns[0]) && strings.EqualFold(strings.TrimSpace(row[1]), columns[1]) {
			continue
		}
		var nodes [2]*node
		for i, field := range row {
			q := parser{text: field}
			n, err := q.parse()
			switch {
			case err != nil:
				return wrong("%s is %v: %v", columns[i], token{kind: letters, text: field}, message(err))
			case n.op.event():
				return wrong("%s is an event, not a number", columns[i])
			case n.unknown:
				return wrong("%s is unknown", columns[i])
			}
			n.place(at.span)
			nodes[i] = n
		}
		if err := b.pair(nodes[0], nodes[1]); err != nil {
			return wrong("%v", message(err))
		}
	}
	if len(b.of) == 0 {
		return fail(fmt.Sprintf("%s has no line of numbers", token{kind: letters, text: name}), hint)
	}
	return nil
}

// message is an error's text without its place.
func message(err error) string {
	var e *SyntaxError
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
