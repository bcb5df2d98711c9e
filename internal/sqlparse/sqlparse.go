package sqlparse

import (
	"errors"
	"strings"
	"unicode/utf8"

	pg "github.com/sqlc-dev/oliphant"
	"github.com/sqlc-dev/oliphant/parser"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Bounds on a statement. The parser knows none: without them a text of a few
// megabytes overflows the stack, which ends the process, and one of a few
// hundred bytes can take hours (see source.work).
const (
	maxText     = 64 << 10 // bytes
	maxDepth    = 200      // of parentheses, CASE, prefix operators and of the tree
	maxWork     = 200_000  // tokens the parser may visit, counting its repetitions
	maxName     = 63       // bytes; PostgreSQL silently cuts longer names
	maxDigits   = 400      // of a numeric constant
	maxExponent = 400
)

// Parse reads one SELECT, VALUES or WITH query in PostgreSQL's grammar. The
// error is a *diagnostic.Diagnostic that holds the text.
func Parse(text string) (*Query, error) { return read(text, false) }

// MaxParameters bounds the numbers of parameters.
const MaxParameters = 1000

// Parameterized reads as Parse does a query that may have parameters: $1, $2 ...
func Parameterized(text string) (*Query, error) { return read(text, true) }

func read(text string, parameters bool) (*Query, error) {
	q, d := parse(text, parameters)
	if d != nil {
		return nil, d.In("query", text)
	}
	return q, nil
}

// brokenParser is the message of a refusal that is a fault of this package or
// of the parser: a text must never end the process of those who answer others.
const brokenParser = "the parser failed on this statement"

func parse(text string, parameters bool) (q *Query, d *diagnostic.Diagnostic) {
	defer func() {
		if recover() != nil {
			q, d = nil, diagnostic.New("D002", diagnostic.Span{}, brokenParser).Try("please report the statement")
		}
	}()
	if d := checkText(text); d != nil {
		return nil, d
	}
	src, d := scan(text)
	if d != nil {
		return nil, d
	}
	if d := src.privacy(); d != nil {
		return nil, d
	}
	if d := src.check(); d != nil {
		return nil, d
	}
	tree, err := pg.Parse(src.plain)
	if err != nil {
		return nil, src.syntaxError(err)
	}
	return convert(src, tree, parameters)
}

// checkText refuses what is not text, before anything reads it.
func checkText(text string) *diagnostic.Diagnostic {
	if len(text) > maxText {
		return diagnostic.New("D001", diagnostic.Span{}, "the statement has %d bytes, more than %d", len(text), maxText).
			Try("keep long lists of constants in a public table and join it")
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return diagnostic.New("D001", diagnostic.Span{Start: i, End: i + 1}, "the statement contains a NUL character").Try("save the file as plain text")
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			return diagnostic.New("D001", diagnostic.Span{Start: i, End: i + 1}, "the statement is not valid UTF-8: byte 0x%02x", text[i]).
				Try("save the file as UTF-8")
		}
		i += n
	}
	return nil
}

// syntaxError turns the parser's error into a diagnostic at the token where
// reading stopped.
func (s *source) syntaxError(err error) *diagnostic.Diagnostic {
	message, at := s.locate(err, s.text)
	// The parser takes back a parenthesised query that fails and then stumbles
	// over its SELECT; reading that query alone finds the true place.
	for range 8 {
		i := s.index(at)
		if at < 0 || i == 0 || !s.at(i).startsQuery() || s.at(i-1).kind != '(' || s.match[i-1] < 0 {
			break
		}
		inner := strings.Repeat(" ", at) + s.plain[at:s.list[s.match[i-1]].start]
		_, err := pg.Parse(inner)
		if err == nil {
			break
		}
		m, p := s.locate(err, inner)
		if p <= at {
			break
		}
		message, at = m, min(p, s.list[s.match[i-1]].start)
	}
	if at < 0 {
		return diagnostic.New("D002", s.at(0).span(), "%s", message).Try("%s", checkBefore)
	}
	d := s.explainSyntax(message, s.index(at), at)
	if d.Hint == "" {
		d.Try("%s", checkBefore)
	}
	return d
}

const checkBefore = "check the commas, parentheses and quotes before this place; docs/sql.md shows the SQL that is answered"

// locate returns the parser's message without its quotation of the text, and
// the byte offset in text, or -1.
func (s *source) locate(err error, text string) (string, int) {
	var e *parser.Error
	if !errors.As(err, &e) {
		return brokenParser, -1
	}
	message, _, _ := strings.Cut(e.Message, " at or near ")
	message = strings.TrimSuffix(message, " at end of input")
	if e.Cursorpos <= 0 {
		return message, -1
	}
	at := 0
	for range e.Cursorpos - 1 { // Cursorpos counts characters from 1
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return message, at
}

// explainSyntax words an error at token i, which begins at the offset at or,
// when scanning failed there, is missing.
func (s *source) explainSyntax(message string, i, at int) *diagnostic.Diagnostic {
	t := s.at(i)
	switch {
	case t.kind == 0 && at >= t.start:
		d := diagnostic.New("D002", diagnostic.Span{Start: s.end(), End: s.end()}, "%s at the end of the statement", message).
			Try("the statement is not finished: something is missing after its last word, or a parenthesis is open")
		if s.isGroupByAll(i - 3) {
			return d.Try("list the grouping keys: GROUP BY ALL is not PostgreSQL")
		}
		return d
	case t.start != at:
		return diagnostic.New("D002", diagnostic.Span{Start: at, End: max(at+1, len(s.text))}, "%s", message)
	}
	d := diagnostic.New("D002", t.span(), "%s at or near %q", message, clip(s.text[t.start:t.end]))
	before, word := s.at(i-1), s.word(i)
	switch {
	case word == "percent":
		return d.Because("LIMIT takes a number of rows in PostgreSQL").Try("write LIMIT and a number")
	case strings.HasPrefix(message, "unterminated"):
		return d.Try("close the quote; a quote inside a text is written twice: 'it''s'")
	case strings.HasPrefix(message, "LIMIT #,#"):
		return d.Try("write LIMIT count OFFSET start")
	case foreignWords[word] != "":
		return d.Because("%s is not PostgreSQL", strings.ToUpper(word)).Try("%s", foreignWords[word])
	case before.kind == pg.Token_IDENT && foreignWords[s.word(i-1)] != "":
		return d.Because("%s is not PostgreSQL", strings.ToUpper(s.word(i-1))).Try("%s", foreignWords[s.word(i-1)])
	case i > 0 && t.keyword == pg.KeywordKind_RESERVED_KEYWORD:
		return d.Try("%s is a keyword: check what stands before it, or, if it is a name, put it into double quotes: \"%s\"", strings.ToUpper(word), word)
	case word == "exclude" || word == "except" && before.kind == '*' || word == "replace" && before.kind == '*':
		return d.Try("name the columns that are wanted in place of *: %s after * is not PostgreSQL", strings.ToUpper(word))
	case i > 2 && before.kind == '(' && s.word(i-2) == "except" && s.at(i-3).kind == '*':
		return d.Try("name the columns that are wanted in place of *: EXCEPT after * is not PostgreSQL")
	case s.isGroupByAll(i - 3):
		return d.Try("list the grouping keys: GROUP BY ALL is not PostgreSQL")
	case before.kind == ',':
		return d.Try("remove the comma before it, or name what should follow")
	case s.word(i-1) == "top":
		return d.Try("write LIMIT %s at the end: TOP is not PostgreSQL", clip(s.text[t.start:t.end]))
	case i == 0:
		if near := diagnostic.Nearest(word, []string{"select", "values", "with"}); near != "" {
			return d.Try("did you mean %s?", strings.ToUpper(near))
		}
		return d.Try("a query begins with SELECT, VALUES or WITH")
	}
	return d
}

// clip shortens a quotation and keeps it on one line.
func clip(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}
