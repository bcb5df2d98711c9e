// Package shares has functions that spend a budget.
package shares

import "github.com/discreet-dp/discreet/noise"

// Spent counts what was spent.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Spent(q []float64, eps float64, src *noise.Source) int {
	spent, n := eps/4, 0
	for _, x := range q {
		if spent+eps/4 > eps {
			break
		}
		if x+src.Laplace(8/eps) >= 0 {
			spent += eps / 4
		}
		n++
	}
	return n
}

// Left counts what is left, by a part that is also that of noise.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Left(q []float64, eps float64, src *noise.Source) int {
	part := eps / 2
	left, n := max(eps-part/2, 0), 0
	for _, x := range q {
		if left < part || left == 0 {
			return n
		}
		n++
		if x+src.Laplace(1/part) > 0 {
			left -= part
		} else {
			left -= part / 2
		}
	}
	return n
}
