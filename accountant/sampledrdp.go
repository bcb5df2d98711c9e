package accountant

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// Rényi divergences of sampled events. With A the moment of order α, R =
// ln(A)/(α-1); the binomial sums below are of A-1 and have no negative terms,
// because the probabilities of a binomial law add up to 1.

// maxBinomial is the largest order of a binomial sum; above it, closed bounds.
const maxBinomial = 1024

// A binomialSum holds what the sums of one rate share.
type binomialSum struct {
	logQ, logRest float64   // ln q, ln(1-q)
	logFactorial  []float64 // ln n!
}

func newBinomialSum(q float64, top int) binomialSum {
	b := binomialSum{math.Log(q), math.Log1p(-q), make([]float64, top+1)}
	for n := 2; n <= top; n++ {
		b.logFactorial[n], _ = math.Lgamma(float64(n + 1))
	}
	return b
}

// logMoment returns ln Σ_{l=2..n} C(n,l) q^l (1-q)^(n-l) e^(logExcess(l)), rounded up.
func (b binomialSum) logMoment(n int, logExcess []float64) float64 {
	most, size := math.Inf(-1), 0.0
	logs := make([]float64, n+1)
	for l := 2; l <= n; l++ {
		powers := float64(l)*b.logQ + float64(n-l)*b.logRest
		choose := b.logFactorial[n] - b.logFactorial[l] - b.logFactorial[n-l]
		logs[l] = choose + powers + logExcess[l]
		if !(logs[l] <= most) { // a NaN passes on
			most = logs[l]
			size = 3*b.logFactorial[n] + math.Abs(powers) + math.Abs(logExcess[l])
		}
	}
	if math.IsInf(most, 0) || math.IsNaN(most) {
		return most
	}
	sum := 0.0
	for _, x := range logs[2:] {
		if x-most >= -50 { // x > most-50 would fail where most-50 rounds to most
			sum += math.Exp(x - most)
		}
	}
	// What was left out is below n e^-50 of the whole. The terms that count are as large
	// as the greatest, and their logarithms have errors of some units of their parts.
	return most + math.Log(sum) + float64(n)*0x1p-70 + (size+16)*0x1p-50
}

// ofLogMoment returns the divergence of order a for ln(A-1) = m.
func ofLogMoment(m, a float64) float64 {
	if m > 40 {
		return (m + math.Exp(-m)) / (a - 1)
	}
	return ofMoment(math.Exp(m), a)
}

// logExpm1 returns ln(e^x - 1) for x > 0.
func logExpm1(x float64) float64 {
	if x > 40 {
		return x
	}
	return math.Log(math.Expm1(x))
}

// byIntegers extends cumulants k(n) = (n-1)R(n) at whole orders to all orders up to
// maxBinomial by chords (see givenRDP), and leaves what lies above to beyond.
func byIntegers(meter *work.Meter, cumulants func(top int) func(n int) float64, beyond func(orders, out []float64)) func(orders, out []float64) {
	return func(orders, out []float64) {
		beyond(orders, out)
		top := 1
		for _, a := range orders {
			if a <= maxBinomial {
				top = max(top, int(math.Ceil(a)))
			}
		}
		if top < 2 {
			return
		}
		meter.Spend(8 * (top + len(orders)))
		cumulant := cumulants(top)
		known := make([]float64, top+1)
		k := func(n int) float64 {
			if known[n] == 0 && n > 1 {
				meter.Spend(n) // terms of a binomial sum
				known[n] = cumulant(n)
			}
			return known[n]
		}
		for i, a := range orders {
			if a > maxBinomial {
				continue
			}
			n := int(a)
			w := a - float64(n)
			value := k(n)
			if w > 0 {
				value = (1-w)*k(n) + w*k(n+1)
			}
			if r := value / (a - 1); !(r > out[i]) {
				out[i] = r // a NaN passes on
			}
		}
	}
}

// mixtureRDP bounds the divergence of two mixtures (1-q)U + qP and (1-q)U + qQ by
// that of P and Q: the moment is jointly convex in the pair (van Erven and Harremoës
// 2014, after Theorem 13), so that A <= 1-q + q e^((α-1)R). It holds for Poisson samples
// under either relation (with U = Q under AddRemove), for samples without replacement under
// ReplaceOne, and at every order.
func mixtureRDP(rdp func(orders, out []float64), q float64) func(orders, out []float64) {
	return func(orders, out []float64) {
		rdp(orders, out)
		for i, a := range orders {
			out[i] = math.Min(out[i], logAmplified((a-1)*out[i]*(1+rdpError), q)/(a-1))
		}
	}
}

// poissonRDP bounds that of any event with a curve R on a Poisson sample, under
// AddRemove.
//
// Theorem 5 of Zhu and Wang 2019 ("Poisson Subsampled Rényi Differential Privacy"),
// for whole α >= 2:
//
//	A <= (1-q)^(α-1) (αq-q+1) + C(α,2) q² (1-q)^(α-2) e^R(2)
//	     + 3 Σ_{l=3..α} C(α,l) q^l (1-q)^(α-l) e^((l-1)R(l)),
//
// and without the 3 (Theorem 6 there) if the odd Pearson-Vajda pseudo-divergences
// are positive, as for Gaussian and Laplace noise (Theorem 8 there).
func poissonRDP(meter *work.Meter, rdp func(orders, out []float64), q float64, odd bool) func(orders, out []float64) {
	return byIntegers(meter, func(top int) func(n int) float64 {
		excess := logExcesses(rdp, top, odd)
		sum := newBinomialSum(q, top)
		return func(n int) float64 { return ofLogMoment(sum.logMoment(n, excess), 2) }
	}, mixtureRDP(rdp, q))
}

// logExcesses returns ln(c e^((l-1)R(l)) - 1) for l = 2..top, where c is 3 from l = 3
// on unless odd.
func logExcesses(rdp func(orders, out []float64), top int, odd bool) []float64 {
	orders, rs := make([]float64, top-1), make([]float64, top-1)
	for i := range orders {
		orders[i] = float64(i + 2)
	}
	rdp(orders, rs)
	excess := make([]float64, top+1)
	for i, r := range rs {
		x := (orders[i] - 1) * r
		if i > 0 && !odd {
			x += math.Log(3)
		}
		excess[i+2] = logExpm1(x)
	}
	return excess
}

// withoutReplacementRDP bounds that of an event on m of n units, q = m/n, under
// ReplaceOne.
//
// Theorem 9 of Wang, Balle and Kasiviswanathan 2019 ("Subsampled Rényi
// Differential Privacy and Analytical Moments Accountant"), for whole α >= 2:
//
//	A <= 1 + q² C(α,2) min(4(e^R(2)-1), e^R(2) min(2, (e^R(∞)-1)²))
//	     + Σ_{j=3..α} q^j C(α,j) e^((j-1)R(j)) min(2, (e^R(∞)-1)^j).
func withoutReplacementRDP(meter *work.Meter, inner claims, q float64) func(orders, out []float64) {
	logTop := math.Inf(1) // ln(e^R(∞)-1)
	if inner.point != nil {
		if eps, delta := inner.point(); delta.Sign() == 0 {
			logTop = logExpm1(toFloat(eps))
		}
	}
	return byIntegers(meter, func(top int) func(n int) float64 {
		orders, rs := make([]float64, top-1), make([]float64, top-1)
		for i := range orders {
			orders[i] = float64(i + 2)
		}
		inner.rdp(orders, rs)
		excess := make([]float64, top+1)
		for i, r := range rs {
			j := orders[i]
			excess[i+2] = (j-1)*r + math.Min(math.Ln2, j*logTop)
			if i == 0 {
				excess[2] = math.Min(excess[2], math.Log(4)+logExpm1(r))
			}
		}
		sum := newBinomialSum(q, top)
		sum.logRest = 0 // no factors 1-q in this theorem
		return func(n int) float64 { return ofLogMoment(sum.logMoment(n, excess), 2) }
	}, mixtureRDP(inner.rdp, q))
}
