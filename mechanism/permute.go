package mechanism

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// PermuteAndFlipOptions are those of every choice by scores.
type PermuteAndFlipOptions = ScoreOptions

// PermuteAndFlip goes through a list of candidates in random order, and takes the
// first for which a coin of probability exp(−(best−s(i))·ε/2Δ) shows heads; without
// the 2 if the scores are monotone. Its choice is never worse than the exponential
// mechanism's.
//
// Theorem (McKenna and Sheldon 2020, Theorem 1; monotone: Ding et al. 2021, of whom is
// also that it is the maximum of the scores with exponential noise of that scale, for
// which see NoisyMax). It is ε-DP. It has no bounded range.
//
// A PermuteAndFlip is immutable and safe for concurrent use.
type PermuteAndFlip struct {
	scores
	coin *noise.ExpCoin
}

// NewPermuteAndFlip returns the mechanism.
func NewPermuteAndFlip(o PermuteAndFlipOptions) (*PermuteAndFlip, error) {
	s, err := newScores(o)
	if err != nil {
		return nil, err
	}
	coin, err := noise.NewExpCoin(new(big.Rat).Inv(s.scale()))
	if err != nil {
		return nil, fmt.Errorf("calibrate choice: %w: %w", ErrParameter, err)
	}
	return &PermuteAndFlip{s, coin}, nil
}

// Event is what one choice reveals.
func (p *PermuteAndFlip) Event() privacy.Event { return privacy.PermuteAndFlip{Epsilon: p.epsilon} }

// Bound returns α such that the score of the choice among n candidates is at least
// the best less α, but with probability at most beta: (2Δ/ε)·ln(n/β), half of it if
// monotone. (As a maximum with exponential noise it loses at most the largest of n
// draws.)
func (p *PermuteAndFlip) Bound(n int, beta *big.Rat) (float64, error) { return p.logAccuracy(n, beta) }

// Choose returns the index of one of the candidates.
func (p *PermuteAndFlip) Choose(bits noise.Bits, scores []float64) (int, error) {
	s, err := p.round(scores)
	if err != nil {
		return 0, fmt.Errorf("choose: %w", err)
	}
	i, err := p.choose(noise.NewStream(bits), s)
	if err != nil {
		return 0, fmt.Errorf("choose: %w", err)
	}
	return i, nil
}

// choose ends with the best candidate at the latest: its coin always shows heads.
func (p *PermuteAndFlip) choose(stream *noise.Stream, s []int64) (int, error) {
	best, left := slices.Max(s), indices(len(s))
	for {
		k, err := stream.Index(len(left))
		if err != nil {
			return 0, err
		}
		i := left[k]
		heads, err := p.coin.Flip(stream, uint64(best-s[i]))
		if err != nil {
			return 0, err
		}
		if heads {
			return i, nil
		}
		last := len(left) - 1
		left[k] = left[last]
		left = left[:last]
	}
}

// indices returns 0, 1, ..., n-1.
func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
