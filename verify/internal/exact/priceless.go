package exact

import (
	"errors"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Priceless returns inputs that meet what a claim requires and at which its cost is no
// number, or nil where it finds none: a cost divides by zero there, or takes the logarithm of
// what is not positive. It names those that the cost speaks of.
func Priceless(f *program.Function, cl *claim.Claim) (program.Inputs, error) {
	var partial []program.Expression
	for _, e := range []program.Expression{cl.Cost.Epsilon, cl.Cost.Delta, cl.Cost.Rho} {
		if e != nil && mayFail(e) {
			partial = append(partial, e)
		}
	}
	if partial == nil {
		return nil, nil
	}
	c, err := compile(f)
	if err != nil {
		return nil, err
	}
	s := newSpace(c, cl)
	for _, choice := range append(s.settings(64, searchDepth), s.axes()...) {
		for _, n := range []int{2, 1, 0, 3} {
			run := s.flat(choice, n).first
			if !c.admissible(cl, run) {
				continue
			}
			for _, e := range partial {
				if _, err := c.concrete(e, c.bind(run)); !errors.Is(err, ErrInput) {
					continue
				}
				in := c.inputs(run)
				for _, v := range c.function.Inputs {
					if !mentions(e, v) {
						delete(in, v.Name)
					}
				}
				return in, nil
			}
		}
	}
	return nil, nil
}

// mayFail reports whether an expression is no number for some values of its variables.
func mayFail(e program.Expression) (found bool) {
	program.Walk(e, func(e program.Expression) {
		switch e := e.(type) {
		case program.Binary:
			_, constant := e.Y.(program.Number)
			found = found || !constant && (e.Op == program.Quo || e.Op == program.Rem)
		case program.Call:
			found = found || e.Func == "log" || e.Func == "sqrt" || e.Func == "pow"
		case program.Element:
			found = true
		}
	})
	return found
}
