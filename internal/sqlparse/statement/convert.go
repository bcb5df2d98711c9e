package statement

import (
	"strconv"
	"strings"

	pg "github.com/sqlc-dev/oliphant"
)

// maxDepth bounds the tree, and so the recursion of all who read it. The parser makes
// trees deeper than the text is nested, of chains of operators.
const maxDepth = 1000

// A converter turns the parser's tree into ours. It panics with an *Unmodelled where it
// cannot, which Parse recovers.
type converter struct{ depth int }

func (c *converter) refuse(what string, at int32) { panic(&Unmodelled{What: what, At: int(at)}) }

func (c *converter) enter() (leave func()) {
	if c.depth++; c.depth > maxDepth {
		c.refuse("nesting this deep", -1)
	}
	return func() { c.depth-- }
}

func (c *converter) query(s *pg.SelectStmt) *Select {
	defer c.enter()()
	if s == nil {
		return nil
	}
	q := &Select{
		Where: c.expr(s.WhereClause), Having: c.expr(s.HavingClause), Group: c.exprs(s.GroupClause),
		Limit: c.expr(s.LimitCount), Offset: c.expr(s.LimitOffset), Order: c.order(s.SortClause),
	}
	if s.IntoClause != nil {
		c.refuse("SELECT INTO", -1)
	}
	if s.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		c.refuse("WITH TIES", -1)
	}
	if w := s.WithClause; w != nil {
		q.Recursive = w.Recursive
		for _, n := range w.Ctes {
			e := n.GetCommonTableExpr()
			inner := e.GetCtequery().GetSelectStmt()
			if inner == nil || e.SearchClause != nil || e.CycleClause != nil {
				c.refuse("this form of WITH", e.GetLocation())
			}
			q.With = append(q.With, &CTE{Name: e.Ctename, Columns: names(e.Aliascolnames), Query: c.query(inner)})
		}
	}
	switch s.Op {
	case pg.SetOperation_SETOP_UNION:
		q.Op = "UNION"
	case pg.SetOperation_SETOP_INTERSECT:
		q.Op = "INTERSECT"
	case pg.SetOperation_SETOP_EXCEPT:
		q.Op = "EXCEPT"
	}
	if q.Op != "" {
		q.All, q.Left, q.Right = s.All, c.query(s.Larg), c.query(s.Rarg)
		return q
	}
	for _, row := range s.ValuesLists {
		q.Values = append(q.Values, c.exprs(row.GetList().GetItems()))
	}
	for _, n := range s.DistinctClause {
		if n.GetNode() == nil { // DISTINCT without ON is a list of one empty node
			q.Distinct = true
			continue
		}
		q.DistinctOn = append(q.DistinctOn, c.expr(n))
	}
	for _, n := range s.TargetList {
		t := n.GetResTarget()
		q.Targets = append(q.Targets, Target{Name: t.GetName(), Expr: c.expr(t.GetVal()), At: int(t.GetLocation())})
	}
	for _, n := range s.FromClause {
		q.From = append(q.From, c.from(n))
	}
	for _, n := range s.WindowClause {
		q.Windows = append(q.Windows, c.window(n.GetWindowDef()))
	}
	return q
}

func names(list []*pg.Node) (out []string) {
	for _, n := range list {
		out = append(out, n.GetString_().GetSval())
	}
	return out
}

func alias(a *pg.Alias) Alias {
	if a == nil {
		return Alias{}
	}
	return Alias{Name: a.Aliasname, Columns: names(a.Colnames)}
}

func (c *converter) order(list []*pg.Node) (out []Order) {
	for _, n := range list {
		s := n.GetSortBy()
		o := Order{Expr: c.expr(s.GetNode())}
		switch s.GetSortbyDir() {
		case pg.SortByDir_SORTBY_DESC:
			o.Desc = true
		case pg.SortByDir_SORTBY_USING:
			o.Desc = strings.HasPrefix(operator(s.UseOp), ">")
		}
		switch s.GetSortbyNulls() {
		case pg.SortByNulls_SORTBY_NULLS_FIRST:
			o.NullsFirst = true
		case pg.SortByNulls_SORTBY_NULLS_LAST:
		default:
			o.NullsFirst = o.Desc
		}
		out = append(out, o)
	}
	return out
}

// The bits of WindowDef.frame_options that say that a frame was written.
const framed = 1

func (c *converter) window(w *pg.WindowDef) *Window {
	if w == nil {
		return nil
	}
	return &Window{Name: w.Name, Refers: w.Refname, Partition: c.exprs(w.PartitionClause), Order: c.order(w.OrderClause),
		Framed: w.FrameOptions&framed != 0}
}

func (c *converter) from(n *pg.Node) From {
	defer c.enter()()
	switch n := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		v := n.RangeVar
		return &Relation{Database: v.Catalogname, Schema: v.Schemaname, Name: v.Relname, Alias: alias(v.Alias), At: int(v.Location)}
	case *pg.Node_RangeSubselect:
		v := n.RangeSubselect
		return &Subselect{Query: c.query(v.Subquery.GetSelectStmt()), Lateral: v.Lateral, Alias: alias(v.Alias)}
	case *pg.Node_RangeFunction:
		v := n.RangeFunction
		f := &Functions{Ordinality: v.Ordinality, Alias: alias(v.Alias), Columns: c.columns(v.Coldeflist)}
		for _, pair := range v.Functions { // a call and its list of columns
			items := pair.GetList().GetItems()
			if len(items) == 0 {
				c.refuse("this form of a function in FROM", -1)
			}
			f.Calls = append(f.Calls, c.expr(items[0]))
			if len(items) > 1 && len(items[1].GetList().GetItems()) > 0 {
				f.Columns = c.columns(items[1].GetList().Items)
			}
		}
		return f
	case *pg.Node_JoinExpr:
		v := n.JoinExpr
		j := &Join{Natural: v.IsNatural, Left: c.from(v.Larg), Right: c.from(v.Rarg), Using: names(v.UsingClause), On: c.expr(v.Quals), Alias: alias(v.Alias)}
		switch v.Jointype {
		case pg.JoinType_JOIN_INNER:
			j.Kind = "inner"
		case pg.JoinType_JOIN_LEFT:
			j.Kind = "left"
		case pg.JoinType_JOIN_RIGHT:
			j.Kind = "right"
		case pg.JoinType_JOIN_FULL:
			j.Kind = "full"
		default:
			c.refuse("this join", -1)
		}
		return j
	}
	c.refuse("this item of FROM", -1)
	return nil
}

func (c *converter) columns(list []*pg.Node) (out []ColumnDef) {
	for _, n := range list {
		d := n.GetColumnDef()
		out = append(out, ColumnDef{Name: d.GetColname(), Type: c.typeName(d.GetTypeName())})
	}
	return out
}

func (c *converter) typeName(t *pg.TypeName) *Type {
	parts := names(t.GetNames())
	if len(parts) == 0 || len(parts) > 2 || t.PctType || t.Setof {
		c.refuse("this type", t.GetLocation())
	}
	out := &Type{Name: parts[len(parts)-1], Modifiers: c.exprs(t.Typmods), Array: len(t.ArrayBounds) > 0, At: int(t.Location)}
	if len(parts) == 2 {
		out.Schema = parts[0]
	}
	return out
}

func (c *converter) exprs(list []*pg.Node) (out []Expr) {
	for _, n := range list {
		out = append(out, c.expr(n))
	}
	return out
}

// operator returns the name of an operator without its schema.
func operator(name []*pg.Node) string {
	if len(name) == 0 {
		return "="
	}
	return name[len(name)-1].GetString_().GetSval()
}

func (c *converter) expr(n *pg.Node) Expr {
	defer c.enter()()
	switch n := n.GetNode().(type) {
	case nil:
		return nil
	case *pg.Node_AConst:
		return c.constant(n.AConst)
	case *pg.Node_ParamRef:
		return &Param{N: int(n.ParamRef.Number), At: int(n.ParamRef.Location)}
	case *pg.Node_ColumnRef:
		e := &Column{At: int(n.ColumnRef.Location)}
		for _, f := range n.ColumnRef.Fields {
			if f.GetAStar() != nil {
				e.Star = true
			} else {
				e.Parts = append(e.Parts, f.GetString_().GetSval())
			}
		}
		return e
	case *pg.Node_AStar:
		return &Column{Star: true, At: -1}
	case *pg.Node_AExpr:
		return c.operation(n.AExpr)
	case *pg.Node_BoolExpr:
		e := &Logic{Args: c.exprs(n.BoolExpr.Args)}
		switch n.BoolExpr.Boolop {
		case pg.BoolExprType_AND_EXPR:
			e.Op = "AND"
		case pg.BoolExprType_OR_EXPR:
			e.Op = "OR"
		default:
			e.Op = "NOT"
		}
		return e
	case *pg.Node_FuncCall:
		return c.call(n.FuncCall)
	case *pg.Node_TypeCast:
		return &Cast{X: c.expr(n.TypeCast.Arg), Type: c.typeName(n.TypeCast.TypeName), At: int(n.TypeCast.Location)}
	case *pg.Node_CollateClause:
		return c.expr(n.CollateClause.Arg)
	case *pg.Node_CaseExpr:
		v := n.CaseExpr
		e := &Case{Operand: c.expr(v.Arg), Else: c.expr(v.Defresult), At: int(v.Location)}
		for _, w := range v.Args {
			e.When = append(e.When, When{c.expr(w.GetCaseWhen().GetExpr()), c.expr(w.GetCaseWhen().GetResult())})
		}
		return e
	case *pg.Node_SubLink:
		v := n.SubLink
		e := &Sublink{X: c.expr(v.Testexpr), Op: operator(v.OperName), Query: c.query(v.Subselect.GetSelectStmt()), At: int(v.Location)}
		switch v.SubLinkType {
		case pg.SubLinkType_EXISTS_SUBLINK:
			e.Kind = "exists"
		case pg.SubLinkType_ANY_SUBLINK:
			e.Kind = "any"
		case pg.SubLinkType_ALL_SUBLINK:
			e.Kind = "all"
		case pg.SubLinkType_EXPR_SUBLINK:
			e.Kind = "scalar"
		case pg.SubLinkType_ARRAY_SUBLINK:
			e.Kind = "array"
		default:
			c.refuse("this subquery", v.Location)
		}
		return e
	case *pg.Node_NullTest:
		return &Test{X: c.expr(n.NullTest.Arg), What: "null", Not: n.NullTest.Nulltesttype == pg.NullTestType_IS_NOT_NULL}
	case *pg.Node_BooleanTest:
		e := &Test{X: c.expr(n.BooleanTest.Arg)}
		switch n.BooleanTest.Booltesttype {
		case pg.BoolTestType_IS_NOT_TRUE, pg.BoolTestType_IS_NOT_FALSE, pg.BoolTestType_IS_NOT_UNKNOWN:
			e.Not = true
		}
		switch n.BooleanTest.Booltesttype {
		case pg.BoolTestType_IS_TRUE, pg.BoolTestType_IS_NOT_TRUE:
			e.What = "true"
		case pg.BoolTestType_IS_FALSE, pg.BoolTestType_IS_NOT_FALSE:
			e.What = "false"
		default:
			e.What = "unknown"
		}
		return e
	case *pg.Node_CoalesceExpr:
		return &Coalesce{Name: "coalesce", Args: c.exprs(n.CoalesceExpr.Args), At: int(n.CoalesceExpr.Location)}
	case *pg.Node_MinMaxExpr:
		name := "greatest"
		if n.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			name = "least"
		}
		return &Coalesce{Name: name, Args: c.exprs(n.MinMaxExpr.Args), At: int(n.MinMaxExpr.Location)}
	case *pg.Node_RowExpr:
		return &Row{Items: c.exprs(n.RowExpr.Args)}
	case *pg.Node_AArrayExpr:
		return &Array{Items: c.exprs(n.AArrayExpr.Elements), At: int(n.AArrayExpr.Location)}
	case *pg.Node_AIndirection:
		return c.indirection(n.AIndirection)
	case *pg.Node_SqlvalueFunction:
		name := strings.TrimPrefix(n.SqlvalueFunction.Op.String(), "SVFOP_")
		return &Named{Name: strings.ToLower(strings.TrimSuffix(name, "_N"))}
	}
	c.refuse("this expression", -1)
	return nil
}

func (c *converter) constant(v *pg.A_Const) Expr {
	e := &Const{At: int(v.Location)}
	if v.Isnull {
		return e
	}
	switch v := v.Val.(type) {
	case *pg.A_Const_Ival:
		e.Value = int64(v.Ival.GetIval())
	case *pg.A_Const_Fval:
		e.Value = Number(v.Fval.GetFval())
	case *pg.A_Const_Boolval:
		e.Value = v.Boolval.GetBoolval()
	case *pg.A_Const_Sval:
		e.Value = v.Sval.GetSval()
	case *pg.A_Const_Bsval:
		e.Value = Bits(v.Bsval.GetBsval())
	}
	return e
}

func (c *converter) operation(v *pg.A_Expr) Expr {
	name, at := operator(v.Name), int(v.Location)
	switch v.Kind {
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return &Quantified{Op: name, All: v.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL, X: c.expr(v.Lexpr), Array: c.expr(v.Rexpr), At: at}
	case pg.A_Expr_Kind_AEXPR_IN:
		return &Quantified{Op: name, All: name == "<>", X: c.expr(v.Lexpr), List: c.exprs(v.Rexpr.GetList().GetItems()), At: at}
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return &Distinction{Not: v.Kind == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT, X: c.expr(v.Lexpr), Y: c.expr(v.Rexpr), At: at}
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return &Nullif{X: c.expr(v.Lexpr), Y: c.expr(v.Rexpr), At: at}
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		bounds := v.Rexpr.GetList().GetItems()
		if len(bounds) != 2 {
			c.refuse("this BETWEEN", v.Location)
		}
		return &Between{X: c.expr(v.Lexpr), Low: c.expr(bounds[0]), High: c.expr(bounds[1]), At: at,
			Not:       v.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN || v.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM,
			Symmetric: v.Kind == pg.A_Expr_Kind_AEXPR_BETWEEN_SYM || v.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM}
	}
	return &Op{Name: name, Left: c.expr(v.Lexpr), Right: c.expr(v.Rexpr), At: at}
}

func (c *converter) call(v *pg.FuncCall) Expr {
	parts := names(v.Funcname)
	if len(parts) == 0 {
		c.refuse("a function without a name", v.Location)
	}
	e := &Call{Name: parts[len(parts)-1], Star: v.AggStar, Distinct: v.AggDistinct, Variadic: v.FuncVariadic, Within: v.AggWithinGroup,
		Order: c.order(v.AggOrder), Filter: c.expr(v.AggFilter), Over: c.window(v.Over), At: int(v.Location)}
	if len(parts) > 1 {
		e.Schema = parts[len(parts)-2]
	}
	for i, a := range v.Args {
		name := ""
		if n := a.GetNamedArgExpr(); n != nil {
			name, a = n.Name, n.Arg
		}
		if e.Args = append(e.Args, c.expr(a)); name != "" {
			for len(e.Names) < i {
				e.Names = append(e.Names, "")
			}
			e.Names = append(e.Names, name)
		}
	}
	return e
}

func (c *converter) indirection(v *pg.A_Indirection) Expr {
	e := c.expr(v.Arg)
	if c.depth+len(v.Indirection) > maxDepth {
		c.refuse("nesting this deep", -1)
	}
	for _, n := range v.Indirection {
		switch n := n.GetNode().(type) {
		case *pg.Node_AStar:
			e = &Field{X: e, Star: true, At: -1}
		case *pg.Node_String_:
			e = &Field{X: e, Name: n.String_.Sval, At: -1}
		case *pg.Node_AIndices:
			e = &Index{X: e, Slice: n.AIndices.IsSlice, Lower: c.expr(n.AIndices.Lidx), I: c.expr(n.AIndices.Uidx), At: -1}
		default:
			c.refuse("this indirection", -1)
		}
	}
	return e
}

// Int returns the constant as an integer of 64 bits, where it is one.
func (n Number) Int() (int64, bool) {
	i, err := strconv.ParseInt(string(n), 0, 64)
	return i, err == nil
}
