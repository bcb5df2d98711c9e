// Package panics holds programs that may panic: that they do is a result, which the rules
// of static cost do not see.
package panics

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

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

// CountsTheFifth counts at a place that is public, and may be outside: only where there
// are rows does it matter.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func CountsTheFifth(rows []int, n int, eps float64, src *noise.Source) []float64 {
	counts := make([]float64, n)
	for range rows {
		counts[5]++
	}
	for i := range counts {
		counts[i] += src.Laplace(1 / eps)
	}
	return counts
}

// Remainders divides each row by what is public, and may be zero.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Remainders(rows []int, n int, eps float64, src *noise.Source) float64 {
	odd := 0.0
	for _, r := range rows {
		if r%n != 0 {
			odd++
		}
	}
	return odd + src.Laplace(1/eps)
}

// RemaindersOfSome divides by what is no zero.
//
// want: proved
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func RemaindersOfSome(rows []int, n int, eps float64, src *noise.Source) float64 {
	odd := 0.0
	for _, r := range rows {
		if r%n != 0 {
			odd++
		}
	}
	return odd + src.Laplace(1/eps)
}

// DividesPublicly panics, or not, alike for all rows.
//
// want: proved
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func DividesPublicly(rows []int, n int, eps float64, src *noise.Source) float64 {
	share := float64(100 / n)
	count := 0.0
	for range rows {
		count++
	}
	return (count + src.Laplace(1/eps)) * share
}

// StopsAtTheFirst leaves its loop where a row says so, and looks up a place only if none
// does.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func StopsAtTheFirst(rows []int, table []int, k int, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r > 100 {
			continue
		}
		n += table[k] * 0
	}
	return float64(n) + src.Laplace(1/eps)
}

// RemaindersApproximately is Remainders with a chance of failure that is smaller.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && delta > 0 && delta <= 0.01
//dp:cost eps, delta
func RemaindersApproximately(rows []int, n int, eps, delta float64, src *noise.Source) float64 {
	odd := 0.0
	for _, r := range rows {
		if r%n != 0 {
			odd++
		}
	}
	return odd + src.Laplace(1/eps)
}

// RemaindersConcentrated is Remainders at a cost of Rényi divergence.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires rho > 0
//dp:cost zcdp(rho)
func RemaindersConcentrated(rows []int, n int, rho float64, src *noise.Source) float64 {
	odd := 0.0
	for _, r := range rows {
		if r%n != 0 {
			odd++
		}
	}
	return odd + src.Gaussian(math.Sqrt(1/(2*rho)))
}
