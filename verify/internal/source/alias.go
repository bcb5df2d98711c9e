package source

import (
	"go/types"
	"maps"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// In Go, b := a makes one array with two names; in a program.Function it makes a copy.
// They mean the same until one of the names writes to the array and the other is read
// after that, which is refused here.
//
// A pair of slices that may share an array, and which of them was appended to since: an
// append may write behind the other's end, where only a slice sees it that was
// appended to as well.
type pair struct{ a, b *program.Variable }

type sharing map[pair]bool // both orders; true if a was appended to

func (s sharing) forget(v *program.Variable) {
	for p := range s {
		if p.a == v || p.b == v {
			delete(s, p)
		}
	}
}

// add says that a and b may share an array, and with it all that b does.
func (s sharing) add(a, b *program.Variable) {
	for p, appended := range maps.Clone(s) {
		if p.a == b && p.b != a {
			s[pair{a, p.b}] = s[pair{a, p.b}] || appended
		}
		if p.b == b && p.a != a {
			s[pair{p.a, a}] = s[pair{p.a, a}] || appended
		}
	}
	for _, p := range []pair{{a, b}, {b, a}} {
		if _, known := s[p]; !known {
			s[p] = false
		}
	}
}

// behind is a slice that may have been appended to in the array of v, behind its end.
func (s sharing) behind(v *program.Variable) (other *program.Variable) {
	for p, appended := range s {
		if p.b == v && appended && (other == nil || p.a.Name < other.Name) {
			other = p.a
		}
	}
	return other
}

// revealed are the slices that a statement shows.
func revealed(s program.Statement) (vs []*program.Variable) {
	var values []program.Expression
	switch s := s.(type) {
	case program.Output:
		values = s.Values
	case program.Return:
		values = s.Values
	}
	for _, x := range values {
		if r, ok := x.(program.Ref); ok && r.Var.Slice {
			vs = append(vs, r.Var)
		}
	}
	return vs
}

// checkAliases refuses writes that another name would see. Slices of the input are
// read by the caller for ever.
func (l *lowerer) checkAliases() {
	g := newGraph(l.fn.Body)
	live := g.live()
	before := make([]sharing, len(g.nodes))
	before[0] = sharing{}
	refused := map[int]bool{}
	shown := &program.Variable{Name: "what was yielded", Slice: true, Input: true}
	for work := []int{0}; len(work) > 0; {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		after := maps.Clone(before[i])
		read := func(v *program.Variable) bool { return v.Input || live[i].has(g.number[v]) }
		for _, x := range revealed(g.nodes[i].stmt) {
			if behind := after.behind(x); behind != nil && !refused[i] {
				refused[i] = true
				l.report(g.nodes[i].stmt.Position(), "showing "+x.Name, "behind its end is what "+behind.Name+" was appended", "copy it: append([]T(nil), "+x.Name+"...)")
			}
			if _, yields := g.nodes[i].stmt.(program.Output); yields {
				after.add(shown, x)
			}
		}
		other, appends, bad := l.share(after, g.nodes[i].stmt, read)
		if bad && !refused[i] {
			refused[i] = true
			verb := "writing into"
			if appends {
				verb = "appending to"
			}
			at := g.nodes[i]
			l.report(at.stmt.Position(), verb+" "+at.writes.Name, other.Name+" may share its elements, and is read later", "copy one of them: append([]T(nil), "+at.writes.Name+"...)")
		}
		for _, j := range g.nodes[i].next {
			grown := before[j] == nil
			if grown {
				before[j] = sharing{}
			}
			for p, appended := range after {
				if was, known := before[j][p]; !known || appended && !was {
					before[j][p] = appended || was
					grown = true
				}
			}
			if grown {
				work = append(work, j)
			}
		}
	}
}

// within reports whether a value of type t may lie in one of type u.
func within(t, u types.Type) bool {
	if types.Identical(t, u) {
		return true
	}
	s, ok := u.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if within(t, f.Type()) {
			return true
		}
	}
	return false
}

// checkPointers refuses writes through one of two pointers of the input that may be the
// same.
func (l *lowerer) checkPointers(written map[*program.Variable]bool) {
	for i, p := range l.pointers {
		for j, q := range l.pointers {
			if i == j || !within(p.to, q.to) && !within(q.to, p.to) {
				continue
			}
			for _, v := range l.fn.Inputs {
				if written[v] && strings.HasPrefix(v.Name, p.path+".") {
					l.report(v.Pos, "writing into "+v.Name, q.path+" may point to the same, or into it", "pass one of them by value")
				}
			}
		}
	}
}

// share changes s as a statement does, and returns a slice that would see a write.
func (l *lowerer) share(s sharing, stmt program.Statement, read func(*program.Variable) bool) (other *program.Variable, appends, bad bool) {
	switch stmt := stmt.(type) {
	case program.Make:
		s.forget(stmt.To)
	case program.Assign:
		from, ok := stmt.Value.(program.Ref)
		if !stmt.To.Slice || !ok || from.Var == stmt.To {
			break
		}
		s.forget(stmt.To)
		if l.copies[copied{stmt.To, stmt.Pos}] != shared {
			break
		}
		s.add(stmt.To, from.Var)
	case program.Store:
		for p := range s {
			if p.a == stmt.To && read(p.b) && (other == nil || p.b.Name < other.Name) {
				other = p.b
			}
		}
		return other, false, other != nil
	case program.Append:
		for p := range s {
			if p.a != stmt.To {
				continue
			}
			if read(p.b) && (p.b.Input || s[pair{p.b, p.a}]) && (other == nil || p.b.Name < other.Name) {
				other = p.b
			}
			s[p] = true
		}
	}
	return other, true, other != nil
}
