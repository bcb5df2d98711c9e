package sensitivity

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// A machine runs functions of numbers, and of slices, maps, structs and rows of numbers, as Go
// does but that integers are float64 too.
type machine struct {
	program *Program
	info    *types.Info
	vars    map[types.Object]any // float64, bool, []float64, [][]float64, table, groups, point or []structure
	steps   int
	down    bool // maps are ranged over from the largest key
}

// What memory is made of, but for slices: map[int]float64, map[int][]float64 and a struct.
type (
	table     map[float64]float64
	groups    map[float64][]float64
	structure struct {
		v, n float64
		s    []float64
	}
)

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
	case *ast.ExprStmt:
		m.eval(s.X)
	case *ast.IfStmt:
		if s.Init != nil {
			m.stmt(s.Init)
		}
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
			all = append(all, copied(m.eval(x)))
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
				o := m.info.Defs[n]
				m.vars[o] = zero(o.Type())
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
	n, key := 0, func(i int) (float64, bool) { return float64(i), true }
	var value func(i int) any
	keys := func(of []float64, in func(k float64) bool) {
		slices.Sort(of)
		if m.down {
			slices.Reverse(of)
		}
		n, key = len(of), func(i int) (float64, bool) { return of[i], in(of[i]) }
	}
	switch over := over.(type) {
	case float64:
		n = int(over)
	case []float64:
		n, value = len(over), func(i int) any { return over[i] }
	case [][]float64:
		n, value = len(over), func(i int) any { return over[i] }
	case []structure:
		n, value = len(over), func(i int) any { return over[i] }
	case table:
		keys(slices.Collect(maps.Keys(over)), func(k float64) bool { _, in := over[k]; return in })
		value = func(i int) any { k, _ := key(i); return over[k] }
	case groups:
		keys(slices.Collect(maps.Keys(over)), func(k float64) bool { _, in := over[k]; return in })
		value = func(i int) any { k, _ := key(i); return over[k] }
	}
	for i := range n {
		k, in := key(i)
		if !in {
			continue // deleted
		}
		if s.Key != nil {
			m.set(s.Key, k)
		}
		if s.Value != nil {
			m.set(s.Value, value(i))
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
		v := m.eval(x)
		vals = append(vals, v)
		if len(s.Rhs) < len(s.Lhs) {
			x := x.(*ast.IndexExpr)
			k := m.eval(x.Index).(float64)
			_, in := m.eval(x.X).(table)[k]
			vals = append(vals, in)
		}
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
		i := m.eval(l.Index).(float64)
		switch w := m.eval(l.X).(type) {
		case []float64:
			*element(w, i) = v.(float64)
		case [][]float64:
			*element(w, i) = v.([]float64)
		case []structure:
			*element(w, i) = v.(structure)
		case table:
			w[i] = v.(float64)
		case groups:
			w[i] = v.([]float64)
		}
	case *ast.SelectorExpr:
		p := m.eval(l.X).(structure)
		switch l.Sel.Name {
		case "v":
			p.v = v.(float64)
		case "n":
			p.n = v.(float64)
		case "s":
			p.s = v.([]float64)
		}
		m.set(l.X, p)
	}
}

func element[T any](w []T, i float64) *T {
	if i < 0 || int(i) >= len(w) {
		panic(died{})
	}
	return &w[int(i)]
}

// copied is a value that later writes do not reach.
func copied(v any) any {
	switch v := v.(type) {
	case []float64:
		return slices.Clone(v)
	case [][]float64:
		w := slices.Clone(v)
		for i := range w {
			w[i] = slices.Clone(w[i])
		}
		return w
	case structure:
		v.s = slices.Clone(v.s)
		return v
	case []structure:
		w := slices.Clone(v)
		for i := range w {
			w[i] = copied(w[i]).(structure)
		}
		return w
	case table:
		return maps.Clone(v)
	case groups:
		w := maps.Clone(v)
		for k := range w {
			w[k] = slices.Clone(w[k])
		}
		return w
	}
	return v
}

func zero(t types.Type) any {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		switch u.Elem().Underlying().(type) {
		case *types.Struct:
			return []structure(nil)
		case *types.Slice:
			return [][]float64(nil)
		}
		return []float64(nil)
	case *types.Map:
		if _, ok := u.Elem().Underlying().(*types.Slice); ok {
			return groups{}
		}
		return table{}
	case *types.Struct:
		return structure{}
	}
	return 0.0
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
		i := m.eval(x.Index).(float64)
		switch w := m.eval(x.X).(type) {
		case [][]float64:
			return *element(w, i)
		case []structure:
			return *element(w, i)
		case table:
			return w[i]
		case groups:
			return w[i]
		case []float64:
			return *element(w, i)
		}
	case *ast.SelectorExpr:
		p := m.eval(x.X).(structure)
		return map[string]any{"v": p.v, "n": p.n, "s": p.s}[x.Sel.Name]
	case *ast.CompositeLit:
		var all []any
		for _, e := range x.Elts {
			all = append(all, m.eval(e))
		}
		if _, ok := tv.Type.Underlying().(*types.Struct); ok {
			return structure{all[0].(float64), all[1].(float64), all[2].([]float64)}
		}
		w := []float64{}
		for _, v := range all {
			w = append(w, v.(float64))
		}
		return w
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
		if len(x.Args) == 1 {
			return zero(m.info.Types[x].Type)
		}
		n := m.eval(x.Args[1]).(float64)
		if n < 0 || n > 1000 {
			panic(died{})
		}
		switch zero(m.info.Types[x].Type).(type) {
		case [][]float64:
			return make([][]float64, int(n))
		case []structure:
			return make([]structure, int(n))
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
		return float64(reflect.ValueOf(args[0]).Len())
	case "delete":
		delete(args[0].(table), number(1))
		return nil
	case "clear":
		reflect.ValueOf(args[0]).Clear()
		return nil
	case "append":
		switch w := args[0].(type) {
		case [][]float64:
			return append(w, args[1].([]float64))
		case []structure:
			return append(w, args[1].(structure))
		}
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
	with    []string // what memory is used: of the keys of memories
	results []string
	focused bool // on memory: few other statements, and no other results
}

// memories are kinds of memory: their declarations, numbers that are read of them, statements,
// and results with their types. In each I and J stand for an index, K for a key, R for a number,
// V for a small number, B for a block, N for a new name.
var memories = map[string]struct {
	declared         string
	reals, ints      []string
	statements       []string
	results, returns []string
}{
	"table": {"m := map[int]float64{}\n_ = m", []string{"m[K]", "m[K]"}, []string{"len(m)"}, []string{
		"m[K] += V", "m[K] += R", "m[K]++", "m[K] = V", "m[K] = R", "m[K] = 1", "delete(m, K)",
		"if vN, ok := m[K]; ok {\nz += vN\nB}", "if _, ok := m[K]; ok {\nB}", "if _, ok := m[K]; !ok {\nm[K] = V\n}", "vN, okN := m[K]\nif !okN {\nvN = V\n}\nz += vN", "if len(m) > 1 {\nB}",
		"for kN, vN := range m {\n_, _ = kN, vN\ns += clamp(vN, -1, 2)\nB}", "for _, vN := range m {\ns += vN\nB}", "for kN := range m {\n_ = kN\ns += m[kN]\nB}",
		"for range m {\ns++\n}", "for _, vN := range m {\ns = max(s, vN)\n}", "for _, vN := range m {\nif vN > 0 {\ns += V\n}\n}", "for kN, vN := range m {\nw[0] += vN * clamp(float64(kN), 0, 1)\n}", "for _, vN := range m {\nacc = append(acc, vN)\n}",
		"for kN := range m {\ndelete(m, kN)\n}", "m = map[int]float64{}", "m = make(map[int]float64)", "for jN := range r {\nm[r[jN]] += V\nB}", "for _, vN := range r {\nm[vN] = 1\n}", "for _, vN := range r {\nm[vN%2] += V\n}", "for jN := range 3 {\nw[jN] = m[jN]\n}", "for jN := range 3 {\nm[jN] = V\n}",
	}, []string{"m", "m[0]", "len(m)", "m[1] + m[2]"}, []string{"map[int]float64", "float64", "int", "float64"}},
	"groups": {"g := map[int][]float64{}\n_ = g", []string{"float64(len(g[K]))", "g[K][I]"}, []string{"len(g)", "len(g[K])"}, []string{
		"g[K] = append(g[K], V)", "g[K] = append(g[K], R)", "for _, vN := range q {\ng[int(vN)] = append(g[int(vN)], vN)\n}", "for jN, vN := range r {\n_ = jN\ng[vN] = append(g[vN], V)\nB}",
		"for _, gN := range g {\ns += float64(len(gN))\nB}", "for kN, gN := range g {\n_ = kN\nfor _, vN := range gN {\ns += clamp(vN, -1, 1)\nB}\n}", "for _, gN := range g {\nfor _, vN := range gN {\nacc = append(acc, vN)\n}\n}",
		"for jN := range 3 {\nfor _, vN := range g[jN] {\nw[jN] += clamp(vN, 0, 1)\nB}\n}", "for jN := range 3 {\nw[jN] = float64(len(g[jN]))\n}", "for _, gN := range g {\nif len(gN) > 0 {\ns++\n}\n}",
	}, []string{"g", "len(g)", "len(g[0])"}, []string{"map[int][]float64", "int", "int"}},
	"point": {"var p, o P\n_, _ = p, o", []string{"p.v", "p.v", "p.s[I]", "o.v", "float64(len(p.s))"}, []string{"p.n", "len(p.s)"}, []string{
		"p.v = R", "p.v += V", "o.v += V", "p.n++", "p.n = len(p.s)", "p.s = append(p.s, V)", "p.s = append(p.s, R)", "p.s[I] = R", "p.s[I] += V", "p = o", "o = p", "oN := p\n_ = oN\noN.v += V\nz += oN.v", "p = P{R, 1, nil}", "p = P{V, k, []float64{R, V}}",
		"p = P{V, 0, u}", "p.s = w", "w = p.s", "p.s = make([]float64, 3)", "for jN, vN := range p.s {\n_, _ = jN, vN\np.s[jN] = V + vN\nB}", "for _, vN := range p.s {\ns += vN\nB}", "for _, vN := range q {\np.v += clamp(vN, 0, 1)\np.n++\nB}", "for _, vN := range q {\np.s = append(p.s, vN)\nB}",
		"p, o = o, p", "o.s = append(o.s, V)", "o.s[I] = V", "p.v, p.n = V, p.n+1", "tN := p.s\n_ = tN\ns += float64(len(tN))",
	}, []string{"p.v", "p.n", "append([]float64(nil), p.s...)", "o.v", "len(p.s)", "p"}, []string{"float64", "int", "[]float64", "float64", "int", "P"}},
	"points": {"l := make([]P, 3)\n_ = l", []string{"l[I].v", "l[I].s[J]"}, []string{"len(l)", "l[I].n", "len(l[I].s)"}, []string{
		"l[I].v += V", "l[I].s[J] = V", "l[I] = P{R, 1, nil}", "l[I] = P{V, k, nil}", "l[I] = P{V, 0, nil}", "l[I] = l[J]", "l = append(l, P{R, 1, nil})", "eN := l[I]\neN.v += V\nz += eN.v", "eN := l[I]\neN.v = R\nl[I] = eN",
		"for jN := range l {\nl[jN] = P{V, jN, nil}\nB}", "for jN := range l {\neN := l[jN]\neN.v += V\nl[jN] = eN\nB}", "for jN, eN := range l {\n_, _ = jN, eN\ns += eN.v\nB}", "for _, eN := range l {\neN.v = V\ns += eN.v\n}", "for _, eN := range l {\nfor _, vN := range eN.s {\ns += vN\nB}\n}", "for jN := range l {\nl[jN] = P{V, 1, []float64{V, R}}\nB}",
		"for _, vN := range q {\nl = append(l, P{vN, 1, nil})\n}", "for jN, vN := range w {\nl[jN] = P{vN, 0, nil}\nB}",
	}, []string{"l[0].v", "len(l)", "l[1].v + l[2].v", "len(l[0].s)", "l"}, []string{"float64", "int", "float64", "int", "[]P"}},
	"rows": {"t := make([][]float64, 3)\nfor i := range t {\nt[i] = make([]float64, 3)\n}", []string{"t[I][J]", "t[I][J]", "float64(len(t[I]))"}, []string{"len(t)", "len(t[I])"}, []string{
		"t[I][J] = V", "t[I][J] = R", "t[I][J] += V", "t[I] = append(t[I], V)", "t[I] = make([]float64, 3)", "t = append(t, []float64{V, R, 1})", "t = append(t, u)", "t[I] = u", "u = t[I]", "t[I] = t[J]", "t[I], t[J] = t[J], t[I]",
		"for jN := range t {\nfor iN := range t[jN] {\nt[jN][iN] = V\n}\nB}", "for jN := range t {\nfor iN := range t[jN] {\nt[jN][iN] += V\n}\n}", "for _, eN := range t {\nfor _, vN := range eN {\ns += vN\nB}\n}", "for jN, eN := range t {\nw[jN] = eN[I]\nB}", "for jN := range t {\nw[jN] += t[jN][I]\nB}",
		"for _, eN := range t {\ns += float64(len(eN))\n}", "for jN := range 3 {\nt[I][jN] = w[jN]\n}", "for jN := range 3 {\nt[jN][jN] = q[jN]\n}", "for _, vN := range q {\nt[0] = append(t[0], vN)\nB}", "for jN := range t {\nt[jN] = append(t[jN], V)\nB}", "for jN := range t {\nt[jN] = make([]float64, 2)\nB}", "for _, vN := range q {\nt = append(t, []float64{vN})\n}", "eN := t[I]\n_ = eN\ns += eN[J]", "t[I] = t[I][:2]",
	}, []string{"t", "t[0][0]", "append([]float64(nil), t[1]...)", "len(t)"}, []string{"[][]float64", "float64", "[]float64", "int"}},
	"names": {"", nil, nil, []string{
		"u = w", "w = u", "w = w[:2]", "w = w[1:]", "u, w = w, u", "copy(u, w)", "copy(w, q)", "dN := u\ndN[I] = V\ns += dN[I]", "dN := append([]float64(nil), u...)\ndN[I] = V\nu = dN", "dN := make([]float64, 3)\ncopy(dN, q)\nw = dN", "w = q", "acc = w", "acc = append(acc, w...)", "w = append(w, u...)", "w = append(u, V)", "u = acc",
		"w[I], w[J] = w[J], w[I]", "for jN := range w {\nw[jN], u[jN] = u[jN], w[jN]\n}", "clear(w)", "acc = acc[:0]", "acc = nil", "u = make([]float64, 3)", "for jN := range w {\nw[jN] = u[jN] + V\nB}", "for jN := range q {\nacc = append(acc, q[jN])\n}", "dN := w\nfor jN, vN := range dN {\ns += vN * float64(jN)\n}",
	}, nil, nil},
}

// filled writes for the letters of a template what they stand for: of an index or a key
// the same everywhere, so that m[K] = append(m[K], V) is in place.
func (w *writer) filled(text string, depth int) string {
	var b strings.Builder
	places := map[rune]string{}
	place := func(c rune, draw func() string) string {
		if _, ok := places[c]; !ok {
			places[c] = draw()
		}
		return places[c]
	}
	for i, c := range text {
		switch {
		case c == 'N':
			fmt.Fprint(&b, w.serial)
		case c == 'I', c == 'J':
			b.WriteString(place(c, w.index))
		case c == 'K':
			b.WriteString(place(c, w.key))
		case c == 'V':
			b.WriteString(w.small())
		case c == 'R':
			b.WriteString(w.real(min(depth, 1)))
		case c == 'B' && text[i+1] == '}':
			b.WriteString(w.inside(depth))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (w *writer) key() string {
	return w.pick(append(slices.Clone(w.indices), "0", "1", "2", "0", "1", "k", "a", "n", "r[0]", "int("+w.pick(w.reals...)+")")...)
}

func (w *writer) small() string {
	x := w.pick(w.reals...)
	return w.pick("1", "0.5", "-1", "c", "x", "y", "x", x, "clamp("+x+", 0, 1)", "clamp("+x+", -1, 2)")
}

// inside is a block in a template, or nothing.
func (w *writer) inside(depth int) string {
	if depth == 0 || rapid.Bool().Draw(w.t, "inside") {
		return ""
	}
	outer := w.b
	w.b = strings.Builder{}
	w.loops++
	w.statement(depth - 1)
	w.loops--
	text := w.b.String()
	w.b = outer
	return text
}

// remember writes a statement about memory.
func (w *writer) remember(depth int) {
	w.serial++
	m := memories[w.pick(w.with...)]
	text := w.pick(m.statements...)
	reals := w.reals
	if strings.Contains(text, " vN := range q") || strings.Contains(text, " vN := range g") {
		w.reals = append(slices.Clone(reals), fmt.Sprint("v", w.serial))
	}
	text = w.filled(text, depth)
	w.reals = reals
	w.line("%s", text)
}

func (w *writer) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "") }

func (w *writer) real(depth int) string {
	if len(w.with) > 0 && depth < 2 && rapid.IntRange(0, 3).Draw(w.t, "memory") == 0 {
		if of := memories[w.pick(w.with...)].reals; len(of) > 0 {
			return w.filled(w.pick(of...), 0)
		}
	}
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
	if len(w.with) > 0 && depth < 2 && rapid.IntRange(0, 5).Draw(w.t, "memory") == 0 {
		if of := memories[w.pick(w.with...)].ints; len(of) > 0 {
			return w.filled(w.pick(of...), 0)
		}
	}
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
	if len(w.with) > 0 && rapid.IntRange(0, 9).Draw(w.t, "remember") > 3 || w.focused && rapid.IntRange(0, 9).Draw(w.t, "focus") > 0 {
		w.remember(depth)
		return
	}
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
			w.line("if %s { return %s }", w.cond(), strings.Join(w.results, ", "))
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

// Law: whatever a function of numbers, slices, maps, structs and rows does, it moves no further
// than it is said to.
func TestRandomFunctionsMoveNoFurther(t *testing.T) {
	finite, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t, reals: []string{"x", "y", "z", "s", "c"}, ints: []string{"a", "n", "k"}}
		kinds := slices.Sorted(maps.Keys(memories))
		for range rapid.IntRange(0, 2).Draw(t, "memories") {
			w.with = append(w.with, w.pick(kinds...))
		}
		results := []string{"x", "y", "z", "s", "float64(k + a)", "append([]float64(nil), w...)", "acc", "len(acc)"}
		returns := []string{"float64", "float64", "float64", "float64", "float64", "[]float64", "[]float64", "int"}
		declared := ""
		for i, name := range w.with {
			if slices.Contains(w.with[:i], name) {
				continue
			}
			m := memories[name]
			declared += m.declared + "\n"
			results, returns = append(results, m.results...), append(returns, m.returns...)
		}
		var out []string
		first, most := 0, 3
		if w.focused = len(results) > 8 && rapid.IntRange(0, 2).Draw(t, "focused") > 0; w.focused {
			first, most = 8, 1
		}
		chosen := rapid.SliceOfNDistinct(rapid.IntRange(first, len(results)-1), 1, most, rapid.ID[int]).Draw(t, "results")
		if !w.focused && rapid.IntRange(0, 4).Draw(t, "many") == 0 {
			chosen = []int{0, 1, 2, 3, 4, 5, 6, 7}
		}
		for _, i := range chosen {
			w.results, out = append(w.results, results[i]), append(out, returns[i])
		}
		w.block(3)
		text := `func clamp(v, lo, hi float64) float64 { return max(lo, min(v, hi)) }
func abs(v float64) float64 {
	if v < 0 { return -v }
	return v
}
type P struct {
	v float64
	n int
	s []float64
}
func F(x, y, c float64, a, n int, q []float64, r []int) (` + strings.Join(out, ", ") + `) {
z, s := 0.0, 0.0
k := 0
u := make([]float64, 3)
w := make([]float64, 3)
var acc []float64
_, _, _, _, _, _ = z, s, k, u, w, acc
` + declared + w.b.String() + "return " + strings.Join(w.results, ", ") + "\n}"
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
		bagOfKeys := rapid.IntRange(0, 3).Draw(t, "keys") > 0
		norm := rapid.SampledFrom([]claim.Norm{claim.L1, claim.L2, claim.LInf}).Draw(t, "norm")
		sig, err := p.Infer("p.F", []Input{{Name: "x"}, {Name: "y"}, {Name: "a"}, {Name: "q", Bag: bag, Norm: norm}, {Name: "r", Bag: bagOfKeys, Norm: norm}}, norm)
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
			one := []any{half.Draw(t, "x"), half.Draw(t, "y"), c, float64(rapid.IntRange(-4, 4).Draw(t, "a")), float64(n), q, rapid.SliceOfN(rapid.Map(rapid.IntRange(-1, 3), func(i int) float64 { return float64(i) }), 0, 5).Draw(t, "r")}
			two := slices.Clone(one)
			at["len(q)"], at["len(r)"] = float64(len(q)), float64(len(one[6].([]float64)))
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
					two[5], distance["q"] = moved(t, q, bag, norm, half, 0.5)
				case "r":
					two[6], distance["r"] = moved(t, one[6].([]float64), bagOfKeys, norm, rapid.Map(half, math.Trunc), 1)
				}
			}
			run := func(args []any, down bool) ([]any, bool) {
				m := &machine{program: p, info: d.pkg.Info, vars: map[types.Object]any{}, down: down}
				args = slices.Clone(args)
				args[5], args[6] = copied(args[5]), copied(args[6])
				return m.call(d, args...)
			}
			r1, ok1 := run(one, false)
			r2, ok2 := run(two, rapid.Bool().Draw(t, "down"))
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
				moves = append(moves, between(r1[i], r2[i], bag && distance["q"] > 0 || bagOfKeys && distance["r"] > 0, norm)...)
			}
			if by := length(moves, norm); by > most*(1+1e-9)+1e-9 {
				t.Fatalf("the result moves by %v, and at most by %v was inferred (%v in %s, bags %v %v, distances %v, at %v)\n%v\n%v\n%v\n%v\n%s", by, most, sig.Inputs, norm, bag, bagOfKeys, distance, at, one, two, r1, r2, text)
			}
		}
	})
	t.Logf("%d of %d functions have a finite bound", finite, all)
}

// moved is a neighbour, and how far it is.
func moved(t *rapid.T, of []float64, bag bool, norm claim.Norm, record *rapid.Generator[float64], step float64) ([]float64, float64) {
	of = slices.Clone(of)
	if bag {
		of = append(of, record.Draw(t, "record"))
		for i := range of {
			j := rapid.IntRange(0, i).Draw(t, "order")
			of[i], of[j] = of[j], of[i]
		}
		return of, 1
	}
	moves := make([]float64, len(of))
	for i := range of {
		moves[i] = rapid.SampledFrom([]float64{0, 0, 1, -step}).Draw(t, "move")
		of[i] += moves[i]
	}
	return of, length(moves, norm)
}

// between is how far two results are apart.
func between(v, w any, bag bool, norm claim.Norm) (moves []float64) {
	switch v := v.(type) {
	case float64:
		return []float64{v - w.(float64)}
	case []float64:
		return apartness(v, w.([]float64), bag, norm)
	case table:
		w := w.(table)
		for k := range v {
			moves = append(moves, v[k]-w[k])
		}
		for k := range w {
			if _, in := v[k]; !in {
				moves = append(moves, w[k])
			}
		}
	case groups:
		w := w.(groups)
		for k := range v {
			moves = append(moves, apartness(v[k], w[k], bag, norm)...)
		}
		for k := range w {
			if _, in := v[k]; !in {
				moves = append(moves, apartness(nil, w[k], bag, norm)...)
			}
		}
	case structure:
		w := w.(structure)
		return append(apartness(v.s, w.s, bag, norm), v.v-w.v, v.n-w.n)
	case [][]float64:
		return listed(v, w.([][]float64), bag, norm)
	case []structure:
		return listed(v, w.([]structure), bag, norm)
	}
	return moves
}

// listed is how far slices of what is no number are apart: element by element, or as
// multisets.
func listed[T any](v, w []T, bag bool, norm claim.Norm) (moves []float64) {
	if !bag && len(v) != len(w) {
		return []float64{math.Inf(1)}
	}
	for i := range min(len(v), len(w)) {
		moves = append(moves, between(v[i], w[i], bag, norm)...)
	}
	if !bag {
		return moves
	}
	count := map[string]float64{}
	for _, x := range v {
		count[fmt.Sprint(x)]++
	}
	for _, x := range w {
		count[fmt.Sprint(x)]--
	}
	difference := 0.0
	for _, n := range count {
		difference += math.Abs(n)
	}
	if len(v) != len(w) || length(moves, norm) > difference {
		return []float64{difference}
	}
	return moves
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
