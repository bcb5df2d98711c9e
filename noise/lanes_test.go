package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// inside tells whether bounds of x·2^b hold the whole of an interval around x, and are close.
func inside(lo, hi *big.Int, b uint, x numeric.Interval) error {
	unit := new(big.Rat).SetInt(new(big.Int).Lsh(one, b))
	l, h := new(big.Rat).SetInt(lo), new(big.Rat).SetInt(hi)
	if l.Quo(l, unit).Cmp(x.Hi()) > 0 || h.Quo(h, unit).Cmp(x.Lo()) < 0 {
		return fmt.Errorf("[%v, %v] of 2^%d does not hold %v", lo, hi, b, x)
	}
	if new(big.Int).Sub(hi, lo).Cmp(big.NewInt(8)) > 0 {
		return fmt.Errorf("[%v, %v] is wide", lo, hi)
	}
	return nil
}

// Bounds of e^(−x), against the intervals of another package.
func TestExpNegHoldsTheNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.OneOf(rapid.Uint64Range(0, 1000), rapid.Uint64()).Draw(t, "num")
		den := rapid.OneOf(rapid.Uint64Range(1, 1000), rapid.Uint64Min(1)).Draw(t, "den")
		b := rapid.SampledFrom([]uint{64, 128, 180}).Draw(t, "b")
		x := new(big.Rat).SetFrac(new(big.Int).SetUint64(num), new(big.Int).SetUint64(den))
		lo, hi := expNeg(x.Num(), x.Denom())(b)
		if x.Cmp(big.NewRat(1000, 1)) > 0 {
			if lo.Sign() != 0 || hi.Cmp(one) != 0 {
				t.Fatalf("e^-%v is in [%v, %v]", x, lo, hi)
			}
			return
		}
		e := numeric.Of(x).Neg().Exp()
		if err := inside(lo, hi, b, e); err != nil {
			t.Fatal(err)
		}
		lo, hi = logistic(expNeg(x.Num(), x.Denom()))(b)
		if err := inside(lo, hi, b, e.Quo(e.Add(numeric.OfInt(1)))); err != nil {
			t.Fatal(err)
		}
	})
	// Longer than others can tell: e^(−1/3) to 2000 digits is the square of e^(−1/6).
	lo, hi := expNeg(one, big.NewInt(3))(2000)
	l, h := expNeg(one, big.NewInt(6))(2000)
	l.Mul(l, l).Rsh(l, 2000)
	h.Mul(h, h).Rsh(h, 2000)
	if h.Add(h, one).Cmp(lo) < 0 || l.Cmp(hi) > 0 || new(big.Int).Sub(hi, lo).Cmp(big.NewInt(8)) > 0 {
		t.Error("2000 digits of e^(-1/3) are wrong")
	}
}

// fraction is a real for tests: a rational, with bounds of any width.
func fraction(x *big.Rat, width int64) real {
	return func(b uint) (*big.Int, *big.Int) {
		n := new(big.Int).Lsh(x.Num(), b)
		n.Quo(n, x.Denom())
		return new(big.Int).Sub(n, big.NewInt(width)), new(big.Int).Add(n, big.NewInt(width+1))
	}
}

// U < x is decided as it is for the U that all the words make, and by as few as tell.
func TestRealAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.Int64Range(1, 1<<60).Draw(t, "den")*2 + 1 // no multiple of a power of 2
		x := big.NewRat(rapid.Int64Range(1, den-1).Draw(t, "num"), den)
		n := rapid.UintRange(16, 64).Draw(t, "n")
		words := rapid.SliceOfN(rapid.Uint64(), 5, 5).Draw(t, "words")
		agree := rapid.IntRange(0, 3).Draw(t, "words that agree")
		digits := new(big.Int).Lsh(x.Num(), n+64*4)
		digits.Quo(digits, x.Denom())
		u := rapid.Uint64().Draw(t, "u") >> (64 - n)
		if agree > 0 {
			u = new(big.Int).Rsh(digits, 64*4).Uint64()
		}
		for i := range agree - 1 {
			words[i] = new(big.Int).Rsh(digits, uint(64*(3-i))).Uint64()
		}
		all := new(big.Int).SetUint64(u)
		for _, w := range words {
			all.Lsh(all, 64).Or(all, new(big.Int).SetUint64(w))
		}
		want := new(big.Rat).SetFrac(all, new(big.Int).Lsh(one, n+64*5)).Cmp(x) < 0
		got, err := fraction(x, rapid.Int64Range(0, 9).Draw(t, "width")).above(&reel{source: &script{words}}, u, n)
		if err != nil && !errors.Is(err, errExhausted) {
			t.Fatal(err)
		}
		if err == nil && got != want {
			t.Fatalf("U < %v is %v, want %v", x, got, want)
		}
	})
}

func TestFirst64(t *testing.T) {
	for _, x := range []*big.Rat{big.NewRat(0, 1), big.NewRat(1, 1), big.NewRat(1, 3), ratio("1/36893488147419103232"), ratio("18446744073709551615/18446744073709551617")} {
		d, ok := real(func(b uint) (*big.Int, *big.Int) {
			n := new(big.Int).Lsh(x.Num(), b)
			n.Quo(n, x.Denom())
			if x.IsInt() {
				return n, n
			}
			return n, new(big.Int).Add(n, one)
		}).first64()
		low := new(big.Rat).SetFrac(new(big.Int).SetUint64(d), new(big.Int).Lsh(one, 64))
		high := new(big.Rat).Add(low, new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, 64)))
		if !ok || low.Cmp(x) > 0 || high.Cmp(x) < 0 {
			t.Errorf("the digits of %v are %x, %v", x, d, ok)
		}
	}
	if _, ok := fraction(big.NewRat(1, 2), 9).first64(); ok {
		t.Error("digits of 1/2, of which no bounds tell on which side of itself it is")
	}
}

func TestTranspose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows [8]uint64
		for i := range rows {
			rows[i] = rapid.Uint64().Draw(t, "row")
		}
		var columns [64]uint64
		transpose(&rows, &columns)
		for i := range columns {
			for j := range 64 {
				want := uint64(0)
				if j < 8 {
					want = rows[j] >> i & 1
				}
				if columns[i]>>j&1 != want {
					t.Fatalf("bit %d of column %d", j, i)
				}
			}
		}
	})
}

// scales of both laws, from one step in a thousand to more than machine integers hold.
var lanedScales = []string{"1/1024", "1/100", "1/8", "1/3", "1", "5/2", "7", "10", "16", "31", "32", "33", "10000/123", "200", "12345/7",
	"1048576", "1073741823/2", "1099511627776", "562949953421311", "9007199254740993", "1180591620717411303424",
	"36893488147419103231/3", "1267650600228229401496703205376", "83076749736557242056487941267521535"}

func lanedLaplace(t testing.TB, scale string) *laned {
	r := ratio(scale)
	l, ok := newLaplaceLanes(r.Num(), r.Denom())
	if !ok {
		t.Fatalf("no lanes for Laplace noise of scale %s", scale)
	}
	return l
}

func lanedGaussian(t testing.TB, scale string) *laned {
	l, ok := newGaussianLanes(new(big.Rat).Mul(ratio(scale), ratio(scale)))
	if !ok {
		t.Fatalf("no lanes for Gaussian noise of sigma %s", scale)
	}
	return l
}

// holds tells whether x·2^64 is from d to d+1.
func holds(d uint64, x numeric.Interval) bool {
	low := numeric.Of(new(big.Rat).SetFrac(new(big.Int).SetUint64(d), new(big.Int).Lsh(one, 64)))
	step := numeric.Of(new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, 64)))
	return low.Lo().Cmp(x.Hi()) <= 0 && x.Lo().Cmp(low.Add(step).Hi()) <= 0
}

// The law of h, exactly: its tables hold the probabilities of the theorem, at every scale. The
// digits of a geometric variable: their product is its law, up to 2^-180.
func TestTablesOfLanes(t *testing.T) {
	for _, scale := range lanedScales {
		l := lanedLaplace(t, scale)
		g := l.high.(*geometricDigits)
		x := new(big.Rat).SetInt(new(big.Int).Lsh(one, l.k))
		x.Quo(x, ratio(scale)) // 2^k/t
		if f, _ := x.Float64(); l.k > 0 && (f > 1.0/16 || f < 1.0/32) {
			t.Errorf("scale %s: u has %d digits", scale, l.k)
		} else if math.Abs(l.alpha-f) > 1e-15*f {
			t.Errorf("scale %s: alpha is %v, want %v", scale, l.alpha, f)
		}
		q := numeric.Of(x).Neg().Exp()
		power := q // q^(2^i)
		product := numeric.OfInt(1)
		for i, c := range g.digits {
			p := power.Quo(power.Add(numeric.OfInt(1)))
			if !holds(c.digits, p) {
				t.Errorf("scale %s: digit %d has %x, want %v", scale, i, c.digits, p)
			}
			lo, hi := c.exact(180)
			if err := inside(lo, hi, 180, p); err != nil {
				t.Errorf("scale %s, digit %d: %v", scale, i, err)
			}
			product = product.Mul(numeric.OfInt(1).Sub(p)) // P(h = 0 below the rest)
			power = power.Mul(power)
		}
		if !holds(g.more.digits, power) {
			t.Errorf("scale %s: the rest has %x, want %v", scale, g.more.digits, power)
		}
		// ∏ 1/(1+q^(2^i)) = (1−q)/(1−q^(2^I)).
		want := numeric.OfInt(1).Sub(q).Quo(numeric.OfInt(1).Sub(power))
		if d := product.Sub(want); d.Lo().Cmp(big.NewRat(1, 1<<62)) > 0 || d.Hi().Cmp(big.NewRat(-1, 1<<62)) < 0 {
			t.Errorf("scale %s: P(0) is %v, want %v", scale, product, want)
		}
	}
	for i, scale := range lanedScales {
		if i%2 == 1 {
			continue
		}
		l := lanedGaussian(t, scale)
		s := ratio(scale)
		s.Quo(s, new(big.Rat).SetInt(new(big.Int).Lsh(one, l.k)))
		if f, _ := s.Float64(); l.k > 0 && (f < 8 || f > 16) {
			t.Errorf("sigma %s: u has %d digits", scale, l.k)
		} else if math.Abs(l.beta*2*f*f-1) > 1e-14 {
			t.Errorf("sigma %s: beta is %v", scale, l.beta)
		}
		square := new(big.Rat).Mul(s, s)
		weight := func(h int64) numeric.Interval {
			x := big.NewRat(h*h, 2)
			return numeric.Of(x.Quo(x, square)).Neg().Exp()
		}
		total := numeric.OfInt(0)
		for h := int64(299); h >= 0; h-- { // beyond lies less than e^(−18²/2)... of the largest s: e^(−160)
			total = total.Add(weight(h))
		}
		sum := numeric.OfInt(0)
		g := l.high.(*halfGaussian)
		lo, hi := g.below(150)
		for h := range int64(len(g.digits)) {
			sum = sum.Add(weight(h))
			f := sum.Quo(total)
			if !holds(g.digits[h], f) {
				t.Fatalf("sigma %s: F(%d) has %x, want %v", scale, h, g.digits[h], f)
			}
			if int(h) < len(lo) {
				if err := inside(lo[h], hi[h], 150, f); err != nil {
					t.Fatalf("sigma %s: F(%d): %v", scale, h, err)
				}
			}
		}
	}
}

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

// fitLanes draws n values by lanes and holds them against the law.
func fitLanes(t *testing.T, l *laned, b Bits, n int, law law) error {
	t.Helper()
	h := cells(law)
	k := make([]int64, 0, 64)
	err := l.each(b, n, func(z *lanes, _, m int) error {
		if err := l.int64s(z, k[:m]); err != nil {
			return err
		}
		for _, x := range k[:m] {
			h.add(x)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fit(h.counts, h.probability)
}

// The laws of the exact samplers one by one ([TestFit]): each test rejects with probability at
// most falseReject.
func TestLanesFit(t *testing.T) {
	for _, scale := range []string{"1/3", "10", "40", "10000/123", "1000"} {
		if err := fitLanes(t, lanedLaplace(t, scale), entropy.New(), draws(t, 1e6), laplaceLaw(scale)); err != nil {
			t.Errorf("laplace %s: %v", scale, err)
		}
		f, _ := new(big.Rat).Mul(ratio(scale), ratio(scale)).Float64()
		if err := fitLanes(t, lanedGaussian(t, scale), entropy.New(), draws(t, 1e6), gaussianLaw(new(big.Rat).SetFloat64(f).RatString())); err != nil {
			t.Errorf("gaussian %s: %v", scale, err)
		}
	}
}

// laneValues makes a distribution of lanes, to be held against laws by [fitHuge].
type laneValues struct {
	l     *laned
	queue []*big.Int
}

func (d *laneValues) draw(s *Stream, z *big.Int) error {
	if len(d.queue) == 0 {
		d.queue = make([]*big.Int, 4096)
		for i := range d.queue {
			d.queue[i] = new(big.Int)
		}
		var scratch [2]big.Word
		if err := d.l.each(s, len(d.queue), func(z *lanes, at, n int) error {
			d.l.add(z, d.queue[at:at+n], &scratch)
			return nil
		}); err != nil {
			return err
		}
	}
	z.Set(d.queue[0])
	d.queue = d.queue[1:]
	return nil
}

func TestLanesFitHugeScales(t *testing.T) {
	for _, scale := range []float64{0x1p63, 0x1.8p64, 0x1p70, 0x1.23p100, 0x1p112} {
		r := new(big.Rat).SetFloat64(scale)
		if err := fitHuge(t, &laneValues{l: lanedLaplace(t, r.RatString())}, r, draws(t, 2e5), laplaceAbove); err != nil {
			t.Errorf("laplace %x: %v", scale, err)
		}
		if err := fitHuge(t, &laneValues{l: lanedGaussian(t, r.RatString())}, r, draws(t, 2e5), normalAbove); err != nil {
			t.Errorf("gaussian %x: %v", scale, err)
		}
	}
}

// The tests above see faults of one part in fifty.
func TestLanesFitRejectsFaults(t *testing.T) {
	for name, err := range map[string]error{
		"laplace scale 1.02 times too large": fitLanes(t, lanedLaplace(t, "51/5"), entropy.New(), 1e6, laplaceLaw("10")),
		"laplace scale 1.02 times too small": fitLanes(t, lanedLaplace(t, "980"), entropy.New(), 3e6, laplaceLaw("1000")), // 1e6 did not see it once
		"gaussian sigma 1.02 times":          fitLanes(t, lanedGaussian(t, "51/5"), entropy.New(), 1e6, gaussianLaw("100")),
		"biased bits":                        fitLanes(t, lanedLaplace(t, "10"), biased{entropy.New()}, 5e5, laplaceLaw("10")),
		"never rejects": func() error {
			l := lanedLaplace(t, "32")
			l.alpha, l.exponent = 0, func(uint64, *big.Int) (*big.Int, *big.Int) { return new(big.Int), one }
			return fitLanes(t, l, entropy.New(), 4e6, laplaceLaw("32"))
		}(),
	} {
		if err == nil {
			t.Errorf("%s: passes", name)
		}
	}
}

// Many draws are none where the bits end, wherever that is.
func TestFailingBitsGiveNoLanes(t *testing.T) {
	for name, many := range map[string]func(Bits, []int64) error{
		"laplace": mustLaplace("1000").Int64s, "small": mustLaplace("1/2").Int64s, "gaussian": mustGaussian("1000000").Int64s, "huge": mustLaplace("1267650600228229401496703205376").Int64s,
	} {
		k := make([]int64, 5000)
		for _, n := range []int{0, 1, 5, 63, 64, 65, 100, 500, 2000} {
			words := make([]uint64, n)
			if err := entropy.New().Words(words); err != nil {
				t.Fatal(err)
			}
			for i := range k {
				k[i] = 7
			}
			err := many(&script{words}, k)
			if !errors.Is(err, errExhausted) && !errors.Is(err, ErrRange) || slices.ContainsFunc(k, func(x int64) bool { return x != 0 }) {
				t.Errorf("%s after %d words: %v, or draws are left", name, n, err)
			}
		}
	}
	for _, d := range []interface {
		AddTo(Bits, []*big.Int) error
	}{mustLaplace("1000"), mustGaussian("1000000")} {
		values := make([]*big.Int, 5000)
		for i := range values {
			values[i] = new(big.Int)
		}
		words := make([]uint64, 2000)
		if err := d.AddTo(&script{words}, values); !errors.Is(err, errExhausted) || slices.ContainsFunc(values, func(x *big.Int) bool { return x != nil }) {
			t.Errorf("%T: %v, or values are left", d, err)
		}
	}
}

func mustLaplace(scale string) *DiscreteLaplace {
	d, err := NewDiscreteLaplace(ratio(scale))
	if err != nil {
		panic(err)
	}
	return d
}

func mustGaussian(variance string) *DiscreteGaussian {
	d, err := NewDiscreteGaussian(ratio(variance))
	if err != nil {
		panic(err)
	}
	return d
}

// All scales that have lanes, and the borders beyond, give all that is asked for; parts on
// several cores share no draw.
func TestManyDrawsAtEveryScale(t *testing.T) {
	for e := -20; e <= 130; e += 5 {
		scale := new(big.Rat).SetFloat64(math.Ldexp(1.3, e))
		l, err := NewDiscreteLaplace(scale)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewDiscreteGaussian(new(big.Rat).Mul(scale, scale))
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range map[string]interface {
			AddTo(Bits, []*big.Int) error
			Int64s(Bits, []int64) error
		}{"laplace": l, "gaussian": g} {
			n := 4500
			if e == 80 || e == 0 {
				n = 2*minPart + 77
			}
			values := make([]*big.Int, n)
			for i := range values {
				values[i] = new(big.Int)
			}
			if err := d.AddTo(entropy.New(), values); err != nil {
				t.Fatalf("%s 2^%d: %v", name, e, err)
			}
			seen := map[string]bool{}
			mean := 0.0
			for _, x := range values {
				seen[x.String()] = true
				f, _ := new(big.Float).SetInt(x).Float64()
				mean += math.Abs(f) / float64(n)
			}
			if e >= 80 && len(seen) != n { // odds below 2^-50
				t.Errorf("%s 2^%d: %d of %d draws differ", name, e, len(seen), n)
			}
			// The mean size: scale, or 0.8 of it, within a tenth (6 standard deviations).
			want := math.Ldexp(1.3, e)
			if name == "gaussian" {
				want *= math.Sqrt(2 / math.Pi)
			}
			if e >= 10 && math.Abs(mean/want-1) > 0.1 {
				t.Errorf("%s 2^%d: mean size %v, want %v", name, e, mean, want)
			}
			k := make([]int64, n)
			err := d.Int64s(Shared(entropy.New()), k)
			if e <= 50 && err != nil || e >= 65 && !errors.Is(err, ErrRange) {
				t.Errorf("%s 2^%d: %v", name, e, err)
			}
		}
	}
}

// Draws by a stream follow the law before and after it makes many at once, and laws that take turns
// do not get each other's.
func TestStreamOfManyDraws(t *testing.T) {
	s := NewStream(entropy.New())
	laws := map[string]*DiscreteLaplace{"10": mustLaplace("10"), "40": mustLaplace("40"), "1/3": mustLaplace("1/3"), "1000": mustLaplace("1000"), "5": mustLaplace("5")}
	all := map[string]*histogram{}
	for scale := range laws {
		all[scale] = cells(laplaceLaw(scale))
	}
	for range draws(t, 2e5) {
		for scale, d := range laws {
			k, err := d.Int64(s)
			if err != nil {
				t.Fatal(err)
			}
			all[scale].add(k)
		}
	}
	for scale, h := range all {
		if err := fit(h.counts, h.probability); err != nil {
			t.Errorf("scale %s: %v", scale, err)
		}
	}
	for _, p := range s.pools {
		if p.pool == nil {
			t.Fatalf("no pool after %d draws", p.asked)
		}
		if used := p.pool.all[:p.pool.next]; slices.ContainsFunc(used, func(k int64) bool { return k != 0 }) {
			t.Error("a draw that was handed out is still there")
		}
		if used := p.pool.reel.buffer[:p.pool.reel.next]; slices.ContainsFunc(used, func(w uint64) bool { return w != 0 }) {
			t.Error("words of draws that were made are still there")
		}
	}
	// Bits that end.
	left := 3
	failing := NewStream(ending{entropy.New(), &left})
	for range 100_000 {
		k, err := laws["40"].Int64(failing)
		if err != nil {
			if k != 0 || !errors.Is(err, errExhausted) {
				t.Errorf("%d, %v", k, err)
			}
			return
		}
	}
	t.Error("bits that ended gave draws")
}

// ending gives many words so often.
type ending struct {
	*entropy.Source
	left *int
}

func (e ending) Words(p []uint64) error {
	if *e.left--; *e.left < 0 {
		return errExhausted
	}
	return e.Source.Words(p)
}

// What was not used is wiped with what was.
func TestReelIsWiped(t *testing.T) {
	l := lanedLaplace(t, "1000")
	var kept *reel
	r := &reel{source: entropy.New(), left: 500}
	z := &lanes{}
	if err := l.draw(r, z); err != nil {
		t.Fatal(err)
	}
	kept = r
	r.wipe()
	if kept.buffer != [reelSize]uint64{} || bits.OnesCount64(z.kept) == 0 {
		t.Error("words are left")
	}
}
