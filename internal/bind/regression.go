package bind

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A pair gives the sums over rows in which neither number is NULL, each less a constant in the
// middle of the bounds of its column: n rows, Σx, Σy, Σxy, Σx², Σy². Covariances and the like do
// not depend on such a constant, and a row moves sums of small numbers less.
type pair struct {
	call    *sqlparse.Call
	sum     func(of plan.Expr) plan.Expr
	n       plan.Expr
	x, y    plan.Expr // centred, in double precision
	middleX plan.Expr
	middleY plan.Expr
	at      diagnostic.Span
}

// regressions are the aggregates of two numbers, each as an expression over a pair.
// PostgreSQL's first argument is the dependent number, y.
var regressions = map[string]func(m *pair) plan.Expr{
	"covar_pop":  func(m *pair) plan.Expr { return m.over(m.products(m.x, m.y), m.count()) },
	"covar_samp": func(m *pair) plan.Expr { return m.over(m.products(m.x, m.y), m.minus(m.count(), m.number(1))) },
	"corr": func(m *pair) plan.Expr {
		return m.within(m.over(m.products(m.x, m.y), m.root(m.times(m.products(m.x, m.x), m.products(m.y, m.y)))), -1, 1)
	},
	"regr_count": func(m *pair) plan.Expr { return m.n },
	"regr_avgx":  func(m *pair) plan.Expr { return m.plus(m.middleX, m.over(m.sum(m.x), m.count())) },
	"regr_avgy":  func(m *pair) plan.Expr { return m.plus(m.middleY, m.over(m.sum(m.y), m.count())) },
	"regr_sxx":   func(m *pair) plan.Expr { return m.products(m.x, m.x) },
	"regr_syy":   func(m *pair) plan.Expr { return m.products(m.y, m.y) },
	"regr_sxy":   func(m *pair) plan.Expr { return m.products(m.x, m.y) },
	"regr_slope": (*pair).slope,
	"regr_intercept": func(m *pair) plan.Expr {
		// mean(y) − slope·mean(x), of which the middles are no part yet.
		mean := func(x plan.Expr) plan.Expr { return m.over(m.sum(x), m.count()) }
		return m.plus(m.middleY, m.minus(mean(m.y), m.times(m.slope(), m.plus(m.middleX, mean(m.x)))))
	},
	"regr_r2": func(m *pair) plan.Expr {
		square := m.times(m.products(m.x, m.y), m.products(m.x, m.y))
		spreadX, spreadY := m.products(m.x, m.x), m.products(m.y, m.y)
		level := boolean(plan.And, m.at, boolean(plan.Greater, m.at, spreadX, m.number(0)), boolean(plan.Equal, m.at, spreadY, m.number(0)))
		return &plan.Case{Whens: []plan.When{{Condition: level, Result: m.number(1)}}, // a line without slope fits: PostgreSQL's answer
			Else: m.within(m.over(square, m.times(spreadX, spreadY)), 0, 1), T: typeOf(sqltype.Double), Span: m.at}
	},
}

// regression binds an aggregate of two numbers as what it is of one count and up to five sums,
// which several of them share. With a noisy count below 1, and a spread that noise makes
// none or less, it is NULL, as PostgreSQL's is without rows or spread.
func (c *context) regression(e *sqlparse.Call) plan.Expr {
	if e.Star || len(e.Args) != 2 {
		refuse(diagnostic.New("D016", e.Span, "%s takes two numbers", e.Name.Name).Try("write %s(y, x)", e.Name.Name))
	}
	if e.Distinct || e.Within != nil {
		refuse(diagnostic.New("D018", e.Span, "%s takes no DISTINCT and no WITHIN GROUP", e.Name.Name).Try("write %s(y, x)", e.Name.Name))
	}
	args := c.aggregates.args
	m := &pair{call: e, at: e.Span}
	bothThere := make([]plan.Expr, 0, 3)
	for i, arg := range e.Args {
		x := numeric(e, args.expr(arg))
		bothThere = append(bothThere, boolean(plan.Not, e.Span, boolean(plan.IsNull, e.Span, x)))
		x = cast(x, typeOf(sqltype.Double))
		middle := &plan.Literal{Value: float64(0), T: typeOf(sqltype.Double), Span: e.Span}
		if v, ok := c.aggregates.middle(x); ok {
			middle = &plan.Literal{Value: v, T: typeOf(sqltype.Double), Span: e.Span}
			x = &plan.Call{Function: plan.Subtract, Args: []plan.Expr{x, middle}, T: typeOf(sqltype.Double), Span: e.Span}
		}
		if i == 0 {
			m.y, m.middleY = x, middle
		} else {
			m.x, m.middleX = x, middle
		}
	}
	if e.Filter != nil {
		filter := *args
		filter.clause = "FILTER"
		bothThere = append(bothThere, filter.condition(e.Filter))
	}
	condition := boolean(plan.And, e.Span, bothThere...)
	count := e.Name.Name
	if count != "regr_count" { // which it is alone
		count = "rows of " + count
	}
	m.n = c.collect(plan.Aggregation{Function: plan.CountStar, Filter: condition, Name: count, Type: typeOf(sqltype.Bigint), Span: e.Span})
	m.sum = func(of plan.Expr) plan.Expr {
		return c.collect(plan.Aggregation{Function: plan.Sum, Arg: of, Filter: condition, Name: fmt.Sprintf("sum of %s in %s", m.letters(of), e.Name.Name), Type: typeOf(sqltype.Double), Span: e.Span})
	}
	return regressions[e.Name.Name](m)
}

// letters are what is summed, in the letters of PostgreSQL's pages: corr(y, x).
func (m *pair) letters(of plan.Expr) string {
	switch of {
	case m.x:
		return "x"
	case m.y:
		return "y"
	}
	product := of.(*plan.Call)
	return m.letters(product.Args[0]) + "*" + m.letters(product.Args[1])
}

func (m *pair) op(f plan.Function, args ...plan.Expr) plan.Expr {
	return &plan.Call{Function: f, Args: args, T: typeOf(sqltype.Double), Span: m.at}
}

func (m *pair) number(n float64) plan.Expr {
	return &plan.Literal{Value: n, T: typeOf(sqltype.Double), Span: m.at}
}

func (m *pair) plus(a, b plan.Expr) plan.Expr {
	if l, ok := a.(*plan.Literal); ok && l.Value == float64(0) {
		return b
	}
	return m.op(plan.Add, a, b)
}
func (m *pair) minus(a, b plan.Expr) plan.Expr { return m.op(plan.Subtract, a, b) }
func (m *pair) times(a, b plan.Expr) plan.Expr { return m.op(plan.Multiply, a, b) }

// count is the number of rows in double precision, NULL below 1.
func (m *pair) count() plan.Expr {
	one := &plan.Literal{Value: int64(1), T: typeOf(sqltype.Bigint), Span: m.at}
	n := &plan.Cast{Arg: m.n, T: typeOf(sqltype.Double), Span: m.at}
	return &plan.Case{Whens: []plan.When{{Condition: boolean(plan.GreaterOrEqual, m.at, m.n, one), Result: n}}, T: n.T, Span: m.at}
}

// over divides by what is above 0, and is NULL otherwise.
func (m *pair) over(a, b plan.Expr) plan.Expr {
	above := boolean(plan.Greater, m.at, b, m.number(0))
	return m.op(plan.Divide, a, &plan.Case{Whens: []plan.When{{Condition: above, Result: b}}, T: typeOf(sqltype.Double), Span: m.at})
}

func (m *pair) root(a plan.Expr) plan.Expr { return m.op(plan.Sqrt, a) }

// within keeps a value between its ends; NULL stays.
func (m *pair) within(a plan.Expr, low, high float64) plan.Expr {
	return &plan.Case{Whens: []plan.When{
		{Condition: boolean(plan.Greater, m.at, a, m.number(high)), Result: m.number(high)},
		{Condition: boolean(plan.Less, m.at, a, m.number(low)), Result: m.number(low)}},
		Else: a, T: typeOf(sqltype.Double), Span: m.at}
}

// products is Σ(a−mean a)(b−mean b).
func (m *pair) products(a, b plan.Expr) plan.Expr {
	return m.minus(m.sum(m.times(a, b)), m.op(plan.Divide, m.times(m.sum(a), m.sum(b)), m.count()))
}

func (m *pair) slope() plan.Expr {
	return m.over(m.products(m.x, m.y), m.products(m.x, m.x))
}
