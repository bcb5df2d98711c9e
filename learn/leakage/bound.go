package leakage

import (
	"cmp"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/audit"
)

// GuessOptions say what a one-run audit guesses and at which confidence.
type GuessOptions struct {
	// Guesses are how many canaries are guessed, half of them the highest scores as
	// in, half the lowest as out; the others are passed over. Fixed beforehand: a
	// number that is chosen by the scores voids the bound. 0: all of them.
	Guesses    int
	Delta      float64
	Confidence float64 // 0: 0.95
}

// A Bound is what one run proves.
type Bound struct {
	Canaries   int     `json:"canaries"`
	Guesses    int     `json:"guesses"`
	Correct    int     `json:"correct"`
	Delta      float64 `json:"delta"`
	Confidence float64 `json:"confidence"`
	// Epsilon is proved at Delta: what was trained is not (ε, δ)-private with less
	// (Steinke, Nasr and Jagielski 2023).
	Epsilon float64 `json:"epsilon"`
	// Mu is proved as well: it is not μ-GDP with less (arXiv 2410.22235). Each of the
	// two holds at Confidence by itself, not both together.
	Mu float64 `json:"mu"`
}

// Guess turns the scores of canaries, each in by its own fair coin, into guesses and
// these into a bound. The scores must not have seen the coins but through what was
// released.
func Guess(scores []float64, in []bool, o GuessOptions) (*Bound, error) {
	o.Confidence = cmp.Or(o.Confidence, 0.95)
	o.Guesses = cmp.Or(o.Guesses, len(scores))
	if len(scores) != len(in) || o.Guesses < 1 || o.Guesses > len(scores) {
		return nil, bad("%d guesses by %d scores of %d canaries", o.Guesses, len(scores), len(in))
	}
	b := &Bound{Canaries: len(in), Guesses: o.Guesses, Correct: correct(scores, in, o.Guesses), Delta: o.Delta, Confidence: o.Confidence}
	var err error
	if b.Epsilon, err = audit.OneRunEpsilon(b.Canaries, b.Guesses, b.Correct, o.Delta, o.Confidence); err != nil {
		return nil, err
	}
	if b.Mu, err = audit.OneRunMu(b.Canaries, b.Guesses, b.Correct, o.Confidence); err != nil {
		return nil, err
	}
	return b, nil
}

// correct counts the right ones of a fixed number of guesses. Ties are broken by
// place: by nothing that the coins have touched.
func correct(scores []float64, in []bool, guesses int) (right int) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	worth := func(i int) float64 {
		if math.IsNaN(scores[i]) {
			return math.Inf(-1)
		}
		return scores[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(worth(j), worth(i)) })
	for _, i := range order[:(guesses+1)/2] {
		if in[i] {
			right++
		}
	}
	for _, i := range order[len(order)-guesses/2:] {
		if !in[i] {
			right++
		}
	}
	return right
}

// Refutes is the largest probability with which a trainer that keeps the trade-off f
// has its canaries guessed so well: the p-value of the claim.
func (b *Bound) Refutes(f audit.TradeOff) float64 {
	return audit.OneRunPValue(f, b.Canaries, b.Guesses, b.Correct)
}

// Runs is what independent runs prove: in each, one canary was in by a fair coin or
// not, and the score is of that run. The first half of the runs chooses the threshold,
// the second is counted at it, by Clopper and Pearson (audit.Counts), so that the
// choice costs no confidence.
//
// The runs must be independent: many examples of one run are not, and are Guess's.
func Runs(scores []float64, in []bool, delta, confidence float64) (audit.Counts, float64, error) {
	if len(scores) != len(in) || len(in) < 4 {
		return audit.Counts{}, 0, bad("%d scores of %d runs", len(scores), len(in))
	}
	half := len(scores) / 2
	threshold, best := math.Inf(1), -1.0
	for _, t := range scores[:half] {
		c := counts(scores[:half], in[:half], t)
		e, err := c.EpsilonLowerBound(delta, confidence)
		if err != nil {
			return audit.Counts{}, 0, err
		}
		// The bound first; among those that prove nothing, the better guess.
		if worth := e + 1e-6*c.Success(); worth > best {
			threshold, best = t, worth
		}
	}
	c := counts(scores[half:], in[half:], threshold)
	e, err := c.EpsilonLowerBound(delta, confidence)
	return c, e, err
}

func counts(scores []float64, in []bool, threshold float64) (c audit.Counts) {
	for i, s := range scores {
		positive := s >= threshold
		if in[i] {
			c.Members++
			if positive {
				c.TruePositives++
			}
			continue
		}
		c.Others++
		if positive {
			c.FalsePositives++
		}
	}
	return c
}
