package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A Share is what randomized answers tell of the share of the respondents whose
// true answer is a certain one. It is computed from what the respondents said, and
// so reveals nothing more.
type Share struct {
	// Raw is the estimate without bias. It may lie outside [0, 1]; raw shares of all
	// answers add up to 1.
	Raw float64
	// Clipped is the nearest number in [0, 1]. It is closer to the truth, but biased
	// near the ends: averages should be taken of Raw.
	Clipped float64
	// Low and High hold the true share but with probability beta, which is the
	// respondents' own share, or, if they are drawn at random from a population, the
	// population's. For the intervals of n shares to hold together, ask for beta/n.
	Low, High float64
}

// A channel is what an answer becomes: a respondent for whom it is true says it
// with probability hit, another one with probability miss.
type channel struct{ hit, miss *big.Rat }

// share estimates the share π of the respondents for whom an answer is true.
//
// The mean of what is said is m = miss + (hit−miss)·π, whatever the respondents'
// answers are otherwise; so (said/n − miss)/(hit−miss) is without bias, and bounds of
// m give bounds of π.
func (c channel) share(said, n int64, beta *big.Rat) Share {
	miss, _ := c.miss.Float64()
	slope, _ := c.slope().Float64()
	debias := func(mean float64) float64 { return (mean - miss) / slope }
	clip := func(x float64) float64 { return min(max(x, 0), 1) }
	low, high := successRates(said, n, beta)
	if slope < 0 {
		low, high = high, low
	}
	raw := debias(float64(said) / float64(n))
	clipped := clip(raw)
	return Share{
		Raw:     raw,
		Clipped: clipped,
		Low:     min(clip(debias(low)), clipped),
		High:    max(clip(debias(high)), clipped),
	}
}

func (c channel) slope() *big.Rat { return new(big.Rat).Sub(c.hit, c.miss) }

// accuracy returns an α such that the raw share is within α of the true one but
// with probability beta.
//
// Theorem (Hoeffding 1963, Theorem 1). The mean of n independent numbers between 0
// and 1 is within √(ln(2/β)/2n) of its expectation but with probability β. The raw
// share is that mean, times 1/|hit−miss|.
func (c channel) accuracy(n int64, beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if err := checkRespondents(n); err != nil {
		return 0, err
	}
	a := logOver(2, beta).Quo(numeric.OfInt(2).Mul(numeric.OfInt(n))).Sqrt()
	return upFloat(a.Quo(numeric.Of(c.slope().Abs(c.slope()))).Hi()), nil
}

// respondents returns the least n with accuracy(n, beta) at most alpha.
func (c channel) respondents(alpha, beta *big.Rat) (int64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if err := checkPositive("alpha", alpha); err != nil {
		return 0, err
	}
	reach := new(big.Rat).Mul(alpha, c.slope())
	reach.Mul(reach, reach)
	n := numeric.Ceil(logOver(2, beta).Quo(numeric.Of(reach.Add(reach, reach))).Hi())
	if !n.IsInt64() || n.Int64() > privacy.MaxCount {
		return 0, fmt.Errorf("%w: no number of respondents up to 1e12 gives that accuracy", ErrParameter)
	}
	return max(n.Int64(), 1), nil
}

func checkRespondents(n int64) error {
	if n < 1 || n > privacy.MaxCount {
		return fmt.Errorf("%w: the number of respondents is not between 1 and 1e12", ErrParameter)
	}
	return nil
}

// checkCounts returns the sum of the counts.
func checkCounts(counts ...int64) (n int64, err error) {
	for _, c := range counts {
		if c < 0 || c > math.MaxInt64-n {
			return 0, fmt.Errorf("%w: a count of answers is negative or too large", ErrParameter)
		}
		n += c
	}
	return n, checkRespondents(n)
}
