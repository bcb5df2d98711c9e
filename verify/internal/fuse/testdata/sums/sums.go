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
