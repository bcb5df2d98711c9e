package catalog

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Limits on a catalog's text. Nesting is bounded because the TOML parser
// recurses, and takes quadratic time in the parts of a dotted key.
const (
	maxText    = 1 << 19
	maxNesting = 16
)

// A node is one value of a TOML document and its place. The parser tells
// values but not places; the scanner tells places; parseDocument joins them
// and refuses a document on which they disagree.
type node struct {
	name   string          // the last part of its key
	key    diagnostic.Span // that part's place
	value  diagnostic.Span // the value's place; a [table] has its header's
	fields []*node         // table: in the order of the file
	named  map[string]*node
	items  []*node // array
	kind   nodeKind
	data   any // scalar: string, int64, float64, bool or time.Time
}

type nodeKind uint8

const (
	tableNode nodeKind = iota
	arrayNode
	scalarNode
)

// field returns the field with the given name, or nil.
func (n *node) field(name string) *node { return n.named[name] }

func (n *node) add(field *node) {
	if n.named == nil {
		n.named = map[string]*node{}
	}
	n.named[field.name] = field
	n.fields = append(n.fields, field)
}

// place is where to point for the node as a whole.
func (n *node) place() diagnostic.Span {
	if n.value != (diagnostic.Span{}) {
		return n.value
	}
	return n.key
}

// parseDocument reads a TOML document. Its root has no place.
func parseDocument(text string) (*node, *diagnostic.Diagnostic) {
	if len(text) > maxText {
		return nil, diagnostic.New("D080", diagnostic.Span{}, "the catalog is longer than %d bytes", maxText)
	}
	if !utf8.ValidString(text) {
		at := 0
		for r, size := utf8.DecodeRuneInString(text); r != utf8.RuneError || size != 1; r, size = utf8.DecodeRuneInString(text[at:]) {
			at += size
		}
		return nil, diagnostic.New("D080", diagnostic.Span{Start: at, End: at + 1}, "the catalog is not UTF-8 text")
	}
	s := &scanner{text: text}
	root, refused := s.document()
	if refused != nil && refused.Message != "" {
		return nil, refused
	}
	if refused != nil { // let the parser say what is wrong, up to where the scanner got
		text = text[:min(len(text), s.at+len(firstLine(text[s.at:]))+1)]
	}
	var data map[string]any
	if _, err := toml.Decode(text, &data); err != nil {
		return nil, syntaxError(text, err)
	}
	if refused != nil || !root.attach(data) {
		return nil, diagnostic.New("D080", diagnostic.Span{Start: s.at, End: s.at + 1}, "the catalog is not TOML that this reader understands").
			Try("write the setting in the plain form of the documentation")
	}
	return root, nil
}

func syntaxError(text string, err error) *diagnostic.Diagnostic {
	var p toml.ParseError
	if !errors.As(err, &p) {
		return diagnostic.New("D080", diagnostic.Span{}, "the catalog is not TOML: %s", oneLine(err.Error()))
	}
	start := p.Position.Start
	if strings.HasPrefix(text, bom) {
		start += len(bom)
	}
	// A fault at the end of a line is shown on that line, not on the next.
	start = max(0, min(start, len(text)-1))
	if start > 0 && start < len(text) && text[start] == '\n' {
		start--
	}
	return diagnostic.New("D080", diagnostic.Span{Start: start, End: max(start+1, min(start+p.Position.Len, len(text)))},
		"the catalog is not TOML: %s", strings.ReplaceAll(oneLine(p.Message), `got '\x00' instead`, "the text ends"))
}

func oneLine(s string) string { return firstLine(strings.TrimSpace(s)) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// attach gives the scalars their values, and reports whether the scanned
// document has exactly the shape of the parsed one.
func (n *node) attach(data any) bool {
	switch data := data.(type) {
	case map[string]any:
		if n.kind != tableNode || len(n.fields) != len(data) {
			return false
		}
		for _, f := range n.fields {
			v, ok := data[f.name]
			if !ok || !f.attach(v) {
				return false
			}
		}
		return true
	case []any:
		if n.kind != arrayNode || len(n.items) != len(data) {
			return false
		}
		for i, item := range n.items {
			if !item.attach(data[i]) {
				return false
			}
		}
		return true
	case []map[string]any:
		return false
	}
	n.data = data
	return n.kind == scalarNode
}

const bom = "\ufeff"

// A scanner finds the places of a document's keys and values. It accepts more
// than TOML does: what is TOML, the parser decides.
type scanner struct {
	text string
	at   int
}

// malformed is what the scanner returns when it cannot go on: a diagnostic
// without a message, since the parser has a better one.
func (s *scanner) malformed() *diagnostic.Diagnostic { return &diagnostic.Diagnostic{} }

func (s *scanner) document() (*node, *diagnostic.Diagnostic) {
	root := &node{}
	current := root
	if strings.HasPrefix(s.text, bom) {
		s.at = len(bom)
	}
	for {
		s.blank("")
		if s.at == len(s.text) {
			return root, nil
		}
		if s.text[s.at] == '[' {
			header, refused := s.header(root)
			if refused != nil {
				return nil, refused
			}
			current = header
			continue
		}
		if refused := s.pair(current, 0); refused != nil {
			return nil, refused
		}
	}
}

// header reads [a.b.c] and returns the table it opens.
func (s *scanner) header(root *node) (*node, *diagnostic.Diagnostic) {
	start := s.at
	if strings.HasPrefix(s.text[start:], "[[") {
		return nil, diagnostic.New("D081", diagnostic.Span{Start: start, End: start + 2}, "a catalog has no arrays of tables").
			Try("write [tables.NAME], with one bracket")
	}
	s.at++
	parts, refused := s.key(']')
	if refused != nil {
		return nil, refused
	}
	table, refused := s.descend(root, parts)
	if refused != nil {
		return nil, refused
	}
	table.key = parts[len(parts)-1].key
	table.value = diagnostic.Span{Start: start, End: s.at}
	return table, nil
}

// pair reads key = value into a table.
func (s *scanner) pair(table *node, depth int) *diagnostic.Diagnostic {
	parts, refused := s.key('=')
	if refused != nil {
		return refused
	}
	last := parts[len(parts)-1]
	if table, refused = s.descend(table, parts[:len(parts)-1]); refused != nil {
		return refused
	}
	if table.field(last.name) != nil {
		return diagnostic.New("D080", last.key, "%q is set twice", last.name)
	}
	v, refused := s.read(depth)
	if refused != nil {
		return refused
	}
	v.name, v.key = last.name, last.key
	table.add(v)
	return nil
}

// descend follows a path of keys, making the tables that are not there yet.
func (s *scanner) descend(table *node, path []*node) (*node, *diagnostic.Diagnostic) {
	for _, part := range path {
		next := table.field(part.name)
		if next == nil {
			next = &node{name: part.name, key: part.key}
			table.add(next)
		}
		if next.kind != tableNode {
			return nil, diagnostic.New("D080", part.key, "%q is set twice", part.name)
		}
		table = next
	}
	return table, nil
}

// key reads the parts of a dotted key and the byte that ends it.
func (s *scanner) key(end byte) ([]*node, *diagnostic.Diagnostic) {
	var parts []*node
	for {
		s.spaces()
		if s.at == len(s.text) {
			return nil, s.malformed()
		}
		start := s.at
		if c := s.text[s.at]; c == '"' || c == '\'' {
			if !s.quoted() {
				return nil, s.malformed()
			}
		} else {
			s.skipTo(" \t.=]\r\n\"'#{}[,")
		}
		name, ok := keyName(s.text[start:s.at])
		if !ok {
			return nil, s.malformed()
		}
		parts = append(parts, &node{name: name, key: diagnostic.Span{Start: start, End: s.at}})
		if len(parts) > maxNesting {
			return nil, tooDeep(parts[len(parts)-1].key)
		}
		s.spaces()
		switch {
		case s.at < len(s.text) && s.text[s.at] == '.':
			s.at++
		case s.at < len(s.text) && s.text[s.at] == end:
			s.at++
			return parts, nil
		default:
			return nil, s.malformed()
		}
	}
}

func tooDeep(at diagnostic.Span) *diagnostic.Diagnostic {
	return diagnostic.New("D080", at, "the catalog is nested more than %d levels deep", maxNesting)
}

// keyName returns the key that a bare or quoted word stands for; of a quoted
// one the parser tells the meaning of escapes.
func keyName(word string) (string, bool) {
	if word == "" || (word[0] != '"' && word[0] != '\'') {
		return word, word != ""
	}
	var v struct{ X string }
	if _, err := toml.Decode("X = "+word, &v); err != nil {
		return "", false
	}
	return v.X, true
}

// read reads a value.
func (s *scanner) read(depth int) (*node, *diagnostic.Diagnostic) {
	s.spaces()
	if s.at == len(s.text) {
		return nil, s.malformed()
	}
	start := s.at
	n := &node{kind: scalarNode}
	switch s.text[s.at] {
	case '"', '\'':
		if !s.quoted() {
			return nil, s.malformed()
		}
	case '[', '{':
		if depth == maxNesting {
			return nil, tooDeep(diagnostic.Span{Start: start, End: start + 1})
		}
		if refused := s.list(n, depth+1); refused != nil {
			return nil, refused
		}
	default:
		s.skipTo(",]}#\n")
		s.at = start + len(strings.TrimRight(s.text[start:s.at], " \t\r"))
		if s.at == start {
			return nil, s.malformed()
		}
	}
	n.value = diagnostic.Span{Start: start, End: s.at}
	return n, nil
}

// list reads an array or an inline table into n.
func (s *scanner) list(n *node, depth int) *diagnostic.Diagnostic {
	n.kind = arrayNode
	end := byte(']')
	if s.text[s.at] == '{' {
		n.kind, end = tableNode, '}'
	}
	s.at++
	for {
		s.blank(",")
		switch {
		case s.at == len(s.text):
			return s.malformed()
		case s.text[s.at] == end:
			s.at++
			return nil
		case n.kind == tableNode:
			if refused := s.pair(n, depth); refused != nil {
				return refused
			}
		default:
			item, refused := s.read(depth)
			if refused != nil {
				return refused
			}
			n.items = append(n.items, item)
		}
	}
}

// quoted moves behind the string that begins here; false if it does not end.
func (s *scanner) quoted() bool {
	quote := s.text[s.at : s.at+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.at:], long) {
		quote = long
	}
	for i := s.at + len(quote); i < len(s.text); i++ {
		switch {
		case s.text[i] == '\\' && quote[0] == '"':
			i++
		case strings.HasPrefix(s.text[i:], quote):
			i += len(quote)
			// A long string may end in one or two quotes of its own.
			for n := 0; len(quote) == 3 && n < 2 && i < len(s.text) && s.text[i] == quote[0]; n++ {
				i++
			}
			s.at = i
			return true
		case len(quote) == 1 && s.text[i] == '\n':
			return false
		}
	}
	return false
}

func (s *scanner) skipTo(ends string) {
	for s.at < len(s.text) && strings.IndexByte(ends, s.text[s.at]) < 0 {
		s.at++
	}
}

func (s *scanner) spaces() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.at++
	}
}

// blank skips spaces, line ends, comments, and the given bytes.
func (s *scanner) blank(also string) {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '#':
			s.at += len(firstLine(s.text[s.at:]))
		case strings.IndexByte(" \t\r\n", c) >= 0, strings.IndexByte(also, c) >= 0:
			s.at++
		default:
			return
		}
	}
}

// describe names what a node holds, for messages.
func (n *node) describe() string {
	switch n.kind {
	case tableNode:
		return "a table"
	case arrayNode:
		return "an array"
	}
	switch n.data.(type) {
	case string:
		return "a string"
	case int64, float64:
		return "a number"
	case bool:
		return "true or false"
	}
	return "a date or time"
}
