// Package plan is the relational plan between the stages: plain data.
//
// A plan says what a statement means, with every name and type resolved. It
// knows no engine, no privacy and no text beyond the spans that diagnostics
// point at. Columns are referred to by their position in the input.
package plan

import (
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Column is one output column of a node.
type Column struct {
	Name string
	Type sqltype.Type
}

// A Node is a relation.
type Node interface {
	// Columns returns the output columns.
	Columns() []Column
	// Inputs returns the nodes it reads.
	Inputs() []Node
	// Place returns the text it came from, for diagnostics.
	Place() diagnostic.Span
}

// A Scan reads all declared columns of a catalog table.
type Scan struct {
	Table *catalog.Table
	Span  diagnostic.Span
}

// Values is a constant relation: SELECT without FROM, VALUES lists. Public.
type Values struct {
	Names []string
	Types []sqltype.Type
	Rows  [][]Expr // no column references
	Span  diagnostic.Span
}

// A Filter keeps the rows for which Condition is true.
type Filter struct {
	Input     Node
	Condition Expr
	Span      diagnostic.Span
}

// A Project computes one column an expression.
type Project struct {
	Input Node
	Exprs []Expr
	Names []string
	// Declared has, at the place of a column, what a view declares of it: bounds and a public
	// domain, which hold in place of those that follow from the expression. nil declares none.
	Declared []*catalog.Column
	// Found is the table of which these are the rows with the key of their unit behind, as a reference finds it; or nil.
	Found *catalog.Table
	Span  diagnostic.Span
}

// Declares returns what is declared of column i, or nil.
func (n *Project) Declares(i int) *catalog.Column {
	if n.Declared == nil {
		return nil
	}
	return n.Declared[i]
}

// A JoinKind says which unmatched rows a join keeps.
type JoinKind uint8

// The joins. Semi and Anti keep the left columns alone; they come from IN and
// EXISTS subqueries.
const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Cross
	Semi
	Anti
)

var joinNames = [...]string{"INNER", "LEFT", "RIGHT", "FULL", "CROSS", "SEMI", "ANTI"}

// String returns the join's SQL word.
func (k JoinKind) String() string { return joinNames[k] }

// A Join combines two relations. On refers to the left columns and then the
// right ones; it is nil for Cross.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	On          Expr
	Span        diagnostic.Span
}

// A Union concatenates relations of equal types (UNION ALL).
type Union struct {
	Branches []Node
	Span     diagnostic.Span
}

// An Aggregate groups by Keys, NULL being a key like any other. Its columns
// are the keys and then the aggregations. Without keys it has exactly one row.
type Aggregate struct {
	Input        Node
	Keys         []Expr
	Names        []string // of the keys
	Aggregations []Aggregation
	Limits       *Limits // or nil
	Sets         *Sets   // of which this is number Set, or, where that is −1, the finest; or nil
	Set          int
	Among        *Among // or nil
	Span         diagnostic.Span
}

// Among says which groups of an aggregation are asked for: those of keys that public rows name. Numbered are
// these keys, distinct, and behind them their number from 1, in their order.
type Among struct {
	Numbered Node   // where Number is, a *Stage of them
	Null     []bool // the keys of which NULL names the group of NULL
	Beside   bool   // the aggregation is joined with private rows
	Number   bool   // it is grouped by the number
}

// Sets are the grouping sets of one SELECT, each an Aggregate over the same input with the same
// aggregations.
type Sets struct {
	Keys   []Expr // of all sets together: the finest grouping
	Names  []string
	Levels [][]int // the sets, by numbers of keys, each ascending
}

// Limits are what a statement says of an aggregation over private rows, beside what the
// catalog declares.
type Limits struct {
	Groups int64  // in how many groups a unit counts; 0 if it does not say
	Rows   int64  // with how many rows in all, likewise
	Unit   string // the column that holds the unit; "" if it does not say
	Public bool   // the groups may not depend on the data
	Span   diagnostic.Span
}

// A SortKey orders by an expression.
type SortKey struct {
	Expr       Expr
	Descending bool
	NullsFirst bool
}

// A Sort orders rows.
type Sort struct {
	Input Node
	Keys  []SortKey
	Span  diagnostic.Span
}

// A Limit keeps Count rows (all if negative) after Offset.
type Limit struct {
	Input         Node
	Count, Offset int64
	Span          diagnostic.Span
}

// A Released stands, in post-processing, for the released table number Index.
type Released struct {
	Index int
	Cols  []Column
	Span  diagnostic.Span
}

// A Stage stands, below a release, for a relation of constants: what was computed, before that release,
// from the releases before it. Index is its number among the statement's.
type Stage struct {
	Index int
	Cols  []Column
	Span  diagnostic.Span
}

func (n *Scan) Columns() []Column {
	cols := make([]Column, len(n.Table.Columns))
	for i, c := range n.Table.Columns {
		cols[i] = Column{c.Name, c.Type}
	}
	return cols
}

func (n *Values) Columns() []Column {
	cols := make([]Column, len(n.Types))
	for i := range cols {
		cols[i] = Column{n.Names[i], n.Types[i]}
	}
	return cols
}

func (n *Project) Columns() []Column { return named(n.Names, n.Exprs) }

func (n *Join) Columns() []Column {
	if n.Kind == Semi || n.Kind == Anti {
		return n.Left.Columns()
	}
	l, r := n.Left.Columns(), n.Right.Columns()
	return append(l[:len(l):len(l)], r...)
}

func (n *Aggregate) Columns() []Column {
	cols := named(n.Names, n.Keys)
	for _, a := range n.Aggregations {
		cols = append(cols, Column{a.Name, a.Type})
	}
	return cols
}

func (n *Filter) Columns() []Column   { return n.Input.Columns() }
func (n *Union) Columns() []Column    { return n.Branches[0].Columns() }
func (n *Sort) Columns() []Column     { return n.Input.Columns() }
func (n *Limit) Columns() []Column    { return n.Input.Columns() }
func (n *Released) Columns() []Column { return n.Cols }
func (n *Stage) Columns() []Column    { return n.Cols }

func named(names []string, exprs []Expr) []Column {
	cols := make([]Column, len(exprs))
	for i, e := range exprs {
		cols[i] = Column{names[i], e.Type()}
	}
	return cols
}

func (n *Scan) Inputs() []Node      { return nil }
func (n *Values) Inputs() []Node    { return nil }
func (n *Released) Inputs() []Node  { return nil }
func (n *Stage) Inputs() []Node     { return nil }
func (n *Filter) Inputs() []Node    { return []Node{n.Input} }
func (n *Project) Inputs() []Node   { return []Node{n.Input} }
func (n *Join) Inputs() []Node      { return []Node{n.Left, n.Right} }
func (n *Union) Inputs() []Node     { return n.Branches }
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }
func (n *Sort) Inputs() []Node      { return []Node{n.Input} }
func (n *Limit) Inputs() []Node     { return []Node{n.Input} }

func (n *Scan) Place() diagnostic.Span      { return n.Span }
func (n *Values) Place() diagnostic.Span    { return n.Span }
func (n *Released) Place() diagnostic.Span  { return n.Span }
func (n *Stage) Place() diagnostic.Span     { return n.Span }
func (n *Filter) Place() diagnostic.Span    { return n.Span }
func (n *Project) Place() diagnostic.Span   { return n.Span }
func (n *Join) Place() diagnostic.Span      { return n.Span }
func (n *Union) Place() diagnostic.Span     { return n.Span }
func (n *Aggregate) Place() diagnostic.Span { return n.Span }
func (n *Sort) Place() diagnostic.Span      { return n.Span }
func (n *Limit) Place() diagnostic.Span     { return n.Span }
