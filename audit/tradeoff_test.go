package audit_test

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/audit"
)

// The bounds of one run (Steinke, Nasr and Jagielski 2023, arXiv:2305.08846), computed
// with another library (SciPy), to all digits.
func TestOneRunEpsilonReference(t *testing.T) {
	for _, tc := range []struct {
		m, n, c     int
		delta, want float64
	}{
		{100, 100, 75, 0, 0.7022139309},
		{1000, 1000, 600, 1e-5, 0.2972269537},
		{1000, 100, 100, 1e-5, 3.4653763478},
		{1000, 200, 180, 1e-5, 1.7962850707},
		{10000, 10000, 5100, 1e-5, 0.0066681883},
	} {
		if got, err := audit.OneRunEpsilon(tc.m, tc.n, tc.c, tc.delta, 0.95); err != nil || math.Abs(got-tc.want) > 1e-8 {
			t.Errorf("%+v: %.10f, %v", tc, got, err)
		}
	}
}

// The recursion, computed with 40 digits by another program.
func TestOneRunMuVectors(t *testing.T) {
	for _, tc := range []struct {
		m, n, c            int
		significance, want float64
	}{
		{100, 100, 75, 0.05, 0.404311982984},
		{100, 40, 40, 0.05, 1.15013569768},
		{200, 200, 150, 1e-9, 0.0483383269118},
		{1000, 100, 100, 0.05, 1.22553345243},
		{100, 100, 50, 0.05, 0},
	} {
		got, err := audit.OneRunMu(tc.m, tc.n, tc.c, 1-tc.significance)
		if err != nil || math.Abs(got-tc.want) > 1e-6 {
			t.Errorf("%+v: %.12f, %v", tc, got, err)
		}
		if p := audit.OneRunPValue(audit.Gaussian(tc.want), tc.m, tc.n, tc.c); tc.want > 0 && math.Abs(p/tc.significance-1) > 1e-5 {
			t.Errorf("%+v: p-value %v", tc, p)
		}
	}
}

// The profile of a Gaussian release, computed with 40 digits by another program.
func TestGaussianDelta(t *testing.T) {
	for _, tc := range []struct{ mu, epsilon, want float64 }{
		{1, 1, 0.126936737506644}, {0.1, 1, 1.2308359836427e-25}, {3, 0.5, 0.82999580994769}, {0.05, 0.5, 4.79729136266232e-26},
		{0, 1, 0}, {inf, 1, 1}, {nan, 1, 1}, {-1, 1, 1},
	} {
		if got := audit.Gaussian(tc.mu).Delta(tc.epsilon); math.Abs(got-tc.want) > 1e-9*tc.want+1e-30 && math.Abs(got-tc.want) > 1e-16 {
			t.Errorf("%+v: %v", tc, got)
		}
	}
	for _, delta := range []float64{1e-12, 1e-5, 0.1} {
		if e := audit.Gaussian(1).Epsilon(delta); math.Abs(audit.Gaussian(1).Delta(e)/delta-1) > 1e-6 {
			t.Errorf("delta %v: epsilon %v", delta, e)
		}
	}
	if e := audit.Gaussian(1).Epsilon(0); !math.IsInf(e, 1) {
		t.Errorf("pure epsilon of a Gaussian: %v", e)
	}
}

// Power and Level are each other's inverse, and mirror each other; what is no
// guarantee allows everything.
func TestTradeOffs(t *testing.T) {
	for _, f := range []audit.TradeOff{
		audit.Gaussian(0), audit.Gaussian(0.5), audit.Gaussian(3),
		audit.Points{{Epsilon: 1}}, audit.Points{{Epsilon: 1, Delta: 0.01}, {Epsilon: 0.1, Delta: 0.2}},
	} {
		for i := 1; i < 100; i++ {
			a := float64(i) / 100
			p := f.Power(a)
			if p < a || p > 1 {
				t.Errorf("%#v: power %v at %v", f, p, a)
			}
			if back := f.Level(p); back > a+1e-9 || p < 1-1e-6 && math.Abs(back-a) > 1e-9 {
				t.Errorf("%#v: power %v at %v, level %v", f, p, a, back)
			}
			if mirror := 1 - f.Level(1-a); math.Abs(mirror-p) > 1e-9 {
				t.Errorf("%#v: power %v at %v, mirrored %v", f, p, a, mirror)
			}
		}
	}
	for _, f := range []audit.TradeOff{
		audit.Gaussian(nan), audit.Gaussian(-1), audit.Gaussian(inf), audit.Points{}, audit.Points{{Epsilon: nan}}, audit.Points{{Epsilon: -1}}, audit.Points{{Epsilon: inf}},
	} {
		if p, a := f.Power(0.1), f.Level(0.9); p != 1 || a != 0 {
			t.Errorf("%#v: power %v, level %v", f, p, a)
		}
	}
}

// No mechanism beats the bound that its own trade-off gives. Of independent Gaussian
// releases, one a unit, Φ(μ/2) is guessed right of each; a release that shows everything
// with probability δ and else nothing is (0, δ)-private.
func TestOneRunPValueIsABound(t *testing.T) {
	const n = 60
	for _, mu := range []float64{0, 0.1, 1, 3} {
		right := 0.5 * math.Erfc(-mu/2/math.Sqrt2)
		for c := range n + 2 {
			if bound, truth := audit.OneRunPValue(audit.Gaussian(mu), n, n, c), audit.PValue(c, n, right); bound < truth*(1-1e-9) {
				t.Errorf("mu %v: %d of %d: bound %v, probability %v", mu, c, n, bound, truth)
			}
		}
	}
	for _, delta := range []float64{1e-9, 1e-3, 0.2} {
		for c := range n + 1 {
			truth := delta + (1-delta)*audit.PValue(c, n, 0.5)
			if bound := audit.OneRunPValue(audit.Points{{Delta: delta}}, n, n, c); bound < truth*(1-1e-9) {
				t.Errorf("delta %v: %d of %d: bound %v, probability %v", delta, c, n, bound, truth)
			}
		}
	}
	// And it bites: all right refutes what one unit alone could not.
	if p := audit.OneRunPValue(audit.Gaussian(0.5), 200, 200, 200); p > 1e-9 {
		t.Errorf("200 of 200 under 0.5-GDP: %v", p)
	}
	if p := audit.OneRunPValue(nil, 10, 10, 10); p != 1 {
		t.Errorf("no guarantee: %v", p)
	}
}

// The whole curve says more of one run than one of its points.
func TestOneRunMuIsTighter(t *testing.T) {
	mu, _ := audit.OneRunMu(1000, 1000, 841, 0.95) // as of 2-GDP
	e, _ := audit.OneRunEpsilon(1000, 1000, 841, 1e-5, 0.95)
	if got := audit.Gaussian(mu).Epsilon(1e-5); got < 1.5*e || mu > 2 {
		t.Errorf("mu %v, epsilon %v by the curve, %v by the point", mu, got, e)
	}
}
