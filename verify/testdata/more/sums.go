package more

import "github.com/discreet-dp/discreet/noise"

// TreeCount releases the nodes of the binary tree over four items, of which each is in
// three: Dwork, Naor, Pitassi and Rothblum 2010; Chan, Shi and Song 2011.
//
// TreeCountLevels has the noise of two levels for three.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && len(q) == 4
//dp:cost eps
func TreeCountLevels(q []int64, eps float64, src *noise.Source) []int64 {
	sums := make([]int64, 4)
	sums[0] = q[0] + src.DiscreteLaplace(2/eps)
	sums[1] = q[0] + q[1] + src.DiscreteLaplace(2/eps)
	sums[2] = sums[1] + q[2] + src.DiscreteLaplace(2/eps)
	sums[3] = q[0] + q[1] + q[2] + q[3] + src.DiscreteLaplace(2/eps)
	return sums
}

// ThreeLevels gives prefix sums from noisy items, noisy blocks of m items and noisy
// blocks of m·k: a tree of three levels, of any width. An item is in one node of each.
//
// ThreeLevelsKept does not begin its small blocks anew after a large one.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && m > 0 && k > 0
//dp:cost eps
func ThreeLevelsKept(q []float64, m, k int, eps float64, src *noise.Source) []float64 {
	var sums []float64
	large, small := 0.0, 0.0
	larges, smalls, next := 0.0, 0.0, 0.0
	items, blocks := 0, 0
	for _, x := range q {
		large += x
		small += x
		items++
		if items < m {
			next += x + src.Laplace(3/eps)
			sums = append(sums, next)
			continue
		}
		items, blocks = 0, blocks+1
		if blocks < k {
			smalls += small + src.Laplace(3/eps)
			next = smalls
			sums = append(sums, next)
			continue
		}
		blocks = 0
		larges += large + src.Laplace(3/eps)
		large = 0
		smalls, next = larges, larges
		sums = append(sums, next)
	}
	return sums
}

// CountWithResets counts, and says its noisy count and begins anew where the caller asks
// for it: an item is in one count.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && len(reset) == len(counts)
//dp:cost eps
func CountWithResets(counts []int64, reset []bool, eps float64, src *noise.Source) []int64 {
	var said []int64
	count := int64(0)
	for i, x := range counts {
		count += x
		if reset[i] {
			said = append(said, count+src.DiscreteLaplace(1/eps))
			count = 0
		}
	}
	return said
}

// CountWithoutResets goes on with what it said.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && len(reset) == len(counts)
//dp:cost eps
func CountWithoutResets(counts []int64, reset []bool, eps float64, src *noise.Source) []int64 {
	var said []int64
	count := int64(0)
	for i, x := range counts {
		count += x
		if reset[i] {
			said = append(said, count+src.DiscreteLaplace(1/eps))
		}
	}
	return said
}

// AlarmsTell says how much was counted, exactly.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func AlarmsTell(counts []int64, t int64, eps float64, src *noise.Source) []int64 {
	var alarms []int64
	count, noisy := int64(0), t+src.DiscreteLaplace(2/eps)
	for _, x := range counts {
		count += x
		if count+src.DiscreteLaplace(4/eps) >= noisy {
			alarms = append(alarms, count)
			count, noisy = 0, t+src.DiscreteLaplace(2/eps)
		} else {
			alarms = append(alarms, 0)
		}
	}
	return alarms
}

// AlarmsByThreshold has no noise but that of the thresholds. Counts that move together
// may seem to need no more; but what was counted before the changed item does not move.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func AlarmsByThreshold(counts []int64, t int64, eps float64, src *noise.Source) []bool {
	var alarms []bool
	count, noisy := int64(0), t+src.DiscreteLaplace(1/eps)
	for _, x := range counts {
		count += x
		if count >= noisy {
			alarms = append(alarms, true)
			count, noisy = 0, t+src.DiscreteLaplace(1/eps)
		} else {
			alarms = append(alarms, false)
		}
	}
	return alarms
}

// Mean is a noisy sum over a noisy count, of numbers from 0 to 1 of which one may be
// left out; what is done with the two costs nothing.
//
// want: proved
//
//dp:adjacent |sum| <= 1
//dp:adjacent |count| <= 1
//dp:requires eps > 0
//dp:cost eps
func Mean(sum float64, count int64, eps float64, src *noise.Source) float64 {
	s := noisySum(sum, eps/2, src)
	n := count + src.DiscreteLaplace(2/eps)
	if n < 1 {
		return 0.5
	}
	return min(max(s/float64(n), 0), 1)
}

func noisySum(sum, eps float64, src *noise.Source) float64 {
	return sum + src.Laplace(1/eps)
}

// MeanOfCount divides by the exact count.
//
// want: refuted
//
//dp:adjacent |sum| <= 1
//dp:adjacent |count| <= 1
//dp:requires eps > 0
//dp:cost eps
func MeanOfCount(sum float64, count int64, eps float64, src *noise.Source) float64 {
	s := noisySum(sum, eps, src)
	if count < 1 {
		return 0.5
	}
	return s / float64(count)
}

// BranchOnRawSmall decides by the number itself, at a step of its own sensitivity: the
// difference between the branches is one that the noise hides. Tools that refuse every
// such branch refuse it.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BranchOnRawSmall(x, eps float64, src *noise.Source) float64 {
	positive := 0.0
	if x > 0 {
		positive = 1
	}
	return positive + src.Laplace(1/eps)
}

// GaussianSum is the Gaussian mechanism: Bun and Steinke 2016, Proposition 1.6.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires sigma > 0
//dp:cost zcdp(1 / (2 * sigma * sigma))
func GaussianSum(x, sigma float64, src *noise.Source) float64 {
	return x + src.Gaussian(sigma)
}

// GaussianSumTwice answers twice for the price of one.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires sigma > 0
//dp:cost zcdp(1 / (2 * sigma * sigma))
func GaussianSumTwice(x, sigma float64, src *noise.Source) (float64, float64) {
	return x + src.Gaussian(sigma), x + src.Gaussian(sigma)
}
