// Package loops has loops over records. "want:" says which distances their counts have, or
// that a loop is no count.
package loops

import "github.com/discreet-dp/discreet/noise"

// want: n·all1 -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Count(rows []bool, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// want: n·all1 -3..3
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Ways(rows []int, a, eps float64, src *noise.Source) float64 {
	n := 1.0
	for i := 0; i < len(rows); i++ {
		x := float64(rows[i])
		if x > a {
			n += 2
		} else if x < -a {
			n -= 3
			continue
		}
		n++
	}
	return n + src.Laplace(1/eps)
}

// want: s·all1 -4..4
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Clamped(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		v := min(max(r, -2), 4)
		s += v
	}
	return s + src.Laplace(1/eps)
}

// want: one counts·all1 -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Histogram(rows []int, k int, eps float64, src *noise.Source) []int64 {
	counts := make([]int64, k)
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

// want: each n·all1 -1..1, rows·len -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Grid(rows []float64, grid []float64, eps float64, src *noise.Source) int {
	t := float64(len(rows)) + src.Laplace(2/eps)
	for i, g := range grid {
		n := 0
		for _, r := range rows {
			if r <= g {
				n++
			}
		}
		if float64(n)+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// want: none
//
//dp:adjacent bag(rows) <= 2
//dp:requires eps > 0
//dp:cost eps
func TwoRecords(rows []bool, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r {
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
func NoisyLevel(rows []float64, grid []float64, eps float64, src *noise.Source) int {
	t := src.Laplace(2 / eps)
	for i := range grid {
		n := 0
		for _, r := range rows {
			if r <= t { // of noise: no function of the records and the round
				n++
			}
		}
		if float64(n)+src.Laplace(4/eps) >= 3 {
			return i
		}
	}
	return -1
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func PrivateLevel(rows []float64, x, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r <= x {
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
func Rises(rows []float64, eps float64, src *noise.Source) float64 {
	n, last := 0, 0.0
	for _, r := range rows {
		if r > last {
			n++
		}
		last = r
	}
	return float64(n) + src.Laplace(1/eps)
}

// Doubled is of the number of records alone.
//
// want: rows·len -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Doubled(rows []float64, eps float64, src *noise.Source) float64 {
	n := 1.0
	for range rows {
		n += n
	}
	return n + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func UpToFive(rows []float64, eps float64, src *noise.Source) float64 {
	n, m := 0, 0
	for _, r := range rows {
		if r > 0 {
			n++
		}
		if n > 5 {
			m += 7
		}
	}
	return float64(m) + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Unbounded(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s += max(r, 0)
	}
	return s + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Stops(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r > 3 {
			break
		}
		n++
	}
	return float64(n) + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Places(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for i, r := range rows {
		if r > float64(i) {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires k >= 2
//dp:requires eps > 0
//dp:cost eps
func TwoBins(rows []int, k int, eps float64, src *noise.Source) []int64 {
	counts := make([]int64, k)
	for _, r := range rows {
		if r >= 0 && r < k {
			counts[r]++
		}
		counts[0]++
	}
	for i := range counts {
		counts[i] += src.DiscreteLaplace(1 / eps)
	}
	return counts
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func LastOf(rows []float64, eps float64, src *noise.Source) float64 {
	n, kept := 0, 0.0
	for _, r := range rows {
		n++
		kept = r
	}
	return float64(n) + kept + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Sometimes(rows []float64, eps float64, src *noise.Source) float64 {
	n, kept := 0, 0.0
	for _, r := range rows {
		if r > 0 {
			kept = r
		}
		if kept > 1 {
			n++
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires k >= 1
//dp:requires eps > 0
//dp:cost eps
func FromElsewhere(rows []int, k int, eps float64, src *noise.Source) int {
	counts := make([]int, k)
	index := 0
	for _, r := range rows {
		if r >= 0 && r < k {
			counts[r]++
		}
		if counts[0] > 3 { // of other records
			index++
		}
	}
	return index + counts[0] + int(src.DiscreteLaplace(1/eps))
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func LastPositive(rows []float64, eps float64, src *noise.Source) float64 {
	n, kept := 0, 0.0
	for _, r := range rows {
		n++
		if r > 0 {
			kept = r
		}
	}
	return float64(n) + kept + src.Laplace(1/eps)
}

// want: n·all1 -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Inner(rows []int, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r >= 0 {
			twice := 2 * r
			if twice < 20 {
				n++
			}
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyGrid(rows []float64, grid []float64, eps float64, src *noise.Source) int {
	t := src.Laplace(2 / eps)
	for i, g := range grid {
		level := g + t
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

// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Reset(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		n++
		if r > 0 {
			n = 0
		}
	}
	return float64(n) + src.Laplace(1/eps)
}

// SkipsRounds leaves a round out where a record is above 5, which the number of rounds tells.
//
// want: none
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func SkipsRounds(rows []float64, grid []float64, eps float64, src *noise.Source) []float64 {
	var out []float64
rounds:
	for _, g := range grid {
		n := 0
		for _, r := range rows {
			if r > 5 {
				continue rounds
			}
			if r <= g {
				n++
			}
		}
		out = append(out, float64(n)+src.Laplace(1/eps))
	}
	return out
}

// PerRound has no rounds where k is negative, and shows how many records there are then.
//
// want: each n·all1 -1..1, rows·len -1..1
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func PerRound(rows []float64, k int, eps float64, src *noise.Source) int {
	for i := range k {
		n := 0
		for _, r := range rows {
			if r <= float64(i) {
				n++
			}
		}
		if float64(n)+src.Laplace(1/eps) > 0 {
			return i
		}
	}
	if k < 0 {
		return len(rows)
	}
	return -1
}
