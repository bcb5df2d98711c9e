package transform_test

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/transform"
)

// Published values (accountant/testdata/vectors.json has their sources); epsilon unless
// delta is given as the value.
func TestPublishedEpsilons(t *testing.T) {
	for _, v := range []struct {
		id          string
		sigma, rate float64
		count       int64
		dir         transform.Direction
		delta       float64
		want, tol   float64
	}{
		{"opacus remove", 1.5, 0.04, 2249, transform.Remove, 1e-5, 6.7671, 1e-4},
		{"opacus add", 1.5, 0.04, 2249, transform.Add, 1e-5, 6.177, 5e-4},
		{"mnist-pld", 1.1, 256. / 60000, 14062, transform.Remove, 1e-5, 2.382, 3e-3},
		{"koskela-1", 2, 0.01, 10000, transform.Remove, 0.010224911209191894, 1, 1e-6},
		{"koskela-2", 2, 0.01, 10000, transform.Remove, 0.022850339595771204, 0.8, 1e-6},
		{"koskela-S-1", 2, 0.01, 10000, transform.Replace, 0.1282093857106282, 1, 1e-6},
		{"koskela-example-trap", 4, 0.01, 10000, transform.Remove, 4.2461e-6, 1, 1e-4},
		{"agm-eps-sigma1", 1, 1, 1, transform.Remove, 1e-5, 4.3771780956812245, 1e-9},
	} {
		c, err := transform.New(nil, []transform.Term{{v.sigma, 1, v.rate, v.count}}, v.dir)
		if err != nil {
			t.Fatal(v.id, err)
		}
		b, err := c.Epsilon(v.delta)
		if err != nil {
			t.Fatal(v.id, err)
		}
		if math.Abs(b.Estimate-v.want) > v.tol || b.High-b.Low > 1e-7*b.High {
			t.Errorf("%s: %v, want %g", v.id, b, v.want)
		}
	}
}

func TestPublishedRDP(t *testing.T) {
	for _, v := range []struct {
		sigma, rate, order, want, tol float64
	}{
		{2.5, 0.01, 5, 0.00218075656 / 50, 1e-4},
		{2.5, 0.01, 50, 0.0238460375 / 50, 1e-4},
		{2.5, 0.01, 100, 167.416308 / 50, 1e-4},
		{2.5, 0.01, 1.5, 0.000650070896 / 50, 1e-6},
		{2.5, 0.01, 2.5, 0.0010854180566 / 50, 1e-6},
		{1, 0.01, 1.25, 0.00010539800475567958, 1e-6},
		{1, 0.01, 4.5, 0.00041492706734509965, 1e-6},
		{0.5, 0.01, 2, 0.005345502314345245, 1e-6},
		{2, 0.01, 128, 11.358568631446696, 1e-6},
		{0.1, 0.01, 1.25, 39.47435359280898, 1e-6},
		{2.71828, 1, 3.14159, 0.21258427222223966, 1e-12},
	} {
		b, err := transform.RDP(nil, transform.Term{Sigma: v.sigma, Sensitivity: 1, Rate: v.rate}, transform.Remove, []float64{v.order})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(b[0].Estimate/v.want-1) > v.tol || b[0].High-b[0].Low > 1e-10*b[0].High {
			t.Errorf("order %g of sigma %g, rate %g: %v, want %g", v.order, v.sigma, v.rate, b[0], v.want)
		}
	}
}
