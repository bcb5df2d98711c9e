package rewritetest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// Near changes functions of the test data in a few places, rewrites them, and fails unless what
// they reveal has the same probabilities. Noise has few values here: what is rewritten must hold
// for all laws of which one is that of a difference of two, and of which those over the reals
// are families of scale.
func Near(t *testing.T, folders []string, rewrites map[string]func(f *program.Function, requires []program.Expression) *program.Function) {
	t.Helper()
	var seeds [][]*source.Unit
	for _, folder := range folders {
		seeds = append(seeds, Load(t, "./testdata/"+folder))
	}
	compared := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 30 {
			of := rapid.SampledFrom(seeds).Draw(t, "folder")
			u := rapid.SampledFrom(of).Draw(t, "seed")
			f := near(t, u.Function)
			before := program.Print(f)
			for _, name := range slices.Sorted(maps.Keys(rewrites)) {
				g := rewrites[name](f, u.Claim.Requires)
				if g == f {
					continue
				}
				if program.Print(f) != before {
					t.Fatalf("%s changes the given function", name)
				}
				Unambiguous(t, g)
				for range 3 {
					in := inputs(t, f)
					p, err := distribution(f, in, 1000)
					if err != nil || !met(u.Claim.Requires, in) {
						continue
					}
					compared[name]++
					q, err := distribution(g, in, 5000)
					if err != nil || !maps.Equal(p, q) {
						t.Fatalf("%v: %v, and then %v %v:\n%s\n%s:\n%s", in, p, q, err, before, name, program.Print(g))
					}
				}
			}
		}
	})
	for name := range rewrites {
		if compared[name] == 0 {
			t.Errorf("nothing was compared of %s", name)
		}
	}
	t.Log(compared)
}

// Unambiguous fails if two variables have one name.
func Unambiguous(t *rapid.T, f *program.Function) {
	names := map[string]*program.Variable{}
	for _, v := range variables(f) {
		if w := names[v.Name]; w != nil && w != v {
			t.Fatalf("two variables are named %s:\n%s", v.Name, program.Print(f))
		}
		names[v.Name] = v
	}
}

// variables are those of a function, in the order in which they come.
func variables(f *program.Function) []*program.Variable {
	all := slices.Clone(f.Inputs)
	add := func(v *program.Variable) {
		if v != nil && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	program.Each(f.Body, func(s program.Statement) {
		add(program.Written(s))
		program.Reads(s, add)
	})
	return all
}

// near makes a few changes to a function.
func near(t *rapid.T, f *program.Function) *program.Function {
	g := *f
	g.Body = (&program.Rewriter{}).List(f.Body)
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		c := &change{t: t, f: &g, all: variables(&g)}
		if rapid.Bool().Draw(t, "of a statement") {
			n := 0
			program.Each(g.Body, func(program.Statement) { n++ })
			c.at = rapid.IntRange(0, max(n-1, 0)).Draw(t, "statement")
			g.Body = c.list(g.Body)
			continue
		}
		n := 0
		count := func(x program.Expression) program.Expression { n++; return x }
		(&program.Rewriter{Expression: func(x program.Expression) program.Expression { return program.Replace(x, count) }}).List(g.Body)
		at := rapid.IntRange(0, max(n-1, 0)).Draw(t, "expression")
		n = 0
		swap := func(x program.Expression) program.Expression {
			if r, ok := x.(program.Ref); n == at && !(ok && r.Var.Slice) {
				n++
				return c.expression(program.SortOf(x))
			}
			n++
			return x
		}
		g.Body = (&program.Rewriter{Expression: func(x program.Expression) program.Expression { return program.Replace(x, swap) }}).List(g.Body)
	}
	return &g
}

// A change is one of a statement.
type change struct {
	t     *rapid.T
	f     *program.Function
	all   []*program.Variable
	at    int
	loops []*program.Loop
}

func (c *change) list(list []program.Statement) []program.Statement {
	for k := range list {
		if c.at--; c.at == -1 {
			return c.one(slices.Clone(list), k)
		}
		switch s := list[k].(type) {
		case program.If:
			s.Then, s.Else = c.list(s.Then), c.list(s.Else)
			list[k] = s
		case *program.Loop:
			c.loops = append(c.loops, s)
			s.Body = c.list(s.Body)
			c.loops = c.loops[:len(c.loops)-1]
			s.Post = c.list(s.Post)
		}
		if c.at < 0 {
			return list
		}
	}
	return list
}

// one changes the k-th statement of a list.
func (c *change) one(list []program.Statement, k int) []program.Statement {
	switch c.choice(6, "change") {
	case 0:
		return slices.Delete(list, k, k+1)
	case 1:
		return slices.Insert(list, k, (&program.Rewriter{}).List(list[k:k+1])...)
	case 2:
		other := c.choice(len(list), "other")
		list[k], list[other] = list[other], list[k]
	case 3:
		return slices.Insert(list, k+1, c.statement())
	case 4:
		return slices.Insert(list, k, program.Statement(program.If{Cond: c.expression(program.Bool), Then: []program.Statement{c.statement()}}))
	default:
		return slices.Insert(list, k, c.statement())
	}
	return list
}

func (c *change) choice(n int, label string) int {
	return rapid.IntRange(0, n-1).Draw(c.t, label)
}

// variable is one of a kind, nil if there is none.
func (c *change) variable(kind func(*program.Variable) bool) *program.Variable {
	of := slices.DeleteFunc(slices.Clone(c.all), func(v *program.Variable) bool { return !kind(v) })
	if len(of) == 0 {
		return nil
	}
	return of[c.choice(len(of), "variable")]
}

func (c *change) scalar(s program.Sort) *program.Variable {
	return c.variable(func(v *program.Variable) bool { return !v.Slice && v.Sort == s })
}

func (c *change) slice() *program.Variable {
	return c.variable(func(v *program.Variable) bool { return v.Slice })
}

func (c *change) statement() program.Statement {
	skip := program.If{Cond: program.Truth(true)}
	switch c.choice(10, "statement") {
	case 0, 1:
		v := c.variable(func(v *program.Variable) bool { return !v.Slice })
		return program.Assign{To: v, Value: c.expression(v.Sort)}
	case 2:
		if v := c.slice(); v != nil {
			return program.Store{To: v, Index: c.expression(program.Int), Value: c.expression(v.Sort)}
		}
	case 3:
		if v := c.slice(); v != nil {
			return program.Append{To: v, Value: c.expression(v.Sort)}
		}
	case 4:
		v := c.variable(func(v *program.Variable) bool { return !v.Slice })
		laws := map[program.Sort][]program.Law{
			program.Int: {program.DiscreteLaplace, program.Geometric}, program.Real: {program.Laplace, program.Exponential}, program.Bool: {program.Bernoulli},
		}[v.Sort]
		return program.Draw{To: v, Law: laws[c.choice(len(laws), "law")], Parameter: c.expression(program.Real)}
	case 5:
		v := c.slice()
		if to := c.scalar(program.Int); v != nil && to != nil {
			return program.Draw{To: to, Law: program.Choose, Scores: v, Parameter: c.expression(program.Real)}
		}
	case 6:
		if len(c.loops) > 0 {
			of := c.loops[c.choice(len(c.loops), "loop")]
			if c.choice(2, "jump") == 0 {
				return program.Break{Of: of}
			}
			return program.Continue{Of: of}
		}
		var r program.Statement = skip
		program.Each(c.f.Body, func(s program.Statement) {
			if _, ok := s.(program.Return); ok {
				r = s
			}
		})
		return r
	case 7:
		if v := c.slice(); v != nil {
			w := c.variable(func(w *program.Variable) bool { return w.Slice && w.Sort == v.Sort })
			return program.Assign{To: v, Value: program.Ref{Var: w}}
		}
	case 8:
		if v := c.slice(); v != nil {
			return program.Make{To: v, Length: c.expression(program.Int)}
		}
	case 9:
		return program.Output{Values: []program.Expression{c.expression(program.Int)}}
	}
	return skip
}

func (c *change) expression(s program.Sort) program.Expression {
	if s == program.Bool {
		op := []program.Op{program.Lt, program.Le, program.Eq, program.Ge}[c.choice(4, "comparison")]
		of := program.Sort(c.choice(2, "sort"))
		return program.Binary{Op: op, X: c.expression(of), Y: c.expression(of)}
	}
	switch c.choice(5, "expression") {
	case 0, 1:
		if v := c.scalar(s); v != nil {
			return program.Ref{Var: v}
		}
	case 2:
		if v := c.variable(func(v *program.Variable) bool { return v.Slice && v.Sort == s }); v != nil {
			return program.Element{Slice: v, Index: c.expression(program.Int)}
		}
	case 3:
		if v := c.slice(); v != nil && s == program.Int {
			return program.Length{Slice: v}
		}
	case 4:
		return program.Binary{Op: program.Add, X: c.expression(s), Y: c.expression(s)}
	}
	return program.Number{Value: big.NewRat(int64(c.choice(3, "number")), 1), Sort: s}
}

// inputs gives values to the inputs of a function, and the same length to most slices.
func inputs(t *rapid.T, f *program.Function) map[*program.Variable][]float64 {
	in := map[*program.Variable][]float64{}
	length := rapid.IntRange(0, 3).Draw(t, "length")
	for _, v := range f.Inputs {
		n := 1
		if v.Slice {
			n = length
		}
		low := -2
		if v.Natural || v.Sort == program.Bool {
			low = 0
		}
		if v.Name == "eps" {
			low = 1
		}
		high := map[bool]int{true: 1, false: 2}[v.Sort == program.Bool]
		for range n {
			in[v] = append(in[v], float64(rapid.IntRange(low, high).Draw(t, v.Name)))
		}
	}
	return in
}

// met reports whether inputs are as required.
func met(requires []program.Expression, in map[*program.Variable][]float64) (ok bool) {
	defer func() {
		if r := recover(); r != nil && r != errFails {
			panic(r)
		}
	}()
	for _, x := range requires {
		if (&runner{values: in}).eval(x) == 0 {
			return false
		}
	}
	return true
}

var errFails = errors.New("the function fails")

// distribution is what a function reveals, with the probabilities.
func distribution(f *program.Function, in map[*program.Variable][]float64, steps int) (p map[string]float64, err error) {
	defer func() {
		if r := recover(); r == errFails {
			err = errFails
		} else if r != nil {
			panic(r)
		}
	}()
	p = map[string]float64{}
	var tape []int
	for {
		r := &runner{values: map[*program.Variable][]float64{}, tape: tape, steps: steps}
		for v, xs := range in {
			r.values[v] = slices.Clone(xs)
		}
		r.list(f.Body)
		p[r.shown.String()] += math.Ldexp(1, -r.drawn)
		tape = r.tape[:r.drawn]
		for len(tape) > 0 && tape[len(tape)-1] == 1 {
			tape = tape[:len(tape)-1]
		}
		if len(tape) == 0 {
			return p, nil
		}
		tape[len(tape)-1] = 1
	}
}

// A runner runs a function with draws made of bits of a tape: one-sided noise is one bit, and
// noise of both sides the difference of two.
type runner struct {
	values map[*program.Variable][]float64
	tape   []int // bits
	drawn  int
	steps  int
	shown  strings.Builder
}

// A jump is how statements end: nil at their end, else a Break, Continue or Return.
func (r *runner) list(list []program.Statement) (jump program.Statement) {
	for _, s := range list {
		r.step()
		switch s := s.(type) {
		case program.Assign:
			if ref, ok := s.Value.(program.Ref); ok && s.To.Slice {
				r.set(s.To, slices.Clone(r.slice(ref.Var)))
			} else {
				r.set(s.To, []float64{r.eval(s.Value)})
			}
		case program.Make:
			n := r.eval(s.Length)
			if n < 0 || n > 20 {
				panic(errFails)
			}
			r.set(s.To, make([]float64, int(n)))
		case program.Append:
			r.set(s.To, append(r.slice(s.To), r.eval(s.Value)))
		case program.Store:
			i, x := r.eval(s.Index), r.eval(s.Value)
			*r.element(s.To, i) = x
		case program.Draw:
			r.draw(s)
		case program.If:
			branch := s.Else
			if r.eval(s.Cond) != 0 {
				branch = s.Then
			}
			if jump := r.list(branch); jump != nil {
				return jump
			}
		case *program.Loop:
			for r.step(); r.eval(s.Cond) != 0; r.step() {
				switch jump := r.list(s.Body).(type) {
				case program.Break:
					if jump.Of != s {
						return jump
					}
				case program.Continue:
					if jump.Of != s {
						return jump
					}
					r.list(s.Post)
					continue
				case program.Return:
					return jump
				default:
					r.list(s.Post)
					continue
				}
				break
			}
		case program.Output:
			r.show(s.Values)
		case program.Return:
			r.show(s.Values)
			return s
		default:
			return s
		}
	}
	return nil
}

func (r *runner) step() {
	if r.steps--; r.steps < 0 {
		panic(errFails)
	}
}

func (r *runner) set(v *program.Variable, xs []float64) {
	if v.Natural && slices.Min(append(xs, 0)) < 0 {
		panic(errFails)
	}
	r.values[v] = xs
}

func (r *runner) slice(v *program.Variable) []float64 {
	xs, ok := r.values[v]
	if !ok && !v.Slice || len(xs) > 20 {
		panic(errFails)
	}
	return xs
}

func (r *runner) element(v *program.Variable, i float64) *float64 {
	xs := r.slice(v)
	if i < 0 || int(i) >= len(xs) {
		panic(errFails)
	}
	return &xs[int(i)]
}

// bit is 0 or 1.
func (r *runner) bit() float64 {
	if r.drawn++; r.drawn > 12 {
		panic(errFails)
	}
	if len(r.tape) < r.drawn {
		r.tape = append(r.tape, 0)
	}
	return float64(r.tape[r.drawn-1])
}

func (r *runner) draw(d program.Draw) {
	size, x := r.eval(d.Parameter), 0.0
	if d.To.Sort == program.Int {
		size = math.Trunc(2*size) + 1
	} else if size <= 0 {
		panic(errFails)
	}
	switch d.Law {
	case program.Bernoulli:
		x = r.bit()
	case program.Choose:
		scores := r.slice(d.Scores)
		if len(scores) == 0 {
			panic(errFails)
		}
		x = r.bit() * float64(slices.Index(scores, slices.Max(scores)))
	case program.Exponential, program.Geometric:
		x = size * r.bit()
	default:
		x = size * (r.bit() - r.bit())
	}
	r.set(d.To, []float64{x})
}

func (r *runner) show(xs []program.Expression) {
	for _, x := range xs {
		if ref, ok := x.(program.Ref); ok && ref.Var.Slice {
			fmt.Fprint(&r.shown, r.slice(ref.Var))
		} else {
			fmt.Fprint(&r.shown, r.eval(x)+0) // -0 is 0
		}
	}
	r.shown.WriteByte(';')
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (r *runner) eval(x program.Expression) float64 {
	switch x := x.(type) {
	case program.Number:
		f, _ := x.Value.Float64()
		return f
	case program.Truth:
		return truth(bool(x))
	case program.Ref:
		return *r.element(x.Var, 0)
	case program.Element:
		return *r.element(x.Slice, r.eval(x.Index))
	case program.Length:
		return float64(len(r.slice(x.Slice)))
	case program.Unary:
		if x.Op == program.Not {
			return 1 - r.eval(x.X)
		}
		return -r.eval(x.X)
	case program.Call:
		switch x.Func {
		case "real":
			return r.eval(x.Args[0])
		case "abs":
			return math.Abs(r.eval(x.Args[0]))
		}
	case program.Binary:
		return r.binary(x)
	}
	panic(errFails)
}

func (r *runner) binary(x program.Binary) float64 {
	a := r.eval(x.X)
	if x.Op == program.And && a == 0 || x.Op == program.Or && a != 0 {
		return a
	}
	b := r.eval(x.Y)
	switch x.Op {
	case program.And, program.Or:
		return b
	case program.Add:
		return a + b
	case program.Sub:
		return a - b
	case program.Mul:
		return a * b
	case program.Quo:
		if b == 0 {
			panic(errFails)
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
		return truth(a == b)
	case program.Ne:
		return truth(a != b)
	case program.Lt:
		return truth(a < b)
	case program.Le:
		return truth(a <= b)
	case program.Gt:
		return truth(a > b)
	case program.Ge:
		return truth(a >= b)
	}
	panic(errFails)
}
