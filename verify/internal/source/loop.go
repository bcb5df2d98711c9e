package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"math/big"
	"strconv"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// maxNested is how many loops may be in each other: what holds at the head of one is found by
// trying out those within it.
const maxNested = 8

// loop emits a loop of which fill makes the body, post and condition.
func (l *lowerer) loop(s ast.Stmt, label string, fill func(*program.Loop, *target) (cond program.Expression)) flow {
	nested := 0
	for _, t := range l.targets {
		if t.loop != nil {
			nested++
		}
	}
	if nested == maxNested {
		l.refuse(s.Pos(), "a loop this deep", "it is within eight others", "give the inner ones a function and a claim of their own")
	}
	name := "loop at line " + strconv.Itoa(l.fset.Position(s.Pos()).Line)
	loop := &program.Loop{At: program.At{Pos: s.Pos()}, Name: l.unique(name)}
	t := &target{loop: loop, label: label, breaks: true}
	l.targets = append(l.targets, t)
	// What is known before the loop need not hold in its second round, or after it.
	l.constants = map[*program.Variable]*big.Rat{}
	loop.Cond = fill(loop, t)
	l.constants = map[*program.Variable]*big.Rat{}
	l.targets = l.targets[:len(l.targets)-1]
	l.emit(loop)
	endless := loop.Cond == program.Truth(true)
	return flow{falls: !endless || breaks(loop.Body, loop), pending: t.pending}
}

// breaks reports whether any of the statements leaves the loop. (A break on the way
// out of something larger counts as well: it is not wrong to say that a loop falls.)
func breaks(stmts []program.Statement, of *program.Loop) bool {
	for _, s := range stmts {
		switch s := s.(type) {
		case program.Break:
			if s.Of == of {
				return true
			}
		case program.If:
			if breaks(s.Then, of) || breaks(s.Else, of) {
				return true
			}
		case *program.Loop:
			if breaks(s.Body, of) {
				return true
			}
		}
	}
	return false
}

func (l *lowerer) forStmt(s *ast.ForStmt, label string) flow {
	if s.Init != nil {
		l.simple(s.Init)
	}
	return l.loop(s, label, func(loop *program.Loop, t *target) program.Expression {
		l.invariants(s, s.Body, nil, loop)
		var cond program.Expression = program.Truth(true)
		loop.Body = l.block(func() {
			if s.Cond != nil {
				cond = l.condition(s.Cond)
				l.settle(s.Cond.Pos())
				if !onlyFollows(l.out) {
					// The condition does something: it is the loop's first statement.
					l.emit(program.If{At: program.At{Pos: s.Cond.Pos()}, Cond: cond, Else: []program.Statement{program.Break{At: program.At{Pos: s.Cond.Pos()}, Of: loop}}})
					cond = program.Truth(true)
				}
			}
			l.body(s.Body, t)
		})
		if s.Post != nil {
			loop.Post = l.block(func() { l.simple(s.Post) })
		}
		return cond
	})
}

// body is a loop's.
func (l *lowerer) body(b *ast.BlockStmt, t *target) {
	f := l.list(b.List)
	// What is left within the body is left by breaking the loop.
	t.pending = union(t.pending, f.pending)
}

// rangeStmt writes a range out: a counter, and the element first thing.
func (l *lowerer) rangeStmt(s *ast.RangeStmt, label string) flow {
	typ := l.typeOf(s.X)
	var of *program.Variable // the slice, or nil
	var limit program.Expression
	var first program.Expression = number(0, program.Int)
	if _, ok := sortOf(typ); ok && !isError(typ) {
		limit = l.scalar(s.X).x
	} else if part, ok := ast.Unparen(s.X).(*ast.SliceExpr); ok {
		of, first, limit = l.part(part)
	} else {
		v, ok := l.sliceOf(s.X)
		if !ok {
			l.refuse(s.X.Pos(), "ranging over a value of type "+typeName(typ), "it is outside the subset", rangeHint(typ))
		}
		of, limit = v, program.Length{Slice: v}
	}
	l.settle(s.X.Pos())
	if s.Value != nil && of == nil || s.Key != nil && of != nil && of.Stream && s.Value != nil {
		l.refuse(s.Pos(), "this range", "it is outside the subset", "")
	}
	key, value := s.Key, s.Value
	if of != nil && of.Stream {
		key, value = nil, s.Key // a sequence has no index
		if l.streams[of] {
			l.refuse(s.X.Pos(), "ranging over "+of.Name+" again", "a sequence is read once", "take a slice")
		}
		l.streams[of] = true
		for _, t := range l.targets {
			if t.loop != nil {
				l.refuse(s.X.Pos(), "ranging over "+of.Name+" in a loop", "a sequence is read once", "take a slice")
			}
		}
	}
	if key != nil && value != nil && s.Tok == token.ASSIGN && identOf(value) == nil {
		l.refuse(value.Pos(), "this variable of a range", "what it is may depend on the other", "take variables of the range: for i, x := range")
	}
	at := program.At{Pos: s.Pos()}
	name := "i"
	if id := identOf(key); id != nil && id.Name != "_" {
		name = id.Name
	}
	counter := l.variable(l.frame.prefix+name, program.Int, s.Pos())
	counter.Natural = true
	l.emit(program.Assign{At: at, To: counter, Value: first})
	before := len(l.out)
	f := l.loop(s, label, func(loop *program.Loop, t *target) program.Expression {
		index := program.Ref{Var: counter}
		i := term{index, program.Int}
		whole := isZero(first)
		if !whole {
			i.x = program.Binary{Op: program.Sub, X: index, Y: first}
		}
		shared := false
		if id := identOf(key); s.Tok == token.DEFINE && id != nil && id.Name != "_" && whole {
			// The body sees the counter itself if it does not change it.
			if obj := l.frame.in.info.Defs[id]; obj != nil && !l.assigns(s.Body, obj) {
				l.frame.env[obj] = scalar{counter}
				shared = true
			}
		}
		l.invariants(s, s.Body, value, loop)
		loop.Body = l.block(func() {
			if key != nil && !shared {
				l.begin()
				l.setTo(key, i, s.Tok == token.DEFINE, s)
				l.settle(s.Pos())
			}
			if !l.key(value, s, element{of, index}) && value != nil {
				l.begin()
				l.setTo(value, term{program.Element{Slice: of, Index: index}, of.Sort}, s.Tok == token.DEFINE, s)
				l.settle(s.Pos())
			}
			l.body(s.Body, t)
		})
		loop.Post = []program.Statement{program.Assign{At: at, To: counter, Value: program.Binary{Op: program.Add, X: index, Y: number(1, program.Int)}}}
		return program.Binary{Op: program.Lt, X: index, Y: limit}
	})
	// Go evaluates the limit once.
	loop := l.out[len(l.out)-1].(*program.Loop)
	changed := map[*program.Variable]bool{}
	assigned(loop.Body, changed)
	if of != nil && changed[of] && value != nil && (l.arrays[of] > 0 || !elementsKept(loop.Body, of)) {
		l.refuse(s.Pos(), "changing "+of.Name+" while ranging over it", "the range goes on with what it was", "range over its length")
	}
	if mentions(limit, changed) {
		n := l.variable(l.frame.prefix+"n", program.Int, s.Pos())
		loop.Cond = program.Binary{Op: program.Lt, X: program.Ref{Var: counter}, Y: program.Ref{Var: n}}
		l.out = append(l.out[:before:before], program.Assign{At: at, To: n, Value: limit}, loop)
	}
	return f
}

// key notes that a variable of a range is an element of a slice of the input, at which
// maps are read. It reports whether it is that alone: a string.
func (l *lowerer) key(value ast.Expr, s *ast.RangeStmt, e element) bool {
	id := identOf(value)
	if id == nil || e.of == nil {
		return false
	}
	obj := l.frame.in.info.Defs[id]
	if obj != nil && s.Tok == token.DEFINE && e.of.Input && !e.of.Stream && !l.assigns(s.Body, obj) {
		l.keys[obj] = e
		if l.texts[e.of] {
			l.frame.env[obj] = text{}
			return true
		}
	}
	if l.texts[e.of] && id.Name != "_" {
		l.refuse(id.Pos(), "a variable for strings that is set", "what those of the input are is not known", "range over the keys: for _, k := range keys")
	}
	return false
}

func rangeHint(t types.Type) string {
	switch t.Underlying().(type) {
	case *types.Map:
		return "range over a slice of the keys, which are public"
	case *types.Chan:
		return "take an iter.Seq"
	case *types.Array:
		return "use a slice"
	}
	return "range over a slice, an integer, or an iter.Seq of numbers"
}

func identOf(e ast.Expr) *ast.Ident {
	if e == nil {
		return nil
	}
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

// assigned adds the variables that the statements change.
func assigned(stmts []program.Statement, to map[*program.Variable]bool) {
	program.Each(stmts, func(s program.Statement) {
		if v := program.Written(s); v != nil {
			to[v] = true
		}
	})
}

// elementsKept reports whether a slice is only stored to: a range sees that.
func elementsKept(stmts []program.Statement, v *program.Variable) bool {
	for _, s := range stmts {
		kept := true
		switch s := s.(type) {
		case program.Assign:
			kept = s.To != v
		case program.Make:
			kept = s.To != v
		case program.Append:
			kept = s.To != v
		case program.If:
			kept = elementsKept(s.Then, v) && elementsKept(s.Else, v)
		case *program.Loop:
			kept = elementsKept(s.Body, v) && elementsKept(s.Post, v)
		}
		if !kept {
			return false
		}
	}
	return true
}

// mentions reports whether an expression reads any of the variables.
func mentions(x program.Expression, any map[*program.Variable]bool) bool {
	found := false
	program.Variables(x, func(v *program.Variable) { found = found || any[v] })
	return found
}

// assigns reports whether the body may change a Go variable: it is assigned to, or
// its address is taken.
func (l *lowerer) assigns(body ast.Node, obj types.Object) bool {
	is := func(e ast.Expr) bool {
		id := identOf(e)
		return id != nil && l.frame.in.info.Uses[id] == obj
	}
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				found = found || is(e)
			}
		case *ast.IncDecStmt:
			found = found || is(n.X)
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && is(n.X)
		case *ast.RangeStmt:
			found = found || is(n.Key) || is(n.Value)
		}
		return !found
	})
	return found
}
