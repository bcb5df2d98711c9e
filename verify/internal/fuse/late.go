package fuse

import (
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Late returns f with noise that a sum begins with drawn when the sum is made: of
// s = noise; for { s = s + x } it makes s = 0; for { s = s + x }; s = s + noise. It returns f
// itself if there is none, and does not change it.
//
// In the loop s is in such sums alone, so that it is less by the noise until the end; and the
// law of the noise is of what the loop does not set. Where the loop returns, the noise was in
// nothing that is shown.
func Late(f *program.Function) *program.Function {
	for k, s := range f.Body {
		d, ok := s.(program.Draw)
		if !ok || d.Align != nil {
			continue
		}
		if end, ok := summed(f.Body, k, d); ok {
			noise := &program.Variable{Name: d.To.Name + "·noise", Sort: d.To.Sort, Pos: d.To.Pos}
			for names := namesOf(f); names[noise.Name]; {
				noise.Name += "·"
			}
			g := *f
			g.Body = slices.Clone(f.Body[:end+1])
			g.Body[k] = program.Assign{At: d.At, To: d.To, Value: zero(d.To.Sort)}
			sum := program.Assign{At: d.At, To: d.To, Value: program.Binary{Op: program.Add, X: program.Ref{Var: d.To}, Y: program.Ref{Var: noise}}}
			d.To = noise
			g.Body = append(append(g.Body, d, sum), f.Body[end+1:]...)
			return Late(&g)
		}
	}
	return f
}

// summed finds the loop that adds to what is drawn at k, and before which nothing reads it.
func summed(body []program.Statement, k int, d program.Draw) (end int, ok bool) {
	for end = k + 1; end < len(body); end++ {
		if effectsOf(body[end : end+1]).all()[d.To] {
			break
		}
	}
	if end == len(body) {
		return 0, false
	}
	l, ok := body[end].(*program.Loop)
	if !ok || len(l.Invariants) > 0 || !adds(l, d.To) {
		return 0, false
	}
	law := mentioned(d.Parameter)
	law[d.Scores] = d.Scores != nil
	for v := range effectsOf(body[k : end+1]).writes {
		if law[v] {
			return 0, false
		}
	}
	return end, true
}

// adds reports whether a loop does nothing with a variable but to add to it.
func adds(l *program.Loop, to *program.Variable) bool {
	sums := 0
	program.Each(l.Body, func(s program.Statement) {
		if a, ok := s.(program.Assign); ok && a.To == to {
			if b, ok := a.Value.(program.Binary); ok && b.Op == program.Add && isRef(b.X, to) {
				sums++
			}
		}
	})
	all := []program.Statement{l}
	return mentions(all, to) == sums && draws(all, to) == sums
}
