package numeric

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Order is that of the numbers inside, and float64 bounds lie outside.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (Interval, *big.Rat) {
			f := rapid.Float64Range(-10, 10).Draw(t, name)
			x := OfFloat(f).Quo(OfInt(3))
			return x, new(big.Rat).Quo(new(big.Rat).SetFloat64(f), big.NewRat(3, 1))
		}
		x, a := draw("x")
		y, b := draw("y")
		lesser, greater := a, b
		if a.Cmp(b) > 0 {
			lesser, greater = b, a
		}
		contains(t, "max", x.Max(y), greater)
		contains(t, "min", x.Min(y), lesser)
		if h := x.Hull(y); h.Lo().Cmp(lesser) > 0 || h.Hi().Cmp(greater) < 0 {
			t.Errorf("hull of %v and %v is %v", x, y, h)
		}
		if c := x.Cmp(y); c != 0 && c != a.Cmp(b) {
			t.Errorf("cmp of %v and %v is %d", x, y, c)
		}
		lo, hi := x.Float64s()
		if new(big.Rat).SetFloat64(lo).Cmp(a) > 0 || new(big.Rat).SetFloat64(hi).Cmp(a) < 0 || hi > math.Nextafter(math.Nextafter(lo, 99), 99) {
			t.Errorf("%v between the floats %v and %v", x, lo, hi)
		}
	})
	if lo, hi := OfInt(-1000).Exp().Float64s(); lo != 0 || hi != math.SmallestNonzeroFloat64 {
		t.Errorf("e^-1000 lies between %v and %v", lo, hi)
	}
	if lo, hi := OfInt(1000).Exp().Float64s(); lo != math.MaxFloat64 || !math.IsInf(hi, 1) {
		t.Errorf("e^1000 lies between %v and %v", lo, hi)
	}
}
