package delta

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// StabilityHistogram shows noisy counts of groups above a threshold, one of which a unit
// may have made appear: Korolova et al. 2009; Bun, Nissim and Stemmer 2016.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func StabilityHistogram(counts []int, eps, delta float64, src *noise.Source) []float64 {
	var shown []float64
	for _, n := range counts {
		x := 0.0
		if n > 0 {
			noisy := float64(n) + src.Laplace(1/eps)
			if noisy > 1+math.Log(1/(2*delta))/eps {
				x = noisy
			}
		}
		shown = append(shown, x)
	}
	return shown
}

// Groups is StabilityHistogram in whole numbers: the group of one unit passes if the noise
// is at least ⌈ln(1/δ)/ε⌉.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func Groups(counts []int64, eps, delta float64, src *noise.Source) []int {
	var shown []int
	for i, n := range counts {
		if n == 0 {
			continue
		}
		if float64(n+src.DiscreteLaplace(1/eps)) >= 1+math.Log(1/delta)/eps {
			shown = append(shown, i)
		}
	}
	return shown
}

// GroupsOfMany has units that are in up to k groups: both eps and delta are shared.
//
// want: proved
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost float64(len(counts))*eps, float64(len(counts))*delta
func GroupsOfMany(counts []int64, eps, delta float64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.DiscreteLaplace(1/eps)
			if float64(noisy) > 1+math.Log(1/delta)/eps {
				shown[i] = noisy
			}
		}
	}
	return shown
}

// WithoutTheUnit forgets the unit that made the group: the threshold lacks its 1.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func WithoutTheUnit(counts []int64, eps, delta float64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.DiscreteLaplace(1/eps)
			if float64(noisy) > math.Log(1/delta)/eps {
				shown[i] = noisy
			}
		}
	}
	return shown
}

// HalfThreshold has a threshold for the square root of delta.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func HalfThreshold(counts []int64, eps, delta float64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.DiscreteLaplace(1/eps)
			if float64(noisy) > 1+math.Log(1/delta)/(2*eps) {
				shown[i] = noisy
			}
		}
	}
	return shown
}

// DeltaForgotten claims to be pure.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps
func DeltaForgotten(counts []int64, eps, delta float64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.DiscreteLaplace(1/eps)
			if float64(noisy) > 1+math.Log(1/delta)/eps {
				shown[i] = noisy
			}
		}
	}
	return shown
}

// EmptyShown tells groups that are empty from groups that are hidden.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.1
//dp:cost eps, delta
func EmptyShown(counts []int64, eps, delta float64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.DiscreteLaplace(1/eps)
			if float64(noisy) > 1+math.Log(1/delta)/eps {
				shown[i] = noisy
			}
		} else {
			shown[i] = -1
		}
	}
	return shown
}

// ExactBehind shows the exact count of a group that passes.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.1
//dp:cost eps, delta
func ExactBehind(counts []int64, eps, delta float64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.DiscreteLaplace(1/eps)
			if float64(noisy) > 1+math.Log(1/delta)/eps {
				shown[i] = n
			}
		}
	}
	return shown
}

// TwoUnits has counts that move by 2 at once.
//
// want: refuted
//
//dp:adjacent one(counts) <= 2
//dp:requires eps > 0 && delta > 0 && delta < 0.1
//dp:cost 2*eps, delta
func TwoUnits(counts []int64, eps, delta float64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.DiscreteLaplace(1/eps)
			if float64(noisy) > 1+math.Log(1/delta)/eps {
				shown[i] = noisy
			}
		}
	}
	return shown
}

// ManyForOne claims for units in many groups what one group costs.
//
// want: refuted
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.1
//dp:cost eps, delta
func ManyForOne(counts []int64, eps, delta float64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.DiscreteLaplace(1/eps)
			if float64(noisy) > 1+math.Log(1/delta)/eps {
				shown[i] = noisy
			}
		}
	}
	return shown
}

// EitherAbove tells that the larger of two noises is above a threshold: each may be.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && t > 0
//dp:cost eps, math.Exp(-t * eps)
func EitherAbove(x int64, t, eps float64, src *noise.Source) bool {
	if x > 0 {
		a := src.Laplace(1 / eps)
		b := src.Laplace(1 / eps)
		if a > b {
			if a > t {
				return true
			}
		} else if b > t {
			return true
		}
	}
	return false
}

// EitherAboveOnce pays for one of them.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && t > 0
//dp:cost eps, math.Exp(-t * eps) / 2
func EitherAboveOnce(x int64, t, eps float64, src *noise.Source) bool {
	if x > 0 {
		a := src.Laplace(1 / eps)
		b := src.Laplace(1 / eps)
		if a > b {
			if a > t {
				return true
			}
		} else if b > t {
			return true
		}
	}
	return false
}
