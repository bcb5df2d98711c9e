package mechanism_test

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// What the honest have added is as much as the whole noise: by the variance of the sum of 1,500 draws
// at each number of honest parties. It is off by 40 % with probability below 1e-9: that is 6.9 of the standard
// deviations √(5/n) that it has with Laplace noise, and one draw that alone is so large has probability
// n·exp(−√1200) < 1e-11.
func TestPortionsAddUpToTheWhole(t *testing.T) {
	laplace, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(1, 1), Epsilon: epsilonOf(t, "0.1")})
	if err != nil {
		t.Fatal(err)
	}
	gaussian, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(1, 1), Variance: big.NewRat(200, 1)})
	if err != nil {
		t.Fatal(err)
	}
	const draws = 1500
	for name, law := range map[string]mechanism.Additive{"laplace": laplace, "gaussian": gaussian} {
		for _, honest := range []int{1, 2, 5} {
			p, err := mechanism.PortionOf(law, 10, honest)
			if err != nil {
				t.Fatal(err)
			}
			sums := make([]float64, draws)
			for range honest {
				values := make([]*big.Int, draws)
				for i := range values {
					values[i] = new(big.Int)
				}
				if err := p.AddTo(noise.System(), values); err != nil {
					t.Fatal(err)
				}
				for i, v := range values {
					f, _ := v.Float64()
					sums[i] += f
				}
			}
			got := 0.0
			for _, s := range sums {
				got += s * s / draws
			}
			if want := law.Variance(); got < 0.6*want || got > 1.4*want {
				t.Errorf("%s, %d honest: together a variance of %v, the whole noise has %v", name, honest, got, want)
			}
			if own := p.Variance() * float64(honest); own < law.Variance()*(1-1e-12) || own > 1.01*law.Variance() {
				t.Errorf("%s, %d honest: it says %v", name, honest, own)
			}
			if p.Event().String() != law.Event().String() {
				t.Errorf("%s, %d honest: the event is %v", name, honest, p.Event())
			}
			one, err1 := p.Bound(big.NewRat(1, 100))
			all, err2 := p.BoundOfSum(honest, big.NewRat(1, 100))
			if err1 != nil || err2 != nil || one.Sign() <= 0 || all.Cmp(one) < 0 {
				t.Errorf("%s, %d honest: bounds %v, %v, %v, %v", name, honest, one, all, err1, err2)
			}
		}
	}
	tiny, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 300)), Variance: big.NewRat(1, 1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		law            mechanism.Additive
		values, honest int
	}{{laplace, 1, 0}, {laplace, 0, 1}, {laplace, 1, 1000}, {tiny, 1 << 40, 2}} {
		if _, err := mechanism.PortionOf(bad.law, bad.values, bad.honest); err == nil {
			t.Errorf("%v over %d values among %d: not refused", bad.law.Event(), bad.values, bad.honest)
		}
	}
}

func epsilonOf(t *testing.T, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
