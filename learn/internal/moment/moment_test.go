package moment_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/learn/internal/learntest"
	"github.com/discreet-dp/discreet/learn/internal/moment"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// What an example adds is within the sensitivities of the theorem: the squares on the
// diagonal and twice those above it; and L1. A factor of 1 in the place of twice, or of the
// root, would let more noise be saved than is.
func TestSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 5).Draw(t, "d")
		set := &example.Set{Width: d, Features: rapid.SliceOfN(rapid.Float32Range(-3, 3), d, d).Draw(t, "x")}
		x := fixed.Clip(set, []int{0}, 1, true).Row(0)
		squares, l1 := new(big.Rat), new(big.Rat)
		for i := range x {
			for j := i; j < len(x); j++ {
				v := big.NewRat(int64(x[i])*int64(x[j]), 1)
				s := new(big.Rat).Mul(v, v)
				if i != j {
					s.Add(s, s)
				}
				squares.Add(squares, s)
				l1.Add(l1, v.Abs(v))
			}
		}
		one := big.NewRat(2*fixed.One*fixed.One, 1)
		if limit := new(big.Rat).Mul(one, one); squares.Cmp(limit) > 0 {
			t.Fatalf("squares sum to %v", squares)
		}
		if limit := one.Mul(one, big.NewRat(int64(len(x)+1), 2)); l1.Cmp(limit) > 0 {
			t.Fatalf("absolute values sum to %v", l1)
		}
	})
}

// The noise is σ on the diagonal and σ/√2 off it, with σ = r²/√(2ρ), and is what is seen.
// At 4000 draws a variance is off by a factor of 1.2 with probability below 1e-12.
func TestDeviation(t *testing.T) {
	set := &example.Set{Width: 2, Outputs: 1}
	p, err := cost.New(learntest.Purse(t, filter.ZCDP, privacy.AddRemove), set, learntest.Concentrated(t, "0.5"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := moment.New(p, big.NewRat(1, 1), 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := m.Deviation(); math.Abs(d-2) > 1e-6 {
		t.Errorf("deviation %v, want 2", d)
	}
	const runs = 4000
	diagonal, off := 0.0, 0.0
	for range runs {
		x, err := m.Release(noise.System(), &fixed.Rows{Width: 2})
		if err != nil {
			t.Fatal(err)
		}
		diagonal += x.At(1, 1) * x.At(1, 1) / runs
		off += x.At(0, 1) * x.At(0, 1) / runs
	}
	if diagonal < 4/1.2 || diagonal > 4*1.2 || off < 2/1.2 || off > 2*1.2 {
		t.Errorf("variances %v and %v, want 4 and 2", diagonal, off)
	}
}

// Pure noise has scale (d+1)r²/2ε, and the deviation √2 of that.
func TestPureDeviation(t *testing.T) {
	set := &example.Set{Width: 4, Outputs: 1}
	p, err := cost.New(learntest.Purse(t, filter.Pure, privacy.AddRemove), set, learntest.Pure(t, "0.5"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := moment.New(p, big.NewRat(1, 1), 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Deviation(), math.Sqrt2*6*2/2/0.5; math.Abs(got-want) > 1e-6 {
		t.Errorf("deviation %v, want %v", got, want)
	}
}
