package subsample

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// poisson returns the profile under add-remove neighbours of an event on a sample that
// every unit enters by itself with probability q, from that of the event under the
// same relation: (ε, δ) becomes (ln(1+q(e^ε-1)), q·δ). Balle, Barthe and Gaboardi 2018
// ("Privacy Amplification by Subsampling: Tight Analyses via Couplings and
// Divergences"), Theorem 8.
func poisson(q float64, event Profile) (Profile, error) {
	if !(q > 0 && q <= 1) {
		return nil, fmt.Errorf("poisson sample: rate %v, want above 0, at most 1", q)
	}
	return amplified(q, event), nil
}

// poissonReplace is the same under replace-one neighbours. With R the event without
// the unit and A, A' with it and with its replacement, advanced joint convexity
// (Theorem 2 of the same paper) gives for α = e^ε' = 1+q(e^ε-1), β = α/e^ε
//
//	H_α((1-q)R+qA ‖ (1-q)R+qA') = q·H_{e^ε}(A ‖ (1-β)R+βA')
//	                            <= q·((1-β)·δ_remove(ε) + β·δ_replace(ε)),
//
// so that the event's profiles under both relations are needed.
func poissonReplace(q float64, remove, replace Profile) (Profile, error) {
	if !(q > 0 && q <= 1) {
		return nil, fmt.Errorf("poisson sample: rate %v, want above 0, at most 1", q)
	}
	return func(alpha float64) float64 {
		eps := unamplified(alpha, q)
		beta := math.Min(1, math.Exp(alpha-eps))
		return math.Min(1, q*((1-beta)*remove(eps)+beta*replace(eps))*(1+1e-12)+tiny)
	}, nil
}

// withoutReplacement returns the profile under replace-one neighbours of an event on
// a uniform set of m among n units, from that of the event on m units under the
// same relation: Theorem 9 of the paper of 2018, as Poisson's with q = m/n.
func withoutReplacement(m, n int64, event Profile) (Profile, error) {
	if m < 1 || m > n {
		return nil, fmt.Errorf("sample without replacement: %d of %d, want 1 <= m <= n", m, n)
	}
	return amplified(float64(m)/float64(n), event), nil
}

func amplified(q float64, event Profile) Profile {
	return func(eps float64) float64 {
		return math.Min(1, q*event(unamplified(eps, q))*(1+1e-12)+tiny)
	}
}

// unamplified returns the ε of which ln(1+q(e^ε-1)) is eps, rounded down.
func unamplified(eps, q float64) float64 {
	if eps > 700 {
		return (eps - math.Log(q)) * (1 - 0x1p-50)
	}
	return math.Log1p(math.Expm1(eps)/q) * (1 - 0x1p-50)
}

// WithReplacement returns the profile under replace-one neighbours of an event on m
// independent uniform draws among n units, so that a unit may come several times,
// from the event's profiles for groups: k units of its m replaced.
//
// Theorem 10 of the paper of 2018: with γ = 1-(1-1/n)^m and ε' = ln(1+γ(e^ε-1)),
//
//	δ'(ε') <= Σ_{k=1..m} C(m,k) (1/n)^k (1-1/n)^(m-k) δ_k(ε).
//
// Given how often k the unit comes, the rest of the sample is the same, and a
// sample in which it comes never is one with another unit in its places, at most k
// away. What lies beyond the window of k counts as δ_k = 1.
func WithReplacement(meter *work.Meter, m, n int64, event Group) (Profile, error) {
	if m < 1 || n < 1 {
		return nil, fmt.Errorf("sample with replacement: %d of %d, want both at least 1", m, n)
	}
	meter.Spend(3 * maxCopies)
	weights, beyond, none := multiplicities(m, n)
	gamma := -math.Expm1(none)
	profiles := make([]Profile, len(weights))
	for i := range profiles {
		profiles[i] = event(int64(i) + 1)
	}
	return func(eps float64) float64 {
		at := unamplified(eps, gamma)
		meter.Spend(4 * len(weights))
		sum := beyond
		for i, w := range weights {
			sum += w * profiles[i](at)
		}
		return math.Min(1, sum*(1+1e-11)+tiny)
	}, nil
}

// multiplicities returns P(K = 1), P(K = 2), ... of K ~ Bin(m, 1/n) until what is left
// is below 1e-305, a bound on that, and ln P(K = 0).
func multiplicities(m, n int64) (weights []float64, beyond, none float64) {
	trials, rate := float64(m), 1/float64(n)
	none = trials * math.Log1p(-rate) // -Inf if n is 1
	if n == 1 {
		weights = make([]float64, min(m, maxCopies))
		if m > maxCopies {
			return weights, 1, none
		}
		weights[m-1] = 1
		return weights, 0, none
	}
	log := none
	for k := int64(1); k <= m && k <= maxCopies; k++ {
		x := float64(k)
		log += math.Log((trials-x+1)/x) - math.Log(float64(n-1))
		weights = append(weights, math.Exp(log+x*0x1p-45))
		if ratio := (trials - x) / (x + 1) / float64(n-1); ratio < 0.5 && log < -705 {
			return weights, math.Exp(log + 1), none
		}
	}
	if m > maxCopies { // bound the rest by a geometric series, if the masses fall fast enough
		x := float64(maxCopies)
		if r := (trials - x) / (x + 1) / float64(n-1); r < 1 {
			return weights, math.Min(1, math.Exp(log)*r/(1-r)*(1+1e-9)), none
		}
		return weights, 1, none
	}
	return weights, 0, none
}

// maxCopies bounds how many copies of one unit are told apart.
const maxCopies = 1 << 14
