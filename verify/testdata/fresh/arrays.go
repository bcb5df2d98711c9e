package fresh

import "github.com/discreet-dp/discreet/noise"

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
