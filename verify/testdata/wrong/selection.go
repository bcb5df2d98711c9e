// Package wrong holds programs that break their claims, most of them by a mistake that
// was published or is easily made. Each says what is wrong.
package wrong

import "github.com/discreet-dp/discreet/noise"

// BadNoisyMax returns the noisy value that won: CheckDP. Where all queries grow, so
// does it: it costs n·eps/2 for n queries.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BadNoisyMax(q []float64, eps float64, src *noise.Source) float64 {
	best := 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if i == 0 || noisy > best {
			best = noisy
		}
	}
	return best
}

// NoisyMaxHalfNoise has half of the noise, without queries that all grow.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMaxHalfNoise(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(1/eps)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMaxHalfNoiseInt is NoisyMaxHalfNoise over the integers.
//
// want: refuted
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMaxHalfNoiseInt(counts []int64, eps float64, src *noise.Source) int {
	arg, best := -1, int64(0)
	for i, x := range counts {
		noisy := x + src.DiscreteLaplace(1/eps)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMaxSubtracted subtracts one-sided noise and returns the value that won, which is
// never above the largest query.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMaxSubtracted(q []float64, eps float64, src *noise.Source) (int, float64) {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x - src.Exponential(2/eps)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg, best
}

// RawValue returns the query that won, without noise.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func RawValue(q []float64, eps float64, src *noise.Source) float64 {
	value, best := 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if i == 0 || noisy > best {
			value, best = x, noisy
		}
	}
	return value
}

// RawBest compares the queries themselves, and adds noise to nothing but the value.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func RawBest(q []float64, eps float64, src *noise.Source) (int, float64) {
	arg, best := -1, 0.0
	for i, x := range q {
		if arg < 0 || x > best {
			arg, best = i, x
		}
	}
	return arg, best + src.Laplace(1/eps)
}

// ChooseTwice chooses at eps, twice.
//
// want: refuted
//
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0 && len(scores) > 0
//dp:cost eps
func ChooseTwice(scores []float64, eps float64, src *noise.Source) (int, int) {
	return src.Choose(scores, eps), src.Choose(scores, eps)
}

// ChooseSensitive has scores that differ by 2.
//
// want: refuted
//
//dp:adjacent each(scores) <= 2
//dp:requires eps > 0 && len(scores) > 0
//dp:cost eps
func ChooseSensitive(scores []float64, eps float64, src *noise.Source) int {
	return src.Choose(scores, eps)
}
