package decision

import "testing"

func TestClass(t *testing.T) {
	for _, test := range []struct {
		scores []float64
		want   int
	}{
		{[]float64{0}, 0},
		{[]float64{0.1}, 1},
		{[]float64{-3}, 0},
		{[]float64{-3, -2, -5}, 1},
		{[]float64{2, 1, 2}, 0},
	} {
		if got := Class(test.scores); got != test.want {
			t.Errorf("Class(%v) = %d, want %d", test.scores, got, test.want)
		}
	}
}

func TestTarget(t *testing.T) {
	for score, want := range map[float64]float64{-1: 10, 0: 15, 1: 20, -7: 10, 7: 20, 0.5: 17.5} {
		if got := Target(score, 10, 20); got != want {
			t.Errorf("Target(%v) = %v, want %v", score, got, want)
		}
	}
}
