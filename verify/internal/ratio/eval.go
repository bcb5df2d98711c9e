package ratio

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// eval relates the values of an expression in the two runs. A sum of private data and
// fresh noise becomes equal: that is paid from the state, and reported.
func (p *prover) eval(e program.Expression, at state, line int) (value, state, []Step) {
	x, after, steps := p.relation(e, at, line)
	if x.relation != equal && x.expr == nil {
		x.expr = at.express(e)
	}
	return x, after, steps
}

// express writes a private scalar over the inputs of its own run, or returns nil.
func (s state) express(e program.Expression) program.Expression {
	switch e := e.(type) {
	case program.Number, program.Truth:
		return e
	case program.Ref:
		if x := s.get(e.Var); !e.Var.Slice {
			return x.expr
		}
	case program.Unary:
		if x := s.express(e.X); x != nil {
			return fold(program.Unary{Op: e.Op, X: x})
		}
	case program.Binary:
		if e.Op == program.And || e.Op == program.Or {
			return nil
		}
		if x, y := s.express(e.X), s.express(e.Y); x != nil && y != nil {
			return fold(program.Binary{Op: e.Op, X: x, Y: y})
		}
	case program.Call:
		args := make([]program.Expression, len(e.Args))
		for i, a := range e.Args {
			if args[i] = s.express(a); args[i] == nil {
				return nil
			}
		}
		return fold(program.Call{Func: e.Func, Args: args})
	}
	return nil
}

// relation is eval without the expression of what is private.
func (p *prover) relation(e program.Expression, at state, line int) (value, state, []Step) {
	switch e := e.(type) {
	case program.Number, program.Truth:
		return value{expr: e}, at, nil
	case program.Ref:
		return at.get(e.Var), at, nil
	case program.Length:
		x := at.get(e.Slice)
		if !x.lengths {
			return value{relation: apart}, at, nil
		}
		return value{expr: x.length}, at, nil
	case program.Element:
		i, at, steps := p.eval(e.Index, at, line)
		x := at.get(e.Slice)
		if i.relation != equal || !x.lengths {
			return value{relation: apart}, at, steps
		}
		y := value{relation: x.relation, low: x.low, high: x.high}
		if x.relation == equal {
			y.expr = x.uniform
		}
		return y, at, steps
	case program.Unary:
		x, at, steps := p.eval(e.X, at, line)
		switch {
		case x.relation == equal && x.expr != nil:
			return value{expr: fold(program.Unary{Op: e.Op, X: x.expr})}, at, steps
		case x.relation == near && e.Op == program.Sub:
			return value{relation: near, low: x.high.neg(), high: x.low.neg()}, at, steps
		}
		return value{relation: x.plain()}, at, steps
	case program.Binary:
		return p.binary(e, at, line)
	case program.Call:
		return p.call(e, at, line)
	case program.If3:
		c, at, s1 := p.eval(e.Cond, at, line)
		x, at, s2 := p.eval(e.Then, at, line)
		y, at, s3 := p.eval(e.Else, at, line)
		steps := append(append(s1, s2...), s3...)
		if c.relation != equal {
			return value{relation: apart}, at, steps
		}
		return p.hull(x, y), at, steps
	}
	return value{relation: apart}, at, nil
}

// plain is the relation of what is computed from one value in an unknown way.
func (x value) plain() relation {
	if x.relation == equal {
		return equal
	}
	return apart
}

func (p *prover) binary(e program.Binary, at state, line int) (value, state, []Step) {
	if e.Op == program.Add || e.Op == program.Sub {
		if after, steps, ok := p.noisy(e, at, line); ok {
			return value{}, after, steps
		}
	}
	x, at, steps := p.eval(e.X, at, line)
	y, at, more := p.eval(e.Y, at, line)
	steps = append(steps, more...)
	if x.relation == equal && y.relation == equal {
		if x.expr == nil || y.expr == nil {
			return value{}, at, steps
		}
		return value{expr: fold(program.Binary{Op: e.Op, X: x.expr, Y: y.expr})}, at, steps
	}
	if x.relation == apart || y.relation == apart {
		return value{relation: apart}, at, steps
	}
	a, b := x.interval(), y.interval()
	switch e.Op {
	case program.Add:
		return value{relation: near, low: a.low.plus(b.low), high: a.high.plus(b.high)}, at, steps
	case program.Sub:
		return value{relation: near, low: a.low.minus(b.high), high: a.high.minus(b.low)}, at, steps
	case program.Min, program.Max:
		// min and max of arguments that move by d and d' move by something between.
		z := p.hull(x, y)
		z.expr = nil
		return z, at, steps
	case program.Mul:
		if x.relation == equal {
			return p.scaled(y, x.expr), at, steps
		}
		if y.relation == equal {
			return p.scaled(x, y.expr), at, steps
		}
	case program.Quo:
		if y.relation == equal && y.expr != nil && program.SortOf(e) == program.Real {
			return p.scaled(x, program.Binary{Op: program.Quo, X: program.Number{Value: one, Sort: program.Real}, Y: y.expr}), at, steps
		}
	}
	return value{relation: apart}, at, steps
}

// scaled is a near value times a public factor of known sign.
func (p *prover) scaled(x value, factor program.Expression) value {
	if factor == nil {
		return value{relation: apart}
	}
	f, err := p.fraction(factor)
	if err != nil {
		return value{relation: apart}
	}
	switch {
	case p.nonnegative(f.num):
		return value{relation: near, low: x.low.times(f), high: x.high.times(f)}
	case p.nonnegative(f.num.neg()):
		return value{relation: near, low: x.high.times(f), high: x.low.times(f)}
	}
	return value{relation: apart}
}

func (p *prover) call(e program.Call, at state, line int) (value, state, []Step) {
	var steps []Step
	args := make([]value, len(e.Args))
	public, known := true, true
	exprs := make([]program.Expression, len(e.Args))
	for i, a := range e.Args {
		var more []Step
		args[i], at, more = p.eval(a, at, line)
		steps = append(steps, more...)
		public = public && args[i].relation == equal
		known = known && args[i].expr != nil
		exprs[i] = args[i].expr
	}
	switch {
	case public && known:
		return value{expr: fold(program.Call{Func: e.Func, Args: exprs})}, at, steps
	case public:
		return value{}, at, steps
	case len(args) != 1 || args[0].relation != near:
	case e.Func == "real":
		x := args[0]
		return value{relation: near, low: x.low, high: x.high}, at, steps
	case e.Func == "abs":
		if d, ok := p.reach(args[0]); ok {
			return value{relation: near, low: d.neg(), high: d}, at, steps
		}
	}
	return value{relation: apart}, at, steps
}

// reach is how far a near value moves at most.
func (p *prover) reach(x value) (fraction, bool) {
	low, ok := p.lower(x.low, x.high.neg())
	return low.neg(), ok
}

// noisy couples fresh noise that is added to private data so that the sum is equal.
//
// Theorem (Barthe, Köpf, Olmedo and Zanella-Béguelin 2012, rule for Laplace). For x'−x =
// d and noise of density proportional to e^(−|n|/b), n' = n−d has x'+n' = x+n and
// density at most e^(|d|/b) times less. The same holds of discrete Laplace noise and
// whole d; for Gaussian noise see gaussian. The noise itself is then d apart.
func (p *prover) noisy(e program.Binary, at state, line int) (state, []Step, bool) {
	for _, sides := range [][2]program.Expression{{e.X, e.Y}, {e.Y, e.X}} {
		ref, ok := sides[1].(program.Ref)
		if !ok {
			continue
		}
		i := slices.IndexFunc(at.fresh, func(d *program.Draw) bool { return d.To == ref.Var })
		if i < 0 {
			continue
		}
		draw := at.fresh[i]
		x, after, steps := p.eval(sides[0], at, line)
		if x.relation != near {
			return at, nil, false
		}
		d, ok := p.reach(x)
		if !ok {
			return at, nil, false
		}
		after.fresh = slices.DeleteFunc(slices.Clone(after.fresh), func(d *program.Draw) bool { return d == draw })
		scale, err := p.parameter(draw.Parameter, after)
		if err != nil || !p.positive(scale.num) {
			return at, nil, false
		}
		paid, err := p.shifted(draw.Law, scale, d)
		if err != nil {
			return at, nil, false
		}
		after = after.set(ref.Var, value{relation: apart})
		steps = append(steps, Step{p.line(draw.Pos), fmt.Sprintf("%v: coupled so that %v is equal in both runs; that costs %v", ref.Var.Name, e, paid)})
		return p.pay(after, paid), steps, true
	}
	return at, nil, false
}

// shifted is what a shift of noise by at most d costs.
func (p *prover) shifted(law program.Law, scale, d fraction) (cost, error) {
	if law == program.Gaussian || law == program.DiscreteGaussian {
		return p.gaussian(law, scale, d)
	}
	epsilon, err := p.quo(d, scale)
	return cost{fixed(epsilon), rational(zero)}, err
}

// parameter reads a public parameter of a draw.
func (p *prover) parameter(e program.Expression, at state) (fraction, error) {
	at.fresh = nil
	x, _, _ := p.eval(e, at, 0)
	if x.relation != equal {
		return fraction{}, undecided("the parameter %v depends on private data", e)
	}
	if x.expr == nil {
		return fraction{}, undecided("the parameter %v is not known as an expression of inputs", e)
	}
	return p.fraction(x.expr)
}
