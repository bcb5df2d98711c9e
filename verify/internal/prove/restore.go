package prove

import (
	"fmt"
	"slices"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// shift puts a shift of a draw in units.
func (s *scaled) shift(x p.Expression, draw int) (p.Expression, error) {
	written, of := x, s.drawn[draw]
	for _, k := range s.units {
		k.err = nil
		x, of = k.exactly(x, k.degrees[of]), k.variable(of)
		if k.err != nil {
			return nil, k.err
		}
	}
	if of.Sort != s.drawn[draw].Sort && !isWhole(written) {
		return nil, fmt.Errorf("the shift %s of an integer is not whole by its form", written)
	}
	return x, nil
}

// written is a shift in units as one of the function without.
func (s *scaled) written(x p.Expression, draw int) (p.Expression, error) {
	of := s.drawn[draw]
	degrees := make([]int, len(s.units))
	for i, k := range s.units {
		degrees[i], of = k.degrees[of], k.variable(of)
	}
	for i, k := range slices.Backward(s.units) {
		k.err = nil
		if x = k.restore(x, degrees[i]); k.err != nil {
			return nil, k.err
		}
	}
	return x, nil
}

// partial reports whether anything was left out that has no unit.
func (s *scaled) partial() bool {
	return slices.ContainsFunc(s.units, func(k *scaling) bool { return k.partial })
}

// candidates are inputs in units as inputs.
func (s *scaled) candidates(pairs []p.Pair) []p.Pair {
	for _, pair := range pairs {
		for _, k := range s.units {
			pair.First[k.unit.Name] = p.Value{Number: rational(1)}
			pair.Second[k.unit.Name] = p.Value{Number: rational(1)}
			for _, v := range k.constants {
				delete(pair.First, v.Name)
				delete(pair.Second, v.Name)
			}
		}
	}
	return pairs
}

// names are the units'.
func (s *scaled) names() []string {
	var names []string
	for _, k := range s.units {
		names = append(names, k.unit.Name)
	}
	return names
}

// restore writes a shift that was found in units as one of the function before.
func (k *scaling) restore(x p.Expression, degree int) p.Expression {
	times := func(x p.Expression, of int) p.Expression {
		for range degree - of {
			x = p.Binary{Op: p.Mul, X: x, Y: p.Ref{Var: k.unit}}
		}
		if of > degree {
			k.failed("%s is of degree %d in %s, where %d is needed", x, of, k.unit.Name, degree)
		}
		return simplify(x)
	}
	switch x := x.(type) {
	case p.Number:
		if x.Value.Sign() == 0 {
			return x
		}
		return times(x, 0)
	case p.Ref:
		return times(k.original(x), k.degrees[x.Var])
	case p.Element:
		return times(p.Element{Slice: k.slice(x.Slice), Index: k.restore(x.Index, 0)}, k.degrees[x.Slice])
	case p.Length:
		return times(p.Length{Slice: k.slice(x.Slice)}, 0)
	case p.Diff:
		d := k.degreeOf(x.X)
		return times(p.Diff{X: k.restore(x.X, d)}, d)
	case p.Unary:
		return p.Unary{Op: x.Op, X: k.restore(x.X, degree)}
	case p.If3:
		return p.If3{Cond: k.restore(x.Cond, 0), Then: k.restore(x.Then, degree), Else: k.restore(x.Else, degree)}
	case p.Binary:
		switch x.Op {
		case p.Add, p.Sub, p.Min, p.Max, p.And, p.Or:
			return p.Binary{Op: x.Op, X: k.restore(x.X, degree), Y: k.restore(x.Y, degree)}
		case p.Mul:
			if _, ok := x.X.(p.Number); ok {
				return p.Binary{Op: x.Op, X: x.X, Y: k.restore(x.Y, degree)}
			}
		case p.Quo:
			if _, ok := x.Y.(p.Number); ok {
				return p.Binary{Op: x.Op, X: k.restore(x.X, degree), Y: x.Y}
			}
		case p.Eq, p.Ne, p.Lt, p.Le, p.Gt, p.Ge:
			d := max(k.degreeOf(x.X), k.degreeOf(x.Y))
			return p.Binary{Op: x.Op, X: k.restore(x.X, d), Y: k.restore(x.Y, d)}
		}
		if d := k.degreeOf(x); d == 0 {
			return times(p.Binary{Op: x.Op, X: k.restore(x.X, 0), Y: k.restore(x.Y, 0)}, 0)
		}
	case p.Truth:
		return x
	case p.Call:
		if sameDegree(x) {
			return p.Call{Func: x.Func, Args: []p.Expression{k.restore(x.Args[0], degree)}}
		}
	}
	k.failed("%s is not of one degree", x)
	return x
}

func (k *scaling) original(x p.Ref) p.Expression {
	if y, ok := k.originals[x.Var]; ok {
		return y
	}
	return x
}

func (k *scaling) slice(v *p.Variable) *p.Variable {
	if r, ok := k.original(p.Ref{Var: v}).(p.Ref); ok {
		return r.Var
	}
	return v
}
