package noise

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/numeric"
)

var betas = []string{"1/100000000000000000000", "1e-9", "0.001", "0.05", "0.3", "1/3", "0.5", "0.9", "0.999999"}

// P(|K| > q) <= beta < P(|K| > q-1): the bound holds, and is the smallest.
func TestBoundIsTheQuantile(t *testing.T) {
	check := func(name, beta string, l law, q *big.Int, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		b, _ := ratio(beta).Float64()
		k := q.Int64()
		if p := 2 * l.above(k); p > b*(1+1e-12) {
			t.Errorf("%s: P(|K| > %d) = %v exceeds %s", name, k, p, beta)
		}
		if k > 0 {
			if p := 2 * l.above(k-1); p < b*(1-1e-12) {
				t.Errorf("%s: %d is not the smallest bound: P(|K| > %d) = %v for beta %s", name, k, k-1, p, beta)
			}
		}
	}
	for _, beta := range betas {
		for _, scale := range []string{"1/1000000", "1/3", "1", "10", "10000/123", "1000000"} {
			d, _ := NewDiscreteLaplace(ratio(scale))
			q, err := d.Bound(ratio(beta))
			check("laplace "+scale, beta, laplaceLaw(scale), q, err)
		}
		for _, variance := range []string{"1/1000000", "1/10", "1", "100", "999.5", "1000"} {
			d, _ := NewDiscreteGaussian(ratio(variance))
			q, err := d.Bound(ratio(beta))
			check("gaussian "+variance, beta, gaussianLaw(variance), q, err)
		}
	}
}

// At 2^90 the same, by intervals.
func TestBoundOfHugeLaplace(t *testing.T) {
	for _, scale := range []string{"1237940039285380274899124224", "1237940039285380274899124224/3"} {
		d, _ := NewDiscreteLaplace(ratio(scale))
		for _, beta := range betas {
			q, err := d.Bound(ratio(beta))
			if err != nil {
				t.Fatal(err)
			}
			excess := func(q *big.Int) numeric.Interval { // of 2p^(q+1) over β(1+p)
				inverse := new(big.Rat).Inv(ratio(scale))
				power := new(big.Rat).SetInt(new(big.Int).Add(q, one))
				p := numeric.Of(inverse).Neg().Exp()
				tail := numeric.Of(power.Mul(power, inverse)).Neg().Exp().Mul(numeric.OfInt(2))
				return tail.Sub(numeric.Of(ratio(beta)).Mul(numeric.OfInt(1).Add(p)))
			}
			if excess(q).Positive() || !excess(q.Sub(q, one)).Positive() {
				t.Errorf("scale %s, beta %s: %v is not the quantile", scale, beta, q.Add(q, one))
			}
		}
	}
}

// Quantiles of the standard normal distribution, to 12 digits (R's qnorm).
func TestNormalBound(t *testing.T) {
	for beta, want := range map[string]float64{
		"0.5": 0.674489750196, "0.3": 1.036433389494, "0.05": 1.959963984540, "0.01": 2.575829303549,
		"1e-9": 6.109410204869, "2e-15": 7.9413453261709, "2e-20": 9.262340089798,
	} {
		got := normalBound(ratio(beta))
		if got < want-1e-11 || got > want*(1+1e-6) {
			t.Errorf("P(|N| > x) <= %s for x = %.12f, want %.12f", beta, got, want)
		}
	}
	for x := 0.5; x < 9; x += 0.25 { // math.Erfc is good to some 1e-15
		got, want := normalTail(x), math.Erfc(x/math.Sqrt2)
		hi, _ := got.Hi().Float64()
		if hi < want*(1-1e-13) || hi > want*(1+1e-4) {
			t.Errorf("P(|N| > %v) is bounded by %v, want %v", x, hi, want)
		}
	}
}

// Where both ways apply they agree, and the normal one is never below the sum.
func TestGaussianBoundsAgree(t *testing.T) {
	for _, variance := range []string{"100", "400", "1000", "4000"} {
		d, _ := NewDiscreteGaussian(ratio(variance))
		for _, beta := range betas {
			sum, normal := d.boundBySum(ratio(beta)), d.boundByNormal(ratio(beta))
			if gap := new(big.Int).Sub(normal, sum); gap.Sign() < 0 || gap.Cmp(one) > 0 {
				t.Errorf("variance %s, beta %s: %v by the sum, %v by the normal law", variance, beta, sum, normal)
			}
		}
	}
}

// Of 10^5 draws, between 780 and 1230 lie beyond the bound for 1/100, also at
// 2^70. False-reject probability: 1e-10, by Chernoff's bound.
func TestBoundHoldsForDraws(t *testing.T) {
	scale := ratio("1180591620717411303424")
	l, _ := NewDiscreteLaplace(scale)
	g, _ := NewDiscreteGaussian(new(big.Rat).Mul(scale, scale))
	for _, d := range []interface {
		distribution
		Bound(*big.Rat) (*big.Int, error)
	}{l, g} {
		q, err := d.Bound(big.NewRat(1, 100))
		if err != nil {
			t.Fatal(err)
		}
		beyond := 0
		s, z := &Stream{source: entropy.New()}, new(big.Int)
		for range 100_000 {
			if err := d.draw(s, z); err != nil {
				t.Fatal(err)
			}
			if z.CmpAbs(q) > 0 {
				beyond++
			}
		}
		if beyond < 780 || beyond > 1230 {
			t.Errorf("%T: %d of 100,000 draws lie beyond %v", d, beyond, q)
		}
	}
}

func TestAbove(t *testing.T) {
	for _, q := range []int64{-3000, -30, -2, -1, 0, 1, 5, 30, 300, 3000} {
		for _, p := range []string{"1/5", "1", "100", "12345", "2000000"} {
			l, _ := NewDiscreteLaplace(ratio(p))
			g, _ := NewDiscreteGaussian(ratio(p))
			for name, tc := range map[string]struct {
				got float64
				law law
			}{
				"laplace":  {l.Above(big.NewInt(q)), laplaceLaw(p)},
				"gaussian": {g.Above(big.NewInt(q)), gaussianLaw(p)},
			} {
				want := tc.law.above(max(q, -q-1))
				if q < 0 {
					want = 1 - want
				}
				if math.Abs(tc.got-want) > 1e-5*want {
					t.Errorf("%s(%s): P(K > %d) = %v, want %v", name, p, q, tc.got, want)
				}
			}
		}
	}
	g, _ := NewDiscreteGaussian(ratio("1"))
	if p := g.Above(new(big.Int).Lsh(one, 900)); p != 0 {
		t.Errorf("far out: %v", p)
	}
}
