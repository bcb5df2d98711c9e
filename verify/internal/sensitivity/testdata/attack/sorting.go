package attack

import (
	"slices"
	"sort"

	"github.com/discreet-dp/discreet/noise"
)

type reckoned struct {
	key   int
	count float64
}

// OrderByPrivate: what is sorted is public, and the order is not.
//
// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OrderByPrivate(q []float64, eps float64, src *noise.Source) []int {
	out := []int{0, 1, 2}
	sort.Slice(out, func(i, j int) bool { return q[out[i]] < q[out[j]] })
	return out
}

// OrderOfPrivate: the keys are in the order of the counts without noise.
//
// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OrderOfPrivate(q []float64, eps float64, src *noise.Source) []reckoned {
	var out []reckoned
	for i, x := range q {
		out = append(out, reckoned{i, x})
	}
	slices.SortFunc(out, func(x, y reckoned) int {
		if x.count > y.count {
			return -1
		}
		return 1
	})
	for i := range out {
		out[i].count = src.Laplace(1 / eps)
	}
	return out
}

// OrderTells: the function that compares counts how often it is called.
//
// want: rejected
//
//dp:sensitivity x = 0
func OrderTells(x float64) (float64, []int) {
	out := []int{2, 1}
	n := 0.0
	slices.SortFunc(out, func(i, j int) int {
		n += x
		return i - j
	})
	return n, out
}

// OrderKept: the function that compares is called again.
//
// want: rejected
//
//dp:sensitivity x = 0
func OrderKept(x float64) ([]float64, bool) {
	out := []float64{2, 1}
	less := func(i, j int) bool { return out[i] < out[j] }
	sort.Slice(out, less)
	out[0] = x
	return []float64{1}, less(0, 1)
}

// OrderOfAnother: the literal reads another slice that is written to.
//
// want: rejected
//
//dp:sensitivity x = 0
func OrderOfAnother(x float64) []int {
	out, by := []int{0, 1}, []float64{1, 2}
	by[0] = x
	sort.Slice(out, func(i, j int) bool { return by[out[i]] < by[out[j]] })
	return out
}

// HeldElsewhere: the loop reads another element too.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && k > 1
//dp:cost eps
func HeldElsewhere(rows []float64, k int, eps float64, src *noise.Source) int {
	scores := make([]float64, k)
	for i := range k {
		for _, r := range rows {
			if r <= float64(i) {
				scores[i]++
				scores[0]++
			}
		}
	}
	return src.Choose(scores, eps)
}

// HeldWhole: the loop reads the slice by another function.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && k > 1
//dp:cost eps
func HeldWhole(rows []float64, k int, eps float64, src *noise.Source) int {
	scores := make([]float64, k)
	for i := range k {
		for _, r := range rows {
			if r <= float64(i) {
				scores[i] += min(1, slices.Max(scores))
			}
		}
	}
	return src.Choose(scores, eps)
}

// HeldIndex: the index is another one within the loop.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func HeldIndex(q []float64, n int) []float64 {
	out := make([]float64, len(q)+n)
	for i := range q {
		for range n {
			out[i] += q[i]
			i++
		}
	}
	return out
}

// HeldByCall: a function that is called in the loop sets the index.
//
// want: rejected
//
//dp:sensitivity q = 2 in linf
func HeldByCall(q []float64) []float64 {
	out := make([]float64, len(q)+2)
	for i := range q {
		next := func() { i++ }
		for range 2 {
			out[i] += q[0]
			next()
		}
	}
	return out
}

// HeldTwice: in each round as much again.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func HeldTwice(rows []float64, cuts []float64, eps float64, src *noise.Source) int {
	scores := make([]float64, len(cuts))
	for i, cut := range cuts {
		for range 2 {
			for _, r := range rows {
				if r <= cut {
					scores[i]++
				}
			}
		}
	}
	return src.Choose(scores, eps)
}
