package mechanism

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// The distance of the exact counts of neighbours never exceeds the sensitivity of the
// event, and for some neighbours it is just that.
func TestHistogramSensitivity(t *testing.T) {
	type distance struct{ l1, l2 int64 }
	for _, o := range []HistogramOptions{
		{Bins: 4}, {Bins: 1, MaxBins: 3}, {Bins: 5, MaxBins: 2, MaxRows: 3},
		{Bins: 4, Neighbours: privacy.ReplaceOne}, {Bins: 1, Neighbours: privacy.ReplaceOne}, {Bins: 3, MaxBins: 2, MaxRows: 4, Neighbours: privacy.ReplaceOne},
	} {
		o.Epsilon = eps("1")
		l1 := must(NewHistogram(o)).Event().(privacy.Under).Event.(privacy.DiscreteLaplace)
		o.Epsilon, o.Rho = privacy.Epsilon{}, zcdp("1/2")
		l2 := must(NewHistogram(o)).Event().(privacy.Under).Event.(privacy.DiscreteGaussian)
		if !l1.Scale.IsInt() || l1.Scale.Cmp(l1.Sensitivity) != 0 || l2.Variance.Cmp(l2.SensitivitySquared) != 0 {
			t.Errorf("%+v: %v, %v", o, l1, l2)
		}
		var units [][]int64 // what a unit adds to the counts: in some bins as much as it may
		for set := range 1 << o.Bins {
			if int64(bits.OnesCount(uint(set))) > max(o.MaxBins, 1) {
				continue
			}
			counts := make([]int64, o.Bins)
			for i := range counts {
				counts[i] = int64(set>>i&1) * max(o.MaxRows, 1)
			}
			units = append(units, counts)
		}
		most := distance{}
		for _, a := range units {
			for k, b := range units {
				if o.Neighbours == privacy.AddRemove && k > 0 {
					break // units[0] is none
				}
				d := distance{}
				for i := range a {
					d.l1 += abs(a[i] - b[i])
					d.l2 += (a[i] - b[i]) * (a[i] - b[i])
				}
				most = distance{max(most.l1, d.l1), max(most.l2, d.l2)}
			}
		}
		if big.NewRat(most.l1, 1).Cmp(l1.Sensitivity) != 0 || big.NewRat(most.l2, 1).Cmp(l2.SensitivitySquared) != 0 {
			t.Errorf("%+v: the largest distances are %v, the sensitivities %v, %v", o, most, l1, l2)
		}
	}
}

// Noise of the stated scale is on every count, also of an empty bin; rows in no bin are
// left out. Half the noise, and noise on the counts that are not empty alone, are seen.
func TestHistogramFits(t *testing.T) {
	const n = 30_000
	h := must(NewHistogram(HistogramOptions{Bins: 3, Epsilon: eps("1/2")}))
	rows := []int{0, 0, 2, -1, 3, math.MaxInt, math.MinInt, 0}
	for bin, exact := range []int64{3, 0, 1} {
		// The two-sided geometric law, from -20 to 20, the rest
		// in the two cells at the ends.
		p, law := math.Exp(-0.5), make([]float64, 41)
		for i := range law {
			law[i] = (1 - p) / (1 + p) * math.Pow(p, math.Abs(float64(i-20)))
		}
		law[0], law[40] = math.Pow(p, 20)/(1+p), math.Pow(p, 20)/(1+p)
		count := func(h *Histogram) func(noise.Bits) (int, error) {
			return func(b noise.Bits) (int, error) {
				counts, err := h.Count(b, rows)
				if err != nil {
					return 0, err
				}
				return int(min(max(counts[bin]-exact, -20), 20)) + 20, nil
			}
		}
		if err := fits(law, n, count(h)); err != nil {
			t.Errorf("bin %d: %v", bin, err)
		}
		half := must(NewHistogram(HistogramOptions{Bins: 3, Epsilon: eps("1")}))
		if fits(law, n, count(half)) == nil {
			t.Errorf("bin %d: half the noise makes no difference", bin)
		}
	}
}

// Over 10^5 runs all counts together are as near as the accuracy says, at its beta.
func TestHistogramAccuracy(t *testing.T) {
	const runs = 100_000
	exact := []int64{5, 0, 1000, 7}
	for _, o := range []HistogramOptions{{Bins: 4, Epsilon: eps("1/2")}, {Bins: 4, Rho: zcdp("1/50")}} {
		h, failures, source := must(NewHistogram(o)), 0, entropy.New()
		q := must(h.Bound(rat("0.1"))).Int64()
		for range runs {
			for i, c := range must(h.Add(source, exact)) {
				if abs(c-exact[i]) > q {
					failures++
					break
				}
			}
		}
		t.Logf("%d of %d runs are farther than %d", failures, runs, q)
		if err := failsAtMost(failures, runs, 0.1); err != nil {
			t.Error(err)
		}
		if failures < runs/20 {
			t.Errorf("%d of %d failures at a beta of 0.1: the bound is loose", failures, runs)
		}
	}
	if !slices.Equal(exact, []int64{5, 0, 1000, 7}) {
		t.Error("the argument was changed")
	}
}

func TestHistogramRefusals(t *testing.T) {
	good := HistogramOptions{Bins: 2, Epsilon: eps("1")}
	for name, change := range map[string]func(*HistogramOptions){
		"no bins":          func(o *HistogramOptions) { o.Bins = 0 },
		"negative bins":    func(o *HistogramOptions) { o.Bins = -1 },
		"negative groups":  func(o *HistogramOptions) { o.MaxBins = -1 },
		"negative rows":    func(o *HistogramOptions) { o.MaxRows = -1 },
		"absurd rows":      func(o *HistogramOptions) { o.MaxRows = math.MaxInt64 },
		"absurd groups":    func(o *HistogramOptions) { o.MaxBins = math.MaxInt64 },
		"no such relation": func(o *HistogramOptions) { o.Neighbours = 3 },
		"no epsilon":       func(o *HistogramOptions) { o.Epsilon = privacy.Epsilon{} },
		"epsilon and rho":  func(o *HistogramOptions) { o.Rho = zcdp("1") },
	} {
		o := good
		change(&o)
		if h, err := NewHistogram(o); h != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
	h := must(NewHistogram(good))
	for name, err := range map[string]error{"no beta": second(h.Bound(nil)), "beta of 1": second(h.Bound(rat("1"))), "three counts": second(h.Add(broken{}, []int64{1, 2, 3}))} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if counts, err := h.Count(broken{}, nil); counts != nil || !errors.Is(err, errBroken) {
		t.Error(counts, err)
	}
	if saturate(new(big.Int).Lsh(big.NewInt(-1), 80)) != math.MinInt64 || saturate(new(big.Int).Lsh(big.NewInt(1), 80)) != math.MaxInt64 {
		t.Error("what no int64 holds")
	}
}
