package source

import (
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// keepInputs sees to it that inputs of which the claim speaks, its distances aside, are
// never written: a claim is of what they are at first. A function that changes one
// changes a copy, made where it is first changed: what is computed before, such as the
// scale of noise, is of the input.
func (l *lowerer) keepInputs(c *claim.Claim, written map[*program.Variable]bool) {
	if c == nil {
		return
	}
	named := map[*program.Variable]bool{}
	name := func(x program.Expression) {
		program.Walk(x, func(x program.Expression) {
			if r, ok := x.(program.Ref); ok {
				named[r.Var] = true
			}
		})
	}
	claimed(c, func(x program.Expression) program.Expression { name(x); return x })
	for _, r := range l.fn.Requires {
		name(r)
	}
	by := map[*program.Variable]program.Expression{}
	for i, v := range l.fn.Inputs {
		if !named[v] || !written[v] || v.Slice {
			continue
		}
		// The body's variable stays, and the input becomes a new one with its name.
		input := *v
		l.fn.Inputs[i] = &input
		v.Input, v.Natural = false, false
		v.Name = l.unique(v.Name)
		by[v] = program.Ref{Var: &input}
		for j := range c.Adjacent {
			if c.Adjacent[j].Input == v {
				c.Adjacent[j].Input = &input
			}
		}
		first := slices.IndexFunc(l.fn.Body, func(s program.Statement) bool {
			writes := map[*program.Variable]bool{}
			assigned([]program.Statement{s}, writes)
			return writes[v]
		})
		before := substitute(l.fn.Body[:first:first], map[*program.Variable]program.Expression{v: by[v]})
		keep := program.Assign{At: program.At{Pos: l.fn.Pos}, To: v, Value: by[v]}
		l.fn.Body = slices.Concat(before, []program.Statement{keep}, l.fn.Body[first:])
	}
	if len(by) == 0 {
		return
	}
	claimed(c, func(x program.Expression) program.Expression { return replaced(x, by) })
	for i, r := range l.fn.Requires {
		l.fn.Requires[i] = replaced(r, by)
	}
}

// claimed changes every expression of a claim.
func claimed(c *claim.Claim, change func(program.Expression) program.Expression) {
	for i := range c.Adjacent {
		c.Adjacent[i].Low, c.Adjacent[i].High = change(c.Adjacent[i].Low), change(c.Adjacent[i].High)
	}
	for i := range c.Requires {
		c.Requires[i] = change(c.Requires[i])
	}
	if k := c.Cost; k != nil {
		k.Epsilon, k.Delta, k.Rho = change(k.Epsilon), change(k.Delta), change(k.Rho)
	}
	for i := range c.Sensitivities {
		c.Sensitivities[i].Most = change(c.Sensitivities[i].Most)
	}
}
