package noise

import (
	"fmt"
	"math/big"
)

// LaplaceShare is the distribution of one of so many independent shares whose sum is discrete
// Laplace noise: the difference of two negative binomial draws of that fraction. It is immutable
// and safe for concurrent use.
//
// Theorem (Kozubowski and Inusah 2006, A skew Laplace distribution on integers; Goryczka and
// Xiong 2017). Let X and Y be negative binomial, P(n) = C(n+r−1, n)·p^n·(1−p)^r, with r = 1/h and
// p = exp(−1/t). Their generating functions are ((1−p)/(1−pz))^r, so that the sum of h of X is
// geometric, and the sum of h of X − Y is discrete Laplace noise of scale t, exactly.
type LaplaceShare struct {
	scale  *big.Rat
	shares int
	octave int      // 2^octave is at least the scale
	block  *big.Int // the least integer that is
}

// NewLaplaceShare returns the distribution of one of so many shares, 2 to 100, of discrete Laplace
// noise of a scale.
func NewLaplaceShare(scale *big.Rat, shares int) (*LaplaceShare, error) {
	if err := checkParameter("scale", scale); err != nil {
		return nil, err
	}
	if shares < 2 || shares > 100 {
		return nil, fmt.Errorf("%w: noise in %d shares", ErrParameter, shares)
	}
	block, rest := new(big.Int).QuoRem(scale.Num(), scale.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		block.Add(block, one)
	}
	return &LaplaceShare{new(big.Rat).Set(scale), shares, new(big.Int).Sub(block, one).BitLen(), block}, nil
}

// AddTo adds an independent draw to each of the values. On an error all of them are replaced by
// nil, so that none can be taken for a noisy one.
func (d *LaplaceShare) AddTo(b Bits, values []*big.Int) error {
	return addTo(b, values, d, &lazy{make: func() (*laned, bool) { return nil, false }})
}

// Sample returns one draw.
func (d *LaplaceShare) Sample(b Bits) (*big.Int, error) { return sample(b, d) }

// draw sets z to one draw.
func (d *LaplaceShare) draw(s *Stream, z *big.Int) error {
	minus := new(big.Int)
	if err := d.negativeBinomial(s, z); err != nil {
		return err
	}
	if err := d.negativeBinomial(s, minus); err != nil {
		return err
	}
	z.Sub(z, minus)
	return nil
}

// negativeBinomial sets z to X.
//
// log((1−p)/(1−pz))^r = Σ_{n≥1} r·p^n/n·(z^n − 1), so that X is the sum over n of n times a Poisson
// number of mean r·p^n/n, all independent: the sum of the points of a Poisson process. It is made by
// thinning one that is drawn exactly. Of n in [2^i, 2^(i+1)), with 2^i below the scale, the other has
// the mean r/2^i at each n, r in all, and keeps a point with probability 2^i/n·p^n. From 2^I on, the
// first power of two that is at least t, blocks of T = ⌈t⌉ numbers have the means r/2^I·2^(−j) at each n
// of the j-th, 2rT/2^I in all, and a point is kept with probability 2^I/n·2^j·p^n: that is at
// most 1, since n ≥ 2^I + jT ≥ (j+1)t.
func (d *LaplaceShare) negativeBinomial(s *Stream, z *big.Int) error {
	z.SetInt64(0)
	half := big.NewRat(1, int64(2*d.shares))
	first, n := big.NewInt(1), new(big.Int)
	for range d.octave {
		for range 2 {
			points, err := s.poisson(half)
			if err != nil {
				return err
			}
			for range points {
				u, err := s.bigBelow(first)
				if err != nil {
					return err
				}
				if err := d.keep(s, z, first, n.Add(first, u), 0); err != nil {
					return err
				}
			}
		}
		first = new(big.Int).Lsh(first, 1)
	}
	tail := new(big.Rat).SetFrac(d.block, first) // at most 1
	tail.Mul(tail, half)
	for range 4 {
		points, err := s.poisson(tail)
		if err != nil {
			return err
		}
		for range points {
			j := int64(0)
			for ; ; j++ {
				bit, err := s.bits(1)
				if err != nil {
					return err
				}
				if bit == 0 {
					break
				}
			}
			u, err := s.bigBelow(d.block)
			if err != nil {
				return err
			}
			n.Mul(d.block, big.NewInt(j))
			n.Add(n, first).Add(n, u)
			if err := d.keep(s, z, first, n, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep adds n to z with probability first/n·2^j·exp(−n/t), n/t ≥ j. That is first/n, j times 2/e, and
// exp(−(n/t − j)); and a run of successes of probability 1/3, 1/4, 1/5, ... has an even length with
// probability 1 − 1/3 + 1/12 − 1/60 + ..., which is 2·Σ_{k≥2} (−1)^k/k! = 2/e.
func (d *LaplaceShare) keep(s *Stream, z, first, n *big.Int, j int64) error {
	ok, err := s.bernoulli(first, n)
	if err != nil || !ok {
		return err
	}
	for range j {
		even := true
		for k := int64(3); ; k++ {
			more, err := s.bernoulli(one, big.NewInt(k))
			if err != nil {
				return err
			}
			if !more {
				break
			}
			even = !even
		}
		if !even {
			return nil
		}
	}
	x := new(big.Rat).SetInt(n)
	x.Quo(x, d.scale).Sub(x, new(big.Rat).SetInt64(j))
	if ok, err = s.bernoulliExp(x.Num(), x.Denom()); ok && err == nil {
		z.Add(z, n)
	}
	return err
}

// poisson returns a Poisson number of mean at most 1/2: a geometric one n of ratio 1/2, which is
// accepted with probability (2·mean)^n/n!.
func (s *Stream) poisson(mean *big.Rat) (int, error) {
	twice := new(big.Rat).Add(mean, mean)
	den := new(big.Int)
	for {
		n := 0
		accepted := true
		for {
			bit, err := s.bits(1)
			if err != nil {
				return 0, err
			}
			if bit == 0 {
				break
			}
			n++
			if accepted {
				if accepted, err = s.bernoulli(twice.Num(), den.Mul(twice.Denom(), big.NewInt(int64(n)))); err != nil {
					return 0, err
				}
			}
		}
		if accepted {
			return n, nil
		}
	}
}
