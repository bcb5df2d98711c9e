package subsample

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/pld"
	"pgregory.net/rapid"
)

func must[T any](t interface{ Fatal(...any) }, err error, v T) T {
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func gaussian(t interface{ Fatal(...any) }, mu float64) Group {
	g, err := Gaussian(mu)
	return must(t, err, g)
}

// An (ε, δ) point goes to (ln(1+(m/n)(e^ε-1)), (m/n)δ).
func TestWithoutReplacementVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/without_replacement.json")
	var vectors []struct {
		ID             string
		Epsilon, Delta float64
		M, N           int64
		Want           struct{ Epsilon, Delta float64 }
	}
	if err != nil || json.Unmarshal(text, &vectors) != nil || len(vectors) < 4 {
		t.Fatalf("%v, %d vectors", err, len(vectors))
	}
	for _, v := range vectors {
		base, err := Approximate(v.Epsilon, v.Delta)
		sampled, err2 := withoutReplacement(v.M, v.N, must(t, err, base)(1))
		p := must(t, err2, sampled)
		const tolerance = 1e-10
		if got := p.Epsilon(v.Want.Delta+1e-14, 10); math.Abs(got-v.Want.Epsilon) > tolerance {
			t.Errorf("%s: ε %v, want %v", v.ID, got, v.Want.Epsilon)
		}
		if got := p(v.Want.Epsilon * (1 + 1e-12)); math.Abs(got-v.Want.Delta) > tolerance {
			t.Errorf("%s: δ %v, want %v", v.ID, got, v.Want.Delta)
		}
	}
}

// stick integrates (p - e^ε·q)+ over [-20, 60], by Simpson's rule on a fine grid: its
// error is below 1e-7 for densities as smooth as these.
func stick(p, q func(x float64) float64, eps float64) float64 {
	const lo, hi, n = -20.0, 60.0, 40_000
	sum := 0.0
	for i := 0; i <= n; i++ {
		x := lo + (hi-lo)*float64(i)/n
		w := 2.0 + 2*float64(i%2)
		if i == 0 || i == n {
			w = 1
		}
		if d := p(x) - math.Exp(eps)*q(x); d > 0 {
			sum += w * d
		}
	}
	return sum * (hi - lo) / n / 3
}

func normal(mean float64) func(x float64) float64 {
	return func(x float64) float64 {
		return math.Exp(-(x-mean)*(x-mean)/2) / math.Sqrt(2*math.Pi)
	}
}

func mixture(weights []float64, mu float64) func(x float64) float64 {
	return func(x float64) float64 {
		sum := 0.0
		for k, w := range weights {
			sum += w * normal(mu*float64(k))(x)
		}
		return sum
	}
}

// A sum of draws with replacement in Gaussian noise, where the replaced unit counts 1
// or 0 and all others 0, is this real pair of laws: no bound lies below it. One that
// forgets that a unit may come more than once does.
func TestWithReplacementIsAboveARealSample(t *testing.T) {
	const m, n, mu = 6, 4, 0.7
	counts := make([]float64, m+1)
	for k := range counts {
		c := 1.0
		for i := 0; i < k; i++ {
			c *= float64(m-i) / float64(i+1)
		}
		counts[k] = c * math.Pow(1.0/n, float64(k)) * math.Pow(1-1.0/n, float64(m-k))
	}
	with, without := mixture(counts, mu), normal(0)
	profile, err := WithReplacement(nil, m, n, gaussian(t, mu))
	p := must(t, err, profile)
	once, err := withoutReplacement(1, 1, func(eps float64) float64 {
		gamma := 1 - counts[0]
		return (gamma) * gaussian(t, mu)(1)(unamplified(eps, gamma))
	})
	wrong := must(t, err, once)
	caught := false
	for _, eps := range []float64{0, 0.2, 0.7, 1.5, 3} {
		forth, back := stick(with, without, eps), stick(without, with, eps)
		truth := max(forth, back)
		if got := p(eps); got < truth-1e-7 || got > 1.6*truth+1e-9 {
			t.Errorf("δ(%v) = %v, truth %v", eps, got, truth)
		}
		caught = caught || wrong(eps) < truth-1e-6
	}
	if !caught {
		t.Error("the forgetful bound passes")
	}
}

func TestPoissonReplaceIsAboveARealSample(t *testing.T) {
	const q, mu = 0.3, 1.1
	p := mixture([]float64{1 - q, q}, mu)
	r := mixture([]float64{1 - q, q}, -mu)
	bound, err := poissonReplace(q, gaussian(t, mu)(1), gaussian(t, 2*mu)(1))
	profile := must(t, err, bound)
	for _, eps := range []float64{0, 0.1, 0.5, 1.2} {
		truth := stick(p, r, eps)
		if got := profile(eps); got < truth-1e-7 || got > 3*truth+1e-9 {
			t.Errorf("δ(%v) = %v, truth %v", eps, got, truth)
		}
	}
}

// Rates and limits at which a sample is no sample.
func TestSamplesOfEverything(t *testing.T) {
	g := gaussian(t, 0.8)
	whole, err := withoutReplacement(5, 5, g(1))
	all := must(t, err, whole)
	each, err := poisson(1, g(1))
	one := must(t, err, each)
	alone, err := WithReplacement(nil, 3, 1, g)
	thrice := must(t, err, alone)
	for _, eps := range []float64{0, 0.3, 2} {
		base := g(1)(eps)
		if got := all(eps); math.Abs(got-base) > 1e-9*base {
			t.Errorf("all of five: %v, want %v", got, base)
		}
		if got := one(eps); math.Abs(got-base) > 1e-9*base {
			t.Errorf("rate 1: %v, want %v", got, base)
		}
		if got, want := thrice(eps), g(3)(eps); math.Abs(got-want) > 1e-9*want {
			t.Errorf("three draws of one unit: %v, want %v", got, want)
		}
	}
	for _, bad := range []error{
		second(poisson(0, g(1))), second(poisson(math.NaN(), g(1))), second(poissonReplace(2, g(1), g(1))),
		second(withoutReplacement(6, 5, g(1))), second(WithReplacement(nil, 0, 5, g)), second(WithReplacement(nil, 1, 0, g)),
	} {
		if bad == nil {
			t.Error("a sample that is none is admitted")
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Multiplicities account for all of the binomial law.
func TestMultiplicities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := int64(math.Exp(rapid.Float64Range(0, 20).Draw(t, "ln m")))
		n := max(1, int64(float64(m)*math.Exp(rapid.Float64Range(-3, 20).Draw(t, "ln n/m"))))
		weights, beyond, none := multiplicities(m, n)
		sum := math.Exp(none) + beyond
		for _, w := range weights {
			sum += w
		}
		if sum < 1-1e-9 || beyond < 0.5 && sum > 1+1e-9 {
			t.Errorf("m=%d n=%d: %d weights, beyond %v: sum %v", m, n, len(weights), beyond, sum)
		}
	})
}

func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := rapid.Float64Range(0.01, 3).Draw(t, "mu")
		k := rapid.Int64Range(1, 9).Draw(t, "k")
		eps := rapid.Float64Range(0, 20).Draw(t, "eps")
		exact := gaussian(t, mu)
		general := Groups(exact(1))(k)(eps)
		if truth := exact(k)(eps); general < truth*(1-1e-9) {
			t.Errorf("general %v below exact %v", general, truth)
		}
		if k == 1 && general > exact(1)(eps)*(1+1e-9)+1e-300 {
			t.Errorf("a group of one: %v, %v", general, exact(1)(eps))
		}
		a := rapid.Float64Range(1.1, 60).Draw(t, "order")
		curve := func(a float64) float64 { return a * mu * mu / 2 }
		if got, truth := rdp(curve, k)(a), curve(a)*float64(k*k); got < truth*(1-1e-12) {
			t.Errorf("rdp of %d: %v, exact %v", k, got, truth)
		}
		zcdp, err := ZCDP(nil, mu*mu/2)
		if got, truth := must(t, err, zcdp)(k)(eps), exact(k)(eps); got < truth*(1-1e-9) || got > 1e-100 && got < 1e-3 && math.Log(got) > 0.5*math.Log(truth) {
			t.Errorf("zcdp of %d at %v: %v, Gaussian %v", k, eps, got, truth)
		}
	})
	pure, err := Approximate(0.5, 0)
	three := must(t, err, pure)(3)
	if three(1.5*(1+1e-9)) > 1e-300 || three(1.4) <= 0 {
		t.Errorf("three units of a 0.5-DP event are 1.5-DP and no better: %v %v", three(1.5), three(1.4))
	}
	approx, err := Approximate(0.5, 1e-6)
	if got, want := must(t, err, approx)(3)(1.5*(1+1e-9)), 1e-6*(1+math.Exp(0.5)+math.E); math.Abs(got-want) > 1e-9*want {
		t.Errorf("δ of three: %v, want %v", got, want)
	}
}

// The joint-convexity bound against the moments of a real sample's two laws.
func TestWithReplacementRDP(t *testing.T) {
	const m, n, mu = 3, 4, 0.3
	weights := []float64{27. / 64, 27. / 64, 9. / 64, 1. / 64}
	with, without := mixture(weights, mu), normal(0)
	curve, err := WithReplacementRDP(nil, m, n, func(k int64, a float64) float64 {
		return a * mu * mu * float64(k*k) / 2
	})
	must(t, err, curve)
	for _, a := range []float64{1.5, 2, 6} {
		moment := 0.0
		for i := 0; i <= 40_000; i++ {
			x := -20 + float64(i)/1000
			moment += math.Pow(with(x), a) * math.Pow(without(x), 1-a) / 1000
		}
		truth := math.Log(moment) / (a - 1)
		if got := curve(a); got < truth || got > 12*truth {
			t.Errorf("order %v: %v, truth %v", a, got, truth)
		}
	}
}

// A pair of dots is above the profile that it was made from, everywhere and both
// ways, and its composition above that of the pair the profile came from.
func TestDotsDominate(t *testing.T) {
	base, err := loss.Gaussian(0.5)
	g := must(t, err, base)
	p := ofPair(g)
	dots, err := Dots(p, Knots(18, 800))
	d := must(t, err, dots)
	total, other := 0.0, 0.0
	for _, a := range d.Atoms() {
		total += math.Exp(a.LogP)
		other += math.Exp(a.LogP - a.Loss)
	}
	noQ, noP := d.Ends()
	if math.Abs(total+noQ-1) > 1e-9 || math.Abs(other+noP-1) > 1e-9 {
		t.Errorf("masses %v, %v", total+noQ, other+noP)
	}
	for eps := -9.0; eps < 17; eps += 0.0137 {
		if got, truth := d.Delta(eps), g.Delta(eps); got < truth*(1-1e-9) || eps > -1 && eps < 2 && got > 1.01*truth || got > 3*truth {
			t.Errorf("δ(%v) = %v, truth %v", eps, got, truth)
		}
	}
	const steps = 100
	law, err := pld.Compose(nil, []pld.Term{{Event: loss.Event{Above: d}, Count: steps}}, pld.Target{Given: pld.GivenDelta, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	got := law.Epsilon(1e-6)
	want, err := loss.Gaussian(0.5 * 10)
	truth := ofPair(must(t, err, want)).Epsilon(1e-6, 100)
	if got.High < truth || got.High > 1.01*truth {
		t.Errorf("%d steps: %v, truth %v", steps, got.High, truth)
	}
}

func TestDotsRefuse(t *testing.T) {
	for name, p := range map[string]Profile{
		"NaN":     func(float64) float64 { return math.NaN() },
		"above 1": func(float64) float64 { return 2 },
		"below 0": func(eps float64) float64 { return 0.5 - eps },
		"too fast": func(eps float64) float64 {
			return math.Max(0, 0.5-100*math.Expm1(eps))
		},
	} {
		if _, err := Dots(p, Knots(1, 10)); !errors.Is(err, errProfile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Dots(func(float64) float64 { return 1 }, Knots(1, 10)); !errors.Is(err, loss.ErrUnsupported) {
		t.Errorf("an event that may give everything away: %v", err)
	}
	if _, err := Dots(func(float64) float64 { return 0 }, []float64{0.5, 1}); !errors.Is(err, errProfile) {
		t.Errorf("knots that leave 0 out: %v", err)
	}
}

func TestAmplificationHelps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(2, 1e6).Draw(t, "n")
		m := rapid.Int64Range(1, n).Draw(t, "m")
		g := gaussian(t, rapid.Float64Range(0.01, 4).Draw(t, "mu"))
		eps := rapid.Float64Range(0, 5).Draw(t, "eps")
		without, err := withoutReplacement(m, n, g(1))
		w := must(t, err, without)
		if got, base := w(eps), g(1)(eps); got > base*(1+1e-9)+1e-300 || w(eps+0.1) > got {
			t.Errorf("sample %v, whole %v, farther %v", got, base, w(eps+0.1))
		}
	})
}

func BenchmarkWithReplacement(b *testing.B) {
	p, err := WithReplacement(nil, 256, 60_000, gaussian(b, 1/1.1))
	must(b, err, p)
	for b.Loop() {
		p(0.5)
	}
}
