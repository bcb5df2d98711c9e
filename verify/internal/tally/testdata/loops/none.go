package loops

import (
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

// EveryOther counts records at even places.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func EveryOther(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for i := 0; i < len(rows); i++ {
		if rows[i] > 0 {
			n += 2
		}
		i++
	}
	return float64(n) + src.Laplace(1/eps)
}

// EverySecond does so by steps of 2.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func EverySecond(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for i := 0; i < len(rows); i += 2 {
		if rows[i] > 0 {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// AllButFirst leaves out a record by its place.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func AllButFirst(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for i := 1; i < len(rows); i++ {
		if rows[i] > 0 {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// AsManyAsOthers counts as many records as there are of another list.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires len(rows) >= len(w)
//dp:requires eps > 0
//dp:cost eps
func AsManyAsOthers(rows, w []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for i := 0; i < len(w); i++ {
		if rows[i] > 0 {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// PlaceBehind shows how many records there are.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func PlaceBehind(rows []float64, eps float64, src *noise.Source) int64 {
	n, i := 0, 0
	for ; i < len(rows); i++ {
		if rows[i] > 0 {
			n++
		}
	}
	return int64(i) + int64(n)*src.DiscreteLaplace(1/eps)
}

// ResetFirst forgets what was before.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func ResetFirst(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r > 0 {
			n = 0
		}
		n++
	}
	return float64(n) + src.Laplace(1/eps)
}

// EachRoundOfOne adds to one slice in each round.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func EachRoundOfOne(rows []int, k int, eps float64, src *noise.Source) []int64 {
	counts := make([]int64, 3)
	for range k {
		for _, r := range rows {
			if r >= 0 && r < 3 {
				counts[r]++
			}
		}
	}
	for i := range counts {
		counts[i] += src.DiscreteLaplace(1 / eps)
	}
	return counts
}

// TwiceInOne adds to one slice in two loops.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func TwiceInOne(rows []int, k int, eps float64, src *noise.Source) []int64 {
	counts := make([]int64, k)
	for _, r := range rows {
		if r >= 0 && r < k {
			counts[r]++
		}
	}
	for _, r := range rows {
		if r >= 0 && r < k {
			counts[r]++
		}
	}
	for i := range counts {
		counts[i] += src.DiscreteLaplace(1 / eps)
	}
	return counts
}

// Continued adds to what is not 0.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Continued(rows []int, before []int64, eps float64, src *noise.Source) []int64 {
	counts := slices.Clone(before)
	for _, r := range rows {
		if r >= 0 && r < len(counts) {
			counts[r]++
		}
	}
	for i := range counts {
		counts[i] += src.DiscreteLaplace(1 / eps)
	}
	return counts
}

// PrivateLength has as many numbers as a private one says.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:adjacent |k| <= 1
//dp:requires eps > 0
//dp:cost eps
func PrivateLength(rows []int, k int, eps float64, src *noise.Source) []int64 {
	counts := make([]int64, k)
	for _, r := range rows {
		if r >= 0 && r < len(counts) {
			counts[r]++
		}
	}
	for i := range counts {
		counts[i] += src.DiscreteLaplace(1 / eps)
	}
	return counts
}

// UnboundedThenSkips adds what has no bound, before it goes on.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func UnboundedThenSkips(rows []float64, eps float64, src *noise.Source) float64 {
	s, n := 0.0, 0
	for _, r := range rows {
		s += r
		if r > 0 {
			continue
		}
		n++
	}
	return s + float64(n) + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func UnboundedBelow(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s += min(r, 0)
	}
	return s + src.Laplace(1/eps)
}

// want: s·all1 -4..4
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClampedBelow(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s += min(max(r, -4), 2)
	}
	return s + src.Laplace(1/eps)
}

// want: s·all1 -4..4
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func TakenOff(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s -= min(max(r, -2), 4)
	}
	return s + src.Laplace(1/eps)
}

// want: m·all1 -1..1, n·all2 -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Otherwise(rows []float64, eps float64, src *noise.Source) float64 {
	n, m := 0, 0
	for _, r := range rows {
		if r > 3 {
			m--
		} else {
			n++
		}
	}
	return float64(n+m) + src.Laplace(1/eps)
}

// LastPlus is the last record.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func LastPlus(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0.0
	for _, r := range rows {
		n = r + 1
	}
	return n + src.Laplace(1/eps)
}

// PlusLast is, too.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func PlusLast(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0.0
	for _, r := range rows {
		n = 1 + r
	}
	return n + src.Laplace(1/eps)
}

// LastMinus is, too.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func LastMinus(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0.0
	for _, r := range rows {
		n = r - 1
	}
	return n + src.Laplace(1/eps)
}

// Flips is 10, or -5.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Flips(rows []float64, eps float64, src *noise.Source) float64 {
	n, m := 10.0, 0
	for _, r := range rows {
		n = 5 - n
		if r > 0 {
			m++
		}
	}
	return n + float64(m) + src.Laplace(1/eps)
}

// Doubles grows by more than 2.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Doubles(rows []float64, eps float64, src *noise.Source) float64 {
	n, m := 1.0, 0
	for _, r := range rows {
		n *= 2
		if r > 0 {
			m++
		}
	}
	return n + float64(m) + src.Laplace(1/eps)
}

// DoublesBins multiplies where others add.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func DoublesBins(rows []int, k int, eps float64, src *noise.Source) []int64 {
	bins := make([]int64, k)
	for _, r := range rows {
		if r >= 0 && r < k {
			bins[r] = bins[r] * 2
		}
	}
	for i := range bins {
		bins[i] += src.DiscreteLaplace(1 / eps)
	}
	return bins
}

// ByAnotherBin adds to a bin what is in another one.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func ByAnotherBin(rows []int, k int, eps float64, src *noise.Source) []int64 {
	bins := make([]int64, k)
	for _, r := range rows {
		if r >= 1 && r < k {
			bins[r] = bins[r-1] + 1
		}
	}
	for i := range bins {
		bins[i] += src.DiscreteLaplace(1 / eps)
	}
	return bins
}

// ByAnotherSlice adds to a bin what is in another slice.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func ByAnotherSlice(rows []int, k int, old []int64, eps float64, src *noise.Source) []int64 {
	bins := make([]int64, len(old))
	for _, r := range rows {
		if r >= 0 && r < len(old) {
			bins[r] = old[r] + 1
		}
	}
	for i := range bins {
		bins[i] += src.DiscreteLaplace(1 / eps)
	}
	return bins
}

// Neighbouring compares a record with the one before.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Neighbouring(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for i := 0; i < len(rows); i++ {
		if i > 0 && rows[i] > rows[i-1] {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// FirstOfAll compares each with the first.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires len(rows) > 0
//dp:requires eps > 0
//dp:cost eps
func FirstOfAll(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for i := 0; i < len(rows); i++ {
		if rows[i] > rows[0] {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// AnotherAtPlace reads what is public at the place of a record.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires len(w) >= len(rows)
//dp:requires eps > 0
//dp:cost eps
func AnotherAtPlace(rows, w []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for i, r := range rows {
		if r > w[i] {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// ReadBefore takes off what was there before the records were counted: nothing.
//
// want: one counts·all1 -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func ReadBefore(rows []int, eps float64, src *noise.Source) int64 {
	counts := make([]int64, 3)
	t := counts[0]
	for _, r := range rows {
		if r >= 0 && r < 3 {
			counts[r]++
		}
	}
	return counts[0] - t
}

// SetAfter sets a count to a number.
//
// want: one counts·all1 -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func SetAfter(rows []int, eps float64, src *noise.Source) (int64, int64) {
	counts := make([]int64, 3)
	for _, r := range rows {
		if r >= 0 && r < 3 {
			counts[r]++
		}
	}
	counts[0] = 7
	return counts[0], counts[1]
}

// NoiseFirst has a level of noise and of what is public.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoiseFirst(rows []float64, m, eps float64, src *noise.Source) float64 {
	level := src.Laplace(2/eps) + m
	n := 0
	for _, r := range rows {
		if r <= level {
			n++
		}
	}
	return level + float64(n) + src.Laplace(2/eps)
}

// NoiseAndElement has one of noise and an element.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoiseAndElement(rows, grid []float64, eps float64, src *noise.Source) int {
	t := src.Laplace(2 / eps)
	for i := range grid {
		level := t + grid[i]
		n := 0
		for _, r := range rows {
			if r <= level {
				n++
			}
		}
		if float64(n)+src.Laplace(4/eps) >= 3 {
			return i
		}
	}
	return -1
}

// NoisyElement has one that is an element of noise.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyElement(rows []float64, eps float64, src *noise.Source) float64 {
	noisy := []float64{src.Laplace(2 / eps)}
	level := noisy[0]
	n := 0
	for _, r := range rows {
		if r <= level {
			n++
		}
	}
	return level + float64(n) + src.Laplace(2/eps)
}

// ByNumber compares with how many there are.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func ByNumber(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r < float64(len(rows)) {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// PrivateThenLength compares with a private number and a public length.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func PrivateThenLength(rows, grid []float64, x, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r <= x+float64(len(grid)) {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// PrivateThenElement compares with a private number and a public element.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:adjacent |x| <= 1
//dp:requires len(grid) > 0
//dp:requires eps > 0
//dp:cost eps
func PrivateThenElement(rows, grid []float64, x, eps float64, src *noise.Source) float64 {
	first := grid[0]
	n := 0
	for _, r := range rows {
		if r <= x+first || r > x+grid[0] {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func AtMostZero(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s += min(0, r)
	}
	return s + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func AtLeastZero(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s += max(0, r)
	}
	return s + src.Laplace(1/eps)
}

// TwoBags has two lists of records, and shows how long one is.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:adjacent bag(others) <= 1
//dp:requires eps > 0
//dp:cost eps
func TwoBags(others, rows []float64, eps float64, src *noise.Source) (int, float64) {
	n := 0
	for _, r := range rows {
		if r > 0 {
			n++
		}
	}
	return len(others), float64(n) + src.Laplace(1/eps)
}

// RoundsOfBins makes a slice in each round, and compares those of two.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func RoundsOfBins(rows []int, eps float64, src *noise.Source) int64 {
	d := int64(0)
	for i := range 2 {
		counts := make([]int64, 3)
		for _, r := range rows {
			if r >= i && r < 3 {
				counts[r]++
			}
		}
		d = counts[0] - d
	}
	return d
}

// OtherLength makes another slice first.
//
// want: one counts·all1 -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func OtherLength(rows []int, k int, eps float64, src *noise.Source) []int64 {
	two := make([]int64, 2)
	counts := make([]int64, k)
	for _, r := range rows {
		if r >= 0 && r < k {
			counts[r]++
		}
	}
	for i := range counts {
		counts[i] += src.DiscreteLaplace(1/eps) + two[0]
	}
	return counts
}
