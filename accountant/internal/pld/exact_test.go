package pld

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

func must(t testing.TB) func(loss.Pair, error) loss.Pair {
	return func(p loss.Pair, err error) loss.Pair {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// of is a term whose pair is attained.
func of(p loss.Pair, count int64) Term { return Term{loss.Event{Above: p, Below: p}, count} }

func compose(t testing.TB, terms []Term, target Target) *Result {
	t.Helper()
	r, err := Compose(nil, terms, target)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func givenEpsilon(e float64) Target { return Target{Given: GivenEpsilon, Epsilon: e} }
func givenDelta(d float64) Target   { return Target{Given: GivenDelta, Delta: d} }

// holds checks a bracket against the truth, and that it is no wider than promised
// relative to the truth.
func holds(t *testing.T, what string, b loss.Bracket, truth, width float64) {
	t.Helper()
	if err := b.Check(); err != nil {
		t.Errorf("%s: %v: %v", what, b, err)
	}
	if b.Low > truth || b.High < truth {
		t.Errorf("%s: [%.17g, %.17g] does not hold %.17g", what, b.Low, b.High, truth)
	}
	if b.High-b.Low > width*truth {
		t.Errorf("%s: [%v, %v] is wider than %v", what, b.Low, b.High, width*truth)
	}
}

// binomial is Theorem 3.3 of Kairouz, Oh and Viswanath as its own sum: k randomized
// responses at eps, in 300 bits, and δ at ε.
func binomial(eps float64, k int64, epsilon float64) float64 {
	const prec = 300
	e := func(x float64) *big.Float { return bigExp(x, prec) }
	sum := new(big.Float).SetPrec(prec)
	for i := range k + 1 { // i answers for Q
		if float64(k-2*i)*eps <= epsilon {
			break
		}
		p, q := e(float64(k-i)*eps), e(epsilon)
		q.Mul(q, e(float64(i)*eps))
		p.Sub(p, q)
		c := new(big.Float).SetPrec(prec).SetInt(new(big.Int).Binomial(k, i))
		sum.Add(sum, p.Mul(p, c))
	}
	one := new(big.Float).SetPrec(prec).Add(big.NewFloat(1), e(eps))
	for range k {
		sum.Quo(sum, one)
	}
	f, _ := sum.Float64()
	return f
}

func bigExp(x float64, prec uint) *big.Float {
	y := new(big.Float).SetPrec(prec).SetMantExp(new(big.Float).SetPrec(prec).SetFloat64(x), -40)
	sum := new(big.Float).SetPrec(prec).SetInt64(1)
	term := new(big.Float).SetPrec(prec).SetInt64(1)
	for n := int64(1); n < 200; n++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetPrec(prec).SetInt64(n))
		sum.Add(sum, term)
	}
	for range 40 {
		sum.Mul(sum, sum)
	}
	return sum
}

// Pure events of one ε compose exactly, at any δ.
func TestHomogeneousPureIsTheBinomialSum(t *testing.T) {
	for _, c := range []struct {
		eps     float64
		k       int64
		epsilon float64
	}{{1, 10, 5}, {0.1, 100, 1}, {0.1, 100, 9.95}, {1, 1, 0.5}, {0.01, 500, 0.3}, {3, 20, 31}, {0.5, 400, 199.3}, {2, 150, 299}, {0.001, 300, 0.2995}} {
		p := must(t)(loss.RandomizedResponse(c.eps))
		r := compose(t, []Term{of(p, c.k)}, givenEpsilon(c.epsilon))
		holds(t, fmt.Sprintf("delta(%v) of %d at %v", c.epsilon, c.k, c.eps), r.Delta(c.epsilon), binomial(c.eps, c.k, c.epsilon), 1e-8)
		if d := binomial(c.eps, c.k, c.epsilon); d > 0 {
			r := compose(t, []Term{of(p, c.k)}, givenDelta(d))
			holds(t, fmt.Sprintf("epsilon(%v) of %d at %v", d, c.k, c.eps), r.Epsilon(d), c.epsilon, 1e-8)
		}
	}
}

func TestNoDeltaIsTheSumOfEpsilons(t *testing.T) {
	ok := must(t)
	r := compose(t, []Term{of(ok(loss.RandomizedResponse(1)), 30)}, givenDelta(0))
	holds(t, "30 pure events", r.Epsilon(0), 30, 1e-12)
	r = compose(t, []Term{of(ok(loss.Laplace(1)), 3), of(ok(loss.Laplace(0.5)), 2)}, givenDelta(1e-14))
	holds(t, "five Laplace events", r.Epsilon(1e-14), 4+math.Log1p(-32e-14), 1e-3)
	for _, terms := range [][]Term{{of(ok(loss.Gaussian(1)), 1)}, {of(ok(loss.Approximate(1, 0.01)), 30)}} {
		if b := compose(t, terms, givenDelta(0)).Epsilon(0); !math.IsInf(b.High, 1) {
			t.Errorf("epsilon(0) = %v, want none", b)
		}
	}
	// 1-(1-0.01)^30 > 0.26: no ε is enough.
	if b := compose(t, []Term{of(ok(loss.Approximate(1, 0.01)), 30)}, givenDelta(0.26)).Epsilon(0.26); !math.IsInf(b.High, 1) {
		t.Errorf("epsilon(0.26) = %v, want none", b)
	}
}

// Different responses, whose losses are on no common lattice, by enumeration.
func TestMixedResponsesByEnumeration(t *testing.T) {
	eps := []float64{0.31, 0.5, 0.77, 1.03, 0.13, 0.9, 0.41, 0.66, 0.2, 1.4}
	var terms []Term
	for i, e := range eps {
		delta := 0.0
		if i%3 == 0 {
			delta = 1e-3
		}
		terms = append(terms, of(must(t)(loss.Approximate(e, delta)), 1))
	}
	truth := func(epsilon float64) float64 {
		keep := math.Pow(1-1e-3, 4)
		d := 0.0
		for set := range 1 << len(eps) {
			p, l := 1.0, 0.0
			for i, e := range eps {
				if set>>i&1 == 1 {
					p, l = p/(1+math.Exp(-e)), l+e
				} else {
					p, l = p/(1+math.Exp(e)), l-e
				}
			}
			d += p * max(0, -math.Expm1(epsilon-l))
		}
		return 1 - keep + keep*d
	}
	for _, epsilon := range []float64{0, 0.5, 2, 4, 6, 6.2} {
		holds(t, fmt.Sprintf("delta(%v)", epsilon), compose(t, terms, givenEpsilon(epsilon)).Delta(epsilon), truth(epsilon), 0.02)
	}
	for _, epsilon := range []float64{0.5, 2, 4, 6} {
		d := truth(epsilon)
		holds(t, fmt.Sprintf("epsilon(%v)", d), compose(t, terms, givenDelta(d)).Epsilon(d), epsilon, 0.01)
	}
}

// Gaussians compose to a Gaussian, whatever their number and however small δ is.
func TestGaussiansAreOneGaussian(t *testing.T) {
	for _, c := range []struct {
		mu    float64
		count int64
	}{{1, 1}, {0.1, 100}, {0.01, 1000}, {3, 4}, {1e-3, 40000}, {20, 1}, {1e-5, 3}} {
		p := must(t)(loss.Gaussian(c.mu))
		whole := must(t)(loss.Gaussian(c.mu * math.Sqrt(float64(c.count))))
		total := c.mu * math.Sqrt(float64(c.count))
		for _, z := range []float64{-2, 1, 5, 20, 36} {
			epsilon := total*z + total*total/2
			if epsilon < 0 || whole.Delta(epsilon) < 1e-300 {
				continue
			}
			delta := whole.Delta(epsilon)
			name := fmt.Sprintf("%d of mu %v at %v", c.count, c.mu, z)
			holds(t, "delta, "+name, compose(t, []Term{of(p, c.count)}, givenEpsilon(epsilon)).Delta(epsilon), delta, 0.05)
			b := compose(t, []Term{of(p, c.count)}, givenDelta(delta)).Epsilon(delta)
			holds(t, "epsilon, "+name, b, epsilon, max(1.5e-3, 2e-6/max(epsilon, 1e-300)))
		}
	}
}

// Two different events by one integral over the loss of the first: the profile of
// the second, known in closed form, at what is left of ε.
func TestTwoEventsByQuadrature(t *testing.T) {
	ok := must(t)
	pairs := map[string]loss.Pair{
		"gaussian":   ok(loss.Gaussian(0.7)),
		"removed":    ok(loss.PoissonRemove(ok(loss.Gaussian(1)), 0.2)),
		"added":      ok(loss.PoissonAdd(ok(loss.Gaussian(1)), 0.2)),
		"replaced":   ok(loss.SampledGaussianReplace(0.8, 0.3)),
		"laplace":    ok(loss.Laplace(0.9)),
		"range":      ok(loss.BoundedRange(1.1)),
		"chosen":     ok(loss.WithoutReplacement(ok(loss.Gaussian(1)), 1, 4)),
		"discrete":   ok(loss.DiscreteLaplace(2, 3)),
		"subdiscr":   ok(loss.PoissonAdd(ok(loss.DiscreteGaussian(9, 2)), 0.3)),
		"sublaplace": ok(loss.PoissonRemove(ok(loss.Laplace(1.3)), 0.4)),
	}
	// truth returns bounds on δ(ε) of the two, from steps of the first's law.
	truth := func(a, b loss.Pair, epsilon float64) (low, high float64) {
		if grid := a.Thresholds(2000); grid != nil {
			grid = append([]float64{math.Inf(-1)}, append(grid, math.Inf(1))...)
			logP, ratio := make([]float64, len(grid)-1), make([]float64, len(grid)-1)
			a.Cells(grid, logP, ratio)
			for i := range logP {
				p := math.Exp(logP[i])
				if p < 1e-20 {
					continue
				}
				// δ_b falls in its argument, by at most 1 of P for 1 of loss.
				low += p * b.Delta(epsilon-max(grid[i], -50))
				high += p * b.Delta(epsilon-min(grid[i+1], 50))
			}
		}
		for _, x := range a.Atoms() {
			d := math.Exp(x.LogP) * b.Delta(epsilon-x.Loss)
			low, high = low+d, high+d
		}
		return low, high
	}
	for an, a := range pairs {
		for bn, b := range pairs {
			if an > bn {
				continue
			}
			for _, epsilon := range []float64{0.6} {
				low, high := truth(a, b, epsilon)
				target := Target{Given: GivenEpsilon, Epsilon: epsilon, Tolerance: 2e-4}
				got := compose(t, []Term{of(a, 1), of(b, 1)}, target).Delta(epsilon)
				if got.High < low || got.Low > high || got.High > 1e-30 && got.High-got.Low > 0.03*got.High {
					t.Errorf("%s and %s: delta(%v) in [%v, %v], quadrature [%v, %v]", an, bn, epsilon, got.Low, got.High, low, high)
				}
				if mid := (low + high) / 2; high-low < 0.1*mid && (got.High < mid*(1-0.004) || got.Low > mid*(1+0.004)) {
					t.Errorf("%s and %s: delta(%v) in [%v, %v], quadrature about %v", an, bn, epsilon, got.Low, got.High, mid)
				}
			}
		}
	}
}

// Discrete noise on one lattice is exact: all outcomes are convolved here.
func TestDiscreteNoiseByConvolution(t *testing.T) {
	ok := must(t)
	for name, p := range map[string]loss.Pair{
		"discrete laplace":  ok(loss.DiscreteLaplace(2, 3)),
		"discrete gaussian": ok(loss.DiscreteGaussian(4, 1)),
		"response":          ok(loss.Response(0.4, 5)),
	} {
		atoms := p.Atoms()
		const count = 4
		step := loss.Step(p)
		law := map[int]float64{0: 1}
		for range count {
			next := map[int]float64{}
			for i, w := range law {
				for _, a := range atoms {
					if a.LogP > -60 {
						next[i+int(math.Round((a.Loss-atoms[0].Loss)/step))] += w * math.Exp(a.LogP)
					}
				}
			}
			law = next
		}
		for _, epsilon := range []float64{0, 0.7, 2, 3.3} {
			truth := 0.0
			for i, w := range law {
				truth += w * max(0, -math.Expm1(epsilon-count*atoms[0].Loss-float64(i)*step))
			}
			b := compose(t, []Term{of(p, count)}, givenEpsilon(epsilon)).Delta(epsilon)
			if b.Low > truth*(1+1e-11) || b.High < truth*(1-1e-11) || b.High-b.Low > 1e-7*truth {
				t.Errorf("%s: delta(%v) in [%v, %v], want %v", name, epsilon, b.Low, b.High, truth)
			}
		}
	}
}

// A Monte-Carlo estimate of δ(ε) of ten sampled Gaussians under removal. With a
// million runs its standard error is below 0.2 % of δ; it must lie within 1.5 % of
// the bracket, which a right bracket fails with a probability below 1e-12, and a
// fault of 2 % of δ is seen.
func TestMonteCarlo(t *testing.T) {
	const mu, q, count, epsilon, runs = 1.0, 0.3, 10, 0.6, 1000000
	p := must(t)(loss.PoissonRemove(must(t)(loss.Gaussian(mu)), q))
	b := compose(t, []Term{of(p, count)}, givenEpsilon(epsilon)).Delta(epsilon)
	r := rand.New(rand.NewPCG(7, 11))
	sum, squares := 0.0, 0.0
	for range runs {
		ratio := 1.0
		for range count {
			x := r.NormFloat64()
			if r.Float64() < q {
				x += mu
			}
			ratio *= 1 - q + q*math.Exp(mu*x-mu*mu/2)
		}
		d := max(0, 1-math.Exp(epsilon)/ratio)
		sum += d
		squares += d * d
	}
	mean := sum / runs
	if e := math.Sqrt((squares/runs-mean*mean)/runs) / mean; e > 0.002 {
		t.Fatalf("standard error %v of delta, want it below 0.002", e)
	}
	within := func(b loss.Bracket) bool { return mean > b.Low*(1-0.015) && mean < b.High*(1+0.015) }
	if !within(b) {
		t.Errorf("delta(%v) in [%v, %v], drawn %v", epsilon, b.Low, b.High, mean)
	}
	for _, fault := range []float64{0.96, 1.04} { // ±2 % beyond what the test allows
		if within(loss.Bracket{Low: b.Low * fault, High: b.High * fault}) {
			t.Errorf("a bracket that is off by the factor %v passes", fault)
		}
	}
}
