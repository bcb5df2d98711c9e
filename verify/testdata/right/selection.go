// Package right holds the programs of CheckDP, ShadowDP, LightDP and the coupling
// literature that keep their claims.
package right

import "github.com/discreet-dp/discreet/noise"

// NoisyMax is report noisy max: Dwork and Roth 2014, Claim 3.9.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMax(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMaxInt is NoisyMax over the integers: of equal noisy counts the first wins.
//
// want: proved
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMaxInt(counts []int64, eps float64, src *noise.Source) int {
	arg, best := -1, int64(0)
	for i, x := range counts {
		noisy := x + src.DiscreteLaplace(2/eps)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMaxGrid is NoisyMax on the grid of its noise.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps >= 1e-9
//dp:cost eps
func NoisyMaxGrid(q []float64, eps float64, src *noise.Source) int {
	scale := 2 / eps
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := src.Round(x, scale) + src.Laplace(scale)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMaxExponential is NoisyMax with one-sided noise: Dwork and Roth 2014, Section
// 3.3; also called the exponential mechanism by noise (Barthe et al. 2016).
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMaxExponential(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Exponential(2/eps)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMaxMonotone needs half of the noise where all queries grow.
//
// want: proved
//
//dp:adjacent each(q) in [0, 1]
//dp:requires eps > 0
//dp:cost eps
func NoisyMaxMonotone(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(1/eps)
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// ExponentialMechanism is that of McSherry and Talwar 2007.
//
// want: proved
//
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0 && len(scores) > 0
//dp:cost eps
func ExponentialMechanism(scores []float64, eps float64, src *noise.Source) int {
	return src.Choose(scores, eps)
}
