package transform

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

// One step of sampling has a closed form, and inverting its transform would be slow:
// few steps have a characteristic function that hardly falls. With δ_G(w) that of
// the Gaussian without sampling at epsilon w,
//
//	remove: δ(ε) = q δ_G(w), ε = log(1-q+q e^w);
//	add:    δ(ε) = q e^{-w}/(1-q+q e^{-w}) δ_G(w), ε = -log(1-q+q e^{-w}).
//
// Proof. Remove: the loss exceeds ε where u > u0 with q e^{w(u0)} = e^ε - (1-q), so
// that δ = P(u>u0) - e^ε Q(u>u0) = q (N(mu) - e^{w(u0)} N(0))(u>u0). Add: it does
// where u < u0 with q e^{w(u0)} = e^{-ε} - (1-q), and δ = (1-e^ε(1-q)) N(0)(u<u0) -
// e^ε q N(mu)(u<u0) = e^ε q e^{w(u0)} (N(0) - e^{-w(u0)} N(mu))(u<u0), by symmetry
// δ_G(-w(u0)).
//
// Replace has none, but the loss increases from -∞ to ∞ in u and is solved for ε:
//
//	replace: δ(ε) = P(u>u0) - e^ε Q(u>u0), ℓ(u0) = ε,
//
// which as a function of u0 is greatest there (Neyman and Pearson), so that an error
// of u0 counts in second order.
type single struct {
	e     *event
	q     float64
	add   bool
	gauss *Composition
}

// single reports whether c is one such step.
func (c *Composition) single() (s single, ok bool) {
	if len(c.events) != 1 || c.events[0].n != 1 || c.gauss > 0 {
		return s, false
	}
	e := c.events[0]
	return single{e, e.q, c.dir == Add, &Composition{meter: c.meter, gauss: e.mu * e.mu, sup: math.Inf(1)}}, true
}

// factor is δ/δ_G at w.
func (s single) factor(w float64) float64 {
	if !s.add {
		return s.q
	}
	return s.q / (s.q + (1-s.q)*math.Exp(w))
}

// epsilonAt is ε at w, and w its inverse, to a few units in the last place of 1 or
// of themselves, whichever is more.
func (s single) epsilonAt(w float64) float64 {
	if s.add {
		return -math.Log1p(s.q * math.Expm1(-w))
	}
	if w > 700 {
		return w + math.Log(s.q)
	}
	return math.Log1p(s.q * math.Expm1(w))
}

func (s single) w(eps float64) float64 {
	if s.add {
		return -math.Log1p(math.Expm1(-eps) / s.q)
	}
	if eps > 700 {
		return eps - math.Log(s.q)
	}
	return math.Log1p(math.Expm1(eps) / s.q)
}

// replaced is δ(ε) of replace.
func (s single) replaced(eps float64) (b loss.Bracket, err error) {
	mu, q := s.e.mu, s.q
	lo, hi := 0., (eps-math.Log(q))/mu+mu/2 // where L+ >= ε and L- <= 0
	s.e.meter.Spend(800)
	for range 200 {
		if mid := (lo + hi) / 2; s.e.at(mid, 0).l < eps {
			lo = mid
		} else {
			hi = mid
		}
	}
	beyond := func(u float64) float64 { return math.Erfc(u/math.Sqrt2) / 2 }
	with, without, other := q*beyond(lo-mu), -(1-q)*math.Expm1(eps)*beyond(lo), -q*math.Exp(eps)*beyond(lo+mu)
	b.Estimate = with + without + other
	e := 32 * ulp * (1 + eps + lo*lo) * (with - without - other)
	if !(e < 1e-6*b.Estimate) {
		return b, fmt.Errorf("%w: the closed form cancels", ErrUnsuited)
	}
	b.Low, b.High = b.Estimate-e, b.Estimate+e
	return b, nil
}

func (s single) delta(eps float64) (b loss.Bracket, err error) {
	if s.e.dir == Replace {
		return s.replaced(eps)
	}
	w := s.w(eps)
	if s.add {
		// Near the greatest loss w is ill-conditioned: bracket it.
		lo, hi := s.w(eps*(1-8*ulp)), s.w(eps*(1+8*ulp))
		if !(hi < math.Inf(1)) {
			hi = math.Inf(1)
		}
		return s.between(lo, w, hi)
	}
	return s.between(w*(1-8*ulp), w, w*(1+8*ulp))
}

// between brackets δ for w in [lo, hi].
func (s single) between(lo, w, hi float64) (b loss.Bracket, err error) {
	top, err := s.gauss.Delta(max(0, lo))
	if err != nil {
		return b, err
	}
	b.High = top.High * s.factor(max(0, lo)) * (1 + 16*ulp)
	if math.IsInf(hi, 1) || math.IsNaN(w) {
		b.Estimate = b.High / 2
		return b, nil
	}
	bottom, err := s.gauss.Delta(hi)
	if err != nil {
		return b, err
	}
	b.Low = bottom.Low * s.factor(hi) * (1 - 16*ulp)
	b.Estimate = (b.Low + b.High) / 2
	return b, nil
}

func (s single) epsilon(delta float64) (b loss.Bracket, err error) {
	if s.e.dir == Replace {
		b.Low, b.High, err = bisect(delta, s.replaced)
		b.Estimate = (b.Low + b.High) / 2
		return b, err
	}
	if !s.add {
		g, err := s.gauss.Epsilon(delta / s.q)
		if err != nil {
			return b, err
		}
		return loss.Bracket{
			Low:      s.epsilonAt(g.Low) * (1 - 16*ulp),
			Estimate: s.epsilonAt(g.Estimate),
			High:     s.epsilonAt(g.High) * (1 + 16*ulp),
		}, nil
	}
	lo, hi, err := bisect(delta, func(w float64) (loss.Bracket, error) {
		d, err := s.gauss.Delta(w)
		f := s.factor(w)
		return loss.Bracket{Low: d.Low * f * (1 - 16*ulp), High: d.High * f * (1 + 16*ulp)}, err
	})
	b.Low, b.High = s.epsilonAt(lo)*(1-16*ulp), s.epsilonAt(hi)*(1+16*ulp)
	b.Estimate = (b.Low + b.High) / 2
	return b, err
}

// bisect brackets where a decreasing function, itself bracketed, falls to delta.
func bisect(delta float64, f func(x float64) (loss.Bracket, error)) (lo, hi float64, err error) {
	hi = math.Inf(1)
	for x := 1.; hi-lo > 1e-9*lo && hi > 1e-12; {
		d, err := f(x)
		if err != nil {
			return 0, 0, err
		}
		if d.Low > delta {
			lo = x
		} else if d.High <= delta {
			hi = x
		} else {
			return around(x, lo, hi, delta, f)
		}
		if x = (lo + hi) / 2; math.IsInf(hi, 1) {
			x = 2 * lo
		}
	}
	return lo, hi, nil
}

// around narrows [lo, hi] about a point where f's bracket holds delta.
func around(x, lo, hi, delta float64, f func(x float64) (loss.Bracket, error)) (float64, float64, error) {
	for d := 8 * ulp * x; x-d > lo; d *= 2 {
		b, err := f(x - d)
		if err != nil {
			return 0, 0, err
		}
		if b.Low > delta {
			lo = x - d
		}
	}
	for d := 8 * ulp * x; x+d < hi; d *= 2 {
		b, err := f(x + d)
		if err != nil {
			return 0, 0, err
		}
		if b.High <= delta {
			hi = x + d
		}
	}
	return lo, hi, nil
}
