package sqlparse

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Statement is one statement of a script.
type Statement struct {
	Piece
	// Command is nil where the text is a query, or what nobody but Parse refuses.
	Command Command
}

// A Piece is a part of a script.
type Piece struct {
	Text  string
	Start int // the text's offset in the script, in bytes
}

// Script splits what a session sends into statements, and reads those that steer the
// session: they are commands. All of a script is read before any of it is run, so that a
// syntax error anywhere costs nothing. The error is a *diagnostic.Diagnostic that holds the
// script.
func Script(text string) ([]Statement, error) {
	all, d := script(text)
	if d != nil {
		return nil, d.In("query", text)
	}
	return all, nil
}

func script(text string) (all []Statement, d *diagnostic.Diagnostic) {
	defer func() {
		if recover() != nil {
			all, d = nil, diagnostic.New("D002", diagnostic.Span{}, brokenParser).Try("please report the statement")
		}
	}()
	if d := checkText(text); d != nil {
		return nil, d
	}
	whole, d := scan(text)
	if d != nil {
		return nil, d
	}
	for i := 0; whole.at(i).kind != 0; {
		if whole.at(i).kind == ';' {
			i++
			continue
		}
		last := i
		for k := whole.at(last + 1).kind; k != 0 && k != ';'; k = whole.at(last + 1).kind {
			last++
		}
		s := Statement{Piece: whole.piece(i, last)}
		if s.Command, d = command(s.Text); d != nil {
			d.Span.Start += s.Start
			d.Span.End += s.Start
			return nil, d
		}
		all = append(all, s)
		i = last + 1
	}
	return all, nil
}

// piece returns the text of the tokens i to j.
func (s *source) piece(i, j int) Piece {
	at := s.between(i, j)
	return Piece{Text: s.text[at.Start:at.End], Start: at.Start}
}

// command reads one statement. It returns nil for a query that the grammar accepts, and for
// a statement of another kind, which the parser does not see.
func command(text string) (Command, *diagnostic.Diagnostic) {
	src, d := scan(text)
	if d != nil {
		return nil, d
	}
	if word := src.word(0); slices.Contains(otherStatements, word) && !slices.Contains(commandWords, word) {
		return nil, nil
	}
	for _, bound := range []func() *diagnostic.Diagnostic{src.depth, src.work} {
		if d := bound(); d != nil {
			return nil, d
		}
	}
	if d := src.privacy(); d != nil { // which the pieces keep, for who reads them
		return nil, d
	}
	tree, err := pg.Parse(src.plain)
	if err != nil {
		return nil, src.syntaxError(err)
	}
	if len(tree.Stmts) != 1 {
		return nil, diagnostic.New("D003", src.at(0).span(), "there is not exactly one statement").Try("send one query at a time")
	}
	return (&commander{src}).command(tree.Stmts[0].Stmt)
}
