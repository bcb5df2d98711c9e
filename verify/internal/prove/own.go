package prove

import (
	"slices"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// own is the function with statements that have identities: a draw is the key of
// its alignment. What follows if c { continue } stands in the other branch, which is
// the same: two runs that take different branches meet at the end of the round. Draws
// keep their order.
func own(f *p.Function) *p.Function {
	g := *f
	o := owner{map[*p.Loop]*p.Loop{}}
	g.Body = o.list(f.Body, nil)
	return &g
}

type owner struct{ loops map[*p.Loop]*p.Loop }

// list copies statements; where they end, the body of a loop ends, or, if that is nil,
// something follows.
func (o owner) list(list []p.Statement, body *p.Loop) []p.Statement {
	mine := make([]p.Statement, 0, len(list))
	for i, s := range list {
		rest := list[i+1:]
		switch s := s.(type) {
		case p.Assign:
			mine = append(mine, &s)
		case p.Make:
			mine = append(mine, &s)
		case p.Append:
			mine = append(mine, &s)
		case p.Store:
			mine = append(mine, &s)
		case p.Draw:
			mine = append(mine, &s)
		case p.If:
			end := body
			switch {
			case len(rest) == 0 || body == nil:
			case continues(s.Then, body):
				s.Else, rest = slices.Concat(s.Else, rest), nil
			case continues(s.Else, body) && !draw(s.Else):
				s.Then, rest = slices.Concat(s.Then, rest), nil
			}
			if len(rest) > 0 {
				end = nil
			}
			s.Then, s.Else = o.list(s.Then, end), o.list(s.Else, end)
			mine = append(mine, &s)
			if len(rest) == 0 {
				return mine
			}
		case *p.Loop:
			l := *s
			o.loops[s] = &l
			l.Body, l.Post = o.list(s.Body, s), o.list(s.Post, nil)
			mine = append(mine, &l)
		case p.Break:
			s.Of = o.loops[s.Of]
			mine = append(mine, &s)
		case p.Continue:
			if s.Of == body {
				return mine // it is there
			}
			s.Of = o.loops[s.Of]
			mine = append(mine, &s)
		case p.Output:
			mine = append(mine, &s)
		case p.Return:
			mine = append(mine, &s)
		default:
			mine = append(mine, s)
		}
	}
	return mine
}

// continues reports whether statements end with going on to the next round of a loop.
func continues(list []p.Statement, l *p.Loop) bool {
	if len(list) == 0 {
		return false
	}
	c, ok := list[len(list)-1].(p.Continue)
	return ok && c.Of == l
}

// draw reports whether statements draw.
func draw(list []p.Statement) bool {
	return slices.ContainsFunc(list, func(s p.Statement) bool {
		switch s := s.(type) {
		case p.Draw:
			return true
		case p.If:
			return draw(s.Then) || draw(s.Else)
		case *p.Loop:
			return draw(s.Body) || draw(s.Post)
		}
		return false
	})
}
