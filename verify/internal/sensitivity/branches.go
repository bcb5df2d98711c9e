package sensitivity

import (
	"go/ast"
	"go/token"
	"go/types"
)

// branch runs both branches of a conditional, with what follows it in each if k is
// given.
func (a *analysis) branch(f *frame, st *state, s *ast.IfStmt, k *rest) outcome {
	st = st.clone()
	if s.Init != nil {
		st = a.block(f, st, []ast.Stmt{s.Init}, nil).fall
	}
	if k == nil && a.swap(f, st, s) {
		return outcome{fall: st}
	}
	cond := a.number(st, a.expr(f, st, s.Cond), s.Cond)
	follow := func(st *state, list []ast.Stmt) outcome {
		if k == nil {
			return a.block(f, st, list, nil)
		}
		return a.block(f, st, list, k)
	}
	var other []ast.Stmt
	if s.Else != nil {
		other = []ast.Stmt{s.Else}
	}
	if n, ok := cond.sym.number(); ok {
		if n.Sign() != 0 {
			return follow(st, s.Body.List)
		}
		return follow(st, other)
	}
	id := a.next()
	cond.branch = id
	a.branches[id], a.branches[-id] = cond.known(true), cond.known(false)
	yes, no := st.clone(), st.clone()
	yes.under = append(yes.under, id)
	no.under = append(no.under, -id)
	o := a.merge(s, cond, st, follow(yes, s.Body.List), follow(no, other))
	for _, t := range []*state{o.fall, o.brk, o.cont} {
		if t != nil {
			t.under = st.under
		}
	}
	if o.ret != nil {
		o.ret.st.under = st.under
	}
	return o
}

// permutes knows x[i], x[j] = x[j], x[i] for numbers, at public indices.
//
// Theorem. What exchanges two elements at public places changes no norm of a distance.
func (a *analysis) permutes(f *frame, st *state, lhs, rhs []ast.Expr) bool {
	if len(lhs) != 2 || len(rhs) != 2 || types.ExprString(lhs[0]) != types.ExprString(rhs[1]) || types.ExprString(lhs[1]) != types.ExprString(rhs[0]) {
		return false
	}
	return a.exchange(f, st, lhs[0], lhs[1])
}

// exchange changes places of two elements of a slice of its own, if it is one.
func (a *analysis) exchange(f *frame, st *state, p, q ast.Expr) bool {
	x, okx := p.(*ast.IndexExpr)
	y, oky := q.(*ast.IndexExpr)
	if !okx || !oky || !simple(x) || !simple(y) || types.ExprString(x.X) != types.ExprString(y.X) || !numeric(elementType(f.pkg.Info.Types[x.X].Type)) {
		return false
	}
	base := a.expr(f, st, x.X)
	if base.kind != ref || st.heap[base.obj].table {
		return false
	}
	o := st.heap[base.obj]
	if o.view || o.bag || o.slot != nil {
		return false
	}
	for _, i := range []ast.Expr{x.Index, y.Index} {
		if len(a.env(a.number(st, a.expr(f, st, i), i).sym)) > 0 {
			return false
		}
	}
	a.touch(base.obj, nil)
	a.update(st, base.obj, func(o *object) { o.base = "" })
	return true
}

// swap knows the conditional swap of two elements, `if q[i] > q[j] { q[i], q[j] =
// q[j], q[i] }`, and of two variables alike.
//
// Theorem. Sorting two numbers is 1-sensitive in every l_p norm (the rearrangement
// inequality); so no norm of the slice's distance grows.
func (a *analysis) swap(f *frame, st *state, s *ast.IfStmt) bool {
	cond, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || s.Else != nil || s.Init != nil || len(s.Body.List) != 1 {
		return false
	}
	set, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 2 || len(set.Rhs) != 2 {
		return false
	}
	switch cond.Op {
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
	default:
		return false
	}
	x, y := cond.X, cond.Y
	l0, l1, r0, r1 := types.ExprString(set.Lhs[0]), types.ExprString(set.Lhs[1]), types.ExprString(set.Rhs[0]), types.ExprString(set.Rhs[1])
	u, v := types.ExprString(x), types.ExprString(y)
	if l0 != r1 || l1 != r0 || !(l0 == u && l1 == v || l0 == v && l1 == u) {
		return false
	}
	return a.exchange(f, st, x, y)
}

// merge joins two outcomes. On a private condition both must end in the same way.
func (a *analysis) merge(at ast.Node, cond value, before *state, x, y outcome) outcome {
	if e := a.env(cond.sym); len(e) > 0 {
		ends := func(o outcome) (n int) {
			for i, is := range []bool{o.fall != nil, o.brk != nil, o.cont != nil, o.ret != nil} {
				if is {
					n |= 1 << i
				}
			}
			return n
		}
		if m := ends(x); m != ends(y) || m&(m-1) != 0 || m == 0 {
			a.fail(at, "a value that is chosen, and one way on", "what runs next depends on private data")
		}
	}
	switch {
	case x.survives() && !y.survives():
		return a.paid(before, x, y.died)
	case y.survives() && !x.survives():
		return a.paid(before, y, x.died)
	}
	var o outcome
	if x.died != nil && y.died != nil {
		o.died = x.died.clone()
		o.died.items = a.choice(before.items, x.died.items, y.died.items)
	}
	o.fall = a.joinedOr(before, at, cond, x.fall, y.fall)
	o.brk = a.joinedOr(before, at, cond, x.brk, y.brk)
	o.cont = a.joinedOr(before, at, cond, x.cont, y.cont)
	switch {
	case x.ret == nil:
		o.ret = y.ret
	case y.ret == nil:
		o.ret = x.ret
	default:
		// The values are variables of the states while these are joined.
		p := place{-1, nil}
		x.ret.st.vars[p], y.ret.st.vars[p] = x.ret.val, y.ret.val
		st := a.joinedOr(before, at, cond, x.ret.st, y.ret.st)
		o.ret = &result{st, st.vars[p]}
		delete(st.vars, p)
	}
	return o
}

func (o outcome) survives() bool {
	return o.fall != nil || o.brk != nil || o.cont != nil || o.ret != nil
}

// paid is an outcome beside one that ends in a panic: that tells of what was paid for
// until then.
func (a *analysis) paid(before *state, o outcome, died *state) outcome {
	if died == nil {
		return o
	}
	also := func(st *state) *state {
		if st == nil {
			return nil
		}
		st = st.clone()
		st.items = a.choice(before.items, died.items, st.items)
		return st
	}
	p := outcome{fall: also(o.fall), brk: also(o.brk), cont: also(o.cont)}
	if o.ret != nil {
		p.ret = &result{also(o.ret.st), o.ret.val}
	}
	return p
}

var typesFloat = types.Typ[types.Float64]
