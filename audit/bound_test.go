package audit_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/audit"
)

// binomialTail is P(Bin(n, p) ≥ k), summed exactly.
func binomialTail(k, n int, p *big.Rat) float64 {
	q := new(big.Rat).Sub(big.NewRat(1, 1), p)
	total := new(big.Rat)
	for i := k; i <= n; i++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(i)))
		for range i {
			term.Mul(term, p)
		}
		for range n - i {
			term.Mul(term, q)
		}
		total.Add(total, term)
	}
	f, _ := total.Float64()
	return f
}

// The tails are those of the binomial law, also far out.
func TestPValueAgainstExactSums(t *testing.T) {
	for _, n := range []int{1, 7, 60} {
		for _, p := range []*big.Rat{big.NewRat(1, 2), big.NewRat(3, 4), big.NewRat(1, 100)} {
			for k := range n + 2 {
				f, _ := p.Float64()
				if got, want := audit.PValue(k, n, f), binomialTail(k, n, p); math.Abs(got-want) > 1e-11*want {
					t.Errorf("%d of %d at %v: %v, want %v", k, n, p, got, want)
				}
			}
		}
	}
}

// The bounds of many runs by Clopper and Pearson 1934 at 97.5 % a side, computed with
// another library (SciPy), to its printed digits.
func TestEpsilonLowerBoundVectors(t *testing.T) {
	for _, tc := range []struct {
		c    audit.Counts
		want float64
		unit float64
	}{
		{audit.Counts{Members: 1000, TruePositives: 100, Others: 1000}, 3.10, 0.01},
		{audit.Counts{Members: 500, TruePositives: 500, Others: 500}, 4.91, 0.01},
		{audit.Counts{Members: 1000, TruePositives: 1000, Others: 1000}, 5.60, 0.01},
		{audit.Counts{Members: 10000, TruePositives: 300, Others: 10000, FalsePositives: 100}, 0.789, 0.001},
		{audit.Counts{Members: 1000, TruePositives: 500, Others: 1000, FalsePositives: 500}, 0, 1e-12},
		{audit.Counts{Members: 1000, Others: 1000, FalsePositives: 1000}, 0, 1e-12}, // the other way round was not claimed
	} {
		if got, err := tc.c.EpsilonLowerBound(0, 0.95); err != nil || math.Abs(got-tc.want) > tc.unit/2 {
			t.Errorf("%+v: %v, %v, want %v", tc.c, got, err, tc.want)
		}
	}
	c := audit.Counts{Members: 1000, TruePositives: 100, Others: 1000}
	without, _ := c.EpsilonLowerBound(0, 0.95)
	with, err := c.EpsilonLowerBound(0.01, 0.95)
	if err != nil || with >= without || with <= 0 {
		t.Errorf("delta of 0.01: %v, %v, without %v", with, err, without)
	}
	if all, err := c.EpsilonLowerBound(0.5, 0.95); err != nil || all != 0 {
		t.Errorf("delta of 0.5: %v, %v", all, err)
	}
}

// The bounds of one run (Steinke, Nasr and Jagielski 2023, arXiv:2305.08846) at 95 %,
// computed with another library (SciPy).
func TestOneRunEpsilonVectors(t *testing.T) {
	for _, tc := range []struct {
		units, guesses, correct int
		delta, want             float64
	}{
		{100, 100, 60, 0, 0.0519},
		{100, 100, 80, 0, 0.9584},
		{100, 100, 100, 0, 3.4930},
		{1000, 1000, 600, 0, 0.2975},
		{1000, 1000, 800, 0, 1.2543},
		{1000, 100, 95, 0, 2.1724},
		{1000, 100, 95, 1e-5, 2.1652},
		{1000, 50, 50, 0, 2.7847},
		{1000, 50, 50, 1e-5, 2.7562},
		{100, 100, 50, 0, 0},
	} {
		if got, err := audit.OneRunEpsilon(tc.units, tc.guesses, tc.correct, tc.delta, 0.95); err != nil || math.Abs(got-tc.want) > 0.5e-4 {
			t.Errorf("%+v: %v, %v", tc, got, err)
		}
	}
}

// Each of the two Clopper-Pearson bounds is wrong with probability at most alpha,
// whatever the truth, by the law itself and not by sampling.
func TestClopperPearsonCovers(t *testing.T) {
	const n, alpha = 20, 0.025
	for i := 1; i < 100; i += 7 {
		p := big.NewRat(int64(i), 100)
		truth, _ := p.Float64()
		above, below := 0.0, 0.0 // the bound lies there
		for k := range n + 1 {
			lo, hi, err := audit.ClopperPearson(k, n, alpha)
			if err != nil {
				t.Fatal(err)
			}
			mass := binomialTail(k, n, p) - binomialTail(k+1, n, p)
			if lo > truth {
				above += mass
			}
			if hi < truth {
				below += mass
			}
		}
		if above > alpha || below > alpha {
			t.Errorf("p = %v: wrong with %v and %v", truth, above, below)
		}
	}
}

// The bound on success is that of randomized response, which attains it: right with
// e^ε/(1+e^ε).
func TestSuccessBound(t *testing.T) {
	for _, tc := range []struct{ epsilon, delta, want float64 }{
		{0, 0, 0.5}, {math.Log(3), 0, 0.75}, {1, 0, 0.7310585786300049}, {800, 0, 1}, {0, 1e-6, 0.5000005},
		{1, 0.1, 0.7579527207670044},
		{-1, 0, 1}, {nan, 0, 1}, {1, nan, 1}, {inf, 0, 1}, // what is no guarantee bounds nothing
	} {
		if got := audit.SuccessBound(tc.epsilon, tc.delta); math.Abs(got-tc.want) > 1e-12 || got < tc.want-1e-12 {
			t.Errorf("%v, %v: %v, want %v", tc.epsilon, tc.delta, got, tc.want)
		}
	}
}
