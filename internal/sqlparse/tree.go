// Package sqlparse turns SQL text into Discreet's own small tree. It is the
// only package that knows the parser.
//
// It guarantees that whatever it does not model is refused with its place:
// nothing of the analyst's text is passed on. Text length and nesting are
// bounded before the parser runs, so no text makes it hang or overflow. It
// knows no names and no types.
package sqlparse

import "github.com/discreet-dp/discreet/internal/diagnostic"

// An Ident is a name as PostgreSQL folds it: lower case unless quoted.
type Ident struct {
	Name   string
	Span   diagnostic.Span
	Quoted bool // written in double quotes
}

// A Query is a statement or subquery.
type Query struct {
	With          []CTE
	Body          Body
	OrderBy       []OrderItem
	Limit, Offset Expr // or nil
	// Privacy is, in a whole statement, the clause of the one of its SELECTs that has one.
	Privacy *Privacy
	Span    diagnostic.Span
}

// A CTE is one WITH item.
type CTE struct {
	Name    Ident
	Columns []Ident
	Query   *Query
}

// A Body is a *Select, *SetOperation or *ValuesList, or a nested *Query in
// parentheses with its own ORDER BY or LIMIT.
type Body interface{ body() }

// A Select is SELECT ... FROM ... WHERE ... GROUP BY ... HAVING.
type Select struct {
	Distinct bool
	On       []Expr // of DISTINCT ON
	Items    []Item
	From     []TableExpr // comma-separated
	Where    Expr
	GroupBy  []Expr
	Sets     [][]int // grouping sets, by their numbers in GroupBy; nil for one of all
	Having   Expr
	Windows  []*Window // of WINDOW
	Privacy  *Privacy  // or nil
	Span     diagnostic.Span
}

// A SetOperation is UNION, UNION ALL, INTERSECT or EXCEPT; the others are refused.
type SetOperation struct {
	Op          string // UNION, INTERSECT, EXCEPT
	All         bool   // of UNION alone
	Left, Right Body
	Span        diagnostic.Span
}

// A ValuesList is VALUES (...), (...).
type ValuesList struct {
	Rows [][]Expr
	Span diagnostic.Span
}

func (*Select) body()       {}
func (*SetOperation) body() {}
func (*ValuesList) body()   {}
func (*Query) body()        {}

// An Item is one of the select list: an expression, * or qualifier.*.
type Item struct {
	Star      bool
	Qualifier Ident // of a star; may be empty
	Expr      Expr
	Alias     Ident // may be empty
	Span      diagnostic.Span
}

// An OrderItem is one ORDER BY key. NullsFirst has PostgreSQL's default
// filled in (last when ascending, first when descending).
type OrderItem struct {
	Expr       Expr
	Descending bool
	NullsFirst bool
}

// A TableExpr is a *TableName, *Subquery or *JoinExpr.
type TableExpr interface{ tableExpr() }

// A TableName refers to a table or CTE.
type TableName struct {
	Name     Ident
	Declared bool    // written with the schema: no CTE
	Alias    Ident   // may be empty
	Columns  []Ident // of the alias
	Span     diagnostic.Span
}

// Schema is the one schema that declared tables are in, for clients that write it.
const Schema = "public"

// A Subquery is (SELECT ...) AS alias.
type Subquery struct {
	Lateral bool // it may refer to the tables before it
	Query   *Query
	Alias   Ident // may be empty
	Columns []Ident
	Span    diagnostic.Span
}

// A JoinKind is the kind of a JoinExpr.
type JoinKind uint8

// The joins. NATURAL is refused: its meaning depends on undeclared names.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
)

// A JoinExpr joins two tables; exactly one of On and Using is set, neither for
// a cross join.
type JoinExpr struct {
	Kind        JoinKind
	Left, Right TableExpr
	On          Expr
	Using       []Ident
	Span        diagnostic.Span
}

func (*TableName) tableExpr() {}
func (*Subquery) tableExpr()  {}
func (*JoinExpr) tableExpr()  {}

// An Expr is a scalar expression.
type Expr interface{ Place() diagnostic.Span }

type (
	// A Name is column or table.column.
	Name struct {
		Qualifier, Column Ident
		Span              diagnostic.Span
	}
	// A Number is a numeric constant in decimal notation: integer or decimal,
	// perhaps with an exponent and, as PostgreSQL folds it, a minus sign. It
	// has at most 400 digits and an exponent of at most 400.
	Number struct {
		Text string
		Span diagnostic.Span
	}
	// A Parameter is $1 or another: a constant that comes beside the text.
	Parameter struct {
		Number int // from 1, at most MaxParameters
		Span   diagnostic.Span
	}
	// A String is a quoted constant, of unknown type until a context gives it one.
	String struct {
		Value string
		Span  diagnostic.Span
	}
	// A Bool is TRUE or FALSE.
	Bool struct {
		Value bool
		Span  diagnostic.Span
	}
	// A NullConst is NULL.
	NullConst struct{ Span diagnostic.Span }
	// A Unary is NOT x, -x or +x. Op is "not", "-" or "+".
	Unary struct {
		Op   string
		Arg  Expr
		Span diagnostic.Span
	}
	// A Binary is an infix operator: and or + - * / % ^ || = <> < <= > >= ~ ~* !~ !~*.
	Binary struct {
		Op          string
		Left, Right Expr
		OpSpan      diagnostic.Span
		Span        diagnostic.Span
	}
	// A Call is a function or aggregate call. EXTRACT(f FROM x), SUBSTRING,
	// POSITION, TRIM and COALESCE, NULLIF, GREATEST, LEAST come as calls of
	// those lower-case names (position(a in b) as strpos(b, a)).
	Call struct {
		Name     Ident
		Args     []Expr
		Star     bool // count(*)
		Distinct bool
		Filter   Expr
		Within   Expr    // x of WITHIN GROUP (ORDER BY x), or nil
		Over     *Window // or nil
		Span     diagnostic.Span
	}
	// An Array is ARRAY[a, b, ...], as the first argument of a call with Within alone.
	Array struct {
		Items []Expr // at least one
		Span  diagnostic.Span
	}
	// A Case is CASE [operand] WHEN ... THEN ... ELSE ... END.
	Case struct {
		Operand Expr // or nil
		Whens   []When
		Else    Expr // or nil
		Span    diagnostic.Span
	}
	// A Cast is CAST(x AS t), x::t or a typed literal such as DATE '2025-01-01'
	// or INTERVAL '1 day'. Type is the name as written, lower case, with its
	// modifiers: "numeric(10,2)".
	Cast struct {
		Arg      Expr
		Type     string
		TypeSpan diagnostic.Span
		Span     diagnostic.Span
	}
	// An InList is x [NOT] IN (a, b, ...).
	InList struct {
		Arg  Expr
		List []Expr
		Not  bool
		Span diagnostic.Span
	}
	// An InArray is x = ANY (array), or x <> ALL (array) where Not is set. Array is a Parameter, a
	// String that holds an array, or NULL; Type is that of the elements, as a Cast's, where the array
	// is converted, and empty where it is not.
	InArray struct {
		Arg, Array Expr
		Type       string
		Not        bool
		Span       diagnostic.Span
	}
	// An InQuery is x [NOT] IN (SELECT ...).
	InQuery struct {
		Arg   Expr
		Query *Query
		Not   bool
		Span  diagnostic.Span
	}
	// An Exists is EXISTS (SELECT ...).
	Exists struct {
		Query *Query
		Span  diagnostic.Span
	}
	// A Scalar is a subquery used as a value.
	Scalar struct {
		Query *Query
		Span  diagnostic.Span
	}
	// A Between is x [NOT] BETWEEN [SYMMETRIC] a AND b.
	Between struct {
		Arg, Low, High Expr
		Not, Symmetric bool
		Span           diagnostic.Span
	}
	// An Is is x IS [NOT] NULL, TRUE, FALSE or UNKNOWN; What is that word, lower case.
	Is struct {
		Arg  Expr
		What string
		Not  bool
		Span diagnostic.Span
	}
	// A DistinctFrom is a IS [NOT] DISTINCT FROM b.
	DistinctFrom struct {
		Left, Right Expr
		Not         bool
		Span        diagnostic.Span
	}
	// A Like is x [NOT] LIKE | ILIKE pattern.
	Like struct {
		Arg, Pattern     Expr
		Insensitive, Not bool
		Span             diagnostic.Span
	}
)

// A When is one branch of a Case.
type When struct{ Condition, Result Expr }

func (e *Name) Place() diagnostic.Span         { return e.Span }
func (e *Number) Place() diagnostic.Span       { return e.Span }
func (e *String) Place() diagnostic.Span       { return e.Span }
func (e *Parameter) Place() diagnostic.Span    { return e.Span }
func (e *Bool) Place() diagnostic.Span         { return e.Span }
func (e *NullConst) Place() diagnostic.Span    { return e.Span }
func (e *Unary) Place() diagnostic.Span        { return e.Span }
func (e *Binary) Place() diagnostic.Span       { return e.Span }
func (e *Call) Place() diagnostic.Span         { return e.Span }
func (e *Array) Place() diagnostic.Span        { return e.Span }
func (e *Case) Place() diagnostic.Span         { return e.Span }
func (e *Cast) Place() diagnostic.Span         { return e.Span }
func (e *InList) Place() diagnostic.Span       { return e.Span }
func (e *InArray) Place() diagnostic.Span      { return e.Span }
func (e *InQuery) Place() diagnostic.Span      { return e.Span }
func (e *Exists) Place() diagnostic.Span       { return e.Span }
func (e *Scalar) Place() diagnostic.Span       { return e.Span }
func (e *Between) Place() diagnostic.Span      { return e.Span }
func (e *Is) Place() diagnostic.Span           { return e.Span }
func (e *DistinctFrom) Place() diagnostic.Span { return e.Span }
func (e *Like) Place() diagnostic.Span         { return e.Span }
