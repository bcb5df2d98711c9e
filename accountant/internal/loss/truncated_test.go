package loss

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// truncatedLaw is the law of the sum of a truncated sample, as the weights of its centres, by
// all samples and all subsets of them that may be kept.
func truncatedLaw(units []float64, q float64, atMost int) map[float64]float64 {
	law := map[float64]float64{}
	sum := func(set uint) (s float64) {
		for i, u := range units {
			if set>>i&1 == 1 {
				s += u
			}
		}
		return s
	}
	for set := range uint(1) << len(units) {
		size := bits.OnesCount(set)
		weight := math.Pow(q, float64(size)) * math.Pow(1-q, float64(len(units)-size))
		var kept []uint
		for part := range uint(1) << len(units) {
			if part&^set == 0 && bits.OnesCount(part) == min(size, atMost) {
				kept = append(kept, part)
			}
		}
		for _, part := range kept {
			law[sum(part)] += weight / float64(len(kept))
		}
	}
	return law
}

// hockey returns δ(ε) of two mixtures of standard normals, by midpoints: to 1e-5, for the kink.
func hockey(p, q map[float64]float64) func(eps float64) float64 {
	const step = 0.02
	var ps, qs []float64
	density := func(law map[float64]float64, x float64) (d float64) {
		for c, w := range law {
			d += w * math.Exp(-(x-c)*(x-c)/2) / math.Sqrt(2*math.Pi)
		}
		return d
	}
	for x := -16.0; x < 16; x += step {
		ps, qs = append(ps, density(p, x)), append(qs, density(q, x))
	}
	return func(eps float64) (delta float64) {
		for i := range ps {
			delta += step * max(0, ps[i]-math.Exp(eps)*qs[i])
		}
		return delta
	}
}

// The theorem at ofTruncated, against the law itself, of every database of up to n units; and
// the doubled distance must be needed: without it some database lies above.
func TestTruncatedAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	needed := false
	for range 60 {
		n, atMost := 2+r.IntN(4), 1+r.IntN(3)
		q, mu := []float64{0.25, 0.5, 0.75}[r.IntN(3)], []float64{0.3, 1, 3}[r.IntN(3)]
		e := privacy.TruncatedPoisson{Rate: new(big.Rat).SetFloat64(q), N: int64(n), AtMost: int64(atMost),
			Event: privacy.Gaussian{Variance: big.NewRat(1, 1), SensitivitySquared: new(big.Rat).SetFloat64(mu * mu)}}
		others := make([]float64, r.IntN(n))
		for i := range others {
			others[i] = []float64{-mu, -mu, -mu, mu, 0, mu * (2*r.Float64() - 1)}[r.IntN(6)]
		}
		with := truncatedLaw(append([]float64{mu}, others...), q, atMost)
		without := truncatedLaw(others, q, atMost)
		replaced := truncatedLaw(append([]float64{-mu}, others...), q, atMost)
		for _, side := range []struct {
			d    Direction
			p, q map[float64]float64
		}{{Remove, with, without}, {Add, without, with}, {Replace, with, replaced}, {Replace, replaced, with}} {
			f := e
			if side.d == Replace {
				f.Event = privacy.Gaussian{Variance: big.NewRat(1, 1), SensitivitySquared: new(big.Rat).SetFloat64(4 * mu * mu)}
			}
			l, err := Of(f, side.d)
			if err != nil {
				t.Fatal(err)
			}
			divergence := hockey(side.p, side.q)
			for _, eps := range []float64{0, 0.1, 0.5, 1, 2} {
				truth := divergence(eps) - 1e-5
				if high := l.Above.Delta(eps); truth > high {
					t.Errorf("%v, %v, others %v: δ(%v) = %v, bound %v", f, side.d, others, eps, truth, high)
				}
				if m, ok := l.Above.(*either); ok {
					needed = needed || truth > m.near.Delta(eps)+1e-3
				}
			}
		}
		// From below: the others contribute nothing, and all are there.
		idle := make([]float64, n-1)
		l, _ := Of(e, Remove)
		if truth := hockey(truncatedLaw(append([]float64{mu}, idle...), q, atMost), truncatedLaw(idle, q, atMost))(0.2); l.Below != nil && l.Below.Delta(0.2) > truth+1e-5 {
			t.Errorf("%v: at least %v, truly %v", e, l.Below.Delta(0.2), truth)
		}
	}
	if !needed {
		t.Error("no database needs the doubled distance")
	}
}

// The tail is no less than the exact one, and close to it where it is small.
func TestBinomialTail(t *testing.T) {
	for _, m := range []int64{1, 2, 10, 100, 1000} {
		for _, q := range []float64{1e-6, 0.01, 0.125, 0.5, 0.9, 1} {
			rate := new(big.Rat).SetFloat64(q)
			rest := new(big.Rat).Sub(big.NewRat(1, 1), rate)
			for _, b := range []int64{0, 1, 2, 5, m / 2, m*9/10 + 1, m, m + 1} {
				truth := new(big.Float).SetPrec(200)
				for k := max(0, b); k <= m; k++ {
					x := new(big.Float).SetPrec(200).SetInt(new(big.Int).Binomial(m, k))
					x.Mul(x, power(rate, k))
					truth.Add(truth, x.Mul(x, power(rest, m-k)))
				}
				want, _ := truth.Float64()
				got := binomialTail(m, rateFrom(rate), b)
				if got < want {
					t.Errorf("P(Bin(%d, %v) >= %d) is %v, bound %v", m, q, b, want, got)
				}
				if want > 1e-280 && float64(b) > float64(m)*q+1 && got > 1.2*want {
					t.Errorf("P(Bin(%d, %v) >= %d) is %v, loosely %v", m, q, b, want, got)
				}
			}
		}
	}
}

func power(x *big.Rat, n int64) *big.Float {
	y := new(big.Float).SetPrec(200).SetInt64(1)
	f := new(big.Float).SetPrec(200).SetRat(x)
	for range n {
		y.Mul(y, f)
	}
	return y
}
