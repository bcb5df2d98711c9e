package ratio

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A plain interpreter in float64, which shares nothing with the rules: it follows
// every outcome of every draw, and adds up the probabilities of what is revealed.

type store map[*program.Variable][]float64 // scalars have one element; truths are 0 and 1

type plain struct {
	vars    store
	choices []int
	weight  float64
	output  string
	left    int
}

type left struct {
	of   *program.Loop
	next bool
}

func brute(f *program.Function, inputs store) map[string]float64 {
	law := map[string]float64{}
	body := own(f.Body, map[string]*program.Loop{})
	for todo := [][]int{nil}; len(todo) > 0; {
		choices := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		p := &plain{vars: maps.Clone(inputs), choices: choices, weight: 1, left: 100000}
		ways := func() (ways int) {
			defer func() {
				if r := recover(); r != nil {
					n, ok := r.(int)
					if !ok {
						panic(r)
					}
					ways = n
				}
			}()
			p.run(body)
			return 0
		}()
		for k := range ways {
			todo = append(todo, append(slices.Clone(choices), k))
		}
		if ways == 0 {
			law[p.output] += p.weight
		}
	}
	return law
}

func (p *plain) choice(probabilities ...float64) int {
	if len(p.choices) == 0 {
		panic(len(probabilities))
	}
	k := p.choices[0]
	p.choices = p.choices[1:]
	p.weight *= probabilities[k]
	return k
}

// run returns whether the function goes on, and to what it breaks or continues.
func (p *plain) run(list []program.Statement) (bool, *left) {
	for _, s := range list {
		if p.left--; p.left < 0 {
			panic("endless")
		}
		switch s := s.(type) {
		case *program.Assign:
			if r, ok := s.Value.(program.Ref); ok && r.Var.Slice {
				p.vars[s.To] = slices.Clone(p.vars[r.Var])
			} else {
				p.vars[s.To] = []float64{p.eval(s.Value)}
			}
		case *program.Make:
			p.vars[s.To] = make([]float64, int(p.eval(s.Length)))
		case *program.Append:
			p.vars[s.To] = append(slices.Clone(p.vars[s.To]), p.eval(s.Value))
		case *program.Store:
			x := slices.Clone(p.vars[s.To])
			x[int(p.eval(s.Index))] = p.eval(s.Value)
			p.vars[s.To] = x
		case *program.Draw:
			t := p.eval(s.Parameter)
			if s.Law == program.Bernoulli {
				p.vars[s.To] = []float64{float64(1 - p.choice(t, 1-t))}
				continue
			}
			if s.Law == program.Uniform {
				law := make([]float64, int(t))
				for i := range law {
					law[i] = 1 / t
				}
				p.vars[s.To] = []float64{float64(p.choice(law...))}
				continue
			}
			if density, reach, step := noiseOf(s.Law); density != nil {
				k := int(reach * t / step)
				law := make([]float64, 2*k+1)
				total := 0.0
				for i := range law {
					law[i] = density(float64(i-k) * step / t)
					total += law[i]
				}
				for i := range law {
					law[i] /= total
				}
				p.vars[s.To] = []float64{float64(p.choice(law...)-k) * step}
				continue
			}
			var weights []float64
			total := 0.0
			for _, x := range p.vars[s.Scores] {
				weights = append(weights, math.Exp(t*x/2))
				total += math.Exp(t * x / 2)
			}
			for i := range weights {
				weights[i] /= total
			}
			p.vars[s.To] = []float64{float64(p.choice(weights...))}
		case *program.If:
			branch := s.Then
			if p.eval(s.Cond) == 0 {
				branch = s.Else
			}
			if on, to := p.run(branch); !on || to != nil {
				return on, to
			}
		case *program.Loop:
			for p.eval(s.Cond) != 0 {
				on, to := p.run(s.Body)
				if !on || to != nil && to.of != s {
					return on, to
				}
				if to != nil && !to.next {
					break
				}
				p.run(s.Post)
			}
		case *program.Break:
			return true, &left{s.Of, false}
		case *program.Continue:
			return true, &left{s.Of, true}
		case *program.Output:
			p.show(s.Values)
		case *program.Return:
			p.show(s.Values)
			return false, nil
		}
	}
	return true, nil
}

// noiseOf returns a density up to a factor, how many scales out it is cut off, where what
// is left is below e^(−20), and on which grid it is drawn: quarters stand for the reals.
func noiseOf(l program.Law) (density func(float64) float64, reach, step float64) {
	laplace := func(x float64) float64 { return math.Exp(-math.Abs(x)) }
	gaussian := func(x float64) float64 { return math.Exp(-x * x / 2) }
	switch l {
	case program.Laplace:
		return laplace, 20, 0.25
	case program.DiscreteLaplace:
		return laplace, 20, 1
	case program.Gaussian:
		return gaussian, 6.5, 0.25
	case program.DiscreteGaussian:
		return gaussian, 6.5, 1
	}
	return nil, 0, 0
}

func (p *plain) show(values []program.Expression) {
	for _, e := range values {
		if r, ok := e.(program.Ref); ok && r.Var.Slice {
			p.output += fmt.Sprintf("%.12g;", p.vars[r.Var])
		} else {
			p.output += fmt.Sprintf("%.12g;", p.eval(e))
		}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (p *plain) eval(e program.Expression) float64 {
	switch e := e.(type) {
	case program.Number:
		x, _ := e.Value.Float64()
		return x
	case program.Truth:
		return truth(bool(e))
	case program.Ref:
		return p.vars[e.Var][0]
	case program.Element:
		return p.vars[e.Slice][int(p.eval(e.Index))]
	case program.Length:
		return float64(len(p.vars[e.Slice]))
	case program.Unary:
		if e.Op == program.Not {
			return 1 - p.eval(e.X)
		}
		return -p.eval(e.X)
	case program.Call:
		x := p.eval(e.Args[0])
		switch e.Func {
		case "abs":
			return math.Abs(x)
		case "exp":
			return math.Exp(x)
		case "log":
			return math.Log(x)
		case "sqrt":
			return math.Sqrt(x)
		case "int":
			return math.Trunc(x)
		}
		return x
	case program.Binary:
		x := p.eval(e.X)
		if e.Op == program.And && x == 0 || e.Op == program.Or && x == 1 {
			return x
		}
		y := p.eval(e.Y)
		switch e.Op {
		case program.Add:
			return x + y
		case program.Sub:
			return x - y
		case program.Mul:
			return x * y
		case program.Quo:
			if program.SortOf(e) == program.Int {
				return math.Trunc(x / y)
			}
			return x / y
		case program.Rem:
			return math.Mod(x, y)
		case program.Min:
			return min(x, y)
		case program.Max:
			return max(x, y)
		case program.Eq:
			return truth(x == y)
		case program.Ne:
			return truth(x != y)
		case program.Lt:
			return truth(x < y)
		case program.Le:
			return truth(x <= y)
		case program.Gt:
			return truth(x > y)
		case program.Ge:
			return truth(x >= y)
		}
		return y
	}
	panic(fmt.Sprintf("%T", e))
}

// neighbours draws two databases that a claim calls neighbours.
func neighbours(t *rapid.T, f *program.Function, c *claim.Claim) (store, store) {
	first, second := store{}, store{}
	for _, v := range f.Inputs {
		n := 1
		if v.Slice {
			n = rapid.IntRange(1, 3).Draw(t, "length")
		}
		for range n {
			var x float64
			switch v.Sort {
			case program.Bool:
				x = truth(rapid.Bool().Draw(t, v.Name))
			case program.Int:
				x = float64(rapid.IntRange(-1, 5).Draw(t, v.Name))
			default:
				switch v.Name {
				case "eps":
					x = rapid.SampledFrom([]float64{0.5, 0.7, 1, 2}).Draw(t, v.Name)
				case "delta":
					x = rapid.SampledFrom([]float64{0.001, 0.05, 0.3}).Draw(t, v.Name)
				default:
					x = float64(rapid.SampledFrom([]int{-20, -10, 0, 1, 3, 5, 6, 7, 9, 10, 15, 20, 40}).Draw(t, v.Name)) / 10
				}
			}
			first[v] = append(first[v], x)
		}
		second[v] = slices.Clone(first[v])
	}
	public := &plain{vars: first}
	for _, a := range c.Adjacent {
		low, high := public.eval(a.Low), public.eval(a.High)
		one := rapid.IntRange(0, len(first[a.Input])-1).Draw(t, "where")
		for i := range first[a.Input] {
			if a.Relation == claim.One && i != one {
				continue
			}
			d := rapid.SampledFrom([]float64{low, high, 0, max(low, -1), min(high, 1), min(high, 2)}).Draw(t, "distance")
			if a.Input.Sort == program.Int {
				d = math.Trunc(d)
			}
			x := first[a.Input][i] + d
			if a.Input.Sort == program.Bool {
				x = max(0, min(1, x))
			}
			second[a.Input][i] = x
		}
	}
	return first, second
}

// What is proved is true of small instances: no outcome is more than e^cost times as
// likely as for a neighbour.
func TestProofsAreTrue(t *testing.T) {
	for _, c := range slices.Concat(programs, uniforms) {
		if c.err != "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			f, claimed := read(t, c.src)
			if _, err := Prove(context.Background(), f, claimed); err != nil {
				t.Fatal(err)
			}
			continuous := false
			program.Each(own(f.Body, map[string]*program.Loop{}), func(s program.Statement) {
				d, ok := s.(*program.Draw)
				continuous = continuous || ok && d.Law == program.Laplace
			})
			if continuous {
				t.Skip("skip: additive noise has no finite outcomes")
			}
			rapid.Check(t, func(t *rapid.T) {
				first, second := neighbours(t, f, claimed)
				for _, s := range []store{first, second} {
					for _, r := range claimed.Requires {
						if (&plain{vars: s}).eval(r) == 0 {
							return
						}
					}
				}
				for _, s := range []store{first, second} {
					// A sketch of what the requirements cannot say: lengths.
					if k, ok := s[variableNamed(f, "k")]; ok && len(s[variableNamed(f, "scores")]) > 0 && k[0] > 4 {
						return
					}
				}
				cost := (&plain{vars: first}).eval(claimed.Cost.Epsilon)
				p, q := brute(f, first), brute(f, second)
				for _, pair := range [][2]map[string]float64{{p, q}, {q, p}} {
					for o, x := range pair[0] {
						if x > math.Exp(cost)*pair[1][o]*(1+1e-9) {
							t.Fatalf("%s: %g and %g, a cost of %g, claimed %g", o, x, pair[1][o], math.Log(x/pair[1][o]), cost)
						}
					}
				}
			})
		})
	}
}

func variableNamed(f *program.Function, name string) *program.Variable {
	for _, v := range f.Inputs {
		if v.Name == name {
			return v
		}
	}
	return nil
}
