package numeric

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// width returns the relative width of x.
func width(x Interval) float64 {
	w := new(big.Rat).Sub(x.Hi(), x.Lo())
	if w.Sign() == 0 {
		return 0
	}
	f, _ := w.Quo(w, new(big.Rat).Abs(x.Hi())).Float64()
	return f
}

// contains fails the test unless x holds want and is narrow.
func contains(t rapid.TB, what string, x Interval, want *big.Rat) {
	t.Helper()
	if x.Lo().Cmp(want) > 0 || x.Hi().Cmp(want) < 0 {
		t.Errorf("%s = %v does not hold %s", what, x, want.FloatString(60))
	}
	if w := width(x); w > 0x1p-180 {
		t.Errorf("%s = %v has relative width %g", what, x, w)
	}
}

// Sixty digits of constants, from published tables, rounded either way.
func TestKnownValues(t *testing.T) {
	rat := func(s string) *big.Rat {
		r, err := ParseRat(s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, tc := range []struct {
		name       string
		got        Interval
		below, top string
	}{
		{"e", OfInt(1).Exp(), "2.71828182845904523536028747135266249775724709369995", "2.71828182845904523536028747135266249775724709369996"},
		{"ln 2", OfInt(2).Log(), "0.69314718055994530941723212145817656807550013436025", "0.69314718055994530941723212145817656807550013436026"},
		{"ln 10", OfInt(10).Log(), "2.30258509299404568401799145468436420760110148862877", "2.30258509299404568401799145468436420760110148862878"},
		{"√2", OfInt(2).Sqrt(), "1.41421356237309504880168872420969807856967187537694", "1.41421356237309504880168872420969807856967187537695"},
		{"e^-1", OfInt(-1).Exp(), "0.36787944117144232159552377016146086744581113103176", "0.36787944117144232159552377016146086744581113103177"},
	} {
		if tc.got.Lo().Cmp(rat(tc.below)) < 0 || tc.got.Hi().Cmp(rat(tc.top)) > 0 {
			t.Errorf("%s = %v", tc.name, tc.got)
		}
		if w := width(tc.got); w > 0x1p-180 || w == 0 {
			t.Errorf("%s has relative width %g", tc.name, w)
		}
	}
	contains(t, "√(9/16)", Of(big.NewRat(9, 16)).Sqrt(), big.NewRat(3, 4))
	contains(t, "e^0", Interval{}.Exp(), big.NewRat(1, 1))
	contains(t, "ln 1", OfInt(1).Log(), new(big.Rat))
	if x := OfInt(-1 << 21).Exp(); x.Lo().Sign() != 0 || x.Hi().Sign() <= 0 {
		t.Error("e^-2^21 does not lie between 0 and a positive bound")
	}
}

func drawRat(t *rapid.T, name string, lo, hi float64) *big.Rat {
	return new(big.Rat).SetFloat64(rapid.Float64Range(lo, hi).Draw(t, name))
}

func TestFunctionsAgreeWithTheirInverses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawRat(t, "x", -700, 700)
		if y := Of(x).Exp().Log(); y.Lo().Cmp(x) > 0 || y.Hi().Cmp(x) < 0 {
			t.Fatalf("ln e^x = %v", y)
		}
		p := drawRat(t, "p", 1e-300, 1e300)
		contains(t, "√p²", Of(p).Mul(Of(p)).Sqrt(), p)
		contains(t, "√p·√p", Of(p).Sqrt().Mul(Of(p).Sqrt()), p)
		contains(t, "e^ln p", Of(p).Log().Exp(), p)
		f, _ := x.Float64()
		if got, _ := Of(x).Exp().Hi().Float64(); math.Abs(got-math.Exp(f)) > 1e-13*got {
			t.Fatalf("e^%v = %v, math.Exp says %v", f, got, math.Exp(f))
		}
		f, _ = p.Float64()
		if got, _ := Of(p).Log().Hi().Float64(); math.Abs(got-math.Log(f)) > 1e-13*math.Abs(got)+1e-300 {
			t.Fatalf("ln %v = %v, math.Log says %v", f, got, math.Log(f))
		}
	})
}

func TestArithmeticHoldsTheExactResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Thirds are not dyadic: every operation rounds.
		third := big.NewRat(1, 3)
		x := new(big.Rat).Mul(drawRat(t, "x", -1e9, 1e9), third)
		y := new(big.Rat).Mul(drawRat(t, "y", -1e9, 1e9), third)
		z := new(big.Rat).Mul(drawRat(t, "z", 1e-9, 1e9), third)
		holds := func(what string, got Interval, want *big.Rat) {
			if got.Lo().Cmp(want) > 0 || got.Hi().Cmp(want) < 0 {
				t.Fatalf("%s = %v does not hold %s", what, got, want.FloatString(80))
			}
		}
		holds("x+y", Of(x).Add(Of(y)), new(big.Rat).Add(x, y))
		holds("x-y", Of(x).Sub(Of(y)), new(big.Rat).Sub(x, y))
		holds("x·y", Of(x).Mul(Of(y)), new(big.Rat).Mul(x, y))
		holds("x/z", Of(x).Quo(Of(z)), new(big.Rat).Quo(x, z))
		wide := Of(x).Sub(Of(z)) // from here to x, of either sign or both
		wide.hi = Of(x).hi
		holds("wide·y", wide.Mul(Of(y)), new(big.Rat).Mul(new(big.Rat).Sub(x, z), y))
		holds("wide·y", wide.Mul(Of(y)), new(big.Rat).Mul(x, y))
	})
}

func TestWhatHasNoValuePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"1/0":     func() { OfInt(1).Quo(Interval{}) },
		"ln 0":    func() { Interval{}.Log() },
		"ln -1":   func() { OfInt(-1).Log() },
		"√-1":     func() { OfInt(-1).Sqrt() },
		"e^2^21":  func() { OfInt(1 << 21).Exp() },
		"OfFloat": func() { OfFloat(math.NaN()) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s has a value", name)
				}
			}()
			f()
		}()
	}
}

func TestCeilDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := new(big.Rat).Mul(drawRat(t, "r", 1e-300, 1e300), big.NewRat(1, 3))
		for _, got := range []*big.Rat{CeilDigits(r, 20), FloorDigits(r, 20)} {
			rel, _ := new(big.Rat).Quo(new(big.Rat).Sub(got, r), r).Float64()
			if math.Abs(rel) > 1e-18 {
				t.Fatalf("%v is off by %g", r, rel)
			}
			if s := FormatRat(got); len(s) > 28 {
				t.Fatalf("20 digits are printed %s", s)
			}
		}
		if CeilDigits(r, 20).Cmp(r) < 0 || FloorDigits(r, 20).Cmp(r) > 0 {
			t.Fatalf("%v is rounded the wrong way", r)
		}
	})
}

func TestRoundingToIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := big.NewRat(rapid.Int64Range(-1e6, 1e6).Draw(t, "n"), rapid.Int64Range(1, 50).Draw(t, "d"))
		f, _ := r.Float64()
		if Ceil(r).Int64() != int64(math.Ceil(f)) || Floor(r).Int64() != int64(math.Floor(f)) {
			t.Fatalf("Ceil(%v) = %v, Floor = %v", r, Ceil(r), Floor(r))
		}
	})
}

// The constant is what the series says: ln 2 = 2·artanh(1/3).
func TestLogarithmOfTwo(t *testing.T) {
	series, constant := OfInt(2).Mul(artanh(big.NewInt(1), big.NewInt(3), 2*fixed)), ln2()
	if series.Lo().Cmp(constant.Hi()) > 0 || constant.Lo().Cmp(series.Hi()) > 0 {
		t.Errorf("ln 2 is %v by its series, and %v", series, constant)
	}
	width, _ := new(big.Rat).Sub(constant.Hi(), constant.Lo()).Float64()
	if !(width < 1e-75) {
		t.Errorf("the constant is %g wide", width)
	}
}

// e^x lies between the sums that scaledExp returns, unit by unit: those of the same number in
// 1024 bits.
func TestExponentialLosesWhatIsSaid(t *testing.T) {
	widest := 0.0
	rapid.Check(t, func(t *rapid.T) {
		x, _ := new(big.Float).SetPrec(precision).SetString(rapid.StringMatching(`-?[0-9]{1,5}\.[0-9]{60}`).Draw(t, "x"))
		sum, lost, n := scaledExp(x)

		const more, halvings = 1024, 64
		y := new(big.Float).SetPrec(more).SetMantExp(x, -halvings)
		want, term := new(big.Float).SetPrec(more).SetInt64(1), new(big.Float).SetPrec(more).SetInt64(1)
		for k := int64(1); k < 30; k++ {
			term.Mul(term, y).Quo(term, new(big.Float).SetInt64(k))
			want.Add(want, term)
		}
		for range halvings {
			want.Mul(want, want)
		}
		want.SetMantExp(want, fixed-n)
		above := new(big.Float).SetPrec(more).SetInt(new(big.Int).Add(sum, big.NewInt(lost)))
		off, _ := new(big.Float).Sub(want, new(big.Float).SetPrec(more).SetInt(sum)).Float64()
		if off < -1e-100 || want.Cmp(above) > 0 {
			t.Fatalf("e^%v is %g units above the sum, and %d can be lost", x, off, lost)
		}
		widest = math.Max(widest, off/float64(lost))
	})
	if widest < 0.01 {
		t.Errorf("at most %g of what is said to be lost was", widest)
	}
}

// What is near 1, and what is not, has the logarithm of the one series.
func TestLogarithmIsThatOfItsSeries(t *testing.T) {
	for _, m := range []string{"0.7", "0.75", "0.99998", "0.99999", "0.999999999999999999999999999999", "1.0000000000000000000000000001", "1.00001", "1.00002", "1.1", "1.25", "1.39"} {
		x := Of(mustRat(t, m)).lo
		r, _ := x.Rat(nil)
		num, den := new(big.Int).Sub(r.Num(), r.Denom()), new(big.Int).Add(r.Num(), r.Denom())
		want := artanh(num, den, 1024).twice()
		got := log(x)
		if got.lo.Cmp(want.lo) > 0 || got.hi.Cmp(want.hi) < 0 {
			t.Errorf("ln %s is %v, want %v", m, got, want)
		}
		if w := width(Interval{got.lo, got.hi}); math.Abs(w) > 0x1p-230 {
			t.Errorf("ln %s has relative width %g", m, w)
		}
	}
}
