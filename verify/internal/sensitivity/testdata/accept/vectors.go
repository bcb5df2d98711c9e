package accept

import (
	"math"
	"slices"
	"sort"
)

// Total is a sum in l1.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Total(q []float64) (total float64) {
	for _, x := range q {
		total += x
	}
	return total
}

// TotalByIndex is by a counted loop.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func TotalByIndex(q []float64) float64 {
	total := 0.0
	for i := 0; i < len(q); i++ {
		total += q[i]
	}
	return total
}

// Average has a public length.
//
// want: accepted: q: 1/len(q)
//
//dp:requires len(q) > 0
//dp:sensitivity q = 1 / float64(len(q))
func Average(q []float64) float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	return sum / float64(len(q))
}

// Norm1 is 1-Lipschitz.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Norm1(q []float64) float64 {
	n := 0.0
	for _, x := range q {
		n += math.Abs(x)
	}
	return n
}

// Affinely is elementwise.
//
// want: accepted: q: 3
//
//dp:sensitivity q = 3 in linf
func Affinely(q []float64) []float64 {
	var out []float64
	for _, x := range q {
		out = append(out, 3*x+1)
	}
	return out
}

// ClampedEach is 1 in each norm.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1 in l2
func ClampedEach(q []float64, lo, hi float64) []float64 {
	out := make([]float64, 0, len(q))
	for _, x := range q {
		out = append(out, min(max(x, lo), hi))
	}
	return out
}

// InPlace changes a copy.
//
// want: accepted: q: 2
//
//dp:sensitivity q = 2 in l1
func InPlace(q []float64) []float64 {
	out := slices.Clone(q)
	for i := range out {
		out[i] *= 2
	}
	return out
}

// CopiedBy copies by append.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1 in l1
func CopiedBy(q []float64) []float64 {
	out := append([]float64(nil), q...)
	for i := range out {
		out[i] -= 5
	}
	return out
}

// CopiedInto copies by copy.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1 in l1
func CopiedInto(q []float64) []float64 {
	out := make([]float64, len(q))
	copy(out, q)
	return out
}

// Sorted sorts a copy.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1 in l2
func Sorted(q []float64) []float64 {
	s := make([]float64, len(q))
	copy(s, q)
	sort.Float64s(s)
	return s
}

// MedianOf takes the middle of what is sorted.
//
// want: accepted: q: 1
//
//dp:requires len(q) > 0
//dp:sensitivity q = 1 in linf
func MedianOf(q []float64) float64 {
	s := slices.Clone(q)
	slices.Sort(s)
	return s[len(s)/2]
}

// RangeOf is max less min.
//
// want: accepted: q: 2
//
//dp:requires len(q) > 0
//dp:sensitivity q = 2 in linf
func RangeOf(q []float64) float64 { return slices.Max(q) - slices.Min(q) }

// Padded has a zero at either end.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1 in l1
func Padded(q []float64) []float64 {
	out := []float64{0}
	out = append(out, q...)
	out = append(out, 0)
	return out
}

// Joined is two vectors.
//
// want: accepted: p: 1, q: 1
//
//dp:sensitivity p = 1, q = 1
func Joined(p, q []float64) []float64 {
	var out []float64
	out = append(out, p...)
	out = append(out, q...)
	return out
}

// Sum2 adds vectors.
//
// want: accepted: p: 1, q: 1
//
//dp:requires len(p) == len(q)
//dp:sensitivity p = 1, q = 1
func Sum2(p, q []float64) []float64 {
	out := make([]float64, len(p))
	for i := range p {
		out[i] = p[i] + q[i]
	}
	return out
}

// Flipped does so by the library.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1 in l2
func Flipped(q []float64) []float64 {
	out := slices.Clone(q)
	slices.Reverse(out)
	return out
}

// TwoMoments is of clamped numbers: 1 for the sum, 2 for the squares.
//
// want: accepted: q: 3
//
//dp:sensitivity q = 3
func TwoMoments(q []float64) (sum, squares float64) {
	for _, x := range q {
		c := min(max(x, -1), 1)
		sum += c
		squares += c * c
	}
	return sum, squares
}

// Centred takes off the mean: 1 and 1 again, in l1.
//
// want: accepted: q: 2
//
//dp:requires len(q) > 0
//dp:sensitivity q = 2 in l1
func Centred(q []float64) []float64 {
	mean := 0.0
	for _, x := range q {
		mean += x
	}
	mean /= float64(len(q))
	out := make([]float64, len(q))
	for i, x := range q {
		out[i] = x - mean
	}
	return out
}

// Residuals is against a public model.
//
// want: accepted: y: 1
//
//dp:sensitivity y = 1 in l2
func Residuals(y, x []float64, slope, intercept float64) []float64 {
	r := make([]float64, len(y))
	for i := range y {
		r[i] = y[i] - (slope*x[i] + intercept)
	}
	return r
}

// Pooled mixes three public groups.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Pooled(q []float64, group []int) [3]float64 {
	var by [3]float64
	for i, x := range q {
		if g := group[i]; g >= 0 && g < 3 {
			by[g] += x
		}
	}
	return by
}

func mapEach(q []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(q))
	for i, x := range q {
		out[i] = f(x)
	}
	return out
}

func foldAll(q []float64, start float64, f func(acc, x float64) float64) float64 {
	acc := start
	for _, x := range q {
		acc = f(acc, x)
	}
	return acc
}

// Folded is by functions over functions: 2 in each, 1 of the sum.
//
// want: accepted: q: 2
//
//dp:sensitivity q = 2
func Folded(q []float64) float64 {
	doubled := mapEach(q, func(x float64) float64 { return 2 * x })
	return foldAll(doubled, 0, func(acc, x float64) float64 { return acc + x })
}

type table struct{ x, y []float64 }

// Padding breaks out for a public reason.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Until(q []float64, stop []bool) float64 {
	s := 0.0
	for i, x := range q {
		if stop[i] {
			break
		}
		s += x
	}
	return s
}

// Skipping continues for a public reason.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Skipping(q []float64, skip []bool) float64 {
	s := 0.0
	for i, x := range q {
		if skip[i] {
			continue
		}
		s += x
	}
	return s
}

// Positive sums what is above 0.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Positive(q []float64) float64 {
	s := 0.0
	for _, x := range q {
		if x > 0 {
			s += x
		}
	}
	return s
}

// Largest is 1-Lipschitz in linf.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1 in linf
func Largest(q []float64) float64 {
	best := 0.0
	for _, x := range q {
		if x > best {
			best = x
		}
	}
	return best
}

// LargestOf starts with the first.
//
// want: accepted: q: 1
//
//dp:requires len(q) > 0
//dp:sensitivity q = 1 in linf
func LargestOf(q []float64) float64 {
	best := q[0]
	for _, x := range q[1:] {
		best = math.Max(best, x)
	}
	return best
}

// Dot is with public weights of at most 1.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Dot(q, w []float64) float64 {
	s := 0.0
	for i := range q {
		s += q[i] * max(-1, min(1, w[i]))
	}
	return s
}

// FirstFew sums some.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func FirstFew(q []float64, n int) float64 {
	s := 0.0
	for i := 0; i < n && i < len(q); i++ {
		s += q[i]
	}
	return s
}

// Exponential smoothing: each element counts at most w(1-w)^k <= w.
//
// want: accepted: q: w
//
//dp:adjacent one(q) <= 1
//dp:requires w >= 0 && w <= 1
//dp:sensitivity q = w
func SmoothedLast(q []float64, w float64) float64 {
	level := 0.0
	for _, x := range q {
		level = w*x + (1-w)*level
	}
	return level
}

// Wide is 1 in each number, of a struct of slices.
//
// want: accepted: t.x: 1, t.y: 1
//
//dp:sensitivity t.x = 1, t.y = 1
func Wide(t table) float64 {
	s := 0.0
	for i := range t.x {
		s += t.x[i]
	}
	for i := range t.y {
		s -= t.y[i]
	}
	return s
}
