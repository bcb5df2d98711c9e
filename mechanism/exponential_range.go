package mechanism

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ExponentialRangeOptions are those of a choice by scores, and the range.
type ExponentialRangeOptions struct {
	ScoreOptions
	// Lower and Upper are the ends of the range, which is public. Required.
	Lower, Upper float64
	// Step is a power of two; its multiples in the range are the candidates, of which
	// there may be 2^62. If nil, there are about 2^40.
	Step *big.Rat
}

// ExponentialRange is the exponential mechanism over the numbers of a range, for scores
// that are constant on pieces of it, as those of a quantile are between one value and
// the next. The candidates are the multiples of a step, so that the theorem is that of
// Exponential, with its exact probabilities: a piece is chosen with probability
// proportional to its number of candidates times exp(ε·score/2Δ), then one of its
// candidates uniformly.
//
// An ExponentialRange is immutable and safe for concurrent use.
type ExponentialRange struct {
	scores
	unit        *big.Rat // of the exponent, in one step of the scores
	step        grid
	first, last *big.Int // candidate, in steps
}

// maxRange bounds the number of candidates.
const maxRange = 1 << 62

// NewExponentialRange returns the mechanism.
func NewExponentialRange(o ExponentialRangeOptions) (*ExponentialRange, error) {
	s, err := newScores(o.ScoreOptions)
	if err != nil {
		return nil, err
	}
	lower, upper := new(big.Rat).SetFloat64(o.Lower), new(big.Rat).SetFloat64(o.Upper)
	if lower == nil || upper == nil || lower.Cmp(upper) >= 0 {
		return nil, fmt.Errorf("%w: no range from %v to %v", ErrParameter, o.Lower, o.Upper)
	}
	e := &ExponentialRange{scores: s, unit: new(big.Rat).Inv(s.scale())}
	if e.step, err = newGrid(o.Step, new(big.Rat).Sub(upper, lower), 40); err != nil {
		return nil, err
	}
	e.first, e.last = numeric.Ceil(e.step.in(lower)), numeric.Floor(e.step.in(upper))
	if n := new(big.Int).Sub(e.last, e.first); n.Sign() < 0 || n.Cmp(big.NewInt(maxRange)) >= 0 {
		return nil, fmt.Errorf("%w: no multiple of the step is in the range, or more than 2^62 are", ErrParameter)
	}
	return e, nil
}

// Event is what one choice reveals.
func (e *ExponentialRange) Event() privacy.Event { return privacy.Exponential{Epsilon: e.epsilon} }

// Bound returns α such that, if a share of the candidates has scores of at least s, the
// score of the choice is at least s−α, but with probability at most beta:
// (2Δ/ε)·ln(1/(share·β)), half of it if monotone (McSherry and Talwar 2007, Lemma 7).
func (e *ExponentialRange) Bound(share, beta *big.Rat) (float64, error) {
	if err := checkPositive("the share", share); err != nil {
		return 0, err
	}
	if share.Cmp(big.NewRat(1, 1)) > 0 {
		return 0, fmt.Errorf("%w: a share above 1", ErrParameter)
	}
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	return e.logAccuracy(1, new(big.Rat).Mul(share, beta))
}

// Choose returns one of the candidates. scores[0] is that of the numbers below cuts[0],
// scores[i] that of those from cuts[i-1] to below cuts[i], and the last that of those
// from the last cut. Cuts ascend; one that is below another before it, or NaN, counts as
// that one.
func (e *ExponentialRange) Choose(bits noise.Bits, cuts, scores []float64) (float64, error) {
	if len(scores) != len(cuts)+1 {
		return 0, fmt.Errorf("choose: %w: %d scores for %d cuts", ErrParameter, len(scores), len(cuts))
	}
	s, err := e.round(scores)
	if err != nil {
		return 0, fmt.Errorf("choose: %w", err)
	}
	best := slices.Max(s)
	// starts[j] is the number of the candidate with which pieces[j] begins.
	var pieces []piece
	var starts []uint64
	end := new(big.Int).Sub(e.last, e.first).Uint64() + 1
	for i, start := 0, uint64(0); i < len(s) && start < end; i++ {
		next := end
		if i < len(cuts) {
			next = min(max(e.candidate(cuts[i], end), start), end)
		}
		if next > start {
			pieces, starts = append(pieces, piece{next - start, best - s[i]}), append(starts, start)
		}
		start = next
	}
	j, err := choose(bits, pieces, e.unit)
	if err != nil {
		return 0, err
	}
	k, err := noise.NewStream(bits).Below(pieces[j].width)
	if err != nil {
		return 0, fmt.Errorf("choose: %w", err)
	}
	return e.number(starts[j] + k), nil
}

// candidate returns the number of the first candidate that is at least x, at most end.
func (e *ExponentialRange) candidate(x float64, end uint64) uint64 {
	if math.IsNaN(x) || math.IsInf(x, -1) {
		return 0
	}
	if math.IsInf(x, 1) {
		return end
	}
	k := numeric.Ceil(e.step.in(new(big.Rat).SetFloat64(x)))
	switch k.Sub(k, e.first); {
	case k.Sign() <= 0:
		return 0
	case !k.IsUint64() || k.Uint64() > end:
		return end
	}
	return k.Uint64()
}

// number returns the k-th candidate.
func (e *ExponentialRange) number(k uint64) float64 {
	x := new(big.Int).SetUint64(k)
	f := new(big.Float).SetInt(x.Add(x, e.first))
	r, _ := f.SetMantExp(f, e.step.exponent).Float64()
	return r
}
