// Package stability decides whether a plan may be released, and how far one
// privacy unit can move each of its aggregates: plan to certificate.
//
// It is a pure function over plain data. It guarantees that in a plan it
// accepts every relation below a release is unit-preserving (each output row
// carries one unit, and a unit's output rows are a deterministic function of
// the multiset of that unit's own rows and of public data), and that nothing
// private reaches post-processing except through a release. It knows no
// database, no noise and no budget; package rewrite enforces the bounds that
// the certificate states.
package stability

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Certificate is the result of the analysis.
type Certificate struct {
	// Domain owns the units that the statement is about; nil if it reads no
	// private table.
	Domain *catalog.Domain
	// Releases are the innermost aggregations over private rows, each distinct
	// one once.
	Releases []*Release
	// Stages are what is computed from releases for the ones after them.
	Stages []*Stage
	// Post is the statement above the releases: plan.Released leaves stand for
	// them, and every Scan is of a public table.
	Post plan.Node
	// summed are the relations in Post that add up a finest grouping set.
	summed []*plan.Aggregate
	// EitherWay says that rows which are kept once and bounds for the statement could each bound some release: see Options.Bounded.
	EitherWay bool
	// Doubts are parts that cannot be meant, in the order of the statement.
	Doubts []Doubt
}

// A Release is one aggregation of private rows.
//
// Theorem (design, "The theory that keeps SQL simple"). Let the rows of Input
// be unit-preserving, and let each unit keep rows in at most MaxGroups groups
// and at most MaxRows rows in each, chosen by a function of its own rows and a
// salt. Then removing one unit changes each component by at most PerGroup in
// at most MaxGroups groups and nothing else: L1 distance MaxGroups·PerGroup,
// L2 distance √MaxGroups·PerGroup. Replacing a unit is a removal and an
// addition: Distances says how far that moves them, at most twice as far.
type Release struct {
	Input plan.Node // unit-preserving, without the unit's key
	Keys  []Key
	// Auto is the one table that is aggregated, if it is declared with a contribution that may be found, and
	// Found says that it was.
	Auto       *catalog.Table
	Found      bool
	Aggregates []Aggregate
	Components []Component
	// Exclusive are sets of components of which each row adds to one at most: see exclusive.go.
	Exclusive [][]int

	// Within are the keys by whose groups bounds are applied where these are finer than Keys,
	// which are those at Shown: see sets.go. nil where they are Keys.
	Within []Key
	Shown  []int
	// Sets are the grouping sets of which this is one, where all are bounded by the same groups; or nil.
	// That needs one salt for all, which is no less private: what is proved holds for each salt.
	Sets *plan.Sets
	// Level are the places of the release's keys among those of Sets.
	Level []int
	// Apart says that it is one of several grouping sets, each with bounds and groups of its own.
	Apart bool
	// Sums are the coarser grouping sets that are sums of its noisy values: of how many, each.
	Sums []int64

	MaxGroups int64 // L0
	MaxRows   int64 // R; 0 if no component needs it
	// OneRow says that a unit has at most one row in Input by construction, so
	// that the bounds hold without being enforced.
	OneRow bool
	// Rows is how many rows a unit has at most in Input by construction, T; 0 if that is not known.
	Rows int64
	// Kept says that this alone bounds what a unit contributes: its rows, of one table that is declared with so
	// many a unit, count in whatever groups, and nothing is chosen for the statement. MaxGroups and MaxRows are T.
	Kept bool

	// Chosen says that one group alone is published, and not its count, of each combination of the keys but the
	// last: one that is chosen by the counts, which are its one component. It has no aggregates. See choice.go.
	Chosen bool
	// Private says that the groups are chosen by private selection on their
	// number of distinct units; otherwise the cross product of the keys'
	// domains is released, complete.
	Private bool

	Columns []plan.Column // keys and then aggregates
	Span    diagnostic.Span
}

// A Key is one grouping expression.
type Key struct {
	Expr plan.Expr
	Name string
	// Domain is the key's complete public domain, the union of its parts; nil
	// if it has none.
	Domain []*catalog.PublicDomain
	// Derived says that Domain follows from declared bounds, by image.
	Derived bool
	// Numbered are, of a key that numbers public rows, these rows: its complete domain is 1 to how many they are,
	// and Input has no other numbers. See named.go.
	Numbered *plan.Stage
}

// An Aggregate is one aggregate of the select list as a function of noisy
// components.
type Aggregate struct {
	Function plan.AggregateFunction
	Name     string
	Type     sqltype.Type
	// Fraction is which quantile is meant; nil of other aggregates.
	Fraction *big.Rat
	// Components index Release.Components: the value alone; for averages the
	// count and the centred sum; for variances the count, the centred sum and
	// the centred sum of squares.
	Components []int
	// Lower and Upper bound one value, for averages, variances and quantiles.
	Lower, Upper *big.Rat
	Span         diagnostic.Span
}

// A ComponentKind says how a component adds up.
type ComponentKind uint8

const (
	// Rows counts rows: each contributes 1.
	Rows ComponentKind = iota
	// Sum adds fixed(x) − Center.
	Sum
	// Squares adds ⌊(fixed(x) − Center)² / 2^Shift⌋.
	Squares
	// PartialSum adds each unit's partial sum in the group, over all of its
	// rows, clamped to [PartialLower, PartialUpper].
	PartialSum
	// Distinct counts the distinct values of x in the group, of which each unit
	// contributes at most MaxRows.
	Distinct
	// Units counts the distinct units in the group.
	Units
	// Tree counts the rows by the place of x among evenly spaced ones, and by ever
	// larger runs of places: the nodes of a tree, from which quantiles are read.
	Tree
)

// A Component is one integer per group that the engine computes exactly and
// that gets its own noise, or, of kind Tree, several. Rows where Arg is NULL or Filter is not true
// contribute nothing.
type Component struct {
	Kind   ComponentKind
	Arg    plan.Expr // nil for Rows of count(*) and for Units
	Filter plan.Expr // or nil

	// For Sum, Squares, PartialSum and Tree: x is clamped to [Lower, Upper], values
	// of x's type, and counted in units of Grid.
	Lower, Upper               sqltype.Value
	LowerUnits, UpperUnits     *big.Int // bounds of fixed(x), rounded outwards
	Center                     *big.Int
	Shift                      uint
	PartialLower, PartialUpper *big.Int

	// For Tree: x is rounded to the nearest of Places values, which lie Spacing apart from
	// the lower bound on; in units of fixed(x) that is Step.
	Places  int64
	Step    *big.Int
	Spacing *big.Rat

	// Grid is the value of one integer of the component (for Sum of a double a
	// power of two, of a decimal a power of ten).
	Grid *big.Rat
	// ArgGrid is the value of one unit of fixed(x); it differs from Grid for
	// Squares.
	ArgGrid *big.Rat
	// PerGroup is the most that one unit can change the component in one group
	// by being added or removed, in units of Grid; of a Tree, one node of it, and all
	// nodes of one level together.
	PerGroup *big.Int
	// Width is the most that one unit can change it in one group by being replaced, for
	// Spread; nil if that is not known, and of a Tree.
	Width *big.Int
}

// Counter is the component whose noisy value can decide which private groups are shown, or −1: a count of rows or of units, all of
// them, to which a unit adds 1 in a group at most. A count of rows that can have noise together with sums is none:
// whether a group is shown would then say something of the noise of its sums.
func (r *Release) Counter() int {
	if !r.Private {
		return -1
	}
	for i, c := range r.Components {
		if c.Kind != Units && c.Kind != Rows || c.Arg != nil || c.Filter != nil || c.PerGroup.Cmp(big.NewInt(1)) != 0 {
			continue
		}
		together := func(other Component) bool {
			return (other.Kind == Sum || other.Kind == Squares) && other.Filter == nil
		}
		if c.Kind == Units || !slices.ContainsFunc(r.Components, together) {
			return i
		}
	}
	return -1
}
