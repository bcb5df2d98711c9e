package bind

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// An environment holds the WITH queries in scope, and the columns of the
// statement around a subquery, for messages alone.
type environment struct {
	parent  *environment
	name    string
	query   *sqlparse.Query
	env     *environment // of the WITH query itself
	columns []sqlparse.Ident
	bound   plan.Node // the WITH query, until its first use takes it

	outer *scope
}

func (e *environment) find(name string) (*environment, bool) {
	for ; e != nil; e = e.parent {
		if e.query != nil && e.name == name {
			return e, true
		}
	}
	return nil, false
}

func (e *environment) names() []string {
	var out []string
	for ; e != nil; e = e.parent {
		if e.query != nil {
			out = append(out, e.name)
		}
	}
	return out
}

// around notes the columns of the statement around a subquery.
func (e *environment) around(s *scope) *environment { return &environment{parent: e, outer: s} }

// surrounding returns the scope noted by around.
func (e *environment) surrounding() *scope {
	for ; e != nil; e = e.parent {
		if e.outer != nil {
			return e.outer
		}
	}
	return nil
}

// query binds a statement or subquery.
func (b *binder) query(q *sqlparse.Query, env *environment) plan.Node {
	b.count(q.Span)
	own := map[string]bool{}
	for _, cte := range q.With {
		if own[cte.Name.Name] {
			refuse(diagnostic.New("D026", cte.Name.Span, "WITH query %s is defined twice", cte.Name.Name).Try("give one of them another name"))
		}
		own[cte.Name.Name] = true
		bound := b.named(cte.Query, env, cte.Columns, cte.Name.Span) // for its errors, even if it is never used
		env = &environment{parent: env, name: cte.Name.Name, query: cte.Query, env: env, columns: cte.Columns, bound: bound}
	}
	var n plan.Node
	if sel, ok := q.Body.(*sqlparse.Select); ok {
		n = b.orderedSelect(sel, q.OrderBy, env)
	} else {
		n = b.body(q.Body, env)
		n = b.orderOutput(n, q.OrderBy)
	}
	return b.limit(n, q)
}

// named binds a WITH query and names its columns.
func (b *binder) named(q *sqlparse.Query, env *environment, renames []sqlparse.Ident, at diagnostic.Span) plan.Node {
	n := b.query(q, env)
	if len(renames) == 0 {
		return n
	}
	p := &plan.Project{Input: n, Span: n.Place()}
	for _, c := range scopeOf("", n, renames, at).visible {
		p.Names, p.Exprs = append(p.Names, c.name), append(p.Exprs, c.expr)
	}
	return p
}

// use returns the plan of a WITH query for one of its uses: the first takes the
// one bound already, so that a chain of WITH queries is bound once, and every
// other has a copy of its own.
func (b *binder) use(cte *environment, at diagnostic.Span) plan.Node {
	if n := cte.bound; n != nil {
		cte.bound = nil
		return n
	}
	return b.named(cte.query, cte.env, cte.columns, at)
}

func (b *binder) body(body sqlparse.Body, env *environment) plan.Node {
	switch body := body.(type) {
	case *sqlparse.Select:
		return b.orderedSelect(body, nil, env)
	case *sqlparse.Query:
		return b.query(body, env)
	case *sqlparse.ValuesList:
		return b.values(body, env)
	}
	return b.union(body.(*sqlparse.SetOperation), env)
}

// orderedSelect binds SELECT ... ORDER BY. A key that is not in the select
// list becomes a hidden column, projected away after sorting.
func (b *binder) orderedSelect(sel *sqlparse.Select, order []sqlparse.OrderItem, env *environment) plan.Node {
	s := b.selection(sel, env)
	s.clause = "ORDER BY"
	for i, e := range s.items {
		s.items[i] = known(e)
	}
	outputs, outputNames := slices.Clone(s.items), slices.Clone(s.names)
	var keys []plan.SortKey
	var on []int
	for _, e := range sel.On {
		i := s.orderColumn(e, &outputs)
		if i >= len(outputNames) {
			outputNames = append(outputNames, "on")
		}
		checkOrdered(outputs[i].Type(), e.Place(), "DISTINCT ON")
		on = append(on, i)
	}
	for _, o := range order {
		i := s.orderColumn(o.Expr, &outputs)
		if i >= len(outputNames) {
			outputNames = append(outputNames, "order")
		}
		checkOrdered(outputs[i].Type(), o.Expr.Place(), "ORDER BY")
		if i >= len(s.items) && sel.Distinct && on == nil {
			refuse(diagnostic.New("D029", o.Expr.Place(), "with SELECT DISTINCT, ORDER BY must be in the select list").
				Try("select it too, or put the query into FROM and sort around it").
				Because("a distinct row stands for many rows, and so for many values of the key"))
		}
		keys = append(keys, plan.SortKey{Expr: &plan.Ref{Index: i, Name: outputNames[i], T: outputs[i].Type(), Span: o.Expr.Place()},
			Descending: o.Descending, NullsFirst: o.NullsFirst})
	}
	project := s.assemble(outputs, outputNames)
	var n plan.Node = project
	switch {
	case on != nil:
		n = firstOfEach(n, sel, on, keys)
		b.count(sel.Span)
	case sel.Distinct:
		n = b.distinct(n, sel.Span)
	}
	if len(keys) > 0 {
		n = &plan.Sort{Input: n, Keys: keys, Span: keys[0].Expr.Place()}
	}
	if hidden := len(outputs) - len(s.items); hidden > 0 {
		n = &plan.Project{Input: n, Exprs: refsTo(n)[:len(s.items)], Names: s.names, Span: sel.Span}
	}
	return n
}

// orderColumn returns the output column of an ORDER BY key: an ordinal, an
// output name, or an expression over the rows, in PostgreSQL's order of
// preference. It appends what is not in the select list.
func (s *selection) orderColumn(e sqlparse.Expr, outputs *[]plan.Expr) int {
	switch e := e.(type) {
	case *sqlparse.Number:
		return ordinal(e, len(s.items), "ORDER BY")
	case *sqlparse.Name:
		if i := s.output(e, "ORDER BY"); i >= 0 {
			return i
		}
	case *sqlparse.String, *sqlparse.Parameter, *sqlparse.NullConst, *sqlparse.Bool:
		refuse(diagnostic.New("D021", e.Place(), "a constant cannot be a key of ORDER BY").
			Try("name a column, or give its number in the select list"))
	}
	key := s.value(e)
	if i := slices.IndexFunc(*outputs, func(o plan.Expr) bool { return equal(o, key) }); i >= 0 {
		return i
	}
	*outputs = append(*outputs, key)
	return len(*outputs) - 1
}

// firstOfEach is DISTINCT ON: of the rows that agree in some columns it keeps the first by ORDER BY, whose row_number() is 1. So it
// may stand over released rows, and over private ones within a unit.
func firstOfEach(n plan.Node, sel *sqlparse.Select, on []int, keys []plan.SortKey) plan.Node {
	left := map[int]bool{}
	for _, i := range on {
		left[i] = true
	}
	for _, k := range keys {
		if i := k.Expr.(*plan.Ref).Index; len(left) > 0 && !slices.Contains(on, i) {
			refuse(diagnostic.New("D029", k.Expr.Place(), "ORDER BY does not begin with the expressions of DISTINCT ON").
				Because("the first row of those that agree is kept, so that they are sorted first").Try("write ORDER BY with them first, and then what orders the rows of each"))
		} else {
			delete(left, i)
		}
	}
	at := sel.On[0].Place()
	if !slices.ContainsFunc(keys, func(k plan.SortKey) bool { return !slices.Contains(on, k.Expr.(*plan.Ref).Index) }) {
		refuse(diagnostic.New("D029", at, "ORDER BY does not say which row DISTINCT ON keeps").
			Because("it could be any of those that agree").Try("write ORDER BY with the expressions of DISTINCT ON first, and then what orders the rows of each; or SELECT DISTINCT"))
	}
	of := refsTo(n)
	f := plan.WindowFunction{Function: plan.RowNumber, Order: keys, Name: "DISTINCT ON", Type: typeOf(sqltype.Bigint), Span: at}
	for _, i := range on {
		f.Partition = append(f.Partition, of[i])
	}
	w := &plan.Window{Input: n, Functions: []plan.WindowFunction{f}, Span: at}
	place := &plan.Ref{Index: len(of), Name: f.Name, T: f.Type, Span: at}
	first := &plan.Filter{Input: w, Condition: boolean(plan.Equal, at, place, &plan.Literal{Value: int64(1), T: f.Type, Span: at}), Span: at}
	out := &plan.Project{Input: first, Exprs: of, Span: sel.Span}
	for _, c := range n.Columns() {
		out.Names = append(out.Names, c.Name)
	}
	return out
}

// distinct keeps one of equal rows.
func (b *binder) distinct(n plan.Node, at diagnostic.Span) plan.Node {
	a := &plan.Aggregate{Input: n, Keys: refsTo(n), Span: at}
	for _, c := range n.Columns() {
		checkOrdered(c.Type, at, "DISTINCT or UNION")
		a.Names = append(a.Names, c.Name)
	}
	return eachKeyOnce(a)
}

// orderOutput sorts a UNION or VALUES, whose keys can only be output columns.
func (b *binder) orderOutput(n plan.Node, order []sqlparse.OrderItem) plan.Node {
	if len(order) == 0 {
		return n
	}
	sort := &plan.Sort{Input: n, Span: order[0].Expr.Place()}
	s := scopeOf("", n, nil, n.Place())
	for _, o := range order {
		var key plan.Expr
		switch e := o.Expr.(type) {
		case *sqlparse.Number:
			key = at(refsTo(n)[ordinal(e, width(n), "ORDER BY")], e.Span)
		case *sqlparse.Name:
			if e.Qualifier.Name == "" {
				key = s.column(e)
			}
		}
		if key == nil {
			refuse(diagnostic.New("D029", o.Expr.Place(), "ORDER BY of a UNION or VALUES takes output columns alone").
				Try("put the UNION into FROM and sort around it"))
		}
		checkOrdered(key.Type(), o.Expr.Place(), "ORDER BY")
		sort.Keys = append(sort.Keys, plan.SortKey{Expr: key, Descending: o.Descending, NullsFirst: o.NullsFirst})
	}
	return sort
}

// limit applies LIMIT and OFFSET, which are constants.
func (b *binder) limit(n plan.Node, q *sqlparse.Query) plan.Node {
	if q.Limit == nil && q.Offset == nil {
		return n
	}
	c := &context{binder: b, scope: &scope{}, clause: "LIMIT"}
	whole := func(e sqlparse.Expr, what string, none int64) int64 {
		if e == nil {
			return none
		}
		if u, ok := c.expr(e).(*unknown); ok && u.text == nil && u.decided == nil {
			return none // LIMIT NULL and LIMIT ALL
		}
		l, ok := coerceUnknown(c.expr(e), typeOf(sqltype.Bigint)).(*plan.Literal)
		if ok {
			if v, ok := l.Value.(int64); ok && v >= 0 {
				return v
			}
		}
		refuse(diagnostic.New("D021", e.Place(), "%s must be a constant whole number that is not negative", what).Try("write the number itself, as in %s 10", what))
		return 0
	}
	l := &plan.Limit{Input: n, Count: whole(q.Limit, "LIMIT", -1), Offset: whole(q.Offset, "OFFSET", 0), Span: n.Place()}
	if q.Limit != nil {
		l.Span = q.Limit.Place()
	} else {
		l.Span = q.Offset.Place()
	}
	return l
}

// values binds a VALUES list; each column's types meet in the common one.
func (b *binder) values(v *sqlparse.ValuesList, env *environment) plan.Node {
	out := &plan.Values{Span: v.Span}
	c := &context{binder: b, env: env, scope: &scope{outer: env.surrounding()}, clause: "VALUES"}
	for _, row := range v.Rows {
		var exprs []plan.Expr
		for _, e := range row {
			exprs = append(exprs, c.expr(e))
		}
		if len(row) != len(v.Rows[0]) {
			refuse(diagnostic.New("D023", v.Span, "the rows of VALUES differ in length: %d and %d", len(v.Rows[0]), len(row)).Try("give each row the same columns, with NULL where there is no value"))
		}
		out.Rows = append(out.Rows, exprs)
	}
	for i := range v.Rows[0] {
		var column []plan.Expr
		for _, row := range out.Rows {
			column = append(column, row[i])
		}
		column, t := unify(column, "VALUES")
		for r, e := range column {
			out.Rows[r][i] = e
		}
		out.Types = append(out.Types, t)
		out.Names = append(out.Names, fmt.Sprintf("column%d", i+1))
	}
	return out
}

// union binds UNION [ALL], INTERSECT and EXCEPT. Types meet in the common one, column by column;
// names are the first branch's.
func (b *binder) union(u *sqlparse.SetOperation, env *environment) plan.Node {
	left, right := b.branch(u.Left, env), b.branch(u.Right, env)
	l, r := left.Columns(), right.Columns()
	if len(l) != len(r) {
		refuse(diagnostic.New("D023", u.Span, "the sides of %s have %d and %d columns", u.Op, len(l), len(r)).Try("select the same columns on both sides, with NULL where there is no value"))
	}
	types := make([]sqltype.Type, len(l))
	for i := range l {
		t, ok := common(l[i].Type, r[i].Type)
		if !ok {
			refuse(diagnostic.New("D023", u.Span, "column %s of %s is %s on one side and %s on the other", l[i].Name, u.Op, article(l[i].Type), article(r[i].Type)).
				Try("convert one side with CAST"))
		}
		types[i] = t
	}
	if u.Op != "UNION" {
		return b.common(u, convertColumns(left, types), convertColumns(right, types))
	}
	out := &plan.Union{Span: u.Span}
	if l, ok := left.(*plan.Union); ok && u.All && slices.Equal(columnTypes(l), types) {
		out.Branches = slices.Clone(l.Branches)
	} else {
		out.Branches = []plan.Node{convertColumns(left, types)}
	}
	out.Branches = append(out.Branches, convertColumns(right, types))
	if u.All {
		return out
	}
	return b.distinct(out, u.Span)
}

// common is INTERSECT or EXCEPT: of the distinct rows of the left side those that the right one has, or has
// not, NULL being equal to NULL.
func (b *binder) common(u *sqlparse.SetOperation, left, right plan.Node) plan.Node {
	j := &plan.Join{Kind: plan.Semi, Left: b.distinct(left, u.Span), Right: right, Span: u.Span}
	if u.Op == "EXCEPT" {
		j.Kind = plan.Anti
	}
	var same []plan.Expr
	for i, r := range refsTo(right) {
		same = append(same, boolean(plan.Not, u.Span, boolean(plan.DistinctFrom, u.Span, refsTo(left)[i], shift(r, width(left)))))
	}
	if j.On = same[0]; len(same) > 1 {
		j.On = boolean(plan.And, u.Span, same...)
	}
	b.count(u.Span)
	return j
}

// branch binds a side of a UNION. Constants of a SELECT's list stay undecided:
// the other side may give them a type.
func (b *binder) branch(body sqlparse.Body, env *environment) plan.Node {
	if sel, ok := body.(*sqlparse.Select); ok && !sel.Distinct {
		s := b.selection(sel, env)
		return s.assemble(s.items, s.names)
	}
	return b.body(body, env)
}

// convertColumns converts a node's columns to the types.
func convertColumns(n plan.Node, types []sqltype.Type) plan.Node {
	if slices.Equal(columnTypes(n), types) && !slices.Contains(types, typeOf(sqltype.Null)) {
		return n
	}
	out := &plan.Project{Input: n, Exprs: refsTo(n), Span: n.Place()}
	for _, c := range n.Columns() {
		out.Names = append(out.Names, c.Name)
	}
	if p, ok := n.(*plan.Project); ok && p.Declared == nil {
		out.Input, out.Exprs = p.Input, slices.Clone(p.Exprs)
	}
	for i, e := range out.Exprs {
		e = coerceUnknown(e, types[i])
		if types[i].Kind != sqltype.Null { // undecided on both sides is text
			e = cast(e, types[i])
		}
		out.Exprs[i] = e
	}
	return out
}
