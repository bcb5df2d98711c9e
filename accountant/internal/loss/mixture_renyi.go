package loss

import "math"

// Renyi is a Rényi divergence that holds for a group of units on Poisson samples of
// Gaussian noise, whichever of the two laws is P.
type Renyi struct{ ways []way }

// A way is one of the two, by slices of Q of one width that begin at first.
type way struct {
	first   float64
	edges   []float64 // losses at the ends of the slices
	slices  []slab
	far     float64 // of P's farthest member
	logRest float64 // ln of Q's weight at 0
	below   float64 // Q's measure below the slices
}

// A slab is a slice's Q-measure, rounded up, and which part of it a chord puts to its upper
// end, by the loss of the whole.
type slab struct {
	logQ, q float64
	rising  float64 // the chord's part at the upper end, rounded up, where g rises
	falling float64 // and rounded down, where it falls
}

// sliceWidth is that of slices, in standard deviations: a chord over one errs by some
// 5e-4 of a moment, times the square of the distance.
const sliceWidth = 0.04

// RenyiSlices is about how many slices a divergence takes.
const RenyiSlices = 1 << 12

// maxTilt is the greatest order times the distance of the farthest members that slices
// are made for.
const maxTilt = 64.0

// SampledGaussianGroupRenyi returns the divergences of SampledGaussianGroup's pair.
func SampledGaussianGroupRenyi(mu, q float64, with, without int64) (*Renyi, error) {
	p, err := SampledGaussianGroup(mu, q, with, without)
	if err != nil {
		return nil, err
	}
	m := p.(*mixture)
	mirrored, err := newMixture(m.q, m.p)
	if err != nil {
		return nil, err
	}
	r := &Renyi{}
	for _, m := range []*mixture{m, mirrored} {
		r.ways = append(r.ways, m.way())
	}
	return r, nil
}

func (m *mixture) way() way {
	w := way{first: -20 - m.low, far: m.far, below: math.Exp(logTail(20) + 1e-9), logRest: math.Inf(-1)}
	for _, c := range m.q {
		if c.at == 0 {
			w.logRest = c.logWeight
		}
	}
	reach := maxTilt + 40 + math.Sqrt(maxTilt*(maxTilt+m.far))
	n := int((reach - w.first) / sliceWidth)
	w.slices = make([]slab, n)
	w.edges = make([]float64, n+1)
	var buffer [4][maxMembers + 1]float64
	yp, sp, yq, sq := buffer[0][:len(m.p)], buffer[1][:len(m.p)], buffer[2][:len(m.q)], buffer[3][:len(m.q)]
	for i := range w.edges {
		x, y := w.outcome(i), w.outcome(i+1)
		w.edges[i], _ = m.loss(x)
		if i == n {
			break
		}
		next, _ := m.loss(y)
		for k, c := range m.p {
			yp[k], sp[k] = moved(x, y, c.at)
		}
		for k, c := range m.q {
			yq[k], sq[k] = moved(-y, -x, c.at)
		}
		a, ea := mean(m.p, yp, sp)
		b, eb := mean(m.q, yq, sq)
		s := &w.slices[i]
		s.logQ = slice(x, y) + b + eb + normalRounding(math.Abs(x)+1, 0).Mass
		s.q = math.Exp(s.logQ)
		s.rising, s.falling = 1, 0 // all at the greater end, where the ends are one
		if width := next - w.edges[i]; width > 0 {
			part := func(mean float64) float64 {
				return min(1, max(0, math.Expm1(mean-w.edges[i])/math.Expm1(width)))
			}
			s.rising, s.falling = part(a-b+ea+eb), part(a-b-ea-eb)
		}
	}
	return w
}

func (w way) outcome(i int) float64 { return w.first + float64(i)*sliceWidth }

// Divergence returns an upper bound on the divergence of order a, +Inf where none is known.
func (r *Renyi) Divergence(a float64) float64 {
	most := 0.0
	for _, w := range r.ways {
		d := w.divergence(a)
		if !(d >= 0) {
			return math.Inf(1)
		}
		most = max(most, d)
	}
	return most
}

// divergence bounds A - 1 = E_Q g(w), w = P/Q and g(w) = w^a - 1 - a(w-1), which is convex and
// not negative: on a slice by its chord, at the slice's mean of w.
func (w way) divergence(a float64) float64 {
	if a*w.far > maxTilt {
		return math.Inf(1)
	}
	// As many slices as leave less than e^-700 of any tilted law above.
	reach := a*w.far + math.Sqrt(1400+a*a*w.far*w.far+2*(1-a)*w.logRest)
	n := len(w.slices)
	if k := (reach - w.first) / sliceWidth; k < float64(n-1) {
		n = int(k) + 1
	}
	// Sums are kept in units of e^shift. Below the slices w <= 1, so that g <= a-1. What is
	// left out for want of range is below 1e-290 in all.
	shift := max(0, a*(a-1)/2*w.far*w.far-600)
	sum := math.Exp(w.logTail(a, w.outcome(n))-shift) + math.Exp(-shift)*(a-1)*w.below + 1e-290
	lo := w.edges[0]
	gLo := excess(lo, a)
	for i, s := range w.slices[:n] {
		hi := w.edges[i+1]
		gHi := excess(hi, a)
		part := s.rising
		if gHi < gLo {
			part = s.falling
		}
		if s.logQ > -600 && gLo+gHi < math.Inf(1) && shift == 0 {
			sum += s.q * ((1-part)*gLo + part*gHi)
		} else if l, h := logExcess(lo, a), logExcess(hi, a); max(l, h)+s.logQ-shift > -690 {
			sum += (1-part)*math.Exp(l+s.logQ-shift) + part*math.Exp(h+s.logQ-shift)
		}
		lo, gLo = hi, gHi
	}
	sum *= 1 + 1e-9 // what edges and sums err by
	if !(sum < math.Inf(1)) {
		return math.Inf(1)
	}
	if shift > 0 {
		return (shift + math.Log(sum+math.Exp(-shift))) / (a - 1) * (1 + 1e-12)
	}
	return math.Log1p(sum) / (a - 1) * (1 + 1e-12)
}

// logTail bounds what lies above reach: there every e^(a_k x - a_k²/2) is at most that of the
// farthest member, and Q at least its member at 0, so that with φ the normal density
//
//	P^α Q^(1-α) <= φ(x)·e^(α(far·x - far²/2))·e^((1-α)·logRest),
//
// whose integral is a tail of a normal law around α·far.
func (w way) logTail(a, reach float64) float64 {
	log := a*(a-1)/2*w.far*w.far + (1-a)*w.logRest + logTail(reach-a*w.far)
	return log + 1e-9*math.Abs(log)
}

// excess returns g(e^l) to a relative error of 1e-11.
func excess(l, a float64) float64 {
	u := math.Expm1(l)
	if math.Abs(u)*max(1, a) < 0x1p-7 {
		return powers(u, a)
	}
	if a*l > 700 {
		return math.Inf(1)
	}
	return (1+u)*math.Expm1((a-1)*l) - (a-1)*u
}

// powers returns Σ_{n>=2} C(a,n) u^n, for |u|·max(1, |a|) below 2^-7: below rounding after 8 terms.
func powers(u, a float64) float64 {
	t, s := a*u, 0.0
	for n := 2.0; n < 10; n++ {
		t *= (a - n + 1) / n * u
		s += t
	}
	return s
}

// logExcess returns ln g(e^l), rounded up by 1e-11.
func logExcess(l, a float64) float64 {
	if a*l > 30 {
		return a*l + 1e-11
	}
	return math.Log(excess(l, a)) + 1e-11
}
