package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Bernoulli returns true with probability p, 0 <= p <= 1.
//
// It draws a word, whose bits are the first digits of a uniform real. They are compared with bounds
// of p that take no arithmetic of long numbers, and decide but in two of 2^62 draws.
func Bernoulli(b Bits, p *big.Rat) (bool, error) {
	if p == nil || p.Sign() < 0 || p.Num().Cmp(p.Denom()) > 0 || p.Denom().BitLen() > maxParameterBits {
		return false, fmt.Errorf("%w: probability is missing, outside [0,1] or too long", ErrParameter)
	}
	num, den := p.Num(), p.Denom()
	if num.Cmp(den) == 0 {
		return true, nil
	}
	w, err := b.Uint64()
	if err != nil {
		return false, fmt.Errorf("draw noise: %w", err)
	}
	if lo, hi, ok := firstDigits(num, den); ok {
		if digits := bits.Reverse64(w); digits < lo {
			return true, nil
		} else if digits > hi {
			return false, nil
		}
	}
	s := Stream{source: b, word: w, left: 64}
	return s.bernoulli(num, den)
}

// firstDigits bounds num/den·2^64, 0 <= num < den, from below and above: a uniform real whose first
// 64 digits are below lo is below num/den, and one whose digits are above hi is not. With n and d the
// highest 64 bits of den and the bits of num at the same places, n/(d+1) < num/den < (n+1)/d.
func firstDigits(num, den *big.Int) (lo, hi uint64, ok bool) {
	shift := den.BitLen() - 64
	if shift <= 0 {
		n, d := num.Uint64(), den.Uint64()
		quo, _ := bits.Div64(n, 0, d) // rounded down
		return quo, quo, true
	}
	n, d := leading(num, uint(shift)), leading(den, uint(shift))
	if d == math.MaxUint64 || n+1 >= d {
		return 0, 0, false
	}
	lo, _ = bits.Div64(n, 0, d+1)
	hi, _ = bits.Div64(n+1, 0, d)
	return lo, hi, true
}

// leading is x/2^shift, rounded down, which has at most 64 bits.
func leading(x *big.Int, shift uint) uint64 {
	words := x.Bits()
	var y uint64
	for i := len(words) - 1; i >= 0; i-- {
		at := i*bits.UintSize - int(shift)
		switch {
		case at >= 0:
			y |= uint64(words[i]) << at
		case at > -bits.UintSize:
			y |= uint64(words[i]) >> -at
		default:
			return y
		}
	}
	return y
}

// BernoulliExp returns true with probability exp(-x), x >= 0.
func BernoulliExp(b Bits, x *big.Rat) (bool, error) {
	if x == nil || x.Sign() < 0 || x.Num().BitLen() > maxParameterBits || x.Denom().BitLen() > maxParameterBits {
		return false, fmt.Errorf("%w: exponent is missing, negative or too long", ErrParameter)
	}
	s := Stream{source: b}
	return s.bernoulliExp(x.Num(), x.Denom())
}

// bernoulli returns true with probability num/den, 0 <= num <= den. It is the
// answer to U < num/den for a uniform real U whose binary digits are drawn one
// at a time, until one differs from the digit of num/den at its place.
func (s *Stream) bernoulli(num, den *big.Int) (bool, error) {
	if num.Cmp(den) >= 0 {
		return true, nil
	}
	rest := new(big.Int).Set(num)
	for {
		var digit uint64
		if rest.Lsh(rest, 1).Cmp(den) >= 0 {
			rest.Sub(rest, den)
			digit = 1
		}
		bit, err := s.bits(1)
		if err != nil {
			return false, err
		}
		if bit != digit {
			return bit < digit, nil
		}
	}
}

// bernoulliExp returns true with probability exp(-num/den).
//
// Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), Algorithm 1: with x = n + f,
// n whole and 0 <= f < 1, exp(-x) = exp(-1)^n · exp(-f); and a run of successes
// of Bernoulli(f/1), Bernoulli(f/2), ... has length at least k with probability
// f^k/k!, so its length is even with probability the sum of (-f)^k/k!, which is
// exp(-f).
func (s *Stream) bernoulliExp(num, den *big.Int) (bool, error) {
	f := new(big.Int)
	for n, _ := new(big.Int).QuoRem(num, den, f); n.Sign() > 0; n.Sub(n, one) {
		if ok, err := s.bernoulliExp1(); !ok || err != nil {
			return false, err
		}
	}
	return s.evenRun(func() (bool, error) { return s.bernoulli(f, den) })
}

var one = big.NewInt(1)

// bernoulliExp1 returns true with probability exp(-1).
func (s *Stream) bernoulliExp1() (bool, error) {
	return s.evenRun(func() (bool, error) { return true, nil })
}

// evenRun returns true with probability exp(-f) when trial has probability f of
// true: the k-th success counts with probability 1/k only.
func (s *Stream) evenRun(trial func() (bool, error)) (bool, error) {
	for k := uint64(1); ; k++ {
		ok, err := trial()
		if err != nil {
			return false, err
		}
		if ok {
			r, err := s.below(k)
			if err != nil {
				return false, err
			}
			ok = r == 0
		}
		if !ok {
			return k%2 == 1, nil
		}
	}
}
