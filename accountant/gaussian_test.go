package accountant

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// The curve of Gaussian noise is Φ(-a) - e^ε Φ(-b) in intervals of 256 bits, with its
// error bound, from δ near 1 to the far tail; and ε is its inverse.
func TestGaussianCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Exp(rapid.Float64Range(-10, 2).Draw(t, "ln mu"))
		eps := math.Exp(rapid.Float64Range(-12, 3).Draw(t, "ln eps"))
		m, e := numeric.OfFloat(mu), numeric.OfFloat(eps)
		half := m.Quo(numeric.OfInt(2))
		exact := e.Quo(m).Sub(half).NormalTail().Sub(e.Exp().Mul(e.Quo(m).Add(half).NormalTail()))
		log, err := gaussianLogDelta(mu, eps)
		if log < -600 {
			return // nothing of 256 bits need be left of the difference
		}
		if !exact.Positive() {
			t.Skip("no bits are left")
		}
		exactLog := exact.Log()
		lo, hi := toFloat(exactLog.Lo()), toFloat(exactLog.Hi())
		if log-err > math.Nextafter(hi, 1e9) || log+err < math.Nextafter(lo, -1e9) {
			t.Fatalf("ln δ(%v) of μ = %v is %.17g ± %.2g, want %v", eps, mu, log, err, exactLog)
		}
		if err > 1e-9 {
			t.Fatalf("ln δ(%v) of μ = %v has an error of %v", eps, mu, err)
		}
		back := gaussianEpsilon(mu, log)
		if back.Low > eps*(1+1e-9)+1e-10 || back.High < eps*(1-1e-9)-1e-10 || back.High-back.Low > 1e-6*eps+1e-9 {
			t.Fatalf("ε of δ(%v) for μ = %v is %v", eps, mu, back)
		}
	})
}

func TestNormalQuantile(t *testing.T) {
	for _, x := range []float64{0.1, 1, 3, 6, 12, 30} {
		p := -x*x/2 - logRootTau + math.Log(mills(x))
		if got := normalQuantile(p); math.Abs(got+x) > 1e-12*x {
			t.Errorf("quantile of e^%v is %v, want %v", p, got, -x)
		}
	}
	if got := normalQuantile(math.Log(0.5)); math.Abs(got) > 1e-12 {
		t.Errorf("quantile of a half is %v", got)
	}
}

// pureMuSquared's curve is nowhere better than ε-DP's: at every ε' its δ is as great.
func TestGaussianOfPureEvents(t *testing.T) {
	for _, eps := range []float64{1e-3, 0.1, 1, 5, 50} {
		mu := math.Sqrt(toFloat(pureMuSquared(eps)))
		p := 1 / (1 + math.Exp(-eps))
		for x := 0.0; x < eps; x += eps / 20 {
			want := p - math.Exp(x)*(1-p) // δ of randomized response
			if log, err := gaussianLogDelta(mu, x); math.Exp(log+err) < want*(1-1e-9) {
				t.Errorf("ε = %v: at %v δ is %v, of ε-DP %v", eps, x, math.Exp(log), want)
			}
		}
	}
}
