package coupled

import "github.com/discreet-dp/discreet/noise"

// Above has a proof by a coupling that holds.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Above(q []float64, t, eps float64, src *noise.Source) int {
	t += src.Laplace(2 / eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// Swapped has that of Above.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Swapped(q []float64, t, eps float64, src *noise.Source) int { // want `Swapped: the stored proof does not prove the claim: `
	t += src.Laplace(4 / eps)
	for i, x := range q {
		if x+src.Laplace(2/eps) >= t {
			return i
		}
	}
	return -1
}
