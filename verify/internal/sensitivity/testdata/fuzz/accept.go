// Package fuzz holds the programs that Fuzz and DFuzz accept, and those that they
// reject, in Go (Reed and Pierce 2010; Gaboardi et al. 2013).
package fuzz

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

// Size counts records.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Size(rows []float64) int { return len(rows) }

// Over40 filters and counts.
//
// want: accepted
//
//dp:adjacent bag(ages) <= 1
//dp:sensitivity ages = 1
func Over40(ages []int) int {
	var over []int
	for _, age := range ages {
		if age > 40 {
			over = append(over, age)
		}
	}
	return len(over)
}

func filter[T any](rows []T, keep func(T) bool) []T {
	var kept []T
	for _, r := range rows {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

func split[T any](rows []T, first func(T) bool) (yes, no []T) {
	for _, r := range rows {
		if first(r) {
			yes = append(yes, r)
		} else {
			no = append(no, r)
		}
	}
	return yes, no
}

func mapped[T, U any](rows []T, f func(T) U) []U {
	var out []U
	for _, r := range rows {
		out = append(out, f(r))
	}
	return out
}

func clip(x, lo, hi float64) float64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

func sum(rows []float64) float64 {
	total := 0.0
	for _, x := range rows {
		total += x
	}
	return total
}

// FilteredSize does it with functions over functions.
//
// want: accepted
//
//dp:adjacent bag(ages) <= 1
//dp:sensitivity ages = 1
func FilteredSize(ages []int) int {
	return len(filter(ages, func(age int) bool { return age > 40 && age%2 == 0 }))
}

// Sort sorts by conditional swaps of neighbours.
//
// want: accepted
//
//dp:sensitivity q = 1
func Sort(q []float64) []float64 {
	s := slices.Clone(q)
	for range s {
		for i := 0; i < len(s)-1; i++ {
			if s[i] > s[i+1] {
				s[i], s[i+1] = s[i+1], s[i]
			}
		}
	}
	return s
}

// SortL2 is the same in another norm.
//
// want: accepted
//
//dp:sensitivity q = 1 in l2
func SortL2(q []float64) []float64 {
	s := slices.Clone(q)
	slices.Sort(s)
	return s
}

// ClippedSum adds up numbers that are clipped.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func ClippedSum(rows []float64) float64 {
	total := 0.0
	for _, x := range rows {
		total += clip(x, -1, 2)
	}
	return total
}

// ClippedSumOf has bounds that are parameters.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires hi >= 0
//dp:sensitivity rows = hi
func ClippedSumOf(rows []float64, hi float64) float64 {
	return sum(mapped(rows, func(x float64) float64 { return max(-hi, min(x, hi)) }))
}

// Histogram counts by a key in one pass.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1 in l1
func Histogram(rows []int, n int) []int {
	counts := make([]int, n)
	for _, r := range rows {
		if r >= 0 && r < n {
			counts[r]++
		}
	}
	return counts
}

// SplitHistogram counts by splits of what earlier splits leave, as in Fuzz.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1 in l1
func SplitHistogram(rows []int, n int) []int {
	counts := make([]int, n)
	rest := rows
	for i := range n {
		here, others := split(rest, func(r int) bool { return r == i })
		counts[i] = len(here)
		rest = others
	}
	return counts
}

// Halves are the two sides of a split, which are counted once together.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Halves(rows []float64) (int, int) {
	yes, no := split(rows, func(x float64) bool { return x < 0 })
	return len(yes), len(no)
}

// Twice is x + x.
//
// want: accepted
//
//dp:sensitivity x = 2
func Twice(x float64) float64 { return x + x }

// Thrice is 3·x.
//
// want: accepted
//
//dp:sensitivity x = 3
func Thrice(x float64) float64 { return 3 * x }

// Affine has a public factor.
//
// want: accepted
//
//dp:sensitivity x = math.Abs(c), y = 1
func Affine(x, y, c float64) float64 { return c*x - y + 7 }

// Absolute has slope 1 on both sides.
//
// want: accepted
//
//dp:sensitivity x = 1
func Absolute(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}

// Relu agrees where its branches meet.
//
// want: accepted
//
//dp:sensitivity x = 1
func Relu(x float64) float64 {
	if x > 0 {
		return x
	}
	return 0
}

// Larger is max by hand.
//
// want: accepted
//
//dp:sensitivity x = 1, y = 1
func Larger(x, y float64) float64 {
	if x < y {
		x = y
	}
	return x
}

// Mean of a vector of public length.
//
// want: accepted
//
//dp:requires len(q) > 0
//dp:sensitivity q = 1 / float64(len(q))
func Mean(q []float64) float64 {
	return sum(q) / float64(len(q))
}

// Scaled scales each element.
//
// want: accepted
//
//dp:sensitivity q = 2 in l2
func Scaled(q []float64) []float64 {
	out := make([]float64, len(q))
	for i, x := range q {
		out[i] = 2 * x
	}
	return out
}

// Differences subtracts neighbours.
//
// want: accepted
//
//dp:sensitivity q = 2 in linf
func Differences(q []float64) []float64 {
	var out []float64
	for i := 1; i < len(q); i++ {
		out = append(out, q[i]-q[i-1])
	}
	return out
}

// Prefixes are partial sums: a change of one element moves all that follow it.
//
// want: accepted
//
//dp:adjacent one(q) <= 1
//dp:sensitivity q = 1 in linf
func Prefixes(q []float64) []float64 {
	out := make([]float64, len(q))
	acc := 0.0
	for i, x := range q {
		acc += x
		out[i] = acc
	}
	return out
}

// Rounds is a loop with a symbolic bound.
//
// want: accepted
//
//dp:requires n >= 0
//dp:sensitivity x = float64(n) * 2
func Rounds(x float64, n int) float64 {
	total := 0.0
	for range n {
		total += 2 * x
	}
	return total
}

// Contraction stays where it is, whatever the number of rounds.
//
// want: accepted
//
//dp:sensitivity x = 1
func Contraction(x float64, n int) float64 {
	for range n {
		x = x/2 + 1
	}
	return x
}

// Distinct counts values.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Distinct(rows []string) int {
	seen := map[string]bool{}
	for _, r := range rows {
		seen[r] = true
	}
	return len(seen)
}

type visit struct {
	hospital string
	cost     float64
}

// Costs adds up by a field. (Names may repeat each other.)
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires most > 0
//dp:sensitivity rows = most in linf
func Costs(rows []visit, names []string, most float64) []float64 {
	by := map[string]float64{}
	for _, v := range rows {
		by[v.hospital] += min(max(v.cost, 0), most)
	}
	out := make([]float64, len(names))
	for i, n := range names {
		out[i] = by[n]
	}
	return out
}

// Cdf counts the records below each of k edges, with noise: at k times the price.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost float64(len(edges)) * eps
func Cdf(rows []float64, edges []float64, eps float64, src *noise.Source) []int64 {
	var out []int64
	for _, e := range edges {
		below := filter(rows, func(x float64) bool { return x < e })
		out = append(out, int64(len(below))+src.DiscreteLaplace(1/eps))
	}
	return out
}

// NoisyHistogram costs one ε, whatever the number of its bars.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyHistogram(rows []int, n int, eps float64, src *noise.Source) []int64 {
	counts := make([]int64, n)
	for _, r := range rows {
		counts[r%n]++
	}
	for i := range counts {
		counts[i] += src.DiscreteLaplace(1 / eps)
	}
	return counts
}

type point struct{ x, y float64 }

// KMeansStep moves each center to the noisy mean of the points that are nearest: a
// count and two sums at ε each, on parts that share no point.
//
// want: accepted
//
//dp:adjacent bag(points) <= 1
//dp:requires eps > 0
//dp:cost 3 * eps
func KMeansStep(points []point, centers []point, eps float64, src *noise.Source) []point {
	nearest := func(p point) int {
		best := 0
		for i, c := range centers {
			if math.Hypot(p.x-c.x, p.y-c.y) < math.Hypot(p.x-centers[best].x, p.y-centers[best].y) {
				best = i
			}
		}
		return best
	}
	parts := make([][]point, len(centers))
	for _, p := range points {
		k := nearest(p)
		parts[k] = append(parts[k], p)
	}
	moved := make([]point, len(centers))
	for i, part := range parts {
		x, y := 0.0, 0.0
		for _, p := range part {
			x += clip(p.x, -1, 1)
			y += clip(p.y, -1, 1)
		}
		n := max(1, float64(len(part))+src.Laplace(1/eps))
		moved[i] = point{(x + src.Laplace(1/eps)) / n, (y + src.Laplace(1/eps)) / n}
	}
	return moved
}

// KMeans runs rounds of it: at 3·rounds·ε.
//
// want: accepted
//
//dp:adjacent bag(points) <= 1
//dp:requires eps > 0 && rounds >= 0
//dp:cost 3 * float64(rounds) * eps
func KMeans(points []point, centers []point, rounds int, eps float64, src *noise.Source) []point {
	for range rounds {
		centers = KMeansStep(points, centers, eps, src)
	}
	return centers
}

// KMedians moves each of k centers by whether more records lie on its left or right:
// two counts of each half line in each round.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && rounds >= 0 && k >= 0
//dp:cost 2 * eps * float64(rounds) * float64(k)
func KMedians(rows []float64, k, rounds int, step, eps float64, src *noise.Source) []float64 {
	centers := make([]float64, k)
	for range rounds {
		for i := range k {
			left, right := 0, 0
			for _, x := range rows {
				if x < centers[i] {
					left++
				}
			}
			for _, x := range rows {
				if x > centers[i] {
					right++
				}
			}
			if float64(left)+src.Laplace(1/eps) > float64(right)+src.Laplace(1/eps) {
				centers[i] -= step
			} else {
				centers[i] += step
			}
		}
	}
	return centers
}

// GradientDescent fits a line by noisy sums of clipped slopes.
//
// want: accepted
//
//dp:adjacent bag(points) <= 1
//dp:requires eps > 0 && rounds >= 0
//dp:cost float64(rounds) * eps
func GradientDescent(points []point, rounds int, rate, eps float64, src *noise.Source) float64 {
	w := 0.0
	for range rounds {
		slope := 0.0
		for _, p := range points {
			slope += clip((p.y-w*p.x)*p.x, -1, 1)
		}
		w += rate * (slope + src.Laplace(1/eps))
	}
	return w
}

// IDC is a database that is learnt from queries: in each round the worst query is
// chosen by the exponential mechanism, and answered with noise (Hardt, Ligett and
// McSherry 2012).
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && rounds >= 0
//dp:cost 2 * float64(rounds) * eps
func IDC(rows []int, size, rounds int, eps float64, src *noise.Source) []float64 {
	learnt := make([]float64, size)
	for range rounds {
		counts := make([]int, size)
		for _, r := range rows {
			if r >= 0 && r < size {
				counts[r]++
			}
		}
		scores := make([]float64, size)
		for i := range size {
			scores[i] = math.Abs(float64(counts[i]) - learnt[i])
		}
		worst := src.Choose(scores, eps)
		learnt[worst] += (float64(counts[worst]) + src.Laplace(1/eps) - learnt[worst]) / 2
	}
	return learnt
}

// PaysForAll leaves its loop early, and pays for all rounds.
//
// want: accepted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps * len(q)
func PaysForAll(q []float64, t float64, n int, eps float64, src *noise.Source) int {
	hits := 0
	for _, x := range q {
		if hits == n {
			break
		}
		if x+src.Laplace(1/eps) > t {
			hits++
		}
	}
	return hits
}

// Halving has a noise of which the scale is positive where it is drawn: in a loop that
// runs so often.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Halving(rows []float64, low, high float64, steps int, eps float64, src *noise.Source) float64 {
	for range steps {
		middle, balance := (low+high)/2, 0.0
		for _, x := range rows {
			if x < middle {
				balance++
			} else {
				balance--
			}
		}
		if balance+src.Laplace(float64(steps)/eps) > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// SpreadOut has it before the loop, and draws within.
//
// want: accepted
//
//dp:adjacent each(x) <= 1
//dp:requires rho > 0
//dp:cost zcdp(rho)
func SpreadOut(x []float64, rho float64, src *noise.Source) []float64 {
	sigma := math.Sqrt(float64(len(x)) / (2 * rho))
	noisy := make([]float64, len(x))
	for i := range x {
		noisy[i] = x[i] + src.Gaussian(sigma)
	}
	return noisy
}
