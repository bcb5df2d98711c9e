package analysis

import (
	"math"

	"github.com/discreet-dp/discreet/learn/pate/internal/tail"
)

// A mixture is the form of all bounds that depend on the votes:
//
//	ln[(1−q)·e^(l·a) + q·e^(l·b)],  a, b >= 0,
//
// at the moment l = α−1, with p = 1−q.
type mixture struct{ logp, a, logq, b float64 }

// at returns the logarithm at moment l. As the difference from 1 its terms are
// positive, so that neither small q nor orders near 1 cancel digits.
func (m mixture) at(l float64) float64 {
	x, y := l*m.a, m.logq+l*m.b
	if x > 30 || y > 30 {
		return tail.LogAdd(m.logp+x, y)
	}
	return math.Log1p(math.Exp(m.logp)*math.Expm1(x) - math.Exp(y)*math.Expm1(-l*m.b))
}

// A bound is what an aggregator reveals by q: the mixture at orders below limit, and
// never more than what holds for any votes.
type bound struct {
	limit float64
	mixture
}

// rdp returns the divergence of an order of which independent holds for any votes.
func (b *bound) rdp(order, independent float64) float64 {
	if order < b.limit {
		return max(0, min(independent, b.at(order-1)/(order-1)))
	}
	return independent
}
