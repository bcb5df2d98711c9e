// Package apart has functions of which no two loops may be one.
package apart

import (
	"iter"

	"github.com/discreet-dp/discreet/noise"
)

// Next looks ahead.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Next(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		if i+1 < len(noisy) && noisy[i+1] > noisy[i] {
			n++
		}
	}
	return n
}

// Shorter leaves the last out.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Shorter(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := 0; i < len(noisy)-1; i++ {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Backwards goes from the last to the first.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Backwards(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := len(noisy) - 1; i >= 0; i-- {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Later begins at the third.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Later(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := 2; i < len(noisy); i++ {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Returned shows the slice.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Returned(q []float64, eps float64, src *noise.Source) (int, []float64) {
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
	return best, noisy
}

// Told shows its largest element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Told(q []float64, eps float64, src *noise.Source) float64 {
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
	return noisy[best]
}

// Again reads the slice again.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Again(q []float64, eps float64, src *noise.Source) (int, int) {
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
	n := 0
	for i := range noisy {
		if noisy[i] < 0 {
			n++
		}
	}
	return best, n
}

// Other remembers another index.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Other(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = len(noisy) - 1 - i
		}
	}
	return best
}

// FromLast begins with the last for a winner.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FromLast(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := len(noisy) - 1
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// FromSecond begins with the second for a winner.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 1
//dp:cost eps
func FromSecond(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 1
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// SecondTop compares with the second element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 1
//dp:cost eps
func SecondTop(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n, top := 0, noisy[1]
	for i := range noisy {
		if noisy[i] > top {
			n++
		}
	}
	return n
}

// Fixed compares with the first element within the loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Fixed(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > noisy[0] {
			n++
		}
	}
	return n
}

// LastNoise sees what the first loop drew last.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func LastNoise(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	z := 0.0
	for i := range q {
		z = src.Laplace(2 / eps)
		noisy[i] = q[i] + z
	}
	n := 0
	for i := range noisy {
		if noisy[i] > z {
			n++
		}
	}
	return n
}

// Total sees a sum of the first loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Total(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	sum := 0.0
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
		sum += q[i]
	}
	n := 0
	for i := range noisy {
		if noisy[i] > sum {
			n++
		}
	}
	return n
}

// Feeds changes in the second loop what the first one reads.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Feeds(q []float64, t float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + t + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
			t = 5
		}
	}
	return n
}

// Writes changes the slice in the second loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Writes(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
			noisy[i] = 0
		}
	}
	return best
}

// WritesBetween changes the slice between the loops.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func WritesBetween(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	noisy[0] = 0
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// FromOne leaves the first element as it was made.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FromOne(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := 1; i < len(q); i++ {
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

// Half fills a part of the slice.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k >= 0 && k < len(q)
//dp:cost eps
func Half(q []float64, k int, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := 0; i < k; i++ {
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

// Sometimes does not append in every round.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Sometimes(q []float64, eps float64, src *noise.Source) int {
	var noisy []float64
	for _, x := range q {
		if z := x + src.Laplace(2/eps); z > 0 {
			noisy = append(noisy, z)
		}
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Twice appends twice in every round.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Twice(q []float64, eps float64, src *noise.Source) int {
	var noisy []float64
	for _, x := range q {
		z := src.Laplace(2 / eps)
		noisy = append(noisy, x+z)
		noisy = append(noisy, x-z)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Behind appends behind a zero.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Behind(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, 1)
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

// Growing asks how long the slice is while it is appended to.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Growing(q []float64, eps float64, src *noise.Source) int {
	var noisy []float64
	for _, x := range q {
		noisy = append(noisy, x*float64(len(noisy))+src.Laplace(2/eps))
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Before asks how long the slice is before anything is appended.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Before(q []float64, eps float64, src *noise.Source) int {
	var noisy []float64
	n := len(noisy)
	for _, x := range q {
		noisy = append(noisy, x+src.Laplace(2/eps))
	}
	best := 0
	for i := 0; i < n; i++ {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Leaves leaves the first loop early.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Leaves(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
		if q[i] > 3 {
			break
		}
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Reads reads in the first loop what it wrote before.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Reads(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = src.Laplace(2/eps) + noisy[0]
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Elsewhere fills the slice in another order.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Elsewhere(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[len(q)-1-i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Bound changes the bound between the loops.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Bound(q []float64, k int, eps float64, src *noise.Source) int {
	m := k + 1
	noisy := make([]float64, m)
	for i := 0; i < m; i++ {
		noisy[i] = src.Laplace(2 / eps)
	}
	best := 0
	m--
	for i := 0; i < m; i++ {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best + len(q)
}

// Counter shows how far the first loop came.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Counter(q []float64, eps float64, src *noise.Source) (int, int) {
	noisy := make([]float64, len(q))
	i := 0
	for i = 0; i < len(q); i++ {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	for j := range noisy {
		if noisy[j] > 0 {
			return 0, j
		}
	}
	return i, -1
}

// Place shows where the second loop was left.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Place(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	j := 0
	for j = 0; j < len(noisy); j++ {
		if noisy[j] > 0 {
			break
		}
	}
	return j
}

// Steps looks at every other element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Steps(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := 0; i < len(noisy); i += 2 {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Skips passes over the element behind a winner.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Skips(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := 0; i < len(noisy); i++ {
		if noisy[i] > noisy[best] {
			best = i
			i++
		}
	}
	return best
}

// Peeks looks at an element between the loops.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Peeks(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	if noisy[0] > 3 {
		return -1
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Fed fills the slice by what it sets between the loops.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Fed(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	t := 1.0
	for i := range q {
		noisy[i] = q[i]*t + src.Laplace(2/eps)
	}
	t = 2
	n := 0
	for i := range noisy {
		if noisy[i] > t {
			n++
		}
	}
	return n
}

// OnePlace writes one element in every round.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OnePlace(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[0] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Shrinks changes the bound before the loops.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Shrinks(q []float64, k int, eps float64, src *noise.Source) int {
	m := k + 1
	noisy := make([]float64, m)
	m--
	for i := 0; i < m; i++ {
		noisy[i] = src.Laplace(2 / eps)
	}
	best := 0
	for i := 0; i < m; i++ {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best + len(q)
}

// LastKept keeps what the first loop drew last.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func LastKept(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	z := 0.0
	for i := range q {
		z = src.Laplace(2 / eps)
		noisy[i] = q[i] + z
	}
	t := z + 1
	n := 0
	for i := range noisy {
		if noisy[i] > t {
			n++
		}
	}
	return n
}

// ClonedFirst reads the first element of the copy, which is noisy by then.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClonedFirst(q []float64, eps float64, src *noise.Source) int {
	noisy := append([]float64(nil), q...)
	for i := range noisy {
		noisy[i] = noisy[0] + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// ClonedLater reads the copy after its noise.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClonedLater(q []float64, eps float64, src *noise.Source) int {
	noisy := append([]float64(nil), q...)
	sum := 0.0
	for i := range noisy {
		noisy[i] = noisy[i] + src.Laplace(2/eps)
		sum = noisy[i]
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] || noisy[i] > sum {
			best = i
		}
	}
	return best
}

// ClonedShort adds noise to all but the last.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClonedShort(q []float64, eps float64, src *noise.Source) int {
	noisy := append([]float64(nil), q...)
	for i := 0; i < len(noisy)-1; i++ {
		noisy[i] = noisy[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// A loop that is the first statement has none before it.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func LoopFirst(x, eps float64, src *noise.Source) float64 {
	for {
		if y := x + src.Laplace(1/eps); y > 0 {
			return y
		}
	}
}

// BehindSome appends behind as many zeros.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BehindSome(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for _, x := range q {
		noisy = append(noisy, x+src.Laplace(2/eps))
	}
	n := 0
	for i := 0; i < len(q); i++ {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// AtMost has a length that may not be the bound, which may be negative.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func AtMost(q []float64, k int, eps float64, src *noise.Source) (int, int) {
	var noisy []float64
	for i := 0; i < k; i++ {
		noisy = append(noisy, src.Laplace(2/eps))
	}
	n, m := 0, len(noisy)
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n + len(q), m
}

// Never appends as long as there is something.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Never(q []float64, eps float64, src *noise.Source) int {
	var noisy []float64
	for i := 0; i < len(noisy); i++ {
		noisy = append(noisy, src.Laplace(2/eps))
	}
	n := len(q)
	for i := 0; i < len(noisy); i++ {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// ClonedReplaced has another input by the time that it adds noise to a copy of the first.
//
//dp:adjacent each(r) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClonedReplaced(q, r []float64, eps float64, src *noise.Source) int {
	noisy := append([]float64(nil), q...)
	q = r
	for i := range noisy {
		noisy[i] += src.Laplace(2 / eps)
	}
	n := len(q)
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// Literal begins with numbers.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Literal(q []float64, eps float64, src *noise.Source) int {
	noisy := []float64{1, 2}
	for i := range noisy {
		noisy[i] = src.Laplace(2 / eps)
	}
	n := len(q)
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// Recopied copies again in every round.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Recopied(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy = append([]float64(nil), q...)
		noisy[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// SometimesRecopied does so under a condition.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SometimesRecopied(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		if q[i] > 1 {
			noisy = append([]float64(nil), q...)
		}
		noisy[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// Erases sets elements in a loop of its own within the first.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Erases(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = src.Laplace(2 / eps)
		for j := 0; j < i; j++ {
			noisy[j] = 0
		}
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// Stated says what holds in the first loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Stated(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	//dp:invariant len(q) >= 0
	for i := range q {
		noisy[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// StatedLater says it of the second.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func StatedLater(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = src.Laplace(2 / eps)
	}
	n := 0
	//dp:invariant n >= 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// LeavesDeep leaves the first loop under two conditions.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func LeavesDeep(q []float64, t, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = src.Laplace(2 / eps)
		if q[i] > 1 {
			if t > 0 {
				break
			}
		}
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// EveryOther fills every other element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func EveryOther(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := 0; i < len(q); i += 2 {
		noisy[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// SkipsSome passes over elements.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SkipsSome(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := 0; i < len(q); i++ {
		noisy[i] = src.Laplace(2 / eps)
		if q[i] > 1 {
			i++
		}
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// FromK begins where it is told to.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k >= 0
//dp:cost eps
func FromK(q []float64, k int, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := k; i < len(noisy); i++ {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// FromInput counts with an input.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FromInput(q []float64, k int, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = src.Laplace(2 / eps)
	}
	n := 0
	for ; k < len(noisy); k++ {
		if noisy[k] > 0 {
			n++
		}
	}
	return n
}

// FromBelow has a round more than there are elements.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FromBelow(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := -1; i < len(noisy); i++ {
		if i < 0 {
			n = 2
		} else if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// Asked asks how long the slice is before it is appended to.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Asked(q []float64, eps float64, src *noise.Source) int {
	var noisy []float64
	n := len(noisy)
	for i := range q {
		noisy = append(noisy, q[i]+src.Laplace(2/eps))
	}
	for i := 0; i < len(noisy); i++ {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// Zero reads an element before it is set.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Zero(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	t := noisy[0]
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > t {
			n++
		}
	}
	return n
}

// KthTop compares with the element that it is told to.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k >= 0 && k < len(q)
//dp:cost eps
func KthTop(q []float64, k int, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n, top := 0, noisy[k]
	for i := range noisy {
		if noisy[i] > top {
			n++
		}
	}
	return n
}

// AboveTop compares with something above the first.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func AboveTop(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	top := noisy[0]
	bar := top + 1
	n := 0
	for i := range noisy {
		if noisy[i] > bar && noisy[i] > top {
			n++
		}
	}
	return n
}

// FedTop fills the slice by what becomes its first element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func FedTop(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	top := 2.0
	for i := range q {
		noisy[i] = q[i]*top + src.Laplace(2/eps)
	}
	top = noisy[0]
	n := 0
	for i := range noisy {
		if noisy[i] > top {
			n++
		}
	}
	return n
}

// FromItsCounter computes with the counter between the loops.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FromItsCounter(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	j := 0
	n := 2*j + 1
	for ; j < len(noisy); j++ {
		if noisy[j] > 0 {
			n++
		}
	}
	return n
}

// TooSoon asks how long the slice is before it is made.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TooSoon(q []float64, eps float64, src *noise.Source) int {
	var noisy []float64
	n := len(noisy)
	noisy = make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := 0; i < n; i++ {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// Fewer sets the bound twice.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Fewer(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	n := len(q) - 1
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	if len(q) > 2 {
		n = len(noisy)
	}
	best := 0
	for i := 0; i < n; i++ {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	n = len(noisy)
	return best + n
}

// OtherLength goes over as many as another slice has.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 1
//dp:cost eps
func OtherLength(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	heads := make([]bool, 2)
	heads[1] = src.Bernoulli(0.25)
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := 0; i < len(heads); i++ {
		if heads[i] && noisy[i] > 0 {
			n++
		}
	}
	return n
}

// OtherInput fills as many as another input has.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(r) <= len(q)
//dp:cost eps
func OtherInput(q, r []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := 0; i < len(r); i++ {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// TwoOfThree fills all but the last.
//
//dp:adjacent |t| <= 1
//dp:requires eps > 0
//dp:cost eps
func TwoOfThree(t, eps float64, src *noise.Source) int {
	noisy := make([]float64, 3)
	for i := 0; i < 2; i++ {
		noisy[i] = t + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// TwoCounters has a second counter.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TwoCounters(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i, k := 0, 0; i < len(noisy); i, k = i+1, k+2 {
		if noisy[i] > float64(k) {
			n++
		}
	}
	return n
}

// CountsItself counts within the second loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func CountsItself(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := 0; i < len(noisy); {
		if noisy[i] > 0 {
			n++
		}
		i += 2
	}
	return n
}

// Jumps counts by another number.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Jumps(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n, k := 0, 0
	for i := 0; i < len(noisy); i = k + 1 {
		if noisy[i] > 0 {
			n++
		}
		k += 2
	}
	return n
}

// OtherCounter ends by another number.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OtherCounter(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n, k := 0, 0
	for i := 0; k < len(noisy); i++ {
		if noisy[i] > 0 {
			n++
		}
		k += 2
	}
	return n
}

// Unentered has no rounds.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Unentered(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := 0; i > len(noisy); i++ {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// Alternates remembers another index in the other case.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Alternates(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		} else {
			best = len(noisy) - 1
		}
	}
	return best
}

// Drawn remembers an index that is drawn.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Drawn(q []float64, eps float64, src *noise.Source) int64 {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	best := int64(0)
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = src.Geometric(2 / eps)
		}
	}
	return best
}

// Pairs looks at an element in a loop of its own within the second.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Pairs(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		for j := range q {
			if noisy[i] > q[j] {
				n++
			}
		}
	}
	return n
}

// PairsAbove has such a loop under a condition.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PairsAbove(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		if n > 1 {
			for n > 1 {
				n--
			}
		}
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// PairsBelow has it otherwise.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PairsBelow(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range q {
		noisy[i] = q[i] + src.Laplace(2/eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		} else {
			for n > 1 {
				n--
			}
		}
	}
	return n
}

// FillsFromK begins to fill where it is told to.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k >= 0
//dp:cost eps
func FillsFromK(q []float64, k int, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := k; i < len(q); i++ {
		noisy[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// RecopiedLast copies at the end of every round.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func RecopiedLast(q []float64, eps float64, src *noise.Source) int {
	noisy := append([]float64(nil), q...)
	for i := range q {
		noisy[i] = src.Laplace(2 / eps)
		noisy = append([]float64(nil), q...)
	}
	n := 0
	for i := range noisy {
		if noisy[i] > 0 {
			n++
		}
	}
	return n
}

// Streamed has as much noise as there is in a stream.
//
//dp:adjacent |t| <= 1
//dp:requires eps > 0
//dp:cost eps
func Streamed(all iter.Seq[float64], t, eps float64, src *noise.Source) int {
	var noisy []float64
	for x := range all {
		noisy = append(noisy, x+t+src.Laplace(2/eps))
	}
	if len(noisy) == 0 {
		return -1
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}
