package tally

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A reader reads one loop over records.
type reader struct {
	*tallier
	loop   *program.Loop
	in     *around
	before []program.Statement
	place  *program.Variable             // which record it is
	own    map[*program.Variable]*bounds // of one record, with what bounds it
	inner  map[*program.Variable]bool    // the same, in a branch
	// added are the variables that the loop adds to, with what one record adds.
	added map[*program.Variable]*bounds
	// stores counts how often a record adds to a slice at most.
	stores  map[*program.Variable]int
	written map[*program.Variable]int
	// lengths are those of slices, which were made before.
	lengths map[*program.Variable]program.Expression
	fails   bool
}

// bounds are those of a number; nil is none.
type bounds struct{ lo, hi *big.Rat }

// read reads a loop over all records that adds, and does nothing else; nil if it is none.
func (t *tallier) read(l *program.Loop, before []program.Statement, in *around) *reader {
	cond, ok := l.Cond.(program.Binary)
	if !ok || cond.Op != program.Lt {
		return nil
	}
	i, ok := cond.X.(program.Ref)
	n, all := cond.Y.(program.Length)
	if !ok || !all || n.Slice != t.rows || t.writes[i.Var] != 2 || !counts(l, i.Var) || !begins(before, i.Var) {
		return nil
	}
	r := &reader{tallier: t, loop: l, in: in, before: before, place: i.Var,
		own: map[*program.Variable]*bounds{}, inner: map[*program.Variable]bool{}, added: map[*program.Variable]*bounds{}, stores: map[*program.Variable]int{}, lengths: map[*program.Variable]program.Expression{}}
	written := map[*program.Variable]int{}
	program.Each(l.Body, func(s program.Statement) {
		if v := program.Written(s); v != nil {
			written[v]++
		}
	})
	r.written = written
	inside, reads := readings(l.Body), readings(t.f.Body)
	if reads[r.place]-inside[r.place] != 2 { // in the condition, and by what follows the body
		return nil
	}
	r.list(l.Body)
	for v := range r.added {
		r.fails = r.fails || r.own[v] != nil || r.inner[v]
		if v.Slice {
			length, ok := t.made(v, before)
			r.fails = r.fails || !ok || in != nil || r.stores[v] != 1
			r.lengths[v] = length
		}
	}
	// What is set, and not added to, is of one record: it is set before it is read, and not
	// read elsewhere.
	for _, set := range []iter.Seq[*program.Variable]{maps.Keys(r.own), maps.Keys(r.inner)} {
		for v := range set {
			r.fails = r.fails || reads[v] != inside[v] || v.Input
		}
	}
	if r.fails || len(r.added) == 0 {
		return nil
	}
	return r
}

// list reads what is done for one record.
func (r *reader) list(list []program.Statement) {
	for _, s := range list {
		switch s := s.(type) {
		case program.Assign:
			if by, minus, ok := addition(s); ok && r.own[s.To] == nil && !s.To.Slice {
				r.add(s.To, by, minus)
				continue
			}
			b := r.of(s.Value)
			if s.To.Slice || r.added[s.To] != nil {
				r.fails = true
			}
			if old := r.own[s.To]; old != nil {
				b = either(old, b)
			}
			r.own[s.To] = b
		case program.Store:
			by, ok := grown(s)
			r.of(s.Index)
			if !ok || s.To.Input {
				r.fails = true
				continue
			}
			r.stores[s.To]++
			r.add(s.To, by, false)
		case program.If:
			r.of(s.Cond)
			r.branch(s)
		case program.Continue:
			// It ends what is done for the record: what comes behind may not be added. (Of a
			// loop around, it ends what is done for all.)
			r.fails = r.fails || s.Of != r.loop
		default:
			r.fails = true
		}
	}
}

// branch reads two lists of which one is run.
func (r *reader) branch(s program.If) {
	start, stores, own := r.added, r.stores, r.own
	run := func(list []program.Statement) (map[*program.Variable]*bounds, map[*program.Variable]int, map[*program.Variable]*bounds) {
		r.added, r.stores, r.own = maps.Clone(start), maps.Clone(stores), maps.Clone(own)
		r.list(list)
		return r.added, r.stores, r.own
	}
	yes, some, set := run(s.Then)
	no, others, unset := run(s.Else)
	r.added, r.stores, r.own = yes, some, own
	for v, b := range no {
		if r.added[v] == nil {
			r.added[v] = b
			continue
		}
		r.added[v] = either(r.added[v], b)
	}
	for v, n := range others {
		r.stores[v] = max(r.stores[v], n)
	}
	for _, branch := range []map[*program.Variable]*bounds{set, unset} {
		for v, b := range branch {
			if own[v] == nil {
				r.inner[v] = true // behind it, it may be left from another record
				continue
			}
			r.own[v] = either(r.own[v], b)
		}
	}
}

// readings counts where variables are read.
func readings(list []program.Statement) map[*program.Variable]int {
	n := map[*program.Variable]int{}
	program.Each(list, func(s program.Statement) {
		program.Reads(s, func(v *program.Variable) { n[v]++ })
	})
	return n
}

// made is the length of a slice of zeros, by public inputs, that nothing was written to yet.
func (t *tallier) made(v *program.Variable, before []program.Statement) (length program.Expression, ok bool) {
	n := 0
	program.Each(before, func(s program.Statement) {
		if program.Written(s) == v {
			n++
		}
	})
	for _, s := range before {
		if m, is := s.(program.Make); is && m.To == v && n == 1 {
			ok = true
			program.Variables(m.Length, func(w *program.Variable) { ok = ok && t.given(w) })
			return m.Length, ok
		}
	}
	return nil, false
}

// add notes that a record adds to v; or, as a Continue or a branch may leave it out, does not.
func (r *reader) add(v *program.Variable, by program.Expression, minus bool) {
	b := r.of(by)
	if b.lo == nil || b.hi == nil {
		r.fails = true
		return
	}
	lo, hi := b.lo, b.hi
	if minus {
		lo, hi = new(big.Rat).Neg(hi), new(big.Rat).Neg(lo)
	}
	old := r.added[v]
	if old == nil {
		old = &bounds{new(big.Rat), new(big.Rat)}
	}
	sum := &bounds{new(big.Rat).Set(old.lo), new(big.Rat).Set(old.hi)}
	if lo.Sign() < 0 {
		sum.lo.Add(sum.lo, lo)
	}
	if hi.Sign() > 0 {
		sum.hi.Add(sum.hi, hi)
	}
	r.added[v] = sum
}

// addition reads v = v + x, v = x + v and v = v - x.
func addition(a program.Assign) (by program.Expression, minus, ok bool) {
	b, ok := a.Value.(program.Binary)
	switch {
	case !ok:
		return nil, false, false
	case b.Op == program.Add && isRef(b.X, a.To):
		return b.Y, false, true
	case b.Op == program.Add && isRef(b.Y, a.To):
		return b.X, false, true
	case b.Op == program.Sub && isRef(b.X, a.To):
		return b.Y, true, true
	}
	return nil, false, false
}

// grown reads q[i] = q[i] + x.
func grown(s program.Store) (program.Expression, bool) {
	b, ok := s.Value.(program.Binary)
	if !ok || b.Op != program.Add {
		return nil, false
	}
	e, ok := b.X.(program.Element)
	if !ok || e.Slice != s.To || e.Index.String() != s.Index.String() {
		return nil, false
	}
	return b.Y, true
}

// of reads an expression, which must be of the record and of what is public, and returns its
// bounds, as far as they are numbers.
func (r *reader) of(x program.Expression) *bounds {
	places := 0 // at which the place of the record stands by itself
	program.Walk(x, func(x program.Expression) {
		switch x := x.(type) {
		case program.Ref:
			if x.Var == r.place {
				places++
				return
			}
			r.fails = r.fails || r.own[x.Var] == nil && !r.pure(x.Var)
		case program.Element:
			if x.Slice == r.rows && isRef(x.Index, r.place) {
				places--
				return
			}
			r.fails = r.fails || !r.given(x.Slice)
		case program.Length:
			r.fails = r.fails || !r.given(x.Slice)
		}
	})
	r.fails = r.fails || places != 0
	return r.bounds(x)
}

// pure reports whether a variable is of public inputs, and of the round of the loop around:
// it is set once, to what is.
func (r *reader) pure(v *program.Variable) bool {
	if r.given(v) || r.in != nil && v == r.in.index {
		return true
	}
	if r.writes[v] != 1 || v.Slice || v.Input {
		return false
	}
	lists := [][]program.Statement{r.before}
	if r.in != nil {
		lists = append(lists, r.in.before)
	}
	for _, list := range lists {
		for _, s := range list {
			a, ok := s.(program.Assign)
			if !ok || a.To != v {
				continue
			}
			pure := true
			program.Walk(a.Value, func(x program.Expression) {
				switch x := x.(type) {
				case program.Ref:
					pure = pure && r.pure(x.Var)
				case program.Element:
					pure = pure && r.given(x.Slice)
				case program.Length:
					pure = pure && r.given(x.Slice)
				}
			})
			return pure
		}
	}
	return false
}

// bounds bounds an expression by numbers.
func (r *reader) bounds(x program.Expression) *bounds {
	switch x := x.(type) {
	case program.Number:
		return &bounds{x.Value, x.Value}
	case program.Ref:
		if b := r.own[x.Var]; b != nil {
			return b
		}
	case program.Unary:
		if b := r.bounds(x.X); x.Op == program.Sub {
			n := &bounds{}
			if b.hi != nil {
				n.lo = new(big.Rat).Neg(b.hi)
			}
			if b.lo != nil {
				n.hi = new(big.Rat).Neg(b.lo)
			}
			return n
		}
	case program.Call:
		if x.Func == "real" {
			return r.bounds(x.Args[0])
		}
	case program.Binary:
		a, b := r.bounds(x.X), r.bounds(x.Y)
		switch x.Op {
		case program.Min:
			return &bounds{both(least, a.lo, b.lo), some(least, a.hi, b.hi)}
		case program.Max:
			return &bounds{some(most, a.lo, b.lo), both(most, a.hi, b.hi)}
		}
	}
	return &bounds{}
}

func either(a, b *bounds) *bounds { return &bounds{both(least, a.lo, b.lo), both(most, a.hi, b.hi)} }

func least(x, y *big.Rat) bool { return x.Cmp(y) < 0 }

func most(x, y *big.Rat) bool { return x.Cmp(y) > 0 }

// both is the first in an order of two numbers; nil if one is not known.
func both(before func(x, y *big.Rat) bool, x, y *big.Rat) *big.Rat {
	if x == nil || y == nil {
		return nil
	}
	return some(before, x, y)
}

// some is the first in an order of those that are known.
func some(before func(x, y *big.Rat) bool, x, y *big.Rat) *big.Rat {
	if x == nil || y != nil && before(y, x) {
		return y
	}
	return x
}

// replace adds inputs for what a loop adds.
func (t *tallier) replace(r *reader, l *program.Loop, in *around) (out []program.Statement) {
	t.loops = append(t.loops, l)
	at := program.At{Pos: l.Pos}
	sorted := slices.SortedFunc(maps.Keys(r.added), func(v, w *program.Variable) int { return cmp.Compare(v.Name, w.Name) })
	for _, v := range sorted {
		b := r.added[v]
		size := new(big.Rat).Neg(b.lo)
		if size.Cmp(b.hi) < 0 {
			size = b.hi
		}
		high := program.Number{Value: size, Sort: v.Sort}
		sum := &program.Variable{Name: fmt.Sprintf("%s·all%d", v.Name, len(t.inputs)+1), Sort: v.Sort, Slice: v.Slice || in != nil, Input: true, Pos: v.Pos}
		a := claim.Adjacency{Relation: claim.Scalar, Input: sum, Low: program.Unary{Op: program.Sub, X: high}, High: high}
		read := program.Expression(program.Ref{Var: sum})
		switch {
		case v.Slice:
			if readings(r.before)[v] == 0 && t.writes[v] == 1+r.written[v] {
				t.renamed[v] = sum // made, added to, and never changed again
			} else {
				out = append(out, program.Assign{At: at, To: v, Value: read})
			}
			a.Relation = claim.One
			t.requires = append(t.requires, program.Binary{Op: program.Eq, X: program.Length{Slice: sum}, Y: natural(r.lengths[v])})
		case in != nil:
			a.Relation = claim.Each
			t.requires = append(t.requires, program.Binary{Op: program.Eq, X: program.Length{Slice: sum}, Y: natural(in.count)})
			read = program.Element{Slice: sum, Index: program.Ref{Var: in.index}}
		case b.lo.Sign() == 0:
			t.requires = append(t.requires, program.Binary{Op: program.Ge, X: read, Y: program.Number{Value: new(big.Rat), Sort: v.Sort}})
		}
		if !v.Slice {
			out = append(out, program.Assign{At: at, To: v, Value: program.Binary{Op: program.Add, X: program.Ref{Var: v}, Y: read}})
		}
		t.inputs, t.adjacent = append(t.inputs, sum), append(t.adjacent, a)
	}
	return out
}

// natural is a length, or 0 where it is negative: there are no sums then, and what the function
// does without them has to be private all the same.
func natural(n program.Expression) program.Expression {
	switch x := n.(type) {
	case program.Length:
		return n
	case program.Number:
		if x.Value.Sign() >= 0 {
			return n
		}
	}
	return program.Binary{Op: program.Max, X: n, Y: program.Number{Value: new(big.Rat), Sort: program.Int}}
}
