package hidden

import "github.com/discreet-dp/discreet/noise"

// LeadAtLeast is noisy max over the integers with the gap, where a runner-up that is as large as
// another one takes its place.
//
// want: proved
//
//dp:adjacent each(s) <= 1
//dp:requires b > 0
//dp:cost 2 / b
func LeadAtLeast(s []int64, b float64, src *noise.Source) (int, int64) {
	best, most, least := 0, int64(0), int64(0)
	for i, x := range s {
		switch noisy := x + src.DiscreteLaplace(b); {
		case i == 0:
			most = noisy
		case noisy > most:
			best, most, least = i, noisy, most+1
		case i == 1 || noisy >= least:
			least = noisy
		}
	}
	return best, most - least
}

// LeadRisen is that for scores that all rise or all fall, by a function of its own.
//
// want: proved
//
//dp:adjacent each(s) in [0, 1]
//dp:requires b > 0
//dp:cost 1 / b
func LeadRisen(s []int64, b float64, src *noise.Source) (int, int64) {
	return leadAtLeast(s, b, src)
}

func leadAtLeast(s []int64, b float64, src *noise.Source) (int, int64) {
	return LeadAtLeast(s, b, src)
}
