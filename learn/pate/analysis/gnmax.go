package analysis

import (
	"math"

	"github.com/discreet-dp/discreet/learn/pate/internal/tail"
)

// GNMax names the class with the most votes after each number of votes n_j got
// Gaussian noise of standard deviation Sigma.
type GNMax struct{ Sigma float64 }

// LogQ returns an upper bound of ln q, q being the probability of an answer other
// than the class j* with the most votes.
//
// Proposition 7 (Papernot et al. 2018): with d_j = n_j* − n_j,
//
//	q <= ½·Σ_(j≠j*) erfc(d_j/2σ).
func (m GNMax) LogQ(counts []float64) float64 {
	top, logq := best(counts), math.Inf(-1)
	for j, n := range counts {
		if j != top {
			logq = tail.LogAdd(logq, m.pair(counts[top]-n))
		}
	}
	return min(logq, logCap(len(counts)))
}

// pair returns the logarithm of the probability that a class d votes behind is ahead.
func (m GNMax) pair(d float64) float64 {
	if d == 0 { // 1/2 for every σ, where 0/0 would be NaN
		return -math.Ln2
	}
	return tail.LogErfc(d/(2*m.Sigma)) - math.Ln2
}

// IndependentRDP returns the Rényi divergence of an order above 1 for any votes.
//
// Proposition 8: (α, α/σ²)-RDP. One vote that moves changes two numbers by one, so the
// L2 sensitivity is √2.
func (m GNMax) IndependentRDP(order float64) float64 { return order / m.Sigma / m.Sigma }

// RDP returns the Rényi divergence of an order above 1, by q: the least of Theorem 6
// and Proposition 8.
func (m GNMax) RDP(logq, order float64) float64 {
	b := m.known(logq)
	return b.rdp(order, m.IndependentRDP(order))
}

// known prepares the bound for many orders.
//
// Theorem 6: let M be (µ1, ε1)- and (µ2, ε2)-RDP, and q̃ >= q the probability of an
// outcome other than j*. If α <= µ1, µ2 > 1 and
//
//	q̃ <= e^((µ2−1)ε2) / (µ1/(µ1−1)·µ2/(µ2−1))^µ2,
//
// then M is (α, ε)-RDP, at these votes, with
//
//	ε = 1/(α−1)·ln[(1−q̃)·A^(α−1) + q̃·B^(α−1)]
//	A = (1−q̃)/(1−(q̃·e^ε2)^((µ2−1)/µ2)),  B = e^ε1/q̃^(1/(µ1−1)),
//
// where −ln q̃ > ε2 makes A positive.
//
// Proposition 10 chooses µ2 = σ·√(ln 1/q̃), µ1 = µ2+1, ε_i = µ_i/σ².
//
// At α = µ1 itself the theorem holds too; there, as in the published code,
// Proposition 8 is taken.
func (m GNMax) known(logq float64) bound {
	if math.IsInf(logq, -1) { // the answer does not depend on the noise
		return bound{math.Inf(1), mixture{logq: logq}}
	}
	mu2 := m.Sigma * math.Sqrt(-logq)
	mu1 := mu2 + 1
	eps1, eps2 := mu1/m.Sigma/m.Sigma, mu2/m.Sigma/m.Sigma
	if !(mu2 > 1 && -logq > eps2 && logq <= rangeOfTheorem6(mu1, mu2, eps2)) {
		return bound{} // the theorem has no order that applies
	}
	logp := tail.Log1mExp(logq)
	return bound{mu1, mixture{logp, logp - tail.Log1mExp((logq+eps2)*(1-1/mu2)), logq, eps1 - logq/(mu1-1)}}
}

// rangeOfTheorem6 returns the logarithm of the largest q̃ of the theorem.
func rangeOfTheorem6(mu1, mu2, eps2 float64) float64 {
	return (mu2-1)*eps2 - mu2*(math.Log1p(1/(mu1-1))+math.Log1p(1/(mu2-1)))
}
