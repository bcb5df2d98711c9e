package fresh

import "github.com/discreet-dp/discreet/noise"

// ArgmaxTwoPasses is noisy max as most write it: noise first, then the argmax.
//
// want: proved
//
//dp:adjacent each(scores) <= 1
//dp:requires epsilon > 0
//dp:cost epsilon
func ArgmaxTwoPasses(scores []float64, epsilon float64, rng *noise.Source) int {
	noisy := make([]float64, len(scores))
	for i := range scores {
		noisy[i] = scores[i] + rng.Laplace(2/epsilon)
	}
	winner := 0
	for i := range noisy {
		if noisy[i] > noisy[winner] {
			winner = i
		}
	}
	return winner
}

// ArgmaxTwoPassesTold shows the noisy score of the winner.
//
// want: refuted
//
//dp:adjacent each(scores) <= 1
//dp:requires epsilon > 0 && len(scores) > 0
//dp:cost epsilon
func ArgmaxTwoPassesTold(scores []float64, epsilon float64, rng *noise.Source) float64 {
	noisy := make([]float64, len(scores))
	for i := range scores {
		noisy[i] = scores[i] + rng.Laplace(2/epsilon)
	}
	winner := 0
	for i := range noisy {
		if noisy[i] > noisy[winner] {
			winner = i
		}
	}
	return noisy[winner]
}

// ArgmaxTwoPassesHalf adds half the noise.
//
// want: refuted
//
//dp:adjacent each(scores) <= 1
//dp:requires epsilon > 0
//dp:cost epsilon
func ArgmaxTwoPassesHalf(scores []float64, epsilon float64, rng *noise.Source) int {
	noisy := make([]float64, len(scores))
	for i := range scores {
		noisy[i] = scores[i] + rng.Laplace(1/epsilon)
	}
	winner := 0
	for i := range noisy {
		if noisy[i] > noisy[winner] {
			winner = i
		}
	}
	return winner
}

// HeaviestBin appends noisy counts, and asks a function for the largest.
//
// want: proved
//
//dp:adjacent each(bins) <= 1
//dp:requires eps > 0
//dp:cost eps
func HeaviestBin(bins []int64, eps float64, src *noise.Source) int {
	noisy := make([]int64, 0, len(bins))
	for _, b := range bins {
		noisy = append(noisy, b+src.DiscreteLaplace(2/eps))
	}
	return indexOfMax(noisy)
}

func indexOfMax(xs []int64) int {
	best := 0
	for i, x := range xs {
		if x > xs[best] {
			best = i
		}
	}
	return best
}

// HeaviestBinHalf adds half the noise.
//
// want: refuted
//
//dp:adjacent each(bins) <= 1
//dp:requires eps > 0
//dp:cost eps
func HeaviestBinHalf(bins []int64, eps float64, src *noise.Source) int {
	noisy := make([]int64, 0, len(bins))
	for _, b := range bins {
		noisy = append(noisy, b+src.DiscreteLaplace(1/eps))
	}
	return indexOfMax(noisy)
}

// HeaviestBinTwice asks twice, and pays once.
//
// want: refuted
//
//dp:adjacent each(bins) <= 1
//dp:requires eps > 0
//dp:cost eps
func HeaviestBinTwice(bins []int64, eps float64, src *noise.Source) (int, int) {
	var first, second []int64
	for _, b := range bins {
		first = append(first, b+src.DiscreteLaplace(2/eps))
	}
	x := indexOfMax(first)
	for _, b := range bins {
		second = append(second, b+src.DiscreteLaplace(2/eps))
	}
	return x, indexOfMax(second)
}

// HeaviestBinValue begins with the first noisy count.
//
// want: proved
//
//dp:adjacent each(bins) <= 1
//dp:requires eps > 0 && len(bins) > 0
//dp:cost eps
func HeaviestBinValue(bins []int64, eps float64, src *noise.Source) int {
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
	return at
}

// LightestBin begins with no winner.
//
// want: proved
//
//dp:adjacent each(bins) <= 1
//dp:requires eps > 0
//dp:cost eps
func LightestBin(bins []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(bins))
	for i := 0; i < len(noisy); i++ {
		noisy[i] = bins[i] + src.Laplace(2/eps)
	}
	best := -1
	for i := 0; i < len(noisy); i++ {
		if best < 0 || noisy[i] < noisy[best] {
			best = i
		}
	}
	return best
}

// FirstNoisyAbove has all the noise before it looks for the first score above.
//
// want: proved
//
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func FirstNoisyAbove(scores []float64, t, eps float64, src *noise.Source) int {
	t += src.Laplace(2 / eps)
	noisy := make([]float64, len(scores))
	for i, s := range scores {
		noisy[i] = s + src.Laplace(4/eps)
	}
	for i, s := range noisy {
		if s >= t {
			return i
		}
	}
	return -1
}

// AllNoisyAbove goes on after the first: its result has a bit for each.
//
// want: refuted
//
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func AllNoisyAbove(scores []float64, t, eps float64, src *noise.Source) (above int) {
	t += src.Laplace(2 / eps)
	noisy := make([]float64, len(scores))
	for i, s := range scores {
		noisy[i] = s + src.Laplace(4/eps)
	}
	for _, s := range noisy {
		if above = 2 * above; s >= t {
			above++
		}
	}
	return above
}
