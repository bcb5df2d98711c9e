package fuse

import (
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Sums returns f with sums in slices of noise: where eta is read in q[x]+eta[x] alone, q
// being an input that nothing sets, eta[i] = noise becomes eta[i] = q[i]+noise, and the sum is
// read as eta[x]. It returns f itself if there are none, and does not change it.
//
// The slice is made as long as the input, so that it has an element wherever q has one;
// and is set by stores alone, each of what is added to the same element of the input. One that
// was not set is 0, of which the sum is not q[x]: so all are set before they are read, by a loop
// of its own that has no other way out.
func Sums(f *program.Function) *program.Function {
	for k, s := range f.Body {
		m, ok := s.(program.Make)
		if !ok {
			continue
		}
		of, ok := m.Length.(program.Length)
		if !ok || of.Slice.Stream || of.Slice.Sort != m.To.Sort || draws(f.Body, of.Slice) > 0 {
			continue
		}
		if body, ok := sums(f.Body, k, m.To, of.Slice); ok {
			g := *f
			g.Body = body
			return Sums(&g)
		}
	}
	return f
}

// sums rewrites the statements for a slice of noise that is made at a place.
func sums(body []program.Statement, made int, eta, q *program.Variable) ([]program.Statement, bool) {
	fill := made + 1
	for fill < len(body) && !effectsOf(body[fill : fill+1]).writes[eta] {
		fill++
	}
	if fill == len(body) || draws(body, eta) != 2 {
		return nil, false // it is set where it is made, and in the loop
	}
	loop, ok := body[fill].(*program.Loop)
	if !ok {
		return nil, false
	}
	p := &pair{body: body, made: made, a: fill, first: loop, length: program.Length{Slice: q}}
	if !p.filled() || !p.once() || p.appends || !p.bound(limit(loop, p.i)) {
		return nil, false
	}
	if from, ok := p.begins(p.i, fill); !ok || from != 0 {
		return nil, false
	}
	all, within := 0, 0
	r := rewriting(func(x program.Expression) program.Expression {
		if b, ok := x.(program.Binary); ok && b.Op == program.Add {
			if at, ok := bothAt(b.X, b.Y, q, eta); ok {
				within++
				return program.Element{Slice: eta, Index: at}
			}
		}
		return x
	})
	program.Each(body, func(s program.Statement) {
		if d, ok := s.(program.Draw); ok && d.Scores == eta {
			all++
		}
		for _, x := range program.Expressions(s) {
			program.Walk(x, func(x program.Expression) {
				if e, ok := x.(program.Element); ok && e.Slice == eta {
					all++
				}
				if r, ok := x.(program.Ref); ok && r.Var == eta {
					all++
				}
			})
		}
	})
	rest := r.List(read(body[fill+1:], q))
	if all == 0 || within != all {
		return nil, false
	}
	s := &program.Rewriter{Statement: func(s program.Statement) []program.Statement {
		if st, ok := s.(program.Store); ok && st.To == eta {
			st.Value = program.Binary{Op: program.Add, X: program.Element{Slice: q, Index: st.Index}, Y: st.Value}
			return []program.Statement{st}
		}
		return []program.Statement{s}
	}}
	return append(s.List(body[:fill+1]), rest...), true
}

// bothAt is x where two expressions are q[x] and eta[x], in either order.
func bothAt(a, b program.Expression, q, eta *program.Variable) (program.Expression, bool) {
	x, _ := a.(program.Element)
	y, _ := b.(program.Element)
	if x.Slice == eta {
		x, y = y, x
	}
	return x.Index, x.Slice == q && y.Slice == eta && x.Index.String() == y.Index.String()
}

// read puts q[i] in the place of x in loops that begin with x = q[i], where neither changes.
func read(list []program.Statement, q *program.Variable) []program.Statement {
	r := &program.Rewriter{Loops: map[*program.Loop]*program.Loop{}}
	out := r.List(list)
	for k, s := range out {
		l, ok := s.(*program.Loop)
		if !ok || len(l.Body) == 0 {
			continue
		}
		a, ok := l.Body[0].(program.Assign)
		if !ok || draws(list, a.To) != 1 {
			continue
		}
		e, _ := a.Value.(program.Element)
		if e.Slice != q {
			continue
		}
		i, ok := e.Index.(program.Ref)
		if !ok || effectsOf(l.Body).writes[i.Var] || mentions(list, a.To) != mentions(l.Body, a.To) {
			continue
		}
		within := rewriting(func(x program.Expression) program.Expression {
			if isRef(x, a.To) {
				return e
			}
			return x
		})
		c := *l
		within.Loops = map[*program.Loop]*program.Loop{l: &c}
		c.Body = within.List(l.Body[1:])
		out[k] = &c
	}
	return out
}
