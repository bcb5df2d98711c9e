package statement

// A Statement is one statement of a text.
type Statement struct {
	Start, End int     // bytes of the text, without the semicolon
	Select     *Select // nil if it is no SELECT, VALUES, TABLE or WITH query
}

// A Select is a query: one SELECT, the rows of a VALUES, or two queries under an operator.
type Select struct {
	With      []*CTE
	Recursive bool

	// UNION, INTERSECT, EXCEPT; "" for a single query.
	Op          string
	All         bool
	Left, Right *Select

	Values [][]Expr

	Distinct   bool
	DistinctOn []Expr
	Targets    []Target
	From       []From
	Where      Expr
	Group      []Expr
	Having     Expr
	Windows    []*Window

	Order         []Order
	Limit, Offset Expr
}

// A CTE is a query that WITH names.
type CTE struct {
	Name    string
	Columns []string
	Query   *Select
}

// A Target is a column of the result.
type Target struct {
	Name string // given by AS, or ""
	Expr Expr
	At   int
}

// An Order is a key of ORDER BY.
type Order struct {
	Expr       Expr
	Desc       bool
	NullsFirst bool
}

// A Window is what OVER or WINDOW says. A frame is not modelled: Framed says that there
// is one.
type Window struct {
	Name, Refers string
	Partition    []Expr
	Order        []Order
	Framed       bool
}

// An Alias renames a relation and its columns.
type Alias struct {
	Name    string
	Columns []string
}

// From is one of *Relation, *Subselect, *Functions, *Join.
type From interface{ from() }

// A Relation is a name in FROM.
type Relation struct {
	Database, Schema, Name string
	Alias                  Alias
	At                     int
}

// A Subselect is a query in FROM.
type Subselect struct {
	Query   *Select
	Lateral bool
	Alias   Alias
}

// Functions are calls in FROM, side by side.
type Functions struct {
	Calls      []Expr
	Columns    []ColumnDef // of AS f(a int, b text)
	Ordinality bool
	Alias      Alias
}

// A ColumnDef is a column that a function of records is said to have.
type ColumnDef struct {
	Name string
	Type *Type
}

// A Join is of two items of FROM.
type Join struct {
	Kind        string // "inner", "left", "right", "full"
	Natural     bool
	Left, Right From
	Using       []string
	On          Expr
	Alias       Alias
}

func (*Relation) from()  {}
func (*Subselect) from() {}
func (*Functions) from() {}
func (*Join) from()      {}

// A Type is a type as it is written.
type Type struct {
	Schema, Name string
	Modifiers    []Expr
	Array        bool
	At           int
}

// Expr is an expression: a pointer to one of the types below.
type Expr interface{ expr() }

type (
	// A Const is a constant: nil, bool, int64, Number, or string (of unknown type).
	Const struct {
		Value any
		At    int
	}
	// A Number is a constant that is no integer of 32 bits, as it is written.
	Number string
	// A Bits is a constant B'...' or X'...', with its letter in front.
	Bits string
	// A Param is $N.
	Param struct{ N, At int }
	// A Column is a name of parts, the last of which may be a star.
	Column struct {
		Parts []string
		Star  bool
		At    int
	}
	// A Call is a function or an aggregate.
	Call struct {
		Schema, Name string
		Args         []Expr
		Names        []string // of named arguments, or nil
		Star         bool
		Distinct     bool
		Variadic     bool
		Within       bool // WITHIN GROUP (ORDER BY ...)
		Order        []Order
		Filter       Expr
		Over         *Window
		At           int
	}
	// An Op is an operator between two operands, or before one.
	Op struct {
		Name        string
		Left, Right Expr // Left may be nil
		At          int
	}
	// A Quantified is x = ANY (array), x = ALL (array), x IN (list).
	Quantified struct {
		Op    string
		All   bool
		X     Expr
		Array Expr   // nil for a list
		List  []Expr // of IN
		At    int
	}
	// A Distinction is IS [NOT] DISTINCT FROM.
	Distinction struct {
		Not  bool // IS NOT DISTINCT FROM
		X, Y Expr
		At   int
	}
	// A Between is x [NOT] BETWEEN [SYMMETRIC] low AND high.
	Between struct {
		X, Low, High   Expr
		Not, Symmetric bool
		At             int
	}
	// A Logic is AND, OR, NOT.
	Logic struct {
		Op   string
		Args []Expr
	}
	// A Test is IS NULL, IS TRUE, IS FALSE, IS UNKNOWN, or the contrary.
	Test struct {
		X    Expr
		Not  bool
		What string // "null", "true", "false", "unknown"
	}
	// A Cast is CAST(x AS type).
	Cast struct {
		X    Expr
		Type *Type
		At   int
	}
	// A Case is CASE. Operand may be nil.
	Case struct {
		Operand Expr
		When    []When
		Else    Expr
		At      int
	}
	// A Sublink is a query in an expression.
	Sublink struct {
		Kind  string // "exists", "any", "all", "scalar", "array"
		X     Expr   // of any and all
		Op    string
		Query *Select
		At    int
	}
	// An Array is ARRAY[...].
	Array struct {
		Items []Expr
		At    int
	}
	// A Row is ROW(...).
	Row struct{ Items []Expr }
	// An Index is x[i] or x[i:j].
	Index struct {
		X        Expr
		Slice    bool
		Lower, I Expr // Lower only of a slice; either may be nil there
		At       int
	}
	// A Field is (x).name, or (x).*.
	Field struct {
		X    Expr
		Name string
		Star bool
		At   int
	}
	// A Coalesce is COALESCE, or GREATEST or LEAST.
	Coalesce struct {
		Name string
		Args []Expr
		At   int
	}
	// A Nullif is NULLIF(x, y).
	Nullif struct {
		X, Y Expr
		At   int
	}
	// A Named is current_user and its like.
	Named struct{ Name string }
)

// A When is a branch of CASE.
type When struct{ If, Then Expr }

func (*Const) expr()       {}
func (*Param) expr()       {}
func (*Column) expr()      {}
func (*Call) expr()        {}
func (*Op) expr()          {}
func (*Quantified) expr()  {}
func (*Distinction) expr() {}
func (*Between) expr()     {}
func (*Logic) expr()       {}
func (*Test) expr()        {}
func (*Cast) expr()        {}
func (*Case) expr()        {}
func (*Sublink) expr()     {}
func (*Array) expr()       {}
func (*Row) expr()         {}
func (*Index) expr()       {}
func (*Field) expr()       {}
func (*Coalesce) expr()    {}
func (*Nullif) expr()      {}
func (*Named) expr()       {}
