package sqlparse

import (
	"strconv"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Command steers a session: it is no question about data. Names are folded as PostgreSQL
// folds them.
type Command interface{ command() }

type (
	// Set is SET name = values; Values is nil for DEFAULT.
	Set struct {
		Name   string
		Values []string
		Local  bool
	}
	// SetTransaction is SET TRANSACTION and SET SESSION CHARACTERISTICS: modes that
	// decide nothing here.
	SetTransaction struct{}
	// Reset is RESET name, or RESET ALL where the name is empty.
	Reset struct{ Name string }
	// Show is SHOW name, or SHOW ALL where the name is "all".
	Show struct{ Name string }
	// SetConfig is SELECT set_config(name, value, local), the function alone.
	SetConfig struct {
		Name, Value Argument
		Local       Argument
		Column      string
	}

	// Begin is BEGIN and START TRANSACTION.
	Begin struct{}
	// Commit is COMMIT and END.
	Commit struct{ Chain bool }
	// Rollback is ROLLBACK and ABORT.
	Rollback struct{ Chain bool }
	// Savepoint is SAVEPOINT name.
	Savepoint struct{ Name string }
	// Release is RELEASE SAVEPOINT name.
	Release struct{ Name string }
	// RollbackTo is ROLLBACK TO SAVEPOINT name.
	RollbackTo struct{ Name string }

	// Prepare is PREPARE name (types) AS query.
	Prepare struct {
		Name  string
		Types []string
		Query Piece
	}
	// Execute is EXECUTE name (arguments).
	Execute struct {
		Name      string
		Arguments []Argument
	}
	// Deallocate is DEALLOCATE name, or DEALLOCATE ALL where the name is empty.
	Deallocate struct{ Name string }

	// Declare is DECLARE name CURSOR FOR query.
	Declare struct {
		Name           string
		Scroll, Hold   bool
		NoScroll       bool
		BinaryTransfer bool
		Query          Piece
	}
	// Fetch is FETCH and MOVE: from Name's position, Count rows in a Direction.
	Fetch struct {
		Name      string
		Direction Direction
		Count     int64 // All for ALL
		Move      bool
	}
	// Close is CLOSE name, or CLOSE ALL where the name is empty.
	Close struct{ Name string }

	// Copy is COPY (query) TO STDOUT.
	Copy struct {
		Query   Piece
		Options []Option
	}
	// Explain is EXPLAIN query.
	Explain struct {
		Query   Piece
		Options []Option
	}
	// Discard is DISCARD ALL and its parts: All is false where there is nothing to discard.
	Discard struct{ Plans, All bool }
	// Unlisten is UNLISTEN: there are no notifications.
	Unlisten struct{}
	// Lock is LOCK TABLE ... IN ACCESS SHARE MODE, which keeps a table from being dropped:
	// tables are declared, and nobody drops one.
	Lock struct{}
)

// An Argument is a constant, NULL, or a parameter $n.
type Argument struct {
	Text      string
	Null      bool
	Parameter int // from 1; 0 for a constant
	Span      diagnostic.Span
}

// An Option is a word with a value, as in (FORMAT csv). Values has more than one element
// where a list is written.
type Option struct {
	Name   string
	Values []string
	Span   diagnostic.Span
}

// A Direction says how FETCH moves.
type Direction uint8

// The directions of FETCH.
const (
	Forward Direction = iota
	Backward
	Absolute
	Relative
)

// All is the Count of FETCH ALL.
const All = 1<<63 - 1

func (Set) command()            {}
func (SetTransaction) command() {}
func (Reset) command()          {}
func (Show) command()           {}
func (SetConfig) command()      {}
func (Begin) command()          {}
func (Commit) command()         {}
func (Rollback) command()       {}
func (Savepoint) command()      {}
func (Release) command()        {}
func (RollbackTo) command()     {}
func (Prepare) command()        {}
func (Execute) command()        {}
func (Deallocate) command()     {}
func (Declare) command()        {}
func (Fetch) command()          {}
func (Close) command()          {}
func (Copy) command()           {}
func (Explain) command()        {}
func (Discard) command()        {}
func (Unlisten) command()       {}
func (Lock) command()           {}

// commandWords begin commands.
var commandWords = []string{
	"abort", "begin", "close", "commit", "copy", "deallocate", "declare", "discard", "end", "execute", "explain", "fetch", "lock", "move",
	"prepare", "release", "reset", "rollback", "savepoint", "set", "show", "start", "table", "unlisten",
}

// accessShare is the number of PostgreSQL's weakest lock (storage/lockdefs.h).
const accessShare = 1

// A commander turns the parser's tree of one statement into a command.
type commander struct{ *source }

func (c *commander) command(n *pg.Node) (Command, *diagnostic.Diagnostic) {
	switch n := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return c.setConfig(n.SelectStmt), nil
	case *pg.Node_VariableSetStmt:
		return c.set(n.VariableSetStmt)
	case *pg.Node_VariableShowStmt:
		return Show{n.VariableShowStmt.Name}, nil
	case *pg.Node_TransactionStmt:
		return c.transaction(n.TransactionStmt)
	case *pg.Node_PrepareStmt:
		return c.prepare(n.PrepareStmt)
	case *pg.Node_ExecuteStmt:
		e := Execute{Name: n.ExecuteStmt.Name}
		for _, p := range n.ExecuteStmt.Params {
			a, ok := c.argument(p)
			if !ok {
				return nil, diagnostic.New("D007", c.at(0).span(), "EXECUTE takes constants").Try("write the values themselves")
			}
			e.Arguments = append(e.Arguments, a)
		}
		return e, nil
	case *pg.Node_DeallocateStmt:
		return Deallocate{n.DeallocateStmt.Name}, nil
	case *pg.Node_DeclareCursorStmt:
		return c.declare(n.DeclareCursorStmt), nil
	case *pg.Node_FetchStmt:
		return c.fetch(n.FetchStmt), nil
	case *pg.Node_ClosePortalStmt:
		return Close{n.ClosePortalStmt.Portalname}, nil
	case *pg.Node_CopyStmt:
		return c.copy(n.CopyStmt)
	case *pg.Node_ExplainStmt:
		return c.explain(n.ExplainStmt), nil
	case *pg.Node_DiscardStmt:
		t := n.DiscardStmt.Target
		return Discard{Plans: t == pg.DiscardMode_DISCARD_PLANS, All: t == pg.DiscardMode_DISCARD_ALL}, nil
	case *pg.Node_UnlistenStmt:
		return Unlisten{}, nil
	case *pg.Node_LockStmt:
		if n.LockStmt.Mode != accessShare {
			return nil, diagnostic.New("D004", c.at(0).span(), "a table can be locked in ACCESS SHARE MODE alone").
				Because("nothing is written here").Try("leave LOCK out")
		}
		return Lock{}, nil
	}
	return nil, nil
}

func (c *commander) set(s *pg.VariableSetStmt) (Command, *diagnostic.Diagnostic) {
	switch s.Kind {
	case pg.VariableSetKind_VAR_RESET_ALL:
		return Reset{}, nil
	case pg.VariableSetKind_VAR_RESET:
		return Reset{s.Name}, nil
	case pg.VariableSetKind_VAR_SET_MULTI:
		return SetTransaction{}, nil
	case pg.VariableSetKind_VAR_SET_CURRENT:
		return nil, diagnostic.New("D006", c.at(0).span(), "SET ... FROM CURRENT is for functions").Try("write the value")
	}
	out := Set{Name: s.Name, Local: s.IsLocal}
	for _, n := range s.Args {
		a, ok := c.argument(n)
		if !ok || a.Null || a.Parameter > 0 {
			return nil, diagnostic.New("D006", c.at(0).span(), "SET takes a constant").Try("write the value as a text: SET %s = '...'", s.Name)
		}
		out.Values = append(out.Values, a.Text)
	}
	return out, nil
}

func (c *commander) transaction(t *pg.TransactionStmt) (Command, *diagnostic.Diagnostic) {
	switch t.Kind {
	case pg.TransactionStmtKind_TRANS_STMT_BEGIN, pg.TransactionStmtKind_TRANS_STMT_START:
		return Begin{}, nil
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT:
		return Commit{t.Chain}, nil
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		return Rollback{t.Chain}, nil
	case pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		return Savepoint{t.SavepointName}, nil
	case pg.TransactionStmtKind_TRANS_STMT_RELEASE:
		return Release{t.SavepointName}, nil
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return RollbackTo{t.SavepointName}, nil
	}
	return nil, diagnostic.New("D006", c.at(0).span(), "there are no two-phase transactions").Try("leave it out: each statement is charged and answered by itself")
}

func (c *commander) prepare(p *pg.PrepareStmt) (Command, *diagnostic.Diagnostic) {
	out := Prepare{Name: p.Name, Query: c.following(pg.Token_AS)}
	for _, n := range p.Argtypes {
		name, ok := typeName(n.GetTypeName())
		if !ok {
			return nil, diagnostic.New("D006", c.at(0).span(), "PREPARE takes names of types").Try("write a type's plain name, as in bigint")
		}
		out.Types = append(out.Types, name)
	}
	return out, nil
}

// Options of a cursor, as PostgreSQL's parser numbers them.
const (
	cursorBinary   = 0x0001
	cursorScroll   = 0x0002
	cursorNoScroll = 0x0004
	cursorHold     = 0x0020
)

func (c *commander) declare(d *pg.DeclareCursorStmt) Command {
	return Declare{
		Name: d.Portalname, Query: c.following(pg.Token_FOR),
		Scroll: d.Options&cursorScroll != 0, NoScroll: d.Options&cursorNoScroll != 0,
		Hold: d.Options&cursorHold != 0, BinaryTransfer: d.Options&cursorBinary != 0,
	}
}

// following returns what follows the first token of a kind.
func (c *commander) following(kind pg.Token) Piece {
	for i := range c.list {
		if c.at(i).kind == kind {
			return c.piece(i+1, len(c.list)-1)
		}
	}
	return Piece{Text: c.text}
}

func (c *commander) fetch(f *pg.FetchStmt) Command {
	out := Fetch{Name: f.Portalname, Count: f.HowMany, Move: f.Ismove}
	switch f.Direction {
	case pg.FetchDirection_FETCH_BACKWARD:
		out.Direction = Backward
	case pg.FetchDirection_FETCH_ABSOLUTE:
		out.Direction = Absolute
	case pg.FetchDirection_FETCH_RELATIVE:
		out.Direction = Relative
	}
	return out
}

func (c *commander) copy(s *pg.CopyStmt) (Command, *diagnostic.Diagnostic) {
	const way = "write COPY (SELECT ...) TO STDOUT"
	switch {
	case s.IsFrom:
		return nil, diagnostic.New("D004", c.at(0).span(), "COPY FROM is not a query").
			Because("nothing an analyst sends may change data").Try(way)
	case s.Query == nil:
		return nil, diagnostic.New("D006", c.at(1).span(), "COPY of a table gives away its rows").
			Because("only answers leave: aggregates with noise").Try(way)
	case s.Query.GetSelectStmt() == nil:
		return nil, diagnostic.New("D004", c.at(2).span(), "COPY takes a query").Try(way)
	case s.Filename != "" || s.IsProgram:
		return nil, diagnostic.New("D006", c.at(0).span(), "COPY writes no files of the server").Try(way)
	}
	return Copy{Query: c.piece(2, c.closing(1)-1), Options: c.options(s.Options)}, nil
}

func (c *commander) explain(e *pg.ExplainStmt) Command {
	i := 1
	for ; c.at(i).kind == pg.Token_ANALYZE || c.at(i).kind == pg.Token_VERBOSE || c.at(i).kind == pg.Token_ANALYSE; i++ {
	}
	if c.at(i).kind == '(' && !c.leadsToQuery(i) {
		i = c.closing(i) + 1
	}
	return Explain{Query: c.piece(i, len(c.list)-1), Options: c.options(e.Options)}
}

func (c *commander) options(list []*pg.Node) (out []Option) {
	for _, n := range list {
		d := n.GetDefElem()
		o := Option{Name: strings.ToLower(d.GetDefname())}
		if l := d.GetLocation(); l >= 0 {
			o.Span = c.at(c.index(int(l))).span()
		}
		values := []*pg.Node{d.GetArg()}
		if l := d.GetArg().GetList(); l != nil {
			values = l.Items
		}
		for _, v := range values {
			if a, ok := c.argument(v); ok {
				o.Values = append(o.Values, a.Text)
			}
		}
		out = append(out, o)
	}
	return out
}

// setConfig recognises SELECT set_config(...), alone and from nothing; nil for any other
// query.
func (c *commander) setConfig(s *pg.SelectStmt) Command {
	if len(s.TargetList) != 1 || len(s.FromClause) > 0 || s.WhereClause != nil || s.Op != pg.SetOperation_SETOP_NONE {
		return nil
	}
	target := s.TargetList[0].GetResTarget()
	f := target.GetVal().GetFuncCall()
	if f == nil || len(f.Args) != 3 {
		return nil
	}
	names := f.Funcname
	if len(names) == 2 && names[0].GetString_().GetSval() == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 || names[0].GetString_().GetSval() != "set_config" {
		return nil
	}
	var a [3]Argument
	for i, n := range f.Args {
		var ok bool
		if a[i], ok = c.argument(n); !ok {
			return nil
		}
	}
	out := SetConfig{Name: a[0], Value: a[1], Local: a[2], Column: target.Name}
	if out.Column == "" {
		out.Column = "set_config"
	}
	return out
}

// argument reads a constant, with or without a cast, or a parameter.
func (c *commander) argument(n *pg.Node) (Argument, bool) {
	at := func(l int32) (a Argument) {
		if l >= 0 {
			a.Span = c.at(c.index(int(l))).span()
		}
		return a
	}
	switch n := n.GetNode().(type) {
	case *pg.Node_TypeCast:
		return c.argument(n.TypeCast.Arg)
	case *pg.Node_ParamRef:
		a := at(n.ParamRef.Location)
		a.Parameter = int(n.ParamRef.Number)
		return a, a.Parameter > 0
	case *pg.Node_String_:
		return Argument{Text: n.String_.Sval}, true
	case *pg.Node_Integer:
		return Argument{Text: strconv.Itoa(int(n.Integer.Ival))}, true
	case *pg.Node_Float:
		return Argument{Text: n.Float.Fval}, true
	case *pg.Node_Boolean:
		return Argument{Text: strconv.FormatBool(n.Boolean.Boolval)}, true
	case *pg.Node_AStar:
		return Argument{Text: "*"}, true
	case *pg.Node_AExpr: // -1
		e := n.AExpr
		if e.Lexpr == nil && len(e.Name) == 1 && (e.Name[0].GetString_().GetSval() == "-" || e.Name[0].GetString_().GetSval() == "+") {
			a, ok := c.argument(e.Rexpr)
			if e.Name[0].GetString_().GetSval() == "-" {
				a.Text = "-" + a.Text
			}
			return a, ok && !a.Null && a.Parameter == 0
		}
	case *pg.Node_AConst:
		a := at(n.AConst.Location)
		switch v := n.AConst.Val.(type) {
		case *pg.A_Const_Ival:
			a.Text = strconv.Itoa(int(v.Ival.Ival))
		case *pg.A_Const_Fval:
			a.Text = v.Fval.Fval
		case *pg.A_Const_Boolval:
			a.Text = strconv.FormatBool(v.Boolval.Boolval)
		case *pg.A_Const_Sval:
			a.Text = v.Sval.Sval
		default:
			a.Null = n.AConst.Isnull
			return a, a.Null
		}
		return a, true
	}
	return Argument{}, false
}

// typeName returns a type's name without its schema.
func typeName(t *pg.TypeName) (string, bool) {
	if t == nil || len(t.Names) == 0 || len(t.ArrayBounds) > 0 {
		return "", false
	}
	return t.Names[len(t.Names)-1].GetString_().GetSval(), true
}
