package mechanism

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A StabilityHistogram counts units by keys that nobody listed beforehand: each
// count gets noise, and is shown if that reaches a threshold.
//
// Theorem (Korolova et al. 2009; Bun, Nissim and Stemmer 2016, stability-based
// histograms). It is that of the thresholds for group selection, from which noise and
// threshold are taken, and shows more: not only which noisy counts reach the
// threshold but what they are. That is covered, because among keys that both
// neighbours have all is a function of noisy counts; and a key that only one of them
// has, with a count of one, is shown with a probability within δ.
type StabilityHistogram[K cmp.Ordered] struct{ threshold *threshold }

// NewStabilityHistogram returns the mechanism for what SelectionOptions say; there, a
// group is a key.
func NewStabilityHistogram[K cmp.Ordered](o SelectionOptions) (*StabilityHistogram[K], error) {
	k, err := o.check()
	if err != nil {
		return nil, err
	}
	var best *threshold
	for _, build := range []func(SelectionOptions, *big.Rat) (Selection, error){newGaussianThreshold, newLaplaceThreshold} {
		if o.Epsilon.Sign() == 0 && best != nil {
			break // there is no Laplace threshold for rho
		}
		s, err := build(o, k)
		if err != nil {
			return nil, err
		}
		if t := s.(*threshold); best == nil || t.least.Cmp(best.least) < 0 {
			best = t
		}
	}
	return &StabilityHistogram[K]{best}, nil
}

// A KeyCount is a key that is shown, with the noisy number of its units.
type KeyCount[K cmp.Ordered] struct {
	Key   K
	Count int64
}

// Event is what the shown keys and counts reveal.
func (h *StabilityHistogram[K]) Event() privacy.Event {
	if len(h.threshold.events) == 1 {
		return h.threshold.events[0]
	}
	return privacy.Sum{Events: slices.Clone(h.threshold.events)}
}

// Count returns the keys that are shown, with their noisy counts, by key. Each
// element of keys is a key of one unit: the caller sees to it that a unit has no more
// than the options say, and each only once.
func (h *StabilityHistogram[K]) Count(bits noise.Bits, keys []K) ([]KeyCount[K], error) {
	counts := make(map[K]int64)
	for _, k := range keys {
		counts[k]++
	}
	return h.Add(bits, counts)
}

// Add is Count for keys that have been counted. A count below 1 is never shown.
func (h *StabilityHistogram[K]) Add(bits noise.Bits, counts map[K]int64) ([]KeyCount[K], error) {
	var keys []K
	var values []*big.Int
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[k]; n > 0 { // NaN, which no map finds again, included
			keys, values = append(keys, k), append(values, big.NewInt(n))
		}
	}
	if err := h.threshold.noise.AddTo(bits, values); err != nil {
		return nil, fmt.Errorf("count by key: %w", err)
	}
	shown := []KeyCount[K]{}
	for i, v := range values {
		if v.Cmp(h.threshold.least) >= 0 {
			shown = append(shown, KeyCount[K]{keys[i], saturate(v)})
		}
	}
	return shown, nil
}

// Threshold returns the least noisy count that is shown.
func (h *StabilityHistogram[K]) Threshold() *big.Int { return new(big.Int).Set(h.threshold.least) }

// KeepProbability is the probability with which a key of so many units is shown;
// rounded to float64.
func (h *StabilityHistogram[K]) KeepProbability(units *big.Int) float64 {
	return h.threshold.KeepProbability(units)
}

// Bound returns a q such that the noise on one count lies in [−q, q] but with
// probability at most beta. A key of at least Threshold()+q units is shown but with
// that probability; a count that is shown lies high rather than low, more so the
// nearer it is to the threshold.
func (h *StabilityHistogram[K]) Bound(beta *big.Rat) (*big.Int, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	return h.threshold.noise.Bound(beta)
}
