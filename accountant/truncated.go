package accountant

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

// truncatedClaims are those of the two pairs that a truncated Poisson sample is a mixture of,
// as package loss proves: a Poisson sample of the event, and one at twice the distance. At a
// δ, each may have half of it, divided by its weight.
func truncatedClaims(meter *work.Meter, e privacy.TruncatedPoisson, rel privacy.Neighbours) (claims, error) {
	meter.Spend(1 << 13)
	w := loss.Truncation(e)
	near, err := poissonClaims(meter, privacy.Poisson{Rate: e.Rate, Event: e.Event}, rel)
	if err != nil || w == 0 {
		return near, err
	}
	inner, err := inside(meter, e.Event, privacy.AddRemove)
	if err != nil {
		return claims{}, err
	}
	twice := privacy.Gaussian{Variance: big.NewRat(1, 1), SensitivitySquared: new(big.Rat).Mul(inner.gdp(), big.NewRat(4, 1))}
	far, err := poissonClaims(meter, privacy.Poisson{Rate: e.Rate, Event: twice}, rel)
	if err != nil {
		return claims{}, err
	}
	c := claims{rdp: func(orders, out []float64) {
		other := make([]float64, len(orders))
		near.rdp(orders, out)
		far.rdp(orders, other)
		for i, a := range orders {
			d, err := loss.TruncatedRenyi(a, out[i]*(1+2*rdpError), other[i]*(1+2*rdpError), w)
			if err != nil {
				d = math.NaN()
			}
			out[i] = d * (1 + rdpError)
		}
	}}
	if near.curve != nil && far.curve != nil {
		c.curve = func(logDelta float64) float64 {
			half := logDelta - math.Ln2
			return max(near.curve(half), far.curve(min(0, half-math.Log(w))))
		}
	}
	return c, nil
}
