package mechanism_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// What the honest have added is as much as the whole noise: by the variance of the sum of 3,000 draws
// at each number of honest parties. It is off by 40 % with probability below 1e-11: of Laplace noise by Chernoff's
// bound for squares of what is below 45 scales, which 3,000 draws exceed with probability 1e-16. (Squares have no
// normal tail: of 1,500 draws 40 % are 6.9 standard deviations, and the bound is 3e-7.)
func TestPortionsAddUpToTheWhole(t *testing.T) {
	laplace, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(1, 1), Epsilon: epsilonOf(t, "0.1")})
	if err != nil {
		t.Fatal(err)
	}
	gaussian, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(1, 1), Variance: big.NewRat(200, 1)})
	if err != nil {
		t.Fatal(err)
	}
	const draws = 3000
	for name, law := range map[string]mechanism.Additive{"laplace": laplace, "gaussian": gaussian, "skellam": gaussian} {
		by := mechanism.ByGaussian
		if name == "skellam" {
			by = mechanism.BySkellam
		}
		for _, honest := range []int{1, 2, 5} {
			p, err := mechanism.PortionOf(law, 10, honest, by)
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
			if own := p.Variance() * float64(honest); own < law.Variance()*(1-1e-12) || own > 1.01*law.Variance() && (name != "skellam" || own != 203) {
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
	if _, err := mechanism.PortionOf(gaussian, 1, 2, "laplace"); err == nil {
		t.Error("Gaussian noise is shared as Laplace draws")
	}
	tiny, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 300)), Variance: big.NewRat(1, 1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		law            mechanism.Additive
		values, honest int
	}{{laplace, 1, 0}, {laplace, 0, 1}, {laplace, 1, 1000}, {tiny, 1 << 40, 2}} {
		if _, err := mechanism.PortionOf(bad.law, bad.values, bad.honest, mechanism.ByGaussian); err == nil {
			t.Errorf("%v over %d values among %d: not refused", bad.law.Event(), bad.values, bad.honest)
		}
	}
}

// What is known of shares is their rho alone: the event of the whole is that of Laplace noise, and of Gaussian
// noise where each party adds all of it.
func TestPortionsReveal(t *testing.T) {
	laplace, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(1, 1), Epsilon: epsilonOf(t, "0.1")})
	if err != nil {
		t.Fatal(err)
	}
	gaussian, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(4, 1), Variance: big.NewRat(200, 1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		law    mechanism.Additive
		honest int
		by     mechanism.Sharing
		want   string
	}{
		{laplace, 3, mechanism.BySkellam, laplace.Event().String()}, {gaussian, 1, mechanism.BySkellam, gaussian.Event().String()},
		{gaussian, 3, mechanism.BySkellam, "zcdp(0.01)"}, {gaussian, 3, mechanism.ByGaussian, "zcdp(0.01)"},
	} {
		p, err := mechanism.PortionOf(c.law, 10, c.honest, c.by)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := p.Reveals(); err != nil || e.String() != c.want {
			t.Errorf("%v among %d by %q reveals %v, want %s; %v", c.law.Event(), c.honest, c.by, e, c.want, err)
		}
	}
}

// The Rényi divergence of the Skellam noise that honest parties have added, computed from its law, is at most what its
// event says, of all orders and for vectors that move by whole numbers; and, to show that the bound is no idle one, at
// least nine tenths of it, for variances that are not small.
func TestSkellamIsConcentrated(t *testing.T) {
	for _, variance := range []string{"1/1000", "12", "13", "20", "61/2", "300", "4000"} {
		v, _ := new(big.Rat).SetString(variance)
		whole, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(1, 1), Variance: v})
		if err != nil {
			t.Fatal(err)
		}
		p, err := mechanism.PortionOf(whole, 1, 3, mechanism.BySkellam)
		if err != nil {
			t.Fatal(err)
		}
		revealed, err := p.Reveals()
		if err != nil {
			t.Fatal(err)
		}
		rho, _ := revealed.(privacy.ZCDP).Rho.Rat().Float64()
		law := skellamLogs(3 * p.Variance())
		for _, moved := range []int{1, 2, 7} {
			for _, order := range []float64{1.001, 1.1, 1.5, 1.9, 2, 2.5, 3, 3.7, 8, 20, 100} {
				sum, top := 0.0, math.Inf(-1)
				term := func(k int) float64 { return order*law[k] + (1-order)*law[k-moved] }
				for k := moved; k < len(law); k++ {
					top = max(top, term(k))
				}
				for k := moved; k < len(law); k++ {
					sum += math.Exp(term(k) - top)
				}
				claim := order * rho * float64(moved*moved)
				got := (math.Log(sum) + top) / (order - 1)
				if got > claim+1e-10/(order-1) {
					t.Errorf("variance %s, moved by %d, order %v: %v, and %v is claimed", variance, moved, order, got, claim)
				}
				if moved == 1 && v.Cmp(big.NewRat(30, 1)) >= 0 && order < 4 && got < 0.9*claim {
					t.Errorf("variance %s, order %v: %v of %v: is it another law?", variance, order, got, claim)
				}
			}
		}
	}
}

// skellamLogs is ln P(k) of Skellam noise for −n ≤ k ≤ n, in order, n being beyond what matters: by the recurrence of
// ratios of Bessel functions, downwards.
func skellamLogs(variance float64) []float64 {
	n := int(16*math.Sqrt(variance)) + 1200
	logs := make([]float64, 2*n+1)
	ratio := 0.0
	ratios := make([]float64, n)
	for k := 2*n + 50; k >= 1; k-- {
		if ratio = 1 / (2*float64(k)/variance + ratio); k <= n {
			ratios[k-1] = math.Log(ratio)
		}
	}
	total := 1.0
	for k := range ratios {
		logs[n+k+1] = logs[n+k] + ratios[k]
		logs[n-k-1] = logs[n+k+1]
		total += 2 * math.Exp(logs[n+k+1])
	}
	for k := range logs {
		logs[k] -= math.Log(total)
	}
	return logs
}

func epsilonOf(t *testing.T, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
