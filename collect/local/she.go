package local

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// she tells a number for each value: 1 for the true one, 0 for others, with noise (Wang et al.
// 2017, section 4.2). Numbers are counted in steps of 2^-24.
//
// Theorem (Ghosh, Roughgarden and Sundararajan 2009). Two values are 2 apart in L1, so that
// discrete Laplace noise of scale 2/ε on the multiples of a step gives ε-DP. It holds over the
// integers that are told; their law is infinite, and drawn exactly by package noise.
type she struct {
	k    int
	law2 *noise.DiscreteLaplace
	e    privacy.Epsilon
}

const sheStep = 1 << 24 // steps in 1

func newSHE(k int, e privacy.Epsilon) (*she, error) {
	d, err := noise.NewDiscreteLaplace(over(big.NewRat(2*sheStep, 1), e.Rat()))
	if err != nil {
		return nil, err
	}
	return &she{k, d, e}, nil
}

func (h *she) form() form      { return form{signed: h.k} }
func (h *she) ratio() *big.Rat { return nil }

// channel is not used: scores are not from 0 to 1.
func (h *she) channel() channel { return channel{hit: one(), miss: new(big.Rat), weight: sheStep} }

func (h *she) reply(s *noise.Stream, r Report, value int) (Report, error) {
	for i := range h.k {
		x, err := h.law2.Int64(s)
		if err != nil {
			return nil, err
		}
		if i == value {
			x += sheStep
		}
		r = append(r, uint64(x))
	}
	return r, nil
}

// variance of one number: 2p/(1−p)² steps with p = e^(−1/t), which is 8/ε² but for 1/12 step².
func (h *she) variance() float64 {
	p := numeric.Of(new(big.Rat).Inv(h.law2.Scale())).Neg().Exp()
	rest := intervalOf(1).Sub(p)
	v := p.Add(p).Quo(rest.Mul(rest)).Quo(intervalOf(sheStep)).Quo(intervalOf(sheStep))
	lo, _ := v.Float64s()
	return lo
}

// offMargin is an α such that the mean of n draws, in units, is beyond α with probability at most
// beta.
//
// Theorem (Chernoff). For independent draws with E e^(λX) = M(λ), P(ΣX >= s) <= M(λ)ⁿ·e^(−λs)
// for every λ. For discrete Laplace noise M(λ) = (1−p)²/((1−pe^λ)(1−pe^−λ)), λ < 1/t; the law is
// symmetric. Of any λ the bound holds, so the search for a good one needs no proof.
func (h *she) offMargin(n int64, logBeta float64) float64 {
	return laplaceMargin(near(h.law2.Scale()), float64(n), logBeta) / sheStep
}

// laplaceMargin is the least (n·ln M(λ) + ln(2/β))/λ that is found, with
// M(λ) = 1/(1 − 2p(cosh λ − 1)/(1−p)²).
func laplaceMargin(scale, n, logBeta float64) float64 {
	p, rest := math.Exp(-1/scale), -math.Expm1(-1/scale)
	at := func(share float64) float64 {
		lambda := share / scale
		sinh := math.Sinh(lambda / 2)
		return (-n*math.Log1p(-4*p*sinh*sinh/(rest*rest)) + math.Ln2 - logBeta) / lambda
	}
	lo, hi, golden := -40.0, -1e-6, (math.Sqrt(5)-1)/2 // of ln(share), share < 1
	for range 100 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if at(math.Exp(a)) < at(math.Exp(b)) {
			hi = b
		} else {
			lo = a
		}
	}
	return at(math.Exp(lo)) * (1 + 1e-9)
}

// sum of numbers: each report's are added as integers of 128 bits, by their halves.
type sums struct{ high, low []int64 }

func (h *she) counter() counter { return &sums{make([]int64, h.k), make([]int64, h.k)} }

func (s *sums) add(r Report) {
	for i, x := range r {
		s.high[i] += int64(x) >> 32
		s.low[i] += int64(x & (1<<32 - 1))
	}
}

func (s *sums) scores() []float64 {
	out := make([]float64, len(s.high))
	for i := range out {
		out[i] = float64(s.high[i])*(1<<32) + float64(s.low[i])
	}
	return out
}

func (s *sums) merge(other counter) {
	o := other.(*sums)
	for i := range s.high {
		s.high[i] += o.high[i]
		s.low[i] += o.low[i]
	}
}

func (h *she) parameters(d *Description) {
	d.Set("var", h.variance()/d.reports)
	d.Set("scale", near(h.law2.Scale())/sheStep)
	d.Set("over", "integers")
}
