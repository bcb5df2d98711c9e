package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/proportion"
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

// successRates returns bounds of the mean of n independent trials' probabilities of success
// that hold but with probability beta; see package proportion.
func successRates(successes, n int64, beta *big.Rat) (low, high float64) {
	b, _ := beta.Float64()
	return proportion.Bounds(successes, n, b)
}
