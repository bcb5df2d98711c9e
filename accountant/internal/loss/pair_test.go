package loss

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

func must(t testing.TB) func(Pair, error) Pair {
	return func(p Pair, err error) Pair {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// every returns pairs of all kinds.
func every(t testing.TB) map[string]Pair {
	ok := must(t)
	gauss, laplace := ok(Gaussian(0.8)), ok(Laplace(1.5))
	kov := ok(Approximate(1, 0.1))
	return map[string]Pair{
		"gaussian":                  gauss,
		"gaussian, tiny":            ok(Gaussian(1e-4)),
		"gaussian, huge":            ok(Gaussian(30)),
		"laplace":                   laplace,
		"bounded range":             ok(BoundedRange(2)),
		"randomized response":       ok(RandomizedResponse(0.7)),
		"approx":                    kov,
		"approx, no epsilon":        ok(Approximate(0, 0.25)),
		"response":                  ok(Response(0.3, 10)),
		"response, against truth":   ok(Response(0.05, 4)),
		"discrete laplace":          ok(DiscreteLaplace(2, 3)),
		"discrete gaussian":         ok(DiscreteGaussian(4, 2)),
		"remove gaussian":           ok(PoissonRemove(gauss, 0.1)),
		"add gaussian":              ok(PoissonAdd(gauss, 0.1)),
		"remove gaussian, rare":     ok(PoissonRemove(gauss, 1e-9)),
		"add gaussian, rare":        ok(PoissonAdd(gauss, 1e-9)),
		"remove laplace":            ok(PoissonRemove(laplace, 0.3)),
		"add laplace":               ok(PoissonAdd(laplace, 0.3)),
		"remove approx":             ok(PoissonRemove(kov, 0.3)),
		"add approx":                ok(PoissonAdd(kov, 0.3)),
		"remove twice":              ok(PoissonRemove(ok(PoissonRemove(gauss, 0.5)), 0.2)),
		"replace sampled gaussian":  ok(SampledGaussianReplace(0.6, 0.2)),
		"replace sampled, rare":     ok(SampledGaussianReplace(2, 1e-6)),
		"replace sampled, far":      ok(SampledGaussianReplace(30, 0.01)),
		"group, remove":             ok(SampledGaussianGroup(0.8, 0.1, 5, 0)),
		"group, add":                ok(SampledGaussianGroup(0.8, 0.1, 0, 5)),
		"group, both":               ok(SampledGaussianGroup(0.8, 0.3, 2, 3)),
		"group, rare":               ok(SampledGaussianGroup(2, 1e-6, 3, 0)),
		"group, far":                ok(SampledGaussianGroup(10, 0.01, 3, 0)),
		"10 of 50, gaussian":        ok(WithoutReplacement(gauss, 10, 50)),
		"10 of 50, laplace":         ok(WithoutReplacement(laplace, 10, 50)),
		"10 of 50, approx":          ok(WithoutReplacement(kov, 10, 50)),
		"10 of 50, discrete":        ok(WithoutReplacement(ok(DiscreteGaussian(4, 2)), 10, 50)),
		"sampled replaced response": ok(SampledReplace(ok(RandomizedResponse(0.7)), 0.25)),
	}
}

// measures returns P{L > t}, Q{L > t} out of atoms, cells and ends.
func measures(p Pair, t float64) (above, aboveQ float64) {
	above, _ = p.Ends()
	for _, a := range p.Atoms() {
		if a.Loss > t {
			above += math.Exp(a.LogP)
			aboveQ += math.Exp(a.LogP - a.Loss)
		}
	}
	if p.Thresholds(2) == nil {
		return above, aboveQ
	}
	var cut []float64
	cut = append(cut, t)
	for _, x := range p.Thresholds(300) {
		if x > t && x > cut[len(cut)-1] {
			cut = append(cut, x)
		}
	}
	cut = append(cut, math.Inf(1))
	logP, ratio := make([]float64, len(cut)-1), make([]float64, len(cut)-1)
	p.Cells(cut, logP, ratio)
	for i := len(logP) - 1; i >= 0; i-- {
		if !math.IsInf(logP[i], -1) {
			above += math.Exp(logP[i])
			aboveQ += math.Exp(logP[i] - ratio[i])
		}
	}
	return above, aboveQ
}

// Both laws of a pair have mass 1, and its profile is P{L > ε} - e^ε Q{L > ε}.
func TestPairsAreLawsWithTheirProfiles(t *testing.T) {
	for name, p := range every(t) {
		_, noP := p.Ends()
		above, aboveQ := measures(p, math.Inf(-1))
		if math.Abs(above-1) > 1e-12 || math.Abs(aboveQ+noP-1) > 1e-12 {
			t.Errorf("%s: P and Q have masses %v and %v", name, above, aboveQ+noP)
		}
		scale := min(2, p.Max())
		for _, x := range []float64{-1, -0.5, -0.01, 0, 1e-6, 0.01, 0.3, 0.5, 0.9, 1, 2} {
			epsilon := x * scale
			above, aboveQ := measures(p, epsilon)
			want := above - math.Exp(epsilon)*aboveQ
			if got := p.Delta(epsilon); math.Abs(got-want) > 1e-13 {
				t.Errorf("%s: delta(%v) = %v, the masses give %v", name, epsilon, got, want)
			}
		}
	}
}

// A cell's ratio lies between its losses, and cells of cells add up.
func TestCells(t *testing.T) {
	for name, p := range every(t) {
		if p.Thresholds(2) == nil {
			continue
		}
		grid := p.Thresholds(40)
		for i := range grid[1:] {
			a, b := grid[i], grid[i+1]
			m := a + (b-a)/3
			fine := []float64{a, m, b}
			var lp, r, wp, wr [2]float64
			p.Cells(fine, lp[:], r[:])
			e := p.Cells([]float64{a, b}, wp[:1], wr[:1])
			if wp[0] < -700 {
				continue
			}
			if wr[0] < a-e.Ratio || wr[0] > b+e.Ratio {
				t.Errorf("%s: ratio %v of a cell from %v to %v", name, wr[0], a, b)
			}
			if sum := logAdd(lp[0], lp[1]); math.Abs(sum-wp[0]) > 4*e.Mass+1e-12 {
				t.Errorf("%s: cells (%v, %v] do not add up: %v, %v", name, a, b, sum, wp[0])
			}
		}
	}
}

// The sampled Gaussian against an integral of the definition, whatever the loss.
func TestSampledGaussianByQuadrature(t *testing.T) {
	phi := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	hockey := func(p, q func(float64) float64, epsilon float64) float64 {
		sum := 0.0
		const h = 1.0 / 4096 // the trapezoid rule; the kink costs h² at most
		for x := -12.0; x < 14; x += h {
			sum += h * max(0, p(x)-math.Exp(epsilon)*q(x))
		}
		return sum
	}
	ok := must(t)
	for _, c := range []struct{ mu, q float64 }{{1, 0.1}, {0.5, 0.6}, {2, 0.01}} {
		base := ok(Gaussian(c.mu))
		zero := func(x float64) float64 { return phi(x) }
		mix := func(m float64) func(float64) float64 {
			return func(x float64) float64 { return (1-c.q)*phi(x) + c.q*phi(x-m) }
		}
		for _, epsilon := range []float64{-0.05, 0, 0.02, 0.3, 1} {
			for name, v := range map[string]struct {
				got  Pair
				p, q func(float64) float64
			}{
				"remove":  {ok(PoissonRemove(base, c.q)), mix(c.mu), zero},
				"add":     {ok(PoissonAdd(base, c.q)), zero, mix(c.mu)},
				"replace": {ok(SampledGaussianReplace(c.mu, c.q)), mix(c.mu), mix(-c.mu)},
			} {
				want := hockey(v.p, v.q, epsilon)
				if got := v.got.Delta(epsilon); math.Abs(got-want) > 3e-8 {
					t.Errorf("%s, mu %v, rate %v: delta(%v) = %v, want %v", name, c.mu, c.q, epsilon, got, want)
				}
			}
		}
	}
}

// Of all generalized randomized responses of bounded range, none exceeds the pair,
// and at each epsilon one attains it.
func TestBoundedRangeIsTheEnvelope(t *testing.T) {
	const e = 1.7
	p := must(t)(BoundedRange(e))
	floor := must(t)(RandomizedResponse(e / 2))
	for epsilon := -1.6; epsilon < 1.7; epsilon += 0.1 {
		most := 0.0
		for i := range 20001 {
			x := e * float64(i) / 20000
			pHigh := math.Expm1(x-e) / math.Expm1(-e)
			d := max(0, pHigh-math.Exp(epsilon-x)*pHigh) +
				max(0, (1-pHigh)-math.Exp(epsilon)*(1-pHigh*math.Exp(-x)))
			most = max(most, d)
		}
		if got := p.Delta(epsilon); got < most-1e-12 || got > most+1e-7 {
			t.Errorf("delta(%v) = %v, the worst response has %v", epsilon, got, most)
		}
		if f := floor.Delta(epsilon); f > p.Delta(epsilon)+1e-15 {
			t.Errorf("delta(%v): the floor %v is above the pair", epsilon, f)
		}
	}
}

// A database of one bit a unit, answered by randomized response on one unit drawn
// among four, under replacement: the profile by enumeration.
func TestWithoutReplacementAgainstEnumeration(t *testing.T) {
	const e, m, n = 1.2, 1, 4
	pair := must(t)(WithoutReplacement(must(t)(RandomizedResponse(e)), m, n))
	p1 := 1 / (1 + math.Exp(-e)) // of the bit itself
	for epsilon := -0.3; epsilon < 0.4; epsilon += 0.05 {
		worst := 0.0
		for others := range 4 { // how many of the other three have the bit 1
			one := func(ones int) float64 { // P{answer is 1}
				f := float64(ones) / n
				return f*p1 + (1-f)*(1-p1)
			}
			for _, d := range [][2]float64{{one(others + 1), one(others)}, {one(others), one(others + 1)}} {
				worst = max(worst, max(0, d[0]-math.Exp(epsilon)*d[1])+max(0, 1-d[0]-math.Exp(epsilon)*(1-d[1])))
			}
		}
		if got := pair.Delta(epsilon); got < worst-1e-14 || got > worst+1e-12 {
			t.Errorf("delta(%v) = %v, enumeration gives %v", epsilon, got, worst)
		}
	}
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		ID, Kind string
		Params   struct {
			Sigma, Sigma2, Sensitivity, Epsilon, Delta, Q, B, Parameter float64
			Direction, Adjacency                                        string
		}
		Expected  float64
		Tolerance any
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	ok := must(t)
	for _, v := range vectors {
		c := v.Params
		tolerance, isNumber := v.Tolerance.(float64)
		if !isNumber { // "rel 1e-6" is the only other
			tolerance = 1e-6 * v.Expected
		}
		if c.Sensitivity == 0 {
			c.Sensitivity = 1
		}
		var p Pair
		switch v.Kind {
		case "gaussian_delta":
			if c.Adjacency != "" {
				c.Sensitivity *= 2
			}
			p = ok(Gaussian(c.Sensitivity / c.Sigma))
		case "gaussian_epsilon":
			p = ok(Gaussian(1 / c.Sigma))
			if got := p.Delta(v.Expected); math.Abs(got/c.Delta-1) > 1e-8 {
				t.Errorf("%s: delta at the expected epsilon is %v, want %v", v.ID, got, c.Delta)
			}
			continue
		case "laplace_delta":
			p = ok(Laplace(c.Sensitivity / c.B))
		case "poisson_subsampled_laplace_delta":
			p = ok(PoissonRemove(ok(Laplace(c.Sensitivity/c.B)), c.Q))
		case "poisson_subsampled_gaussian_delta":
			p = ok(Gaussian(c.Sensitivity / c.Sigma))
			switch {
			case c.Adjacency == "replace":
				p = ok(SampledGaussianReplace(c.Sensitivity/c.Sigma, c.Q))
			case c.Direction == "add":
				p = ok(PoissonAdd(p, c.Q))
			default:
				p = ok(PoissonRemove(p, c.Q))
			}
		case "discrete_laplace_delta":
			p = ok(DiscreteLaplace(1/c.Parameter, int64(c.Sensitivity)))
		case "discrete_gaussian_delta":
			p = ok(DiscreteGaussian(c.Sigma2, int64(c.Sensitivity)))
		default:
			t.Fatalf("%s: kind %s", v.ID, v.Kind)
		}
		if got := p.Delta(c.Epsilon); math.Abs(got-v.Expected) > tolerance {
			t.Errorf("%s: %v, want %v within %v", v.ID, got, v.Expected, tolerance)
		}
		if b, err := exact(p, c.Epsilon); err != nil || b.Low > b.Estimate || b.High < b.Estimate {
			t.Errorf("%s: bracket %v, %v", v.ID, b, err)
		}
	}
}

func TestNothingFailsOpen(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range []float64{nan, inf, -inf, 0, -1} {
		for name, make := range map[string]func(float64) (Pair, error){
			"gaussian":      Gaussian,
			"laplace":       Laplace,
			"bounded range": BoundedRange,
			"response":      RandomizedResponse,
			"k-ary":         func(x float64) (Pair, error) { return Response(x, 3) },
			"sampled":       func(x float64) (Pair, error) { return SampledGaussianReplace(x, 0.1) },
			"rate":          func(x float64) (Pair, error) { return PoissonRemove(gaussian{1}, x) },
			"rate, add":     func(x float64) (Pair, error) { return PoissonAdd(gaussian{1}, x) },
			"rate, replace": func(x float64) (Pair, error) { return SampledGaussianReplace(1, x) },
			"discrete":      func(x float64) (Pair, error) { return DiscreteLaplace(x, 1) },
			"gauss":         func(x float64) (Pair, error) { return DiscreteGaussian(x, 1) },
		} {
			if p, err := make(x); err == nil {
				t.Errorf("%s of %v: %v, want an error", name, x, p)
			}
		}
	}
	for _, b := range []Bracket{{nan, 1, 2}, {0, nan, 2}, {0, 1, nan}, {1, 0, 2}, {0, 2, 1}} {
		if b.Check() == nil {
			t.Errorf("bracket %v is no bracket", b)
		}
	}
}

func TestEventsThatHavePairs(t *testing.T) {
	rat := big.NewRat
	eps, _ := privacy.NewEpsilon(rat(1, 1))
	rho, _ := privacy.NewRho(rat(1, 10))
	gauss := privacy.Gaussian{Variance: rat(4, 1), SensitivitySquared: rat(1, 1)}
	laplace := privacy.Laplace{Scale: rat(2, 1), Sensitivity: rat(1, 1)}
	pure := privacy.Pure{Epsilon: eps}
	half := rat(1, 2)
	for _, c := range []struct {
		event          privacy.Event
		remove, add    float64 // δ(0.1), or -1 if unsupported
		replace        float64
		knownFromBelow bool
	}{
		{gauss, gaussian{0.5}.Delta(0.1), gaussian{0.5}.Delta(0.1), gaussian{0.5}.Delta(0.1), true},
		{privacy.GDP{Mu: half}, gaussian{0.5}.Delta(0.1), gaussian{0.5}.Delta(0.1), gaussian{0.5}.Delta(0.1), true},
		{privacy.Tree{Sigma: rat(4, 1), Sensitivity: rat(1, 1), Leaves: 8}, gaussian{0.5}.Delta(0.1), gaussian{0.5}.Delta(0.1), gaussian{0.5}.Delta(0.1), true},
		{pure, math.E/(1+math.E) - math.Exp(0.1)/(1+math.E), -2, -2, true},
		{privacy.PermuteAndFlip{Epsilon: eps}, math.E/(1+math.E) - math.Exp(0.1)/(1+math.E), -2, -2, false},
		{privacy.Exponential{Epsilon: eps}, math.Pow(math.Expm1(-0.45), 2) / -math.Expm1(-1), -2, -2, true},
		{privacy.ZCDP{Rho: rho}, -1, -1, -1, false},
		{privacy.RandomizedResponse{P: rat(3, 4), K: 2}, -1, -1, 0.75 - math.Exp(0.1)/4, true},
		{privacy.Poisson{Rate: half, Event: pure}, 0.5 * (math.E/(1+math.E) - (math.Exp(0.1)*2-1)/(1+math.E)), -2, -1, true},
		{privacy.Poisson{Rate: half, Event: laplace}, -2, -2, -2, true},
		{privacy.WithoutReplacement{M: 1, N: 2, Event: pure}, -1, -1, 0.5 * (math.E/(1+math.E) - (math.Exp(0.1)*2-1)/(1+math.E)), true},
		{privacy.Shuffled{N: 10, Event: pure}, -1, -1, -1, false},
		{privacy.Repeat{Count: 2, Event: pure}, -1, -1, -1, false},
		{privacy.DiscreteLaplace{Scale: rat(2, 1), Sensitivity: half}, -1, -1, -1, false},
		{privacy.DiscreteGaussian{Variance: rat(2, 1), SensitivitySquared: rat(2, 1)}, -1, -1, -1, false},
	} {
		for d, want := range map[Direction]float64{Remove: c.remove, Add: c.add, Replace: c.replace} {
			l, err := Of(c.event, d)
			if want == -1 {
				if !errors.Is(err, ErrUnsupported) {
					t.Errorf("%v, %v: %v, want it unsupported", c.event, d, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%v, %v: %v", c.event, d, err)
				continue
			}
			if got := l.Above.Delta(0.1); want >= 0 && math.Abs(got-want) > 1e-14 {
				t.Errorf("%v, %v: delta(0.1) = %v, want %v", c.event, d, got, want)
			}
			if d != Replace && (l.Below != nil) != c.knownFromBelow {
				t.Errorf("%v, %v: known from below: %v", c.event, d, l.Below != nil)
			}
			if l.Below != nil && l.Below.Delta(0.1) > l.Above.Delta(0.1)*(1+1e-14) {
				t.Errorf("%v, %v: below is above", c.event, d)
			}
		}
	}
	if _, err := Of(nil, Remove); err == nil {
		t.Error("no event has a loss")
	}
	if _, err := Of(pure, 3); err == nil {
		t.Error("there is no direction 3")
	}
}
