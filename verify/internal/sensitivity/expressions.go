package sensitivity

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math/big"
	"slices"
)

// A frame is a call of a function.
type frame struct {
	id      int
	pkg     *Package
	results []place // named results
}

func (a *analysis) expr(f *frame, st *state, x ast.Expr) value {
	a.steps++
	if a.work.over() {
		a.late(x)
	}
	if tv, ok := f.pkg.Info.Types[x]; ok && tv.Value != nil {
		return a.constant(tv.Value)
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return a.expr(f, st, x.X)
	case *ast.Ident:
		return a.ident(f, st, x)
	case *ast.BinaryExpr:
		return a.binaryExpr(f, st, x)
	case *ast.UnaryExpr:
		return a.unary(f, st, x)
	case *ast.StarExpr:
		v := a.expr(f, st, x.X)
		if v.kind == mechanical {
			a.fail(x, "the mechanism itself", "a copy of a mechanism, which would be asked for free")
		}
		return v
	case *ast.CallExpr:
		return a.call(f, st, x)
	case *ast.SelectorExpr:
		return a.selector(f, st, x)
	case *ast.IndexExpr:
		if tv := f.pkg.Info.Types[x.Index]; tv.IsType() {
			return a.expr(f, st, x.X) // an instance of a generic function
		}
		if p, ok := a.holds(f, st, x); ok {
			return a.get(st, p, x)
		}
		if v, ok := a.record(f, st, x); ok {
			return v
		}
		return a.load(f, st, x)
	case *ast.IndexListExpr:
		return a.expr(f, st, x.X)
	case *ast.SliceExpr:
		return a.slice(f, st, x)
	case *ast.CompositeLit:
		return a.literal(f, st, x)
	case *ast.FuncLit:
		return value{kind: function, fn: &closure{pkg: f.pkg, typ: x.Type, body: x.Body, frame: f.id, name: "func"}}
	}
	a.fail(x, "", "an expression that is not of the subset")
	return value{}
}

func (a *analysis) constant(v constant.Value) value {
	switch v.Kind() {
	case constant.Bool:
		if constant.BoolVal(v) {
			return value{sym: one()}
		}
		return value{}
	case constant.Int, constant.Float:
		r := new(big.Rat)
		if _, ok := r.SetString(v.ExactString()); ok {
			return value{sym: rat(r)}
		}
	}
	return value{sym: named(v.ExactString())}
}

func (a *analysis) ident(f *frame, st *state, x *ast.Ident) value {
	obj := f.pkg.Info.Uses[x]
	if obj == nil {
		obj = f.pkg.Info.Defs[x]
	}
	if tag, ok := a.tags[x]; ok {
		obj = tag
	}
	switch o := obj.(type) {
	case *types.Nil:
		return value{sym: named("nil")}
	case *types.Func:
		return a.function(o)
	case *types.Var:
		for id := f.id; id != 0; id = a.parents[id] {
			if v, ok := st.vars[place{id, o}]; ok {
				return v
			}
		}
		if o.Parent() != nil && o.Parent() == o.Pkg().Scope() {
			// A variable of the package: the program's own, and not changed by
			// functions that are analysed.
			return a.packageVar(st, o)
		}
	}
	a.fail(x, "functions that are given it as an argument", "%s has no value here", x.Name)
	return value{}
}

func (a *analysis) packageVar(st *state, o *types.Var) value {
	if s, ok := o.Type().Underlying().(*types.Slice); ok && s != nil {
		return a.alloc(st, object{length: a.hidden("len", known{lo: &Expr{}, whole: true}), view: true})
	}
	return a.public(o.Name())
}

func lengthOf(name string) Expr {
	return atomic(&atom{name: "len(" + name + ")", nonneg: true})
}

func (a *analysis) function(o *types.Func) value {
	o = o.Origin()
	d, ok := a.program.funcs[o.FullName()]
	if !ok {
		return value{kind: function, fn: &closure{fn: o, name: o.FullName()}}
	}
	return value{kind: function, fn: &closure{pkg: d.pkg, typ: d.decl.Type, recv: d.decl.Recv, body: d.decl.Body, fn: o, name: o.FullName()}}
}

func (a *analysis) unary(f *frame, st *state, x *ast.UnaryExpr) value {
	v := a.expr(f, st, x.X)
	switch x.Op {
	case token.AND:
		return v // of a literal
	case token.ADD:
		return v
	case token.SUB:
		if v.kind == noisy {
			d := *v.draw
			d.sign = -d.sign
			return value{kind: noisy, draw: &d}
		}
		if t := f.pkg.Info.Types[x.X].Type; v.kind == plain && t != nil && unsigned(t) {
			return a.opaque("difference", a.env(v.sym), a.why(x, "signed integers", "a difference of unsigned integers goes round below 0"))
		} else if v.kind == plain && !a.fits(v.sym.neg(), t) {
			return a.opaque("wrapped", a.env(v.sym), a.why(x, "int", "what may not fit in %s goes round", t))
		}
		if v.kind == plain {
			return value{sym: v.sym.neg()}
		}
	case token.NOT:
		if v.kind == plain {
			n := value{sym: one().sub(v.sym)}
			if v.test != nil {
				n.test = v.test.not()
			}
			n.yes, n.no = v.no, v.yes
			return n
		}
	}
	a.fail(x, "", "the operation %s", x.Op)
	return value{}
}

func (a *analysis) binaryExpr(f *frame, st *state, x *ast.BinaryExpr) value {
	if x.Op == token.LAND || x.Op == token.LOR {
		return a.shortCircuit(f, st, x)
	}
	v, w := a.expr(f, st, x.X), a.expr(f, st, x.Y)
	var t types.Type
	if tv, ok := f.pkg.Info.Types[x.X]; ok {
		t = tv.Type
	}
	if dynamic(t) || dynamic(f.pkg.Info.Types[x.Y].Type) {
		// What interfaces hold may be equal, or nil, and of two types.
		v, w = a.number(st, v, x), a.number(st, w, x)
		return a.opaque("cond", a.env(v.sym).add(a.env(w.sym)), a.why(x, "numbers", "a comparison of interfaces"))
	}
	return a.binary(st, x.Op, v, w, t, x)
}

func (a *analysis) shortCircuit(f *frame, st *state, x *ast.BinaryExpr) value {
	v := a.number(st, a.expr(f, st, x.X), x.X)
	if n, ok := v.sym.number(); ok {
		if (n.Sign() == 0) == (x.Op == token.LAND) {
			return v
		}
		return a.expr(f, st, x.Y)
	}
	// The right side may not be evaluated.
	right, left := st.clone(), st.clone()
	w := a.number(right, a.expr(f, right, x.Y), x.Y)
	e := a.env(v.sym)
	if x.Op == token.LAND {
		*st = *a.joinedOr(left, x, v, right, left)
	} else {
		*st = *a.joinedOr(left, x, v, left, right)
	}
	if n, ok := w.sym.number(); ok && (n.Sign() != 0) == (x.Op == token.LAND) {
		return v
	}
	c := a.opaque("cond", e.add(a.env(w.sym)), a.why(x, "conditions of one comparison", "a branch on private data"))
	if x.Op == token.LAND {
		c.yes = append(v.known(true), w.known(true)...)
	} else {
		c.no = append(v.known(false), w.known(false)...)
	}
	return c
}

// not is the comparison that holds where c does not.
func (c *comparison) not() *comparison {
	not := map[token.Token]token.Token{token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL}
	return &comparison{not[c.op], c.x, c.y}
}

// known are comparisons that hold where a condition does, or where it does not.
func (v value) known(holds bool) []comparison {
	switch {
	case v.test != nil && holds:
		return []comparison{*v.test}
	case v.test != nil:
		return []comparison{*v.test.not()}
	case holds:
		return slices.Clone(v.yes)
	}
	return slices.Clone(v.no)
}

// dynamic reports whether values of the type have types of their own.
func dynamic(t types.Type) bool {
	if t == nil || numeric(t) {
		return false
	}
	_, ok := t.Underlying().(*types.Interface)
	return ok
}

// number is a plain value; a draw that was not added to a number is one from here on.
func (a *analysis) number(st *state, v value, at ast.Node) value {
	if v.kind == noisy {
		return a.used(st, v, at)
	}
	if v.kind != plain {
		if v.kind != function {
			v = a.handed(st, v, at)
		}
		e := a.envs(st, v)
		if len(e[l1]) == 0 {
			return a.public("value")
		}
		return a.opaque("value", e[l1], a.why(at, "", "a comparison of what is no number"))
	}
	if v.sym.size() > maxSize {
		a.fail(at, "a number that is not made of itself more than once", "a number that is written with more than %d symbols of others", maxSize)
	}
	return v
}

// used marks a draw as used in another way than in a sum with a number.
func (a *analysis) used(st *state, v value, at ast.Node) value {
	if v.kind != noisy {
		return v
	}
	if st.spent[v.draw.id] {
		a.fail(at, "a draw of its own for each use", "noise that was added to a number is used again")
	}
	st.spent[v.draw.id] = true
	return a.public("noise")
}

func (a *analysis) binary(st *state, op token.Token, v, w value, t types.Type, at ast.Node) value {
	if op == token.ADD || op == token.SUB {
		if v.kind == noisy && w.kind == plain {
			if op == token.SUB {
				w.sym = w.sym.neg()
			}
			return a.noised(st, w, v.draw, at)
		}
		if w.kind == noisy && v.kind == plain {
			return a.noised(st, v, w.draw, at)
		}
	}
	v, w = a.number(st, v, at), a.number(st, w, at)
	moves := a.env(v.sym).add(a.env(w.sym))
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return a.compare(op, v, w, at)
	}
	if t != nil && !numeric(t) {
		return a.opaque("value", moves, a.why(at, "", "an operation on what is no number"))
	}
	if len(moves) > 0 && (t == nil || !isInteger(t)) {
		a.reals = true // floats are rounded, and then move further than they seem to
	}
	either := t != nil && isTypeParam(t) // it may be an integer
	whole := t != nil && isInteger(t)
	if op == token.SUB && t != nil && unsigned(t) && !a.isNonneg(v.sym.sub(w.sym)) {
		return a.opaque("difference", moves, a.why(at, "signed integers", "a difference of unsigned integers goes round below 0"))
	}
	if n, ok := w.sym.number(); ok && whole && (op == token.SHL || op == token.SHR) && n.Sign() >= 0 && n.IsInt() && n.Num().BitLen() < 6 {
		// x << n is x·2ⁿ, and x >> n is x/2ⁿ, rounded down.
		by := value{sym: rat(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(n.Num().Uint64()))))}
		if op == token.SHL {
			op, w = token.MUL, by
		} else if len(moves) > 0 {
			return a.quotient(v, by, true, false, at)
		}
	}
	switch op {
	case token.ADD, token.SUB, token.MUL:
		if op == token.MUL && len(moves) > 0 {
			for _, side := range [][2]Expr{{v.sym, w.sym}, {w.sym, v.sym}} {
				m, c := a.clipping(side[1])
				if x, ok := a.clipped(side[0], m, c); ok {
					return value{sym: x}
				}
			}
		}
		var e Expr
		switch op {
		case token.ADD:
			e = v.sym.add(w.sym)
		case token.SUB:
			e = v.sym.sub(w.sym)
		default:
			if len(v.sym.terms)*len(w.sym.terms) > maxSize {
				a.fail(at, "factors of fewer terms", "a product of more than %d terms", maxSize)
			}
			e = v.sym.mul(w.sym)
		}
		switch {
		case a.fits(e, t):
			return a.rounded(v, w, value{sym: e}, t)
		case len(moves) == 0:
			return a.publicOp(within(op, t), v, w, whole)
		}
		return a.opaque("wrapped", moves, a.why(at, "int, or bounds within the type", "what may not fit in %s goes round", t))
	case token.QUO:
		q := a.quotient(v, w, whole, either, at)
		if len(moves) == 0 && !a.fits(q.sym, t) { // -128 / -1
			return a.publicOp(within(op, t), v, w, whole)
		}
		return q
	}
	if len(moves) == 0 && either {
		return a.public("value")
	}
	if len(moves) == 0 {
		return a.publicOp(within(op, t), v, w, whole)
	}
	return a.opaque("value", moves, a.why(at, "", "%s of private data", op))
}

// within names an operation with the type of integers that its result goes round in.
func within(op token.Token, t types.Type) string {
	if t != nil {
		if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
			return op.String() + b.Name()
		}
	}
	return op.String()
}

// rounded is a result of floats. Where terms cancel, which they do not where floats are
// rounded, or private data are no whole numbers, it is one of real numbers; so if it is whole
// in those alone, as 0.1*3*10 is 3.
func (a *analysis) rounded(v, w, result value, t types.Type) value {
	if t == nil || isInteger(t) || a.whole(v.sym) && a.whole(w.sym) {
		return result
	}
	cancels := len(result.sym.terms) < max(len(v.sym.terms), len(w.sym.terms))
	private := len(a.env(v.sym)) > 0 || len(a.env(w.sym)) > 0
	a.reals = a.reals || cancels || private || a.whole(result.sym)
	return result
}

// publicOp names the result of an operation on public numbers, so that equal ones
// are equal.
func (a *analysis) publicOp(op string, v, w value, whole bool) value {
	name := "(" + v.sym.String() + " " + op + " " + w.sym.String() + ")"
	at := &atom{name: name, nonneg: a.isNonneg(v.sym) && a.isNonneg(w.sym)}
	if a.knowns[name] == nil {
		k := &known{whole: whole}
		note := func(x *atom) {
			if y := a.knowns[x.name]; y != nil {
				k.serial = max(k.serial, y.serial)
			}
		}
		v.sym.atoms(note)
		w.sym.atoms(note)
		a.knowns[name] = k
	}
	return value{sym: atomic(at)}
}

// quotient is v/w, of integers if whole; of those or others if either.
func (a *analysis) quotient(v, w value, whole, either bool, at ast.Node) value {
	moves, by := a.env(v.sym), a.env(w.sym)
	if n, ok := w.sym.number(); ok && n.Sign() == 0 {
		a.fail(at, "", "a division by zero")
	}
	switch {
	case len(by) > 0 && !whole && !either:
		if m, c := a.shrinks(one(), w.sym); m != nil {
			if x, ok := a.clipped(v.sym, m, c); ok {
				return value{sym: x}
			}
		}
		q := a.opaque("quotient", moves.add(by), a.why(at, "divide by a public number, or by a noisy one", "a division by private data has no finite sensitivity"))
		a.single(q.sym).quotient = &[2]Expr{v.sym, w.sym}
		return q
	case len(by) > 0:
		return a.opaque("quotient", moves.add(by), a.why(at, "divide by a public number, or by a noisy one", "a division by private data has no finite sensitivity"))
	case !whole && !either:
		inverse, _ := w.sym.inverse()
		return a.rounded(v, w, value{sym: v.sym.mul(inverse)}, typesFloat)
	case len(moves) > 0:
		// Integers at distance d have quotients at most ⌈d/c⌉ <= d apart, c >= 1.
		k := known{whole: whole}
		if !a.isNonneg(w.sym.sub(one())) {
			return a.opaque("quotient", moves, a.why(at, "", "a division by what may be less than 1"))
		}
		k.env = moves
		return value{sym: a.hidden("quotient", k)}
	}
	if either {
		return a.public("quotient")
	}
	if n, ok := v.sym.number(); ok {
		if d, ok := w.sym.number(); ok && n.IsInt() && d.IsInt() {
			return value{sym: rat(new(big.Rat).SetInt(new(big.Int).Quo(n.Num(), d.Num())))}
		}
	}
	return a.publicOp("/", v, w, true)
}

func (a *analysis) compare(op token.Token, v, w value, at ast.Node) value {
	d := v.sym.sub(w.sym)
	if n, ok := d.number(); ok {
		holds := map[token.Token]bool{token.EQL: n.Sign() == 0, token.NEQ: n.Sign() != 0, token.LSS: n.Sign() < 0,
			token.LEQ: n.Sign() <= 0, token.GTR: n.Sign() > 0, token.GEQ: n.Sign() >= 0}[op]
		if !v.sym.is(w.sym) && !(isNumber(v.sym) && isNumber(w.sym)) && !(a.whole(v.sym) && a.whole(w.sym)) {
			a.reals = true
		}
		if holds {
			return value{sym: one()}
		}
		return value{}
	}
	e := a.env(d)
	zero, most := Expr{}, one()
	k := known{env: e.infinite(a.why(at, "clamp with min and max, or add noise before the comparison", "a branch on private data")), whole: true, lo: &zero, hi: &most}
	c := value{sym: a.hidden("cond", k)}
	c.test = &comparison{op, v.sym, w.sym}
	return c
}

// selector is a field, a method, or what a package has.
func (a *analysis) selector(f *frame, st *state, x *ast.SelectorExpr) value {
	sel, ok := f.pkg.Info.Selections[x]
	if !ok {
		switch o := f.pkg.Info.Uses[x.Sel].(type) {
		case *types.Func:
			return a.function(o)
		case *types.Var:
			return a.packageVar(st, o)
		}
		a.fail(x, "", "%s is not known", types.ExprString(x))
	}
	v := a.expr(f, st, x.X)
	if sel.Kind() == types.FieldVal {
		t := sel.Recv()
		for _, i := range sel.Index() {
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			field := t.Underlying().(*types.Struct).Field(i)
			v = a.field(st, v, field, x)
			t = field.Type()
		}
		return v
	}
	if m, ok := sel.Obj().(*types.Func); ok {
		// The receiver of a promoted method is the embedded field.
		t := sel.Recv()
		for _, i := range sel.Index()[:len(sel.Index())-1] {
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			field := t.Underlying().(*types.Struct).Field(i)
			v = a.field(st, v, field, x)
			t = field.Type()
		}
		fn := a.function(m)
		c := *fn.fn
		c.self = &v
		return value{kind: function, fn: &c}
	}
	a.fail(x, "", "%s is not of the subset", types.ExprString(x))
	return value{}
}

func (a *analysis) field(st *state, v value, field *types.Var, at ast.Node) value {
	switch v.kind {
	case record:
		if w, ok := v.fields[field.Name()]; ok {
			return w
		}
		if v.base == "" {
			return a.zero(st, field.Type())
		}
		return a.part(st, named(v.base), field)
	case plain:
		return a.part(st, v.sym, field)
	}
	a.fail(at, "", "the field %s of what is no struct", field.Name())
	return value{}
}

// part is a field of something of which nothing but its name is known.
func (a *analysis) part(st *state, whole Expr, field *types.Var) value {
	name := whole.String() + "." + field.Name()
	e := a.env(whole)
	if len(e) == 0 && a.fixed(whole) && random(field.Type()) {
		return value{kind: source, id: a.next()}
	}
	for escaped := range a.escaped {
		if whole.has(escaped) {
			name = a.hidden(name, known{}).String()
		}
	}
	if a.knowns[name] == nil {
		k := &known{env: e, whole: isInteger(field.Type())}
		whole.atoms(func(x *atom) {
			if y := a.knowns[x.name]; y != nil {
				k.serial = max(k.serial, y.serial)
			}
		})
		a.knowns[name] = k
	}
	if s, ok := field.Type().Underlying().(*types.Slice); ok && s != nil && len(e) == 0 {
		if n := "len(" + name + ")"; a.knowns[n] == nil {
			a.knowns[n] = &known{whole: true, serial: a.knowns[name].serial}
		}
		return a.alloc(st, object{length: lengthOf(name), view: true})
	}
	return value{sym: named(name)}
}

// unsigned reports whether a type is, or may stand for one, of unsigned integers.
func unsigned(t types.Type) bool {
	if p, ok := t.(*types.TypeParam); ok {
		t = p.Constraint()
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsUnsigned != 0
	case *types.Interface:
		for e := range u.EmbeddedTypes() {
			if unsigned(e) {
				return true
			}
		}
	case *types.Union:
		for term := range u.Terms() {
			if unsigned(term.Type()) {
				return true
			}
		}
	}
	return false
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// fits reports whether a number is in the range of its type, as what is computed in 64 bits is
// taken to be.
func (a *analysis) fits(e Expr, t types.Type) bool {
	if t == nil {
		return true
	}
	switch u := t.(type) {
	case *types.TypeParam:
		return a.fits(e, u.Constraint())
	case *types.Union:
		for term := range u.Terms() {
			if !a.fits(e, term.Type()) {
				return false
			}
		}
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		for x := range u.EmbeddedTypes() {
			if !a.fits(e, x) {
				return false
			}
		}
	case *types.Basic:
		if least, most, narrow := ends(u); narrow {
			lo, hi := a.interval(e)
			return lo != nil && hi != nil && a.isNonneg(lo.sub(least)) && a.isNonneg(most.sub(*hi))
		}
	}
	return true
}

// ends are the least and the largest number of a type of fewer than 64 bits.
func ends(b *types.Basic) (least, most Expr, narrow bool) {
	bits, ok := map[types.BasicKind]uint{types.Int8: 7, types.Int16: 15, types.Int32: 31, types.Uint8: 8, types.Uint16: 16, types.Uint32: 32}[b.Kind()]
	if !ok {
		return Expr{}, Expr{}, false
	}
	most = integer(1<<bits - 1)
	if b.Info()&types.IsUnsigned == 0 {
		least = integer(-1 << bits)
	}
	return least, most, true
}

// zero is the zero value of a type.
func (a *analysis) zero(st *state, t types.Type) value {
	if isAmount(t) {
		return value{}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&(types.IsNumeric|types.IsBoolean) != 0 {
			return value{}
		}
		if u.Info()&types.IsString != 0 {
			return value{sym: named(`""`)}
		}
	case *types.Slice:
		return a.alloc(st, object{size: same(env{})})
	case *types.Array:
		return a.alloc(st, object{size: same(env{}), length: integer(u.Len())})
	case *types.Map:
		return a.alloc(st, object{size: same(env{}), table: true, empty: true})
	case *types.Struct:
		if types.Unalias(t) == u && u.NumFields() == 0 {
			return value{} // struct{}, which is always the same, and has no methods
		}
		v := value{kind: record, fields: map[string]value{}}
		for i := range u.NumFields() {
			v.fields[u.Field(i).Name()] = a.zero(st, u.Field(i).Type())
		}
		return v
	case *types.Interface:
		if p, ok := t.(*types.TypeParam); ok && numeric(p) {
			return value{}
		}
	}
	return value{sym: named("nil")}
}

func (a *analysis) literal(f *frame, st *state, x *ast.CompositeLit) value {
	t := f.pkg.Info.Types[x].Type
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		v := a.zero(st, t)
		for i, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				name := kv.Key.(*ast.Ident)
				v.fields[name.Name] = a.expr(f, st, kv.Value)
				continue
			}
			v.fields[u.Field(i).Name()] = a.expr(f, st, e)
		}
		return v
	case *types.Slice, *types.Array:
		o := object{size: same(env{}), length: integer(int64(len(x.Elts)))}
		if arr, ok := u.(*types.Array); ok {
			o.length = integer(arr.Len())
		}
		v := a.alloc(st, o)
		next, most := int64(0), int64(0)
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
				at, known := constant.Int64Val(constant.ToInt(f.pkg.Info.Types[kv.Key].Value))
				if !known {
					a.fail(kv, "small indices", "an index of a literal")
				}
				next = at
			}
			next++
			most = max(most, next)
			w := a.handed(st, a.expr(f, st, e), e)
			a.update(st, v.obj, func(o *object) { a.put(st, o, w, nil) })
		}
		if _, slice := u.(*types.Slice); slice {
			a.update(st, v.obj, func(o *object) { o.length = integer(most) })
		}
		return v
	case *types.Map:
		v := a.alloc(st, object{size: same(env{}), table: true, empty: len(x.Elts) == 0})
		for _, e := range x.Elts {
			kv := e.(*ast.KeyValueExpr)
			key := a.number(st, a.expr(f, st, kv.Key), kv)
			w := a.handed(st, a.expr(f, st, kv.Value), e)
			moves := a.env(key.sym)
			if len(moves) > 0 {
				a.fail(kv, "public keys", "a key of a map depends on private data")
			}
			a.update(st, v.obj, func(o *object) { a.put(st, o, w, nil) })
		}
		return v
	}
	a.fail(x, "", "a literal that is not of the subset")
	return value{}
}
