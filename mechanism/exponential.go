package mechanism

import (
	"fmt"
	"math/big"

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
	choice *noise.Choice
}

// NewExponential returns the mechanism.
func NewExponential(o ExponentialOptions) (*Exponential, error) {
	s, err := newScores(o)
	if err != nil {
		return nil, err
	}
	choice, err := noise.NewChoice(s.scale())
	if err != nil {
		return nil, fmt.Errorf("calibrate choice: %w: %w", ErrParameter, err)
	}
	return &Exponential{s, choice}, nil
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

// choose is the mechanism over whole numbers, under the claim that the options allow.
// Neighbours whose scores are n steps apart are linked by n pairs that are one step
// apart, so that claims for one step are enough.
func (e *Exponential) choose(stream *noise.Stream, s []int64) (int, error) {
	if e.monotone() {
		return e.indexMonotone(stream, s)
	}
	return e.index(stream, s)
}

// index is the mechanism.
//
//dp:adjacent each(s) <= 1
//dp:requires len(s) > 0
//dp:cost 2/scale(e.choice)
func (e *Exponential) index(stream *noise.Stream, s []int64) (int, error) {
	return e.choice.Index(stream, s)
}

// indexMonotone is the mechanism for scores that all rise or all fall.
//
//dp:adjacent each(s) in [0, 1]
//dp:requires len(s) > 0
//dp:cost 1/scale(e.choice)
func (e *Exponential) indexMonotone(stream *noise.Stream, s []int64) (int, error) {
	return e.choice.Index(stream, s)
}
