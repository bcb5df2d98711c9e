package bind

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A context is where an expression stands.
type context struct {
	*binder
	env    *environment
	scope  *scope
	clause string // for messages: "WHERE"

	// aggregates collects the aggregates of a grouped SELECT; nil where none
	// may stand.
	aggregates *aggregates

	// windows collects the window functions of a SELECT; nil where none may stand. named are
	// those of its WINDOW clause.
	windows *windows
	named   []*sqlparse.Window

	// attach joins a relation of one row and returns its column; nil where no
	// scalar subquery may stand.
	attach func(plan.Node) plan.Expr
	// rows are those of which an expression is, which a subquery that refers to them is joined to; nil
	// where none may.
	rows *rows
}

// expr binds an expression. The result may be an *unknown.
func (c *context) expr(e sqlparse.Expr) plan.Expr {
	switch e := e.(type) {
	case *sqlparse.Name:
		return c.scope.column(e)
	case *sqlparse.Number:
		return number(e.Text, e.Span)
	case *sqlparse.String:
		return &unknown{text: &e.Value, at: e.Span}
	case *sqlparse.Parameter:
		return c.parameter(e)
	case *sqlparse.NullConst:
		return &unknown{at: e.Span}
	case *sqlparse.Bool:
		return &plan.Literal{Value: e.Value, T: typeOf(sqltype.Boolean), Span: e.Span}
	case *sqlparse.Unary:
		return c.unary(e)
	case *sqlparse.Binary:
		return c.binary(e)
	case *sqlparse.Call:
		return c.call(e)
	case *sqlparse.Case:
		return c.caseExpr(e)
	case *sqlparse.Cast:
		return c.cast(e)
	case *sqlparse.InList:
		return c.inList(e)
	case *sqlparse.InArray:
		return c.inArray(e)
	case *sqlparse.Between:
		return c.between(e)
	case *sqlparse.Is:
		return c.is(e)
	case *sqlparse.DistinctFrom:
		l, r := c.comparable(c.expr(e.Left), c.expr(e.Right), "IS DISTINCT FROM", e.Span)
		return negateIf(e.Not, boolean(plan.DistinctFrom, e.Span, l, r))
	case *sqlparse.Like:
		return c.like(e)
	case *sqlparse.Scalar:
		return c.scalar(e)
	case *sqlparse.InQuery:
		refuse(misplaced(e.Span, "IN (SELECT ...)"))
	case *sqlparse.Exists:
		refuse(misplaced(e.Span, "EXISTS"))
	}
	refuse(diagnostic.New("D015", e.Place(), "this expression is not supported").Try("discreet help D013 lists the functions").By(diagnostic.ListFunctions))
	return nil
}

func misplaced(at diagnostic.Span, what string) *diagnostic.Diagnostic {
	return diagnostic.New("D022", at, "%s must be a condition of its own in WHERE or HAVING", what).
		Because("it becomes a join, which keeps or drops whole rows").
		Try("combine it with the other conditions by AND, or use a LEFT JOIN and test for NULL")
}

// value binds an expression and gives it a type.
func (c *context) value(e sqlparse.Expr) plan.Expr { return known(c.expr(e)) }

// condition binds a boolean.
func (c *context) condition(e sqlparse.Expr) plan.Expr {
	return c.boolean(c.expr(e), c.clause)
}

func (c *context) boolean(e plan.Expr, what string) plan.Expr {
	if t := e.Type(); t.Kind != sqltype.Boolean && t.Kind != sqltype.Null {
		refuse(diagnostic.New("D015", e.Place(), "%s wants a condition, not %s", what, article(t)).
			Try("compare it with a value"))
	}
	return coerceUnknown(e, typeOf(sqltype.Boolean))
}

// boolean makes a call that returns a boolean.
func boolean(f plan.Function, at diagnostic.Span, args ...plan.Expr) plan.Expr {
	return &plan.Call{Function: f, Args: args, T: typeOf(sqltype.Boolean), Span: at}
}

func negateIf(not bool, e plan.Expr) plan.Expr {
	if not {
		return boolean(plan.Not, e.Place(), e)
	}
	return e
}

func (c *context) unary(e *sqlparse.Unary) plan.Expr {
	if e.Op == "not" {
		return boolean(plan.Not, e.Span, c.boolean(c.expr(e.Arg), "NOT"))
	}
	arg := c.expr(e.Arg)
	if u, ok := arg.(*unknown); ok {
		arg = u.as(typeOf(sqltype.Double)) // PostgreSQL prefers double among numbers
	}
	switch t := arg.Type(); {
	case !t.IsNumeric() && (t.Kind != sqltype.IntervalKind || e.Op == "+"):
		refuse(noOperator(e.Span, e.Op, t))
	case e.Op == "-":
		return &plan.Call{Function: plan.Negate, Args: []plan.Expr{arg}, T: t, Span: e.Span}
	}
	return arg
}

func (c *context) caseExpr(e *sqlparse.Case) plan.Expr {
	var operand plan.Expr
	if e.Operand != nil {
		operand = c.value(e.Operand)
		c.repeat(operand, len(e.Whens)-1)
	}
	var conditions, results []plan.Expr
	for _, w := range e.Whens {
		cond := c.expr(w.Condition)
		if operand != nil {
			l, r := c.comparable(operand, cond, "CASE", w.Condition.Place())
			cond = boolean(plan.Equal, w.Condition.Place(), l, r)
		}
		conditions = append(conditions, c.boolean(cond, "WHEN"))
		results = append(results, c.expr(w.Result))
	}
	if e.Else != nil {
		results = append(results, c.expr(e.Else))
	}
	results, t := unify(results, "CASE")
	out := &plan.Case{T: t, Span: e.Span}
	for i, cond := range conditions {
		out.Whens = append(out.Whens, plan.When{Condition: cond, Result: results[i]})
	}
	if e.Else != nil {
		out.Else = results[len(results)-1]
	}
	return out
}

// unify converts expressions to their common type; text if all are undecided.
func unify(exprs []plan.Expr, what string) ([]plan.Expr, sqltype.Type) {
	t := typeOf(sqltype.Null)
	for _, e := range exprs {
		next, ok := common(t, e.Type())
		if !ok {
			refuse(diagnostic.New("D015", e.Place(), "%s cannot combine %s and %s", what, article(t), article(e.Type())).
				Try("convert one of them: CAST(... AS %s)", t))
		}
		t = next
	}
	if t.Kind == sqltype.Null {
		t = typeOf(sqltype.Text)
	}
	out := make([]plan.Expr, len(exprs))
	for i, e := range exprs {
		out[i] = cast(coerceUnknown(e, t), t)
	}
	return out, t
}

func (c *context) inList(e *sqlparse.InList) plan.Expr {
	args := []plan.Expr{c.expr(e.Arg)}
	for _, item := range e.List {
		args = append(args, c.expr(item))
	}
	return in(args, e.Not, e.Span)
}

// in is whether the first of some expressions is among the others.
func in(args []plan.Expr, not bool, at diagnostic.Span) plan.Expr {
	t := typeOf(sqltype.Null)
	for _, e := range args {
		t, _ = common(t, e.Type()) // unify refuses where there is none
	}
	for i, e := range args {
		args[i] = compared(e, t)
	}
	args, t = unify(args, "IN")
	checkOrdered(t, at, "IN")
	return negateIf(not, boolean(plan.In, at, args...))
}

func (c *context) between(e *sqlparse.Between) plan.Expr {
	// Each bound has its own comparison, as in PostgreSQL.
	arg, low, high := c.expr(e.Arg), c.expr(e.Low), c.expr(e.High)
	c.repeat(arg, 1)
	in := func(low, high plan.Expr) plan.Expr {
		return boolean(plan.And, e.Span, c.compare(plan.GreaterOrEqual, arg, low, e.Span), c.compare(plan.LessOrEqual, arg, high, e.Span))
	}
	out := in(low, high)
	if e.Symmetric {
		for _, twice := range []plan.Expr{arg, arg, low, high} {
			c.repeat(twice, 1)
		}
		out = boolean(plan.Or, e.Span, out, in(high, low))
	}
	return negateIf(e.Not, out)
}

func (c *context) is(e *sqlparse.Is) plan.Expr {
	arg := c.expr(e.Arg)
	if e.What == "null" {
		return negateIf(e.Not, boolean(plan.IsNull, e.Span, known(arg)))
	}
	arg = c.boolean(arg, "IS "+strings.ToUpper(e.What))
	var out plan.Expr
	switch e.What {
	case "true":
		out = boolean(plan.IsTrue, e.Span, arg)
	case "false":
		out = boolean(plan.IsTrue, e.Span, boolean(plan.Not, e.Span, arg))
	default: // unknown
		out = boolean(plan.IsNull, e.Span, arg)
	}
	return negateIf(e.Not, out)
}
