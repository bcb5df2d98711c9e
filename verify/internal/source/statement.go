package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A target is what can be left from within: a loop, and what has no loop of its own:
// a switch, a function that is called. Of the latter, flag says
// that it was left; a way out through loops breaks the outermost of them, and what
// follows is skipped while the flag is set.
type target struct {
	loop    *program.Loop
	label   string
	breaks  bool // an unlabelled break leaves it
	flag    *program.Variable
	pending []*target // of a loop: what may have been left when it has ended
	// left is what was known wherever it was left.
	left []map[*program.Variable]*big.Rat
}

// A flow says how a list of statements ends.
type flow struct {
	// falls is whether its end may be reached.
	falls bool
	// pending may have been left, and all that follows within them must be skipped.
	pending []*target
	// into is the branch of the If just emitted, 1 or 2, that alone is not left:
	// what follows can go there, without a flag.
	into int
}

func union(a, b []*target) []*target {
	all := slices.Clone(a)
	for _, t := range b {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

func without(a []*target, t *target) []*target {
	return slices.DeleteFunc(slices.Clone(a), func(x *target) bool { return x == t })
}

func (l *lowerer) list(stmts []ast.Stmt) flow {
	for i, s := range stmts {
		f, rest := l.stmt(s), stmts[i+1:]
		if len(rest) == 0 || !f.falls {
			return f // what follows is never reached
		}
		if len(f.pending) > 0 {
			return l.skipping(f, func() flow { return l.list(rest) })
		}
	}
	return flow{falls: true}
}

// skipping runs what follows only where nothing pending was left.
func (l *lowerer) skipping(f flow, rest func() flow) flow {
	if last := len(l.out) - 1; f.into > 0 {
		branch := l.out[last].(program.If)
		var g flow
		more := l.block(func() { g = rest() })
		if f.into == 1 {
			branch.Then = append(branch.Then, more...)
		} else {
			branch.Else = append(branch.Else, more...)
		}
		l.out[last] = branch
		return flow{falls: g.falls, pending: union(f.pending, g.pending)}
	}
	var left program.Expression
	for _, t := range f.pending {
		l.flags[t.flag] = true
		var is program.Expression = program.Ref{Var: t.flag}
		if left != nil {
			is = program.Binary{Op: program.Or, X: left, Y: is}
		}
		left = is
	}
	var g flow
	more := l.block(func() { g = rest() })
	if len(more) > 0 {
		l.emit(program.If{At: program.At{Pos: more[0].Position()}, Cond: left, Else: more})
	}
	return flow{falls: g.falls, pending: union(f.pending, g.pending)}
}

// leave goes to the end of a target that is no loop.
func (l *lowerer) leave(t *target, pos token.Pos) flow {
	if t.flag == nil {
		t.flag = l.variable(l.frame.prefix+"done", program.Bool, pos)
		l.flags[t.flag] = false
	}
	l.emit(program.Assign{At: program.At{Pos: pos}, To: t.flag, Value: program.Truth(true)})
	t.left = append(t.left, maps.Clone(l.constants))
	for _, within := range l.targets[slices.Index(l.targets, t)+1:] {
		if within.loop != nil {
			within.pending = union(within.pending, []*target{t})
			l.emit(program.Break{At: program.At{Pos: pos}, Of: within.loop})
			return flow{}
		}
	}
	return flow{pending: []*target{t}}
}

// within runs f inside a target that is no loop, and ends it.
func (l *lowerer) within(t *target, f func() flow) flow {
	l.targets = append(l.targets, t)
	var g flow
	stmts := l.block(func() { g = f() })
	l.targets = l.targets[:len(l.targets)-1]
	if t.flag != nil && l.flags[t.flag] {
		l.emit(program.Assign{At: program.At{Pos: t.flag.Pos}, To: t.flag, Value: program.Truth(false)})
	}
	l.out = append(l.out, stmts...)
	for i, known := range t.left {
		if i > 0 || g.falls {
			known = meet(known, l.constants)
		}
		l.constants = known
	}
	return flow{falls: g.falls || slices.Contains(g.pending, t), pending: without(g.pending, t)}
}

// stmt reads a statement. One that is refused is taken for empty: the function is
// lost, but not the other refusals.
func (l *lowerer) stmt(s ast.Stmt) (f flow) {
	frame, targets, out, constants := l.frame, l.targets, l.out, l.constants
	reads, writes := l.reads, l.writes
	if !l.try(func() { f = l.statement(s, "") }) {
		l.frame, l.targets, l.out, l.constants = frame, targets, out, constants
		f = flow{falls: true}
	}
	l.reads, l.writes = reads, writes
	return f
}

// statement reads s, which has a label or "".
func (l *lowerer) statement(s ast.Stmt, label string) flow {
	l.begin()
	switch s := s.(type) {
	case *ast.BlockStmt:
		return l.list(s.List)
	case *ast.EmptyStmt:
		return flow{falls: true}
	case *ast.LabeledStmt:
		return l.statement(s.Stmt, s.Label.Name)
	case *ast.IfStmt:
		return l.ifStmt(s)
	case *ast.ForStmt:
		return l.forStmt(s, label)
	case *ast.RangeStmt:
		return l.rangeStmt(s, label)
	case *ast.SwitchStmt:
		return l.switchStmt(s, label)
	case *ast.BranchStmt:
		return l.branch(s)
	case *ast.ReturnStmt:
		return l.returnStmt(s)
	case *ast.AssignStmt:
		l.assignStmt(s)
	case *ast.IncDecStmt:
		op := program.Add
		if s.Tok == token.DEC {
			op = program.Sub
		}
		to := l.place(s.X)
		old := l.load(to, s.X)
		one := term{number(1, old.sort), old.sort}
		l.set(to, l.binary(op, old, one, l.typeOf(s.X), s.Pos()), s.Pos())
	case *ast.DeclStmt:
		l.declStmt(s)
	case *ast.ExprStmt:
		return l.exprStmt(s)
	case *ast.GoStmt:
		l.refuse(s.Pos(), "a goroutine", "what runs at once has no order of draws", "call the function")
	case *ast.DeferStmt:
		l.refuse(s.Pos(), "defer", "it runs after the result is known", "call the function where it should run")
	case *ast.SendStmt, *ast.SelectStmt:
		l.refuse(s.Pos(), "a channel", "what arrives is not the function's own doing", "use a slice, or an iter.Seq")
	case *ast.TypeSwitchStmt:
		l.refuse(s.Pos(), "a type switch", "interfaces are outside the subset", "write a function for each type")
	default:
		l.refuse(s.Pos(), "this statement", "it is outside the subset", "")
	}
	l.settle(s.Pos())
	return flow{falls: true}
}

// begin forgets what the statement before read.
func (l *lowerer) begin() {
	l.reads, l.writes = map[*program.Variable]token.Pos{}, map[*program.Variable]token.Pos{}
}

// settle refuses a statement that reads what a function changes that it calls: Go
// leaves open which is first (the specification's "Order of evaluation").
func (l *lowerer) settle(pos token.Pos) {
	for v := range l.reads {
		if _, both := l.writes[v]; both {
			l.refuse(pos, "reading "+v.Name+" beside a call that changes it", "Go does not say which comes first", "call the function in a statement before")
		}
	}
	l.begin()
}

func (l *lowerer) exprStmt(s *ast.ExprStmt) flow {
	call, ok := ast.Unparen(s.X).(*ast.CallExpr)
	if !ok {
		l.refuse(s.Pos(), "this expression", "it is outside the subset", "")
	}
	if l.isBuiltin(call.Fun, "panic") {
		return l.panicStmt(call)
	}
	if l.isBuiltin(call.Fun, "copy") {
		l.copyStmt(call)
		return flow{falls: true}
	}
	for _, v := range l.call(call) {
		l.discard(v, s.Pos())
	}
	l.settle(s.Pos())
	return flow{falls: true}
}

func (l *lowerer) panicStmt(call *ast.CallExpr) flow {
	l.refuse(call.Pos(), "panic", "whether the function panics may show private data", "let a guard at its beginning panic where public inputs are wrong, or say what must hold with //dp:requires")
	return flow{}
}

// guard recognises if cond { panic(constant) } at the beginning, where public inputs
// decide.
func (l *lowerer) guard(s *ast.IfStmt, cond program.Expression) bool {
	if len(s.Body.List) != 1 || s.Else != nil || l.frame.exit != nil || draws(l.out) {
		return false
	}
	x, ok := s.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(x.X).(*ast.CallExpr)
	if !ok || !l.isBuiltin(call.Fun, "panic") || l.frame.in.info.Types[call.Args[0]].Value == nil || len(l.targets) > 0 {
		return false
	}
	public := true
	program.Walk(cond, func(x program.Expression) {
		switch x := x.(type) {
		case program.Ref:
			public = public && x.Var.Input && !l.private[x.Var]
		case program.Element:
			public = public && x.Slice.Input && !l.private[x.Slice]
		case program.Length:
			public = public && x.Slice.Input && !l.bagged[x.Slice]
		}
	})
	written := map[*program.Variable]bool{}
	assigned(l.out, written)
	if !public || mentions(cond, written) {
		return false
	}
	at := program.At{Pos: s.Pos()}
	l.emit(program.If{At: at, Cond: cond, Then: []program.Statement{program.Return{At: at, Values: l.panicValues(), Panic: true}}})
	return true
}

func (l *lowerer) ifStmt(s *ast.IfStmt) flow {
	if s.Init != nil {
		l.simple(s.Init)
	}
	cond := ast.Unparen(s.Cond)
	if rest, ok := l.stopped(cond, s); ok {
		if rest == nil {
			return flow{falls: true}
		}
		cond = rest
	}
	c := l.condition(cond)
	l.settle(s.Pos())
	if l.guard(s, c) {
		return flow{falls: true}
	}
	otherwise := func() flow {
		if s.Else == nil {
			return flow{falls: true}
		}
		return l.stmt(s.Else)
	}
	return l.choose(s.Pos(), c, func() flow { return l.list(s.Body.List) }, otherwise)
}

// simple reads an init or post statement.
func (l *lowerer) simple(s ast.Stmt) {
	if f := l.statement(s, ""); !f.falls || len(f.pending) > 0 {
		l.refuse(s.Pos(), "this statement", "it is outside the subset", "")
	}
}

// choose emits an If, or the branch that is known to run.
func (l *lowerer) choose(pos token.Pos, c program.Expression, then, otherwise func() flow) flow {
	if t, known := c.(program.Truth); known {
		if t {
			return then()
		}
		return otherwise()
	}
	var a, b flow
	first, known1 := l.fork(func() { a = then() })
	second, known2 := l.fork(func() { b = otherwise() })
	f := flow{falls: a.falls || b.falls, pending: union(a.pending, b.pending)}
	switch {
	case !b.falls:
		l.constants = known1
	case !a.falls:
		l.constants = known2
	default:
		l.constants = meet(known1, known2)
	}
	switch {
	case a.falls && !b.falls && len(a.pending) == 0:
		f.into = 1
	case b.falls && !a.falls && len(b.pending) == 0:
		f.into = 2
	}
	l.emit(program.If{At: program.At{Pos: pos}, Cond: c, Then: first, Else: second})
	return f
}

func (l *lowerer) branch(s *ast.BranchStmt) flow {
	label := ""
	if s.Label != nil {
		label = s.Label.Name
	}
	for _, t := range slices.Backward(l.targets) {
		if t == l.frame.exit {
			break
		}
		if label != "" && t.label != label {
			continue
		}
		switch s.Tok {
		case token.BREAK:
			if label == "" && !t.breaks {
				continue
			}
			if t.loop != nil {
				l.emit(program.Break{At: program.At{Pos: s.Pos()}, Of: t.loop})
				return flow{}
			}
			return l.leave(t, s.Pos())
		case token.CONTINUE:
			if t.loop != nil {
				l.emit(program.Continue{At: program.At{Pos: s.Pos()}, Of: t.loop})
				return flow{}
			}
		}
	}
	hint := "write a loop, or if and else"
	l.refuse(s.Pos(), s.Tok.String(), "it is outside the subset", hint)
	return flow{}
}

// switchStmt is a chain of ifs; default comes last wherever it stands.
func (l *lowerer) switchStmt(s *ast.SwitchStmt, label string) flow {
	if s.Init != nil {
		l.simple(s.Init)
	}
	var tag *term
	var tagType types.Type
	if s.Tag != nil {
		t := l.scalar(s.Tag)
		tagType = l.typeOf(s.Tag)
		if !isConstant(t.x) {
			// The cases are compared with what the tag was at first.
			v := l.variable(l.frame.prefix+"tag", t.sort, s.Tag.Pos())
			l.depth[v] = temporary
			l.emit(program.Assign{At: program.At{Pos: s.Tag.Pos()}, To: v, Value: t.x})
			t.x = program.Ref{Var: v}
		}
		tag = &t
		l.settle(s.Pos())
	}
	var cases []*ast.CaseClause
	var last *ast.CaseClause
	for _, c := range s.Body.List {
		clause, ok := c.(*ast.CaseClause)
		if !ok {
			continue
		}
		if n := len(clause.Body); n > 0 {
			if b, ok := clause.Body[n-1].(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
				l.refuse(b.Pos(), "fallthrough", "it is outside the subset", "list both values in one case")
			}
		}
		if clause.List == nil {
			last = clause
		} else {
			cases = append(cases, clause)
		}
	}
	t := &target{label: label, breaks: true}
	return l.within(t, func() flow { return l.cases(tag, tagType, cases, last) })
}

func (l *lowerer) cases(tag *term, tagType types.Type, cases []*ast.CaseClause, last *ast.CaseClause) flow {
	if len(cases) == 0 {
		if last == nil {
			return flow{falls: true}
		}
		return l.list(last.Body)
	}
	c := cases[0]
	l.begin()
	is := l.either(c.List, func(e ast.Expr) program.Expression {
		if tag == nil {
			return l.condition(e)
		}
		return l.compare(program.Eq, *tag, l.scalar(e), tagType, e.Pos())
	})
	l.settle(c.Pos())
	return l.choose(c.Pos(), is,
		func() flow { return l.list(c.Body) },
		func() flow { return l.cases(tag, tagType, cases[1:], last) })
}

// either is the disjunction, in Go's order.
func (l *lowerer) either(list []ast.Expr, is func(ast.Expr) program.Expression) program.Expression {
	x := is(list[0])
	if len(list) == 1 {
		return x
	}
	return l.shortCircuit(program.Or, x, func() program.Expression { return l.either(list[1:], is) }, list[0].Pos())
}

func (l *lowerer) declStmt(s *ast.DeclStmt) {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR {
		return // constants are folded, types are known
	}
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if len(v.Values) > 0 {
			l.define(v.Names, v.Values, true, s)
			l.settle(s.Pos())
			continue
		}
		for _, name := range v.Names {
			obj := l.frame.in.info.Defs[name]
			if obj == nil || name.Name == "_" {
				continue
			}
			e := l.local(l.frame.prefix+name.Name, obj.Type(), name.Pos())
			l.frame.env[obj] = e
			l.zero(e, name.Pos())
		}
	}
}

// returnStmt ends the function, or the one that is called.
func (l *lowerer) returnStmt(s *ast.ReturnStmt) flow {
	if l.frame.exit == nil && len(s.Results) == 1 {
		switch x := ast.Unparen(s.Results[0]).(type) {
		case *ast.FuncLit:
			return l.sequence(x)
		case *ast.CallExpr:
			if isSequence(l.typeOf(x)) {
				l.tail = true // the function ends as the one that it calls
				defer func() { l.tail = false }()
				l.call(x)
				return flow{}
			}
		}
	}
	values := l.results(s)
	l.settle(s.Pos())
	if l.frame.exit != nil {
		values = l.keepResults(values, s.Pos())
		for i, v := range values {
			switch v.(type) {
			case pointer, *record:
				if l.frame.once {
					l.frame.results[i] = l.bind(l.frame.results[i], v, s.Pos())
					continue
				}
			}
			l.set(l.frame.results[i], v, s.Pos())
		}
		return l.leave(l.frame.exit, s.Pos())
	}
	var given []types.Type
	for _, x := range s.Results {
		if several, ok := l.typeOf(x).(*types.Tuple); ok {
			for v := range several.Variables() {
				given = append(given, v.Type())
			}
			continue
		}
		given = append(given, l.typeOf(x))
	}
	for i, t := range given {
		if isError(l.frame.types.At(i).Type()) && !types.IsInterface(t) && !types.Identical(t, types.Typ[types.UntypedNil]) {
			l.refuse(s.Pos(), "an error of type "+typeName(t), "of which type it is would be shown with it", "return one of errors.New, or of fmt.Errorf")
		}
	}
	shown := l.show(values, s.Pos(), &l.returned)
	if texts := told(nil, l.frame.types); len(texts) == len(shown) {
		l.fn.Told = texts
	}
	l.emit(program.Return{At: program.At{Pos: s.Pos()}, Values: shown})
	return flow{}
}

// keepResults copies values that setting the named results before them changes:
// return b, a of (a, b int).
func (l *lowerer) keepResults(values []entity, pos token.Pos) []entity {
	values = slices.Clone(values)
	changed := map[*program.Variable]bool{}
	for i, v := range values {
		switch v := v.(type) {
		case term:
			values[i] = term{l.keep(v.x, v.sort, changed, pos), v.sort}
		case slice, *record, rows:
			if slices.ContainsFunc(variablesOf(v), func(v *program.Variable) bool { return changed[v] }) {
				l.refuse(pos, "results that change places", "they might share elements", "return other variables")
			}
		}
		for _, v := range variablesOf(l.frame.results[i]) {
			changed[v] = true
		}
	}
	return values
}

// variablesOf are those that a place, or a value of several, is made of.
func variablesOf(e entity) (vs []*program.Variable) {
	switch e := e.(type) {
	case scalar:
		return []*program.Variable{e.v}
	case slice:
		return []*program.Variable{e.v}
	case element:
		return []*program.Variable{e.of}
	case rows:
		return e.all()
	case *record:
		for i := range e.fields {
			vs = append(vs, variablesOf(e.field(i))...)
		}
	}
	return vs
}

// results evaluates what a return gives.
func (l *lowerer) results(s *ast.ReturnStmt) (values []entity) {
	switch {
	case len(s.Results) == 0:
		for _, v := range l.frame.named {
			e, ok := l.find(v)
			if !ok {
				l.refuse(s.Pos(), "this return", "its results are outside the subset", "")
			}
			values = append(values, l.value(e))
		}
	case len(s.Results) == 1 && l.frame.types.Len() > 1:
		call, ok := ast.Unparen(s.Results[0]).(*ast.CallExpr)
		if !ok {
			l.refuse(s.Pos(), "this return", "it is outside the subset", "")
		}
		values = l.call(call)
	default:
		for _, e := range s.Results {
			values = append(values, l.eval(e))
		}
	}
	if len(values) != l.frame.types.Len() {
		l.refuse(s.Pos(), "this return", "it is outside the subset", "")
	}
	for i, v := range values {
		switch v.(type) {
		case null, drawError:
			t := l.frame.types.At(i).Type()
			if isError(t) {
				values[i] = term{number(0, program.Int), program.Int}
			} else if _, ok := t.Underlying().(*types.Slice); ok && l.frame.exit == nil {
				none := l.local("none", t, s.Pos())
				l.zero(none, s.Pos())
				values[i] = none
			}
		}
	}
	return values
}

// told says of each scalar and slice of results of a type whether it is of strings.
func told(to []bool, t types.Type) []bool {
	switch t := t.Underlying().(type) {
	case *types.Tuple:
		for v := range t.Variables() {
			to = told(to, v.Type())
		}
		return to
	case *types.Struct:
		for f := range t.Fields() {
			to = told(to, f.Type())
		}
		return to
	case *types.Slice:
		return told(to, t.Elem())
	case *types.Pointer:
		return told(to, t.Elem())
	}
	return append(to, isString(t))
}

// flatten adds the scalars and slices of a value that is shown.
func (l *lowerer) flatten(to []program.Expression, e entity, pos token.Pos) []program.Expression {
	switch e := e.(type) {
	case term:
		l.kinds = append(l.kinds, kind{})
		return append(to, e.x)
	case infinite:
		l.kinds = append(l.kinds, e.kind)
		return append(to, e.is, e.x.x) // x is 0 where it is infinite
	case scalar, extended:
		return l.flatten(to, l.value(e), pos)
	case slice:
		l.kinds = append(l.kinds, kind{})
		return append(to, program.Ref{Var: e.v})
	case rows:
		for _, v := range e.all() {
			l.kinds = append(l.kinds, kind{})
			to = append(to, program.Ref{Var: v})
		}
		return to
	case pointer:
		return l.flatten(to, e.to, pos)
	case *record:
		for i := range e.fields {
			to = l.flatten(to, l.value(e.field(i)), pos)
		}
		return to
	}
	l.refuse(pos, "returning "+e.what(), "what it shows is outside the subset", "return numbers, truths, slices and structs of them")
	return nil
}

// sequence is a function that returns an iter.Seq: what it yields is shown. The
// claim is of one pass, so that nothing may be drawn before it.
func (l *lowerer) sequence(lit *ast.FuncLit) flow {
	if draws(l.out) {
		l.refuse(lit.Pos(), "a sequence whose noise is drawn before it begins", "each pass would show the same noise", "draw within the sequence")
	}
	l.sequenced = true
	outer := l.frame
	l.frame = &frame{in: outer.in, file: outer.file, name: outer.name, prefix: outer.prefix, depth: outer.depth, env: map[types.Object]entity{}, outer: outer, caller: outer, stream: true, types: types.NewTuple()}
	defer func() { l.frame = outer }()
	if sig, ok := l.typeOf(lit).Underlying().(*types.Signature); ok && sig.Params().Len() == 1 && sig.Results().Len() == 0 {
		for _, f := range lit.Type.Params.List {
			for _, name := range f.Names {
				if !isYield(name.Name, l.frame.in.info.Defs[name].Type()) {
					l.refuse(lit.Pos(), "returning a function", "what it shows is outside the subset", "return an iter.Seq: func(yield func(T) bool)")
				}
				l.frame.env[l.frame.in.info.Defs[name]] = consumer{}
			}
		}
	} else {
		l.refuse(lit.Pos(), "returning a function", "what it shows is outside the subset", "return an iter.Seq: func(yield func(T) bool)")
	}
	f := l.list(lit.Body.List)
	if f.falls {
		l.emit(program.Return{At: program.At{Pos: lit.Body.Rbrace}})
	}
	return flow{}
}

// draws reports whether the statements draw or show anything.
func draws(stmts []program.Statement) (found bool) {
	program.Each(stmts, func(s program.Statement) {
		switch s.(type) {
		case program.Draw, program.Output:
			found = true
		}
	})
	return found
}
