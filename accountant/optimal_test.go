package accountant

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// exactDivergence is h(ε') of k randomized responses of odds e^ε by the theorem's own
// sum, in intervals of 256 bits.
func exactDivergence(k int, eps, at *big.Rat) numeric.Interval {
	e, shift := numeric.Of(eps).Exp(), numeric.Of(at).Exp()
	powers := []numeric.Interval{numeric.OfInt(1)}
	for range k {
		powers = append(powers, powers[len(powers)-1].Mul(e))
	}
	sum, norm := numeric.OfInt(0), numeric.OfInt(1)
	for l := range k + 1 {
		choose := numeric.Of(new(big.Rat).SetInt(new(big.Int).Binomial(int64(k), int64(l))))
		if d := powers[l].Sub(shift.Mul(powers[k-l])); d.Positive() {
			sum = sum.Add(choose.Mul(d))
		}
	}
	for range k {
		norm = norm.Mul(numeric.OfInt(1).Add(e))
	}
	return sum.Quo(norm)
}

// The brackets of δ hold the exact sum, and are narrow; so with δ of the events' own.
func TestOptimalHoldsTheExactSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 80).Draw(t, "k")
		eps := exactly(math.Exp(rapid.Float64Range(-8, 2).Draw(t, "ln eps")))
		at := exactly(toFloat(eps) * float64(k) * rapid.Float64Range(0, 1.05).Draw(t, "part"))
		h := homogeneous{k: float64(k), eps: toFloat(eps), exactEps: eps, tight: true}
		exact := exactDivergence(k, eps, at)
		got := h.delta(toFloat(at))
		if lo, hi := toFloat(exact.Lo()), toFloat(exact.Hi()); got.Low > hi || got.High < lo {
			t.Fatalf("k %d, ε %v: δ(%v) = %v does not hold %v", k, eps, at, got, exact)
		}
		if got.High-got.Low > 1e-9*got.High+1e-13 {
			t.Fatalf("k %d, ε %v: δ(%v) = %v is wide", k, eps, at, got)
		}
	})
}

// pld's lattice is exact for randomized responses: it and optimal agree.
func TestOptimalIsPLD(t *testing.T) {
	for _, tc := range []struct {
		k     int
		eps   string
		delta float64
	}{{1, "1", 1e-6}, {3, "0.5", 0.1}, {30, "1", 1e-9}, {100, "0.1", 1e-6}, {1000, "0.01", 1e-100}, {100000, "0.001", 1e-9}} {
		bounds := account(t, fmt.Sprintf("%d*pure(%s)", tc.k, tc.eps), tc.delta, Options{})
		optimal, pld := bounds["optimal"], bounds["pld"]
		// High of optimal is the theorem's grid; Low the ε between.
		if pld.High < optimal.Low*(1-1e-9) || pld.Low > optimal.High || math.Abs(pld.High-optimal.Low) > 1e-3*pld.High+1e-6 {
			t.Errorf("%d events of %s at %v: optimal %v, pld %v", tc.k, tc.eps, tc.delta, optimal, pld)
		}
	}
}

// Loader's form against exact binomials.
func TestLogBinomial(t *testing.T) {
	for _, k := range []int64{1, 2, 15, 16, 17, 100, 3000} {
		for l := int64(0); l <= k; l += 1 + k/50 {
			for _, p := range []float64{0.5, 0.9, 0.5001} {
				want := new(big.Float).SetInt(new(big.Int).Binomial(k, l))
				lw := new(big.Float).SetPrec(200)
				exp := want.MantExp(lw)
				m, _ := lw.Float64()
				log := math.Log(m) + float64(exp)*math.Ln2 + float64(l)*math.Log(p) + float64(k-l)*math.Log1p(-p)
				if got := logBinomial(float64(k), float64(l), p, 1-p); math.Abs(got-log) > 1e-12*(1+math.Abs(log)+float64(k)) {
					t.Errorf("ln of %d of %d at %v is %v, want %v", l, k, p, got, log)
				}
			}
		}
	}
}
