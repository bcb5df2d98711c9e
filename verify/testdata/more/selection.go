// Package more holds programs from the literature beyond the usual benchmarks, right
// ones beside twins that are subtly wrong.
package more

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// NoisyMin is report noisy min: NoisyMax in a mirror.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMin(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if arg < 0 || noisy < best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMinOneSided subtracts one-sided noise, so that the winner can sink.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMinOneSided(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x - src.Exponential(2/eps)
		if arg < 0 || noisy < best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMinReturned returns the noisy minimum.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMinReturned(q []float64, eps float64, src *noise.Source) (int, float64) {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if arg < 0 || noisy < best {
			arg, best = i, noisy
		}
	}
	return arg, best
}

// TopTwoAtScale2 is one-shot noisy top-k for k = 2 with the noise of noisy max: too little for two winners.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TopTwoAtScale2(q []float64, eps float64, src *noise.Source) (int, int) {
	first, second := -1, -1
	most, next := 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if first < 0 || noisy > most {
			second, next = first, most
			first, most = i, noisy
		} else if second < 0 || noisy > next {
			second, next = i, noisy
		}
	}
	return first, second
}

// PeeledTwo is noisy top-k by k rounds of noisy max, for k = 2: each round costs eps/2.
//
// PeeledRaw peels the largest query itself off in its second round.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PeeledRaw(q []float64, eps float64, src *noise.Source) (int, int) {
	first, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(4/eps)
		if first < 0 || noisy > best {
			first, best = i, noisy
		}
	}
	second, most := -1, 0.0
	for i, x := range q {
		if i != first && (second < 0 || x > most) {
			second, most = i, x
		}
	}
	return first, second
}

// MaxThenValue chooses, and answers the choice with fresh noise (Dwork and Roth 2014,
// Section 3.3): half of eps for each.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func MaxThenValue(q []float64, eps float64, src *noise.Source) (int, float64) {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(4/eps)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg, q[arg] + src.Laplace(2/eps)
}

// MaxThenValueTwice spends eps on each.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func MaxThenValueTwice(q []float64, eps float64, src *noise.Source) (int, float64) {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg, q[arg] + src.Laplace(1/eps)
}

// MaxGapHalfNoise has half of the noise.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func MaxGapHalfNoise(q []float64, eps float64, src *noise.Source) (int, float64) {
	arg, most, next := -1, 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(1/eps)
		if arg < 0 {
			arg, most = i, noisy
		} else if noisy > most {
			arg, most, next = i, noisy, most
		} else if i == 1 || noisy > next {
			next = noisy
		}
	}
	return arg, most - next
}

// PermuteAndFlip2 is permute-and-flip for two candidates: McKenna and Sheldon 2020,
// Algorithm 1. What is flipped second is the best if the first was not.
//
// want: unknown (coins with private odds)
//
//dp:adjacent |a| <= 1
//dp:adjacent |b| <= 1
//dp:requires eps > 0
//dp:cost eps
func PermuteAndFlip2(a, b, eps float64, src *noise.Source) int {
	best := max(a, b)
	if src.Bernoulli(0.5) {
		if src.Bernoulli(math.Exp(eps / 2 * (a - best))) {
			return 0
		}
		return 1
	}
	if src.Bernoulli(math.Exp(eps / 2 * (b - best))) {
		return 1
	}
	return 0
}

// FlipInOrder flips without permuting: the second candidate never wins where the first is
// as good.
//
// want: refuted
//
//dp:adjacent |a| <= 1
//dp:adjacent |b| <= 1
//dp:requires eps > 0
//dp:cost eps
func FlipInOrder(a, b, eps float64, src *noise.Source) int {
	best := max(a, b)
	if src.Bernoulli(math.Exp(eps / 2 * (a - best))) {
		return 0
	}
	return 1
}

// StableSelection returns the largest query's index where it leads by far: Smith and
// Thakurta 2013. The lead moves by 2; where the leaders differ it is at most 2, and noise of
// scale 2/eps exceeds ln(1/2δ) times that with probability δ.
//
// StableSelectionNarrow forgets that the lead moves by 2: its noise is for 1.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.5
//dp:cost eps, delta
func StableSelectionNarrow(q []float64, eps, delta float64, src *noise.Source) int {
	arg, most, next := -1, 0.0, 0.0
	for i, x := range q {
		if arg < 0 {
			arg, most = i, x
		} else if x > most {
			arg, most, next = i, x, most
		} else if i == 1 || x > next {
			next = x
		}
	}
	if len(q) > 1 && most-next+src.Laplace(1/eps) > 1+1/eps*math.Log(1/(2*delta)) {
		return arg
	}
	return -1
}
