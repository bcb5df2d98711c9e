// Package hand holds programs that keep their claims, with alignments that people wrote:
// right ones, and wrong ones, which prove nothing.
package hand

import "github.com/discreet-dp/discreet/noise"

// NoisyMax has the coupling of Dwork and Roth 2014, Claim 3.9: the winner pays.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMax(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		//dp:align cond(i == result, 1 - diff(q[i]), 0)
		k := src.Laplace(2 / eps)
		noisy := x + k
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMaxStill has a winner that moves no further than the others do.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMaxStill(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		//dp:align cond(i == result, -diff(q[i]), 0)
		k := src.Laplace(2 / eps)
		noisy := x + k
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMaxAll has losers that pay as well.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMaxAll(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		//dp:align cond(i == result, 1 - diff(q[i]), -diff(q[i]))
		k := src.Laplace(2 / eps)
		noisy := x + k
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// NoisyMaxScaled is NoisyMax of queries that move by c.
//
//dp:adjacent each(q) <= c
//dp:requires eps > 0 && c > 0
//dp:cost eps
func NoisyMaxScaled(q []float64, c, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		//dp:align cond(i == result, c - diff(q[i]), 0)
		k := src.Laplace(2 * c / eps)
		noisy := x + k
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// Above moves up where the answer is yes, and down where it is no.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Above(x, t, u, eps float64, src *noise.Source) bool {
	//dp:align cond(result, 1, -1)
	k := src.Laplace(1 / eps)
	return x+k > t && x+k > u
}

// AboveBackwards is Above with both taken for the other.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func AboveBackwards(x, t, u, eps float64, src *noise.Source) bool {
	//dp:align cond(result, -1, 1)
	k := src.Laplace(1 / eps)
	return x+k > t && x+k > u
}

// Calls is of two rounds of NoisyMax, of which each has a winner of its own.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func Calls(q []float64, eps float64, src *noise.Source) (int, int) {
	first := NoisyMax(q, eps, src)
	return first, NoisyMax(q, eps, src)
}
