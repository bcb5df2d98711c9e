package source

import (
	"go/token"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A follow is the place where a pointer of the input is followed, which panics if it is nil.
// (A source of noise that is nil is one that fails: see the package comment.)
// It is a statement while a function is read; see resolveFollows.
type follow struct {
	program.At
	of *presence
	// under are conditions of && and || under which the place is reached.
	under []program.Expression
}

// follows notes that a pointer is followed.
func (l *lowerer) follows(p *presence, pos token.Pos) {
	if p != nil {
		l.out = append(l.out, &follow{At: program.At{Pos: pos}, of: p})
	}
}

// claimOf notes that the claim speaks of what a pointer points to: it is not nil.
func (l *lowerer) claimOf(p *presence) {
	if p != nil {
		p.claimed = true
	}
}

// onlyFollows reports whether statements do nothing else, which leaves an expression one.
func onlyFollows(stmts []program.Statement) bool {
	for _, s := range stmts {
		if _, ok := s.(*follow); !ok {
			return false
		}
	}
	return true
}

// followUnder notes what is followed where a condition holds.
func (l *lowerer) followUnder(stmts []program.Statement, cond program.Expression) {
	for _, s := range stmts {
		f := *s.(*follow)
		f.under = append([]program.Expression{cond}, f.under...)
		l.out = append(l.out, &f)
	}
}

// resolveFollows returns the statements without them: where private data, or noise, decide
// whether a pointer is followed that may be nil, that it panics is written down. One that
// was followed before, or was compared with nil, is not nil.
func (l *lowerer) resolveFollows(stmts []program.Statement, c *claim.Claim) []program.Statement {
	telling := map[*follow]bool{}
	e := &established{map[*presence]bool{}, map[*follow]bool{}}
	e.list(stmts, map[*presence]bool{})
	clear(e.open)
	e.list(stmts, map[*presence]bool{}) // all of them are known now
	if len(e.open) > 0 && c != nil {
		d := newDependence(c)
		d.settle(stmts)
		d.visit = func(s program.Statement, under bool) {
			if f, ok := s.(*follow); ok && e.open[f] && (under || d.of(f.under...)) {
				telling[f] = true
			}
		}
		d.list(stmts, false)
	}
	return l.panicsAt(stmts, telling)
}

func (l *lowerer) panicsAt(stmts []program.Statement, telling map[*follow]bool) (out []program.Statement) {
	for _, s := range stmts {
		switch x := s.(type) {
		case *follow:
			if telling[x] {
				cond := negate(program.Ref{Var: x.of.variable()})
				for _, c := range slices.Backward(x.under) {
					cond = both(c, cond)
				}
				out = append(out, program.If{At: x.At, Cond: cond, Then: []program.Statement{program.Return{At: x.At, Values: l.panicValues(), Panic: true}}})
			}
			continue
		case program.If:
			x.Then, x.Else = l.panicsAt(x.Then, telling), l.panicsAt(x.Else, telling)
			s = x
		case *program.Loop:
			x.Body, x.Post = l.panicsAt(x.Body, telling), l.panicsAt(x.Post, telling)
		}
		out = append(out, s)
	}
	return out
}

// established finds the places where it is open that a pointer is not nil.
type established struct {
	all  map[*presence]bool
	open map[*follow]bool
}

// list returns what is not nil after statements; nil if their end is not reached.
func (e *established) list(stmts []program.Statement, known map[*presence]bool) map[*presence]bool {
	known = maps.Clone(known)
	for _, s := range stmts {
		switch s := s.(type) {
		case *follow:
			e.all[s.of] = true
			if !known[s.of] && !s.of.claimed {
				e.open[s] = true
			}
			if len(s.under) == 0 {
				known[s.of] = true
			}
		case program.If:
			yes := e.list(s.Then, e.assume(s.Cond, true, known))
			no := e.list(s.Else, e.assume(s.Cond, false, known))
			switch {
			case yes == nil && no == nil:
				return nil
			case yes == nil:
				known = no
			case no == nil:
				known = yes
			default:
				known = yes
				maps.DeleteFunc(known, func(p *presence, _ bool) bool { return !no[p] })
			}
		case *program.Loop: // what holds before it holds in every round
			e.list(s.Body, known)
			e.list(s.Post, known)
		case program.Break, program.Continue, program.Return:
			return nil
		}
	}
	return known
}

// assume returns what is not nil where a condition holds, or does not.
func (e *established) assume(x program.Expression, is bool, known map[*presence]bool) map[*presence]bool {
	switch x := x.(type) {
	case program.Ref:
		for p := range e.all {
			if is && p.v == x.Var {
				known = maps.Clone(known)
				known[p] = true
			}
		}
	case program.Unary:
		if x.Op == program.Not {
			return e.assume(x.X, !is, known)
		}
	case program.Binary:
		if x.Op == program.And && is || x.Op == program.Or && !is {
			return e.assume(x.Y, is, e.assume(x.X, is, known))
		}
	}
	return known
}
