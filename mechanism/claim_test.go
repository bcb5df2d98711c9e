package mechanism

import (
	"math/big"
	"testing"
)

// What the claims of kernels say for one step, times the steps of the sensitivity, is
// the epsilon of the event, exactly: claims are about scales, which options choose.
func TestClaimsAddUpToEpsilon(t *testing.T) {
	over := func(k int64, d interface{ Scale() *big.Rat }) *big.Rat {
		return new(big.Rat).Quo(big.NewRat(k, 1), d.Scale())
	}
	for _, monotone := range []bool{false, true} {
		twice := int64(2)
		if monotone {
			twice = 1
		}
		for _, sensitivity := range []string{"1", "7/3", "1e-9"} {
			check := func(name string, steps *big.Rat, terms ...*big.Rat) {
				t.Helper()
				sum := new(big.Rat)
				for _, x := range terms {
					sum.Add(sum, x)
				}
				if sum.Mul(sum, steps).Cmp(rat("0.7")) != 0 {
					t.Errorf("%s, sensitivity %s, monotone %v: the claim adds up to %v", name, sensitivity, monotone, sum)
				}
			}
			o := ScoreOptions{Sensitivity: rat(sensitivity), Epsilon: eps("0.7"), Monotone: monotone}
			e := must(NewExponential(o))
			check("exponential", e.steps, over(twice, e.choice))
			two := must(NewNoisyMax(NoisyMaxOptions{ScoreOptions: o, Noise: LaplaceNoise}))
			check("noisy max", two.steps, over(twice, two.laplace))
			one := must(NewNoisyMax(NoisyMaxOptions{ScoreOptions: o, Noise: ExponentialNoise}))
			check("noisy max, one-sided", one.steps, over(twice, one.geometric))
			a := must(NewAboveThreshold(AboveThresholdOptions{Sensitivity: o.Sensitivity, Epsilon: o.Epsilon, Monotone: monotone}))
			check("above threshold", a.steps, over(1, a.rho), over(twice, a.query))
			with := SparseVectorOptions{Sensitivity: o.Sensitivity, Epsilon: o.Epsilon, Monotone: monotone, Answers: 5}
			without := must(NewSparseVector(with))
			check("sparse vector", without.steps, over(1, without.rho), over(twice*5, without.query))
			with.ValueEpsilon = eps("0.2")
			v := must(NewSparseVector(with))
			adaptive := must(NewAdaptiveSparseVector(SparseVectorOptions{Sensitivity: o.Sensitivity, Epsilon: o.Epsilon, Monotone: monotone, Answers: 5}))
			check("adaptive sparse vector", adaptive.steps, over(1, adaptive.rho), new(big.Rat).Quo(over(twice*int64(adaptive.most), adaptive.query), big.NewRat(2, 1)))
			// What its claims require.
			if adaptive.first.Scale().Cmp(new(big.Rat).Quo(big.NewRat(2, 1), over(1, adaptive.query))) != 0 || adaptive.most < 2 {
				t.Errorf("adaptive sparse vector: scales %v and %v, %d halves", adaptive.first.Scale(), adaptive.query.Scale(), adaptive.most)
			}
			check("sparse vector with values", v.steps, over(1, v.rho), over(twice*int64(v.most), v.query), over(int64(v.most), v.fresh))
		}
	}
	h := must(NewHistogram(HistogramOptions{Bins: 9, MaxBins: 2, MaxRows: 3, Epsilon: eps("0.7")}))
	if got := over(6, h.laplace); got.Cmp(rat("0.7")) != 0 {
		t.Errorf("histogram: the claim adds up to %v", got)
	}
	for _, block := range []int{1, 4} {
		p := sumsOf(block, "0.7")
		levels := int64(min(block, 2))
		if got := over(levels, p.noise); got.Cmp(rat("0.7")) != 0 {
			t.Errorf("prefix sums in blocks of %d: the claim adds up to %v", block, got)
		}
	}
	// What say requires, and claims: 1 + k·h/(1−h) is p/q.
	for _, o := range []RandomizedResponseOptions{{Answers: 2, Truth: rat("0.7")}, {Answers: 5, Epsilon: eps("0.7")}, {Answers: 1000, Truth: rat("0.002")}} {
		r := must(NewRandomizedResponse(o))
		lie := new(big.Rat).Sub(rat("1"), r.honest)
		claimed := new(big.Rat).Mul(big.NewRat(int64(o.Answers), 1), r.honest)
		claimed.Quo(claimed, lie).Add(claimed, rat("1"))
		if r.honest.Sign() <= 0 || lie.Sign() <= 0 || claimed.Cmp(new(big.Rat).Quo(r.told.hit, r.told.miss)) != 0 {
			t.Errorf("%+v: the claim is of the ratio %v", o, claimed)
		}
	}
	for _, o := range []BinaryResponseOptions{{rat("0.9"), rat("0.6")}, {rat("0.2"), rat("0.1")}, {rat("0.5"), rat("0.9")}} {
		b := must(NewBinaryResponse(o))
		lie := func(x *big.Rat) *big.Rat { return new(big.Rat).Sub(rat("1"), x) }
		for _, q := range [][2]*big.Rat{{b.told.hit, b.told.miss}, {b.told.miss, b.told.hit}, {lie(b.told.hit), lie(b.told.miss)}, {lie(b.told.miss), lie(b.told.hit)}} {
			if q[0].Sign() <= 0 || q[0].Cmp(new(big.Rat).Mul(b.ratio, q[1])) > 0 {
				t.Errorf("%+v: %v is more than %v times %v", o, q[0], b.ratio, q[1])
			}
		}
	}
}
