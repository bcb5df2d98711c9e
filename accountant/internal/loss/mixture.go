package loss

import (
	"fmt"
	"math"
)

// mixture is P = Σ p_k N(a_k, 1) against Q = Σ q_k N(-b_k, 1), all a_k and b_k >= 0, so
// that the loss increases with the outcome:
//
//	L(x) = A(x) - B(x),  A = ln Σ p_k e^{a_k x - a_k²/2},  B = ln Σ q_k e^{-b_k x - b_k²/2}.
type mixture struct {
	p, q     []component
	far      float64 // the greatest a_k
	low      float64 // the greatest b_k
	min, max float64 // of the loss
}

// A component is one normal law of a mixture.
type component struct{ at, logWeight, weight float64 }

// maxMembers is the largest group of units that SampledGaussianGroup tells apart.
const maxMembers = 64

// farthest bounds how far apart the laws of two mixtures lie, and so what integrals cost:
// beyond, ε is in the hundreds.
const farthest = 64.0

// SampledGaussianGroup returns the pair of Gaussian noise on a Poisson sample of rate q for
// neighbours of which P's has with units that Q's has not, and Q's without units that P's
// has not. Mu is the norm of one unit's contribution over the noise's standard deviation.
// It is P = Σ Bin(with, q){k}·N(kμ, 1) against Q = Σ Bin(without, q){k}·N(-kμ, 1).
//
// Theorem (Choquette-Choo, Ganesh, Steinke and Thakurta 2024, "Privacy Amplification for
// Matrix Mechanisms", for without = 0; Ganesh 2024, "Tight Group-Level DP Guarantees for
// DP-SGD with Sampling via Mixture of Gaussians Mechanisms"): it dominates the event, in
// any number of dimensions, and is attained.
//
// Proof. Given the sample of the units that both have, and after a translation, the
// event is P = Σ_S w_S N(Σ_{i∈S} u_i, I) against Q = Σ_T w_T N(Σ_{j∈T} v_j, I), S and T the
// sampled ones of the units that one side alone has, |u_i|, |v_j| <= μ. With z ~ N(0, I),
//
//	H_α(P‖Q) = E F(U, V),  F(u, v) = (u - αv)⁺,
//
// U = Σ_S w_S e^{X_S - E X_S²/2}, X_S = ⟨Σ_S u_i, z⟩, and V likewise. F is convex in u and in
// v, and falls in v the more the larger u is (∂²F/∂u∂v <= 0). So by interpolation between
// two Gaussian vectors (Kahane 1986, the inequality of convexity), E F increases with
// the covariances within the X_S and within the Y_T, and as those between them fall. They
// are extreme where all u_i are one vector of length μ, and all v_j its opposite; that is
// the pair. H is jointly convex, so that the mixture over the common sample is no worse.
func SampledGaussianGroup(mu, q float64, with, without int64) (Pair, error) {
	if !positive(mu, q) || q > 1 || with < 0 || without < 0 || with+without < 1 || with > maxMembers || without > maxMembers {
		return nil, fmt.Errorf("pair of a group of %d and %d units, mu %v at rate %v: want at most %d units, 0 < mu, 0 < rate <= 1", with, without, mu, q, maxMembers)
	}
	return newMixture(members(mu, q, with), members(mu, q, without))
}

// members lists the laws of a sum over a Poisson sample of n units.
func members(mu, q float64, n int64) []component {
	if q == 1 {
		return []component{{at: float64(n) * mu, weight: 1}}
	}
	logQ, logRest := math.Log(q), math.Log1p(-q)
	list := make([]component, n+1)
	choose := 0.0 // ln C(n, k)
	for k := range list {
		x := float64(k)
		log := choose + x*logQ + float64(n-int64(k))*logRest
		list[k] = component{x * mu, log, math.Exp(log)}
		choose += math.Log((float64(n) - x) / (x + 1))
	}
	return list
}

func newMixture(p, q []component) (*mixture, error) {
	m := &mixture{p: p, q: q, min: math.Inf(-1), max: math.Inf(1)}
	zero := func(list []component) (log, farthest float64) { // weight at 0
		log = math.Inf(-1)
		for _, c := range list {
			farthest = max(farthest, c.at)
			if c.at == 0 {
				log = c.logWeight
			}
		}
		return log, farthest
	}
	var zeroP, zeroQ float64
	zeroP, m.far = zero(p)
	zeroQ, m.low = zero(q)
	if m.far == 0 {
		m.max = -zeroQ
	}
	if m.low == 0 {
		m.min = zeroP
	}
	if m.far+m.low > farthest || !positive(m.far+m.low) {
		return nil, fmt.Errorf("pair of mixtures %v and %v from 0: want them above 0 and at most %v in all", m.far, m.low, farthest)
	}
	return m, nil
}

// mean returns ln Σ w_k e^{y_k} and a bound on its error, where y_k errs by at most slip_k;
// the weights add up to 1.
func mean(list []component, y, slip []float64) (log, err float64) {
	most, sum, size := math.Inf(-1), 0.0, 0.0
	for k, c := range list {
		most = max(most, y[k]+c.logWeight)
		if y[k] < 30 {
			e := math.Expm1(y[k])
			x := c.weight * e
			sum += x
			size += math.Abs(x) * (4 - c.logWeight) * unit
			size += c.weight * (1 + e + unit) * slip[k]
		} else {
			sum = math.Inf(1)
		}
	}
	if sum > -0.5 && sum < 1e6 {
		return math.Log1p(sum), 4 * size / (1 + sum)
	}
	total := 0.0
	for k, c := range list {
		part := math.Exp(y[k] + c.logWeight - most)
		total += part
		err += part * (slip[k] + (8-c.logWeight+math.Abs(y[k]))*unit)
	}
	return most + math.Log(total), 4 * err / total
}

// loss returns L(x) and its derivative.
func (m *mixture) loss(x float64) (l, slope float64) {
	a, da := side(m.p, x)
	b, db := side(m.q, -x)
	return a - b, da + db
}

// side is A, and its derivative; of -x it is B, with minus its derivative. It computes as
// mean does, with an exponential function a component as long as none overflows.
func side(list []component, x float64) (log, slope float64) {
	var buffer, none [maxMembers + 1]float64
	y := buffer[:len(list)]
	most, sum := 0.0, 0.0
	for k, c := range list {
		y[k] = c.at * (x - c.at/2)
		most = max(most, y[k])
		e := math.Expm1(min(y[k], 30))
		sum += c.weight * e
		slope += c.at * c.weight * (1 + e)
	}
	if most < 30 && sum > -0.5 && sum < 1e6 {
		return math.Log1p(sum), slope / (1 + sum)
	}
	slope = 0
	log, _ = mean(list, y, none[:len(list)])
	for k, c := range list {
		slope += c.at * math.Exp(c.logWeight+y[k]-log)
	}
	return log, slope
}

// at returns the outcome whose loss is t: from a guess to a bracket by doubled steps, and
// in it by Newton's steps, or halves where these do not halve.
func (m *mixture) at(t, guess float64) float64 {
	switch {
	case t <= m.min:
		return math.Inf(-1)
	case t >= m.max:
		return math.Inf(1)
	}
	lo, hi, x := guess, guess, guess
	l, slope := m.loss(x)
	step := min(1+math.Abs(x), 1.1*math.Abs(l-t)/slope+1e-9)
	for start := l; (start < t) == (l < t) && l != t; step *= 2 {
		if lo, hi = x, x+step; start > t {
			lo, hi = x-step, x
		}
		if x = hi; start > t {
			x = lo
		}
		if math.Abs(x) > 1e12 {
			return math.Copysign(math.Inf(1), x)
		}
		l, slope = m.loss(x)
	}
	for last := hi - lo; hi-lo > unit*(math.Abs(x)+1e-3); {
		next := x - (l-t)/slope
		if !(next > lo && next < hi) || math.Abs(next-x) > last/2 {
			next = lo + (hi-lo)/2
		}
		last = math.Abs(next - x)
		if next == lo || next == hi || last <= unit*(math.Abs(x)+1e-3) {
			return next
		}
		x = next
		if l, slope = m.loss(x); l > t {
			hi = x
		} else {
			lo = x
		}
	}
	return x
}

func (m *mixture) Atoms() []Atom        { return nil }
func (m *mixture) Ends() (p, q float64) { return 0, 0 }
func (m *mixture) Max() float64         { return m.max }

func (m *mixture) Thresholds(n int) []float64 {
	t := make([]float64, n)
	lo, hi := -14-m.low, m.far+48
	for i := range t {
		t[i], _ = m.loss(lo + (hi-lo)*float64(i)/float64(n-1))
	}
	return increasing(t)
}

// cellSteps: some four of Newton's steps, and the slice, of every component.
func (m *mixture) cellSteps() int { return 128 * (len(m.p) + len(m.q)) }

// steps are those of Delta's panels, as of sampledReplace, for every component.
func (m *mixture) steps() int {
	far := m.far + m.low
	return 64 * int((far+60)*(1+far)) * (len(m.p) + len(m.q))
}

// Cells measures slices as gaussian does, for every component between the same ends.
func (m *mixture) Cells(t, logP, ratio []float64) Rounding {
	var e Rounding
	var buffer [4][maxMembers + 1]float64
	yp, sp := buffer[0][:len(m.p)], buffer[1][:len(m.p)]
	yq, sq := buffer[2][:len(m.q)], buffer[3][:len(m.q)]
	lo, guess := m.at(t[0], 0), 0.0
	for i := range logP {
		if !math.IsInf(lo, 0) {
			guess = lo
		}
		hi := m.at(t[i+1], guess)
		logP[i], ratio[i] = math.Inf(-1), 0
		if lo < hi {
			center := slice(lo, hi)
			for k, c := range m.p {
				yp[k], sp[k] = moved(lo, hi, c.at)
			}
			for k, c := range m.q {
				yq[k], sq[k] = moved(-hi, -lo, c.at)
			}
			a, errA := mean(m.p, yp, sp)
			b, errB := mean(m.q, yq, sq)
			logP[i], ratio[i] = center+a, a-b
			if logP[i] > -745 {
				x := middle(lo, hi)
				e = e.join(Rounding{
					Mass:  normalRounding(math.Abs(x), 0).Mass + errA,
					Ratio: errA + errB + 4*unit*math.Abs(ratio[i]),
				})
			}
		}
		lo = hi
	}
	return e
}

// moved returns the log-ratio of a slice's measures under N(mu, 1) and N(0, 1), and a bound
// on its error.
func moved(lo, hi, mu float64) (ratio, err float64) {
	if mu == 0 {
		return 0, 0
	}
	_, ratio, roughly := shifted(lo, hi, mu)
	far := math.Abs(middle(lo, hi)) + mu
	return ratio, normalRounding(far, mu).rough(roughly).Ratio
}

// Delta is the integral of P - e^ε Q from where the loss is ε; nothing cancels in it.
func (m *mixture) Delta(epsilon float64) float64 {
	lo := m.at(epsilon, 0)
	switch {
	case math.IsInf(lo, -1):
		return max(0, -math.Expm1(epsilon))
	case math.IsInf(lo, 1):
		return 0
	}
	lo = max(lo, -40) // P has less than any float64 below
	return integrate(lo, max(0, m.far-lo), 1/(1+m.far+m.low), func(x float64) float64 {
		a, _ := side(m.p, x)
		b, _ := side(m.q, -x)
		return -math.Exp(a-x*x/2-lnSqrt2Pi) * math.Expm1(min(0, epsilon-(a-b)))
	})
}
