package exact

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Repeat evaluates one pair and one event. It returns what Refute would of them, or an error
// where they do not refute the claim: they may be anybody's.
func Repeat(ctx context.Context, f *program.Function, cl *claim.Claim, given program.Pair, e *Event) (*Counterexample, error) {
	if cl.Cost == nil {
		return nil, fmt.Errorf("%w: there is no cost to refute", ErrUnsupported)
	}
	c, err := compile(f)
	if err != nil {
		return nil, err
	}
	p, ok := c.pairOf(given)
	if !ok {
		return nil, fmt.Errorf("%w: the function has other inputs", ErrInput)
	}
	if err := c.neighbours(cl, p); err != nil {
		return nil, err
	}
	r := &refuter{space: newSpace(c, cl), tried: &Tried{}, measurers: []*measurer{newMeasurer(c)}}
	t, err := r.measurers[0].try(ctx, cl, p, e, evaluation())
	if err != nil {
		return nil, err
	}
	return r.standing(ctx, t)
}
