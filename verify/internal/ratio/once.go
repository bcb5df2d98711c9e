package ratio

import (
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A hit is the condition i == v of a loop with the counter i and a private number v that
// nothing sets: unary encoding, RAPPOR. It holds in at most one round of each run.
//
// Theorem. Let a round in which the condition has the same truth in both runs cost nothing,
// one where it holds in the first run only at most c, and in the second run only at
// most d. Then all rounds cost at most c+d. Proof: v and v' are what they are, and i
// is a different number in each round, so that there is at most one round of each of
// the last two kinds. What else a round does with v may be anything: it is private.
type hit struct {
	of    *program.Variable // stands for the condition
	input *program.Variable // v
}

// strikes lists the loops with such conditions, and replaces these in the function.
func (p *prover) strikes() map[*program.Loop][]hit {
	found := map[*program.Loop][]hit{}
	set := assigned(p.f.Body)
	var private []*program.Variable
	for _, a := range p.claim.Adjacent {
		if a.Relation == claim.Scalar && a.Input.Sort == program.Int && !a.Input.Slice && !set[a.Input] {
			private = append(private, a.Input)
		}
	}
	program.Each(p.f.Body, func(s program.Statement) {
		l, ok := s.(*program.Loop)
		if !ok {
			return
		}
		i := counter(l)
		if i == nil {
			return
		}
		for _, v := range private {
			h := hit{&program.Variable{Name: fmt.Sprintf("%s == %s in %s", i.Name, v.Name, l.Name), Sort: program.Bool, Input: true}, v}
			n := 0
			change := func(e program.Expression) program.Expression { return replaceHit(e, i, v, h.of, &n) }
			program.Each(l.Body, func(t program.Statement) {
				switch t := t.(type) {
				case *program.Assign:
					t.Value = change(t.Value)
				case *program.Append:
					t.Value = change(t.Value)
				case *program.Store:
					t.Index, t.Value = change(t.Index), change(t.Value)
				case *program.Draw:
					t.Parameter = change(t.Parameter)
				case *program.If:
					t.Cond = change(t.Cond)
				case *program.Output:
					for k, e := range t.Values {
						t.Values[k] = change(e)
					}
				}
			})
			if n > 0 {
				found[l] = append(found[l], h)
			}
		}
	})
	return found
}

// replaceHit writes the variable for i == v.
func replaceHit(e program.Expression, i, v, by *program.Variable, n *int) program.Expression {
	change := func(e program.Expression) program.Expression { return replaceHit(e, i, v, by, n) }
	is := func(e program.Expression, v *program.Variable) bool {
		r, ok := e.(program.Ref)
		return ok && r.Var == v
	}
	switch e := e.(type) {
	case program.Unary:
		e.X = change(e.X)
		return e
	case program.Binary:
		if (e.Op == program.Eq || e.Op == program.Ne) && (is(e.X, i) && is(e.Y, v) || is(e.X, v) && is(e.Y, i)) {
			*n++
			if e.Op == program.Ne {
				return program.Unary{Op: program.Not, X: program.Ref{Var: by}}
			}
			return program.Ref{Var: by}
		}
		e.X, e.Y = change(e.X), change(e.Y)
		return e
	case program.Call:
		e.Args = slices.Clone(e.Args)
		for k, x := range e.Args {
			e.Args[k] = change(x)
		}
		return e
	case program.If3:
		e.Cond, e.Then, e.Else = change(e.Cond), change(e.Then), change(e.Else)
		return e
	}
	return e
}

// begin says of a loop's hits that they are private in each round.
func (p *prover) begin(s *program.Loop, at state) state {
	for _, h := range p.hits[s] {
		at = at.set(h.of, value{relation: apart})
	}
	return at
}

// struck is what the rounds of a loop with hits cost together.
func (p *prover) struck(s *program.Loop, head state) ([]cost, []Step, error) {
	line := p.line(s.Pos)
	same := head
	for _, h := range p.hits[s] {
		same = same.set(h.of, value{})
	}
	rest, err := p.round(s, same)
	if err != nil {
		return nil, nil, err
	}
	if least := p.largest(rest.costs()); len(least) != 1 || !least[0].free() {
		return nil, nil, undecided("line %d: a round costs %v even where %s holds in both runs or in neither", line, least[0], p.hits[s][0].of.Name)
	}
	for v, x := range rest.end.vars {
		if y, ok := same.vars[v]; ok && y.relation == equal && x.relation != equal {
			return nil, nil, undecided("line %d: %s stays equal", line, v.Name)
		}
	}
	total := []cost{free()}
	var steps []Step
	for _, h := range p.hits[s] {
		for _, first := range []bool{true, false} {
			q := *p
			q.directed = maps.Clone(p.directed)
			if q.directed == nil {
				q.directed = map[string]bool{}
			}
			q.directed[h.of.Name+"@"] = first // as leaf names it
			at := head
			for _, other := range p.hits[s] {
				if other != h {
					at = at.set(other.of, value{})
				}
			}
			round, err := q.round(s, at)
			if err != nil {
				return nil, nil, err
			}
			total = p.after(total, q.largest(round.costs()))
			steps = append(steps, round.steps...)
		}
		steps = append(steps, Step{line, fmt.Sprintf("%s holds in one round at most of each run: the others cost nothing", h.of.Name)})
	}
	return p.largest(total), steps, nil
}

// along reports whether the truths of two private states are those of the direction that
// is looked at.
func (p *prover) along(s, t map[string]program.Expression) bool {
	for name, first := range p.directed {
		x, asked := s[name]
		if asked && (x != program.Truth(first) || t[name] != program.Truth(!first)) {
			return false
		}
	}
	return true
}
