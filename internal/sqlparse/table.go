package sqlparse

import (
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// table converts an item of FROM whose first token is i.
func (c *converter) table(n *pg.Node, i int) (TableExpr, int) {
	c.place = c.at(i).span()
	defer c.enter(c.place)()
	switch n := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return c.tableName(n.RangeVar)
	case *pg.Node_RangeSubselect:
		return c.subquery(n.RangeSubselect, i)
	case *pg.Node_JoinExpr:
		return c.join(n.JoinExpr, i)
	case *pg.Node_RangeFunction:
		if n.RangeFunction.Lateral {
			c.refuse(c.lateral(i))
		}
		c.refuse(c.clause(c.at(i).span(), "%s is a function, not a table", clip(c.text[c.at(i).start:c.at(i).end])).
			Because("functions that make tables, such as generate_series or read_csv, are not supported").
			Try("declare a public table in the catalog, or write VALUES"))
	case *pg.Node_RangeTableSample:
		at := c.index(int(n.RangeTableSample.Location)) - 1
		c.refuse(c.clause(c.at(at).span(), "TABLESAMPLE is not supported").
			Because("the amplification by sampling would have to be accounted for").Try("leave it out: the cost is the same for all rows, and the answer is better"))
	}
	c.refuse(c.clause(c.at(i).span(), "this kind of table is not supported").Try("FROM takes declared tables, subqueries in parentheses, WITH queries and VALUES"))
	return nil, i
}

func (c *converter) lateral(i int) *diagnostic.Diagnostic {
	return c.clause(c.find(i, pg.Token_LATERAL_P), "LATERAL of a function is not supported").
		Because("functions that make tables, such as generate_series, are not supported").Try("write LATERAL (SELECT ...)")
}

func (c *converter) tableName(v *pg.RangeVar) (TableExpr, int) {
	i := c.index(int(v.Location))
	if v.Catalogname != "" || v.Schemaname != "" && v.Schemaname != Schema {
		end := i + 2
		if v.Catalogname != "" {
			end += 2
		}
		c.refuse(qualified(c.between(i, end)))
	}
	if !v.Inh {
		c.refuse(c.clause(c.at(i-1).span(), "ONLY is not supported").Try("leave it out: tables have no children here"))
	}
	if v.Relpersistence != "p" {
		c.refuse(c.clause(c.at(i).span(), "this kind of table is not supported").Try("FROM takes declared tables, subqueries in parentheses, WITH queries and VALUES"))
	}
	t := &TableName{}
	first := i
	if t.Declared = v.Schemaname != ""; t.Declared {
		i += 2 // past the dot
	}
	t.Name, i = c.ident(v.Relname, i)
	if c.at(i).kind == '*' {
		i++
	}
	t.Alias, t.Columns, i = c.alias(v.Alias, i)
	t.Span = c.between(first, i-1)
	return t, i
}

func (c *converter) alias(a *pg.Alias, i int) (Ident, []Ident, int) {
	if a == nil {
		return Ident{}, nil, i
	}
	if c.at(i).kind == pg.Token_AS {
		i++
	}
	name, i := c.ident(a.Aliasname, i)
	var columns []Ident
	if len(a.Colnames) > 0 {
		columns, i = c.idents(a.Colnames, i)
	}
	return name, columns, i
}

func (c *converter) subquery(r *pg.RangeSubselect, i int) (TableExpr, int) {
	t, first := &Subquery{Lateral: r.Lateral}, i
	if r.Lateral {
		i++ // past the word
	}
	end := c.closing(i)
	t.Query, _ = c.query(c.statementQuery(r.Subquery, i+1), i+1)
	t.Alias, t.Columns, i = c.alias(r.Alias, end+1)
	t.Span = c.between(first, i-1)
	return t, i
}

func (c *converter) join(j *pg.JoinExpr, i int) (TableExpr, int) {
	t, first := &JoinExpr{}, i
	for c.at(i).kind == '(' && !c.opensQuery(i) {
		i++
	}
	t.Left, i = c.table(j.Larg, i)
	i = c.closers(i, first)
	word := i
	for c.at(i).kind != pg.Token_JOIN && c.at(i).kind != 0 {
		i++
	}
	words := c.between(word, i)
	switch {
	case j.IsNatural:
		c.refuse(c.clause(words, "NATURAL JOIN is not supported").
			Because("its meaning depends on which columns are declared").Try("write JOIN ... USING (columns)"))
	case j.Jointype == pg.JoinType_JOIN_INNER && j.Quals == nil && len(j.UsingClause) == 0:
		t.Kind = CrossJoin
	case j.Jointype == pg.JoinType_JOIN_INNER:
	case j.Jointype == pg.JoinType_JOIN_LEFT:
		t.Kind = LeftJoin
	case j.Jointype == pg.JoinType_JOIN_RIGHT:
		t.Kind = RightJoin
	case j.Jointype == pg.JoinType_JOIN_FULL:
		t.Kind = FullJoin
	default:
		c.refuse(c.clause(words, "this kind of join is not supported").Try("write JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN or CROSS JOIN; for SEMI and ANTI joins WHERE [NOT] EXISTS (SELECT ...)"))
	}
	t.Right, i = c.table(j.Rarg, i+1)
	i = c.closers(i, first)
	end := c.at(i - 1).span()
	switch {
	case j.Quals != nil:
		t.On, i = c.exprAt(j.Quals, i+1)
		end = t.On.Place()
	case len(j.UsingClause) > 0:
		t.Using, i = c.idents(j.UsingClause, i+1)
		end = c.at(i - 1).span()
	}
	if a := j.JoinUsingAlias; a != nil {
		c.refuse(c.clause(c.between(i, i+1), "an alias of USING is not supported").Try("qualify the column by its table"))
	}
	i = c.closers(i, first)
	if j.Alias != nil {
		c.refuse(c.clause(c.at(i).span(), "an alias of a join is not supported").Try("give each table its alias"))
	}
	t.Span = c.balance(tableSpan(t.Left).Join(end))
	return t, i
}

func tableSpan(t TableExpr) diagnostic.Span {
	switch t := t.(type) {
	case *TableName:
		return t.Span
	case *Subquery:
		return t.Span
	case *JoinExpr:
		return t.Span
	}
	return diagnostic.Span{}
}

// opensQuery reports whether the parenthesis i encloses a query rather than a
// join: both may stand in front of (SELECT ...).
func (s *source) opensQuery(i int) bool {
	if s.at(i).kind != '(' {
		return false
	}
	if s.at(i + 1).startsQuery() {
		return true
	}
	if !s.opensQuery(i + 1) {
		return false
	}
	after := s.closing(i+1) + 1
	switch s.at(after).kind {
	case pg.Token_UNION, pg.Token_INTERSECT, pg.Token_EXCEPT, pg.Token_ORDER, pg.Token_LIMIT, pg.Token_OFFSET, pg.Token_FETCH, pg.Token_FOR:
		return true
	}
	return after == s.closing(i)
}

func upper(s string) string { return strings.ToUpper(s) }
