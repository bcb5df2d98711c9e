package noise

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/numeric"
	"pgregory.net/rapid"
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
