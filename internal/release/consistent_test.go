package release

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestConsistentIntervalsHold: for any true value within what bounds make possible, and any
// noise, a consistent value is as near or nearer, its interval is the part of the other that is possible,
// and holds the truth whenever the other did. What may be of both signs stays as it is. An interval that is
// centred anew on the moved value is caught.
func TestConsistentIntervalsHold(t *testing.T) {
	t.Parallel()
	checkFaults(t, rapid.Custom(func(t *rapid.T) []bool {
		caught := make([]bool, 1)
		kind := rapid.SampledFrom([]stability.ComponentKind{stability.Rows, stability.Units, stability.Distinct, stability.Sum, stability.PartialSum}).Draw(t, "kind")
		low := rapid.Int64Range(-5, 5).Draw(t, "low")
		high := rapid.Int64Range(low, 6).Draw(t, "high")
		rows := rapid.Int64Range(0, 4).Draw(t, "rows")
		truth := rows
		c := stability.Component{Kind: kind, Grid: big.NewRat(1, 1), ArgGrid: big.NewRat(1, 1), PerGroup: big.NewInt(1), Center: new(big.Int)}
		switch kind {
		case stability.Sum, stability.PartialSum:
			truth = 0
			for range rows {
				truth += rapid.Int64Range(low, high).Draw(t, "value")
			}
			c.LowerUnits, c.UpperUnits = big.NewInt(low), big.NewInt(high)
			if kind == stability.PartialSum {
				c.LowerUnits, c.UpperUnits, c.PartialLower, c.PartialUpper = big.NewInt(-99), big.NewInt(99), c.LowerUnits, c.UpperUnits
			}
		}
		bigint := sqltype.Of(sqltype.Bigint)
		g := stability.Aggregate{Function: plan.CountStar, Type: bigint, Components: []int{0}}
		width := rapid.Int64Range(0, 12).Draw(t, "width")
		value := truth + rapid.Int64Range(-15, 15).Draw(t, "noise")
		shown := func(consistent bool) (v, lower, upper int64) {
			table := &Table{release: &Release{Noise: []Noise{{Additive: still{width: big.NewInt(width)}}},
				Release: &stability.Release{Components: []stability.Component{c}, Aggregates: []stability.Aggregate{g}, Columns: []plan.Column{{Name: "n", Type: bigint}}}},
				keys: [][]sqltype.Value{{}}, noisy: [][]*big.Int{{big.NewInt(value)}}}
			if consistent {
				table.Consistent()
			}
			_, out, err := table.Rows(big.NewRat(19, 20), []int{1})
			if err != nil {
				t.Fatal(err)
			}
			return out[0][0].(int64), out[0][1].(int64), out[0][2].(int64)
		}
		v, lower, upper := shown(false)
		w, from, to := shown(true)
		off := func(x int64) int64 { return max(x-truth, truth-x) }
		mixed := (kind == stability.Sum || kind == stability.PartialSum) && low < 0 && high > 0
		switch {
		case mixed && (v != w || lower != from || upper != to):
			t.Fatalf("%d in [%d, %d] was moved to %d in [%d, %d]", v, lower, upper, w, from, to)
		case off(w) > off(v) || w < from || w > to:
			t.Fatalf("%d in [%d, %d] of %d was moved to %d in [%d, %d]", v, lower, upper, truth, w, from, to)
		case lower <= truth && truth <= upper && (truth < from || truth > to || from < lower || to > upper):
			t.Fatalf("[%d, %d] holds %d, and [%d, %d] is no part of it that does", lower, upper, truth, from, to)
		}
		if again := [2]int64{w - width, w + width}; lower <= truth && truth <= upper && (again[0] < lower || again[1] > upper) {
			caught[0] = true
		}
		return caught
	}))
}
