// Package statement reads what a PostgreSQL client may send into a small tree: any query, as
// far as it has a form here, and of other statements where they begin and end.
//
// It guarantees bounds: a text that is too long, nested too deep or too entangled is refused
// before the parser sees it, and the tree is no deeper than the bound.
//
// It does not guarantee that a query means anything: names and types are not looked at. What
// is answered from private data is read by sqlparse, never by this package.
package statement

import (
	"errors"
	"unicode/utf8"

	pg "github.com/sqlc-dev/oliphant"
	"github.com/sqlc-dev/oliphant/parser"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// An Unmodelled is a statement that is well-formed, with something that the tree has no form for.
type Unmodelled struct {
	What string
	At   int // byte of the text, or -1
}

func (e *Unmodelled) Error() string { return e.What + " is not supported" }

// Parse reads the statements of a text. The error is a *diagnostic.Diagnostic, or an
// *Unmodelled where a query has no form here.
func Parse(text string) (list []Statement, err error) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(*Unmodelled)
			if !ok {
				u = &Unmodelled{What: "this statement", At: -1}
			}
			list, err = nil, u
		}
	}()
	plain, d := sqlparse.Bound(text)
	if d != nil {
		return nil, d.In("query", text)
	}
	tree, err := pg.Parse(plain)
	if err != nil {
		return nil, syntaxError(text, err)
	}
	c := &converter{}
	for _, raw := range tree.Stmts {
		s := Statement{Start: int(raw.StmtLocation), End: len(text)}
		if raw.StmtLen > 0 {
			s.End = s.Start + int(raw.StmtLen)
		}
		if q := raw.Stmt.GetSelectStmt(); q != nil {
			s.Select = c.query(q)
		}
		list = append(list, s)
	}
	return list, nil
}

func syntaxError(text string, err error) error {
	var e *parser.Error
	at := 0
	message := "syntax error"
	if errors.As(err, &e) {
		message = e.Message
		for n := e.Cursorpos - 1; n > 0 && at < len(text); n-- { // it counts characters from 1
			_, width := utf8.DecodeRuneInString(text[at:])
			at += width
		}
	}
	return diagnostic.New("D002", diagnostic.Span{Start: at, End: at}, "%s", message).In("query", text)
}
