package linear

import (
	"fmt"
	"math/big"
)

// A Model gives variables values; a truth value is 0 or 1, and a variable that is
// not named is 0.
type Model map[Var]*big.Rat

// eval is the term's value.
func (t Term) eval(m Model) (*big.Rat, error) {
	e := evaluator{m, map[any]*big.Rat{}}
	r, err := e.term(t)
	if err != nil {
		return nil, fmt.Errorf("evaluate term: %w", err)
	}
	return new(big.Rat).Set(r), nil
}

// eval is the formula's truth.
func (f Formula) Eval(m Model) (bool, error) {
	e := evaluator{m, map[any]*big.Rat{}}
	b, err := e.formula(f)
	if err != nil {
		return false, fmt.Errorf("evaluate formula: %w", err)
	}
	return b, nil
}

type evaluator struct {
	model Model
	done  map[any]*big.Rat // of nodes and conditionals, which may be shared
}

func (e evaluator) variable(v Var) (*big.Rat, error) {
	r := e.model[v]
	switch {
	case r == nil:
		return new(big.Rat), nil
	case v.Sort == Int && !r.IsInt(), v.Sort == Bool && r.Sign() != 0 && r.Cmp(big.NewRat(1, 1)) != 0:
		return nil, fmt.Errorf("%s of sort %v is %s", v.Name, v.Sort, r.RatString())
	}
	return r, nil
}

func (e evaluator) term(t Term) (*big.Rat, error) {
	if t.err != nil {
		return nil, t.err
	}
	sum := t.constant.rat()
	for _, m := range t.monomials {
		x, err := e.base(m.base)
		if err != nil {
			return nil, err
		}
		sum.Add(sum, new(big.Rat).Mul(m.coef.view(), x))
	}
	return sum, nil
}

func (e evaluator) base(b base) (*big.Rat, error) {
	if b.ite == nil {
		return e.variable(b.v)
	}
	if r := e.done[b.ite]; r != nil {
		return r, nil
	}
	cond, err := e.formula(b.ite.cond)
	if err != nil {
		return nil, err
	}
	branch := b.ite.other
	if cond {
		branch = b.ite.then
	}
	r, err := e.term(branch)
	if err == nil {
		e.done[b.ite] = r
	}
	return r, err
}

func (e evaluator) formula(f Formula) (value bool, err error) {
	switch f.op {
	case opNone:
		return false, f.Err()
	case opTrue:
		return true, nil
	case opFalse:
		return false, nil
	}
	if r := e.done[f.n]; r != nil {
		return r.Sign() != 0, nil
	}
	defer func() {
		if err == nil {
			e.done[f.n] = big.NewRat(map[bool]int64{true: 1}[value], 1)
		}
	}()
	switch f.op {
	case opVar:
		r, err := e.variable(f.n.v)
		return err == nil && r.Sign() != 0, err
	case opLe, opLt, opEq:
		r, err := e.term(f.n.term)
		if err != nil {
			return false, err
		}
		return f.op.holds(r.Sign()), nil
	}
	values := make([]bool, len(f.n.args))
	for i, a := range f.n.args {
		if values[i], err = e.formula(a); err != nil {
			return false, err
		}
	}
	switch f.op {
	case opNot:
		return !values[0], nil
	case opIff:
		return values[0] == values[1], nil
	}
	for _, v := range values {
		if v == (f.op == opOr) {
			return v, nil
		}
	}
	return f.op == opAnd, nil
}
