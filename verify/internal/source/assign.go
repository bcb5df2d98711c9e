package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

func (l *lowerer) assignStmt(s *ast.AssignStmt) {
	switch {
	case s.Tok != token.ASSIGN && s.Tok != token.DEFINE:
		op, ok := operators[s.Tok]
		if !ok {
			l.refuse(s.TokPos, "the operator "+s.Tok.String(), "arithmetic on bits is outside the subset", "use + - * / %")
		}
		to := l.place(s.Lhs[0])
		old := l.load(to, s.Lhs[0])
		l.set(to, l.binary(op, old, l.scalar(s.Rhs[0]), l.typeOf(s.Lhs[0]), s.TokPos), s.Pos())
	case s.Tok == token.DEFINE:
		var names []*ast.Ident
		for _, e := range s.Lhs {
			names = append(names, identOf(e))
		}
		l.define(names, s.Rhs, false, s)
	case len(s.Lhs) == 1:
		l.assignOne(s)
	case len(s.Rhs) == 1:
		var to []entity
		for _, e := range s.Lhs {
			to = append(to, l.target(e))
		}
		values := l.many(s.Rhs[0], len(to), s)
		l.keepIndices(to, s.Pos())
		for i, v := range values {
			l.set(to[i], v, s.Pos())
		}
	case len(s.Rhs) != len(s.Lhs):
		l.refuse(s.Pos(), "this assignment", "it does not compile", "")
	default:
		l.parallel(s)
	}
}

// target is the place of an expression that is assigned to; nil for _.
func (l *lowerer) target(e ast.Expr) entity {
	if id := identOf(e); id != nil && id.Name == "_" {
		return nil
	}
	saved := l.reads
	l.reads = map[*program.Variable]token.Pos{} // a variable that is set is not read
	to := l.place(e)
	_, isElement := to.(element)
	if r, ok := to.(*record); isElement || ok && r.moves {
		for v, at := range l.reads {
			saved[v] = at
		}
	}
	l.reads = saved
	return to
}

// many evaluates a call with several results.
func (l *lowerer) many(e ast.Expr, n int, s ast.Stmt) []entity {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		l.refuse(e.Pos(), "this assignment", "it is outside the subset", "assign values one by one")
	}
	l.drawn = s
	values := l.call(call)
	if len(values) != n {
		l.refuse(e.Pos(), "this call", "it is outside the subset", "")
	}
	return values
}

// assignOne is x = e.
func (l *lowerer) assignOne(s *ast.AssignStmt) {
	to := l.target(s.Lhs[0])
	if v, ok := to.(scalar); ok {
		if call, law, ok := l.drawIn(s.Rhs[0]); ok {
			l.draw(call, law, func(program.Sort) *program.Variable { return v.v }, s)
			return
		}
	}
	if l.appendTo(to, s.Rhs[0]) {
		return
	}
	l.set(to, l.evalFor(s.Rhs[0], s), s.Pos())
}

// evalFor evaluates the right side of statement s, which may have a directive.
func (l *lowerer) evalFor(e ast.Expr, s ast.Stmt) entity {
	l.drawn = s
	return l.eval(e)
}

// define declares names; those of := may exist already.
func (l *lowerer) define(names []*ast.Ident, values []ast.Expr, isVar bool, s ast.Stmt) {
	info := l.frame.in.info
	// slot is the place of a name, which is made after the values are known.
	slot := func(name *ast.Ident) (to entity, fresh types.Object) {
		if name == nil || name.Name == "_" {
			return nil, nil
		}
		if obj := info.Defs[name]; obj != nil {
			return nil, obj
		}
		return l.object(name), nil
	}
	if len(values) != 1 && len(values) != len(names) {
		l.refuse(s.Pos(), "this assignment", "it does not compile", "")
	}
	if len(names) == 1 && len(values) == 1 {
		to, fresh := slot(names[0])
		_, plain := to.(scalar)
		if call, law, ok := l.drawIn(values[0]); ok && (fresh != nil || plain) {
			l.draw(call, law, func(sort program.Sort) *program.Variable {
				if v, ok := to.(scalar); ok {
					return v.v
				}
				v := l.variable(l.frame.prefix+names[0].Name, sort, names[0].Pos())
				l.frame.env[fresh] = scalar{v}
				return v
			}, s)
			return
		}
		if l.appendTo(to, values[0]) {
			return
		}
	}
	if l.defineDraws(names, values, s) {
		return
	}
	var got []entity
	if len(values) == 1 && len(names) > 1 {
		got = l.many(values[0], len(names), s)
	} else {
		for _, e := range values {
			got = append(got, l.evalFor(e, s))
		}
		if len(got) > 1 {
			var to []entity
			for _, name := range names {
				place, _ := slot(name)
				to = append(to, place)
			}
			got = l.snapshot(to, got, s.Pos())
		}
	}
	for i, name := range names {
		to, fresh := slot(name)
		switch {
		case fresh != nil:
			if len(values) == len(names) {
				got[i] = l.sentinel(fresh, got[i])
			}
			l.frame.env[fresh] = l.declare(l.frame.prefix+name.Name, fresh.Type(), got[i], name.Pos())
		default:
			l.set(to, got[i], s.Pos())
		}
	}
}

// defineDraws is a, b := src.Laplace(x), src.Laplace(y) of new names: a draw for each, in
// their order.
func (l *lowerer) defineDraws(names []*ast.Ident, values []ast.Expr, s ast.Stmt) bool {
	if len(names) < 2 || len(names) != len(values) {
		return false
	}
	info := l.frame.in.info
	for i, name := range names {
		if _, _, ok := l.drawIn(values[i]); !ok || name == nil || name.Name == "_" || info.Defs[name] == nil {
			return false
		}
	}
	made := make([]entity, len(names))
	for i, name := range names {
		call, law, _ := l.drawIn(values[i])
		l.draw(call, law, func(sort program.Sort) *program.Variable {
			v := l.variable(l.frame.prefix+name.Name, sort, name.Pos())
			made[i] = scalar{v}
			return v
		}, s)
	}
	for i, name := range names { // in scope after the statement
		l.frame.env[info.Defs[name]] = made[i]
	}
	return true
}

// declare makes a variable with its first value.
func (l *lowerer) declare(name string, t types.Type, v entity, pos token.Pos) entity {
	if s, ok := v.(slice); ok && l.temporaries[s.v] {
		// A slice that was just made gets its name.
		delete(l.temporaries, s.v)
		s.v.Name, s.v.Pos = l.unique(name), pos
		return s
	}
	if r, ok := v.(rows); ok && l.adopt(r, name, pos) {
		return r
	}
	return l.bind(l.local(name, t, pos), v, pos)
}

// bind sets a new variable, or is the value itself, where that is known while
// reading: functions, pointers, sources of noise.
func (l *lowerer) bind(to, v entity, pos token.Pos) entity {
	switch v := v.(type) {
	case text:
		return v
	case closure, pointer, source, *sampler, consumer, null:
		_, plain := to.(scalar)
		_, isSlice := to.(slice) // x := []int(nil)
		if _, isNil := v.(null); !plain && !(isSlice && isNil) {
			return v
		}
	case *record:
		if r, ok := to.(*record); ok && len(v.fields) == len(r.fields) {
			for i := range r.fields {
				r.fields[i] = l.bind(r.field(i), l.value(v.field(i)), pos)
			}
			return r
		}
	case infinite:
		if s, ok := to.(scalar); ok && s.v.Sort == v.x.sort {
			return l.extend(s.v, v, pos)
		}
	}
	l.set(to, v, pos)
	return to
}

// parallel is a, b = b, a: all values are evaluated first.
func (l *lowerer) parallel(s *ast.AssignStmt) {
	var to, values []entity
	for _, e := range s.Lhs {
		to = append(to, l.target(e))
	}
	for _, e := range s.Rhs {
		values = append(values, l.evalFor(e, s))
	}
	values = l.snapshot(to, values, s.Pos())
	for i, v := range values {
		l.set(to[i], v, s.Pos())
	}
}

// snapshot copies values, and indices of places, that assignments to places before
// them change.
func (l *lowerer) snapshot(to, values []entity, pos token.Pos) []entity {
	values = slices.Clone(values)
	changed := map[*program.Variable]bool{}
	for i, v := range values {
		switch v := v.(type) {
		case term:
			values[i] = term{l.keep(v.x, v.sort, changed, pos), v.sort}
		case infinite:
			values[i] = infinite{l.keep(v.is, program.Bool, changed, pos), v.kind, term{l.keep(v.x.x, v.x.sort, changed, pos), v.x.sort}}
		case slice, *record, rows:
			l.refuse(pos, "slices or structs assigned side by side", "they might share elements", "assign them one by one")
		}
		l.change(to, i, changed, pos)
	}
	return values
}

// keepIndices copies indices of places that assignments to places before them change.
func (l *lowerer) keepIndices(to []entity, pos token.Pos) {
	changed := map[*program.Variable]bool{}
	for i := range to {
		l.change(to, i, changed, pos)
	}
}

// keep copies a value that was changed since.
func (l *lowerer) keep(x program.Expression, sort program.Sort, changed map[*program.Variable]bool, pos token.Pos) program.Expression {
	if !mentions(x, changed) {
		return x
	}
	c := l.variable(l.frame.prefix+"old", sort, pos)
	l.depth[c] = temporary
	l.emit(program.Assign{At: program.At{Pos: pos}, To: c, Value: x})
	return program.Ref{Var: c}
}

// change notes what an assignment to a place changes, with the index as it was.
func (l *lowerer) change(to []entity, i int, changed map[*program.Variable]bool, pos token.Pos) {
	switch t := to[i].(type) {
	case scalar:
		changed[t.v] = true
	case extended:
		changed[t.v], changed[t.is] = true, true
	case element:
		t.index = l.keep(t.index, program.Int, changed, pos)
		to[i] = t
		changed[t.of] = true
	case *record:
		for j := range t.fields {
			t.field(j)
			l.change(t.fields, j, changed, pos)
		}
	}
}

// set assigns a value to a place.
func (l *lowerer) set(to, v entity, pos token.Pos) {
	at := program.At{Pos: pos}
	switch to := to.(type) {
	case nil:
		if isErrorOfDraw(v) {
			l.refuse(pos, "a draw whose error is not looked at", "where it fails there is no noise", "write if err != nil { return ... }")
		}
		l.discard(v, pos)
		return
	case scalar:
		switch v := v.(type) {
		case term:
			l.checkWritable(to.v, pos)
			l.emit(program.Assign{At: at, To: to.v, Value: v.x})
			return
		case drawError:
			l.emit(program.Assign{At: at, To: to.v, Value: number(0, program.Int)})
			return
		case null:
			if l.isError[to.v] {
				l.emit(program.Assign{At: at, To: to.v, Value: number(0, program.Int)})
				return
			}
		}
	case extended:
		if l.setExtended(to, v, pos) {
			return
		}
	case element:
		if v, ok := v.(term); ok {
			l.checkStore(to.of, pos)
			l.emit(program.Store{At: at, To: to.of, Index: to.index, Value: v.x})
			return
		}
	case slice:
		l.checkWritable(to.v, pos)
		switch v := v.(type) {
		case slice:
			if v.v.Stream {
				l.refuse(pos, "keeping a sequence", "it is read once", "range over it")
			}
			l.checkTexts(v.v, pos)
			if v.v != to.v {
				if l.arrays[to.v] > 0 {
					l.copies[copied{to.v, pos}] = copiedByMake
				}
				l.emit(program.Assign{At: at, To: to.v, Value: program.Ref{Var: v.v}})
			}
			return
		case null:
			l.emit(program.Make{At: at, To: to.v, Length: number(0, program.Int)})
			return
		}
	case rows:
		switch v := v.(type) {
		case rows:
			if v.columns != to.columns {
				l.copyRows(to, v, pos)
			}
			return
		case null:
			l.makeRows(to, number(0, program.Int), pos)
			return
		}
	case *record:
		if v, ok := v.(*record); ok && len(v.fields) == len(to.fields) {
			for i := range to.fields {
				if to.field(i) != v.field(i) {
					l.set(to.field(i), l.value(v.field(i)), pos)
				}
			}
			return
		}
	case text:
		if _, ok := v.(text); ok {
			return
		}
	case source:
		if _, ok := v.(source); ok {
			return
		}
	}
	if u, ok := v.(unknown); ok {
		if _, both := to.(unknown); both {
			return // refused where it is used
		}
		v = u
	}
	l.refuse(pos, "assigning "+v.what(), "it is outside the subset", "give it a name of its own, with :=")
}

// zero sets a variable to Go's zero value.
func (l *lowerer) zero(e entity, pos token.Pos) {
	at := program.At{Pos: pos}
	switch e := e.(type) {
	case scalar:
		var zero program.Expression = number(0, e.v.Sort)
		if e.v.Sort == program.Bool {
			zero = program.Truth(false)
		}
		l.emit(program.Assign{At: at, To: e.v, Value: zero})
	case slice:
		l.emit(program.Make{At: at, To: e.v, Length: number(l.arrays[e.v], program.Int)})
	case rows:
		l.makeRows(e, number(0, program.Int), pos)
	case *record:
		for i := range e.fields {
			l.zero(e.field(i), pos)
		}
	}
}

// checkWritable refuses to change what the caller sees: fields that other packages
// know. A parameter is a copy, and an unexported field is its package's own.
func (l *lowerer) checkWritable(v *program.Variable, pos token.Pos) {
	if dot := strings.LastIndexByte(v.Name, '.'); v.Input && dot >= 0 && ast.IsExported(v.Name[dot+1:]) {
		l.refuse(pos, "writing into "+v.Name, "whoever has the struct sees it", "take an unexported field, or a variable")
	}
	for _, p := range l.pointers {
		root, _, _ := strings.Cut(p.path, ".")
		if v.Input && strings.HasPrefix(v.Name, p.path+".") && root != l.receiver {
			l.refuse(pos, "writing into "+v.Name, "the caller sees it", "make it a method of what it writes into, or return the new value")
		}
	}
}

// checkTexts refuses to copy strings of the input, of which nothing is known.
func (l *lowerer) checkTexts(v *program.Variable, pos token.Pos) {
	if l.texts[v] {
		l.refuse(pos, "copying strings of the input", "what they are is not known", "range over them, as keys of a map")
	}
}

// checkStore refuses to write into a slice of the caller's.
func (l *lowerer) checkStore(v *program.Variable, pos token.Pos) {
	if v.Input {
		l.refuse(pos, "writing into "+v.Name, "the caller sees it", "copy it first: append([]T(nil), "+v.Name+"...)")
	}
}

// appendTo emits v = append(v, ...), or v = make(...) and other fresh slices,
// without a copy; false if e is something else.
func (l *lowerer) appendTo(to entity, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !l.isBuiltin(call.Fun, "append") || len(call.Args) == 0 {
		return false
	}
	id, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	if !ok {
		return false
	}
	switch s := l.object(id).(type) {
	case slice:
		v := s.v
		if to, ok := to.(slice); !ok || to.v != v {
			return false
		}
		if v.Input {
			l.refuse(e.Pos(), "appending to "+v.Name, "the caller may see it", "copy it first: append([]T(nil), "+v.Name+"...)")
		}
		l.read(v)
		l.appendAll(v, call)
		return true
	case rows:
		if to, ok := to.(rows); !ok || to.columns != s.columns {
			return false
		}
		l.value(s)
		l.appendRows(s, call)
		return true
	}
	return false
}

// setTo sets the key or value of a range.
func (l *lowerer) setTo(e ast.Expr, v entity, define bool, s ast.Stmt) {
	id := identOf(e)
	if id != nil && id.Name == "_" {
		return
	}
	if !define || id == nil {
		l.set(l.target(e), v, s.Pos())
		return
	}
	if obj := l.frame.in.info.Defs[id]; obj != nil {
		l.frame.env[obj] = l.declare(l.frame.prefix+id.Name, obj.Type(), v, id.Pos())
	}
}
