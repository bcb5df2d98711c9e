package diagnostic

import "strings"

// D001-D009: the text of a statement and its syntax.
var textEntries = []Entry{
	{
		Code:  "D001",
		Title: "the statement is not plain text",
		Explain: "A statement is valid UTF-8 without NUL characters, of at most 64 KiB. Longer ones are mostly lists of " +
			"constants: keep such a list in a file that the catalog declares as a public table, and join it.",
		Example: "SELECT '\xff'",
	},
	{
		Code:  "D002",
		Title: "syntax error",
		Explain: "The statement does not follow PostgreSQL's grammar. The caret stands under the first token that cannot be " +
			"read; the fault is there or just before it. Extensions of other dialects (QUALIFY, TOP, GROUP BY ALL, " +
			"SELECT * EXCLUDE) are syntax errors too.",
		Example: "SELECT count(* FROM visits",
	},
	{
		Code:  "D003",
		Title: "not exactly one statement",
		Explain: "Each statement is analysed, charged and answered by itself, so exactly one is taken at a time. A semicolon " +
			"at its end does no harm.",
		Example: "SELECT 1; SELECT 2",
	},
	{
		Code:  "D004",
		Title: "not a query",
		Explain: "Only SELECT, VALUES and WITH are answered. No statement of an analyst may change data, settings or files. What " +
			"the engine would do with such a statement does not matter: the analyst's text never reaches it.",
		Example: "DROP TABLE visits",
	},
	{
		Code:  "D005",
		Title: "too deeply nested",
		Explain: "Parentheses, CASE, subqueries, joins and chains of operators may nest 200 deep, and a statement may not be so " +
			"entangled that reading it takes more than 200,000 steps. Chains of AND and OR do not count. Moving inner queries " +
			"to WITH makes a statement flat; IN (...) replaces chains of comparisons.",
		Example: "SELECT " + strings.Repeat("NOT ", 201) + "true",
	},
	{
		Code:  "D006",
		Title: "clause not supported",
		Explain: "The clause is SQL, but Discreet does not support it, for one of three reasons: one person's rows could change " +
			"the answer without bound (recursion, DISTINCT ON); it needs a guarantee of its own " +
			"(TABLESAMPLE); or it does not belong to a question (SELECT INTO, FOR UPDATE). What is not " +
			"provably safe is refused. Where there is another way to ask, the hint names it.",
		Example: "SELECT * FROM a NATURAL JOIN b",
	},
	{
		Code:  "D007",
		Title: "expression not supported",
		Explain: "The expression is SQL, but Discreet does not support it: arrays, rows, JSON, XML, parameters, collations, time " +
			"zones, comparisons with ANY and ALL other than = ANY and <> ALL, and operators that are not on the list. It accepts " +
			"only expressions that have PostgreSQL's meaning on every engine and cannot fail on data.",
		Example: "SELECT ARRAY[1, 2]",
	},
	{
		Code:  "D008",
		Title: "value not determined by the data",
		Explain: "The result of the function depends on the time of the call, on the session or on chance. The guarantee holds for " +
			"answers that depend on the data and the noise alone. Write the date or the value itself as a constant.",
		Example: "SELECT now()",
	},
	{
		Code:  "D009",
		Title: "name or number out of range",
		Explain: "There is one schema, public: a table is written by its name in the catalog, a column as column or table.column. Names " +
			"longer than 63 bytes are refused because PostgreSQL would cut them, and numbers have at most 400 digits.",
		Example: "SELECT count(*) FROM clinic.visits",
	},
}
