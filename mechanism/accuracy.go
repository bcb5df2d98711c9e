package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mathext"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// checkBeta refuses a probability of failure that is not between 0 and 1.
func checkBeta(beta *big.Rat) error {
	if beta == nil || beta.Sign() <= 0 || beta.Cmp(big.NewRat(1, 1)) >= 0 {
		return fmt.Errorf("%w: beta is missing, or not between 0 and 1", ErrParameter)
	}
	return nil
}

// logOver returns ln(n/beta), for n at least beta.
func logOver(n int64, beta *big.Rat) numeric.Interval {
	return numeric.Of(new(big.Rat).Quo(big.NewRat(n, 1), beta)).Log()
}

// upFloat returns the least float64 that is not below r.
func upFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	if !math.IsInf(f, 0) && new(big.Rat).SetFloat64(f).Cmp(r) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// successRates returns bounds of the mean of n independent trials' probabilities
// of success that hold but with probability beta, from the number of successes.
//
// Theorem (Clopper and Pearson 1934). Where all n probabilities are p, the p with
// P(X >= successes) > β/2 and P(X <= successes) > β/2, X binomial, hold the true one
// with probability at least 1−β. (Hoeffding 1956, Theorem 5: where they differ, with
// mean p, P(b <= X <= c) is not smaller than for the binomial if b <= np <= c; what
// the intervals rest on is such a [b, c], so they hold for the mean as well.)
//
// Beyond maxExactTrials the tails are bounded by exp(−n·KL(x/n, p)) instead (Chernoff;
// Hoeffding 1963, Theorem 1), which makes intervals a little wider.
func successRates(successes, n int64, beta *big.Rat) (low, high float64) {
	tail, _ := beta.Float64()
	tail = max(tail/2, math.SmallestNonzeroFloat64)
	low = 1 - failureRate(n-successes, n, tail)
	return low, failureRate(successes, n, tail)
}

const maxExactTrials = 1 << 30

// failureRate returns the p, rounded up by a little, at which a binomial X of n trials
// has P(X <= x) = tail.
func failureRate(x, n int64, tail float64) float64 {
	if x == n {
		return 1
	}
	f := float64(x) / float64(n)
	below := func(p float64) float64 {
		if n > maxExactTrials {
			// Logarithms of ratios near 1, which lose nothing that way.
			kl := (1 - f) * math.Log1p((p-f)/(1-p))
			if f > 0 {
				kl += f * math.Log1p((f-p)/p)
			}
			return math.Exp(-float64(n) * kl)
		}
		return mathext.RegIncBeta(float64(n-x), float64(x)+1, 1-p)
	}
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
