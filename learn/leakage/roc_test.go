package leakage

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestROCByHand(t *testing.T) {
	// Members 5 4 4 1, others 4 2 1 0: one step for each tie.
	r, err := NewROC([]float64{5, 4, 4, 1, 4, 2, 1, 0}, []bool{true, true, true, true, false, false, false, false})
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{{0, 0}, {0, 0.25}, {0.25, 0.75}, {0.5, 0.75}, {0.75, 1}, {1, 1}}
	got := r.Steps()
	if len(got) != len(want) {
		t.Fatalf("steps %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("step %d: %v, want %v", i, got[i], want[i])
		}
	}
	if a := r.AUC(); a != 12.5/16 { // of 16 pairs, 11 are won and 3 tied
		t.Errorf("AUC %v", a)
	}
	if b := r.BalancedAccuracy(); b != 0.75 {
		t.Errorf("balanced accuracy %v", b)
	}
	for _, tc := range []struct{ fpr, fp, tp float64 }{
		{0, 0, 0.25}, {0.24, 0, 0.25}, {0.25, 0.25, 0.75}, {0.5, 0.5, 0.75}, {0.75, 0.75, 1},
	} {
		rate, err := r.At(tc.fpr, 0.95)
		if err != nil || rate.FPR != tc.fp || rate.TPR != tc.tp {
			t.Errorf("at %v: %+v, %v", tc.fpr, rate, err)
		}
	}
}

// The curve is what counting says: at each threshold, and AUC over all pairs.
func TestROCAgainstCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		scores, member := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i] = float64(rapid.IntRange(0, 8).Draw(t, "score"))
			member[i] = i == 0 || i > 1 && rapid.Bool().Draw(t, "member")
		}
		r, err := NewROC(scores, member)
		if err != nil {
			t.Fatal(err)
		}
		wins, pairs := 0.0, 0.0
		for i := range scores {
			for j := range scores {
				if member[i] && !member[j] {
					pairs++
					switch {
					case scores[i] > scores[j]:
						wins++
					case scores[i] == scores[j]:
						wins += 0.5
					}
				}
			}
		}
		if math.Abs(r.AUC()-wins/pairs) > 1e-12 {
			t.Fatalf("AUC %v, %v of %v pairs", r.AUC(), wins, pairs)
		}
		fpr := rapid.Float64Range(0, 0.99).Draw(t, "fpr")
		rate, err := r.At(fpr, 0.9)
		if err != nil || rate.FPR > fpr+1e-9 || rate.TPRLow > rate.TPR || rate.TPRHigh < rate.TPR || rate.FPRHigh < rate.FPR {
			t.Fatalf("at %v: %+v, %v", fpr, rate, err)
		}
		best := 0.0 // among thresholds that are allowed
		for _, s := range r.Steps() {
			if s.FPR <= fpr+1e-9 {
				best = max(best, s.TPR)
			}
		}
		if rate.TPR != best {
			t.Fatalf("at %v: %v, the curve reaches %v", fpr, rate.TPR, best)
		}
	})
}

func TestROCRefuses(t *testing.T) {
	for _, member := range [][]bool{{true, true}, {false, false}, {true}} {
		if _, err := NewROC([]float64{1, 2}, member); err == nil {
			t.Errorf("membership %v", member)
		}
	}
	r, err := NewROC([]float64{math.NaN(), 1, 0}, []bool{true, true, false})
	if err != nil || r.AUC() != 0.5 { // NaN speaks against membership
		t.Errorf("NaN: %v, %v", r, err)
	}
}

// An interval of the true positive rate covers it: over 300 draws of 200 members and 200
// others from Gaussians one apart, 99.9 % intervals miss 12 times or more with
// probability 1e-12, for each misses with at most 0.001.
func TestRateCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	missed := 0
	for range 300 {
		scores, member := make([]float64, 400), make([]bool, 400)
		for i := range scores {
			member[i] = i < 200
			scores[i] = random.NormFloat64()
			if member[i] {
				scores[i]++
			}
		}
		r, _ := NewROC(scores, member)
		rate, err := r.At(0.05, 0.999)
		if err != nil {
			t.Fatal(err)
		}
		if truth := normal(1 - rate.Threshold); truth < rate.TPRLow || truth > rate.TPRHigh {
			missed++
		}
	}
	if missed >= 12 {
		t.Errorf("%d of 300 intervals miss", missed)
	}
}
