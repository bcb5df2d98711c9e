package local

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Error returns an α such that the raw share of a value is within α of the true one, whatever
// that is, but with probability beta: before anybody is asked.
//
// Theorem (Bernstein; Boucheron, Lugosi and Massart 2013, Corollary 2.11). The mean of n
// independent numbers between 0 and 1 of variance v at most is within s of its expectation but
// with probability 2·exp(−ns²/(2(v+s/3))). A score's variance is greatest at the mean nearest to
// 1/2 between miss and hit. The raw share is the mean over hit−miss. With public hash functions,
// the error by values that overlap comes on top.
func (f *Frequency) Error(respondents int64, beta *big.Rat) (float64, error) {
	tail, err := EstimateOptions{Beta: beta}.tail(1)
	if err != nil {
		return 0, err
	}
	if respondents < 1 {
		return 0, parameter("there are no respondents")
	}
	n := float64(respondents)
	if h, ok := f.kernel.(*she); ok {
		return h.offMargin(respondents, math.Log(tail)) / n, nil
	}
	gap, v := f.spread()
	return bernstein(n, v, tail) / gap, nil
}

// bernstein is the s with n·s² = 2l(v + s/3), l = ln(2/tail), rounded up.
func bernstein(n, v, tail float64) float64 {
	l := math.Log(2 / tail)
	return (l/(3*n) + math.Sqrt(l*l/(9*n*n)+2*l*v/n)) * (1 + 1e-12)
}

// spread is hit−miss, and the greatest variance of a score.
func (f *Frequency) spread() (gap, variance float64) {
	c := f.kernel.channel()
	p, q := near(c.hit), near(c.miss)
	m := min(max(0.5, min(p, q)), max(p, q))
	return math.Abs(p - q), m * (1 - m)
}

// Respondents returns the least number of them for an Error of at most alpha.
func (f *Frequency) Respondents(alpha, beta *big.Rat) (int64, error) {
	if alpha == nil || alpha.Sign() <= 0 {
		return 0, parameter("alpha is not positive")
	}
	a := near(alpha)
	return leastCount(func(n int64) (bool, error) {
		e, err := f.Error(n, beta)
		return e <= a, err
	})
}

// leastCount returns the least n up to privacy.MaxCount that is enough; more are enough too.
func leastCount(enough func(n int64) (bool, error)) (int64, error) {
	lo, hi := int64(0), int64(1)
	for {
		ok, err := enough(hi)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if hi >= privacy.MaxCount {
			return 0, parameter("no number of respondents up to 1e12 is enough")
		}
		lo, hi = hi, min(4*hi, privacy.MaxCount)
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		ok, err := enough(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}

// EpsilonFor returns the least epsilon, to four digits, at which so many respondents give an
// Error of at most alpha. o.Epsilon is not read.
func EpsilonFor(o FrequencyOptions, respondents int64, alpha, beta *big.Rat) (privacy.Epsilon, error) {
	if alpha == nil || alpha.Sign() <= 0 {
		return privacy.Epsilon{}, parameter("alpha is not positive")
	}
	at := func(e privacy.Epsilon) (bool, error) {
		o.Epsilon = e
		f, err := NewFrequency(o)
		if err != nil {
			return false, err
		}
		got, err := f.Error(respondents, beta)
		return got <= near(alpha), err
	}
	most := min(highest(o.Protocol), 20)
	if ok, err := at(mustEpsilon(big.NewRat(most, 1))); err != nil || !ok {
		if err == nil {
			err = parameter("no epsilon up to %d is enough for so few respondents", most)
		}
		return privacy.Epsilon{}, err
	}
	lo, hi := big.NewRat(1, 1_000_000), big.NewRat(most, 1)
	for range 40 {
		mid := numeric.CeilDigits(times(half(), plus(lo, hi)), 4)
		if mid.Cmp(hi) >= 0 || mid.Cmp(lo) <= 0 {
			break
		}
		ok, err := at(mustEpsilon(mid))
		if err != nil {
			return privacy.Epsilon{}, err
		}
		if ok {
			hi = mid
		} else {
			lo = mid
		}
	}
	return mustEpsilon(hi), nil
}

func mustEpsilon(r *big.Rat) privacy.Epsilon {
	e, err := privacy.NewEpsilon(r)
	if err != nil {
		panic(err) // of constants and what lies between them
	}
	return e
}
