package wrong

import "github.com/discreet-dp/discreet/noise"

// BadSVT1 has no noise on the queries and no limit to the answers: CheckDP; Algorithm 5
// of Lyu, Su and Li 2017.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BadSVT1(q []float64, t, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	for _, x := range q {
		if x >= t {
			above = append(above, true)
		} else {
			above = append(above, false)
		}
	}
	return above
}

// BadSVT2 has noise on the queries that does not grow with the answers, which have no
// limit: CheckDP; Algorithm 6 of Lyu, Su and Li 2017.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BadSVT2(q []float64, t, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	for _, x := range q {
		if x+src.Laplace(2/eps) >= t {
			above = append(above, true)
		} else {
			above = append(above, false)
		}
	}
	return above
}

// BadSVT3 has noise on the queries that does not grow with the answers: CheckDP;
// Algorithm 4 of Lyu, Su and Li 2017.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func BadSVT3(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(4 / eps)
	var above []bool
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		if q[i]+src.Laplace(4/(3*eps)) >= t {
			above = append(above, true)
			count++
		} else {
			above = append(above, false)
		}
	}
	return above
}

// BadGapSVT returns the noisy query instead of the gap: CheckDP. With up to three
// queries it keeps its claim.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func BadGapSVT(q []float64, t float64, n int, eps float64, src *noise.Source) []float64 {
	t += src.Laplace(2 / eps)
	var values []float64
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		noisy := q[i] + src.Laplace(4*float64(n)/eps)
		if noisy >= t {
			values = append(values, noisy)
			count++
		} else {
			values = append(values, 0)
		}
	}
	return values
}

// BadAdaptiveSVT returns the noisy query instead of the gap where it is far above:
// CheckDP.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func BadAdaptiveSVT(q []float64, t float64, n int, eps float64, src *noise.Source) []float64 {
	t += src.Laplace(2 / eps)
	var values []float64
	spent := 0
	for i := 0; i < len(q) && spent <= 2*n-2; i++ {
		far := q[i] + src.Laplace(8*float64(n)/eps)
		if far-t >= 16 {
			values = append(values, far)
			spent++
			continue
		}
		gap := q[i] + src.Laplace(4*float64(n)/eps) - t
		if gap >= 0 {
			values = append(values, gap)
			spent += 2
		} else {
			values = append(values, 0)
		}
	}
	return values
}

// NumSVTReused returns the noisy query that was compared, and says that it is fresh:
// Algorithm 3 of Lyu, Su and Li 2017 in the form of NumSVT.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func NumSVTReused(q []float64, t float64, n int, eps float64, src *noise.Source) []float64 {
	t += src.Laplace(3 / eps)
	var values []float64
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		noise := src.Laplace(3 * float64(n) / eps)
		if q[i]+noise >= t {
			values = append(values, q[i]+noise)
			count++
		} else {
			values = append(values, 0)
		}
	}
	return values
}

// SVTLacksN has the noise of one answer for n of them.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func SVTLacksN(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		if q[i]+src.Laplace(4/eps) >= t {
			above = append(above, true)
			count++
		} else {
			above = append(above, false)
		}
	}
	return above
}

// SVTOneMore gives n+1 answers above with the noise for n.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func SVTOneMore(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	count := 0
	for i := 0; i < len(q) && count <= n; i++ {
		if q[i]+src.Laplace(4*float64(n)/eps) >= t {
			above = append(above, true)
			count++
		} else {
			above = append(above, false)
		}
	}
	return above
}

// SVTHalfNoise has the noise of monotone queries for queries that move both ways.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func SVTHalfNoise(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	return halfNoise(q, t, n, eps, src)
}

// SVTOneDirection claims what holds from a database to its smaller neighbours, where
// the threshold need not move, but not back.
//
// want: refuted
//
//dp:adjacent each(q) in [-1, 0]
//dp:requires eps > 0 && n > 0
//dp:cost eps/2
func SVTOneDirection(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	return halfNoise(q, t, n, eps, src)
}

func halfNoise(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
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

// ThresholdWithoutNoise has noise on the queries alone: each answer below costs, too.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ThresholdWithoutNoise(q []float64, t, eps float64, src *noise.Source) int {
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// ThresholdWithoutNoiseInt is ThresholdWithoutNoise over the integers.
//
// want: refuted
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func ThresholdWithoutNoiseInt(counts []int64, t int64, eps float64, src *noise.Source) int {
	for i, x := range counts {
		if x+src.DiscreteLaplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// ThresholdEachTime draws the noise on the threshold anew for every query.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ThresholdEachTime(q []float64, t, eps float64, src *noise.Source) int {
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t+src.Laplace(2/eps) {
			return i
		}
	}
	return -1
}

// ThresholdReleased also returns the noisy threshold, with which the answers below are
// no longer free.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ThresholdReleased(q []float64, t, eps float64, src *noise.Source) (int, float64) {
	t += src.Laplace(2 / eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t {
			return i, t
		}
	}
	return -1, t
}

// QueriesShareNoise compares every query with the same noise.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func QueriesShareNoise(q []float64, t, eps float64, src *noise.Source) int {
	t += src.Laplace(2/eps) - src.Laplace(4/eps)
	for i, x := range q {
		if x >= t {
			return i
		}
	}
	return -1
}
