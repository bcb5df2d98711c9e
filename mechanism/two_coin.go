package mechanism

import (
	"fmt"
	"math/big"
)

// TwoCoinOptions say how the coins fall. (Fair coins are 1/2 and 1/2.)
type TwoCoinOptions struct {
	// First is the probability h₁ of heads of the first coin, after which the second
	// decides; otherwise the truth is told. Between 0 and 1. Required.
	First *big.Rat
	// Second is the probability h₂ of heads of the second coin, which is to say yes.
	// Between 0 and 1. Required.
	Second *big.Rat
}

// TwoCoin is randomized response by two coins: tails of the first tells the truth;
// after heads the second says yes on heads and no on tails. It is BinaryResponse
// with f₁ = 1−h₁+h₁h₂ and f₀ = 1−h₁h₂, so that ε = ln(r) for the larger r of
//
//	(1−h₁+h₁h₂)/(h₁h₂)  and  (1−h₁+h₁(1−h₂))/(h₁(1−h₂)).
//
// For fair coins it is ln 3, for others mostly not.
type TwoCoin struct{ BinaryResponse }

// NewTwoCoin returns the mechanism with the given options.
func NewTwoCoin(o TwoCoinOptions) (*TwoCoin, error) {
	one := big.NewRat(1, 1)
	for _, h := range []*big.Rat{o.First, o.Second} {
		if h == nil || h.Sign() <= 0 || h.Cmp(one) >= 0 {
			return nil, fmt.Errorf("%w: the probability of heads is missing, or not between 0 and 1", ErrParameter)
		}
	}
	chance := new(big.Rat).Mul(o.First, o.Second) // a no becomes yes
	yes := new(big.Rat).Sub(one, o.First)
	b, err := NewBinaryResponse(BinaryResponseOptions{No: new(big.Rat).Sub(one, chance), Yes: yes.Add(yes, chance)})
	if err != nil {
		return nil, err
	}
	return &TwoCoin{*b}, nil
}
