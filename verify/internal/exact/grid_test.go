package exact

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/noise"
)

// grid is what Source.Round computes, halves, negative ones and what it cuts off too.
func TestGrid(t *testing.T) {
	src := noise.NewSource(noise.System())
	for _, scale := range []float64{1, 1.5, 2, 0.25, 1000} {
		step := math.Ldexp(1, math.Ilogb(scale)-40)
		for _, steps := range []float64{0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, -0.25, 0.75, -0.75, 1 << 40, -(1 << 40) - 0.5, 1 << 51, 1 << 52, -(1 << 52)} {
			x := steps * step
			f, err := grid(constant(rationalOf(new(big.Rat).SetFloat64(x))), constant(rationalOf(new(big.Rat).SetFloat64(scale))), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := f.c.rat().Float64(); got != src.Round(x, scale) {
				t.Errorf("%v steps of scale %v: %v, and Round gives %v", steps, scale, got, src.Round(x, scale))
			}
		}
	}
}
