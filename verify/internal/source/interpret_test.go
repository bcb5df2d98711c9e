package source_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A machine runs a program.Function with the numbers that Go has, so that what it
// gives can be compared with what the function gives, to the last bit.
type machine struct {
	t        *testing.T
	vars     map[*program.Variable]any // int64, float64, bool, []any
	src      *noise.Source
	stream   *noise.Stream
	scales   map[*program.Variable]sampler
	shown    []any
	returned []any
	steps    int
}

type sampler interface {
	Int64(*noise.Stream) (int64, error)
}

// A jump is how a statement ends: nil is at its end.
type jump struct {
	loop  *program.Loop
	again bool
}

var returning = &jump{}

func (m *machine) list(stmts []program.Statement) *jump {
	for _, s := range stmts {
		if j := m.statement(s); j != nil {
			return j
		}
	}
	return nil
}

func (m *machine) statement(s program.Statement) *jump {
	if m.steps++; m.steps > 1_000_000 {
		m.t.Fatal("the program does not end")
	}
	switch s := s.(type) {
	case program.Assign:
		if s.To.Slice {
			from := m.vars[s.Value.(program.Ref).Var].([]any)
			m.vars[s.To] = append([]any(nil), from...)
			return nil
		}
		m.vars[s.To] = m.eval(s.Value)
	case program.Make:
		list := make([]any, m.eval(s.Length).(int64))
		for i := range list {
			list[i] = zero(s.To.Sort)
		}
		m.vars[s.To] = list
	case program.Append:
		m.vars[s.To] = append(m.vars[s.To].([]any), m.eval(s.Value))
	case program.Store:
		m.vars[s.To].([]any)[m.eval(s.Index).(int64)] = m.eval(s.Value)
	case program.Draw:
		m.vars[s.To] = m.draw(s)
	case program.If:
		if m.eval(s.Cond).(bool) {
			return m.list(s.Then)
		}
		return m.list(s.Else)
	case *program.Loop:
		for m.eval(s.Cond).(bool) {
			m.steps++
			if j := m.list(s.Body); j != nil && (j.loop != s || !j.again) {
				if j.loop == s {
					return nil
				}
				return j
			}
			if j := m.list(s.Post); j != nil {
				return j
			}
		}
	case program.Break:
		return &jump{loop: s.Of}
	case program.Continue:
		return &jump{loop: s.Of, again: true}
	case program.Output:
		m.shown = m.all(m.shown, s.Values)
	case program.Return:
		m.returned = m.all([]any{}, s.Values)
		return returning
	default:
		m.t.Fatalf("statement %T", s)
	}
	return nil
}

func (m *machine) all(to []any, xs []program.Expression) []any {
	for _, x := range xs {
		if r, ok := x.(program.Ref); ok && r.Var.Slice {
			to = append(to, append([]any{}, m.vars[r.Var].([]any)...))
			continue
		}
		to = append(to, m.eval(x))
	}
	return to
}

func zero(s program.Sort) any {
	switch s {
	case program.Int:
		return int64(0)
	case program.Real:
		return 0.0
	}
	return false
}

func (m *machine) draw(s program.Draw) any {
	if r, ok := s.Parameter.(program.Ref); ok && m.scales[r.Var] != nil {
		k, err := m.scales[r.Var].Int64(m.stream)
		if err != nil {
			m.t.Fatal(err)
		}
		return k
	}
	if s.Law == program.Uniform {
		return int64(m.src.Uniform(int(m.eval(s.Parameter).(int64))))
	}
	p := m.eval(s.Parameter).(float64)
	switch s.Law {
	case program.Laplace:
		return m.src.Laplace(p)
	case program.Exponential:
		return m.src.Exponential(p)
	case program.Gaussian:
		return m.src.Gaussian(p)
	case program.DiscreteLaplace:
		return m.src.DiscreteLaplace(p)
	case program.Geometric:
		return m.src.Geometric(p)
	case program.DiscreteGaussian:
		return m.src.DiscreteGaussian(p)
	case program.Bernoulli:
		return m.src.Bernoulli(p)
	}
	var scores []float64
	for _, x := range m.vars[s.Scores].([]any) {
		scores = append(scores, x.(float64))
	}
	return int64(m.src.Choose(scores, p))
}

func (m *machine) eval(x program.Expression) any {
	switch x := x.(type) {
	case program.Number:
		if x.Sort == program.Int {
			return x.Value.Num().Int64()
		}
		f, _ := x.Value.Float64()
		return f
	case program.Truth:
		return bool(x)
	case program.Ref:
		v, ok := m.vars[x.Var]
		if !ok {
			m.t.Fatalf("%s is read before it is set", x.Var.Name)
		}
		return v
	case program.Element:
		return m.vars[x.Slice].([]any)[m.eval(x.Index).(int64)]
	case program.Length:
		return int64(len(m.vars[x.Slice].([]any)))
	case program.Unary:
		switch v := m.eval(x.X).(type) {
		case bool:
			return !v
		case int64:
			return -v
		case float64:
			return -v
		}
	case program.Binary:
		a := m.eval(x.X)
		if b, ok := a.(bool); ok && (x.Op == program.And || x.Op == program.Or) {
			if b == (x.Op == program.Or) {
				return b
			}
			return m.eval(x.Y)
		}
		switch a := a.(type) {
		case bool:
			return (a == m.eval(x.Y).(bool)) == (x.Op == program.Eq)
		case int64:
			b := m.eval(x.Y).(int64)
			switch x.Op {
			case program.Quo:
				return a / b
			case program.Rem:
				return a % b
			}
			return arithmetic(x.Op, a, b)
		case float64:
			b := m.eval(x.Y).(float64)
			if x.Op == program.Quo {
				return a / b
			}
			return arithmetic(x.Op, a, b)
		}
	case program.Call:
		return m.call(x)
	}
	m.t.Fatalf("expression %T", x)
	return nil
}

func arithmetic[T int64 | float64](op program.Op, a, b T) any {
	switch op {
	case program.Add:
		return a + b
	case program.Sub:
		return a - b
	case program.Mul:
		return a * b
	case program.Min:
		return min(a, b)
	case program.Max:
		return max(a, b)
	case program.Eq:
		return a == b
	case program.Ne:
		return a != b
	case program.Lt:
		return a < b
	case program.Le:
		return a <= b
	case program.Gt:
		return a > b
	case program.Ge:
		return a >= b
	}
	panic(fmt.Sprint("operator ", op))
}

func (m *machine) call(x program.Call) any {
	a := m.eval(x.Args[0])
	switch x.Func {
	case "real":
		return float64(a.(int64))
	case "int":
		return int64(a.(float64))
	case "grid":
		return m.src.Round(a.(float64), m.eval(x.Args[1]).(float64))
	case "pow":
		return math.Pow(a.(float64), m.eval(x.Args[1]).(float64))
	}
	return map[string]func(float64) float64{
		"abs": math.Abs, "exp": math.Exp, "log": math.Log, "sqrt": math.Sqrt,
		"floor": math.Floor, "ceil": math.Ceil, "round": math.Round,
	}[x.Func](a.(float64))
}
