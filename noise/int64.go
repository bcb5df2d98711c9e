package noise

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
)

// maxInt64 bounds the magnitude of the draws that Int64 returns, which leaves room
// for sums with them.
const maxInt64 = 1 << 61

// ErrRange is wrapped by the error of a draw beyond ±2^61 where an int64 is asked
// for. At a scale t this has probability below exp(-2^61/t), whatever is done with
// the draw: for t <= 2^50, less than that of a source of bits that fails.
var ErrRange = errors.New("a draw is beyond 2^61")

// Int64 returns one draw, of the law of Sample, without allocating; a stream that makes many draws
// of a law makes them many at a time. It fails with
// ErrRange beyond ±2^61.
func (d *DiscreteLaplace) Int64(s *Stream) (int64, error) {
	if k, ok, err := s.pooled(d.lanes); ok {
		return k, err
	}
	for {
		k, err := d.magnitude64(s)
		if err != nil {
			return 0, err
		}
		minus, err := s.bits(1)
		switch {
		case err != nil:
			return 0, err
		case minus == 0:
			return k, nil
		case k != 0:
			return -k, nil
		}
	}
}

// magnitude64 is magnitude, as an int64.
func (d *DiscreteLaplace) magnitude64(s *Stream) (int64, error) {
	if !d.native {
		var z big.Int
		if err := d.bigMagnitude(s, &z); err != nil {
			return 0, err
		}
		if z.IsInt64() && z.Int64() <= maxInt64 {
			return z.Int64(), nil
		}
		return 0, errRange()
	}
	u, v, err := d.blocks(s)
	if err != nil {
		return 0, err
	}
	if v > maxNativeBlocks {
		var z big.Int
		d.assemble(&z, u, v)
		if z.IsInt64() && z.Int64() <= maxInt64 {
			return z.Int64(), nil
		}
		return 0, errRange()
	}
	if y := u.addProduct(d.num128, v).quo(d.den64); y.hi == 0 && y.lo <= maxInt64 {
		return int64(y.lo), nil
	}
	return 0, errRange()
}

func errRange() error { return fmt.Errorf("draw noise: %w", ErrRange) }

// Geometric is the distribution on the integers k >= 0 with
//
//	P(k) = (1 - e^(-1/t))·exp(-k/t),
//
// t being its scale: the discrete exponential distribution. A Geometric is
// immutable and safe for concurrent use.
type Geometric struct{ two *DiscreteLaplace }

// NewGeometric returns the distribution with the given scale, which must be
// positive.
func NewGeometric(scale *big.Rat) (*Geometric, error) {
	d, err := NewDiscreteLaplace(scale)
	if err != nil {
		return nil, err
	}
	return &Geometric{d}, nil
}

// Scale returns a copy of the distribution's scale.
func (g *Geometric) Scale() *big.Rat { return g.two.Scale() }

// Int64 returns one draw. It fails with ErrRange beyond 2^61.
func (g *Geometric) Int64(s *Stream) (int64, error) { return g.two.magnitude64(s) }

// An ExpCoin is true with probability exp(-k·rate), for integers k >= 0. It is
// immutable and safe for concurrent use.
type ExpCoin struct {
	num, den *big.Int // rate = num/den

	// The same numbers, where they have 64 bits.
	native       bool
	num64, den64 uint64
}

// NewExpCoin returns the coin with the given rate, which must be positive.
func NewExpCoin(rate *big.Rat) (*ExpCoin, error) {
	if err := checkParameter("rate", rate); err != nil {
		return nil, err
	}
	c := &ExpCoin{num: new(big.Int).Set(rate.Num()), den: new(big.Int).Set(rate.Denom())}
	if c.native = c.num.IsUint64() && c.den.IsUint64(); c.native {
		c.num64, c.den64 = c.num.Uint64(), c.den.Uint64()
	}
	return c, nil
}

// Flip returns true with probability exp(-k·rate). See bernoulliExp.
func (c *ExpCoin) Flip(s *Stream, k uint64) (bool, error) {
	if !c.native {
		x := new(big.Int).SetUint64(k)
		return s.bernoulliExp(x.Mul(x, c.num), c.den)
	}
	hi, lo := bits.Mul64(k, c.num64)
	// k·num = (whole·2^64 + n)·den + f; more than 2^64 coins are never flipped.
	whole, hi := hi/c.den64, hi%c.den64
	n, f := bits.Div64(hi, lo, c.den64)
	for ; n > 0 || whole > 0; n-- {
		if n == 0 {
			whole--
		}
		if ok, err := s.bernoulliExp1(); !ok || err != nil {
			return false, err
		}
	}
	return s.evenRun(func() (bool, error) {
		w, err := s.below(c.den64)
		return w < f, err
	})
}
