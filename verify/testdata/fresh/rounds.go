package fresh

import "github.com/discreet-dp/discreet/noise"

// RoundsOf runs AboveThreshold in each of its rounds, in a loop within a loop.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && rounds > 0
//dp:cost eps
func RoundsOf(q []float64, t float64, rounds int, eps float64, src *noise.Source) []int {
	e := eps / float64(rounds)
	var found []int
	for range rounds {
		bar := t + src.Laplace(2/e)
		at := -1
		for i, x := range q {
			if x+src.Laplace(4/e) >= bar {
				at = i
				break
			}
		}
		found = append(found, at)
	}
	return found
}

// Dyadic sums blocks of each power of 2: an item is in one block of each level.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && levels > 0
//dp:cost float64(levels) * eps
func Dyadic(xs []int64, levels int, eps float64, src *noise.Source) []int64 {
	var out []int64
	width := 1
	for range levels {
		var sum int64
		for i, x := range xs {
			sum += x
			if (i+1)%width == 0 {
				out = append(out, sum+src.DiscreteLaplace(1/eps))
				sum = 0
			}
		}
		width *= 2
	}
	return out
}

// PeelTop chooses the largest of those left, k times.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func PeelTop(q []float64, k int, eps float64, src *noise.Source) []int {
	taken := make([]bool, len(q))
	var top []int
	for range k {
		best, most := -1, 0.0
		for i, x := range q {
			if taken[i] {
				continue
			}
			noisy := x + src.Laplace(2*float64(k)/eps)
			if best < 0 || noisy > most {
				best, most = i, noisy
			}
		}
		if best < 0 {
			break
		}
		taken[best] = true
		top = append(top, best)
	}
	return top
}

// PeelTopCheap pays for one round.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func PeelTopCheap(q []float64, k int, eps float64, src *noise.Source) []int {
	taken := make([]bool, len(q))
	var top []int
	for range k {
		best, most := -1, 0.0
		for i, x := range q {
			if taken[i] {
				continue
			}
			noisy := x + src.Laplace(1/eps)
			if best < 0 || noisy > most {
				best, most = i, noisy
			}
		}
		if best < 0 {
			break
		}
		taken[best] = true
		top = append(top, best)
	}
	return top
}

// RoundsKeepSum adds to a sum that no round begins anew.
//
// want: refuted
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && levels > 0
//dp:cost float64(levels) * eps
func RoundsKeepSum(xs []int64, levels int, eps float64, src *noise.Source) []int64 {
	var out []int64
	var sum int64
	for range levels {
		for _, x := range xs {
			sum += x
			out = append(out, sum+src.DiscreteLaplace(1/eps))
		}
	}
	return out
}

// RoundsKeepBar draws the threshold once, and shows how far all are above it.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && rounds > 0
//dp:cost eps
func RoundsKeepBar(q []float64, t float64, rounds int, eps float64, src *noise.Source) []bool {
	var above []bool
	bar := 0.0
	for r := range rounds {
		if r == 0 {
			bar = t + src.Laplace(2/eps)
		}
		for _, x := range q {
			above = append(above, x+src.Laplace(4/eps) > bar)
		}
	}
	return above
}
