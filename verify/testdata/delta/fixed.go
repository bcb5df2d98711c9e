package delta

import "github.com/discreet-dp/discreet/noise"

// GroupsAtEight has a threshold in numbers: noise of scale 1 is at least 8 with probability
// e^−8/(1+1/e), about 0.00025.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:cost 1, 0.001
func GroupsAtEight(counts []int64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			if noisy := n + src.DiscreteLaplace(1); noisy > 8 {
				shown[i] = noisy
			}
		}
	}
	return shown
}

// GroupsAtFive shows a group of one unit with probability e^−5/(1+1/e), about 0.005.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:cost 1, 0.001
func GroupsAtFive(counts []int64, src *noise.Source) []int64 {
	shown := make([]int64, len(counts))
	for i, n := range counts {
		if n > 0 {
			if noisy := n + src.DiscreteLaplace(1); noisy > 5 {
				shown[i] = noisy
			}
		}
	}
	return shown
}
