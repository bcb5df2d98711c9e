package plan

// A Function is an entry of the allow-list of scalar functions and operators:
// each is total, deterministic and bounded in the size of its output, and has
// PostgreSQL's meaning. Package bind types them, package render prints them;
// what is not here is refused.
type Function string

// Operators. Arithmetic arguments have been cast to the common type, which is
// the result's, but those of Multiply on decimals keep their own; Divide
// truncates on integers; decimal division and Power are computed in double
// precision.
const (
	Add      Function = "+"
	Subtract Function = "-"
	Multiply Function = "*"
	Divide   Function = "/"
	Modulo   Function = "mod"
	Negate   Function = "negate"

	Equal          Function = "="
	NotEqual       Function = "<>"
	Less           Function = "<"
	LessOrEqual    Function = "<="
	Greater        Function = ">"
	GreaterOrEqual Function = ">="
	DistinctFrom   Function = "is distinct from"

	And    Function = "and"
	Or     Function = "or"
	Not    Function = "not"
	IsNull Function = "is null"
	IsTrue Function = "is true"
	In     Function = "in" // x, then the list; NULL in the list has PostgreSQL's meaning

	Concat Function = "||" // NULL if either is
)

// Functions, by PostgreSQL's names.
const (
	Coalesce Function = "coalesce"
	NullIf   Function = "nullif"   // the second argument is in the type that both are compared in
	Greatest Function = "greatest" // NULLs are ignored
	Least    Function = "least"

	Abs         Function = "abs"
	Sign        Function = "sign"
	Round       Function = "round" // half away from zero for decimals, half even for doubles; optional digits
	Trunc       Function = "trunc"
	Floor       Function = "floor"
	Ceil        Function = "ceil"
	Exp         Function = "exp"
	Ln          Function = "ln"
	Log10       Function = "log10"
	Sqrt        Function = "sqrt"
	Power       Function = "power"
	WidthBucket Function = "width_bucket" // x, low, high, count: the last three constant

	Lower     Function = "lower"
	Upper     Function = "upper"
	Length    Function = "length" // characters
	Substring Function = "substring"
	LeftPart  Function = "left"
	RightPart Function = "right"
	Trim      Function = "btrim"
	TrimLeft  Function = "ltrim"
	TrimRight Function = "rtrim"
	Replace   Function = "replace"
	Position  Function = "strpos"
	StartsAt  Function = "starts_with"
	SplitPart Function = "split_part"
	Reverse   Function = "reverse"
	InitCap   Function = "initcap"   // the first letter of each run of letters and digits large, the others small
	Translate Function = "translate" // the second and third constant, no character of the second twice
	Like      Function = "like"      // constant pattern
	ILike     Function = "ilike"
	Matches   Function = "~"  // constant pattern, the subset common to POSIX ARE and RE2
	IMatches  Function = "~*" // the same, ignoring case
	CodePoint Function = "ascii"

	// Of a constant pattern whose matches all engines agree on: x, the pattern, and what is named here.
	MatchCount Function = "regexp_count"        // no match is empty
	MatchText  Function = "regexp_substr"       // the number of a group, or 0: the text of the first match; NULL without one
	MatchFirst Function = "regexp_replace"      // a constant text for the first match, see Replacement
	MatchEach  Function = "regexp_replace each" // for all matches, of which none is empty

	DateTrunc    Function = "date_trunc" // constant unit, timestamp
	Extract      Function = "extract"    // constant field; the result is a decimal as in PostgreSQL
	AddInterval  Function = "timestamp + interval"
	AddDays      Function = "date + integer"
	SubtractDays Function = "date - date" // integer days
	Elapsed      Function = "timestamp - timestamp"
)

// Functions that only the rewriter makes.
const (
	// Fixed clamps its first argument to [lower, upper] and returns it as a
	// multiple of the grid, in a bigint; NULL stays NULL. Arguments: x, then
	// literals lower and upper in x's type and the grid's denominator (a power
	// of two for doubles, of ten for decimals, 1 for integers).
	Fixed Function = "fixed"

	// Squared is ⌊x²/2^k⌋ of a bigint x and a literal k, in a bigint.
	Squared Function = "squared"

	// RowKey tells the rows of a table whose unit is the row apart. Arguments:
	// a literal whole number, other for each table, then all of the table's
	// columns. The key of a row is made of its own fields, all of them, and of its
	// number among the rows that equal it: a row more or less takes or gives one
	// key, and changes that of no row that differs from it. In a text.
	RowKey Function = "row key"
)
