package stability

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// valueBits bounds the integers that rows contribute: |fixed(x)| ≤ 2^61, a
// centred one ≤ 2^62, a square ≤ 2^62 on a grid of its own. Sums of up to 2^63
// of them fit the engine's 128-bit integers, so no data can overflow.
const valueBits = plan.GridBits

// components collects the noisy numbers that a release's aggregates need; equal
// ones are shared.
type components struct {
	release   *Release
	input     plan.Node // as bound, for ranges and domains
	facts     *facts
	relation  *relation
	needsRows bool
}

func (c *components) add(comp Component) int {
	for i, known := range c.release.Components {
		if known.key() == comp.key() {
			return i
		}
	}
	c.release.Components = append(c.release.Components, comp)
	return len(c.release.Components) - 1
}

// aggregate states g as a function of components, with the sensitivity of each.
func (c *components) aggregate(g plan.Aggregation) (Aggregate, error) {
	out := Aggregate{Function: g.Function, Name: g.Name, Type: g.Type, Span: g.Span}
	one := big.NewRat(1, 1)
	counter := func(kind ComponentKind, arg plan.Expr, perGroup int64) Component {
		return Component{Kind: kind, Arg: arg, Filter: g.Filter, Grid: one, ArgGrid: one, PerGroup: big.NewInt(perGroup), Width: big.NewInt(perGroup)}
	}
	switch {
	case g.Distinct && g.Function == plan.Count && c.relation.isUnit(g.Arg):
		// A unit is in a group or not: sensitivity 1, whatever R.
		out.Components = []int{c.add(counter(Units, nil, 1))}
		return out, nil
	case g.Distinct && g.Function == plan.Count:
		if g.Arg.Type().Kind == sqltype.IntervalKind {
			return out, diagnostic.New("D051", g.Arg.Place(), "count(DISTINCT) of intervals").
				Because("equal intervals can be written differently (1 month, 30 days)")
		}
		rows, err := c.rows(g)
		if err != nil {
			return out, err
		}
		// A unit brings at most R values to a group's set: the set's size
		// changes by at most R.
		out.Components = []int{c.add(counter(Distinct, g.Arg, rows))}
		return out, nil
	case g.Distinct:
		return out, diagnostic.New("D047", g.Span, "%s(DISTINCT) cannot be released", g.Function).
			Because("whether a value counts depends on whether other units have it too").
			Try("use %s without DISTINCT, or count(DISTINCT ...)", g.Function)
	}
	switch g.Function {
	case plan.PercentileCont, plan.PercentileDisc, plan.Min, plan.Max:
		return c.quantile(g, out)
	case plan.CountStar, plan.Count:
		rows, err := c.rows(g)
		if err != nil {
			return out, err
		}
		out.Components = []int{c.add(counter(Rows, g.Arg, rows))}
	case plan.Sum:
		sum, err := c.sum(g)
		if err != nil {
			return out, err
		}
		out.Components = []int{c.add(sum)}
	case plan.Avg, plan.VarPop, plan.VarSamp, plan.StddevPop, plan.StddevSamp:
		rows, err := c.rows(g)
		if err != nil {
			return out, err
		}
		fixed, err := c.fixed(g)
		if err != nil {
			return out, err
		}
		// Centre at c = ⌊(lo+hi)/2⌋: a row then moves the sum by at most
		// max(c−lo, hi−c), half of what an uncentred sum needs.
		fixed.Center = floor(new(big.Rat).SetFrac(new(big.Int).Add(fixed.LowerUnits, fixed.UpperUnits), big.NewInt(2)))
		below, above := new(big.Int).Sub(fixed.LowerUnits, fixed.Center), new(big.Int).Sub(fixed.UpperUnits, fixed.Center)
		sum := fixed
		sum.Kind = Sum
		sum.PerGroup, sum.Width = reach(rows, below, above)
		out.Lower, out.Upper = scaled(fixed.LowerUnits, fixed.Grid), scaled(fixed.UpperUnits, fixed.Grid)
		out.Components = []int{c.add(counter(Rows, g.Arg, rows)), c.add(sum)}
		if g.Function != plan.Avg {
			// Squares on a grid of their own: the largest needs at most 62 bits.
			square := maxAbs(below, above)
			square.Mul(square, square)
			squares := fixed
			squares.Kind = Squares
			squares.Shift = uint(max(0, square.BitLen()-valueBits-1))
			largest := new(big.Int).Rsh(square, squares.Shift)
			squares.PerGroup, squares.Width = reach(rows, new(big.Int), largest)
			squares.Grid = new(big.Rat).Mul(new(big.Rat).Mul(fixed.Grid, fixed.Grid), new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), squares.Shift)))
			out.Components = append(out.Components, c.add(squares))
		}
	default:
		d := diagnostic.New("D047", g.Span, "%s cannot be released", g.Function).
			Because("a single row may decide it")
		return out, d.Try("count the rows for which it is true, with FILTER (WHERE ...)")
	}
	return out, nil
}

// rows returns R, which must be declared.
func (c *components) rows(g plan.Aggregation) (int64, error) {
	if c.release.MaxRows == 0 {
		return 0, undeclared(c.relation, g.Span, "max_rows_per_group", "with how many rows in a group")
	}
	c.needsRows = true
	return c.release.MaxRows, nil
}

// sum bounds SUM: R·max(|lo|, |hi|), since a unit may be absent or bring R rows;
// (hi − lo) would be too little. With declared bounds of a unit's partial sum,
// that sum is clamped instead and R plays no part.
func (c *components) sum(g plan.Aggregation) (Component, error) {
	fixed, err := c.fixed(g)
	if err != nil {
		return fixed, err
	}
	if ref := unwiden(g.Arg); ref != nil {
		if _, col := origin(c.input, ref.Index); col != nil && col.SumLower != nil && col.SumUpper != nil {
			lower := floor(new(big.Rat).Quo(col.SumLower, fixed.Grid))
			upper := ceil(new(big.Rat).Quo(col.SumUpper, fixed.Grid))
			if maxAbs(lower, upper).BitLen() <= valueBits+1 {
				fixed.Kind, fixed.PartialLower, fixed.PartialUpper = PartialSum, lower, upper
				fixed.PerGroup, fixed.Width = reach(1, lower, upper)
				return fixed, nil
			}
		}
	}
	rows, err := c.rows(g)
	if err != nil {
		return fixed, err
	}
	fixed.Kind = Sum
	fixed.PerGroup, fixed.Width = reach(rows, fixed.LowerUnits, fixed.UpperUnits)
	return fixed, nil
}

// fixed finds the argument's bounds and its grid.
func (c *components) fixed(g plan.Aggregation) (Component, error) {
	t := g.Arg.Type()
	if !t.IsNumeric() {
		return Component{}, diagnostic.New("D047", g.Span, "%s over values of type %s cannot be released", g.Function, t).
			Try("use a number, such as extract(epoch FROM ...)")
	}
	rows := c.input
	if g.Filter != nil { // of those that meet it
		rows = &plan.Filter{Input: rows, Condition: g.Filter}
	}
	r := c.facts.rangeOf(rows, g.Arg)
	if !r.bounded() || r.lower.Cmp(r.upper) > 0 {
		return Component{}, unbounded(c, g, r)
	}
	comp := Component{Arg: g.Arg, Filter: g.Filter, Center: new(big.Int)}
	if t.Kind == sqltype.DecimalKind && t.Scale > plan.MaxScale {
		return comp, diagnostic.New("D050", g.Arg.Place(), "%s has too many digits after the point for exact sums", t).
			Because("sums run on %d-bit integers, in units of the last digit", valueBits+1).
			Try("cast it to double precision, or to a decimal of at most %d such digits", plan.MaxScale)
	}
	grid := plan.GridOf(t, r.lower, r.upper)
	comp.Lower, comp.Upper, comp.Grid = grid.Lower, grid.Upper, grid.Unit
	comp.ArgGrid = comp.Grid
	var exact bool
	if comp.LowerUnits, comp.UpperUnits, exact = grid.Units(); !exact {
		return comp, diagnostic.New("D050", g.Arg.Place(), "the bounds [%s, %s] are too wide for exact sums of %s", r.lower.RatString(), r.upper.RatString(), t).
			Because("sums run on %d-bit integers", valueBits+1).
			Try("cast to double precision, or declare bounds that values really reach")
	}
	return comp, nil
}

func unbounded(c *components, g plan.Aggregation, r interval) error {
	name := "the argument"
	if ref := unwiden(g.Arg); ref != nil {
		if t, col := origin(c.input, ref.Index); col != nil {
			return diagnostic.New("D049", g.Arg.Place(), "column %q has no declared bounds", col.Name).
				Because("a value without bounds could move the %s by any amount", g.Function).
				Try("the owner declares lower and upper for %s.%s, or clamp it here: write least(greatest(%s, 0), 100) in its place", t.Name, col.Name, col.Name)
		}
		name = "the column"
	}
	d := diagnostic.New("D049", g.Arg.Place(), "%s of %s has no bounds that follow from the declared ones", name, g.Function).
		Because("a value without bounds could move the result by any amount")
	if r.lower != nil && r.upper == nil {
		return d.Try("clamp it from above: write least(..., 100) around it")
	}
	return d.Try("clamp it: write least(greatest(..., 0), 100) around it")
}

func maxAbs(a, b *big.Int) *big.Int {
	if a.CmpAbs(b) >= 0 {
		return new(big.Int).Abs(a)
	}
	return new(big.Int).Abs(b)
}

// atLeastOne keeps noise on components whose bounds leave nothing to hide, so
// that a sensitivity of zero is never a scale of zero.
func atLeastOne(n *big.Int) *big.Int {
	if n.Sign() == 0 {
		return big.NewInt(1)
	}
	return n
}

func scaled(n *big.Int, grid *big.Rat) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), grid)
}
