// Package duet holds the programs of Duet (Near et al. 2019) in Go, with the costs
// that its privacy modes infer.
package duet

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

type example struct {
	features []float64
	label    float64
}

// gradient is the sum of the slopes of the logistic loss, each clipped to [-1, 1] in
// every coordinate.
func gradient(rows []example, w []float64) []float64 {
	g := make([]float64, len(w))
	for _, r := range rows {
		margin := 0.0
		for j, x := range r.features {
			margin += x * w[j]
		}
		for j := range g {
			g[j] += max(-1, min(r.features[j]*r.label/(1+math.Exp(margin*r.label)), 1))
		}
	}
	return g
}

// GDPB is gd-pb in the zCDP mode: k rounds of Gaussian noise of ρ each.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires rho > 0 && k >= 0 && dim > 0
//dp:cost zcdp(float64(k) * rho)
func GDPB(rows []example, dim, k int, rate, rho float64, src *noise.Source) []float64 {
	w := make([]float64, dim)
	for range k {
		g := gradient(rows, w)
		for j := range w {
			w[j] -= rate * (g[j] + src.Gaussian(math.Sqrt(float64(dim)/(2*rho))))
		}
	}
	return w
}

// GDPBApproximate is gd-pb in the (ε, δ) mode, with advanced composition in full.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 1 && slack > 0 && slack < 1 && k > 0 && dim > 0
//dp:cost eps*math.Sqrt(2*float64(k)*math.Log(1/slack)) + float64(k)*eps*(math.Exp(eps)-1), float64(k)*delta + slack
func GDPBApproximate(rows []example, dim, k int, rate, eps, delta, slack float64, src *noise.Source) []float64 {
	w := make([]float64, dim)
	for range k {
		g := gradient(rows, w)
		for j := range w {
			w[j] -= rate * (g[j] + src.Gaussian(math.Sqrt(2*math.Log(1.25/delta))*math.Sqrt(float64(dim))/eps))
		}
	}
	return w
}

// GDPBTruncated claims the corollary without its second term, as Duet's rule does: it
// holds only where kε(e^ε−1) is small.
//
// want: rejected: no theorem
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 1 && slack > 0 && slack < 1 && k > 0 && dim > 0
//dp:cost 2*eps*math.Sqrt(2*float64(k)*math.Log(1/slack)), float64(k)*delta + slack
func GDPBTruncated(rows []example, dim, k int, rate, eps, delta, slack float64, src *noise.Source) []float64 {
	return GDPBApproximate(rows, dim, k, rate, eps, delta, slack, src)
}

// Thousand rounds at ε = 1: the truncated form would say 2·√(2000·ln 10⁵), which is
// 304, and the full one says 1870.
//
// want: rejected: no theorem
//
//dp:adjacent |x| <= 1
//dp:cost 304, 0.00001
func Thousand(x float64, src *noise.Source) []float64 {
	var out []float64
	for range 1000 {
		out = append(out, x+src.Laplace(1))
	}
	return out
}

// ThousandInFull claims the sum of both terms. (The accountant's bound is less.)
//
// want: accepted
//
//dp:adjacent |x| <= 1
//dp:cost 1870, 0.00001
func ThousandInFull(x float64, src *noise.Source) []float64 { return Thousand(x, src) }

// Basic composition of approximate releases.
//
// want: accepted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 1 && k > 0
//dp:cost float64(k) * eps, float64(k) * delta
func Basic(x float64, k int, eps, delta float64, src *noise.Source) []float64 {
	var out []float64
	for range k {
		out = append(out, x+src.Gaussian(math.Sqrt(2*math.Log(1.25/delta))/eps))
	}
	return out
}

// LargeEpsilon asks the classical theorem for more than it says.
//
// want: rejected: Theorem A.1|no theorem
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func LargeEpsilon(x, eps, delta float64, src *noise.Source) float64 {
	return x + src.Gaussian(math.Sqrt(2*math.Log(1.25/delta))/eps)
}

// ByZCDP converts at the end.
//
// want: accepted
//
//dp:adjacent |x| <= 1
//dp:requires rho > 0 && delta > 0 && delta < 1 && k > 0
//dp:cost float64(k)*rho + 2*math.Sqrt(float64(k)*rho*math.Log(1/delta)), delta
func ByZCDP(x float64, k int, rho, delta float64, src *noise.Source) float64 {
	last := 0.0
	for range k {
		last = x + src.Gaussian(math.Sqrt(1/(2*rho)))
	}
	return last
}

// PureInZCDP is Laplace noise in the zCDP mode: ε²/2.
//
// want: accepted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost zcdp(eps * eps / 2)
func PureInZCDP(x, eps float64, src *noise.Source) float64 { return x + src.Laplace(1/eps) }

// ParallelPrivacy asks each part of a public partition with Gaussian noise.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 1
//dp:cost eps, delta
func ParallelPrivacy(rows []example, labels int, eps, delta float64, src *noise.Source) []float64 {
	parts := make([][]example, labels)
	for _, r := range rows {
		k := int(r.label)
		parts[k] = append(parts[k], r)
	}
	out := make([]float64, labels)
	for i, part := range parts {
		total := 0.0
		for _, r := range part {
			total += min(max(r.features[0], 0), 1)
		}
		out[i] = total + src.Gaussian(math.Sqrt(2*math.Log(1.25/delta))/eps)
	}
	return out
}

// AdaptiveClip finds a clip by the sparse vector technique, whose own claim is proved
// apart, and descends with it: <ε + advanced, kδ + slack>.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 1 && slack > 0 && slack < 1 && k > 0 && dim > 0
//dp:cost eps + eps*math.Sqrt(2*float64(k)*math.Log(1/slack)) + float64(k)*eps*(math.Exp(eps)-1), float64(k)*delta + slack
func AdaptiveClip(rows []example, bounds []float64, dim, k int, rate, eps, delta, slack float64, src *noise.Source) []float64 {
	over := make([]float64, len(bounds))
	for i, b := range bounds {
		n := 0.0
		for _, r := range rows {
			if r.label > b {
				n++
			}
		}
		over[i] = n
	}
	clip := AboveThreshold(over, 0, eps, src)
	return GDPBApproximate(rows, dim, k, rate*float64(clip+1), eps, delta, slack, src)
}

// AboveThreshold is proved by its alignment, not here.
//
// want: rejected: eps\*len\(q\)/4
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func AboveThreshold(q []float64, t, eps float64, src *noise.Source) int {
	t += src.Laplace(2 / eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// FrankWolfe moves to a corner that the exponential mechanism chooses in each of k
// rounds: fw.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1 && k > 0 && dim > 0
//dp:cost eps*math.Sqrt(2*float64(k)*math.Log(1/delta)) + float64(k)*eps*(math.Exp(eps)-1), delta
func FrankWolfe(rows []example, dim, k int, eps, delta float64, src *noise.Source) []float64 {
	w := make([]float64, dim)
	for t := range k {
		g := gradient(rows, w)
		corner := src.Choose(g, eps)
		for j := range w {
			w[j] *= 1 - 1/float64(t+1)
		}
		w[corner] += 1 / float64(t+1)
	}
	return w
}

// Mixed is ρ of a choice, a Laplace draw and a Gaussian draw together.
//
// want: accepted
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && sigma > 0
//dp:cost zcdp(eps*eps/8 + eps*eps/2 + 1/(2*sigma*sigma))
func Mixed(q []float64, eps, sigma float64, src *noise.Source) (int, float64, []float64) {
	total := 0.0
	noisy := make([]float64, len(q))
	for i, x := range q {
		total += x
		noisy[i] = x + src.Gaussian(sigma)
	}
	return src.Choose(q, eps), total + src.Laplace(1/eps), noisy
}

// TooCheap claims half of the ρ.
//
// want: rejected: 1/\(2\*sigma\*sigma\)
//
//dp:adjacent |x| <= 1
//dp:requires sigma > 0
//dp:cost zcdp(1 / (4*sigma*sigma))
func TooCheap(x, sigma float64, src *noise.Source) float64 { return x + src.Gaussian(sigma) }

// GaussianIsNotPure has no ε.
//
// want: rejected: not ε-DP
//
//dp:adjacent |x| <= 1
//dp:requires sigma > 0
//dp:cost 100 / sigma
func GaussianIsNotPure(x, sigma float64, src *noise.Source) float64 { return x + src.Gaussian(sigma) }
