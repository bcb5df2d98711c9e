// Package open holds programs whose verdicts are known, and not reached: see the list
// unreached in the tests of package verify. Of some none is expected.
package open

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.5
//dp:cost eps, delta
func StableSelection(q []float64, eps, delta float64, src *noise.Source) int {
	arg, most, next := -1, 0.0, 0.0
	for i, x := range q {
		if arg < 0 {
			arg, most = i, x
		} else if x > most {
			arg, most, next = i, x, most
		} else if i == 1 || x > next {
			next = x
		}
	}
	if len(q) > 1 && most-next+src.Laplace(2/eps) > 2+2/eps*math.Log(1/(2*delta)) {
		return arg
	}
	return -1
}

// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && m > 0 && k > 0
//dp:cost eps
func ThreeLevels(q []float64, m, k int, eps float64, src *noise.Source) []float64 {
	var sums []float64
	large, small := 0.0, 0.0 // exact sums of the blocks that are open
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
			small = 0
			next = smalls
			sums = append(sums, next)
			continue
		}
		blocks = 0
		larges += large + src.Laplace(3/eps)
		large, small = 0, 0
		smalls, next = larges, larges
		sums = append(sums, next)
	}
	return sums
}

// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func Retries(q []float64, t float64, n, retries int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		found := false
		for try := 0; try < retries; try++ {
			if q[i]+src.Laplace(4*float64(n)/eps) >= t {
				found = true
				break
			}
		}
		if found {
			count++
		}
		above = append(above, found)
	}
	return above
}

// want: proved
//
//dp:adjacent |answer| <= 1000
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Categories(answer, k int, eps float64, src *noise.Source) int {
	scores := make([]float64, k)
	for i := range k {
		if i == answer {
			scores[i] = 1
		}
	}
	return src.Choose(scores, eps)
}

// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Gumbel(q []float64, eps float64, src *noise.Source) int {
	at, most := -1, 0.0
	for i, x := range q {
		noisy := eps*x/2 - math.Log(src.Exponential(1))
		if at < 0 || noisy > most {
			at, most = i, noisy
		}
	}
	return at
}

// want: proved
//
//dp:adjacent one(rows) <= 1000
//dp:requires eps > 0
//dp:cost eps
func Median(rows, candidates []int64, eps float64, src *noise.Source) int64 {
	if len(candidates) == 0 {
		panic("no candidates")
	}
	scores := make([]float64, len(candidates))
	for i, c := range candidates {
		below := 0
		for _, x := range rows {
			if x < c {
				below++
			}
		}
		scores[i] = -math.Abs(float64(below) - float64(len(rows))/2)
	}
	return candidates[src.Choose(scores, eps)]
}

// want: proved
//
//dp:adjacent one(rows) <= 1000
//dp:requires eps > 0 && k > 0
//dp:cost eps
func BlockSums(rows []float64, k int, eps float64, src *noise.Source) float64 {
	blocks := make([]float64, k)
	for i, x := range rows {
		blocks[i%k] += x
	}
	sum := 0.0
	for _, b := range blocks {
		sum += min(max(b, 0), 1)
	}
	return sum + src.Laplace(1/eps)
}

// Alarms counts up to a noisy threshold, gives an alarm, and begins anew with a fresh
// threshold, without end: a changed item is in one count only, so that only one
// threshold and one alarm cost anything. Which threshold that is depends on when the
// alarms will come.
//
// want: unknown (which threshold moves depends on later answers)
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func Alarms(counts []int64, t int64, eps float64, src *noise.Source) []bool {
	var alarms []bool
	count, noisy := int64(0), t+src.DiscreteLaplace(2/eps)
	for _, x := range counts {
		count += x
		if count+src.DiscreteLaplace(4/eps) >= noisy {
			alarms = append(alarms, true)
			count, noisy = 0, t+src.DiscreteLaplace(2/eps)
		} else {
			alarms = append(alarms, false)
		}
	}
	return alarms
}

// BothSides goes on until there were n answers on either side. It keeps its claim: the
// side that is the last to have n of them pays, and the other one is free, so that the
// threshold moves up or down by what is answered later.
//
// want: unknown (the shift of a draw depends on later answers)
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func BothSides(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	up, down := 0, 0
	for i := 0; i < len(q) && (up < n || down < n); i++ {
		if q[i]+src.Laplace(4*float64(n)/eps) >= t {
			above = append(above, true)
			up++
		} else {
			above = append(above, false)
			down++
		}
	}
	return above
}

// BetweenThresholds halts at a query between two thresholds that one draw moves
// together: Bun, Steinke and Ullman 2017, Section 4. What is left between them is
// enough but with probability delta.
//
// want: unknown (the noisy interval shrinks between neighbours: no shift keeps what lies in it)
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 1
//dp:requires high-low >= 12/eps*(math.Log(10/eps)+math.Log(1/delta)+1)
//dp:cost eps, delta
func BetweenThresholds(q []float64, low, high, eps, delta float64, src *noise.Source) []int {
	closer := src.Laplace(2 / eps)
	low += closer
	high -= closer
	var answers []int
	for _, x := range q {
		noisy := x + src.Laplace(6/eps)
		if noisy >= low && noisy <= high {
			return append(answers, 0)
		}
		if noisy < low {
			answers = append(answers, -1)
		} else {
			answers = append(answers, 1)
		}
	}
	return answers
}

// GaussianTwice releases two values with noise for one.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:adjacent |y| <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 0.01
//dp:cost eps, delta
func GaussianTwice(x, y, eps, delta float64, src *noise.Source) (float64, float64) {
	sigma := math.Sqrt(2*math.Log(1.25/delta)) / eps
	return x + src.Gaussian(sigma), y + src.Gaussian(sigma)
}

// EvensOdds sums items by where they stand: each is in one of the sums.
//
// want: proved
//
//dp:adjacent one(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func EvensOdds(xs []float64, eps float64, src *noise.Source) (even, odd float64) {
	for i, x := range xs {
		if i%2 == 0 {
			even += x
		} else {
			odd += x
		}
	}
	return even + src.Laplace(1/eps), odd + src.Laplace(1/eps)
}

type finding struct {
	Above bool
	Value float64
}

// StructsReuse answers with structs, and the value that was compared.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func StructsReuse(q []float64, t float64, c int, eps float64, src *noise.Source) []finding {
	var out []finding
	bar := t + src.Laplace(3/eps)
	hits := 0
	for _, x := range q {
		if hits == c {
			break
		}
		a := finding{}
		y := x + src.Laplace(6*float64(c)/eps)
		if y >= bar {
			a.Above = true
			a.Value = y
			hits++
		}
		out = append(out, a)
	}
	return out
}

// GapWhole is over the integers, where a winner with a gap of 0 stands before the one that
// is as large, and those before it are all smaller. Where three or more that are much larger are
// among these, that is e^(2 eps) times as likely if they fall and the others rise.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) >= 2
//dp:cost eps
func GapWhole(q []int64, eps float64, src *noise.Source) (int, int64) {
	at, best, second := -1, int64(0), int64(0)
	for i, x := range q {
		noisy := x + src.DiscreteLaplace(2/eps)
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
