package exact

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Whole noise whose comparisons form a cycle is evaluated: as often as all values of three
// draws say.
func TestCycles(t *testing.T) {
	const far = 24
	pairs := [3][2]int{{0, 1}, {1, 2}, {0, 2}}
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]rational{integer(1), fraction(1, 2), fraction(2, 3)}).Draw(t, "scale")
		s := &system{}
		for range 3 {
			s.laws = append(s.laws, program.DiscreteLaplace)
			s.scales, s.spacing = append(s.scales, scale), append(s.spacing, integer(1))
		}
		most := rapid.IntRange(-2, 5).Draw(t, "most") // of the first draw
		s.sums = append(s.sums, sum{plus: 1, hi: limit{integer(int64(most)), true}})
		var ends [3][2]int
		for i, p := range pairs {
			lo := rapid.IntRange(-4, 3).Draw(t, "low")
			ends[i] = [2]int{lo, lo + rapid.IntRange(0, 3).Draw(t, "width")}
			s.sums = append(s.sums, sum{
				plus: 1 << p[0], minus: 1 << p[1],
				lo: limit{integer(int64(ends[i][0])), true}, hi: limit{integer(int64(ends[i][1])), true},
			})
		}
		if _, err := newMeasurer(&code{}).system(s, low, false); err != errCycle {
			t.Fatalf("without values: %v", err)
		}
		got, err := newMeasurer(&code{}).system(s, low, true)
		if err != nil {
			t.Fatal(err)
		}
		r := math.Exp(-1 / size(scale))
		var mass [2*far + 1]float64
		for x := range mass {
			mass[x] = (1 - r) / (1 + r) * math.Pow(r, math.Abs(float64(x-far)))
		}
		want := 0.0
		for x := range mass {
			for y := range mass {
				for z := range mass {
					at, in := [3]int{x, y, z}, x-far <= most
					for i, p := range pairs {
						d := at[p[0]] - at[p[1]]
						in = in && d >= ends[i][0] && d <= ends[i][1]
					}
					if in {
						want += mass[x] * mass[y] * mass[z]
					}
				}
			}
		}
		if want < got.lo*(1-1e-6)-1e-9 || want > got.hi*(1+1e-6)+1e-9 || got.hi-got.lo > 1e-6*got.hi+1e-12 {
			t.Fatalf("%v: in [%v, %v], and all values say %v", ends, got.lo, got.hi, want)
		}
	})
}
