package referee

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

func parse(t testing.TB, text string) privacy.Event {
	t.Helper()
	p, err := plan.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	e, err := p.Event()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

func rat(t testing.TB, x float64) *big.Rat {
	t.Helper()
	r, err := numeric.FromFloat(x)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Closed forms, by hand and from tables.
func TestKnownProfiles(t *testing.T) {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, tc := range []struct {
		plan  string
		rel   privacy.Neighbours
		eps   float64
		delta float64
	}{
		{"laplace(1)", privacy.AddRemove, 0.5, -math.Expm1(-0.25)},
		{"laplace(2)", privacy.ReplaceOne, 0.5, -math.Expm1(-0.25)},
		{"laplace(1e300)", privacy.AddRemove, 0, 0.5e-300},
		{"pure(1)", privacy.AddRemove, 0, (math.E - 1) / (math.E + 1)},
		{"approx(1, 0.25)", privacy.AddRemove, 1, 0.25},
		{"2*approx(1, 0.25)", privacy.AddRemove, 2, 1 - 0.75*0.75},
		{"gaussian(1)", privacy.AddRemove, 1, phi(-0.5) - math.E*phi(-1.5)},
		{"4*gaussian(2)", privacy.AddRemove, 1, phi(-0.5) - math.E*phi(-1.5)},
		{"gaussian(2)", privacy.ReplaceOne, 1, phi(-0.5) - math.E*phi(-1.5)},
		{"gaussian(1e200)", privacy.AddRemove, 0, 1e-200 / math.Sqrt(2*math.Pi)},
		{"gaussian(1e-200)", privacy.AddRemove, 5, 1},
		{"tree(1, 1)", privacy.AddRemove, 1, phi(-0.5) - math.E*phi(-1.5)},
		{"poisson(0.5, pure(1))", privacy.AddRemove, 0, (math.E - 1) / (math.E + 1) / 2},
		{"poisson(0.01, gaussian(1e-8))", privacy.AddRemove, 1, 0.01},
		{"randomized_response(0.75)", privacy.ReplaceOne, 0, 0.5},
		{"randomized_response(0.5, k=3)", privacy.ReplaceOne, 0, 0.25},
		{"without_replacement(1, 4, pure(1))", privacy.ReplaceOne, 0, (math.E - 1) / (math.E + 1) / 4},
		{"discrete_laplace(1)", privacy.AddRemove, 0, 1 / (1 + math.Exp(-1)) * (1 - math.Exp(-1))},
		{"exponential(1)", privacy.AddRemove, 0, math.Pow(1-math.Exp(-0.5), 2) / (1 - math.Exp(-1))},
	} {
		b := Of(parse(t, tc.plan), tc.rel, 1, 4096)
		if b.Floor == nil || b.Ceiling == nil {
			t.Errorf("%s: nothing is known", tc.plan)
			continue
		}
		lo, _ := b.Floor.At(rat(t, tc.eps)).Float64s()
		_, hi := b.Ceiling.At(rat(t, tc.eps)).Float64s()
		if !(lo <= tc.delta*(1+1e-12) && hi >= tc.delta*(1-1e-12) && hi-lo <= 1e-14*tc.delta) {
			t.Errorf("%s under %v: δ(%v) in [%v, %v], want %v", tc.plan, tc.rel, tc.eps, lo, hi, tc.delta)
		}
	}
}

// Two ways to the same number: sums over outputs and closed forms.
func TestLawsAreTheirProfiles(t *testing.T) {
	half := big.NewRat(1, 2)
	for _, eps := range []float64{0, 0.01, 0.3, 1, 2.5} {
		for what, pair := range map[string][2]Profile{
			"a binomial sum":       {approx(rat(t, 0.7), rat(t, 0.01)).Repeat(7).Profile(), Response(rat(t, 0.7), rat(t, 0.01), 7)},
			"removal":              {approx(rat(t, 0.7), rat(t, 0.01)).Removed(half).Profile(), removed(half, Response(rat(t, 0.7), rat(t, 0.01), 1))},
			"addition":             {approx(rat(t, 0.7), rat(t, 0.01)).Added(half).Profile(), added(half, Response(rat(t, 0.7), rat(t, 0.01), 1))},
			"discrete laplace":     {discreteLaplace(rat(t, 1.5), 1).Profile(), Response(big.NewRat(2, 3), new(big.Rat), 1)},
			"an empty composition": {approx(rat(t, 0.7), rat(t, 0.01)).Repeat(0).Profile(), func(Interval) Interval { return zero() }},
		} {
			a, b := pair[0].At(rat(t, eps)), pair[1].At(rat(t, eps))
			if a.Cmp(b) != 0 {
				t.Errorf("%s at %v: %v is not %v", what, eps, a, b)
			}
			if lo, hi := a.Float64s(); hi-lo > 1e-50+1e-15*hi {
				t.Errorf("%s at %v: %v is wide", what, eps, a)
			}
		}
	}
}

// Cells see less than there is, and fine ones nearly all; discrete Gaussian noise of
// large variance is nearly the continuous one.
func TestCellsAreBelow(t *testing.T) {
	mu := numeric.Of(big.NewRat(1, 1))
	var cuts []Interval
	for i := int64(-40); i <= 50; i++ {
		cuts = append(cuts, numeric.Of(big.NewRat(i, 10)))
	}
	for _, eps := range []float64{0, 0.5, 1, 3} {
		truth := Gaussian(mu).At(rat(t, eps))
		fine, coarse := cells(mu, cuts).Profile().At(rat(t, eps)), cells(mu, cuts[55:56]).Profile().At(rat(t, eps))
		if fine.Cmp(truth) > 0 || coarse.Cmp(fine) > 0 {
			t.Errorf("cells at %v: %v <= %v <= %v does not hold", eps, coarse, fine, truth)
		}
		_, f := fine.Float64s()
		if _, x := truth.Float64s(); f < 0.9*x {
			t.Errorf("fine cells at %v: %v of %v", eps, f, x)
		}
		lo, hi := discreteGaussian(big.NewRat(400, 1), 20, 900).Profile().At(rat(t, eps)).Float64s()
		if _, x := truth.Float64s(); math.Abs(lo/x-1) > 1e-2 || hi-lo > 1e-15*hi {
			t.Errorf("discrete noise at %v: [%v, %v], the continuous %v", eps, lo, hi, x)
		}
	}
}

// The intervals stay narrow in every decade of every parameter.
func TestNarrowInEveryDecade(t *testing.T) {
	for x := -300; x <= 300; x += 25 {
		for _, plan := range []string{"gaussian(1e%d)", "laplace(1e%d)", "poisson(0.01, gaussian(1e%d))", "poisson(1e-9, laplace(1e%d))", "gdp(1e%d)"} {
			b := Of(parse(t, fmt.Sprintf(plan, x)), privacy.AddRemove, 1, 4096)
			for _, eps := range []float64{0, 3e-300, 3e-20, 3, 3e3, 3e9, 3e300} /* no atom's loss */ {
				d := b.Floor.At(rat(t, eps))
				if lo, hi := d.Float64s(); !(lo >= 0 && hi-lo <= 1e-12*hi+1e-300) {
					t.Errorf("%s: δ(%v) = %v", fmt.Sprintf(plan, x), eps, d)
				}
			}
		}
	}
}
