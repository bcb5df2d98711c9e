package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Where a search begins with an infinity, best := math.Inf(-1), a hidden truth says
// whether the variable is still infinite, beside the variable, which is 0 as long as it
// is. An infinity is compared, copied, and taken the minimum or maximum of. A sum or
// difference is shown and copied; other arithmetic on what may be infinite is refused.
type (
	// An infinite is a value: an infinity of the kind where `is` holds, else x.
	infinite struct {
		is program.Expression
		kind
		x term
	}

	// An extended is a variable that holds such values.
	extended struct {
		v, is *program.Variable
		kind
	}

	// A kind of infinity has a sign, and is one or, if end is set, the least or the largest
	// number of its type, which stands for one: the two are not the same. If sum is set, the
	// variable says what it is: 1 and -1 are infinities, and 0 is NaN.
	kind struct {
		sign     int
		end, sum bool
	}
)

func (infinite) what() string { return "what may be infinite" }
func (extended) what() string { return "what may be infinite" }

func infinity(k kind, sort program.Sort) infinite {
	return infinite{program.Truth(true), k, term{number(0, sort), sort}}
}

// infinityOf is math.Inf(sign).
func (l *lowerer) infinityOf(e *ast.CallExpr) entity {
	v := l.frame.in.info.Types[e.Args[0]].Value
	if v == nil || v.Kind() != constant.Int {
		l.refuse(e.Pos(), "an infinity of a sign that is not constant", "which it is, is not known", "write math.Inf(1) or math.Inf(-1)")
	}
	if constant.Sign(v) >= 0 {
		return infinity(kind{sign: 1}, program.Real)
	}
	return infinity(kind{sign: -1}, program.Real)
}

// isInf is math.IsInf(x, sign), of what may be infinite.
func (l *lowerer) isInf(e *ast.CallExpr) (entity, bool) {
	v := l.frame.in.info.Types[e.Args[1]].Value
	x, ok := l.eval(e.Args[0]).(infinite)
	if !ok || v == nil || x.sum {
		return nil, false
	}
	if s := constant.Sign(v); s != 0 && (s > 0) != (x.sign > 0) {
		return term{program.Truth(false), program.Bool}, true
	}
	return term{x.is, program.Bool}, true
}

// extend makes a variable that has no value yet one that may be infinite.
func (l *lowerer) extend(v *program.Variable, x infinite, pos token.Pos) extended {
	is := l.variable(v.Name+"·infinite", program.Bool, pos)
	l.depth[is] = l.depth[v]
	to := extended{v, is, x.kind}
	l.setExtended(to, x, pos)
	return to
}

func (l *lowerer) setExtended(to extended, v entity, pos token.Pos) bool {
	at := program.At{Pos: pos}
	switch v := v.(type) {
	case term:
		l.emit(program.Assign{At: at, To: to.v, Value: v.x})
		l.emit(program.Assign{At: at, To: to.is, Value: program.Truth(false)})
		return true
	case infinite:
		if v.kind == to.kind && v.x.sort == to.v.Sort {
			// x may mention is, and is may not mention v.
			l.emit(program.Assign{At: at, To: to.v, Value: v.x.x})
			l.emit(program.Assign{At: at, To: to.is, Value: v.is})
			return true
		}
	}
	return false
}

// extendedTerm is a value as one that may be infinite. Beside one for which the least or the
// largest number stands, these numbers stand for infinities.
func (l *lowerer) extendedTerm(v, beside entity) (infinite, bool) {
	switch v := v.(type) {
	case infinite:
		return v, !v.sum
	case term:
		if n, ok := v.x.(program.Number); ok {
			if other, ok := beside.(infinite); ok && other.end && beyond(n.Value, v.sort) != 0 {
				l.ends, l.sentinels = l.ends-1, true
				return infinity(kind{sign: beyond(n.Value, v.sort), end: true}, v.sort), true
			}
		}
		return infinite{program.Truth(false), kind{sign: 1}, v}, true
	}
	return infinite{}, false
}

var largest = map[program.Sort][2]*big.Rat{
	program.Int:  {new(big.Rat).SetInt64(math.MinInt64), new(big.Rat).SetInt64(math.MaxInt64)},
	program.Real: {new(big.Rat).SetFloat64(-math.MaxFloat64), new(big.Rat).SetFloat64(math.MaxFloat64)},
}

// beyond returns the sign of the least and the largest number of a sort, of which a
// program without overflow computes none, or 0.
func beyond(x *big.Rat, sort program.Sort) int {
	ends, ok := largest[sort]
	switch {
	case ok && x.Cmp(ends[0]) == 0:
		return -1
	case ok && x.Cmp(ends[1]) == 0:
		return 1
	}
	return 0
}

// sentinel reads a new variable's first value, the least or the largest number, as an
// infinity, where the variable is compared with numbers and set, and nothing else.
func (l *lowerer) sentinel(obj types.Object, v entity) entity {
	t, ok := v.(term)
	if !ok || obj == nil {
		return v
	}
	n, ok := t.x.(program.Number)
	if !ok || beyond(n.Value, t.sort) == 0 || !l.onlyCompared(obj) {
		return v
	}
	l.ends, l.sentinels = l.ends-1, true
	return infinity(kind{sign: beyond(n.Value, t.sort), end: true}, t.sort)
}

// onlyCompared reports whether a variable is nowhere but in comparisons, in minima and
// maxima that it is set to, and set.
//
// An end of the numbers may not be an infinity in one place and a number in another
// (see lowerer.ends): the number would be less than the infinity.
func (l *lowerer) onlyCompared(obj types.Object) bool {
	info := l.frame.in.info
	only := true
	var above []ast.Node
	ast.Inspect(l.frame.file, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		if id, ok := n.(*ast.Ident); ok && info.Uses[id] == obj {
			only = only && compares(info, obj, id, above)
		}
		above = append(above, n)
		return true
	})
	return only
}

func compares(info *types.Info, obj types.Object, id *ast.Ident, above []ast.Node) bool {
	k := len(above) - 1
	switch p := above[k].(type) {
	case *ast.BinaryExpr:
		switch p.Op {
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			return true
		}
	case *ast.AssignStmt:
		for _, e := range p.Lhs {
			if e == id {
				return p.Tok == token.ASSIGN || p.Tok == token.DEFINE
			}
		}
	case *ast.CallExpr:
		s, ok := above[k-1].(*ast.AssignStmt)
		if !ok || s.Tok != token.ASSIGN || len(s.Lhs) != 1 || identOf(s.Lhs[0]) == nil || info.Uses[identOf(s.Lhs[0])] != obj {
			return false
		}
		switch f := ast.Unparen(p.Fun).(type) {
		case *ast.Ident:
			b, ok := info.Uses[f].(*types.Builtin)
			return ok && (b.Name() == "min" || b.Name() == "max")
		case *ast.SelectorExpr:
			fn, ok := info.Uses[f.Sel].(*types.Func)
			return ok && (fn.FullName() == "math.Min" || fn.FullName() == "math.Max")
		}
	}
	return false
}

// compareInfinite compares values of which one may be infinite.
func (l *lowerer) compareInfinite(op program.Op, v, w entity, t types.Type, pos token.Pos) (term, bool) {
	a, first := v.(infinite)
	b, second := w.(infinite)
	if !first && !second {
		return term{}, false
	}
	if first != second && (a.sum || b.sum) {
		return l.compareSum(op, v, w, t, pos)
	}
	x, ok1 := l.extendedTerm(v, w)
	y, ok2 := l.extendedTerm(w, v)
	if !ok1 || !ok2 || first && second && a.end != b.end {
		return term{}, false
	}
	l.discard(v, pos) // the number beside an infinity decides nothing
	l.discard(w, pos)
	against := func(sign int) program.Expression { return program.Truth(holds(op, sign)) }
	return term{choice(x.is,
		choice(y.is, against(x.sign-y.sign), against(x.sign)),
		choice(y.is, against(-y.sign), l.compare(op, x.x, y.x, t, pos))), program.Bool}, true
}

// compareSum compares a sum that may be infinite with a number: what is NaN is neither less
// nor more, nor equal.
func (l *lowerer) compareSum(op program.Op, v, w entity, t types.Type, pos token.Pos) (term, bool) {
	sum, left := v.(infinite)
	x, y := sum.x, w
	sign := int64(1) // of the infinity of which the comparison is true
	if op == program.Lt || op == program.Le {
		sign = -1
	}
	if !left {
		sum = w.(infinite)
		x, y = sum.x, v
		sign = -sign
	}
	z, ok := y.(term)
	if !ok {
		return term{}, false
	}
	var beyond program.Expression = program.Binary{Op: program.Eq, X: sum.x.x, Y: number(sign, program.Real)}
	if op == program.Eq || op == program.Ne {
		beyond = program.Truth(op == program.Ne)
	}
	a, b := x, z
	if !left {
		a, b = z, x
	}
	return term{choice(sum.is, beyond, l.compare(op, a, b, t, pos)), program.Bool}, true
}

// sumInfinite is a sum or difference, of which one part may be infinite.
func (l *lowerer) sumInfinite(op program.Op, v, w entity, t types.Type, pos token.Pos) (entity, bool) {
	a, first := v.(infinite)
	b, second := w.(infinite)
	if !first && !second || op != program.Add && op != program.Sub {
		return nil, false
	}
	if first != second && (a.sum || b.sum) {
		return l.sumOn(op, v, w, t, pos)
	}
	x, ok1 := l.extendedTerm(v, w)
	y, ok2 := l.extendedTerm(w, v)
	if !ok1 || !ok2 || x.end || y.end {
		return nil, false
	}
	if op == program.Sub {
		y.sign = -y.sign
	}
	l.discard(v, pos)
	l.discard(w, pos)
	to := l.variable(l.frame.prefix+"sum", program.Real, pos)
	l.depth[to] = temporary
	at := program.At{Pos: pos}
	set := func(x program.Expression) []program.Statement {
		return []program.Statement{program.Assign{At: at, To: to, Value: x}}
	}
	code := func(sign int) []program.Statement { return set(number(int64(sign), program.Real)) }
	for _, s := range pick(x.is, pick(y.is, code((x.sign+y.sign)/2), code(x.sign), pos), pick(y.is, code(y.sign), set(l.binary(op, x.x, y.x, t, pos).x), pos), pos) {
		l.emit(s)
	}
	return infinite{either(x.is, y.is), kind{sum: true}, term{program.Ref{Var: to}, program.Real}}, true
}

// sumOn is a sum that may be infinite, plus or minus a number, or that minus the sum.
func (l *lowerer) sumOn(op program.Op, v, w entity, t types.Type, pos token.Pos) (entity, bool) {
	sum, left := v.(infinite)
	x, ok1 := v.(term)
	y, ok2 := w.(term)
	if left {
		x, ok1 = sum.x, true
	} else {
		sum = w.(infinite)
		y, ok2 = sum.x, true
	}
	if !ok1 || !ok2 {
		return nil, false
	}
	beyond := sum.x.x
	if !left && op == program.Sub {
		beyond = program.Unary{Op: program.Sub, X: beyond}
	}
	to := l.variable(l.frame.prefix+"sum", program.Real, pos)
	l.depth[to] = temporary
	set := func(x program.Expression) []program.Statement {
		return []program.Statement{program.Assign{At: program.At{Pos: pos}, To: to, Value: x}}
	}
	for _, s := range pick(sum.is, set(beyond), set(l.binary(op, x, y, t, pos).x), pos) {
		l.emit(s)
	}
	return infinite{sum.is, kind{sum: true}, term{program.Ref{Var: to}, program.Real}}, true
}

// pick is a condition between statements, of which the truth may be known.
func pick(c program.Expression, then, otherwise []program.Statement, pos token.Pos) []program.Statement {
	if t, known := c.(program.Truth); known {
		if t {
			return then
		}
		return otherwise
	}
	return []program.Statement{program.If{At: program.At{Pos: pos}, Cond: c, Then: then, Else: otherwise}}
}

// choice is the truth a where c holds, else b.
func choice(c, a, b program.Expression) program.Expression {
	switch {
	case c == program.Truth(true):
		return a
	case c == program.Truth(false):
		return b
	case a == program.Truth(true):
		return either(c, b)
	case a == program.Truth(false):
		return both(negate(c), b)
	case b == program.Truth(true):
		return either(negate(c), a)
	case b == program.Truth(false):
		return both(c, a)
	}
	return either(both(c, a), both(negate(c), b))
}

// extreme is the minimum or maximum of values, of which one may be infinite.
func (l *lowerer) extreme(op program.Op, v, w entity, t types.Type, pos token.Pos) entity {
	_, first := v.(infinite)
	_, second := w.(infinite)
	if !first && !second {
		a, ok1 := v.(term)
		b, ok2 := w.(term)
		if !ok1 || !ok2 {
			l.refuse(pos, v.what(), "a number is expected here", "")
		}
		return l.binary(op, a, b, t, pos)
	}
	x, ok1 := l.extendedTerm(v, w)
	y, ok2 := l.extendedTerm(w, v)
	if !ok1 || !ok2 {
		l.refuse(pos, v.what(), "a number is expected here", "")
	}
	if x.is == program.Truth(false) {
		x.kind = y.kind
	}
	if y.is == program.Truth(false) {
		y.kind = x.kind
	}
	l.discard(v, pos)
	l.discard(w, pos)
	if x.kind != y.kind || x.x.sort != y.x.sort {
		l.refuse(pos, "infinities of both signs", "it is outside the subset", "let the first round of a loop set the value")
	}
	at := program.At{Pos: pos}
	to := l.variable(l.frame.prefix+"extreme", x.x.sort, pos)
	l.depth[to] = temporary
	set := func(x program.Expression) []program.Statement {
		return []program.Statement{program.Assign{At: at, To: to, Value: x}}
	}
	neither := set(l.binary(op, x.x, y.x, t, pos).x)
	zero := set(number(0, to.Sort))
	var list []program.Statement
	result := infinite{kind: x.kind, x: term{program.Ref{Var: to}, to.Sort}}
	if (op == program.Max) == (x.sign < 0) { // an infinity loses
		result.is = both(x.is, y.is)
		list = pick(x.is, pick(y.is, zero, set(y.x.x), pos), pick(y.is, set(x.x.x), neither, pos), pos)
	} else {
		result.is = either(x.is, y.is)
		list = pick(x.is, zero, pick(y.is, zero, neither, pos), pos)
	}
	for _, s := range list {
		l.emit(s)
	}
	if result.is == program.Truth(false) {
		return result.x
	}
	return result
}

// shapes say of places what is shown there: of each number which infinity it may be.
type shapes map[token.Pos][]kind

// show is what values show, at a place.
func (l *lowerer) show(values []entity, pos token.Pos, of *shapes) (shown []program.Expression) {
	l.kinds = nil
	for _, v := range values {
		shown = l.flatten(shown, v, pos)
	}
	if *of == nil {
		*of = shapes{}
	}
	(*of)[pos] = l.kinds
	return shown
}

// join is what each number may be in any place. One that is of different infinities is
// refused: what is shown would not tell them apart, or would tell equal ones apart.
func (l *lowerer) join(s shapes) (all []kind) {
	for _, pos := range slices.Sorted(maps.Keys(s)) {
		for i, k := range s[pos] {
			switch {
			case i >= len(all):
				all = append(all, k)
			case all[i] == kind{}:
				all[i] = k
			case k != kind{} && k != all[i]:
				l.report(pos, "showing infinities of two kinds", "of one number it is known whether it is infinite", "show a truth for each")
			}
		}
	}
	return all
}

// alike shows a number in the same way wherever it is shown: beside one that may be infinite
// elsewhere stands that it is not.
func (l *lowerer) alike(stmts []program.Statement) {
	returned, yielded := l.join(l.returned), l.join(l.yielded)
	widen := func(values []program.Expression, as, all []kind) (wide []program.Expression) {
		for i, k := range as {
			if k != (kind{}) {
				wide, values = append(wide, values[0]), values[1:]
			} else if all[i] != (kind{}) {
				wide = append(wide, program.Truth(false))
			}
			wide, values = append(wide, values[0]), values[1:]
		}
		return wide
	}
	var list func([]program.Statement)
	list = func(stmts []program.Statement) {
		for i, s := range stmts {
			switch s := s.(type) {
			case program.Return:
				if as, ok := l.returned[s.Pos]; ok && !s.Panic {
					s.Values = widen(s.Values, as, returned)
					stmts[i] = s
				}
			case program.Output:
				s.Values = widen(s.Values, l.yielded[s.Pos], yielded)
				stmts[i] = s
			case program.If:
				list(s.Then)
				list(s.Else)
			case *program.Loop:
				list(s.Body)
			}
		}
	}
	list(stmts)
}
