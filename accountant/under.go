package accountant

import (
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// planned returns a plan that holds under n without the relations that its events state.
// A plan's sensitivities are those of add-remove, which are doubled under replace-one;
// those that are stated for replace-one are doubled already, and are halved here.
func planned(e privacy.Event, n privacy.Neighbours) privacy.Event {
	stated := func(e privacy.Event) privacy.Event {
		u, ok := e.(privacy.Under)
		if !ok {
			return e
		}
		// Those within are stripped by now, and what they had is halved below.
		inner := privacy.Map(u.Event, func(e privacy.Event) privacy.Event {
			if u, ok := e.(privacy.Under); ok {
				return u.Event
			}
			return e
		})
		return privacy.Under{Neighbours: u.Neighbours, Event: inner}
	}
	return privacy.Map(privacy.Map(e, stated), func(e privacy.Event) privacy.Event {
		u, ok := e.(privacy.Under)
		switch {
		case !ok:
			return e
		case n == privacy.ReplaceOne:
			return privacy.Map(u.Event, halved)
		}
		return u.Event
	})
}

// halved is the inverse of under, for one event.
func halved(e privacy.Event) privacy.Event {
	half, quarter := big.NewRat(1, 2), big.NewRat(1, 4)
	switch e := e.(type) {
	case privacy.Laplace:
		e.Sensitivity = half.Mul(half, e.Sensitivity)
		return e
	case privacy.DiscreteLaplace:
		e.Sensitivity = half.Mul(half, e.Sensitivity)
		return e
	case privacy.Gaussian:
		e.SensitivitySquared = quarter.Mul(quarter, e.SensitivitySquared)
		return e
	case privacy.DiscreteGaussian:
		e.SensitivitySquared = quarter.Mul(quarter, e.SensitivitySquared)
		return e
	case privacy.Skellam:
		e.SensitivitySquared, e.L1 = quarter.Mul(quarter, e.SensitivitySquared), half.Mul(half, e.L1)
		return e
	case privacy.Tree:
		e.Sensitivity = half.Mul(half, e.Sensitivity)
		return e
	}
	return e
}
