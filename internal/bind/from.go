package bind

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A rows is a relation with the names that its columns have: FROM and what
// WHERE makes of it.
type rows struct {
	*context
	node plan.Node

	// outer says that conditions of WHERE may refer to the statement around
	// the subquery; those that do are correlated, and no part of node.
	outer      bool
	correlated []plan.Expr
}

// in returns the context of an expression over the rows.
func (r *rows) in(clause string) *context {
	c := *r.context
	c.clause = clause
	return &c
}

// from binds FROM. Without one there is a single row without columns.
func (b *binder) from(list []sqlparse.TableExpr, env *environment, place diagnostic.Span) *rows {
	r := &rows{context: &context{binder: b, env: env, scope: &scope{}, clause: "WHERE"}}
	for _, t := range list {
		if sub := lateral(t); sub != nil && r.node != nil {
			r.node, r.scope = b.lateral(r.node, r.scope, plan.Inner, sub, env)
			continue
		}
		node, scope := b.tableExpr(t, env)
		if r.node == nil {
			r.node, r.scope = node, scope
			continue
		}
		r.scope = merge(r.scope, scope.shift(width(r.node)), tablePlace(t))
		r.node = cross(r.node, node)
	}
	if r.node == nil {
		r.node = &plan.Values{Rows: [][]plan.Expr{{}}, Span: place}
	}
	r.scope.outer = env.surrounding()
	r.rows = r
	r.attach = func(n plan.Node) plan.Expr {
		ref := &plan.Ref{Index: width(r.node), Name: n.Columns()[0].Name, T: n.Columns()[0].Type, Span: n.Place()}
		r.node = cross(r.node, n)
		return ref
	}
	return r
}

func cross(l, r plan.Node) plan.Node {
	return &plan.Join{Kind: plan.Cross, Left: l, Right: r, Span: l.Place().Join(r.Place())}
}

// merge puts two scopes side by side. The same name twice could mean two
// things and is refused, as in PostgreSQL.
func merge(l, r *scope, at diagnostic.Span) *scope {
	for _, t := range r.tables {
		if l.table(t.name) != nil {
			refuse(diagnostic.New("D026", at, "table name %s is used more than once", t.name).Try("give one an alias: %s AS other", t.name))
		}
	}
	return &scope{tables: append(l.tables[:len(l.tables):len(l.tables)], r.tables...), visible: append(l.visible[:len(l.visible):len(l.visible)], r.visible...)}
}

func tablePlace(t sqlparse.TableExpr) diagnostic.Span {
	switch t := t.(type) {
	case *sqlparse.TableName:
		return t.Span
	case *sqlparse.Subquery:
		return t.Span
	case *sqlparse.JoinExpr:
		return t.Span
	}
	return diagnostic.Span{}
}

func (b *binder) tableExpr(t sqlparse.TableExpr, env *environment) (plan.Node, *scope) {
	b.count(tablePlace(t))
	switch t := t.(type) {
	case *sqlparse.TableName:
		return b.tableName(t, env)
	case *sqlparse.Subquery:
		n := b.query(t.Query, env)
		return n, scopeOf(t.Alias.Name, n, t.Columns, t.Span)
	}
	return b.join(t.(*sqlparse.JoinExpr), env)
}

func (b *binder) tableName(t *sqlparse.TableName, env *environment) (plan.Node, *scope) {
	name := t.Alias.Name
	if name == "" {
		name = t.Name.Name
	}
	if cte, ok := env.find(t.Name.Name); ok && !t.Declared {
		n := b.use(cte, t.Span)
		return n, scopeOf(name, n, t.Columns, t.Span)
	}
	if v, ok := b.catalog.View(t.Name.Name); ok && b.exists(v.Name) {
		n := b.view(v, t.Span)
		return n, scopeOf(name, n, t.Columns, t.Span)
	}
	found, ok := b.catalog.Table(t.Name.Name)
	if !ok || !b.exists(found.Name) {
		known := env.names()
		for _, v := range b.catalog.Views {
			known = append(known, v.Name)
		}
		for _, c := range b.catalog.Tables {
			known = append(known, c.Name)
		}
		known = slices.DeleteFunc(known, func(name string) bool { return !b.exists(name) && !slices.Contains(env.names(), name) })
		refuse(unknownTable(t.Name, known, "the catalog does not declare it"))
	}
	n := &plan.Scan{Table: found, Span: t.Span}
	return n, scopeOf(name, n, t.Columns, t.Span)
}

var joinKinds = map[sqlparse.JoinKind]plan.JoinKind{
	sqlparse.InnerJoin: plan.Inner, sqlparse.LeftJoin: plan.Left, sqlparse.RightJoin: plan.Right,
	sqlparse.FullJoin: plan.Full, sqlparse.CrossJoin: plan.Cross,
}

func (b *binder) join(t *sqlparse.JoinExpr, env *environment) (plan.Node, *scope) {
	left, ls := b.tableExpr(t.Left, env)
	if sub := lateral(t.Right); sub != nil {
		return b.joinLateral(left, ls, t, sub, env)
	}
	right, rs := b.tableExpr(t.Right, env)
	if t.Kind == sqlparse.LeftJoin || t.Kind == sqlparse.FullJoin {
		right, rs = computed(right, rs)
	}
	if t.Kind == sqlparse.RightJoin || t.Kind == sqlparse.FullJoin {
		left, ls = computed(left, ls)
	}
	rs = rs.shift(width(left))
	n := &plan.Join{Kind: joinKinds[t.Kind], Left: left, Right: right, Span: t.Span}
	s := merge(ls, rs, tablePlace(t.Right))
	c := &context{binder: b, env: env, scope: s, clause: "JOIN ... ON"}
	switch {
	case t.On != nil:
		n.On = c.condition(t.On)
	case len(t.Using) > 0:
		var both []column
		n.On, both = c.using(t, ls, rs)
		s.visible = both
	}
	return n, s
}

// computed makes columns of a node of what a scope computes over it that is not NULL where the node's columns are, as LATERAL's counts:
// where an outer join finds no row, it is NULL like all else.
func computed(n plan.Node, s *scope) (plan.Node, *scope) {
	out := &plan.Project{Input: n, Span: n.Place()}
	for i, c := range n.Columns() {
		out.Exprs, out.Names = append(out.Exprs, &plan.Ref{Index: i, Name: c.Name, T: c.Type, Span: n.Place()}), append(out.Names, c.Name)
	}
	known := map[plan.Expr]plan.Expr{}
	columns := func(cols []column) (moved []column) {
		for _, c := range cols {
			if !ofNulls(c.expr) {
				if known[c.expr] == nil {
					known[c.expr] = &plan.Ref{Index: len(out.Exprs), Name: c.name, T: c.expr.Type(), Span: c.expr.Place()}
					out.Exprs, out.Names = append(out.Exprs, c.expr), append(out.Names, c.name)
				}
				c.expr = known[c.expr]
			}
			moved = append(moved, c)
		}
		return moved
	}
	moved := &scope{visible: columns(s.visible)}
	for _, t := range s.tables {
		moved.tables = append(moved.tables, table{t.name, columns(t.columns)})
	}
	if len(known) == 0 {
		return n, s
	}
	return out, moved
}

// ofNulls reports whether an expression is NULL where all columns are: one of them, or of several the first that is known.
func ofNulls(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Ref:
		return true
	case *plan.Cast:
		return ofNulls(e.Arg)
	case *plan.Call:
		return e.Function == plan.Coalesce && !slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return !ofNulls(a) })
	}
	return false
}

// using returns the join's condition, and the visible columns: first those
// merged, then the rest of the left and the right table.
func (c *context) using(t *sqlparse.JoinExpr, ls, rs *scope) (on plan.Expr, visible []column) {
	used := map[string]bool{}
	for _, id := range t.Using {
		name := &sqlparse.Name{Column: id, Span: id.Span}
		l, r := ls.column(name), rs.column(name)
		if used[id.Name] {
			refuse(diagnostic.New("D012", id.Span, "column %s stands twice in USING", id.Name).Try("name it once"))
		}
		used[id.Name] = true
		on = and(on, c.compare(plan.Equal, l, r, id.Span))
		common, ok := common(l.Type(), r.Type())
		if !ok {
			refuse(noOperator(id.Span, "=", l.Type(), r.Type()))
		}
		l, r = cast(l, common), cast(r, common)
		merged := l
		switch t.Kind {
		case sqlparse.RightJoin:
			merged = r
		case sqlparse.FullJoin:
			merged = &plan.Call{Function: plan.Coalesce, Args: []plan.Expr{l, r}, T: common, Span: id.Span}
		}
		visible = append(visible, column{id.Name, merged})
	}
	for _, side := range []*scope{ls, rs} {
		for _, col := range side.visible {
			if !used[col.name] {
				visible = append(visible, col)
			}
		}
	}
	return on, visible
}

// and joins two conditions; nil is no condition.
func and(l, r plan.Expr) plan.Expr {
	if l == nil {
		return r
	}
	return boolean(plan.And, l.Place().Join(r.Place()), l, r)
}

func literalTrue(at diagnostic.Span) plan.Expr {
	return &plan.Literal{Value: true, T: typeOf(sqltype.Boolean), Span: at}
}
