// Package fused has functions of which two loops are one.
package fused

import (
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

func argmax(noisy []float64) int {
	best := 0
	for i, v := range noisy {
		if v > noisy[best] {
			best = i
		}
	}
	return best
}

func position(xs []int64) int {
	at, top := 0, xs[0]
	for i := 1; i < len(xs); i++ {
		if xs[i] > top {
			at, top = i, xs[i]
		}
	}
	return at
}

// TwoPasses is report noisy max as most write it.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TwoPasses(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// AskedBefore has a loop before both that asks for the length.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func AskedBefore(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	pairs := 0
	for i := 0; i+1 < len(noisy); i += 2 {
		pairs++
	}
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best + pairs
}

// Appended appends the noise.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Appended(q []float64, eps float64, src *noise.Source) int {
	var noisy []float64
	for _, x := range q {
		noisy = append(noisy, x+src.Laplace(2/eps))
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Capacity begins with the first.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Capacity(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, 0, len(q))
	for _, x := range q {
		noisy = append(noisy, x+src.Laplace(2/eps))
	}
	best, top := 0, noisy[0]
	for i := 1; i < len(noisy); i++ {
		if noisy[i] > top {
			best, top = i, noisy[i]
		}
	}
	return best
}

// Helper has the argmax in a function.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Helper(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	return argmax(noisy)
}

// Returns returns between the loops, if there is nothing.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Returns(q []int64, eps float64, src *noise.Source) int {
	noisy := make([]int64, len(q))
	for i, x := range q {
		noisy[i] = x + src.DiscreteLaplace(2/eps)
	}
	if len(noisy) == 0 {
		return -1
	}
	return position(noisy)
}

// Whole is over integers, from the second.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Whole(q []int64, eps float64, src *noise.Source) int {
	noisy := make([]int64, len(q))
	for i, x := range q {
		noisy[i] = x + src.DiscreteLaplace(2/eps)
	}
	best := 0
	for i := 1; i < len(noisy); i++ {
		if noisy[i] >= noisy[best] {
			best = i
		}
	}
	return best
}

// Least begins with no winner.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Least(q []int64, eps float64, src *noise.Source) int {
	noisy := make([]int64, len(q))
	for i, x := range q {
		noisy[i] = x + src.DiscreteLaplace(2/eps)
	}
	best := -1
	for i := range q {
		if best < 0 || noisy[i] < noisy[best] {
			best = i
		}
	}
	return best
}

// Carried adds the queries up: a state of the first loop that the second does not see.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Carried(q []int64, eps float64, src *noise.Source) (best int) {
	noisy := make([]int64, len(q))
	sum, n := int64(0), len(noisy)
	for i := 0; i < n; i++ {
		if sum > 3 {
			sum = 3
		}
		sum += q[i]
		noisy[i] = sum + src.DiscreteLaplace(1/eps)
	}
	for i := 0; i < n; i++ {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// First leaves the second loop by its result.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func First(q []int64, t int64, eps float64, src *noise.Source) int {
	noisy := make([]int64, len(q))
	for i, x := range q {
		noisy[i] = x + src.DiscreteLaplace(2/eps)
	}
	for i, x := range noisy {
		if x > t {
			return i
		}
	}
	return -1
}

// Counted passes over some, and stops.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Counted(q []int64, t int64, eps float64, src *noise.Source) (int, int64) {
	noisy := make([]int64, len(q))
	for i, x := range q {
		noisy[i] = x + src.DiscreteLaplace(2/eps)
	}
	n, last := 0, int64(0)
	for i := 1; i < len(noisy); i++ {
		if noisy[i] < t {
			continue
		}
		if n == 1 {
			break
		}
		n++
		last = min(max(noisy[i], -2), 2)
	}
	return n, last
}

// Coins fills a slice of truths.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Coins(q []int64, eps float64, src *noise.Source) int {
	heads := make([]bool, len(q))
	for i := range heads {
		heads[i] = src.Bernoulli(0.25)
	}
	n := 0
	for i, h := range heads {
		if h && q[i] > 0 {
			n++
		}
	}
	return n
}

// Cloned adds the noise to a copy, in place.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Cloned(q []float64, eps float64, src *noise.Source) int {
	noisy := slices.Clone(q)
	for i := range noisy {
		noisy[i] += src.Laplace(2 / eps)
	}
	return argmax(noisy)
}

// ClonedWhole adds it in several steps, to a copy of integers.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func ClonedWhole(q []int64, eps float64, src *noise.Source) int {
	noisy := append([]int64(nil), q...)
	for i := 0; i < len(noisy); i++ {
		z := src.DiscreteLaplace(2 / eps)
		if noisy[i] < 0 {
			z++
		}
		noisy[i] = noisy[i] + z
	}
	return position(noisy)
}

// Library has the argmax of package slices.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Library(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i, x := range q {
		noisy[i] = x + src.Laplace(2/eps)
	}
	return slices.Index(noisy, slices.Max(noisy))
}

// Draws draws in the second loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Draws(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > src.Laplace(2/eps) {
			n++
		}
	}
	return n
}

// DrawsBetween draws between the loops.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawsBetween(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n, t := 0, src.Laplace(2/eps)
	for i := range noisy {
		if noisy[i] > t {
			n++
		}
	}
	return n
}

// UpFront is a sparse vector with its noise drawn first, which ends by its condition.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func UpFront(q []float64, t, eps float64, src *noise.Source) (n int) {
	noisy := make([]float64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.Laplace(4/eps)
	}
	t += src.Laplace(2 / eps)
	for i := 0; i < len(noisy) && n < 1; i++ {
		if noisy[i] >= t {
			n++
		}
	}
	return n
}

// One has a length with a name, and what follows the noise in its round.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func One(q []int64, eps float64, src *noise.Source) (best int) {
	n, sum := len(q), int64(0)
	noisy := make([]int64, n)
	for i := 0; i < n; i++ {
		noisy[i] = q[i] + sum + src.DiscreteLaplace(2/eps)
		if sum < 2 {
			if q[i] > 0 {
				sum++
			}
		}
	}
	for i := 0; i < n; i++ {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Shorter leaves out an element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Shorter(q []int64, eps float64, src *noise.Source) (best int) {
	noisy := make([]int64, len(q)-1)
	for i := range noisy {
		noisy[i] = q[i+1] + src.DiscreteLaplace(2/eps)
	}
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// ClonedOther adds another slice to a copy.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClonedOther(q []int64, t int64, eps float64, src *noise.Source) (n int) {
	bonus := make([]int64, len(q)+1)
	bonus[0] = t
	noisy := slices.Clone(q)
	for i := range noisy {
		noisy[i] += bonus[i] + src.DiscreteLaplace(2/eps)
	}
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// Lengths asks for the lengths of other slices, and for the first element of the input.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Lengths(q []int64, eps float64, src *noise.Source) (n int) {
	heads := make([]bool, 5)
	heads[0] = src.Bernoulli(0.25)
	noisy := make([]int64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.DiscreteLaplace(2/eps)
	}
	bar := q[0]
	m := len(heads)
	for i := range noisy {
		if noisy[i] > bar && heads[0] {
			n += len(heads) - m + len(noisy)
		}
	}
	return n + m - 5
}

// FromTheSecond ends by a condition that speaks of the counter.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FromTheSecond(q []int64, t int64, eps float64, src *noise.Source) (n int) {
	noisy := make([]int64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.DiscreteLaplace(2/eps)
	}
	for i := 1; i < len(noisy) && i > n; i++ {
		if noisy[i] >= t {
			n++
		}
	}
	return n
}

// ByTheTop ends by a condition on the first element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func ByTheTop(q []int64, t int64, eps float64, src *noise.Source) (n int) {
	noisy := make([]int64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.DiscreteLaplace(2/eps)
	}
	top := noisy[0]
	for i := 0; i < len(noisy) && top >= t; i++ {
		if noisy[i] >= top {
			n++
		}
	}
	return n
}

// ByTheBest ends by a condition on the winner so far.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ByTheBest(q []int64, t int64, eps float64, src *noise.Source) (n int) {
	noisy := make([]int64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.DiscreteLaplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[best] >= t {
			break
		}
		if noisy[i] > noisy[best] {
			best = i
		}
		n++
	}
	return n
}

// ByTheElement ends by a condition on the element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ByTheElement(q []int64, t int64, eps float64, src *noise.Source) (n int) {
	noisy := make([]int64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.DiscreteLaplace(2/eps)
	}
	for i := range noisy {
		if noisy[i] >= t {
			break
		}
		n++
	}
	return n
}

// Otherwise looks at the element where it does not end.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Otherwise(q []int64, t int64, eps float64, src *noise.Source) (n int) {
	noisy := make([]int64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.DiscreteLaplace(2/eps)
	}
	for i := range noisy {
		if n > 1 {
			break
		} else if noisy[i] >= t {
			n++
		}
	}
	return n
}

// Nothing does not look at the slice.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Nothing(q []int64, t int64, eps float64, src *noise.Source) (n int) {
	noisy := make([]int64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.DiscreteLaplace(2/eps)
	}
	for i := 0; i < len(noisy) && t > 0; i++ {
	}
	return len(q)
}

// SetFirst sets the winner before it compares with it, twice.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SetFirst(q []int64, t int64, eps float64, src *noise.Source) (n int) {
	noisy := make([]int64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.DiscreteLaplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if q[i] > t {
			best = i
		}
		if noisy[best] > t {
			n++
		}
		if noisy[best] < noisy[i] {
			best = i
		}
	}
	return n
}

// Refilled fills a slice again, so that there are two such pairs of loops.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Refilled(q []int64, t int64, eps float64, src *noise.Source) int {
	noisy := make([]int64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.DiscreteLaplace(2/eps)
	}
	n, m := 0, 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	noisy = make([]int64, len(q))
	for i := range noisy {
		noisy[i] = src.DiscreteLaplace(2 / eps)
	}
	for i := range noisy {
		if noisy[i] > 1 {
			m++
		}
	}
	return n - m
}
