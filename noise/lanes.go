package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// A laned draws 64 values of one law at once, in machine integers, with the exact law.
//
// Magnitudes are taken apart as m = h·2^k + u, u < 2^k, where k is such that h is a small
// number. A law with weights f(m) that fall is drawn by rejection: h with probability
// proportional to f(h·2^k), u uniformly, and the pair is kept with probability
//
//	f(h·2^k + u)/f(h·2^k) = e^(−x),
//
// so that m has weight f(m). A fair sign makes it two-sided, and −0 is drawn again.
//
//   - Discrete Laplace, f(m) = e^(−m/t): h is geometric with ratio e^(−2^k/t), and
//     x = u/t, below 1/16. The binary digits of a geometric variable with ratio q are
//     independent, digit i being 1 with probability q^(2^i)/(1+q^(2^i)): the weight
//     q^(Σ b_i·2^i) is a product over the digits. Those from the 8th on are a geometric
//     variable with ratio q^(2^8) (or a smaller power), 0 with probability 1−q^(2^8).
//   - Discrete Gaussian, f(m) = e^(−m²/2σ²): h is drawn by inversion of its distribution
//     function, and x = u·(2h·2^k + u)/2σ².
//
// A comparison of a uniform real U with a probability p is decided by bounds of both: for U
// its digits that are drawn, for p its first 64 digits, or floating-point bounds of e^(−x).
// Where these do not tell, more digits of both do ([real]). So the law is the exact one,
// whatever the width of the bounds.
//
// Which words are read depends on how soon comparisons are decided and on what is rejected.
// Both are independent of what is drawn, but for the last digit of each comparison.
type laned struct {
	k     uint   // digits of u
	high  higher // draws h
	alpha float64
	beta  float64 // x = v·(alpha + beta·(2h + v)), nearly, for v = u/2^k
	// exponent returns x exactly, as a fraction.
	exponent func(h uint64, u *big.Int) (num, den *big.Int)
}

// A higher draws h for 64 lanes.
type higher interface {
	draw(r *reel, h *[64]uint64) error
}

// lanes holds 64 draws: (−1)^minus · (h·2^k + u), where the lane is kept.
type lanes struct {
	h, lo, hi [64]uint64 // u = hi·2^64 + lo
	minus     uint64
	kept      uint64
}

const (
	// maxSingle digits of u leave 16 of a word to compare with e^(−x).
	maxSingle = 48
	// maxLow digits leave 16 for h.
	maxLow = 112
	// maxHigh bounds h of draws that are finished in machine integers. It is exceeded with
	// probability below e^(−2^12/32).
	maxHigh = 1 << 12

	// slack is above the errors of the floating-point bounds. v has an error below 2^-52, and
	// x of that times (alpha + beta·(2h+2)) <= 65 more, with five roundings of numbers below
	// 65; the polynomials have six roundings of numbers below 1, where they decide.
	slack = 0x1p-40
)

// draw replaces all lanes.
func (l *laned) draw(r *reel, z *lanes) error {
	if err := l.high.draw(r, &z.h); err != nil {
		return err
	}
	minus, err := r.word()
	if err != nil {
		return err
	}
	z.minus, z.kept = minus, ^uint64(0)
	if l.k == 0 {
		z.lo, z.hi = [64]uint64{}, [64]uint64{}
	} else if err := l.low(r, z); err != nil {
		return err
	}
	// −0 is not kept.
	for i := range z.h {
		if z.h[i]|z.lo[i]|z.hi[i] == 0 {
			z.kept &^= z.minus & (1 << i)
		}
	}
	return nil
}

// low draws u for all lanes, and rejects.
func (l *laned) low(r *reel, z *lanes) error {
	if l.k > maxSingle {
		return l.lowWide(r, z)
	}
	if err := r.ahead(64); err != nil {
		return err
	}
	k := l.k & 63
	width := 64 - k // digits of U that are drawn
	// The first 53 digits of U at most: U is from first·unit to (first+1)·unit.
	cut := (max(width, 53) - 53) & 63
	mask, scale, unit := uint64(1)<<k-1, math.Ldexp(1, -int(k)), math.Ldexp(1, -int(width-cut))
	alpha, beta, most := l.alpha, l.beta, 1-slack-unit
	// A lane whose U is certainly below e^(−x) >= 1−x is decided, most are. The others come next:
	// what they need may take words, so that these are copied. Numbers below 2^63 are converted as
	// signed ones, which is faster; of a lane with a larger h nothing is decided here.
	var words [64]uint64
	copy(words[:], r.words[r.next:r.next+64])
	r.next += 64
	open := uint64(0)
	for i, w := range words {
		z.lo[i] = w & mask
		v, h := float64(int64(w&mask))*scale, float64(int64(z.h[i]))
		x := v * (alpha + beta*(2*h+v))
		u := float64(int64(w>>k>>cut)) * unit
		bit := uint64(1)
		if u+x <= most {
			bit = 0
		}
		if z.h[i] >= maxHigh {
			bit = 1
		}
		open |= bit << (i & 63)
	}
	z.hi = [64]uint64{}
	for ; open != 0; open &= open - 1 {
		i := bits.TrailingZeros64(open)
		w := words[i]
		v, h := float64(int64(w&mask))*scale, float64(int64(z.h[i]))
		x := v * (alpha + beta*(2*h+v))
		ok, err := l.accept(r, z, i, x, float64(int64(w>>k>>cut))*unit, unit, w>>k, width)
		if err != nil {
			words = [64]uint64{}
			return err
		}
		if !ok {
			z.kept &^= 1 << i
		}
	}
	words = [64]uint64{}
	return nil
}

// lowWide is low for u of more than maxSingle digits.
func (l *laned) lowWide(r *reel, z *lanes) error {
	const cut = 64 - 53
	unit := math.Ldexp(1, -53)
	scale, shift := math.Ldexp(1, -int(min(l.k, 53))), max(l.k, 53)-53
	for i := range 64 {
		prefix, err := r.word()
		if err != nil {
			return err
		}
		if err := l.wide(r, z, i); err != nil {
			return err
		}
		v := float64((uint128{z.hi[i], z.lo[i]}).shift(shift)) * scale
		h := float64(z.h[i])
		x := v * (l.alpha + l.beta*(2*h+v))
		u := float64(prefix>>cut) * unit
		if u+unit+x+slack <= 1 && z.h[i] < maxHigh {
			continue // e^(−x) >= 1−x
		}
		ok, err := l.accept(r, z, i, x, u, unit, prefix, 64)
		if err != nil {
			return err
		}
		if !ok {
			z.kept &^= 1 << i
		}
	}
	return nil
}

// wide draws u of more than maxSingle digits.
func (l *laned) wide(r *reel, z *lanes, i int) (err error) {
	if z.lo[i], err = r.word(); err != nil {
		return err
	}
	z.hi[i] = 0
	if l.k <= 64 {
		z.lo[i] >>= 64 - l.k
		return nil
	}
	z.hi[i], err = r.word()
	z.hi[i] >>= 128 - l.k
	return err
}

// accept returns U < e^(−x), where x is nearly so and U from u to u+unit. It is
//
//	1 − x + x²/2 − x³/6 <= e^(−x) <= 1 − x + x²/2, x >= 0.
func (l *laned) accept(r *reel, z *lanes, i int, x, u, unit float64, prefix uint64, width uint) (bool, error) {
	if x < 1 && z.h[i] < maxHigh {
		most := 1 - x + x*x/2
		switch {
		case u+unit+slack <= most-x*x*x/6:
			return true, nil
		case u >= most+slack:
			return false, nil
		}
	}
	var low big.Int
	num, den := l.exponent(z.h[i], uint128{z.hi[i], z.lo[i]}.set(&low))
	return expNeg(num, den).above(r, prefix, width)
}

// shift returns x >> n, which must fit.
func (x uint128) shift(n uint) uint64 {
	if n >= 64 {
		return x.hi >> (n - 64)
	}
	return x.hi<<(64-n) | x.lo>>n
}

// int64s sets k to the lanes that are kept, as many as k has. Those beyond maxInt64 are an error.
func (l *laned) int64s(z *lanes, k []int64) error {
	n, wide := 0, z.h[0]
	if l.k <= maxSingle {
		var all [65]int64
		for i := range 64 {
			wide |= z.h[i]
			minus := -(z.minus >> i & 1)
			all[n&63] = int64((z.h[i]<<l.k | z.lo[i]) ^ minus - minus)
			n += int(z.kept >> i & 1)
		}
		if wide < maxHigh {
			copy(k, all[:])
			return nil
		}
	}
	var v big.Int
	for i, open := 0, z.kept; open != 0; i, open = i+1, open&(open-1) {
		l.value(z, bits.TrailingZeros64(open), &v)
		if !v.IsInt64() || v.CmpAbs(bigMaxInt64) > 0 {
			return errRange()
		}
		k[i] = v.Int64()
	}
	return nil
}

var bigMaxInt64 = big.NewInt(maxInt64)

// add adds the lanes that are kept to the values, as many as there are.
func (l *laned) add(z *lanes, values []*big.Int, scratch *[2]big.Word) {
	var v big.Int
	for i, open := 0, z.kept; open != 0; i, open = i+1, open&(open-1) {
		lane := bits.TrailingZeros64(open)
		if z.h[lane] >= maxHigh || bits.UintSize != 64 {
			l.value(z, lane, &v)
		} else {
			m := uint128{z.hi[lane], z.lo[lane]}
			if l.k >= 64 {
				m.hi |= z.h[lane] << (l.k - 64)
			} else {
				m.lo |= z.h[lane] << l.k
				m.hi |= z.h[lane] >> (64 - l.k)
			}
			scratch[0], scratch[1] = big.Word(m.lo), big.Word(m.hi)
			v.SetBits(scratch[:])
			if z.minus>>lane&1 == 1 {
				v.Neg(&v)
			}
		}
		values[i].Add(values[i], &v)
	}
}

// value sets v to a lane.
func (l *laned) value(z *lanes, i int, v *big.Int) {
	var low big.Int
	v.SetUint64(z.h[i])
	v.Lsh(v, l.k).Or(v, uint128{z.hi[i], z.lo[i]}.set(&low))
	if z.minus>>i&1 == 1 {
		v.Neg(v)
	}
}
