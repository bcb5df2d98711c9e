package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Basic composition (Dwork et al. 2006): the ε and δ of (ε, δ)-DP events add up,
// chosen adaptively or not. Events that have a curve instead of a point, such as
// Gaussian noise, share evenly, each time they happen, in what the points leave of
// δ.
func basicEpsilon(p *flat, delta float64) (answer, error) {
	pts, err := p.points(delta, 1)
	if err != nil {
		return answer{}, err
	}
	a := answer{note: "the sum of all ε"}
	if pts.curves > 0 {
		a.note = fmt.Sprintf("the sum of all ε, with δ = %.3g for each event that has a curve", math.Exp(pts.logShare))
	}
	if pts.leftover.Sign() < 0 {
		a.Bracket, a.note = impossible(), "the sum of all δ is above the one asked for"
		return a, nil
	}
	eps := pts.sum(func(eps float64) float64 { return eps }, func(eps *big.Rat) *big.Rat { return eps })
	a.Bracket = bracket(0, eps, eps)
	a.direction = Both
	return a, nil
}

// impossible is the bracket of an ε that does not exist.
func impossible() Bracket { return bracket(0, math.Inf(1), math.Inf(1)) }

// points are a plan's events as (ε, δ) points.
type points struct {
	exact    []exactPoint
	drawn    []drawnPoint
	curves   float64  // how many of the events have a curve
	logShare float64  // ln of the δ that each of these got
	leftover *big.Rat // what the points leave of δ, before the curves; negative: not enough
	none     float64  // ln Π(1-δ_i) over all events
}

type exactPoint struct {
	eps, delta *big.Rat
	count      float64
}

type drawnPoint struct{ eps, logDelta, count float64 }

// points looks up a point for each event, giving the events with a curve the given
// share of what the points leave of delta. An event with both has its curve if there
// is any δ left.
func (p *flat) points(delta, share float64) (points, error) {
	pts := points{leftover: exactly(delta)}
	var curved []term
	for _, t := range p.terms {
		p.meter.Spend(perTerm)
		switch {
		case t.curve != nil && (t.point == nil || delta > 0):
			curved = append(curved, t)
			pts.curves += t.count
		case t.point != nil:
			pts.add(t)
		default:
			return points{}, unsupported(t, "has no (ε, δ) point; wrap it as approx(eps, delta)")
		}
	}
	if pts.curves == 0 {
		return pts, nil
	}
	pts.logShare = math.Inf(-1)
	if left := toFloat(pts.leftover) * share; left > 0 {
		pts.logShare = math.Log(down(left / pts.curves))
	}
	for _, t := range curved {
		p.meter.Spend(perTerm)
		eps := t.curve(pts.logShare)
		if !(eps >= 0) {
			return points{}, unsupported(t, fmt.Sprintf("its curve gives ε = %v", eps))
		}
		pts.drawn = append(pts.drawn, drawnPoint{eps, pts.logShare, t.count})
	}
	pts.none += pts.curves * math.Log1p(-math.Exp(pts.logShare))
	return pts, nil
}

func (pts *points) add(t term) {
	eps, d := t.point()
	pts.exact = append(pts.exact, exactPoint{eps, d, t.count})
	if d.Sign() > 0 {
		pts.leftover.Sub(pts.leftover, new(big.Rat).Mul(d, new(big.Rat).SetFloat64(t.count)))
		pts.none += t.count * math.Log1p(-toFloat(d))
	}
}

// sum adds f(ε) over all events, rounded up; exactly where the points are exact and
// g, the same function over rationals, is given.
func (pts points) sum(f func(float64) float64, g func(*big.Rat) *big.Rat) float64 {
	total, exact := 0.0, new(big.Rat)
	for _, e := range pts.exact {
		if g == nil {
			total += e.count * f(upFloat(e.eps))
			continue
		}
		exact.Add(exact, new(big.Rat).Mul(g(e.eps), new(big.Rat).SetFloat64(e.count)))
		if exact.Denom().BitLen() > 1<<12 {
			exact = numeric.CeilDigits(exact, 60)
		}
	}
	for _, d := range pts.drawn {
		total += d.count * f(d.eps)
	}
	if g == nil || total > 0 {
		total *= 1 + float64(len(pts.exact)+len(pts.drawn)+8)*0x1p-52
		for _, e := range pts.exact { // f may underflow
			total += e.count * math.SmallestNonzeroFloat64
		}
		for _, d := range pts.drawn {
			total += d.count * math.SmallestNonzeroFloat64
		}
	}
	if exact.Sign() > 0 {
		if total == 0 {
			return upFloat(exact)
		}
		total = up(total + upFloat(exact))
	}
	return total
}

// basicDelta is the sum of all δ where the sum of all ε is within epsilon; events
// with a curve share δ as for basicEpsilon, so that it is sought.
func basicDelta(p *flat, epsilon float64) (answer, error) {
	for _, t := range p.terms {
		if t.curve != nil {
			return inverted(basicEpsilon)(p, epsilon)
		}
	}
	total, delta, err := p.pointSum()
	if err != nil {
		return answer{}, err
	}
	a := answer{note: "the sum of all δ", direction: Both}
	d := math.Min(1, upFloat(delta))
	if total.Cmp(exactly(epsilon)) > 0 {
		a.note, d = "the sum of all ε is above the one asked for", 1
	}
	a.Bracket = bracket(0, d, d)
	return a, nil
}

// pointSum adds up ε and δ of a plan of points, rounded up in the 60th digit if at all.
func (p *flat) pointSum() (eps, delta *big.Rat, err error) {
	eps, delta = new(big.Rat), new(big.Rat)
	for _, t := range p.terms {
		p.meter.Spend(perTerm)
		if t.point == nil {
			return nil, nil, unsupported(t, "has no (ε, δ) point; wrap it as approx(eps, delta)")
		}
		e, d := t.point()
		count := new(big.Rat).SetFloat64(t.count)
		eps.Add(eps, new(big.Rat).Mul(e, count))
		delta.Add(delta, new(big.Rat).Mul(d, count))
		if eps.Denom().BitLen() > 1<<12 {
			eps = numeric.CeilDigits(eps, 60)
		}
		if delta.Denom().BitLen() > 1<<12 {
			delta = numeric.CeilDigits(delta, 60)
		}
	}
	return eps, delta, nil
}

// inverted makes δ at an ε of a method that knows ε at a δ, by bisection: the answer
// is the upper end.
func inverted(epsilon func(*flat, float64) (answer, error)) func(*flat, float64) (answer, error) {
	return func(p *flat, eps float64) (answer, error) {
		var failed error
		var last answer
		tooSmall := func(x float64) bool { // for δ = e^-x
			a, err := epsilon(p, math.Exp(-x))
			if err == nil {
				err = a.check()
			}
			failed = errors.Join(failed, err)
			last = a
			return err != nil || a.High > eps
		}
		const most, least = 0x1p-52, 690.0 // of -ln δ: just below 1, just above 1e-300
		x := least
		switch {
		case tooSmall(most):
			last.Bracket, last.note = bracket(0, 1, 1), "no δ below 1 is known"
			return last, failed
		case tooSmall(least):
			x, _ = bisect(most, least, tooSmall)
		}
		tooSmall(x)
		delta := up(math.Exp(-x))
		last.Bracket = bracket(0, delta, delta)
		return last, failed
	}
}
