package accountant

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// discreteGaussianDelta is the exact delta of discrete Gaussian noise on a query
// of integer sensitivity s, by summing over the integers (Canonne, Kamath and
// Steinke 2020, Theorem 7): P[Y > εσ²/s - s/2] - e^ε·P[Y > εσ²/s + s/2].
func discreteGaussianDelta(variance float64, s int, epsilon float64) float64 {
	reach := int(60*math.Sqrt(variance)) + s + 10
	var norm, above, shifted float64
	for y := -reach; y <= reach; y++ {
		p := math.Exp(-float64(y) * float64(y) / (2 * variance))
		norm += p
		if float64(y) > epsilon*variance/float64(s)-float64(s)/2 {
			above += p
		}
		if float64(y) > epsilon*variance/float64(s)+float64(s)/2 {
			shifted += p
		}
	}
	return above/norm - math.Exp(epsilon)*shifted/norm
}

// The oracle agrees with vectors of an implementation that is not ours:
// https://github.com/IBM/discrete-gaussian-differential-privacy (dg_delta).
func TestOracle(t *testing.T) {
	for _, tc := range []struct{ variance, epsilon, want float64 }{
		{1, 1, 0.14135133940562192},
		{100, 0.1, 0.008762353923948113},
	} {
		if got := discreteGaussianDelta(tc.variance, 1, tc.epsilon); math.Abs(got-tc.want) > 1e-10 {
			t.Errorf("delta of variance %v at epsilon %v is %v, want %v", tc.variance, tc.epsilon, got, tc.want)
		}
	}
}

// Noise calibrated by rho has at most the delta asked for, by the exact sum over
// the integers, small variances included; and is not twice as wide as needed.
func TestCalibratedDiscreteGaussianKeepsItsDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := math.Exp(rapid.Float64Range(-3, 1.5).Draw(t, "ln epsilon"))
		d := math.Exp(rapid.Float64Range(-22, -4).Draw(t, "ln delta"))
		s := rapid.IntRange(1, 5).Draw(t, "s")
		epsilon, err := privacy.EpsilonFromFloat(e)
		if err != nil {
			t.Fatal(err)
		}
		delta, err := privacy.DeltaFromFloat(d)
		if err != nil {
			t.Fatal(err)
		}
		rho, err := GaussianRho(epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		v := new(big.Rat).Quo(new(big.Rat).SetInt64(int64(s*s)), new(big.Rat).Mul(big.NewRat(2, 1), rho.Rat()))
		variance, _ := v.Float64()
		if got := discreteGaussianDelta(variance, s, e); got > d*(1+1e-9) {
			t.Fatalf("variance %v has delta %v at epsilon %v, want at most %v", variance, got, e, d)
		}
		if got := discreteGaussianDelta(variance/4, s, e); variance > 100 && got < d {
			t.Fatalf("variance %v would do", variance/4)
		}
	})
}

func TestUncalibratable(t *testing.T) {
	if rho, err := GaussianRho(privacy.Epsilon{}, privacy.Delta{}); err == nil {
		t.Errorf("epsilon 0 and delta 0 are met by rho %v", rho)
	}
}
