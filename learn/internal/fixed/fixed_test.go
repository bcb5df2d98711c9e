package fixed_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/learn/internal/fixed"
)

// No vector is longer than 1, as exact integers; and one that is not shortened is off by
// less than a step.
func TestVectorIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SliceOfN(rapid.Float32(), 1, 8).Draw(t, "from")
		if rapid.Bool().Draw(t, "spoilt") {
			from[0] = rapid.SampledFrom([]float32{float32(math.NaN()), float32(math.Inf(-1))}).Draw(t, "by")
		}
		bound := math.Abs(rapid.Float64Range(1e-30, 1e30).Draw(t, "bound"))
		to := make([]int32, len(from))
		fixed.Vector(to, from, bound)
		sum, norm := int64(0), 0.0
		for i, k := range to {
			sum += int64(k) * int64(k)
			norm = math.Hypot(norm, float64(from[i])/bound)
		}
		if sum > fixed.One*fixed.One {
			t.Fatalf("%v in units of %v is %v, whose squares sum to more than 1", from, bound, to)
		}
		if norm > 1 && !math.IsInf(norm, 0) && float64(sum) < 0.999*fixed.One*fixed.One {
			t.Fatalf("%v in units of %v is %v, shorter than 1", from, bound, to)
		}
		if norm < 0.999 { // nor NaN
			for i, k := range to {
				if d := float64(from[i])/bound - float64(k)/fixed.One; math.Abs(d) > 1.001/fixed.One {
					t.Fatalf("%v in units of %v is %v", from, bound, to)
				}
			}
		}
	})
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]int64{0: 0, 1: fixed.One, -2: -fixed.One, 0.5: fixed.One / 2, math.Inf(1): fixed.One, -1e-9: 0} {
		if got := fixed.Number(x); got != want {
			t.Errorf("%v is %v, want %v", x, got, want)
		}
	}
	if got := fixed.Number(math.NaN()); got != 0 {
		t.Errorf("NaN is %v", got)
	}
}
