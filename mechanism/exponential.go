package mechanism

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ExponentialOptions are those of every choice by scores.
type ExponentialOptions = ScoreOptions

// Exponential is the exponential mechanism over a list of candidates: candidate i
// with score s(i) is chosen with probability proportional to
//
//	exp(ε·s(i)/2Δ), or exp(ε·s(i)/Δ) if the scores are monotone.
//
// Theorem (McSherry and Talwar 2007, Theorem 6; its range: Durfee and Rogers 2019). Let x be the exponents and x' those of a
// neighbour. ln p(i)/p'(i) = (x(i)−x'(i)) + ln Σexp(x')/Σexp(x). The first term
// lies in an interval of length ε over all i, [−ε/2, ε/2], or [0, ε] or [−ε, 0] if
// monotone; and 0 lies between the extremes of the sum, because probabilities add
// up to 1. So the log-ratio stays within an interval of length ε that holds 0.
//
// An Exponential is immutable and safe for concurrent use. How long a choice takes
// depends on the scores.
type Exponential struct {
	scores
	coin *noise.ExpCoin
}

// NewExponential returns the mechanism.
func NewExponential(o ExponentialOptions) (*Exponential, error) {
	s, err := newScores(o)
	if err != nil {
		return nil, err
	}
	coin, err := noise.NewExpCoin(new(big.Rat).Inv(s.scale()))
	if err != nil {
		return nil, fmt.Errorf("calibrate choice: %w: %w", ErrParameter, err)
	}
	return &Exponential{s, coin}, nil
}

// Event is what one choice reveals.
func (e *Exponential) Event() privacy.Event { return privacy.Exponential{Epsilon: e.epsilon} }

// Bound returns α such that the score of the choice among n candidates is at least
// the best less α, but with probability at most beta: (2Δ/ε)·ln(n/β), half of it if
// monotone (McSherry and Talwar 2007; Dwork and Roth 2014, Corollary 3.12).
func (e *Exponential) Bound(n int, beta *big.Rat) (float64, error) { return e.logAccuracy(n, beta) }

// Choose returns the index of one of the candidates.
func (e *Exponential) Choose(bits noise.Bits, scores []float64) (int, error) {
	s, err := e.round(scores)
	if err != nil {
		return 0, fmt.Errorf("choose: %w", err)
	}
	i, err := e.choose(noise.NewStream(bits), s)
	if err != nil {
		return 0, fmt.Errorf("choose: %w", err)
	}
	return i, nil
}

// choose proposes candidates uniformly, and accepts i with probability
// exp(−(best−s(i))/scale): what is accepted has probabilities in that proportion.
// The best is always accepted, so that n proposals suffice on average.
func (e *Exponential) choose(stream *noise.Stream, s []int64) (int, error) {
	best := slices.Max(s)
	for {
		i, err := stream.Below(uint64(len(s)))
		if err != nil {
			return 0, err
		}
		accepted, err := e.coin.Flip(stream, uint64(best-s[i]))
		if err != nil {
			return 0, err
		}
		if accepted {
			return int(i), nil
		}
	}
}
