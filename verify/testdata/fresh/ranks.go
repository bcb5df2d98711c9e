package fresh

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// GapMax returns how far ahead the winner is.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapMax(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, first, second := -1, 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		switch {
		case i == 0:
			at, first = i, noisy
		case noisy > first:
			at, first, second = i, noisy, first
		case i == 1 || noisy > second:
			second = noisy
		}
	}
	return at, first - second
}

// MaxGap returns the gap to the runner-up for free: Ding et al. 2019, Theorem 3. The
// winner's draw moves with the runner-up's noisy query, which may be drawn after it. Where
// there is one query alone, it returns that with its noise.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func MaxGap(q []float64, eps float64, src *noise.Source) (int, float64) {
	arg, most, next := -1, 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if arg < 0 {
			arg, most = i, noisy
		} else if noisy > most {
			arg, most, next = i, noisy, most
		} else if i == 1 || noisy > next {
			next = noisy
		}
	}
	return arg, most - next
}

// TopTwo is one-shot noisy top-k for k = 2: one draw for each query, of scale 2k/eps
// (Ding et al. 2019; Qiao, Su and Zhang 2021).
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TopTwo(q []float64, eps float64, src *noise.Source) (int, int) {
	first, second := -1, -1
	most, next := 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(4/eps)
		if first < 0 || noisy > most {
			second, next = first, most
			first, most = i, noisy
		} else if second < 0 || noisy > next {
			second, next = i, noisy
		}
	}
	return first, second
}

// GapInfinite begins with infinities.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapInfinite(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, best, second := -1, math.Inf(-1), math.Inf(-1)
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if noisy > best {
			at, best, second = i, noisy, best
		} else if noisy > second {
			second = noisy
		}
	}
	return at, best - second
}

// GapOfCounts is for counts of which all rise or all fall: half the noise.
//
// want: proved
//
//dp:adjacent each(counts) in [0, 1]
//dp:requires eps > 0 && len(counts) >= 2
//dp:cost eps
func GapOfCounts(counts []float64, eps float64, src *noise.Source) (winner int, gap float64) {
	scale := 1 / eps
	winner, first, second := 0, counts[0]+src.Laplace(scale), 0.0
	for i := 1; i < len(counts); i++ {
		noisy := counts[i] + src.Laplace(scale)
		if noisy >= first {
			second = first
			first = noisy
			winner = i
		} else if i == 1 || noisy >= second {
			second = noisy
		}
	}
	return winner, first - second
}

// GapInTwoScans keeps the noisy values, and reads them twice.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 1
//dp:cost eps
func GapInTwoScans(q []float64, eps float64, src *noise.Source) (int, float64) {
	noisy := make([]float64, len(q))
	for i, x := range q {
		noisy[i] = x + src.Laplace(2/eps)
	}
	best := 0
	for i := range noisy {
		if noisy[i] > noisy[best] {
			best = i
		}
	}
	next := -1
	for i := range noisy {
		if i != best && (next < 0 || noisy[i] > noisy[next]) {
			next = i
		}
	}
	return best, noisy[best] - noisy[next]
}

func largest(values []float64, but int) int {
	at := -1
	for i, x := range values {
		if i == but {
			continue
		}
		if at < 0 || x > values[at] {
			at = i
		}
	}
	return at
}

// TopTwoByHelper asks a helper for the largest, and for the largest of the others.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func TopTwoByHelper(q []float64, eps float64, src *noise.Source) (int, int) {
	var noisy []float64
	for _, x := range q {
		noisy = append(noisy, x+src.Laplace(4/eps))
	}
	first := largest(noisy, -1)
	return first, largest(noisy, first)
}

// TopTwoGaps returns the two largest, and how far each is ahead.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 3
//dp:cost eps
func TopTwoGaps(q []float64, eps float64, src *noise.Source) (a, b int, over, under float64) {
	a, b = -1, -1
	first, second, third := math.Inf(-1), math.Inf(-1), math.Inf(-1)
	for i, x := range q {
		y := x + src.Laplace(4/eps)
		if y > first {
			a, b, first, second, third = i, a, y, first, second
		} else if y > second {
			b, second, third = i, y, second
		} else if y > third {
			third = y
		}
	}
	return a, b, first - second, second - third
}

// TopTwoWhole is over the integers, where the first of equals wins.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TopTwoWhole(q []int64, eps float64, src *noise.Source) (int, int) {
	first, second := -1, -1
	var most, next int64
	for i, x := range q {
		noisy := x + src.DiscreteLaplace(4/eps)
		if first < 0 || noisy > most {
			second, next = first, most
			first, most = i, noisy
		} else if second < 0 || noisy > next {
			second, next = i, noisy
		}
	}
	return first, second
}

// LeastGap uses min and max.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 1
//dp:cost eps
func LeastGap(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, least, next := 0, math.Inf(1), math.Inf(1)
	for i, x := range q {
		noisy := src.Laplace(2/eps) + x
		if noisy < least {
			at = i
		}
		next = min(next, max(least, noisy))
		least = min(least, noisy)
	}
	return at, next - least
}

// GapBothWays has the noise of counts, for queries that move both ways.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapBothWays(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, best, second := -1, 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(1/eps)
		switch {
		case i == 0:
			at, best = i, noisy
		case noisy > best:
			at, best, second = i, noisy, best
		case i == 1 || noisy > second:
			second = noisy
		}
	}
	return at, best - second
}

// GapToRaw is ahead of the largest query itself among the others.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapToRaw(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, best, of, second := -1, 0.0, 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		switch {
		case i == 0:
			at, best, of = i, noisy, x
		case noisy > best:
			at, best, of, second = i, noisy, x, of
		case i == 1 || x > second:
			second = x
		}
	}
	return at, best - second
}

// GapToEarlier is ahead of the best before the winner came, and not of those after it.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapToEarlier(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, best, earlier := -1, 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if i == 0 || noisy > best {
			at, best, earlier = i, noisy, best
		}
	}
	return at, best - earlier
}

// GapForgetsBest leaves the second where it was when the best is overtaken.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapForgetsBest(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, best, second := -1, 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		switch {
		case i == 0:
			at, best = i, noisy
		case noisy > best:
			at, best = i, noisy
		case i == 1 || noisy > second:
			second = noisy
		}
	}
	return at, best - second
}

// GapOneNoise adds the same noise to all.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapOneNoise(q []float64, eps float64, src *noise.Source) (int, float64) {
	shared := src.Laplace(2 / eps)
	at, best, second := -1, 0.0, 0.0
	for i, x := range q {
		noisy := x + shared
		switch {
		case i == 0:
			at, best = i, noisy
		case noisy > best:
			at, best, second = i, noisy, best
		case i == 1 || noisy > second:
			second = noisy
		}
	}
	return at, best - second
}

// GapWithValue returns the best noisy value, too.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapWithValue(q []float64, eps float64, src *noise.Source) (int, float64, float64) {
	at, best, second := -1, 0.0, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		switch {
		case i == 0:
			at, best = i, noisy
		case noisy > best:
			at, best, second = i, noisy, best
		case i == 1 || noisy > second:
			second = noisy
		}
	}
	return at, best - second, best
}

// ThirdValue returns the third noisy value.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 3
//dp:cost eps
func ThirdValue(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, first, second, third := -1, math.Inf(-1), math.Inf(-1), math.Inf(-1)
	for i, x := range q {
		y := x + src.Laplace(2/eps)
		if y > first {
			at, first, second, third = i, y, first, second
		} else if y > second {
			second, third = y, second
		} else if y > third {
			third = y
		}
	}
	return at, third
}

// LeadWhole is over the integers: how much less the winner could be, which has to be larger
// than those before it, and as large as those after it.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func LeadWhole(q []int64, eps float64, src *noise.Source) (int, int64) {
	best, most, least := 0, int64(0), int64(0)
	for i, x := range q {
		noisy := x + src.DiscreteLaplace(2/eps)
		switch {
		case i == 0:
			most = noisy
		case noisy > most:
			best, most, least = i, noisy, most+1
		case i == 1 || noisy > least:
			least = noisy
		}
	}
	return best, most - least
}

// Records tells how often a noisy value is above all before it: the slice is as long as that.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Records(q []float64, eps float64, src *noise.Source) int {
	best := 0.0
	var records []float64
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if i == 0 || noisy > best {
			best = noisy
			records = append(records, noisy)
		}
	}
	return len(records)
}

// RecordBefore tells whether the last record before the winner stands among the first two,
// which is how many elements another slice has.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func RecordBefore(q []float64, eps float64, src *noise.Source) (int, bool) {
	best, at, before := 0.0, 0, 0
	two := make([]bool, 2)
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if i == 0 || noisy > best {
			best, at, before = noisy, i, at
		}
		if i < 2 {
			two[i] = true
		}
	}
	return at, before < len(two)
}

// ValueOfFirst returns the winner's noisy value where that is the first.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ValueOfFirst(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if at < 0 || noisy > best {
			at, best = i, noisy
		}
	}
	if at == 0 {
		return at, best
	}
	return at, 0
}

// ValueIfFirst does the same, and keeps whether it is.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ValueIfFirst(q []float64, eps float64, src *noise.Source) float64 {
	best, first := 0.0, false
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if i == 0 {
			best, first = noisy, true
		} else if noisy > best {
			best, first = noisy, false
		}
	}
	if first {
		return best
	}
	return 0
}

// NoiseOfFirst returns the noise of the first element, too.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NoiseOfFirst(q []float64, eps float64, src *noise.Source) (int, float64) {
	z := make([]float64, len(q))
	for i := range q {
		z[i] = src.Laplace(2 / eps)
	}
	best := -1
	most := 0.0
	for i := range q {
		if best < 0 || q[i]+z[i] > most {
			best, most = i, q[i]+z[i]
		}
	}
	return best, z[0]
}

// TwiceTheBest asks for more than the order of noisy values.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TwiceTheBest(q []float64, eps float64, src *noise.Source) int {
	at, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if at < 0 || noisy > 2*best {
			at, best = i, noisy
		}
	}
	return at
}

// GapOfFractions adds whole noise to what need not be whole, and tells by how much.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapOfFractions(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, first, second := -1, 0.0, 0.0
	for i, x := range q {
		noisy := x + float64(src.DiscreteLaplace(4/eps))
		switch {
		case i == 0:
			at, first = i, noisy
		case noisy > first:
			at, first, second = i, noisy, first
		case i == 1 || noisy > second:
			second = noisy
		}
	}
	return at, first - second
}

// GapOfDoubled doubles what it compares, with the noise of what was not doubled.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapOfDoubled(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, first, second := -1, 0.0, 0.0
	for i, x := range q {
		noisy := 2*x + src.Laplace(2/eps)
		switch {
		case i == 0:
			at, first = i, noisy
		case noisy > first:
			at, first, second = i, noisy, first
		case i == 1 || noisy > second:
			second = noisy
		}
	}
	return at, first - second
}

// GapOfFalling halves scores that only rise, and compares them with the opposite sign: they
// fall by up to one, which takes twice the noise.
//
// want: refuted
//
//dp:adjacent each(q) in [0, 2]
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapOfFalling(q []float64, eps float64, src *noise.Source) (int, float64) {
	at, first, second := -1, 0.0, 0.0
	for i, x := range q {
		noisy := -x/2 + src.Laplace(0.5/eps)
		switch {
		case i == 0:
			at, first = i, noisy
		case noisy > first:
			at, first, second = i, noisy, first
		case i == 1 || noisy > second:
			second = noisy
		}
	}
	return at, first - second
}
