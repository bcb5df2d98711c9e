package accountant

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/transform"
	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// The Poisson-subsampled Gaussian event under AddRemove: Q = N(0,1), P = (1-q)N(0,1)
// + qN(μ,1), in units of σ.
//
// Theorem 5 of Mironov, Talwar and Zhang 2019 ("Rényi Differential Privacy of the
// Sampled Gaussian Mechanism"): D_α(P‖Q) >= D_α(Q‖P), so that the one of the unit's
// removal is the answer. With w(x) = P/Q = 1-q+q e^(μx-μ²/2) its moment is
// A = E[w(x)^α], x ~ N(0,1).

func poissonGaussianRDP(meter *work.Meter, mu, q float64) func(orders, out []float64) {
	return func(orders, out []float64) {
		// Above maxBinomial: e^(l(l-1)μ²/2) <= e^(l(α-1)μ²/2) in the sum of the next
		// whole order, whose divergence is no less, gives A <= (1-q+q e^((α-1)μ²/2))^α.
		var fractional []int
		top := 1
		for i, a := range orders {
			n := math.Ceil(a)
			switch {
			case n > maxBinomial:
				out[i] = n / (n - 1) * logAmplified((n-1)*mu*mu/2, q)
			case a == n:
				top = max(top, int(n))
			case a*mu*mu > 1<<16:
				// Some four nodes of the integral each, and ε far beyond use: what the event
				// has without sampling, by joint quasi-convexity.
				out[i] = up(a * mu * mu / 2)
			default:
				fractional = append(fractional, i)
			}
		}
		meter.Spend(len(orders))
		if top > 1 {
			excess := make([]float64, top+1)
			for l := 2; l <= top; l++ {
				excess[l] = logExpm1(float64(l) * float64(l-1) / 2 * mu * mu)
			}
			sum := newBinomialSum(q, top)
			for i, a := range orders {
				if a == math.Trunc(a) && a <= maxBinomial {
					meter.Spend(int(a))
					out[i] = ofLogMoment(sum.logMoment(int(a), excess), a)
				}
			}
		}
		if len(fractional) > 0 {
			fractionalMoments(meter, mu, q, orders, fractional, out)
		}
	}
}

// fractionalMoments integrates A-1 = E[g(w(x)-1)] for g(u) = (1+u)^α - 1 - αu,
// which is positive as E[w] = 1, by the trapezoidal rule with step h.
//
// The integrand is analytic where |Im x| < π/μ: w does not meet the negative axis
// there. On the line Im x = c it is at most e^(c²/2) times what it is for the same
// real part with w^α + 1 + α|w-1| in place of g, because |w(x+ic)| <= w(x); whose
// integral is at most A + 1 + 2α. So the rule errs by at most
// 2 (A+1+2α) e^(c²/2) / (e^(2πc/h) - 1) (Trefethen and Weideman 2014, Theorem 5.1), and
// h is chosen to make the factor e^-digits. Outside of the range of summation,
// w^α <= 2^(α-1)((1-q)^α + q^α e^(α(μx-μ²/2))), whose integral against the density
// is that of Gaussians around 0 and αμ, and A is at least 1 and at least q^α
// e^(α(α-1)μ²/2): the relative error is at most 2^α times the tail of N(0,1) beyond reach.
func fractionalMoments(meter *work.Meter, mu, q float64, orders []float64, which []int, out []float64) {
	high := 0.0
	for _, i := range which {
		high = math.Max(high, orders[i])
	}
	// With c = 2π/h: 2πc/h - c²/2 = 2π²/h² = digits; with c close to π/μ: 2πc/h - c²/2.
	h := math.Pi * math.Sqrt(2.0/digits)
	if c := 0.999 * math.Pi / mu; 2*math.Pi/h > c {
		h = 2 * math.Pi * c / (digits + c*c/2)
	}
	reach := math.Sqrt(2*(digits+high*math.Ln2)) + h
	meter.Need((2*reach + high*mu) / h)
	grid := make([]ratio, int((2*reach+high*mu)/h)+2)
	for j := range grid {
		grid[j] = ratioAt(-reach+float64(j)*h, h, mu, q)
	}
	for _, i := range which {
		a := orders[i]
		n := min(len(grid), int((2*reach+a*mu)/h)+2)
		meter.Spend(n)
		out[i] = fractionalMoment(a, mu, q, grid[:n])
	}
}

// digits is -ln of the relative error of the rule, and of the tails.
const digits = 72

// A ratio is w at one node, with the node's weight.
type ratio struct {
	u, logW           float64 // w-1, ln w
	density, logDense float64 // h φ(x)
}

func ratioAt(x, h, mu, q float64) ratio {
	r := ratio{logDense: -x*x/2 - logRootTau + math.Log(h)}
	r.density = math.Exp(r.logDense)
	if y := mu*x - mu*mu/2; y < 700 {
		r.u = q * math.Expm1(y)
		r.logW = math.Log1p(r.u)
	} else {
		r.u, r.logW = math.Inf(1), y+math.Log(q)
	}
	return r
}

func fractionalMoment(a, mu, q float64, grid []ratio) float64 {
	// The sum is kept in units of e^shift: A is at least q^α e^(α(α-1)μ²/2), and at most
	// 2^α times the greater of 1 and that.
	// Of an A that may be near 1, A-1 is summed, which has more digits.
	shift := a*math.Log(q) + a*(a-1)/2*mu*mu
	if !(shift > 1) {
		shift = 0
	}
	scale := math.Exp(-shift)
	small := 0x1p-7 * math.Min(1, 1/a)
	sum := 0.0
	for i := range grid {
		r := &grid[i]
		switch {
		case r.logDense < -digits-20 && a*r.logW+r.logDense-shift < -digits-20:
			// Both parts of g together are below (2+2α)e^-80.
		case math.Abs(r.u) < small:
			// Σ_{n>=2} C(α,n) u^n: falling by |u|max(1,α), below rounding after 8 terms.
			t, s := a*r.u, 0.0
			for n := 2.0; n < 10; n++ {
				t *= (a - n + 1) / n * r.u
				s += t
			}
			sum += s * r.density * scale
		case a*r.logW > 30:
			// The rest of g is negative, and nothing beside the power where u overflows.
			sum += math.Exp(a*r.logW + r.logDense - shift)
			if !math.IsInf(r.u, 1) {
				sum -= (1 + a*r.u) * r.density * scale
			}
		default:
			// (1+u)((1+u)^(α-1) - 1) - (α-1)u
			sum += ((1+r.u)*math.Expm1((a-1)*r.logW) - (a-1)*r.u) * r.density * scale
		}
	}
	// The two errors, each of relative size e^-digits against A+1+2α.
	err := (2 + 2*a) * math.Exp(3-digits)
	if shift > 0 {
		return (shift + math.Log(sum*(1+err)+scale+err)) / (a - 1)
	}
	return ofMoment(sum+err*(1+sum), a)
}

// replacedGaussianRDP is the divergence of (1-q)N(0,1) + qN(μ,1) from (1-q)N(0,1) +
// qN(-μ,1), which is the same the other way round, by quadrature; +Inf where that
// fails.
func replacedGaussianRDP(meter *work.Meter, mu, q float64) func(orders, out []float64) {
	term := transform.Term{Sigma: 1, Sensitivity: mu, Rate: q, Count: 1}
	return each(func(a float64) float64 {
		b, err := transform.RDP(meter, term, transform.Replace, []float64{a})
		if err != nil {
			return math.Inf(1)
		}
		return b[0].High
	})
}
