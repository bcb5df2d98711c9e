// Package apart holds wrong programs whose runs part on private data.
package apart

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// Tossed tosses a coin in one run, and shows it.
//
// want: refuted
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func Tossed(n int64, eps, delta float64, src *noise.Source) int {
	if n > 0 {
		if src.Bernoulli(0.5) {
			return 1
		}
	}
	return 0
}

// TossedNot has the coin the other way.
//
// want: refuted
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func TossedNot(n int64, eps, delta float64, src *noise.Source) int {
	if n > 0 {
		if !src.Bernoulli(0.5) {
			return 1
		}
	}
	return 0
}

// Noise has noise in one run, of which either sign is as likely.
//
// want: refuted
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func Noise(n int64, eps, delta float64, src *noise.Source) int {
	if n > 0 {
		if float64(n)+src.Laplace(1/eps) > 1 {
			return 1
		}
	}
	return 0
}

// Both has a threshold for the one run, and tells of the other.
//
// want: refuted
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func Both(n int64, eps, delta float64, src *noise.Source) int {
	if n > 0 {
		if float64(n)+src.Laplace(1/eps) > 1+math.Log(1/(2*delta))/eps {
			return 1
		}
		return 2
	}
	return 0
}

// Twice tests twice what one delta pays for.
//
// want: refuted
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost 2 * eps, delta
func Twice(n int64, eps, delta float64, src *noise.Source) (int, int) {
	first, second := 0, 0
	if n > 0 {
		if float64(n)+src.Laplace(1/eps) > 1+math.Log(1/(2*delta))/eps {
			first = 1
		}
		if float64(n)+src.Laplace(1/eps) > 1+math.Log(1/(2*delta))/eps {
			second = 1
		}
	}
	return first, second
}

// Lower has a threshold that is too low by the unit.
//
// want: refuted
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.5
//dp:cost eps, delta
func Lower(n int64, eps, delta float64, src *noise.Source) int {
	if n > 0 {
		if float64(n)+src.Laplace(1/eps) > math.Log(1/(2*delta))/eps {
			return 1
		}
	}
	return 0
}

// Square compares what may move by any distance.
//
// want: refuted
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func Square(n int64, eps, delta float64, src *noise.Source) int {
	if n*n > 9 {
		if float64(n*n)+src.Laplace(1/eps) > 10+math.Log(1/(2*delta))/eps {
			return 1
		}
	}
	return 0
}
