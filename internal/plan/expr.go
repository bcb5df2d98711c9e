package plan

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// An Expr is a scalar expression over the columns of a node's input. Every
// expression is total: where PostgreSQL would raise an error on a row's values
// (overflow, division by zero, a failing cast) its value is NULL.
type Expr interface {
	Type() sqltype.Type
	Place() diagnostic.Span
}

// A Ref is the input's column number Index.
type Ref struct {
	Index int
	Name  string // for printing
	T     sqltype.Type
	Span  diagnostic.Span
}

// A Literal is a constant.
type Literal struct {
	Value sqltype.Value
	T     sqltype.Type
	Span  diagnostic.Span
}

// A Call applies a function or operator of the allow-list. The binder has cast
// the arguments to the types that the overload wants.
type Call struct {
	Function Function
	Args     []Expr
	T        sqltype.Type
	Span     diagnostic.Span
}

// A Case is CASE WHEN ... END; Else may be nil (NULL).
type Case struct {
	Whens []When
	Else  Expr
	T     sqltype.Type
	Span  diagnostic.Span
}

// A When is one branch.
type When struct{ Condition, Result Expr }

// A Cast converts; a value that the type cannot hold becomes NULL.
type Cast struct {
	Arg  Expr
	T    sqltype.Type
	Span diagnostic.Span
}

func (e *Ref) Type() sqltype.Type     { return e.T }
func (e *Literal) Type() sqltype.Type { return e.T }
func (e *Call) Type() sqltype.Type    { return e.T }
func (e *Case) Type() sqltype.Type    { return e.T }
func (e *Cast) Type() sqltype.Type    { return e.T }

func (e *Ref) Place() diagnostic.Span     { return e.Span }
func (e *Literal) Place() diagnostic.Span { return e.Span }
func (e *Call) Place() diagnostic.Span    { return e.Span }
func (e *Case) Place() diagnostic.Span    { return e.Span }
func (e *Cast) Place() diagnostic.Span    { return e.Span }

// An AggregateFunction is one of SQL's aggregates.
type AggregateFunction string

// The aggregates. BoolAnd and BoolOr serve per-unit aggregation and post-processing; they
// are no releases.
const (
	CountStar  AggregateFunction = "count(*)"
	Count      AggregateFunction = "count"
	Sum        AggregateFunction = "sum"
	Avg        AggregateFunction = "avg"
	VarPop     AggregateFunction = "var_pop"
	VarSamp    AggregateFunction = "var_samp"
	StddevPop  AggregateFunction = "stddev_pop"
	StddevSamp AggregateFunction = "stddev_samp"
	Min        AggregateFunction = "min"
	Max        AggregateFunction = "max"
	BoolAnd    AggregateFunction = "bool_and"
	BoolOr     AggregateFunction = "bool_or"

	// Quantiles, at Aggregation.Fraction.
	PercentileCont AggregateFunction = "percentile_cont"
	PercentileDisc AggregateFunction = "percentile_disc"
)

// An Aggregation is one aggregate of an Aggregate node.
type Aggregation struct {
	Function AggregateFunction
	Distinct bool // count(DISTINCT x) only
	Arg      Expr // nil for count(*)
	Filter   Expr // or nil
	// Fraction is which quantile is meant, between 0 and 1; nil of other aggregates.
	Fraction *big.Rat
	Name     string
	Type     sqltype.Type
	Span     diagnostic.Span
}

// Walk calls f for e and every expression below it, outermost first, as long
// as f returns true.
func Walk(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	switch e := e.(type) {
	case *Call:
		for _, a := range e.Args {
			Walk(a, f)
		}
	case *Case:
		for _, w := range e.Whens {
			Walk(w.Condition, f)
			Walk(w.Result, f)
		}
		Walk(e.Else, f)
	case *Cast:
		Walk(e.Arg, f)
	}
}

// Map returns e with every Ref replaced by f's result.
func Map(e Expr, f func(*Ref) Expr) Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case *Ref:
		return f(e)
	case *Call:
		c := *e
		c.Args = mapAll(e.Args, f)
		return &c
	case *Case:
		c := *e
		c.Whens = make([]When, len(e.Whens))
		for i, w := range e.Whens {
			c.Whens[i] = When{Map(w.Condition, f), Map(w.Result, f)}
		}
		c.Else = Map(e.Else, f)
		return &c
	case *Cast:
		c := *e
		c.Arg = Map(e.Arg, f)
		return &c
	}
	return e
}

// mapAll maps a list of expressions.
func mapAll(es []Expr, f func(*Ref) Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = Map(e, f)
	}
	return out
}
