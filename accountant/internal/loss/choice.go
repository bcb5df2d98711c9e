package loss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/privacy"
)

// A chooser returns a pair, or a profile, of choices that an event describes.
type chooser func(privacy.Event) (Pair, error)

// choice returns the pair of a choice between two candidates, both ways in which a unit
// may move their scores.
//
// The exponential mechanism takes the first with probability 1/(1+e^-x), x the
// difference of their scores in units of 2/ε, and a unit moves x by ε: from any x. The
// losses are t and t-ε for any t between 0 and ε (Dong, Durfee and Rogers 2020, Section 3:
// generalized randomized response), of which part is t/ε.
//
// Permute and flip takes the worse of two with probability e^-x/2: that the first wins is
// that Laplace noise of scale 1 is below x, for x of any sign, and a unit moves x by ε
// (McKenna and Sheldon 2020, Algorithm 1). So does the largest of scores with exponential
// noise (Ding et al. 2021). Part is where the threshold lies between its two places.
func choice(e privacy.Event, part float64) (Pair, error) {
	switch e := e.(type) {
	case privacy.Exponential:
		return generalizedResponse(e.Epsilon.Float64(), part)
	case privacy.PermuteAndFlip:
		return laplaceSide(e.Epsilon.Float64(), part)
	case privacy.NoisyMax:
		return laplaceSide(e.Epsilon.Float64(), part)
	}
	return nil, unsupported("it is no choice")
}

// anyChoice returns the profile of which choice has some choice at each ε >= 0: of bounded
// range that which is proved for all of them (see BoundedRange), of thresholds that of
// the Laplace noise, as its ratio of densities rises.
func anyChoice(e privacy.Event) (Pair, error) {
	switch e := e.(type) {
	case privacy.Exponential:
		return BoundedRange(e.Epsilon.Float64())
	case privacy.PermuteAndFlip:
		return Laplace(e.Epsilon.Float64())
	case privacy.NoisyMax:
		return Laplace(e.Epsilon.Float64())
	}
	return nil, unsupported("it is no choice")
}

// generalizedResponse has the losses t and t-e: P of the first is (1-e^(t-e))/(1-e^-e).
func generalizedResponse(e, part float64) (Pair, error) {
	t := part * e
	if !positive(e) || e > 1e6 || !(t > 0 && t < e) {
		return nil, fmt.Errorf("choice of epsilon %v at %v: want 0 < epsilon <= 1e6, within", e, part)
	}
	if part == 0.5 {
		return RandomizedResponse(t)
	}
	return &discrete{
		atoms: []Atom{
			{t - e, t - e + math.Log(math.Expm1(-t)/math.Expm1(-e))},
			{t, math.Log(math.Expm1(t-e) / math.Expm1(-e))},
		},
		step: e,
	}, nil
}

// laplaceSide: P is below the threshold with probability 1-e^-u/2 and Q with e^-v/2, u+v = e.
func laplaceSide(e, part float64) (Pair, error) {
	v := part * e
	u := e - v
	if !positive(e) || e > 1e6 || !(u >= 0 && v >= 0) {
		return nil, fmt.Errorf("choice of epsilon %v at %v: want 0 < epsilon <= 1e6, within", e, part)
	}
	below, above := math.Log1p(-math.Expm1(-u)), math.Log1p(-math.Expm1(-v)) // ln(2-e^-u)
	return &discrete{
		atoms: []Atom{{-u - above, -u - math.Ln2}, {v + below, below - math.Ln2}},
		step:  e + below + above,
	}, nil
}

// HasChoice reports whether Below of an event depends on the candidates of a choice.
func HasChoice(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.Exponential, privacy.PermuteAndFlip, privacy.NoisyMax:
		return true
	case privacy.Poisson:
		return HasChoice(e.Event)
	case privacy.WithoutReplacement:
		return HasChoice(e.Event)
	}
	return false
}
