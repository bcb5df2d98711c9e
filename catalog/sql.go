package catalog

import (
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// An SQL is text that the owner writes in the catalog: the expression of a derived
// column, the query of a view. What it means is not known here, but to internal/derive; where it stands is.
type SQL struct {
	Text string

	catalog, in string          // the catalog's name and text
	whole       diagnostic.Span // of the TOML string
	at          []int           // the place of each byte of Text, and of its end; nil if unknown
}

// sql reads a string of SQL.
func (l *loader) sql(code string, n *node) (*SQL, bool) {
	text, ok := l.str(n)
	if !ok {
		return nil, false
	}
	if strings.TrimSpace(text) == "" {
		l.refuse(code, n.value, "%q is empty", n.name)
		return nil, false
	}
	return &SQL{Text: text, catalog: l.catalog.Path, in: l.text, whole: n.value, at: places(l.text, n.value, text)}, true
}

// Place moves a diagnostic whose span is of the text to where that stands in the catalog.
func (s *SQL) Place(d *diagnostic.Diagnostic) *diagnostic.Diagnostic {
	if d.Span.End <= d.Span.Start || d.Span.Start < 0 || d.Span.Start >= len(s.at) {
		d.Span = s.whole
	} else {
		d.Span = diagnostic.Span{Start: s.at[d.Span.Start], End: s.at[min(d.Span.End, len(s.at)-1)]}
	}
	return d.In(s.catalog, s.in)
}

// places finds where the bytes of a TOML string stand: as they are, or behind escapes.
// It returns nil where it cannot tell.
func places(in string, span diagnostic.Span, text string) []int {
	quote := in[span.Start : span.Start+1]
	width := 1
	if strings.HasPrefix(in[span.Start:span.End], strings.Repeat(quote, 3)) {
		width = 3
	}
	if span.End-span.Start < 2*width {
		return nil
	}
	i, end := span.Start+width, span.End-width
	if width == 3 { // a line end behind the quotes is not of the text
		i += len(in[i:end]) - len(strings.TrimPrefix(strings.TrimPrefix(in[i:end], "\r"), "\n"))
	}
	at := make([]int, 0, len(text)+1)
	for rest := text; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		length := n
		switch {
		case quote == `"` && i < end && in[i] == '\\':
			if length = escape(in[i:end]); length == 0 {
				return nil
			}
			if next := in[i+1]; next == ' ' || next == '\t' || next == '\r' || next == '\n' { // the line goes on below
				i += length
				continue
			}
		case i+n > end || in[i:i+n] != string(r):
			return nil
		}
		for range n {
			at = append(at, i)
		}
		i, rest = i+length, rest[n:]
	}
	return append(at, i)
}

// escape is the length of the escape that text begins with.
func escape(text string) int {
	if len(text) < 2 {
		return 0
	}
	length := 2
	switch text[1] {
	case 'u':
		length = 6
	case 'U':
		length = 10
	case 'x':
		length = 4
	case ' ', '\t', '\r', '\n':
		length = len(text) - len(strings.TrimLeft(text[1:], " \t\r\n"))
	}
	if length > len(text) {
		return 0
	}
	return length
}
