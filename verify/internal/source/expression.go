package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

func (l *lowerer) typeOf(e ast.Expr) types.Type {
	if t := l.frame.in.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// scalar evaluates an expression that is a number or a truth.
func (l *lowerer) scalar(e ast.Expr) term { return l.number(l.eval(e), e) }

// number is the value of an expression that is a number or a truth.
func (l *lowerer) number(v entity, e ast.Expr) term {
	t, ok := v.(term)
	if !ok {
		if _, isNil := v.(null); isNil {
			return term{number(0, program.Int), program.Int} // an error
		}
		if _, is := v.(infinite); is {
			l.refuse(e.Pos(), "arithmetic on what may be infinite", "numbers are real", "compare it only, or let the first round of a loop set the value: if i == 0 || x > best")
		}
		l.refuse(e.Pos(), v.what(), "a number or a truth is expected here", "")
	}
	return t
}

func (l *lowerer) condition(e ast.Expr) program.Expression { return l.scalar(e).x }

// eval evaluates an expression; what must run before it is emitted.
func (l *lowerer) eval(e ast.Expr) entity {
	if t, ok := l.constant(e); ok {
		return t
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return l.eval(e.X)
	case *ast.Ident:
		if _, isNil := l.frame.in.info.Uses[e].(*types.Nil); isNil {
			return null{}
		}
		return l.value(l.object(e))
	case *ast.SelectorExpr, *ast.StarExpr:
		return l.value(l.place(e))
	case *ast.IndexExpr:
		return l.value(l.place(e))
	case *ast.BinaryExpr:
		return l.binaryExpr(e)
	case *ast.UnaryExpr:
		return l.unaryExpr(e)
	case *ast.CallExpr:
		results := l.call(e)
		if len(results) != 1 {
			l.refuse(e.Pos(), "this call", "one result is expected here", "")
		}
		return results[0]
	case *ast.FuncLit:
		return closure{e, l.frame}
	case *ast.CompositeLit:
		return l.composite(e)
	case *ast.SliceExpr:
		l.refuse(e.Pos(), "a part of a slice", "it shares its elements with the whole", "range over the indices, or copy what you need")
	case *ast.TypeAssertExpr:
		l.refuse(e.Pos(), "a type assertion", "interfaces are outside the subset", "write a function for each type")
	}
	l.refuse(e.Pos(), "this expression", "it is outside the subset", "")
	return nil
}

// object is what an identifier stands for.
func (l *lowerer) object(id *ast.Ident) entity {
	obj := l.frame.in.info.ObjectOf(id)
	if e, ok := l.find(obj); ok {
		return e
	}
	v, ok := obj.(*types.Var)
	if !ok {
		l.refuse(id.Pos(), id.Name, "it is outside the subset", "")
	}
	if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		if isError(v.Type()) {
			return l.globalError(v, id.Pos())
		}
		l.refuse(id.Pos(), "the global variable "+id.Name, "anybody may change it", "pass it as a parameter, or make it a constant")
	}
	if len(l.refusals) > 0 {
		panic(bailout{}) // its declaration was refused
	}
	l.refuse(id.Pos(), id.Name, "it is outside the subset", "")
	return nil
}

// errorCode numbers the errors of a program: nil is 0.
func (l *lowerer) errorCode(of any) program.Expression {
	if l.errors[of] == 0 {
		l.errors[of] = int64(len(l.errors) + 1)
	}
	return number(l.errors[of], program.Int)
}

// textCode numbers the texts of a program.
func (l *lowerer) textCode(text string) program.Expression {
	if len(l.fn.Texts) == 0 {
		l.fn.Texts = []string{""}
	}
	n := slices.Index(l.fn.Texts, text)
	if n < 0 {
		n = len(l.fn.Texts)
		l.fn.Texts = append(l.fn.Texts, text)
	}
	return number(int64(n), program.Int)
}

// value reads a place.
func (l *lowerer) value(e entity) entity {
	switch e := e.(type) {
	case scalar:
		l.read(e.v)
		if x, known := l.constants[e.v]; known {
			return term{program.Number{Value: x, Sort: e.v.Sort}, e.v.Sort}
		}
		return term{program.Ref{Var: e.v}, e.v.Sort}
	case extended:
		l.read(e.v)
		return infinite{program.Ref{Var: e.is}, e.kind, term{program.Ref{Var: e.v}, e.v.Sort}}
	case slice:
		l.read(e.v)
	case rows:
		for _, v := range e.all() {
			l.read(v)
		}
	case *record:
		for i := range e.fields {
			l.value(e.field(i))
		}
	case element:
		l.read(e.of)
		return term{program.Element{Slice: e.of, Index: e.index}, e.of.Sort}
	}
	return e
}

func (l *lowerer) read(v *program.Variable) { l.reads[v] = v.Pos }

// load reads a place that holds a scalar.
func (l *lowerer) load(e entity, at ast.Expr) term {
	t, ok := l.value(e).(term)
	if !ok {
		l.refuse(at.Pos(), e.what(), "a number is expected here", "")
	}
	return t
}

// An element is a place in a slice.
type element struct {
	of    *program.Variable
	index program.Expression
}

func (element) what() string { return "a number" }

// place evaluates what may be assigned to, or read.
func (l *lowerer) place(e ast.Expr) entity {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return l.place(e.X)
	case *ast.Ident:
		return l.object(e)
	case *ast.StarExpr:
		return l.deref(l.eval(e.X), e.Pos())
	case *ast.SelectorExpr:
		sel := l.frame.in.info.Selections[e]
		if sel == nil {
			return l.object(e.Sel) // of a package
		}
		if sel.Kind() != types.FieldVal {
			l.refuse(e.Pos(), "a method as a value", "it is outside the subset", "call it")
		}
		return l.path(l.base(e.X), sel.Index(), e.Pos())
	case *ast.IndexExpr:
		if m, ok := l.typeOf(e.X).Underlying().(*types.Map); ok {
			return l.atKey(e, m)
		}
		x := l.eval(e.X)
		if r, ok := x.(rows); ok {
			return l.row(r, l.scalar(e.Index).x, e.Pos())
		}
		s, ok := x.(slice)
		v := s.v
		if !ok {
			l.refuse(e.Pos(), "an index into a value of type "+typeName(l.typeOf(e.X)), "it is outside the subset", indexHint(l.typeOf(e.X)))
		}
		if l.texts[v] {
			l.refuse(e.Pos(), "an index into a slice of strings", "what those of the input are is not known", "range over them, as keys of a map")
		}
		if v.Stream {
			l.refuse(e.Pos(), "an index into a sequence", "it is read in order", "")
		}
		i := l.scalar(e.Index)
		return element{v, i.x}
	}
	return l.eval(e)
}

// atKey is m[k] where k ranges over a slice of the input: the value at k's place.
func (l *lowerer) atKey(e *ast.IndexExpr, t *types.Map) entity {
	m, ok := l.eval(e.X).(mapping)
	if !ok {
		l.refuse(e.Pos(), "a value of type "+typeName(t), "maps are inputs alone", indexHint(t))
	}
	at, ok := l.keys[l.frame.in.info.ObjectOf(identOf(e.Index))]
	if identOf(e.Index) == nil || !ok || l.private[at.of] {
		l.refuse(e.Index.Pos(), "this key of a map", "it may be any", "range over a public slice of the keys: for _, k := range keys")
	}
	switch l.keysOf[m.v] {
	case nil:
		l.keysOf[m.v] = at.of
		l.fn.Requires = append(l.fn.Requires, program.Binary{Op: program.Eq, X: program.Length{Slice: m.v}, Y: program.Length{Slice: at.of}})
	case at.of:
	default:
		l.refuse(e.Index.Pos(), "a second slice of keys", "a map is read at one", "take two maps")
	}
	return element{m.v, at.index}
}

func indexHint(t types.Type) string {
	switch t.Underlying().(type) {
	case *types.Map:
		return "pass the values as a slice, in the order of the keys"
	case *types.Array:
		return "use a slice"
	}
	return "use a slice of numbers or truths"
}

// base evaluates the struct, or the pointer to it, whose field is selected.
func (l *lowerer) base(e ast.Expr) entity {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.StarExpr:
		return l.place(x)
	}
	return l.eval(e)
}

func (l *lowerer) deref(e entity, pos token.Pos) entity {
	p, ok := e.(pointer)
	if !ok {
		l.refuse(pos, "following "+e.what(), "what it points to is not known", "point to one variable, from its declaration on")
	}
	l.follows(p.presence, pos)
	return p.to
}

// path follows fields, through embedded structs and pointers.
func (l *lowerer) path(e entity, index []int, pos token.Pos) entity {
	for _, i := range index {
		if p, ok := e.(pointer); ok {
			l.follows(p.presence, pos)
			e = p.to
		}
		r, ok := e.(*record)
		if !ok || i >= len(r.fields) {
			l.refuse(pos, "a field of "+e.what(), "it is outside the subset", "")
		}
		e = r.field(i)
	}
	return e
}

// sliceOf evaluates a slice; false if it is none.
func (l *lowerer) sliceOf(e ast.Expr) (*program.Variable, bool) {
	s, ok := l.eval(e).(slice)
	return s.v, ok
}

// constant is the value of a constant expression. Decimal fractions are what they
// say, not the float64 nearest to it.
func (l *lowerer) constant(e ast.Expr) (term, bool) {
	tv := l.frame.in.info.Types[e]
	if tv.Value == nil {
		return term{}, false
	}
	if tv.Value.Kind() == constant.Bool {
		return term{program.Truth(constant.BoolVal(tv.Value)), program.Bool}, true
	}
	if tv.Value.Kind() == constant.String {
		return term{l.textCode(constant.StringVal(tv.Value)), program.Int}, true
	}
	sort, ok := sortOf(tv.Type)
	if !ok {
		return term{}, false
	}
	value := tv.Value
	if sort == program.Real {
		if v := l.exact(e); v.Kind() != constant.Unknown {
			value = v
		}
	}
	r, ok := rational(value)
	if !ok {
		return term{}, false
	}
	if beyond(r, sort) != 0 {
		l.ends++
	}
	return term{program.Number{Value: r, Sort: sort}, sort}, true
}

// exact evaluates a constant without rounding it to float64.
func (l *lowerer) exact(e ast.Expr) constant.Value {
	unknown := constant.MakeUnknown()
	info := l.frame.in.info
	switch e := e.(type) {
	case *ast.ParenExpr:
		return l.exact(e.X)
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.Ident:
		if c, ok := info.Uses[e].(*types.Const); ok {
			return c.Val()
		}
	case *ast.SelectorExpr:
		return l.exact(e.Sel)
	case *ast.UnaryExpr:
		x := l.exact(e.X)
		if x.Kind() == constant.Unknown || e.Op != token.SUB && e.Op != token.ADD {
			return unknown
		}
		return constant.UnaryOp(e.Op, x, 0)
	case *ast.BinaryExpr:
		x, y := l.exact(e.X), l.exact(e.Y)
		if t, ok := info.TypeOf(e).Underlying().(*types.Basic); !ok || t.Info()&types.IsInteger != 0 {
			return unknown
		}
		if integer := func(e ast.Expr) bool {
			t, ok := info.TypeOf(e).Underlying().(*types.Basic)
			return !ok || t.Info()&types.IsInteger != 0
		}; e.Op == token.QUO && integer(e.X) && integer(e.Y) {
			return unknown
		}
		switch e.Op {
		case token.ADD, token.SUB, token.MUL, token.QUO:
			if x.Kind() == constant.Unknown || y.Kind() == constant.Unknown || e.Op == token.QUO && constant.Sign(y) == 0 {
				return unknown
			}
			return constant.BinaryOp(constant.ToFloat(x), e.Op, constant.ToFloat(y))
		}
	}
	return unknown
}

func isConstant(x program.Expression) bool {
	switch x.(type) {
	case program.Number, program.Truth:
		return true
	}
	return false
}

var operators = map[token.Token]program.Op{
	token.ADD: program.Add, token.SUB: program.Sub, token.MUL: program.Mul, token.QUO: program.Quo, token.REM: program.Rem,
	token.EQL: program.Eq, token.NEQ: program.Ne, token.LSS: program.Lt, token.LEQ: program.Le, token.GTR: program.Gt, token.GEQ: program.Ge,
	token.LAND: program.And, token.LOR: program.Or,
	token.ADD_ASSIGN: program.Add, token.SUB_ASSIGN: program.Sub, token.MUL_ASSIGN: program.Mul, token.QUO_ASSIGN: program.Quo, token.REM_ASSIGN: program.Rem,
}

func (l *lowerer) binaryExpr(e *ast.BinaryExpr) entity {
	op, ok := operators[e.Op]
	if !ok {
		l.refuse(e.OpPos, "the operator "+e.Op.String(), "arithmetic on bits is outside the subset", "use + - * / %")
	}
	switch op {
	case program.And, program.Or:
		x := l.condition(e.X)
		return term{l.shortCircuit(op, x, func() program.Expression { return l.condition(e.Y) }, e.Pos()), program.Bool}
	case program.Eq, program.Ne:
		if t, ok := l.nilComparison(e, op); ok {
			return t
		}
	}
	typ := l.typeOf(e.X)
	if t, ok := l.compared(op, e); ok {
		return t
	}
	v, w := l.eval(e.X), l.eval(e.Y)
	switch op {
	case program.Eq, program.Ne, program.Lt, program.Le, program.Gt, program.Ge:
		if t, ok := l.compareInfinite(op, v, w, typ, e.OpPos); ok {
			return t
		}
	}
	if sum, ok := l.sumInfinite(op, v, w, l.typeOf(e), e.OpPos); ok {
		return sum
	}
	x, y := l.number(v, e.X), l.number(w, e.Y)
	switch op {
	case program.Eq, program.Ne, program.Lt, program.Le, program.Gt, program.Ge:
		return term{l.compare(op, x, y, typ, e.OpPos), program.Bool}
	}
	return l.binary(op, x, y, l.typeOf(e), e.OpPos)
}

// shortCircuit evaluates y only where x does not decide.
func (l *lowerer) shortCircuit(op program.Op, x program.Expression, y func() program.Expression, pos token.Pos) program.Expression {
	if t, known := x.(program.Truth); known {
		if bool(t) == (op == program.Or) {
			return t
		}
		return y()
	}
	var second program.Expression
	effects, after := l.fork(func() { second = y() })
	if onlyFollows(effects) {
		if op == program.Or {
			l.followUnder(effects, negate(x))
		} else {
			l.followUnder(effects, x)
		}
		return connect(op, x, second)
	}
	l.constants = meet(l.constants, after)
	v := l.variable(l.frame.prefix+"test", program.Bool, pos)
	at := program.At{Pos: pos}
	l.emit(program.Assign{At: at, To: v, Value: x})
	effects = append(effects, program.Assign{At: at, To: v, Value: second})
	s := program.If{At: at, Cond: program.Ref{Var: v}, Then: effects}
	if op == program.Or {
		s.Then, s.Else = nil, effects
	}
	l.emit(s)
	return program.Ref{Var: v}
}

// connect is x op y, shorter where y does not matter. (Where x does not, it is evaluated
// all the same: it may panic.)
func connect(op program.Op, x, y program.Expression) program.Expression {
	if t, known := y.(program.Truth); known && bool(t) == (op == program.And) {
		return x
	}
	return program.Binary{Op: op, X: x, Y: y}
}

// nilComparison is x == nil, of errors and of what the input may lack.
func (l *lowerer) nilComparison(e *ast.BinaryExpr, op program.Op) (term, bool) {
	other := e.X
	info := l.frame.in.info
	if info.Types[e.X].IsNil() {
		other = e.Y
	} else if !info.Types[e.Y].IsNil() {
		return term{}, false
	}
	is := func(b bool) term { return term{program.Truth(b == (op == program.Eq)), program.Bool} }
	switch x := l.eval(other).(type) {
	case term:
		return term{l.compare(op, x, term{number(0, program.Int), program.Int}, l.typeOf(other), e.OpPos), program.Bool}, true
	case null:
		return is(true), true
	case closure:
		return is(false), true
	case pointer:
		return l.present(x.presence, op), true
	case source:
		return l.present(x.presence, op), true
	case *sampler:
		return l.present(x.presence, op), true
	case slice:
		l.refuse(e.Pos(), "comparing a slice with nil", "nil and empty slices are one in the subset", "compare its len with 0")
	}
	l.refuse(e.Pos(), "this comparison", "it is outside the subset", "")
	return term{}, false
}

// present is x == nil, or x != nil: false, or true, of what is not of the input.
func (l *lowerer) present(of *presence, op program.Op) term {
	if of == nil {
		return term{program.Truth(op == program.Ne), program.Bool}
	}
	v := of.variable()
	l.read(v)
	var is program.Expression = program.Ref{Var: v}
	if op == program.Eq {
		is = program.Unary{Op: program.Not, X: is}
	}
	return term{is, program.Bool}
}

func (l *lowerer) compare(op program.Op, x, y term, t types.Type, pos token.Pos) program.Expression {
	if x.sort != y.sort || isString(t) && op != program.Eq && op != program.Ne {
		l.refuse(pos, "comparing values of type "+typeName(t), "it is outside the subset", "")
	}
	a, ok1 := x.x.(program.Number)
	b, ok2 := y.x.(program.Number)
	if isError(t) && !(ok1 && a.Value.Sign() == 0) && !(ok2 && b.Value.Sign() == 0) {
		l.refuse(pos, "comparing two errors", "each errors.New makes another one", "compare with nil")
	}
	if ok1 && ok2 {
		return program.Truth(holds(op, a.Value.Cmp(b.Value)))
	}
	return program.Binary{Op: op, X: x.x, Y: y.x}
}

func holds(op program.Op, sign int) bool {
	switch op {
	case program.Eq:
		return sign == 0
	case program.Ne:
		return sign != 0
	case program.Lt:
		return sign < 0
	case program.Le:
		return sign <= 0
	case program.Gt:
		return sign > 0
	}
	return sign >= 0
}

// binary is arithmetic; t is the type of the result.
func (l *lowerer) binary(op program.Op, x, y term, t types.Type, pos token.Pos) term {
	if x.sort != y.sort || x.sort == program.Bool || isString(t) {
		l.refuse(pos, "arithmetic on "+typeName(t), "it is outside the subset", "use numbers of one type")
	}
	if x.sort == program.Int && isUnsigned(t) && op == program.Sub {
		l.refuse(pos, "a difference of unsigned integers", "below zero it wraps around", "use int")
	}
	if y, ok := y.x.(program.Number); op == program.Quo || op == program.Rem {
		if ok && y.Value.Sign() == 0 {
			l.refuse(pos, "division by zero", "it has no value", "")
		}
	}
	return term{program.Binary{Op: op, X: x.x, Y: y.x}, x.sort}
}

func (l *lowerer) unaryExpr(e *ast.UnaryExpr) entity {
	switch e.Op {
	case token.ADD:
		return l.scalar(e.X)
	case token.SUB:
		v := l.eval(e.X)
		if v, ok := v.(infinite); ok && v.is == program.Truth(true) && !v.sum {
			v.sign = -v.sign
			return v
		}
		x := l.number(v, e.X)
		if isUnsigned(l.typeOf(e.X)) {
			l.refuse(e.Pos(), "the negative of an unsigned integer", "below zero it wraps around", "use int")
		}
		if n, ok := x.x.(program.Number); ok {
			return term{program.Number{Value: new(big.Rat).Neg(n.Value), Sort: n.Sort}, x.sort}
		}
		return term{program.Unary{Op: program.Sub, X: x.x}, x.sort}
	case token.NOT:
		return term{negate(l.condition(e.X)), program.Bool}
	case token.AND:
		if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok {
			if r, ok := l.composite(lit).(*record); ok {
				return pointer{to: r}
			}
			l.refuse(e.Pos(), "a pointer to a slice", "it is outside the subset", "use the slice")
		}
		to := l.place(e.X)
		if r, ok := to.(*record); ok && !r.moves {
			return pointer{to: r}
		}
		l.refuse(e.Pos(), "a pointer to "+to.what(), "it is outside the subset", "return the new value, or point to a struct")
	}
	l.refuse(e.Pos(), "the operator "+e.Op.String(), "it is outside the subset", "")
	return nil
}

func negate(x program.Expression) program.Expression {
	if t, ok := x.(program.Truth); ok {
		return !t
	}
	return program.Unary{Op: program.Not, X: x}
}

// composite makes a struct or a slice.
func (l *lowerer) composite(e *ast.CompositeLit) entity {
	t := l.typeOf(e)
	switch u := t.Underlying().(type) {
	case *types.Struct:
		r, ok := l.local(l.frame.prefix+"made", t, e.Pos()).(*record)
		if !ok {
			break
		}
		for _, f := range r.fields {
			if s, ok := f.(scalar); ok {
				l.depth[s.v] = temporary
			}
		}
		values := make([]entity, len(r.fields))
		for i, x := range e.Elts {
			at := i
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
				at = fieldIndex(u, kv.Key)
			}
			if at < 0 || at >= len(values) {
				l.refuse(x.Pos(), "this field", "it is outside the subset", "")
			}
			values[at] = l.eval(x)
		}
		for i, v := range values {
			if v == nil {
				l.zero(r.fields[i], e.Pos())
			} else {
				r.fields[i] = l.bind(r.fields[i], v, e.Pos())
			}
		}
		return r
	case *types.Slice:
		if r, ok := l.rowsOf(t, e.Pos()); ok {
			var values []entity
			for _, x := range e.Elts {
				if _, keyed := x.(*ast.KeyValueExpr); keyed {
					l.refuse(x.Pos(), "an element with an index", "it is outside the subset", "list the elements in order")
				}
				values = append(values, l.eval(x))
			}
			l.makeRows(r, number(0, program.Int), e.Pos())
			l.emptied(r.all()...)
			for _, v := range values {
				l.addRow(r, v, e.Pos())
			}
			return l.temporaryRows(r)
		}
		to, ok := l.local(l.frame.prefix+"slice", t, e.Pos()).(slice)
		if !ok {
			break
		}
		var values []program.Expression
		for _, x := range e.Elts {
			if _, keyed := x.(*ast.KeyValueExpr); keyed {
				l.refuse(x.Pos(), "an element with an index", "it is outside the subset", "list the elements in order")
			}
			values = append(values, l.scalar(x).x)
		}
		at := program.At{Pos: e.Pos()}
		l.emit(program.Make{At: at, To: to.v, Length: number(0, program.Int)})
		l.emptied(to.v)
		for _, x := range values {
			l.emit(program.Append{At: at, To: to.v, Value: x})
		}
		l.temporaries[to.v] = true
		return to
	case *types.Array:
		to, ok := l.local(l.frame.prefix+"array", t, e.Pos()).(slice)
		if !ok {
			break
		}
		var values []program.Expression
		for _, x := range e.Elts {
			if _, keyed := x.(*ast.KeyValueExpr); keyed {
				l.refuse(x.Pos(), "an element with an index", "it is outside the subset", "list the elements in order")
			}
			values = append(values, l.scalar(x).x)
		}
		l.zero(to, e.Pos())
		for i, x := range values {
			l.emit(program.Store{At: program.At{Pos: e.Pos()}, To: to.v, Index: number(int64(i), program.Int), Value: x})
		}
		l.temporaries[to.v] = true
		return to
	}
	l.refuse(e.Pos(), "a literal of type "+typeName(t), "it is outside the subset", "use a slice of numbers, or a struct")
	return nil
}

func fieldIndex(s *types.Struct, key ast.Expr) int {
	id := identOf(key)
	for i := range s.NumFields() {
		if id != nil && s.Field(i).Name() == id.Name {
			return i
		}
	}
	return -1
}
