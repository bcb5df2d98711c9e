package mechanism

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// SubsampledOptions say how units are sampled, and what happens to the sample.
type SubsampledOptions[T, R any] struct {
	// Rate is the probability with which each unit is sampled, by itself; at most 1. Or
	// Size and Of are how many units are sampled out of how many, which is then public
	// and fits the relation ReplaceOne only. Exactly one way is required.
	Rate     *big.Rat
	Size, Of int64
	// Neighbours is the relation in force; AddRemove if it is not given.
	Neighbours privacy.Neighbours
	// Event is what Release reveals of the sample. Required; it must speak of the
	// relation. With a rate under ReplaceOne it is Gaussian noise with the sensitivity of
	// AddRemove, as the sample may lack the unit; accountants double it.
	Event privacy.Event
	// Release is the mechanism on the sample. Required.
	Release func(bits noise.Bits, sample []T) (R, error)
}

// Subsampled applies a mechanism to a secret random sample of the units, which
// reveals less of each.
//
// Theorem (Balle, Barthe and Gaboardi 2018, Theorems 8 and 9). If the mechanism is
// (ε, δ)-DP, on a Poisson sample of rate q, when a unit is added, it is
// (ln(1+q(e^ε−1)), qδ)-DP; so it is, with q = m/n, on m out of n units, when one is
// replaced. Accountants have more for some mechanisms, from the same event.
//
// One sample is for one release: a second one must draw its own.
type Subsampled[T, R any] struct{ options SubsampledOptions[T, R] }

// NewSubsampled returns the mechanism with the given options.
func NewSubsampled[T, R any](o SubsampledOptions[T, R]) (*Subsampled[T, R], error) {
	if o.Release == nil || o.Event == nil {
		return nil, fmt.Errorf("%w: the mechanism, or its event, is missing", ErrParameter)
	}
	switch poisson, fixed := o.Rate != nil, o.Size != 0 || o.Of != 0; {
	case poisson == fixed:
		return nil, fmt.Errorf("%w: exactly one of a rate and a size must be given", ErrParameter)
	case poisson:
		o.Rate = new(big.Rat).Set(o.Rate)
	}
	s := &Subsampled[T, R]{o}
	if err := privacy.Holds(s.Event(), o.Neighbours); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	if o.Rate != nil {
		if _, err := noise.Bernoulli(zeros{}, o.Rate); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameter, err)
		}
	}
	return s, nil
}

// Event is what a release reveals, under the relation of the options. (What is sampled
// at a rate under ReplaceOne is told by its sensitivity of AddRemove, and holds of both.)
func (s *Subsampled[T, R]) Event() privacy.Event {
	if s.options.Rate == nil {
		return privacy.WithoutReplacement{M: s.options.Size, N: s.options.Of, Event: s.options.Event}
	}
	p := privacy.Poisson{Rate: new(big.Rat).Set(s.options.Rate), Event: s.options.Event}
	if s.options.Neighbours == privacy.ReplaceOne {
		return p
	}
	return privacy.Under{Neighbours: s.options.Neighbours, Event: p}
}

// Release draws a sample and returns what the mechanism says of it. Each element of
// units is all that there is of one unit. It fails if a declared number of units is
// not theirs, which is public.
func (s *Subsampled[T, R]) Release(bits noise.Bits, units []T) (R, error) {
	var none R
	sampled, err := s.sample(bits, len(units))
	if err != nil {
		return none, fmt.Errorf("sample units: %w", err)
	}
	sample := make([]T, len(sampled))
	for i, k := range sampled {
		sample[i] = units[k]
	}
	return s.options.Release(bits, sample)
}

// sample returns which of n units are sampled, in their order: an order by the draws
// would be no secret of the data, but one more thing to reason about.
func (s *Subsampled[T, R]) sample(bits noise.Bits, n int) (sampled []int, err error) {
	if s.options.Rate != nil {
		for i := range n {
			in, err := noise.Bernoulli(bits, s.options.Rate)
			if err != nil {
				return nil, err
			}
			if in {
				sampled = append(sampled, i)
			}
		}
		return sampled, nil
	}
	if int64(n) != s.options.Of {
		return nil, fmt.Errorf("%w: there are %d units, not the declared %d", ErrParameter, n, s.options.Of)
	}
	// Floyd's algorithm (Bentley and Floyd 1987): for j = n−m, ..., n−1, a uniform
	// number up to j is taken, or j itself if that is taken already.
	taken := make(map[int]bool, s.options.Size)
	for j := n - int(s.options.Size); j < n; j++ {
		u, err := noise.Uniform(bits, big.NewInt(int64(j)+1))
		if err != nil {
			return nil, err
		}
		k := int(u.Int64())
		if taken[k] {
			k = j
		}
		taken[k] = true
		sampled = append(sampled, k)
	}
	slices.Sort(sampled)
	return sampled, nil
}

// Bound returns an α such that the share of the sample of which anything is true is
// within α of that share of all n units but with probability beta; of a Poisson
// sample, that number over rate·n.
//
// Theorem (Hoeffding 1963, Theorems 1 and 4; sampling without replacement is no worse
// than with). Over m draws without replacement it is √(ln(2/β)/2m); over n units that
// count 1/(nq) each with probability q, √(ln(2/β)/2n)/q.
func (s *Subsampled[T, R]) Bound(n int64, beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if n < 1 || n > privacy.MaxCount {
		return 0, fmt.Errorf("%w: the number of units is not between 1 and 1e12", ErrParameter)
	}
	if s.options.Rate == nil {
		return upFloat(logOver(2, beta).Quo(numeric.OfInt(2 * s.options.Size)).Sqrt().Hi()), nil
	}
	return upFloat(logOver(2, beta).Quo(numeric.OfInt(2 * n)).Sqrt().Quo(numeric.Of(s.options.Rate)).Hi()), nil
}
