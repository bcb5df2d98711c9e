package source

import (
	"go/token"
	"maps"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// bounds writes down where the function would panic: at an index outside its slice, a
// negative length, an integer division by zero, noise of a scale that is not positive. What cannot be shown to lie within
// becomes a condition under which the function returns what it never returns otherwise;
// so that a panic that depends on private data is seen.
type bounds struct {
	// panics are what is returned then.
	panics []program.Expression
	// domain is that of parameters of noise.
	domain domain
	// loops know what holds where they are left, and where they go on.
	loops map[*program.Loop]*edges
	// silent is set while loops are tried out.
	silent bool
}

type edges struct{ broken, continued []facts }

func (l *lowerer) checkBounds(requires []program.Expression) {
	b := &bounds{loops: map[*program.Loop]*edges{}, panics: l.panicValues(), domain: newDomain(requires, l.fn.Body)}
	start := facts{}
	for _, r := range requires {
		start.assume(r, true)
	}
	l.fn.Body, _ = b.list(l.fn.Body, start)
}

// panicValues are what a function never returns unless it panics: nothing; or, if that
// is all that it ever returns, a number.
func (l *lowerer) panicValues() []program.Expression {
	if l.result.Len() == 0 || l.sequenced {
		return []program.Expression{number(1, program.Int)}
	}
	return nil
}

// list returns the statements with their checks, and what holds after them; nil if
// their end is not reached.
func (b *bounds) list(stmts []program.Statement, f facts) (out []program.Statement, after facts) {
	for _, s := range stmts {
		if f == nil {
			return out, nil
		}
		f = b.statement(s, f, &out)
	}
	return out, f
}

// check emits the conditions under which evaluating the expressions panics.
func (b *bounds) check(f facts, out *[]program.Statement, pos token.Pos, xs ...program.Expression) {
	for _, x := range xs {
		for _, ok := range b.violations(x, f) {
			b.unless(ok, f, out, pos)
		}
	}
}

// unless emits that the function panics where a condition does not hold.
func (b *bounds) unless(ok program.Expression, f facts, out *[]program.Statement, pos token.Pos) {
	f.assume(ok, true)
	*out = append(*out, program.If{
		At: program.At{Pos: pos}, Cond: negate(ok),
		Then: []program.Statement{program.Return{At: program.At{Pos: pos}, Values: b.panics, Panic: true}},
	})
}

// violations are the conditions that must hold for x to be evaluated, and are not known
// to.
func (b *bounds) violations(x program.Expression, f facts) (all []program.Expression) {
	under := func(x program.Expression, is bool, y program.Expression) {
		g := maps.Clone(f)
		g.assume(x, is)
		if is {
			x = negate(x)
		}
		for _, v := range b.violations(y, g) {
			all = append(all, program.Binary{Op: program.Or, X: x, Y: v})
		}
	}
	switch x := x.(type) {
	case program.Element:
		all = b.violations(x.Index, f)
		low := program.Binary{Op: program.Ge, X: x.Index, Y: number(0, program.Int)}
		high := program.Binary{Op: program.Lt, X: x.Index, Y: program.Length{Slice: x.Slice}}
		isLow, isHigh := f.atLeast(x.Index, 0), f.atMost(x.Index, symbol{x.Slice, true}, -1)
		switch {
		case !isLow && !isHigh:
			all = append(all, program.Binary{Op: program.And, X: low, Y: high})
		case !isLow:
			all = append(all, low)
		case !isHigh:
			all = append(all, high)
		}
	case program.Unary:
		all = b.violations(x.X, f)
	case program.Binary:
		all = b.violations(x.X, f)
		switch x.Op {
		case program.And:
			under(x.X, true, x.Y)
			return all
		case program.Or:
			under(x.X, false, x.Y)
			return all
		}
		all = append(all, b.violations(x.Y, f)...)
		if (x.Op == program.Quo || x.Op == program.Rem) && isInt(x.Y) && !f.atLeast(x.Y, 1) && !f.atMost(x.Y, symbol{}, -1) {
			all = append(all, program.Binary{Op: program.Ne, X: x.Y, Y: number(0, program.Int)})
		}
	case program.Call:
		for _, a := range x.Args {
			all = append(all, b.violations(a, f)...)
		}
		if x.Func == "grid" {
			if ok := b.domain.sign(x.Args[1], program.Gt, f); ok != program.Truth(true) {
				all = append(all, ok)
			}
		}
	}
	return all
}

// isInt reports whether an expression is of sort Int.
func isInt(x program.Expression) bool {
	switch x := x.(type) {
	case program.Number:
		return x.Sort == program.Int
	case program.Ref:
		return x.Var.Sort == program.Int
	case program.Element:
		return x.Slice.Sort == program.Int
	case program.Length:
		return true
	case program.Unary:
		return isInt(x.X)
	case program.Binary:
		return isInt(x.X)
	case program.Call:
		return x.Func == "int"
	}
	return false
}

func (b *bounds) statement(s program.Statement, f facts, out *[]program.Statement) facts {
	pos := s.Position()
	switch s := s.(type) {
	case program.Assign:
		b.check(f, out, pos, s.Value)
		f.assign(s)
	case program.Make:
		b.check(f, out, pos, s.Length)
		if !f.atLeast(s.Length, 0) {
			b.unless(program.Binary{Op: program.Ge, X: s.Length, Y: number(0, program.Int)}, f, out, pos)
		}
		f.set(symbol{s.To, true}, s.Length)
	case program.Append:
		b.check(f, out, pos, s.Value)
		f.shift(symbol{s.To, true}, 1)
	case program.Store:
		b.check(f, out, pos, program.Element{Slice: s.To, Index: s.Index}, s.Value)
	case program.Draw:
		b.check(f, out, pos, s.Parameter)
		switch ok := b.domain.taken(s, f); ok {
		case program.Truth(true):
		case program.Truth(false):
			*out = append(*out, program.Return{At: s.At, Values: b.panics, Panic: true})
			return nil
		default:
			b.unless(ok, f, out, pos)
		}
		f.forget(symbol{v: s.To})
		if s.Law == program.Choose {
			f.add(symbol{}, symbol{v: s.To}, 0)
			f.add(symbol{v: s.To}, symbol{s.Scores, true}, -1)
		}
		if s.Law == program.Geometric {
			f.add(symbol{}, symbol{v: s.To}, 0)
		}
		if s.Law == program.Uniform {
			f.add(symbol{}, symbol{v: s.To}, 0)
			again := false // of n = src.Uniform(n), what n was is forgotten
			program.Walk(s.Parameter, func(x program.Expression) {
				r, ok := x.(program.Ref)
				again = again || ok && r.Var == s.To
			})
			if !again {
				f.assume(program.Binary{Op: program.Lt, X: program.Ref{Var: s.To}, Y: s.Parameter}, true)
			}
		}
	case program.If:
		b.check(f, out, pos, s.Cond)
		g := maps.Clone(f)
		f.assume(s.Cond, true)
		g.assume(s.Cond, false)
		if _, possible := f.closed(); !possible && panics(s) {
			return g
		}
		s.Then, f = b.list(s.Then, f)
		s.Else, g = b.list(s.Else, g)
		*out = append(*out, s)
		switch {
		case f == nil:
			return g
		case g == nil:
			return f
		}
		return f.meet(g)
	case *program.Loop:
		return b.loop(s, f, out)
	case program.Break:
		e := b.loops[s.Of]
		e.broken = append(e.broken, f)
		f = nil
	case program.Continue:
		e := b.loops[s.Of]
		e.continued = append(e.continued, f)
		f = nil
	case program.Output:
		b.check(f, out, pos, s.Values...)
	case program.Return:
		b.check(f, out, pos, s.Values...)
		f = nil
	}
	*out = append(*out, s)
	return f
}

// panics reports whether a branch does nothing else.
func panics(s program.If) bool {
	if len(s.Then) != 1 || len(s.Else) > 0 {
		return false
	}
	r, ok := s.Then[0].(program.Return)
	return ok && r.Panic
}

func (f facts) assign(s program.Assign) {
	if s.To.Slice {
		if r, ok := s.Value.(program.Ref); ok {
			f.set(symbol{s.To, true}, program.Length{Slice: r.Var})
		}
		return
	}
	if s.To.Sort == program.Int {
		f.set(symbol{v: s.To}, s.Value)
	}
}

// set says that s is now x.
func (f facts) set(s symbol, x program.Expression) {
	t, c, ok := linear(x)
	if ok && t == s {
		f.shift(s, c)
		return
	}
	natural := f.atLeast(x, 0)
	f.forget(s)
	f.within(s, x)
	if ok {
		f.add(s, t, c)
		f.add(t, s, -c)
	}
	if natural {
		f.add(symbol{}, s, 0)
	}
}

// within says that s, a minimum or maximum now, is at most, or at least, what it is of.
func (f facts) within(s symbol, x program.Expression) {
	b, ok := x.(program.Binary)
	if !ok || b.Op != program.Min && b.Op != program.Max {
		return
	}
	for _, y := range []program.Expression{b.X, b.Y} {
		if inner, ok := y.(program.Binary); ok && inner.Op == b.Op {
			f.within(s, y)
		}
		switch t, c, ok := linear(y); {
		case !ok || t == s: // s was another number then
		case b.Op == program.Min:
			f.add(s, t, c)
		default:
			f.add(t, s, -c)
		}
	}
}

// loop finds what holds at its head in every round, by trying out what held before it,
// and dropping what a round does not keep, until all that is left is kept.
func (b *bounds) loop(s *program.Loop, f facts, out *[]program.Statement) facts {
	head, _ := f.closed()
	silent := b.silent
	b.silent = true
	for {
		after := b.round(s, maps.Clone(head), nil)
		if after == nil {
			break
		}
		dropped := false
		closed, consistent := after.closed()
		for p, c := range head {
			d, ok := closed[p]
			if !ok && p[0] == (symbol{}) && c >= 0 && (p[1].length || p[1].v.Natural) {
				continue
			}
			if consistent && (!ok || d > c) {
				delete(head, p)
				dropped = true
			}
		}
		if !dropped {
			break
		}
	}
	b.silent = silent
	copied := *s
	moved := &copied
	b.round(s, maps.Clone(head), moved)
	e := b.loops[s]
	end := maps.Clone(head)
	end.assume(s.Cond, false)
	if s.Cond == program.Truth(true) {
		end = nil
	}
	for _, g := range e.broken {
		if end == nil {
			end = g
		} else {
			end = end.meet(g)
		}
	}
	if !b.silent {
		// Breaks and continues name the loop: it keeps its identity.
		*s = copied
	}
	*out = append(*out, s)
	return end
}

// round runs through a loop once, and returns what holds at its end.
func (b *bounds) round(s *program.Loop, f facts, into *program.Loop) facts {
	e := &edges{}
	b.loops[s] = e
	var checks []program.Statement
	b.check(f, &checks, s.Pos, s.Cond)
	cond := s.Cond
	f.assume(s.Cond, true)
	body, end := b.list(s.Body, f)
	for _, g := range e.continued {
		if end == nil {
			end = g
		} else {
			end = end.meet(g)
		}
	}
	var post []program.Statement
	if end != nil {
		post, end = b.list(s.Post, end)
	} else {
		post = s.Post
	}
	if into != nil {
		if len(checks) > 0 {
			// The condition may panic: it becomes the first statement.
			checks = append(checks, program.If{At: s.At, Cond: negate(cond), Then: []program.Statement{program.Break{At: s.At, Of: s}}})
			body = append(checks, body...)
			cond = program.Truth(true)
		}
		into.Body, into.Post, into.Cond = body, post, cond
	}
	return end
}
