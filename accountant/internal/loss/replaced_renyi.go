package loss

import (
	"fmt"
	"math"
)

// ReplacedRenyi is the Rényi divergence of SampledReplace's and WithoutReplacement's pair,
// which bounds that of the event: x^α is affine but for a mixture of (x-c)+, so that a pair
// whose profile is no less anywhere has no lesser moment (Sason and Verdú 2016). It is at
// most the divergence of Theorem 27 of Wang, Balle and Kasiviswanathan 2019 in what
// matters: their factor 4 bounds what is measured here. Let w = 1-q+q·e^l be the sampled ratio at an outcome of the event's own loss l > 0. Above 0 the pair has the
// measure Q and the ratio w; below 0, by reflection, the P-measure Q and the ratio 1/w;
// at 0 what is left. So its moment of order α is 1 plus
//
//	E_Q[g(w); l > 0],   g(w) = w^α + w^(1-α) - w - 1,
//
// where g is convex, rises from 1 on, and is 0 there with its derivative.
type ReplacedRenyi struct {
	rate
	slices []replacedSlice
	atoms  []replacedSlice // of one point
	mu     float64         // of Gaussian noise, else 0
}

// A replacedSlice is a slice's Q-measure, rounded up, and the part of it that a chord of g
// puts to its upper end, rounded up.
type replacedSlice struct{ lo, hi, logLo, logHi, logQ, q, part float64 }

// ReplacedRenyiSlices is how many slices there are at most, or nearly.
const ReplacedRenyiSlices = 1 << 13

// WithoutReplacementRenyi returns the divergences for a p of bounded losses, or of Gaussian noise.
func WithoutReplacementRenyi(p Pair, m, n int64) (*ReplacedRenyi, error) {
	if m < 1 || n <= m {
		return nil, fmt.Errorf("divergence without replacement: %d of %d, want 1 <= m < n", m, n)
	}
	q := rateAmong(m, n)
	if err := q.check(); err != nil {
		return nil, err
	}
	r := &ReplacedRenyi{rate: q}
	var t []float64
	switch g := p.(type) {
	case gaussian:
		r.mu = g.mu
		for x := 0.0; x < maxTilt+40; x += 0.02 {
			t = append(t, g.mu*x)
		}
	default:
		if _, noP := p.Ends(); noP > 0 || math.IsInf(p.Max(), 1) || !mirrors(p) {
			return nil, fmt.Errorf("divergence without replacement: of an event whose losses have no bound, or no mirror: %w", ErrUnsupported)
		}
		if p.Thresholds(2) != nil {
			for i := range 2049 {
				t = append(t, p.Max()*float64(i)/2048)
			}
		}
		e := AtomRounding(p)
		for _, a := range p.Atoms() {
			if a.Loss > 0 {
				r.atoms = append(r.atoms, r.slice(a.Loss, a.Loss*(1+8*unit), a.LogP-a.Loss*(1-8*unit)+e.Mass+16*unit*(1-a.LogP), a.Loss, 0))
			}
		}
		if len(r.atoms) > ReplacedRenyiSlices {
			return nil, fmt.Errorf("divergence without replacement: of %d outcomes: %w", len(r.atoms), ErrUnsupported)
		}
	}
	if len(t) > 1 {
		logP, ratio := make([]float64, len(t)-1), make([]float64, len(t)-1)
		e := p.Cells(t, logP, ratio)
		for i := range logP {
			if !math.IsInf(logP[i], -1) {
				r.slices = append(r.slices, r.slice(t[i], t[i+1], logP[i]-ratio[i]+e.Mass+e.Ratio+8*unit*(1-logP[i]), ratio[i], e.Ratio))
			}
		}
	}
	return r, nil
}

func (r *ReplacedRenyi) slice(lo, hi, logQ, ratio, err float64) replacedSlice {
	s := replacedSlice{lo: lo, hi: hi, logLo: logMix(r.rate, lo), logHi: logMix(r.rate, hi), logQ: logQ, q: math.Exp(logQ), part: 1}
	if hi-lo > 1e-9 {
		s.part = min(1, max(0, math.Expm1(ratio+err-lo)/math.Expm1(hi-lo)*(1+1e-13)))
	}
	return s
}

// Divergence returns an upper bound on the divergence of order a, +Inf where none is known.
func (r *ReplacedRenyi) Divergence(a float64) float64 {
	if a*r.mu > maxTilt {
		return math.Inf(1)
	}
	// Sums are kept in units of e^shift.
	shift, most := 0.0, math.Inf(1)
	if r.mu > 0 {
		most = r.mu * (a*r.mu + 18) // what is above is e^-160 of Q tilted by a
	}
	for _, part := range [2][]replacedSlice{r.slices, r.atoms} {
		for i := range part {
			if s := &part[i]; s.lo <= most {
				shift = max(shift, a*s.logHi+s.logQ)
			}
		}
	}
	shift = max(0, shift-600)
	sum, end := 1e-290, 0.0
	for _, part := range [2][]replacedSlice{r.slices, r.atoms} {
		hi, gHi := math.Inf(-1), 0.0
		for i := range part {
			s := &part[i]
			if s.lo > most {
				break
			}
			gLo := gHi
			if s.lo != hi {
				gLo = bothExcess(s.logLo, a)
			}
			hi, gHi = s.hi, bothExcess(s.logHi, a)
			if s.logQ > -600 && gHi < math.Inf(1) && shift == 0 {
				sum += s.q * ((1-s.part)*gLo + s.part*gHi)
			} else {
				l, h := logBothExcess(s.logLo, a), logBothExcess(s.logHi, a)
				sum += (1-s.part)*math.Exp(l+s.logQ-shift) + s.part*math.Exp(h+s.logQ-shift)
			}
			if len(r.atoms) == 0 {
				end = s.hi
			}
		}
	}
	if r.mu > 0 {
		sum += math.Exp(r.logTail(a, end) - shift)
	}
	sum *= 1 + 1e-9 // what edges and sums err by
	if !(sum > 0 && sum < math.Inf(1)) {
		return math.Inf(1)
	}
	if shift > 0 {
		return (shift + math.Log(sum+math.Exp(-shift))) / (a - 1) * (1 + 1e-12)
	}
	return math.Log1p(sum) / (a - 1) * (1 + 1e-12)
}

// logTail bounds what lies above the loss t of Gaussian noise, where w <= e^l·(q+(1-q)e^-t)
// and g <= w^α. Under Q the loss is N(-μ²/2, μ²), and e^(αl) makes of it N((α-½)μ², μ²) with
// the weight e^(α(α-1)μ²/2).
func (r *ReplacedRenyi) logTail(a, t float64) float64 {
	log := a*math.Log(r.q+r.rest*math.Exp(-t)) + a*(a-1)/2*r.mu*r.mu + logTail(t/r.mu-(a-0.5)*r.mu)
	return log + 1e-9*(1+math.Abs(log))
}

// bothExcess returns g(e^l) for l >= 0 to a relative error of 1e-10: the excesses of w^a and
// w^(1-a) over their tangents at 1.
func bothExcess(l, a float64) float64 {
	u, b := math.Expm1(l), 1-a
	if u*max(1, -b) < 0x1p-7 {
		return excess(l, a) + powers(u, b)
	}
	return excess(l, a) + (math.Expm1(b*l) - b*u)
}

func logBothExcess(l, a float64) float64 {
	if a*l > 30 {
		return a*l + 1e-11
	}
	return math.Log(bothExcess(l, a)) + 1e-10
}
