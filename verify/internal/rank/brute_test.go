package rank_test

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/rank"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// What is proved of functions and of mutants of them is held against runs with numbers: for
// neighbours and any noise, some k elements have noise that may move, by one distance for
// what it is added to, so that the result stays. That is what the package proves.
func TestMutantsAreCoupled(t *testing.T) {
	packages, err := source.Load(t.Context(), "../../..", "./mechanism", "./verify/testdata/fresh")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	proved, altered := 0, 0
	for _, p := range packages {
		for _, u := range p.Units {
			file := filepath.Base(u.Position.Filename)
			if file != "ranks.go" && file != "noisy_max.go" || u.Function == nil || u.Claim == nil || !rank.Applies(u.Function, u.Claim) {
				continue
			}
			f := replay.Subject(replay.Rank, u.Function, u.Claim)
			for mutant := range 40 {
				g := f
				if mutant > 0 {
					g = mutated(random, f)
				}
				o, err := rank.Prove(t.Context(), g, u.Claim)
				if err != nil {
					continue
				}
				proved++
				if mutant > 0 {
					altered++
				}
				for range 40 {
					if why := uncoupled(random, g, u.Claim, o.Certificate.Winners); why != "" {
						t.Errorf("%s is proved with %d winners: %s\n%s", u.Name, o.Certificate.Winners, why, program.Print(g))
						break
					}
				}
			}
		}
	}
	t.Logf("%d proved, of which %d are mutants", proved, altered)
	if altered < 100 {
		t.Errorf("%d mutants are proved", altered)
	}
}

// mutated has one or two expressions or assignments that are others.
func mutated(random *rand.Rand, f *program.Function) *program.Function {
	var scalars []*program.Variable
	program.Each(f.Body, func(s program.Statement) {
		if v := program.Written(s); v != nil && !v.Slice && !slices.Contains(scalars, v) {
			scalars = append(scalars, v)
		}
	})
	g := *f
	for range 1 + random.IntN(2) {
		places, chosen := 0, -1
		here := func() bool { places++; return places-1 == chosen }
		r := &program.Rewriter{
			Expression: func(x program.Expression) program.Expression {
				return program.Replace(x, func(x program.Expression) program.Expression {
					if y := other(random, x, scalars); y != nil && here() {
						return y
					}
					return x
				})
			},
			Statement: func(s program.Statement) []program.Statement {
				if _, ok := s.(program.Assign); ok && here() {
					return []program.Statement{}
				}
				return []program.Statement{s}
			},
		}
		r.List(g.Body)
		chosen, places = random.IntN(places), 0
		g.Body = r.List(g.Body)
	}
	return &g
}

// other is an expression like x, nil if there is none.
func other(random *rand.Rand, x program.Expression, scalars []*program.Variable) program.Expression {
	switch x := x.(type) {
	case program.Ref:
		var like []*program.Variable
		for _, v := range scalars {
			if v != x.Var && v.Sort == x.Var.Sort && !x.Var.Slice {
				like = append(like, v)
			}
		}
		if len(like) > 0 {
			return program.Ref{Var: like[random.IntN(len(like))]}
		}
	case program.Number:
		return program.Number{Value: big.NewRat(int64(random.IntN(7)-1), 1), Sort: x.Sort}
	case program.Binary:
		for _, ops := range [][]program.Op{
			{program.Lt, program.Le, program.Gt, program.Ge, program.Eq, program.Ne},
			{program.Add, program.Sub}, {program.Min, program.Max}, {program.And, program.Or},
		} {
			if slices.Contains(ops, x.Op) {
				x.Op = ops[random.IntN(len(ops))]
				return x
			}
		}
	}
	return nil
}

// uncoupled draws neighbours and noise, and says how no noise of k elements that moves as it
// may gives the neighbour the same result; "" if some does, or if it drew none.
func uncoupled(random *rand.Rand, f *program.Function, c *claim.Claim, k int) string {
	if len(c.Adjacent) != 1 || !c.Adjacent[0].Input.Slice {
		return ""
	}
	var law program.Law
	program.Each(f.Body, func(s program.Statement) {
		if d, ok := s.(program.Draw); ok {
			law = d.Law
		}
	})
	whole, oneSided := law == program.DiscreteLaplace || law == program.Geometric, law == program.Exponential || law == program.Geometric
	n := random.IntN(7)
	inputs := map[*program.Variable]any{}
	for _, v := range f.Inputs {
		number := func() any { return float64(random.IntN(4)) }
		if v.Sort == program.Bool {
			number = func() any { return random.IntN(2) == 0 }
		}
		inputs[v] = number()
		if v.Slice {
			list := make([]any, n)
			for i := range list {
				list[i] = number()
			}
			inputs[v] = list
		}
	}
	first := run{vars: inputs}
	for _, x := range slices.Concat(f.Requires, c.Requires) {
		if met, ok := first.eval(x).(bool); !ok || !met {
			return ""
		}
	}
	adjacent := c.Adjacent[0]
	low, high := first.eval(adjacent.Low).(float64), first.eval(adjacent.High).(float64)
	moved, only := make([]float64, n), random.IntN(max(n, 1))
	neighbour := maps.Clone(inputs)
	list := slices.Clone(inputs[adjacent.Input].([]any))
	for i := range list {
		if adjacent.Relation == claim.Each || i == only {
			moved[i] = []float64{low, 0, high}[random.IntN(3)]
		}
		list[i] = list[i].(float64) + moved[i]
	}
	neighbour[adjacent.Input] = list

	// Noisy reals are never equal: each is a whole number and a fraction of its own.
	noise, step := make([]float64, n), 1.0
	for i := range noise {
		noise[i] = float64(random.IntN(9) - 4)
		if oneSided {
			noise[i] = math.Abs(noise[i])
		}
		if !whole {
			step = 1.0 / 16
			noise[i] += float64(i) * step
		}
	}
	want, ok := result(f, inputs, noise)
	if !ok {
		return ""
	}
	width := high - low
	if adjacent.Relation == claim.One && !oneSided {
		width = max(high, -low)
	}
	for chosen := range 1 << n {
		if bits.OnesCount(uint(chosen)) != min(n, k) {
			continue
		}
		for d := -width; d <= width; d += step {
			for _, sign := range []float64{1, -1, 0} { // of the data in what is noisy
				shifted, cheap := slices.Clone(noise), true
				for i := range shifted {
					if chosen&(1<<i) != 0 {
						by := d - sign*moved[i]
						cheap = cheap && math.Abs(by) <= width && (by >= 0 || !oneSided)
						shifted[i] += by
					}
				}
				if got, ok := result(f, neighbour, shifted); cheap && ok && got == want {
					return ""
				}
			}
		}
	}
	return fmt.Sprintf("%v with the noise %v gives %s, and %v nothing like it", inputs[adjacent.Input], noise, want, list)
}

// A run is one with numbers: all are float64, or bool.
type run struct {
	vars  map[*program.Variable]any
	noise []float64
	steps int
	shown string
}

// A jump is how a list of statements is left; of is nil for a return.
type jump struct {
	of    *program.Loop
	again bool
}

// fault is of what Go functions do not do, and mutants may.
type fault string

// result is what a function shows; it is not ok where it does what it must not.
func result(f *program.Function, inputs map[*program.Variable]any, noise []float64) (shown string, ok bool) {
	r := run{vars: maps.Clone(inputs), noise: noise}
	defer func() {
		if why := recover(); why != nil {
			if _, of := why.(fault); !of {
				panic(why)
			}
			ok = false
		}
	}()
	r.list(f.Body)
	return r.shown, true
}

func (r *run) list(list []program.Statement) *jump {
	for _, s := range list {
		if j := r.statement(s); j != nil {
			return j
		}
	}
	return nil
}

func (r *run) statement(s program.Statement) *jump {
	if r.steps++; r.steps > 1000 {
		panic(fault("it does not end"))
	}
	switch s := s.(type) {
	case program.Assign:
		if s.To.Slice {
			r.vars[s.To] = slices.Clone(r.slice(s.Value.(program.Ref).Var))
			return nil
		}
		r.vars[s.To] = r.eval(s.Value)
	case program.Make:
		n := r.eval(s.Length).(float64)
		if n < 0 || n > 100 {
			panic(fault("a length"))
		}
		r.vars[s.To] = slices.Repeat([]any{zero(s.To)}, int(n))
	case program.Append:
		r.vars[s.To] = append(r.slice(s.To), r.eval(s.Value))
	case program.Store:
		r.slice(s.To)[r.at(s.To, s.Index)] = r.eval(s.Value)
	case program.Draw:
		if len(r.noise) == 0 {
			panic(fault("more draws than elements"))
		}
		r.vars[s.To], r.noise = r.noise[0], r.noise[1:]
	case program.If:
		if r.eval(s.Cond).(bool) {
			return r.list(s.Then)
		}
		return r.list(s.Else)
	case *program.Loop:
		for r.eval(s.Cond).(bool) {
			if j := r.list(s.Body); j != nil && (j.of != s || !j.again) {
				if j.of == s {
					return nil
				}
				return j
			}
			r.list(s.Post)
		}
	case program.Break:
		return &jump{of: s.Of}
	case program.Continue:
		return &jump{of: s.Of, again: true}
	case program.Return:
		var all []any
		for _, x := range s.Values {
			if v, ok := x.(program.Ref); ok && v.Var.Slice {
				all = append(all, r.slice(v.Var))
			} else {
				all = append(all, r.eval(x))
			}
		}
		r.shown = fmt.Sprint(s.Panic, all)
		return &jump{}
	default:
		panic(fmt.Sprintf("statement %T", s))
	}
	return nil
}

func zero(v *program.Variable) any {
	if v.Sort == program.Bool {
		return false
	}
	return 0.0
}

func (r *run) slice(v *program.Variable) []any {
	list, _ := r.vars[v].([]any)
	return list
}

func (r *run) at(v *program.Variable, x program.Expression) int {
	i := r.eval(x).(float64)
	if i < 0 || i >= float64(len(r.slice(v))) {
		panic(fault("an index"))
	}
	return int(i)
}

func (r *run) eval(x program.Expression) any {
	switch x := x.(type) {
	case program.Number:
		v, _ := x.Value.Float64()
		return v
	case program.Truth:
		return bool(x)
	case program.Ref:
		if v, ok := r.vars[x.Var]; ok {
			return v
		}
		panic(fault("a variable that was not set"))
	case program.Element:
		return r.slice(x.Slice)[r.at(x.Slice, x.Index)]
	case program.Length:
		return float64(len(r.slice(x.Slice)))
	case program.Unary:
		switch v := r.eval(x.X).(type) {
		case bool:
			return !v
		case float64:
			return -v
		}
	case program.Binary:
		a := r.eval(x.X)
		if b, ok := a.(bool); ok {
			switch x.Op {
			case program.And:
				return b && r.eval(x.Y).(bool)
			case program.Or:
				return b || r.eval(x.Y).(bool)
			}
			return (b == r.eval(x.Y).(bool)) == (x.Op == program.Eq)
		}
		return r.binary(x, a.(float64), r.eval(x.Y).(float64))
	case program.Call:
		switch v := r.eval(x.Args[0]).(float64); x.Func {
		case "real":
			return v
		case "abs":
			return math.Abs(v)
		}
		panic(fault(x.Func))
	}
	panic(fmt.Sprintf("expression %T", x))
}

func (r *run) binary(x program.Binary, a, b float64) any {
	switch x.Op {
	case program.Add:
		return a + b
	case program.Sub:
		return a - b
	case program.Mul:
		return a * b
	case program.Quo:
		if b == 0 {
			panic(fault("a divisor"))
		}
		if program.SortOf(x) == program.Int {
			return math.Trunc(a / b)
		}
		return a / b
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
	panic(fault(x.Op))
}
