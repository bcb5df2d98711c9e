// Package tail computes logarithms of small probabilities: tails of the normal law,
// their inverse, and sums and differences of what is given by its logarithm.
//
// It guarantees a relative error of the results below 1e-12, for arguments of any
// size, where the result itself is no tiny difference of the arguments. It rounds to
// nearest, in no direction.
package tail

import "math"

// LogErfc returns ln erfc(x).
func LogErfc(x float64) float64 {
	switch {
	case x < 0.5:
		return math.Log1p(-math.Erf(x)) // near 0 the logarithm is as small as x
	case x < 20:
		return math.Log(math.Erfc(x))
	}
	return -x*x - math.Log(x) - 0.5*math.Log(math.Pi) + math.Log(series(x))
}

// series returns x√π·e^(x²)·erfc(x) = 1 − 1/2x² + 1·3/(2x²)² − ..., whose terms, for
// x >= 20, fall below 1e-17 long before they rise again.
func series(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1; math.Abs(term) > 1e-17 && k < 20; k++ {
		term *= -float64(2*k-1) / (2 * x * x)
		sum += term
	}
	return sum
}

// LogNormal returns ln P(N > x) for a standard normal N.
func LogNormal(x float64) float64 {
	if x < 0 { // near 1 the logarithm is as small as the other tail
		return math.Log1p(-math.Exp(LogNormal(-x)))
	}
	return LogErfc(x/math.Sqrt2) - math.Ln2
}

// InverseLogErfc returns the x with ln erfc(x) = y, for y < ln 2; +Inf for −Inf.
func InverseLogErfc(y float64) float64 {
	switch {
	case math.IsInf(y, -1):
		return math.Inf(1)
	case !(y < math.Ln2):
		return math.Inf(-1)
	case y > -1: // Newton's steps mend the last digits
		return newton(math.Erfcinv(math.Exp(y)), y)
	}
	return newton(math.Sqrt(-y), y)
}

// newton solves ln erfc(x) = y. The function is concave and falls: wherever a step
// begins, it ends right of the solution or at it, and from there the steps only
// approach it.
func newton(x, y float64) float64 {
	for range 60 {
		step := (y - LogErfc(x)) / Hazard(x)
		x -= step
		if math.Abs(step) <= 1e-15*math.Abs(x) {
			break
		}
	}
	return x
}

// Hazard returns −d/dx ln erfc(x) = 2/√π·e^(−x²)/erfc(x), which rises.
func Hazard(x float64) float64 {
	if x < 20 {
		return 2 / math.Sqrt(math.Pi) * math.Exp(-x*x) / math.Erfc(x)
	}
	return 2 * x / series(x)
}

// Log1mExp returns ln(1 − e^x) for x <= 0.
func Log1mExp(x float64) float64 {
	if x < -math.Ln2 {
		return math.Log1p(-math.Exp(x))
	}
	return math.Log(-math.Expm1(x))
}

// LogAdd returns ln(e^x + e^y).
func LogAdd(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(x, 0) {
		return x
	}
	return x + math.Log1p(math.Exp(y-x))
}
