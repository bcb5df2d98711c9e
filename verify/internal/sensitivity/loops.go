package sensitivity

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math/big"
)

// A loop is one that is being analysed.
//
// What a loop does to the distance of its variables is a linear recurrence: the body
// is run once from a head where every variable that it changes moves by an unknown
// of its own. The recurrence is solved where each unknown depends on itself with a
// factor of at most 1, and on others that are solved before it; everything else is
// infinite.
type loop struct {
	id    int
	name  string
	bag   bool   // over private records
	row   string // the source that stands for a record
	rows  int    // the records, as they are before the loop
	place Expr   // where the record of an iteration stands
	at    value  // that record
	index Expr   // is different in each iteration, if there is one
	count Expr   // how often the body runs at most, which is not negative
	exact Expr   // the same, as it is written: it may be negative where the loop is not reached
	whole bool   // the index begins at 0
	mark  int    // atoms with a larger serial belong to one iteration
	cells map[int]value
	// families are the elements at other indices that are another one in each round.
	families map[string]value
	views    map[string]*object // those of them that are rows
	step     place              // the variable that is the index, if a statement after the body changes it
	stride   *big.Rat           // by how much
	post     ast.Stmt           // that statement
	own      map[int]bool       // objects of which something at the index was read or set
	mixed    map[int]bool
	split    map[int]string // of splits that a part of takes the place of what was split: that part

	ends    map[string]Expr // what changed numbers are at the end of the body
	initial map[string]env  // of the unknowns
	solved  map[string]env
	reach   env // of a loop over private records: what anything that it changes depends on
}

// changes are what a body changes.
type changes struct {
	vars    map[place]bool
	objs    map[int]bool
	lengths map[int]bool    // objects whose length changes
	copies  map[place]bool  // slices that are given an object of their own before the loop
	uneven  map[int]bool    // objects whose rows come to have private lengths
	bags    map[int]bool    // objects that the body makes multisets of
	mixed   map[int]bool    // objects that are read or written elsewhere than at the loop's index
	elems   map[int]bool    // multisets that the body puts other records in
	full    map[int]bool    // tables that an iteration leaves more than one constant in
	private map[string]bool // unknowns that are not public
}

func (a *analysis) loop(f *frame, st *state, s ast.Stmt) (after *state, ret *result) {
	if !a.amongRecords() {
		return a.loopOf(f, st, s)
	}
	again := st.clone()
	if _, why := a.attempt(st.clone(), func() value {
		after, ret = a.loopOf(f, st, s)
		return value{}
	}); why != nil {
		a.anyLoop(f, again, s, *why)
		return again, nil
	}
	return after, ret
}

func (a *analysis) loopOf(f *frame, st *state, s ast.Stmt) (*state, *result) {
	return a.hold(f, st, s, func(st *state) (*state, *result) {
		switch s := s.(type) {
		case *ast.RangeStmt:
			return a.rangeLoop(f, st, s)
		case *ast.ForStmt:
			return a.forLoop(f, st, s)
		}
		return st, nil
	})
}

func (a *analysis) newLoop(count Expr) *loop {
	id := a.next()
	exact := count
	if !a.isNonneg(count) {
		// What a distance is bounded by is added to others, where the loop is not reached too.
		count = a.max(count, Expr{})
	}
	return &loop{id: id, name: fmt.Sprintf("·l%d", id), count: count, exact: exact, mark: id,
		own: map[int]bool{}, cells: map[int]value{}, families: map[string]value{}, views: map[string]*object{}, mixed: map[int]bool{}, split: map[int]string{}, ends: map[string]Expr{}, initial: map[string]env{}, solved: map[string]env{}}
}

// unknown names that of a variable.
func (l *loop) unknown(p place) string {
	return fmt.Sprintf("%s.%s·%d·%d", l.name, p.obj.Name(), p.obj.Pos(), p.frame)
}

// bind sets the variables of a range.
func (a *analysis) bind(f *frame, st *state, x ast.Expr, v value) {
	if x == nil {
		return
	}
	if id, ok := x.(*ast.Ident); ok && id.Name == "_" {
		return
	}
	a.assign(f, st, x, v, x)
}

func (a *analysis) rangeLoop(f *frame, st *state, s *ast.RangeStmt) (*state, *result) {
	v := a.expr(f, st, s.X)
	t := f.pkg.Info.Types[s.X].Type
	switch v.kind {
	case ref:
		o := a.settled(st.heap[v.obj])
		if o.bag {
			a.touch(v.obj, nil)
			return a.bagLoop(f, st, s, o)
		}
		a.touch(v.obj, nil)
		count := o.length
		if o.table {
			if len(o.keys) > 0 {
				return a.privateLoop(f, st, s, s.Body, o.keys.add(o.env[l1]))
			}
			count = a.hidden("len", known{lo: &Expr{}, whole: true})
		}
		elem := elementType(t)
		return a.publicLoop(f, st, count, nil, s.Body, nil, nil, func(h *state, l *loop) {
			if _, array := t.Underlying().(*types.Array); array && s.Value != nil {
				// A range over an array sees a copy.
				if l.mixed[v.obj] {
					a.fail(s, "a range over a slice, or over indices", "a range over an array that its body changes")
				}
			}
			a.keyed(l, t)
			a.bind(f, h, s.Key, value{sym: l.index})
			if s.Value != nil {
				a.bind(f, h, s.Value, a.element(h, v.obj, value{sym: l.index}, nil, elem, s))
			}
		})
	case divided:
		return a.publicLoop(f, st, v.fields["count"].sym, nil, s.Body, nil, nil, func(h *state, l *loop) {
			a.bind(f, h, s.Key, value{sym: l.index})
			a.bind(f, h, s.Value, a.partOf(v, value{sym: l.index}))
		})
	case plain:
		if e := a.env(v.sym); len(e) > 0 {
			if a.amongRecords() && vectorType(t) {
				var after *state
				var ret *result
				_, why := a.attempt(st.clone(), func() value {
					after, ret = a.rowLoop(f, st, s, v.sym, t)
					return value{}
				})
				if why == nil {
					return after, ret
				}
			}
			return a.privateLoop(f, st, s, s.Body, e)
		}
		if t != nil && isInteger(t) {
			count := v.sym
			if !a.isNonneg(count) {
				count = a.max(count, Expr{})
			}
			return a.publicLoop(f, st, count, nil, s.Body, nil, nil, func(h *state, l *loop) {
				a.bind(f, h, s.Key, value{sym: l.index})
			})
		}
		switch core(t).(type) {
		case *types.Slice, *types.Array, *types.Pointer, *types.Map, *types.Basic:
		default: // a function may yield an index twice
			a.fail(s, "a range over a slice", "a range over what is no slice, map or integer")
		}
		count := a.hidden("count", known{lo: &Expr{}, whole: true})
		return a.publicLoop(f, st, count, nil, s.Body, nil, nil, func(h *state, l *loop) {
			a.keyed(l, t)
			a.bind(f, h, s.Key, value{sym: l.index})
			a.bind(f, h, s.Value, a.public("element"))
		})
	}
	a.fail(s, "a range over a slice, map or integer", "a range that is not of the subset")
	return nil, nil
}

// keyed makes the index of a loop over a map the key of its round: each is another one, and
// any.
func (a *analysis) keyed(l *loop, t types.Type) {
	m, ok := core(t).(*types.Map)
	if !ok {
		return
	}
	l.index = a.hidden("key", known{whole: isInteger(m.Key())})
	l.whole = false
}

func (a *analysis) forLoop(f *frame, st *state, s *ast.ForStmt) (*state, *result) {
	st = st.clone()
	if s.Init != nil {
		o := a.block(f, st, []ast.Stmt{s.Init}, nil)
		st = o.fall
	}
	if r, ok := a.overRecords(f, st, s); ok {
		return a.rangeLoop(f, st, r)
	}
	if after, ret, ok := a.counted(f, st, s); ok {
		return after, ret
	}
	count := a.hidden("count", known{lo: &Expr{}, whole: true})
	p, first, by, ok := a.stepped(f, st, s)
	if !ok {
		return a.publicLoop(f, st, count, s.Cond, s.Body, s.Post, nil, func(h *state, l *loop) { l.index = Expr{} })
	}
	var fixed []place
	var least, most *Expr
	for _, c := range conjuncts(s.Cond) {
		last, up, places, ok := a.end(f, st, c, s.Body, p.obj)
		if !ok || up != (by.Sign() > 0) {
			continue
		}
		rounds := last.sub(first).mul(rat(new(big.Rat).Inv(by))).add(one())
		if !a.isNonneg(rounds) {
			rounds = a.max(rounds, Expr{})
		}
		if len(fixed) == 0 {
			count, least, most = rounds, &first, &last
			if !up {
				least, most = &last, &first
			}
		} else {
			count = a.min(count, rounds)
		}
		fixed = append(fixed, places...)
	}
	return a.publicLoop(f, st, count, s.Cond, s.Body, s.Post, fixed, func(h *state, l *loop) {
		l.step, l.stride, l.index = p, by, Expr{}
		i := h.vars[p].sym
		if len(i.terms) != 1 || len(i.terms[0].powers) != 1 || !i.is(atomic(i.terms[0].powers[0].atom)) || a.serialOf(i.terms[0].powers[0].atom) < l.mark {
			return // the first look at the body, which has not changed it yet
		}
		l.index = i
		if least != nil {
			x := i.terms[0].powers[0].atom
			k := a.knowns[x.name]
			k.lo, k.most = least, most
			x.nonneg = a.isNonneg(*least)
		}
	})
}

// stepped is a variable that the statement after a body, and nothing in it, changes by the
// same number each time.
func (a *analysis) stepped(f *frame, st *state, s *ast.ForStmt) (p place, first Expr, by *big.Rat, ok bool) {
	var x ast.Expr
	switch post := s.Post.(type) {
	case *ast.IncDecStmt:
		x, by = post.X, big.NewRat(1, 1)
		if post.Tok == token.DEC {
			by.Neg(by)
		}
	case *ast.AssignStmt:
		if len(post.Lhs) != 1 || post.Tok != token.ADD_ASSIGN && post.Tok != token.SUB_ASSIGN {
			return p, first, nil, false
		}
		c := f.pkg.Info.Types[post.Rhs[0]].Value
		if c == nil {
			return p, first, nil, false
		}
		n, ok := a.constant(c).sym.number()
		if !ok || n.Sign() == 0 {
			return p, first, nil, false
		}
		x, by = post.Lhs[0], new(big.Rat).Set(n)
		if post.Tok == token.SUB_ASSIGN {
			by.Neg(by)
		}
	}
	id, variable := x.(*ast.Ident)
	if !variable || s.Cond == nil {
		return p, first, nil, false
	}
	p = place{f.id, f.pkg.Info.Uses[id]}
	v, here := st.vars[p]
	if !here || v.kind != plain || len(a.env(v.sym)) > 0 || !isInteger(p.obj.Type()) || unsigned(p.obj.Type()) || assigns(f, s.Body, id, p.obj) {
		return p, first, nil, false
	}
	return p, v.sym, by, true
}

// end is the last number that a variable may be, in one direction, for a condition to hold
// of which the rest is fixed.
func (a *analysis) end(f *frame, st *state, c ast.Expr, body *ast.BlockStmt, obj types.Object) (last Expr, up bool, fixed []place, ok bool) {
	cond, ok := c.(*ast.BinaryExpr)
	if !ok || !plainly(f, cond) {
		return last, false, nil, false
	}
	side := ast.Unparen(cond.X)
	bounds := []ast.Expr{cond.Y}
	sum, shifted := side.(*ast.BinaryExpr) // i + k < n
	if shifted && (sum.Op == token.ADD || sum.Op == token.SUB) {
		side = ast.Unparen(sum.X)
		bounds = append(bounds, sum.Y)
	}
	x, ok := side.(*ast.Ident)
	if !ok || f.pkg.Info.Uses[x] != obj {
		return last, false, nil, false
	}
	var v value
	for i, y := range bounds {
		if indexed(y) || assigns(f, body, y, obj) || mentions(f, y, obj) {
			return last, false, nil, false
		}
		w := a.number(st, a.expr(f, st, y), y)
		switch {
		case len(a.env(w.sym)) > 0:
			return last, false, nil, false
		case i == 0:
			v = w
		case sum.Op == token.ADD:
			v.sym = v.sym.sub(w.sym)
		default:
			v.sym = v.sym.add(w.sym)
		}
		ast.Inspect(y, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				for frame := f.id; frame != 0; frame = a.parents[frame] {
					fixed = append(fixed, place{frame, f.pkg.Info.Uses[id]})
				}
			}
			return true
		})
	}
	switch cond.Op {
	case token.LSS:
		return v.sym.sub(one()), true, fixed, true
	case token.LEQ:
		return v.sym, true, fixed, true
	case token.GTR:
		return v.sym.add(one()), false, fixed, true
	case token.GEQ:
		return v.sym, false, fixed, true
	}
	return last, false, nil, false
}

// counted runs for i := a; i < b && i <= c; i++, where the body leaves i alone and the bounds
// are fixed: as often as the least of them says.
func (a *analysis) counted(f *frame, st *state, s *ast.ForStmt) (*state, *result, bool) {
	inc, ok := s.Post.(*ast.IncDecStmt)
	if !ok || inc.Tok != token.INC {
		return nil, nil, false
	}
	id, ok := inc.X.(*ast.Ident)
	if !ok || s.Cond == nil {
		return nil, nil, false
	}
	obj := f.pkg.Info.Uses[id]
	p := place{f.id, obj}
	first, ok := st.vars[p]
	if !ok || !isInteger(obj.Type()) || first.kind != plain || len(a.env(first.sym)) > 0 {
		return nil, nil, false
	}
	var count Expr
	fixed := []place{p}
	for i, c := range conjuncts(s.Cond) {
		cond, ok := c.(*ast.BinaryExpr)
		if !ok || cond.Op != token.LSS && cond.Op != token.LEQ || !plainly(f, cond) || indexed(cond.Y) {
			return nil, nil, false
		}
		x, ok := cond.X.(*ast.Ident)
		if !ok || f.pkg.Info.Uses[x] != obj || assigns(f, s.Body, cond.Y, obj) || mentions(f, cond.Y, obj) {
			return nil, nil, false
		}
		last := a.number(st, a.expr(f, st, cond.Y), cond.Y)
		if len(a.env(last.sym)) > 0 {
			return nil, nil, false
		}
		rounds := last.sym.sub(first.sym)
		if cond.Op == token.LEQ {
			if !a.fits(last.sym.add(one()), obj.Type()) {
				return nil, nil, false // behind the last number there is the first one again
			}
			rounds = rounds.add(one())
		}
		if i == 0 {
			count = rounds
		} else {
			count = a.min(count, rounds)
		}
		ast.Inspect(cond.Y, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				for frame := f.id; frame != 0; frame = a.parents[frame] {
					fixed = append(fixed, place{frame, f.pkg.Info.Uses[id]})
				}
			}
			return true
		})
	}
	if !a.isNonneg(count) {
		count = a.max(count, Expr{})
	}
	after, ret := a.publicLoop(f, st, count, nil, s.Body, nil, fixed, func(h *state, l *loop) {
		if !first.sym.is(Expr{}) {
			// The index of the loop is then i itself, and its bounds are moved.
			k := a.knowns[l.index.terms[0].powers[0].atom.name]
			most := first.sym.add(count).sub(one())
			k.most = &most
			k.lo = &first.sym
			l.whole = false
			l.index.terms[0].powers[0].atom.nonneg = a.isNonneg(first.sym)
		}
		h.vars[p] = value{sym: l.index}
	})
	// Behind the loop i is public, and no more is known of it: it may have been left early.
	after.vars[p] = value{sym: a.hidden(id.Name, known{whole: true})}
	return after, ret, true
}

// conjuncts are the parts of x && y && z.
func conjuncts(x ast.Expr) []ast.Expr {
	x = ast.Unparen(x)
	if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.LAND {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []ast.Expr{x}
}

// indexed reports whether an expression is of elements, which may be set where no variable is.
func indexed(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		_, index := n.(*ast.IndexExpr)
		found = found || index
		return !found
	})
	return found
}

// plainly reports whether an expression is of variables, and calls of nothing but len of one,
// min, max and types.
func plainly(f *frame, x ast.Expr) bool {
	ok := true
	ast.Inspect(x, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is {
			ok = ok && (onlyLen(f, call) || f.pkg.Info.Types[call.Fun].IsType() || isBuiltin(f, call.Fun, "min") || isBuiltin(f, call.Fun, "max"))
		}
		return ok
	})
	return ok
}

func onlyLen(f *frame, x ast.Expr) bool {
	c, ok := x.(*ast.CallExpr)
	if !ok || !isBuiltin(f, c.Fun, "len") {
		return false
	}
	_, variable := ast.Unparen(c.Args[0]).(*ast.Ident) // of a field it is not seen that the length changes
	return variable
}

// mentions reports whether an expression is made of a variable.
func mentions(f *frame, x ast.Expr, obj types.Object) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && f.pkg.Info.Uses[id] == obj
		return true
	})
	return found
}

// assigns reports whether a body, or a closure in it, sets a variable, or one that the bound
// is made of. (What closures from elsewhere do to them is seen when the body has run.)
func assigns(f *frame, body *ast.BlockStmt, bound ast.Expr, obj types.Object) (found bool) {
	fixed := map[types.Object]bool{obj: true}
	ast.Inspect(bound, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			fixed[f.pkg.Info.Uses[id]] = true
		}
		return true
	})
	is := func(x ast.Expr) {
		if id, ok := x.(*ast.Ident); ok && fixed[f.pkg.Info.Uses[id]] && f.pkg.Info.Uses[id] != nil {
			found = true
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				is(l)
			}
		case *ast.IncDecStmt:
			is(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				is(n.X)
			}
		}
		return !found
	})
	return found
}
