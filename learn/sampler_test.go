package learn

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
)

// sample draws a sample of n units at a rate.
func sample(t *testing.T, rate *big.Rat, n int) []int {
	t.Helper()
	s, err := newSampler(rate, noise.System())
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := s.sample(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

// deviates reports whether a binomial count is further from its mean than happens with
// probability 1e-12 (Bernstein's inequality, for either side half of it).
func deviates(count int, n int, p float64) bool {
	const l = 28.4 // -ln(5e-13)
	variance := float64(n) * p * (1 - p)
	return math.Abs(float64(count)-float64(n)*p) > l/3+math.Sqrt(l*l/9+2*l*variance)
}

// inclusion holds samples against Poisson sampling: how often each unit is in, how
// often each two neighbours both are, and how large samples are, in mean and variance.
// It returns what does not fit.
func inclusion(rounds, n int, rate float64, draw func() []int) (wrong []string) {
	in, both := make([]int, n), make([]int, n)
	total, exactly := 0, 0
	mean := int(math.Round(rate * float64(n)))
	for range rounds {
		seen := make([]bool, n)
		s := draw()
		for _, u := range s {
			seen[u] = true
			in[u]++
		}
		for u := range n {
			if seen[u] && seen[(u+1)%n] {
				both[u]++
			}
		}
		total += len(s)
		if len(s) == mean {
			exactly++
		}
	}
	for u := range n {
		if deviates(in[u], rounds, rate) {
			wrong = append(wrong, "a unit's inclusion")
		}
		if deviates(both[u], rounds, rate*rate) {
			wrong = append(wrong, "two units' inclusion")
		}
	}
	if deviates(total, rounds*n, rate) {
		wrong = append(wrong, "the mean size")
	}
	logChoose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	atMean := math.Exp(logChoose(n, mean) + float64(mean)*math.Log(rate) + float64(n-mean)*math.Log1p(-rate))
	if deviates(exactly, rounds, atMean) {
		wrong = append(wrong, "the size's spread")
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// Samples are Poisson: false rejects in at most 202·1e-12 a rate. Power: batches of a
// fixed size, batches cut from shuffled data, and coins of another rate are found out.
func TestPoissonInclusion(t *testing.T) {
	const rounds, n = 8_000, 100
	for _, rate := range []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 7), big.NewRat(255, 256), big.NewRat(1, 2), big.NewRat(3, 1000)} {
		s, err := newSampler(rate, noise.System())
		if err != nil {
			t.Fatal(err)
		}
		q, _ := rate.Float64()
		var buf []int
		if wrong := inclusion(rounds, n, q, func() []int { buf, err = s.sample(n, buf[:0]); return buf }); wrong != nil || err != nil {
			t.Errorf("rate %v: %v, %v", rate, wrong, err)
		}
	}
	random := noise.NewSource(noise.System())
	stream := noise.NewStream(noise.System())
	permutation := func() []int {
		p := make([]int, n)
		for i := range p {
			j := must(stream.Below(uint64(i + 1)))
			p[i], p[j] = p[j], i
		}
		return p
	}
	var left []int
	for name, draw := range map[string]func() []int{
		"fixed size": func() []int { return permutation()[:10] },
		"shuffled": func() []int {
			if len(left) == 0 {
				left = permutation()
			}
			batch := left[:10]
			left = left[10:]
			return batch
		},
		"another rate": func() (in []int) {
			for u := range n {
				if random.Bernoulli(0.13) {
					in = append(in, u)
				}
			}
			return in
		},
		"in pairs": func() (in []int) {
			for u := 0; u < n; u += 2 {
				if random.Bernoulli(0.1) {
					in = append(in, u, u+1)
				}
			}
			return in
		},
	} {
		if wrong := inclusion(rounds, n, 0.1, draw); wrong == nil {
			t.Errorf("%s passes for Poisson sampling", name)
		}
	}
}

// The extremes, and what ends in error.
func TestSamplerLimits(t *testing.T) {
	if got := sample(t, big.NewRat(1, 1), 1000); len(got) != 1000 {
		t.Errorf("rate 1: %d of 1000", len(got))
	}
	if got := sample(t, big.NewRat(1, 1<<62), 1000); len(got) != 0 {
		t.Errorf("rate 2^-62: %v", got)
	}
	if got := sample(t, big.NewRat(1, 2), 0); len(got) != 0 {
		t.Errorf("nobody: %v", got)
	}
	for _, rate := range []*big.Rat{new(big.Rat), big.NewRat(-1, 2), big.NewRat(3, 2)} {
		if _, err := newSampler(rate, noise.System()); err == nil {
			t.Errorf("rate %v is taken", rate)
		}
	}
	s, err := newSampler(big.NewRat(1, 2), broken{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.sample(1, nil); err == nil {
		t.Error("a sample without randomness")
	}
}

// The coin is exact also where the first digit ties: words whose bytes all tie leave
// it to the rest. 1/7 is 36 and 4/7 in 256ths.
func TestTiedDigits(t *testing.T) {
	for _, c := range []struct {
		rest uint64 // the bits of the coin with rate 4/7
		in   int
	}{{0, 1}, {math.MaxUint64, 0}} {
		tie := uint64(36) * 0x0101010101010101
		s := must(newSampler(big.NewRat(1, 7), &fixed{words: []uint64{tie}, then: c.rest}))
		if s.digit != 36 || s.rest.Cmp(big.NewRat(4, 7)) != 0 {
			t.Fatalf("1/7 is %d and %v in 256ths", s.digit, s.rest)
		}
		if got := must(s.sample(1, nil)); len(got) != c.in {
			t.Errorf("a tie and then %x: %v", c.rest, got)
		}
	}
}

type broken struct{}

func (broken) Uint64() (uint64, error) { return 0, errBroken }

type fixed struct {
	words []uint64
	then  uint64
}

func (f *fixed) Uint64() (uint64, error) {
	if len(f.words) == 0 {
		return f.then, nil
	}
	w := f.words[0]
	f.words = f.words[1:]
	return w, nil
}

// Units are sampled whole, with their first k examples, or example by example.
func TestLoaderBoundsUnits(t *testing.T) {
	set := &example.Set{Width: 1, Features: make([]float32, 8), Outputs: 1, Targets: make([]float32, 8),
		Units: []int32{1, 0, 1, 1, 2, 1, 0, 1}}
	plan := Plan{Population: Population{Units: 3, Basis: Public}, Batch: 3, Units: Units{Bounded, 2}}
	rows, weights, err := must(newLoader(set, plan, noise.System())).load(nil, nil)
	if err != nil || !slices.Equal(rows, []int{1, 6, 0, 2, 4}) || !slices.Equal(weights, []float64{0.5, 0.5, 0.5, 0.5, 1}) {
		t.Errorf("bounded: rows %v, weights %v, %v", rows, weights, err)
	}
	plan.Units.Mode = Grouped
	rows, weights, err = must(newLoader(set, plan, noise.System())).load(nil, nil)
	slices.Sort(rows)
	if err != nil || !slices.Equal(rows, []int{0, 1, 2, 4, 6}) || !slices.Equal(weights, []float64{1, 1, 1, 1, 1}) {
		t.Errorf("grouped: rows %v, weights %v, %v", rows, weights, err)
	}
	// At rate 1/2 a unit's examples come together, or not at all.
	plan = Plan{Population: Population{Units: 4, Basis: Public}, Batch: 2, Units: Units{Bounded, 2}}
	l := must(newLoader(set, plan, noise.System()))
	for range 100 {
		rows, _, err := l.load(nil, nil)
		if err != nil || slices.Contains(rows, 0) != slices.Contains(rows, 2) || slices.Contains(rows, 1) != slices.Contains(rows, 6) {
			t.Fatalf("rows %v, %v", rows, err)
		}
	}
	plan.Units = Units{}
	if _, err := newLoader(set, plan, noise.System()); err == nil {
		t.Error("a set with units, each example taken for one")
	}
}

func BenchmarkSample(b *testing.B) {
	s := must(newSampler(big.NewRat(512, 60000), noise.System()))
	var chosen []int
	for b.Loop() {
		chosen = must(s.sample(60000, chosen[:0]))
	}
	_ = chosen
}
