package fresh

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// FourKinds is a histogram in an array.
//
// want: proved
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func FourKinds(rows []int, eps float64, src *noise.Source) [4]int64 {
	var counts [4]int64
	for _, r := range rows {
		if 0 <= r && r < 4 {
			counts[r]++
		}
	}
	for i := range counts {
		counts[i] += src.DiscreteLaplace(1 / eps)
	}
	return counts
}

// FourKindsTwice counts a row from both ends.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func FourKindsTwice(rows []int, eps float64, src *noise.Source) [4]int64 {
	var counts [4]int64
	for _, r := range rows {
		if 0 <= r && r < 4 {
			counts[r]++
			counts[3-r]++
		}
	}
	for i := range counts {
		counts[i] += src.DiscreteLaplace(1 / eps)
	}
	return counts
}

// FourKindsBefore returns a copy that was made before the noise.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func FourKindsBefore(rows []int, eps float64, src *noise.Source) [4]int64 {
	var counts [4]int64
	for _, r := range rows {
		if 0 <= r && r < 4 {
			counts[r]++
		}
	}
	noisy := counts
	for i := range noisy {
		noisy[i] += src.DiscreteLaplace(1 / eps)
	}
	return counts
}

// NoAndYes says how often the answer was no, and whether it was yes.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoAndYes(q []float64, t, eps float64, src *noise.Source) (tally [2]int) {
	t += src.Laplace(2 / eps)
	for _, x := range q {
		if x+src.Laplace(4/eps) > t {
			tally[1]++
			return tally
		}
		tally[0]++
	}
	return tally
}

// NoAndYesBare compares the queries themselves.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoAndYesBare(q []float64, t, eps float64, src *noise.Source) (tally [2]int) {
	t += src.Laplace(2 / eps)
	for _, x := range q {
		if x > t {
			tally[1]++
			return tally
		}
		tally[0]++
	}
	return tally
}

// StableTold tells the largest where it is far ahead, with a lead that moves by two and is
// taken to move by one.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.5 && len(q) > 1
//dp:cost eps, delta
func StableTold(q []float64, eps, delta float64, src *noise.Source) int {
	at, first, second := -1, math.Inf(-1), math.Inf(-1)
	for i, x := range q {
		if x > first {
			at, first, second = i, x, first
		} else if x > second {
			second = x
		}
	}
	if first-second+src.Laplace(1/eps) > 1+math.Log(1/(2*delta))/eps {
		return at
	}
	return -1
}
