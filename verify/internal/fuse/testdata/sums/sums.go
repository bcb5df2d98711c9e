// Package sums has functions that draw noise first, and add it to an input where they read
// it. Those with Not in their names are left as they are.
package sums

import "github.com/discreet-dp/discreet/noise"

// NoiseFirst is report noisy max, with a slice of noise.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NoiseFirst(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	best := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[i] > q[best]+eta[best] {
			best = i
		}
	}
	return best
}

// Ranged names the element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Ranged(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range q {
		eta[i] = src.Laplace(2 / eps)
	}
	best := 0
	for i, x := range q {
		if x+eta[i] > eta[best]+q[best] {
			best = i
		}
	}
	return best
}

// NotElsewhere reads an element of the noise alone.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotElsewhere(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	best := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[i] > eta[best] {
			best = i
		}
	}
	return best
}

// NotAside adds the noise of another element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotAside(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	best := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[i-1] > q[best]+eta[best] {
			best = i
		}
	}
	return best
}

// NotAll leaves the last one without noise.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotAll(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := 0; i < len(q)-1; i++ {
		eta[i] = src.Laplace(2 / eps)
	}
	best := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[i] > q[best]+eta[best] {
			best = i
		}
	}
	return best
}

// NotFromFirst leaves the first one without noise.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotFromFirst(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := 1; i < len(q); i++ {
		eta[i] = src.Laplace(2 / eps)
	}
	best := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[i] > q[best]+eta[best] {
			best = i
		}
	}
	return best
}

// NotTwice sets an element of the noise again.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotTwice(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	eta[0] = 0
	best := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[i] > q[best]+eta[best] {
			best = i
		}
	}
	return best
}

// NotTheInput adds the noise to a copy that changes.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotTheInput(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	r := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	best := 0
	for i, x := range q {
		r[i] = x
		if r[i]+eta[i] > r[best]+eta[best] {
			best = i
		}
	}
	return best
}

// NotChosen chooses by the noise itself.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotChosen(q []float64, eps float64, src *noise.Source) (int, int) {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range q {
		if q[i]+eta[i] > 0 {
			n++
		}
	}
	if len(q) == 0 {
		return n, 0
	}
	return n, src.Choose(eta, eps)
}

// NotReplaced adds the noise to another slice.
//
//dp:adjacent each(r) <= 1
//dp:requires eps > 0 && len(q) > 0 && len(q) == len(r)
//dp:cost eps
func NotReplaced(q, r []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	q = r
	best := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[i] > q[best]+eta[best] {
			best = i
		}
	}
	return best
}

// NotACopy adds it to a copy of which an element changes.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotACopy(q []float64, eps float64, src *noise.Source) int {
	r := append([]float64(nil), q...)
	eta := make([]float64, len(r))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	r[0] = 0
	best := 0
	for i := 1; i < len(q); i++ {
		if r[i]+eta[i] > r[best]+eta[best] {
			best = i
		}
	}
	return best
}

// NotOne draws one number alone, for a slice of one.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotOne(q []float64, t, eps float64, src *noise.Source) bool {
	eta := make([]float64, 1)
	eta[0] = src.Laplace(1 / eps)
	return q[0]+eta[0] > t
}

// NotInALoop draws one number alone.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotInALoop(q []float64, t, eps float64, src *noise.Source) bool {
	eta := make([]float64, len(q))
	eta[0] = src.Laplace(1 / eps)
	return q[0]+eta[0] > t
}

// NotDrawn has no noise.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotDrawn(q []float64, t, eps float64, src *noise.Source) int {
	var eta []float64
	eta = make([]float64, len(q))
	n := 0
	for i := range q {
		if q[i]+eta[i] > t {
			n++
		}
	}
	return n
}

// NotAppended has its noise behind the zeros.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotAppended(q []float64, t, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := 0; i < len(q); i++ {
		eta = append(eta, src.Laplace(2/eps))
	}
	n := 0
	for i := range q {
		if q[i]+eta[i] > t {
			n++
		}
	}
	return n
}

// NotFromK begins where it is told to.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k >= 0
//dp:cost eps
func NotFromK(q []float64, k int, t, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := k; i < len(q); i++ {
		eta[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range q {
		if q[i]+eta[i] > t {
			n++
		}
	}
	return n
}

// NotLess takes the noise away.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotLess(q []float64, t, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range q {
		if q[i]-eta[i] > t {
			n++
		}
	}
	return n
}

// NotShown keeps the noise itself.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotShown(q []float64, t, eps float64, src *noise.Source) (int, []float64) {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range q {
		if q[i]+eta[i] > t {
			n++
		}
	}
	return n, eta
}

// NotRead asks only how long it is.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotRead(q []float64, t, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range q {
		eta[i] = src.Laplace(2 / eps)
	}
	return len(eta)
}

// NotItself adds an element to itself.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotItself(q []float64, t, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range q {
		if q[i]+q[i] > eta[i] {
			n++
		}
	}
	return n
}

// NotRaised adds it to more than the element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotRaised(q []float64, t, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i, x := range q {
		if x < t {
			x = t
		}
		if x+eta[i] > 0 {
			n++
		}
	}
	return n
}

// NotMoved adds it to the element before.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotMoved(q []float64, t, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n, i := 0, 0
	for i < len(q)-1 {
		x := q[i]
		i++
		if x+eta[i] > t {
			n++
		}
	}
	return n
}

// NotLast keeps the last element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotLast(q []float64, t, eps float64, src *noise.Source) (int, bool) {
	last := 0.0
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range q {
		last = q[i]
		if last+eta[i] > t {
			n++
		}
	}
	return n, last > t
}

// Until leaves its loop, and what follows has another one.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Until(q []float64, t, eps float64, src *noise.Source) int {
	counts := make([]int, 3)
	counts[1] = len(q)
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i, x := range q {
		if x < -1 {
			continue
		}
		if x+eta[i] > t {
			break
		}
		n++
	}
	for n > 2 {
		n = counts[1] - n
	}
	for i := 0; i < n; i++ {
	}
	return n + counts[1]
}

// Moves has a loop of which the first statement reads what it then sets.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Moves(q []float64, t, eps float64, src *noise.Source) int {
	r := append([]float64(nil), q...)
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n := 0
	for i := range r {
		x := r[i]
		r[i] = 0
		if x > 0 {
			n++
		}
	}
	for i := range q {
		if q[i]+eta[i] > t {
			n++
		}
	}
	return n
}

// NotYet has a bound that becomes the length later.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotYet(q []float64, t, eps float64, src *noise.Source) int {
	bound := 1
	eta := make([]float64, len(q))
	for i := 0; i < bound; i++ {
		eta[i] = src.Laplace(2 / eps)
	}
	bound = len(eta)
	n := 0
	for i := 0; i < bound; i++ {
		if q[i]+eta[i] > t {
			n++
		}
	}
	return n
}

// NotMovedOn adds it to the element before, of which the place is computed.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotMovedOn(q []float64, t, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	n, i := 0, 1
	for i < len(q) {
		x := q[i-1]
		i++
		if x+eta[i-1] > t {
			n++
		}
	}
	return n
}
