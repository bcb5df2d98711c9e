package prove

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// guard finds the factors of the costs of which the requirements do not say that they
// are positive.
//
// Lemma: counted in units of which all factors are positive, a cost is at most the goal
// if and only if it is in numbers. Where a factor may not be positive, a run that has
// paid nothing costs 0, which a claim that is not negative covers; and whatever a run
// pays, it pays at a draw that moves, where the factor must be positive. Inputs never
// change, so that it is positive before and behind.
func (s *static) guard(ctx context.Context, b *budget) error {
	for _, x := range b.positive {
		m := newMachine(s, s.in.c, &budget{positive: []p.Expression{x}}, nil, nil)
		m.pos = s.f.Pos
		m.begin()
		ok, err := m.hold(ctx)
		if err != nil {
			return err
		}
		if !ok {
			b.guarded = append(b.guarded, x)
		}
	}
	return nil
}

// above says that a factor is positive.
func (m *machine) above(x p.Expression) linear.Formula {
	if c, ok := x.(p.Call); ok && (c.Func == "exp" || c.Func == "log" && moreThanOne(c.Args[0])) {
		return linear.True()
	}
	return linear.Gt(m.eval(x, &state{}).num, linear.Term{})
}

// paid is the obligation of a draw that moves by something.
func (m *machine) paid(st *state, by linear.Term) {
	for _, x := range m.budget.guarded {
		m.must(st, fmt.Sprintf("%s is positive where a draw moves", x), linear.Or(m.above(x), linear.Eq(by, linear.Term{})))
	}
}

// within is a shift, and none where a guarded factor is not positive.
func (b *budget) within(shift p.Expression) p.Expression {
	for _, x := range b.guarded {
		zero := p.Number{Value: new(big.Rat), Sort: p.Int}
		shift = p.If3{Cond: p.Binary{Op: p.Gt, X: x, Y: zero}, Then: shift, Else: zero}
	}
	return shift
}

// free says that all costs are covered where units may not be positive: nothing is
// paid, and the claim, as a whole, is not negative.
func (m *machine) free(costs []linear.Term) linear.Formula {
	if len(m.budget.guarded) == 0 {
		return linear.False()
	}
	fs := []linear.Formula{m.notNegative(m.c.Cost.Epsilon)}
	for _, c := range costs {
		fs = append(fs, linear.Eq(c, linear.Term{}))
	}
	return linear.And(fs...)
}

// units says that all factors are positive.
func (m *machine) units() linear.Formula {
	var fs []linear.Formula
	for _, x := range m.budget.guarded {
		fs = append(fs, m.above(x))
	}
	return linear.And(fs...)
}

func moreThanOne(x p.Expression) bool {
	n, ok := x.(p.Number)
	return ok && n.Value.Cmp(rational(1)) > 0
}

// notNegative says that an expression over inputs is at least 0, or false where that
// is not seen.
func (m *machine) notNegative(x p.Expression) linear.Formula {
	if m.above(x).IsTrue() {
		return linear.True()
	}
	if b, ok := x.(p.Binary); ok {
		switch b.Op {
		case p.Mul:
			return linear.And(m.notNegative(b.X), m.notNegative(b.Y))
		case p.Quo:
			return linear.And(m.notNegative(b.X), m.above(b.Y))
		}
	}
	stop, err := m.stop, m.err
	v := m.eval(x, &state{})
	if m.err != err {
		m.stop, m.err = stop, err
		return linear.False()
	}
	return linear.Ge(v.num, linear.Term{})
}

// unpaid is what loops keep: where a factor is not positive, nothing is paid.
func (m *machine) unpaid() []linear.Formula {
	var fs []linear.Formula
	for _, x := range m.budget.guarded {
		for _, c := range m.budget.counters {
			fs = append(fs, linear.Or(m.above(x), linear.Eq(linear.Var{Name: c.name, Sort: linear.Real}.Term(), linear.Term{})))
		}
	}
	return fs
}
