// Package plain has the programs of the contract and of the reference.
package plain

import "github.com/discreet-dp/discreet/noise"

// AboveThreshold returns the index of the first query that is noisily above t, or -1.
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

// NoisyMax returns the index of the noisily largest query.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMax(q []float64, eps float64, src *noise.Source) int {
	best, arg := 0.0, 0
	for i := 0; i < len(q); i++ {
		x := q[i] + src.Laplace(2/eps)
		if i == 0 || x > best {
			best, arg = x, i
		}
	}
	return arg
}

// SVT says of each query whether it is above, up to n times.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func SVT(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	noisy := t + src.Laplace(2/eps)
	var out []bool
	count := 0
	for _, x := range q {
		if count >= n {
			break
		}
		nu := src.Laplace(4 * float64(n) / eps)
		above := x+nu >= noisy
		out = append(out, above)
		if above {
			count++
		}
	}
	return out
}

// PrefixSum returns noisy sums of all beginnings.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PrefixSum(q []float64, eps float64, src *noise.Source) []float64 {
	out := make([]float64, len(q))
	next := 0.0
	for i, x := range q {
		next += x + src.Laplace(1/eps)
		out[i] = next
	}
	return out
}

// SmartSum returns noisy sums of all beginnings, by blocks of m.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && m > 0
//dp:cost 2 * eps
func SmartSum(q []float64, m int, eps float64, src *noise.Source) (out []float64) {
	next, blocks, sum := 0.0, 0.0, 0.0
	for i, x := range q {
		sum += x
		if (i+1)%m == 0 {
			blocks += sum + src.Laplace(1/eps)
			sum, next = 0, blocks
		} else {
			next += x + src.Laplace(1/eps)
		}
		out = append(out, next)
	}
	return
}
