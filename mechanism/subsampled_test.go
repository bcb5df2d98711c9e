package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// counted is a Laplace count of the sampled units that are true.
func counted(epsilon string, o SubsampledOptions[bool, int64], sensitivity string) *Subsampled[bool, int64] {
	l := must(NewLaplace(LaplaceOptions{Sensitivity: rat(sensitivity), Epsilon: eps(epsilon)}))
	o.Event = l.Event()
	o.Release = func(bits noise.Bits, sample []bool) (int64, error) {
		n := new(big.Int)
		for _, x := range sample {
			if x {
				n.Add(n, big.NewInt(1))
			}
		}
		err := l.AddTo(bits, []*big.Int{n})
		if err != nil {
			return 0, err
		}
		return n.Int64(), nil
	}
	return must(NewSubsampled(o))
}

// Every set of units is sampled with its probability.
func TestSamplesFit(t *testing.T) {
	t.Parallel()
	const n = 5
	sampled := func(s *Subsampled[int, int]) func(noise.Bits) (int, error) {
		return func(b noise.Bits) (int, error) { return s.Release(b, []int{1, 2, 4, 8, 16}) }
	}
	o := SubsampledOptions[int, int]{
		Neighbours: privacy.ReplaceOne,
		Event:      privacy.Pure{Epsilon: eps("1")},
		Release: func(_ noise.Bits, sample []int) (set int, err error) {
			for i, x := range sample {
				if i > 0 && x <= sample[i-1] {
					return 0, errors.New("the sample is not in the order of the units")
				}
				set += x
			}
			return set, nil
		},
	}
	poisson := o
	poisson.Rate, poisson.Neighbours = rat("1/3"), privacy.AddRemove
	law := make([]float64, 1<<n)
	for set := range law {
		law[set] = 1
		for i := range n {
			if set>>i&1 == 1 {
				law[set] /= 3
			} else {
				law[set] *= 2.0 / 3
			}
		}
	}
	if err := fits(law, 50_000, sampled(must(NewSubsampled(poisson)))); err != nil {
		t.Errorf("poisson: %v", err)
	}
	poisson.Rate = rat("3/10")
	if fits(law, 50_000, sampled(must(NewSubsampled(poisson)))) == nil {
		t.Error("a rate of 0.3 passes for a third")
	}
	for size := range n {
		o.Size, o.Of = int64(size+1), n
		clear(law)
		sets := 0.0
		for set := range law {
			if bitCount(set) == size+1 {
				law[set], sets = 1, sets+1
			}
		}
		for set := range law {
			law[set] /= sets
		}
		if err := fits(law, 20_000, sampled(must(NewSubsampled(o)))); err != nil {
			t.Errorf("%d of %d: %v", size+1, n, err)
		}
	}
}

func bitCount(x int) (n int) {
	for ; x > 0; x &= x - 1 {
		n++
	}
	return n
}

// The exact law of a noisy count of a sample: within ε' = ln(1+q(e^ε−1)), and for
// rates that matter near it; without sampling, or at the rate of another n, beyond.
func TestSamplingAmplifies(t *testing.T) {
	laplace := func(scale float64, shift int) []float64 {
		law := make([]float64, 61)
		for i := range law {
			law[i] = laplaceAt(scale, i-30-shift)
		}
		return law
	}
	mix := func(q float64, with, without []float64) []float64 {
		law := make([]float64, len(with))
		for i := range law {
			law[i] = q*with[i] + (1-q)*without[i]
		}
		return law
	}
	for _, tc := range []struct{ epsilon, rate float64 }{{1, 0.5}, {0.5, 0.1}, {2, 0.25}} {
		amplified := math.Log1p(tc.rate * math.Expm1(tc.epsilon))
		without, with := laplace(1/tc.epsilon, 0), laplace(1/tc.epsilon, 1)
		// One unit alone, added or not; among m of n, replaced by one that counts.
		sampled := mix(tc.rate, with, without)
		most, err := ratioWithin(sampled, without, amplified, 0)
		if err != nil || most < amplified*(1-1e-9) {
			t.Errorf("%+v: log-ratio %v, want %v: %v", tc, most, amplified, err)
		}
		if _, err := ratioWithin(mix(1, with, without), without, amplified, 0); err == nil {
			t.Errorf("%+v: no sampling passes for it", tc)
		}
		if _, err := ratioWithin(mix(tc.rate*1.1, with, without), without, amplified, 0); err == nil {
			t.Errorf("%+v: a rate 1.1 times as large passes", tc)
		}
		// What is drawn is that.
		rate, _ := new(big.Rat).SetString(fmt.Sprint(tc.rate))
		s := counted(fmt.Sprint(tc.epsilon), SubsampledOptions[bool, int64]{Rate: rate}, "1")
		sampled[0] += 1 - sumOf(sampled) // the tails, both too unlikely to matter
		if err := fits(sampled, 30_000, func(b noise.Bits) (int, error) {
			x, err := s.Release(b, []bool{true})
			return int(x) + 30, err
		}); err != nil {
			t.Errorf("%+v: %v", tc, err)
		}
		if e, ok := must(privacy.Released(s.Event(), privacy.AddRemove)).(privacy.Poisson); !ok || e.Rate.Cmp(rate) != 0 || e.Validate() != nil {
			t.Errorf("event %v", s.Event())
		}
	}
}

func sumOf(law []float64) (sum float64) {
	for _, p := range law {
		sum += p
	}
	return sum
}

// Over 10^5 samples the share in the sample is as near as the bound says, at its beta.
func TestSampleBounds(t *testing.T) {
	t.Parallel()
	const n, runs = 10, 100_000
	units := make([]bool, n)
	for i := range n / 2 {
		units[i] = true
	}
	share := func(_ noise.Bits, sample []bool) (trues float64, err error) {
		for _, x := range sample {
			if x {
				trues++
			}
		}
		return trues, nil
	}
	o := SubsampledOptions[bool, float64]{Neighbours: privacy.ReplaceOne, Event: privacy.Gaussian{Variance: rat("1"), SensitivitySquared: rat("1")}, Release: share}
	fixed, poisson := o, o
	fixed.Size, fixed.Of = 4, n
	poisson.Rate = rat("2/5")
	for name, s := range map[string]*Subsampled[bool, float64]{"fixed": must(NewSubsampled(fixed)), "poisson": must(NewSubsampled(poisson))} {
		alpha, far, source := must(s.Bound(n, rat("0.1"))), 0, entropy.New()
		for range runs {
			if x := must(s.Release(source, units)) / 4; math.Abs(x-0.5) > alpha {
				far++
			}
		}
		t.Logf("%s: %d of %d beyond %v", name, far, runs, alpha)
		if err := failsAtMost(far, runs, 0.1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSubsampledRefusals(t *testing.T) {
	release := func(noise.Bits, []int) (int, error) { return 0, nil }
	good := SubsampledOptions[int, int]{Rate: rat("1/2"), Event: privacy.Pure{Epsilon: eps("1")}, Release: release}
	for name, change := range map[string]func(*SubsampledOptions[int, int]){
		"no mechanism":               func(o *SubsampledOptions[int, int]) { o.Release = nil },
		"no event":                   func(o *SubsampledOptions[int, int]) { o.Event = nil },
		"a bad event":                func(o *SubsampledOptions[int, int]) { o.Event = privacy.Pure{} },
		"no rate":                    func(o *SubsampledOptions[int, int]) { o.Rate = nil },
		"both ways":                  func(o *SubsampledOptions[int, int]) { o.Size, o.Of = 1, 2 },
		"a rate of 0":                func(o *SubsampledOptions[int, int]) { o.Rate = rat("0") },
		"a negative rate":            func(o *SubsampledOptions[int, int]) { o.Rate = rat("-1/2") },
		"a rate above 1":             func(o *SubsampledOptions[int, int]) { o.Rate = rat("3/2") },
		"a fixed size of an unknown": func(o *SubsampledOptions[int, int]) { o.Rate, o.Size, o.Of = nil, 1, 2 },
		"a sample larger than all": func(o *SubsampledOptions[int, int]) {
			o.Rate, o.Size, o.Of, o.Neighbours = nil, 3, 2, privacy.ReplaceOne
		},
		"a size without a number":     func(o *SubsampledOptions[int, int]) { o.Rate, o.Size, o.Neighbours = nil, 3, privacy.ReplaceOne },
		"poisson under replace-one":   func(o *SubsampledOptions[int, int]) { o.Neighbours = privacy.ReplaceOne },
		"an event of replacing alone": func(o *SubsampledOptions[int, int]) { o.Event = privacy.RandomizedResponse{P: rat("3/4"), K: 2} },
		"no such relation":            func(o *SubsampledOptions[int, int]) { o.Neighbours = 5 },
	} {
		o := good
		change(&o)
		if s, err := NewSubsampled(o); s != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	good.Rate, good.Size, good.Of, good.Neighbours = nil, 2, 3, privacy.ReplaceOne
	s := must(NewSubsampled(good))
	if s.Event().String() != "without_replacement(2, 3, pure(1))" {
		t.Error(s.Event())
	}
	if _, err := s.Release(noise.System(), []int{1, 2}); !errors.Is(err, ErrParameter) {
		t.Errorf("two units for three: %v", err)
	}
	if _, err := s.Release(broken{}, []int{1, 2, 3}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	for name, err := range map[string]error{"no beta": second(s.Bound(3, nil)), "nobody": second(s.Bound(0, rat("1/2")))} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
