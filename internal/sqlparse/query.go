package sqlparse

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Conversion of queries. The parser keeps no places for most of their clauses,
// so these methods walk the tokens along with the tree: each takes the index
// of its first token and returns the one after its last.

// query converts a query with its WITH, ORDER BY and LIMIT.
func (c *converter) query(s *pg.SelectStmt, i int) (*Query, int) {
	q, first := &Query{}, i
	c.place = c.at(i).span()
	c.refuseClauses(s, i)
	if w := s.WithClause; w != nil {
		q.Span = c.start(w.Location)
		q.With, i = c.with(w)
	}
	q.Body, i = c.body(s, i)
	q.Span = q.Span.Join(bodySpan(q.Body))
	for i = c.closers(i, first); ; i = c.closers(i, first) {
		switch c.at(i).kind {
		case pg.Token_ORDER:
			q.OrderBy, i = c.orderBy(s.SortClause, i+2)
		case pg.Token_LIMIT:
			q.Limit, i = c.limit(s.LimitCount, i+1)
		case pg.Token_OFFSET:
			q.Offset, i = c.limit(s.LimitOffset, i+1)
		case pg.Token_FETCH: // FETCH FIRST [n] ROWS ONLY
			q.Limit, i = c.limit(s.LimitCount, i+2)
		case pg.Token_ROW, pg.Token_ROWS, pg.Token_ONLY:
			i++
		default:
			if len(q.OrderBy) != len(s.SortClause) || lacks(q.Limit, s.LimitCount) || lacks(q.Offset, s.LimitOffset) {
				c.refuse(c.clause(c.at(i).span(), "ORDER BY or LIMIT is not supported at this place").Try("put it at the end of the query"))
			}
			q.Span = c.balance(q.Span)
			return q, i
		}
		q.Span.End = c.at(i - 1).end
	}
}

// lacks reports whether the tree has a limit that was not found in the text.
func lacks(e Expr, n *pg.Node) bool { return (e == nil) != (n == nil || n.GetAConst().GetIsnull()) }

// limit converts the count of a LIMIT or OFFSET; LIMIT ALL and LIMIT NULL are
// none at all, FETCH FIRST ROW is one.
func (c *converter) limit(n *pg.Node, i int) (Expr, int) {
	switch k := n.GetAConst(); {
	case k.GetIsnull():
		return nil, i + 1
	case k != nil && k.Location < 0:
		return &Number{Text: "1", Span: c.place}, i
	}
	return c.exprAt(n, i)
}

// refuseClauses names the clauses that have no counterpart in our tree.
func (c *converter) refuseClauses(s *pg.SelectStmt, i int) {
	switch {
	case len(s.LockingClause) > 0:
		at := c.find(i, pg.Token_FOR)
		for _, after := range []pg.Token{pg.Token_UPDATE, pg.Token_NO, pg.Token_SHARE, pg.Token_KEY} {
			if p := c.find(i, pg.Token_FOR, after); p.Start > c.at(i).start {
				at = p
			}
		}
		c.refuse(c.clause(at, "rows cannot be locked").Because("the analyst's statement only reads").Try("leave it out"))
	case s.IntoClause != nil:
		c.refuse(c.clause(c.start(s.IntoClause.Rel.GetLocation()), "SELECT INTO is not supported").
			Because("it would create a table; only answers leave the system").Try("leave INTO out, and write the answer to a file: discreet query --format csv ... > answer.csv").By(diagnostic.StoreAnswer))
	case s.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES:
		c.refuse(c.clause(c.find(i, pg.Token_WITH, pg.Token_TIES), "WITH TIES is not supported").Try("write ONLY, or LIMIT"))
	case s.GroupDistinct:
		c.refuse(c.clause(c.find(i, pg.Token_GROUP_P, pg.Token_BY, pg.Token_DISTINCT), "GROUP BY DISTINCT is not supported").Try("leave DISTINCT out: equal groups are one group"))
	}
}

func (c *converter) with(w *pg.WithClause) ([]CTE, int) {
	i := c.index(int(w.Location)) + 1
	if w.Recursive {
		c.refuse(c.clause(c.at(i).span(), "WITH RECURSIVE is not supported").
			Because("how often a person's rows are used must be known before the query runs").
			Try("write out the steps that are needed, or WITH without RECURSIVE"))
	}
	var list []CTE
	for _, n := range w.Ctes {
		t := n.GetCommonTableExpr()
		if t == nil {
			c.refuse(c.clause(c.at(i).span(), "this kind of WITH is not supported").Try("write WITH name AS (SELECT ...)"))
		}
		i = c.index(int(t.Location))
		var cte CTE
		cte.Name, i = c.ident(t.Ctename, i)
		if c.at(i).kind == '(' {
			cte.Columns, i = c.idents(t.Aliascolnames, i)
		}
		if t.Ctematerialized != pg.CTEMaterialize_CTEMaterializeDefault {
			c.refuse(c.clause(c.find(i, pg.Token_MATERIALIZED), "MATERIALIZED is not supported").Try("leave it out"))
		}
		i++ // AS
		end := c.closing(i)
		cte.Query, _ = c.query(c.statementQuery(t.Ctequery, i+1), i+1)
		if t.SearchClause != nil || t.CycleClause != nil {
			c.refuse(c.clause(c.at(end+1).span(), "SEARCH and CYCLE are not supported").Because("they belong to recursion").Try("leave them out"))
		}
		i = end + 1
		list = append(list, cte)
	}
	return list, i
}

// operand converts one side of a UNION, which may have clauses of its own.
func (c *converter) operand(s *pg.SelectStmt, i int) (Body, int) {
	if s.WithClause != nil || len(s.SortClause) > 0 || s.LimitCount != nil || s.LimitOffset != nil {
		return c.query(s, i)
	}
	c.refuseClauses(s, i)
	return c.body(s, i)
}

func (c *converter) body(s *pg.SelectStmt, i int) (Body, int) {
	defer c.enter(c.at(i).span())()
	if s.Op != pg.SetOperation_SETOP_NONE {
		return c.setOperation(s, i)
	}
	first := i
	for c.at(i).kind == '(' {
		i++
	}
	c.place = c.at(i).span()
	var b Body
	switch {
	case len(s.ValuesLists) > 0:
		b, i = c.values(s, i)
	case c.at(i).kind == pg.Token_SELECT:
		b, i = c.selectBody(s, i)
	default:
		c.refuse(notAQuery(c.at(i).span(), "table"))
	}
	return b, c.closers(i, first)
}

func (c *converter) setOperation(s *pg.SelectStmt, i int) (Body, int) {
	o, first := &SetOperation{Op: "UNION", All: s.All}, i
	o.Left, i = c.operand(s.Larg, i)
	i = c.closers(i, first)
	if s.Op != pg.SetOperation_SETOP_UNION {
		if o.Op = upper(c.word(i)); s.All || o.Op != "INTERSECT" && o.Op != "EXCEPT" {
			c.refuse(c.clause(c.at(i).span(), "%s ALL is not supported", o.Op).
				Because("it counts how often a row stands on both sides").
				Try("leave ALL out"))
		}
	}
	i++
	if c.at(i).kind == pg.Token_ALL || c.at(i).kind == pg.Token_DISTINCT {
		i++
	}
	o.Right, i = c.operand(s.Rarg, i)
	o.Span = c.balance(bodySpan(o.Left).Join(bodySpan(o.Right)))
	return o, c.closers(i, first)
}

func bodySpan(b Body) diagnostic.Span {
	switch b := b.(type) {
	case *Select:
		return b.Span
	case *SetOperation:
		return b.Span
	case *ValuesList:
		return b.Span
	case *Query:
		return b.Span
	}
	return diagnostic.Span{}
}

func (c *converter) values(s *pg.SelectStmt, i int) (Body, int) {
	v := &ValuesList{Span: c.at(i).span()}
	for _, row := range s.ValuesLists {
		i++ // VALUES or the comma
		list, _ := c.exprs(row.GetList().GetItems(), i+1)
		v.Rows = append(v.Rows, list)
		i = c.closing(i)
		v.Span = v.Span.Join(c.at(i).span())
		i++
	}
	return v, i
}

func (c *converter) selectBody(s *pg.SelectStmt, i int) (Body, int) {
	b := &Select{Distinct: len(s.DistinctClause) > 0, Span: c.at(i).span()}
	if c.priced != nil && c.pricedAt == c.at(i).start {
		b.Privacy = c.priced
	}
	i++
	if c.at(i).kind == pg.Token_ALL || c.at(i).kind == pg.Token_DISTINCT {
		i++
	}
	if len(s.DistinctClause) > 0 && s.DistinctClause[0].GetNode() != nil { // DISTINCT ON (...)
		b.On, _ = c.exprs(s.DistinctClause, i+2)
		i = c.closing(i+1) + 1
	}
	if len(s.TargetList) == 0 {
		c.refuse(c.clause(b.Span, "the select list is empty").Try("name what is asked for, as in SELECT count(*)"))
	}
	for k, n := range s.TargetList {
		if k > 0 {
			i++ // the comma
		}
		var item Item
		item, i = c.item(n, i)
		b.Items = append(b.Items, item)
	}
	if len(s.FromClause) > 0 {
		for _, n := range s.FromClause {
			var t TableExpr
			t, i = c.table(n, i+1) // past FROM or the comma
			b.From = append(b.From, t)
		}
	}
	if s.WhereClause != nil {
		b.Where, i = c.exprAt(s.WhereClause, i+1)
	}
	if len(s.GroupClause) > 0 {
		if c.isGroupByAll(i) {
			c.refuse(c.clause(c.between(i, i+2), "GROUP BY ALL is not supported").Try("leave ALL out and list the grouping keys"))
		}
		i = c.groupBy(b, s.GroupClause, i+2)
	}
	if s.HavingClause != nil {
		b.Having, i = c.exprAt(s.HavingClause, i+1)
	}
	if len(s.WindowClause) > 0 {
		b.Windows, i = c.windows(s.WindowClause, i)
	}
	b.Span.End = c.at(i - 1).end
	return b, i
}

func (c *converter) item(n *pg.Node, i int) (Item, int) {
	t := n.GetResTarget()
	if t == nil {
		c.refuse(c.clause(c.at(i).span(), "this item is not supported").Try("write a column or an expression, with AS and a name"))
	}
	c.place = c.at(i).span()
	if f := t.Val.GetColumnRef().GetFields(); len(f) > 0 && f[len(f)-1].GetAStar() != nil {
		item, first := Item{Star: true}, i
		if len(f) == 3 && f[0].GetString_().GetSval() == Schema {
			f, i = f[1:], i+2
		}
		if len(f) > 2 {
			c.refuse(qualified(c.between(i, i+2*len(f)-2)))
		}
		if len(f) == 2 {
			item.Qualifier, i = c.ident(f[0].GetString_().GetSval(), i)
			i++ // the dot
		}
		if t.Name != "" {
			c.refuse(c.clause(c.at(i).span(), "* cannot have an alias").Try("leave the alias out, or name the columns"))
		}
		item.Span = c.between(first, i)
		return item, i + 1
	}
	var item Item
	first := i
	item.Expr, i = c.exprAt(t.Val, i)
	if t.Name != "" {
		if c.at(i).kind == pg.Token_AS {
			i++
		}
		item.Alias, i = c.ident(t.Name, i)
	}
	item.Span = c.between(first, i-1)
	return item, i
}

func (c *converter) orderBy(list []*pg.Node, i int) ([]OrderItem, int) {
	var out []OrderItem
	for k, n := range list {
		if k > 0 {
			i++ // the comma
		}
		s := n.GetSortBy()
		if s == nil {
			c.refuse(c.clause(c.at(i).span(), "this ORDER BY is not supported").Try("write ORDER BY column, with ASC or DESC"))
		}
		var o OrderItem
		o.Expr, i = c.exprAt(s.Node, i)
		switch s.SortbyDir {
		case pg.SortByDir_SORTBY_DEFAULT:
		case pg.SortByDir_SORTBY_ASC:
			i++
		case pg.SortByDir_SORTBY_DESC:
			o.Descending = true
			i++
		default:
			c.refuse(c.clause(c.at(i).span(), "ORDER BY ... USING is not supported").Try("write ASC or DESC"))
		}
		switch s.SortbyNulls {
		case pg.SortByNulls_SORTBY_NULLS_DEFAULT:
			o.NullsFirst = o.Descending
		case pg.SortByNulls_SORTBY_NULLS_FIRST, pg.SortByNulls_SORTBY_NULLS_LAST:
			o.NullsFirst = s.SortbyNulls == pg.SortByNulls_SORTBY_NULLS_FIRST
			i += 2
		default:
			c.refuse(c.clause(c.at(i).span(), "this order of NULLs is not supported").Try("write NULLS FIRST or NULLS LAST"))
		}
		out = append(out, o)
	}
	return out, i
}

func qualified(at diagnostic.Span) *diagnostic.Diagnostic {
	return diagnostic.New("D009", at, "names with a schema are not supported").
		Because("the catalog's tables are in public, and there is no other schema").Try("write table or table.column")
}
