package traps

import "github.com/discreet-dp/discreet/noise"

// FirstTruth tells where the first truth is.
//
//dp:adjacent one(bits) <= 1
//dp:cost eps
func FirstTruth(bits []bool, eps float64, src *noise.Source) int {
	for i := range bits {
		if bits[i] {
			return i
		}
	}
	return -1
}

// LastTruth shows a truth at the other place.
//
//dp:adjacent one(bits) <= 1
//dp:requires len(bits) > 0
//dp:cost eps
func LastTruth(bits []bool, eps float64, src *noise.Source) bool { return bits[len(bits)-1] }

// OneTruth shows a truth.
//
//dp:adjacent |bit| <= 1
//dp:cost eps
func OneTruth(bit bool, eps float64, src *noise.Source) bool { return bit }

// CountOfOne counts truths of which one may be another; CountOfEach of which all may be.
//
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func CountOfOne(bits []bool, eps float64, src *noise.Source) int {
	n := 0
	for _, b := range bits {
		if b {
			n++
		}
	}
	k := src.DiscreteLaplace(1 / eps)
	return n + int(k)
}

//dp:adjacent each(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func CountOfEach(bits []bool, eps float64, src *noise.Source) int {
	n := 0
	for _, b := range bits {
		if b {
			n++
		}
	}
	k := src.DiscreteLaplace(1 / eps)
	return n + int(k)
}

// BothTruths are told by a count, which both may move.
//
//dp:adjacent each(bits) <= 1
//dp:requires eps > 0 && len(bits) > 1
//dp:cost eps
func BothTruths(bits []bool, eps float64, src *noise.Source) int {
	n := 0
	if bits[0] {
		n++
	}
	if bits[1] {
		n++
	}
	k := src.DiscreteLaplace(1 / eps)
	return n + int(k)
}

// OtherTruths are counted at places that move: neither is the one that it was.
//
//dp:adjacent one(bits) <= 1
//dp:adjacent |k| <= 1
//dp:adjacent |j| <= 1
//dp:requires eps > 0 && 0 <= k && k < j && j < len(bits)
//dp:cost eps
func OtherTruths(bits []bool, k, j int, eps float64, src *noise.Source) int {
	n := 0
	if bits[k] {
		n++
	}
	if bits[j] {
		n++
	}
	noise := src.DiscreteLaplace(1 / eps)
	return n + int(noise)
}
