package tail

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// precise returns ln erfc(x) for x >= 0 from 800 bits: e^(−x²)·2x/√π·Σ(2x²)^k/(2k+1)!! is
// erf, and the difference from 1 leaves at least 100 bits up to x = 21.
func precise(x float64) float64 {
	const bits = 800
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }
	xx := new(big.Float).Mul(f(x), f(x))
	sum, term := f(1), f(1)
	for k := 1; k < 3000; k++ {
		term.Mul(term, xx)
		term.Mul(term, f(2))
		term.Quo(term, f(float64(2*k+1)))
		sum.Add(sum, term)
	}
	// e^(−x²) by its own series of e^(x²).
	exp, term := f(1), f(1)
	for k := 1; k < 3000; k++ {
		term.Mul(term, xx)
		term.Quo(term, f(float64(k)))
		exp.Add(exp, term)
	}
	root := new(big.Float).SetPrec(bits)
	pi, _, _ := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384460955058223172535940812848111745028410270193852110555964462294895493038196442881097566593344612847564823378678316527120190914564856692346034861045432664821339360726024914127", 10, bits, big.ToNearestEven)
	root.Sqrt(pi)
	erf := new(big.Float).Mul(sum, f(2*x))
	erf.Quo(erf, root)
	erf.Quo(erf, exp)
	if small, _ := erf.Float64(); small < 1e-3 {
		return math.Log1p(-small)
	}
	erfc := new(big.Float).Sub(f(1), erf)
	mant := new(big.Float)
	e := erfc.MantExp(mant)
	m, _ := mant.Float64()
	return math.Log(m) + float64(e)*math.Ln2
}

func TestLogErfcAgainst800Bits(t *testing.T) {
	for _, x := range []float64{0, 1e-9, 0.01, 0.3, 0.49, 0.51, 1, 2.5, 6, 11, 19.9, 20, 20.1, 21} {
		got, want := LogErfc(x), precise(x)
		if math.Abs(got-want) > 1e-13*math.Max(math.Abs(want), 1e-9) {
			t.Errorf("ln erfc(%g) = %.17g, want %.17g", x, got, want)
		}
	}
}

func TestLogErfcFar(t *testing.T) {
	for x, want := range map[float64]float64{
		math.Inf(-1): math.Ln2, -30: math.Ln2, math.Inf(1): math.Inf(-1), 1e200: math.Inf(-1),
		1e6: -1e12 - math.Log(1e6) - math.Log(math.Pi)/2,
	} {
		if got := LogErfc(x); got != want && !(math.Abs(got-want) < 1e-15*math.Abs(want)) {
			t.Errorf("ln erfc(%g) = %g, want %g", x, got, want)
		}
	}
}

func TestInverseLogErfc(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-3, 1e4).Draw(t, "x")
		y := LogErfc(x)
		got := InverseLogErfc(y)
		// Where erfc is flat, the digits of y do not determine those of x.
		if tolerance := 1e-12*math.Abs(x) + 1e-15*math.Max(1, math.Abs(y))/Hazard(x); math.Abs(got-x) > 4*tolerance {
			t.Fatalf("inverse of ln erfc(%v) = %v, is %v", x, y, got)
		}
	})
	if got := InverseLogErfc(math.Inf(-1)); !math.IsInf(got, 1) {
		t.Errorf("inverse of -Inf: %v", got)
	}
}

func TestLogSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-600, 0).Draw(t, "x")
		y := rapid.Float64Range(-600, 0).Draw(t, "y")
		if got, want := LogAdd(x, y), math.Log(math.Exp(x)+math.Exp(y)); math.Abs(got-want) > 1e-12*math.Max(1, math.Abs(want)) {
			t.Fatalf("LogAdd(%v, %v) = %v, want %v", x, y, got, want)
		}
	})
	inf := math.Inf(-1)
	if LogAdd(inf, inf) != inf || LogAdd(3, inf) != 3 || Log1mExp(0) != inf || Log1mExp(inf) != 0 {
		t.Error("a sum of nothing")
	}
	for _, x := range []float64{-1e-300, -1e-9, -0.5, -0.7, -40} {
		want, _ := new(big.Float).Sub(big.NewFloat(1), big.NewFloat(math.Exp(x))).Float64()
		if x > -1e-8 {
			want = -x
		}
		if got := Log1mExp(x); math.Abs(got-math.Log(want)) > 1e-8*math.Abs(got)+1e-17 {
			t.Errorf("Log1mExp(%g) = %g", x, got)
		}
	}
}
