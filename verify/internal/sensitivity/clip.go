package sensitivity

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A measure is of the elements of a vector: a norm of it, or the square of one.
type measure struct {
	vector string // by what it holds
	count  *Expr  // of its first elements; nil of all of them
	norm   int
	square bool
	env    env // how far the norm moves
}

// An entry is where an element of a vector stands: at the index of a loop.
type entry struct {
	vector string
	loop   *loop
}

// vectorOf names what a slice holds, and says how far its norms move. It leaves the state as it is.
func (a *analysis) vectorOf(f *frame, st *state, x ast.Expr) (name string, moves [3]env) {
	st = st.clone() // with the object of a part
	v := a.expr(f, st, x)
	switch {
	case v.kind == plain && len(a.env(v.sym)) > 0:
		return v.sym.String(), same(a.env(v.sym))
	case v.kind == ref && !st.heap[v.obj].bag && !st.heap[v.obj].table && st.heap[v.obj].slot == nil:
		return fmt.Sprint("object·", st.heap[v.obj].id), st.heap[v.obj].env
	}
	return "", moves
}

// measures sees that a loop adds up the squares, or the sizes, of the elements of a vector.
func (a *analysis) measures(f *frame, before, after *state, s ast.Stmt) {
	var over ast.Expr // a vector, or how many
	var key, elem *ast.Ident
	var body *ast.BlockStmt
	switch s := s.(type) {
	case *ast.RangeStmt:
		key, _ = s.Key.(*ast.Ident)
		elem, _ = s.Value.(*ast.Ident)
		over, body = s.X, s.Body
	case *ast.ForStmt:
		set, ok1 := s.Init.(*ast.AssignStmt)
		cond, ok2 := s.Cond.(*ast.BinaryExpr)
		inc, ok3 := s.Post.(*ast.IncDecStmt)
		if !ok1 || !ok2 || !ok3 || set.Tok != token.DEFINE || len(set.Lhs) != 1 || !isZero(f, set.Rhs[0]) || cond.Op != token.LSS || inc.Tok != token.INC {
			return
		}
		key, _ = set.Lhs[0].(*ast.Ident)
		for _, x := range []ast.Expr{cond.X, inc.X} {
			if id, ok := x.(*ast.Ident); !ok || key == nil || f.pkg.Info.Uses[id] != f.pkg.Info.Defs[key] {
				return
			}
		}
		over, body = cond.Y, s.Body
	}
	if len(body.List) != 1 || !plainly(f, over) {
		return
	}
	does := body.List[0]
	var within ast.Expr // what is as long as the vector, if the body is for j < len(within)
	if s, ok := does.(*ast.IfStmt); ok && s.Init == nil && s.Else == nil && len(s.Body.List) == 1 {
		cond, ok := s.Cond.(*ast.BinaryExpr)
		if !ok || cond.Op != token.LSS || key == nil {
			return
		}
		i, ok := cond.X.(*ast.Ident)
		size, call := cond.Y.(*ast.CallExpr)
		if !ok || f.pkg.Info.Uses[i] != f.pkg.Info.Defs[key] || !call || !isBuiltin(f, size.Fun, "len") || !simple(size.Args[0]) {
			return
		}
		does, within = s.Body.List[0], size.Args[0]
	}
	add, ok := does.(*ast.AssignStmt)
	if !ok || add.Tok != token.ADD_ASSIGN {
		return
	}
	id, ok := add.Lhs[0].(*ast.Ident)
	if !ok {
		return
	}
	p := place{f.id, f.pkg.Info.Uses[id]}
	was, ok1 := before.vars[p]
	now, ok2 := after.vars[p]
	if !ok1 || !ok2 || was.kind != plain || len(was.sym.terms) > 0 || now.kind != plain || a.single(now.sym) == nil {
		return
	}
	// The vector that an expression is the element of, in each round.
	vector := func(x ast.Expr) (string, [3]env) {
		switch x := ast.Unparen(x).(type) {
		case *ast.Ident:
			if elem != nil && f.pkg.Info.Uses[x] == f.pkg.Info.Defs[elem] && simple(over) {
				return a.vectorOf(f, before, over)
			}
		case *ast.IndexExpr:
			i, ok := x.Index.(*ast.Ident)
			if ok && key != nil && f.pkg.Info.Uses[i] == f.pkg.Info.Defs[key] && simple(x.X) && vectorType(f.pkg.Info.TypeOf(x.X)) {
				return a.vectorOf(f, before, x.X)
			}
		}
		return "", [3]env{}
	}
	m := &measure{}
	var moves [3]env
	switch x := ast.Unparen(add.Rhs[0]).(type) {
	case *ast.BinaryExpr:
		if m.vector, moves = vector(x.X); x.Op != token.MUL {
			return
		}
		if other, _ := vector(x.Y); other != m.vector {
			return
		}
		m.norm, m.square, m.env = l2, true, moves[l2]
	case *ast.CallExpr:
		if fn := calleeOf(x); fn == nil || len(x.Args) != 1 || f.pkg.Info.Uses[fn] == nil || f.pkg.Info.Uses[fn].Pkg() == nil || f.pkg.Info.Uses[fn].Pkg().Path() != "math" || fn.Name != "Abs" {
			return
		}
		m.vector, moves = vector(x.Args[0])
		m.norm, m.env = l1, moves[l1]
	}
	if m.vector == "" {
		return
	}
	if within != nil {
		if name, _ := a.vectorOf(f, before, within); name != m.vector {
			return
		}
	}
	if call, ok := ast.Unparen(over).(*ast.CallExpr); ok && onlyLen(f, call) {
		over = call.Args[0]
	}
	if name, _ := a.vectorOf(f, before, over); name != m.vector {
		n := a.expr(f, before.clone(), over)
		if !isInteger(f.pkg.Info.TypeOf(over)) || n.kind != plain || len(a.env(n.sym)) > 0 {
			return
		}
		m.count = &n.sym
	}
	a.single(now.sym).measure = m
}

func isZero(f *frame, x ast.Expr) bool {
	v := f.pkg.Info.Types[x].Value
	return v != nil && v.ExactString() == "0"
}

func vectorType(t types.Type) bool {
	switch core(t).(type) {
	case *types.Slice, *types.Array:
		return true
	}
	return false
}

// single is what is known of a number that is one atom.
func (a *analysis) single(e Expr) *known {
	if len(e.terms) != 1 || len(e.terms[0].powers) != 1 || !e.is(atomic(e.terms[0].powers[0].atom)) {
		return nil
	}
	return a.knowns[e.terms[0].powers[0].atom.name]
}

// normOf writes a number as r·‖v‖ for a public r > 0.
func (a *analysis) normOf(e Expr) (m *measure, r Expr) {
	if len(e.terms) != 1 {
		return nil, r
	}
	x, r := a.factor(e.terms[0])
	if x == nil || a.knowns[x.name] == nil || a.knowns[x.name].measure == nil || a.knowns[x.name].measure.square || !a.isPositive(r) {
		return nil, r
	}
	return a.knowns[x.name].measure, r
}

// twoCases writes a number as one of two, if it is that.
func (a *analysis) twoCases(e Expr) *pieces {
	for _, t := range e.terms {
		for _, p := range t.powers {
			k := a.knowns[p.atom.name]
			if k == nil || k.pieces == nil || len(k.env) == 0 {
				continue
			}
			yes, ok1 := e.replace(p.atom.name, k.pieces.yes)
			no, ok2 := e.replace(p.atom.name, k.pieces.no)
			if !ok1 || !ok2 {
				return nil
			}
			return &pieces{k.pieces.test, yes, no}
		}
	}
	return nil
}

// picks reports whether a number that is one of two is the larger of them, or the smaller.
func (a *analysis) picks(p *pieces) token.Token {
	d := p.yes.sub(p.no)
	if len(d.terms) == 0 {
		return token.ILLEGAL
	}
	return a.directed(p.test, d)
}

// directed is GTR if a test holds where d > 0 and not where d < 0, LSS if it is the other way
// round, and ILLEGAL if neither is known.
func (a *analysis) directed(test comparison, d Expr) token.Token {
	for r := range ratios(test.x.sub(test.y), d) {
		up := test.op == token.GTR || test.op == token.GEQ
		if !up && test.op != token.LSS && test.op != token.LEQ {
			return token.ILLEGAL
		}
		switch {
		case a.isPositive(r):
		case a.isPositive(r.neg()):
			up = !up
		default:
			continue
		}
		if up {
			return token.GTR
		}
		return token.LSS
	}
	return token.ILLEGAL
}

// shrinks writes num/den as min(1, c/‖v‖), for a public c > 0, if it is that.
func (a *analysis) shrinks(num, den Expr) (m *measure, c Expr) {
	either := a.twoCases(den)
	if either == nil || a.picks(either) != token.GTR {
		return nil, c
	}
	// B/max(r·‖v‖, B)
	for _, side := range [][2]Expr{{either.yes, either.no}, {either.no, either.yes}} {
		if m, r := a.normOf(side[0]); m != nil && num.is(side[1]) && len(a.env(num)) == 0 && a.isPositive(num) {
			if inverse, ok := r.inverse(); ok {
				return m, num.mul(inverse)
			}
		}
	}
	return nil, c
}

// clipping writes a number as min(1, c/‖v‖), for a public c > 0, if it is that.
func (a *analysis) clipping(e Expr) (m *measure, c Expr) {
	if k := a.single(e); k != nil && k.quotient != nil {
		return a.shrinks(k.quotient[0], k.quotient[1])
	}
	either := a.twoCases(e)
	if either == nil {
		return nil, c
	}
	for i, side := range [][2]Expr{{either.yes, either.no}, {either.no, either.yes}} {
		q := a.single(side[0])
		if !side[1].is(one()) || q == nil || q.quotient == nil {
			continue
		}
		m, c := a.over(q.quotient[0], q.quotient[1])
		// It is that where ‖v‖ > c, as it is the smaller of that and 1.
		if m != nil && (a.beyond(either.test, m, c) == []token.Token{token.GTR, token.LSS}[i] || a.picks(either) == token.LSS) {
			return m, c
		}
	}
	return nil, c
}

// over is c/‖v‖, for a public c > 0, if num/den is that.
func (a *analysis) over(num, den Expr) (m *measure, c Expr) {
	m, r := a.normOf(den)
	if m == nil || len(a.env(num)) > 0 || !a.isPositive(num) {
		return nil, c
	}
	inverse, ok := r.inverse()
	if !ok {
		return nil, c
	}
	return m, num.mul(inverse)
}

// clippedWhere is v·c/‖v‖ where ‖v‖ > c, and v elsewhere, for an element v of a vector.
func (a *analysis) clippedWhere(cond *value, x, y Expr) (Expr, bool) {
	if cond == nil || cond.test == nil {
		return Expr{}, false
	}
	for i, side := range [][2]Expr{{x, y}, {y, x}} {
		far, v := side[0], side[1]
		if len(far.terms) != 1 || len(v.terms) != 1 {
			continue
		}
		for _, p := range far.terms[0].powers {
			k := a.knowns[p.atom.name]
			if k == nil || k.quotient == nil || p.halfs != 2 {
				continue
			}
			// far is b·(num/den), and b·num is v·c.
			b, ok := far.replace(p.atom.name, one())
			if !ok {
				continue
			}
			for c := range ratios(b.mul(k.quotient[0]), v) {
				m, c := a.over(c, k.quotient[1])
				if m != nil && a.beyond(*cond.test, m, c) == []token.Token{token.GTR, token.LSS}[i] {
					return a.clipped(v, m, c)
				}
			}
		}
	}
	return Expr{}, false
}

// beyond is GTR if a test holds where ‖v‖ > c and not where ‖v‖ < c, LSS if it is the other way
// round, and ILLEGAL if neither is known.
func (a *analysis) beyond(test comparison, m *measure, c Expr) token.Token {
	found := token.ILLEGAL
	test.x.sub(test.y).atoms(func(x *atom) {
		k := a.knowns[x.name]
		if k == nil || k.measure == nil || k.measure.vector != m.vector || k.measure.norm != m.norm || !sameCount(k.measure, m) {
			return
		}
		by := c
		if k.measure.square {
			by = c.mul(c)
		}
		if found == token.ILLEGAL {
			found = a.directed(test, atomic(x).sub(by))
		}
	})
	return found
}

func sameCount(m, n *measure) bool {
	return m.count == nil && n.count == nil || m.count != nil && n.count != nil && m.count.is(*n.count)
}

// clipped is an element of a vector times what its norm is clipped by.
//
// Theorem. v·min(1, c/‖v‖) has a norm of at most c; in l2 it is the nearest to v of all such,
// and moves no further than v does (projections onto closed convex sets are 1-Lipschitz).
func (a *analysis) clipped(x Expr, m *measure, c Expr) (Expr, bool) {
	if m == nil || len(x.terms) != 1 {
		return Expr{}, false
	}
	at, by := a.factor(x.terms[0])
	if at == nil || a.knowns[at.name] == nil || a.knowns[at.name].entry == nil {
		return Expr{}, false
	}
	en := a.knowns[at.name].entry
	l := en.loop
	if en.vector != m.vector || !slices.Contains(a.stack, l) || !a.older(l, c) || m.count != nil && !(l.whole && unclipped(l.exact).is(unclipped(*m.count))) {
		return Expr{}, false
	}
	root := a.root(l.count)
	sized := func(e Expr) env { return env{unit: {most: e}} }
	sizes := same(sized(c))
	if m.norm == l2 {
		sizes[l1] = sized(c.mul(root))
	}
	name := fmt.Sprintf("%s·clip %s to %s in %d", l.name, m.vector, c, m.norm)
	a.elems[name] = &elements{loop: l, env: sizes}
	k := known{size: env{name: {most: one()}}}
	if k.env = m.env; m.norm == l2 && m.env.refusal() == nil {
		a.elems[name+" moves"] = &elements{loop: l, env: [3]env{m.env.scale(root), m.env, m.env}}
		k.env = env{name + " moves": {most: one()}}
	} else {
		k.env = k.env.infinite(&Refusal{Reason: "a vector that is clipped by its own norm", Hint: "the norm l2, or a sum over records"})
	}
	a.reals = true
	return a.hidden("clipped", k).mul(by), true
}
