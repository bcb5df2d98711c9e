package wrong

import "github.com/discreet-dp/discreet/noise"

// BadPartialSum has half of the noise: CheckDP. It costs 2·eps.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BadPartialSum(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	return sum + src.Laplace(1/(2*eps))
}

// PartialSumOfAll has neighbours that differ everywhere.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PartialSumOfAll(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	return sum + src.Laplace(1/eps)
}

// PrefixSumOfAll has neighbours that differ everywhere: the inputs with which DP-Sniper
// tests the right program.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PrefixSumOfAll(q []float64, eps float64, src *noise.Source) []float64 {
	var sums []float64
	next := 0.0
	for _, x := range q {
		next += x + src.Laplace(1/eps)
		sums = append(sums, next)
	}
	return sums
}

// PrefixSumOfSums adds the noise to the sum of what came before, which carries each item
// into all later results.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PrefixSumOfSums(q []float64, eps float64, src *noise.Source) []float64 {
	var sums []float64
	sum := 0.0
	for _, x := range q {
		sum += x
		sums = append(sums, sum+src.Laplace(1/eps))
	}
	return sums
}

// PrefixSumRaw adds to the exact sums.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PrefixSumRaw(q []float64, eps float64, src *noise.Source) []float64 {
	var sums []float64
	sum := src.Laplace(1 / eps)
	for _, x := range q {
		sum += x
		sums = append(sums, sum)
	}
	return sums
}

// BadSmartSum has no noise on the blocks: CheckDP.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && m > 0
//dp:cost 2*eps
func BadSmartSum(q []float64, m int, eps float64, src *noise.Source) []float64 {
	var sums []float64
	blocks, block, next := 0.0, 0.0, 0.0
	for i, x := range q {
		block += x
		if (i+1)%m == 0 {
			blocks += block
			next, block = blocks, 0
		} else {
			next += x + src.Laplace(1/eps)
		}
		sums = append(sums, next)
	}
	return sums
}

// SmartSumAtEps claims half of what the blocks and the items cost together.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && m > 0
//dp:cost eps
func SmartSumAtEps(q []float64, m int, eps float64, src *noise.Source) []float64 {
	var sums []float64
	blocks, block, next := 0.0, 0.0, 0.0
	for i, x := range q {
		block += x
		if (i+1)%m == 0 {
			blocks += block + src.Laplace(1/eps)
			next, block = blocks, 0
		} else {
			next += x + src.Laplace(1/eps)
		}
		sums = append(sums, next)
	}
	return sums
}

// SmartSumKeepsBlock does not begin the next block at zero: an item is in all later
// blocks.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && m > 0
//dp:cost 2*eps
func SmartSumKeepsBlock(counts []int64, m int, eps float64, src *noise.Source) []int64 {
	var sums []int64
	block, next := int64(0), int64(0)
	for i, x := range counts {
		block += x
		if (i+1)%m == 0 {
			next = block + src.DiscreteLaplace(1/eps)
		} else {
			next += x + src.DiscreteLaplace(1/eps)
		}
		sums = append(sums, next)
	}
	return sums
}

// HistogramScaleEps has noise of scale eps instead of 1/eps: statdp's histogram_eps. It
// costs 1/eps, too much where eps < 1.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func HistogramScaleEps(counts []int64, eps float64, src *noise.Source) []int64 {
	noisy := make([]int64, len(counts))
	for i, n := range counts {
		noisy[i] = n + src.DiscreteLaplace(eps)
	}
	return noisy
}

// HistogramOfAll has neighbours that differ in every bin.
//
// want: refuted
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func HistogramOfAll(counts []int64, eps float64, src *noise.Source) []int64 {
	noisy := make([]int64, len(counts))
	for i, n := range counts {
		noisy[i] = n + src.DiscreteLaplace(1/eps)
	}
	return noisy
}

// HistogramSharesNoise has one draw for all bins, so that their differences are exact.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func HistogramSharesNoise(counts []int64, eps float64, src *noise.Source) []int64 {
	k := src.DiscreteLaplace(1 / eps)
	noisy := make([]int64, len(counts))
	for i, n := range counts {
		noisy[i] = n + k
	}
	return noisy
}

// HistogramSkipsEmpty has no noise on what is empty.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func HistogramSkipsEmpty(counts []int64, eps float64, src *noise.Source) []int64 {
	noisy := make([]int64, len(counts))
	for i, n := range counts {
		if n != 0 {
			noisy[i] = n + src.DiscreteLaplace(1/eps)
		}
	}
	return noisy
}

// SharedNoise adds the same draw to two numbers: their difference is exact.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SharedNoise(x, y, eps float64, src *noise.Source) (float64, float64) {
	noise := src.Laplace(1 / eps)
	return x + noise, y + noise
}

// CancelledNoise takes its noise away again.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func CancelledNoise(x, eps float64, src *noise.Source) float64 {
	noise := src.Laplace(1 / eps)
	noisy := x + noise
	return 2*noisy - 2*noise
}

// ScaledAfter is 1-sensitive noise for twice the number.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ScaledAfter(x, eps float64, src *noise.Source) float64 {
	return 2*x + src.Laplace(1/eps)
}

// BranchOnRaw decides by the number itself where to add noise.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BranchOnRaw(x, eps float64, src *noise.Source) float64 {
	if x > 0 {
		return 10 + src.Laplace(1/eps)
	}
	return src.Laplace(1 / eps)
}

// DrawInBranch draws only where the number itself says so: the sum is exactly 0
// otherwise.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawInBranch(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range q {
		if x > 0 {
			sum += 1 + src.Laplace(1/eps)
		}
	}
	return sum
}

// LengthOfRaw returns the numbers that are positive, noisily: how many they are is
// exact.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func LengthOfRaw(q []float64, eps float64, src *noise.Source) []float64 {
	var noisy []float64
	for _, x := range q {
		if x > 0 {
			noisy = append(noisy, x+src.Laplace(1/eps))
		}
	}
	return noisy
}
