package ratio

import "github.com/discreet-dp/discreet/verify/internal/program"

// reads returns the expressions that a statement itself evaluates.
func reads(s program.Statement) []program.Expression {
	switch s := s.(type) {
	case *program.Assign:
		return []program.Expression{s.Value}
	case *program.Make:
		return []program.Expression{s.Length}
	case *program.Append:
		return []program.Expression{program.Ref{Var: s.To}, s.Value}
	case *program.Store:
		return []program.Expression{program.Ref{Var: s.To}, s.Index, s.Value}
	case *program.Draw:
		all := []program.Expression{s.Parameter}
		if s.Scores != nil {
			all = append(all, program.Ref{Var: s.Scores})
		}
		return all
	case *program.If:
		return []program.Expression{s.Cond}
	case *program.Loop:
		return []program.Expression{s.Cond}
	case *program.Output:
		return s.Values
	case *program.Return:
		return s.Values
	}
	return nil
}

// assigned returns the variables that a list sets.
func assigned(list []program.Statement) map[*program.Variable]bool {
	set := map[*program.Variable]bool{}
	program.Each(list, func(s program.Statement) {
		if v := program.Written(s); v != nil {
			set[v] = true
		}
	})
	return set
}

// exposed returns the variables that a part of a function sets and that may be read
// after it: outside of the part, or in it before it sets them, if it is run again.
func exposed(f *program.Function, part []program.Statement) map[*program.Variable]bool {
	set := assigned(part)
	seen := map[*program.Variable]bool{}
	inside := map[program.Statement]bool{}
	program.Each(part, func(s program.Statement) { inside[s] = true })
	note := func(e program.Expression) { refs(e, func(v *program.Variable) { seen[v] = true }) }
	program.Each(f.Body, func(s program.Statement) {
		if !inside[s] {
			for _, e := range reads(s) {
				note(e)
			}
		}
	})
	early(part, map[*program.Variable]bool{}, func(v *program.Variable) { seen[v] = true })
	for v := range set {
		if !seen[v] {
			delete(set, v)
		}
	}
	return set
}

// early reports what a list reads before it certainly set it, and returns what it
// certainly has set at its end.
func early(list []program.Statement, set map[*program.Variable]bool, report func(*program.Variable)) map[*program.Variable]bool {
	now := map[*program.Variable]bool{}
	for v := range set {
		now[v] = true
	}
	for _, s := range list {
		for _, e := range reads(s) {
			refs(e, func(v *program.Variable) {
				if !now[v] {
					report(v)
				}
			})
		}
		switch s := s.(type) {
		case *program.If:
			then, otherwise := early(s.Then, now, report), early(s.Else, now, report)
			for v := range then {
				if otherwise[v] {
					now[v] = true
				}
			}
		case *program.Loop:
			// A continue reaches Post from anywhere.
			early(s.Body, now, report)
			early(s.Post, now, report)
		default:
			if v := program.Written(s); v != nil {
				now[v] = true
			}
		}
	}
	return now
}

// refs visits the variables that an expression reads.
func refs(e program.Expression, visit func(*program.Variable)) {
	if r, ok := e.(program.Ref); ok {
		visit(r.Var)
	}
	for _, p := range parts(e) {
		refs(p, visit)
	}
}

// own copies a list, every statement behind a pointer of its own, so that statements
// can be told apart. Breaks lead to the copies of their loops.
func own(list []program.Statement, loops map[string]*program.Loop) []program.Statement {
	var result []program.Statement
	for _, s := range list {
		result = append(result, ownOne(s, loops))
	}
	return result
}

func ownOne(s program.Statement, loops map[string]*program.Loop) program.Statement {
	switch s := s.(type) {
	case *program.Assign:
		return copied(*s)
	case program.Assign:
		return &s
	case *program.Make:
		return copied(*s)
	case program.Make:
		return &s
	case *program.Append:
		return copied(*s)
	case program.Append:
		return &s
	case *program.Store:
		return copied(*s)
	case program.Store:
		return &s
	case *program.Draw:
		return copied(*s)
	case program.Draw:
		return &s
	case *program.Output:
		return copied(*s)
	case program.Output:
		return &s
	case *program.Return:
		return copied(*s)
	case program.Return:
		return &s
	case *program.If:
		return ownOne(*s, loops)
	case program.If:
		s.Then, s.Else = own(s.Then, loops), own(s.Else, loops)
		return &s
	case *program.Loop:
		return ownOne(*s, loops)
	case program.Loop:
		loops[s.Name] = &s
		// The end of the body is a continue like others.
		s.Body = append(own(s.Body, loops), &program.Continue{At: s.At, Of: &s})
		s.Post = own(s.Post, loops)
		return &s
	case *program.Break:
		return ownOne(*s, loops)
	case program.Break:
		return &program.Break{At: s.At, Of: loops[s.Of.Name]}
	case *program.Continue:
		return ownOne(*s, loops)
	case program.Continue:
		return &program.Continue{At: s.At, Of: loops[s.Of.Name]}
	}
	return s
}

func copied[T any, P interface {
	*T
	program.Statement
}](s T) program.Statement {
	return P(&s)
}
