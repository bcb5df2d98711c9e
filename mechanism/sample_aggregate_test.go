package mechanism

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func mean(block []float64) float64 {
	sum := 0.0
	for _, x := range block {
		sum += x
	}
	return sum / float64(len(block))
}

func aggregateOptions() SampleAggregateOptions[float64] {
	return SampleAggregateOptions[float64]{Blocks: 3, Compute: mean, Lower: rat("0"), Upper: rat("4"), Step: rat("1"), Epsilon: eps("1")}
}

// The exact law of the answer, over all ways to split the units into blocks, on all
// neighbours of few units: the median's and the mean's. A mean with the noise that hides
// a change of 1/blocks² is seen.
func TestSampleAggregateRatios(t *testing.T) {
	// The law for one split.
	median := func(s *SampleAggregate[float64], results []float64) []float64 {
		small := *s.median
		small.slotBits = 0
		return small.outcomes(results)
	}
	average := func(scale float64) func(s *SampleAggregate[float64], results []float64) []float64 {
		return func(s *SampleAggregate[float64], results []float64) []float64 {
			sum := 0
			for _, n := range s.line.numbers(results) {
				sum += int(n)
			}
			law := make([]float64, 121)
			for i := range law {
				law[i] = laplaceAt(scale, i-60-sum)
			}
			return law
		}
	}
	worst := func(s *SampleAggregate[float64], given func(*SampleAggregate[float64], []float64) []float64) (most float64) {
		law := func(units []float64) []float64 {
			var all []float64
			splits := int(math.Pow(3, float64(len(units))))
			for split := range splits {
				blocks := make([][]float64, 3)
				for _, u := range units {
					blocks[split%3] = append(blocks[split%3], u)
					split /= 3
				}
				results := make([]float64, 3)
				for i, b := range blocks {
					results[i] = s.compute(b)
				}
				for i, p := range given(s, results) {
					if all == nil {
						all = make([]float64, 200)
					}
					all[i] += p / float64(splits)
				}
			}
			return all
		}
		for _, bag := range bags(2, 0, 2, 4) {
			for _, v := range []float64{0, 4, math.NaN()} {
				with := law(append(append([]float64{}, bag...), v))
				for _, other := range [][]float64{law(bag), law(append(append([]float64{}, bag...), 2))} {
					m, _ := ratioWithin(with, other, 1, 0)
					most = max(most, m)
				}
			}
		}
		return most
	}
	o := aggregateOptions()
	if most := worst(must(NewSampleAggregate(o)), median); most > 1+1e-9 || most < 0.3 {
		t.Errorf("median: the largest log-ratio is %v", most)
	}
	// Given the split, one result is replaced: that alone is within ε, with its range.
	s := must(NewSampleAggregate(o))
	span := 0.0
	for _, bag := range bags(2, 0, 2, 4) {
		if len(bag) < 2 {
			continue
		}
		for _, pair := range [][2]float64{{0, 4}, {0, 2}, {2, 4}} {
			p, q := median(s, append([]float64{pair[0]}, bag...)), median(s, append([]float64{pair[1]}, bag...))
			low, high := math.Inf(1), math.Inf(-1)
			for i := range p {
				if p[i] > 0 {
					low, high = min(low, math.Log(p[i]/q[i])), max(high, math.Log(p[i]/q[i]))
				}
			}
			span = max(span, high-low)
		}
	}
	if span > 1+1e-9 || span < 0.9 {
		t.Errorf("median: the range of log-ratios is %v", span)
	}
	o.Mean = true
	s = must(NewSampleAggregate(o))
	if e := s.Event().(privacy.DiscreteLaplace); e.Scale.Cmp(rat("4")) != 0 || e.Sensitivity.Cmp(rat("4")) != 0 {
		t.Error(e)
	}
	most := worst(s, average(4))
	t.Logf("mean: the largest log-ratio is %v", most)
	if most > 1+1e-9 || most < 0.9 {
		t.Errorf("mean: the largest log-ratio is %v", most)
	}
	if most := worst(s, average(4.0/3)); most <= 1 {
		t.Errorf("a third of the noise passes: %v", most)
	}
}

// A unit is in one block, each with the same probability, and all units are in some.
func TestSampleAggregateSplits(t *testing.T) {
	o := aggregateOptions()
	law := make([]float64, 9)
	for i := range law {
		law[i] = 1.0 / 9
	}
	// Two units, told apart by which is in a block: 9 ways.
	var blocks []int
	o.Compute = func(block []float64) float64 {
		for _, u := range block {
			blocks = append(blocks, int(u))
		}
		blocks = append(blocks, -1)
		return 0
	}
	s := must(NewSampleAggregate(o))
	if err := fits(law, 20_000, func(b noise.Bits) (int, error) {
		blocks = nil
		_, err := s.Release(b, []float64{1, 3})
		block, way := 0, 0
		for _, x := range blocks {
			if x < 0 {
				block++
			} else {
				way += x * block
			}
		}
		return way, err
	}); err != nil {
		t.Error(err)
	}
}

// What goes wrong in a block is Lower, and stays in the block.
func TestSampleAggregateIsTotal(t *testing.T) {
	o := aggregateOptions()
	for name, compute := range map[string]func([]float64) float64{
		"panics": func(b []float64) float64 { panic(b) },
		"NaN":    func([]float64) float64 { return math.NaN() },
		"-Inf":   func([]float64) float64 { return math.Inf(-1) },
		"index":  func(b []float64) float64 { return b[100] },
	} {
		o.Compute, o.Epsilon = compute, eps("1000")
		for _, o.Mean = range []bool{false, true} {
			if x, err := must(NewSampleAggregate(o)).Release(noise.System(), []float64{1, 2, 3}); err != nil || x != 0 {
				t.Errorf("%s: %v, %v", name, x, err)
			}
		}
	}
	o.Compute = func([]float64) float64 { return math.Inf(1) }
	if x, err := must(NewSampleAggregate(o)).Release(noise.System(), nil); err != nil || x != 4 {
		t.Error(x, err)
	}
}

// Over 10^5 runs the answer is as near as the bound says, at its beta.
func TestSampleAggregateBounds(t *testing.T) {
	t.Parallel()
	const runs = 100_000
	o := aggregateOptions()
	o.Compute, o.Blocks, o.Upper = func([]float64) float64 { return 40 }, 25, rat("100")
	for _, o.Mean = range []bool{true, false} {
		o.Epsilon = eps("3")
		s, far, source := must(NewSampleAggregate(o)), 0, entropy.New()
		alpha := must(s.Bound(rat("0.1")))
		n := runs
		if !o.Mean {
			n /= 10
		}
		for range n {
			x := must(s.Release(source, nil))
			off := math.Abs(x - 40)
			if !o.Mean && x != 40 { // half of the results are beyond it
				off = 12.5
			}
			if off > alpha {
				far++
			}
		}
		t.Logf("mean %v: %d of %d beyond %v", o.Mean, far, n, alpha)
		if err := failsAtMost(far, n, 0.1); err != nil {
			t.Errorf("mean %v: %v", o.Mean, err)
		}
	}
}

func TestSampleAggregateRefusals(t *testing.T) {
	for name, change := range map[string]func(*SampleAggregateOptions[float64]){
		"no blocks":        func(o *SampleAggregateOptions[float64]) { o.Blocks = 0 },
		"negative blocks":  func(o *SampleAggregateOptions[float64]) { o.Blocks = -1 },
		"too many blocks":  func(o *SampleAggregateOptions[float64]) { o.Blocks = 1 << 30 },
		"nothing":          func(o *SampleAggregateOptions[float64]) { o.Compute = nil },
		"no bounds":        func(o *SampleAggregateOptions[float64]) { o.Lower = nil },
		"no epsilon":       func(o *SampleAggregateOptions[float64]) { o.Epsilon = privacy.Epsilon{} },
		"no epsilon, mean": func(o *SampleAggregateOptions[float64]) { o.Epsilon, o.Mean = privacy.Epsilon{}, true },
		"rho for a median": func(o *SampleAggregateOptions[float64]) { o.Epsilon, o.Rho = privacy.Epsilon{}, zcdp("1") },
		"epsilon and rho":  func(o *SampleAggregateOptions[float64]) { o.Rho, o.Mean = zcdp("1"), true },
	} {
		o := aggregateOptions()
		change(&o)
		if s, err := NewSampleAggregate(o); s != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	o := aggregateOptions()
	for _, o.Mean = range []bool{false, true} {
		s := must(NewSampleAggregate(o))
		if _, err := s.Release(broken{}, []float64{1}); !errors.Is(err, errBroken) {
			t.Error(err)
		}
		if _, err := s.Release(broken{}, nil); !errors.Is(err, errBroken) {
			t.Error(err)
		}
		if _, err := s.Bound(nil); !errors.Is(err, ErrParameter) {
			t.Error(err)
		}
	}
	o.Rho, o.Epsilon = zcdp("1/2"), privacy.Epsilon{}
	if e := must(NewSampleAggregate(o)).Event(); e.String() != "discrete_gaussian(4, sensitivity=4)" {
		t.Error(e)
	}
}
