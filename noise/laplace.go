package noise

import (
	"math/big"
	"math/bits"
)

// DiscreteLaplace is the distribution on all integers k with
//
//	P(k) = (e^(1/t) - 1)/(e^(1/t) + 1) · exp(-|k|/t),
//
// t being its scale. It is also called the two-sided geometric distribution. A
// DiscreteLaplace is immutable and safe for concurrent use.
type DiscreteLaplace struct {
	scale    *big.Rat
	num, den *big.Int // scale = num/den

	// The same numbers, when 128-bit arithmetic suffices for all but
	// astronomically large draws.
	native bool
	num128 uint128
	den64  uint64

	lanes *lazy
}

// Up to maxNativeBlocks blocks of fewer than 2^maxNativeBits integers fit into
// 128 bits. A draw exceeds them with probability exp(-maxNativeBlocks), and is
// then finished in big integers.
const (
	maxNativeBits   = 119
	maxNativeBlocks = 255
)

// NewDiscreteLaplace returns the distribution with the given scale, which must be
// positive.
func NewDiscreteLaplace(scale *big.Rat) (*DiscreteLaplace, error) {
	if err := checkParameter("scale", scale); err != nil {
		return nil, err
	}
	d := &DiscreteLaplace{scale: new(big.Rat).Set(scale)}
	d.num, d.den = d.scale.Num(), d.scale.Denom()
	if d.native = d.num.BitLen() <= maxNativeBits && d.den.IsUint64(); d.native {
		d.num128, d.den64 = toUint128(d.num), d.den.Uint64()
	}
	d.lanes = &lazy{worth: 1024, make: func() (*laned, bool) { return newLaplaceLanes(d.num, d.den) }}
	return d, nil
}

// Scale returns a copy of the distribution's scale.
func (d *DiscreteLaplace) Scale() *big.Rat { return new(big.Rat).Set(d.scale) }

// Sample returns one draw.
func (d *DiscreteLaplace) Sample(b Bits) (*big.Int, error) { return sample(b, d) }

// AddTo adds an independent draw to each of the values. On an error all of them
// are replaced by nil, so that none can be taken for a noisy one.
func (d *DiscreteLaplace) AddTo(b Bits, values []*big.Int) error { return addTo(b, values, d, d.lanes) }

// draw sets z to one draw.
//
// Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), Algorithm 2, for scale num/den:
// X = U + num·V has P(X = x) proportional to exp(-x/num), when U is uniform below
// num and accepted with probability exp(-U/num), and V is geometric with
// P(V >= v) = exp(-v); then Y = floor(X/den) has P(Y = y) proportional to
// exp(-y·den/num). A fair sign makes it two-sided, with -0 drawn again, lest zero
// be twice as likely as it should be.
func (d *DiscreteLaplace) draw(s *Stream, z *big.Int) error {
	for {
		if err := d.magnitude(s, z); err != nil {
			return err
		}
		minus, err := s.bits(1)
		if err != nil {
			return err
		}
		switch {
		case minus == 0:
			return nil
		case z.Sign() != 0:
			z.Neg(z)
			return nil
		}
	}
}

// magnitude sets z to Y.
func (d *DiscreteLaplace) magnitude(s *Stream, z *big.Int) error {
	if !d.native {
		return d.bigMagnitude(s, z)
	}
	u, v, err := d.blocks(s)
	if err != nil {
		return err
	}
	d.assemble(z, u, v)
	return nil
}

// assemble sets z to floor((u + num·v)/den).
func (d *DiscreteLaplace) assemble(z *big.Int, u uint128, v uint64) {
	if v > maxNativeBlocks {
		var lo big.Int
		z.SetUint64(v)
		z.Mul(z, d.num).Add(z, u.set(&lo)).Quo(z, d.den)
		return
	}
	u.addProduct(d.num128, v).quo(d.den64).set(z)
}

// blocks returns U and V.
func (d *DiscreteLaplace) blocks(s *Stream) (u uint128, v uint64, err error) {
	for ok := false; !ok; {
		if u, err = s.below128(d.num128); err != nil {
			return
		}
		ok, err = s.evenRun(func() (bool, error) {
			w, err := s.below128(d.num128)
			return w.less(u), err
		})
		if err != nil {
			return
		}
	}
	v, err = s.geometric()
	return
}

func (d *DiscreteLaplace) bigMagnitude(s *Stream, z *big.Int) error {
	for {
		u, err := s.bigBelow(d.num)
		if err != nil {
			return err
		}
		ok, err := s.bernoulliExp(u, d.num)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		v, err := s.geometric()
		if err != nil {
			return err
		}
		z.SetUint64(v)
		z.Mul(z, d.num).Add(z, u).Quo(z, d.den)
		return nil
	}
}

// geometric returns v with probability exp(-v)·(1 - exp(-1)).
func (s *Stream) geometric() (uint64, error) {
	for v := uint64(0); ; v++ {
		if ok, err := s.bernoulliExp1(); !ok || err != nil {
			return v, err
		}
	}
}

// addProduct returns x + y·f, which must fit.
func (x uint128) addProduct(y uint128, f uint64) uint128 {
	hi, lo := bits.Mul64(y.lo, f)
	lo, carry := bits.Add64(lo, x.lo, 0)
	return uint128{hi + y.hi*f + x.hi + carry, lo}
}

// quo returns floor(x/d).
func (x uint128) quo(d uint64) uint128 {
	if d == 1 {
		return x
	}
	hi, rest := x.hi/d, x.hi%d
	lo, _ := bits.Div64(rest, x.lo, d)
	return uint128{hi, lo}
}

// distribution sets z to a draw from it.
type distribution interface {
	draw(s *Stream, z *big.Int) error
}

func sample(b Bits, d distribution) (*big.Int, error) {
	z := new(big.Int)
	if err := d.draw(&Stream{source: b}, z); err != nil {
		return nil, err
	}
	return z, nil
}
