package fuse

import (
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// effects are the variables that statements mention, at any depth.
type effects struct{ reads, writes map[*program.Variable]bool }

func (e effects) all() map[*program.Variable]bool {
	all := map[*program.Variable]bool{}
	for v := range e.reads {
		all[v] = true
	}
	for v := range e.writes {
		all[v] = true
	}
	return all
}

func effectsOf(list []program.Statement) effects {
	e := effects{map[*program.Variable]bool{}, map[*program.Variable]bool{}}
	program.Each(list, func(s program.Statement) {
		program.Reads(s, func(v *program.Variable) { e.reads[v] = true })
		if v := program.Written(s); v != nil {
			e.writes[v] = true
		}
	})
	return e
}

// mentioned are the variables of an expression.
func mentioned(x program.Expression) map[*program.Variable]bool {
	all := map[*program.Variable]bool{}
	program.Variables(x, func(v *program.Variable) { all[v] = true })
	return all
}

func isRef(x program.Expression, v *program.Variable) bool {
	r, ok := x.(program.Ref)
	return ok && r.Var == v
}

// constant is the value of a whole number.
func constant(x program.Expression) (int64, bool) {
	n, ok := x.(program.Number)
	if !ok || n.Sort != program.Int || !n.Value.IsInt() || !n.Value.Num().IsInt64() {
		return 0, false
	}
	return n.Value.Num().Int64(), true
}

// natural reports whether a length is not negative, and known: that of a stream is not before
// its end.
func natural(x program.Expression) bool {
	switch x := x.(type) {
	case program.Length:
		return !x.Slice.Stream
	case program.Ref:
		return x.Var.Natural
	}
	n, ok := constant(x)
	return ok && n >= 0
}

// same reports whether two lengths are the same expression.
func same(x, y program.Expression) bool {
	switch x := x.(type) {
	case program.Length:
		z, ok := y.(program.Length)
		return ok && x.Slice == z.Slice
	case program.Ref:
		return isRef(y, x.Var)
	}
	m, is := constant(x)
	n, ok := constant(y)
	return is && ok && m == n
}

// counter is the variable that a loop counts up by one after every round, and by nothing
// else.
func counter(l *program.Loop) (*program.Variable, bool) {
	if len(l.Post) != 1 {
		return nil, false
	}
	post, ok := l.Post[0].(program.Assign)
	if !ok || post.To.Sort != program.Int || post.To.Slice {
		return nil, false
	}
	sum, ok := post.Value.(program.Binary)
	if !ok || sum.Op != program.Add || !isRef(sum.X, post.To) {
		return nil, false
	}
	n, ok := constant(sum.Y)
	return post.To, ok && n == 1
}

// limit is the bound n of a loop while i < n, or nil.
func limit(l *program.Loop, i *program.Variable) program.Expression {
	cond, ok := l.Cond.(program.Binary)
	if !ok || cond.Op != program.Lt || !isRef(cond.X, i) {
		return nil
	}
	return cond.Y
}

// setTo reports whether statements set v to j alone.
func setTo(list []program.Statement, v, j *program.Variable) bool {
	for _, s := range list {
		var ok bool
		switch s := s.(type) {
		case program.Assign:
			ok = s.To != v || isRef(s.Value, j)
		case program.If:
			ok = setTo(s.Then, v, j) && setTo(s.Else, v, j)
		default:
			ok = !effectsOf([]program.Statement{s}).writes[v]
		}
		if !ok {
			return false
		}
	}
	return true
}
