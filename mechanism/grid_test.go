package mechanism

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Scaling by a power is math.Ldexp, for every grid that there is and every number, the least
// and what is none included.
func TestPowersScaleAsLdexpDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	special := []float64{0, math.Copysign(0, -1), 1, -0.5, 0x1p-1074, -0x1p-1022, 0x1.fffffp-1023, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	for e := -maxExponent; e <= maxExponent; e++ {
		for i := range 2 * len(special) {
			x := math.Float64frombits(random.Uint64())
			if i < len(special) {
				x = special[i]
			}
			if got, want := x*power(e), math.Ldexp(x, e); got != want && (got == got || want == want) || math.Signbit(got) != math.Signbit(want) && got == got {
				t.Fatalf("%v·2^%d is %v, want %v", x, e, got, want)
			}
		}
	}
}
