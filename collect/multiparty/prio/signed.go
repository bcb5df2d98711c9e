package prio

import (
	"fmt"
	"math/big"
)

// Signed returns numbers of [−2^(bits−1), 2^(bits−1)) as a SumVec of so many bits takes them: each
// with 2^(bits−1) added. Distances between vectors stay what they are. Numbers with a fraction are
// counts of a step that sender and reader agree on.
func Signed(numbers []int64, bits uint) ([]uint64, error) {
	if bits < 1 || bits >= maxBits {
		return nil, fmt.Errorf("%w: numbers of %d bits", ErrInvalid, bits)
	}
	offset := int64(1) << (bits - 1)
	out := make([]uint64, len(numbers))
	for i, x := range numbers {
		if x < -offset || x >= offset {
			return nil, fmt.Errorf("%w: a number is not of %d bits with its sign", ErrInvalid, bits)
		}
		out[i] = uint64(x + offset)
	}
	return out, nil
}

// Unsigned takes from a total what Signed has added to each of so many contributions.
func Unsigned(total []*big.Int, contributions int64, bits uint) []*big.Int {
	added := new(big.Int).Mul(big.NewInt(contributions), new(big.Int).Lsh(big.NewInt(1), bits-1))
	out := make([]*big.Int, len(total))
	for i, x := range total {
		out[i] = new(big.Int).Sub(x, added)
	}
	return out
}
