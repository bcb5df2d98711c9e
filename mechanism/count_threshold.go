package mechanism

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// A CountThreshold chooses groups by a noisy count that is released with them: a group is shown, with all
// that is released of it, if the count reaches τ. It draws no noise of its own, and costs δ alone.
//
// Theorem (Korolova et al. 2009; Wilson et al. 2020). Let a unit add at most 1 to the count of a group, let
// noise be drawn for each group independently, and let at most k groups be in one of two neighbours and not in the
// other. Such a group has the count 1, so that it is shown with probability at most δ/k, and any of them with at
// most δ. What is shown of the others is a function of their noisy values, which hide the difference as the
// noise's event says; and which of the former are shown is independent of that, and on either side none is but with
// probability δ. So both events together bound what is revealed: that of the noise, and δ.
type CountThreshold struct {
	least  *big.Int
	name   string
	events []privacy.Event
}

// NewCountThreshold returns the choice by a count with this noise, NewLaplace's or NewGaussian's. The options' Delta is
// that of the choice; Epsilon and Rho are the noise's, and not given.
func NewCountThreshold(noise Additive, o SelectionOptions) (*CountThreshold, error) {
	if err := checkPositive("delta", o.Delta.Rat()); err != nil {
		return nil, err
	}
	if o.Epsilon.Sign() != 0 || o.Rho.Sign() != 0 {
		return nil, fmt.Errorf("%w: a choice by a released count costs delta alone", ErrParameter)
	}
	k, err := o.changedGroups()
	if err != nil {
		return nil, err
	}
	c := &CountThreshold{events: o.under(privacy.Selection{Delta: o.Delta})}
	switch noise.(type) { // both are symmetric, and independent from value to value
	case laplace:
		c.name = "laplace_threshold"
	case gaussian:
		c.name = "gaussian_threshold"
	default:
		return nil, fmt.Errorf("%w: the count has another noise than NewLaplace's or NewGaussian's", ErrParameter)
	}
	t := threshold{noise: noise}
	if err := t.setLeast(o.Delta.Rat(), k); err != nil {
		return nil, err
	}
	c.least = t.least
	return c, nil
}

// Shows reports whether a group of this noisy count is shown. The caller offers no group that has no unit.
func (c *CountThreshold) Shows(noisy *big.Int) bool { return noisy.Cmp(c.least) >= 0 }

// Least is τ.
func (c *CountThreshold) Least() *big.Int { return new(big.Int).Set(c.least) }

// Events is what the choice reveals beside the noisy count, under the relation of the options.
func (c *CountThreshold) Events() []privacy.Event { return c.events }

// Name is "laplace_threshold" or "gaussian_threshold".
func (c *CountThreshold) Name() string { return c.name }
