package accountant

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

// A groupSample is Gaussian noise on a Poisson sample as neighbours see it that differ in
// several units: one of them has with units that the other has not, and lacks without.
type groupSample struct {
	privacy.Poisson
	with, without int64
}

// maxSampledGroup is the largest group for which plans of sampled Gaussian noise are
// accounted for by their own pairs; of larger ones the general rule holds.
const maxSampledGroup = 8

// sampledGroup is grouped of a Poisson sample.
func sampledGroup(e privacy.Poisson, g group) (privacy.Event, error) {
	if !additive(e.Event) || g.units > maxSampledGroup {
		return nil, fmt.Errorf("%v: %w", e, errGroup)
	}
	return groupSample{e, g.with, g.without}, nil
}

// additive reports whether e is Gaussian noise, added to a sum to which each unit of the
// sample contributes: what the pair of a group is about.
func additive(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.Gaussian, privacy.Tree:
		return true
	case privacy.Poisson:
		return additive(e.Event)
	case privacy.Repeat:
		return additive(e.Event)
	case privacy.Sum:
		for _, part := range e.Events {
			if !additive(part) {
				return false
			}
		}
		return true
	}
	return false
}

// sampled is the event as one Gaussian one on one sample: a unit's distance, and the rate.
func (e groupSample) sampled(meter *work.Meter) (mu, rate float64, err error) {
	base, rate := simple(meter, e.Poisson), 1.0
	if p, ok := base.(privacy.Poisson); ok {
		base, rate = p.Event, toFloat(p.Rate)
	}
	c, err := inside(meter, base, privacy.AddRemove)
	if err != nil || !c.exact {
		return 0, 0, fmt.Errorf("%v: %w", e.Poisson, errGroup)
	}
	return math.Sqrt(toFloat(c.gdp())), rate, nil
}

func (e groupSample) loss(meter *work.Meter, d loss.Direction) (loss.Event, error) {
	mu, rate, err := e.sampled(meter)
	if err != nil {
		return loss.Event{}, err
	}
	with, without := e.with, e.without
	if d == loss.Add {
		with, without = without, with
	}
	pair, err := loss.SampledGaussianGroup(mu, rate, with, without)
	return loss.Event{Above: pair, Below: pair}, err
}

// claims: divergences by slices of the pair and, where there are none, those without
// sampling, because the divergence is quasi-convex in the pair (van Erven and Harremoës
// 2014, Theorem 13).
func (e groupSample) claims(meter *work.Meter) (claims, error) {
	mu, rate, err := e.sampled(meter)
	if err != nil {
		return claims{}, err
	}
	if rate == 1 {
		distance := big.NewRat(e.with+e.without, 1)
		c, err := inside(meter, e.Event, privacy.AddRemove)
		if err != nil {
			return claims{}, err
		}
		return gaussianClaims(new(big.Rat).Mul(c.gdp(), distance.Mul(distance, distance))), nil
	}
	var r *loss.Renyi
	var refused error
	c := claims{rdp: func(orders, out []float64) {
		if r == nil && refused == nil {
			meter.Spend(loss.RenyiSlices * int(e.with+e.without+2) * 8)
			r, refused = loss.SampledGaussianGroupRenyi(mu, rate, e.with, e.without)
		}
		far := float64(e.with+e.without) * mu
		for i, a := range orders {
			out[i] = up(a * far * far / 2)
			if refused == nil {
				meter.Spend(loss.RenyiSlices * 4)
				out[i] = min(out[i], r.Divergence(a))
			}
		}
	}}
	c.curve = curveOfRDP(c.rdp)
	return c, nil
}
