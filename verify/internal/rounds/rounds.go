// Package rounds takes a loop apart whose rounds are mechanisms of their own: a proof for
// one round is a proof for all.
//
// What it guarantees: if the function that it returns keeps the claim that it returns
// with it, then the given function keeps the given claim. It finds no proof, and says
// nothing of functions of another form.
//
// # Why
//
// Theorem (sequential composition, adaptive; Dwork, Rothblum and Vadhan 2010, for pure and
// approximate privacy; Bun and Steinke 2016, theorem 1.7, for zCDP). Let each of at most n
// mechanisms be chosen, and given its public inputs, by what the earlier ones revealed. If
// each is ε-private for all public inputs that it may be given, all together are
// nε-private; so with (ε, δ) and ρ.
//
// Here a function runs
//
//	before; for i < n { core; tail }; after
//
// where only core draws noise or reads private data. One round takes as public inputs what
// core reads of what the rounds share, runs core, and reveals all that core sets and others
// read. The rest is a function of what rounds revealed: the condition of the loop, tail,
// what the next round is given, and the result. A round costs the claim divided by n; where
// the loop runs n is at least 1, and it runs at most n times. Where it does not run nothing
// private is revealed, which a claim covers that is not negative there.
package rounds

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
)

// A Round is one round of a function, with what it must keep.
type Round struct {
	Function *program.Function
	Claim    *claim.Claim
	// Count is the number of rounds, at most.
	Count program.Expression
	Loop  *program.Loop
}

// Of returns the rounds of a function. It does not change f.
func Of(f *program.Function, c *claim.Claim) (*Round, bool) {
	if c.Cost == nil || f.Outcome != nil {
		return nil, false
	}
	s := &splitter{f: f, private: map[*program.Variable]bool{}, writes: map[*program.Variable]int{}}
	for _, a := range c.Adjacent {
		if a.Relation == claim.Bag || a.Input.Stream {
			return nil, false
		}
		s.private[a.Input] = true
	}
	program.Each(f.Body, func(st program.Statement) {
		if v := program.Written(st); v != nil {
			s.writes[v]++
		}
	})
	for _, v := range f.Inputs {
		if s.writes[v] > 0 || v.Stream {
			return nil, false
		}
	}
	if !s.split() || !s.counted() || !s.public() || !s.covered(c) {
		return nil, false
	}
	body, inputs, ok := s.round()
	if !ok {
		return nil, false
	}
	r := &Round{Count: s.count, Loop: s.loop, Claim: s.share(c)}
	g := *f
	g.Inputs = append(slices.Clone(f.Inputs), inputs...)
	g.Body = body
	r.Function = &g
	// What holds where the loop runs a round.
	for _, v := range inputs {
		if v.Name == s.index.Name {
			at := program.Ref{Var: v}
			r.Claim.Requires = append(r.Claim.Requires, program.Binary{Op: program.Ge, X: at, Y: number(0)}, program.Binary{Op: program.Lt, X: at, Y: s.count})
		}
	}
	r.Claim.Requires = append(r.Claim.Requires, program.Binary{Op: program.Ge, X: s.count, Y: number(1)})
	return r, true
}

// covered reports whether what is claimed is not negative where no round runs.
func (s *splitter) covered(c *claim.Claim) bool {
	none := *c
	none.Requires = append(slices.Clone(c.Requires), program.Binary{Op: program.Le, X: s.count, Y: number(0)})
	for _, part := range []program.Expression{c.Cost.Epsilon, c.Cost.Delta, c.Cost.Rho} {
		none.Cost = &claim.Cost{Epsilon: part}
		if part == nil {
			continue
		}
		if _, err := ratio.Within(s.f, &none, nil); err != nil {
			return false
		}
	}
	return true
}

func number(n int64) program.Expression {
	return program.Number{Value: big.NewRat(n, 1), Sort: program.Int}
}

// share is the part of the claim that a round may cost.
func (s *splitter) share(c *claim.Claim) *claim.Claim {
	part := func(x program.Expression) program.Expression {
		if x == nil {
			return nil
		}
		return program.Binary{Op: program.Quo, X: x, Y: program.Call{Func: "real", Args: []program.Expression{s.count}}}
	}
	one := *c
	one.Requires = slices.Clone(c.Requires)
	cost := *c.Cost
	cost.Epsilon, cost.Delta, cost.Rho = part(cost.Epsilon), part(cost.Delta), part(cost.Rho)
	one.Cost = &cost
	return &one
}

type splitter struct {
	f       *program.Function
	private map[*program.Variable]bool // inputs, and what is made of them before the loop
	writes  map[*program.Variable]int

	before, core, tail, after []program.Statement
	loop                      *program.Loop
	index                     *program.Variable
	count                     program.Expression
}

// split finds the one loop with noise, and in its body the last statement with noise or
// private data.
func (s *splitter) split() bool {
	at := -1
	for i, st := range s.f.Body {
		if draws(st) {
			if at >= 0 {
				return false
			}
			at = i
		}
	}
	if at < 0 {
		return false
	}
	l, ok := s.f.Body[at].(*program.Loop)
	if !ok {
		return false
	}
	s.loop, s.before, s.after = l, s.f.Body[:at], s.f.Body[at+1:]
	s.spread()
	last, inner := -1, false
	for i, st := range l.Body {
		if draws(st) || s.reads(st) {
			last = i
		}
		if _, loop := st.(*program.Loop); loop && draws(st) {
			inner = true
		}
	}
	if !inner {
		return false // couplings see all rounds at once, and more of them
	}
	s.core, s.tail = l.Body[:last+1], l.Body[last+1:]
	stays := true
	program.Each(s.core, func(st program.Statement) {
		switch st := st.(type) {
		case program.Break:
			stays = stays && st.Of != l
		case program.Continue:
			stays = stays && st.Of != l
		case program.Return:
			stays = stays && st.Panic
		}
	})
	return stays
}

func draws(s program.Statement) (found bool) {
	program.Each([]program.Statement{s}, func(s program.Statement) {
		_, draw := s.(program.Draw)
		found = found || draw
	})
	return found
}

// spread marks what is made of private data before the loop.
func (s *splitter) spread() {
	for again := true; again; {
		again = false
		program.Each(s.before, func(st program.Statement) {
			v := program.Written(st)
			if v != nil && !s.private[v] && s.reads(st) {
				s.private[v], again = true, true
			}
		})
	}
}

// reads reports whether a statement, or one within it, depends on private data. (Lengths of
// neighbours are equal.)
func (s *splitter) reads(st program.Statement) (found bool) {
	program.Each([]program.Statement{st}, func(st program.Statement) {
		if d, ok := st.(program.Draw); ok && d.Scores != nil && s.private[d.Scores] {
			found = true
		}
		for _, x := range program.Expressions(st) {
			program.Walk(x, func(x program.Expression) {
				switch x := x.(type) {
				case program.Ref:
					found = found || s.private[x.Var]
				case program.Element:
					found = found || s.private[x.Slice]
				case program.Length:
					found = found || s.private[x.Slice] && !x.Slice.Input
				}
			})
		}
	})
	return found
}

// counted reads the condition of the loop: i < n for an i that counts up from 0 or more.
func (s *splitter) counted() bool {
	cond, ok := s.loop.Cond.(program.Binary)
	if !ok || cond.Op != program.Lt || len(s.loop.Post) != 1 {
		return false
	}
	i, ok := cond.X.(program.Ref)
	post, assign := s.loop.Post[0].(program.Assign)
	if !ok || !assign || post.To != i.Var || post.To.Sort != program.Int || s.writes[i.Var] != 2 {
		return false
	}
	next, ok := post.Value.(program.Binary)
	if !ok || next.Op != program.Add || !isRef(next.X, i.Var) || !isOne(next.Y) {
		return false
	}
	begins := false
	for _, st := range s.before {
		if a, ok := st.(program.Assign); ok && a.To == i.Var {
			n, ok := a.Value.(program.Number)
			begins = ok && n.Value.Sign() >= 0
		}
	}
	if !begins {
		return false
	}
	switch n := cond.Y.(type) {
	case program.Ref:
		ok = n.Var.Input && !s.private[n.Var] && n.Var.Sort == program.Int && !n.Var.Slice
	case program.Length:
		ok = n.Slice.Input
	case program.Number:
		ok = n.Value.IsInt() && n.Value.Sign() > 0
	default:
		ok = false
	}
	s.index, s.count = i.Var, cond.Y
	return ok
}

func isRef(x program.Expression, v *program.Variable) bool {
	r, ok := x.(program.Ref)
	return ok && r.Var == v
}

func isOne(x program.Expression) bool {
	n, ok := x.(program.Number)
	return ok && n.Value.Cmp(big.NewRat(1, 1)) == 0
}

// public reports whether all but core depends on public data alone. What core sets is
// revealed.
func (s *splitter) public() bool {
	for _, list := range [][]program.Statement{s.tail, s.loop.Post, s.after} {
		for _, st := range list {
			if s.reads(st) {
				return false
			}
		}
	}
	ok := true
	program.Each(s.before, func(st program.Statement) {
		switch st.(type) {
		case program.If, *program.Loop, program.Return, program.Output:
			// (Of jumps the conditions decide.)
			for _, x := range program.Expressions(st) {
				ok = ok && !s.reads(program.Output{Values: []program.Expression{x}})
			}
		}
	})
	return ok
}

// round writes one round, and says which inputs it has beside those of the function.
func (s *splitter) round() (body []program.Statement, inputs []*program.Variable, ok bool) {
	outside := map[*program.Variable]bool{}
	for _, list := range [][]program.Statement{s.before, s.tail, s.loop.Post, s.after, {program.Output{Values: []program.Expression{s.loop.Cond}}}} {
		named(list, outside)
	}
	inside, set := map[*program.Variable]bool{}, map[*program.Variable]bool{}
	named(s.core, inside)
	program.Each(s.core, func(st program.Statement) {
		if v := program.Written(st); v != nil {
			set[v] = true
		}
	})
	x := &exposure{exposed: map[*program.Variable]bool{}}
	end := x.list(s.core, map[*program.Variable]bool{})
	for _, v := range s.f.Inputs {
		delete(inside, v)
	}
	definitions := s.definitions()
	given := map[*program.Variable]*program.Variable{}
	var begin []program.Statement
	var revealed []program.Expression
	input := func(v *program.Variable) *program.Variable {
		w := *v
		w.Input = true
		inputs = append(inputs, &w)
		return &w
	}
	for _, v := range sorted(inside) {
		switch {
		case definitions[v] != nil:
		case !outside[v] && !x.exposed[v]: // its own
		case s.private[v]:
			return nil, nil, false
		case !set[v]:
			given[v] = input(v)
		case end[v] && !x.exposed[v]:
			revealed = append(revealed, program.Ref{Var: v})
		case v.Slice:
			// The elements that it had before the round are public: what the round appends
			// is revealed.
			if !onlyAppended(s.core, v) {
				return nil, nil, false
			}
			begin = append(begin, program.Make{At: program.At{Pos: s.loop.Pos}, To: v, Length: number(0)})
			revealed = append(revealed, program.Ref{Var: v})
		default:
			w := input(v)
			w.Name += "·before"
			begin = append(begin, program.Assign{At: program.At{Pos: s.loop.Pos}, To: v, Value: program.Ref{Var: w}})
			revealed = append(revealed, program.Ref{Var: v})
		}
	}
	if len(revealed) == 0 {
		revealed = []program.Expression{number(0)}
	}
	for _, st := range s.before {
		if a, ok := st.(program.Assign); ok && definitions[a.To] != nil {
			begin = append(begin, a)
		}
	}
	r := &program.Rewriter{
		Expression: func(x program.Expression) program.Expression {
			return program.Replace(x, func(x program.Expression) program.Expression {
				switch x := x.(type) {
				case program.Ref:
					if w := given[x.Var]; w != nil {
						x.Var = w
					}
					return x
				case program.Element:
					if w := given[x.Slice]; w != nil {
						x.Slice = w
					}
					return x
				case program.Length:
					if w := given[x.Slice]; w != nil {
						x.Slice = w
					}
					return x
				}
				return x
			})
		},
		Statement: func(st program.Statement) []program.Statement {
			switch st := st.(type) {
			case program.Return:
				st.Values = nil // a panic: what a round reveals is never nothing
				return []program.Statement{st}
			case program.Draw:
				if w := given[st.Scores]; w != nil {
					st.Scores = w
				}
				return []program.Statement{st}
			}
			return []program.Statement{st}
		},
	}
	body = append(begin, r.List(s.core)...)
	return append(body, program.Return{At: program.At{Pos: s.loop.Pos}, Values: revealed}), inputs, true
}

// definitions are the numbers that are set once, before the loop, from inputs and such
// numbers: a round makes them itself.
func (s *splitter) definitions() map[*program.Variable]program.Expression {
	all := map[*program.Variable]program.Expression{}
	for _, st := range s.before {
		a, ok := st.(program.Assign)
		if !ok || a.To.Slice || s.writes[a.To] != 1 {
			continue
		}
		program.Walk(a.Value, func(x program.Expression) {
			switch x := x.(type) {
			case program.Ref:
				ok = ok && (x.Var.Input || all[x.Var] != nil)
			case program.Element:
				ok = ok && x.Slice.Input
			case program.Length:
				ok = ok && x.Slice.Input
			}
		})
		if ok {
			all[a.To] = a.Value
		}
	}
	return all
}

// named notes the variables that statements name.
func named(list []program.Statement, into map[*program.Variable]bool) {
	program.Each(list, func(st program.Statement) {
		if v := program.Written(st); v != nil {
			into[v] = true
		}
		program.Reads(st, func(v *program.Variable) { into[v] = true })
	})
}

func sorted(set map[*program.Variable]bool) []*program.Variable {
	var all []*program.Variable
	for v := range set {
		all = append(all, v)
	}
	slices.SortFunc(all, func(v, w *program.Variable) int {
		if v.Pos != w.Pos {
			return int(v.Pos - w.Pos)
		}
		if v.Name < w.Name {
			return -1
		}
		return 1
	})
	return all
}

// onlyAppended reports whether statements do nothing with a slice but append to it.
func onlyAppended(list []program.Statement, v *program.Variable) bool {
	ok := true
	program.Each(list, func(st program.Statement) {
		if program.Written(st) == v {
			_, appends := st.(program.Append)
			ok = ok && appends
		}
		program.Reads(st, func(w *program.Variable) { ok = ok && w != v })
	})
	return ok
}

// An exposure finds the variables that statements may read as they were before.
type exposure struct {
	exposed map[*program.Variable]bool
}

// list follows statements, and reports what they surely set; nil if their end is not
// reached.
func (e *exposure) list(list []program.Statement, set map[*program.Variable]bool) map[*program.Variable]bool {
	for _, st := range list {
		read := map[*program.Variable]bool{}
		program.Reads(st, func(v *program.Variable) { read[v] = true })
		switch st := st.(type) {
		case program.Append:
			read[st.To] = true
		case program.Store:
			read[st.To] = true
		}
		for v := range read {
			if !set[v] {
				e.exposed[v] = true
			}
		}
		switch st := st.(type) {
		case program.Assign, program.Make, program.Draw:
			set[program.Written(st)] = true
		case program.If:
			yes, no := e.list(st.Then, clone(set)), e.list(st.Else, clone(set))
			switch {
			case yes == nil && no == nil:
				return nil
			case yes == nil:
				set = no
			case no == nil:
				set = yes
			default:
				for v := range yes {
					if !no[v] {
						delete(yes, v)
					}
				}
				set = yes
			}
		case *program.Loop:
			// Nothing of it may run; what it sets on the way it may read there.
			e.list(st.Body, clone(set))
			e.list(st.Post, clone(set))
		case program.Break, program.Continue, program.Return:
			return nil
		}
	}
	return set
}

func clone(set map[*program.Variable]bool) map[*program.Variable]bool {
	c := map[*program.Variable]bool{}
	for v := range set {
		c[v] = true
	}
	return c
}
