package prove

import (
	"github.com/discreet-dp/discreet/verify/internal/claim"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// infer guesses the degrees of variables from what they meet; those that meet nothing
// of a known degree are of degree 0. Nothing rests on a guess: it fits or it does not.
func (k *scaling) infer(f *p.Function, c *claim.Claim) {
	for before := 0; before < len(k.known); {
		before = len(k.known)
		for _, a := range c.Adjacent {
			for _, x := range []p.Expression{a.High, a.Low} {
				if d, ok := k.guess(x); ok {
					k.note(a.Input, d)
				}
			}
		}
		k.push(c.Cost.Epsilon, 0)
		p.Each(f.Body, func(s p.Statement) {
			for _, x := range parts(s) {
				k.meet(x)
			}
			switch s := s.(type) {
			case *p.Assign:
				k.relate(p.Ref{Var: s.To}, s.Value)
			case *p.Make:
				k.push(s.Length, 0)
			case *p.Append:
				k.relate(p.Ref{Var: s.To}, s.Value)
			case *p.Store:
				k.push(s.Index, 0)
				k.relate(p.Ref{Var: s.To}, s.Value)
			case *p.Draw:
				switch s.Law {
				case p.Bernoulli, p.Uniform:
					k.push(s.Parameter, 0)
				case p.Choose:
					if d, ok := k.guess(p.Ref{Var: s.Scores}); ok {
						k.push(s.Parameter, -d)
					}
				default:
					k.relate(p.Ref{Var: s.To}, s.Parameter)
				}
			}
		})
		for _, x := range c.Requires {
			k.meet(x)
		}
	}
}

// parts are the expressions of a statement.
func parts(s p.Statement) []p.Expression {
	switch s := s.(type) {
	case *p.Assign:
		return []p.Expression{s.Value}
	case *p.Make:
		return []p.Expression{s.Length}
	case *p.Append:
		return []p.Expression{s.Value}
	case *p.Store:
		return []p.Expression{s.Index, s.Value}
	case *p.Draw:
		return []p.Expression{s.Parameter}
	case *p.If:
		return []p.Expression{s.Cond}
	case *p.Loop:
		return []p.Expression{s.Cond}
	case *p.Output:
		return s.Values
	case *p.Return:
		return s.Values
	}
	return nil
}

func (k *scaling) note(v *p.Variable, degree int) {
	if !k.known[v] {
		k.known[v], k.degrees[v] = true, degree
	}
}

// relate makes x and y of one degree, if that of one is known.
func (k *scaling) relate(x, y p.Expression) {
	if d, ok := k.guess(x); ok {
		k.push(y, d)
	}
	if d, ok := k.guess(y); ok {
		k.push(x, d)
	}
}

// meet looks at what meets within an expression.
func (k *scaling) meet(x p.Expression) {
	p.Walk(x, func(x p.Expression) {
		switch x := x.(type) {
		case p.Element:
			k.push(x.Index, 0)
		case p.If3:
			k.relate(x.Then, x.Else)
		case p.Binary:
			switch x.Op {
			case p.Mul, p.Quo, p.And, p.Or:
			case p.Rem:
				k.push(x.X, 0)
				k.push(x.Y, 0)
			default:
				k.relate(x.X, x.Y)
			}
		case p.Call:
			for _, a := range x.Args {
				if !sameDegree(x) {
					k.push(a, 0)
				}
			}
		}
	})
}

// push gives x a degree.
func (k *scaling) push(x p.Expression, degree int) {
	switch x := x.(type) {
	case p.Ref:
		k.note(x.Var, degree)
	case p.Element:
		k.note(x.Slice, degree)
	case p.Unary:
		k.push(x.X, degree)
	case p.Diff:
		k.push(x.X, degree)
	case p.If3:
		k.push(x.Then, degree)
		k.push(x.Else, degree)
	case p.Call:
		if sameDegree(x) {
			k.push(x.Args[0], degree)
		}
	case p.Binary:
		switch x.Op {
		case p.Add, p.Sub, p.Min, p.Max:
			k.push(x.X, degree)
			k.push(x.Y, degree)
		case p.Mul:
			if d, ok := k.factor(x.X); ok {
				k.push(x.Y, degree-d)
			} else if d, ok := k.factor(x.Y); ok {
				k.push(x.X, degree-d)
			}
		case p.Quo:
			if d, ok := k.factor(x.Y); ok {
				k.push(x.X, degree+d)
			} else if d, ok := k.factor(x.X); ok {
				k.push(x.Y, d-degree)
			}
		}
	}
}

// factor is the degree of x in a product.
func (k *scaling) factor(x p.Expression) (int, bool) {
	if _, ok := x.(p.Number); ok {
		return 0, true
	}
	return k.guess(x)
}

// guess is the degree of x by those known so far.
func (k *scaling) guess(x p.Expression) (int, bool) {
	either := func(x, y p.Expression) (int, bool) {
		if d, ok := k.guess(x); ok {
			return d, ok
		}
		return k.guess(y)
	}
	switch x := x.(type) {
	case p.Ref:
		return k.degrees[x.Var], k.known[x.Var]
	case p.Element:
		return k.degrees[x.Slice], k.known[x.Slice]
	case p.Length:
		return 0, true
	case p.Unary:
		return k.guess(x.X)
	case p.Diff:
		return k.guess(x.X)
	case p.If3:
		return either(x.Then, x.Else)
	case p.Call:
		if sameDegree(x) {
			return k.guess(x.Args[0])
		}
		return 0, true
	case p.Binary:
		switch x.Op {
		case p.Add, p.Sub, p.Min, p.Max:
			return either(x.X, x.Y)
		case p.Mul:
			d, ok1 := k.factor(x.X)
			e, ok2 := k.factor(x.Y)
			return d + e, ok1 && ok2
		case p.Quo:
			d, ok1 := k.factor(x.X)
			e, ok2 := k.factor(x.Y)
			return d - e, ok1 && ok2
		}
		return 0, true
	}
	return 0, false
}

// sameDegree is of functions of which the value has the argument's degree.
func sameDegree(x p.Call) bool { return x.Func == "real" || x.Func == "abs" }
