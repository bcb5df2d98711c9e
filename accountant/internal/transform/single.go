package transform

import (
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
type single struct {
	q     float64
	add   bool
	gauss *Composition
}

// single reports whether c is one such step.
func (c *Composition) single() (s single, ok bool) {
	if len(c.events) != 1 || c.events[0].n != 1 || c.gauss > 0 || c.dir == Replace {
		return s, false
	}
	e := c.events[0]
	return single{e.q, c.dir == Add, &Composition{gauss: e.mu * e.mu, sup: math.Inf(1)}}, true
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

func (s single) delta(eps float64) (b loss.Bracket, err error) {
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
	// Bisect on w, of which δ decreases, between certified ends.
	top, err := s.gauss.Delta(0)
	if err != nil || top.High*s.q*(1+16*ulp) <= delta {
		return b, err
	}
	lo, hi := 0., math.Inf(1)
	for w := 1.; hi-lo > 1e-9*lo; {
		d, err := s.gauss.Delta(w)
		if err != nil {
			return b, err
		}
		if f := s.factor(w); d.Low*f*(1-16*ulp) > delta {
			lo = w
		} else if d.High*f*(1+16*ulp) <= delta {
			hi = w
		} else {
			break
		}
		if w = (lo + hi) / 2; math.IsInf(hi, 1) {
			w = 2 * lo
		}
	}
	b.Low, b.High = s.epsilonAt(lo)*(1-16*ulp), s.epsilonAt(hi)*(1+16*ulp)
	b.Estimate = (b.Low + b.High) / 2
	return b, nil
}
