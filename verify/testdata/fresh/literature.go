package fresh

import "github.com/discreet-dp/discreet/noise"

// EtaFirst draws a slice of noise, and adds it where it compares.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func EtaFirst(q []float64, eps float64, src *noise.Source) int {
	half := eps / 2
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(1 / half)
	}
	winner := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[i] > q[winner]+eta[winner] {
			winner = i
		}
	}
	return winner
}

// EtaFirstHalf has half of the noise.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func EtaFirstHalf(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(1 / eps)
	}
	winner := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[i] > q[winner]+eta[winner] {
			winner = i
		}
	}
	return winner
}

// EtaFirstAside adds the noise of the first to all.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func EtaFirstAside(q []float64, eps float64, src *noise.Source) int {
	eta := make([]float64, len(q))
	for i := range eta {
		eta[i] = src.Laplace(2 / eps)
	}
	winner := 0
	for i := 1; i < len(q); i++ {
		if q[i]+eta[0] > q[winner]+eta[0] {
			winner = i
		}
	}
	return winner
}

// NoiseBeforeThreshold draws the noise of all queries, then that of the threshold, and ends
// by its condition.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func NoiseBeforeThreshold(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	nu := make([]float64, len(q))
	for i := range nu {
		nu[i] = src.Laplace(4 * float64(c) / eps)
	}
	t += src.Laplace(2 / eps)
	var out []bool
	for i := 0; i < len(q) && c > 0; i++ {
		above := q[i]+nu[i] >= t
		if above {
			c--
		}
		out = append(out, above)
	}
	return out
}

// NoiseBeforeBareThreshold has none for the threshold.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func NoiseBeforeBareThreshold(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	nu := make([]float64, len(q))
	for i := range nu {
		nu[i] = src.Laplace(4 * float64(c) / eps)
	}
	var out []bool
	for i := 0; i < len(q) && c > 0; i++ {
		above := q[i]+nu[i] >= t
		if above {
			c--
		}
		out = append(out, above)
	}
	return out
}

// AdaptiveDrawn is the adaptive sparse vector with gap (Ding et al. 2020), which draws both
// noises before it looks at either.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n >= 1
//dp:cost eps
func AdaptiveDrawn(q []float64, t float64, n int, eps float64, src *noise.Source) []float64 {
	var out []float64
	t += src.Laplace(2 / eps)
	spent := 0
	for _, x := range q {
		if spent > 2*n-2 {
			break
		}
		top := x + src.Laplace(8*float64(n)/eps) - t
		middle := x + src.Laplace(4*float64(n)/eps) - t
		switch {
		case top >= 16:
			out = append(out, top)
			spent++
		case middle >= 0:
			out = append(out, middle)
			spent += 2
		default:
			out = append(out, 0)
		}
	}
	return out
}

// SkipFound leaves out what is not above the best, once there is one.
//
// want: proved
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func SkipFound(counts []int, eps float64, src *noise.Source) (winner int) {
	var best int64
	found := false
	for i, c := range counts {
		v := int64(c) + src.DiscreteLaplace(2/eps)
		if found && v <= best {
			continue
		}
		winner, best, found = i, v, true
	}
	return winner
}

// UnlessBelow says when an item is not the best.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func UnlessBelow(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		v := x + src.Laplace(2/eps)
		if !(arg >= 0 && v <= best) {
			arg, best = i, v
		}
	}
	return arg
}

// FlipThree is permute-and-flip of three, as the largest with exponential noise (Ding et al.
// 2021).
//
// want: proved
//
//dp:adjacent each(u) <= 1
//dp:requires eps > 0 && len(u) == 3
//dp:cost eps
func FlipThree(u []float64, eps float64, src *noise.Source) int {
	a := u[0] + src.Exponential(2/eps)
	b := u[1] + src.Exponential(2/eps)
	c := u[2] + src.Exponential(2/eps)
	switch {
	case a >= b && a >= c:
		return 0
	case b >= c:
		return 1
	}
	return 2
}

// FlipThreeShort has less noise for the last.
//
// want: refuted
//
//dp:adjacent each(u) <= 1
//dp:requires eps > 0 && len(u) == 3
//dp:cost eps
func FlipThreeShort(u []float64, eps float64, src *noise.Source) int {
	a := u[0] + src.Exponential(2/eps)
	b := u[1] + src.Exponential(2/eps)
	c := u[2] + src.Exponential(1/eps)
	switch {
	case a >= b && a >= c:
		return 0
	case b >= c:
		return 1
	}
	return 2
}

// WholeThree is of counts, where two may be the same.
//
// want: proved
//
//dp:adjacent each(u) <= 1
//dp:requires eps > 0 && len(u) == 3
//dp:cost eps
func WholeThree(u []int64, eps float64, src *noise.Source) int {
	a := u[0] + src.DiscreteLaplace(2/eps)
	b := u[1] + src.DiscreteLaplace(2/eps)
	c := u[2] + src.DiscreteLaplace(2/eps)
	switch {
	case a >= b && a >= c:
		return 0
	case b >= c:
		return 1
	}
	return 2
}

// BestOfThree keeps the best so far.
//
// want: proved
//
//dp:adjacent each(u) <= 1
//dp:requires eps > 0 && len(u) == 3
//dp:cost eps
func BestOfThree(u []float64, eps float64, src *noise.Source) int {
	winner := 0
	best := u[0] + src.Laplace(2/eps)
	if b := u[1] + src.Laplace(2/eps); b > best {
		best = b
		winner = 1
	}
	if c := u[2] + src.Laplace(2/eps); c > best {
		winner = 2
	}
	return winner
}

// BestOfThreeBare compares the last one with no noise.
//
// want: refuted
//
//dp:adjacent each(u) <= 1
//dp:requires eps > 0 && len(u) == 3
//dp:cost eps
func BestOfThreeBare(u []float64, eps float64, src *noise.Source) int {
	winner := 0
	best := u[0] + src.Laplace(2/eps)
	if b := u[1] + src.Laplace(2/eps); b > best {
		best = b
		winner = 1
	}
	if u[2] > best {
		winner = 2
	}
	return winner
}

// Hits is the places of what was above, in a slice that begins as nil.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func Hits(q []float64, t float64, c int, eps float64, src *noise.Source) []int {
	hits := []int(nil)
	t += src.Laplace(2 / eps)
	for i, x := range q {
		if len(hits) >= c {
			break
		}
		if x+src.Laplace(4*float64(c)/eps) >= t {
			hits = append(hits, i)
		}
	}
	return hits
}

// HitsOneMore lets one too many in.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func HitsOneMore(q []float64, t float64, c int, eps float64, src *noise.Source) []int {
	hits := []int(nil)
	t += src.Laplace(2 / eps)
	for i, x := range q {
		if len(hits) > c {
			break
		}
		if x+src.Laplace(4*float64(c)/eps) >= t {
			hits = append(hits, i)
		}
	}
	return hits
}

// FarApart needs thresholds that lie far apart, and looks at the lower one.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && hi-lo >= 12/eps
//dp:cost eps
func FarApart(q []float64, lo, hi, eps float64, src *noise.Source) []int {
	var out []int
	l := lo + src.Laplace(2/eps)
	for _, x := range q {
		if x+src.Laplace(4/eps) < l {
			out = append(out, -1)
		} else {
			return append(out, 0)
		}
	}
	return out
}

// NoiseThenSum begins with the noise.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoiseThenSum(q []int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for i := 0; i < len(q); i++ {
		s += q[i]
	}
	return s
}

// NoiseThenSumEach is of items that all change.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoiseThenSumEach(q []int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for i := 0; i < len(q); i++ {
		s += q[i]
	}
	return s
}
