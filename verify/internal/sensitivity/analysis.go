package sensitivity

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// A Package is Go source with its types.
type Package struct {
	Path  string
	Fset  *token.FileSet
	Files []*ast.File
	Types *types.Package
	Info  *types.Info
}

// A Program is functions that may call each other. It may be asked by several at once,
// after all is said of what is whole.
type Program struct {
	funcs   map[string]declared
	claims  map[string]*claim.Claim
	whole   map[string]bool
	reading sync.Mutex // of keepers, which hold while a function is read what is true at its end
	keepers map[string]*keeper
}

type declared struct {
	pkg  *Package
	decl *ast.FuncDecl
	fn   *types.Func
}

// New returns the program of the packages. Claims, by the full names of functions
// (types.Func.FullName), are taken as true of the calls of those that claim a cost:
// who asks must have them proved, see Result.Uses.
func New(packages []*Package, claims map[string]*claim.Claim) *Program {
	p := &Program{funcs: map[string]declared{}, claims: claims, whole: map[string]bool{}, keepers: map[string]*keeper{}}
	for _, pkg := range packages {
		for _, file := range pkg.Files {
			for _, d := range file.Decls {
				if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
					if fn, ok := pkg.Info.Defs[decl.Name].(*types.Func); ok {
						p.funcs[fn.FullName()] = declared{pkg, decl, fn}
					}
				}
			}
		}
	}
	return p
}

// Whole says that the claim of a function speaks of integers.
func (p *Program) Whole(fn string) { p.whole[fn] = true }

// analysis is of one function.
type analysis struct {
	*facts
	program *Program
	knowns  map[string]*known
	elems   map[string]*elements
	splits  map[string]*split
	// stretches are those of objects that were read, by content and loop, and groups their
	// splits; pairs are those of numbers that were ordered.
	stretches map[[2]int][]*stretch
	groups    map[[2]int]int
	pairs     map[string]int
	branches  map[int][]comparison // what holds where one is taken
	held      []held
	serial    int
	parents   map[int]int // frames, by what they stand in
	stack     []*loop
	calls     []string
	steps     int
	bounds    int // see maxBounds
	compared  int // see maxCompared
	pieced    int // how often a number was told apart from what else it may be
	cost      bool
	inputs    int  // how many are private
	reals     bool // a number that depends on private data is no integer
	grid      bool // noise on the grid was added to integers
	uses      []string
	// seen are the variables that functions over records see, which may run later: they stay public.
	seen map[types.Object]bool
	// escaped are the names of what was given to functions of which nothing is known.
	escaped map[string]bool
	ones    map[int]bool // objects as neighbours have them who differ in one element
	swapped map[int]Expr // multisets of which neighbours have as many records: their number
	pkg     *Package     // whose code is being read
	// tags are what switches are on that is no variable.
	tags map[*ast.Ident]*types.Var
	// functions are how far atoms that are functions of others move.
	functions map[string]env
}

// maxSteps bounds the work on one function; what does not end within is refused.
const maxSteps = 40_000

// maxBounds is how many numbers of one function are bounded by parameters: each may be one of
// two that are.
const maxBounds = 200_000

// maxCompared is how many terms of public numbers are held against those of comparisons: where
// hundreds of branches change a number, it has as many terms.
const maxCompared = 500_000

// told reports whether another number may be told apart from what else it may be: what is one
// of two, of which each is one of two, has too many cases.
func (a *analysis) told() bool {
	a.pieced++
	return a.pieced <= 20_000
}

// maxSize bounds the symbols that a number is written with, and the terms of a product.
const maxSize = 10_000

// maxCalls bounds calls within calls.
const maxCalls = 40

// failure carries a refusal to the entry.
type failure struct{ Refusal }

func (a *analysis) fail(at ast.Node, hint, format string, args ...any) {
	pos := token.NoPos
	if at != nil {
		pos = at.Pos()
	}
	panic(failure{Refusal{pos, fmt.Sprintf(format, args...), hint}})
}

// late refuses what there is no time for.
func (a *analysis) late(at ast.Node) {
	a.fail(at, "more time for each claim", "the time for the claim is over: %v", a.work.ctx.Err())
}

func (a *analysis) why(at ast.Node, hint, format string, args ...any) *Refusal {
	pos := token.NoPos
	if at != nil {
		pos = at.Pos()
	}
	return &Refusal{pos, fmt.Sprintf(format, args...), hint}
}

func (a *analysis) next() int {
	a.serial++
	return a.serial
}

// hidden makes an atom of which only what is given is known.
func (a *analysis) hidden(what string, k known) Expr {
	k.serial = a.next()
	at := &atom{name: fmt.Sprintf("%s·%d", what, k.serial)}
	if k.lo != nil {
		at.nonneg = a.isNonneg(*k.lo)
	}
	a.knowns[at.name] = &k
	return atomic(at)
}

func (a *analysis) public(what string) value {
	return value{sym: a.hidden(what, known{})}
}

// opaque is a value that depends on others in an unknown way.
func (a *analysis) opaque(what string, e env, why *Refusal) value {
	return value{sym: a.hidden(what, known{env: e.infinite(why)})}
}

// env returns how far the number moves: |Σ cᵢ·x - Σ cᵢ·x'| is |Σ cᵢ|·|x - x'| where the sign
// of the sum of the factors is known, and at most Σ |cᵢ|·|x - x'|.
func (a *analysis) env(e Expr) env {
	var sum env
	factors := map[string]Expr{}
	for _, t := range e.terms {
		if x, rest := a.factor(t); x != nil {
			factors[x.name] = factors[x.name].add(rest)
		}
	}
	for _, t := range e.terms {
		x, rest := a.factor(t)
		if x == nil || len(factors[x.name].terms) == len(rest.terms) {
			sum = sum.add(a.termEnv(t))
			continue
		}
		by, seen := factors[x.name]
		switch {
		case !seen:
		case a.fixed(by) && (a.isNonneg(by) || a.isNonneg(by.neg())):
			delete(factors, x.name)
			sum = sum.add(a.atomEnv(x).scale(a.abs(by)))
		default:
			sum = sum.add(a.termEnv(t))
		}
	}
	return sum
}

// factor is the number of a term that moves, if it is one, and public factors.
func (a *analysis) factor(t term) (x *atom, rest Expr) {
	public := term{coef: t.coef}
	for _, p := range t.powers {
		switch {
		case len(a.atomEnv(p.atom)) == 0:
			public.powers = append(public.powers, p)
		case x != nil || p.halfs != 2:
			return nil, Expr{}
		default:
			x = p.atom
		}
	}
	return x, Expr{[]term{public}}
}

func (a *analysis) termEnv(t term) env {
	var moving []power
	public := term{coef: t.coef}
	all := env{}
	for _, p := range t.powers {
		if e := a.atomEnv(p.atom); len(e) > 0 {
			moving = append(moving, p)
			all = all.add(e)
			continue
		}
		public.powers = append(public.powers, p)
	}
	if len(moving) == 0 {
		return nil
	}
	by := a.abs(Expr{[]term{public}})
	if len(moving) == 1 && moving[0].halfs == 2 {
		return a.atomEnv(moving[0].atom).scale(by)
	}
	// |xy - x'y'| <= |x||y-y'| + |y'||x-x'|, where both are bounded.
	var product env
	for i, p := range moving {
		rest := by
		for j, q := range moving {
			n := q.halfs
			if i == j {
				n -= 2
			}
			size, ok := a.constantSize(atomic(q.atom))
			if n%2 != 0 || n < 0 || n > 0 && !ok {
				return all.infinite(&Refusal{Reason: "a product of numbers that depend on private data has no finite sensitivity", Hint: "clamp the factors to public bounds"})
			}
			for range n / 2 {
				rest = rest.mul(size)
			}
		}
		product = product.add(a.atomEnv(p.atom).scale(rest.mul(integer(int64(p.halfs / 2)))))
	}
	return product
}

func (a *analysis) atomEnv(x *atom) env {
	if k := a.knowns[x.name]; k != nil {
		return k.env
	}
	all, ok := a.functions[x.name]
	if ok {
		return all
	}
	for _, arg := range x.args {
		all = all.add(a.env(arg))
	}
	all = all.infinite(&Refusal{Reason: "a function of private data without a bound on its slope"})
	a.functions[x.name] = all
	return all
}

// size bounds |e|, in terms of sources; nil if nothing is known.
func (a *analysis) size(e Expr) env {
	var parts []env // of terms of which one is not 0 at most
	var only [][]map[int]bool
	for _, t := range e.terms {
		public := term{coef: t.coef}
		var part env
		for _, p := range t.powers {
			k := a.knowns[p.atom.name]
			if k == nil || k.serial == 0 && len(k.env) == 0 {
				public.powers = append(public.powers, p)
				continue
			}
			s := a.atomSize(k)
			if s == nil && len(k.env) == 0 {
				public.powers = append(public.powers, p)
				continue
			}
			if s == nil || p.halfs < 2 || p.halfs%2 != 0 {
				return nil
			}
			if p.halfs > 2 {
				c, ok := constant1(s)
				if !ok {
					return nil
				}
				for range p.halfs/2 - 1 {
					s = s.scale(c) // |x^n| = |x|^n
				}
			}
			if part == nil {
				part = s
				continue
			}
			c, ok := constant1(s)
			if !ok {
				if c, ok = constant1(part); !ok {
					return nil
				}
				part = s
			}
			part = part.scale(c)
		}
		if part == nil {
			part = env{unit: {most: one()}}
		}
		part = part.scale(a.abs(Expr{[]term{public}}))
		where := a.only(Expr{[]term{t}})
		apart := func(others []map[int]bool) bool {
			return !slices.ContainsFunc(others, func(o map[int]bool) bool { return !a.exclude(where, o) })
		}
		if i := slices.IndexFunc(only, apart); i >= 0 {
			parts[i], only[i] = parts[i].max(part, a.facts), append(only[i], where)
		} else {
			parts, only = append(parts, part), append(only, []map[int]bool{where})
		}
	}
	sum := env{}
	for _, part := range parts {
		sum = sum.add(part)
	}
	// Bounds may say less together than apart: x in [0, 1] has size 1, as 1-x has.
	if lo, hi := a.interval(e); lo != nil && hi != nil {
		both := a.max(a.abs(*lo), a.abs(*hi))
		if c, ok := constant1(sum); !ok || a.isNonneg(c.sub(both)) {
			return env{unit: {most: both}}.scale(one())
		}
	}
	return sum
}

func constant1(e env) (Expr, bool) {
	if len(e) == 0 {
		return Expr{}, true
	}
	b, ok := e[unit]
	return b.most, ok && len(e) == 1 && b.infinite == nil
}

func (a *analysis) atomSize(k *known) env {
	if k.lo != nil && k.hi != nil {
		return env{unit: {most: a.max(a.abs(*k.lo), a.abs(*k.hi))}}.scale(one())
	}
	return k.size
}

func (a *analysis) constantSize(e Expr) (Expr, bool) {
	s := a.size(e)
	if s == nil {
		return Expr{}, false
	}
	return constant1(s)
}

// interval bounds e by public expressions, on either side nil where nothing is known.
func (a *analysis) interval(e Expr) (lo, hi *Expr) {
	lo, hi = &Expr{}, &Expr{}
	plus := func(sum **Expr, c Expr, by *Expr) {
		if *sum == nil || by == nil {
			*sum = nil
			return
		}
		next := (*sum).add(c.mul(*by))
		*sum = &next
	}
	unit := one()
	for _, t := range e.terms {
		public := term{coef: t.coef}
		var k *known
		for _, p := range t.powers {
			q := a.knowns[p.atom.name]
			if q == nil || len(q.env) == 0 {
				public.powers = append(public.powers, p)
				continue
			}
			if k != nil || p.halfs != 2 {
				return nil, nil
			}
			k = q
		}
		c := Expr{[]term{public}}
		switch {
		case k == nil:
			plus(&lo, c, &unit)
			plus(&hi, c, &unit)
		case a.isNonneg(c):
			plus(&lo, c, k.lo)
			plus(&hi, c, k.hi)
		case a.isNonneg(c.neg()):
			plus(&lo, c, k.hi)
			plus(&hi, c, k.lo)
		default:
			return nil, nil
		}
	}
	return lo, hi
}

// whole reports whether e is an integer.
func (a *analysis) whole(e Expr) bool {
	for _, t := range e.terms {
		if !t.coef.IsInt() {
			return false
		}
		for _, p := range t.powers {
			k := a.knowns[p.atom.name]
			if p.halfs < 0 || p.halfs%2 != 0 || k == nil || !k.whole {
				return false
			}
		}
	}
	return true
}

// envs returns the distance of a value in each norm: that of a tuple or a struct is
// that of all its numbers together. A map is seen with the keys that it has.
func (a *analysis) envs(st *state, v value) [3]env { return a.distance(st, v, true) }

// distance is that of a map, without the keys, as of the function that is 0 elsewhere.
func (a *analysis) distance(st *state, v value, keys bool) [3]env {
	switch v.kind {
	case plain:
		return same(a.env(v.sym))
	case ref:
		o := a.settled(st.heap[v.obj])
		all := o.env
		if keys && o.table {
			for n := range all {
				all[n] = all[n].add(o.keys)
			}
		}
		return all
	case record, tuple, mechanical:
		var all [3]env
		add := func(w value) {
			e := a.distance(st, w, keys)
			for n := range all {
				if n == linf {
					all[n] = a.larger(all[n], e[n])
					continue
				}
				all[n] = all[n].add(e[n])
			}
		}
		for _, k := range sortedKeys(v.fields) {
			add(v.fields[k])
		}
		for _, w := range v.elems {
			add(w)
		}
		return all
	case private, divided:
		return same(v.env)
	case function:
		if v.fn.self != nil {
			return a.distance(st, *v.fn.self, keys)
		}
	}
	return [3]env{}
}

// settled is the object with what stands in its slot counted in.
func (a *analysis) settled(o *object) *object {
	if o.slot == nil || !o.slot.written || o.slot.val.kind != plain {
		return o
	}
	c := *o
	c.zero = false
	e, size := a.env(o.slot.val.sym), a.size(o.slot.val.sym)
	for n := range c.env {
		c.env[n] = c.env[n].add(e)
		if c.size[n] == nil || size == nil {
			c.size[n] = nil
			continue
		}
		c.size[n] = c.size[n].add(size)
	}
	return &c
}

// unslotted counts in what stands in its slot, and forgets where: something may be put there by
// another index.
func (a *analysis) unslotted(o *object) {
	if o.slot != nil {
		*o = *a.settled(o)
		o.slot, o.base = nil, ""
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// alloc puts an object on the heap.
func (a *analysis) alloc(st *state, o object) value {
	o.id = a.next()
	o.depth = len(a.stack)
	id := a.next()
	st.heap[id] = &o
	return value{kind: ref, obj: id}
}

// update replaces an object by a changed copy.
func (a *analysis) update(st *state, id int, change func(o *object)) {
	o := *st.heap[id]
	o.id, o.zero = a.next(), false
	change(&o)
	st.heap[id] = &o
}

// fill sets what stands at the index of the loop.
func (a *analysis) fill(st *state, id int, s slot) {
	s.under = st.heap[id].rest()
	zero := st.heap[id].zero
	a.update(st, id, func(o *object) {
		o.zero = zero
		s.at = o.id
		o.slot, o.empty, o.varied = &s, false, true
	})
}

// shape makes a value of a type of which every number moves at most so far.
func (a *analysis) shape(st *state, t types.Type, e [3]env, size [3]env, what string) value {
	public := len(e[linf]) == 0 && len(e[l1]) == 0
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsNumeric != 0 {
			k := known{env: e[linf], size: size[linf], whole: u.Info()&types.IsInteger != 0}
			if least, most, narrow := ends(u); narrow {
				k.lo, k.hi = &least, &most
			} else if u.Info()&types.IsUnsigned != 0 {
				k.lo = &Expr{}
			}
			return value{sym: a.hidden(what, k)}
		}
	case *types.Slice, *types.Array:
		if public {
			break
		}
		if elem := t.Underlying().(interface{ Elem() types.Type }).Elem(); numeric(elem) {
			length := a.hidden("len("+what+")", known{lo: &Expr{}, whole: true})
			if arr, ok := u.(*types.Array); ok {
				length = integer(arr.Len())
			} else if why := e[linf].refusal(); why != nil {
				return a.alloc(st, object{bag: true, env: same(e[l1].infinite(why)), elem: &value{sym: a.hidden("row", known{})}, view: true})
			}
			return a.alloc(st, object{env: e, size: size, length: length, view: true})
		}
	case *types.Struct:
		if public {
			break
		}
		v := value{kind: record, fields: map[string]value{}}
		parts := a.apart(e, u.NumFields())
		for i := range u.NumFields() {
			f := u.Field(i)
			v.fields[f.Name()] = a.shape(st, f.Type(), parts[i], size, what+"."+f.Name())
		}
		return v
	}
	if public {
		return a.public(what)
	}
	return a.opaque(what, e[l1], &Refusal{Reason: fmt.Sprintf("%s is no number: that it differs at all may change everything", what)})
}

// numeric reports whether values of the type are numbers, of a type parameter
// whatever it stands for.
func numeric(t types.Type) bool {
	p, ok := t.(*types.TypeParam)
	if !ok {
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Info()&types.IsNumeric != 0
	}
	c, ok := p.Constraint().Underlying().(*types.Interface)
	if !ok || c.NumEmbeddeds() == 0 {
		return false
	}
	for i := range c.NumEmbeddeds() {
		switch e := c.EmbeddedType(i).(type) {
		case *types.Union:
			for j := range e.Len() {
				if !numeric(e.Term(j).Type()) {
					return false
				}
			}
		default:
			if !numeric(e) {
				return false
			}
		}
	}
	return true
}

func shortName(full string) string {
	pointer := full[:len(full)-len(strings.TrimLeft(full, "(*"))]
	if i := strings.LastIndexByte(full, '/'); i >= 0 {
		return pointer + full[i+1:]
	}
	return full
}
