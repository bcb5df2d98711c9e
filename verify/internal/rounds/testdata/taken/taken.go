// Package taken holds loops of which each round is a mechanism of its own.
package taken

import "github.com/discreet-dp/discreet/noise"

// Peel chooses the largest left, k times: a round is given which are taken.
//
// round: taken -> best
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Peel(q []float64, k int, eps float64, src *noise.Source) []int {
	taken := make([]bool, len(q))
	var out []int
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
		out = append(out, best)
	}
	return out
}

// Rows has a share of the budget that is set before the loop, and a slice that rounds append to.
//
// round: -> out
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && levels > 0
//dp:cost eps
func Rows(xs []int64, levels int, eps float64, src *noise.Source) []int64 {
	e := eps / float64(levels)
	var out []int64
	for range levels {
		for _, x := range xs {
			out = append(out, x+src.DiscreteLaplace(1/e))
		}
	}
	return out
}

// Carried gives a round the number that the one before it revealed.
//
// round: last·before -> last
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Carried(q []float64, k int, eps float64, src *noise.Source) float64 {
	last := 0.0
	for range k {
		for _, x := range q {
			last = last/2 + x + src.Laplace(1/eps)
		}
	}
	return last
}

// Shifted has a private number that is made before the loop: a round makes it itself.
//
// round: -> out
//
//dp:adjacent each(q) <= 1
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Shifted(q []float64, x float64, k int, eps float64, src *noise.Source) []float64 {
	y := 2 * x
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+y+src.Laplace(1/eps))
		}
	}
	return out
}

// SetSometimes sets a number to 0 in some rounds: in the others it is what it was.
//
// round: s·before -> s out
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0 && len(q) > 0
//dp:cost eps
func SetSometimes(q []float64, k int, eps float64, src *noise.Source) (int, []float64) {
	s := 1
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		if q[0] > 0 {
			s = 0
		}
	}
	return s, out
}

// SetAlways sets a number in each round, to what it was and more.
//
// round: s·before -> s out
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0 && len(q) > 0
//dp:cost eps
func SetAlways(q []float64, k int, eps float64, src *noise.Source) (float64, []float64) {
	s := 1.0
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		s = s/2 + q[0] + src.Laplace(1/eps)
	}
	return s, out
}

// Rising compares with a number that rises behind each round.
//
// round: t -> out
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Rising(q []float64, k int, eps float64, src *noise.Source) []bool {
	t := 0.0
	var out []bool
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps) > t)
		}
		t++
	}
	return out
}

// Longer adds how long a list is that grows behind each round.
//
// round: list -> out
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Longer(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out, list []float64
	for range k {
		for _, z := range q {
			out = append(out, z+float64(len(list))+src.Laplace(1/eps))
		}
		list = append(list, 1)
	}
	return out
}

// Halved halves its noise before each round, and pays for four in the third.
//
// want: refuted
//
// round: s·before -> s out
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Halved(q []float64, k int, eps float64, src *noise.Source) []float64 {
	s := 2.0
	var out []float64
	for range k {
		s /= 2
		for _, z := range q {
			out = append(out, z+src.Laplace(float64(k)*s/eps))
		}
	}
	return out
}
