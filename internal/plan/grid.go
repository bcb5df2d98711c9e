package plan

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/sqltype"
)

// GridBits bounds numbers of a grid: they are at most 2^GridBits, or at most one unit more where bounds are no multiples of it.
const GridBits = 61

// MaxScale bounds a summed decimal's digits after the point: 10^MaxScale, by
// which values are multiplied, fits 64 bits.
const MaxScale = 18

// A Grid says how numbers become whole ones that are summed exactly: they are clamped to bounds, which are of the numbers' type,
// and then rounded to multiples of a unit.
type Grid struct {
	Lower, Upper sqltype.Value
	Unit         *big.Rat
}

// GridOf is the grid of numbers of a type between bounds, which lie around them where the type has no such values. It depends on type and bounds alone.
// A decimal has at most MaxScale digits after the point.
func GridOf(t sqltype.Type, lower, upper *big.Rat) Grid {
	switch {
	case t.IsInteger():
		return Grid{WholeWithin(t, numeric.Floor(lower)), WholeWithin(t, numeric.Ceil(upper)), big.NewRat(1, 1)}
	case t.Kind == sqltype.DecimalKind:
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil))
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
		limit.Sub(limit, big.NewInt(1))
		return Grid{
			sqltype.Decimal{Unscaled: clampInt(numeric.Floor(new(big.Rat).Quo(lower, unit)), limit), Scale: t.Scale},
			sqltype.Decimal{Unscaled: clampInt(numeric.Ceil(new(big.Rat).Quo(upper, unit)), limit), Scale: t.Scale}, unit,
		}
	}
	low, high := nearest(lower), nearest(upper)
	// The finest power of two for which the bounds stay below 2^GridBits.
	_, exponent := math.Frexp(max(math.Abs(low), math.Abs(high)))
	if low == 0 && high == 0 {
		exponent = 0
	}
	return Grid{low, high, powerOfTwo(max(exponent-GridBits, -1000))} // its inverse is a finite double
}

// DeclaredGrid is the grid of a column's declared bounds: of one that has them, with exact sums.
func DeclaredGrid(c *catalog.Column) (g Grid, ok bool) {
	lower, bounded := sqltype.Rat(c.Lower)
	upper, above := sqltype.Rat(c.Upper)
	if !c.Type.IsNumeric() || !bounded || !above || lower.Cmp(upper) > 0 || c.Type.Kind == sqltype.DecimalKind && c.Type.Scale > MaxScale {
		return g, false
	}
	g = GridOf(c.Type, lower, upper)
	_, _, ok = g.Units()
	return g, ok
}

// Units are the bounds in units of the grid, rounded away from each other; false where they are too wide for exact sums.
func (g Grid) Units() (lower, upper *big.Int, ok bool) {
	low, _ := sqltype.Rat(g.Lower)
	high, _ := sqltype.Rat(g.Upper)
	lower, upper = numeric.Floor(low.Quo(low, g.Unit)), numeric.Ceil(high.Quo(high, g.Unit))
	return lower, upper, max(lower.BitLen(), upper.BitLen()) <= GridBits+1
}

// Fixed is x in units of the grid. The order matters and is fixed here: clamp in the
// argument's own type, then scale to the grid.
func (g Grid) Fixed(x Expr) *Call {
	var inverse Expr
	if t := x.Type(); t.IsFloat() {
		double := sqltype.Of(sqltype.Double)
		if t.Kind == sqltype.Real {
			x = &Cast{Arg: x, T: double}
		}
		scale, _ := new(big.Rat).Inv(g.Unit).Float64()
		inverse = &Literal{Value: scale, T: double}
	} else {
		inverse = &Literal{Value: new(big.Rat).Inv(g.Unit).Num().Int64(), T: sqltype.Of(sqltype.Bigint)}
	}
	return &Call{Function: Fixed, T: sqltype.Of(sqltype.Bigint), Args: []Expr{x,
		&Literal{Value: g.Lower, T: x.Type()}, &Literal{Value: g.Upper, T: x.Type()}, inverse}}
}

// WholeWithin returns n as a value of the integer type, at the type's end if
// it lies beyond.
func WholeWithin(t sqltype.Type, n *big.Int) int64 {
	bits := map[sqltype.Kind]uint{sqltype.Smallint: 15, sqltype.Integer: 31, sqltype.Bigint: 63}[t.Kind]
	limit := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(1))
	return clampInt(n, limit).Int64()
}

func clampInt(n, limit *big.Int) *big.Int {
	if n.CmpAbs(limit) <= 0 {
		return n
	}
	if n.Sign() < 0 {
		return new(big.Int).Neg(limit)
	}
	return limit
}

// nearest returns the finite double nearest to r, never −0.
func nearest(r *big.Rat) float64 {
	f, _ := r.Float64()
	return max(min(f, math.MaxFloat64), -math.MaxFloat64) + 0
}

func powerOfTwo(e int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e)))
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}
