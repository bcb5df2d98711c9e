package accountant

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/privacy"
)

// Randomized responses against a special record, by dp_accounting's own test
// (test_compute_rdp_randomized_response_replace_special): noise p there makes the true
// answer's probability 1-p+p/k here.
func TestSpecialResponseReference(t *testing.T) {
	for _, tc := range []struct {
		noise  string
		k      int
		values []float64 // at the orders below
	}{
		{"0.3", 10, []float64{1.5030552584146897, 1.7801182478869704, 1.9091969256833639, 1.9814516798923105, 1.9846954517418232}},
		{"0.05", 20, []float64{2.8985312222056674, 2.9615414620514047, 2.982908949957726, 2.994685471627712, 2.9952141594692665}},
		{"0.01", 3, []float64{3.851345343526459, 4.334924907685137, 4.503803908976894, 4.596895387863428, 4.601074578835478}},
	} {
		orders := []float64{1.5, 2.5, 5, 50, 100}
		e := parse(t, fmt.Sprintf("randomized_response(1-%s+%[1]s/%d, k=%d)", tc.noise, tc.k, tc.k))
		points, err := RenyiCurve(t.Context(), e, orders, Options{Neighbours: privacy.ReplaceSpecial})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range tc.values {
			// Theirs are values, ours upper bounds of rounding.
			if got := points[i].Y.High; got < want*(1-1e-12) || got > want*(1+1e-9) {
				t.Errorf("%v: divergence of order %v is %v, want %v", e, orders[i], got, want)
			}
		}
	}
}

// Under replace-special noise costs what it does under add-remove, responses are judged by
// the referee at every p, and all cost at most what they do under replace-one, which
// includes it.
func TestReplaceSpecial(t *testing.T) {
	special := Options{Neighbours: privacy.ReplaceSpecial, Work: 1 << 22}
	for _, plan := range []string{"gaussian(2)", "3*laplace(2) + discrete_gaussian(3)", "tree(4, 8)", "10*poisson(0.1, gaussian(2))", "poisson(0.1, laplace(2))",
		"pure(0.1) + zcdp(0.1)", "parallel(gaussian(2), laplace(3))"} {
		e := parse(t, plan)
		a, errA := Epsilon(t.Context(), e, 1e-6, special)
		b, errB := Epsilon(t.Context(), e, 1e-6, Options{Work: 1 << 22})
		if errA != nil || errB != nil || len(a.Bounds) != len(b.Bounds) {
			t.Fatal(plan, errA, errB)
		}
		for i := range a.Bounds {
			if a.Bounds[i].Accountant != b.Bounds[i].Accountant || *a.Bounds[i].Epsilon != *b.Bounds[i].Epsilon {
				t.Errorf("%s: %+v under replace-special, %+v under add-remove", plan, a.Bounds[i], b.Bounds[i])
			}
		}
	}
	for _, p := range []string{"1e-300", "1e-6", "0.1", "0.4999999", "0.75", "0.999999", "1-1e-15"} {
		for _, k := range []int{2, 3, 1000} {
			for _, count := range []int{1, 2, 7} {
				plan := fmt.Sprintf("%d*randomized_response(%s, k=%d)", count, p, k)
				e := parse(t, plan)
				b := referee.Of(e, privacy.ReplaceSpecial, 1, 200)
				if b.Floor == nil || b.Ceiling == nil {
					t.Fatal(plan, "the referee does not know it")
				}
				for _, delta := range []float64{1e-200, 1e-9, 0.01} {
					r, err := Epsilon(t.Context(), e, delta, special)
					if err != nil {
						t.Errorf("%s: %v", plan, err)
						continue
					}
					if err := judged(r, err, b); err != nil {
						t.Errorf("%s: %v", plan, err)
					}
					one, err := Epsilon(t.Context(), e, delta, Options{Neighbours: privacy.ReplaceOne, Work: 1 << 22})
					if err != nil {
						t.Fatal(err)
					}
					x, _ := r.Best()
					if y, _ := one.Best(); x.Epsilon.Low > y.Epsilon.High {
						t.Errorf("%s: at least %v under replace-special, at most %v under replace-one", plan, x.Epsilon, y.Epsilon)
					}
				}
				for _, eps := range []float64{0, 0.5, 3} {
					r, err := Delta(t.Context(), e, eps, special)
					if err := judged(r, err, b); err != nil {
						t.Errorf("%s: %v", plan, err)
					}
				}
			}
		}
	}
}

// The divergence of a pair against its definition, where that has its digits.
func TestPairDivergence(t *testing.T) {
	e := parse(t, "randomized_response(0.75, k=4)").(privacy.RandomizedResponse)
	c, err := specialResponseClaims(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []float64{1.001, 1.5, 2, 7, 100} {
		out := []float64{0}
		c.rdp([]float64{a}, out)
		there := math.Log(math.Pow(0.75, a)*math.Pow(0.25, 1-a)+math.Pow(0.25, a)*math.Pow(0.75, 1-a)) / (a - 1)
		back := math.Log(math.Pow(0.25, a)*math.Pow(0.75, 1-a)+math.Pow(0.75, a)*math.Pow(0.25, 1-a)) / (a - 1)
		if want := math.Max(there, back); math.Abs(out[0]/want-1) > 1e-9 {
			t.Errorf("order %v: %v, want %v", a, out[0], want)
		}
	}
}
