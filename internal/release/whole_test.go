package release

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// Whole numbers take a way of their own through Rows: what comes of it is what fractions give, at the
// ends of their types too.
func TestWholeNumbersAreWhatFractionsGive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string) *big.Int {
			near := rapid.SampledFrom([]*big.Int{new(big.Int), big.NewInt(math.MaxInt16), big.NewInt(math.MinInt32), big.NewInt(math.MaxInt64), big.NewInt(math.MinInt64), big.NewInt(fitting),
				new(big.Int).Lsh(big.NewInt(1), 90), new(big.Int).Lsh(big.NewInt(-1), 90)}).Draw(t, name)
			return new(big.Int).Add(near, big.NewInt(rapid.Int64Range(-3, 3).Draw(t, name)))
		}
		n, width := number("value"), new(big.Int).Abs(number("width"))
		kind := rapid.SampledFrom([]sqltype.Kind{sqltype.Smallint, sqltype.Integer, sqltype.Bigint}).Draw(t, "type")
		g := stability.Aggregate{Function: plan.CountStar, Type: sqltype.Of(kind), Components: []int{0}}
		table := &Table{noisy: [][]*big.Int{{n}}, consistent: rapid.Bool().Draw(t, "consistent"), release: &Release{Release: &stability.Release{
			Components: []stability.Component{{Kind: stability.Rows, Grid: big.NewRat(1, 1), Center: new(big.Int)}}}}}
		for _, end := range []rounding{down, toNearest, up} {
			v, w := new(big.Rat).SetInt(n), width
			if end == toNearest {
				w = nil
			} else {
				off := new(big.Rat).SetInt(width)
				v.Add(v, off.Mul(off, big.NewRat(int64(end), 1)))
			}
			if table.consistent {
				v = table.release.possible(g).nearest(v)
			}
			if got, want := table.whole(g, 0, w, end), toType(g.Type, v, end); got != want {
				t.Fatalf("%v ± %v as %v, end %d: %v, want %v", n, width, g.Type, end, got, want)
			}
		}
	})
}
