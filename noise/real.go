package noise

import "math/big"

// A real is a real number from 0 to 1, given by bounds: lo <= x·2^b <= hi for every b > 0,
// whose distance stays small as b grows. What it decides is exact, however close the case.
type real func(b uint) (lo, hi *big.Int)

// expNeg is e^(−num/den), num >= 0 and den > 0.
//
// With y = num/den/2^m below 1/2, the Taylor terms y^j/j! of e^(−y) alternate and fall, so
// that what is left out is at most the first term that is; squaring m times gives e^(−2^m·y).
// All in fixed point with w digits: each term is too small by less than 2 units of the last
// (the unit before times y/j, and one lost), and y by less than one, which e^(−y) follows.
func expNeg(num, den *big.Int) real {
	return func(b uint) (lo, hi *big.Int) {
		whole := new(big.Int).Quo(num, den)
		if !whole.IsUint64() || whole.Uint64() > uint64(b) { // e^(−b) < 2^(−b)
			return new(big.Int), big.NewInt(1)
		}
		m := uint(whole.BitLen()) + 4
		w := b + 2*m + 16
		y := new(big.Int).Lsh(num, w-m)
		y.Quo(y, den)
		unit := new(big.Int).Lsh(one, w)
		sum, term, lost := new(big.Int).Set(unit), new(big.Int).Set(unit), int64(3)
		for j := int64(1); term.Sign() > 0; j++ {
			term.Mul(term, y).Rsh(term, w).Quo(term, big.NewInt(j))
			if j%2 == 1 {
				sum.Sub(sum, term)
			} else {
				sum.Add(sum, term)
			}
			lost += 2
		}
		lo, hi = new(big.Int).Sub(sum, big.NewInt(lost)), new(big.Int).Add(sum, big.NewInt(lost))
		for range m {
			lo.Mul(lo, lo).Rsh(lo, w)
			hi.Mul(hi, hi).Rsh(hi, w).Add(hi, one)
		}
		lo.Rsh(lo, w-b)
		hi.Rsh(hi, w-b).Add(hi, one)
		if top := new(big.Int).Lsh(one, b); hi.Cmp(top) > 0 {
			hi = top
		}
		return lo, hi
	}
}

// logistic is x/(1+x).
func logistic(x real) real {
	return func(b uint) (lo, hi *big.Int) {
		lo, hi = x(b)
		top := new(big.Int).Lsh(one, b)
		part := func(x *big.Int) *big.Int { // x/(1+x) rises
			q := new(big.Int).Lsh(x, b)
			return q.Quo(q, new(big.Int).Add(top, x))
		}
		lo, hi = part(lo), part(hi)
		return lo, hi.Add(hi, one)
	}
}

// first64 returns a d with d <= x·2^64 <= d+1: the first 64 binary digits of x. It returns false
// for numbers so close to a multiple of 2^-64 that 512 digits do not tell on which side they are.
func (x real) first64() (d uint64, ok bool) {
	for b := uint(128); b <= 512 && !ok; b *= 2 {
		lo, hi := x(b)
		d, ok = digits64(lo, hi, b)
	}
	return d, ok
}

// digits64 is first64 for bounds of x·2^b.
func digits64(lo, hi *big.Int, b uint) (d uint64, ok bool) {
	first := new(big.Int).Rsh(lo, b-64)
	if d = first.Uint64(); !first.IsUint64() {
		d = 1<<64 - 1 // x is 1
	}
	end := new(big.Int).SetUint64(d)
	return d, end.Add(end, one).Lsh(end, b-64).Cmp(hi) >= 0
}

// above returns whether x is above a uniform real number whose first n <= 64 binary digits
// are those of prefix. It draws the others as they are needed: after d more, the chance to
// need another is 2^-d.
func (x real) above(r *reel, prefix uint64, n uint) (bool, error) {
	u := new(big.Int).SetUint64(prefix)
	for {
		b := n + 64
		lo, hi := x(b)
		at := new(big.Int).Lsh(u, 64)
		if at.Cmp(hi) >= 0 {
			return false, nil
		}
		if at.Add(at, new(big.Int).Lsh(one, 64)).Cmp(lo) <= 0 {
			return true, nil
		}
		w, err := r.word()
		if err != nil {
			return false, err
		}
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(w))
		n += 64
	}
}

// A chance is a probability with its first 64 digits.
type chance struct {
	digits uint64
	exact  real
}

func newChance(x real) (chance, bool) {
	d, ok := x.first64()
	return chance{d, x}, ok
}

// one returns true with the probability. It is the answer to U < p for a uniform real U.
func (c *chance) one(r *reel) (bool, error) {
	w, err := r.word()
	if err != nil || w != c.digits {
		return w < c.digits, err
	}
	return c.exact.above(r, w, 64)
}

// lanes returns 64 independent bits, each 1 with the probability.
//
// Each lane compares a uniform real U with p, and takes as U's next digit its bit of a word:
// where that differs from p's digit, U < p is decided. Half of the open lanes are decided by
// each word. A lane that agrees with all digits here goes on by itself.
func (c *chance) lanes(r *reel) (uint64, error) {
	var ones uint64
	open := ^uint64(0)
	for digits, left := c.digits, 64; left > 0; left-- {
		if r.next == len(r.words) {
			if err := r.fill(); err != nil {
				return 0, err
			}
		}
		w := r.words[r.next]
		r.next++
		digit := -(digits >> 63) // all ones, or none
		digits <<= 1
		ones |= open & digit &^ w
		open &^= w ^ digit
		if open == 0 {
			return ones, nil
		}
	}
	for ; open != 0; open &= open - 1 {
		ok, err := c.exact.above(r, c.digits, 64)
		if err != nil {
			return 0, err
		}
		if ok {
			ones |= open & -open
		}
	}
	return ones, nil
}

// A reel hands out the words of a Bits, many at a time, each once: what was not handed out
// is wiped at the end.
type reel struct {
	source Bits
	words  []uint64 // words[next:] are unused
	next   int
	left   int // about how many words will be asked for
	buffer [reelSize]uint64
}

const reelSize = 1024

// fill gets more words. Call it when there are none.
func (r *reel) fill() error {
	n := min(max(r.left, 64), reelSize)
	r.left -= n
	r.words, r.next = nil, 0
	if err := readWords(r.source, r.buffer[:n]); err != nil {
		return err
	}
	r.words = r.buffer[:n]
	return nil
}

// ahead makes at least so many words stand unused beside each other, reelSize at most. Call it
// before a loop over them.
func (r *reel) ahead(n int) error {
	have, old := len(r.words)-r.next, len(r.words)
	if have >= n {
		return nil
	}
	copy(r.buffer[:], r.words[r.next:])
	more := min(max(r.left, n-have), reelSize-have)
	r.left -= more
	r.words, r.next = nil, 0
	if err := readWords(r.source, r.buffer[have:have+more]); err != nil {
		clear(r.buffer[:])
		return err
	}
	clear(r.buffer[have+more : max(old, have+more)])
	r.words = r.buffer[:have+more]
	return nil
}

func (r *reel) word() (uint64, error) {
	if r.next == len(r.words) {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	r.next++
	return r.words[r.next-1], nil
}

// wipe forgets all words.
func (r *reel) wipe() {
	clear(r.buffer[:])
	r.words, r.next = nil, 0
}

// transpose returns column i of eight rows of 64 bits as byte i, the first row lowest.
func transpose(rows *[8]uint64, columns *[64]uint64) {
	for i := range 8 {
		var x uint64 // eight columns of each row
		for j := range 8 {
			x |= (rows[j] >> (8 * i) & 0xFF) << (8 * j)
		}
		// Hacker's Delight, 7-3: a matrix of 8 times 8 bits, by blocks of 1, 2 and 4.
		y := (x ^ x>>7) & 0x00AA00AA00AA00AA
		x ^= y ^ y<<7
		y = (x ^ x>>14) & 0x0000CCCC0000CCCC
		x ^= y ^ y<<14
		y = (x ^ x>>28) & 0x00000000F0F0F0F0
		x ^= y ^ y<<28
		for j := range 8 {
			columns[8*i+j] = x >> (8 * j) & 0xFF
		}
	}
}
