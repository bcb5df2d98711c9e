package accountant

import (
	"math"
	"testing"
)

// The integral's nodes grow with order·μ²: a grid for them all would be of gigabytes.
func TestPoissonGaussianRDPOfHugeDistance(t *testing.T) {
	t.Parallel()
	for _, mu := range []float64{1e3, 1e6, 1e100} {
		orders := []float64{1.1, 10.9, 109.5}
		out := make([]float64, len(orders))
		poissonGaussianRDP(nil, mu, 0.5)(orders, out)
		for i, a := range orders {
			// A >= q^α e^(α(α-1)μ²/2)
			low, high := a*mu*mu/2+a*math.Log(0.5)/(a-1), a*mu*mu/2*(1+1e-12)
			if !(out[i] >= low && out[i] <= high) {
				t.Errorf("μ = %v, order %v: %v, want in [%v, %v]", mu, a, out[i], low, high)
			}
		}
	}
}
