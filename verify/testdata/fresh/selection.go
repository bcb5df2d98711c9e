package fresh

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// NoisyMin returns the index of the smallest noisy score.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMin(q []float64, eps float64, src *noise.Source) int {
	at, least := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if at < 0 || noisy < least {
			at, least = i, noisy
		}
	}
	return at
}

// HalfNoiseMax is noisy max with the noise that counts allow, for scores that move both ways.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func HalfNoiseMax(q []float64, eps float64, src *noise.Source) int {
	at, most := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(1/eps)
		if at < 0 || noisy > most {
			at, most = i, noisy
		}
	}
	return at
}

// CountMax is noisy max of counts of rows, one of which comes or goes.
//
// want: proved
//
//dp:adjacent each(q) in [0, 1]
//dp:requires eps > 0
//dp:cost eps
func CountMax(q []int64, eps float64, src *noise.Source) int {
	at, most := 0, int64(0)
	for i, x := range q {
		noisy := x + src.DiscreteLaplace(1/eps)
		if i == 0 || noisy > most {
			at, most = i, noisy
		}
	}
	return at
}

// Gumbel is the exponential mechanism by its maximum of Gumbel noise.
//
// OneSided adds exponential noise.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OneSided(q []float64, eps float64, src *noise.Source) int {
	at, most := -1, 0.0
	for i, x := range q {
		noisy := x + src.Exponential(2/eps)
		if at == -1 || noisy > most {
			at, most = i, noisy
		}
	}
	return at
}

// OneSidedMin subtracts nothing: the smallest of scores with noise that only adds.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OneSidedMin(q []float64, eps float64, src *noise.Source) int {
	at, least := -1, 0.0
	for i, x := range q {
		noisy := x + src.Exponential(2/eps)
		if at == -1 || noisy < least {
			at, least = i, noisy
		}
	}
	return at
}

// Weighted chooses by scores that it has doubled.
//
// want: refuted
//
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func Weighted(scores []float64, eps float64, src *noise.Source) int {
	twice := make([]float64, len(scores))
	for i := range scores {
		twice[i] = 2 * scores[i]
	}
	return src.Choose(twice, eps)
}

// WeightedPaid pays for it.
//
// want: proved
//
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost 2*eps
func WeightedPaid(scores []float64, eps float64, src *noise.Source) int {
	twice := make([]float64, len(scores))
	for i := range scores {
		twice[i] = 2 * scores[i]
	}
	return src.Choose(twice, eps)
}

// TwoChoices chooses twice at half the price.
//
// want: proved
//
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func TwoChoices(scores []float64, eps float64, src *noise.Source) (int, int) {
	a := src.Choose(scores, eps/2)
	b := src.Choose(scores, eps/2)
	return a, b
}

// Median chooses a candidate by how far its rank is from the middle.
//
// MedianBothSides counts both sides: one row moves the score by 2.
//
// Vote is PATE's noisy plurality: a teacher who changes her mind moves two counts by 1.
//
// want: proved
//
//dp:adjacent each(votes) <= 1
//dp:requires eps > 0
//dp:cost eps
func Vote(votes []int64, eps float64, src *noise.Source) (class int) {
	var most int64
	for i, v := range votes {
		if n := v + src.DiscreteLaplace(2/eps); i == 0 || n > most {
			class, most = i, n
		}
	}
	return class
}

// ConfidentBare looks at the plurality without noise.
//
// want: refuted
//
//dp:adjacent each(votes) <= 1
//dp:requires eps > 0
//dp:cost eps
func ConfidentBare(votes []int64, t int64, eps float64, src *noise.Source) int {
	var largest int64
	for _, v := range votes {
		largest = max(largest, v)
	}
	if largest < t {
		return -1
	}
	at, most := 0, int64(0)
	for i, v := range votes {
		if n := v + src.DiscreteLaplace(2/eps); i == 0 || n > most {
			at, most = i, n
		}
	}
	return at
}

// GaussianVote is GNMax as the release of all noisy counts of disjoint sets of rows.
//
// want: proved
//
//dp:adjacent one(votes) <= 1
//dp:requires sigma > 0
//dp:cost zcdp(1 / (2*sigma*sigma))
func GaussianVote(votes []float64, sigma float64, src *noise.Source) []float64 {
	noisy := make([]float64, len(votes))
	for i := range votes {
		noisy[i] = votes[i] + src.Gaussian(sigma)
	}
	return noisy
}

// Larger returns the larger of two private numbers, with noise.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:adjacent |y| <= 1
//dp:requires eps > 0
//dp:cost eps
func Larger(x, y, eps float64, src *noise.Source) float64 {
	return max(x, y) + src.Laplace(1/eps)
}

// LargerAndSmaller returns both, at the price of one.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:adjacent |y| <= 1
//dp:requires eps > 0
//dp:cost eps
func LargerAndSmaller(x, y, eps float64, src *noise.Source) (float64, float64) {
	return max(x, y) + src.Laplace(1/eps), min(x, y) + src.Laplace(1/eps)
}

// ArgmaxFromFirst takes the first score for the winner before it looks at the others.
//
// want: proved
//
//dp:adjacent each(scores) <= 1
//dp:requires epsilon > 0 && len(scores) > 0
//dp:cost epsilon
func ArgmaxFromFirst(scores []float64, epsilon float64, rng *noise.Source) int {
	winner := 0
	top := scores[0] + rng.Laplace(2/epsilon)
	for j := 1; j < len(scores); j++ {
		candidate := scores[j] + rng.Laplace(2/epsilon)
		if candidate > top {
			top = candidate
			winner = j
		}
	}
	return winner
}

// ArgmaxBackwards begins with the last score, and gives ties to the earlier one.
//
// want: proved
//
//dp:adjacent each(scores) <= 1
//dp:requires epsilon > 0
//dp:cost epsilon
func ArgmaxBackwards(scores []float64, epsilon float64, rng *noise.Source) int {
	winner, top := -1, 0.0
	for j := len(scores) - 1; j >= 0; j-- {
		candidate := scores[j] + rng.Laplace(2/epsilon)
		if winner == -1 || candidate >= top {
			top, winner = candidate, j
		}
	}
	return winner
}

// ArgmaxSharedNoise adds one draw to all scores.
//
// want: refuted
//
//dp:adjacent each(scores) <= 1
//dp:requires epsilon > 0
//dp:cost epsilon
func ArgmaxSharedNoise(scores []float64, epsilon float64, rng *noise.Source) int {
	winner, top := -1, 0.0
	z := rng.Laplace(2 / epsilon)
	for j := range len(scores) {
		candidate := scores[j] + z
		if winner < 0 || candidate > top {
			top, winner = candidate, j
		}
	}
	return winner
}

// ArgmaxComparesRaw remembers the best score without its noise.
//
// want: refuted
//
//dp:adjacent each(scores) <= 1
//dp:requires epsilon > 0
//dp:cost epsilon
func ArgmaxComparesRaw(scores []float64, epsilon float64, rng *noise.Source) int {
	winner, top := -1, 0.0
	for j, s := range scores {
		candidate := s + rng.Laplace(2/epsilon)
		if winner < 0 || candidate > top {
			top, winner = s, j
		}
	}
	return winner
}

// ArgmaxMonotone is noisy max of counts that rows only leave, with a flag for the first.
//
// want: proved
//
//dp:adjacent each(counts) in [-1, 0]
//dp:requires epsilon > 0
//dp:cost epsilon
func ArgmaxMonotone(counts []int64, epsilon float64, rng *noise.Source) (winner int) {
	var top int64
	first := true
	for j, n := range counts {
		v := n + rng.Geometric(1/epsilon)
		if first || v > top {
			first = false
			top = v
			winner = j
		}
	}
	return
}

// Repeated chooses several times, at a part of the budget each.
//
// want: proved
//
//dp:adjacent each(utility) <= 1
//dp:requires eps > 0 && rounds > 0
//dp:cost eps
func Repeated(utility []float64, rounds int, eps float64, src *noise.Source) []int {
	picks := make([]int, rounds)
	for r := range rounds {
		picks[r] = src.Choose(utility, eps/float64(rounds))
	}
	return picks
}

// RepeatedOneMore chooses once more than it pays for.
//
// want: refuted
//
//dp:adjacent each(utility) <= 1
//dp:requires eps > 0 && rounds > 0
//dp:cost eps
func RepeatedOneMore(utility []float64, rounds int, eps float64, src *noise.Source) []int {
	picks := make([]int, rounds+1)
	for r := 0; r <= rounds; r++ {
		picks[r] = src.Choose(utility, eps/float64(rounds))
	}
	return picks
}

// HeaviestBinTold adds noise to all bins first, and tells the noisy maximum too.
//
// want: refuted
//
//dp:adjacent each(bins) <= 1
//dp:requires eps > 0 && len(bins) > 0
//dp:cost eps
func HeaviestBinTold(bins []int64, eps float64, src *noise.Source) (int, int64) {
	noisy := make([]int64, len(bins))
	for i, b := range bins {
		noisy[i] = b + src.DiscreteLaplace(2/eps)
	}
	best, at := noisy[0], 0
	for i := 1; i < len(noisy); i++ {
		if noisy[i] > best {
			best, at = noisy[i], i
		}
	}
	return at, best
}

// NoisyTopTwo is noisy top-k for k = 2: the second round skips the first winner.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyTopTwo(q []float64, eps float64, src *noise.Source) (int, int) {
	first, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(4/eps)
		if first < 0 || noisy > best {
			first, best = i, noisy
		}
	}
	second, next := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(4/eps)
		if i != first && (second < 0 || noisy > next) {
			second, next = i, noisy
		}
	}
	return first, second
}

// PeeledTwo chooses twice, and passes over the first winner: noisy top-k by peeling.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PeeledTwo(q []float64, eps float64, src *noise.Source) (int, int) {
	first, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(4/eps)
		if first < 0 || noisy > best {
			first, best = i, noisy
		}
	}
	second, best := -1, 0.0
	for i, x := range q {
		if i == first {
			continue
		}
		noisy := x + src.Laplace(4/eps)
		if second < 0 || noisy > best {
			second, best = i, noisy
		}
	}
	return first, second
}

// Confident answers only if the plurality is noisily large: PATE's confident aggregator.
//
// want: proved
//
//dp:adjacent each(votes) <= 1
//dp:requires e1 > 0 && e2 > 0
//dp:cost e1 + e2
func Confident(votes []int64, t int64, e1, e2 float64, src *noise.Source) int {
	var largest int64
	for i, v := range votes {
		if i == 0 || v > largest {
			largest = v
		}
	}
	if largest+src.DiscreteLaplace(1/e1) < t {
		return -1
	}
	at, most := 0, int64(0)
	for i, v := range votes {
		if n := v + src.DiscreteLaplace(2/e2); i == 0 || n > most {
			at, most = i, n
		}
	}
	return at
}

// MedianBothSides counts rows on both sides of a candidate, which change sides.
//
// want: refuted
//
//dp:adjacent one(rows) <= 1000
//dp:requires eps > 0
//dp:cost eps
func MedianBothSides(rows, candidates []int64, eps float64, src *noise.Source) int64 {
	if len(candidates) == 0 {
		panic("no candidates")
	}
	scores := make([]float64, len(candidates))
	for i, c := range candidates {
		below, above := 0, 0
		for _, x := range rows {
			if x < c {
				below++
			} else {
				above++
			}
		}
		scores[i] = -math.Abs(float64(below) - float64(above))
	}
	return candidates[src.Choose(scores, eps)]
}
