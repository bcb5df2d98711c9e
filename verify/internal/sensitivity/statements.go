package sensitivity

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
)

// An outcome is how a list of statements ends; a state for each way that is possible.
type outcome struct {
	fall, brk, cont *state
	ret             *result
	died            *state // of a panic, where nothing else is left
}

type result struct {
	st  *state
	val value
}

// rest is what follows a list: further statements, or the end of a loop's body.
type rest struct {
	list []ast.Stmt
	next *rest
	body bool
}

// block runs statements. After a conditional that may jump, what follows is run in
// each branch, so that what branches lead to can be compared.
func (a *analysis) block(f *frame, st *state, list []ast.Stmt, k *rest) outcome {
	for i, s := range list {
		a.steps++
		if a.steps > maxSteps {
			a.fail(s, "", "the analysis does not end within %d steps", maxSteps)
		}
		if a.work.over() {
			a.late(s)
		}
		if a.spent() {
			a.fail(s, "fewer minima and maxima of each other", "signs of numbers that have too many cases")
		}
		tail := &rest{list: list[i+1:], next: k}
		switch s := s.(type) {
		case *ast.IfStmt:
			if jumps(s) {
				return a.branch(f, st, s, tail)
			}
			o := a.branch(f, st, s, nil)
			if o.fall == nil {
				return o
			}
			st = o.fall
		case *ast.SwitchStmt:
			list := a.cases(f, st, s)
			if jumps(s) {
				return a.block(f, st, list, tail)
			}
			o := a.block(f, st, list, nil)
			if o.fall == nil {
				return o
			}
			st = o.fall
		case *ast.BlockStmt:
			if jumps(s) {
				return a.block(f, st, s.List, tail)
			}
			o := a.block(f, st, s.List, nil)
			if o.fall == nil {
				return o
			}
			st = o.fall
		case *ast.ForStmt, *ast.RangeStmt:
			after, ret := a.loop(f, st, s)
			a.measures(f, st, after, s)
			o := a.block(f, after, list[i+1:], k)
			if ret != nil {
				o = a.merge(nil, value{sym: one()}, after, o, outcome{ret: ret})
			}
			return o
		case *ast.ReturnStmt:
			return outcome{ret: &result{st, a.results(f, st, s)}}
		case *ast.BranchStmt:
			if s.Label != nil {
				a.fail(s, "break and continue of the innermost loop", "a jump to a label")
			}
			switch s.Tok {
			case token.BREAK:
				return outcome{brk: st}
			case token.CONTINUE:
				if l := a.top(); l != nil && l.post != nil {
					st = a.block(f, st, []ast.Stmt{l.post}, nil).fall
				}
				return outcome{cont: st}
			}
			a.fail(s, "if and else", "%s", s.Tok)
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" && f.pkg.Info.Uses[id] == types.Universe.Lookup("panic") {
					v := a.shown(st, a.expr(f, st, call.Args[0]), s)
					if len(a.envs(st, v)[l1]) > 0 {
						a.fail(s, "a panic that says nothing of them", "a panic shows private data")
					}
					return outcome{died: st}
				}
			}
			a.used(st, a.expr(f, st, s.X), s)
		case *ast.AssignStmt:
			a.assignment(f, st, s)
		case *ast.IncDecStmt:
			op := token.ADD
			if s.Tok == token.DEC {
				op = token.SUB
			}
			a.modify(f, st, s.X, op, value{sym: one()}, s)
		case *ast.DeclStmt:
			a.declaration(f, st, s)
		case *ast.EmptyStmt:
		default:
			a.fail(s, "straight code, conditionals and loops", "a statement that is not of the subset")
		}
	}
	switch {
	case k == nil:
		return outcome{fall: st}
	case k.body:
		return outcome{cont: st}
	}
	return a.block(f, st, k.list, k.next)
}

// jumps reports whether a statement may leave itself: by return, or to the loop
// around it.
func jumps(s ast.Stmt) (found bool) {
	var walk func(n ast.Node, inLoop bool)
	walk = func(n ast.Node, inLoop bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			switch m := m.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				found = true
			case *ast.BranchStmt:
				found = found || !inLoop
			case *ast.ForStmt:
				if m != n {
					walk(m.Body, true)
					return false
				}
			case *ast.RangeStmt:
				if m != n {
					walk(m.Body, true)
					return false
				}
			case *ast.CallExpr:
				if id, ok := m.Fun.(*ast.Ident); ok && id.Name == "panic" {
					found = true
				}
			}
			return true
		})
	}
	walk(s, false)
	return found
}

// cases writes a switch as conditionals.
func (a *analysis) cases(f *frame, st *state, s *ast.SwitchStmt) []ast.Stmt {
	var list []ast.Stmt
	if s.Init != nil {
		list = append(list, s.Init)
	}
	tag := s.Tag
	if t := f.pkg.Info.Types[tag].Type; tag != nil && !simple(tag) && !dynamic(t) {
		// It is evaluated once.
		if s.Init != nil {
			a.block(f, st, list, nil)
			list = nil
		}
		id := &ast.Ident{NamePos: tag.Pos(), Name: types.ExprString(tag)}
		a.tags[id] = types.NewVar(tag.Pos(), f.pkg.Types, id.Name, t)
		st.vars[place{f.id, a.tags[id]}] = a.number(st, a.expr(f, st, tag), tag)
		tag = id
	}
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			if n.Tok != token.CONTINUE {
				a.fail(n, "cases that end by themselves", "%s in a switch", n.Tok)
			}
		}
		return true
	})
	var chain ast.Stmt
	clauses := s.Body.List
	for i := len(clauses) - 1; i >= 0; i-- {
		c := clauses[i].(*ast.CaseClause)
		body := &ast.BlockStmt{Lbrace: c.Pos(), List: c.Body}
		if c.List == nil {
			if i != len(clauses)-1 {
				a.fail(c, "default as the last case", "a default before other cases")
			}
			chain = body
			continue
		}
		var cond ast.Expr
		for _, x := range c.List {
			if tag != nil {
				x = &ast.BinaryExpr{X: tag, OpPos: x.Pos(), Op: token.EQL, Y: x}
			}
			if cond == nil {
				cond = x
			} else {
				cond = &ast.BinaryExpr{X: cond, OpPos: x.Pos(), Op: token.LOR, Y: x}
			}
		}
		chain = &ast.IfStmt{If: c.Pos(), Cond: cond, Body: body, Else: chain}
	}
	if tag != nil && !simple(tag) {
		a.fail(s.Tag, "a switch on a variable", "a switch on an expression that may act")
	}
	if chain != nil {
		list = append(list, chain)
	}
	return list
}

// simple expressions have no effects and may be evaluated twice.
func simple(x ast.Expr) bool {
	ok := true
	ast.Inspect(x, func(n ast.Node) bool {
		if _, is := n.(*ast.CallExpr); is {
			ok = false
		}
		return ok
	})
	return ok
}

func (a *analysis) results(f *frame, st *state, s *ast.ReturnStmt) value {
	var vals []value
	switch {
	case len(s.Results) == 0:
		for _, p := range f.results {
			vals = append(vals, a.get(st, p, s))
		}
	case len(s.Results) == 1:
		v := a.expr(f, st, s.Results[0])
		if v.kind == tuple {
			return v
		}
		vals = []value{v}
	default:
		for _, x := range s.Results {
			vals = append(vals, a.expr(f, st, x))
		}
	}
	if len(vals) == 1 {
		return vals[0]
	}
	return value{kind: tuple, elems: vals}
}

func (a *analysis) declaration(f *frame, st *state, s *ast.DeclStmt) {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR {
		return // constants and types are known to go/types
	}
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		if len(spec.Values) == 0 {
			for _, name := range spec.Names {
				if obj := f.pkg.Info.Defs[name]; obj != nil {
					st.vars[place{f.id, obj}] = a.zero(st, obj.Type())
				}
			}
			continue
		}
		lhs := make([]ast.Expr, len(spec.Names))
		for i, name := range spec.Names {
			lhs[i] = name
		}
		a.assignAll(f, st, lhs, spec.Values, s)
	}
}

func (a *analysis) assignment(f *frame, st *state, s *ast.AssignStmt) {
	switch s.Tok {
	case token.ASSIGN, token.DEFINE:
		a.assignAll(f, st, s.Lhs, s.Rhs, s)
	default:
		ops := map[token.Token]token.Token{token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL,
			token.QUO_ASSIGN: token.QUO, token.REM_ASSIGN: token.REM, token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR,
			token.XOR_ASSIGN: token.XOR, token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT}
		a.modify(f, st, s.Lhs[0], ops[s.Tok], a.expr(f, st, s.Rhs[0]), s)
	}
}

func (a *analysis) assignAll(f *frame, st *state, lhs, rhs []ast.Expr, at ast.Node) {
	// counts[k] = counts[k] + e is counts[k] += e.
	if len(lhs) == 1 && len(rhs) == 1 {
		b, sums := rhs[0].(*ast.BinaryExpr)
		ix, element := lhs[0].(*ast.IndexExpr)
		if sums && element && (b.Op == token.ADD || b.Op == token.SUB) && simple(ix) && simple(b.X) && types.ExprString(ix) == types.ExprString(b.X) {
			a.modify(f, st, ix, b.Op, a.expr(f, st, b.Y), at)
			return
		}
	}
	if a.permutes(f, st, lhs, rhs) {
		return
	}
	vals := a.evaluated(f, st, lhs, rhs, at)
	for i, l := range lhs {
		if vals[i].name == appendedWithin {
			continue
		}
		a.assign(f, st, l, vals[i], at)
	}
}

// evaluated are the values of an assignment.
func (a *analysis) evaluated(f *frame, st *state, lhs, rhs []ast.Expr, at ast.Node) (vals []value) {
	if len(rhs) == 1 && len(lhs) > 1 {
		v := a.expr(f, st, rhs[0])
		if v.kind != tuple {
			// v, ok := m[k], of a map whose keys are what is asked.
			e := a.envs(st, v)
			if ix, ok := ast.Unparen(rhs[0]).(*ast.IndexExpr); ok {
				if m := a.expr(f, st, ix.X); m.kind == ref {
					e[l1] = e[l1].add(st.heap[m.obj].keys)
				}
			}
			ok := a.opaque("ok", e[l1], a.why(at, "", "whether there is a value depends on private data"))
			v = value{kind: tuple, elems: []value{v, ok}}
		}
		if len(v.elems) != len(lhs) {
			a.fail(at, "", "%d values for %d variables", len(v.elems), len(lhs))
		}
		vals = v.elems
	} else {
		for i, x := range rhs {
			if grown, ok := a.appendTo(f, st, lhs[i], x); ok {
				vals = append(vals, grown)
				continue
			}
			vals = append(vals, a.expr(f, st, x))
		}
	}
	return vals
}

func (a *analysis) assign(f *frame, st *state, l ast.Expr, v value, at ast.Node) {
	switch l := l.(type) {
	case *ast.ParenExpr:
		a.assign(f, st, l.X, v, at)
	case *ast.Ident:
		if l.Name == "_" {
			a.used(st, v, at)
			return
		}
		a.unseen(f, l)
		if obj := f.pkg.Info.Defs[l]; obj != nil {
			st.vars[place{f.id, obj}] = v
			return
		}
		st.vars[a.place(f, st, f.pkg.Info.Uses[l], l)] = v
	case *ast.IndexExpr:
		if p, ok := a.holds(f, st, l); ok {
			st.vars[p] = v
			return
		}
		a.store(f, st, l, v, at)
	case *ast.SelectorExpr:
		if nested(l.X) {
			a.storeInside(f, st, l, v, at)
			return
		}
		id, ok := l.X.(*ast.Ident)
		if !ok {
			a.fail(l, "a field of a variable", "an assignment to a field of an expression")
		}
		a.unseen(f, id)
		p := a.place(f, st, f.pkg.Info.Uses[id], id)
		st.vars[p] = a.withField(st, st.vars[p], f.pkg.Info.Types[id].Type, f.pkg.Info.Selections[l].Index(), v, l)
	default:
		a.fail(l, "variables, elements and fields", "an assignment that is not of the subset")
	}
}

// withField is a struct with another value in a field. The path to that of an embedded
// struct leads through all that it is in.
func (a *analysis) withField(st *state, whole value, t types.Type, path []int, v value, at ast.Node) value {
	if len(path) == 0 {
		return v
	}
	u, ok := t.Underlying().(*types.Struct)
	if !ok || whole.kind != plain && whole.kind != record {
		a.fail(at, "structs as values", "an assignment through a pointer")
	}
	fields := map[string]value{}
	if whole.kind == plain {
		if len(a.env(whole.sym)) > 0 {
			a.fail(at, "a struct of numbers", "an assignment to a field of a value of which nothing is known")
		}
		for field := range u.Fields() {
			fields[field.Name()] = a.part(st, whole.sym, field)
		}
		whole = value{kind: record}
	}
	maps.Copy(fields, whole.fields)
	field := u.Field(path[0])
	fields[field.Name()] = a.withField(st, a.field(st, value{kind: record, base: whole.base, fields: fields}, field, at), field.Type(), path[1:], v, at)
	whole.fields = fields
	return whole
}

// unseen refuses to set what a function over records sees, which may run later.
func (a *analysis) unseen(f *frame, id *ast.Ident) {
	if a.seen[f.pkg.Info.Uses[id]] {
		a.fail(id, "a variable of its own", "a function over records sees %s, and may run after it is set", id.Name)
	}
}

// place finds the variable of an outer function where it is none of this one.
func (a *analysis) place(f *frame, st *state, obj types.Object, at ast.Node) place {
	for id := f.id; id != 0; id = a.parents[id] {
		p := place{id, obj}
		if _, ok := st.vars[p]; ok {
			return p
		}
	}
	a.fail(at, "parameters and local variables", "an assignment to a variable outside the function")
	return place{}
}

func (a *analysis) get(st *state, p place, at ast.Node) value {
	v, ok := st.vars[p]
	if !ok {
		a.fail(at, "", "a variable without a value")
	}
	return v
}

// modify is x op= v.
func (a *analysis) modify(f *frame, st *state, x ast.Expr, op token.Token, v value, at ast.Node) {
	_, element := x.(*ast.IndexExpr)
	_, held := a.holds(f, st, x)
	if (element || nested(x)) && !held && (op == token.ADD || op == token.SUB) {
		if t := f.pkg.Info.Types[x].Type; t != nil && numeric(t) && !(op == token.SUB && unsigned(t)) {
			if op == token.SUB && v.kind == plain {
				v.sym = v.sym.neg()
				op = token.ADD
			}
			if v.kind == plain {
				a.increase(f, st, x, v, at)
				return
			}
		}
	}
	if !simple(x) {
		a.fail(x, "a variable for the index", "an operation on a place that may act")
	}
	old := a.expr(f, st, x)
	t := f.pkg.Info.Types[x].Type
	a.assign(f, st, x, a.binary(st, op, old, v, t, at), at)
}
