package bind

import (
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// LATERAL (SELECT ...) may refer to the tables before it in conditions of its WHERE. Of plain rows it is a join on these
// conditions; of aggregates a LEFT JOIN with groups, as a correlated subquery is (correlated.go), since it has one row for each.
// What it may do to private rows is decided of the join: that must be on the unit.

// lateral returns a table expression that is LATERAL, or nil.
func lateral(t sqlparse.TableExpr) *sqlparse.Subquery {
	if s, ok := t.(*sqlparse.Subquery); ok && s.Lateral {
		return s
	}
	return nil
}

// lateral joins the rows before with a LATERAL subquery.
func (b *binder) lateral(left plan.Node, ls *scope, kind plan.JoinKind, t *sqlparse.Subquery, env *environment) (plan.Node, *scope) {
	b.count(t.Span)
	sel := simple(t.Query)
	if sel == nil {
		refuse(diagnostic.New("D022", t.Span, "a LATERAL subquery is SELECT ... FROM ... WHERE ... alone").
			Because("it becomes a join on its conditions").
			Try("put what is grouped, sorted or limited into a subquery in its FROM, or number rows within the unit: row_number() OVER (PARTITION BY ...)"))
	}
	in := b.from(sel.From, env, sel.Span)
	in.scope.outer, in.outer = ls, true
	if sel.Where != nil {
		in.where(sel.Where)
	}
	s := b.selectOf(sel, env, in)
	width := width(left)
	if len(s.aggregates.list) > 0 {
		outer := &rows{context: in.context, node: left}
		values := outer.correlatedValues(s, in, t.Span)
		return outer.node, besides(ls, valuesScope(t, s.names, values), t)
	}
	right := &plan.Project{Input: in.node, Span: t.Span}
	var values []plan.Expr
	for i, e := range s.items {
		e = known(e)
		plan.Walk(e, func(e plan.Expr) bool {
			switch e.(type) {
			case *scalarRef, *windowRef, *groupingRef:
				refuse(diagnostic.New("D022", t.Span, "a LATERAL subquery has values of its rows, or aggregates, alone").
					Try("compute windows and subqueries in a subquery in its FROM"))
			}
			return true
		})
		right.Exprs, right.Names = append(right.Exprs, e), append(right.Names, s.names[i])
		values = append(values, &plan.Ref{Index: width + i, Name: s.names[i], T: e.Type(), Span: t.Span})
	}
	for i, c := range in.node.Columns() { // which the conditions look at
		right.Exprs, right.Names = append(right.Exprs, &plan.Ref{Index: i, Name: c.Name, T: c.Type, Span: t.Span}), append(right.Names, c.Name)
	}
	j := &plan.Join{Kind: kind, Left: left, Right: right, Span: t.Span}
	for _, c := range in.correlated {
		j.On = and(j.On, replaceExprs(c, func(e plan.Expr) plan.Expr {
			switch e := e.(type) {
			case *outerRef:
				return e.Ref
			case *plan.Ref:
				return shift(e, width+len(s.items))
			}
			return nil
		}))
	}
	if j.On == nil {
		j.On = literalTrue(t.Span)
	}
	return j, besides(ls, valuesScope(t, s.names, values), t)
}

// joinLateral binds JOIN LATERAL (SELECT ...) ON condition.
func (b *binder) joinLateral(left plan.Node, ls *scope, t *sqlparse.JoinExpr, sub *sqlparse.Subquery, env *environment) (plan.Node, *scope) {
	kind := joinKinds[t.Kind]
	if kind == plan.Cross {
		kind = plan.Inner
	}
	if kind != plan.Inner && kind != plan.Left || len(t.Using) > 0 {
		refuse(diagnostic.New("D022", t.Span, "LATERAL stands behind a comma, CROSS JOIN, JOIN ... ON or LEFT JOIN ... ON").
			Because("its rows are those of the table before it").Try("write LEFT JOIN LATERAL (SELECT ...) AS t ON true"))
	}
	n, s := b.lateral(left, ls, kind, sub, env)
	if on, ok := t.On.(*sqlparse.Bool); t.On == nil || ok && on.Value {
		return n, s
	}
	c := &context{binder: b, env: env, scope: s, clause: "JOIN ... ON"}
	condition := c.condition(t.On)
	j := n.(*plan.Join)
	if _, grouped := j.Right.(*plan.Aggregate); grouped {
		if kind == plan.Left {
			refuse(diagnostic.New("D022", t.On.Place(), "a condition on LEFT JOIN LATERAL of aggregates").
				Because("they have one row for each before them").Try("write ON true, and the condition into CASE WHEN, or into WHERE"))
		}
		return &plan.Filter{Input: j, Condition: condition, Span: t.Span}, s
	}
	j.On = and(j.On, condition)
	return j, s
}

// valuesScope names the values of a LATERAL subquery.
func valuesScope(t *sqlparse.Subquery, names []string, values []plan.Expr) *scope {
	if len(t.Columns) > len(values) {
		refuse(diagnostic.New("D016", t.Columns[len(values)].Span, "table %s has %s, but %d names are given", t.Alias.Name, diagnostic.Count(len(values), "column"), len(t.Columns)).Try("give as many names as there are columns, or fewer"))
	}
	of := table{name: t.Alias.Name}
	for i, e := range values {
		name := names[i]
		if i < len(t.Columns) {
			name = t.Columns[i].Name
		}
		of.columns = append(of.columns, column{name, e})
	}
	return &scope{tables: []table{of}, visible: of.columns}
}

// besides puts the scope of a LATERAL subquery, which speaks of the joined rows, beside the one before it.
func besides(ls, rs *scope, t *sqlparse.Subquery) *scope { return merge(ls, rs, t.Span) }
