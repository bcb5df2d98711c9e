package shuffle

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/proportion"
)

// An Estimate is what messages tell of those who sent them. It is computed from messages
// alone, and so reveals nothing more.
type Estimate struct {
	Respondents int64 `json:"respondents"`
	// Counts are how many have each answer (of a sum, each level), without bias, and so at
	// times negative. Each of Low and High holds its count but with probability Beta.
	Counts []float64 `json:"counts"`
	Low    []float64 `json:"low"`
	High   []float64 `json:"high"`
	// Sum is that of the numbers, with its interval; nil of a histogram.
	Sum *Interval `json:"sum,omitempty"`
}

// An Interval is a number, without bias, and bounds of the true one.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Estimate reads how often each answer was told by the given number of respondents, all of
// whose messages are counted. Intervals fail with probability beta each, for any answers.
//
// A message for an answer is a fair draw of the question's laws: of n respondents n_v of whom
// have answer v, the mean of its count is n_v·p + (n−n_v)·q + n·fakes/k. The messages are
// independent, and bounds of their mean (package proportion: Clopper and Pearson's, extended
// to unequal trials by Hoeffding 1956) are bounds of n_v.
//
// Messages that could not be read are missing from told. Each could have been any answer: a low
// bound takes them for other answers, a high one for this, a count for a share of 1/k, which
// may be biased.
func (p *Protocol) Estimate(told []int64, respondents int64, beta float64) (*Estimate, error) {
	if len(told) != p.Answers || respondents < 1 || !(beta > 0 && beta < 1) {
		return nil, fmt.Errorf("%w: counts of %d answers, respondents and a beta are wanted", ErrParameter, p.Answers)
	}
	trials, total := respondents*int64(p.Messages()), int64(0)
	for _, t := range told {
		if t < 0 {
			return nil, fmt.Errorf("%w: a count is negative", ErrParameter)
		}
		total += t
	}
	missing := trials - total
	if missing < 0 {
		return nil, fmt.Errorf("%w: %d messages are more than those of %d respondents", ErrParameter, total, respondents)
	}
	n := float64(respondents)
	shift, slope := p.line()
	e := &Estimate{Respondents: respondents}
	bound := func(mean float64) float64 { return min(max((mean*float64(trials)-n*shift)/slope, 0), n) }
	for _, t := range told {
		low, _ := proportion.Bounds(t, trials, beta)
		_, high := proportion.Bounds(t+missing, trials, beta)
		e.Counts = append(e.Counts, (float64(t)+float64(missing)/float64(p.Answers)-n*shift)/slope)
		e.Low, e.High = append(e.Low, bound(low)), append(e.High, bound(high))
	}
	if p.Kind == Sum {
		e.Sum = p.sum(told, respondents, trials, missing, beta)
	}
	return e, nil
}

// line is the mean of an answer's count of one respondent who has another one, and how much
// more it is of one who has it.
func (p *Protocol) line() (shift, slope float64) {
	q, _ := p.lie.Float64()
	truth, _ := p.truth.Float64()
	return q + float64(p.Fakes)/float64(p.Answers), truth - q
}

// sum estimates Σx. A message's score is its level over k−1, from 0 to 1; with Σ_v v = k(k−1)/2
// the mean of all scores together is Σ_i y_i·(p−q) + n·(q + fakes/k)·k/2, of numbers y_i in
// units of the range. The rounding to levels is one of the draws.
func (p *Protocol) sum(told []int64, respondents, trials, missing int64, beta float64) *Interval {
	steps, score := float64(p.Answers-1), 0.0
	for v, t := range told {
		score += float64(v) / steps * float64(t)
	}
	n := float64(respondents)
	shift, slope := p.line()
	lower, upper := float(p.Lower), float(p.Upper)
	value := func(score float64) float64 {
		return n*lower + (upper-lower)*(score-n*shift*float64(p.Answers)/2)/slope
	}
	low, _ := proportion.Mean(score/float64(trials), trials, beta)
	_, high := proportion.Mean((score+float64(missing))/float64(trials), trials, beta)
	clamp := func(x float64) float64 { return math.Min(math.Max(x, n*lower), n*upper) }
	return &Interval{value(score + float64(missing)/2), clamp(value(low * float64(trials))), clamp(value(high * float64(trials)))}
}

func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// Deviation is the standard deviation of the count of an answer that the given share of n
// respondents have.
func (p *Protocol) Deviation(n int64, share float64) float64 {
	truth, lie, k := float(p.truth), float(p.lie), float64(p.Answers)
	variance := share*truth*(1-truth) + (1-share)*lie*(1-lie) + float64(p.Fakes)/k*(1-1/k)
	_, slope := p.line()
	return math.Sqrt(float64(n)*variance) / slope
}
