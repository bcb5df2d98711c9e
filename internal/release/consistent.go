package release

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/stability"
)

// Consistent makes the table's values such as data could have: a count is not negative, nor a
// sum of values that are not. It is post-processing: what the table reveals, and what it costs,
// stays the same.
//
// An interval is intersected with what is possible. The value without noise lies there, so that the
// intersection holds it whenever the interval did: with at least the same confidence. Where the two do not
// meet, the interval did not hold, and the nearest possible value stands for it. Nothing is centred
// anew: a value that was moved is biased away from 0, and so are sums of such values.
func (t *Table) Consistent() { t.consistent = true }

// A ray is what values may be: at least, or at most, 0; or all, if it is 0 itself.
type ray int

// possible is what an aggregate's value without noise may be. Averages and variances are clamped
// to what their bounds imply anyway, and quantiles of one tree ascend.
func (r *Release) possible(g stability.Aggregate) ray {
	if len(g.Components) > 1 {
		return 0
	}
	return r.ray(r.Components[g.Components[0]])
}

// ray is what a component's value without noise may be.
func (r *Release) ray(c stability.Component) ray {
	lower, upper := c.LowerUnits, c.UpperUnits
	switch c.Kind {
	case stability.Rows, stability.Units, stability.Distinct:
		return 1
	case stability.PartialSum: // of a unit that has rows; without, it is 0
		lower, upper = c.PartialLower, c.PartialUpper
	case stability.Sum:
		if c.Center.Sign() != 0 {
			return 0
		}
	default:
		return 0
	}
	switch {
	case lower.Sign() >= 0:
		return 1
	case upper.Sign() <= 0:
		return -1
	}
	return 0
}

// nearest is the nearest possible value.
func (r ray) nearest(x *big.Rat) *big.Rat {
	if int(r)*x.Sign() < 0 {
		return new(big.Rat)
	}
	return x
}
