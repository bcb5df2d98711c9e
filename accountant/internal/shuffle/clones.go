package shuffle

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// clonePair is the reduction of Feldman, McMillan and Talwar, "Hiding Among the
// Clones", FOCS 2021, Section 3, for every eps0-LDP randomizer R.
//
// Two inputs of the replaced user give R(x) = (p·Q0+Q1)/(p+1) and
// R(x') = (Q0+p·Q1)/(p+1) for some laws Q0, Q1 and p = e^eps0 (Kairouz, Oh and
// Viswanath 2015), and every other user's law is at least
// e^-eps0·(R(x)+R(x'))/2 = e^-eps0·(Q0+Q1)/2. So each of the others, with
// probability e^-eps0 by itself, reports a fair draw from Q0 and Q1; the rest of
// the reports is given away. What is observed is then a function of how many
// reports came from Q0 and from Q1.
func clonePair(meter *work.Meter, n int64, eps0 float64) pair {
	low := math.Exp(-eps0)
	return pair{meter: meter, n: n, eps0: eps0, rate: low, rest: -math.Expm1(-eps0), atom: 1 / (1 + low)}
}

// strongPair has C ~ Bin(n-1, 2/(p+1)): Feldman, McMillan and Talwar, "Stronger
// Privacy Amplification by Shuffling for Rényi and Approximate Differential
// Privacy", SODA 2023, whose erratum takes back the claim for every randomizer.
//
// It is proved here for randomizers of which, for all inputs x, x', z and outputs y,
//
//	R(x)(y) + R(x')(y) <= (p+1)·R(z)(y)                                   (*)
//
// for then every other user's law is at least (R(x)+R(x'))/(p+1) = (Q0+Q1)/(p+1), and
// clonePair's argument goes through word for word. Randomized response over any
// number of answers satisfies (*): only one of x and x' can be y, and the left side
// is at most that of p+1 untrue answers. A randomizer that gives two inputs the
// same likely output (local hashing, subset selection, Laplace) does not.
func strongPair(meter *work.Meter, n int64, eps0 float64) pair {
	low := math.Exp(-eps0)
	return pair{meter: meter, n: n, eps0: eps0, rate: 2 * low / (1 + low), rest: math.Tanh(eps0 / 2), atom: 1 / (1 + low)}
}

// closedForm is Theorem 3.1 of the paper of 2021: for eps0 <= ln(n/(16·ln(4/δ))),
//
//	ε = ln(1 + (1-e^-eps0)/(1+e^(-eps0-ε'))·(a+b)),   ε' = ln(1+a+b)
//	a = 8·√(e^eps0·ln(4/δ)/n)   b = 8·e^eps0/n
//
// The theorem has (e^eps0-1)/(e^eps0+1), which is smaller, and its domain 2/δ in
// place of 4/δ; this is the form that its authors' program gives, safe and
// comparable with others' figures.
func closedForm(n int64, eps0, delta float64) (float64, bool) {
	l := math.Log(4 / delta)
	if math.IsInf(4/delta, 1) {
		l = math.Log(4) - math.Log(delta)
	}
	if !(eps0 <= math.Log(float64(n)/(16*l))) {
		return 0, false
	}
	p := math.Exp(eps0)
	ab := 8*math.Sqrt(p*l/float64(n)) + 8*p/float64(n)
	inner := math.Log1p(ab)
	share := -math.Expm1(-eps0) / (1 + math.Exp(-eps0-inner))
	return math.Log1p(share*ab) * (1 + 0x1p-48), true
}
