// Package apart has functions of which no two loops may be one.
package apart

import "github.com/discreet-dp/discreet/noise"

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
