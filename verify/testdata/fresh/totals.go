package fresh

import (
	"iter"
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// PrefixTwoLoops adds noise first, and up then.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func PrefixTwoLoops(xs []int64, eps float64, src *noise.Source) []int64 {
	noisy := make([]int64, len(xs))
	for i, x := range xs {
		noisy[i] = x + src.DiscreteLaplace(1/eps)
	}
	for i := 1; i < len(noisy); i++ {
		noisy[i] += noisy[i-1]
	}
	return noisy
}

// PrefixOfSums adds up first.
//
// want: refuted
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func PrefixOfSums(xs []int64, eps float64, src *noise.Source) []int64 {
	out := make([]int64, len(xs))
	for i := range xs {
		if i == 0 {
			out[i] = xs[i]
		} else {
			out[i] = out[i-1] + xs[i]
		}
	}
	for i := range out {
		out[i] += src.DiscreteLaplace(1 / eps)
	}
	return out
}

// BlockwiseMin sums each block in a loop of its own, which ends with the input.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && size > 0
//dp:cost eps
func BlockwiseMin(xs []float64, size int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for lo := 0; lo < len(xs); lo += size {
		hi := min(lo+size, len(xs))
		sum := 0.0
		for i := lo; i < hi; i++ {
			sum += xs[i]
		}
		out = append(out, sum+src.Laplace(1/eps))
	}
	return out
}

// BlocksOverlap counts the first of each block in the one before, too.
//
// want: refuted
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && size > 0
//dp:cost eps
func BlocksOverlap(xs []float64, size int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for lo := 0; lo < len(xs); lo += size {
		sum := 0.0
		for i := lo; i <= lo+size && i < len(xs); i++ {
			sum += xs[i]
		}
		out = append(out, sum+src.Laplace(1/eps))
	}
	return out
}

// ByWeek says the sum of a week when the next one begins.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && m > 0
//dp:cost eps
func ByWeek(xs []int64, m int, eps float64, src *noise.Source) []int64 {
	var weeks []int64
	var sum int64
	for day, x := range xs {
		if day > 0 && day%m == 0 {
			weeks = append(weeks, sum+src.DiscreteLaplace(1/eps))
			sum = 0
		}
		sum += x
	}
	return append(weeks, sum+src.DiscreteLaplace(1/eps))
}

// ByWeekKept does not begin anew.
//
// want: refuted
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && m > 0
//dp:cost eps
func ByWeekKept(xs []int64, m int, eps float64, src *noise.Source) []int64 {
	var weeks []int64
	var sum int64
	for day, x := range xs {
		if day > 0 && day%m == 0 {
			weeks = append(weeks, sum+src.DiscreteLaplace(1/eps))
		}
		sum += x
	}
	return append(weeks, sum+src.DiscreteLaplace(1/eps))
}

// TwoLevel has items within a block, and blocks.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && width > 0
//dp:cost eps
func TwoLevel(xs []float64, width int, eps float64, src *noise.Source) []float64 {
	scale := 2 / eps
	out := make([]float64, len(xs))
	var blocks, inBlock, block float64
	n := 0
	for i, x := range xs {
		block += x
		n++
		if n == width {
			blocks += block + src.Laplace(scale)
			block, inBlock, n = 0, 0, 0
		} else {
			inBlock += x + src.Laplace(scale)
		}
		out[i] = blocks + inBlock
	}
	return out
}

// TwoLevelCheap has half the noise.
//
// want: refuted
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && width > 0
//dp:cost eps
func TwoLevelCheap(xs []float64, width int, eps float64, src *noise.Source) []float64 {
	scale := 1 / eps
	out := make([]float64, len(xs))
	var blocks, inBlock, block float64
	n := 0
	for i, x := range xs {
		block += x
		n++
		if n == width {
			blocks += block + src.Laplace(scale)
			block, inBlock, n = 0, 0, 0
		} else {
			inBlock += x + src.Laplace(scale)
		}
		out[i] = blocks + inBlock
	}
	return out
}

// SmartSumBoth counts each item twice, in its block and by itself.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0 && width > 0
//dp:cost 2*eps
func SmartSumBoth(xs []float64, width int, eps float64, src *noise.Source) []float64 {
	var out []float64
	total, small, block := 0.0, 0.0, 0.0
	for i, x := range xs {
		item := x + src.Laplace(1/eps)
		small += item
		block += x
		if (i+1)%width == 0 {
			total += block + src.Laplace(1/eps)
			block, small = 0, 0
		}
		out = append(out, total+small)
	}
	return out
}

func sumOf(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return
}

// SumAndMean returns two things that come of one noisy sum.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func SumAndMean(xs []float64, eps float64, src *noise.Source) (total, mean float64) {
	total = sumOf(xs) + src.Laplace(1/eps)
	if len(xs) == 0 {
		return total, 0
	}
	return total, total / float64(len(xs))
}

// TwoSums takes one sum from the other.
//
// want: proved
//
//dp:adjacent one(a) <= 1
//dp:adjacent one(b) <= 1
//dp:requires eps > 0
//dp:cost eps
func TwoSums(a, b []float64, eps float64, src *noise.Source) float64 {
	return sumOf(a) - sumOf(b) + src.Laplace(2/eps)
}

// CountAdults counts the records that a filter leaves.
//
// want: proved
//
//dp:adjacent bag(ages) <= 1
//dp:requires eps > 0
//dp:cost eps
func CountAdults(ages []int, eps float64, src *noise.Source) int64 {
	var n int64
	for _, a := range ages {
		if a >= 18 {
			n++
		}
	}
	return n + src.DiscreteLaplace(1/eps)
}

// CountAdultsTwice counts some twice.
//
// want: refuted
//
//dp:adjacent bag(ages) <= 1
//dp:requires eps > 0
//dp:cost eps
func CountAdultsTwice(ages []int, eps float64, src *noise.Source) (int64, int64) {
	var n, m int64
	for _, a := range ages {
		if a >= 18 {
			n++
		}
		if a >= 65 {
			m++
		}
	}
	return n + src.DiscreteLaplace(1/eps), m + src.DiscreteLaplace(1/eps)
}

type resident struct {
	age    int
	income float64
	city   string
}

// MeanIncome clips, filters, and divides one noisy number by another.
//
// want: proved
//
//dp:adjacent bag(people) <= 1
//dp:requires eps > 0 && top > 0
//dp:cost 2*eps
func MeanIncome(people []resident, top, eps float64, src *noise.Source) float64 {
	total, n := 0.0, 0
	for _, p := range people {
		if p.age < 18 {
			continue
		}
		total += math.Max(0, math.Min(top, p.income))
		n++
	}
	noisyN := float64(n) + src.Laplace(1/eps)
	noisyTotal := total + src.Laplace(top/eps)
	return noisyTotal / math.Max(noisyN, 1)
}

// MeanExactCount divides by the number of records.
//
// want: refuted
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func MeanExactCount(xs []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += min(max(x, 0), 1)
	}
	return (sum + src.Laplace(1/eps)) / float64(len(xs)+1)
}

// AgeHistogram has an array of bins.
//
// want: proved
//
//dp:adjacent bag(ages) <= 1
//dp:requires eps > 0
//dp:cost eps
func AgeHistogram(ages []int, eps float64, src *noise.Source) [10]int64 {
	var bins [10]int64
	for _, a := range ages {
		b := min(max(a/10, 0), 9)
		bins[b]++
	}
	for i := range bins {
		bins[i] += src.DiscreteLaplace(1 / eps)
	}
	return bins
}

// AgeHistogramEmpty leaves empty bins empty.
//
// want: refuted
//
//dp:adjacent bag(ages) <= 1
//dp:requires eps > 0
//dp:cost eps
func AgeHistogramEmpty(ages []int, eps float64, src *noise.Source) []int64 {
	bins := make([]int64, 10)
	for _, a := range ages {
		b := min(max(a/10, 0), 9)
		bins[b]++
	}
	for i := range bins {
		if bins[i] > 0 {
			bins[i] += src.DiscreteLaplace(1 / eps)
		}
	}
	return bins
}

// RunningSeq yields sums of noisy items.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func RunningSeq(xs iter.Seq[int64], eps float64, src *noise.Source) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		var running int64
		for x := range xs {
			running += x + src.DiscreteLaplace(1/eps)
			if !yield(running) {
				return
			}
		}
	}
}

// Differences releases how noisy items differ.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func Differences(xs []float64, eps float64, src *noise.Source) []float64 {
	out := make([]float64, 0, len(xs))
	last := 0.0
	for _, x := range xs {
		noisy := x + src.Laplace(1/eps)
		out = append(out, noisy-last)
		last = noisy
	}
	return out
}

// RawDifferencesCheap adds noise to differences, of which an item is in two.
//
// want: refuted
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func RawDifferencesCheap(xs []float64, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := 1; i < len(xs); i++ {
		out = append(out, xs[i]-xs[i-1]+src.Laplace(1/eps))
	}
	return out
}

// EvensAll counts every other item twice.
//
// want: refuted
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func EvensAll(xs []float64, eps float64, src *noise.Source) (even, all float64) {
	for i, x := range xs {
		if i%2 == 0 {
			even += x
		}
		all += x
	}
	return even + src.Laplace(1/eps), all + src.Laplace(1/eps)
}

// Decay forgets exponentially.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func Decay(xs []float64, alpha, eps float64, src *noise.Source) []float64 {
	var out []float64
	s := 0.0
	for _, x := range xs {
		s = alpha*s + (1-alpha)*(x+src.Laplace(1/eps))
		out = append(out, s)
	}
	return out
}

// AverageOfNoisy asks k times at a k-th of the budget.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func AverageOfNoisy(x float64, k int, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for range k {
		sum += x + src.Laplace(float64(k)/eps)
	}
	return sum / float64(k)
}

// AverageOfNoisyCheap asks k times at all of it.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func AverageOfNoisyCheap(x float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for range k {
		out = append(out, x+src.Laplace(1/eps))
	}
	return out
}

// Halving finds a median by halving, with a step of the budget for each.
//
// want: proved
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func Halving(xs []float64, lo, hi float64, steps int, eps float64, src *noise.Source) float64 {
	for range steps {
		mid, balance := (lo+hi)/2, 0.0
		for _, x := range xs {
			if x < mid {
				balance++
			} else {
				balance--
			}
		}
		if balance+src.Laplace(float64(steps)/eps) > 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return (lo + hi) / 2
}

// MedianBinaryCheap has the whole budget in each step.
//
// want: refuted
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0 && steps >= 0
//dp:cost eps
func MedianBinaryCheap(xs []float64, lo, hi float64, steps int, eps float64, src *noise.Source) float64 {
	for range steps {
		mid := (lo + hi) / 2
		below, above := 0.0, 0.0
		for _, x := range xs {
			if x < mid {
				below++
			} else {
				above++
			}
		}
		if below-above+src.Laplace(1/eps) > 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return (lo + hi) / 2
}

// ManyGaussians costs so many times 1/(2sigma^2).
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires sigma > 0 && k > 0
//dp:cost zcdp(float64(k) / (2*sigma*sigma))
func ManyGaussians(x float64, k int, sigma float64, src *noise.Source) []float64 {
	var out []float64
	for i := 0; i < k; i++ {
		out = append(out, x+src.Gaussian(sigma))
	}
	return out
}

// VectorGaussian has a scale that grows with the length of what it is added to.
//
// want: proved
//
//dp:adjacent each(xs) <= 1
//dp:requires rho > 0
//dp:cost zcdp(rho)
func VectorGaussian(xs []float64, rho float64, src *noise.Source) []float64 {
	sigma := math.Sqrt(float64(len(xs)) / (2 * rho))
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = x + src.Gaussian(sigma)
	}
	return out
}

// ClassicGaussianScaled is the Gaussian mechanism of Dwork and Roth 2014, Theorem A.1.
//
// want: proved
//
//dp:adjacent |x| <= s
//dp:requires eps > 0 && eps < 1 && delta > 0 && delta < 1 && s > 0
//dp:cost eps, delta
func ClassicGaussianScaled(x, s, eps, delta float64, src *noise.Source) float64 {
	return x + src.Gaussian(s*math.Sqrt(2*math.Log(1.25/delta))/eps)
}

// GradientDescent takes steps along clipped noisy gradients.
//
// want: proved
//
//dp:adjacent bag(points) <= 1
//dp:requires eps > 0 && iters >= 0
//dp:cost float64(iters) * 2 * eps
func GradientDescent(points []float64, iters int, rate, eps float64, src *noise.Source) float64 {
	theta := 0.0
	for range iters {
		grad, n := 0.0, 0.0
		for _, p := range points {
			grad += min(max(theta-p, -1), 1)
			n++
		}
		g := grad + src.Laplace(1/eps)
		m := max(1, n+src.Laplace(1/eps))
		theta -= rate * g / m
	}
	return theta
}
