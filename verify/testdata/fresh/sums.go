package fresh

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// Rounds releases the sum k times, at a k-th of the budget each.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Rounds(q []float64, k int, eps float64, src *noise.Source) []float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	var out []float64
	for range k {
		out = append(out, sum+src.Laplace(float64(k)/eps))
	}
	return out
}

// RoundsFree spends the whole budget in each round.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func RoundsFree(q []float64, k int, eps float64, src *noise.Source) []float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	var out []float64
	for range k {
		out = append(out, sum+src.Laplace(1/eps))
	}
	return out
}

// Mean has noise for the mean of n rows.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Mean(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	n := float64(len(q))
	return sum/n + src.Laplace(1/(n*eps))
}

// Clipped sums rows that are cut to [0, b].
//
// ClippedBothWays cuts to [-b, b], and forgets that a row may go from one end to the other.
//
// want: refuted
//
//dp:adjacent one(rows) <= 1000
//dp:requires eps > 0 && b > 0
//dp:cost eps
func ClippedBothWays(rows []float64, b, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range rows {
		sum += min(max(x, -b), b)
	}
	return sum + src.Laplace(b/eps)
}

// Histogram has noise in every bin.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func Histogram(counts []int64, eps float64, src *noise.Source) []int64 {
	out := make([]int64, len(counts))
	for i, c := range counts {
		out[i] = max(0, c+src.DiscreteLaplace(1/eps))
	}
	return out
}

// Suppressed shows the noisy counts above a public threshold.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func Suppressed(counts []int64, t int64, eps float64, src *noise.Source) []int64 {
	var out []int64
	for _, c := range counts {
		if n := c + src.DiscreteLaplace(1/eps); n >= t {
			out = append(out, n)
		} else {
			out = append(out, 0)
		}
	}
	return out
}

// Nonzero shows the bins that are not empty.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func Nonzero(counts []int64, eps float64, src *noise.Source) []int64 {
	var out []int64
	for _, c := range counts {
		if c > 0 {
			out = append(out, c+src.DiscreteLaplace(1/eps))
		}
	}
	return out
}

// Running releases the true sum so far with new noise at each step.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Running(q []float64, eps float64, src *noise.Source) []float64 {
	var out []float64
	sum := 0.0
	for _, x := range q {
		sum += x
		out = append(out, sum+src.Laplace(1/eps))
	}
	return out
}

// Buffered releases the rows of every fourth step together.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Buffered(q []int64, eps float64, src *noise.Source) []int64 {
	var out []int64
	var buffer, total int64
	for i, x := range q {
		buffer += x
		if i%4 == 3 {
			total += buffer + src.DiscreteLaplace(1/eps)
			buffer = 0
		}
		out = append(out, total)
	}
	return out
}

// BufferKept forgets to empty the buffer.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BufferKept(q []int64, eps float64, src *noise.Source) []int64 {
	var out []int64
	var buffer int64
	for i, x := range q {
		buffer += x
		if i%2 == 1 {
			out = append(out, buffer+src.DiscreteLaplace(1/eps))
		}
	}
	return out
}

// Tree releases the nodes of a tree over four leaves: each leaf is in three.
//
// want: proved
//
//dp:adjacent one(x) <= 1
//dp:requires eps > 0 && len(x) == 4
//dp:cost eps
func Tree(x []float64, eps float64, src *noise.Source) []float64 {
	b := 3 / eps
	out := []float64{}
	for i := range 4 {
		out = append(out, x[i]+src.Laplace(b))
	}
	left, right := x[0]+x[1], x[2]+x[3]
	out = append(out, left+src.Laplace(b), right+src.Laplace(b))
	return append(out, left+right+src.Laplace(b))
}

// TreeCheap has noise for two levels.
//
// want: refuted
//
//dp:adjacent one(x) <= 1
//dp:requires eps > 0 && len(x) == 4
//dp:cost eps
func TreeCheap(x []float64, eps float64, src *noise.Source) []float64 {
	b := 2 / eps
	out := []float64{}
	for i := range 4 {
		out = append(out, x[i]+src.Laplace(b))
	}
	left, right := x[0]+x[1], x[2]+x[3]
	out = append(out, left+src.Laplace(b), right+src.Laplace(b))
	return append(out, left+right+src.Laplace(b))
}

// SpenderLate looks at the budget after it has spent.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires e > 0 && budget > 0
//dp:cost budget
func SpenderLate(q []float64, e, budget float64, src *noise.Source) []float64 {
	var out []float64
	spent := 0.0
	for _, x := range q {
		if spent >= budget {
			break
		}
		spent += e
		out = append(out, x+src.Laplace(1/e))
	}
	return out
}

// BlockSums is subsample and aggregate: rows in k blocks, each cut to [0, 1].
//
// SameNoise adds one draw to two numbers.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:adjacent |y| <= 1
//dp:requires eps > 0
//dp:cost 2*eps
func SameNoise(x, y, eps float64, src *noise.Source) (float64, float64) {
	z := src.Laplace(1 / eps)
	return x + z, y + z
}

// Twice releases a number twice, at half the budget each.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Twice(x, eps float64, src *noise.Source) (float64, float64) {
	return x + src.Laplace(2/eps), x + src.Laplace(2/eps)
}

// TwoSided is Laplace noise as the difference of two exponential draws.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func TwoSided(x, eps float64, src *noise.Source) float64 {
	return x + src.Exponential(1/eps) - src.Exponential(1/eps)
}

// Positive has noise on one side only.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Positive(x, eps float64, src *noise.Source) float64 {
	return x + src.Exponential(1/eps)
}

// RoundedBefore rounds a number, which keeps a distance of 1.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func RoundedBefore(x, eps float64, src *noise.Source) float64 {
	return math.Floor(x) + src.Laplace(1/eps)
}

// RoundedHalf rounds a number, which does not keep a distance of a half.
//
// want: refuted
//
//dp:adjacent |x| <= 0.5
//dp:requires eps > 0
//dp:cost eps
func RoundedHalf(x, eps float64, src *noise.Source) float64 {
	return math.Floor(x) + src.Laplace(1/(2*eps))
}

// OwnRange takes the scale of its noise from the data.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OwnRange(q []float64, eps float64, src *noise.Source) float64 {
	sum, most := 0.0, 1.0
	for _, x := range q {
		sum += x
		most = max(most, x)
	}
	return sum + src.Laplace(most/eps)
}

// MixedNoise adds whole noise to a real number, whose digits show.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func MixedNoise(x, eps float64, src *noise.Source) float64 {
	return x + float64(src.DiscreteLaplace(1/eps))
}

// Early stops when the sum is large, and nobody added noise to it.
//
// want: refuted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Early(q []float64, limit, eps float64, src *noise.Source) float64 {
	sum, total := 0.0, 0.0
	for _, x := range q {
		sum += x
		total += x + src.Laplace(1/eps)
		if sum > limit {
			break
		}
	}
	return total
}

// Gate releases the true value if the noisy one is large.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Gate(x, t, eps float64, src *noise.Source) float64 {
	if x+src.Laplace(1/eps) > t {
		return x
	}
	return 0
}

// Calls is a sum that calls another function with a claim.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Calls(q []float64, eps float64, src *noise.Source) (float64, float64) {
	a := Clipped(q, 1, eps/2, src)
	b := Clipped(q, 2, eps/2, src)
	return a, b
}

// RoundedAway rounds to the nearest whole number, halves away from zero: -1/2 and 1/2
// come to be two apart.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func RoundedAway(x, eps float64, src *noise.Source) float64 {
	return math.Round(x) + src.Laplace(1/eps)
}

// RoundedUp rounds up after scaling by 2, which makes a distance of 2.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func RoundedUp(x, eps float64, src *noise.Source) float64 {
	return math.Ceil(2*x) + src.Laplace(1/eps)
}

// want: proved
//
//dp:adjacent one(rows) <= 1000
//dp:requires eps > 0 && b > 0
//dp:cost eps
func Clipped(rows []float64, b, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range rows {
		sum += min(max(x, 0), b)
	}
	return sum + src.Laplace(b/eps)
}

// ZeroScale has noise of scale 0, which nothing draws: where it is none, the sum is bare.
//
// want: unknown
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ZeroScale(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	return sum + src.Laplace((eps-eps)*2)
}

// DailyVisits has noise at every key.
//
// want: proved
//
//dp:adjacent each(visits) <= 1
//dp:requires eps > 0
//dp:cost eps * float64(len(days))
func DailyVisits(visits map[string]int64, days []string, eps float64, src *noise.Source) []int64 {
	table := make([]int64, len(days))
	for i, day := range days {
		table[i] = visits[day] + src.DiscreteLaplace(1/eps)
	}
	return table
}

// DailyVisitsFree pays for one of them.
//
// want: refuted
//
//dp:adjacent each(visits) <= 1
//dp:requires eps > 0
//dp:cost eps
func DailyVisitsFree(visits map[string]int64, days []string, eps float64, src *noise.Source) []int64 {
	table := make([]int64, len(days))
	for i, day := range days {
		table[i] = visits[day] + src.DiscreteLaplace(1/eps)
	}
	return table
}

// Cumulative sums noisy numbers.
//
// want: proved
//
//dp:adjacent one(hours) <= 1
//dp:requires eps > 0
//dp:cost eps
func Cumulative(hours []int64, eps float64, src *noise.Source) []int64 {
	out := make([]int64, len(hours))
	var running int64
	for i, h := range hours {
		running += h + src.DiscreteLaplace(1/eps)
		out[i] = running
	}
	return out
}

// CumulativeEach lets all of them move.
//
// want: refuted
//
//dp:adjacent each(hours) <= 1
//dp:requires eps > 0
//dp:cost eps
func CumulativeEach(hours []int64, eps float64, src *noise.Source) []int64 {
	out := make([]int64, len(hours))
	var running int64
	for i, h := range hours {
		running += h + src.DiscreteLaplace(1/eps)
		out[i] = running
	}
	return out
}

// SmartBlocks closes a block at every multiple of its width.
//
// want: proved
//
//dp:adjacent one(v) <= 1
//dp:requires eps > 0 && width > 0
//dp:cost eps
func SmartBlocks(v []float64, width int, eps float64, src *noise.Source) []float64 {
	var out []float64
	var closed, open, shown float64
	for i, x := range v {
		open += x
		if (i+1)%width != 0 {
			shown += x + src.Laplace(2/eps)
		} else {
			closed += open + src.Laplace(2/eps)
			shown = closed
			open = 0
		}
		out = append(out, shown)
	}
	return out
}

// SmartBlocksCheap has half of the noise within blocks.
//
// want: refuted
//
//dp:adjacent one(v) <= 1
//dp:requires eps > 0 && width > 0
//dp:cost eps
func SmartBlocksCheap(v []float64, width int, eps float64, src *noise.Source) []float64 {
	var out []float64
	var closed, open, shown float64
	for i, x := range v {
		open += x
		if (i+1)%width != 0 {
			shown += x + src.Laplace(1/eps)
		} else {
			closed += open + src.Laplace(2/eps)
			shown = closed
			open = 0
		}
		out = append(out, shown)
	}
	return out
}

// ClipAfter cuts the sum, when it has its noise.
//
// want: refuted
//
//dp:adjacent one(v) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClipAfter(v []float64, eps float64, src *noise.Source) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return min(max(total+src.Laplace(0.5/eps), -100), 100)
}

// EvenNoise adds noise that leaves the parity.
//
// want: refuted
//
//dp:adjacent |salary| <= 1
//dp:requires eps > 0
//dp:cost eps
func EvenNoise(salary int64, eps float64, src *noise.Source) int64 {
	return salary + 2*src.DiscreteLaplace(1/eps)
}

// Bins adds noise to a copy, and cuts at zero.
//
// want: proved
//
//dp:adjacent one(bins) <= 1
//dp:requires eps > 0
//dp:cost eps
func Bins(bins []int64, eps float64, src *noise.Source) []int64 {
	noisy := append([]int64(nil), bins...)
	for i := range noisy {
		noisy[i] += src.DiscreteLaplace(1 / eps)
	}
	for i := range noisy {
		if noisy[i] < 0 {
			noisy[i] = 0
		}
	}
	return noisy
}

// BinsSkipEmpty leaves empty bins empty.
//
// want: refuted
//
//dp:adjacent one(bins) <= 1
//dp:requires eps > 0
//dp:cost eps
func BinsSkipEmpty(bins []int64, eps float64, src *noise.Source) []int64 {
	noisy := append([]int64(nil), bins...)
	for i := range noisy {
		if noisy[i] == 0 {
			continue
		}
		noisy[i] += src.DiscreteLaplace(1 / eps)
	}
	return noisy
}

type accountant struct{ spent, limit float64 }

func (a *accountant) spend(e float64) bool {
	if a.spent+e > a.limit {
		return false
	}
	a.spent += e
	return true
}

// Accounted asks an accountant, a struct with a method, before each release.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires e > 0 && budget > 0
//dp:cost budget
func Accounted(q []float64, e, budget float64, src *noise.Source) []float64 {
	acc := &accountant{limit: budget}
	var out []float64
	for _, x := range q {
		if !acc.spend(e) {
			break
		}
		out = append(out, x+src.Laplace(1/e))
	}
	return out
}

// AccountedHalf tells it half of what it spends.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires e > 0 && budget > 0
//dp:cost budget
func AccountedHalf(q []float64, e, budget float64, src *noise.Source) []float64 {
	acc := &accountant{limit: budget}
	var out []float64
	for _, x := range q {
		if !acc.spend(e / 2) {
			break
		}
		out = append(out, x+src.Laplace(1/e))
	}
	return out
}

// SumWide sums rows that move by 5.
//
// want: proved
//
//dp:adjacent one(rows) <= 5
//dp:requires eps > 0
//dp:cost eps
func SumWide(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for i := 0; i < len(rows); i++ {
		s = s + rows[i]
	}
	return s + src.Laplace(5/eps)
}

func clamp(x, lo, hi float64) float64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// ClipHelper cuts to [-1, 1], and forgets that this is 2 wide.
//
// want: refuted
//
//dp:adjacent one(rows) <= 1000
//dp:requires eps > 0
//dp:cost eps
func ClipHelper(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s += clamp(r, -1, 1)
	}
	return s + src.Laplace(1/eps)
}

// ClipHelperWide cuts by a function of its own.
//
// want: proved
//
//dp:adjacent one(rows) <= 1000
//dp:requires eps > 0
//dp:cost eps
func ClipHelperWide(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s += clamp(r, -1, 1)
	}
	return s + src.Laplace(2/eps)
}

// MeanOfBag is a noisy sum over a noisy count.
//
// want: proved
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && hi > 0
//dp:cost eps
func MeanOfBag(rows []float64, hi, eps float64, src *noise.Source) float64 {
	var sum float64
	n := 0
	for _, r := range rows {
		sum += clamp(r, 0, hi)
		n++
	}
	noisySum := sum + src.Laplace(2*hi/eps)
	noisyCount := float64(n) + src.Laplace(2/eps)
	if noisyCount < 1 {
		noisyCount = 1
	}
	return noisySum / noisyCount
}

// ClipBefore cuts by a switch.
//
// want: proved
//
//dp:adjacent one(v) <= 1000
//dp:requires eps > 0
//dp:cost eps
func ClipBefore(v []float64, eps float64, src *noise.Source) float64 {
	total := 0.0
	for _, x := range v {
		switch {
		case x > 1:
			x = 1
		case x < 0:
			x = 0
		}
		total += x
	}
	return total + src.Laplace(1/eps)
}

// Spender answers while its budget lasts.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires e > 0 && budget > 0
//dp:cost budget
func Spender(q []float64, e, budget float64, src *noise.Source) []float64 {
	var out []float64
	spent := 0.0
	for _, x := range q {
		if spent+e > budget {
			break
		}
		spent += e
		out = append(out, x+src.Laplace(1/e))
	}
	return out
}

// TreeCount has each of four draws pay where the neighbours differ.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && len(q) == 4
//dp:cost eps
func TreeCount(q []int64, eps float64, src *noise.Source) []int64 {
	sums := make([]int64, 4)
	sums[0] = q[0] + src.DiscreteLaplace(3/eps)
	sums[1] = q[0] + q[1] + src.DiscreteLaplace(3/eps)
	sums[2] = sums[1] + q[2] + src.DiscreteLaplace(3/eps)
	sums[3] = q[0] + q[1] + q[2] + q[3] + src.DiscreteLaplace(3/eps)
	return sums
}
