package transform_test

import (
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/transform"
)

// The integrals of the theorems evaluated elsewhere with 40 digits: mpmath, steps that
// resolve every phase, periods several times as long as here, until the terms fell
// below 1e-18 of the sum.
func TestFortyDigits(t *testing.T) {
	one := func(sigma, q float64, n int64) []transform.Term {
		return []transform.Term{{Sigma: sigma, Sensitivity: 1, Rate: q, Count: n}}
	}
	mixed := []transform.Term{
		{Sigma: 1, Sensitivity: 1, Rate: 0.01, Count: 50},
		{Sigma: 20, Sensitivity: 1, Rate: 1, Count: 1},
		{Sigma: 2, Sensitivity: 1, Rate: 0.05, Count: 30},
	}
	for _, v := range []struct {
		terms []transform.Term
		dir   transform.Direction
		eps   float64
		want  float64
	}{
		{one(1, 0.01, 100), transform.Remove, 1, 6.6713989156035470272e-7},
		{one(1, 0.01, 100), transform.Add, 0.5, 4.7721910444243183116e-11},
		{one(0.6, 0.01, 100), transform.Remove, 4, 6.3942389812510643596e-6},
		{one(2, 0.01, 10000), transform.Replace, 1, 0.1282093857590304972},
		{one(1.5, 0.04, 2249), transform.Remove, 6.767, 0.00001000125896959501702},
		{one(1.1, 256./60000, 14062), transform.Add, 2.2, 0.000013975023773682090408},
		{one(10, 0.0001, 10000), transform.Remove, 0.002, 8.6902054302703147361e-6},
		{one(1, 0.001, 1000000000), transform.Remove, 1088.5, 1.0107830757241148239e-8},
		{mixed, transform.Remove, 1, 8.4132125411059631265e-7},
		{mixed, transform.Add, 0.8, 7.1146402972391163634e-10},
		{append(one(1, 0.1, 3), one(0.8, 0.2, 2)...), transform.Remove, 3, 0.00037166899293944790322},
	} {
		c := compose(t, v.dir, v.terms...)
		b, err := c.Delta(v.eps)
		if err != nil {
			t.Errorf("%v %v: %v", v.terms, v.dir, err)
			continue
		}
		// Rates and sigmas are float64 here: at 1e9 steps their rounding shows.
		within(t, "delta", b, v.want, 1e-13+1e-19*float64(v.terms[0].Count))
		e, err := c.Epsilon(v.want)
		if err != nil {
			t.Errorf("%v %v: %v", v.terms, v.dir, err)
			continue
		}
		within(t, "epsilon", e, v.eps, 1e-12)
	}
}
