package stability

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// How many places a tree has at most: of a release with one group, of all groups of a
// complete domain together, and of each group where their number is not known. The engine
// returns a row for each place of a group that has values, so that the places bound what a
// release takes; they are public.
const (
	mostPlaces      = 1 << 16
	placesTogether  = 1 << 21
	fewestPlaces    = 1 << 8
	placesOfUnknown = 1 << 12
)

// quantile states a quantile, or the least or the largest value, as a function of a tree of
// counts over the bounds of x.
//
// Theorem. Let the places of x be the leaves of a tree of h levels below its root, in which
// each node counts the rows whose place lies below it. A row is in exactly one node of each
// level. So a unit with at most R rows in a group moves the counts of one level by n₁, n₂, ...
// with Σnᵢ ≤ R, and Σnᵢ² ≤ R²: by adding or removing it, all counts of the group move by at
// most h·R in L1 and √h·R in L2, and over L0 groups by L0·h·R and √(L0·h)·R. Replacing it is
// a removal and an addition, so the distances at most double. Whatever is read from the
// noisy counts (any number of quantiles, which nodes are looked at) is post-processing.
//
// Source: Hay, Rastogi, Miklau and Suciu 2010 (boosting by consistency), for R = L0 = 1.
func (c *components) quantile(g plan.Aggregation, out Aggregate) (Aggregate, error) {
	if !g.Arg.Type().IsNumeric() {
		return out, diagnostic.New("D047", g.Span, "%s over values of type %s cannot be released", g.Function, g.Arg.Type()).
			Because("its noise is counted along numbers between declared bounds").
			Try("%s", map[bool]string{
				true:  "ask for that of seconds, and make a timestamp of it: to_timestamp(CAST(" + string(g.Function) + "(extract(epoch FROM x)) AS bigint))",
				false: "use a number; of a text, count by value and keep the largest",
			}[g.Arg.Type().IsTemporal()])
	}
	rows, err := c.rows(g)
	if err != nil {
		return out, err
	}
	tree, err := c.fixed(g)
	if err != nil {
		return out, err
	}
	places := int64(placesOfUnknown)
	if cells, ok := c.release.cells(); ok && !c.release.Private {
		places = min(mostPlaces, max(fewestPlaces, placesTogether/cells))
	}
	tree.Kind, tree.PerGroup = Tree, big.NewInt(rows)
	tree.place(places, g.Arg.Type())
	if span := new(big.Int).Sub(tree.UpperUnits, tree.LowerUnits); span.Add(span, tree.Step).BitLen() > 63 {
		return out, diagnostic.New("D050", g.Arg.Place(), "the bounds are too wide for a %s", g.Function).
			Because("places between them are counted by 64-bit integers").
			Try("declare bounds that values really reach")
	}
	out.Lower, out.Upper = scaled(tree.LowerUnits, tree.ArgGrid), scaled(tree.UpperUnits, tree.ArgGrid)
	tree.Grid = big.NewRat(1, 1)
	out.Fraction = g.Fraction
	switch g.Function {
	case plan.Min:
		out.Fraction = new(big.Rat)
	case plan.Max:
		out.Fraction = big.NewRat(1, 1)
	}
	out.Components = []int{c.add(tree)}
	return out, nil
}

// place lays at most so many places over the bounds: every value of the type where they are
// few enough, and else one at each multiple of a round number, 1, 2 or 5 times a power of ten,
// from the lower bound on.
func (c *Component) place(most int64, t sqltype.Type) {
	width := new(big.Int).Sub(c.UpperUnits, c.LowerUnits)
	of := scaled(width, c.ArgGrid)
	spacing := new(big.Rat).Set(c.ArgGrid)
	fits := func() bool { return ceil(new(big.Rat).Quo(of, spacing)).Cmp(big.NewInt(most-1)) <= 0 }
	if t.IsFloat() { // from the largest power of ten that is too fine
		spacing.SetInt64(1)
		for fits() && spacing.Cmp(c.ArgGrid) > 0 {
			spacing.Mul(spacing, big.NewRat(1, 10))
		}
		for !fits() && spacing.Sign() > 0 {
			if next := new(big.Rat).Mul(spacing, big.NewRat(10, 1)); ceil(new(big.Rat).Quo(of, next)).Cmp(big.NewInt(most-1)) <= 0 {
				break
			} else {
				spacing = next
			}
		}
	}
	for i := 0; !fits(); i++ { // 1, 2, 5, 10, 20, ...
		spacing.Mul(spacing, [...]*big.Rat{big.NewRat(2, 1), big.NewRat(5, 2), big.NewRat(2, 1)}[i%3])
	}
	units := new(big.Rat).Quo(spacing, c.ArgGrid)
	c.Step = floor(units.Add(units, big.NewRat(1, 2)))
	if c.Step.BitLen() < 32 { // too few units for the round number: whole ones
		if c.Step.Sign() == 0 {
			c.Step.SetInt64(1)
		}
		spacing = scaled(c.Step, c.ArgGrid)
	}
	c.Spacing = spacing
	c.Places = max(2, ceil(new(big.Rat).Quo(of, spacing)).Int64()+1)
}

// Place is the value of a place: at most the upper bound.
func (c Component) Place(i int64) *big.Rat {
	upper := scaled(c.UpperUnits, c.ArgGrid)
	x := new(big.Rat).Mul(c.Spacing, big.NewRat(i, 1))
	if x.Add(x, scaled(c.LowerUnits, c.ArgGrid)); x.Cmp(upper) > 0 {
		return upper
	}
	return x
}
