package sensitivity

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// A machine runs functions of numbers and slices of numbers, as Go does but that integers are
// float64 too.
type machine struct {
	program *Program
	info    *types.Info
	vars    map[types.Object]any // float64, bool or []float64
	steps   int
}

// died is a run that ends in a panic, or does not end.
type died struct{}

type jump uint8

const (
	on jump = iota
	breaks
	skips
	returns
)

// call runs a declared function; ok is false where it dies.
func (m *machine) call(d declared, args ...any) (results []any, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, dies := r.(died); !dies {
				panic(r)
			}
			results, ok = nil, false
		}
	}()
	return m.run(d, args), true
}

func (m *machine) run(d declared, args []any) []any {
	i := 0
	for _, f := range d.decl.Type.Params.List {
		for _, n := range f.Names {
			m.vars[m.info.Defs[n]] = args[i]
			i++
		}
	}
	_, results := m.list(d.decl.Body.List)
	return results
}

func (m *machine) list(list []ast.Stmt) (jump, []any) {
	for _, s := range list {
		if j, r := m.stmt(s); j != on {
			return j, r
		}
	}
	return on, nil
}

func (m *machine) stmt(s ast.Stmt) (jump, []any) {
	if m.steps++; m.steps > 20_000 {
		panic(died{})
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		return m.list(s.List)
	case *ast.IfStmt:
		if m.eval(s.Cond).(bool) {
			return m.list(s.Body.List)
		}
		if s.Else != nil {
			return m.stmt(s.Else)
		}
	case *ast.ForStmt:
		if s.Init != nil {
			m.stmt(s.Init)
		}
		for s.Cond == nil || m.eval(s.Cond).(bool) {
			j, r := m.list(s.Body.List)
			if j == returns {
				return j, r
			}
			if j == breaks {
				break
			}
			if s.Post != nil {
				m.stmt(s.Post)
			}
			m.stmt(&ast.EmptyStmt{})
		}
	case *ast.RangeStmt:
		return m.rangeOver(s)
	case *ast.ReturnStmt:
		var all []any
		for _, x := range s.Results {
			v := m.eval(x)
			if w, ok := v.([]float64); ok {
				v = slices.Clone(w)
			}
			all = append(all, v)
		}
		return returns, all
	case *ast.BranchStmt:
		if s.Tok == token.BREAK {
			return breaks, nil
		}
		return skips, nil
	case *ast.AssignStmt:
		m.assign(s)
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			for _, n := range spec.(*ast.ValueSpec).Names {
				m.vars[m.info.Defs[n]] = []float64(nil)
			}
		}
	case *ast.IncDecStmt:
		by := 1.0
		if s.Tok == token.DEC {
			by = -1
		}
		m.set(s.X, m.eval(s.X).(float64)+by)
	}
	return on, nil
}

func (m *machine) rangeOver(s *ast.RangeStmt) (jump, []any) {
	over := m.eval(s.X)
	q, slice := over.([]float64)
	n := len(q)
	if !slice {
		n = int(over.(float64))
	}
	for i := range n {
		if s.Key != nil {
			m.set(s.Key, float64(i))
		}
		if s.Value != nil {
			m.set(s.Value, q[i])
		}
		j, r := m.list(s.Body.List)
		if j == returns {
			return j, r
		}
		if j == breaks {
			break
		}
	}
	return on, nil
}

func (m *machine) assign(s *ast.AssignStmt) {
	var vals []any
	for _, x := range s.Rhs {
		vals = append(vals, m.eval(x))
	}
	for i, l := range s.Lhs {
		v := vals[i]
		if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
			op := map[token.Token]token.Token{token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL}[s.Tok]
			v = m.binary(op, m.eval(l).(float64), v.(float64), false)
		}
		m.set(l, v)
	}
}

func (m *machine) set(l ast.Expr, v any) {
	switch l := l.(type) {
	case *ast.Ident:
		if l.Name != "_" {
			m.vars[m.info.ObjectOf(l)] = v
		}
	case *ast.IndexExpr:
		*m.element(l) = v.(float64)
	}
}

func (m *machine) element(x *ast.IndexExpr) *float64 {
	w, i := m.eval(x.X).([]float64), m.eval(x.Index).(float64)
	if i < 0 || int(i) >= len(w) {
		panic(died{})
	}
	return &w[int(i)]
}

func (m *machine) eval(x ast.Expr) any {
	tv := m.info.Types[x]
	if tv.Value != nil {
		if tv.Value.Kind() == constant.Bool {
			return constant.BoolVal(tv.Value)
		}
		v, _ := constant.Float64Val(constant.ToFloat(tv.Value))
		return v
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return m.eval(x.X)
	case *ast.Ident:
		if x.Name == "nil" {
			return []float64(nil)
		}
		return m.vars[m.info.ObjectOf(x)]
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return !m.eval(x.X).(bool)
		}
		return -m.eval(x.X).(float64)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND:
			return m.eval(x.X).(bool) && m.eval(x.Y).(bool)
		case token.LOR:
			return m.eval(x.X).(bool) || m.eval(x.Y).(bool)
		}
		return m.binary(x.Op, m.eval(x.X).(float64), m.eval(x.Y).(float64), isInteger(m.info.Types[x.X].Type))
	case *ast.IndexExpr:
		return *m.element(x)
	case *ast.SliceExpr:
		w, low, high := m.eval(x.X).([]float64), 0, 0
		if high = len(w); x.High != nil {
			high = int(m.eval(x.High).(float64))
		}
		if x.Low != nil {
			low = int(m.eval(x.Low).(float64))
		}
		if low < 0 || high < low || high > len(w) {
			panic(died{})
		}
		return w[low:high]
	case *ast.CallExpr:
		return m.apply(x)
	}
	panic(fmt.Sprintf("%T", x))
}

func (m *machine) apply(x *ast.CallExpr) any {
	name := types.ExprString(x.Fun)
	if name == "make" {
		n := m.eval(x.Args[1]).(float64)
		if n < 0 || n > 1000 {
			panic(died{})
		}
		return make([]float64, int(n))
	}
	var args []any
	for _, arg := range x.Args {
		args = append(args, m.eval(arg))
	}
	number := func(i int) float64 { return args[i].(float64) }
	switch name {
	case "float64":
		return number(0)
	case "int":
		return math.Trunc(number(0))
	case "min":
		return min(number(0), number(1))
	case "max":
		return max(number(0), number(1))
	case "len":
		return float64(len(args[0].([]float64)))
	case "append":
		if x.Ellipsis.IsValid() {
			return append(args[0].([]float64), args[1].([]float64)...)
		}
		return append(args[0].([]float64), number(1))
	case "copy":
		return float64(copy(args[0].([]float64), args[1].([]float64)))
	case "[]float64":
		return args[0]
	}
	return m.run(m.program.funcs["p."+name], args)[0]
}

func (m *machine) binary(op token.Token, v, w float64, whole bool) any {
	switch op {
	case token.ADD:
		return v + w
	case token.SUB:
		return v - w
	case token.MUL:
		return v * w
	case token.QUO, token.REM:
		if w == 0 {
			panic(died{})
		}
		switch {
		case op == token.REM:
			return math.Mod(v, w)
		case whole:
			return math.Trunc(v / w)
		}
		return v / w
	case token.LSS:
		return v < w
	case token.LEQ:
		return v <= w
	case token.GTR:
		return v > w
	case token.GEQ:
		return v >= w
	case token.EQL:
		return v == w
	}
	return v != w
}

// A writer draws the text of a function.
type writer struct {
	t       *rapid.T
	b       strings.Builder
	reals   []string
	ints    []string
	indices []string // of the loops around, which stay what they are
	loops   int
	serial  int
}

func (w *writer) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "") }

func (w *writer) real(depth int) string {
	if depth == 0 {
		return w.pick(append(slices.Clone(w.reals), "1", "-1", "2", "0.5", "u["+w.index()+"]", "q["+w.index()+"]", "w["+w.index()+"]")...)
	}
	x, y := w.real(depth-1), w.real(0)
	switch rapid.IntRange(0, 12).Draw(w.t, "real") {
	case 0, 1, 2:
		return "(" + x + " + " + y + ")"
	case 3:
		return "(" + x + " - " + y + ")"
	case 4:
		return "(" + x + " * " + y + ")"
	case 5:
		return "min(" + x + ", " + y + ")"
	case 6:
		return "max(" + x + ", " + y + ")"
	case 7:
		return "clamp(" + x + ", -1, 2)"
	case 8:
		return "(" + x + " / 2)"
	case 9:
		return "float64(" + w.int(1) + ")"
	case 10:
		return "abs(" + x + ")"
	case 11:
		return "clamp(" + x + ", c, float64(n))"
	}
	return y
}

func (w *writer) int(depth int) string {
	if depth == 0 {
		return w.pick(append(append(slices.Clone(w.ints), w.indices...), "1", "2", "-1", "0", "len(acc)", "len(q)")...)
	}
	x, y := w.int(depth-1), w.int(0)
	switch rapid.IntRange(0, 7).Draw(w.t, "int") {
	case 0, 1:
		return "(" + x + " + " + y + ")"
	case 2:
		return "(" + x + " - " + y + ")"
	case 3:
		return "(" + x + " / " + w.pick("2", "3", "-2", "max(n, 1)") + ")"
	case 4:
		return "(" + x + " % 2)"
	case 5:
		return "min(" + x + ", " + y + ")"
	case 6:
		return "(" + x + " * " + y + ")"
	}
	return y
}

func (w *writer) index() string {
	return w.pick(append(slices.Clone(w.indices), "0", "1", "2")...)
}

func (w *writer) cond() string {
	op := w.pick("<", "<=", ">", ">=", "==", "!=")
	var c string
	switch rapid.IntRange(0, 4).Draw(w.t, "cond") {
	case 0:
		c = w.int(1) + " " + op + " " + w.int(0)
	case 1:
		c = w.pick(append(slices.Clone(w.indices), "n")...) + " " + op + " " + w.pick("0", "1", "2")
	default:
		c = w.real(1) + " " + op + " " + w.real(0)
	}
	switch rapid.IntRange(0, 9).Draw(w.t, "more") {
	case 0:
		return "!(" + c + ")"
	case 1:
		return c + " && " + w.real(0) + " > 0"
	case 2:
		return c + " || " + w.real(0) + " > 0"
	}
	return c
}

func (w *writer) block(depth int) {
	for range rapid.IntRange(1, 3).Draw(w.t, "statements") {
		w.statement(depth)
	}
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// within writes what stands in a loop, of which i is the index and v an element.
func (w *writer) within(depth int, i string, v ...string) {
	reals, indices := w.reals, w.indices
	if i != "" {
		w.indices = append(slices.Clone(indices), i)
	}
	w.reals = append(slices.Clone(reals), v...)
	w.loops++
	for _, name := range append(v, i) {
		if name != "" {
			w.line("_ = %s", name)
		}
	}
	w.block(depth - 1)
	w.loops--
	w.reals, w.indices = reals, indices
}

func (w *writer) statement(depth int) {
	target := w.pick("x", "y", "z", "s")
	kind := rapid.IntRange(0, 21).Draw(w.t, "kind")
	if depth == 0 {
		kind %= 11
	}
	w.serial++
	n := w.serial
	switch kind {
	case 0, 1:
		w.line("%s = %s", target, w.real(2))
	case 2, 3:
		w.line("%s += %s", target, w.real(1))
	case 4:
		w.line("%s = %s", w.pick("a", "k"), w.int(2))
	case 5:
		w.line("k += %s", w.int(1))
	case 6:
		w.line("%s[%s] = %s", w.pick("u", "w"), w.index(), w.real(1))
	case 7:
		w.line("%s[%s] += %s", w.pick("u", "w"), w.index(), w.real(1))
	case 8:
		w.line("%s = append(%s, %s)", "acc", "acc", w.real(1))
	case 9:
		if w.loops > 0 {
			w.line("if %s { %s }", w.cond(), w.pick("break", "continue"))
			return
		}
		w.line("w = append(w, %s)", w.real(1))
	case 10:
		if rapid.IntRange(0, 3).Draw(w.t, "return") == 0 {
			w.line("if %s { return %s, %s, z, s, float64(k), w, acc, len(acc) }", w.cond(), w.real(1), w.real(0))
			return
		}
		w.line("%s = append(%s, %s)", "w", "w", w.real(1))
	case 11, 12, 13:
		w.line("if %s {", w.cond())
		w.block(depth - 1)
		if rapid.Bool().Draw(w.t, "else") {
			w.line("} else {")
			w.block(depth - 1)
		}
		w.line("}")
	case 14, 15:
		w.line("for i%d := range %s {", n, w.pick(append(slices.Clone(w.indices), "3", "2", "n", "w", "q", "u")...))
		w.within(depth, fmt.Sprint("i", n))
		w.line("}")
	case 16:
		w.line("for i%d := %s; i%d %s %s; i%d++ {", n, w.pick("0", "1", "n", "-1"), n, w.pick("<", "<="), w.pick("3", "n", "len(w)", "k", "len(acc)"), n)
		w.within(depth, fmt.Sprint("i", n))
		w.line("}")
	case 17, 18, 19:
		w.line("for _, v%d := range %s {", n, w.pick("q", "q", "q", "u", "w", "acc"))
		w.within(depth, "", fmt.Sprint("v", n))
		w.line("}")
	case 20:
		w.line("t%d := make([]float64, %s)", n, w.pick("3", "n", "len(w)"))
		w.line("for j%d := range t%d {", n, n)
		w.indices = append(w.indices, fmt.Sprint("j", n))
		w.line("t%d[j%d] = %s", n, n, w.real(1))
		w.indices = w.indices[:len(w.indices)-1]
		w.line("}\nw = t%d", n)
	case 21:
		w.line("for k %s {\nk++", w.pick("< 3", "<= n"))
		w.within(depth, "")
		w.line("}")
	}
}

// Law: whatever a function of numbers and slices does, it moves no further than it is said to.
func TestRandomFunctionsMoveNoFurther(t *testing.T) {
	finite, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t, reals: []string{"x", "y", "z", "s", "c"}, ints: []string{"a", "n", "k"}}
		w.block(3)
		text := `func clamp(v, lo, hi float64) float64 { return max(lo, min(v, hi)) }
func abs(v float64) float64 {
	if v < 0 { return -v }
	return v
}
func F(x, y, c float64, a, n int, q []float64) (float64, float64, float64, float64, float64, []float64, []float64, int) {
z, s := 0.0, 0.0
k := 0
u := make([]float64, 3)
w := make([]float64, 3)
var acc []float64
` + w.b.String() + "return x, y, z, s, float64(k + a), append([]float64(nil), w...), acc, len(acc)\n}"
		p, err := parsed(text)
		if err != nil {
			t.Skip() // a variable that is not used, or a constant that does not fit
		}
		all++
		defer func() {
			if r := recover(); r != nil {
				if t.Failed() || strings.Contains(fmt.Sprintf("%T", r), "rapid.") {
					panic(r)
				}
				t.Fatalf("%v\n%s", r, text)
			}
		}()
		bag := rapid.Bool().Draw(t, "bag")
		norm := rapid.SampledFrom([]claim.Norm{claim.L1, claim.L2, claim.LInf}).Draw(t, "norm")
		sig, err := p.Infer("p.F", []Input{{Name: "x"}, {Name: "y"}, {Name: "a"}, {Name: "q", Bag: bag, Norm: norm}}, norm)
		if err != nil || !slices.ContainsFunc(sig.Inputs, func(s Sensitivity) bool { return s.Infinite == nil }) {
			return
		}
		finite++
		d := p.funcs["p.F"]
		half := rapid.Map(rapid.IntRange(-4, 4), func(i int) float64 { return float64(i) / 2 })
		for range 6 {
			n := rapid.IntRange(-1, 4).Draw(t, "n")
			c := half.Draw(t, "c")
			at := map[string]float64{"c": c, "n": float64(n)}
			q := rapid.SliceOfN(half, 0, 5).Draw(t, "q")
			one := []any{half.Draw(t, "x"), half.Draw(t, "y"), c, float64(rapid.IntRange(-4, 4).Draw(t, "a")), float64(n), q}
			two := slices.Clone(one)
			at["len(q)"] = float64(len(q))
			distance := map[string]float64{}
			move := func(i int, name string, by float64) {
				two[i] = one[i].(float64) + by
				distance[name] = math.Abs(by)
			}
			for _, s := range sig.Inputs {
				if s.Infinite != nil || rapid.IntRange(0, 2).Draw(t, "moves") == 0 {
					continue
				}
				by := rapid.SampledFrom([]float64{-0.5, 0.25, 1, 3}).Draw(t, "by")
				switch s.Input {
				case "x":
					move(0, "x", by)
				case "y":
					move(1, "y", by)
				case "a":
					move(3, "a", math.Ceil(by))
				case "q":
					r := slices.Clone(q)
					if bag {
						r = append(r, half.Draw(t, "record"))
						for i := range r {
							j := rapid.IntRange(0, i).Draw(t, "order")
							r[i], r[j] = r[j], r[i]
						}
						distance["q"] = 1
					} else {
						moves := make([]float64, len(r))
						for i := range r {
							moves[i] = rapid.SampledFrom([]float64{0, 0, 1, -0.5}).Draw(t, "move")
							r[i] += moves[i]
						}
						distance["q"] = length(moves, norm)
					}
					two[5] = r
				}
			}
			run := func(args []any) ([]any, bool) {
				m := &machine{program: p, info: d.pkg.Info, vars: map[types.Object]any{}}
				args = slices.Clone(args)
				args[5] = slices.Clone(args[5].([]float64))
				return m.call(d, args...)
			}
			r1, ok1 := run(one)
			r2, ok2 := run(two)
			if !ok1 || !ok2 {
				continue
			}
			most := 0.0
			for _, s := range sig.Inputs {
				if distance[s.Input] > 0 {
					most += s.Most.eval(at) * distance[s.Input]
				}
			}
			var moves []float64
			for i := range r1 {
				switch v := r1[i].(type) {
				case float64:
					moves = append(moves, v-r2[i].(float64))
				case []float64:
					moves = append(moves, apartness(v, r2[i].([]float64), bag, norm)...)
				}
			}
			if moved := length(moves, norm); moved > most*(1+1e-9)+1e-9 {
				t.Fatalf("the result moves by %v, and at most by %v was inferred (%v in %s, bag %v, distances %v, at %v)\n%v\n%v\n%v\n%v\n%s", moved, most, sig.Inputs, norm, bag, distance, at, one, two, r1, r2, text)
			}
		}
	})
	t.Logf("%d of %d functions have a finite bound", finite, all)
}

// apartness is how far slices are apart: as vectors, or as multisets where that is less.
func apartness(v, w []float64, bag bool, norm claim.Norm) []float64 {
	var moves []float64
	for i := range min(len(v), len(w)) {
		moves = append(moves, v[i]-w[i])
	}
	if !bag {
		if len(v) != len(w) {
			return []float64{math.Inf(1)}
		}
		return moves
	}
	count := map[float64]float64{}
	for _, x := range v {
		count[x]++
	}
	for _, x := range w {
		count[x]--
	}
	difference := 0.0
	for _, n := range count {
		difference += math.Abs(n)
	}
	if len(v) == len(w) && length(moves, norm) < difference {
		return moves
	}
	return []float64{difference}
}
