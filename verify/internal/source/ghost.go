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

// A ghost reads the expressions of directives: Go's, over what is in scope, with
// diff, cond and scale. Integers become reals where they meet one.
type ghost struct {
	l     *lowerer
	at    token.Pos // of the expression's first byte
	scope *types.Scope
	// from is where the scope is read: later declarations are unknown.
	from token.Pos
	// claim is set where only what both runs share may be named; inputs where only
	// inputs may be.
	claim *claim.Claim
	// real is set where all numbers are reals, and / is division; diffs where diff and
	// cond may stand.
	inputs, real, scales, diffs bool
	// outcomes is set where the result may be named.
	outcomes bool
	// unset are variables without a value yet.
	unset []types.Object
}

// private are the inputs on which both runs may differ.
func (g ghost) private() []claim.Adjacency {
	if g.claim == nil {
		return nil
	}
	return g.claim.Adjacent
}

func (g ghost) pos(e ast.Node) token.Pos { return g.at + e.Pos() - 1 }

// number reads a number, a real one if g.real.
func (g ghost) number(e ast.Expr) program.Expression {
	t := g.eval(e)
	if t.sort == program.Bool {
		g.l.refuse(g.pos(e), "this truth", "a number is expected here", "")
	}
	if g.real {
		t = real(t)
	}
	return t.x
}

func (g ghost) truth(e ast.Expr) program.Expression {
	t := g.eval(e)
	if t.sort != program.Bool {
		g.l.refuse(g.pos(e), "this number", "a condition is expected here", "compare it with something")
	}
	return t.x
}

// real makes a real of an integer.
func real(t term) term {
	if t.sort != program.Int {
		return t
	}
	if n, ok := t.x.(program.Number); ok {
		return term{program.Number{Value: n.Value, Sort: program.Real}, program.Real}
	}
	return term{program.Call{Func: "real", Args: []program.Expression{t.x}}, program.Real}
}

func (g ghost) eval(e ast.Expr) term {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return g.eval(e.X)
	case *ast.BasicLit:
		v := constant.MakeFromLiteral(e.Value, e.Kind, 0)
		if r, ok := rational(v); ok {
			if e.Kind == token.INT {
				return term{program.Number{Value: r, Sort: program.Int}, program.Int}
			}
			return term{program.Number{Value: r, Sort: program.Real}, program.Real}
		}
	case *ast.Ident, *ast.SelectorExpr:
		return g.variable(e)
	case *ast.IndexExpr:
		return g.element(e)
	case *ast.UnaryExpr:
		switch e.Op {
		case token.NOT:
			return term{negate(g.truth(e.X)), program.Bool}
		case token.SUB:
			x := g.eval(e.X)
			if x.sort != program.Bool {
				g.signed(e, x)
				if n, ok := x.x.(program.Number); ok {
					return term{program.Number{Value: new(big.Rat).Neg(n.Value), Sort: n.Sort}, x.sort}
				}
				return term{program.Unary{Op: program.Sub, X: x.x}, x.sort}
			}
		}
	case *ast.BinaryExpr:
		return g.binary(e)
	case *ast.CallExpr:
		return g.call(e)
	}
	g.l.refuse(g.pos(e), "this expression", "directives do not know it", "use numbers, inputs, len, arithmetic, comparisons and functions of package math")
	return term{}
}

func (g ghost) binary(e *ast.BinaryExpr) term {
	op, ok := operators[e.Op]
	if !ok {
		g.l.refuse(g.at+e.OpPos-1, "the operator "+e.Op.String(), "directives do not know it", "use + - * / %")
	}
	x, y := g.eval(e.X), g.eval(e.Y)
	if op == program.Sub {
		g.signed(e, x, y)
	}
	if g.real && x.sort != program.Bool && y.sort != program.Bool || x.sort != y.sort {
		x, y = real(x), real(y)
	}
	if x.sort != y.sort {
		g.l.refuse(g.at+e.OpPos-1, "this "+e.Op.String(), "its operands are not of one type", "")
	}
	switch op {
	case program.And, program.Or:
		if x.sort == program.Bool {
			return term{program.Binary{Op: op, X: x.x, Y: y.x}, program.Bool}
		}
	case program.Eq, program.Ne:
		return term{program.Binary{Op: op, X: x.x, Y: y.x}, program.Bool}
	case program.Lt, program.Le, program.Gt, program.Ge:
		if x.sort != program.Bool {
			return term{program.Binary{Op: op, X: x.x, Y: y.x}, program.Bool}
		}
	default:
		if x.sort == program.Bool || op == program.Rem && x.sort == program.Real {
			break
		}
		a, isA := x.x.(program.Number)
		b, isB := y.x.(program.Number)
		if op == program.Quo && isB && b.Value.Sign() == 0 {
			g.l.refuse(g.at+e.OpPos-1, "division by zero", "it has no value", "")
		}
		if op == program.Quo && isA && isB && x.sort == program.Int {
			if !new(big.Rat).Quo(a.Value, b.Value).IsInt() {
				g.l.refuse(g.at+e.OpPos-1, "a quotient of integers", "Go drops its remainder", "write "+a.String()+".0 / "+b.String())
			}
		}
		return term{program.Binary{Op: op, X: x.x, Y: y.x}, x.sort}
	}
	g.l.refuse(g.at+e.OpPos-1, "this "+e.Op.String(), "its operands are of the wrong type", "")
	return term{}
}

// signed refuses differences of unsigned inputs, which Go wraps around.
func (g ghost) signed(e ast.Expr, of ...term) {
	if !g.inputs {
		return // of loops, where counters are known not to be negative
	}
	for _, t := range of {
		program.Walk(t.x, func(x program.Expression) {
			r, ref := x.(program.Ref)
			i, element := x.(program.Element)
			if t.sort == program.Int && (ref && r.Var.Natural || element && i.Slice.Natural) {
				g.l.refuse(g.pos(e), "a difference of unsigned integers", "below zero it wraps around", "compare them, or take their float64")
			}
		})
	}
}

// variable reads a variable, a field or a constant.
func (g ghost) variable(e ast.Expr) term {
	switch x := g.entity(e).(type) {
	case scalar:
		g.check(e, x.v)
		return term{program.Ref{Var: x.v}, x.v.Sort}
	case amount:
		g.check(e, x.v)
		return term{program.Ref{Var: x.v}, x.v.Sort}
	case ratio:
		g.check(e, x.v)
		return term{program.Ref{Var: x.v}, program.Real}
	case term:
		return x
	case slice:
		g.l.refuse(g.pos(e), "the slice "+x.v.Name, "a number is expected here", "name an element, or its len")
	case entity:
		g.l.refuse(g.pos(e), x.what(), "a number is expected here", "")
	}
	return term{}
}

// entity resolves a path.
func (g ghost) entity(e ast.Expr) entity {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return g.entity(e.X)
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			g.itself(e)
			return term{program.Truth(e.Name == "true"), program.Bool}
		}
		from := g.from
		_, obj := g.scope.LookupParent(e.Name, from)
		switch obj := obj.(type) {
		case *types.Const:
			if r, ok := rational(obj.Val()); ok {
				sort := program.Real
				if constant.ToInt(obj.Val()).Kind() == constant.Int && obj.Val().Kind() == constant.Int {
					sort = program.Int
				}
				return term{program.Number{Value: r, Sort: sort}, sort}
			}
		case *types.Var:
			if slices.Contains(g.unset, types.Object(obj)) {
				g.l.refuse(g.pos(e), e.Name, "it has no value here yet", "name the element: q[i]")
			}
			if x, ok := g.l.find(obj); ok {
				return x
			}
		}
		if g.outcomes && g.isOutcome(e) {
			return g.outcome(e)
		}
		g.l.refuse(g.pos(e), e.Name, "there is no such input here", g.l.inputHint(e.Name))
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok && id.Name == "math" {
			if c, ok := mathConstant(e.Sel.Name); ok {
				g.itself(id)
				return c
			}
		}
		x := g.entity(e.X)
		if p, ok := x.(pointer); ok {
			if g.inputs {
				g.l.claimOf(p.presence)
			}
			x = p.to
		}
		if r, ok := x.(*record); ok {
			if i := fieldIndex(r.typ, e.Sel); i >= 0 {
				return r.field(i)
			}
		}
		g.l.refuse(g.pos(e), "the field "+e.Sel.Name, "there is no such field", "")
	}
	g.l.refuse(g.pos(e), "this expression", "a variable is expected here", "")
	return nil
}

// itself refuses a name of Go's, or of the directives' own, that is declared here as something else.
func (g ghost) itself(id *ast.Ident) {
	_, obj := g.scope.LookupParent(id.Name, g.from)
	if p, ok := obj.(*types.PkgName); ok && p.Imported().Path() == "math" || obj == nil || obj.Parent() == types.Universe {
		return
	}
	g.l.refuse(g.pos(id), id.Name, "it is declared here, and means something else in directives", "give what is declared another name")
}

func mathConstant(name string) (term, bool) {
	values := map[string]string{"Pi": "3.14159265358979323846264338327950288419716939937510582097494459", "E": "2.71828182845904523536028747135266249775724709369995957496696763"}
	v, ok := values[name]
	if !ok {
		return term{}, false
	}
	r, _ := rational(constant.MakeFromLiteral(v, token.FLOAT, 0))
	return term{program.Number{Value: r, Sort: program.Real}, program.Real}, true
}

// check refuses variables on which both runs may differ, where they must not.
func (g ghost) check(e ast.Expr, v *program.Variable) {
	if !g.inputs {
		return
	}
	if !v.Input {
		g.l.refuse(g.pos(e), v.Name, "it is no input", "")
	}
	for _, a := range g.private() {
		if a.Input == v {
			g.l.refuse(g.pos(e), v.Name, "it is private", "a claim may depend on what both runs share")
		}
	}
}

func (g ghost) element(e *ast.IndexExpr) term {
	s, ok := g.entity(e.X).(slice)
	if !ok {
		g.l.refuse(g.pos(e), "this index", "it is into no slice of numbers", "")
	}
	g.check(e, s.v)
	i := g.eval(e.Index)
	if i.sort != program.Int {
		g.l.refuse(g.pos(e.Index), "this index", "it is no integer", "")
	}
	return term{program.Element{Slice: s.v, Index: i.x}, s.v.Sort}
}

func (g ghost) call(e *ast.CallExpr) term {
	name := ""
	switch f := e.Fun.(type) {
	case *ast.Ident:
		g.itself(f)
		name = f.Name
	case *ast.SelectorExpr:
		if id, ok := f.X.(*ast.Ident); ok {
			g.itself(id)
			name = id.Name + "." + f.Sel.Name
		}
	}
	want := func(n int) {
		if len(e.Args) != n {
			g.l.refuse(g.pos(e), name, "it has another number of arguments", "")
		}
	}
	switch name {
	case "len":
		want(1)
		s, ok := g.entity(e.Args[0]).(slice)
		if !ok || s.v.Stream {
			g.l.refuse(g.pos(e), "this len", "it is of no slice of numbers", "")
		}
		g.checkLength(e, s.v)
		return term{program.Length{Slice: s.v}, program.Int}
	case "scale":
		want(1)
		d, ok := g.entity(e.Args[0]).(*sampler)
		if !ok || !g.scales && g.inputs {
			g.l.refuse(g.pos(e), "this scale", "it is of no distribution", "name a field or parameter of type *noise.DiscreteLaplace, *noise.Geometric or *noise.Choice")
		}
		if g.inputs {
			g.l.claimOf(d.presence)
		}
		return term{program.Ref{Var: d.scaleVariable()}, program.Real}
	case "diff", "cond":
		if !g.diffs {
			g.l.refuse(g.pos(e), name, "it speaks of two runs", "it may stand in //dp:align and //dp:invariant")
		}
		if name == "diff" {
			want(1)
			x := g.eval(e.Args[0])
			if x.sort == program.Bool {
				g.l.refuse(g.pos(e), "this diff", "a truth has no distance", "")
			}
			return term{program.Diff{X: x.x}, x.sort}
		}
		want(3)
		c, x, y := g.truth(e.Args[0]), g.eval(e.Args[1]), g.eval(e.Args[2])
		if x.sort != y.sort {
			x, y = real(x), real(y)
		}
		if x.sort != y.sort {
			g.l.refuse(g.pos(e), "this cond", "its values are not of one type", "")
		}
		return term{program.If3{Cond: c, Then: x.x, Else: y.x}, x.sort}
	case "min", "max", "math.Min", "math.Max":
		want(2)
		x, y := g.eval(e.Args[0]), g.eval(e.Args[1])
		if g.real || x.sort != y.sort {
			x, y = real(x), real(y)
		}
		if x.sort == program.Bool || y.sort == program.Bool {
			break
		}
		op := program.Min
		if name == "max" || name == "math.Max" {
			op = program.Max
		}
		return term{program.Binary{Op: op, X: x.x, Y: y.x}, x.sort}
	case "float64":
		want(1)
		return real(g.eval(e.Args[0]))
	case "abs":
		name = "math.Abs"
	}
	if f, ok := mathematics[name]; ok {
		want(map[bool]int{true: 2, false: 1}[f == "pow"])
		var args []program.Expression
		for _, a := range e.Args {
			x := real(g.eval(a))
			if x.sort == program.Bool {
				g.l.refuse(g.pos(a), "this truth", "a number is expected here", "")
			}
			args = append(args, x.x)
		}
		return term{program.Call{Func: f, Args: args}, program.Real}
	}
	g.l.refuse(g.pos(e), "the function "+name, "directives do not know it", "use len, min, max, scale, float64 and functions of package math")
	return term{}
}

// checkLength allows the lengths that both runs share: all but those of bags.
func (g ghost) checkLength(e ast.Expr, v *program.Variable) {
	if !g.inputs {
		return
	}
	if !v.Input {
		g.l.refuse(g.pos(e), v.Name, "it is no input", "")
	}
	for _, a := range g.private() {
		if a.Input == v && a.Relation == claim.Bag {
			g.l.refuse(g.pos(e), "len("+v.Name+")", "neighbours have different numbers of rows", "take a bound on it as a parameter")
		}
	}
}

// align reads the directive above the draw e, if it is all that statement s does.
func (l *lowerer) align(s ast.Stmt, e *ast.CallExpr) program.Expression {
	a, ok := s.(*ast.AssignStmt)
	if !ok || !isDrawStmt(l.frame.in, s) || ast.Unparen(a.Rhs[0]) != e {
		return nil
	}
	var align program.Expression
	for _, d := range l.notes.of(l.frame.in, l.frame.file).statements[s] {
		if align != nil {
			l.refuse(d.pos, "a second //dp:align", "a draw has one", "")
		}
		g := ghost{l: l, at: d.at, scope: l.frame.in.types.Scope().Innermost(s.Pos()), from: s.End(), diffs: true, outcomes: true}
		x := l.parse(d.text, d.at)
		if l.frame.claimed && g.namesOutcome(x) {
			continue // it is for the proof of the called function, of which this is no result
		}
		align = g.number(x)
	}
	return align
}

// invariants reads the directives above a loop. They hold wherever its condition is
// about to be evaluated, where the element of a range has no value yet.
func (l *lowerer) invariants(s ast.Stmt, body *ast.BlockStmt, value ast.Expr, loop *program.Loop) {
	for _, d := range l.notes.of(l.frame.in, l.frame.file).statements[s] {
		g := ghost{l: l, at: d.at, scope: l.frame.in.types.Scope().Innermost(body.Lbrace), from: body.Lbrace, diffs: true}
		if id := identOf(value); id != nil {
			if obj := l.frame.in.info.Defs[id]; obj != nil {
				g.unset = append(g.unset, obj)
			}
		}
		loop.Invariants = append(loop.Invariants, g.truth(l.parse(d.text, d.at)))
	}
}
