package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// The optimal composition of k events of one ε, each (ε, δ_i)-DP.
//
// Theorem 3.3 of Kairouz, Oh and Viswanath 2015 ("The Composition Theorem for
// Differential Privacy"): k of them are (ε', 1-Π(1-δ_i)(1-h))-DP for ε' = (k-2i)ε,
// i = 0..⌊k/2⌋, where h = h(ε') is the hockey-stick divergence of k randomized
// responses of odds e^ε,
//
//	h(ε') = Σ_l C(k,l) max(0, e^(lε) - e^(ε'+(k-l)ε)) / (1+e^ε)^k,
//
// and no smaller δ would do for the worst such events. The divergence, and so the
// statement about δ, holds for every ε' >= 0: an ε may lie between the theorem's.
type homogeneous struct {
	k        float64
	eps      float64
	exactEps *big.Rat
	none     float64 // ln Π(1-δ_i)
	meter    *work.Meter
	tight    bool // nothing but (ε, δ) is known of the events
}

func (p *flat) homogeneous() (homogeneous, error) {
	h := homogeneous{meter: p.meter, tight: true}
	for _, t := range p.terms {
		h.meter.Spend(perTerm)
		if t.point == nil {
			return h, unsupported(t, "has no (ε, δ) point; wrap it as approx(eps, delta)")
		}
		eps, delta := t.point()
		if h.exactEps != nil && h.exactEps.Cmp(eps) != 0 {
			return h, errors.New("the events differ in ε, where optimal composition is #P-complete (Murtagh and Vadhan 2016)")
		}
		h.exactEps, h.eps = eps, toFloat(eps)
		h.k += t.count
		h.none += t.count * math.Log1p(-toFloat(delta))
		h.tight = h.tight && t.tight
	}
	if !(h.k*h.eps < 1e300) {
		return h, errors.New("the sum of all ε leaves the range of what is computed in")
	}
	return h, nil
}

// divergence returns h(ε') and an absolute error. Each term is the probability of l
// successes of k times 1 - e^(ε'+(k-2l)ε).
func (h homogeneous) divergence(at float64) (sum, err float64) {
	k := h.k
	if exactly(at).Cmp(new(big.Rat).Mul(h.exactEps, new(big.Rat).SetFloat64(k))) >= 0 {
		return 0, 0 // by the theorem: no loss is above kε
	}
	p, q := 1/(1+math.Exp(-h.eps)), 1/(1+math.Exp(h.eps))
	if h.eps > 660 {
		// All but a mass of at most kq has l = k.
		x := at - k*h.eps
		return -math.Expm1(math.Min(0, x)), 2*k*(q+math.SmallestNonzeroFloat64) + (at+k*h.eps)*0x1p-51
	}
	// The least l of a positive term; below the mode, the terms far from it are left
	// out: their probability is below 2^-1074.
	first := math.Max(0, math.Floor((k+at/h.eps)/2)-1)
	first = math.Max(first, math.Floor(k*p-40*math.Sqrt(k*p*q)-1000))
	reach := math.Min(1, up(k*h.eps)) // 1 - e^x is at most this
	var log, mass float64
	for i, l := 0, first; l <= k; i, l = i+1, l+1 {
		if i%128 == 0 || mass < 1e-290 { // afresh, else by the ratio of neighbours
			h.meter.Spend(256)
			log = logBinomial(k, l, p, q)
			mass = math.Exp(log)
		} else {
			mass *= (k - l + 1) / l * p / q
		}
		// The probability's relative error is a few units for each success more or less
		// than the mean, by the rounding of p and q; that of 1 - e^x is absolutely at most
		// that of x. So tiny divergences, of tiny ε, have tiny errors.
		x := at + (k-2*l)*h.eps
		part := mass * -math.Expm1(math.Min(0, x))
		err += part * (math.Abs(l-k*p) - log + 10 + float64(i%128)/2) * 0x1p-50
		err += mass * (at + math.Abs(k-2*l)*h.eps) * 0x1p-50
		sum += part
		if l > k*p && mass*reach <= sum*0x1p-60 {
			// The ratio of successive masses only falls: what is left is geometric.
			if ratio := (k - l) / (l + 1) * p / q; ratio < 1 {
				err += mass * ratio / (1 - ratio) * reach
				break
			}
		}
	}
	return sum, err + sum*0x1p-44 + k*math.SmallestNonzeroFloat64
}

func (h homogeneous) delta(eps float64) Bracket {
	d, err := h.divergence(eps)
	mix := func(d float64) float64 { return -math.Expm1(h.none + math.Log1p(-math.Min(d, 1))) }
	b := bracket(down(mix(max(0, d-err))), mix(d), min(1, up(mix(d+err)))) // a NaN passes on
	if !h.tight {
		b.Low = 0
	}
	return b
}

func (h homogeneous) note() string {
	n := fmt.Sprintf("Kairouz, Oh and Viswanath 2015, Theorem 3.3, %v events of ε = %.6g", h.k, h.eps)
	if !h.tight {
		n += "; an upper bound: more is known of the events than their ε"
	}
	return n
}

func optimalDelta(p *flat, epsilon float64) (answer, error) {
	h, err := p.homogeneous()
	if err != nil {
		return answer{}, err
	}
	return answer{h.delta(epsilon), Both, h.note(), nil}, nil
}

// optimalEpsilon gives the theorem's least (k-2i)ε as High, and as Low the least ε'
// of the divergence, which may lie between two of them.
func optimalEpsilon(p *flat, delta float64) (answer, error) {
	h, err := p.homogeneous()
	if err != nil {
		return answer{}, err
	}
	a := answer{impossible(), Both, h.note(), nil}
	if h.none < 0 && delta < -math.Expm1(h.none) {
		a.note += "; impossible: δ is below 1-Π(1-δ_i)"
		return a, nil
	}
	holds := func(i float64) bool { return h.delta((h.k-2*i)*h.eps).High <= delta }
	best, half := 0.0, math.Floor(h.k/2)
	if delta > 0 && holds(half) {
		best = half
	} else if delta > 0 {
		// holds is monotone: find the largest i.
		lo, hi := 0.0, half
		for hi-lo > 1 {
			if mid := math.Floor((lo + hi) / 2); holds(mid) {
				lo = mid
			} else {
				hi = mid
			}
		}
		best = lo
	}
	grid := new(big.Rat).Mul(h.exactEps, new(big.Rat).SetFloat64(h.k-2*best))
	a.Bracket = bracket(0, upFloat(grid), upFloat(grid))
	if h.tight && delta == 0 {
		a.Low = a.High
	}
	if h.tight && delta > 0 {
		// Most often within the last step of the grid.
		attained := func(eps float64) bool { return h.delta(eps).Low <= delta }
		from := math.Max(0, a.High-2*h.eps)
		if attained(from) {
			from = 0
		}
		a.Low, _ = bisect(from, a.High, attained)
		a.Low = math.Min(a.Low, a.High)
	}
	return a, nil
}

// logBinomial returns the logarithm of the probability of l successes of k, by
// Loader's decomposition ("Fast and Accurate Computation of Binomial
// Probabilities", 2000), which has no difference of large numbers.
func logBinomial(k, l, p, q float64) float64 {
	switch {
	case l == 0:
		return k * math.Log(q)
	case l == k:
		return k * math.Log1p(-q)
	}
	lc := stirlingError(k) - stirlingError(l) - stirlingError(k-l) - deviance(l, k*p) - deviance(k-l, k*q)
	return lc - math.Log(2*math.Pi*l)/2 - math.Log1p(-l/k)/2
}

// stirlingError is ln n! - (n+1/2)ln n + n - ln√2π.
func stirlingError(n float64) float64 {
	if n < 16 {
		l, _ := math.Lgamma(n + 1)
		return l - (n+0.5)*math.Log(n) + n - logRootTau
	}
	n2 := n * n
	return (1./12 - (1./360-(1./1260-(1./1680-1./1188/n2)/n2)/n2)/n2) / n
}

// deviance is x ln(x/m) + m - x, without cancellation where x is near m.
func deviance(x, m float64) float64 {
	d := (x - m) / m
	if math.Abs(d) > 0.1 {
		return x*math.Log(x/m) + m - x
	}
	// m((1+d)ln(1+d) - d) = m Σ_{n>=2} (-d)^n / (n(n-1)).
	sum, pow := 0.0, d*d
	for n := 2.0; n < 30; n++ {
		sum += pow / (n * (n - 1))
		pow *= -d
	}
	return m * sum
}
