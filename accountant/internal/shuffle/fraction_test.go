package shuffle

import (
	"math"
	"math/big"
	"testing"
)

// The continued fraction is the sum, within the error that it states, and is found where
// the sum is long.
func TestFraction(t *testing.T) {
	found := 0
	for _, n := range []float64{3e3, 1e5, 3e6, 1e9} {
		for _, odds := range []float64{1, 1e-3, 0.3, 20} {
			mean, sd := n*odds/(1+odds), math.Sqrt(n*odds)/(1+odds)
			for _, z := range []float64{0.1, 0.5, 1, 2, 4, 8, 15} {
				k := math.Ceil(mean + z*sd)
				left := n - k
				if left < 10 {
					continue
				}
				got, terms, ok := fraction(nil, left, k, odds)
				if !ok {
					if z >= 1 && n >= 1e5 {
						t.Errorf("n %v odds %v z %v: none found", n, odds, z)
					}
					continue
				}
				found++
				want, last := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200).SetInt64(1)
				w := new(big.Float).SetPrec(200).SetFloat64(odds)
				limit := 40 * int(got+10)
				if limit > 200_000 {
					continue // compared where the sum can be made
				}
				for i := 1; i < limit && float64(i) <= left; i++ {
					last.Mul(last, w).Mul(last, big.NewFloat(left-float64(i)+1)).Quo(last, big.NewFloat(k+float64(i)))
					want.Add(want, last)
				}
				exact, _ := want.Float64()
				if e := math.Abs(got/exact - 1); e > float64(terms)*0x1p-51 {
					t.Errorf("n %v odds %v z %v: %v, want %v: off by %.1e, stated %.1e", n, odds, z, got, exact, e, float64(terms)*0x1p-51)
				}
			}
		}
	}
	if found < 60 {
		t.Errorf("%d found", found)
	}
}
