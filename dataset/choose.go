package dataset

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ScoreOptions are those of the exponential mechanism: Epsilon alone says what it
// costs.
type ScoreOptions struct {
	Options
	// Lower and Upper are what the score of one record is clamped to. Required.
	Lower, Upper float64
	// Default is the score of a record on which the function panics or is not a number.
	Default float64
}

// Choose returns the place of one of the candidates, by the exponential mechanism
// (McSherry and Talwar 2007): i is the more likely the larger the sum of score(record,
// candidates[i]) over the records is. The candidates are public.
//
// One record changes each sum by at most the larger bound. Sums are of integers, in
// steps of about 2^-20 of it, and clamped to ±2^53 steps, so that the mechanism's
// scores are exact.
func Choose[T, C any](ctx context.Context, bits noise.Bits, d Dataset[T], candidates []C, score func(T, C) float64, o ScoreOptions) (Answer[int], error) {
	r, err := newChoice(bits, d.source, o.Options, "Choose")
	if err != nil {
		return Answer[int]{}, err
	}
	if len(candidates) == 0 {
		return Answer[int]{}, refuse("there are no candidates")
	}
	c, err := newClamped(SumOptions{Lower: o.Lower, Upper: o.Upper, Default: o.Default}, 0, scoreBits)
	if err != nil {
		return Answer[int]{}, err
	}
	choose, err := r.choice(c.perRecord)
	if err != nil {
		return Answer[int]{}, err
	}
	return spend(ctx, r, func() (a Answer[int], err error) {
		scores := make([]float64, len(candidates))
		for i, candidate := range candidates {
			total := sum(c, d.records(), func(x T) float64 { return score(x, candidate) })
			f, _ := new(big.Float).SetInt(total).Float64()
			scores[i] = min(max(f, -1<<53), 1<<53)
		}
		a.Value, err = choose(bits, scores)
		return a, err
	})
}

// scoreBits leaves room for 2^33 records in the digits of a float64.
const scoreBits = 20

// choice returns the exponential mechanism over whole scores that one record changes
// by at most perRecord.
func (r *release) choice(perRecord *big.Int) (func(noise.Bits, []float64) (int, error), error) {
	sensitivity := new(big.Rat).SetInt(new(big.Int).Mul(perRecord, big.NewInt(r.furthest)))
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{
		Sensitivity: sensitivity, Epsilon: r.options.Epsilon, Grid: big.NewRat(1, 1),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrParameter, r.name, err)
	}
	for i, d := range r.distances {
		r.events[i] = []privacy.Event{privacy.Exponential{Epsilon: r.epsilonAt(d)}}
	}
	return m.Choose, nil
}

// NoisyOrderStatistic is about the k-th smallest of f over the records, k = 1 being the
// smallest, by the exponential mechanism over Lower, Lower+Step, ...: a number x is the
// less likely the more records must come or go to make it one. Records on which f
// panics or is not a number are left out.
//
// x is a k-th smallest if #(<x) <= k−1 and #(<=x) >= k, and misses by max(#(<x)−(k−1), k−#(<=x),
// 0), which one record changes by at most 1. With k up to 2^53 misses are exact as
// float64: beyond, rounding would change them by more.
func NoisyOrderStatistic[T any](ctx context.Context, bits noise.Bits, d Dataset[T], f func(T) float64, k int64, o QuantileOptions) (Answer[float64], error) {
	r, err := newChoice(bits, d.source, o.Options, "NoisyOrderStatistic")
	if err != nil {
		return Answer[float64]{}, err
	}
	last := math.Floor((o.Upper - o.Lower) / o.Step)
	if k < 1 || k > 1<<53 || !(o.Step > 0) || math.IsInf(o.Step, 1) || !(last >= 0) || last >= maxCandidates || math.IsInf(o.Lower, 0) {
		return Answer[float64]{}, refuse("k = %d, or %v to %v in steps of %v, mean nothing or are too many", k, o.Lower, o.Upper, o.Step)
	}
	choose, err := r.choice(big.NewInt(1))
	if err != nil {
		return Answer[float64]{}, err
	}
	return spend(ctx, r, func() (a Answer[float64], err error) {
		at := make([]int64, int(last)+1) // values nearest to each candidate
		records := d.records()
		each(len(records), func(i int) {
			x := math.Round((f(records[i]) - o.Lower) / o.Step)
			if !math.IsNaN(x) {
				at[int(min(max(x, 0), last))]++
			}
		}, nil)
		scores := make([]float64, len(at))
		below := int64(0)
		for i, n := range at {
			scores[i] = -float64(max(below-(k-1), k-(below+n), 0))
			below += n
		}
		i, err := choose(bits, scores)
		a.Value = o.Lower + float64(i)*o.Step
		return a, err
	})
}

// maxCandidates bounds memory and time of an order statistic.
const maxCandidates = 1 << 20
