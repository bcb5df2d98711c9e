package analysis

import (
	"math"

	"github.com/discreet-dp/discreet/learn/pate/internal/tail"
)

// LNMax names the class with the most votes after each number of votes n_j got
// Laplace noise of scale 1/Gamma. One query is 2·Gamma-DP: a vote that moves changes
// two numbers by one.
type LNMax struct{ Gamma float64 }

// LogQ returns an upper bound of ln q, q being the probability of an answer other
// than the class j* with the most votes.
//
// Lemma 4 (Papernot et al. 2017): with d_j = n_j* − n_j,
//
//	q <= Σ_(j≠j*) (2 + γd_j) / (4·exp(γd_j)).
func (m LNMax) LogQ(counts []float64) float64 {
	top, logq := best(counts), math.Inf(-1)
	for j, n := range counts {
		if j != top {
			logq = tail.LogAdd(logq, m.pair(counts[top]-n))
		}
	}
	return min(logq, logCap(len(counts)))
}

// pair bounds the logarithm of the probability that a class d votes behind wins.
func (m LNMax) pair(d float64) float64 {
	x := m.Gamma * d
	if math.IsInf(x, 1) {
		return math.Inf(-1)
	}
	return math.Log(2+x) - 2*math.Ln2 - x
}

// Moment returns a bound of the log moment of order l of one query's privacy loss,
// by q: the least of Theorem 3 and what holds for any votes.
func (m LNMax) Moment(logq, l float64) float64 { return pure{2 * m.Gamma}.Moment(logq, l) }

// IndependentMoment is Moment for any votes.
func (m LNMax) IndependentMoment(l float64) float64 { return pure{2 * m.Gamma}.IndependentMoment(l) }

// pure is any release that is Epsilon-DP, of which one outcome has probability 1 − q.
type pure struct{ Epsilon float64 }

// IndependentMoment returns min(ε²l(l+1)/2, εl): an ε-DP release is ε²/2-zCDP (Bun and
// Steinke 2016, Proposition 1.4), and no loss exceeds ε.
func (p pure) IndependentMoment(l float64) float64 {
	return min(p.Epsilon*p.Epsilon/2*l*(l+1), p.Epsilon*l)
}

// Moment returns a bound of the log moment of order l that knows q.
//
// Theorem 3 (Papernot et al. 2017): for q < (e^ε−1)/(e^2ε−1) = 1/(e^ε+1)
//
//	ln[(1−q)·((1−q)/(1−e^ε·q))^l + q·e^(εl)].
//
// Beyond that range it is no bound: at ε > ln 2 the base of the power is negative
// before q reaches one half.
func (p pure) Moment(logq, l float64) float64 {
	if b := p.known(logq); b.limit > 0 {
		return max(0, min(p.IndependentMoment(l), b.at(l)))
	}
	return p.IndependentMoment(l)
}

// IndependentRDP returns the Rényi divergence of an order above 1 for any votes.
func (p pure) IndependentRDP(order float64) float64 {
	return p.IndependentMoment(order-1) / (order - 1)
}

// RDP returns the Rényi divergence of an order above 1 that Moment implies.
func (p pure) RDP(logq, order float64) float64 { return p.Moment(logq, order-1) / (order - 1) }

// Limit returns ln(1/(e^ε+1)), below which q must be for Theorem 3.
func (p pure) Limit() float64 { return -tail.LogAdd(p.Epsilon, 0) }

// known prepares the bound for many moments: Theorem 3, for every order or for none.
func (p pure) known(logq float64) bound {
	if !(logq < p.Limit()) {
		return bound{}
	}
	// (1−q)/(1−e^ε·q) is 1 + q(e^ε−1)/(1−e^ε·q), of which a small ε loses no digits.
	up := p.Epsilon + logq
	a := math.Log1p(math.Exp(up) * math.Expm1(-p.Epsilon) / math.Expm1(up))
	return bound{math.Inf(1), mixture{tail.Log1mExp(logq), a, logq, p.Epsilon}}
}
