package account

import (
	"math"
	"testing"
)

func TestMisprintedFormulaIsTheTutorials(t *testing.T) {
	for k, want := range map[int]float64{3: 4.690004094900031, 350: 153.67357054267973} {
		if got := misprinted(0.5, 0.1, k); math.Abs(got-want) > 1e-9 {
			t.Errorf("k = %d: %v, want %v", k, got, want)
		}
	}
}
