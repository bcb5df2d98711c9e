// Package proportion bounds the mean of independent trials from what they gave, with no
// assumption on how they differ. It knows no privacy.
package proportion

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Bounds returns bounds of the mean of n independent trials' probabilities of success that
// hold but with probability beta, from the number of successes.
//
// Theorem (Clopper and Pearson 1934). Where all n probabilities are p, the p with
// P(X >= successes) > β/2 and P(X <= successes) > β/2, X binomial, hold the true one with
// probability at least 1−β. (Hoeffding 1956, Theorem 5: where they differ, with mean p,
// P(b <= X <= c) is not smaller than for the binomial if b <= np <= c; what the intervals
// rest on is such a [b, c], so they hold for the mean as well.)
//
// Beyond maxExactTrials the tails are those of Mean instead, which makes intervals a little
// wider.
func Bounds(successes, n int64, beta float64) (low, high float64) {
	tail := max(beta/2, math.SmallestNonzeroFloat64)
	return 1 - failureRate(n-successes, n, tail), failureRate(successes, n, tail)
}

const maxExactTrials = 1 << 30

// failureRate returns the p, rounded up by a little, at which a binomial X of n trials
// has P(X <= x) = tail.
func failureRate(x, n int64, tail float64) float64 {
	if x == n {
		return 1
	}
	f := float64(x) / float64(n)
	if n > maxExactTrials {
		return highestMean(f, float64(n), tail)
	}
	return search(f, tail, func(p float64) float64 {
		return mathext.RegIncBeta(float64(n-x), float64(x)+1, 1-p)
	})
}

// Mean returns bounds of the expected mean of n independent numbers from 0 to 1 that hold
// but with probability beta, from their mean f.
//
// Theorem (Chernoff; Hoeffding 1963, Theorem 1). With expected mean p, the mean is at most f,
// for f < p, with probability at most exp(−n·KL(f, p)).
func Mean(f float64, n int64, beta float64) (low, high float64) {
	f = min(max(f, 0), 1)
	tail := max(beta/2, math.SmallestNonzeroFloat64)
	return 1 - highestMean(1-f, float64(n), tail), highestMean(f, float64(n), tail)
}

func highestMean(f, n, tail float64) float64 {
	if f >= 1 {
		return 1
	}
	return search(f, tail, func(p float64) float64 {
		// Logarithms of ratios near 1, which lose nothing that way.
		kl := (1 - f) * math.Log1p((p-f)/(1-p))
		if f > 0 {
			kl += f * math.Log1p((f-p)/p)
		}
		return math.Exp(-n * kl)
	})
}

// search returns the p >= f at which a falling function reaches the tail.
func search(f, tail float64, below func(p float64) float64) float64 {
	low, high := f, 1.0
	for range 60 {
		if p := (low + high) / 2; below(p) > tail*(1-1e-4) {
			low = p
		} else {
			high = p
		}
	}
	return high
}
