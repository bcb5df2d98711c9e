package bind

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A column is a name and what it stands for, over the columns of the relation
// that the scope describes.
type column struct {
	name string
	expr plan.Expr
}

// A table is a name in FROM with its columns.
type table struct {
	name    string
	columns []column
}

// A scope says what names mean over a relation.
type scope struct {
	tables  []table
	visible []column // in the order of *: columns merged by USING come once

	// outer is the scope around a subquery, with its relation's columns.
	outer *scope
	// correlated says that names may refer to outer: in the WHERE of EXISTS
	// and IN subqueries.
	correlated bool

	// names says what a name means where there is no relation; see Row.
	names func(*sqlparse.Name) plan.Expr
}

// scopeOf describes a relation under a table name, its first columns renamed.
func scopeOf(name string, n plan.Node, renames []sqlparse.Ident, at diagnostic.Span) *scope {
	cols := n.Columns()
	if len(renames) > len(cols) {
		refuse(diagnostic.New("D016", renames[len(cols)].Span, "table %s has %s, but %d names are given", name, diagnostic.Count(len(cols), "column"), len(renames)).Try("give as many names as there are columns, or fewer"))
	}
	t := table{name: name}
	for i, c := range cols {
		if i < len(renames) {
			c.Name = renames[i].Name
		}
		t.columns = append(t.columns, column{c.Name, &plan.Ref{Index: i, Name: c.Name, T: c.Type, Span: at}})
	}
	return &scope{tables: []table{t}, visible: t.columns}
}

// shift moves every column of the scope n places to the right, for the right
// side of a join.
func (s *scope) shift(n int) *scope {
	move := func(cols []column) []column {
		out := make([]column, len(cols))
		for i, c := range cols {
			out[i] = column{c.name, shift(c.expr, n)}
		}
		return out
	}
	out := &scope{visible: move(s.visible)}
	for _, t := range s.tables {
		out.tables = append(out.tables, table{t.name, move(t.columns)})
	}
	return out
}

func shift(e plan.Expr, n int) plan.Expr {
	return plan.Map(e, func(r *plan.Ref) plan.Expr {
		c := *r
		c.Index += n
		return &c
	})
}

// An outerRef is a column of the statement around a subquery. It never leaves
// this package: see subquery.go.
type outerRef struct{ *plan.Ref }

// lookup finds the columns that a name can mean in this scope alone.
func (s *scope) lookup(n *sqlparse.Name) []plan.Expr {
	var found []plan.Expr
	pick := func(cols []column) {
		for _, c := range cols {
			if c.name == n.Column.Name {
				found = append(found, c.expr)
			}
		}
	}
	if n.Qualifier.Name == "" {
		pick(s.visible)
		return found
	}
	for _, t := range s.tables {
		if t.name == n.Qualifier.Name {
			pick(t.columns)
		}
	}
	return found
}

// column resolves a name.
func (s *scope) column(n *sqlparse.Name) plan.Expr {
	if s.names != nil {
		return at(s.names(n), n.Span)
	}
	found := s.lookup(n)
	switch {
	case len(found) == 1:
		return at(found[0], n.Span)
	case len(found) > 1:
		refuse(diagnostic.New("D012", n.Span, "column %s is ambiguous", n.Column.Name).
			Try("name its table: %s.%s", s.owners(n.Column.Name)[0], n.Column.Name))
	}
	if s.outer != nil {
		if found := s.outer.lookup(n); len(found) == 1 {
			if r, ok := found[0].(*plan.Ref); ok && s.correlated {
				return &outerRef{at(r, n.Span).(*plan.Ref)}
			}
			refuse(diagnostic.New("D022", n.Span, "column %s belongs to the statement around the subquery", n.Column.Name).
				Because("only the WHERE of a subquery of EXISTS or IN, or of one aggregate, may refer to the statement around it").
				Try("join the two tables instead"))
		}
	}
	refuse(s.unknown(n))
	return nil
}

func (s *scope) unknown(n *sqlparse.Name) *diagnostic.Diagnostic {
	if q := n.Qualifier.Name; q != "" {
		t := s.table(q)
		if t == nil {
			return unknownTable(n.Qualifier, s.tableNames(), "no table in FROM has this name")
		}
		return diagnostic.New("D011", n.Column.Span, "unknown column %s.%s", q, n.Column.Name).
			Try("%s", meant(n.Column, names(t.columns), "its columns are"))
	}
	d := diagnostic.New("D011", n.Span, "unknown column %s", n.Column.Name)
	switch {
	case s.table(n.Column.Name) != nil:
		return d.Try("%s is a table: name one of its columns", n.Column.Name)
	case len(s.tables) == 0:
		return d.Because("the statement has no FROM").Try("name a table in FROM; for text use single quotes: '%s'", n.Column.Name)
	}
	return d.Try("%s", meant(n.Column, names(s.visible), "the columns here are"))
}

// unknownTable refuses a table's name.
func unknownTable(name sqlparse.Ident, known []string, why string) *diagnostic.Diagnostic {
	name.Quoted = name.Quoted && slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name.Name) })
	return diagnostic.New("D010", name.Span, "unknown table %s", name.Name).Because("%s", why).Try("%s", meant(name, known, "there are"))
}

// meant says which of the known names was meant by one that is unknown: what
// differs in capitals alone, a text in the wrong quotes, a misspelling. Else
// it lists what there is.
func meant(name sqlparse.Ident, known []string, listed string) string {
	for _, k := range known {
		switch {
		case !strings.EqualFold(k, name.Name):
		case name.Quoted:
			return fmt.Sprintf("in double quotes capitals count: write %s", quoted(k))
		default:
			return fmt.Sprintf("without double quotes a name is read in lower case: write %s", quoted(k))
		}
	}
	near := nearest(name.Name, slices.Clone(known))
	switch {
	case name.Quoted && near != "":
		return fmt.Sprintf("%s A text stands in single quotes: '%s'", near, strings.ReplaceAll(name.Name, "'", "''"))
	case name.Quoted:
		return fmt.Sprintf("double quotes are for names, a text stands in single quotes: '%s'", strings.ReplaceAll(name.Name, "'", "''"))
	case near != "":
		return near
	case len(known) == 0:
		return "the catalog declares none"
	}
	const most = 12
	list := slices.Clone(known[:min(most, len(known))])
	for i, k := range list {
		list[i] = quoted(k)
	}
	if len(known) > most {
		list = append(list, "...")
	}
	return listed + " " + strings.Join(list, ", ")
}

var plainName = regexp.MustCompile("^[a-z_][a-z0-9_]*$")

// quoted returns a name as a statement writes it.
func quoted(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func (s *scope) table(name string) *table {
	for i := range s.tables {
		if s.tables[i].name == name {
			return &s.tables[i]
		}
	}
	return nil
}

func (s *scope) tableNames() []string {
	var out []string
	for _, t := range s.tables {
		out = append(out, t.name)
	}
	return out
}

// owners lists the tables that have the column.
func (s *scope) owners(column string) []string {
	var out []string
	for _, t := range s.tables {
		for _, c := range t.columns {
			if c.name == column {
				out = append(out, t.name)
			}
		}
	}
	return append(out, "table")
}

func names(cols []column) []string {
	var out []string
	for _, c := range cols {
		out = append(out, c.name)
	}
	return out
}

// at returns the expression with the place where it is used.
func at(e plan.Expr, place diagnostic.Span) plan.Expr {
	switch e := e.(type) {
	case *plan.Ref:
		c := *e
		c.Span = place
		return &c
	case *plan.Call:
		c := *e
		c.Span = place
		return &c
	case *plan.Case:
		c := *e
		c.Span = place
		return &c
	case *plan.Cast:
		c := *e
		c.Span = place
		return &c
	case *plan.Literal:
		c := *e
		c.Span = place
		return &c
	}
	return e
}

// star lists the columns of * or qualifier.*.
func (s *scope) star(item sqlparse.Item) []column {
	if item.Qualifier.Name == "" {
		if len(s.visible) == 0 {
			refuse(diagnostic.New("D011", item.Span, "* needs a table in FROM").Try("add FROM and a table"))
		}
		return s.visible
	}
	t := s.table(item.Qualifier.Name)
	if t == nil {
		refuse(unknownTable(item.Qualifier, s.tableNames(), "no table in FROM has this name"))
	}
	return t.columns
}

// refsTo lists references to all columns of a node.
func refsTo(n plan.Node) []plan.Expr {
	var out []plan.Expr
	for i, c := range n.Columns() {
		out = append(out, &plan.Ref{Index: i, Name: c.Name, T: c.Type, Span: n.Place()})
	}
	return out
}

func width(n plan.Node) int { return len(n.Columns()) }

func columnTypes(n plan.Node) []sqltype.Type {
	var out []sqltype.Type
	for _, c := range n.Columns() {
		out = append(out, c.Type)
	}
	return out
}
