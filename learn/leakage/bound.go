package leakage

import (
	"cmp"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/noise"
)

// GuessOptions say what a one-run audit guesses and at which confidence.
type GuessOptions struct {
	// Guesses are how many canaries are guessed, half of them the highest scores as in, half the
	// lowest as out; the others are passed over. Fixed beforehand: a number that is chosen by the
	// scores voids the bound. 0: all n except 5·√n in the middle, and at least half of them. The
	// number that is in is known only to within about √n/2, and those in the middle are the hardest
	// to guess.
	Guesses    int
	Delta      float64
	Confidence float64 // 0: 0.95
	// Bits decide between canaries whose scores tie; nil: the system's.
	Bits noise.Bits
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
// released. In which order the canaries stand is of no account: those whose scores tie
// are put in order by lot. Where all of them tie, nothing is proved.
func Guess(scores []float64, in []bool, o GuessOptions) (*Bound, error) {
	o.Confidence = cmp.Or(o.Confidence, 0.95)
	if o.Guesses == 0 {
		n := float64(len(scores))
		o.Guesses = max(1, int(max(n/2, n-5*math.Sqrt(n))))
	}
	if len(scores) != len(in) || o.Guesses < 1 || o.Guesses > len(scores) {
		return nil, bad("%d guesses by %d scores of %d canaries", o.Guesses, len(scores), len(in))
	}
	b := &Bound{Canaries: len(in), Guesses: o.Guesses, Delta: o.Delta, Confidence: o.Confidence}
	order, tied, err := ranked(scores, o.Bits)
	if err != nil {
		return nil, err
	}
	if b.Correct = correct(order, in, o.Guesses); tied {
		// Scores are tied: guesses are coin flips. Each random order would give a valid
		// bound, but choosing the best of many orders would not.
		return b, nil
	}
	if b.Epsilon, err = audit.OneRunEpsilon(b.Canaries, b.Guesses, b.Correct, o.Delta, o.Confidence); err != nil {
		return nil, err
	}
	if b.Mu, err = audit.OneRunMu(b.Canaries, b.Guesses, b.Correct, o.Confidence); err != nil {
		return nil, err
	}
	return b, nil
}

// ranked is the order of falling scores, and whether all of them tie. What ties stands in
// random order: places may have seen the coins, as where members come first. Numbers
// of 64 bits tie themselves with probability n²/2^65.
func ranked(scores []float64, bits noise.Bits) (order []int, tied bool, err error) {
	if bits == nil {
		bits = noise.System()
	}
	order = make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	if order, err = shuffled(bits, order); err != nil {
		return nil, false, err
	}
	worth := func(i int) float64 {
		if math.IsNaN(scores[i]) {
			return math.Inf(-1)
		}
		return scores[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(worth(j), worth(i)) })
	return order, worth(order[0]) == worth(order[len(order)-1]), nil
}

// correct counts the right ones of a fixed number of guesses: that the first half of them
// is in and the last half is out.
func correct(order []int, in []bool, guesses int) (right int) {
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

// Runs counts guesses of independent runs: in each, one canary was in by a fair coin or
// not, and the score is of that run. The first half of the runs chooses the threshold,
// the one at which their counts are worth most; the second half is counted at it, so
// that the choice costs no confidence.
//
// The runs must be independent: many examples of one run are not, and are Guess's.
func Runs(scores []float64, in []bool, worth func(audit.Counts) float64) (audit.Counts, error) {
	if len(scores) != len(in) || len(in) < 4 || worth == nil {
		return audit.Counts{}, bad("%d scores of %d runs", len(scores), len(in))
	}
	half := len(scores) / 2
	threshold, best := math.Inf(1), math.Inf(-1)
	for _, t := range scores[:half] {
		if w := worth(counts(scores[:half], in[:half], t)); w > best {
			threshold, best = t, w
		}
	}
	return counts(scores[half:], in[half:], threshold), nil
}

// EpsilonOfRuns is the ε that independent runs prove at δ with a confidence, by Clopper
// and Pearson (audit.Counts), the threshold chosen for it on half of them.
func EpsilonOfRuns(scores []float64, in []bool, delta, confidence float64) (audit.Counts, float64, error) {
	c, err := Runs(scores, in, func(c audit.Counts) float64 {
		e, err := c.EpsilonLowerBound(delta, confidence)
		if err != nil {
			return math.Inf(-1)
		}
		return e + 1e-6*c.Success() // breaks ties at epsilon 0 by the share of right guesses
	})
	if err != nil {
		return audit.Counts{}, 0, err
	}
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
