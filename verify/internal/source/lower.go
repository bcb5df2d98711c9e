package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// maxStatements bounds a function with all calls written out.
const maxStatements = 20_000

// A lowerer reads one function with a claim.
type lowerer struct {
	known    bodies
	notes    notes
	fset     *token.FileSet
	fn       *program.Function
	names    map[string]int
	refusals []Refusal
	missing  []string // packages of functions whose bodies are not at hand

	frame *frame
	// result is that of the function with the claim; sequenced is set where it is a
	// sequence that was read.
	result    *types.Tuple
	sequenced bool
	// private are the inputs that have an adjacency, bagged those of which that of a bag.
	private, bagged map[*program.Variable]bool
	// receiver is the name of the receiver, or "". Its unexported fields are left to its
	// package (see the package comment).
	receiver string
	// pointers are those of the input.
	pointers []inputPointer
	// out takes the statements.
	out   []program.Statement
	count int
	// targets are what break, continue and return may leave, the innermost last.
	targets []*target
	// isError marks the variables of type error; constants are what is known of
	// them at this point, which is how the ways out on a failing draw fall away.
	isError   map[*program.Variable]bool
	constants map[*program.Variable]*big.Rat
	errors    map[any]int64
	// depth is how deep in calls a variable is, 0 in the function with the claim.
	depth map[*program.Variable]int
	// flags are hidden variables, and whether they are ever read.
	flags map[*program.Variable]bool
	// ends counts the places where the least or the largest number of a type is read as
	// that number; sentinels is set where it is read as an infinity.
	ends      int
	sentinels bool
	// streams are the sequences that were read; laws counts draws without a name.
	streams map[*program.Variable]bool
	laws    map[program.Law]int
	// copies are the assignments of slices that are copies in Go as well.
	copies map[copied]copying
	// empties are the makings of slices that are empty, and not nil.
	empties map[copied]bool
	// temporaries are slices that have no name yet, and that nothing else knows.
	temporaries map[*program.Variable]bool
	// parameters is the scope of the inputs, and signed where the signature ends, behind which
	// it has what the body declares; bags are inputs of a type of their own.
	parameters *types.Scope
	signed     token.Pos
	bags       map[string]*program.Variable
	// kinds are those of the numbers that are being shown; returned and yielded are those
	// that were.
	kinds             []kind
	returned, yielded shapes
	// arrays are slices that are arrays in Go, with their lengths: to assign one copies it.
	arrays map[*program.Variable]int64
	// texts are slices of strings. keys says of a variable of a range which element of
	// which slice it is, and keysOf by which slice a map is read.
	texts  map[*program.Variable]bool
	keys   map[types.Object]element
	keysOf map[*program.Variable]*program.Variable
	// drawn is the statement whose right side is evaluated, which may have a
	// directive.
	drawn ast.Stmt
	// tail is set for a call of which the function with the claim returns the sequence.
	tail bool
	// reads and writes are those of the statement at hand: variables that it reads
	// itself, and those that functions write that it calls.
	reads, writes map[*program.Variable]token.Pos
}

// A frame is a function that runs: the one with the claim, or one that is called.
type frame struct {
	in     *checked
	file   *ast.File
	name   string       // the full name of a declared function, to see recursion
	lit    *ast.FuncLit // of a closure
	prefix string
	depth  int // of calls
	env    map[types.Object]entity
	outer  *frame // of a closure, where it was written
	caller *frame
	// claimed is set where a function is called that has a claim of its own.
	claimed bool
	// results are where a called function leaves them; named ones are variables.
	results []entity
	named   []*types.Var
	types   *types.Tuple
	exit    *target // nil in the function with the claim
	// once is set in a function with one return, at its end: what that returns may be
	// known while reading, a pointer to a struct that the function makes.
	once bool
	// stream is set in a function whose results are a sequence: it is what yields.
	stream bool
}

type inputPointer struct {
	path string
	to   types.Type
}

// A copying is how a slice is assigned.
type copying uint8

const (
	shared         copying = iota // b := a
	copiedByClone                 // slices.Clone(a), which is nil if a is
	copiedByAppend                // append([]T(nil), a...), which is nil if a is empty
	copiedByMake                  // b := make([]T, len(a)); copy(b, a), which is not nil
)

type copied struct {
	to *program.Variable
	at token.Pos
}

// temporary is the depth of variables that nobody named.
const temporary = 1 << 30

// A bailout ends the reading of a statement.
type bailout struct{}

func newLowerer(b *body, known bodies, notes notes) *lowerer {
	name := functionName(b.decl)
	return &lowerer{
		known: known, notes: notes, fset: b.in.fset,
		fn: &program.Function{
			Package: b.in.types.Path(), Name: name, Pos: b.decl.Name.Pos(), File: b.in.fset.File(b.decl.Pos()),
		},
		names:       map[string]int{},
		isError:     map[*program.Variable]bool{},
		constants:   map[*program.Variable]*big.Rat{},
		errors:      map[any]int64{},
		private:     map[*program.Variable]bool{},
		bagged:      map[*program.Variable]bool{},
		arrays:      map[*program.Variable]int64{},
		texts:       map[*program.Variable]bool{},
		keys:        map[types.Object]element{},
		keysOf:      map[*program.Variable]*program.Variable{},
		depth:       map[*program.Variable]int{},
		flags:       map[*program.Variable]bool{},
		streams:     map[*program.Variable]bool{},
		laws:        map[program.Law]int{},
		copies:      map[copied]copying{},
		empties:     map[copied]bool{},
		temporaries: map[*program.Variable]bool{},
		bags:        map[string]*program.Variable{},
		reads:       map[*program.Variable]token.Pos{},
		writes:      map[*program.Variable]token.Pos{},
	}
}

// refuse records a refusal and gives up on the statement.
func (l *lowerer) refuse(pos token.Pos, what, why, hint string) {
	l.report(pos, what, why, hint)
	panic(bailout{})
}

func (l *lowerer) report(pos token.Pos, what, why, hint string) {
	l.refusals = append(l.refusals, Refusal{l.fset.Position(pos), what, why, hint})
}

// try runs f and reports whether it was not given up.
func (l *lowerer) try(f func()) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(bailout); !is {
				panic(r)
			}
		}
	}()
	f()
	return true
}

// typed refuses to show what is in an interface: of which type it is would be shown with it. Of
// errors it is known which they are.
func (l *lowerer) typed(s *types.Signature, pos token.Pos) {
	var shown []types.Type
	for v := range s.Results().Variables() {
		shown = append(shown, v.Type())
		if n, ok := types.Unalias(v.Type()).(*types.Named); ok && isSequence(n) {
			shown = slices.AppendSeq(shown, n.TypeArgs().Types())
		}
	}
	for v := range s.Params().Variables() {
		if isYield(v.Name(), v.Type()) {
			for w := range v.Type().Underlying().(*types.Signature).Params().Variables() {
				shown = append(shown, w.Type())
			}
		}
	}
	for _, t := range shown {
		if types.IsInterface(t) && !isError(t) {
			l.report(pos, "showing a value of type "+typeName(t), "of which type it is would be shown with it", "show it as what it is")
		}
	}
}

// enter makes the inputs.
func (l *lowerer) enter(b *body) {
	l.frame = &frame{in: b.in, file: b.file, name: fullName(b), env: map[types.Object]entity{}}
	l.frame.types = types.NewTuple()
	if fn, ok := b.in.info.Defs[b.decl.Name].(*types.Func); ok {
		l.frame.types = fn.Signature().Results()
	}
	l.result = l.frame.types
	if fn, ok := b.in.info.Defs[b.decl.Name].(*types.Func); ok {
		l.typed(fn.Signature(), b.decl.Type.Pos())
	}
	l.parameters, l.signed = b.in.info.Scopes[b.decl.Type], b.decl.Type.End()
	fields := []*ast.FieldList{b.decl.Recv, b.decl.Type.Params}
	for _, list := range fields {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			for _, name := range f.Names {
				if list == b.decl.Recv {
					l.receiver = name.Name
				}
				if v, ok := b.in.info.Defs[name].(*types.Var); ok && name.Name != "_" {
					l.frame.env[v] = l.input(name.Name, v.Type(), name.Pos())
				}
			}
		}
	}
}

func fullName(b *body) string {
	if fn, ok := b.in.info.Defs[b.decl.Name].(*types.Func); ok {
		return fn.FullName()
	}
	return b.decl.Name.Name
}

// function reads the body; nil if any of it is refused.
func (l *lowerer) function(b *body, c *claim.Claim) *program.Function {
	before := len(l.refusals)
	if b.decl.Body == nil {
		l.report(b.decl.Name.Pos(), "a function without a body", "there is nothing to read", "write it in Go")
		return nil
	}
	l.try(func() {
		l.namedResults(b.decl.Type, b.decl.Type.Results)
		f := l.list(b.decl.Body.List)
		if f.falls {
			if len(l.frame.named) > 0 && l.frame.types.Len() > 0 {
				return // the compiler sees to it that this is not reached
			}
			l.emit(program.Return{At: program.At{Pos: b.decl.Body.Rbrace}})
		}
	})
	if len(l.refusals) > before {
		return nil
	}
	l.alike(l.out)
	if len(l.refusals) > before {
		return nil
	}
	l.fn.Body = l.finish(l.resolveFollows(l.out, c))
	written := map[*program.Variable]bool{}
	assigned(l.fn.Body, written)
	for _, keys := range l.keysOf {
		if written[keys] {
			l.report(l.fn.Pos, "setting "+keys.Name+" anew", "a map is read at its elements", "take another name")
		}
	}
	if l.sentinels && l.ends > 0 {
		l.report(l.fn.Pos, "the least or the largest number of a type", "it is a bound in one place, and a number in another", "begin with math.Inf, or let the first round of a loop set the value")
	}
	l.checkPointers(written)
	l.checkAliases()
	l.checkEmpty(c)
	if len(l.refusals) > before {
		return nil
	}
	l.keepInputs(c, written)
	requires := slices.Clone(l.fn.Requires)
	if c != nil {
		requires = append(requires, c.Requires...)
	}
	l.checkBounds(requires)
	l.simplify()
	if l.checkKeys(requires); len(l.refusals) > before {
		return nil
	}
	return l.fn
}

// checkKeys refuses to read the keys of a map as numbers: equal ones have one value, which
// neither a proof nor a counterexample would know. Of keys that are not read all may differ.
func (l *lowerer) checkKeys(requires []program.Expression) {
	all := append(newGraph(l.fn.Body).nodes, node{stmt: program.Output{At: program.At{Pos: l.fn.Pos}, Values: requires}})
	for _, n := range all {
		for _, keys := range l.keysOf {
			if readsElements(n.stmt, keys) {
				l.report(n.stmt.Position(), "reading "+keys.Name, "equal keys have one value in a map", "take the values as a slice")
				return
			}
		}
	}
}

// readsElements reports whether a statement, without those within it, reads more of a slice
// than its length.
func readsElements(s program.Statement, v *program.Variable) (reads bool) {
	of := program.Expressions(s)
	if d, ok := s.(program.Draw); ok && d.Scores == v {
		return true
	}
	for _, x := range of {
		program.Walk(x, func(x program.Expression) {
			switch x := x.(type) {
			case program.Ref:
				reads = reads || x.Var == v
			case program.Element:
				reads = reads || x.Slice == v
			}
		})
	}
	return reads
}

func isGeneric(b *body) bool {
	fn, ok := b.in.info.Defs[b.decl.Name].(*types.Func)
	return ok && fn.Signature().RecvTypeParams().Len() > 0
}

// namedResults makes the variables of named results, zero at first.
func (l *lowerer) namedResults(_ *ast.FuncType, results *ast.FieldList) {
	if results == nil {
		return
	}
	for _, f := range results.List {
		for _, name := range f.Names {
			v, ok := l.frame.in.info.Defs[name].(*types.Var)
			if !ok {
				continue
			}
			l.frame.named = append(l.frame.named, v)
			e := l.local(l.frame.prefix+name.Name, v.Type(), name.Pos())
			l.frame.env[v] = e
			l.zero(e, name.Pos())
		}
	}
}

// emit adds a statement.
func (l *lowerer) emit(s program.Statement) {
	if l.count++; l.count > maxStatements {
		l.refuse(s.Position(), "a function this long", "with all calls written out it has more than 20000 statements", "give the parts claims of their own")
	}
	if a, ok := s.(program.Assign); ok && (l.isError[a.To] || l.isFlag(a.To)) {
		if n, ok := a.Value.(program.Number); ok {
			l.constants[a.To] = n.Value
		} else {
			delete(l.constants, a.To)
		}
	}
	l.out = append(l.out, s)
}

func (l *lowerer) isFlag(v *program.Variable) bool {
	_, ok := l.flags[v]
	return ok
}

// block runs f and returns the statements that it emitted.
func (l *lowerer) block(f func()) []program.Statement {
	saved := l.out
	l.out = nil
	defer func() { l.out = saved }()
	f()
	return l.out
}

// fork runs f, a branch, and returns its statements and what is known at its end.
func (l *lowerer) fork(f func()) ([]program.Statement, map[*program.Variable]*big.Rat) {
	saved := make(map[*program.Variable]*big.Rat, len(l.constants))
	for v, x := range l.constants {
		saved[v] = x
	}
	stmts := l.block(f)
	after := l.constants
	l.constants = saved
	return stmts, after
}

// meet keeps what both branches know.
func meet(a, b map[*program.Variable]*big.Rat) map[*program.Variable]*big.Rat {
	both := map[*program.Variable]*big.Rat{}
	for v, x := range a {
		if y, ok := b[v]; ok && x.Cmp(y) == 0 {
			both[v] = x
		}
	}
	return both
}

func number(n int64, sort program.Sort) program.Number {
	return program.Number{Value: new(big.Rat).SetInt64(n), Sort: sort}
}

// rational returns a constant as a number.
func rational(v constant.Value) (*big.Rat, bool) {
	switch v.Kind() {
	case constant.Int, constant.Float:
	default:
		return nil, false
	}
	num, den := constant.Num(v), constant.Denom(v)
	n, ok1 := new(big.Int).SetString(num.ExactString(), 10)
	d, ok2 := new(big.Int).SetString(den.ExactString(), 10)
	if !ok1 || !ok2 || d.Sign() == 0 {
		return nil, false
	}
	return new(big.Rat).SetFrac(n, d), true
}

// find returns what a Go variable stands for.
func (l *lowerer) find(obj types.Object) (entity, bool) {
	for f := l.frame; f != nil; f = f.outer {
		if e, ok := f.env[obj]; ok {
			return e, true
		}
	}
	return nil, false
}
