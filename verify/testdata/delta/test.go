package delta

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// Winner says which of two counts is larger, exactly, if that is stable: Dwork and Lei
// 2009. The lead moves by 2; where the winners differ it is at most 2.
//
// want: proved
//
//dp:adjacent |a| <= 1
//dp:adjacent |b| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func Winner(a, b int64, eps, delta float64, src *noise.Source) int {
	winner, lead := 0, a-b
	if b > a {
		winner, lead = 1, b-a
	}
	if float64(lead+src.DiscreteLaplace(2/eps)) > 2+2*math.Log(1/delta)/eps {
		return winner
	}
	return -1
}

// WinnerLow tests the lead against what its noise exceeds with probability delta, but
// not the 2 by which it moves.
//
// want: refuted
//
//dp:adjacent |a| <= 1
//dp:adjacent |b| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.1
//dp:cost eps, delta
func WinnerLow(a, b int64, eps, delta float64, src *noise.Source) int {
	winner, lead := 0, a-b
	if b > a {
		winner, lead = 1, b-a
	}
	if float64(lead+src.DiscreteLaplace(2/eps)) > 2*math.Log(1/delta)/eps-2 {
		return winner
	}
	return -1
}

// WinnerNarrow has noise for a lead that moves by 1.
//
// want: refuted
//
//dp:adjacent |a| <= 1
//dp:adjacent |b| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.1
//dp:cost eps, delta
func WinnerNarrow(a, b int64, eps, delta float64, src *noise.Source) int {
	winner, lead := 0, a-b
	if b > a {
		winner, lead = 1, b-a
	}
	if float64(lead+src.DiscreteLaplace(1/eps)) > 2+math.Log(1/delta)/eps {
		return winner
	}
	return -1
}

// ProposeTestRelease releases a value with noise for the proposed bound if the noisy
// distance to where the bound fails is large. What the distance means is computed from the
// data: here x is near 0, where it moves by 1, or it jumps.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost 2*eps, delta
func ProposeTestRelease(x int64, eps, delta float64, src *noise.Source) (int64, bool) {
	distance, answer := int64(0), int64(0)
	if x > 100 {
		distance, answer = x-100, 1000+x
	} else {
		distance, answer = 100-x, x
	}
	if float64(distance+src.DiscreteLaplace(1/eps)) > 1+math.Log(1/delta)/eps {
		return answer + src.DiscreteLaplace(1/eps), true
	}
	return 0, false
}

// ReleaseUntested releases whatever the distance is.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.1
//dp:cost 2*eps, delta
func ReleaseUntested(x int64, eps, delta float64, src *noise.Source) (int64, bool) {
	answer := x
	if x > 100 {
		answer = 1000 + x
	}
	return answer + src.DiscreteLaplace(1/eps), true
}
