package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// HistogramOptions say what is counted, and what the counts must hide.
type HistogramOptions struct {
	// Bins is the number of bins, which is public. Required.
	Bins int
	// MaxBins is the number of bins that a unit is in at most, MaxRows how often it
	// is in one of them at most; each 1 if it is not given.
	MaxBins, MaxRows int64
	// Neighbours is the relation in force; AddRemove if it is not given.
	Neighbours privacy.Neighbours
	// Epsilon, for Laplace noise, or Rho, for Gaussian noise, is the guarantee of all
	// counts together. Exactly one is required.
	Epsilon privacy.Epsilon
	Rho     privacy.Rho
}

// Histogram counts in public bins, each count with noise of its own; also those
// that are empty.
//
// A unit changes at most m counts by at most R each, when it is added or removed. When
// one replaces another, 2m counts change, and those that both are in by at most R as
// well. With k the number of counts that change, which is no more than there are,
// the L1 distance is k·R, the square of the L2 distance k·R².
type Histogram struct {
	bins       int
	neighbours privacy.Neighbours
	noise      Additive
	laplace    *noise.DiscreteLaplace // the same noise, if draws of it fit into 64 bits
}

// NewHistogram returns the mechanism with the given options.
func NewHistogram(o HistogramOptions) (*Histogram, error) {
	if o.Bins < 1 {
		return nil, fmt.Errorf("%w: there are no bins", ErrParameter)
	}
	rows, err := contribution("rows", o.MaxRows)
	if err != nil {
		return nil, err
	}
	bins, err := contribution("bins", o.MaxBins)
	if err != nil {
		return nil, err
	}
	switch o.Neighbours {
	case privacy.AddRemove:
	case privacy.ReplaceOne:
		bins *= 2
	default:
		return nil, fmt.Errorf("%w: no such neighbouring relation: %v", ErrParameter, o.Neighbours)
	}
	a, err := additive(big.NewRat(min(bins, int64(o.Bins)), 1), big.NewRat(rows, 1), o.Epsilon, o.Rho)
	if err != nil {
		return nil, err
	}
	h := &Histogram{bins: o.Bins, neighbours: o.Neighbours, noise: a}
	if l, ok := a.(laplace); ok && l.Scale().Cmp(big.NewRat(maxScale, 1)) <= 0 {
		h.laplace = l.DiscreteLaplace
	}
	return h, nil
}

// contribution returns how many of something a unit has at most, 1 if not given.
func contribution(of string, most int64) (int64, error) {
	switch {
	case most == 0:
		return 1, nil
	case most < 0 || most > maxMaxGroups:
		return 0, fmt.Errorf("%w: the number of %s of a unit is not between 1 and 2^40", ErrParameter, of)
	}
	return most, nil
}

// additive returns the noise that hides a change of k numbers by r each.
func additive(k, r *big.Rat, epsilon privacy.Epsilon, rho privacy.Rho) (Additive, error) {
	sensitivity := new(big.Rat).Mul(k, r)
	switch {
	case (epsilon.Sign() > 0) == (rho.Sign() > 0):
		return nil, fmt.Errorf("%w: exactly one of epsilon and rho must be positive", ErrParameter)
	case epsilon.Sign() > 0:
		return NewLaplace(LaplaceOptions{Sensitivity: sensitivity, Epsilon: epsilon})
	}
	return NewGaussian(GaussianOptions{SensitivitySquared: sensitivity.Mul(sensitivity, r), Rho: rho})
}

// Event is what the noisy counts reveal, under the relation of the options.
func (h *Histogram) Event() privacy.Event {
	return privacy.Under{Neighbours: h.neighbours, Event: h.noise.Event()}
}

// Count returns how many of the rows are in each bin, with noise; counts may be
// negative. Rows are the numbers of their bins; those in none, from 0 up, are left
// out. It relies on the caller that a unit is in no more bins, no more often, than
// the options say.
func (h *Histogram) Count(bits noise.Bits, rows []int) ([]int64, error) {
	counts := make([]int64, h.bins)
	for _, bin := range rows {
		if bin >= 0 && bin < h.bins {
			counts[bin]++
		}
	}
	return h.Add(bits, counts)
}

// Add returns the exact counts with noise, and leaves the argument as it is. A count
// beyond ±2^60 counts as that.
func (h *Histogram) Add(bits noise.Bits, counts []int64) ([]int64, error) {
	if len(counts) != h.bins {
		return nil, fmt.Errorf("%w: %d counts for %d bins", ErrParameter, len(counts), h.bins)
	}
	clamped := make([]int64, len(counts))
	for i, c := range counts {
		clamped[i] = min(max(c, -maxSteps), maxSteps)
	}
	var noisy []int64
	var err error
	if h.laplace != nil {
		noisy, err = h.addLaplace(noise.NewStream(bits), clamped)
	} else {
		noisy, err = h.addAny(bits, clamped)
	}
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	return noisy, nil
}

// addLaplace is the mechanism. Neighbours with k counts that differ by R are linked by
// k·R pairs with one that differs by 1, so that a claim for those is enough.
//
//dp:adjacent one(counts) <= 1
//dp:cost 1/scale(h.laplace)
func (h *Histogram) addLaplace(stream *noise.Stream, counts []int64) ([]int64, error) {
	noisy := make([]int64, len(counts))
	for i, c := range counts {
		k, err := h.laplace.Int64(stream)
		if err != nil {
			return nil, err
		}
		noisy[i] = c + k
	}
	return noisy, nil
}

// addAny adds noise of any law and size.
func (h *Histogram) addAny(bits noise.Bits, counts []int64) ([]int64, error) {
	values := make([]*big.Int, len(counts))
	for i, c := range counts {
		values[i] = big.NewInt(c)
	}
	if err := h.noise.AddTo(bits, values); err != nil {
		return nil, err
	}
	noisy := make([]int64, len(values))
	for i, v := range values {
		noisy[i] = saturate(v)
	}
	return noisy, nil
}

// saturate returns the int64 nearest to v.
func saturate(v *big.Int) int64 {
	switch {
	case v.IsInt64():
		return v.Int64()
	case v.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// Bound returns a q such that all counts are within q of the exact ones but with
// probability beta: for Laplace noise about ln(bins/β)·Δ/ε. Noise gives the same for
// a single count, by Bound(beta).
func (h *Histogram) Bound(beta *big.Rat) (*big.Int, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	return h.noise.Bound(new(big.Rat).Quo(beta, big.NewRat(int64(h.bins), 1)))
}

// Noise returns the noise on each count.
func (h *Histogram) Noise() Additive { return h.noise }
