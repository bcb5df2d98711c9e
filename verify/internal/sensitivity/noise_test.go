package sensitivity

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// What noise is scaled by, what is clipped by that, and how noise is added: T is a scale, V a
// number, and B a statement or nothing.
var (
	noisyScales = []string{
		"t := max(1, x + src.Laplace(1))", "t := abs(y + src.Laplace(2)) + 0.5", "t := max(0.5, src.Laplace(1))", "t := max(c, 1)", "t := max(1, x)", "t := clamp(x+src.Laplace(1), 1, 4)", "t := x + src.Laplace(1)",
	}
	noisyValues = []string{
		"v := max(-t, min(t, x))", "v := clamp(x, -t, t)", "v := clamp(x, 0, t)", "v := x * t", "v := (x - y) * t", "v := x*t + y", "v := min(x*t, t)", "v := x * t * t", "v := x / t", "v := x + t", "v := max(x, y) * t", "v := 2 * x", "v := clamp(x, -2, 2) * (t + 1)", "v := x * u",
	}
	noisyChanges = []string{"", "", "", "t = max(1, t/2)", "t *= 2", "t = t * t", "t = t + 1", "t, u = u, t", "u = t", "t = -t", "t = max(t, 1)", "if z > 0 {\nt *= 2\n}", "if x > 0 {\nt *= 2\n}", "v = v * 2", "x = y"}
	noisyAdds    = []string{
		"z = v + src.Laplace(T)", "z = v + src.Laplace(T)", "z = v - src.Laplace(T)", "z = src.Laplace(T) + v", "z = v/t + src.Laplace(T/2)", "if z > 0 {\nz = v + src.Laplace(T)\n} else {\nz = v + src.Laplace(2*T)\n}", "for range n {\nz += v + src.Laplace(T)\nB}",
		"for range n {\nz = v + src.Laplace(t)\nt *= 2\n}", "for j := range n {\nz = v + src.Laplace(T*float64(j+1))\nB}", "for z < 2 && z > -2 {\nz = v + src.Laplace(T)\n}", "z = v + src.Laplace(T)/2", "s = v*u + src.Laplace(T*u)", "z = y*t + src.Laplace(T)",
	}
	noisyTimes = []string{"t", "t", "t", "2*t", "t/2", "t*t", "u", "1", "c", "(t+1)", "max(t, 1)"}
)

// Law: whatever noise is scaled by, a function whose runs on neighbours are given noise that makes
// their noisy numbers the same has the same results, and costs no more than its plan.
//
// (Σ |v - v'|/b over all draws is what these outcomes of Laplace noise of scale b tell at most.)
func TestScaledNoiseCostsNoMore(t *testing.T) {
	cases := drawing(t, 4000)
	planned, runs, scaled := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "") }
		body := []string{pick(noisyScales...), pick(noisyValues...)}
		for range rapid.IntRange(1, 2).Draw(t, "releases") {
			text := strings.ReplaceAll(pick(noisyAdds...), "B}", pick(noisyChanges...)+"\n}")
			body = append(body, pick(noisyChanges...), strings.ReplaceAll(text, "T", pick(noisyTimes...)))
		}
		text := fmt.Sprintf(noisyFrame, strings.Join(body, "\n"))
		p, err := parsed(text)
		if err != nil {
			t.Skip("a variable that is declared twice")
		}
		one := program.Number{Value: big.NewRat(1, 1)}
		c := &claim.Claim{Cost: &claim.Cost{Epsilon: one}}
		for _, name := range []string{"x", "y"} {
			c.Adjacent = append(c.Adjacent, claim.Adjacency{Relation: claim.Scalar, Input: &program.Variable{Name: name}, Low: program.Unary{Op: program.Sub, X: one}, High: one})
		}
		r := p.Cost(t.Context(), "p.F", c)
		if r.Plan == nil {
			return
		}
		most, err := r.Plan.pure()
		if err != nil {
			return
		}
		planned++
		for range 6 {
			k, n := rapid.SampledFrom([]float64{0.5, 1, 3}).Draw(t, "c"), float64(rapid.IntRange(0, 3).Draw(t, "n"))
			draws := rapid.SliceOfN(halves, 4, 4).Draw(t, "draws")
			x, y := halves.Draw(t, "x"), halves.Draw(t, "y")
			near := rapid.SampledFrom([]float64{-1, -0.5, 0, 0.5, 1})
			x2, y2 := x+near.Draw(t, "dx"), y+near.Draw(t, "dy")
			var values, scales, noisy []float64
			r1, ok := noised(p, func(v, b float64) float64 {
				values, scales = append(values, v), append(scales, b)
				noisy = append(noisy, v+draws[len(noisy)%len(draws)])
				return noisy[len(noisy)-1]
			}, x, y, k, n)
			if !ok {
				continue
			}
			cost, i := 0.0, 0
			r2, ok := noised(p, func(v, b float64) float64 {
				if i == len(noisy) || b != scales[i] {
					t.Fatalf("what noise there is depends on private data: %v and %v, %v and %v\n%s", x, x2, y, y2, text)
				}
				cost += math.Abs(v-values[i]) / b
				i++
				return noisy[i-1]
			}, x2, y2, k, n)
			if !ok {
				continue
			}
			runs++
			if !slices.Equal(r1, r2) || i < len(noisy) {
				t.Fatalf("results are %v and %v, with the same noisy numbers\n%s", r1, r2, text)
			}
			at := most.eval(map[string]float64{"c": k, "n": n})
			if !(cost <= at*(1+1e-9)+1e-9) {
				t.Fatalf("it costs %v, and at most %v by its plan %s, at c %v, n %v, x %v and %v, y %v and %v, draws %v\n%s", cost, at, r.Plan, k, n, x, x2, y, y2, draws, text)
			}
			if cost > at/2 && slices.ContainsFunc(scales, func(b float64) bool { return b != scales[0] }) {
				scaled++
			}
		}
	})
	t.Logf("%d functions have a plan; of %d runs %d have noise of several scales, and cost more than half of it", planned, runs, scaled)
	if 4*runs < cases || 80*scaled < cases {
		t.Errorf("%d runs, of which %d cost much", runs, scaled)
	}
}

// noised runs the function F, of which each draw is added to a number as is said.
func noised(p *Program, noise func(v, scale float64) float64, args ...any) ([]float64, bool) {
	d := p.funcs["p.F"]
	m := &machine{program: p, info: d.pkg.Info, vars: map[types.Object]any{}, noise: noise}
	all, ok := m.call(d, append(args, nil)...)
	var results []float64
	for _, r := range all {
		results = append(results, r.(float64))
	}
	return results, ok
}

// released is a sum of a number and a draw, if x is one.
func (m *machine) released(x ast.Expr) (sum float64, ok bool) {
	scale := func(x ast.Expr) (ast.Expr, bool) {
		call, ok := x.(*ast.CallExpr)
		if !ok || types.ExprString(call.Fun) != "src.Laplace" {
			return nil, false
		}
		return call.Args[0], true
	}
	draw := func(v float64, by ast.Expr) float64 {
		b := m.eval(by).(float64)
		if b <= 0 {
			panic(died{})
		}
		return m.noise(v, b)
	}
	if by, ok := scale(x); ok {
		return draw(0, by), true
	}
	b, ok := x.(*ast.BinaryExpr)
	if !ok {
		return 0, false
	}
	if by, ok := scale(b.Y); ok && (b.Op == token.ADD || b.Op == token.SUB) {
		return draw(m.eval(b.X).(float64), by), true
	}
	if by, ok := scale(b.X); ok && b.Op == token.ADD {
		return draw(m.eval(b.Y).(float64), by), true
	}
	return 0, false
}

const noisyFrame = helpers + `
func F(x, y, c float64, n int, src *noise.Source) (float64, float64) {
z, s, u := 0.0, 0.0, 2.0
%s
_ = u
return z, s
}`
