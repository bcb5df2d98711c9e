package noise

import (
	"math/big"
	"math/bits"
	"sort"
)

// halfGaussian draws h >= 0 with probability proportional to e^(−h²/2s²), by inversion of its
// distribution function F: h is the first with U < F(h), for a uniform real U.
type halfGaussian struct {
	digits [1 << gaussianTree]uint64 // of F(h), padded with the largest number
	below  func(b uint) (lo, hi []*big.Int)
}

// gaussianTree is how many comparisons find h below 2^gaussianTree. For s < 16, larger ones
// have probability below e^(−128).
const gaussianTree = 8

// newGaussianLanes returns the laned form of a discrete Gaussian law, and false for
// variances that have none.
func newGaussianLanes(variance *big.Rat) (*laned, bool) {
	a, b := variance.Num(), variance.Denom()
	// 8·2^k <= σ < 16·2^k, or k = 0 and σ < 16.
	root := new(big.Int).Quo(a, b)
	k := uint(max(0, root.Sqrt(root).BitLen()-4))
	if k > maxLow {
		return nil, false
	}
	g := &halfGaussian{}
	den := new(big.Int).Lsh(b, 2*k) // s² = a/den
	g.below = func(b uint) (lo, hi []*big.Int) { return halfGaussianSums(a, den, b) }
	if !g.tabulate() {
		return nil, false
	}
	twice := new(big.Int).Lsh(a, 1)
	beta, _ := new(big.Rat).SetFrac(den, twice).Float64() // 4^k/2σ²
	return &laned{k: k, high: g, beta: beta, exponent: func(h uint64, u *big.Int) (*big.Int, *big.Int) {
		num := new(big.Int).SetUint64(h)
		num.Lsh(num, k+1).Add(num, u).Mul(num, u).Mul(num, b)
		return num, twice
	}}, true
}

// halfGaussianSums returns bounds of F(h)·2^b for h = 0, 1, …, up to where 1−F is below
// 2^-b: the last upper bound is 2^b.
//
// The weights e^(−h²·y), y = 1/2s², have ratios e^(−(2h+1)y), which fall by e^(−2y) each: the
// weights that are left out are less than a geometric series.
func halfGaussianSums(num, den *big.Int, b uint) (lo, hi []*big.Int) {
	w := b + 32 // a product loses a unit each, of hundreds
	unit := new(big.Int).Lsh(one, w)
	type bounds struct{ lo, hi *big.Int }
	mul := func(x, y bounds) bounds {
		l, h := new(big.Int).Mul(x.lo, y.lo), new(big.Int).Mul(x.hi, y.hi)
		return bounds{l.Rsh(l, w), h.Rsh(h, w).Add(h, one)}
	}
	var ratio, fall bounds
	ratio.lo, ratio.hi = expNeg(den, new(big.Int).Lsh(num, 1))(w)
	fall.lo, fall.hi = expNeg(den, num)(w)
	weight := bounds{unit, unit}
	total := bounds{new(big.Int), new(big.Int)}
	var sums []bounds
	for {
		total = bounds{new(big.Int).Add(total.lo, weight.lo), new(big.Int).Add(total.hi, weight.hi)}
		sums = append(sums, total)
		weight, ratio = mul(weight, ratio), mul(ratio, fall)
		// What is left is at most weight/(1−ratio).
		if rest := new(big.Int).Sub(unit, ratio.hi); rest.Sign() > 0 {
			left := new(big.Int).Lsh(weight.hi, w)
			left.Quo(left, rest).Add(left, one)
			if uint(left.BitLen()) < w-b-8 {
				total.hi = new(big.Int).Add(total.hi, left)
				break
			}
		}
	}
	for i, s := range sums {
		l := new(big.Int).Lsh(s.lo, b)
		lo = append(lo, l.Quo(l, total.hi))
		h := new(big.Int).Lsh(s.hi, b)
		h.Quo(h, total.lo).Add(h, one)
		if top := new(big.Int).Lsh(one, b); i == len(sums)-1 || h.Cmp(top) > 0 {
			h = top
		}
		hi = append(hi, h)
	}
	return lo, hi
}

// tabulate computes the first digits of F.
func (g *halfGaussian) tabulate() bool {
	for i := range g.digits {
		g.digits[i] = 1<<64 - 1
	}
	for b := uint(128); b <= 512; b *= 2 {
		lo, hi := g.below(b)
		ok := true
		for i := 0; i < len(lo) && i < len(g.digits); i++ {
			d, certain := digits64(lo[i], hi[i], b)
			g.digits[i] = d
			ok = ok && certain
		}
		if ok {
			return true
		}
	}
	return false
}

// draw draws h for all lanes.
func (g *halfGaussian) draw(r *reel, h *[64]uint64) error {
	if err := r.ahead(64); err != nil {
		return err
	}
	var words [64]uint64 // what refining needs may take the place of the reel's
	copy(words[:], r.words[r.next:r.next+64])
	r.next += 64
	undecided := uint64(0)
	for i, w := range words {
		// The first entry above w, by as many steps whatever it is.
		at := uint8(0)
		for step := uint8(1 << (gaussianTree - 1)); step > 0; step /= 2 {
			next := at
			if g.digits[at+step-1] <= w {
				next = at + step
			}
			at = next
		}
		h[i] = uint64(at)
		if at > 0 && g.digits[at-1] == w || g.digits[at] <= w {
			undecided |= 1 << i
		}
	}
	var err error
	for ; undecided != 0 && err == nil; undecided &= undecided - 1 {
		i := bits.TrailingZeros64(undecided)
		h[i], err = g.refine(r, words[i])
	}
	words = [64]uint64{}
	return err
}

// refine returns h for a U whose first 64 digits do not decide. It draws further ones.
func (g *halfGaussian) refine(r *reel, prefix uint64) (uint64, error) {
	u, n := new(big.Int).SetUint64(prefix), uint(64)
	for {
		lo, hi := g.below(n + 64)
		from := new(big.Int).Lsh(u, 64)
		to := new(big.Int).Add(from, new(big.Int).Lsh(one, 64))
		// The first h with U < F(h) for sure, and U >= F(h−1) for sure.
		h := sort.Search(len(lo), func(i int) bool { return to.Cmp(lo[i]) <= 0 })
		if h < len(lo) && (h == 0 || from.Cmp(hi[h-1]) >= 0) {
			return uint64(h), nil
		}
		w, err := r.word()
		if err != nil {
			return 0, err
		}
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(w))
		n += 64
	}
}
