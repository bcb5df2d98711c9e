package fuse

import (
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Rewrite returns f with one return at its end, noise where a sum ends, sums in slices of noise, elements that were
// just set read as what they were set to, and loops fused; or f itself if there is nothing of
// that. It does not change f.
func Rewrite(f *program.Function) *program.Function { return Loops(Elements(Sums(Late(Returns(f))))) }

// Elements returns f with reads of an element that was just set in the place of which is
// what it was set to: out[i] = x + noise > t, and then if out[i]. It returns f itself if
// there are none, and does not change it.
//
// Between the two no statement sets the slice, or a variable of the index, of which the slice
// itself is none: so the element is what was stored, which is kept in a variable that nothing
// else sets.
func Elements(f *program.Function) *program.Function {
	e := &elements{names: namesOf(f), loops: map[*program.Loop]*program.Loop{}}
	body := e.list(f.Body)
	if !e.found {
		return f
	}
	g := *f
	g.Body = body
	return &g
}

func namesOf(f *program.Function) map[string]bool {
	names := map[string]bool{}
	for _, v := range f.Inputs {
		names[v.Name] = true
	}
	for v := range effectsOf(f.Body).all() {
		names[v.Name] = true
	}
	return names
}

type elements struct {
	names map[string]bool
	loops map[*program.Loop]*program.Loop // copies, by what they are of
	found bool
}

func (e *elements) list(list []program.Statement) (out []program.Statement) {
	list = slices.Clone(list)
	for k := 0; k < len(list); k++ {
		switch s := list[k].(type) {
		case program.Store:
			kept := &program.Variable{Name: e.unused(s.To.Name + "·set"), Sort: s.To.Sort, Pos: s.To.Pos}
			if !mentioned(s.Index)[s.To] && e.follow(list[k+1:], s, kept) {
				e.found, e.names[kept.Name] = true, true
				out = append(out, program.Assign{At: s.At, To: kept, Value: s.Value})
				s.Value = program.Ref{Var: kept}
			}
			out = append(out, s)
		case program.If:
			s.Then, s.Else = e.list(s.Then), e.list(s.Else)
			out = append(out, s)
		case *program.Loop:
			l := *s
			e.loops[s] = &l
			l.Body, l.Post = e.list(s.Body), e.list(s.Post)
			out = append(out, &l)
		case program.Break:
			s.Of = e.loops[s.Of]
			out = append(out, s)
		case program.Continue:
			s.Of = e.loops[s.Of]
			out = append(out, s)
		default:
			out = append(out, s)
		}
	}
	return out
}

// follow replaces the element in the statements that follow its store, in their place, as
// long as it is what was stored; false if none reads it.
func (e *elements) follow(list []program.Statement, of program.Store, kept *program.Variable) (found bool) {
	index := of.Index.String()
	by := func(x program.Expression) program.Expression {
		if y, ok := x.(program.Element); ok && y.Slice == of.To && y.Index.String() == index {
			found = true
			return program.Ref{Var: kept}
		}
		return x
	}
	fixed := mentioned(of.Index)
	fixed[of.To] = true
	for k, s := range list {
		writes := false
		for v := range effectsOf(list[k : k+1]).writes {
			writes = writes || fixed[v]
		}
		switch s := s.(type) {
		case *program.Loop:
			if writes {
				return found
			}
			continue
		case program.If:
			if writes {
				s.Cond = program.Replace(s.Cond, by)
				list[k] = s
				return found
			}
		}
		list[k] = rewriting(by).List(list[k : k+1])[0] // what it reads, it reads before it writes
		if writes {
			return found
		}
	}
	return found
}

func (e *elements) unused(name string) string {
	for e.names[name] {
		name += "·"
	}
	return name
}
