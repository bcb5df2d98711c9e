package accountant

import (
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// planned returns a plan that holds under n without the relations that its events state.
// A plan's sensitivities are those of add-remove, which are doubled under replace-one;
// those that are stated for replace-one are doubled already, and are so again here.
func planned(e privacy.Event, n privacy.Neighbours) privacy.Event {
	stated := func(e privacy.Event) privacy.Event {
		u, ok := e.(privacy.Under)
		if !ok {
			return e
		}
		// Inner Unders are stripped by now; what they covered is halved below.
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
			half := new(big.Rat).Inv(privacy.Distance(n))
			return privacy.Map(u.Event, func(e privacy.Event) privacy.Event { return privacy.AtDistance(e, half) })
		}
		return u.Event
	})
}
