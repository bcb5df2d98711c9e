package loss

import (
	"fmt"
	"math"
)

// logistic is a law whose loss has, under P, a density proportional to e^{l/2} on
// (-e, e), and perhaps atoms at the two ends. Laplace noise has such a law, and so
// has a choice of bounded range.
type logistic struct {
	e        float64 // the greatest loss
	logScale float64 // ln P{a < L <= b} is this + ln(e^{b/2} - e^{a/2})
	ends     []Atom
}

// Laplace returns the pair of Laplace noise with e = sensitivity/scale, for either
// direction. At outcomes beyond both centres the loss is ±e; between them it grows
// at twice the pace of the outcome (for the profile see Balle, Barthe and Gaboardi
// 2018, Theorem 3).
func Laplace(e float64) (Pair, error) {
	if !positive(e) || e > 1e6 {
		return nil, fmt.Errorf("laplace pair of epsilon %v: want 0 < epsilon <= 1e6", e)
	}
	return &logistic{e, -math.Ln2 - e/2, []Atom{{-e, -math.Ln2 - e}, {e, -math.Ln2}}}, nil
}

// BoundedRange returns the pair that dominates every choice of bounded range e
// (Durfee and Rogers 2019), the exponential mechanism's among them. By Dong, Durfee
// and Rogers 2020 each such choice is dominated, at each point of its profile, by
// one of the generalized randomized responses whose losses are t and t-e, 0<=t<=e:
//
//	(1-e^{t-e}) (1 - α e^{-t}) / (1-e^{-e})    at α between e^{t-e} and e^t.
//
// The greatest over t, at 2t = e + ln α, is (1 - √(α e^{-e}))² / (1-e^{-e}): convex
// in α and 1-α at α = e^{-e}, hence the profile of a pair (Zhu, Dong and Wang 2022,
// Proposition 8), the one given here. No single choice attains all of it, so that
// compositions of it are upper bounds only: see choice.
func BoundedRange(e float64) (Pair, error) {
	if !positive(e) || e > 1e6 {
		return nil, fmt.Errorf("bounded range pair of epsilon %v: want 0 < epsilon <= 1e6", e)
	}
	return &logistic{e: e, logScale: -e/2 - math.Log(-math.Expm1(-e))}, nil
}

func (l *logistic) Atoms() []Atom        { return l.ends }
func (l *logistic) Ends() (p, q float64) { return 0, 0 }
func (l *logistic) Max() float64         { return l.e }

func (l *logistic) Thresholds(n int) []float64 {
	// Half of them evenly, the others ever closer to the greatest loss, where tilts
	// towards high losses put the law.
	t := make([]float64, n)
	half := n / 2
	for i := range half {
		t[i] = l.e * (2*float64(i)/float64(half) - 1)
	}
	gap := l.e - t[max(0, half-1)]
	for i := half; i < n; i++ {
		t[i] = l.e - gap*math.Pow(10, -6*float64(i-half+1)/float64(n-half))
	}
	t[n-1] = l.e
	return t
}

// Cells: ∫ e^{l/2} over ∫ e^{-l/2}, both from a to b, is e^{(a+b)/2}.
func (l *logistic) Cells(t, logP, ratio []float64) Rounding {
	for i := range logP {
		a, b := max(t[i], -l.e), min(t[i+1], l.e)
		if !(a < b) {
			logP[i], ratio[i] = math.Inf(-1), 0
			continue
		}
		logP[i] = l.logScale + b/2 + math.Log(-math.Expm1((a-b)/2))
		ratio[i] = a + (b-a)/2
	}
	return Rounding{Mass: 8 * unit * (4 + l.e), Ratio: 4 * unit * l.e}
}

func (l *logistic) Delta(epsilon float64) float64 {
	if epsilon <= -l.e {
		return -math.Expm1(epsilon)
	}
	if epsilon >= l.e {
		return 0
	}
	// ∫ (1 - e^{ε-l}) e^{l/2} dl/2 = e^{e/2} (1 - e^{(ε-e)/2})², and the upper atom.
	root := math.Expm1((epsilon - l.e) / 2)
	d := math.Exp(l.logScale+l.e/2) * root * root
	for _, a := range l.ends {
		if a.Loss > epsilon {
			d -= math.Exp(a.LogP) * math.Expm1(epsilon-a.Loss)
		}
	}
	return d
}
