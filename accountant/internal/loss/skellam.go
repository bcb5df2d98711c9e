package loss

import (
	"fmt"
	"math"
	"slices"
)

// maxSkellam is the greatest variance of Skellam noise whose pair is made: above, the
// losses near 0 have too few digits, and the noise is nearly Gaussian.
const maxSkellam = 1 << 14

// skellam returns the pairs that bound noise of the law S(k) = e^-μ I_|k|(μ) over the
// integers, the difference of two Poisson variables of mean μ/2, on one number that moves by
// the whole number s. P is centred at s: an outcome k has the loss ln S(k-s)/S(k),
// which increases with k because S is log-concave. The pair is its own mirror image.
//
// I_(k+1)/I_k comes from the recurrence r(k-1) = 1/(2k/μ + r(k)), downwards, which is stable
// and has positive terms only (Gautschi 1967; Amos 1974), begun where S is far below any
// float64. A ratio near 1 - (k+½)/μ has an absolute error of some 2^-52, so that of a loss
// is at most 2^-52·2μ of it, relatively, times the s ratios' own rounding. Above has the
// losses and masses moved up by more than that, and Below moved down.
//
// Outcomes more than reach past both centres, less than e^-800 in sum by Chernoff's bound,
// P(X >= k) <= exp(μ(√(1+(k/μ)²) - 1) - k·asinh(k/μ)), are left out.
func skellam(mu float64, s int64) (Event, error) {
	if !(mu >= 1e-6 && mu <= maxSkellam) || s < 1 || s > 1<<12 {
		return Event{}, fmt.Errorf("pair of Skellam noise of variance %v, sensitivity %d: want 1e-6 <= variance <= %d and a sensitivity of at most 4096: %w",
			mu, s, maxSkellam, ErrUnsupported)
	}
	reach := 1
	for chernoff := func(k float64) float64 { return mu*(math.Hypot(1, k/mu)-1) - k*math.Asinh(k/mu) }; chernoff(float64(reach)) > -800; {
		reach += 1 + reach/8
	}
	top := reach + int(s) // the greatest argument of S
	logRatio := make([]float64, top)
	r := 0.0
	for k := 2*top + 50; k >= 1; k-- {
		r = 1 / (2*float64(k)/mu + r) // I_k/I_(k-1)
		if k <= top {
			logRatio[k-1] = math.Log(r)
		}
	}
	logS := make([]float64, top+1) // of S(k)/S(0), then of S(k)
	for k, l := range logRatio {
		logS[k+1] = logS[k] + l
	}
	total := 0.0
	for _, l := range slices.Backward(logS[1:]) {
		total += 2 * math.Exp(l)
	}
	norm := -math.Log1p(total)
	loss := func(k int) float64 { // ln S(k-s)/S(k), by the ratios that are between
		a, b := absolute(k-int(s)), absolute(k)
		sum := 0.0
		for j := min(a, b); j < max(a, b); j++ {
			sum += logRatio[j]
		}
		if a < b {
			return -sum
		}
		return sum
	}
	relative := 0x1p-50 * (2*math.Max(mu, 1) + float64(s))
	mass := 0x1p-50 * float64(top+100)
	moved := func(sign float64) *discrete {
		d := &discrete{cut: true}
		for k := -reach; k <= int(s)+reach; k++ {
			l := loss(k)
			a := Atom{l + sign*math.Abs(l)*relative, norm + logS[absolute(k-int(s))] + sign*mass}
			if n := len(d.atoms); n > 0 && d.atoms[n-1].Loss >= a.Loss {
				// Equal up to rounding: merge them on the side that keeps the bound.
				a.LogP = logAdd(d.atoms[n-1].LogP, a.LogP)
				if sign > 0 {
					a.Loss = d.atoms[n-1].Loss
				}
				d.atoms = d.atoms[:n-1]
			}
			d.atoms = append(d.atoms, a)
		}
		return d
	}
	return Event{Above: moved(1), Below: moved(-1)}, nil
}

func absolute(k int) int { return max(k, -k) }
