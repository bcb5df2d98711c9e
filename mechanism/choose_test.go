package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
)

// weights is the law of choose, in floats.
func weights(pieces []piece, unit *big.Rat) []float64 {
	t, _ := unit.Float64()
	least, law, sum := pieces[0].cost, make([]float64, len(pieces)), 0.0
	for _, p := range pieces {
		least = min(least, p.cost)
	}
	for i, p := range pieces {
		law[i] = float64(p.width) * math.Exp(-float64(p.cost-least)*t)
		sum += law[i]
	}
	for i := range law {
		law[i] /= sum
	}
	return law
}

func TestChooseFits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pieces []piece
		unit   string
	}{
		"one":              {[]piece{{5, 3}}, "1"},
		"even":             {[]piece{{1, 7}, {1, 7}, {1, 7}}, "1/3"},
		"widths":           {[]piece{{1, 0}, {2, 0}, {3, 0}}, "1"},
		"costs":            {[]piece{{1, 0}, {1, 1}, {1, 2}, {1, 4}}, "1/2"},
		"wide and costly":  {[]piece{{1, 10}, {1 << 62, 53}, {1 << 40, 40}}, "1"},
		"much is unlikely": {[]piece{{1, 1 << 50}, {1 << 30, 1 << 51}, {1, 1<<50 + 2}}, "1/2"},
		"tiny unit":        {[]piece{{3, 0}, {1, 1 << 60}}, "1e-300"},
		"huge unit":        {[]piece{{3, 5}, {7, 4}, {1, 4}}, "1e6"},
	} {
		unit := rat(tc.unit)
		draw := func(b noise.Bits) (int, error) { return choose(b, tc.pieces, unit) }
		if err := fits(weights(tc.pieces, unit), 20_000, draw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(tc.pieces) > 2 && fits(weights(tc.pieces, new(big.Rat).Mul(unit, rat("1.2"))), 20_000, draw) == nil && name != "even" && name != "widths" && name != "huge unit" {
			t.Errorf("%s: a unit 1.2 times as large makes no difference", name)
		}
	}
}

// The proposal is never less likely than what it proposes, and hardly more.
func TestProposalDominates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) piece {
			return piece{
				1 + rapid.Uint64Range(0, 1<<62-1).Draw(t, "width")>>rapid.UintRange(0, 62).Draw(t, "narrower"),
				rapid.Int64Range(0, math.MaxInt64).Draw(t, "cost") >> rapid.UintRange(0, 63).Draw(t, "cheaper"),
			}
		}), 1, 20).Draw(t, "pieces")
		unit := big.NewRat(rapid.Int64Range(1, 1e6).Draw(t, "num"), rapid.Int64Range(1, 1e12).Draw(t, "den"))
		r, below := propose(pieces, unit)
		before := uint64(0)
		for j, p := range pieces {
			g := new(big.Rat).SetInt(new(big.Int).SetUint64(below[j] - before))
			before = below[j]
			d := new(big.Rat).Mul(big.NewRat(p.cost-pieces[r].cost, 1), unit)
			if d.Cmp(rat("1000")) > 0 {
				continue
			}
			w := new(big.Rat).SetFrac(new(big.Int).SetUint64(p.width), new(big.Int).SetUint64(pieces[r].width))
			weight := numeric.Of(w.Mul(w, rat("4294967296"))).Mul(numeric.Of(d).Neg().Exp())
			if weight.Hi().Cmp(g) > 0 {
				t.Fatalf("piece %d of %v: weight %v is proposed by %v", j, pieces, weight, g)
			}
			if over := new(big.Rat).Sub(g, weight.Lo()); over.Cmp(rat("5.1")) > 0 {
				t.Fatalf("piece %d of %v: weight %v is proposed by %v", j, pieces, weight, g)
			}
		}
	})
}

// The bounds hold the true value, and are narrow.
func TestScaledExp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(rapid.Int64Range(-44e9, 44e9).Draw(t, "x"), 1e9)
		if rapid.Bool().Draw(t, "large") {
			x.Abs(x.Mul(x, rat("20")))
		}
		scale := big.NewRat(rapid.Int64Range(1, 1<<40).Draw(t, "num"), rapid.Int64Range(1, 1<<40).Draw(t, "den"))
		width := uint(64 * rapid.IntRange(1, 3).Draw(t, "words"))
		low, high := scaledExp(scale, x, width)
		exact := numeric.Of(x).Neg().Exp().Mul(numeric.Of(scale)).Mul(numeric.Of(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), width))))
		if new(big.Rat).SetInt(low).Cmp(exact.Hi()) > 0 || new(big.Rat).SetInt(high).Cmp(exact.Lo()) < 0 {
			t.Fatalf("%v is not between %v and %v", exact, low, high)
		}
		if d := new(big.Int).Sub(high, low); d.Cmp(big.NewInt(2)) > 0 {
			t.Fatalf("the bounds are %v apart", d)
		}
	})
}

// The float bounds hold the exact ones, and are near enough to decide nearly always.
func TestFloatBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(rapid.Int64Range(-44e9, 900e9).Draw(t, "x"), 1e9)
		scale := big.NewRat(rapid.Int64Range(1, 1<<62).Draw(t, "num"), rapid.Int64Range(1, 1<<62).Draw(t, "den"))
		low, high := floatBounds(scale, x)
		if low == 0 && high == 1 {
			return
		}
		exact := numeric.Of(x).Neg().Exp().Mul(numeric.Of(scale))
		if new(big.Rat).SetFloat64(low).Cmp(exact.Lo()) > 0 || new(big.Rat).SetFloat64(high).Cmp(exact.Hi()) < 0 || high-low > 0x1p-38 {
			t.Fatalf("%v is not between %v and %v", exact, low, high)
		}
	})
}

// The smallest floats have few digits: what is among them isn't bounded by floats.
func TestFloatBoundsOfTheSmallest(t *testing.T) {
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1030))
	for _, c := range []struct{ scale, x *big.Rat }{
		{rat("1/1000000000000"), rat("699")}, // the product
		{tiny, rat("-690")},                  // the factor
	} {
		if low, high := floatBounds(c.scale, c.x); low != 0 || high != 1 {
			t.Errorf("%v exp(-%v): between %v and %v", c.scale, c.x, low, high)
		}
	}
}

// On the same words, near the probability as well, floats decide as exact numbers do.
func TestAcceptExp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(rapid.Int64Range(0, 5e9).Draw(t, "x"), 1e9)
		low, _ := scaledExp(rat("1"), x, 64)
		w := rapid.Uint64().Draw(t, "word")
		if rapid.Bool().Draw(t, "near") {
			w = low.Uint64() + uint64(rapid.IntRange(-20_000, 20_000).Draw(t, "off"))
		}
		words := script{w, 1 << 63}
		got, err := acceptExp(&words, rat("1"), x)
		if want := new(big.Int).SetUint64(w).Cmp(low) < 0; err != nil || got != want && w != low.Uint64() && w != low.Uint64()+1 {
			t.Fatalf("%v for exp(-%v): %v, %v", w, x, got, err)
		}
	})
}

// What would make a proposal wrong is an error, not a biased draw.
func TestChooseRefuses(t *testing.T) {
	if _, err := acceptExp(zeros{}, rat("1.1"), new(big.Rat)); err == nil {
		t.Error("a probability of 1.1 is accepted")
	}
	if _, err := choose(zeros{}, nil, rat("1")); !errors.Is(err, ErrParameter) {
		t.Error("something is chosen from nothing")
	}
	if _, err := choose(broken{}, []piece{{1, 1}, {1, 1}}, rat("1")); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func BenchmarkChoose(b *testing.B) {
	for _, n := range []int{10, 1000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			pieces := make([]piece, n)
			for i := range pieces {
				pieces[i] = piece{uint64(i + 1), int64(i)}
			}
			unit, source := rat("1/10"), noise.System()
			for b.Loop() {
				must(choose(source, pieces, unit))
			}
		})
	}
}
