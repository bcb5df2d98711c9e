package accountant

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// first is the probability that a mechanism of epsilon takes the first of two candidates,
// whose score is ahead by gap of the sensitivity: by the definition of the mechanism.
func first(mechanism string, epsilon, gap float64) float64 {
	if mechanism == "exponential" {
		a, b := math.Exp(epsilon*gap/2), 1.0
		return a / (a + b)
	}
	// Permute and flip: in a random order, the first whose coin of e^(ε(q-q*)/2) shows heads.
	heads := [2]float64{math.Exp(epsilon * math.Min(0, gap) / 2), math.Exp(-epsilon * math.Max(0, gap) / 2)}
	p := 0.0
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		left := 0.5
		for range 100 { // the best one's coin always shows heads
			for _, i := range order {
				if i == 0 {
					p += left * heads[0]
				}
				left *= 1 - heads[i]
			}
		}
	}
	return p
}

// gaps are from where a unit moves it by 2. Outside of these, permute and flip has pairs
// that reveal less.
func gaps(mechanism string, epsilon float64) (from []float64) {
	for i := range 800 {
		part := (float64(i) + 0.5) / 400
		if part > 1 {
			part = 1 - math.Pow(10, -8*(part-1))/2 // closer and closer to the end
		}
		x := -2 * part
		if mechanism == "exponential" { // where the greater loss is that part of ε
			x = -2 / epsilon * math.Log(math.Expm1(part*epsilon)/-math.Expm1((part-1)*epsilon))
		}
		from = append(from, x)
	}
	return from
}

// composedChoices is δ(ε) of k such choices: a sum over how often the first is taken.
func composedChoices(mechanism string, epsilon, gap float64, k int, at float64) float64 {
	p, q := first(mechanism, epsilon, gap+2), first(mechanism, epsilon, gap)
	sum := 0.0
	for j := 0; j <= k; j++ {
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(float64(j) + 1)
		c, _ := math.Lgamma(float64(k-j) + 1)
		logP := a - b - c + float64(j)*math.Log(p) + float64(k-j)*math.Log(1-p)
		l := float64(j)*math.Log(p/q) + float64(k-j)*math.Log((1-p)/(1-q))
		if l > at {
			sum += math.Exp(logP) * -math.Expm1(at-l)
		}
	}
	return sum
}

// Low of choices is what choices between two candidates cost, by the definition of the
// mechanism, and hardly less than the worst such choice. Losses of RandomizedResponse(ε)
// in place of a choice's, or a threshold's, fail it.
func TestChoicesCostAtLeast(t *testing.T) {
	for _, mechanism := range []string{"exponential", "permute_and_flip", "noisy_max"} {
		for _, epsilon := range []float64{0.03, 1, 3} {
			for _, k := range []int{1, 2, 5, 40} {
				if os.Getenv("DISCREET_SOAK") == "" && (epsilon == 1 || k == 5) {
					continue
				}
				for _, delta := range []float64{1e-9, 1e-2} {
					plan := fmt.Sprintf("%d*%s(%v)", k, mechanism, epsilon)
					r, err := Epsilon(t.Context(), parse(t, plan), delta, Options{Accountant: "pld"})
					if err != nil {
						t.Fatalf("%s: %v", plan, err)
					}
					b := *r.Bounds[0].Epsilon
					most := func(at float64) float64 {
						worst := 0.0
						for _, gap := range gaps(mechanism, epsilon) {
							worst = math.Max(worst, composedChoices(mechanism, epsilon, gap, k, at))
						}
						return worst
					}
					// The best place need not be on the grid: this far, it moves ε by less.
					if d := most(b.Low*(1-2e-3) - 1e-12); b.Low > 0 && !(d > delta) {
						t.Errorf("%s at %v: at least %v, where the worst choice has δ = %v", plan, delta, b.Low, d)
					}
					if d := most(b.Low*1.02 + 1e-5); d > delta {
						t.Errorf("%s at %v: at least %v, where a choice has δ = %v", plan, delta, b.Low, d)
					}
					if b.Low > b.High {
						t.Errorf("%s at %v: %v", plan, delta, b)
					}
				}
			}
		}
	}
}

// One choice of bounded range has no gap at all, in samples either.
func TestOneChoiceIsExact(t *testing.T) {
	for _, tc := range []struct {
		plan string
		rel  privacy.Neighbours
	}{
		{"exponential(1)", privacy.AddRemove},
		{"exponential(0.001)", privacy.ReplaceOne},
		{"poisson(0.1, exponential(2))", privacy.AddRemove},
		{"without_replacement(1, 10, exponential(2))", privacy.ReplaceOne},
	} {
		for _, delta := range []float64{1e-12, 1e-6, 1e-4} {
			r, err := Epsilon(t.Context(), parse(t, tc.plan), delta, Options{Accountant: "pld", Neighbours: tc.rel})
			if err != nil {
				t.Fatal(err)
			}
			if b := *r.Bounds[0].Epsilon; !(b.Low > b.High*(1-1e-9)) {
				t.Errorf("%s at %v: %v", tc.plan, delta, b)
			}
		}
	}
}

// The referee's floor of one threshold is what it knows in closed form.
func TestRefereeKnowsChoices(t *testing.T) {
	for _, eps := range []float64{0, 0.3, 1.9} {
		x, _ := numeric.FromFloat(eps)
		b := referee.Of(parse(t, "permute_and_flip(2)"), privacy.AddRemove, 1, 256)
		lo, hi := b.Floor.At(x).Float64s()
		worst := 0.0
		for _, gap := range gaps("permute_and_flip", 2) {
			worst = math.Max(worst, composedChoices("permute_and_flip", 2, gap, 1, eps))
		}
		if !(worst <= hi*(1+1e-9) && worst > lo*(1-1e-4)) {
			t.Errorf("δ(%v) in [%v, %v], the worst choice has %v", eps, lo, hi, worst)
		}
	}
}
