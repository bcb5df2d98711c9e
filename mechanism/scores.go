package mechanism

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ScoreOptions say how scores depend on the data, and what a choice by them may
// reveal.
type ScoreOptions struct {
	// Sensitivity is the most by which one score changes between neighbours.
	// Required.
	Sensitivity *big.Rat
	// Epsilon is the guarantee of all that is returned. Required.
	Epsilon privacy.Epsilon
	// Monotone promises that between any two neighbours all scores change in the
	// same direction, as counts do when a unit is added. It doubles the accuracy.
	Monotone bool
	// Grid is a power of two whose multiples the scores are rounded to; if nil,
	// the sensitivity is between 2^20 and 2^21 steps. With a grid of 1, whole
	// scores stay what they are.
	//
	// Scores are clamped to ±2^60 steps. NaN counts as the lowest score, so that what
	// the data are makes no error; like an infinity, a score is NaN for both neighbours
	// or for neither.
	Grid *big.Rat
}

// scorePlaces makes the default grid of scores: fine enough that rounding costs no
// privacy or accuracy to speak of, coarse enough for 2^39 sensitivities.
const scorePlaces = 20

// scores puts scores on a grid, and knows by how many steps they may change.
type scores struct {
	grid    grid
	steps   *big.Rat // the sensitivity on the grid, ⌈Δ/g⌉
	factor  *big.Rat // 2; 1 if monotone
	epsilon privacy.Epsilon
}

func newScores(o ScoreOptions) (scores, error) {
	if err := checkPositive("the sensitivity", o.Sensitivity); err != nil {
		return scores{}, err
	}
	if err := checkPositive("epsilon", o.Epsilon.Rat()); err != nil {
		return scores{}, err
	}
	g, err := newGrid(o.Grid, o.Sensitivity, scorePlaces)
	if err != nil {
		return scores{}, err
	}
	s := scores{
		grid:    g,
		steps:   new(big.Rat).SetInt(numeric.Ceil(g.in(o.Sensitivity))),
		factor:  big.NewRat(2, 1),
		epsilon: o.Epsilon,
	}
	if s.steps.Num().BitLen() > 60 {
		return scores{}, fmt.Errorf("%w: the grid is too fine for the sensitivity", ErrParameter)
	}
	if o.Monotone {
		s.factor.SetInt64(1)
	}
	return s, nil
}

func (s scores) monotone() bool { return s.factor.Cmp(big.NewRat(1, 1)) == 0 }

// scale returns by how many steps a score must fall for the probability of its
// candidate to fall by a factor e: 2Δ/ε, or Δ/ε if monotone.
func (s scores) scale() *big.Rat {
	r := new(big.Rat).Mul(s.steps, s.factor)
	return r.Quo(r, s.epsilon.Rat())
}

// round returns the scores of a list, which must not be empty, in steps.
func (s scores) round(list []float64) ([]int64, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: there are no candidates", ErrParameter)
	}
	rounded := make([]int64, len(list))
	for i, x := range list {
		rounded[i] = s.grid.round(x)
	}
	return rounded, nil
}

// logAccuracy returns scale·ln(n/β), with the step that rounding two scores can
// cost.
func (s scores) logAccuracy(n int, beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if n < 1 {
		return 0, fmt.Errorf("%w: there are no candidates", ErrParameter)
	}
	fall := numeric.Of(s.scale()).Mul(logOver(int64(n), beta)).Hi()
	return s.grid.upper(fall.Add(fall, big.NewRat(1, 1))), nil
}

// maxScale bounds noise in steps, such that a draw beyond an int64
// (noise.ErrRange) has probability below exp(−2048).
const maxScale = 1 << 50

// stepNoise returns noise of scale steps/epsilon.
func stepNoise(steps, epsilon *big.Rat) (*noise.DiscreteLaplace, error) {
	scale := new(big.Rat).Quo(steps, epsilon)
	if scale.Cmp(big.NewRat(maxScale, 1)) > 0 {
		return nil, fmt.Errorf("%w: the noise has more than 2^50 steps: epsilon is too small, or the grid too fine", ErrParameter)
	}
	d, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return nil, fmt.Errorf("calibrate noise: %w: %w", ErrParameter, err)
	}
	return d, nil
}
