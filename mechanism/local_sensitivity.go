package mechanism

import (
	"math/big"
	"slices"
	"sort"
)

// A sample is values of which the median is wanted, as numbers of candidates,
// ascending: x₁ <= x₂ <= ... <= xₙ. What lies before is 0, what lies behind the last
// candidate. The median is x_m with m = ⌈n/2⌉.
//
// How far the median can move rests on one fact. When a value is added, the new
// x'_i lies between x_(i−1) and x_i, and the new m' is m or m+1; so when one is
// replaced, x'_i lies between x_i and one of its neighbours, and m' = m. Hence for
// samples x and x' that differ in one value, in either way, each window [x_a, x_b]
// with a <= m <= b lies within a window of x' that contains m' and is longer by one,
// [x'_a, x'_(b+1)] or [x'_(a−1), x'_b]; and by adding up, for samples that differ in
// R values, within one that is longer by R.
type sample struct {
	values []uint64
	last   uint64
}

func newSample(l line, values []float64) sample {
	numbers := l.numbers(values)
	slices.Sort(numbers)
	return sample{numbers, l.last}
}

func (s sample) at(i int) uint64 {
	switch {
	case i < 1:
		return 0
	case i > len(s.values):
		return s.last
	}
	return s.values[i-1]
}

func (s sample) middle() int { return (len(s.values) + 1) / 2 }

// median returns x_m.
func (s sample) median() *big.Int { return new(big.Int).SetUint64(s.at(s.middle())) }

// widest returns the largest x_b − x_a of windows with b−a = length that contain m:
// how far the median moves at most when length values change. By the fact above it
// is at most widest(length+R) of a sample that differs in R values, and so widest of
// length (k+1)·R bounds how far the median moves at most when R values change after
// k·R others have (the local sensitivity at distance k; Nissim, Raskhodnikova and
// Smith 2007, Section 3.1).
func (s sample) widest(length int) uint64 {
	if length > len(s.values) {
		return s.last // from before the first value to behind the last one
	}
	width, m := uint64(0), s.middle()
	for a := m - length; a <= m; a++ {
		width = max(width, s.at(a+length)-s.at(a))
	}
	return width
}

// stableFor returns for how many units, of R values each, any may change before
// one more can move the median by more than bound; at most most. It changes by at most
// one between neighbours: the least k with widest((k+1)·R) > bound does so.
func (s sample) stableFor(rows int, bound uint64, most int) int {
	beyond := len(s.values) + 1 // no window is longer, and (k+1)·R may overflow
	return sort.Search(most, func(k int) bool {
		length := beyond
		if k < beyond/rows {
			length = (k + 1) * rows
		}
		return s.widest(length) > bound
	})
}
