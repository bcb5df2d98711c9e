package shuffle

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A laplaceBlanket is Laplace noise on one number of [-½, ½]·s, ε0 = s/scale, seen
// through its privacy blanket (Balle, Bell, Gascón and Nissim, CRYPTO 2019, Lemma 5.3 with
// Section 5.2): all reports have at least γ times the density of noise around 0, γ = e^(-ε0/2),
// so that each user reports from that with probability γ, and who does not is given away.
// With M ~ Bin(n, γ) of them,
//
//	D <= (1/n)·E[(L_1 + ... + L_M)+],   L = a(W) - e^ε·b(W),  W ~ the blanket,
//
// a and b the densities of the replaced user's two inputs over γ times the blanket's. For
// inputs -½s and ½s, with Z = min(e^(2V), e^ε0) and V ~ Exp(1), which is the distance of W from 0,
//
//	L = Z - e^ε or 1 - e^ε·Z, each with probability ½.
//
// No two inputs x, x' are worse: a and b each have the law of a greatest ratio of a shift by
// at most ½s, which is the least private for ½s itself, and these two rise and fall
// against each other in W, so that among all with their laws the difference is the
// greatest in convex order. By that it holds for any reports whose laws are dominated by a
// shift of ½s of Laplace noise from one that is common to all, as of vectors within ½s of a
// common centre in L1.
//
// ΣL is a sum of n independent X, L with probability γ and 0 else. X is put on a lattice
// such that each part of its law keeps its mean, which can only raise the expectation of a
// convex function. For S on the lattice h·Z and any θ > 0,
//
//	E(S)+ = Re (h/2π)·∫ φ(θ+it)^n · G(θ+it) dt over a period,  φ(z) = E e^(zX),
//	G(z) = Σ_{j>=1} jh·e^(-zjh) = h·e^(-zh)/(1-e^(-zh))²,
//
// and the mean of the integrand over N points t = 2πk/(Nh) is Σ_j E(S+jNh)+·e^(-θjNh) over
// all whole j, of terms that are not negative: it is no less. Points where |φ^n| is
// certainly small are left out against a bound on it.
type laplaceBlanket struct {
	meter *work.Meter
	n     int64
	eps0  float64
}

// A lattice is the law of X: step·(first+i) has the mass p[i].
type lattice struct {
	step  float64
	first int
	p     []float64
}

// cells is how many steps the range of L takes: more where its tail is long.
func (b laplaceBlanket) cells() float64 {
	if b.eps0 > 8 {
		return 1024
	}
	return 256
}

// law is that of X. P(Z > z) = z^-½, so that the mean of Z between z1 and z2 is √(z1·z2).
func (b laplaceBlanket) law(eps float64) lattice {
	rise, ratio, top := math.Expm1(eps), math.Exp(eps), math.Expm1(b.eps0)
	least, most := -rise-ratio*top, top-rise
	l := lattice{step: (most - least) / b.cells()}
	l.first = int(math.Floor(least/l.step)) - 1
	l.p = make([]float64, int(math.Ceil(most/l.step))+2-l.first)
	gamma := math.Exp(-b.eps0 / 2)
	add := func(x, mass float64) { // puts the mass on two nodes; the mean stays, or rises
		i := int(math.Floor(x/l.step)) - l.first
		up := min(1, x/l.step-float64(i+l.first)+0x1p-36)
		l.p[i] += mass * (1 - up)
		l.p[i+1] += mass * up
	}
	l.p[-l.first] = -math.Expm1(-b.eps0 / 2)
	for i := l.first; i < l.first+len(l.p)-1; i++ {
		lo, hi := float64(i)*l.step, float64(i+1)*l.step
		// Z-1 within the cell, of either kind of L.
		for _, u := range [2][2]float64{{lo + rise, hi + rise}, {-(hi + rise) / ratio, -(lo + rise) / ratio}} {
			u1, u2 := max(0, u[0]), min(top, u[1])
			if !(u1 < u2) {
				continue
			}
			r1, r2 := math.Sqrt(1+u1), math.Sqrt(1+u2)
			mass := gamma / 2 * (u2 - u1) / ((r1 + r2) * r1 * r2)
			mean := math.Expm1((math.Log1p(u1) + math.Log1p(u2)) / 2)
			if u[0] == lo+rise {
				add(max(lo, min(hi, mean-rise)), mass)
			} else {
				add(max(lo, min(hi, -rise-ratio*mean)), mass)
			}
		}
	}
	add(most, gamma*gamma/2)
	add(least, gamma*gamma/2)
	return l
}

// logDelta bounds ln D from above.
func (b laplaceBlanket) logDelta(eps float64) float64 {
	if !(eps < b.eps0) {
		return math.Inf(-1)
	}
	n := float64(b.n)
	l := b.law(eps)
	b.meter.Spend(80 * len(l.p))
	tilted := make([]float64, len(l.p))
	cumulant := func(theta float64) float64 {
		sum := 0.0
		for i, p := range l.p {
			tilted[i] = p * math.Exp(theta*l.step*float64(i+l.first))
			sum += tilted[i]
		}
		return math.Log(sum)
	}
	// The saddle of e^(nK(θ))/θ²: K is convex. Any θ gives a bound.
	end := l.step * float64(l.first+len(l.p)-1)
	lo, hi := math.Log(1e-12/end), math.Log(600/end)
	for range 64 {
		third := (hi - lo) * 0.381966
		if n*cumulant(math.Exp(lo+third))-2*(lo+third) < n*cumulant(math.Exp(hi-third))-2*(hi-third) {
			hi -= third
		} else {
			lo += third
		}
	}
	theta := math.Exp((lo + hi) / 2)
	k0 := cumulant(theta)
	err := n * float64(len(l.p)+16) * 8 * 0x1p-53 // of the n-th power of φ(θ), and relative to it of all others
	// By x <= e^(θx-1)/θ: good enough for a value below every float64.
	if log := n*k0 - 1 - math.Log(theta) - math.Log(n) + err + 0x1p-40*math.Abs(n*k0); log < -800 {
		return log
	}
	whole := math.Exp(k0)
	var mean, square float64
	for i, m := range tilted {
		x := l.step * float64(i+l.first)
		mean += m / whole * x
		square += m / whole * x * x
	}
	sd := math.Sqrt(n * max(0, square-mean*mean))
	// How far apart copies of S are: terms beside the wanted one are small then.
	period := max((n*math.Abs(k0)+30)/theta, 14*sd+6*end)
	points := 2*math.Ceil(period/l.step/2) + 1
	last, rest := l.horizon(tilted, whole, n, points)
	b.meter.Need(float64(len(l.p)) * (last + 8) / 4)
	var sum, size float64
	for k := 0.0; k <= last; k++ {
		t := 2 * math.Pi * k / points // times the step
		re, im := l.transform(tilted, t)
		log := n * (math.Log(math.Hypot(re, im)) - k0)
		if log < -700 {
			continue
		}
		g, turn := payoff(theta*l.step, t)
		weight := 2.0
		if k == 0 {
			weight = 1
		}
		modulus := weight * math.Exp(log) * g
		near := err * whole / math.Hypot(re, im)
		sum += modulus * math.Cos(math.Remainder(n*math.Atan2(im, re), 2*math.Pi)+turn)
		size += modulus * (math.Expm1(min(near, 700)) + 4*near + 0x1p-40)
	}
	g, _ := payoff(theta*l.step, 0)
	total := (sum+size)/points + g*rest
	if !(total > 0) || math.IsInf(total, 1) || math.IsNaN(k0) {
		return 0 // ln 1: nothing better than δ <= 1 is known
	}
	result := n*k0 + math.Log(total) + math.Log(l.step) - math.Log(n)
	return min(0, result+err+0x1p-30+0x1p-48*math.Abs(n*k0))
}

// transform returns Σ tilted_i·e^(i·t·(first+i)).
func (l lattice) transform(tilted []float64, t float64) (re, im float64) {
	sin, cos := math.Sincos(t)
	s, c := math.Sincos(math.Remainder(t*float64(l.first), 2*math.Pi))
	for _, m := range tilted {
		re += m * c
		im += m * s
		c, s = c*cos-s*sin, s*cos+c*sin
	}
	return re, im
}

// payoff returns the modulus and the angle of e^-z/(1-e^-z)² at z = a+it, G over the step.
func payoff(a, t float64) (modulus, angle float64) {
	half := math.Sin(t / 2)
	re := -math.Expm1(-a)*math.Cos(t) + 2*half*half
	im := math.Exp(-a) * math.Sin(t)
	return math.Exp(-a) / (re*re + im*im), -t - 2*math.Atan2(im, re)
}

// horizon returns from which point on none is needed, and a bound on |φ/φ(θ)|^n there. Two
// masses v and w at a distance d have, at τ = td, a transform of at most
//
//	v + w - (1-cos τ)·vw/(v+w)
//
// in size, so that |φ| <= φ(θ) - c·(1-cos τ), c the sum over disjoint such pairs; 1-cos τ is at
// least 2(τ/π)² up to τ = π, and at least 1 from π/2 to there, where the next d, of half the
// size, takes over.
func (l lattice) horizon(tilted []float64, whole, n, points float64) (last, rest float64) {
	const enough = 80
	all := (points - 1) / 2
	worst, reach := math.Inf(1), all
	for d := 1; d < len(tilted); d *= 2 {
		c := 0.0
		for from := 0; from < len(tilted); from += 2 * d {
			for i := from; i < min(from+d, len(tilted)-d); i++ {
				if v, w := tilted[i], tilted[i+d]; v > 0 && w > 0 {
					c += v * w / (v + w)
				}
			}
		}
		c = n * c / whole * (1 - 0x1p-30)
		// From this τ on, d itself is enough, and below it the smaller ones were.
		if tau := math.Pi * math.Sqrt(enough/(2*c)); tau < math.Pi {
			reach = min(reach, math.Ceil(tau/float64(d)*points/(2*math.Pi)))
		}
		if c < enough {
			break
		}
		worst = min(worst, enough)
	}
	if math.IsInf(worst, 1) {
		return all, 0
	}
	return min(all, reach), math.Exp(-worst)
}
