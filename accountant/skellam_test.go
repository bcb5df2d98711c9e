package accountant

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/privacy/plan"
)

// skellamLaw is S(k) for |k| <= n, by convolution of two Poisson laws, all terms positive:
// nothing of the recurrence of package loss.
func skellamLaw(mu float64, n int) func(k int) float64 {
	poisson := make([]float64, 4*n+200)
	for i := range poisson {
		l, _ := math.Lgamma(float64(i + 1))
		poisson[i] = math.Exp(float64(i)*math.Log(mu/2) - mu/2 - l)
	}
	law := make([]float64, n+1)
	for k := range law {
		for i := 0; i+k < len(poisson); i++ {
			law[k] += poisson[i] * poisson[i+k]
		}
	}
	return func(k int) float64 { return law[max(k, -k)] }
}

// δ and Rényi divergences of one number against sums over the convolved law: the bracket of
// pld holds δ(ε) and is narrow; the theorem's bound is above the divergence at every order,
// whole or not.
func TestSkellam(t *testing.T) {
	for _, mu := range []float64{0.01, 0.3, 1, 4, 30, 200} {
		for _, s := range []int{1, 2, 5} {
			n := 40 + int(25*math.Sqrt(mu)) + s
			law := skellamLaw(mu, n+s)
			e := parse(t, fmt.Sprintf("skellam(%v, sensitivity=%d, l1=%[2]d)", mu, s))
			for _, eps := range []float64{0, 0.1, 1, 3} {
				want := 0.0
				for k := -n; k <= n; k++ {
					want += math.Max(0, law(k-s)-math.Exp(eps)*law(k))
				}
				if want < 1e-10 {
					continue
				}
				r, err := Delta(t.Context(), e, eps, Options{Accountant: "pld"})
				if err != nil {
					t.Fatalf("%v: %v", e, err)
				}
				if b := r.Bounds[0].Delta; want < b.Low*(1-1e-9) || want > b.High*(1+1e-9) || b.High > want*(1+1e-6) || b.Low < want*(1-1e-6) {
					t.Errorf("%v: δ(%v) lies in %v, and is %v (%s)", e, eps, b, want, r.Bounds[0].Note)
				}
			}
			orders := []float64{1.1, 1.5, 2, 2.5, 3, 5, 8, 16}
			points, err := RenyiCurve(t.Context(), e, orders, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range orders {
				moment := 0.0
				for k := -n; k <= n; k++ {
					if p, q := law(k-s), law(k); p > 1e-290 && q > 1e-290 {
						moment += math.Exp(a*math.Log(p) + (1-a)*math.Log(q))
					}
				}
				if want := math.Log(moment) / (a - 1); points[i].Y.High < want*(1-1e-6) {
					t.Errorf("%v: divergence of order %v is at least %v, bounded by %v", e, a, want, points[i].Y.High)
				} else if mu > 100 && s == 1 && a >= 2 && points[i].Y.High > 1.1*want {
					t.Errorf("%v: divergence of order %v is %v, bounded by %v only", e, a, want, points[i].Y.High)
				}
			}
		}
	}
}

// From a variance of 16 on the noise is known in rho, which the Rényi divergence of no order exceeds (package mechanism holds
// it against the law); at orders just above 1 that is half of what whole orders say, and below 16 nothing is known.
func TestSkellamInRho(t *testing.T) {
	for text, want := range map[string]float64{"skellam(16)": 1.0 / 26, "skellam(103, sensitivity=2, l1=2)": 4.0 / 200, "100*skellam(1e4, sensitivity=3, l1=9)": 900.0 / (2 * 9997)} {
		r, err := Epsilon(t.Context(), parse(t, text), 1e-6, Options{Accountant: "zcdp"})
		if err != nil {
			t.Fatal(err)
		}
		x, _ := r.Best()
		g, err := Epsilon(t.Context(), parse(t, fmt.Sprintf("zcdp(%v)", want)), 1e-6, Options{Accountant: "zcdp"})
		if err != nil {
			t.Fatal(err)
		}
		if y, _ := g.Best(); math.Abs(x.Epsilon.High-y.Epsilon.High) > 1e-9*y.Epsilon.High {
			t.Errorf("%s: %v, and zcdp(%v) has %v", text, x.Epsilon, want, y.Epsilon)
		}
	}
	if r, err := Epsilon(t.Context(), parse(t, "skellam(15.9)"), 1e-6, Options{Accountant: "zcdp"}); err == nil {
		if x, ok := r.Best(); ok && !math.IsInf(x.Epsilon.High, 1) {
			t.Errorf("a variance below 16 has %v by rho", x.Epsilon)
		}
	}
	points, err := RenyiCurve(t.Context(), parse(t, "skellam(1000)"), []float64{1.01, 2.5}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range []float64{1.01, 2.5} {
		if got, most := points[i].Y.High, a/(2*997)*(1+1e-6); got > most {
			t.Errorf("order %v: %v, and rho says %v", a, got, most)
		}
	}
}

// Of a vector only the theorem is known; noise of two coordinates that is asked for as of
// one is refused by pld, and replacing doubles both sensitivities.
func TestSkellamOfVectors(t *testing.T) {
	e := parse(t, "100*skellam(1e4, sensitivity=3, l1=9)")
	r, err := Epsilon(t.Context(), e, 1e-6, Options{Accountant: "rdp"})
	if err != nil {
		t.Fatal(err)
	}
	// Gaussian noise of the same variance is the limit, and no more than the bound.
	g, err := Epsilon(t.Context(), parse(t, "100*gaussian(100, sensitivity=3)"), 1e-6, Options{Accountant: "rdp"})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := r.Best()
	y, _ := g.Best()
	if x.Epsilon.High < y.Epsilon.High || x.Epsilon.High > 1.02*y.Epsilon.High {
		t.Errorf("%v: %v by %s, Gaussian noise %v", e, x.Epsilon, x.Accountant, y.Epsilon)
	}
	for _, text := range []string{"skellam(4, sensitivity=2)", "skellam(4, sensitivity=2, l1=1.9)"} {
		if p, err := plan.Parse(text); err == nil {
			t.Errorf("%s is read as %v", text, p)
		}
	}
}
