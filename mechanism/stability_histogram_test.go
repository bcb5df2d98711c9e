package mechanism

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// law is the exact law of what is said of a key: that it is not shown, or its noisy
// count, up to a largest one.
func (h *StabilityHistogram[K]) law(units, most int64) []float64 {
	above := func(q int64) float64 { return h.threshold.above(big.NewInt(q - units)) }
	least := h.threshold.least.Int64()
	law := []float64{1 - above(least-1)}
	if units == 0 {
		return append([]float64{1}, make([]float64, most-least+1)...)
	}
	for c := least; c <= most; c++ {
		law = append(law, above(c-1)-above(c))
	}
	return law
}

// A unit in one key, or one that replaces another, in a key that both neighbours have
// or only one: the exact δ at ε is within what is stated. A threshold lower by two,
// half the noise, and a key of one unit shown for its noise, are not.
func TestStabilityHistogramRatios(t *testing.T) {
	for _, o := range []SelectionOptions{
		{MaxGroups: 1, Epsilon: eps("1"), Delta: del("0.01")},
		{MaxGroups: 1, Epsilon: eps("2"), Delta: del("0.001"), Neighbours: privacy.ReplaceOne},
		{MaxGroups: 2, Epsilon: eps("2"), Delta: del("0.02")},
		{MaxGroups: 30, Epsilon: eps("3"), Delta: del("0.01")},
	} {
		h := must(NewStabilityHistogram[string](o))
		epsilon, delta := o.Epsilon.Float64(), o.Delta.Float64()
		worst := func(h *StabilityHistogram[string]) (most float64) {
			top := h.threshold.least.Int64() + 60
			for n := range int64(15) {
				p, q := h.law(n, top), h.law(n+1, top)
				if o.MaxGroups == 2 { // in a key of n units, and in one of m
					for m := range int64(4) {
						a, b := product(p, h.law(m, top)), product(q, h.law(m+1, top))
						most = max(most, hockeyStick(a, b, epsilon), hockeyStick(b, a, epsilon))
					}
				}
				most = max(most, hockeyStick(p, q, epsilon), hockeyStick(q, p, epsilon))
				if o.Neighbours == privacy.ReplaceOne { // out of a key of n+1, into one of m
					for m := range int64(6) {
						a, b := product(q, h.law(m, top)), product(p, h.law(m+1, top))
						most = max(most, hockeyStick(a, b, epsilon), hockeyStick(b, a, epsilon))
					}
				}
			}
			return most
		}
		most := worst(h)
		t.Logf("%+v: %s, threshold %v, delta %.5f of %v", o, h.threshold.name, h.Threshold(), most, delta)
		if most > delta*(1+1e-6) {
			t.Errorf("%+v: delta is %v", o, most)
		}
		if o.MaxGroups > 1 {
			continue
		}
		lower := *h.threshold
		lower.least = new(big.Int).Sub(lower.least, big.NewInt(2))
		o.Epsilon = o.Epsilon.MulRat(rat("2"))
		half := must(NewStabilityHistogram[string](o))
		half.threshold.least = h.threshold.least
		o.Epsilon = o.Epsilon.MulRat(rat("1/2"))
		if worst(&StabilityHistogram[string]{&lower}) <= delta || worst(half) <= delta {
			t.Errorf("%+v: a fault passes", o)
		}
	}
}

func product(p, q []float64) (all []float64) {
	for _, x := range p {
		for _, y := range q {
			all = append(all, x*y)
		}
	}
	return all
}

// Draws follow the law, over many runs.
func TestStabilityHistogramFits(t *testing.T) {
	t.Parallel()
	const n = 100_000
	for _, o := range []SelectionOptions{
		{MaxGroups: 1, Epsilon: eps("1"), Delta: del("0.01")},
		{MaxGroups: 1, Rho: zcdp("1/4"), Delta: del("0.01")},
	} {
		h := must(NewStabilityHistogram[string](o))
		least := h.Threshold().Int64()
		far := 0
		q := must(h.Bound(rat("0.1"))).Int64()
		enough := least + q
		missed := 0
		counts := map[string]int64{"b": least + 1, "a": 1, "none": 0, "c": enough}
		top := least + 12
		law := h.law(least+1, top)
		law = append(law, h.threshold.above(big.NewInt(top-least-1)))
		draw := func(b noise.Bits) (int, error) {
			shown, err := h.Add(b, counts)
			if !slices.IsSortedFunc(shown, func(x, y KeyCount[string]) int { return int(x.Key[0]) - int(y.Key[0]) }) {
				return 0, errors.New("keys are not in order")
			}
			at, sawC := 0, false
			for _, k := range shown {
				switch k.Key {
				case "b":
					at = int(min(k.Count, top+1)-least) + 1
				case "c":
					sawC = true
					if abs(k.Count-enough) > q {
						far++
					}
				case "none":
					return 0, errors.New("a key without units is shown")
				}
			}
			if !sawC {
				missed++
			}
			return at, err
		}
		if err := fits(law, n, draw); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
		for _, err := range []error{failsAtMost(far, n, 0.1), failsAtMost(missed, n, 0.1)} {
			if err != nil {
				t.Errorf("%+v: %v", o, err)
			}
		}
		if p := h.KeepProbability(big.NewInt(least + 1)); math.Abs(p-(1-law[0])) > 1e-12 {
			t.Errorf("keep probability %v, law %v", p, 1-law[0])
		}
	}
}

func TestStabilityHistogramOfKeys(t *testing.T) {
	h := must(NewStabilityHistogram[float64](SelectionOptions{MaxGroups: 2, Epsilon: eps("20"), Delta: del("1e-9")}))
	var keys []float64
	for i := range 3000 {
		keys = append(keys, float64(i%3), math.NaN())
	}
	shown := must(h.Count(entropy.New(), keys))
	if len(shown) != 3 || shown[0].Key != 0 || shown[2].Key != 2 || abs(shown[1].Count-1000) > 10 {
		t.Error(shown)
	}
	if shown, err := h.Count(broken{}, keys); shown != nil || !errors.Is(err, errBroken) {
		t.Error(shown, err)
	}
	if shown, err := h.Count(noise.System(), nil); err != nil || len(shown) != 0 {
		t.Error(shown, err)
	}
	for name, o := range map[string]SelectionOptions{
		"no keys":         {Epsilon: eps("1"), Delta: del("1e-6")},
		"no delta":        {MaxGroups: 1, Epsilon: eps("1")},
		"no epsilon":      {MaxGroups: 1, Delta: del("1e-6")},
		"epsilon and rho": {MaxGroups: 1, Epsilon: eps("1"), Rho: zcdp("1"), Delta: del("1e-6")},
	} {
		if h, err := NewStabilityHistogram[int](o); h != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
	if _, err := h.Bound(nil); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	for want, o := range map[string]SelectionOptions{
		"add_remove(selection(1, 0.000001))":                                                   {MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-6")},
		"add_remove(discrete_gaussian(1, sensitivity=1)) + add_remove(selection(0, 0.000001))": {MaxGroups: 1, Rho: zcdp("1/2"), Delta: del("1e-6")},
	} {
		if e := must(NewStabilityHistogram[int](o)).Event(); e.String() != want || e.Validate() != nil {
			t.Errorf("%+v: event %v", o, e)
		}
	}
}
