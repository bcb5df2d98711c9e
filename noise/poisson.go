package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// A poisson is the distribution P(k) = e^(−n)·n^k/k! of a whole number n ≥ 1, of any size.
//
// It is drawn by rejection from steps around n. On a fair coin let k = n+i or k = n−1−i, i ≥ 0: then
// P(k)/P(n) is, for n and n−1 have the same probability,
//
//	R(i) = Π_{l≤i} n/(n+l) to the right, and Π_{l≤i} (1−l/n) to the left.
//
// It is R(i) ≤ e^(−i²/(2(n+i/3))). To the right, −ln R(i) = Σ ln(1+l/n) is at least the integral of ln(1+u/n)
// from 0 to i, n·((1+x)ln(1+x)−x) with x = i/n, which Bernstein's inequality bounds; to the left it is
// at least Σ l/n = i(i+1)/2n. So steps of w fall by a factor e each, R(bw+u) ≤ e^(−b) for b ≥ 1, where
// bw² ≥ 2(n+bw/3), and w ≥ √(2n)+1 is enough; by a factor 2, where bw² ≥ 2·ln2·(n+bw/3), and w ≥ √(1.4n)+1
// is, as 2·ln2 < 1.3863. A step is proposed with such a probability, u in it uniformly, and i is accepted with
// probability R(i) over its step's: in more than half of all trials.
type poisson struct {
	n     *big.Int
	width *big.Int // w
	small uint64   // n, where steps fall by 2 and R is multiplied out; 0 where they fall by e
}

// maxSmall bounds what is multiplied out: a draw takes some √n products.
const maxSmall = 1 << 16

func newPoisson(n *big.Int) *poisson {
	p := &poisson{n: n}
	if n.Cmp(big.NewInt(maxSmall)) < 0 {
		p.small = n.Uint64()
		square := new(big.Int).Mul(n, big.NewInt(14))
		p.width = square.Sqrt(square.Quo(square, big.NewInt(10)))
	} else {
		p.width = new(big.Int).Lsh(n, 1)
		p.width.Sqrt(p.width)
	}
	// What was rounded down lacks less than 1, and 1 is added to the root.
	p.width.Add(p.width, big.NewInt(2))
	return p
}

// draw sets z to one draw.
func (p *poisson) draw(s *Stream, z *big.Int) error {
	for {
		left, err := s.bits(1)
		if err != nil {
			return err
		}
		step, err := p.step(s)
		if err != nil {
			return err
		}
		u, err := s.bigBelow(p.width)
		if err != nil {
			return err
		}
		i := new(big.Int).SetUint64(step)
		i.Mul(i, p.width).Add(i, u)
		if left == 1 && i.Cmp(p.n) >= 0 {
			continue // below 0
		}
		var ok bool
		if p.small > 0 {
			ok, err = p.acceptSmall(s, left == 1, i, uint(step))
		} else {
			ok, err = p.acceptLarge(s, left == 1, i, step)
		}
		switch {
		case err != nil:
			return err
		case !ok:
			continue
		case left == 1:
			z.Sub(p.n, i)
			z.Sub(z, one)
		default:
			z.Add(p.n, i)
		}
		return nil
	}
}

// step draws the number of a step: geometric of ratio 1/2 or 1/e.
func (p *poisson) step(s *Stream) (b uint64, err error) {
	for ; ; b++ {
		var more bool
		if p.small > 0 {
			var bit uint64
			bit, err = s.bits(1)
			more = bit == 1
		} else {
			more, err = s.bernoulliExp1()
		}
		if !more || err != nil {
			return b, err
		}
	}
}

// acceptSmall returns true with probability R(i)·2^b.
func (p *poisson) acceptSmall(s *Stream, left bool, at *big.Int, b uint) (bool, error) {
	i := at.Uint64()
	// Each product is rounded down, by less than 2^−64; so R is at least r·2^−64 and less than (r+i+1)·2^−64.
	r := ^uint64(0) // 1 less 2^−64, which is counted as the first rounding
	for l := uint64(1); l <= i && r > 0; l++ {
		num, den := p.small, p.small+l
		if left {
			num, den = p.small-l, p.small
		}
		hi, lo := bits.Mul64(r, num)
		r, _ = bits.Div64(hi, lo, den)
	}
	return s.within(func(digits uint) (lo, hi *big.Int) {
		if digits == 64 {
			lo = new(big.Int).SetUint64(r)
			hi = new(big.Int).Add(lo, new(big.Int).SetUint64(i+1))
			return lo.Lsh(lo, b), hi.Lsh(hi, b)
		}
		lo = new(big.Int).Lsh(one, digits+b)
		hi = new(big.Int).Set(lo)
		for l := uint64(1); l <= i; l++ {
			num, den := p.small, p.small+l
			if left {
				num, den = p.small-l, p.small
			}
			n, d := new(big.Int).SetUint64(num), new(big.Int).SetUint64(den)
			lo.Mul(lo, n).Quo(lo, d)
			ceilQuo(hi.Mul(hi, n), d)
		}
		return lo, hi
	})
}

// acceptLarge returns true with probability R(i)·e^b = e^(−x), x ≥ 0. With m whole and x−m between 0 and 2, that
// is m times 1/e, and twice e^(−(x−m)/2).
func (p *poisson) acceptLarge(s *Stream, left bool, i *big.Int, b uint64) (bool, error) {
	if i.Sign() == 0 {
		return true, nil // R(0) = 1
	}
	floor := new(big.Int)       // of −ln R(i), or 1 less
	lo, hi := p.filter(left, i) // bounds of −ln R(i) − floor
	if hi-lo < 0x1p-10 && hi < 0x1p40 {
		below := math.Floor(lo)
		floor.SetInt64(int64(below))
		lo, hi = lo-below, hi-below
	} else { // nor where they are no numbers
		digits := uint(64)
		l, h := p.decline(left, i, digits)
		for new(big.Int).Sub(h, l).BitLen() > int(digits)-10 {
			digits += 64
			l, h = p.decline(left, i, digits)
		}
		floor.Rsh(l, digits)
		less := new(big.Int).Lsh(floor, digits)
		lo, hi = float(l.Sub(l, less), digits), float(h.Sub(h, less), digits)
	}
	steps := new(big.Int).SetUint64(b)
	if floor.Cmp(steps) < 0 { // x is near 0
		lo, hi = lo-1, hi-1
		floor.Set(steps)
	}
	for m := new(big.Int).Sub(floor, steps); m.Sign() > 0; m.Sub(m, one) {
		if ok, err := s.bernoulliExp1(); !ok || err != nil {
			return false, err
		}
	}
	half := func(digits uint) (l, h *big.Int) {
		l, h = p.decline(left, i, digits)
		less := new(big.Int).Lsh(floor, digits)
		l.Sub(l, less)
		h.Sub(h, less)
		return l.Rsh(l, 1), h.Add(h.Rsh(h, 1), one)
	}
	least, most := lo/2-0x1p-42, hi/2+0x1p-42 // differences of floats err by less
	for range 2 {
		if ok, err := s.evenRun(func() (bool, error) { return s.between(least, most, half) }); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// filter bounds −ln R(i) = n·H(y) + ½·ln(1+y) + δ(k) − δ(n), y = j/n and H(y) = y²/2 − y³/6 + y⁴/12 − …, in floats, for
// |y| ≤ 2^−6; else they are not numbers.
//
// With u = 2^−53, y errs relatively by 3u, H by less than 16u, of which the terms that are left out, less than y¹¹/110, are
// 2^−58, and n·H by less than 2^−48; the logarithm by 2^−55, and what is left out of δ(k) − δ(n) = −j/12nk is below
// 2^−40·|y| (k ≥ n/2 ≥ 2^15). The bounds leave a factor 8 above these.
func (p *poisson) filter(left bool, i *big.Int) (lo, hi float64) {
	n, _ := p.n.Float64()
	j, _ := i.Float64()
	if left {
		j = -j - 1
	}
	y := j / n
	if !(math.Abs(y) <= 0x1p-6) {
		return math.NaN(), math.NaN()
	}
	h := 0.0
	for m := 10.0; m >= 2; m-- {
		h = 1/(m*(m-1)) - y*h
	}
	main := n * y * y * h
	x := main + math.Log1p(y)/2 - y/(12*(n+j))
	e := 0x1p-45*main + 0x1p-42
	return x - e, x + e
}

// float is x/2^digits, to within 2^−50 of what is below 4.
func float(x *big.Int, digits uint) float64 {
	f := new(big.Float).SetInt(x)
	out, _ := f.SetMantExp(f, -int(digits)).Float64()
	return out
}

// between is within, for a probability of which floats are bounds as well: those decide nearly always.
func (s *Stream) between(least, most float64, probability func(digits uint) (lo, hi *big.Int)) (bool, error) {
	w, err := s.bits(64)
	if err != nil {
		return false, err
	}
	switch u := float64(w) * 0x1p-64; { // off by less than 2^−53
	case u+0x1p-50 < least:
		return true, nil
	case u-0x1p-50 > most:
		return false, nil
	}
	return s.decide(w, probability)
}

// within returns true with a probability that is known by bounds: lo ≤ p·2^digits ≤ hi, for digits that
// are a multiple of 64, and nearer to each other relative to 2^digits the more there are. Digits of a
// uniform real are drawn until it lies below or above.
func (s *Stream) within(probability func(digits uint) (lo, hi *big.Int)) (bool, error) {
	w, err := s.bits(64)
	if err != nil {
		return false, err
	}
	return s.decide(w, probability)
}

// decide is within, with the first digits of the uniform real.
func (s *Stream) decide(first uint64, probability func(digits uint) (lo, hi *big.Int)) (bool, error) {
	u := new(big.Int).SetUint64(first)
	for digits := uint(64); ; digits += 64 {
		lo, hi := probability(digits)
		switch {
		case u.Cmp(lo) < 0: // u+1 ≤ lo
			return true, nil
		case u.Cmp(hi) >= 0:
			return false, nil
		}
		w, err := s.bits(64)
		if err != nil {
			return false, err
		}
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(w))
	}
}

// decline bounds −ln R(i)·2^digits, i ≥ 1.
//
// With k = n+j the outcome, R = P(k)/P(n), and by Stirling's formula, ln k! = (k+½)·ln k − k + ½·ln 2π + δ(k),
//
//	−ln R = (k+½)·ln(k/n) − j + δ(k) − δ(n).
//
// Far from n, or where δ is not known to so many digits, the logarithms of its factors are added up.
func (p *poisson) decline(left bool, i *big.Int, digits uint) (lo, hi *big.Int) {
	twice := new(big.Int).Lsh(i, 1)
	if twice.Cmp(p.n) > 0 || digits+8 > stirlingDigits(p.n) {
		return p.declineByFactors(left, i, digits)
	}
	j := new(big.Int).Set(i)
	if left {
		j.Neg(j).Sub(j, one)
	}
	k := new(big.Int).Add(p.n, j)
	// ln(k/n) = 2·artanh(j/(2n+j)), to so many digits that a product with 2k+1 keeps 8 more than asked.
	precise := digits + uint(k.BitLen()) + 10
	den := new(big.Int).Lsh(p.n, 1)
	lo, hi = logOfRatio(j, den.Add(den, j), precise)
	factor := new(big.Int).Lsh(k, 1)
	factor.Add(factor, one)
	lo.Mul(lo, factor).Rsh(lo, precise-digits+1) // rounded down, also where negative
	hi.Mul(hi, factor).Rsh(hi, precise-digits+1).Add(hi, one)
	whole := new(big.Int).Lsh(j, digits)
	lo.Sub(lo, whole)
	hi.Sub(hi, whole)
	lowK, highK := stirling(k, digits)
	lowN, highN := stirling(p.n, digits)
	lo.Add(lo, lowK).Sub(lo, highN)
	hi.Add(hi, highK).Sub(hi, lowN)
	return lo, hi
}

// declineByFactors is decline as a sum of as many logarithms as there are factors.
func (p *poisson) declineByFactors(left bool, i *big.Int, digits uint) (lo, hi *big.Int) {
	precise := digits + uint(i.BitLen()) + 10
	lo, hi = new(big.Int), new(big.Int)
	den := new(big.Int)
	for l := big.NewInt(1); l.Cmp(i) <= 0; l.Add(l, one) {
		den.Lsh(p.n, 1) // ln((n+l)/n) = 2·artanh(l/(2n+l)), and −ln(1−l/n) = 2·artanh(l/(2n−l))
		if left {
			den.Sub(den, l)
		} else {
			den.Add(den, l)
		}
		low, high := logOfRatio(l, den, precise)
		lo.Add(lo, low)
		hi.Add(hi, high)
	}
	lo.Rsh(lo, precise-digits)
	hi.Rsh(hi, precise-digits).Add(hi, one)
	return lo, hi
}

// logOfRatio bounds 2·artanh(num/den)·2^digits, |num| < den, by the series z + z³/3 + z⁵/5 + …: all that
// is added up is rounded down for the lower bound, and up for the upper one.
func logOfRatio(num, den *big.Int, digits uint) (lo, hi *big.Int) {
	unit := new(big.Int).Lsh(one, digits)
	z := new(big.Int).Lsh(new(big.Int).Abs(num), digits)
	low := new(big.Int).Quo(z, den)
	high := ceilQuo(z, den)
	lowSquare := new(big.Int).Mul(low, low)
	lowSquare.Rsh(lowSquare, digits)
	highSquare := new(big.Int).Mul(high, high)
	highSquare.Rsh(highSquare, digits).Add(highSquare, one)
	lo, hi = new(big.Int), new(big.Int)
	term, odd, before := new(big.Int), new(big.Int), new(big.Int)
	for i := int64(1); ; i += 2 {
		odd.SetInt64(i)
		lo.Add(lo, term.Quo(low, odd))
		hi.Add(hi, term.Quo(high, odd)).Add(hi, one)
		low.Mul(low, lowSquare).Rsh(low, digits)
		before.Set(high)
		high.Mul(high, highSquare).Rsh(high, digits).Add(high, one)
		// Powers that are rounded up end where the rounding is all that is left.
		if high.Cmp(before) >= 0 || high.BitLen() <= 2 {
			break
		}
	}
	// What follows is at most a geometric series; its ratio is below 1, as digits are more than den has.
	hi.Add(hi, term.Quo(high.Lsh(high, digits), unit.Sub(unit, highSquare))).Add(hi, one)
	lo.Lsh(lo, 1)
	hi.Lsh(hi, 1)
	if num.Sign() < 0 {
		lo, hi = hi.Neg(hi), lo.Neg(lo)
	}
	return lo, hi
}

const termsOfSeries = 7

// series are the first coefficients of δ(k) = 1/(12k) − 1/(360k³) + …: B(2i)/(2i(2i−1)), of 1/k^(2i−1). The
// series errs by less than the first term that is left out, here 3617/122400 of 1/k^15 (Whittaker and Watson, 12.33).
func series() [termsOfSeries][2]int64 {
	return [termsOfSeries][2]int64{{1, 12}, {-1, 360}, {1, 1260}, {-1, 1680}, {1, 1188}, {-691, 360360}, {1, 156}}
}

// stirlingDigits is to how many digits δ(k) is known for all k of at least n/2 − 1: 2^−5·k^−15 is the error.
func stirlingDigits(n *big.Int) uint { return 15*uint(max(n.BitLen()-3, 0)) + 5 }

// stirling bounds δ(k)·2^digits.
func stirling(k *big.Int, digits uint) (lo, hi *big.Int) {
	lo = new(big.Int)
	square := new(big.Int).Mul(k, k)
	power, term := new(big.Int).Set(k), new(big.Int)
	for _, c := range series() {
		den := new(big.Int).Mul(power, big.NewInt(c[1]))
		lo.Add(lo, term.Lsh(big.NewInt(c[0]), digits).Div(term, den)) // each rounded down by less than 1
		power.Mul(power, square)
	}
	hi = new(big.Int).Add(lo, big.NewInt(termsOfSeries+1))
	return lo.Sub(lo, one), hi
}

// ceilQuo sets x to x/y, rounded up, and returns it; x ≥ 0, y > 0.
func ceilQuo(x, y *big.Int) *big.Int {
	rest := new(big.Int)
	if x.QuoRem(x, y, rest); rest.Sign() > 0 {
		x.Add(x, one)
	}
	return x
}
