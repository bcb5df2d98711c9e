package plan

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Bounded is the one way from private rows to exact aggregates: grouping with
// contribution bounds enforced at the aggregation.
//
//  1. Within each unit and group at most MaxRows rows are kept, chosen by a
//     hash of (salt, unit, group, values), ties broken by the values.
//     Contributions of kind Clamped and Units see all rows; Distinct keeps at
//     most MaxRows distinct values by such a hash.
//  2. Each unit keeps at most MaxGroups groups, chosen by a hash of (salt,
//     unit, group).
//  3. Over the kept ones each group's contributions are summed exactly.
//
// With a Bin, step 3 sums by group and bin: the bin is no key, and no bound applies to
// it. Rows whose bin is NULL are kept, and are in no sum; all contributions are Added.
//
// Its columns are the shown keys, the bin if there is one, and then one integer a contribution.
// A group appears only if it keeps a row.
type Bounded struct {
	Input Node
	Unit  int // the input's column with the unit's key
	// Whole says that the bounds hold by construction, so that every row counts and the unit's key is not
	// read: no unit has two rows, or all contributions are of single rows, of which no unit has too many.
	Whole bool
	Keys  []Expr
	Names []string
	// Shown are the keys by which step 3 sums, where these are not all: what was bounded by
	// finer groups is added up. nil for all.
	Shown []int
	// Listed are the texts that a key may be, each once: rows with another one, or with
	// NULL, are dropped before any bound. nil of a key that may be anything.
	Listed [][]string
	// Ranges are the whole numbers that a key may be, of one of which the input has no other; nil of others.
	Ranges []*Range
	// EveryGroup says that there are at most MaxGroups groups, whatever the data, so that
	// no unit can be in more.
	EveryGroup         bool
	Bin                Expr // a bigint, or nil
	Contributions      []Contribution
	MaxGroups, MaxRows int64 // MaxRows is 0 if no contribution needs it
	Span               diagnostic.Span
}

// A Range are whole numbers from First on, so many, Step apart.
type Range struct{ First, Step, Count int64 }

// A ContributionKind says how a unit's rows add up to its contribution.
type ContributionKind uint8

const (
	// Added sums Value over the kept rows.
	Added ContributionKind = iota
	// Clamped sums Value over all the unit's rows in the group, and clamps that
	// sum to [Lower, Upper].
	Clamped
	// DistinctValues counts the distinct values of Value in the group.
	DistinctValues
	// UnitCount counts the units that have a row in the group for which Value
	// is true (any row if Value is nil).
	UnitCount
)

// A Contribution is one exact integer per group. Rows whose Value is NULL
// contribute nothing.
type Contribution struct {
	Kind         ContributionKind
	Value        Expr // a bigint for Added and Clamped, a boolean or nil for UnitCount
	Lower, Upper *big.Int
}

// Columns returns the shown keys and one 128-bit integer a contribution.
func (n *Bounded) Columns() []Column {
	cols := named(n.Names, n.Keys)
	if n.Shown != nil {
		all := cols
		cols = make([]Column, len(n.Shown))
		for i, k := range n.Shown {
			cols[i] = all[k]
		}
	}
	if n.Bin != nil {
		cols = append(cols, Column{Name: "bin", Type: n.Bin.Type()})
	}
	for range n.Contributions {
		cols = append(cols, Column{Type: sqltype.DecimalOf(38, 0)})
	}
	return cols
}

// Inputs returns the input.
func (n *Bounded) Inputs() []Node { return []Node{n.Input} }

// Place returns the aggregation's place.
func (n *Bounded) Place() diagnostic.Span { return n.Span }
