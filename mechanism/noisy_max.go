package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// MaxNoise is the law of the noise on scores of which the largest is wanted.
type MaxNoise uint8

const (
	// LaplaceNoise is two-sided. Only with it may gaps be returned.
	LaplaceNoise MaxNoise = iota
	// ExponentialNoise is one-sided: about half of the error.
	ExponentialNoise
	// GumbelNoise makes the choice that of the exponential mechanism, of bounded range,
	// and is drawn as such.
	GumbelNoise
)

// NoisyMaxOptions are those of a choice by scores, and the noise.
type NoisyMaxOptions struct {
	ScoreOptions
	Noise MaxNoise
}

// NoisyMax adds noise to every score and returns the index of the largest.
//
// Theorem (Dwork and Roth 2014, Claim 3.9, with scale 2Δ/ε for scores that are not
// monotone; here over the integers, for scores at most n steps apart, noise of scale
// 2n/ε, and the lowest index among equals). Let o be the outcome. Map noise under which
// D gives o to noise under which its neighbour D' does: add n+s(o)−s'(o), which is at
// least 0 and at most 2n, to the noise of o, and nothing to the others. Then o's noisy
// score has risen by n and no other by more, so o still beats each of those that it
// beat strictly, and each that it tied with. A draw that is larger by at most 2n is
// less likely by a factor of e^ε at most: also one-sided, since the draw does not
// become smaller. If monotone, n/ε is enough: where the scores fall, s(o)−s'(o) <= n
// is enough to add, where they rise n+s(o)−s'(o) <= n.
//
// Gaps (Ding, Wang, Zhang and Kifer 2019). Given the others' noise, let M be
// the least noisy score with which o wins: the largest of the others', plus one step
// where that is before o in the list. M moves by at most n; so a shift of o's noise by
// s(o)−s'(o) + M'−M, of size at most 2n (n if monotone), keeps o and its gap above M.
// (Without the step o might lose a tie after the shift. And the shift may be negative,
// so that this says nothing of one-sided noise.)
//
// A NoisyMax is immutable and safe for concurrent use.
type NoisyMax struct {
	scores
	noise       MaxNoise
	laplace     *noise.DiscreteLaplace
	geometric   *noise.Geometric
	exponential *Exponential
}

// NewNoisyMax returns the mechanism.
func NewNoisyMax(o NoisyMaxOptions) (*NoisyMax, error) {
	e, err := NewExponential(o.ScoreOptions)
	if err != nil {
		return nil, err
	}
	m := &NoisyMax{scores: e.scores, noise: o.Noise, exponential: e}
	m.laplace, m.geometric, err = m.maxNoise(o.Noise, 1)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// maxNoise returns Laplace or one-sided noise of k times the scale; none for Gumbel.
func (s scores) maxNoise(of MaxNoise, k int) (*noise.DiscreteLaplace, *noise.Geometric, error) {
	if of > GumbelNoise {
		return nil, nil, fmt.Errorf("%w: no such noise: %d", ErrParameter, of)
	}
	d, err := stepNoise(new(big.Rat).Mul(s.scale(), big.NewRat(int64(k), 1)), big.NewRat(1, 1))
	if err != nil || of == GumbelNoise {
		return nil, nil, err
	}
	if of == LaplaceNoise {
		return d, nil, nil
	}
	g, err := noise.NewGeometric(d.Scale())
	return nil, g, err
}

// Event is what one choice reveals, with its gap.
func (m *NoisyMax) Event() privacy.Event {
	if m.noise == GumbelNoise {
		return m.exponential.Event()
	}
	return privacy.NoisyMax{Epsilon: m.epsilon}
}

// Bound returns α such that the score of the choice among n candidates is at least
// the best less α, but with probability at most beta: what n draws differ by.
func (m *NoisyMax) Bound(n int, beta *big.Rat) (float64, error) {
	if m.noise != LaplaceNoise {
		return m.logAccuracy(n, beta)
	}
	return m.spread(n, beta, m.laplace)
}

// spread returns twice the bound of n draws, with the step that rounding can cost.
func (s scores) spread(n int, beta *big.Rat, d *noise.DiscreteLaplace) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if n < 1 {
		return 0, fmt.Errorf("%w: there are no candidates", ErrParameter)
	}
	q, err := d.Bound(new(big.Rat).Quo(beta, big.NewRat(int64(n), 1)))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	q.Lsh(q, 1).Add(q, big.NewInt(1))
	return s.grid.upper(new(big.Rat).SetInt(q)), nil
}

// Choose returns the index of one of the candidates.
func (m *NoisyMax) Choose(bits noise.Bits, scores []float64) (int, error) {
	if m.noise == GumbelNoise {
		return m.exponential.Choose(bits, scores)
	}
	s, err := m.round(scores)
	if err != nil {
		return 0, fmt.Errorf("choose: %w", err)
	}
	best, err := m.index(noise.NewStream(bits), s)
	if err != nil {
		return 0, fmt.Errorf("choose: %w", err)
	}
	return best, nil
}

// ChooseWhole is Choose for scores that are whole numbers of any size, where the grid is 1: nothing is
// rounded. They are clamped to ±2^60, by which a score of a neighbour comes to lie no further away, nor on the other side.
func (m *NoisyMax) ChooseWhole(bits noise.Bits, scores []*big.Int) (int, error) {
	if len(scores) == 0 || m.grid.exponent != 0 {
		return 0, fmt.Errorf("choose: %w: there are no candidates, or the grid is not 1", ErrParameter)
	}
	s, most := make([]int64, len(scores)), big.NewInt(maxSteps)
	for i, x := range scores {
		switch {
		case x.CmpAbs(most) <= 0:
			s[i] = x.Int64()
		case x.Sign() > 0:
			s[i] = maxSteps
		default:
			s[i] = -maxSteps
		}
	}
	choose := m.index
	if m.noise == GumbelNoise {
		choose = m.exponential.choose
	}
	best, err := choose(noise.NewStream(bits), s)
	if err != nil {
		return 0, fmt.Errorf("choose: %w", err)
	}
	return best, nil
}

// Scale returns by how much a score must fall for its candidate to be less likely by a factor of e: of the exponential mechanism and of
// one-sided noise exactly, in the score's own unit.
func (m *NoisyMax) Scale() *big.Rat {
	return new(big.Rat).Mul(m.scale(), m.grid.step())
}

// ChooseGap returns also the gap to the runner-up: by how much the noisy score of the
// choice could have been less. With one candidate it is +Inf. The noise must be
// LaplaceNoise.
func (m *NoisyMax) ChooseGap(bits noise.Bits, scores []float64) (int, float64, error) {
	if m.noise != LaplaceNoise {
		return 0, 0, fmt.Errorf("choose: %w: only Laplace noise has gaps", ErrParameter)
	}
	s, err := m.round(scores)
	if err != nil {
		return 0, 0, fmt.Errorf("choose: %w", err)
	}
	lead := m.lead
	if m.monotone() {
		lead = m.leadMonotone
	}
	best, gap, err := lead(noise.NewStream(bits), s)
	if err != nil {
		return 0, 0, fmt.Errorf("choose: %w", err)
	}
	if len(s) == 1 {
		return best, math.Inf(1), nil
	}
	return best, m.grid.float(gap), nil
}

// index is the mechanism over whole numbers, under the claim that the options allow.
// Neighbours whose scores are n steps apart are linked by n pairs that are one step
// apart, so that claims for one step are enough.
func (m *NoisyMax) index(stream *noise.Stream, s []int64) (int, error) {
	switch monotone := m.monotone(); {
	case m.geometric == nil && monotone:
		return m.twoSidedMonotone(stream, s)
	case m.geometric == nil:
		return m.twoSided(stream, s)
	case monotone:
		return m.oneSidedMonotone(stream, s)
	}
	return m.oneSided(stream, s)
}

// twoSided is the mechanism with Laplace noise.
//
//dp:adjacent each(s) <= 1
//dp:cost 2/scale(m.laplace)
func (m *NoisyMax) twoSided(stream *noise.Stream, s []int64) (int, error) {
	best, most := -1, int64(0)
	for i, x := range s {
		k, err := m.laplace.Int64(stream)
		if err != nil {
			return 0, err
		}
		if best < 0 || x+k > most {
			best, most = i, x+k
		}
	}
	return best, nil
}

// twoSidedMonotone is twoSided for scores that all rise or all fall.
//
//dp:adjacent each(s) in [0, 1]
//dp:cost 1/scale(m.laplace)
func (m *NoisyMax) twoSidedMonotone(stream *noise.Stream, s []int64) (int, error) {
	return m.twoSided(stream, s)
}

// lead is twoSided with the gap: by how much the noisy score of the choice could have been
// less. With one candidate it is that score.
//
//dp:adjacent each(s) <= 1
//dp:cost 2/scale(m.laplace)
func (m *NoisyMax) lead(stream *noise.Stream, s []int64) (int, int64, error) {
	best, most, least := 0, int64(0), int64(0)
	for i, x := range s {
		k, err := m.laplace.Int64(stream)
		if err != nil {
			return 0, 0, err
		}
		switch noisy := x + k; {
		case i == 0:
			most = noisy
		case noisy > most:
			best, most, least = i, noisy, most+1
		case i == 1 || noisy > least:
			least = noisy
		}
	}
	return best, most - least, nil
}

// leadMonotone is lead for scores that all rise or all fall.
//
//dp:adjacent each(s) in [0, 1]
//dp:cost 1/scale(m.laplace)
func (m *NoisyMax) leadMonotone(stream *noise.Stream, s []int64) (int, int64, error) {
	return m.lead(stream, s)
}

// oneSided is the mechanism with one-sided noise.
//
//dp:adjacent each(s) <= 1
//dp:cost 2/scale(m.geometric)
func (m *NoisyMax) oneSided(stream *noise.Stream, s []int64) (int, error) {
	best, most := -1, int64(0)
	for i, x := range s {
		k, err := m.geometric.Int64(stream)
		if err != nil {
			return 0, err
		}
		if best < 0 || x+k > most {
			best, most = i, x+k
		}
	}
	return best, nil
}

// oneSidedMonotone is oneSided for scores that all rise or all fall.
//
//dp:adjacent each(s) in [0, 1]
//dp:cost 1/scale(m.geometric)
func (m *NoisyMax) oneSidedMonotone(stream *noise.Stream, s []int64) (int, error) {
	return m.oneSided(stream, s)
}
