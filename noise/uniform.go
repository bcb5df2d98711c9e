package noise

import (
	"fmt"
	"math/big"
	"math/bits"
)

// Uniform returns each integer from 0 to n-1 with probability 1/n.
func Uniform(b Bits, n *big.Int) (*big.Int, error) {
	if n == nil || n.Sign() <= 0 || n.BitLen() > maxParameterBits {
		return nil, fmt.Errorf("%w: uniform below a number that is not positive, or too long", ErrParameter)
	}
	s := Stream{source: b}
	return s.bigBelow(n)
}

// Below returns each integer from 0 to n-1 with probability 1/n, n > 0.
func (s *Stream) Below(n uint64) (uint64, error) {
	if n == 0 {
		return 0, fmt.Errorf("%w: uniform below 0", ErrParameter)
	}
	return s.below(n)
}

// Index returns each index of n things with probability 1/n, n > 0.
func (s *Stream) Index(n int) (int, error) {
	if n <= 0 {
		return 0, fmt.Errorf("%w: an index of nothing", ErrParameter)
	}
	i, err := s.below(uint64(n))
	return int(i), err
}

// below returns a uniform integer from 0 to n-1, n > 0. As many bits as n-1 has
// are drawn until they make a number below n: a draw is below n with probability
// above 1/2, and is then uniform.
func (s *Stream) below(n uint64) (uint64, error) {
	width := uint(bits.Len64(n - 1))
	for {
		x, err := s.bits(width)
		if err != nil || x < n {
			return x, err
		}
	}
}

// A uint128 is hi·2^64 + lo.
type uint128 struct{ hi, lo uint64 }

func (x uint128) less(y uint128) bool {
	return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo
}

// below128 is below for n > 0 of up to 128 bits.
func (s *Stream) below128(n uint128) (uint128, error) {
	if n.hi == 0 {
		lo, err := s.below(n.lo)
		return uint128{0, lo}, err
	}
	width := uint(bits.Len64(n.hi))
	for {
		hi, err := s.bits(width)
		if err != nil {
			return uint128{}, err
		}
		if hi > n.hi {
			continue
		}
		lo, err := s.bits(64)
		if err != nil {
			return uint128{}, err
		}
		if x := (uint128{hi, lo}); x.less(n) {
			return x, nil
		}
	}
}

// bigBelow is below for n > 0 of any size.
func (s *Stream) bigBelow(n *big.Int) (*big.Int, error) {
	x, digit := new(big.Int).Sub(n, one), new(big.Int)
	width := uint(x.BitLen())
	for {
		x.SetUint64(0)
		for left := width; left > 0; {
			k := min(left, 64)
			d, err := s.bits(k)
			if err != nil {
				return nil, err
			}
			x.Lsh(x, k).Or(x, digit.SetUint64(d))
			left -= k
		}
		if x.Cmp(n) < 0 {
			return x, nil
		}
	}
}

// toUint128 returns x, which must have at most 128 bits.
func toUint128(x *big.Int) uint128 {
	lo := new(big.Int).And(x, new(big.Int).SetUint64(1<<64-1))
	hi := new(big.Int).Rsh(x, 64)
	return uint128{hi.Uint64(), lo.Uint64()}
}

// set sets z to x.
func (x uint128) set(z *big.Int) *big.Int {
	if x.hi == 0 {
		return z.SetUint64(x.lo)
	}
	var lo big.Int
	z.SetUint64(x.hi)
	return z.Lsh(z, 64).Or(z, lo.SetUint64(x.lo))
}
