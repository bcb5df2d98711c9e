package sqlparse

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func (c *converter) expr(n *pg.Node) Expr {
	defer c.enter(c.place)()
	switch n := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return c.columnRef(n.ColumnRef)
	case *pg.Node_AConst:
		return c.constant(n.AConst)
	case *pg.Node_AExpr:
		return c.operator(n.AExpr)
	case *pg.Node_BoolExpr:
		return c.boolean(n.BoolExpr)
	case *pg.Node_FuncCall:
		return c.call(n.FuncCall)
	case *pg.Node_CoalesceExpr:
		return c.special("coalesce", n.CoalesceExpr.Location, n.CoalesceExpr.Args)
	case *pg.Node_MinMaxExpr:
		switch n.MinMaxExpr.Op {
		case pg.MinMaxOp_IS_GREATEST:
			return c.special("greatest", n.MinMaxExpr.Location, n.MinMaxExpr.Args)
		case pg.MinMaxOp_IS_LEAST:
			return c.special("least", n.MinMaxExpr.Location, n.MinMaxExpr.Args)
		}
	case *pg.Node_CaseExpr:
		return c.caseExpr(n.CaseExpr)
	case *pg.Node_TypeCast:
		return c.cast(n.TypeCast)
	case *pg.Node_NullTest:
		return c.nullTest(n.NullTest)
	case *pg.Node_BooleanTest:
		return c.booleanTest(n.BooleanTest)
	case *pg.Node_SubLink:
		return c.subLink(n.SubLink)
	case *pg.Node_GroupingFunc:
		return c.groupingCall(n.GroupingFunc)
	case *pg.Node_ParamRef:
		if at := c.start(n.ParamRef.Location); c.parameters && n.ParamRef.Number >= 1 && n.ParamRef.Number <= MaxParameters {
			return &Parameter{Number: int(n.ParamRef.Number), Span: at}
		}
	}
	c.refuse(c.unmodelled(n))
	return nil
}

// unmodelled names an expression that has no counterpart in our tree.
func (c *converter) unmodelled(n *pg.Node) *diagnostic.Diagnostic {
	switch n := n.GetNode().(type) {
	case *pg.Node_ParamRef:
		if c.parameters {
			return diagnostic.New("D030", c.start(n.ParamRef.Location), "there is no such parameter").Try("parameters are $1 to $%d", MaxParameters)
		}
		return diagnostic.New("D030", c.start(n.ParamRef.Location), "a parameter has no value here").Try("write the constant itself")
	case *pg.Node_SqlvalueFunction:
		at := c.start(n.SqlvalueFunction.Location)
		return c.unstable(at, strings.ToLower(c.text[at.Start:at.End]))
	case *pg.Node_RowExpr:
		return c.expression(c.start(n.RowExpr.Location), "rows of values are not supported").Try("compare column by column; with a subquery write EXISTS (SELECT ... WHERE x = a AND y = b); in place of count(DISTINCT (a, b)) write count(DISTINCT a || ' ' || b)")
	case *pg.Node_AArrayExpr:
		return c.expression(c.start(n.AArrayExpr.Location), "arrays are not supported").Try("for a list of values write IN (...)")
	case *pg.Node_AIndirection:
		kind := pg.Token('.')
		if i := n.AIndirection.Indirection; len(i) > 0 && i[0].GetAIndices() != nil {
			kind = '['
		}
		return c.expression(c.find(c.index(c.place.Start), kind), "subscripts and fields of values are not supported").
			Try("of a quantile name the fraction itself; a part of a text is split_part(x, ',', 2); a table's column is written table.column")
	case *pg.Node_CollateClause:
		return c.expression(c.start(n.CollateClause.Location), "COLLATE is not supported").
			Because("text compares by its bytes, the same on every engine").Try("leave COLLATE out; lower(x) compares without case")
	case *pg.Node_NamedArgExpr:
		return c.expression(c.start(n.NamedArgExpr.Location), "named arguments are not supported").Try("give the arguments in order")
	case *pg.Node_SetToDefault:
		return c.expression(c.start(n.SetToDefault.Location), "DEFAULT is not a value of a query").Try("write the value itself, or NULL")
	case *pg.Node_XmlExpr:
		return c.expression(c.start(n.XmlExpr.Location), "XML is not supported").Try("ask the owner to declare the value as a column of its own")
	case *pg.Node_XmlSerialize:
		return c.expression(c.start(n.XmlSerialize.Location), "XML is not supported").Try("ask the owner to declare the value as a column of its own")
	}
	name := nodeName(n)
	if strings.HasPrefix(name, "Json") {
		return c.expression(c.place, "JSON is not supported").Try("declare the value as a column of its own")
	}
	return c.expression(c.place, "this expression is not supported").Because("the parser read it as %s", name).Try("%s", otherFunctions).By(diagnostic.ListFunctions)
}

func (c *converter) unstable(at diagnostic.Span, name string) *diagnostic.Diagnostic {
	return diagnostic.New("D008", at, "%s is not supported", name).
		Because("it %s, so the answer would not be a function of the data alone", unstable(name)).
		Try("write the value itself as a constant")
}

func (c *converter) columnRef(r *pg.ColumnRef) Expr {
	i := c.index(int(r.Location))
	switch f := r.Fields; {
	case f[len(f)-1].GetAStar() != nil:
		c.refuse(c.expression(c.between(i, i+2*len(f)-2), "* is not a value here").Try("count(*) counts rows; otherwise name the column"))
	case len(f) == 1:
		id, _ := c.ident(f[0].GetString_().GetSval(), i)
		return &Name{Column: id, Span: id.Span}
	case len(f) == 2:
		table, i := c.ident(f[0].GetString_().GetSval(), i)
		column, _ := c.ident(f[1].GetString_().GetSval(), i+1) // past the dot
		return &Name{Qualifier: table, Column: column, Span: table.Span.Join(column.Span)}
	case len(f) == 3 && f[0].GetString_().GetSval() == Schema:
		table, j := c.ident(f[1].GetString_().GetSval(), i+2)
		column, _ := c.ident(f[2].GetString_().GetSval(), j+1)
		return &Name{Qualifier: table, Column: column, Span: c.at(i).span().Join(column.Span)}
	default:
		c.refuse(qualified(c.between(i, i+2*len(f)-2)))
	}
	return nil
}

func (c *converter) constant(k *pg.A_Const) Expr {
	at := c.start(k.Location)
	i := c.index(at.Start)
	if k.Isnull {
		return &NullConst{Span: at}
	}
	switch v := k.Val.(type) {
	case *pg.A_Const_Ival:
		return &Number{Text: strconv.Itoa(int(v.Ival.Ival)), Span: c.signed(i)}
	case *pg.A_Const_Fval:
		return &Number{Text: c.decimal(v.Fval.Fval, i), Span: c.signed(i)}
	case *pg.A_Const_Boolval:
		return &Bool{Value: v.Boolval.Boolval, Span: at}
	case *pg.A_Const_Sval:
		return &String{Value: v.Sval.Sval, Span: c.between(i, c.after(i)-1)}
	}
	c.refuse(c.expression(at, "bit strings are not supported").Try("write a number, or text in single quotes"))
	return nil
}

// signed returns the span of a number that begins at token i with the signs
// and parentheses that the parser folded into it: -(5) is the number -5.
func (c *converter) signed(i int) diagnostic.Span {
	j := i
	for c.at(j).kind == '-' || c.at(j).kind == '(' {
		j++
	}
	return c.balance(c.between(i, j))
}

// decimal returns a constant that is not a 32-bit integer in plain decimal
// notation. Its size is bounded: 1e999999999 is a short text.
func (c *converter) decimal(text string, i int) string {
	s := strings.ToLower(strings.ReplaceAll(text, "_", ""))
	digits, negative := strings.CutPrefix(s, "-")
	if len(digits) > 1 && digits[0] == '0' && strings.ContainsRune("xob", rune(digits[1])) {
		if n, ok := new(big.Int).SetString(digits, 0); ok {
			digits = n.String()
		}
	}
	mantissa, exponent, _ := strings.Cut(digits, "e")
	if e, err := strconv.Atoi("0" + strings.TrimLeft(exponent, "+-")); len(mantissa) > maxDigits || err != nil || e > maxExponent {
		c.refuse(diagnostic.New("D009", c.signed(i), "the number has more than %d digits", maxDigits).Try("round it: values have at most 38 digits"))
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	if strings.HasSuffix(mantissa, ".") {
		digits = strings.Replace(digits, ".", ".0", 1)
	}
	if negative {
		digits = "-" + digits
	}
	return digits
}

func (c *converter) operator(e *pg.A_Expr) Expr {
	at := c.start(e.Location)
	op := ""
	if len(e.Name) == 1 {
		op = e.Name[0].GetString_().GetSval()
	}
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return c.infix(e, op, at)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		x := &DistinctFrom{Left: c.expr(e.Lexpr), Right: c.expr(e.Rexpr), Not: e.Kind == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT}
		x.Span = c.spanOf(at, x.Left, x.Right)
		return x
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return c.special("nullif", e.Location, []*pg.Node{e.Lexpr, e.Rexpr})
	case pg.A_Expr_Kind_AEXPR_IN:
		x := &InList{Arg: c.expr(e.Lexpr), Not: op == "<>"}
		for _, n := range e.Rexpr.GetList().GetItems() {
			x.List = append(x.List, c.expr(n))
		}
		x.Span = c.spanOf(at.Join(c.start(e.RexprListEnd)), x.Arg)
		return x
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		if name := e.Rexpr.GetFuncCall().GetFuncname(); len(name) == 2 && name[1].GetString_().GetSval() == "like_escape" {
			c.refuse(c.expression(c.find(c.index(at.Start), pg.Token_ESCAPE), "ESCAPE is not supported").
				Try("write a backslash before %% or _"))
		}
		x := &Like{Arg: c.expr(e.Lexpr), Pattern: c.expr(e.Rexpr), Not: strings.HasPrefix(op, "!"), Insensitive: e.Kind == pg.A_Expr_Kind_AEXPR_ILIKE}
		x.Span = c.spanOf(at, x.Arg, x.Pattern)
		return x
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		bounds := e.Rexpr.GetList().GetItems()
		x := &Between{Arg: c.expr(e.Lexpr), Low: c.expr(bounds[0]), High: c.expr(bounds[1])}
		x.Not = e.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN || e.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM
		x.Symmetric = e.Kind == pg.A_Expr_Kind_AEXPR_BETWEEN_SYM || e.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM
		x.Span = c.spanOf(at, x.Arg, x.High)
		return x
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		c.refuse(c.expression(c.find(c.index(at.Start), pg.Token_SIMILAR), "SIMILAR TO is not supported").Try("write LIKE, or ~ with a regular expression"))
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		if any := e.Kind == pg.A_Expr_Kind_AEXPR_OP_ANY; any && op == "=" || !any && op == "<>" {
			if x := c.oneOf(e, at, !any); x != nil {
				return x
			}
		}
		if x := c.eachOf(e, op, at); x != nil {
			return x
		}
		c.refuse(c.quantified(at))
	}
	c.refuse(c.expression(at, "this operator is not supported").Try("%s", otherOperators))
	return nil
}

// oneOf is x = ANY (array), which is x IN its elements, or x <> ALL (array), which is x NOT IN them.
// It is nil of anything but the elements of an array, an array in a constant or a parameter, and
// those converted to an array's type.
func (c *converter) oneOf(e *pg.A_Expr, at diagnostic.Span, not bool) Expr {
	array, elements := e.Rexpr, ""
	var converted *pg.TypeCast
	if converted = array.GetTypeCast(); converted != nil && converted.Location >= 0 {
		name, _ := c.typeName(converted.TypeName, c.start(converted.TypeName.Location))
		var ok bool
		if elements, ok = strings.CutSuffix(name, "[]"); !ok {
			return nil
		}
		array = converted.Arg
	}
	if list := array.GetAArrayExpr(); list != nil {
		return c.oneOfThese(e, at, list, converted, elements, not)
	}
	switch array.GetNode().(type) {
	case *pg.Node_ParamRef, *pg.Node_AConst:
	default:
		return nil
	}
	x := &InArray{Arg: c.expr(e.Lexpr), Array: c.expr(array), Type: elements, Not: not}
	switch x.Array.(type) {
	case *Parameter, *String, *NullConst:
	default:
		return nil
	}
	x.Span = c.spanOf(at.Join(x.Array.Place()).Join(c.castSpan(converted)), x.Arg)
	return x
}

// oneOfThese is x = ANY (ARRAY[a, b]), where each element is converted that is.
func (c *converter) oneOfThese(e *pg.A_Expr, at diagnostic.Span, list *pg.A_ArrayExpr, converted *pg.TypeCast, elements string, not bool) Expr {
	place := c.start(list.Location).Join(c.start(list.ListEnd))
	own := at.Join(place).Join(c.castSpan(converted))
	if len(list.Elements) == 0 {
		if converted == nil { // as in PostgreSQL
			c.refuse(c.expression(place, "the array has no elements, and no type").Try("give it one: ARRAY[]::integer[]"))
		}
		x := &InArray{Arg: c.expr(e.Lexpr), Array: &String{Value: "{}", Span: place}, Type: elements, Not: not}
		x.Span = c.spanOf(own, x.Arg)
		return x
	}
	x := &InList{Arg: c.expr(e.Lexpr), Not: not}
	for _, n := range list.Elements {
		item := c.expr(n)
		if converted != nil {
			item = &Cast{Arg: item, Type: elements, TypeSpan: item.Place(), Span: item.Place()}
		}
		x.List = append(x.List, item)
	}
	x.Span = c.spanOf(own, x.Arg)
	return x
}

// castSpan is the place of a conversion: of its type, and of CAST with its parentheses.
func (c *converter) castSpan(t *pg.TypeCast) diagnostic.Span {
	if t == nil {
		return diagnostic.Span{}
	}
	at := c.start(t.Location)
	if i := c.index(at.Start); c.at(i).kind == pg.Token_CAST {
		return at.Join(c.at(c.closing(i + 1)).span())
	}
	return at.Join(c.typeSpan(c.index(int(t.TypeName.Location))))
}

func (c *converter) quantified(at diagnostic.Span) *diagnostic.Diagnostic {
	return c.expression(at, "comparison with ANY or ALL is not supported").Try("= ANY and <> ALL are answered, and of a column x LIKE ANY (ARRAY['a%%', 'b%%']) and the like; for the others compare with min or max")
}

// mostQuantified bounds how often the left side of a comparison with ANY or ALL is written out.
const mostQuantified = 100

// eachOf is x LIKE ANY (ARRAY[a, b]), or another operator, which is x LIKE a OR x LIKE b; of ALL it is AND. It is nil of anything but the elements of an
// array, and of a left side that is more than a column or a function of columns: it is written once for each element.
func (c *converter) eachOf(e *pg.A_Expr, op string, at diagnostic.Span) Expr {
	list := e.Rexpr.GetAArrayExpr()
	plain := func(n *pg.Node) bool { return n.GetColumnRef() != nil || n.GetAConst() != nil }
	left := e.Lexpr
	if list == nil || len(list.Elements) == 0 || len(list.Elements) > mostQuantified ||
		!plain(left) && (left.GetFuncCall() == nil || slices.ContainsFunc(left.GetFuncCall().Args, func(n *pg.Node) bool { return !plain(n) })) {
		return nil
	}
	whole := c.spanOf(at.Join(c.start(list.Location)).Join(c.start(list.ListEnd)), c.expr(left))
	one := func(n *pg.Node) Expr {
		switch op {
		case "~~", "!~~", "~~*", "!~~*":
			return &Like{Arg: c.expr(left), Pattern: c.expr(n), Not: op[0] == '!', Insensitive: strings.HasSuffix(op, "*"), Span: whole}
		}
		x := c.infix(&pg.A_Expr{Lexpr: left, Rexpr: n, Location: e.Location}, op, at)
		if b, ok := x.(*Binary); ok {
			b.Span = whole
		}
		return x
	}
	word := "or"
	if e.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL {
		word = "and"
	}
	var chain func(list []*pg.Node) Expr
	chain = func(list []*pg.Node) Expr {
		if len(list) == 1 {
			return one(list[0])
		}
		half := (len(list) + 1) / 2
		return &Binary{Op: word, Left: chain(list[:half]), Right: chain(list[half:]), OpSpan: at, Span: whole}
	}
	return chain(list.Elements)
}

// spanOf returns the span of an expression with its own token and operands.
func (c *converter) spanOf(own diagnostic.Span, operands ...Expr) diagnostic.Span {
	for _, e := range operands {
		own = own.Join(e.Place())
	}
	return c.balance(own)
}

// infix converts an operator that is written between or before its operands.
func (c *converter) infix(e *pg.A_Expr, op string, at diagnostic.Span) Expr {
	if t := c.at(c.index(at.Start)); t.kind == pg.Token_OPERATOR {
		c.refuse(c.expression(at, "OPERATOR(...) is not supported").Try("write the operator itself"))
	}
	if e.Lexpr == nil {
		if op != "-" && op != "+" {
			c.refuse(c.noOperator(at, op))
		}
		x := &Unary{Op: op, Arg: c.expr(e.Rexpr)}
		x.Span = c.spanOf(at, x.Arg)
		return x
	}
	switch op {
	case "+", "-", "*", "/", "%", "^", "||", "=", "<>", "<", "<=", ">", ">=", "~", "~*", "!~", "!~*":
	default:
		c.refuse(c.noOperator(at, op))
	}
	x := &Binary{Op: op, Left: c.expr(e.Lexpr), Right: c.expr(e.Rexpr), OpSpan: at}
	x.Span = c.spanOf(at, x.Left, x.Right)
	return x
}

func (c *converter) noOperator(at diagnostic.Span, op string) *diagnostic.Diagnostic {
	d := c.expression(at, "the operator %s is not supported", clip(op))
	return d.Try("%s", cmp.Or(operatorHint(op), otherOperators))
}

func (c *converter) boolean(b *pg.BoolExpr) Expr {
	at := c.start(b.Location)
	switch b.Boolop {
	case pg.BoolExprType_NOT_EXPR:
		if s := b.Args[0].GetSubLink(); s != nil && s.SubLinkType == pg.SubLinkType_ANY_SUBLINK && s.Location == b.Location {
			return c.inQuery(s, true)
		}
		x := &Unary{Op: "not", Arg: c.expr(b.Args[0])}
		x.Span = c.spanOf(at, x.Arg)
		return x
	case pg.BoolExprType_AND_EXPR:
		return c.chain("and", pg.Token_AND, b.Args)
	case pg.BoolExprType_OR_EXPR:
		return c.chain("or", pg.Token_OR, b.Args)
	}
	c.refuse(c.expression(at, "this operator is not supported").Try("%s", otherOperators))
	return nil
}

// chain converts a AND b AND c ... to a balanced tree: the operators are
// associative, and a thousand alternatives must not nest a thousand deep.
func (c *converter) chain(op string, token pg.Token, args []*pg.Node) Expr {
	if len(args) == 1 {
		return c.expr(args[0])
	}
	half := (len(args) + 1) / 2
	x := &Binary{Op: op, Left: c.chain(op, token, args[:half]), Right: c.chain(op, token, args[half:])}
	x.OpSpan = c.find(c.index(x.Left.Place().End), token)
	x.Span = c.spanOf(x.OpSpan, x.Left, x.Right)
	return x
}

// special converts a call that the grammar treats apart.
func (c *converter) special(name string, location int32, args []*pg.Node) Expr {
	at := c.start(location)
	x := &Call{Name: Ident{Name: name, Span: at}}
	for _, n := range args {
		x.Args = append(x.Args, c.expr(n))
	}
	x.Span = at.Join(c.at(c.closing(c.index(at.Start) + 1)).span())
	return x
}

func (c *converter) caseExpr(e *pg.CaseExpr) Expr {
	x := &Case{}
	last := Expr(nil)
	if e.Arg != nil {
		x.Operand = c.expr(e.Arg)
	}
	for _, n := range e.Args {
		w := n.GetCaseWhen()
		if w == nil {
			c.refuse(c.unmodelled(n))
		}
		c.place = c.start(w.Location)
		x.Whens = append(x.Whens, When{Condition: c.expr(w.Expr), Result: c.expr(w.Result)})
		last = x.Whens[len(x.Whens)-1].Result
	}
	if e.Defresult != nil {
		x.Else = c.expr(e.Defresult)
		last = x.Else
	}
	// Only closing parentheses stand between the last value and END.
	x.Span = c.start(e.Location).Join(c.find(c.index(last.Place().End), pg.Token_END_P))
	return x
}

func (c *converter) nullTest(t *pg.NullTest) Expr {
	at := c.start(t.Location)
	if t.Nulltesttype != pg.NullTestType_IS_NULL && t.Nulltesttype != pg.NullTestType_IS_NOT_NULL {
		c.refuse(c.expression(at, "this test is not supported").Try("write IS NULL, IS TRUE, IS FALSE or IS UNKNOWN"))
	}
	return c.is(at, t.Arg, "null", t.Nulltesttype == pg.NullTestType_IS_NOT_NULL)
}

func (c *converter) booleanTest(t *pg.BooleanTest) Expr {
	at := c.start(t.Location)
	switch t.Booltesttype {
	case pg.BoolTestType_IS_TRUE, pg.BoolTestType_IS_NOT_TRUE:
		return c.is(at, t.Arg, "true", t.Booltesttype == pg.BoolTestType_IS_NOT_TRUE)
	case pg.BoolTestType_IS_FALSE, pg.BoolTestType_IS_NOT_FALSE:
		return c.is(at, t.Arg, "false", t.Booltesttype == pg.BoolTestType_IS_NOT_FALSE)
	case pg.BoolTestType_IS_UNKNOWN, pg.BoolTestType_IS_NOT_UNKNOWN:
		return c.is(at, t.Arg, "unknown", t.Booltesttype == pg.BoolTestType_IS_NOT_UNKNOWN)
	}
	c.refuse(c.expression(at, "this test is not supported").Try("write IS NULL, IS TRUE, IS FALSE or IS UNKNOWN"))
	return nil
}

// is converts x IS [NOT] what, whose IS (or ISNULL, NOTNULL) is at at.
func (c *converter) is(at diagnostic.Span, arg *pg.Node, what string, not bool) Expr {
	i := c.index(at.Start)
	if c.at(i).kind == pg.Token_IS {
		if i++; c.at(i).kind == pg.Token_NOT {
			i++
		}
	}
	x := &Is{Arg: c.expr(arg), What: what, Not: not}
	x.Span = c.spanOf(at.Join(c.at(i).span()), x.Arg)
	return x
}

func (c *converter) subLink(s *pg.SubLink) Expr {
	at := c.start(s.Location)
	i := c.index(at.Start)
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		x := &Exists{}
		x.Query, x.Span = c.inner(s, i+1)
		x.Span = x.Span.Join(at)
		return x
	case pg.SubLinkType_EXPR_SUBLINK:
		x := &Scalar{}
		x.Query, x.Span = c.inner(s, i)
		return x
	case pg.SubLinkType_ANY_SUBLINK:
		return c.inQuery(s, false)
	case pg.SubLinkType_ALL_SUBLINK:
		return c.inQuery(s, true)
	case pg.SubLinkType_ARRAY_SUBLINK:
		c.refuse(c.expression(at, "arrays are not supported").Try("for a list of values write IN (...)"))
	}
	c.refuse(c.quantified(at))
	return nil
}

func (c *converter) inQuery(s *pg.SubLink, not bool) Expr {
	at := c.start(s.Location)
	i := c.index(at.Start) + 1 // past IN or NOT
	if c.at(i).kind == pg.Token_IN_P {
		i++
	}
	if len(s.OperName) > 0 { // x = ANY (SELECT ...), or x <> ALL
		want := "="
		if not {
			want = "<>"
		}
		if len(s.OperName) > 1 || s.OperName[0].GetString_().GetSval() != want {
			c.refuse(c.quantified(at))
		}
		i++
	}
	x := &InQuery{Arg: c.expr(s.Testexpr), Not: not}
	x.Query, x.Span = c.inner(s, i)
	x.Span = c.spanOf(at.Join(x.Span), x.Arg)
	return x
}

// inner converts the query of a subquery expression in the parentheses at i.
func (c *converter) inner(s *pg.SubLink, i int) (*Query, diagnostic.Span) {
	q, _ := c.query(c.statementQuery(s.Subselect, i+1), i+1)
	return q, c.between(i, c.closing(i))
}
