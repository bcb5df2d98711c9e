package loss

import (
	"math"
	"testing"
)

// A ladder gives what the definition gives, at losses, between them and outside.
func TestLadder(t *testing.T) {
	pair := func(p Pair, err error) *discrete {
		if err != nil {
			t.Fatal(err)
		}
		return p.(*discrete)
	}
	for name, d := range map[string]*discrete{
		"wide noise":          pair(DiscreteGaussian(1e6, 1)),
		"far centres":         pair(DiscreteGaussian(1e6, 3000)),
		"coarse losses":       pair(DiscreteGaussian(1e4, 500)),
		"a long plateau":      pair(DiscreteLaplace(1e5, 5000)),
		"a long steep ladder": pair(DiscreteLaplace(10, 5000)),
	} {
		n := len(d.atoms)
		l := newLadder(d.atoms)
		for _, at := range []float64{0, 1e-4, 0.1, 0.4, 0.4999, 0.5, 0.50001, 0.51, 0.52, 0.6, 0.7, 0.9, 0.9999, 1} {
			k := min(n-1, int(at*float64(n)))
			for _, eps := range []float64{d.atoms[k].Loss, d.atoms[k].Loss * (1 - 1e-7), math.Nextafter(d.atoms[k].Loss, -1e9), math.Nextafter(d.atoms[k].Loss, 1e9)} {
				var want carried
				for i := n - 1; i >= 0 && d.atoms[i].Loss > eps; i-- {
					want.add(-math.Exp(d.atoms[i].LogP) * math.Expm1(eps-d.atoms[i].Loss))
				}
				if got, want := l.delta(d.atoms, eps), want.sum+want.carry; want > 1e-290 && !(math.Abs(got/want-1) < Precision/100) || math.Abs(got-want) > 1e-291+want*Precision {
					t.Errorf("%s, ε = %v: %v, want %v (%.1e)", name, eps, got, want, got/want-1)
				}
			}
		}
	}
}
