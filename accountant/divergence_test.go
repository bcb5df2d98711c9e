package accountant

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// divergence returns the plan's Rényi divergence of one order.
func divergence(t testing.TB, plan string, o Options, order float64) float64 {
	t.Helper()
	plans, err := flatten(nil, parse(t, plan), o)
	if err != nil {
		t.Fatalf("%s: %v", plan, err)
	}
	r, err := plans[0].divergences([]float64{order})
	if err != nil {
		t.Fatalf("%s at order %v: %v", plan, order, err)
	}
	return r[0]
}

func TestDivergenceVectors(t *testing.T) {
	replace := Options{Neighbours: privacy.ReplaceOne}
	for _, tc := range []struct {
		id, plan  string
		order     float64
		o         Options
		tolerance float64 // relative
	}{
		{"rdp-sg-a5", "50*poisson(0.01, gaussian(2.5))", 5, Options{}, 1e-8},
		{"rdp-sg-a50", "50*poisson(0.01, gaussian(2.5))", 50, Options{}, 1e-8},
		{"rdp-sg-a100", "50*poisson(0.01, gaussian(2.5))", 100, Options{}, 1e-8},
		{"rdp-sg-a1.5-exact", "50*poisson(0.01, gaussian(2.5))", 1.5, Options{}, 1e-8},
		{"rdp-sg-a2.5-exact", "50*poisson(0.01, gaussian(2.5))", 2.5, Options{}, 1e-9},
		{"rdp-tfp-s1.0-a1.25", "poisson(0.01, gaussian(1))", 1.25, Options{}, 1e-8},
		{"rdp-tfp-s1.0-a4.5", "poisson(0.01, gaussian(1))", 4.5, Options{}, 1e-8},
		{"rdp-tfp-s0.5-a2", "poisson(0.01, gaussian(0.5))", 2, Options{}, 1e-11},
		{"rdp-tfp-s2.0-a128", "poisson(0.01, gaussian(2))", 128, Options{}, 1e-11},
		{"rdp-tfp-s0.1-a1.25", "poisson(0.01, gaussian(0.1))", 1.25, Options{}, 1e-11},
		{"rdp-gauss", "gaussian(2.71828)", 3.14159, Options{}, 1e-11},
		{"rdp-rr-one-1.5", "randomized_response(1-0.3+0.3/10, k=10)", 1.5, replace, 1e-4},
		{"rdp-expmech-a1", "exponential(1)", 1 + 1e-5, Options{}, 1e-4},
		{"rdp-expmech-ainf", "exponential(1)", 1e9, Options{}, 1e-7},
	} {
		want := vectors(t)[tc.id].Expected.(float64)
		if got := divergence(t, tc.plan, tc.o, tc.order); !(math.Abs(got/want-1) <= tc.tolerance) {
			t.Errorf("%s: %s has divergence %.15g at order %v, want %v", tc.id, tc.plan, got, tc.order, want)
		}
	}
	// The series without signs (dp_accounting's pinned value) is 3 % above the truth.
	wrong := vectors(t)["rdp-sg-a1.5-dpacc"].Expected.(float64)
	if got := divergence(t, "50*poisson(0.01, gaussian(2.5))", Options{}, 1.5); got > 0.98*wrong {
		t.Errorf("divergence is %v, the unsigned series' %v", got, wrong)
	}
}

// simpson integrates f over [lo, hi] with many nodes.
func simpson(lo, hi float64, f func(float64) float64) float64 {
	const n = 20000
	h := (hi - lo) / n
	sum := f(lo) + f(hi)
	for i := 1; i < n; i++ {
		w := 2.0
		if i%2 == 1 {
			w = 4
		}
		sum += w * f(lo+float64(i)*h)
	}
	return sum * h / 3
}

// The divergence of the Poisson-subsampled Gaussian, at whole and at other orders,
// is that of another quadrature of its definition, and never below it.
func TestPoissonGaussianDivergenceIsItsIntegral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := math.Exp(rapid.Float64Range(-5, -0.01).Draw(t, "ln q"))
		mu := math.Exp(rapid.Float64Range(-1.5, 1.2).Draw(t, "ln mu"))
		order := rapid.Float64Range(1.01, 20).Draw(t, "order")
		if rapid.Bool().Draw(t, "whole") {
			order = math.Ceil(order)
		}
		var got [1]float64
		poissonGaussianRDP(nil, mu, q)([]float64{order}, got[:])
		log := func(x float64) float64 { return math.Log1p(q * math.Expm1(mu*x-mu*mu/2)) }
		shift := math.Max(0, order*math.Log(q)+order*(order-1)/2*mu*mu)
		moment := simpson(-14, order*mu+14, func(x float64) float64 {
			return math.Exp(order*log(x)-x*x/2-shift) / math.Sqrt(2*math.Pi)
		})
		want := (shift + math.Log(moment)) / (order - 1)
		if math.Abs(got[0]-want) > 1e-11*want+1e-13/(order-1) {
			t.Fatalf("q %v, mu %v: divergence of order %v is %.15g, want %.15g", q, mu, order, got[0], want)
		}
	})
}

// A moment that is 1 but for 1e-20 keeps its digits: with a small rate it is 1 +
// α(α-1)/2 q²(e^(μ²)-1), and this holds at whole orders and at others.
func TestSmallDivergencesKeepTheirDigits(t *testing.T) {
	for _, order := range []float64{1.5, 2, 2.5, 7, 10.9} {
		const q, sigma = 1e-9, 10
		var got [1]float64
		poissonGaussianRDP(nil, 1.0/sigma, q)([]float64{order}, got[:])
		want := order / 2 * q * q * math.Expm1(1.0/(sigma*sigma))
		if math.Abs(got[0]/want-1) > 1e-6 {
			t.Errorf("order %v: %v, want %v", order, got[0], want)
		}
	}
}

// Each closed form is its definition's sum or integral, evaluated plainly.
func TestClosedDivergences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := 1 + math.Exp(rapid.Float64Range(-3, 3).Draw(t, "ln order-1"))
		e := math.Exp(rapid.Float64Range(-4, 1.5).Draw(t, "ln eps"))
		is := func(what string, got, moment float64) {
			t.Helper()
			want := math.Log(moment) / (a - 1)
			if math.Abs(got-want) > 1e-9*want+1e-13*(1+a*e)/(a-1) {
				t.Fatalf("%s: %.15g, want %.15g", what, got, want)
			}
		}
		p := 1 / (1 + math.Exp(-e))
		pow := func(x, y float64) float64 { return math.Pow(x, a) * math.Pow(y, 1-a) }
		is("pure", pureRDP(e)(a), pow(p, 1-p)+pow(1-p, p))

		k := rapid.IntRange(2, 9).Draw(t, "k")
		o := (1 - p) / float64(k-1)
		is("response", responseRDP(new(big.Rat).SetFloat64(p), k)(a), pow(p, o)+pow(o, p)+float64(k-2)*o)

		// Laplace(1) shifted by e: exact outside of [0, e], Simpson within.
		is("laplace", laplaceRDP(e)(a), math.Exp((a-1)*e)/2+math.Exp(-a*e)/2+simpson(0, e, func(x float64) float64 {
			return math.Exp(-a*x+(a-1)*(e-x)) / 2
		}))

		s := rapid.IntRange(1, 6).Draw(t, "s")
		b := float64(s) / e
		r, sum := math.Exp(-1/b), 0.0
		for x := -int(40*b) - s; x <= int(40*b)+2*s; x++ {
			at := func(x int) float64 { return (1 - r) / (1 + r) * math.Pow(r, math.Abs(float64(x))) }
			sum += pow(at(x), at(x-s))
		}
		if got, want := discreteLaplaceRDP(b, float64(s))(a), math.Log(sum)/(a-1); got < want*(1-1e-9)-1e-12/(a-1) || got > want*(1+1e-6)+1e-10/(a-1) {
			t.Fatalf("discrete laplace: %.15g, want %.15g", got, want)
		}

		// The worst of all two-point pairs of bounded range.
		worst := 0.0
		for i := 0; i <= 4000; i++ {
			x := e * float64(i) / 4000
			m := math.Expm1(e-x) / math.Expm1(e)
			worst = math.Max(worst, m*math.Exp(a*x)+(1-m)*math.Exp(a*(x-e)))
		}
		if got, want := boundedRangeRDP(e)(a), math.Log(worst)/(a-1); got < want*(1-1e-9)-1e-12/(a-1) || got > want*(1+1e-4)+1e-9/(a-1) {
			t.Fatalf("bounded range: %.15g, want %.15g", got, want)
		}
	})
}

// A curve that is stated at some orders is a chord between them, the first value
// below, and nothing above.
func TestStatedDivergences(t *testing.T) {
	const plan = "rdp(2: 0.1, 4: 0.5)"
	for _, tc := range []struct{ order, want float64 }{{1.5, 0.1}, {2, 0.1}, {3, (0.1 + 1.5) / 2 / 2}, {4, 0.5}, {4.001, math.Inf(1)}} {
		if got := divergence(t, plan, Options{}, tc.order); math.Abs(got-tc.want) > 1e-11 {
			t.Errorf("order %v: %v, want %v", tc.order, got, tc.want)
		}
	}
	// It serves as the plan's own orders.
	r, err := Epsilon(t.Context(), parse(t, "rdp(33.3: 0.01)"), 1e-5, Options{Accountant: "rdp"})
	if want := canonne.epsilon(0.01, 33.3, math.Log(1e-5)); err != nil || math.Abs(r.Bounds[0].Epsilon.High-want) > 1e-9 {
		t.Errorf("got %v, %v, want %v", r.Bounds, err, want)
	}
}

// Sampling bounds of events that are known by their curve alone lie above what
// Gaussian noise, which has that curve, attains; and below the event without sampling.
func TestSamplingBoundsAreAboveTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := math.Exp(rapid.Float64Range(-6, -0.01).Draw(t, "ln q"))
		mu := math.Exp(rapid.Float64Range(-2, 1).Draw(t, "ln mu"))
		orders := []float64{1.3, 2, 3.5, 8, 20, 63, 500, 5000}
		whole := each(func(a float64) float64 { return a * mu * mu / 2 })
		truth, general, symmetric := make([]float64, len(orders)), make([]float64, len(orders)), make([]float64, len(orders))
		poissonGaussianRDP(nil, mu, q)(orders, truth)
		poissonRDP(nil, whole, q, false)(orders, general)
		poissonRDP(nil, whole, q, true)(orders, symmetric)
		for i, a := range orders {
			above := a * mu * mu / 2 * (1 + 1e-9)
			if truth[i] > symmetric[i]*(1+1e-9) || symmetric[i] > general[i]*(1+1e-9) || general[i] > above {
				t.Fatalf("order %v: %v <= %v <= %v <= %v does not hold", a, truth[i], symmetric[i], general[i], above)
			}
		}
	})
}

// A divergence that is negative or no number is an error, at any order, and never a
// small ε (a peer returns 0 there).
func TestNoDivergenceFailsOpen(t *testing.T) {
	for _, bad := range []float64{math.NaN(), -1e-9, math.Inf(-1)} {
		p := &flat{terms: []term{{event: parse(t, "gaussian(1)"), count: 1, claims: claims{rdp: each(func(a float64) float64 {
			if a == 2 {
				return bad
			}
			return a
		})}}}}
		if a, err := rdpEpsilon(p, 1e-5); err == nil {
			t.Errorf("a divergence of %v gives ε %v", bad, a)
		}
	}
}

func BenchmarkDivergences(b *testing.B) {
	orders := DefaultOrders()
	p, err := flatten(nil, parse(b, "1000*poisson(0.01, gaussian(1))"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p[0].found = nil
		if _, err := p[0].divergences(orders); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(orders)), "orders")
}

// The sampling theorems as they stand in their papers, at small whole orders.
func TestSamplingTheorems(t *testing.T) {
	const q = 0.3
	r := func(a float64) float64 { return a * 0.4 } // an event's curve
	e := func(l float64) float64 { return math.Exp((l - 1) * r(l)) }
	q2, p := q*q, 1-q
	orders, got := []float64{2, 3}, make([]float64, 2)

	poissonRDP(nil, each(r), q, false)(orders, got)
	want := []float64{
		math.Log(p*(2*q-q+1) + q2*e(2)),
		math.Log(p*p*(3*q-q+1)+3*q2*p*e(2)+3*q2*q*e(3)) / 2,
	}

	wor := make([]float64, 2)
	withoutReplacementRDP(nil, claims{rdp: each(r)}, q)(orders, wor)
	base := math.Min(4*math.Expm1(r(2)), 2*math.Exp(r(2)))
	wantWOR := []float64{math.Log(1 + q2*base), math.Log(1+3*q2*base+q2*q*2*e(3)) / 2}
	for i, a := range orders {
		// Joint convexity, where it is less.
		convex := math.Log(1-q+q*e(a)) / (a - 1)
		if w := math.Min(want[i], convex); math.Abs(got[i]/w-1) > 1e-9 {
			t.Errorf("poisson at order %v: %v, want %v", a, got[i], w)
		}
		if w := math.Min(wantWOR[i], convex); math.Abs(wor[i]/w-1) > 1e-9 {
			t.Errorf("without replacement at order %v: %v, want %v", a, wor[i], w)
		}
	}
}

// At great orders the bound of the subsampled Gaussian is its limit, from above.
func TestGreatOrders(t *testing.T) {
	const mu, q = 0.5, 0.1
	var got [1]float64
	for _, a := range []float64{1025, 3000, 1e6} {
		poissonGaussianRDP(nil, mu, q)([]float64{a}, got[:])
		limit := a*mu*mu/2 + a/(a-1)*math.Log(q) // of the last term of the binomial sum
		if got[0] < limit || got[0] > limit*(1+1e-6) {
			t.Errorf("order %v: %v, want %v", a, got[0], limit)
		}
	}
}
