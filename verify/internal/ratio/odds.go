package ratio

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// odds couples a coin whose probability p depends on private numbers, so that it falls
// alike: one-bit means.
//
// By definition that costs E if p <= e^E·p' and 1-p <= e^E·(1-p') for any two private
// numbers that meet what is required, in either order. E is the claimed epsilon or a part
// of it. Numbers x and x' are looked at as x <= x' and as x' <= x.
func (p *prover) odds(s *program.Draw, at state, line int) (effect, error) {
	open := undecided("line %d: the parameter %v of %v depends on private data", line, s.Parameter, s.Law)
	x, _, _ := p.eval(s.Parameter, at, line)
	if x.expr == nil || !p.same(p.claim.Cost.Epsilon) {
		return effect{}, open
	}
	private := map[*program.Variable]*program.Variable{}
	known := true
	refs(x.expr, func(v *program.Variable) {
		if p.same(program.Ref{Var: v}) {
			return
		}
		w := *v
		w.Name += second
		private[v] = &w
		known = known && v.Input && !v.Slice && v.Sort != program.Bool && !p.changed[v]
	})
	program.Walk(x.expr, func(e program.Expression) {
		_, element := e.(program.Element)
		known = known && !element
	})
	if !known || len(private) != 1 {
		return effect{}, open
	}
	for _, k := range []int64{4, 3, 2, 1} {
		part := p.claim.Cost.Epsilon
		if k > 1 {
			part = program.Binary{Op: program.Quo, X: part, Y: program.Number{Value: big.NewRat(k, 1), Sort: program.Real}}
		}
		if !p.alike(x.expr, part, private, false) || !p.alike(x.expr, part, private, true) {
			continue
		}
		c, err := p.fraction(part)
		if err != nil {
			return effect{}, err
		}
		step := Step{line, fmt.Sprintf("%s: a coin whose probability differs, and that of its other side, by a factor of at most math.Exp(%v); coupled to fall alike; that costs %v", s.To.Name, part, part)}
		return effect{end: p.pay(at.set(s.To, value{}), cost{fixed(c), rational(zero)}), steps: []Step{step}}, nil
	}
	return effect{}, open
}

// alike reports whether the probabilities of both sides of a coin differ by a factor of
// at most e^part, in either order of the runs, where x <= x', or where x' <= x.
func (p *prover) alike(odds, part program.Expression, private map[*program.Variable]*program.Variable, less bool) bool {
	q := &prover{algebra: algebra{newRegion()}, f: p.f, claim: p.claim}
	for _, e := range q.requirements() {
		element := false
		program.Walk(e, func(e program.Expression) {
			_, is := e.(program.Element)
			element = element || is
		})
		if element {
			continue
		}
		q.require(e)
		q.require(renamed(e, private))
	}
	for v, w := range private {
		x, y := program.Expression(program.Ref{Var: v}), program.Expression(program.Ref{Var: w})
		for _, a := range p.claim.Adjacent {
			if a.Input == v && a.Relation == claim.Scalar {
				// |x-x'| is at most what either end is, whatever the order.
				d := program.Binary{Op: program.Sub, X: y, Y: x}
				for _, e := range []program.Expression{d, program.Unary{Op: program.Sub, X: d}} {
					q.require(program.Binary{Op: program.Le, X: e, Y: program.Binary{Op: program.Max, X: a.High, Y: program.Unary{Op: program.Sub, X: a.Low}}})
				}
			}
		}
		if less {
			x, y = y, x
		}
		q.require(program.Binary{Op: program.Le, X: x, Y: y})
	}
	q.close()
	heads, err := q.fraction(odds)
	if err != nil {
		return false
	}
	heads2, err := q.fraction(renamed(odds, private))
	if err != nil {
		return false
	}
	r, err := q.exponential(part)
	if err != nil {
		return false
	}
	all := rational(one)
	within := func(x, y fraction) bool {
		return q.atMost(rational(zero), x) && q.atMost(x, r.times(y)) && q.atMost(all.minus(x), r.times(all.minus(y))) && q.atMost(x, all)
	}
	return within(heads, heads2) && within(heads2, heads)
}

// renamed is an expression of the second run.
func renamed(e program.Expression, private map[*program.Variable]*program.Variable) program.Expression {
	if e == nil {
		return nil
	}
	if r, ok := e.(program.Ref); ok {
		if w := private[r.Var]; w != nil {
			return program.Ref{Var: w}
		}
		return r
	}
	switch e := e.(type) {
	case program.Unary:
		e.X = renamed(e.X, private)
		return e
	case program.Binary:
		e.X, e.Y = renamed(e.X, private), renamed(e.Y, private)
		return e
	case program.Call:
		args := make([]program.Expression, len(e.Args))
		for i, x := range e.Args {
			args[i] = renamed(x, private)
		}
		e.Args = args
		return e
	case program.If3:
		e.Cond, e.Then, e.Else = renamed(e.Cond, private), renamed(e.Then, private), renamed(e.Else, private)
		return e
	}
	return e
}
