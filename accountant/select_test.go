package accountant

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/privacy/plan"
)

// The best of K runs of a pair, whose law is g(F(y)) - g(F(y-)) with F the law of one run and
// g the generating function of K: its divergence is below the bound at every order, in
// whichever order the outcomes stand, and not far below for large orders.
func TestBestOfRuns(t *testing.T) {
	p, q := []float64{0.5, 0.3, 0.15, 0.05}, []float64{0.4, 0.33, 0.2, 0.07}
	pair := "pair(0.5: 0.4, 0.3: 0.33, 0.15: 0.2, 0.05: 0.07)"
	for _, shape := range []float64{0.01, 0.5, 1, 3} {
		for _, mean := range []float64{1, 1.5, 10, 1000} {
			e := parse(t, fmt.Sprintf("repeat_and_select(%v, %s, shape=%v)", mean, pair, shape))
			x := stops(mean, shape)
			gamma := math.Exp(-x)
			if x == 0 {
				gamma = 1 - 1e-9
			}
			g := func(z float64) float64 {
				return math.Expm1(-shape*math.Log1p(-(1-gamma)*z)) / math.Expm1(-shape*math.Log(gamma))
			}
			best := func(law []float64, reverse bool) []float64 {
				out := make([]float64, len(law))
				below := 0.0
				for i := range law {
					at := i
					if reverse {
						at = len(law) - 1 - i
					}
					out[at] = g(below+law[at]) - g(below)
					below += law[at]
				}
				return out
			}
			orders := []float64{1.1, 1.5, 2, 4, 16, 128}
			points, err := RenyiCurve(t.Context(), e, orders, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, reverse := range []bool{false, true} {
				a, b := best(p, reverse), best(q, reverse)
				for _, laws := range [][2][]float64{{a, b}, {b, a}} {
					for i, order := range orders {
						moment := 0.0
						for j := range a {
							moment += math.Pow(laws[0][j], order) * math.Pow(laws[1][j], 1-order)
						}
						if truth := math.Log(moment) / (order - 1); truth > points[i].Y.High*(1+1e-6) {
							t.Errorf("%v: divergence of order %v is %v, bounded by %v", e, order, truth, points[i].Y.High)
						}
					}
				}
			}
		}
	}
}

// dp_accounting's tests: Laplace runs are (2+η)ε-DP (Corollary 3), and of Gaussian runs the
// best λ̂ is √(ln(1/γ)/ρ) (Corollary 4).
func TestBestOfRunsReference(t *testing.T) {
	for _, shape := range []float64{0.5, 1, 2} {
		e := parse(t, fmt.Sprintf("repeat_and_select(7, laplace(10), shape=%v)", shape))
		r, err := Epsilon(t.Context(), e, 0, Options{Accountant: "basic"})
		if err != nil || math.Abs(r.Bounds[0].Epsilon.High-(2+shape)/10) > 1e-12 {
			t.Errorf("%v: %v, %v", e, r.Bounds, err)
		}
	}
	const sigma, mean = 5.0, 20.0 // γ = 1/20
	rho := 1 / (2 * sigma * sigma)
	points, err := RenyiCurve(t.Context(), parse(t, "repeat_and_select(20, gaussian(5))"), []float64{2, 8, 30}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range points {
		want := x.X*rho + 2*(2*math.Sqrt(rho*math.Log(mean))-rho) + math.Log(mean)/(x.X-1)
		if got := x.Y.High; got < want*(1-1e-9) || got > want*(1+1e-3) {
			t.Errorf("order %v: %v, want %v", x.X, got, want)
		}
	}
	if x := stops(20, 1); math.Abs(x-math.Log(20)) > 1e-9 || x < math.Log(20) {
		t.Errorf("ln(1/γ) of mean 20 is %v", x)
	}
	if _, err := plan.Parse("repeat_and_select(0.5, gaussian(5))"); err == nil {
		t.Error("fewer runs than one are accepted")
	}
}
