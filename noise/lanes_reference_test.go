package noise

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/numeric"
	"pgregory.net/rapid"
)

// reference draws lanes as the comment of laned says, from the same words, with intervals of
// another package for every comparison and no filter.
type reference struct {
	t     *rapid.T
	words []uint64
}

func (r *reference) word() uint64 {
	if len(r.words) == 0 {
		r.t.Skip("the words end")
	}
	w := r.words[0]
	r.words = r.words[1:]
	return w
}

// less tells whether U < x, reading on where its first digits leave it open to digits that agree
// with the first 64 (or all that were drawn) of x.
func (r *reference) less(u *big.Int, n uint, x numeric.Interval) bool {
	for {
		unit := new(big.Int).Lsh(one, n)
		if new(big.Rat).SetFrac(u, unit).Cmp(x.Hi()) >= 0 {
			return false
		}
		if new(big.Rat).SetFrac(new(big.Int).Add(u, one), unit).Cmp(x.Lo()) <= 0 {
			return true
		}
		u = new(big.Int).Lsh(u, 64)
		u.Or(u, new(big.Int).SetUint64(r.word()))
		if n += 64; n > 200 {
			r.t.Skip("closer than intervals tell")
		}
	}
}

// first returns the next words, one for each lane.
func (r *reference) first() (words [64]uint64) {
	for i := range words {
		words[i] = r.word()
	}
	return words
}

func (r *reference) lanes(x numeric.Interval) (ones uint64) {
	var u [64]*big.Int
	for i := range u {
		u[i] = new(big.Int)
	}
	decided := func(v *big.Int, n uint) (bool, bool) {
		unit := new(big.Int).Lsh(one, n)
		below := new(big.Rat).SetFrac(new(big.Int).Add(v, one), unit).Cmp(x.Lo()) <= 0
		return below, below || new(big.Rat).SetFrac(v, unit).Cmp(x.Hi()) >= 0
	}
	open := ^uint64(0)
	for n := uint(1); n <= 64 && open != 0; n++ {
		w := r.word()
		for i := range 64 {
			if open>>i&1 == 1 {
				u[i].Lsh(u[i], 1)
				u[i].SetBit(u[i], 0, uint(w>>i&1))
				if below, ok := decided(u[i], n); ok {
					open &^= 1 << i
					if below {
						ones |= 1 << i
					}
				}
			}
		}
	}
	for i := range 64 {
		if open>>i&1 == 1 && r.less(u[i], 64, x) {
			ones |= 1 << i
		}
	}
	return ones
}

// geometric returns h by the digits of its probabilities.
func (r *reference) geometric(x *big.Rat, n int) (h [64]uint64) {
	power := numeric.Of(x).Neg().Exp()
	for i := range n {
		ones := r.lanes(power.Quo(power.Add(numeric.OfInt(1))))
		for j := range h {
			h[j] |= ones >> j & 1 << i
		}
		power = power.Mul(power)
	}
	more := r.lanes(power)
	for j := range h {
		for again := more>>j&1 == 1; again; again = r.less(new(big.Int).SetUint64(r.word()), 64, power) {
			h[j] += 1 << n
		}
	}
	return h
}

// Lanes are what the reference makes of the same words, those included that agree with a
// probability for all of their 64 digits.
func TestLanesAreTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom(lanedScales).Draw(t, "scale")
		r := ratio(scale)
		l, _ := newLaplaceLanes(r.Num(), r.Denom())
		g := l.high.(*geometricDigits)
		words := make([]uint64, 4000)
		random := entropy.New()
		if err := random.Words(words); err != nil {
			t.Fatal(err)
		}
		x := new(big.Rat).SetInt(new(big.Int).Lsh(one, l.k))
		x.Quo(x, r)
		// One of the comparisons agrees for long, in some lanes.
		agree := rapid.IntRange(-1, len(g.digits)).Draw(t, "comparison that agrees")
		mask := uint64(0)
		if agree >= 0 {
			mask = rapid.SampledFrom([]uint64{1, 1 << 63, 0xF0F0, math.MaxUint64}).Draw(t, "lanes")
			at := 0
			for i := range agree + 1 {
				c := g.more
				if i < len(g.digits) {
					c = g.digits[i]
				}
				if i == agree {
					for d := range 64 {
						digit := -(c.digits >> (63 - d) & 1)
						words[at+d] = words[at+d]&^mask | digit&mask
					}
					break
				}
				read := &reel{source: &script{slices.Clone(words[at:])}}
				if _, err := c.lanes(read); err != nil {
					t.Fatal(err)
				}
				at += read.next
			}
		}
		ref := &reference{t, slices.Clone(words)}
		want := ref.geometric(x, len(g.digits))
		minus := ref.word()
		z, read := &lanes{}, &reel{source: &script{words}, left: 1000}
		if err := l.draw(read, z); err != nil {
			t.Fatal(err)
		}
		if z.h != want || z.minus != minus {
			t.Fatalf("lanes are %v, want %v", z.h, want)
		}
		var first [64]uint64 // one word for each lane comes before what some need more
		if l.k > 0 && l.k <= maxSingle {
			first = ref.first()
		}
		for i := range 64 {
			kept := true
			u := new(big.Int)
			if l.k > 0 {
				w := first[i]
				if l.k > maxSingle {
					w = ref.word()
				}
				prefix, width := w, uint(64)
				if l.k <= maxSingle {
					u.SetUint64(w & (1<<l.k - 1))
					prefix, width = w>>l.k, 64-l.k
				} else {
					u.SetUint64(ref.word())
					if l.k <= 64 {
						u.Rsh(u, 64-l.k)
					} else {
						high := new(big.Int).SetUint64(ref.word() >> (128 - l.k))
						u.Or(u, high.Lsh(high, 64))
					}
				}
				exponent := new(big.Rat).SetInt(u)
				kept = ref.less(new(big.Int).SetUint64(prefix), width, numeric.Of(exponent.Quo(exponent, r)).Neg().Exp())
			}
			kept = kept && (want[i] != 0 || u.Sign() != 0 || minus>>i&1 == 0)
			if (z.kept>>i&1 == 1) != kept {
				t.Fatalf("scale %s, lane %d: kept is %v, want %v", scale, i, !kept, kept)
			}
			v, m := new(big.Int), new(big.Int).SetUint64(want[i])
			m.Lsh(m, l.k).Add(m, u)
			if minus>>i&1 == 1 {
				m.Neg(m)
			}
			if l.value(z, i, v); v.Cmp(m) != 0 {
				t.Fatalf("scale %s, lane %d is %v, want %v", scale, i, v, m)
			}
		}
	})
}

// The same for Gaussian noise: what is not decided by 64 digits, too.
func TestGaussianLanesAreTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom(lanedScales).Draw(t, "sigma")
		r := ratio(scale)
		variance := new(big.Rat).Mul(r, r)
		l, _ := newGaussianLanes(variance)
		g := l.high.(*halfGaussian)
		words := make([]uint64, 600)
		if err := entropy.New().Words(words); err != nil {
			t.Fatal(err)
		}
		near := rapid.IntRange(0, 140).Draw(t, "value whose border is hit")
		words[0] = g.digits[near]
		ref := &reference{t, slices.Clone(words)}
		s := new(big.Rat).Quo(r, new(big.Rat).SetInt(new(big.Int).Lsh(one, l.k)))
		square := new(big.Rat).Mul(s, s)
		var sums []numeric.Interval
		sum := numeric.OfInt(0)
		for h := range int64(300) {
			x := big.NewRat(h*h, 2)
			sum = sum.Add(numeric.Of(x.Quo(x, square)).Neg().Exp())
			sums = append(sums, sum)
		}
		var want [64]uint64
		first := ref.first()
		for i := range want {
			u, n := new(big.Int).SetUint64(first[i]), uint(64)
			for h := 0; ; {
				if h == len(sums) || n > 200 {
					t.Skip("beyond the reference")
				}
				// U < F(h)? With the digits that there are, or one word more.
				f := sums[h].Quo(sum)
				unit := new(big.Int).Lsh(one, n)
				if new(big.Rat).SetFrac(u, unit).Cmp(f.Hi()) >= 0 {
					h++
					continue
				}
				if new(big.Rat).SetFrac(new(big.Int).Add(u, one), unit).Cmp(f.Lo()) <= 0 {
					want[i] = uint64(h)
					break
				}
				u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(ref.word()))
				n += 64
			}
		}
		minus := ref.word()
		z := &lanes{}
		if err := l.draw(&reel{source: &script{words}, left: 600}, z); err != nil {
			t.Fatal(err)
		}
		if z.h != want || z.minus != minus {
			t.Fatalf("sigma %s: lanes are %v, want %v", scale, z.h, want)
		}
		if l.k == 0 || l.k > maxSingle {
			return
		}
		first = ref.first()
		for i := range 64 {
			w := first[i]
			u := new(big.Int).SetUint64(w & (1<<l.k - 1))
			m := new(big.Int).SetUint64(want[i])
			m.Lsh(m, l.k+1).Add(m, u).Mul(m, u) // u(2h2^k + u)
			x := new(big.Rat).SetInt(m)
			x.Quo(x, variance).Mul(x, big.NewRat(1, 2))
			kept := ref.less(new(big.Int).SetUint64(w>>l.k), 64-l.k, numeric.Of(x).Neg().Exp())
			kept = kept && (want[i] != 0 || u.Sign() != 0 || minus>>i&1 == 0)
			if (z.kept>>i&1 == 1) != kept {
				t.Fatalf("sigma %s, lane %d, h %d: kept is %v, want %v", scale, i, want[i], !kept, kept)
			}
		}
	})
}

// The floating-point bounds decide as exact ones do, whatever the word.
func TestAcceptIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom(lanedScales[9:]).Draw(t, "scale")
		l := lanedGaussian0(scale)
		if rapid.Bool().Draw(t, "laplace") {
			r := ratio(scale)
			l, _ = newLaplaceLanes(r.Num(), r.Denom())
		}
		if l.k == 0 {
			t.Skip("nothing is rejected")
		}
		z := &lanes{}
		z.h[0] = rapid.OneOf(rapid.Uint64Range(0, 80), rapid.Uint64Range(0, maxHigh+5)).Draw(t, "h")
		u := uint128{rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo")}
		if rapid.Bool().Draw(t, "small") {
			u = uint128{0, u.lo >> 60}
		}
		if l.k < 64 {
			u.hi, u.lo = 0, u.lo&(1<<l.k-1)
		} else {
			u.hi &= 1<<(l.k-64) - 1
		}
		z.hi[0], z.lo[0] = u.hi, u.lo
		num, den := l.exponent(z.h[0], u.set(new(big.Int)))
		e := numeric.Of(new(big.Rat).SetFrac(num, den)).Neg().Exp()
		// A word at the border, or a few steps off.
		border := new(big.Rat).Mul(e.Lo(), new(big.Rat).SetInt(new(big.Int).Lsh(one, 64)))
		w := numeric.Floor(border).Uint64() + uint64(rapid.Int64Range(-3, 3).Draw(t, "off"))<<rapid.UintRange(0, 50).Draw(t, "by")
		prefix, width := w, uint(64)
		if l.k <= maxSingle {
			prefix, width = w>>l.k, 64-l.k
		}
		more := rapid.SliceOfN(rapid.Uint64(), 6, 6).Draw(t, "words")
		ref := &reference{t, more}
		want := ref.less(new(big.Int).SetUint64(prefix), width, e)
		// As low does it.
		var words []uint64
		if l.k <= maxSingle { // the other lanes keep all
			words = append(append(words, prefix<<l.k|u.lo), make([]uint64, 63)...)
		} else {
			words = append(words, prefix)
			if l.k <= 64 {
				words = append(words, u.lo<<(64-l.k))
			} else {
				words = append(words, u.lo, u.hi<<(128-l.k))
			}
		}
		words = append(words, more...)
		words = append(words, make([]uint64, 600)...) // the other lanes keep all
		z.kept = ^uint64(0)
		if err := l.low(&reel{source: &script{words}, left: 100}, z); err != nil {
			t.Fatal(err)
		}
		if (z.kept&1 == 1) != want || z.lo[0] != u.lo || z.hi[0] != u.hi {
			t.Fatalf("scale %s, h %d, u %v, prefix %x of %d: kept %v, want %v", scale, z.h[0], u, prefix, width, !want, want)
		}
	})
}

// A U whose first digits are those of e^(−x) is below it or not by its next ones, also where x is
// so small that 1−x is nearly as much: no lane is kept before they are drawn.
func TestBordersOfLanesTakeMoreDigits(t *testing.T) {
	tried := 0
	for e := int64(16); e <= 52; e++ {
		scale := fmt.Sprint(int64(1)<<e + 12345)
		for name, l := range map[string]*laned{"laplace": lanedLaplace(t, scale), "gaussian": lanedGaussian(t, scale)} {
			if l.k == 0 || l.k > maxSingle {
				continue
			}
			width := 64 - l.k
			for h := range uint64(2) {
				u := new(big.Int).Lsh(one, l.k-min(l.k, width/2-2)) // x is about 2^(−width/2−2)
				num, den := l.exponent(h, u)
				below := numeric.Of(new(big.Rat).SetFrac(num, den)).Neg().Exp()
				first := new(big.Rat).Mul(below.Lo(), new(big.Rat).SetInt(new(big.Int).Lsh(one, width)))
				prefix := numeric.Floor(first).Uint64()
				for _, next := range []uint64{0, math.MaxUint64} {
					z := &lanes{kept: ^uint64(0)}
					z.h[0] = h
					words := append([]uint64{prefix<<l.k | u.Uint64()}, make([]uint64, 63)...)
					for range 400 {
						words = append(words, next)
					}
					if err := l.low(&reel{source: &script{words}, left: 100}, z); err != nil {
						t.Fatal(err)
					}
					if tried++; z.kept&1 == 1 != (next == 0) {
						t.Errorf("%s of scale %s, h %d: next digits %x, kept %v", name, scale, h, next, z.kept&1 == 1)
					}
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d borders", tried)
	}
}

func lanedGaussian0(scale string) *laned {
	l, _ := newGaussianLanes(new(big.Rat).Mul(ratio(scale), ratio(scale)))
	return l
}
