package exact

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Intervals hold what real samplers do. Each comparison fails for a right program
// with probability at most 2·10^-12, and there are fewer than 500.
func TestSamplesAgree(t *testing.T) {
	sv := func(s svt) *program.Function { f, _ := s.build(); return f }
	source := noise.NewSource(noise.System())
	const n = 3000
	for _, c := range []struct {
		name string
		f    *program.Function
		in   program.Inputs
	}{
		{"SVT", sv(svtRight), ins("q", "[0 3 -2]", "T", "1", "N", "2", "eps", "1")},
		{"Lyu2", sv(lyu2), ins("q", "[1 0 2]", "T", "0", "N", "2", "eps", "2")},
		{"GapSVT", sv(gapSVT), ins("q", "[1 5]", "T", "0", "N", "1", "eps", "1")},
		{"NumSVT", sv(numSVT), ins("q", "[1 5]", "T", "0", "N", "1", "eps", "1")},
		{"AdaptiveSVT", fn(adaptiveSVT(false, "2")), ins("q", "[10 5]", "T", "0", "N", "1", "eps", "1")},
		{"NoisyMax", fn(noisyMax(program.Laplace, "2", false)), ins("q", "[0 1 2 0]", "eps", "1")},
		{"NoisyMax value", fn(noisyMax(program.Laplace, "2", true)), ins("q", "[0 1 2]", "eps", "1")},
		{"NoisyMax exponential", fn(noisyMax(program.Exponential, "2", true)), ins("q", "[0 1 2]", "eps", "1")},
		{"NoisyMax discrete", fn(noisyMax(program.DiscreteLaplace, "2", false)), ins("q", "[0 1 2]", "eps", "1")},
		{"NoisyMax geometric", fn(noisyMax(program.Geometric, "2", true)), ins("q", "[0 1 2]", "eps", "1")},
		{"PrefixSum", fn(prefixSum("1")), ins("q", "[0 1 2]", "eps", "1")},
		{"SmartSum", fn(smartSum(false)), ins("q", "[0 1 2]", "M", "2", "eps", "1")},
		{"Gaussian", fn(partialSum(program.Gaussian, "3")), ins("q", "[0 1 2]", "eps", "1")},
		{"DiscreteGaussian", fn(partialSum(program.DiscreteGaussian, "3")), ins("q", "[0 1 2]", "eps", "1")},
	} {
		code, err := compile(c.f)
		if err != nil {
			t.Fatal(err)
		}
		in, err := code.values(c.in)
		if err != nil {
			t.Fatal(err)
		}
		var runs []*state
		if err := code.samples(context.Background(), in, n, source, func(s *state) { runs = append(runs, s) }); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, s := range runs[:5] {
			for _, e := range aroundSample(s) {
				p, err := Probability(context.Background(), c.f, c.in, *e, Options{})
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				if q := chernoff(inside(runs, e), n, 1e-12); p.Hi < q.lo || p.Lo > q.hi {
					t.Errorf("%s: %s: samples say %v, the interval %v", c.name, code.words(e), q, p)
				}
			}
		}
	}
}

// A claim that fails by far is refuted by samples, one that holds with equality is
// not: with probability 1e-9 it would be. The wrong one is missed with less: at four
// times its budget, half of each input's runs suggest an event that some 50 % against
// 1 % of all runs are in, of the 50 runs that are asked not one does with probability
// 1e-13, and what is too alike, or too rare, to confirm would have to look like that in 1,000
// runs (below e^-100, Chernoff).
func TestStatistical(t *testing.T) {
	for _, c := range []struct {
		scale string
		want  bool
	}{{"1/4", true}, {"1", false}} {
		f, cl := partialSum(program.Laplace, c.scale)
		counter, tried, err := Statistical(context.Background(), f, cl, nil, Sampling{Source: noise.NewSource(noise.System()), Samples: 10_000, Pairs: 3})
		if err != nil {
			t.Fatal(err)
		}
		if (counter != nil) != c.want {
			t.Errorf("scale %s: refuted %v, %v", c.scale, counter != nil, tried)
		}
		if counter != nil {
			t.Logf("%v of %v: %v %v %s %v %v", counter.Forced, counter.Claimed, show(counter.First), show(counter.Second), counter.Event, counter.P, counter.Q)
		}
	}
}
