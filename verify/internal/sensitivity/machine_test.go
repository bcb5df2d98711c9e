package sensitivity

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"math"
	"reflect"
	"slices"
	"sort"
)

// A machine runs functions of numbers, and of slices, maps, structs and rows of numbers, as Go
// does but that integers are float64 too.
type machine struct {
	program *Program
	info    *types.Info
	vars    map[types.Object]any // float64, bool, []float64, [][]float64, table, structure, []structure or *ast.FuncLit
	steps   int
	noise   func(v, scale float64) float64 // what a draw makes of a number that it is added to
	down    bool                           // maps are ranged over from the largest key, if the sum of the keys is odd: in an order of their own
}

// What memory is made of, but for slices: a map from int, and a struct.
type (
	table     map[float64]any
	structure struct {
		v, n float64
		s, t []float64
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
	return m.run(d.decl.Type, d.decl.Body, args), true
}

func (m *machine) run(f *ast.FuncType, body *ast.BlockStmt, args []any) []any {
	i := 0
	for _, list := range f.Params.List {
		for _, n := range list.Names {
			m.vars[m.info.Defs[n]] = args[i]
			i++
		}
	}
	_, results := m.list(body.List)
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
	if m.steps++; m.steps > 5_000 {
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
	n, key := 0, func(i int) (float64, bool) { return float64(i), true }
	var value func(i int) any
	switch over := m.eval(s.X).(type) {
	case float64:
		n = int(over)
	case []float64:
		n, value = len(over), func(i int) any { return over[i] }
	case [][]float64:
		n, value = len(over), func(i int) any { return over[i] }
	case []structure:
		n, value = len(over), func(i int) any { return over[i] }
	case table:
		keys := slices.Sorted(maps.Keys(over))
		if sum := 0.0; m.down {
			for _, k := range keys {
				sum += k
			}
			if math.Mod(sum, 2) != 0 {
				slices.Reverse(keys)
			}
		}
		n, key = len(keys), func(i int) (float64, bool) { _, in := over[keys[i]]; return keys[i], in }
		value = func(i int) any { return over[keys[i]] }
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
		call, ok := x.(*ast.CallExpr)
		switch {
		case len(s.Rhs) == len(s.Lhs):
			vals = append(vals, m.eval(x))
		case ok:
			vals = m.apply(call)
		default:
			x := x.(*ast.IndexExpr)
			_, in := m.eval(x.X).(table)[m.eval(x.Index).(float64)]
			vals = []any{m.eval(x), in}
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
			w[i] = v
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
		w := maps.Clone(v)
		for k := range w {
			w[k] = copied(w[k])
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
	if m.noise != nil {
		if sum, ok := m.released(x); ok {
			return sum
		}
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return m.eval(x.X)
	case *ast.Ident:
		if x.Name == "nil" {
			return []float64(nil)
		}
		return m.vars[m.info.ObjectOf(x)]
	case *ast.FuncLit:
		return x
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
			if v, ok := w[i]; ok {
				return v
			}
			return zero(m.info.TypeOf(x.X).Underlying().(*types.Map).Elem())
		case []float64:
			return *element(w, i)
		}
	case *ast.SelectorExpr:
		p := m.eval(x.X).(structure)
		return map[string]any{"v": p.v, "n": p.n, "s": p.s, "t": p.t}[x.Sel.Name]
	case *ast.CompositeLit:
		return m.literal(x, tv.Type)
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
		if all := m.apply(x); len(all) > 0 {
			return all[0]
		}
		return nil
	}
	panic(fmt.Sprintf("%T", x))
}

func (m *machine) literal(x *ast.CompositeLit, t types.Type) any {
	switch t.Underlying().(type) {
	case *types.Struct:
		p := structure{v: m.eval(x.Elts[0]).(float64), n: m.eval(x.Elts[1]).(float64)}
		if len(x.Elts) > 2 {
			p.s = m.eval(x.Elts[2]).([]float64)
		}
		return p
	case *types.Map:
		w := table{}
		for _, e := range x.Elts {
			kv := e.(*ast.KeyValueExpr)
			w[m.eval(kv.Key).(float64)] = m.eval(kv.Value)
		}
		return w
	}
	w := []float64{}
	for _, e := range x.Elts {
		w = append(w, m.eval(e).(float64))
	}
	return w
}

func (m *machine) apply(x *ast.CallExpr) []any {
	name := types.ExprString(x.Fun)
	if name == "make" {
		if len(x.Args) == 1 {
			return []any{zero(m.info.Types[x].Type)}
		}
		n := m.eval(x.Args[1]).(float64)
		if n < 0 || n > 1000 {
			panic(died{})
		}
		switch zero(m.info.Types[x].Type).(type) {
		case [][]float64:
			return []any{make([][]float64, int(n))}
		case []structure:
			return []any{make([]structure, int(n))}
		}
		return []any{make([]float64, int(n))}
	}
	var args []any
	for _, arg := range x.Args {
		args = append(args, m.eval(arg))
	}
	if d, ok := m.program.funcs["p."+name]; ok {
		return m.run(d.decl.Type, d.decl.Body, args)
	}
	if id, ok := x.Fun.(*ast.Ident); ok {
		if lit, ok := m.vars[m.info.ObjectOf(id)].(*ast.FuncLit); ok {
			return m.run(lit.Type, lit.Body, args)
		}
	}
	return []any{m.builtin(name, x, args)}
}

func (m *machine) builtin(name string, x *ast.CallExpr, args []any) any {
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
	case "math.Sqrt":
		return math.Sqrt(number(0))
	case "math.Abs":
		return math.Abs(number(0))
	case "math.Min":
		return math.Min(number(0), number(1))
	case "math.Max":
		return math.Max(number(0), number(1))
	case "cmp.Compare":
		return float64(cmp.Compare(number(0), number(1)))
	case "slices.Clone":
		return slices.Clone(args[0].([]float64))
	case "slices.Sort", "sort.Float64s":
		slices.Sort(args[0].([]float64))
		return nil
	case "slices.SortFunc":
		compare := args[1].(*ast.FuncLit)
		slices.SortFunc(args[0].([]float64), func(x, y float64) int {
			return int(m.run(compare.Type, compare.Body, []any{x, y})[0].(float64))
		})
		return nil
	case "sort.Slice":
		less := args[1].(*ast.FuncLit)
		sort.Slice(args[0].([]float64), func(i, j int) bool {
			return m.run(less.Type, less.Body, []any{float64(i), float64(j)})[0].(bool)
		})
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
		for i := range args[1:] {
			args[0] = append(args[0].([]float64), number(i+1))
		}
		return args[0]
	case "copy":
		return float64(copy(args[0].([]float64), args[1].([]float64)))
	case "[]float64":
		return args[0]
	}
	panic(name)
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
