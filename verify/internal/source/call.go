package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// call evaluates a call and returns its results.
func (l *lowerer) call(e *ast.CallExpr) []entity {
	info := l.frame.in.info
	fun := ast.Unparen(e.Fun)
	if tv := info.Types[fun]; tv.IsType() {
		return []entity{l.conversion(e)}
	}
	if law, ok := lawOf(info, e); ok {
		if isMethodOf(info, e, "Source") {
			v := l.draw(e, law, nil, l.drawn)
			return []entity{term{program.Ref{Var: v}, v.Sort}}
		}
		return l.sample(e, law)
	}
	switch f := fun.(type) {
	case *ast.FuncLit:
		return l.closureCall(closure{f, l.frame}, e)
	case *ast.Ident:
		switch obj := info.Uses[f].(type) {
		case *types.Builtin:
			return l.builtin(obj.Name(), e)
		case *types.Func:
			return l.function1(obj, e, nil)
		case *types.Var:
			return l.variableCall(l.object(f), e)
		}
	case *ast.SelectorExpr:
		if sel := info.Selections[f]; sel != nil {
			if sel.Kind() == types.MethodVal {
				return l.method(f, sel, e)
			}
			return l.variableCall(l.place(f), e)
		}
		if fn, ok := info.Uses[f.Sel].(*types.Func); ok {
			return l.function1(fn, e, nil)
		}
	case *ast.IndexExpr:
		if fn := genericFunc(info, f.X); fn != nil {
			return l.function1(fn, e, nil)
		}
	case *ast.IndexListExpr:
		if fn := genericFunc(info, f.X); fn != nil {
			return l.function1(fn, e, nil)
		}
	}
	l.refuse(e.Pos(), "this call", "which function it is, is not known", "call a function by its name")
	return nil
}

func genericFunc(info *types.Info, e ast.Expr) *types.Func {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		fn, _ := info.Uses[e].(*types.Func)
		return fn
	case *ast.SelectorExpr:
		fn, _ := info.Uses[e.Sel].(*types.Func)
		return fn
	}
	return nil
}

func (l *lowerer) isBuiltin(e ast.Expr, name string) bool {
	id := identOf(e)
	if id == nil {
		return false
	}
	b, ok := l.frame.in.info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

// variableCall calls what a variable holds.
func (l *lowerer) variableCall(f entity, e *ast.CallExpr) []entity {
	switch f := f.(type) {
	case closure:
		return l.closureCall(f, e)
	case consumer:
		l.yield(e)
		return []entity{unknown{types.Typ[types.Bool]}}
	}
	l.refuse(e.Pos(), "calling "+f.what(), "which function it is, is not known", "call a function by its name, or a literal that is set once")
	return nil
}

// yield shows values. Whether the consumer goes on may only decide that the function
// ends: what was shown is then a part of what a consumer that goes on is shown.
func (l *lowerer) yield(e *ast.CallExpr) {
	for f := l.frame; f != nil; f = f.caller {
		if f.exit != nil {
			l.refuse(e.Pos(), "yield in a function that is called", "when the consumer stops, the caller goes on", "yield in the function with the claim")
		}
	}
	var values []entity
	for _, a := range e.Args {
		v := l.eval(a)
		if _, ok := v.(null); ok {
			v = term{number(0, program.Int), program.Int}
		}
		if points(v) {
			l.refuse(a.Pos(), "yielding a pointer", "what it points to may change when it was seen", "yield what it points to")
		}
		values = append(values, v)
	}
	l.emit(program.Output{At: program.At{Pos: e.Pos()}, Values: l.show(values, e.Pos(), &l.yielded)})
}

// points reports whether a value is, or has, a pointer.
func points(e entity) bool {
	switch e := e.(type) {
	case pointer:
		return true
	case *record:
		for i := range e.fields {
			if points(e.field(i)) {
				return true
			}
		}
	}
	return false
}

// stopped recognises if !yield(...) { return } and if !yield(...) || rest { return },
// emits the output, and returns the rest of the condition.
func (l *lowerer) stopped(cond ast.Expr, s *ast.IfStmt) (rest ast.Expr, ok bool) {
	first := cond
	if or, isOr := cond.(*ast.BinaryExpr); isOr && or.Op == token.LOR {
		first, rest = ast.Unparen(or.X), or.Y
	}
	not, isNot := first.(*ast.UnaryExpr)
	if !isNot || not.Op != token.NOT {
		return nil, false
	}
	call, isCall := ast.Unparen(not.X).(*ast.CallExpr)
	if !isCall {
		return nil, false
	}
	id := identOf(call.Fun)
	if id == nil {
		return nil, false
	}
	e, found := l.find(l.frame.in.info.ObjectOf(id))
	if _, is := e.(consumer); !found || !is {
		return nil, false
	}
	if len(s.Body.List) == 1 && s.Else == nil {
		if r, isReturn := s.Body.List[0].(*ast.ReturnStmt); isReturn && len(r.Results) == 0 && len(l.frame.named) == 0 {
			l.yield(call)
			l.settle(s.Pos())
			return rest, true
		}
	}
	l.refuse(s.Pos(), "what follows when the consumer stops", "it may show more than one that goes on is shown", "write if !yield(...) { return }")
	return nil, false
}

func (l *lowerer) conversion(e *ast.CallExpr) entity {
	t := l.typeOf(e)
	if len(e.Args) != 1 {
		l.refuse(e.Pos(), "this conversion", "it is outside the subset", "")
	}
	v := l.eval(e.Args[0])
	from := l.typeOf(e.Args[0])
	if _, ok := v.(null); ok {
		return v
	}
	x, isTerm := v.(term)
	to, ok := sortOf(t)
	if !isTerm || !ok || isError(t) || isError(from) {
		if types.Identical(t.Underlying(), from.Underlying()) {
			return v
		}
		l.refuse(e.Pos(), "a conversion to "+typeName(t), "it is outside the subset", "convert numbers only")
	}
	switch {
	case x.sort == to && to == program.Int:
		l.checkNarrowing(x, from, t, e.Pos())
		return x
	case x.sort == to && to == program.Real:
		l.checkNarrowing(x, from, t, e.Pos())
		return x
	case x.sort == to:
		return x
	case x.sort == program.Int && to == program.Real:
		return term{program.Call{Func: "real", Args: []program.Expression{x.x}}, program.Real}
	case x.sort == program.Real && to == program.Int:
		l.checkNarrowing(x, types.Typ[types.Int64], t, e.Pos())
		return term{program.Call{Func: "int", Args: []program.Expression{x.x}}, program.Int}
	}
	l.refuse(e.Pos(), "a conversion to "+typeName(t), "it is outside the subset", "convert numbers only")
	return nil
}

// checkNarrowing refuses conversions that drop bits on purpose.
func (l *lowerer) checkNarrowing(x term, from, to types.Type, pos token.Pos) {
	if isUnsigned(to) && !isUnsigned(from) {
		if _, isLength := x.x.(program.Length); !isLength {
			l.refuse(pos, "a conversion to "+typeName(to), "below zero it wraps around", "use int")
		}
	}
	size := func(t types.Type) int64 { return types.SizesFor("gc", "amd64").Sizeof(t.Underlying()) }
	if size(to) < size(from) {
		hint := "use int or int64"
		if x.sort == program.Real && from != types.Typ[types.Int64] {
			hint = "use float64"
		}
		l.refuse(pos, "a conversion to "+typeName(to), "it drops digits", hint)
	}
}

func (l *lowerer) builtin(name string, e *ast.CallExpr) []entity {
	at := program.At{Pos: e.Pos()}
	switch name {
	case "len":
		if len(e.Args) == 1 {
			v := l.eval(e.Args[0])
			if s, ok := v.(slice); ok && !s.v.Stream {
				return []entity{term{program.Length{Slice: s.v}, program.Int}}
			}
			if r, ok := v.(rows); ok {
				return []entity{term{program.Length{Slice: r.all()[0]}, program.Int}}
			}
			l.refuse(e.Pos(), "the length of "+v.what(), "it is outside the subset", "use a slice of numbers")
		}
	case "min", "max":
		op := program.Min
		if name == "max" {
			op = program.Max
		}
		x := l.eval(e.Args[0])
		for _, a := range e.Args[1:] {
			x = l.extreme(op, x, l.eval(a), l.typeOf(e), e.Pos())
		}
		return []entity{x}
	case "make":
		if r, ok := l.rowsOf(l.typeOf(e), e.Pos()); ok {
			n := l.scalar(e.Args[1])
			if len(e.Args) == 3 {
				l.capacity(n.x, l.scalar(e.Args[2]).x, at)
			}
			l.makeRows(r, n.x, e.Pos())
			l.emptied(r.all()...)
			return []entity{l.temporaryRows(r)}
		}
		v, ok := l.local(l.frame.prefix+"slice", l.typeOf(e), e.Pos()).(slice)
		if !ok {
			l.refuse(e.Pos(), "making a value of type "+typeName(l.typeOf(e)), "it is outside the subset", "use a slice of numbers")
		}
		n := l.scalar(e.Args[1])
		if len(e.Args) == 3 {
			l.capacity(n.x, l.scalar(e.Args[2]).x, at)
		}
		l.emit(program.Make{At: at, To: v.v, Length: n.x})
		l.emptied(v.v)
		l.temporaries[v.v] = true
		return []entity{v}
	case "append":
		if r, ok := l.rowsOf(l.typeOf(e), e.Pos()); ok {
			l.set(r, l.eval(e.Args[0]), e.Pos())
			l.appendRows(r, e)
			return []entity{l.temporaryRows(r)}
		}
		v, ok := l.local(l.frame.prefix+"slice", l.typeOf(e), e.Pos()).(slice)
		if !ok {
			l.refuse(e.Pos(), "appending to a value of type "+typeName(l.typeOf(e)), "it is outside the subset", "use a slice of numbers")
		}
		switch from := l.eval(e.Args[0]).(type) {
		case null:
			if e.Ellipsis.IsValid() {
				return []entity{l.clone(v, e.Args[1], copiedByAppend)}
			}
			l.emit(program.Make{At: at, To: v.v, Length: number(0, program.Int)})
		case slice:
			l.checkTexts(from.v, e.Pos())
			l.emit(program.Assign{At: at, To: v.v, Value: program.Ref{Var: from.v}})
		default:
			l.refuse(e.Pos(), "appending to "+from.what(), "it is outside the subset", "use a slice of numbers")
		}
		l.appendAll(v.v, e)
		l.temporaries[v.v] = true
		return []entity{v}
	case "new":
		t := l.typeOf(e.Args[0])
		if r, ok := l.local(l.frame.prefix+"made", t, e.Pos()).(*record); ok {
			l.zero(r, e.Pos())
			return []entity{pointer{to: r}}
		}
	case "panic":
		l.panicStmt(e)
	}
	l.refuse(e.Pos(), "the function "+name, "it is outside the subset", "the subset has len, make, append, min and max")
	return nil
}

// capacity is what a slice is made with beside its length. All that is left of it is the
// panic where it is less: of a slice that nothing reads, as long as what is behind the other.
func (l *lowerer) capacity(length, capacity program.Expression, at program.At) {
	if length.String() == capacity.String() {
		return
	}
	v := l.variable(l.frame.prefix+"capacity", program.Int, at.Pos)
	v.Slice = true
	if length.String() != "0" {
		capacity = program.Binary{Op: program.Sub, X: capacity, Y: length}
	}
	l.emit(program.Make{At: at, To: v, Length: capacity})
}

// clone copies a slice into a new one.
func (l *lowerer) clone(to slice, e ast.Expr, how copying) entity {
	from, ok := l.eval(e).(slice)
	if !ok || from.v.Stream {
		l.refuse(e.Pos(), "copying "+l.eval(e).what(), "it is outside the subset", "copy a slice of numbers")
	}
	l.checkTexts(from.v, e.Pos())
	l.copies[copied{to.v, e.Pos()}], l.temporaries[to.v] = how, true
	l.emit(program.Assign{At: program.At{Pos: e.Pos()}, To: to.v, Value: program.Ref{Var: from.v}})
	return to
}

// copyStmt is copy(b, a), where b was just made as long as a is: then it is a copy of a.
func (l *lowerer) copyStmt(e *ast.CallExpr) {
	to, ok1 := l.eval(e.Args[0]).(slice)
	from, ok2 := l.eval(e.Args[1]).(slice)
	l.settle(e.Pos())
	last := len(l.out) - 1
	if ok1 && ok2 && !from.v.Stream && to.v != from.v && last >= 0 {
		if m, ok := l.out[last].(program.Make); ok && m.To == to.v && m.Length == (program.Length{Slice: from.v}) {
			l.checkTexts(from.v, e.Pos())
			l.copies[copied{to.v, e.Pos()}] = copiedByMake
			l.out[last] = program.Assign{At: program.At{Pos: e.Pos()}, To: to.v, Value: program.Ref{Var: from.v}}
			return
		}
	}
	l.refuse(e.Pos(), "this copy", "it is outside the subset", "copy into what was just made: b := make([]float64, len(a)); copy(b, a)")
}

// appendAll emits append(v, args...).
func (l *lowerer) appendAll(v *program.Variable, e *ast.CallExpr) {
	at := program.At{Pos: e.Pos()}
	if e.Ellipsis.IsValid() {
		from, ok := l.eval(e.Args[1]).(slice)
		if !ok || from.v.Stream || from.v == v {
			l.refuse(e.Pos(), "appending this", "it is outside the subset", "append the elements of another slice")
		}
		l.checkTexts(from.v, e.Pos())
		i := l.variable(l.frame.prefix+"i", program.Int, e.Pos())
		i.Natural = true
		l.emit(program.Assign{At: at, To: i, Value: number(0, program.Int)})
		index := program.Ref{Var: i}
		loop := &program.Loop{
			At: at, Name: l.unique("append at line " + lineOf(l, e)),
			Cond: program.Binary{Op: program.Lt, X: index, Y: program.Length{Slice: from.v}},
			Body: []program.Statement{program.Append{At: at, To: v, Value: program.Element{Slice: from.v, Index: index}}},
			Post: []program.Statement{program.Assign{At: at, To: i, Value: program.Binary{Op: program.Add, X: index, Y: number(1, program.Int)}}},
		}
		l.emit(loop)
		return
	}
	var values []program.Expression
	for _, a := range e.Args[1:] {
		values = append(values, l.scalar(a).x)
	}
	for _, x := range values {
		l.emit(program.Append{At: at, To: v, Value: x})
	}
}

// mathematics are functions that an expression may call.
var mathematics = map[string]string{
	"math.Abs": "abs", "math.Exp": "exp", "math.Log": "log", "math.Sqrt": "sqrt",
	"math.Floor": "floor", "math.Ceil": "ceil", "math.Round": "round", "math.Pow": "pow",
}

// function1 calls a function that is declared somewhere.
func (l *lowerer) function1(fn *types.Func, e *ast.CallExpr, recv entity) []entity {
	name := fn.Origin().FullName()
	real := func(x program.Expression) []entity { return []entity{term{x, program.Real}} }
	if f, ok := mathematics[name]; ok {
		var args []program.Expression
		for _, a := range e.Args {
			args = append(args, l.scalar(a).x)
		}
		return real(program.Call{Func: f, Args: args})
	}
	switch name {
	case "math.Min", "math.Max":
		op := program.Min
		if name == "math.Max" {
			op = program.Max
		}
		x := l.eval(e.Args[0])
		return []entity{l.extreme(op, x, l.eval(e.Args[1]), types.Typ[types.Float64], e.Pos())}
	case "math.Trunc":
		x := l.scalar(e.Args[0]).x
		return real(program.Call{Func: "real", Args: []program.Expression{program.Call{Func: "int", Args: []program.Expression{x}}}})
	case "math.Inf":
		return []entity{l.infinityOf(e)}
	case "math.IsInf":
		if x, ok := l.isInf(e); ok {
			return []entity{x}
		}
	case "math.NaN":
		l.refuse(e.Pos(), "NaN", "numbers are real", "")
	case "slices.Clone":
		if v, ok := l.local(l.frame.prefix+"slice", l.typeOf(e), e.Pos()).(slice); ok {
			return []entity{l.clone(v, e.Args[0], copiedByClone)}
		}
	case noisePath + ".Bernoulli":
		return l.coin(e)
	case "errors.New":
		if l.frame.in.info.Types[e.Args[0]].Value == nil {
			l.refuse(e.Args[0].Pos(), "an error that quotes a value", "it shows the value", "quote a constant")
		}
		return []entity{term{l.errorCode(e.Pos()), program.Int}}
	case "fmt.Errorf":
		return []entity{l.errorf(e)}
	}
	if x, ok := l.library(name, e); ok {
		return []entity{x}
	}
	if b := l.known[name]; b != nil {
		return l.inline(b, e, recv)
	}
	if fn.Pkg() != nil {
		l.missing = append(l.missing, fn.Pkg().Path())
	}
	l.refuse(e.Pos(), "the function "+fn.Name(), unknownFunction(fn), "call functions of this module, or of package math")
	return nil
}

func unknownFunction(fn *types.Func) string {
	path := ""
	if fn.Pkg() != nil {
		path = fn.Pkg().Path()
	}
	if strings.HasPrefix(path, "math/rand") {
		return "its randomness is predictable, and its law is not known"
	}
	return "its body is not at hand"
}

// errorf is an error of its own: what it says must not depend on anything but
// constants, and the errors that it quotes tell it from others that are made in its place.
func (l *lowerer) errorf(e *ast.CallExpr) entity {
	made := strconv.Itoa(int(e.Pos()))
	for _, a := range e.Args {
		if l.frame.in.info.Types[a].Value != nil {
			continue
		}
		t, ok := l.eval(a).(term)
		if !ok || !isConstant(t.x) {
			l.refuse(a.Pos(), "an error that quotes a value", "it shows the value", "use errors.New, or constants")
		}
		made += " " + t.x.String()
	}
	return term{l.errorCode(made), program.Int}
}

// method calls a method; its receiver may be embedded.
func (l *lowerer) method(f *ast.SelectorExpr, sel *types.Selection, e *ast.CallExpr) []entity {
	fn, ok := sel.Obj().(*types.Func)
	if !ok {
		l.refuse(e.Pos(), "this call", "it is outside the subset", "")
	}
	if isMethodOf(l.frame.in.info, e, "Source") && fn.Name() == "Round" {
		l.drawsFrom(f, sel)
		x := l.scalar(e.Args[0])
		scale := l.scalar(e.Args[1])
		return []entity{term{program.Call{Func: "grid", Args: []program.Expression{x.x, scale.x}}, program.Real}}
	}
	if noiseType(sel.Recv()) != "" {
		l.refuse(e.Pos(), "the method "+fn.Name()+" of "+typeName(sel.Recv()), "it is outside the subset", "draw with Laplace, Exponential, Gaussian, DiscreteLaplace, Geometric, DiscreteGaussian, Bernoulli, Choose, Uniform, Int64, or Index")
	}
	if _, isInterface := sel.Recv().Underlying().(*types.Interface); isInterface {
		l.refuse(e.Pos(), "a method of an interface", "which method it is, is not known", "call a method of a struct")
	}
	index := sel.Index()
	recv := l.path(l.base(f.X), index[:len(index)-1], e.Pos())
	if _, byPointer := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer); byPointer {
		if r, ok := recv.(*record); ok {
			if r.moves {
				l.refuse(e.Pos(), "a pointer to an element", "it is outside the subset", "take the element out, and put it back")
			}
			recv = pointer{to: r}
		}
	} else {
		if p, ok := recv.(pointer); ok {
			l.follows(p.presence, e.Pos())
			recv = p.to
		}
		recv = l.value(recv) // copied before the arguments are evaluated, or after
	}
	return l.function1(fn, e, recv)
}

// inline writes a function out.
func (l *lowerer) inline(b *body, e *ast.CallExpr, recv entity) []entity {
	name := fullName(b)
	for f := l.frame; f != nil; f = f.caller {
		if f.name == name && !f.stream {
			l.refuse(e.Pos(), "the recursive function "+b.decl.Name.Name, "its calls cannot be written out", "use a loop")
		}
	}
	in := b.in
	if b.decl.Type.TypeParams != nil || isGeneric(b) {
		if in = b.instance(e.Fun, l.frame.in.info); in == nil {
			l.refuse(e.Pos(), "the generic function "+b.decl.Name.Name, "it is outside the subset", "write it for one type")
		}
	}
	fn, ok := in.info.Defs[b.decl.Name].(*types.Func)
	if !ok {
		l.refuse(e.Pos(), "this call", "it is outside the subset", "")
	}
	g := &frame{in: in, file: b.file, name: name, prefix: l.frame.prefix + b.decl.Name.Name + ".", depth: l.frame.depth + 1, env: map[types.Object]entity{}, caller: l.frame}
	g.claimed = len(l.notes.of(b.in, b.file).functions[b.decl]) > 0
	return l.run(g, fn.Signature(), b.decl.Type, b.decl.Recv, b.decl.Body, e, recv)
}

func (l *lowerer) closureCall(c closure, e *ast.CallExpr) []entity {
	for f := l.frame; f != nil; f = f.caller {
		if f.lit == c.lit {
			l.refuse(e.Pos(), "a recursive function", "its calls cannot be written out", "use a loop")
		}
	}
	sig, ok := c.in.in.info.TypeOf(c.lit).Underlying().(*types.Signature)
	if !ok {
		l.refuse(e.Pos(), "this call", "it is outside the subset", "")
	}
	g := &frame{in: c.in.in, file: c.in.file, lit: c.lit, name: c.in.name + ".func", prefix: l.frame.prefix + "closure.", depth: l.frame.depth + 1, env: map[types.Object]entity{}, outer: c.in, caller: l.frame}
	return l.run(g, sig, c.lit.Type, nil, c.lit.Body, e, nil)
}

// run writes the body of a function out, in a frame of its own.
func (l *lowerer) run(g *frame, sig *types.Signature, typ *ast.FuncType, recvList *ast.FieldList, code *ast.BlockStmt, e *ast.CallExpr, recv entity) []entity {
	tail := l.tail
	l.tail = false
	if sig.Variadic() {
		l.refuse(e.Pos(), "a variadic function", "it is outside the subset", "pass a slice")
	}
	var args []entity
	if len(e.Args) == 1 && sig.Params().Len() > 1 {
		inner, ok := ast.Unparen(e.Args[0]).(*ast.CallExpr)
		if !ok {
			l.refuse(e.Pos(), "this call", "it is outside the subset", "")
		}
		args = l.call(inner)
	} else {
		for _, a := range e.Args {
			args = append(args, l.eval(a))
		}
	}
	if len(args) != sig.Params().Len() {
		l.refuse(e.Pos(), "this call", "it is outside the subset", "")
	}
	caller, reads, writes, drawn := l.frame, l.reads, l.writes, l.drawn
	existing := map[*program.Variable]bool{}
	l.frame = g
	l.begin()
	start := len(l.out)
	info := g.in.info
	bindParam := func(id *ast.Ident, v entity) {
		obj := info.Defs[id]
		if obj == nil || id.Name == "_" {
			l.discard(v, e.Pos())
			return
		}
		if s, ok := v.(slice); ok && l.arrays[s.v] == 0 && !l.assigns(code, obj) {
			g.env[obj] = s // a slice that is not set anew is the caller's
			return
		}
		if r, ok := v.(rows); ok && !l.assigns(code, obj) {
			g.env[obj] = r
			return
		}
		g.env[obj] = l.declare(g.prefix+id.Name, obj.Type(), v, e.Pos())
	}
	if recvList != nil && len(recvList.List) == 1 && len(recvList.List[0].Names) == 1 {
		bindParam(recvList.List[0].Names[0], recv)
	} else {
		l.discard(recv, e.Pos())
	}
	n := 0
	for _, f := range typ.Params.List {
		for _, id := range f.Names {
			bindParam(id, args[n])
			n++
		}
		if len(f.Names) == 0 {
			l.discard(args[n], e.Pos())
			n++
		}
	}
	g.types = sig.Results()
	if tail {
		defer func() { l.frame, l.reads, l.writes, l.drawn = caller, reads, writes, drawn }()
		l.list(code.List)
		return nil
	}
	g.exit, g.once = &target{}, returnsOnce(code)
	l.namedResults(typ, typ.Results)
	for i := range sig.Results().Len() {
		r := sig.Results().At(i)
		if i < len(g.named) {
			own, _ := l.find(g.named[i])
			g.results = append(g.results, own)
			continue
		}
		if sig.Results().Len() == len(g.named) {
			continue
		}
		g.results = append(g.results, l.local(strings.TrimSuffix(g.prefix, "."), r.Type(), e.Pos()))
	}
	l.within(g.exit, func() flow { return l.list(code.List) })
	l.frame, l.reads, l.writes, l.drawn = caller, reads, writes, drawn
	assigned(l.out[start:], existing)
	var results []entity
	for _, r := range g.results {
		disown(existing, r)
		results = append(results, l.resultOf(r))
	}
	for v := range existing {
		l.writes[v] = e.Pos()
	}
	return results
}

// returnsOnce reports whether the last statement of a body is its only return.
func returnsOnce(code *ast.BlockStmt) bool {
	if len(code.List) == 0 {
		return false
	}
	last, ok := code.List[len(code.List)-1].(*ast.ReturnStmt)
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			ok = ok && n == last
		}
		return true
	})
	return ok
}

// disown leaves out a result, which the call alone writes, once, before it is read.
func disown(written map[*program.Variable]bool, e entity) {
	switch e := e.(type) {
	case scalar:
		delete(written, e.v)
	case slice:
		delete(written, e.v)
	case *record:
		for _, f := range e.fields {
			disown(written, f)
		}
	}
}

// resultOf reads a result; nobody else will change it.
func (l *lowerer) resultOf(e entity) entity {
	if s, ok := e.(scalar); ok {
		if x, known := l.constants[s.v]; known {
			return term{program.Number{Value: x, Sort: s.v.Sort}, s.v.Sort}
		}
		return term{program.Ref{Var: s.v}, s.v.Sort}
	}
	return e
}
