package sensitivity

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// indexed notes that an index which depends on private data is not tested to lie within:
// where it lies outside the run ends in a panic, of which rules say nothing. Maps have
// no outside.
func (a *analysis) indexed(f *frame, x *ast.IndexExpr, moves env) {
	if len(moves) == 0 {
		return
	}
	if t := f.pkg.Info.TypeOf(x.X); t != nil {
		if _, ok := t.Underlying().(*types.Map); ok {
			return
		}
	}
	if !f.pkg.tested(x) {
		a.panics = append(a.panics, Refusal{x.Index.Pos(), "an index that depends on private data may lie outside", "if i >= 0 && i < len(x) { ... x[i] ... }"})
	}
}

// partial says it of a proof about a function that may panic by its private data: it
// speaks of the runs that end, and of two neighbours one may.
func (r *Result) partial(panics []Refusal) {
	if !r.Proved || len(panics) == 0 {
		return
	}
	r.Partial = panics
	r.Note += "; of runs that end: " + panics[0].Reason + ", and a panic tells of it"
}

// tested reports whether x stands where 0 <= i && i < len(b) was tested, for x = b[i] of
// variables that are set once.
func (p *Package) tested(x *ast.IndexExpr) bool {
	file := p.file(x)
	i, base := p.once(file, x.Index), p.once(file, x.X)
	if file == nil || i == nil || base == nil {
		return false
	}
	low, high := false, false
	if b, ok := i.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsUnsigned != 0 {
		low = true
	}
	for _, c := range p.conditions(file, x) {
		l, op, r := c.X, c.Op, c.Y
		if p.variable(r) == i {
			l, r = r, l
			op = map[token.Token]token.Token{token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ}[op]
		}
		if p.variable(l) != i {
			continue
		}
		if v := p.Info.Types[r].Value; op == token.GEQ && v != nil && constant.Sign(constant.ToInt(v)) >= 0 {
			low = true
		}
		high = high || op == token.LSS && p.isLength(file, r, base)
	}
	return low && high
}

func (p *Package) file(x ast.Node) *ast.File {
	for _, f := range p.Files {
		if f.FileStart <= x.Pos() && x.Pos() < f.FileEnd {
			return f
		}
	}
	return nil
}

func (p *Package) variable(x ast.Expr) *types.Var {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := p.Info.ObjectOf(id).(*types.Var)
	return v
}

// once is the variable that x is, if nothing sets it but its declaration and nobody has
// its address.
func (p *Package) once(file *ast.File, x ast.Expr) *types.Var {
	v := p.variable(x)
	if v == nil || file == nil || v.Parent() == nil || v.Parent() == p.Types.Scope() {
		return nil
	}
	is := func(y ast.Expr) bool {
		id, ok := ast.Unparen(y).(*ast.Ident)
		return ok && p.Info.Uses[id] == v
	}
	again := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			again = again || slices.ContainsFunc(n.Lhs, is)
		case *ast.IncDecStmt:
			again = again || is(n.X)
		case *ast.UnaryExpr:
			again = again || n.Op == token.AND && is(n.X)
		case *ast.RangeStmt:
			again = again || n.Tok == token.ASSIGN && (n.Key != nil && is(n.Key) || n.Value != nil && is(n.Value))
		}
		return !again
	})
	if again {
		return nil
	}
	return v
}

// isLength reports whether n is the length of base: len(base), or what base was made with.
func (p *Package) isLength(file *ast.File, n ast.Expr, base *types.Var) bool {
	if call, ok := ast.Unparen(n).(*ast.CallExpr); ok {
		return p.builtin(call, "len") && p.variable(call.Args[0]) == base
	}
	size := p.once(file, n)
	if size == nil {
		return false
	}
	made := false
	ast.Inspect(file, func(node ast.Node) bool {
		s, ok := node.(*ast.AssignStmt)
		if ok && len(s.Lhs) == len(s.Rhs) {
			for i, l := range s.Lhs {
				id, ok := l.(*ast.Ident)
				if !ok || p.Info.Defs[id] != base {
					continue
				}
				call, ok := ast.Unparen(s.Rhs[i]).(*ast.CallExpr)
				made = ok && p.builtin(call, "make") && len(call.Args) > 1 && p.variable(call.Args[1]) == size
			}
		}
		return true
	})
	return made
}

func (p *Package) builtin(call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := p.Info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

// conditions are comparisons that hold where x is evaluated: those of the branches that
// it stands in, of what is to its left in a conjunction, and the opposites of those that
// its blocks were left at before it.
func (p *Package) conditions(file *ast.File, x ast.Node) (all []*ast.BinaryExpr) {
	inside := func(n ast.Node) bool { return n != nil && n.Pos() <= x.Pos() && x.End() <= n.End() }
	before := func(list []ast.Stmt) {
		for _, s := range list {
			if s.End() > x.Pos() {
				return
			}
			if s, ok := s.(*ast.IfStmt); ok && s.Else == nil && s.Init == nil && leaves(s.Body) {
				all = append(all, parts(s.Cond, token.LOR, true)...)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || !inside(n) {
			return false
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			if inside(n.Body) {
				all = append(all, parts(n.Cond, token.LAND, false)...)
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND && inside(n.Y) {
				all = append(all, parts(n.X, token.LAND, false)...)
			}
		case *ast.BlockStmt:
			before(n.List)
		case *ast.CaseClause:
			before(n.Body)
		}
		return true
	})
	return all
}

// leaves reports whether a block ends elsewhere.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Label == nil && (s.Tok == token.CONTINUE || s.Tok == token.BREAK)
	}
	return false
}

// parts are the comparisons of a conjunction, or the opposites of those of a disjunction.
func parts(x ast.Expr, joined token.Token, opposite bool) []*ast.BinaryExpr {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	if !ok {
		return nil
	}
	if b.Op == joined {
		return append(parts(b.X, joined, opposite), parts(b.Y, joined, opposite)...)
	}
	if opposite {
		op, ok := map[token.Token]token.Token{token.LSS: token.GEQ, token.LEQ: token.GTR, token.GTR: token.LEQ, token.GEQ: token.LSS}[b.Op]
		if !ok {
			return nil
		}
		b = &ast.BinaryExpr{X: b.X, Op: op, Y: b.Y}
	}
	return []*ast.BinaryExpr{b}
}
