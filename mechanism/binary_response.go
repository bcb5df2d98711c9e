package mechanism

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// BinaryResponseOptions say how often each of two answers is told truly.
type BinaryResponseOptions struct {
	// No and Yes are the probabilities with which a respondent whose answer is no,
	// or yes, says so. Both lie between 0 and 1, and do not add up to 1: responses
	// would tell nothing. Required.
	No, Yes *big.Rat
}

// BinaryResponse is randomized response to a question whose two answers need not
// be told with the same probability.
//
// Theorem. With f₀ and f₁ the probabilities of telling no and yes truly, the ratios of
// a response's probabilities are f₁/(1−f₀) for yes and f₀/(1−f₁) for no. Responses are
// ln(r)-DP when a respondent's answer is replaced, and not less, where r is the
// largest of the two and their inverses. (The inverses matter: f₀ = f₁ = 1/10 tells
// as much as 9/10.)
type BinaryResponse struct {
	told  channel
	ratio *big.Rat // r
}

// NewBinaryResponse returns the mechanism with the given options.
func NewBinaryResponse(o BinaryResponseOptions) (*BinaryResponse, error) {
	one := big.NewRat(1, 1)
	for _, f := range []*big.Rat{o.No, o.Yes} {
		if f == nil || f.Sign() <= 0 || f.Cmp(one) >= 0 {
			return nil, fmt.Errorf("%w: the probability of telling an answer truly is missing, or not between 0 and 1", ErrParameter)
		}
		if _, err := noise.Bernoulli(zeros{}, f); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameter, err)
		}
	}
	if new(big.Rat).Add(o.No, o.Yes).Cmp(one) == 0 {
		return nil, fmt.Errorf("%w: the probabilities add up to 1, so that responses would tell nothing", ErrParameter)
	}
	b := &BinaryResponse{
		told:  channel{new(big.Rat).Set(o.Yes), new(big.Rat).Sub(one, o.No)},
		ratio: new(big.Rat),
	}
	lie := new(big.Rat).Sub(one, o.Yes)
	for _, r := range []*big.Rat{new(big.Rat).Quo(o.Yes, b.told.miss), new(big.Rat).Quo(o.No, lie)} {
		for range 2 {
			if r.Cmp(b.ratio) > 0 {
				b.ratio.Set(r)
			}
			r.Inv(r)
		}
	}
	return b, nil
}

// Event is what one response reveals: that of Warner's randomized response with
// the same ε.
//
// Theorem (Kairouz, Oh and Viswanathan 2015, Theorem 3.1 and its proof). Whatever is
// ε-DP between two inputs is post-processing of that response, which is told truly
// with probability r/(1+r) = e^ε/(1+e^ε). And, unlike a bare ε, that event speaks of
// replacing an answer alone, as it must: how many respond is not hidden.
func (b *BinaryResponse) Event() privacy.Event {
	p := new(big.Rat).Add(b.ratio, big.NewRat(1, 1))
	return privacy.RandomizedResponse{P: p.Quo(b.ratio, p), K: 2}
}

// Epsilon is the guarantee of one response, ln(r), rounded up to 40 digits.
func (b *BinaryResponse) Epsilon() privacy.Epsilon { return logRatio(b.ratio) }

// Respond returns what a respondent with the given answer says.
func (b *BinaryResponse) Respond(bits noise.Bits, answer bool) (bool, error) {
	truth := 0
	if answer {
		truth = 1
	}
	said, err := b.say(bits, truth)
	if err != nil {
		return false, fmt.Errorf("randomize response: %w", err)
	}
	return said, nil
}

// say is the mechanism, for 0 or 1.
//
//dp:adjacent |truth| <= 1
//dp:requires (truth == 0 || truth == 1) && b.ratio > 0
//dp:requires 0 < b.told.hit && b.told.hit < 1 && 0 < b.told.miss && b.told.miss < 1
//dp:requires b.told.hit <= b.ratio*b.told.miss && 1-b.told.hit <= b.ratio*(1-b.told.miss)
//dp:requires b.told.miss <= b.ratio*b.told.hit && 1-b.told.miss <= b.ratio*(1-b.told.hit)
//dp:cost math.Log(b.ratio)
func (b *BinaryResponse) say(bits noise.Bits, truth int) (bool, error) {
	if truth == 1 {
		return noise.Bernoulli(bits, b.told.hit)
	}
	return noise.Bernoulli(bits, b.told.miss)
}

// Estimate returns what share of the respondents' answers is yes, from the number
// that said yes and the number of all. Its interval holds but with probability beta.
func (b *BinaryResponse) Estimate(yes, n int64, beta *big.Rat) (Share, error) {
	if err := checkBeta(beta); err != nil {
		return Share{}, err
	}
	if _, err := checkCounts(yes, n-yes); err != nil {
		return Share{}, err
	}
	return b.told.share(yes, n, beta), nil
}

// Bound returns an α such that the raw share from n respondents is within α of
// the true one but with probability beta: √(ln(2/β)/2n)/|f₀+f₁−1| (Hoeffding 1963).
func (b *BinaryResponse) Bound(n int64, beta *big.Rat) (float64, error) {
	return b.told.accuracy(n, beta)
}

// Respondents returns how many respondents make Bound at most alpha.
func (b *BinaryResponse) Respondents(alpha, beta *big.Rat) (int64, error) {
	return b.told.respondents(alpha, beta)
}
