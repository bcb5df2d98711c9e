package mechanism

import (
	"errors"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// The threshold is the smallest that delta allows for a group of one unit: one less would not do.
func TestCountThresholds(t *testing.T) {
	laplaceOf := func(sensitivity int64, epsilon string) Additive {
		return must(NewLaplace(LaplaceOptions{Sensitivity: big.NewRat(sensitivity, 1), Epsilon: eps(epsilon)}))
	}
	gaussianOf := func(square int64, rho string) Additive {
		return must(NewGaussian(GaussianOptions{SensitivitySquared: big.NewRat(square, 1), Rho: zcdp(rho)}))
	}
	for _, c := range []struct {
		noise Additive
		o     SelectionOptions
		k     int64
		name  string
	}{
		{laplaceOf(1, "1"), SelectionOptions{MaxGroups: 1, Delta: del("1e-6")}, 1, "laplace_threshold"},
		{laplaceOf(8, "0.5"), SelectionOptions{MaxGroups: 8, Delta: del("1e-9")}, 8, "laplace_threshold"},
		{laplaceOf(6, "2"), SelectionOptions{MaxGroups: 3, Delta: del("1e-7"), Neighbours: privacy.ReplaceOne}, 6, "laplace_threshold"},
		{gaussianOf(1, "0.5"), SelectionOptions{MaxGroups: 1, Delta: del("1e-6")}, 1, "gaussian_threshold"},
		{gaussianOf(16, "0.125"), SelectionOptions{MaxGroups: 8, Delta: del("1e-9"), Neighbours: privacy.ReplaceOne}, 16, "gaussian_threshold"},
		{laplaceOf(1, "5"), SelectionOptions{MaxGroups: 1, Delta: del("0.04")}, 1, "laplace_threshold"},
	} {
		s, err := NewCountThreshold(c.noise, c.o)
		if err != nil {
			t.Fatal(err)
		}
		above := func(q int64) float64 { // P(K > q)
			if l, is := c.noise.(laplace); is {
				return l.Above(big.NewInt(q))
			}
			return c.noise.(gaussian).Above(big.NewInt(q))
		}
		single := c.o.Delta.Float64() / float64(c.k)
		least := s.Least().Int64()
		if p := above(least - 2); p > single*(1+1e-5) { // 1 + K >= least
			t.Errorf("%s at %d: one unit is shown with probability %v, above %v", s.Name(), least, p, single)
		}
		if p := above(least - 3); p < single*(1-1e-5) {
			t.Errorf("%s: the threshold %d could be lower: %v, allowed %v", s.Name(), least, p, single)
		}
		if s.Name() != c.name || s.Shows(big.NewInt(least-1)) || !s.Shows(big.NewInt(least)) {
			t.Errorf("%s at %d, want a %s", s.Name(), least, c.name)
		}
		for _, e := range s.Events() {
			got := must(privacy.Released(e, c.o.Neighbours)).(privacy.Selection)
			if got.Epsilon.Sign() != 0 || got.Delta.Cmp(c.o.Delta) != 0 {
				t.Errorf("the choice reveals %v, want delta %v alone", got, c.o.Delta)
			}
		}
	}
}

func TestCountThresholdRefusals(t *testing.T) {
	count := must(NewLaplace(LaplaceOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps("1")}))
	for name, c := range map[string]struct {
		noise Additive
		o     SelectionOptions
	}{
		"no delta":    {count, SelectionOptions{MaxGroups: 1}},
		"no groups":   {count, SelectionOptions{Delta: del("1e-6")}},
		"an epsilon":  {count, SelectionOptions{MaxGroups: 1, Delta: del("1e-6"), Epsilon: eps("1")}},
		"a rho":       {count, SelectionOptions{MaxGroups: 1, Delta: del("1e-6"), Rho: zcdp("1")}},
		"other noise": {fixed{}, SelectionOptions{MaxGroups: 1, Delta: del("1e-6")}},
	} {
		if _, err := NewCountThreshold(c.noise, c.o); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
