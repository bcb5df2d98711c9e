package learn

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/learn/internal/gaussian"
	"github.com/discreet-dp/discreet/learn/internal/normal"
)

// Both samplers round to the grid that the deviation counts in.
func TestGrids(t *testing.T) {
	if gaussian.Steps != normal.Steps {
		t.Errorf("grids of %d and %d steps", gaussian.Steps, normal.Steps)
	}
}

// The noise is at least z times all that a unit can move, grid included, in exact
// arithmetic; and not much more.
func TestDeviation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := allowance{part: rapid.Float64Range(0x1p-20, 0.5).Draw(t, "a")}
		z := rapid.Float64Range(0x1p-10, 100).Draw(t, "z")
		clip := math.Exp(rapid.Float64Range(-20, 20).Draw(t, "ln clip"))
		d := rapid.IntRange(1, 10_000_000).Draw(t, "d")
		sigma, err := a.deviation(z, clip, d)
		if err != nil {
			t.Skip("too coarse")
		}
		float := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
		mul := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(300).Mul(x, y) }
		moved := mul(float(clip), float(1+a.part-0x1p-20)) // 2^-20 is for this very arithmetic
		grid := mul(new(big.Float).SetPrec(300).Sqrt(float(float64(d))), mul(float(sigma), float(1.0/gaussian.Steps)))
		need := mul(float(z), moved.Add(moved, grid))
		if float(sigma).Cmp(need) < 0 {
			t.Errorf("sigma %v for multiplier %v of %v", sigma, z, moved)
		}
		if x, _ := need.Float64(); sigma > x*(1+0x1p-17)*(1+z*math.Sqrt(float64(d))*0x1p-37) {
			t.Errorf("sigma %v where %v do", sigma, x)
		}
	})
	if _, err := (allowance{}).deviation(1e6, 1, 1_000_000); err == nil {
		t.Error("a grid that is coarser than what it hides")
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), 0, -1} {
		if s, err := (allowance{}).deviation(1, bad, 1); err == nil {
			t.Errorf("a clip of %v has noise %v", bad, s)
		}
		if s, err := (allowance{}).deviation(bad, 1, 1); err == nil {
			t.Errorf("a multiplier of %v has noise %v", bad, s)
		}
	}
}

// fake rounding: by n²·2^-30.
type fake struct{}

func (fake) Rounding(n int) float64 { return float64(n) * float64(n) * 0x1p-30 }

// The allowance grows with the batch, counts what the larger samples add, and is refused
// where it would be as large as the clip.
func TestAllowance(t *testing.T) {
	last := 0.0
	for _, batch := range []int64{1, 10, 100, 1000, 10_000} {
		p := small()
		p.Population.Units, p.Batch = 1e9, batch
		a, err := newAllowance(p, fake{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if a.part <= last || a.most < int(batch)+32 || a.part < 2*(fake{}).Rounding(a.most) {
			t.Errorf("a batch of %d: %+v after %v", batch, a, last)
		}
		last = a.part
		p.Units = Units{Bounded, 4}
		if b, err := newAllowance(p, fake{}, 1000); batch < 10_000 && (err != nil || b.most < 4*int(batch)) {
			t.Errorf("a batch of %d units of 4: %+v, %v", batch, b, err)
		}
	}
	// Where a fast sum would be off by the clip, examples are summed one by one, up to a million.
	p := small()
	for _, batch := range []int64{30_000, 100_000, 500_000} {
		p.Population.Units, p.Batch = 1e9, batch
		if a, err := newAllowance(p, fake{}, 1000); err != nil || a.fast != 0 || a.part < 8*float64(a.most)*0x1p-23 {
			t.Errorf("a batch of %d: %+v, %v", batch, a, err)
		}
	}
	p.Batch = 1_100_000
	if a, err := newAllowance(p, fake{}, 1000); err == nil {
		t.Errorf("rounding of %v clips is allowed", a.part)
	}
}
