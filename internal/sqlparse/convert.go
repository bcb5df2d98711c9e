package sqlparse

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A converter turns the parser's tree into ours. Its methods refuse by
// panicking with a refusal, which convert recovers: every method would
// otherwise begin with the same test.
type converter struct {
	*source
	parameters bool // may stand in the statement
	depth      int
	place      diagnostic.Span // of the enclosing construct, for nodes without a place
}

type refusal struct{ *diagnostic.Diagnostic }

func (c *converter) refuse(d *diagnostic.Diagnostic) { panic(refusal{d}) }

// clause refuses a clause or statement that is not modelled, expression an
// expression.
func (c *converter) clause(at diagnostic.Span, format string, args ...any) *diagnostic.Diagnostic {
	return diagnostic.New("D006", at, format, args...)
}

func (c *converter) expression(at diagnostic.Span, format string, args ...any) *diagnostic.Diagnostic {
	return diagnostic.New("D007", at, format, args...)
}

func convert(src *source, tree *pg.ParseResult, parameters bool) (q *Query, d *diagnostic.Diagnostic) {
	c := &converter{source: src, parameters: parameters, place: src.at(0).span()}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(refusal)
			if !ok {
				panic(r)
			}
			q, d = nil, f.Diagnostic
		}
	}()
	if len(tree.Stmts) != 1 {
		return nil, diagnostic.New("D003", c.place, "there is not exactly one statement").Try("send one query at a time")
	}
	s := c.statementQuery(tree.Stmts[0].Stmt, 0)
	q, _ = c.query(s, 0)
	q.Privacy = c.priced
	if d := onlyModelled(tree.ProtoReflect(), src); d != nil {
		return nil, d
	}
	return q, nil
}

// statementQuery returns the SELECT of a node, whose first token is i.
func (c *converter) statementQuery(n *pg.Node, i int) *pg.SelectStmt {
	if s := n.GetSelectStmt(); s != nil {
		return s
	}
	word := ""
	switch n.GetNode().(type) {
	case *pg.Node_InsertStmt:
		word = "insert"
	case *pg.Node_UpdateStmt:
		word = "update"
	case *pg.Node_DeleteStmt:
		word = "delete"
	case *pg.Node_MergeStmt:
		word = "merge"
	default:
		word = c.word(i)
	}
	at := c.at(i).span()
	for j := i; c.at(j).kind != 0; j++ {
		if c.word(j) == word {
			at = c.at(j).span()
			break
		}
	}
	c.refuse(notAQuery(at, word))
	return nil
}

// enter bounds the depth of the tree, and so the recursion of all who read it.
func (c *converter) enter(at diagnostic.Span) (leave func()) {
	if c.depth++; c.depth > maxDepth {
		c.refuse(tooDeep(at))
	}
	return func() { c.depth-- }
}

// start returns the span of the first token at a node's location, or of the
// enclosing construct where the parser keeps none.
func (c *converter) start(location int32) diagnostic.Span {
	if location < 0 {
		return c.place
	}
	return c.at(c.index(int(location))).span()
}

// exprAt converts the expression that begins at token i, and returns the token
// that follows it and its parentheses.
func (c *converter) exprAt(n *pg.Node, i int) (Expr, int) {
	e := c.expr(n)
	whole := c.balance(c.at(i).span().Join(e.Place()))
	return e, c.index(whole.End)
}

// exprs converts a list that begins at token i.
func (c *converter) exprs(list []*pg.Node, i int) ([]Expr, int) {
	var out []Expr
	for k, n := range list {
		if k > 0 {
			i++ // the comma
		}
		var e Expr
		e, i = c.exprAt(n, i)
		out = append(out, e)
	}
	return out, i
}

// ident returns the name at token i, as the parser folded it, and the token
// after it.
func (c *converter) ident(name string, i int) (Ident, int) {
	next := c.after(i)
	at := c.between(i, next-1)
	return Ident{Name: name, Span: at, Quoted: c.text[at.Start] == '"'}, next
}

// idents returns the names of a list (a, b) whose parenthesis is token i.
func (c *converter) idents(list []*pg.Node, i int) ([]Ident, int) {
	var out []Ident
	for _, n := range list {
		s := n.GetString_()
		if s == nil {
			c.refuse(c.expression(c.at(i).span(), "a name is expected here").Try("write a name; names with capitals or blanks stand in double quotes"))
		}
		var id Ident
		id, i = c.ident(s.Sval, i+1) // past the parenthesis or comma
		out = append(out, id)
	}
	return out, i + 1
}

// closers skips the closing parentheses that match one at or after token from.
func (c *converter) closers(i, from int) int {
	for c.at(i).kind == ')' && c.match[i] >= from {
		i++
	}
	return i
}
