package sensitivity

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// judge holds one variable to the discipline.
func (r *discipline) judge(o *types.Var, v *variable) {
	if len(v.writes) == 0 {
		return
	}
	if v.param {
		if v.level != r.decl {
			r.refuse(v.writes[0], "what the function returns", "a function literal writes to what it is given")
		}
		if array(v.object.Type()) {
			r.refuse(v.writes[0], "a variable", "a parameter is written to that is a copy of an array")
		}
		r.deep = r.deep || v.depth > 1
		for _, s := range v.sets {
			if !r.part(s) {
				r.refuse(s.at, "a variable of its own", "a parameter that is written to is set")
			}
		}
		r.writes[o] = true
	}
	for _, s := range v.sets {
		if !r.freshSet(v, s) {
			r.refuse(v.writes[0], "a slice of its own: make, slices.Clone, or append to an empty one", "what "+o.Name()+" leads to is written to, and another name may lead there")
		}
	}
	for _, x := range v.kept {
		if !r.lasting(v, x) {
			r.refuse(x, "slices.Clone", o.Name()+" is written to after another name was given to what it leads to")
		}
	}
	for _, u := range v.uses {
		if l := r.level(u); l != v.level && !r.compares(l) && !r.last(v, v.writes, l) {
			r.refuse(u, "a function literal behind the last write", o.Name()+" is written to, and a function literal reads it")
		}
	}
	r.ranges(o, v)
}

// part reports whether a set is of elements, and changes no length.
func (r *discipline) part(s set) bool {
	_, spread := r.spread(s)
	return s.level > 0 && !spread && r.elementwise(s.at) || spread && r.builtin(r.parent[s.value].(*ast.CallExpr)) == "copy"
}

// freshSet reports whether what a variable is set to, or an element of it, is led to by no
// other name, as far in as it is written to.
func (r *discipline) freshSet(v *variable, s set) bool {
	far := v.depth - s.level
	switch {
	case far <= 0:
		return true
	case s.alien:
		return false
	case s.value == nil:
		return true
	case s.index >= 0:
		return r.newResult(s.value, s.index, far)
	}
	if y, ok := r.spread(s); ok {
		return !leads(elementType(r.pkg.Info.TypeOf(y)))
	}
	if part, ok := ast.Unparen(s.value).(*ast.SliceExpr); ok && s.level == 0 {
		if id, ok := ast.Unparen(part.X).(*ast.Ident); ok && r.pkg.Info.Uses[id] == types.Object(v.object) {
			return true // a part of what it led to before
		}
	}
	return r.new(s.value, far)
}

// spread reports whether a set is by copy or by append(x, y...).
func (r *discipline) spread(s set) (ast.Expr, bool) {
	if s.value == nil {
		return nil, false
	}
	call, ok := r.parent[s.value].(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	switch r.builtin(call) {
	case "copy":
		return s.value, true
	case "append":
		return s.value, call.Ellipsis.IsValid() && call.Args[len(call.Args)-1] == s.value
	}
	return nil, false
}

// everywhere is as far in as anything leads.
const everywhere = 1 << 10

// new reports whether an expression leads to memory that no name leads to, so far in.
func (r *discipline) new(x ast.Expr, far int) bool {
	x = ast.Unparen(x)
	tv := r.pkg.Info.Types[x]
	if far <= 0 || tv.IsNil() || tv.Type != nil && !leads(tv.Type) {
		return true
	}
	switch x := x.(type) {
	case *ast.UnaryExpr:
		return x.Op == token.AND && r.new(x.X, far)
	case *ast.CompositeLit:
		switch core(tv.Type).(type) {
		case *types.Slice, *types.Map:
			far-- // elements are a step further
		}
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			if !r.new(e, far) {
				return false
			}
		}
		return true
	case *ast.FuncLit:
		return !r.captures(x)
	case *ast.Ident:
		o, ok := r.pkg.Info.Uses[x].(*types.Var)
		return ok && r.moved(r.vars[o], x)
	case *ast.CallExpr:
		if r.pkg.Info.Types[x.Fun].IsType() {
			return r.new(x.Args[0], far)
		}
		return r.newResult(x, 0, far)
	}
	return false
}

// captures reports whether a literal sees a variable outside of it that leads somewhere.
func (r *discipline) captures(lit *ast.FuncLit) (found bool) {
	ast.Inspect(lit, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			o, ok := r.pkg.Info.Uses[id].(*types.Var)
			found = found || ok && !o.IsField() && (o.Pos() < lit.Pos() || o.Pos() >= lit.End()) && leads(o.Type())
		}
		return !found
	})
	return found
}

// newResult is the same of one of the results of a call.
func (r *discipline) newResult(x ast.Expr, i, far int) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return i == 1 // v, ok := m[k]
	}
	switch r.builtin(call) {
	case "make":
		return true
	case "append":
		for k, y := range call.Args {
			switch {
			case k == 0 && !r.new(y, far):
				return false
			case k > 0 && call.Ellipsis.IsValid():
				if far > 1 && leads(elementType(r.pkg.Info.TypeOf(y))) {
					return false
				}
			case k > 0 && !r.new(y, far-1):
				return false
			}
		}
		return true
	case "":
	default:
		return false
	}
	t := r.pkg.Info.TypeOf(call)
	if list, ok := t.(*types.Tuple); ok {
		t = list.At(i).Type()
	}
	if !leads(t) || isError(t) {
		return true
	}
	fn := r.called(call)
	if fn == nil {
		return false
	}
	if s, ok := t.Underlying().(*types.Slice); ok && trusted(fn) {
		return !leads(s.Elem()) // releases are new
	}
	if d, ok := r.program.funcs[fn.Origin().FullName()]; ok {
		k := r.program.read(d)
		return k.open || k.refusal == nil && k.fresh[i]
	}
	return copies(fn) && (far == 1 || !leads(elementType(t)))
}

// moved reports whether a use of a variable gives all that it leads to away.
func (r *discipline) moved(v *variable, x *ast.Ident) bool {
	if v == nil || v.param || v.level == nil || v.level != r.level(x) || v.fresh == 2 || v.fresh == 3 {
		return false
	}
	if v.fresh == 0 {
		v.fresh = 3
		ok := true
		for _, s := range v.sets {
			switch {
			case s.alien:
				ok = false
			case s.value == nil:
			case s.index >= 0:
				ok = ok && r.newResult(s.value, s.index, everywhere)
			default:
				if y, spread := r.spread(s); spread {
					ok = ok && !leads(elementType(r.pkg.Info.TypeOf(y)))
					continue
				}
				ok = ok && r.new(s.value, everywhere)
			}
		}
		v.fresh = 2
		if ok {
			v.fresh = 1
		}
	}
	if v.fresh != 1 {
		return false
	}
	for _, k := range v.kept {
		if k != ast.Expr(x) {
			return false
		}
	}
	for _, u := range v.uses {
		if r.level(u) != v.level {
			return false // a function literal sees it, and may be called later
		}
	}
	return r.last(v, v.uses, x)
}

// lasting reports whether a variable is not written to any more behind a use of it.
func (r *discipline) lasting(v *variable, x ast.Expr) bool { return r.last(v, v.writes, x) }

// last reports whether none of the places is reached behind a node, while the variable is
// the same. There are no jumps back but loops.
func (r *discipline) last(v *variable, places []ast.Node, x ast.Node) bool {
	for l := r.level(x); l != v.level; l = r.level(l) {
		if l == r.decl {
			return false
		}
		x = l // the literal may be called as long as it lives
	}
	at, ends := r.statement(x), r.returned(x)
	for _, w := range places {
		if w == x || w == r.parent[x] { // append(x, ...) itself
			continue
		}
		if ends && w.Pos() >= at.Pos() && w.End() <= at.End() || !ends && w.End() > at.Pos() {
			return false
		}
	}
	if ends {
		return true
	}
	for n := r.parent[x]; n != nil && n != v.level; n = r.parent[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if r.inBody(n, v.at) {
				return true // it is declared anew in each round
			}
			for _, w := range places {
				if w.Pos() >= n.Pos() && w.End() <= n.End() {
					return false
				}
			}
		}
	}
	return true
}

// inBody reports whether a node is in the body of a loop.
func (r *discipline) inBody(loop, n ast.Node) bool {
	var body *ast.BlockStmt
	switch l := loop.(type) {
	case *ast.ForStmt:
		body = l.Body
	case *ast.RangeStmt:
		if n.Pos() >= l.Pos() && n.End() <= l.X.Pos() {
			return true // the variables of a range are new in each round
		}
		body = l.Body
	}
	return n.Pos() >= body.Pos() && n.End() <= body.End()
}

// returned reports whether a use is of what is returned: nothing follows it.
func (r *discipline) returned(x ast.Node) bool {
	for n := r.parent[x]; n != nil; n = r.parent[n] {
		switch m := n.(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.ParenExpr, *ast.CompositeLit, *ast.KeyValueExpr, *ast.UnaryExpr:
		case *ast.CallExpr:
			if !r.pkg.Info.Types[m.Fun].IsType() && r.builtin(m) != "append" {
				return false
			}
		default:
			return false
		}
	}
	return false
}

// ranges: what is ranged over is not written to in the loop but at the index of its round,
// or, where only indices are asked for, without a change of length.
func (r *discipline) ranges(o *types.Var, v *variable) {
	for _, u := range v.uses {
		loop, ok := r.rangedOver(u)
		if !ok || v.at.Pos() >= loop.Body.Pos() && v.at.End() <= loop.Body.End() {
			continue
		}
		key, _ := loop.Key.(*ast.Ident)
		_, table := core(r.pkg.Info.TypeOf(loop.X)).(*types.Map)
		for _, w := range v.writes {
			if w.Pos() < loop.Body.Pos() || w.End() > loop.Body.End() {
				continue
			}
			if !r.atIndex(w, loop, key) && (table || loop.Value != nil && !isBlank(loop.Value) || !r.elementwise(w)) {
				r.refuse(w, "another slice for the results", o.Name()+" is written to while it is ranged over")
			}
		}
		for _, s := range v.sets {
			if s.at.Pos() >= loop.Body.Pos() && s.at.End() <= loop.Body.End() && !r.part(s) {
				r.refuse(s.at, "another variable", o.Name()+" is set while it is ranged over")
			}
		}
	}
}

// rangedOver is the loop over what a variable leads to.
func (r *discipline) rangedOver(u ast.Node) (*ast.RangeStmt, bool) {
	for n := r.parent[u]; n != nil; n = r.parent[n] {
		switch p := n.(type) {
		case *ast.RangeStmt:
			return p, u.Pos() >= p.X.Pos() && u.End() <= p.X.End()
		case ast.Stmt:
			return nil, false
		}
	}
	return nil, false
}

// elementwise reports whether a statement writes to elements, and changes no length.
func (r *discipline) elementwise(w ast.Node) bool {
	switch w := w.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		for i, x := range w.Rhs {
			if len(w.Lhs) != len(w.Rhs) {
				return false
			}
			if _, grows := r.grows(w.Lhs[i], x); grows {
				return false
			}
		}
		for _, l := range w.Lhs {
			if _, index := r.withoutFields(l).(*ast.IndexExpr); !index {
				return false
			}
		}
		return true
	}
	return false
}

// withoutFields is the element that fields of it are written to, if no pointer is between.
func (r *discipline) withoutFields(x ast.Expr) ast.Expr {
	for {
		sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
		if !ok {
			return ast.Unparen(x)
		}
		if s := r.pkg.Info.Selections[sel]; s == nil || s.Kind() != types.FieldVal || s.Indirect() {
			return x
		}
		x = sel.X
	}
}

// atIndex reports whether a statement writes to the element of the loop's own index.
func (r *discipline) atIndex(w ast.Node, loop *ast.RangeStmt, key *ast.Ident) bool {
	if key == nil || !r.elementwise(w) {
		return false
	}
	var places []ast.Expr
	switch w := w.(type) {
	case *ast.IncDecStmt:
		places = []ast.Expr{w.X}
	case *ast.AssignStmt:
		places = w.Lhs
	}
	for _, l := range places {
		for {
			ix, ok := r.withoutFields(l).(*ast.IndexExpr)
			if !ok {
				return false
			}
			if id, ok := ast.Unparen(ix.Index).(*ast.Ident); ok && r.pkg.Info.ObjectOf(id) == r.pkg.Info.ObjectOf(key) && types.ExprString(ix.X) == types.ExprString(loop.X) {
				break
			}
			l = ix.X
		}
	}
	return true
}

// results says which results are fresh.
func (r *discipline) results() {
	sig := r.fn.Signature()
	r.fresh = make([]bool, sig.Results().Len())
	for i := range r.fresh {
		t := sig.Results().At(i).Type()
		r.fresh[i] = !leads(t) || isError(t)
	}
	if slices.Index(r.fresh, false) < 0 {
		return
	}
	all := slices.Clone(r.fresh)
	for i := range all {
		all[i] = true
	}
	ast.Inspect(r.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for i := range all {
				switch {
				case r.fresh[i]:
				case len(n.Results) == 0:
					all[i] = false
				case len(n.Results) == len(all):
					all[i] = all[i] && r.new(n.Results[i], everywhere)
				default:
					all[i] = all[i] && r.newResult(n.Results[0], i, everywhere)
				}
			}
		}
		return true
	})
	r.fresh = all
}
