package numeric

import (
	"math"
	"math/big"
	"testing"
)

// The values are those of Abramowitz and Stegun, tables 26.1 and 26.2.
func TestNormalTailTables(t *testing.T) {
	for x, want := range map[string]string{
		"0": "0.5", "1": "0.158655253931457", "2": "0.0227501319481792", "5": "2.86651571879e-7", "-2": "0.977249868051821",
		"10": "7.61985e-24", "20": "2.75362e-89", "37": "5.72557e-300",
	} {
		got := Of(mustRat(t, x)).NormalTail()
		mid, _ := got.Lo().Float64()
		w, _ := mustRat(t, want).Float64()
		if math.Abs(mid/w-1) > 1e-5 {
			t.Errorf("tail of %s: %v, want %s", x, got, want)
		}
	}
}

// The two ways to compute it agree where they meet, and both are narrow.
func TestNormalTailIsNarrowAndConsistent(t *testing.T) {
	for _, x := range []float64{1e-9, 0.5, 1, 3, 5.999, 6, 6.5, 9, 17, 39} {
		i := OfFloat(x).NormalTail()
		width, _ := new(big.Rat).Quo(new(big.Rat).Sub(i.Hi(), i.Lo()), i.Lo()).Float64()
		if !(width >= 0 && width < 1e-40) {
			t.Errorf("tail of %v has relative width %g", x, width)
		}
		if want := math.Erfc(x/math.Sqrt2) / 2; want > 0 {
			if got, _ := i.Lo().Float64(); math.Abs(got/want-1) > 1e-13*(1+x*x) {
				t.Errorf("tail of %v: %v, want %v", x, got, want)
			}
		}
	}
	x := OfFloat(7)
	series := Of(big.NewRat(1, 2)).Sub(normalDensity(x).Mul(normalSeries(x.lo)))
	fraction := normalDensity(x).Mul(millsRatio(x.lo))
	if series.Lo().Cmp(fraction.Hi()) > 0 || fraction.Lo().Cmp(series.Hi()) > 0 {
		t.Errorf("series %v and fraction %v disagree at 7", series, fraction)
	}
	if a, b := OfFloat(2).NormalTail(), OfFloat(-2).NormalTail(); a.Add(b).Lo().Cmp(big.NewRat(1, 1)) > 0 || a.Add(b).Hi().Cmp(big.NewRat(1, 1)) < 0 {
		t.Errorf("the tails of 2 and -2 add up to %v", a.Add(b))
	}
}

func mustRat(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, err := ParseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
