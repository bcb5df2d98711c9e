// Package apart holds functions that have no rounds, or of which the rounds share what is
// private, so that one round says nothing of all.
package apart

import "github.com/discreet-dp/discreet/noise"

// Outer draws its threshold before the loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Outer(q []float64, t float64, k int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var out []bool
	for range k {
		for _, x := range q {
			out = append(out, x+src.Laplace(4/eps) > t)
		}
	}
	return out
}

// Simple has no loop within the loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost float64(len(q)) * eps
func Simple(q []float64, eps float64, src *noise.Source) []float64 {
	var out []float64
	for _, x := range q {
		out = append(out, x+src.Laplace(1/eps))
	}
	return out
}

// Summed has a private sum that is made by a loop before.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Summed(q []float64, k int, eps float64, src *noise.Source) []float64 {
	s := 0.0
	for _, x := range q {
		s += x
	}
	var out []float64
	for range k {
		for range q {
			out = append(out, s+src.Laplace(1/eps))
		}
	}
	return out
}

// Branched sets what rounds read in a branch on private data.
//
//dp:adjacent each(q) <= 1
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Branched(q []float64, x float64, k int, eps float64, src *noise.Source) []float64 {
	s := 0.0
	if x > 0 {
		s = 1
	}
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, s*z+src.Laplace(1/eps))
		}
	}
	return out
}

// After reads private data behind the loop.
//
//dp:adjacent each(q) <= 1
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func After(q []float64, x float64, k int, eps float64, src *noise.Source) float64 {
	s := 0.0
	for range k {
		for _, z := range q {
			s = z + src.Laplace(1/eps)
		}
	}
	return s + x
}

// Grown counts rounds by what its body changes.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Grown(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := 0; i < k; i++ {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		if len(out) < 100 {
			i--
		}
	}
	return out
}

// Below begins below 0, and runs more than k rounds.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Below(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := -1; i < k; i++ {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
	}
	return out
}

// Moved changes the count in its rounds.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Moved(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	n := k
	for i := 0; i < n; i++ {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		n++
	}
	return out
}

// Left leaves the loop where noise is read.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Left(q []float64, k int, eps float64, src *noise.Source) int {
	n := 0
	for range k {
		if q[0]+src.Laplace(1/eps) > 0 {
			break
		}
		for _, z := range q {
			if z+src.Laplace(1/eps) > 0 {
				n++
			}
		}
	}
	return n
}

// Stored writes what rounds share where it draws.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Stored(q []float64, k int, eps float64, src *noise.Source) []float64 {
	sums := make([]float64, len(q))
	for range k {
		for i, z := range q {
			sums[i] += z + src.Laplace(1/eps)
		}
	}
	return sums
}

// Negative claims less than nothing where n is: no round runs, and none is taken for all.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps * float64(n)
func Negative(q []float64, n int, eps float64, src *noise.Source) []int {
	var out []int
	for i := 0; i < n; i++ {
		best, arg := 0.0, -1
		for j, x := range q {
			if v := x + src.Laplace(2/eps); arg < 0 || v > best {
				best, arg = v, j
			}
		}
		out = append(out, arg)
	}
	return out
}
