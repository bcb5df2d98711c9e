package accountant

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// inside describes the plan that runs on a sample, as one event.
func inside(meter *work.Meter, e privacy.Event, rel privacy.Neighbours) (claims, error) {
	worlds, err := expand(e, rel)
	if err != nil {
		return claims{}, err
	}
	if len(worlds) != 1 {
		return claims{}, fmt.Errorf("%v: parallel events inside a sample; make parallel the outermost", e)
	}
	p, err := worlds[0].flat(meter)
	if err != nil {
		return claims{}, err
	}
	if len(p.terms) == 1 && p.terms[0].count == 1 {
		return p.terms[0].claims, nil
	}
	return p.joined(), nil
}

// joined is what is known of all of a plan's terms together.
func (p *flat) joined() claims {
	all := func(known func(term) bool) bool {
		for _, t := range p.terms {
			if !known(t) {
				return false
			}
		}
		return true
	}
	var c claims
	if all(func(t term) bool { return t.gdp != nil && t.exact }) {
		g := new(big.Rat)
		for _, t := range p.terms {
			g.Add(g, new(big.Rat).Mul(t.gdp(), new(big.Rat).SetFloat64(t.count)))
		}
		return gaussianClaims(g)
	}
	if all(func(t term) bool { return t.point != nil }) {
		c.point = func() (*big.Rat, *big.Rat) {
			eps, delta := new(big.Rat), new(big.Rat)
			for _, t := range p.terms {
				e, d := t.point()
				count := new(big.Rat).SetFloat64(t.count)
				eps.Add(eps, new(big.Rat).Mul(e, count))
				delta.Add(delta, new(big.Rat).Mul(d, count))
			}
			return eps, delta
		}
	}
	if all(func(t term) bool { return t.rdp != nil }) {
		c.rdp = func(orders, out []float64) {
			sum, err := p.divergences(orders)
			if err != nil {
				for i := range out {
					out[i] = math.NaN()
				}
				return
			}
			copy(out, sum)
		}
		c.curve = curveOfRDP(c.rdp)
	}
	if all(func(t term) bool { return t.zcdp != nil }) {
		c.zcdp = func() (*big.Rat, *big.Rat) {
			rho, delta, _ := p.concentrated() // every term is known
			return rho, delta
		}
	}
	return c
}

// amplified are the claims of an event on a sample that a unit is in with
// probability q.
//
// Theorem 8 of Balle, Barthe and Gaboardi 2018 ("Privacy Amplification by
// Subsampling") for Poisson samples under AddRemove, 9 for those without
// replacement under ReplaceOne: an (ε, δ)-DP event becomes (ln(1+q(e^ε-1)), qδ)-DP.
// It holds at every ε of a curve.
func amplified(c claims, q *big.Rat) claims {
	rate := upFloat(q) // rounded up, hence above 0
	var out claims
	if c.point != nil {
		eps, delta := c.point()
		if delta.Sign() == 0 {
			out = pureClaims(amplifiedEpsilon(eps, q), false)
		} else {
			out = approxClaims(amplifiedEpsilon(eps, q), new(big.Rat).Mul(delta, q), false)
		}
	}
	if c.curve != nil {
		logRate := math.Log(rate)
		out.curve = func(logDelta float64) float64 {
			err := (math.Abs(logDelta) + math.Abs(logRate)) * 0x1p-52
			return logAmplified(c.curve(math.Min(0, logDelta-logRate-err)), rate)
		}
	}
	return out
}

// amplifiedEpsilon is ln(1+q(e^ε-1)), rounded up.
func amplifiedEpsilon(eps, q *big.Rat) *big.Rat {
	if eps.Cmp(big.NewRat(1000, 1)) > 0 {
		return eps
	}
	one := numeric.OfInt(1)
	return numeric.CeilDigits(one.Add(numeric.Of(q).Mul(numeric.Of(eps).Exp().Sub(one))).Log().Hi(), 40)
}

// logAmplified is the same in floating point.
func logAmplified(eps, q float64) float64 {
	switch {
	case math.IsNaN(eps) || math.IsInf(eps, 1):
		return eps
	case eps > 700:
		return math.Min(eps, up(eps+math.Log(q+math.Exp(-eps)*(1-q))))
	}
	return up(math.Log1p(q * math.Expm1(eps)))
}

func poissonClaims(meter *work.Meter, e privacy.Poisson, rel privacy.Neighbours) (claims, error) {
	inner, err := inside(meter, e.Event, rel)
	if err != nil {
		return claims{}, err
	}
	if e.Rate.Cmp(big.NewRat(1, 1)) == 0 {
		return inner, nil
	}
	if p, ok := e.Event.(privacy.Poisson); ok { // a sample of a sample
		return poissonClaims(meter, privacy.Poisson{Rate: new(big.Rat).Mul(e.Rate, p.Rate), Event: p.Event}, rel)
	}
	c := amplified(inner, e.Rate)
	q := upFloat(e.Rate)
	if inner.rdp == nil {
		return c, nil
	}
	pure := c.rdp
	var sampled func(orders, out []float64)
	switch {
	case rel == privacy.ReplaceOne:
		sampled = mixtureRDP(inner.rdp, q)
		if inner.exact {
			sampled = least(replacedGaussianRDP(meter, upRoot(inner.gdp())/2, q), sampled)
		}
	case inner.exact:
		sampled = poissonGaussianRDP(meter, upRoot(inner.gdp()), q)
	default:
		sampled = poissonRDP(meter, inner.rdp, q, inner.odd)
	}
	c.rdp = least(sampled, pure)
	return c, nil
}

func withoutReplacementClaims(meter *work.Meter, e privacy.WithoutReplacement) (claims, error) {
	inner, err := inside(meter, e.Event, privacy.ReplaceOne)
	if err != nil || e.M == e.N {
		return inner, err
	}
	rate := big.NewRat(e.M, e.N)
	c := amplified(inner, rate)
	if inner.rdp == nil {
		return c, nil
	}
	c.rdp = least(withoutReplacementRDP(meter, inner, toFloat(rate)), c.rdp)
	if r := replacedRenyi(meter, e); r != nil {
		c.rdp = least(each(func(a float64) float64 {
			meter.Spend(loss.ReplacedRenyiSlices)
			return r.Divergence(a)
		}), c.rdp)
	}
	return c, nil
}

// replacedRenyi is the divergence of the dominating pair, nil where none is known.
func replacedRenyi(meter *work.Meter, e privacy.WithoutReplacement) *loss.ReplacedRenyi {
	meter.Spend(4 * loss.ReplacedRenyiSlices)
	inner, err := loss.Of(privacy.OfPlan(simple(meter, e.Event), privacy.ReplaceOne), loss.Replace)
	if err != nil {
		return nil
	}
	r, err := loss.WithoutReplacementRenyi(inner.Above, e.M, e.N)
	if err != nil {
		return nil
	}
	return r
}

// least takes the lesser of two curves, the second of which may be nil.
func least(f, g func(orders, out []float64)) func(orders, out []float64) {
	if g == nil {
		return f
	}
	return func(orders, out []float64) {
		other := make([]float64, len(orders))
		f(orders, out)
		g(orders, other)
		for i := range out {
			out[i] = math.Min(out[i], other[i]) // NaN if either is
		}
	}
}
