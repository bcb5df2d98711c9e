package analysis

import (
	"math"

	"github.com/discreet-dp/discreet/learn/pate/internal/tail"
)

// Threshold is the test of Confident-GNMax and interactive aggregation: a query is
// answered if the largest count with Gaussian noise of standard deviation Sigma is at
// least At.
type Threshold struct{ At, Sigma float64 }

// LogAnswered returns ln P(the query is answered). The largest count is rounded to
// the nearest whole number, halves to even: where a student's own answer is
// subtracted from the votes it is a fraction, and the sensitivity of what follows is
// computed for whole ones.
func (t Threshold) LogAnswered(counts []float64) float64 {
	return t.logAnswered(math.RoundToEven(counts[best(counts)]))
}

func (t Threshold) logAnswered(largest float64) float64 {
	return tail.LogNormal((t.At - largest) / t.Sigma)
}

// gaussian is the GNMax that costs as much: a vote that moves changes the largest
// count by at most 1, not two numbers by 1 each, so that a GNMax of √2·σ has the
// divergences of the test, α/2σ².
func (t Threshold) gaussian() GNMax { return GNMax{math.Sqrt2 * t.Sigma} }

// IndependentRDP returns the Rényi divergence of an order above 1 for any votes.
func (t Threshold) IndependentRDP(order float64) float64 { return t.gaussian().IndependentRDP(order) }

// RDP returns the Rényi divergence of an order above 1 by the probability of an
// answer: Theorem 6, for which the less likely of the two outcomes is the other one. No
// test is certain: a logarithm that was rounded to 0 is of an answer that fails with a
// probability below 2^−1074, which is then taken for it, as the theorem allows.
func (t Threshold) RDP(logAnswered, order float64) float64 {
	unanswered := max(tail.Log1mExp(logAnswered), -1074*math.Ln2)
	return t.gaussian().RDP(min(logAnswered, unanswered), order)
}

// known prepares the bound at a largest count for many orders.
func (t Threshold) known(largest float64) bound {
	return t.gaussian().known(tail.LogNormal(math.Abs(t.At-largest) / t.Sigma))
}
