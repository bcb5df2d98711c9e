package filter

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// budgets of the measures that split delta, over the sensible range.
func drawBudget(t *rapid.T, m Measure) Budget {
	return Budget{Measure: m,
		Epsilon: must(privacy.EpsilonFromFloat(math.Exp(rapid.Float64Range(-9, 4.6).Draw(t, "ln epsilon")))),
		Delta:   must(privacy.DeltaFromFloat(math.Exp(rapid.Float64Range(-600, -0.7).Draw(t, "ln delta"))))}
}

// The cap of a measure implies the budget's epsilon, never more, and not much less.
func TestCapsImplyTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBudget(t, rapid.SampledFrom([]Measure{ZCDP, Whitehouse, RDP, GDP}).Draw(t, "measure"))
		f := must(New(b))
		implied := must(f.Implies(f.Budget()))
		if implied.Epsilon.Cmp(b.Epsilon) > 0 || implied.Epsilon.Float64() < b.Epsilon.Float64()*(1-1e-4) || !implied.Delta.Equal(b.Delta) {
			t.Fatalf("%s: (%v, %v) allows %v, which implies (%v, %v)", b.Measure, b.Epsilon, b.Delta,
				f.Amounts(f.Budget()).In(b.Measure)[0].Amount, implied.Epsilon.Float64(), implied.Delta)
		}
	})
}

// zcdp never lasts shorter than whitehouse, and whitehouse never shorter than rogers:
// what documentation and refusals say.
func TestOrderOfFilters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBudget(t, Whitehouse)
		whitehouse := must(New(b))
		b.Measure = ZCDP
		zcdp := must(New(b))
		half := must(New(Budget{Measure: Whitehouse, Epsilon: b.Epsilon, Delta: b.Delta.MulRat(big.NewRat(1, 2))}))
		if b.Delta.Float64() < 0.36 {
			rogers := must(NewRogersFilter(b.Epsilon, b.Delta))
			s := Sums{Squares: half.Budget().Loss.add(Units{big.NewInt(1)})}
			if s.Drift = (Units{new(big.Int).Rsh(s.Squares.int(), 1)}); rogers.Admits(s) { // Σε² = 2·drift at least
				t.Fatalf("rogers admits Σε² = %v, whitehouse %v", s.Squares, half.Budget().Loss)
			}
		}
		double := new(big.Rat).Mul(zcdp.Budget().Loss.Rat(), big.NewRat(2, 1))
		if lost, _ := new(big.Rat).Quo(whitehouse.Budget().Loss.Rat(), double).Float64(); lost > 1+1e-14 {
			t.Fatalf("whitehouse admits Σε² = %v, zcdp Σε²/2 = %v", whitehouse.Budget().Loss, zcdp.Budget().Loss)
		}
	})
}

// The order is the one that admits most Gaussian noise: the same as zcdp, and less at
// the orders beside it.
func TestRDPOrderIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBudget(t, RDP)
		f := must(New(b))
		order, ok := Order(f)
		if !ok {
			t.Fatal("no order")
		}
		b.Measure = ZCDP
		z := must(New(b))
		rho := new(big.Rat).Quo(f.Budget().Loss.Rat(), order)
		if ratio, _ := new(big.Rat).Quo(rho, z.Budget().Loss.Rat()).Float64(); ratio > 1+1e-15 || ratio < 1-1e-5 {
			t.Fatalf("rho %v at order %v, zcdp has %v times as much", rho.FloatString(30), order.FloatString(6), 1/ratio)
		}
		if _, ok := Order(z); ok {
			t.Fatal("zcdp has an order")
		}
	})
}

// Divergences against the integrals that define them.
func TestRDPPricesAgainstQuadrature(t *testing.T) {
	f := must(New(Budget{Measure: RDP, Epsilon: eps("3"), Delta: del("1e-3")})).(rdp)
	alpha, _ := f.order().Float64()
	for _, lambda := range []string{"0.01", "0.3", "1", "4"} {
		l, _ := rat(lambda).Float64()
		// Laplace noise of scale 1, shifted by λ: ∫ p^α q^(1-α), piece by piece.
		integral := 0.0
		const n = 400000
		lo, hi := -60.0, l+60
		step := (hi - lo) / n
		for i := range n {
			x := lo + (float64(i)+0.5)*step
			integral += step / 2 * math.Exp(-alpha*math.Abs(x)+(alpha-1)*math.Abs(x-l))
		}
		want := math.Log(integral) / (alpha - 1)
		got, _ := f.laplace(rat(lambda)).Float64()
		if math.Abs(got/want-1) > 1e-5 {
			t.Errorf("Laplace noise with S/b = %s: %v, the integral gives %v", lambda, got, want)
		}
		p := 1 / (1 + math.Exp(-l))
		want = math.Log(math.Pow(p, alpha)*math.Pow(1-p, 1-alpha)+math.Pow(1-p, alpha)*math.Pow(p, 1-alpha)) / (alpha - 1)
		if got, _ := f.response(rat(lambda)).Float64(); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("randomized response with epsilon %s: %v, the sum gives %v", lambda, got, want)
		}
	}
	if r := f.response(rat("1000000")); r.Cmp(rat("1000000")) > 0 {
		t.Errorf("epsilon 1e6 has divergence %v", r.FloatString(10))
	}
}

// Between two orders the chord is never below the truth, here that of Laplace noise.
func TestRDPBetweenOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := must(New(drawBudget(t, RDP))).(rdp)
		lambda := must(privacy.EpsilonFromFloat(math.Exp(rapid.Float64Range(-5, 2).Draw(t, "ln lambda")))).Rat()
		at := func(factor float64) (order, value *big.Rat) {
			d := f
			d.t = new(big.Rat).Mul(f.t, must(privacy.EpsilonFromFloat(factor)).Rat())
			return d.order(), d.laplace(lambda)
		}
		low, lowValue := at(rapid.Float64Range(0.1, 1).Draw(t, "below"))
		high, highValue := at(rapid.Float64Range(1.01, 10).Draw(t, "above"))
		got, err := f.between(privacy.RDP{Orders: []*big.Rat{low, high}, Eps: []*big.Rat{lowValue, highValue}})
		if truth := f.laplace(lambda); err != nil || got.Cmp(truth) < 0 || got.Cmp(highValue) > 0 {
			t.Fatalf("%v (%v), the truth is %v, at the order above %v", got, err, truth, highValue)
		}
	})
}

// What has a bounded range is ε²/8-zCDP: the worst such pairs have two outcomes, whose
// log-ratios are ε apart. Randomized response, whose range is 2ε, is not.
func TestBoundedRangeIsConcentrated(t *testing.T) {
	divergence := func(alpha, up, down float64) float64 { // log-ratios up and -down
		p := math.Expm1(down) / (math.Exp(down) - math.Exp(-up)) // so that q adds up to 1
		return math.Log(p*math.Exp((alpha-1)*up)+(1-p)*math.Exp(-(alpha-1)*down)) / (alpha - 1)
	}
	closest, response := 0.0, 0.0
	for _, epsilon := range []float64{0.01, 0.5, 2, 6} {
		rho, _ := concentrated(privacy.Exponential{Epsilon: must(privacy.EpsilonFromFloat(epsilon))})
		r, _ := rho.Float64()
		for _, alpha := range []float64{1.001, 1.5, 2, 8, 64} {
			for i := 1; i < 200; i++ {
				up := epsilon * float64(i) / 200
				closest = math.Max(closest, divergence(alpha, up, epsilon-up)/(alpha*r))
			}
			response = math.Max(response, divergence(alpha, epsilon, epsilon)/(alpha*r))
		}
	}
	if closest > 1+1e-9 || closest < 0.99 || response < 2 {
		t.Errorf("bounded range reaches %v of its rho, randomized response %v", closest, response)
	}
}

// The curve of μ-GDP lies below that of ε-DP, touching it; with a little less μ it does
// not.
func TestResponseSquare(t *testing.T) {
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	for _, e := range []string{"0.0001", "0.001", "0.002", "0.1", "1", "3", "10", "30"} {
		epsilon, _ := rat(e).Float64()
		square, err := responseSquare(rat(e))
		if err != nil {
			t.Fatal(err)
		}
		s, _ := square.Float64()
		corner := 1 / (1 + math.Exp(epsilon))
		gap := func(mu, alpha float64) float64 { // of ε-DP above μ-GDP
			dp := math.Max(1-math.Exp(epsilon)*alpha, math.Exp(-epsilon)*(1-alpha))
			return dp - cdf(quantile(1-alpha)-mu)
		}
		if epsilon <= 10 {
			if g := gap(math.Sqrt(s), corner); g < -1e-13 || g > 1e-7*epsilon {
				t.Errorf("epsilon %s: at the corner ε-DP is above by %g", e, g)
			}
			if gap(math.Sqrt(s)*(1-1e-6), corner) > -1e-8*epsilon*corner {
				t.Errorf("epsilon %s: less mu would do", e)
			}
			for _, alpha := range []float64{1e-6, 0.01, 0.2, 0.5, 0.9, 0.999} {
				if g := gap(math.Sqrt(s), alpha); g < -1e-12 {
					t.Errorf("epsilon %s at alpha %v: ε-DP is below by %g", e, alpha, -g)
				}
			}
		}
		if bound := 8 * (epsilon + math.Ln2); s > bound { // tail(x) <= e^(-x²/2)/2
			t.Errorf("epsilon %s: mu² %v, more than %v", e, s, bound)
		}
	}
}

// The cap of gdp is where the exact curve of a Gaussian meets the budget.
func TestGDPCapIsExact(t *testing.T) {
	for _, tc := range []struct{ eps, delta string }{{"1", "1e-6"}, {"0.01", "1e-9"}, {"20", "1e-100"}, {"0.5", "0.3"}, {"1e-6", "1e-10"}} {
		f := must(New(Budget{Measure: GDP, Epsilon: eps(tc.eps), Delta: del(tc.delta)}))
		square := f.Budget().Loss.Rat()
		above := new(big.Rat).Mul(square, rat("1.0000001"))
		if gdpDelta(rat(tc.eps), square).Hi().Cmp(rat(tc.delta)) > 0 {
			t.Errorf("epsilon %s, delta %s: the cap exceeds delta", tc.eps, tc.delta)
		}
		if gdpDelta(rat(tc.eps), above).Lo().Cmp(rat(tc.delta)) <= 0 {
			t.Errorf("epsilon %s, delta %s: the cap could be larger", tc.eps, tc.delta)
		}
	}
}

// The theorem behind gdp, by quadrature: after Gaussian noise of any part of the
// budget, whoever spends the rest gains in the mean what the whole budget gains, and
// whoever chooses by the answer what to spend does not gain more.
func TestGDPAdversaryGainsNothingByChoosing(t *testing.T) {
	const epsilon, whole = 1.0, 0.5            // μ²
	gain := func(left, loss float64) float64 { // h of the proof, by the curve of a Gaussian
		if left == 0 {
			return math.Max(0, -math.Expm1(epsilon-loss))
		}
		return math.Exp(logGDPDelta(epsilon-loss, math.Sqrt(left)))
	}
	for _, part := range []float64{0.05, 0.25, 0.45} {
		fixed, chosen := 0.0, 0.0
		const n = 20000
		for i := range n {
			z := -12 + 24*(float64(i)+0.5)/n
			loss := part/2 + math.Sqrt(part)*z
			weight := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * 24 / n
			rest := gain(whole-part, loss)
			fixed += weight * rest
			chosen += weight * math.Max(math.Max(gain(0, loss), gain((whole-part)/3, loss)), rest)
		}
		if want := gain(whole, 0); math.Abs(fixed/want-1) > 1e-6 || chosen > want*(1+1e-6) {
			t.Errorf("after %v of %v: %v, chosen by the answer %v, the whole gains %v", part, whole, fixed, chosen, want)
		}
	}
}
