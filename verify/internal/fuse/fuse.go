// Package fuse makes one loop of two where the first fills a slice and the second reads
// it once and in order: report noisy max as most write it, noise first, then the argmax.
//
// What it guarantees: the function that it returns reveals exactly what the given one
// does, with the same probabilities, on all inputs on which that one reads slices within
// their bounds (package source writes down where it would not). Proofs about one are
// proofs about the other.
//
// It looks for this pattern, and for differences of one-sided noise (see difference), and
// leaves all else as it is: what it returns is then the function that it was given.
// Elements that a loop sets, and reads in the same round, are kept in variables: see
// Elements.
//
// # Why
//
// Let the first loop A have rounds A(0), ..., A(n-1), let M be the statements between, and
// the second loop B have the rounds B(s), ..., B(n-1) with s = 0 or 1. The function
// runs A(0) ... A(n-1) M B(s) ... B(n-1), the fused one M A(0) B(0) A(1) B(1) ... A(n-1) B(n-1).
// Two steps change places if neither writes what the other reads or writes: what either
// draws has a law that the other does not touch, so that both orders have one joint law. And so
// it is:
//
//   - M and B share no variable with A that either side writes, but for the slice. M
//     does not read it, except for its length, which is n, and its first element, which
//     is read after A(0) instead.
//   - B(j) does not write the slice, and reads it at j or earlier; A(k) writes it at k
//     alone. So B(j) changes places with all A(k), k > j.
//
// Rounds of A always end, and nothing that they write is mentioned after B. So where M
// returns, or B is left in round j, the rounds of A that are not run any more (or, in the
// given function, were) show nothing, and their draws integrate to 1.
//
// A slice that is a copy of another, q, may be read by A(k) at k, before it is written there: it
// is q[k] then.
//
// B reads the slice at j as the value that A(j) has just written; and at a variable
// that is 0 or negative before B, and otherwise set only to j within it, as a
// copy of that element, which is taken wherever the variable is set, and at round 0.
package fuse

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Loops returns f with such loops fused, and one draw in the place of two where their
// difference is a draw of another law, or f itself if there are none. It does not change f.
func Loops(f *program.Function) *program.Function {
	names := namesOf(f)
	for again := true; again; {
		again = false
		if body, ok := difference(f.Body, f.Body); ok {
			g := *f
			g.Body = body
			f, again = &g, true
			continue
		}
		for b := range f.Body {
			if body, ok := fuse(f.Body, b, names); ok {
				g := *f
				g.Body = body
				f, again = &g, true
				break
			}
		}
	}
	return f
}

// A pair is two loops that may be one.
type pair struct {
	body          []program.Statement
	made, a, b    int // where the slice is made, and where the loops stand
	first, second *program.Loop
	slice         *program.Variable
	length        program.Expression // of the slice, and the bound of both loops
	i, j          *program.Variable  // the loops' counters
	element       *program.Variable  // slice[i], in the fused loop
	appends       bool               // the first loop makes the slice longer
	start         int64              // the first j
	held          map[*program.Variable]*program.Variable
	heldInOrder   []*program.Variable // the keys of held
	tops          []*program.Variable // set to slice[0] between the loops
	names         map[string]bool
	fused         *program.Loop
}

// fuse fuses the loop at b with the one before it.
func fuse(body []program.Statement, b int, names map[string]bool) ([]program.Statement, bool) {
	p := &pair{body: body, b: b, names: names, held: map[*program.Variable]*program.Variable{}}
	var ok bool
	if p.second, ok = body[b].(*program.Loop); !ok {
		return nil, false
	}
	p.second = left(p.second)
	for p.a = b - 1; p.a >= 0; p.a-- {
		if p.first, ok = body[p.a].(*program.Loop); ok {
			break
		}
	}
	if p.first == nil || !p.fills() || !p.reads() || !p.apart() {
		return nil, false
	}
	before, between, ok := p.around()
	if !ok {
		return nil, false
	}
	loop, ok := p.loop()
	if !ok {
		return nil, false
	}
	out := slices.Clone(body[:p.made])
	out = append(out, before...)
	out = append(out, between...)
	for _, v := range p.heldInOrder {
		out = append(out, program.Assign{At: p.second.At, To: p.held[v], Value: zero(p.slice.Sort)})
	}
	out = append(out, loop)
	return append(out, body[b+1:]...), true
}

// fills reports whether the first loop does nothing but to fill a slice.
func (p *pair) fills() bool {
	if !p.filled() {
		return false
	}
	for p.made = p.a - 1; p.made >= 0 && !effectsOf(p.body[p.made : p.made+1]).writes[p.slice]; {
		p.made--
	}
	if p.made < 0 {
		return false
	}
	made, ok := p.body[p.made].(program.Make)
	if !ok {
		if made, ok = p.copied(); !ok {
			return false
		}
	}
	if !p.once() {
		return false
	}
	if from, ok := p.begins(p.i, p.a); !ok || from != 0 {
		return false
	}
	bound := limit(p.first, p.i)
	if p.appends {
		// The slice is as long as there are rounds, if the bound is not negative.
		if n, ok := constant(made.Length); !ok || n != 0 {
			return false
		}
		p.length = bound
	} else {
		p.length = made.Length
	}
	if p.appends && !natural(p.length) || !p.bound(bound) {
		return false
	}
	// The bound is the same wherever it is read, and is not of the slice itself.
	of := mentioned(p.length)
	for v := range effectsOf(p.body[p.made+1:]).writes {
		if of[v] {
			return false
		}
	}
	return true
}

// copied recognises a slice that is made as a copy of another, which nothing sets anew
// (its length is the bound), and writes the first loop as one that reads the input: each round reads the copy at its
// own place, before it writes there.
func (p *pair) copied() (made program.Make, ok bool) {
	s, _ := p.body[p.made].(program.Assign)
	from, ok := s.Value.(program.Ref)
	if !ok || from.Var.Stream {
		return made, false
	}
	i, _ := counter(p.first) // once sees to it
	r := rewriting(func(x program.Expression) program.Expression {
		if e, ok := x.(program.Element); ok && e.Slice == p.slice && isRef(e.Index, i) {
			e.Slice = from.Var
			return e
		}
		return x
	})
	loop := *p.first
	for k, s := range loop.Body {
		if _, ok := s.(program.Store); ok {
			loop.Body = slices.Concat(r.List(loop.Body[:k+1]), loop.Body[k+1:])
			break
		}
	}
	p.first = &loop
	return program.Make{At: s.At, To: s.To, Length: program.Length{Slice: from.Var}}, true
}

// filled finds the slice that the first loop fills.
func (p *pair) filled() bool {
	for _, s := range p.first.Body {
		var to *program.Variable
		switch s := s.(type) {
		case program.Store:
			to = s.To
		case program.Append:
			to = s.To
		case program.Assign:
			if s.To.Slice {
				return false
			}
		case program.Draw:
		case program.If:
			if !assigns(s) {
				return false
			}
		default:
			return false
		}
		if to != nil && p.slice != nil {
			return false
		}
		if to != nil {
			p.slice = to
		}
	}
	return len(p.first.Invariants) == 0
}

// assigns reports whether a condition only decides which scalars are set.
func assigns(s program.If) bool {
	for _, list := range [][]program.Statement{s.Then, s.Else} {
		for _, s := range list {
			switch s := s.(type) {
			case program.Assign:
				if s.To.Slice {
					return false
				}
			case program.If:
				if !assigns(s) {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

// once reports whether each round of the first loop writes the slice at its own place,
// once, and does not mention it otherwise.
func (p *pair) once() (ok bool) {
	if p.i, ok = counter(p.first); !ok {
		return false
	}
	for _, s := range p.first.Body {
		e := effectsOf([]program.Statement{s})
		if e.writes[p.i] || e.reads[p.slice] {
			return false
		}
		switch s := s.(type) {
		case program.Store:
			if !isRef(s.Index, p.i) {
				return false
			}
		case program.Append:
			p.appends = true
		}
	}
	return true
}

// reads reports whether the second loop goes over the slice from its beginning to its
// end, or from 1, and looks at no more of it than it may.
func (p *pair) reads() bool {
	var ok bool
	if p.j, ok = counter(p.second); !ok || len(p.second.Invariants) > 0 || !p.bound(limit(p.second, p.j)) {
		return false
	}
	if p.start, ok = p.begins(p.j, p.b); !ok || p.start < 0 || p.start > 1 {
		return false
	}
	return !effectsOf(p.second.Body).writes[p.j] && follows(p.second.Body)
}

// left is a loop while i < n && more as one while i < n that is left where more is false.
func left(l *program.Loop) *program.Loop {
	both, ok := l.Cond.(program.Binary)
	if !ok || both.Op != program.And {
		return l
	}
	c := *l
	r := &program.Rewriter{Loops: map[*program.Loop]*program.Loop{l: &c}}
	c.Cond = both.X
	stop := program.If{At: l.At, Cond: program.Unary{Op: program.Not, X: both.Y}, Then: []program.Statement{program.Break{At: l.At, Of: &c}}}
	c.Body = append([]program.Statement{stop}, r.List(l.Body)...)
	return &c
}

// follows reports whether statements are such that they may run between the rounds of a
// loop: they output nothing, and have no loop of their own.
func follows(list []program.Statement) bool {
	for _, s := range list {
		switch s := s.(type) {
		case program.Assign, program.Make, program.Append, program.Store, program.Return, program.Draw, program.Break, program.Continue:
		case program.If:
			if !follows(s.Then) || !follows(s.Else) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// apart reports whether the two loops, and what follows them, share no variable that one
// of them writes, other than the slice. (What both write and nothing reads is nothing.)
func (p *pair) apart() bool {
	a, b := effectsOf([]program.Statement{p.first}), effectsOf([]program.Statement{p.second})
	delete(a.writes, p.slice)
	after := effectsOf(p.body[p.b+1:]).all()
	for v := range a.writes {
		if b.reads[v] || after[v] {
			return false
		}
	}
	for v := range b.writes {
		if a.reads[v] {
			return false
		}
	}
	return !after[p.slice] && !after[p.j]
}

// around returns what stands before the first loop since the slice was made, and between
// the loops, without the slice.
func (p *pair) around() (before, between []program.Statement, ok bool) {
	r := rewriting(func(x program.Expression) program.Expression {
		if l, ok := x.(program.Length); ok && l.Slice == p.slice {
			return p.length
		}
		return x
	})
	before = p.body[p.made+1 : p.a]
	if !p.appends {
		before = r.List(before)
	}
	if effectsOf(before).all()[p.slice] {
		return nil, nil, false
	}
	a := effectsOf([]program.Statement{p.first})
	for _, s := range p.body[p.a+1 : p.b] {
		if s, ok := s.(program.Assign); ok {
			if s.To == p.j {
				continue // begins has seen it
			}
			if e, ok := s.Value.(program.Element); ok && e.Slice == p.slice {
				if at, ok := constant(e.Index); !ok || at != 0 {
					return nil, nil, false
				}
				p.tops = append(p.tops, s.To)
				continue
			}
		}
		between = append(between, r.List([]program.Statement{s})...)
	}
	e := effectsOf(between)
	all := e.all()
	for _, v := range p.tops {
		if all[v] || a.reads[v] {
			return nil, nil, false
		}
		between = append(between, program.Assign{At: p.second.At, To: v, Value: zero(v.Sort)})
	}
	for v := range e.writes {
		if a.reads[v] {
			return nil, nil, false
		}
	}
	for v := range a.writes {
		if e.reads[v] {
			return nil, nil, false
		}
	}
	return before, between, !all[p.slice] && !all[p.j]
}

// loop is the fused one.
func (p *pair) loop() (*program.Loop, bool) {
	p.element = p.variable("now")
	p.fused = &program.Loop{At: p.first.At, Cond: less(p.i, p.length), Post: p.first.Post, Name: p.first.Name}
	rest, ok := p.following()
	if !ok {
		return nil, false
	}
	stops := p.stops(rest)
	p.fused.Body, rest = slices.Clone(rest[:stops]), rest[stops:]
	for _, s := range p.first.Body {
		switch x := s.(type) {
		case program.Store:
			s = program.Assign{At: x.At, To: p.element, Value: x.Value}
		case program.Append:
			s = program.Assign{At: x.At, To: p.element, Value: x.Value}
		}
		p.fused.Body = append(p.fused.Body, s)
	}
	at := p.second.At
	var begin []program.Statement
	for _, v := range p.tops {
		begin = append(begin, program.Assign{At: at, To: v, Value: program.Ref{Var: p.element}})
	}
	for _, v := range p.heldInOrder {
		begin = append(begin, program.Assign{At: at, To: p.held[v], Value: program.Ref{Var: p.element}})
	}
	isFirst := program.If{At: at, Cond: program.Binary{Op: program.Eq, X: program.Ref{Var: p.i}, Y: whole(0)}, Then: begin}
	if p.start == 1 {
		isFirst.Else, rest = rest, nil
	}
	if len(isFirst.Then)+len(isFirst.Else) > 0 {
		p.fused.Body = append(p.fused.Body, isFirst)
	}
	p.fused.Body = append(p.fused.Body, rest...)
	return p.fused, true
}

// stops is with how many statements a round of the second loop begins that do nothing but
// end it, and know nothing of the element: they go first, so that nothing is drawn in vain.
func (p *pair) stops(rest []program.Statement) (n int) {
	if p.start != 0 || len(p.tops) > 0 {
		return 0
	}
	for ; n < len(rest); n++ {
		s, ok := rest[n].(program.If)
		if !ok || len(s.Then) != 1 || len(s.Else) > 0 {
			return n
		}
		of := mentioned(s.Cond)
		for _, v := range p.heldInOrder {
			if of[p.held[v]] {
				return n
			}
		}
		if _, ok := s.Then[0].(program.Break); !ok || of[p.element] {
			return n
		}
	}
	return n
}

// following are the statements of the second loop as they follow those of the first in
// its round: slice[j] is the element, and slice[best] is held where best is set.
func (p *pair) following() ([]program.Statement, bool) {
	r := rewriting(func(x program.Expression) program.Expression {
		switch x := x.(type) {
		case program.Ref:
			if x.Var == p.j {
				return program.Ref{Var: p.i}
			}
		case program.Length:
			if x.Slice == p.slice {
				return p.length
			}
		case program.Element:
			at, ok := x.Index.(program.Ref)
			switch {
			case x.Slice != p.slice || !ok:
			case at.Var == p.i: // that is j: the index is rewritten before
				return program.Ref{Var: p.element}
			case p.holds(at.Var):
				return program.Ref{Var: p.held[at.Var]}
			}
		}
		return x
	})
	r.Loops = map[*program.Loop]*program.Loop{p.second: p.fused}
	r.List(p.second.Body) // finds what is held
	r.Statement = func(s program.Statement) []program.Statement {
		if a, ok := s.(program.Assign); ok && p.held[a.To] != nil {
			return []program.Statement{s, program.Assign{At: a.At, To: p.held[a.To], Value: program.Ref{Var: p.element}}}
		}
		return []program.Statement{s}
	}
	list := r.List(p.second.Body)
	all := effectsOf(list).all()
	return list, !all[p.slice]
}

// holds reports whether a variable is an earlier j wherever the second loop reads it, or
// negative, and begins to hold the element there.
func (p *pair) holds(v *program.Variable) bool {
	if p.held[v] != nil {
		return true
	}
	if from, ok := p.begins(v, p.b); !ok || from > 0 || !setTo(p.second.Body, v, p.j) {
		return false
	}
	p.held[v] = p.variable(v.Name)
	p.heldInOrder = append(p.heldInOrder, v)
	return true
}

// begins returns the constant that a variable has before the statement at a place.
func (p *pair) begins(v *program.Variable, before int) (int64, bool) {
	for k := before - 1; k >= 0; k-- {
		if effectsOf(p.body[k : k+1]).writes[v] {
			s, ok := p.body[k].(program.Assign)
			if !ok {
				return 0, false
			}
			return constant(s.Value)
		}
	}
	return 0, false
}

// bound reports whether the limit of a loop is the length of the slice: the expression of
// which it was made, len(slice), or n := len(slice). (While it is appended to, nothing asks
// for its length: see fills and around.)
func (p *pair) bound(x program.Expression) bool {
	if same(x, p.length) {
		return true
	}
	if r, ok := x.(program.Ref); ok {
		set := -1
		for k := range p.body {
			if effectsOf(p.body[k : k+1]).writes[r.Var] {
				if set >= 0 {
					return false
				}
				set = k
			}
		}
		if set <= p.made {
			return false
		}
		a, _ := p.body[set].(program.Assign)
		x = a.Value
	}
	l, ok := x.(program.Length)
	return ok && l.Slice == p.slice
}

// rewriting copies statements with by applied to the parts of their expressions.
func rewriting(by func(program.Expression) program.Expression) *program.Rewriter {
	return &program.Rewriter{Expression: func(x program.Expression) program.Expression { return program.Replace(x, by) }}
}

// variable makes a scalar for an element of the slice.
func (p *pair) variable(name string) *program.Variable {
	name = p.slice.Name + "·" + name
	for p.names[name] {
		name += "·"
	}
	p.names[name] = true
	return &program.Variable{Name: name, Sort: p.slice.Sort, Pos: p.slice.Pos}
}

func whole(n int64) program.Expression {
	return program.Number{Value: big.NewRat(n, 1), Sort: program.Int}
}

func zero(s program.Sort) program.Expression {
	if s == program.Bool {
		return program.Truth(false)
	}
	return program.Number{Value: new(big.Rat), Sort: s}
}

func less(v *program.Variable, n program.Expression) program.Expression {
	return program.Binary{Op: program.Lt, X: program.Ref{Var: v}, Y: n}
}
