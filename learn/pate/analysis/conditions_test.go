package analysis

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/learn/pate/internal/tail"
)

// atPoints looks at C5 and C6 at points that lie closely, as the published code does: it
// can refute them, and proves nothing.
func atPoints(s *GNMaxSensitivity) (c5, c6 bool) {
	x0 := tail.InverseLogErfc(s.logq0 - s.half())
	beta := func(x float64) float64 { return s.rdp(s.half() + tail.LogErfc(x)) }
	c5, c6 = true, true
	step := max(1/(64*s.Sigma), 0x1p-14)
	before, last := math.Inf(1), math.Inf(1)
	for x := x0; before > 1e-18*s.independent(); x += step {
		up, down := beta(x), beta(x+1/s.Sigma)
		slack := 1e-12 * up
		c5 = c5 && up <= before+slack
		c6 = c6 && up-down <= last+slack
		before, last = up, up-down
	}
	return c5, c5 && c6
}

// What is proved holds at every point that is looked at. And nearly all that holds there
// is proved: not at orders near 1 with much noise, where a δ has no ε of use.
func TestProofAgainstPoints(t *testing.T) {
	refused, all := 0, 0
	for _, sigma := range []float64{0.5, 2, 8, 20, 40, 100} {
		for _, classes := range []int{2, 10, 1000} {
			for _, order := range []float64{1.5, 3, 8, 20, 50} {
				s, err := NewGNMaxSensitivity(sigma, classes, order)
				if err != nil {
					continue
				}
				c5, c6 := s.Check()
				p5, p6 := atPoints(s)
				if c5 && !p5 || c6 && !p6 {
					t.Errorf("sigma %g, %d classes, order %g: C5 %v, C6 %v are proved, and at points they are %v, %v", sigma, classes, order, c5, c6, p5, p6)
				}
				all++
				if p5 != c5 || p6 != c6 {
					if refused++; order > 2 {
						t.Errorf("sigma %g, %d classes, order %g: no proof (%v %v) of what holds at points (%v %v)", sigma, classes, order, c5, c6, p5, p6)
					}
				}
			}
		}
	}
	t.Logf("%d of %d without a proof", refused, all)
}

// The slope's bounds hold what differences of β show, in every interval.
func TestSlopeBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := rapid.Float64Range(0.3, 100).Draw(t, "sigma")
		classes := rapid.IntRange(2, 100).Draw(t, "classes")
		s, err := NewGNMaxSensitivity(sigma, classes, rapid.Float64Range(1.05, 30).Draw(t, "order"))
		if err != nil {
			return
		}
		a := tail.InverseLogErfc(s.logq0-s.half()) + rapid.Float64Range(0, 3).Draw(t, "from")
		b := a + rapid.Float64Range(1e-4, 0.05).Draw(t, "width")
		lo, hi := s.slope(a, b)
		if !(lo <= hi) {
			t.Fatalf("bounds %g and %g", lo, hi)
		}
		// The mean slope lies between them.
		beta := func(x float64) float64 { return s.rdp(s.half() + tail.LogErfc(x)) }
		mean := (s.Order - 1) * (beta(a) - beta(b)) / (b - a)
		if off := 1e-11*(s.Order-1)*(beta(a)+1e-3)/(b-a) + 1e-9*math.Abs(mean); mean < lo-off || mean > hi+off {
			t.Fatalf("sigma %g, %d classes, order %g: β falls from %g to %g by %g a unit, not within [%g, %g]", sigma, classes, s.Order, a, b, mean, lo, hi)
		}
	})
}
