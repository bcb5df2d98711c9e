package right

import "github.com/discreet-dp/discreet/noise"

// PartialSum adds noise to a sum: LightDP.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PartialSum(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	return sum + src.Laplace(1/eps)
}

// PartialSumInt is PartialSum over the integers.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func PartialSumInt(counts []int64, eps float64, src *noise.Source) int64 {
	sum := int64(0)
	for _, x := range counts {
		sum += x
	}
	return sum + src.DiscreteLaplace(1/eps)
}

// PrefixSum adds up noisy items: LightDP; Chan, Shi and Song 2011, Simple II.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PrefixSum(q []float64, eps float64, src *noise.Source) []float64 {
	var sums []float64
	next := 0.0
	for _, x := range q {
		next += x + src.Laplace(1/eps)
		sums = append(sums, next)
	}
	return sums
}

// SmartSum gives all prefix sums, of noisy blocks of m items and noisy items after the
// last whole block: Chan, Shi and Song 2011, the two-level counter.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && m > 0
//dp:cost 2*eps
func SmartSum(q []float64, m int, eps float64, src *noise.Source) []float64 {
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

// SmartSumInt is SmartSum over the integers.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && m > 0
//dp:cost 2*eps
func SmartSumInt(counts []int64, m int, eps float64, src *noise.Source) []int64 {
	var sums []int64
	blocks, block, next := int64(0), int64(0), int64(0)
	for i, x := range counts {
		block += x
		if (i+1)%m == 0 {
			blocks += block + src.DiscreteLaplace(1/eps)
			next, block = blocks, 0
		} else {
			next += x + src.DiscreteLaplace(1/eps)
		}
		sums = append(sums, next)
	}
	return sums
}

// Histogram adds noise to every bin of a partition: Dwork, McSherry, Nissim and Smith
// 2006, Example 3.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func Histogram(counts []int64, eps float64, src *noise.Source) []int64 {
	noisy := make([]int64, len(counts))
	for i, n := range counts {
		noisy[i] = n + src.DiscreteLaplace(1/eps)
	}
	return noisy
}
