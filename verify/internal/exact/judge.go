package exact

import (
	"context"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// A limits is what a claim allows a pair.
type limits struct {
	measure  claim.Measure
	eps, rho numeric.Interval
	delta    numeric.Interval
	// The upper bounds, as floats: for the search.
	epsilon, small, rate float64
}

// allowed evaluates the cost of a claim on a pair; where it differs between the
// runs, the larger one.
func (c *code) allowed(cl *claim.Claim, p pair) (limits, error) {
	l := limits{measure: cl.Cost.Measure}
	for i, run := range [][][]rational{p.first, p.second} {
		values := c.bind(run)
		for _, part := range []struct {
			e    any
			wide *numeric.Interval
			top  *float64
		}{{cl.Cost.Epsilon, &l.eps, &l.epsilon}, {cl.Cost.Delta, &l.delta, &l.small}, {cl.Cost.Rho, &l.rho, &l.rate}} {
			e, ok := part.e.(interface{ String() string })
			if !ok || e == nil {
				continue
			}
			f, err := c.concrete(e, values)
			if err != nil {
				return l, err
			}
			in := f.enclosure()
			if hi := outward(in.Hi(), in.Hi()).Hi; i == 0 || hi >= *part.top {
				*part.wide, *part.top = in, hi
			}
		}
	}
	if l.epsilon > 1<<16 {
		return l, unsupported("a cost that bounds nothing")
	}
	return l, nil
}

// orders are those of Rényi divergence that the search tries.
func orders() []int64 {
	return []int64{1025, 1050, 1100, 1250, 1500, 2000, 3000, 5000, 9000, 17000, 33000, 65000, 129000}
}

// score guides the search: how far p and q exceed the claim, relative to it where it
// has a scale; positive where they seem to refute it.
func (l *limits) score(p, q narrow) float64 {
	if !(p.lo > 0) || math.IsNaN(q.hi) {
		return math.Inf(-1)
	}
	switch l.measure {
	case claim.Approximate:
		if l.small != 0 {
			return p.lo - math.Exp(l.epsilon)*q.hi - l.small
		}
	case claim.ZCDP:
		if q.hi == 0 {
			return math.Inf(1)
		}
		best := math.Inf(-1)
		for _, n := range orders() {
			best = max(best, excess(renyi(float64(n)/1000, p.lo, q.hi), l.rate))
		}
		return best
	}
	if q.hi == 0 {
		return math.Inf(1)
	}
	return excess(math.Log(p.lo)-math.Log(q.hi), l.epsilon)
}

// excess is how far a cost exceeds a claim, relative to it. Claims that are not
// positive have no scale: they forbid all that differs at all.
func excess(cost, claimed float64) float64 {
	if claimed > 0 {
		return cost/claimed - 1
	}
	return cost - claimed
}

// renyi is a lower bound of the Rényi divergence of order a between laws under which
// an event has probabilities p and q, over a: (a·ln p − (a−1)·ln q) / (a(a−1)). By
// data processing (van Erven and Harremoës 2014, Theorem 9) the divergence is at
// least that of the two coins, ln(p^a·q^(1−a) + (1−p)^a·(1−q)^(1−a)) / (a−1), of
// which this keeps the first term.
func renyi(a, p, q float64) float64 {
	return (a*math.Log(p) - (a-1)*math.Log(q)) / (a * (a - 1))
}

// A verdict is what p and q, of one event, force.
type verdict struct {
	refuted bool
	// forced is a lower bound of what the claim would have to be: an epsilon, or a
	// rho for zCDP; +Inf where none will do.
	forced, claimed float64
}

// judge decides, with intervals, whether p and q exclude the claim:
//
//	pure and approximate: p > e^eps·q + delta
//	zCDP: p^a·q^(1−a) > e^(rho·a(a−1)) for an order a > 1, since rho-zCDP bounds the
//	Rényi divergence of every order a by rho·a (Bun and Steinke 2016, Definition 1.1).
func (l *limits) judge(p, q narrow) verdict {
	v := verdict{claimed: l.epsilon}
	if l.measure == claim.ZCDP {
		v.claimed = l.rate
	}
	if !(p.lo > 0) || q.hi != q.hi {
		return v
	}
	least := exactly(p.lo)
	most := exactly(min(1, q.hi))
	if l.measure == claim.ZCDP {
		return l.judgeZCDP(v, least, most)
	}
	rest := least
	if l.measure == claim.Approximate {
		rest = least.Sub(l.delta)
	}
	if !rest.Positive() {
		return v
	}
	if most.Hi().Sign() == 0 {
		v.refuted, v.forced = true, math.Inf(1)
		return v
	}
	if v.refuted = rest.Sub(l.eps.Exp().Mul(most)).Positive(); !v.refuted {
		return v
	}
	forced := rest.Log().Sub(most.Log())
	v.forced = outward(forced.Lo(), forced.Lo()).Lo
	return v
}

func (l *limits) judgeZCDP(v verdict, p, q numeric.Interval) verdict {
	if q.Hi().Sign() == 0 {
		v.refuted, v.forced = true, math.Inf(1)
		return v
	}
	for _, n := range orders() {
		a := numeric.Of(big.NewRat(n, 1000))
		less := numeric.Of(big.NewRat(n-1000, 1000))
		rho := a.Mul(p.Log()).Sub(less.Mul(q.Log())).Quo(a.Mul(less))
		v.refuted = v.refuted || rho.Sub(l.rho).Positive()
		v.forced = max(v.forced, outward(rho.Lo(), rho.Lo()).Lo)
	}
	return v
}

func exactly(f float64) numeric.Interval { return numeric.OfFloat(f) }

// refuted reports whether a trial certainly excludes the claim.
func (l *limits) refuted(t trial) bool {
	return t.score > -1e-6 && l.judge(t.p, t.q).refuted // most are told by the score, which is quick
}

// A trial is a pair and an event, with their probabilities once they are known.
type trial struct {
	pair  pair
	event *Event
	p, q  narrow
	score float64
}

// try evaluates a trial, in the direction that refutes more.
func (m *measurer) try(ctx context.Context, cl *claim.Claim, p pair, e *Event, o Options) (trial, error) {
	t := trial{pair: p, event: e, score: math.Inf(-1)}
	l, err := m.code.allowed(cl, p)
	if err != nil {
		return t, err
	}
	if t.p, err = m.event(ctx, m.code.bind(p.first), e, o); err != nil {
		return t, err
	}
	if t.q, err = m.event(ctx, m.code.bind(p.second), e, o); err != nil {
		return t, err
	}
	t.score = l.score(t.p, t.q)
	if other := l.score(t.q, t.p); other > t.score {
		t.pair, t.p, t.q, t.score = p.swapped(), t.q, t.p, other
	}
	return t, nil
}
