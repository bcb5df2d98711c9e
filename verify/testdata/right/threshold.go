package right

import "github.com/discreet-dp/discreet/noise"

// AboveThreshold returns the index of the first query that is noisily above t, or −1:
// Dwork and Roth 2014, Algorithm 1.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func AboveThreshold(q []float64, t, eps float64, src *noise.Source) int {
	t += src.Laplace(2 / eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// AboveThresholdInt is AboveThreshold over the integers.
//
// want: proved
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func AboveThresholdInt(counts []int64, t int64, eps float64, src *noise.Source) int {
	t += src.DiscreteLaplace(2 / eps)
	for i, x := range counts {
		if x+src.DiscreteLaplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// AboveThresholdGrid is AboveThreshold on the grids of its noise.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps >= 1e-9
//dp:cost eps
func AboveThresholdGrid(q []float64, t, eps float64, src *noise.Source) int {
	t = src.Round(t, 2/eps) + src.Laplace(2/eps)
	for i, x := range q {
		if src.Round(x, 4/eps)+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// SVT is the sparse vector technique with n answers above: CheckDP's sparsevectorN.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func SVT(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		if q[i]+src.Laplace(4*float64(n)/eps) >= t {
			above = append(above, true)
			count++
		} else {
			above = append(above, false)
		}
	}
	return above
}

// SVTInt is SVT over the integers.
//
// want: proved
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func SVTInt(counts []int64, t int64, n int, eps float64, src *noise.Source) []bool {
	t += src.DiscreteLaplace(2 / eps)
	var above []bool
	count := 0
	for _, x := range counts {
		if count == n {
			break
		}
		if x+src.DiscreteLaplace(4*float64(n)/eps) >= t {
			above = append(above, true)
			count++
		} else {
			above = append(above, false)
		}
	}
	return above
}

// SVTIncreasing needs half of the noise where no query falls: Lyu, Su and Li 2017,
// Section 4.3. The other direction must be proved too: privacy is symmetric.
//
// want: proved
//
//dp:adjacent each(q) in [0, 1]
//dp:requires eps > 0 && n > 0
//dp:cost eps
func SVTIncreasing(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	return monotone(q, t, n, eps, src)
}

// SVTDecreasing is SVTIncreasing where no query grows.
//
// want: proved
//
//dp:adjacent each(q) in [-1, 0]
//dp:requires eps > 0 && n > 0
//dp:cost eps
func SVTDecreasing(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	return monotone(q, t, n, eps, src)
}

func monotone(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		if q[i]+src.Laplace(2*float64(n)/eps) >= t {
			above = append(above, true)
			count++
		} else {
			above = append(above, false)
		}
	}
	return above
}

// GapSVT also says by how much a query is above: Wang et al. 2019 (ShadowDP).
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func GapSVT(q []float64, t float64, n int, eps float64, src *noise.Source) []float64 {
	t += src.Laplace(2 / eps)
	var gaps []float64
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		noisy := q[i] + src.Laplace(4*float64(n)/eps)
		if noisy >= t {
			gaps = append(gaps, noisy-t)
			count++
		} else {
			gaps = append(gaps, 0)
		}
	}
	return gaps
}

// NumSVT answers what is above with fresh noise: Dwork and Roth 2014, Algorithm 3.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func NumSVT(q []float64, t float64, n int, eps float64, src *noise.Source) []float64 {
	t += src.Laplace(3 / eps)
	var values []float64
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		if q[i]+src.Laplace(6*float64(n)/eps) >= t {
			values = append(values, q[i]+src.Laplace(3*float64(n)/eps))
			count++
		} else {
			values = append(values, 0)
		}
	}
	return values
}

// AdaptiveSVT pays half for what is far above: Ding et al. 2019. It spends units of
// eps/4n: one on a query far above, two on one just above, at most 2n in all.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func AdaptiveSVT(q []float64, t float64, n int, eps float64, src *noise.Source) []float64 {
	t += src.Laplace(2 / eps)
	var gaps []float64
	spent := 0
	for i := 0; i < len(q) && spent <= 2*n-2; i++ {
		far := q[i] + src.Laplace(8*float64(n)/eps) - t
		if far >= 16 {
			gaps = append(gaps, far)
			spent++
			continue
		}
		gap := q[i] + src.Laplace(4*float64(n)/eps) - t
		if gap >= 0 {
			gaps = append(gaps, gap)
			spent += 2
		} else {
			gaps = append(gaps, 0)
		}
	}
	return gaps
}
