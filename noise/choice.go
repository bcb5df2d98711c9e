package noise

import (
	"fmt"
	"math/big"
	"slices"
)

// Choice is the distribution on the indices of a list of integers s with P(i)
// proportional to
//
//	exp(s(i)/t),
//
// t being its scale. A Choice is immutable and safe for concurrent use.
type Choice struct {
	scale *big.Rat
	coin  *ExpCoin
}

// NewChoice returns the distribution with the given scale, which must be positive.
func NewChoice(scale *big.Rat) (*Choice, error) {
	if err := checkParameter("scale", scale); err != nil {
		return nil, err
	}
	coin, err := NewExpCoin(new(big.Rat).Inv(scale))
	if err != nil {
		return nil, err
	}
	return &Choice{new(big.Rat).Set(scale), coin}, nil
}

// Scale returns a copy of the distribution's scale.
func (c *Choice) Scale() *big.Rat { return new(big.Rat).Set(c.scale) }

// Index returns one draw for a list that is not empty.
//
// It proposes indices uniformly, and accepts i with probability exp(−(best−s(i))/t):
// what is accepted has probabilities in that proportion. The best is always accepted,
// so that len(s) proposals suffice on average.
func (c *Choice) Index(stream *Stream, s []int64) (int, error) {
	if len(s) == 0 {
		return 0, fmt.Errorf("%w: nothing to choose from", ErrParameter)
	}
	best := slices.Max(s)
	for {
		i, err := stream.below(uint64(len(s)))
		if err != nil {
			return 0, err
		}
		// Modulo 2^64 the difference is right for all integers.
		accepted, err := c.coin.Flip(stream, uint64(best)-uint64(s[i]))
		if err != nil {
			return 0, err
		}
		if accepted {
			return int(i), nil
		}
	}
}
