package fresh

import "github.com/discreet-dp/discreet/noise"

// HistogramOutside counts at an index that nobody holds within: a row beyond it panics.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func HistogramOutside(rows []int, n int, eps float64, src *noise.Source) []float64 {
	counts := make([]float64, n)
	for _, r := range rows {
		counts[r]++
	}
	for i := range counts {
		counts[i] += src.Laplace(1 / eps)
	}
	return counts
}

// HistogramWithin counts rows that lie within.
//
// want: proved
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func HistogramWithin(rows []int, n int, eps float64, src *noise.Source) []float64 {
	counts := make([]float64, n)
	for _, r := range rows {
		if r < 0 || r >= len(counts) {
			continue
		}
		counts[r]++
	}
	for i := range counts {
		counts[i] += src.Laplace(1 / eps)
	}
	return counts
}

// CountShares divides by what may be zero.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func CountShares(rows []int, eps float64, src *noise.Source) float64 {
	n := 0.0
	for _, r := range rows {
		if 10/r > 2 {
			n++
		}
	}
	return n + src.Laplace(1/eps)
}

func sixth(d int) int { return 6 / d }

// DividesAside throws a quotient away, and with it whether there is one.
//
// want: refuted
//
//dp:adjacent |d| <= 1
//dp:requires eps > 0
//dp:cost eps
func DividesAside(d int, eps float64, src *noise.Source) float64 {
	sixth(d)
	return float64(d) + src.Laplace(1/eps)
}

// DividesForNothing returns nothing but whether it returns.
//
// want: refuted
//
//dp:adjacent |d| <= 1
//dp:requires eps > 0
//dp:cost 0
func DividesForNothing(d int, eps float64) int { x := 1 / d; _ = x; return 0 }

// DividesByCall does the same by a call.
//
// want: refuted
//
//dp:adjacent |d| <= 1
//dp:requires eps > 0
//dp:cost 0
func DividesByCall(d int, eps float64) int { return DividesForNothing(d, eps) }

// ElementOfNothing returns nothing but whether the index lies within.
//
// want: refuted
//
//dp:adjacent |i| <= 1
//dp:requires eps > 0
//dp:cost eps
func ElementOfNothing(tab []int, i int, eps float64) int { return tab[i] * 0 }
