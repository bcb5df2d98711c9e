package accountant

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// δ-approximate zCDP (Bun and Steinke 2016): ρ adds up, and so does the mass δ on
// which nothing is promised (sections 1.3 and 8). What remains of a target δ converts
// ρ optimally (Canonne, Kamath and Steinke 2020, Corollary 13): package filter does
// it, with every rounding up.

// concentrated adds up the plan's ρ and δ.
func (p *flat) concentrated() (rho, delta *big.Rat, err error) {
	rho, delta = new(big.Rat), new(big.Rat)
	for _, t := range p.terms {
		p.meter.Spend(4 * perTerm) // an exponential function to thirty digits
		if t.zcdp == nil {
			return nil, nil, unsupported(t, "no zCDP guarantee is known; wrap it as zcdp(rho)")
		}
		r, d := t.zcdp()
		count := new(big.Rat).SetFloat64(t.count)
		rho.Add(rho, new(big.Rat).Mul(r, count))
		delta.Add(delta, new(big.Rat).Mul(d, count))
		if rho.Denom().BitLen() > 1<<12 {
			rho = numeric.CeilDigits(rho, 60)
		}
	}
	return rho, delta, nil
}

func zcdpEpsilon(p *flat, delta float64) (answer, error) {
	r, mass, err := p.concentrated()
	if err != nil {
		return answer{}, err
	}
	left := exactly(delta)
	left.Sub(left, mass)
	a := answer{impossible(), Both, zcdpNote(r, mass), nil}
	if left.Sign() <= 0 {
		return a, nil
	}
	rho, err := privacy.NewRho(r)
	if err != nil {
		return answer{}, err
	}
	d, err := privacy.NewDelta(left)
	if err != nil {
		return answer{}, err
	}
	eps, err := filter.ZCDPEpsilon(rho, d)
	if err != nil {
		return answer{}, err
	}
	high := upFloat(eps.Rat())
	low := min(p.floorEpsilon(delta), high)
	a.Bracket = bracket(low, max(low, min(eps.Float64(), high)), high)
	return a, nil
}

func zcdpDelta(p *flat, epsilon float64) (answer, error) {
	r, mass, err := p.concentrated()
	if err != nil {
		return answer{}, err
	}
	rho, err := privacy.NewRho(r)
	if err != nil {
		return answer{}, err
	}
	eps, err := privacy.EpsilonFromFloat(epsilon)
	if err != nil {
		return answer{}, err
	}
	a := answer{bracket(0, 1, 1), Both, zcdpNote(r, mass), nil}
	if d, err := filter.ZCDPDelta(rho, eps); err == nil { // on an error, no δ below 1 is known
		mass.Add(mass, d.Rat())
		high := math.Min(1, upFloat(mass))
		low := min(p.floorDelta(epsilon), high)
		a.Bracket = bracket(low, max(low, math.Min(1, toFloat(mass))), high)
	}
	return a, nil
}

func zcdpNote(rho, delta *big.Rat) string {
	note := fmt.Sprintf("ρ = %.6g; Canonne, Kamath and Steinke 2020, Corollary 13; an upper bound", toFloat(rho))
	if delta.Sign() > 0 {
		note = fmt.Sprintf("%.6g-approximate, ", toFloat(delta)) + note
	}
	return note
}

// zcdpCurve is ε at ln δ of ρ-zCDP.
func zcdpCurve(rho *big.Rat, logDelta float64) float64 {
	if logDelta < -690 { // about the least δ that can be written
		return math.Inf(1)
	}
	p := &flat{terms: []term{{count: 1, claims: claims{zcdp: func() (*big.Rat, *big.Rat) { return rho, new(big.Rat) }}}}}
	if logDelta >= 0 {
		return 0
	}
	a, err := zcdpEpsilon(p, down(math.Exp(logDelta)))
	if err != nil {
		return math.NaN()
	}
	return a.High
}
