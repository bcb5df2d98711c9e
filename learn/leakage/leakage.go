// Package leakage measures what a model reveals about the data that it was trained on.
//
// Three questions, from the cheapest to the strongest. Can one tell from the model who was in the
// training set (membership inference: a threshold on the loss, the loss calibrated by other models,
// and the likelihood ratio of shadow models, LiRA)? Can one extract a text that the training data
// had once (exposure of a planted canary)? And does the trainer keep the promise that it states (a
// one-run audit with canaries that are in by a fair coin)?
//
// It guarantees only what each figure's comment says: an interval of a rate holds for
// the examples given the models, and a lower bound of ε or μ with its confidence, under
// the theorem named beside it. It does not guarantee that a model which withstands these
// attacks withstands others: no attack is an upper bound. And it protects nobody: scores
// are computed from private data in the clear, and are for their owner alone.
package leakage

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// ErrParameter is wrapped by the refusal of what makes no measurement.
var ErrParameter = errors.New("bad leakage parameter")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParameter, fmt.Sprintf(format, args...))
}

// limit bounds log-odds: beyond it a float32 probability is 0 or 1, and what a model
// says no longer distinguishes.
const limit = 60

// logOdds is φ = ln(p/(1−p)) of the probability p = e^−loss that a model gives to an
// example's own label: nearly Gaussian over models where the loss is anything but
// (Carlini et al. 2022). A loss that is no number says nothing, and is 0.
func logOdds(loss float64) float64 {
	switch {
	case math.IsNaN(loss):
		return 0
	case loss <= 0:
		return limit
	}
	return min(limit, max(-limit, -math.Log(math.Expm1(loss))))
}

// lossOf is the loss that has these log-odds.
func lossOf(phi float64) float64 {
	if phi > 0 {
		return math.Log1p(math.Exp(-phi))
	}
	return math.Log1p(math.Exp(phi)) - phi
}

// coins draws n fair bits, which decide who is in.
func coins(bits noise.Bits, n int) ([]bool, error) {
	in := make([]bool, n)
	var word uint64
	for i := range in {
		if i%64 == 0 {
			var err error
			if word, err = bits.Uint64(); err != nil {
				return nil, fmt.Errorf("draw coins: %w", err)
			}
		}
		in[i] = word&1 == 1
		word >>= 1
	}
	return in, nil
}

// rowsOf are the places where in is set, each after from.
func rowsOf(in []bool, from int) []int {
	var rows []int
	for i, b := range in {
		if b {
			rows = append(rows, from+i)
		}
	}
	return rows
}
