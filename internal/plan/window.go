package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Window computes for each row of its input functions of the rows around it. Its columns are
// the input's, and then the functions.
type Window struct {
	Input     Node
	Functions []WindowFunction
	Span      diagnostic.Span
}

// Functions that stand over a window alone, beside the aggregates count(*), count, sum, avg, min,
// max, bool_and and bool_or.
const (
	RowNumber   AggregateFunction = "row_number"
	Rank        AggregateFunction = "rank"
	DenseRank   AggregateFunction = "dense_rank"
	PercentRank AggregateFunction = "percent_rank"
	CumeDist    AggregateFunction = "cume_dist"
	Ntile       AggregateFunction = "ntile"
	Lag         AggregateFunction = "lag"
	Lead        AggregateFunction = "lead"
	FirstValue  AggregateFunction = "first_value"
	LastValue   AggregateFunction = "last_value"
	NthValue    AggregateFunction = "nth_value"
)

// A WindowFunction is one function over one window.
type WindowFunction struct {
	Function AggregateFunction
	// Args are the argument of an aggregate; of lag and lead the value, a literal bigint and
	// perhaps a default; of ntile a literal, of nth_value the value and a literal.
	Args      []Expr
	Filter    Expr // of aggregates; or nil
	Partition []Expr
	Order     []SortKey
	Frame     *Frame // nil: of functions that have none, or PostgreSQL's default
	Name      string
	Type      sqltype.Type
	Span      diagnostic.Span
}

// A FrameMode says what the ends of a frame count.
type FrameMode string

// The modes.
const (
	RowsMode   FrameMode = "ROWS"
	RangeMode  FrameMode = "RANGE"
	GroupsMode FrameMode = "GROUPS"
)

// A Frame is which rows of a partition a function looks at.
type Frame struct {
	Mode       FrameMode
	Start, End FrameEnd
	Exclude    string // "CURRENT ROW", "GROUP", "TIES" or ""
}

// A FrameEnd is one end of a frame.
type FrameEnd struct {
	Kind   FrameEndKind
	Offset Expr // a literal, of Preceding and Following; or nil
}

// A FrameEndKind says where an end lies.
type FrameEndKind uint8

// The kinds, from the first row to the last.
const (
	UnboundedPreceding FrameEndKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

var endNames = [...]string{"UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING"}

// String returns the end's SQL words, without its offset.
func (k FrameEndKind) String() string { return endNames[k] }

// Whole reports whether a function looks at all rows of its partition, whatever their order.
func (f WindowFunction) Whole() bool {
	if f.Frame == nil {
		return len(f.Order) == 0 && f.Aggregates()
	}
	return f.Frame.Start.Kind == UnboundedPreceding && f.Frame.End.Kind == UnboundedFollowing && f.Frame.Exclude == ""
}

// PicksAmongPeers reports whether the frame of a function whose value depends on the order of tied
// rows also depends on which rows are tied, so that no completed order has the same meaning.
func (f WindowFunction) PicksAmongPeers() bool {
	switch f.Function {
	case RowNumber, Ntile, Lag, Lead:
		return false
	}
	if f.Frame != nil && (f.Frame.Exclude == "GROUP" || f.Frame.Exclude == "TIES") {
		return true
	}
	if f.Frame != nil && f.Frame.Mode == RowsMode || f.Whole() {
		return false
	}
	start, end := UnboundedPreceding, CurrentRow
	if f.Frame != nil {
		start, end = f.Frame.Start.Kind, f.Frame.End.Kind
	}
	if len(f.Order) == 0 && start <= CurrentRow && end >= CurrentRow { // all rows are tied
		return f.Frame != nil && f.Frame.Exclude != ""
	}
	switch f.Function {
	case FirstValue:
		return start != UnboundedPreceding
	case LastValue:
		return end != UnboundedFollowing
	}
	return true
}

// Aggregates reports whether the function is an aggregate.
func (f WindowFunction) Aggregates() bool {
	switch f.Function {
	case RowNumber, Rank, DenseRank, PercentRank, CumeDist, Ntile, Lag, Lead, FirstValue, LastValue, NthValue:
		return false
	}
	return true
}

// OrderMatters reports whether a function's value depends on the order of rows that are equal by
// its ORDER BY: of those that number rows or pick one, and of aggregates of a number of rows.
func (f WindowFunction) OrderMatters() bool {
	switch f.Function {
	case Rank, DenseRank, PercentRank, CumeDist:
		return false
	case RowNumber, Ntile, Lag, Lead, FirstValue, LastValue, NthValue:
		return true
	}
	return f.Frame != nil && f.Frame.Mode == RowsMode && !f.Whole()
}

// Exprs lists the expressions of a function over the input.
func (f WindowFunction) Exprs() []Expr {
	out := append(slices.Clone(f.Args), f.Partition...)
	for _, k := range f.Order {
		out = append(out, k.Expr)
	}
	if f.Filter != nil {
		out = append(out, f.Filter)
	}
	return out
}

// Mapped returns the function with each of its expressions replaced.
func (f WindowFunction) Mapped(replace func(Expr) Expr) WindowFunction {
	all := func(es []Expr) []Expr {
		out := make([]Expr, len(es))
		for i, e := range es {
			out[i] = replace(e)
		}
		return out
	}
	f.Args, f.Partition, f.Order = all(f.Args), all(f.Partition), slices.Clone(f.Order)
	for i := range f.Order {
		f.Order[i].Expr = replace(f.Order[i].Expr)
	}
	if f.Filter != nil {
		f.Filter = replace(f.Filter)
	}
	return f
}

func (n *Window) Columns() []Column {
	in := n.Input.Columns()
	cols := in[:len(in):len(in)]
	for _, f := range n.Functions {
		cols = append(cols, Column{f.Name, f.Type})
	}
	return cols
}

func (n *Window) Inputs() []Node         { return []Node{n.Input} }
func (n *Window) Place() diagnostic.Span { return n.Span }

func formatWindow(f WindowFunction) string {
	s := fmt.Sprintf("%s(%s)", f.Function, formatAll(f.Args))
	if f.Filter != nil {
		s += " filter " + FormatExpr(f.Filter)
	}
	var over []string
	if len(f.Partition) > 0 {
		over = append(over, "by "+formatAll(f.Partition))
	}
	if len(f.Order) > 0 {
		over = append(over, "order"+formatOrder(f.Order))
	}
	if f.Frame != nil {
		end := func(e FrameEnd) string {
			if e.Offset != nil {
				return FormatExpr(e.Offset) + " " + strings.ToLower(e.Kind.String())
			}
			return strings.ToLower(e.Kind.String())
		}
		frame := fmt.Sprintf("%s %s to %s", strings.ToLower(string(f.Frame.Mode)), end(f.Frame.Start), end(f.Frame.End))
		if f.Frame.Exclude != "" {
			frame += " exclude " + strings.ToLower(f.Frame.Exclude)
		}
		over = append(over, frame)
	}
	return fmt.Sprintf("%s over (%s) as %s::%s", s, strings.Join(over, " "), quote(f.Name), f.Type)
}

func formatOrder(keys []SortKey) string {
	s := ""
	for _, k := range keys {
		s += " " + FormatExpr(k.Expr)
		if k.Descending {
			s += " desc"
		}
		if k.NullsFirst {
			s += " nulls first"
		}
	}
	return s
}
