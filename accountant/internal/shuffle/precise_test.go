package shuffle

import (
	"math"
	"math/big"
	"testing"
)

// preciseDelta sums a pair's divergence over C and A term by term, with 400 bits, and
// without the closed form of the inner sum, its threshold or its recurrences.
func preciseDelta(n int64, p, rate, e *big.Float) *big.Float {
	num := func() *big.Float { return new(big.Float).SetPrec(400) }
	one := num().SetInt64(1)
	rest := num().Sub(one, rate)
	truth := num().Quo(p, num().Add(p, one))
	lie := num().Sub(one, truth)
	total := num()
	weight := num().SetInt64(1) // of C = 0
	for range n - 1 {
		weight.Mul(weight, rest)
	}
	for c := int64(0); c < n; c++ {
		// Under either law, A of C+1 reports are of the first kind.
		pmf := num().SetMantExp(one, -int(c)) // P(Bin(c, ½) = 0)
		before := num()                       // P(Bin(c, ½) = a-1)
		inner := num()
		for a := int64(0); a <= c+1; a++ {
			first := num().Add(num().Mul(truth, before), num().Mul(lie, pmf))
			second := num().Add(num().Mul(lie, before), num().Mul(truth, pmf))
			if d := first.Sub(first, second.Mul(second, e)); d.Sign() > 0 {
				inner.Add(inner, d)
			}
			before.Set(pmf)
			pmf.Mul(pmf, num().SetInt64(c-a))
			pmf.Quo(pmf, num().SetInt64(a+1))
		}
		total.Add(total, inner.Mul(inner, weight))
		weight.Mul(weight, num().SetInt64(n-1-c))
		weight.Quo(weight, num().SetInt64(c+1))
		weight.Mul(weight, rate).Quo(weight, rest)
	}
	return total
}

func logOf(x *big.Float) float64 {
	m := new(big.Float)
	exp := x.MantExp(m)
	f, _ := m.Float64()
	return math.Log(f) + float64(exp)*math.Ln2
}

// The bracket holds the truth, and is narrow, where δ is large, where it is e^-300,
// and where the sum is over few clones or many.
func TestPairIsPrecise(t *testing.T) {
	const n = 250
	for _, odds := range []float64{1.5, 8, 1000} {
		eps0 := math.Log(odds)
		for _, strong := range []bool{false, true} {
			pr := clonePair(nil, n, eps0)
			rate := new(big.Float).SetPrec(400).Quo(big.NewFloat(1), big.NewFloat(odds))
			if strong {
				pr = strongPair(nil, n, eps0)
				rate.Quo(big.NewFloat(2).SetPrec(400), big.NewFloat(odds+1))
			}
			for _, share := range []float64{0, 0.01, 0.2, 0.6, 0.95} {
				eps := share * eps0
				e := expBig(eps)
				want := logOf(preciseDelta(n, big.NewFloat(odds).SetPrec(400), rate, e))
				lo, hi := pr.logDelta(eps, -900)
				// ln(odds) and e^-eps0 are rounded, and a deep tail feels it.
				slack := 1e-12 + 4e-15*math.Abs(want)*n
				if !(lo <= want+slack && want <= hi+slack) || hi-lo > 1e-9 {
					t.Errorf("odds %v strong %v ε=%v: [%v, %v], want %v", odds, strong, eps, lo, hi, want)
				}
			}
		}
	}
}

// expBig is e^x to 400 bits, by its series after halving.
func expBig(x float64) *big.Float {
	const halvings = 20
	y := new(big.Float).SetPrec(400).SetMantExp(big.NewFloat(x), -halvings)
	sum, term := new(big.Float).SetPrec(400).SetInt64(1), new(big.Float).SetPrec(400).SetInt64(1)
	for i := int64(1); i < 60; i++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetInt64(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}
