package fresh

import "github.com/discreet-dp/discreet/noise"

// FromTheSecond is noisy max that begins with the first query, and goes over the others.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func FromTheSecond(q []float64, eps float64, src *noise.Source) int {
	arg, best := 0, q[0]+src.Laplace(2/eps)
	for i, x := range q[1:] {
		if noisy := x + src.Laplace(2/eps); noisy > best {
			arg, best = i+1, noisy
		}
	}
	return arg
}

// FromTheSecondBare begins with the first query as it is.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func FromTheSecondBare(q []float64, eps float64, src *noise.Source) int {
	arg, best := 0, q[0]
	for i, x := range q[1:] {
		if noisy := x + src.Laplace(2/eps); noisy > best {
			arg, best = i+1, noisy
		}
	}
	return arg
}

// AtMost releases the first k queries.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func AtMost(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for _, x := range q[:min(k, len(q))] {
		out = append(out, x+src.Laplace(float64(k)/eps))
	}
	return out
}

// AllButOne releases one query more than it pays for.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0 && len(q) > k
//dp:cost eps
func AllButOne(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for _, x := range q[len(q)-k-1:] {
		out = append(out, x+src.Laplace(float64(k)/eps))
	}
	return out
}

// FirstAbovePart tells where among the later queries the first is noisily above t; without
// a query it panics, as it does in both runs.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FirstAbovePart(q []float64, t, eps float64, src *noise.Source) int {
	t += src.Laplace(2 / eps)
	for i, x := range q[1:] {
		if x+src.Laplace(4/eps) > t {
			return i
		}
	}
	return -1
}

// NoisyCopy adds noise to a copy, and looks for the largest then.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NoisyCopy(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	copy(noisy, q)
	for i := range noisy {
		noisy[i] += src.Laplace(2 / eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	return best
}

// NoisyCopyShown shows the copy.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NoisyCopyShown(q []float64, eps float64, src *noise.Source) []float64 {
	noisy := make([]float64, len(q))
	copy(noisy, q)
	for i := range noisy {
		noisy[i] += src.Laplace(2 / eps)
	}
	return noisy
}
