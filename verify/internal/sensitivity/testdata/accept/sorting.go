package accept

import (
	"slices"
	"sort"

	"github.com/discreet-dp/discreet/noise"
)

type tallied struct {
	key   int
	count float64
}

// LargestCounts are the k largest noisy counts, in order: what is done with what was released is free.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && k >= 0 && k <= 10
//dp:cost eps
func LargestCounts(rows []int, k int, eps float64, src *noise.Source) []tallied {
	counts := make([]int, 10)
	for _, r := range rows {
		if r >= 0 && r < 10 {
			counts[r]++
		}
	}
	var out []tallied
	for i, n := range counts {
		out = append(out, tallied{i, float64(n) + src.Laplace(1/eps)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].count > out[j].count })
	out = out[:k]
	return out
}

// Ordered sorts rows by a function of two.
//
// want: accepted: eps
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Ordered(q []float64, eps float64, src *noise.Source) []tallied {
	out := make([]tallied, 0, len(q))
	for i, x := range q {
		out = append(out, tallied{i, x + src.Laplace(1/eps)})
	}
	slices.SortFunc(out, func(x, y tallied) int {
		if x.count > y.count {
			return -1
		}
		return 1
	})
	return out
}

// Scores are counts below public cuts, of which each moves by 1.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Scores(rows []float64, cuts []float64, eps float64, src *noise.Source) int {
	scores := make([]float64, len(cuts))
	for i, cut := range cuts {
		for _, r := range rows {
			if r <= cut {
				scores[i]++
			}
		}
	}
	return src.Choose(scores, eps)
}

// Columns is a product with a public matrix, in the largest.
//
// want: accepted: q: len(q)
//
//dp:sensitivity q = float64(len(q)) in linf
func Columns(q []float64, w [][]float64, n int) []float64 {
	out := make([]float64, n)
	for i := range n {
		for j := range q {
			out[i] += q[j] * max(0, min(w[i][j], 1))
		}
	}
	return out
}

// MovedFields writes to the fields of the elements that it ranges over.
//
// want: accepted: x: 0
//
//dp:sensitivity x = 0
func MovedFields(rows []tallied, x float64) []tallied {
	all := slices.Clone(rows)
	for i := range all {
		all[i].count = all[i].count/2 + x - x
	}
	return all
}
