package prove

import p "github.com/discreet-dp/discreet/verify/internal/program"

// own is the function with statements that have identities: a draw is the key of
// its alignment.
func own(f *p.Function) *p.Function {
	g := *f
	o := owner{map[*p.Loop]*p.Loop{}}
	g.Body = o.list(f.Body)
	return &g
}

type owner struct{ loops map[*p.Loop]*p.Loop }

func (o owner) list(list []p.Statement) []p.Statement {
	mine := make([]p.Statement, 0, len(list))
	for _, s := range list {
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
			s.Then, s.Else = o.list(s.Then), o.list(s.Else)
			mine = append(mine, &s)
		case *p.Loop:
			l := *s
			o.loops[s] = &l
			l.Body, l.Post = o.list(s.Body), o.list(s.Post)
			mine = append(mine, &l)
		case p.Break:
			s.Of = o.loops[s.Of]
			mine = append(mine, &s)
		case p.Continue:
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
