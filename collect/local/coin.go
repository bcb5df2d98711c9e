package local

import (
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// places is how many binary digits a probability has.
const places = 128

// A chance is a probability of that many binary digits, drawn for 64 bits at once.
type chance struct {
	p      *big.Rat
	digits [places / 64]uint64 // the first digit is the highest bit
}

// newChance returns the chance of p, a multiple of 2^-places from 0 to below 1.
func newChance(p *big.Rat) chance {
	scaled := new(big.Int).Lsh(p.Num(), places)
	scaled.Quo(scaled, p.Denom())
	c := chance{p: p}
	low := new(big.Int).And(scaled, new(big.Int).SetUint64(1<<64-1))
	c.digits = [2]uint64{scaled.Rsh(scaled, 64).Uint64(), low.Uint64()}
	return c
}

// lanes returns 64 independent bits, each 1 with probability p.
//
// A lane compares a uniform real number with p, digit by digit, as all lanes do at once: of
// each word of fair bits a lane takes one. It is decided at the first digit that differs,
// and 0 where none does. Half of the lanes are decided by each word.
func (c *chance) lanes(s *noise.Stream) (uint64, error) {
	var ones uint64
	open := ^uint64(0)
	for i := range c.digits {
		for digits, left := c.digits[i], 64; left > 0; digits, left = digits<<1, left-1 {
			if digits == 0 && (i+1 == len(c.digits) || c.digits[i+1] == 0) {
				return ones, nil // what is still open is not below p
			}
			w, err := s.Uint64()
			if err != nil {
				return 0, err
			}
			if digits>>63 == 1 {
				ones |= open &^ w
				open &= w
			} else {
				open &^= w
			}
			if open == 0 {
				return ones, nil
			}
		}
	}
	return ones, nil
}

// one returns true with probability p. It draws a uniform real number, 64 digits at a time, and
// compares.
func (c *chance) one(s *noise.Stream) (bool, error) {
	for _, d := range c.digits {
		w, err := s.Uint64()
		if err != nil {
			return false, err
		}
		if w != d {
			return w < d, nil
		}
	}
	return false, nil
}

// fill sets n bits, each with probability p.
func (c *chance) fill(s *noise.Stream, words []uint64, n int) error {
	if len(words) >= fewWords {
		if err := s.Ahead(c.mostly() * len(words)); err != nil {
			return err
		}
	}
	for i := range words {
		w, err := c.lanes(s)
		if err != nil {
			return err
		}
		words[i] = w
	}
	if over := n % 64; over != 0 {
		words[len(words)-1] &= 1<<over - 1
	}
	return nil
}

// fewWords is for how many words it is not worth while to read ahead.
const fewWords = 4

// mostly is how many words lanes seldom reads more of: one for each digit, and on average 7.3
// where there are many, with a standard deviation of 1.9.
func (c *chance) mostly() int {
	if c.digits[1] != 0 {
		return 9
	}
	return min(64-bits.TrailingZeros64(c.digits[0]), 9)
}

// down and up return the nearest multiple of 2^-places below and above.
func down(r *big.Rat) *big.Rat {
	n := numeric.Floor(new(big.Rat).Mul(r, new(big.Rat).SetInt(unit())))
	return new(big.Rat).SetFrac(n, unit())
}

func up(r *big.Rat) *big.Rat {
	n := numeric.Ceil(new(big.Rat).Mul(r, new(big.Rat).SetInt(unit())))
	return new(big.Rat).SetFrac(n, unit())
}

func unit() *big.Int { return new(big.Int).Lsh(big.NewInt(1), places) }

// exp returns e^(ε·share).
func exp(e privacy.Epsilon, share *big.Rat) numeric.Interval {
	return numeric.Of(new(big.Rat).Mul(e.Rat(), share)).Exp()
}

func one() *big.Rat           { return big.NewRat(1, 1) }
func half() *big.Rat          { return big.NewRat(1, 2) }
func whole(n int) *big.Rat    { return big.NewRat(int64(n), 1) }
func not(p *big.Rat) *big.Rat { return new(big.Rat).Sub(one(), p) }
func times(a ...*big.Rat) *big.Rat {
	z := one()
	for _, x := range a {
		z.Mul(z, x)
	}
	return z
}
func over(a, b *big.Rat) *big.Rat  { return new(big.Rat).Quo(a, b) }
func plus(a, b *big.Rat) *big.Rat  { return new(big.Rat).Add(a, b) }
func minus(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

func near(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

func lowest(w uint64) int { return bits.TrailingZeros64(w) }

func bitsOf(w uint64) int { return bits.OnesCount64(w) }
