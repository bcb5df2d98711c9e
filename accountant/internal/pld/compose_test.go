package pld

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

// vector is one of testdata/vectors.json, whose sources stand beside each.
type vector struct {
	ID, Kind  string
	Params    json.RawMessage
	Expected  *float64
	Tolerance any
}

func vectors(t *testing.T) map[string]vector {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	byID := map[string]vector{}
	for _, v := range list {
		byID[v.ID] = v
	}
	return byID
}

// both is a sampled Gaussian in either direction.
func both(t *testing.T, mu, q float64, count int64) [][]Term {
	base := must(t)(loss.Gaussian(mu))
	return [][]Term{
		{of(must(t)(loss.PoissonRemove(base, q)), count)},
		{of(must(t)(loss.PoissonAdd(base, q)), count)},
	}
}

func TestVectors(t *testing.T) {
	ok := must(t)
	pure := func(e float64, k int64) [][]Term { return [][]Term{{of(ok(loss.RandomizedResponse(e)), k)}} }
	rootThree := ok(loss.Gaussian(1 / math.Sqrt(3)))
	all := vectors(t)
	for id, c := range map[string]struct {
		terms     [][]Term // directions, of which the worst counts
		target    Target
		tolerance float64 // beyond the bracket; the sources' own errors
	}{
		"pld-gauss-3x":         {[][]Term{{of(rootThree, 3)}}, givenEpsilon(1), 1e-6},
		"pld-laplace-mix":      {[][]Term{{of(ok(loss.Laplace(1)), 3), of(ok(loss.Laplace(0.5)), 2)}}, givenDelta(1e-14), 1e-6},
		"pld-epsdelta":         {[][]Term{{of(ok(loss.Approximate(1, 0.1)), 1), of(ok(loss.Approximate(2, 0.2)), 1)}}, givenEpsilon(3), 1e-12},
		"koskela-1":            {both(t, 0.5, 0.01, 10000), givenEpsilon(1), 0},
		"koskela-2":            {both(t, 0.5, 0.01, 10000), givenEpsilon(0.8), 0},
		"koskela-S-1":          {[][]Term{{of(ok(loss.SampledGaussianReplace(0.5, 0.01)), 10000)}}, givenEpsilon(1), 0},
		"koskela-example-trap": {both(t, 0.25, 0.01, 10000), givenEpsilon(1), 0},
		"kov-hs-1":             {pure(1, 10), givenEpsilon(5), 1e-12},
		"kov-hs-2":             {pure(0.1, 100), givenEpsilon(1), 1e-12},
		"kov-1":                {pure(1, 30), givenDelta(0), 1e-9},
		"mnist-pld":            {both(t, 1/1.1, 256./60000, 14062), givenDelta(1e-5), 1e-3},
		"pld-sublaplace": {[][]Term{
			{of(ok(loss.PoissonRemove(ok(loss.Laplace(2)), 0.2)), 3)},
			{of(ok(loss.PoissonAdd(ok(loss.Laplace(2)), 0.2)), 3)},
		}, givenDelta(1e-14), 1e-5},
		"subgauss-calib-1": {both(t, 1/0.67379294682, 0.01, 1), givenEpsilon(1), 1e-9},
		"subgauss-calib-2": {both(t, 6/3.20956502598, 0.001, 25), givenEpsilon(1), 1e-9},
	} {
		v, found := all[id]
		if !found {
			t.Errorf("no vector %s", id)
			continue
		}
		expected := 1e-5 // of the two calibrations: their σ at their δ
		if !strings.HasPrefix(id, "subgauss-calib") {
			expected = *v.Expected
		}
		var worst loss.Bracket
		for _, terms := range c.terms {
			r := compose(t, terms, c.target)
			b := r.Delta(c.target.Epsilon)
			if c.target.Given == GivenDelta {
				b = r.Epsilon(c.target.Delta)
			}
			worst = loss.Bracket{Low: max(worst.Low, b.Low), Estimate: max(worst.Estimate, b.Estimate), High: max(worst.High, b.High)}
		}
		if expected < worst.Low-c.tolerance || expected > worst.High+c.tolerance {
			t.Errorf("%s: [%v, %v], want %v", id, worst.Low, worst.High, expected)
		}
		if worst.High-worst.Low > 4e-3*worst.High {
			t.Errorf("%s: [%v, %v] is wide", id, worst.Low, worst.High)
		}
	}
}

// A plan's terms, small enough for a property to be tried often.
func terms(t *rapid.T) []Term {
	kind := func(t *rapid.T, i int) loss.Pair {
		size := rapid.Float64Range(0.05, 1.5).Draw(t, "size")
		q := rapid.Float64Range(0.01, 0.9).Draw(t, "rate")
		var p loss.Pair
		var err error
		switch i {
		case 0, 1, 2:
			p, err = loss.Gaussian(size)
		case 3:
			p, err = loss.Laplace(size)
		case 4:
			p, err = loss.Approximate(size, 1e-7)
		case 5:
			p, err = loss.DiscreteGaussian(1/(size*size), 1)
		case 6:
			p, err = loss.BoundedRange(size)
		}
		if err == nil && i == 1 {
			p, err = loss.PoissonRemove(p, q)
		}
		if err == nil && i == 2 {
			p, err = loss.PoissonAdd(p, q)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var ts []Term
	for range rapid.IntRange(1, 4).Draw(t, "terms") {
		p := kind(t, rapid.IntRange(0, 6).Draw(t, "kind"))
		ts = append(ts, of(p, rapid.Int64Range(1, 20).Draw(t, "count")))
	}
	return ts
}

func epsilon(t *rapid.T, ts []Term, delta float64) loss.Bracket {
	r, err := Compose(nil, ts, Target{Given: GivenDelta, Delta: delta, Tolerance: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	b := r.Epsilon(delta)
	if err := b.Check(); err != nil {
		t.Fatalf("epsilon(%v) = %v: %v", delta, b, err)
	}
	return b
}

// What is true of ε: it falls in δ, grows with the plan, and knows no order. A
// bracket contradicts none of it if it is not below what it should not be below.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ts := terms(t)
		delta := math.Pow(10, -rapid.Float64Range(1.1, 40).Draw(t, "-lg delta"))
		b := epsilon(t, ts, delta)
		if c := epsilon(t, ts, delta/3); c.High < b.Low {
			t.Fatalf("epsilon(%v) = %v, epsilon of a third of that %v", delta, b, c)
		}
		more := append(append([]Term(nil), ts...), ts[0])
		if c := epsilon(t, more, delta); c.High < b.Low {
			t.Fatalf("epsilon %v, with one more term %v", b, c)
		}
		reversed := make([]Term, len(ts))
		for i, m := range ts {
			reversed[len(ts)-1-i] = m
		}
		if c := epsilon(t, reversed, delta); c.High < b.Low || c.Low > b.High || math.Abs(c.High-b.High) > 0.06 {
			t.Fatalf("epsilon %v, in another order %v", b, c)
		}
		if !math.IsInf(b.High, 1) { // δ of that ε
			r, err := Compose(nil, ts, Target{Given: GivenEpsilon, Epsilon: b.High, Tolerance: 0.05})
			if err != nil {
				t.Fatal(err)
			}
			if d := r.Delta(b.High); d.Low > delta*(1+1e-9) || d.Check() != nil {
				t.Fatalf("delta(%v) = %v, of an epsilon for %v", b.High, d, delta)
			}
		}
	})
}

// Between and beyond lattice points a result is a profile: falling, within [0, 1],
// and no lower than 1-e^ε.
func TestResultsAreProfiles(t *testing.T) {
	ok := must(t)
	r := compose(t, []Term{of(ok(loss.Gaussian(0.5)), 3), of(ok(loss.Laplace(0.3)), 2)}, givenDelta(1e-6))
	last := loss.Bracket{Low: 1, High: 1}
	for i := range 4000 {
		e := float64(i) * 0.0037
		b := r.Delta(e)
		if err := b.Check(); err != nil || b.Low < 0 || b.High > 1 {
			t.Fatalf("delta(%v) = %v: %v", e, b, err)
		}
		if b.Low > last.Low || b.High > last.High*(1+1e-9) {
			t.Fatalf("delta(%v) = %v after %v", e, b, last)
		}
		last = b
	}
	for _, d := range []float64{0.9, 0.1, 1e-3, 1e-9, 1e-20, 1e-300} {
		b := r.Epsilon(d)
		if err := b.Check(); err != nil {
			t.Fatalf("epsilon(%v) = %v: %v", d, b, err)
		}
		if got := r.Delta(b.High); got.Low > d {
			t.Errorf("delta of epsilon(%v) = %v is %v", d, b, got)
		}
	}
}

// Where nothing is known from below, nothing is claimed.
func TestUpperBoundOnly(t *testing.T) {
	p := must(t)(loss.RandomizedResponse(0.5))
	r := compose(t, []Term{{loss.Event{Above: p}, 10}}, givenDelta(1e-6))
	if b := r.Epsilon(1e-6); b.Low != 0 || b.Estimate != b.High || !strings.Contains(r.Note, "upper bound only") {
		t.Errorf("epsilon %v, note %q", b, r.Note)
	}
	e := 1.0
	exponential := Term{loss.Event{Above: must(t)(loss.BoundedRange(e)), Below: must(t)(loss.RandomizedResponse(e / 2))}, 20}
	pure := compose(t, []Term{of(must(t)(loss.RandomizedResponse(e)), 20)}, givenDelta(1e-6)).Epsilon(1e-6)
	b := compose(t, []Term{exponential}, givenDelta(1e-6)).Epsilon(1e-6)
	if b.Check() != nil || b.Low < 0.5*b.High || b.High > 0.8*pure.Low {
		t.Errorf("20 exponential mechanisms: %v; as pure events %v", b, pure)
	}
}

func TestRefusals(t *testing.T) {
	p := must(t)(loss.Gaussian(1))
	nan := math.NaN()
	for name, c := range map[string]struct {
		terms  []Term
		target Target
	}{
		"no events":         {nil, givenDelta(1e-5)},
		"no pair":           {[]Term{{Count: 1}}, givenDelta(1e-5)},
		"count 0":           {[]Term{of(p, 0)}, givenDelta(1e-5)},
		"count -1":          {[]Term{of(p, -1)}, givenDelta(1e-5)},
		"too many":          {[]Term{of(p, math.MaxInt64)}, givenDelta(1e-5)},
		"delta NaN":         {[]Term{of(p, 1)}, givenDelta(nan)},
		"delta 1":           {[]Term{of(p, 1)}, givenDelta(1)},
		"delta negative":    {[]Term{of(p, 1)}, givenDelta(-1e-9)},
		"epsilon NaN":       {[]Term{of(p, 1)}, givenEpsilon(nan)},
		"epsilon negative":  {[]Term{of(p, 1)}, givenEpsilon(-1)},
		"epsilon infinite":  {[]Term{of(p, 1)}, givenEpsilon(math.Inf(1))},
		"tolerance NaN":     {[]Term{of(p, 1)}, Target{Delta: 1e-5, Tolerance: nan}},
		"no such side":      {[]Term{of(p, 1)}, Target{Delta: 1e-5, Given: 7}},
		"tolerance negativ": {[]Term{of(p, 1)}, Target{Delta: 1e-5, Tolerance: -1}},
	} {
		if r, err := Compose(nil, c.terms, c.target); err == nil {
			t.Errorf("%s: %v, want an error", name, r)
		}
	}
}

func BenchmarkSampledGaussian(b *testing.B) {
	base := must(b)(loss.Gaussian(1))
	p := must(b)(loss.PoissonRemove(base, 0.01))
	for b.Loop() {
		compose(b, []Term{of(p, 10000)}, givenDelta(1e-5)).Epsilon(1e-5)
	}
}

func BenchmarkThousandEvents(b *testing.B) {
	ok := must(b)
	kinds := map[string]func(i int) loss.Pair{
		"sampled": func(i int) loss.Pair {
			return ok(loss.PoissonRemove(ok(loss.Gaussian(1/(1+float64(i)/500))), 0.01+float64(i)*1e-5))
		},
		"gaussian": func(i int) loss.Pair { return ok(loss.Gaussian(0.05 + float64(i)*1e-4)) },
		"laplace":  func(i int) loss.Pair { return ok(loss.Laplace(0.05 + float64(i)*1e-4)) },
		"pure":     func(i int) loss.Pair { return ok(loss.RandomizedResponse(0.01 + float64(i)*1e-5)) },
	}
	for name, kind := range kinds {
		var ts []Term
		for i := range 1000 {
			ts = append(ts, of(kind(i), 1))
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := compose(b, ts, givenDelta(1e-5))
				e := r.Epsilon(1e-5)
				b.ReportMetric((e.High-e.Low)/e.High, "width/ε")
			}
		})
	}
}
