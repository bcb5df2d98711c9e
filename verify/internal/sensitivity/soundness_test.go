package sensitivity

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	gopath "path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// programOf makes a Program of the source of one file without imports.
func programOf(t rapid.TB, text string) *Program {
	p, err := parsed(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p
}

func parsed(text string) (*Program, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package p\nimport (\"cmp\"; \"math\"; \"slices\"; \"sort\"; \"github.com/discreet-dp/discreet/noise\")\n"+text, 0)
	if err != nil {
		return nil, err
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}}
	pkg, err := (&types.Config{Error: func(error) {}, DisableUnusedImportCheck: true, Importer: library}).Check("p", fset, []*ast.File{file}, info)
	if err != nil {
		return nil, err
	}
	return New([]*Package{{Path: "p", Fset: fset, Files: []*ast.File{file}, Types: pkg, Info: info}}, nil), nil
}

// library has the functions that random programs call, which the machine knows.
var library = func() headersOnly {
	all := headersOnly{}
	for path, text := range map[string]string{
		"cmp":            "func Compare(x, y float64) int",
		"math":           "func Sqrt(x float64) float64\nfunc Abs(x float64) float64\nfunc Min(x, y float64) float64\nfunc Max(x, y float64) float64",
		"slices":         "func Sort(s []float64)\nfunc SortFunc(s []float64, compare func(x, y float64) int)\nfunc Clone(s []float64) []float64",
		module + "noise": "type Source struct{ bits any }\nfunc (s *Source) Laplace(scale float64) float64",
		"sort":           "func Float64s(s []float64)\nfunc Slice(s any, less func(i, j int) bool)",
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path+".go", "package "+gopath.Base(path)+"\n"+text, 0)
		if err != nil {
			panic(err)
		}
		if all[path], err = (&types.Config{}).Check(path, fset, []*ast.File{file}, nil); err != nil {
			panic(err)
		}
	}
	return all
}()

type headersOnly map[string]*types.Package

func (h headersOnly) Import(path string) (*types.Package, error) {
	if p, ok := h[path]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

// A memory is what random programs compute with: numbers x, y, z and s, of which x and
// y are private at first, slices q (private) and w, and the public c and n.
type memory struct {
	vars map[string]float64
	q, w []float64
}

func (m memory) clone() memory {
	c := memory{map[string]float64{}, slices.Clone(m.q), slices.Clone(m.w)}
	for k, v := range m.vars {
		c.vars[k] = v
	}
	return c
}

// code is a random piece of a program: its source, and what it does.
type code struct {
	text string
	run  func(m *memory)
}

type number struct {
	text string
	of   func(m *memory) float64
}

var names = []string{"x", "y", "z", "s", "c"}

// numberIn draws an expression; v is the name of the row or element in a loop, or "".
func numberIn(t *rapid.T, depth int, extra []string) number {
	leaf := func() number {
		if rapid.Bool().Draw(t, "constant") {
			k := float64(rapid.IntRange(-3, 3).Draw(t, "k"))
			return number{fmt.Sprintf("float64(%v)", k), func(*memory) float64 { return k }}
		}
		name := rapid.SampledFrom(append(slices.Clone(names), extra...)).Draw(t, "name")
		return number{name, func(m *memory) float64 { return m.vars[name] }}
	}
	if depth == 0 {
		return leaf()
	}
	a, b := numberIn(t, depth-1, extra), numberIn(t, depth-1, extra)
	switch rapid.IntRange(0, 8).Draw(t, "operation") {
	case 0, 1:
		return number{"(" + a.text + " + " + b.text + ")", func(m *memory) float64 { return a.of(m) + b.of(m) }}
	case 2:
		return number{"(" + a.text + " - " + b.text + ")", func(m *memory) float64 { return a.of(m) - b.of(m) }}
	case 3:
		return number{"(" + a.text + " * " + b.text + ")", func(m *memory) float64 { return a.of(m) * b.of(m) }}
	case 4:
		return number{"min(" + a.text + ", " + b.text + ")", func(m *memory) float64 { return min(a.of(m), b.of(m)) }}
	case 5:
		return number{"max(-1, min(" + a.text + ", 2))", func(m *memory) float64 { return max(-1, min(a.of(m), 2)) }}
	case 6:
		return number{"(" + a.text + " / 2)", func(m *memory) float64 { return a.of(m) / 2 }}
	case 7:
		return number{"max(" + a.text + ", " + b.text + ")", func(m *memory) float64 { return max(a.of(m), b.of(m)) }}
	}
	return leaf()
}

func block(list []code) code {
	var texts []string
	for _, c := range list {
		texts = append(texts, c.text)
	}
	return code{strings.Join(texts, "\n"), func(m *memory) {
		for _, c := range list {
			c.run(m)
		}
	}}
}

func statements(t *rapid.T, depth int, extra []string) code {
	var list []code
	for range rapid.IntRange(1, 3).Draw(t, "statements") {
		list = append(list, statement(t, depth, extra))
	}
	return block(list)
}

func statement(t *rapid.T, depth int, extra []string) code {
	target := rapid.SampledFrom([]string{"x", "y", "z", "s"}).Draw(t, "target")
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		e := numberIn(t, 2, extra)
		return code{target + " = " + e.text, func(m *memory) { m.vars[target] = e.of(m) }}
	case 1, 2:
		e := numberIn(t, 2, extra)
		return code{target + " += " + e.text, func(m *memory) { m.vars[target] += e.of(m) }}
	case 3:
		e := numberIn(t, 1, extra)
		k := rapid.IntRange(0, 2).Draw(t, "place")
		if slices.Contains(extra, "fi") {
			return code{"w[i%3] += " + e.text, func(m *memory) { m.w[int(m.vars["fi"])%3] += e.of(m) }}
		}
		return code{fmt.Sprintf("w[%d] = %s", k, e.text), func(m *memory) { m.w[k] = e.of(m) }}
	case 4, 5:
		a, b := numberIn(t, 1, extra), numberIn(t, 1, extra)
		yes, no := statements(t, depth-1, extra), statements(t, depth-1, extra)
		return code{"if " + a.text + " < " + b.text + " {\n" + yes.text + "\n} else {\n" + no.text + "\n}", func(m *memory) {
			if a.of(m) < b.of(m) {
				yes.run(m)
			} else {
				no.run(m)
			}
		}}
	case 6:
		body := statements(t, depth-1, extra)
		return code{"for range n {\n" + body.text + "\n}", func(m *memory) {
			for range int(m.vars["n"]) {
				body.run(m)
			}
		}}
	case 7, 8:
		if len(extra) > 0 {
			return statement(t, 0, extra)
		}
		body := statements(t, depth-1, []string{"v"})
		if rapid.Bool().Draw(t, "appends") {
			body = block([]code{body, {"if v > c { yes = append(yes, v) } else { no = append(no, v) }", func(m *memory) {
				if m.vars["v"] > m.vars["c"] {
					m.vars["yes"]++
				} else {
					m.vars["no"]++
				}
			}}})
		}
		return code{"for _, v := range q {\n_ = v\n" + body.text + "\n}", func(m *memory) {
			for _, v := range m.q {
				m.vars["v"] = v
				body.run(m)
			}
		}}
	}
	if len(extra) > 0 {
		return statement(t, 0, extra)
	}
	body := statements(t, depth-1, []string{"u", "fi"})
	e := numberIn(t, 1, []string{"u", "fi"})
	return code{"for i, u := range w {\nfi := float64(i)\n_, _ = u, fi\n" + body.text + "\nw[i] = " + e.text + "\n}", func(m *memory) {
		for i := range m.w {
			m.vars["u"], m.vars["fi"] = m.w[i], float64(i)
			body.run(m)
			m.w[i] = e.of(m)
		}
	}}
}

// Law: whatever a program does, its result moves no further than its inferred
// sensitivity, in each norm, between random neighbours. It is checked with q as a
// multiset, whose order the neighbours do not share, and as a vector.
func TestRandomProgramsMoveNoFurther(t *testing.T) {
	finite := 0
	rapid.Check(t, func(t *rapid.T) {
		c := statements(t, 2, nil)
		text := "func F(x, y, c float64, n int, q []float64) (float64, float64, []float64, int, int) {\nz, s := float64(0), float64(0)\nw := make([]float64, 3)\nvar yes, no []float64\n" +
			c.text + "\nreturn x + z, y - s, w, len(yes), len(no)\n}"
		p := programOf(t, text)
		bag := rapid.Bool().Draw(t, "bag")
		norm := rapid.SampledFrom([]claim.Norm{claim.L1, claim.L2, claim.LInf}).Draw(t, "norm")
		sig, err := p.infer("p.F", []Input{{Name: "x"}, {Name: "y"}, {Name: "q", Bag: bag, Norm: norm}}, norm)
		if err != nil {
			return
		}
		value := rapid.Float64Range(-4, 4)
		small := rapid.Map(rapid.IntRange(-4, 4), func(i int) float64 { return float64(i) / 2 })
		at := map[string]float64{"c": small.Draw(t, "c"), "n": float64(rapid.IntRange(0, 4).Draw(t, "n"))}
		first := memory{map[string]float64{"x": small.Draw(t, "x"), "y": value.Draw(t, "y"), "c": at["c"], "n": at["n"]}, rapid.SliceOfN(small, 0, 5).Draw(t, "q"), make([]float64, 3)}
		at["len(q)"] = float64(len(first.q))
		second := first.clone()
		distance := map[string]float64{}
		for _, name := range []string{"x", "y"} {
			if rapid.Bool().Draw(t, "moves "+name) {
				distance[name] = rapid.SampledFrom([]float64{0.25, 1, 3}).Draw(t, "by")
				second.vars[name] += distance[name]
			}
		}
		switch {
		case rapid.Bool().Draw(t, "q stays"):
		case bag:
			second.q = append(second.q, small.Draw(t, "record"))
			distance["q"] = 1
			for i := range second.q {
				j := rapid.IntRange(0, i).Draw(t, "order")
				second.q[i], second.q[j] = second.q[j], second.q[i]
			}
		case len(second.q) > 0:
			moves := make([]float64, len(second.q))
			for i := range moves {
				moves[i] = rapid.SampledFrom([]float64{0, 0, 1, -0.5}).Draw(t, "move")
				second.q[i] += moves[i]
			}
			distance["q"] = length(moves, norm)
		}
		c.run(&first)
		c.run(&second)
		most := 0.0
		for _, s := range sig.Inputs {
			if distance[s.Input] == 0 {
				continue
			}
			if s.Infinite != nil {
				return
			}
			most += s.Most.eval(at) * distance[s.Input]
		}
		finite++
		out := func(m memory) []float64 {
			return append([]float64{m.vars["x"] + m.vars["z"], m.vars["y"] - m.vars["s"], m.vars["yes"], m.vars["no"]}, m.w...)
		}
		a, b := out(first), out(second)
		for i := range a {
			a[i] -= b[i]
		}
		if moved := length(a, norm); moved > most*(1+1e-9)+1e-9 {
			t.Fatalf("the result moves by %v, and at most by %v was inferred (%v in %s, distances %v, at %v)\n%s", moved, most, sig.Inputs, norm, distance, at, text)
		}
	})
	t.Logf("%d programs had finite bounds", finite)
}

func length(v []float64, norm claim.Norm) float64 {
	switch sum := 0.0; norm {
	case claim.L1:
		for _, x := range v {
			sum += math.Abs(x)
		}
		return sum
	case claim.L2:
		for _, x := range v {
			sum += x * x
		}
		return math.Sqrt(sum)
	default:
		for _, x := range v {
			sum = max(sum, math.Abs(x))
		}
		return sum
	}
}
