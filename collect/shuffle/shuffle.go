// Package shuffle asks respondents through shufflers: who said what is hidden among all who
// spoke, and so each needs to hide less of the answer than in the local model.
//
// A respondent's bundle is one report by randomized response over k answers, and a fixed
// number of fakes, uniform answers that hide others' reports. A shuffler passes bundles on in
// batches, in a uniformly random order; the last one takes them apart and mixes the messages.
// Counts, histograms and sums of numbers are estimated from them.
//
// It guarantees that a bundle is ε₀-DP by itself, whoever reads it, when the respondent's
// answer is replaced; and what a [Certificate] says, under the assumptions that it names:
// an honest shuffler, and a number of respondents who do not collude with the observer,
// which nobody can see. The theorems stand in package accountant. Draws are exact: of
// answers, of fakes, of permutations.
//
// It does not guarantee to hide who responds, nor anything but the local ε₀ where no
// shuffler is honest. Package process has the processes; this one has no network, no files.
package shuffle

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ErrParameter is wrapped by the refusal of parameters that no question has.
var ErrParameter = errors.New("bad parameter")

// A Kind is what is asked for.
type Kind string

// The kinds.
const (
	Histogram Kind = "histogram" // how many have each of k answers; of two, a count
	Sum       Kind = "sum"       // of numbers between two bounds, rounded at random to k levels
)

// Limits of a question.
const (
	MaxAnswers = 4096
	MaxFakes   = 64
	MaxBatch   = 100_000
)

// A Question is all that respondents, shufflers and the analyzer must have alike. Its digest
// is bound into every seal and token.
type Question struct {
	Kind    Kind            `json:"kind"`
	Answers int             `json:"answers"`         // k: answers, or levels of a number
	Lower   *big.Rat        `json:"lower,omitempty"` // of a sum
	Upper   *big.Rat        `json:"upper,omitempty"`
	Epsilon privacy.Epsilon `json:"epsilon"` // ε₀, of a bundle by itself
	Fakes   int             `json:"fakes"`   // of each respondent
	Delta   privacy.Delta   `json:"delta"`   // of certificates

	Batch     int    `json:"batch"`     // a shuffler passes on at least so many respondents together
	Colluders int    `json:"colluders"` // at most so many of those who are enrolled collude: declared
	Tokens    bool   `json:"tokens"`    // shufflers verify a token of each enrolled respondent
	Crowds    *Crowd `json:"crowds,omitempty"`
}

// A Crowd is how small groups are withheld by the last shuffler: see [Crowd.Survivors].
type Crowd struct {
	Epsilon   privacy.Epsilon `json:"epsilon"`   // of the noise on the size of one crowd
	Delta     privacy.Delta   `json:"delta"`     // and its δ
	Threshold int             `json:"threshold"` // at least 2
}

// A Protocol is a question that has been checked, with its randomizer. It is immutable and
// safe for concurrent use.
type Protocol struct {
	Question
	response *mechanism.RandomizedResponse
	truth    *big.Rat // p, of the true answer
	lie      *big.Rat // q, of each other
	digest   [32]byte
	crowd    *withheld
}

// New checks a question.
func New(q Question) (*Protocol, error) {
	bad := func(why string) error { return fmt.Errorf("%w: %s", ErrParameter, why) }
	switch {
	case q.Kind != Histogram && q.Kind != Sum:
		return nil, bad("the kind is neither histogram nor sum")
	case q.Answers < 2 || q.Answers > MaxAnswers:
		return nil, bad(fmt.Sprintf("the number of answers is not between 2 and %d", MaxAnswers))
	case q.Fakes < 0 || q.Fakes > MaxFakes:
		return nil, bad(fmt.Sprintf("the number of fakes is not between 0 and %d", MaxFakes))
	case q.Batch < 2 || q.Batch > MaxBatch:
		return nil, bad(fmt.Sprintf("a batch is not of 2 to %d respondents", MaxBatch))
	case q.Colluders < 0 || q.Colluders >= q.Batch-1:
		return nil, bad("fewer than two honest respondents would be in a batch")
	case q.Epsilon.Sign() <= 0 || q.Epsilon.Rat().Cmp(big.NewRat(64, 1)) > 0:
		return nil, bad("epsilon is missing or above 64")
	case q.Delta.Rat().Sign() <= 0 || q.Delta.Rat().Cmp(big.NewRat(1, 10)) > 0:
		return nil, bad("delta is not above 0 and at most 0.1")
	case (q.Kind == Sum) != (q.Lower != nil && q.Upper != nil):
		return nil, bad("a sum has a lower and an upper bound, and a histogram none")
	case q.Kind == Sum && q.Lower.Cmp(q.Upper) >= 0:
		return nil, bad("the lower bound is not below the upper one")
	}
	r, err := mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Answers: q.Answers, Epsilon: q.Epsilon})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	p := &Protocol{Question: q, response: r, truth: r.Truth()}
	p.lie = new(big.Rat).Sub(big.NewRat(1, 1), p.truth)
	p.lie.Quo(p.lie, big.NewRat(int64(q.Answers-1), 1))
	if q.Crowds != nil {
		if p.crowd, err = newWithheld(*q.Crowds); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("write question: %w", err)
	}
	p.digest = sha256.Sum256(text)
	return p, nil
}

// Digest identifies the question.
func (p *Protocol) Digest() [32]byte { return p.digest }

// Messages is how many a bundle has.
func (p *Protocol) Messages() int { return 1 + p.Fakes }

// Event is what a bundle reveals by itself.
func (p *Protocol) Event() privacy.Event { return p.response.Event() }

// Respond returns the messages of a respondent who has the answer: 0 to k−1. An answer that
// is none of them is replaced by a random one, so that every input has a bundle.
//
// Theorem. The first message is ε₀-DP by randomized response, the fakes are drawn without the
// answer, so that the bundle is ε₀-DP.
func (p *Protocol) Respond(s *noise.Stream, answer int) ([]int, error) {
	told, err := p.response.Respond(s, answer)
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	messages := []int{told}
	for range p.Fakes {
		fake, err := s.Index(p.Answers)
		if err != nil {
			return nil, fmt.Errorf("draw fake: %w", err)
		}
		messages = append(messages, fake)
	}
	return messages, nil
}

// Level rounds a number at random to one of the k levels that divide the range evenly, so
// that the mean is the number itself. Numbers outside the range are those of its nearer end;
// what is no number is a random level.
func (p *Protocol) Level(s *noise.Stream, x *big.Rat) (int, error) {
	if p.Kind != Sum {
		return 0, fmt.Errorf("%w: levels are of a sum", ErrParameter)
	}
	if x == nil {
		return s.Index(p.Answers)
	}
	steps := int64(p.Answers - 1)
	at := new(big.Rat).Sub(x, p.Lower)
	at.Mul(at, big.NewRat(steps, 1)).Quo(at, new(big.Rat).Sub(p.Upper, p.Lower))
	if at.Sign() <= 0 {
		return 0, nil
	}
	if at.Cmp(big.NewRat(steps, 1)) >= 0 {
		return int(steps), nil
	}
	whole := new(big.Int).Quo(at.Num(), at.Denom())
	up, err := noise.Bernoulli(s, at.Sub(at, new(big.Rat).SetInt(whole)))
	if err != nil {
		return 0, fmt.Errorf("round number: %w", err)
	}
	level := int(whole.Int64())
	if up {
		level++
	}
	return level, nil
}

// Permute brings things into a uniformly random order: each order has the same probability,
// exactly, by Fisher and Yates's method over exact draws.
func Permute[T any](s *noise.Stream, things []T) error {
	for i := len(things) - 1; i > 0; i-- {
		j, err := s.Index(i + 1)
		if err != nil {
			return fmt.Errorf("permute: %w", err)
		}
		things[i], things[j] = things[j], things[i]
	}
	return nil
}
