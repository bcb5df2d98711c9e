package program

import (
	"math"
	"math/bits"
	"testing"
)

// All outcomes of up to nine answers.
func TestMajority(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for _, p := range []float64{0.5, 0.51, 0.75, 0.99} {
			want := 0.0
			for outcome := range uint(1) << n {
				k := bits.OnesCount(outcome)
				term := math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
				switch {
				case 2*k > n:
					want += term
				case 2*k == n:
					want += term / 2
				}
			}
			if got := Majority(n, p); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d answers, %v: %v, want %v", n, p, got, want)
			}
		}
	}
}

// The ceiling is reached by the mechanism that tells all with
// probability δ and otherwise responds at random.
func TestCeiling(t *testing.T) {
	for _, epsilon := range []float64{0, 0.1, 1, 4} {
		for _, delta := range []float64{0, 1e-6, 0.1} {
			truth := math.Exp(epsilon) / (1 + math.Exp(epsilon))
			right := delta + (1-delta)*truth
			if c := Ceiling(epsilon, delta); math.Abs(c-right) > 1e-12 {
				t.Errorf("epsilon %v, delta %v: ceiling %v, reached %v", epsilon, delta, c, right)
			}
		}
	}
}
