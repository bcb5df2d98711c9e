package local

import (
	"iter"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// bitResponse tells a bit truly with probability p = e^ε/(e^ε+1), rounded down (Warner 1965).
type bitResponse struct{ p *big.Rat }

func newBitResponse(e privacy.Epsilon) bitResponse {
	odds := exp(e, one()).Lo()
	return bitResponse{down(over(odds, plus(odds, one())))}
}

func (b bitResponse) ratio() *big.Rat { return over(b.p, not(b.p)) }

// tell is the mechanism.
//
//dp:adjacent |bit| <= 1
//dp:requires (bit == 0 || bit == 1) && b.p < 1 && 1 < 2*b.p
//dp:cost math.Log(b.p/(1-b.p))
func (b bitResponse) tell(s *noise.Stream, bit int) (int, error) {
	truth, err := noise.Bernoulli(s, b.p)
	if err != nil {
		return 0, err
	}
	if truth {
		return bit, nil
	}
	return 1 - bit, nil
}

// bitLaws is the law of a bit that is told with probability p.
func bitLaws(coins Report, bit uint64, p *big.Rat) iter.Seq2[Report, *big.Rat] {
	return func(yield func(Report, *big.Rat) bool) {
		_ = yield(append(append(Report{}, coins...), bit), p) &&
			yield(append(append(Report{}, coins...), bit^1), not(p))
	}
}
