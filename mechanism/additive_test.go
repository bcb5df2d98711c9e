package mechanism

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func eps(s string) privacy.Epsilon { return must(privacy.ParseEpsilon(s)) }
func del(s string) privacy.Delta   { return must(privacy.ParseDelta(s)) }
func zcdp(s string) privacy.Rho    { return must(privacy.ParseRho(s)) }

// What is charged by the event is what was asked for, exactly, at every size.
func TestCalibrationIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sensitivity := new(big.Rat).SetInt64(rapid.Int64Range(1, 1<<62).Draw(t, "sensitivity"))
		sensitivity.Mul(sensitivity, big.NewRat(rapid.Int64Range(1, 1<<20).Draw(t, "groups"), 1))
		amount := big.NewRat(rapid.Int64Range(1, 1e6).Draw(t, "num"), rapid.Int64Range(1, 1e9).Draw(t, "den"))

		l, err := NewLaplace(LaplaceOptions{Sensitivity: sensitivity, Epsilon: must(privacy.NewEpsilon(amount))})
		if err != nil {
			t.Fatal(err)
		}
		e := l.Event().(privacy.DiscreteLaplace)
		if err := e.Validate(); err != nil || new(big.Rat).Quo(e.Sensitivity, e.Scale).Cmp(amount) != 0 || e.Sensitivity.Cmp(sensitivity) != 0 {
			t.Fatalf("%v for epsilon %v, sensitivity %v: %v", e, amount, sensitivity, err)
		}

		g, err := NewGaussian(GaussianOptions{SensitivitySquared: sensitivity, Rho: must(privacy.NewRho(amount))})
		if err != nil {
			t.Fatal(err)
		}
		z := g.Event().(privacy.DiscreteGaussian)
		spent := new(big.Rat).Quo(z.SensitivitySquared, z.Variance)
		if err := z.Validate(); err != nil || spent.Mul(spent, half).Cmp(amount) != 0 || z.SensitivitySquared.Cmp(sensitivity) != 0 {
			t.Fatalf("%v for rho %v, sensitivity² %v: %v", z, amount, sensitivity, err)
		}
	})
}

// Adding one sensitivity changes no probability by more than e^ε, nor by less at
// some: the exact law of the noise, at a small scale.
func TestLaplaceIsTight(t *testing.T) {
	for _, tc := range []struct{ sensitivity, epsilon string }{{"1", "1"}, {"1", "0.1"}, {"3", "0.5"}, {"8", "2"}} {
		a := must(NewLaplace(LaplaceOptions{Sensitivity: rat(tc.sensitivity), Epsilon: eps(tc.epsilon)})).(laplace)
		shift, epsilon := rat(tc.sensitivity).Num().Int64(), eps(tc.epsilon).Float64()
		p := func(k int64) float64 { return a.Above(big.NewInt(k-1)) - a.Above(big.NewInt(k)) }
		most := 0.0
		for k := int64(-20); k <= 20; k++ {
			most = max(most, math.Abs(math.Log(p(k)/p(k-shift))))
		}
		if math.Abs(most-epsilon) > 1e-6 {
			t.Errorf("sensitivity %s, epsilon %s: the privacy loss is %v", tc.sensitivity, tc.epsilon, most)
		}
	}
}

func TestAccuracy(t *testing.T) {
	l := must(NewLaplace(LaplaceOptions{Sensitivity: rat("1"), Epsilon: eps("0.1")}))
	g := must(NewGaussian(GaussianOptions{SensitivitySquared: rat("4"), Rho: zcdp("0.02")}))
	for _, tc := range []struct {
		what      string
		got, want float64
	}{
		{"Laplace scale", l.ScaleIn(rat("1")), 10},
		{"Laplace scale on a grid", l.ScaleIn(rat("1/8")), 1.25},
		{"Laplace variance", l.Variance(), 199.8334},
		{"Gaussian sigma", g.ScaleIn(rat("1")), 10},
		{"Gaussian sigma on a grid", g.ScaleIn(rat("1/8")), 1.25},
		{"Gaussian variance", g.Variance(), 100},
	} {
		if math.Abs(tc.got-tc.want) > 1e-4 {
			t.Errorf("%s is %v, want %v", tc.what, tc.got, tc.want)
		}
	}
	for _, tc := range []struct {
		a    Additive
		beta string
		want int64
	}{
		{l, "0.05", 30}, // 10·ln(20·2/(1+e^-0.1)) - 1 = 29.4
		{g, "0.05", 20}, // 1.96·10 = 19.6
	} {
		if q, err := tc.a.Bound(rat(tc.beta)); err != nil || q.Cmp(big.NewInt(tc.want)) != 0 {
			t.Errorf("%T.Bound(%s) = %v, %v; want %d", tc.a, tc.beta, q, err, tc.want)
		}
	}
}

func TestAdditiveRefusals(t *testing.T) {
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 3000))
	for name, sensitivity := range map[string]*big.Rat{
		"missing": nil, "zero": new(big.Rat), "negative": rat("-1"), "huge": huge, "tiny": new(big.Rat).Inv(huge),
	} {
		if a, err := NewLaplace(LaplaceOptions{Sensitivity: sensitivity, Epsilon: eps("1")}); a != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("Laplace, %s sensitivity: %v, %v", name, a, err)
		}
		if a, err := NewGaussian(GaussianOptions{SensitivitySquared: sensitivity, Rho: zcdp("1")}); a != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("Gaussian, %s sensitivity: %v, %v", name, a, err)
		}
	}
	if a, err := NewLaplace(LaplaceOptions{Sensitivity: rat("1")}); a != nil || !errors.Is(err, ErrParameter) {
		t.Errorf("Laplace without epsilon: %v, %v", a, err)
	}
	if a, err := NewGaussian(GaussianOptions{SensitivitySquared: rat("1")}); a != nil || !errors.Is(err, ErrParameter) {
		t.Errorf("Gaussian without rho: %v, %v", a, err)
	}
	l := must(NewLaplace(LaplaceOptions{Sensitivity: rat("1"), Epsilon: eps("1e-290")}))
	if v := l.Variance(); math.IsNaN(v) || v <= 0 {
		t.Errorf("the variance at a tiny epsilon is %v", v)
	}
}

// A caller that changes what it passed in or got back changes no mechanism.
func TestAdditiveCopies(t *testing.T) {
	s := rat("5")
	l := must(NewLaplace(LaplaceOptions{Sensitivity: s, Epsilon: eps("1")}))
	g := must(NewGaussian(GaussianOptions{SensitivitySquared: s, Rho: zcdp("1/2")}))
	s.SetInt64(1)
	l.Event().(privacy.DiscreteLaplace).Sensitivity.SetInt64(1)
	g.Event().(privacy.DiscreteGaussian).SensitivitySquared.SetInt64(1)
	for _, got := range []string{l.Event().String(), g.Event().String()} {
		if got != "discrete_laplace(5, sensitivity=5)" && got != "discrete_gaussian(sqrt(5), sensitivity=sqrt(5))" {
			t.Errorf("event is now %s", got)
		}
	}
}
