package source

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A domain knows which parameters of noise a source takes: scales that are positive,
// probabilities from 0 to 1, some scores. It refuses others with a panic, which is seen like any
// other (see bounds).
type domain struct {
	// requires are what holds of the inputs, conjunct by conjunct; definitions those
	// of local variables that are assigned once.
	requires    []program.Expression
	definitions map[*program.Variable]program.Expression
}

func newDomain(requires []program.Expression, body []program.Statement) domain {
	d := domain{definitions: map[*program.Variable]program.Expression{}}
	var split func(x program.Expression)
	split = func(x program.Expression) {
		if b, ok := x.(program.Binary); ok && b.Op == program.And {
			split(b.X)
			split(b.Y)
			return
		}
		d.requires = append(d.requires, x)
	}
	for _, r := range requires {
		split(r)
	}
	times := map[*program.Variable]int{}
	program.Each(body, func(s program.Statement) {
		switch s := s.(type) {
		case program.Assign:
			times[s.To]++
			d.definitions[s.To] = s.Value
		case program.Draw:
			times[s.To]++
		case program.Make:
			times[s.To]++
		case program.Append:
			times[s.To]++
		case program.Store:
			times[s.To]++
		}
	})
	for v := range d.definitions {
		if times[v] > 1 || v.Input || v.Slice {
			delete(d.definitions, v)
		}
	}
	// An input that is written to is no longer what the requirements speak of.
	kept := d.requires[:0]
	for _, r := range d.requires {
		written := false
		program.Variables(r, func(v *program.Variable) { written = written || times[v] > 0 })
		if !written {
			kept = append(kept, r)
		}
	}
	d.requires = kept
	return d
}

// taken is the condition under which a source takes the parameter of a draw.
func (d domain) taken(draw program.Draw, f facts) program.Expression {
	switch draw.Law {
	case program.Bernoulli:
		// Whether a formula is a probability is left to its author; a constant is not.
		if n, ok := draw.Parameter.(program.Number); ok && (n.Value.Sign() < 0 || n.Value.Cmp(big.NewRat(1, 1)) > 0) {
			return program.Truth(false)
		}
		return program.Truth(true)
	case program.Choose:
		some := program.Expression(program.Truth(true))
		if n := (program.Length{Slice: draw.Scores}); !f.atLeast(n, 1) {
			some = program.Binary{Op: program.Gt, X: n, Y: number(0, program.Int)}
		}
		return both(some, d.sign(draw.Parameter, program.Gt, f))
	}
	return d.sign(draw.Parameter, program.Gt, f)
}

// sign is the condition that x is above 0 (op being >) or below, in terms of the
// factors of which the sign is not known.
func (d domain) sign(x program.Expression, op program.Op, f facts) program.Expression {
	if d.positive(x, f) {
		return program.Truth(op == program.Gt)
	}
	other := program.Lt
	if op == program.Lt {
		other = program.Gt
	}
	switch x := x.(type) {
	case program.Number:
		return program.Truth(op == program.Gt && x.Value.Sign() > 0 || op == program.Lt && x.Value.Sign() < 0)
	case program.Unary:
		if x.Op == program.Sub {
			return d.sign(x.X, other, f)
		}
	case program.Call:
		if x.Func == "real" {
			return d.sign(x.Args[0], op, f)
		}
	case program.Binary:
		if x.Op == program.Mul || x.Op == program.Quo && !isInt(x) {
			return either(
				both(d.sign(x.X, program.Gt, f), d.sign(x.Y, op, f)),
				both(d.sign(x.X, program.Lt, f), d.sign(x.Y, other, f)))
		}
	}
	sort := program.Real
	if isInt(x) {
		sort = program.Int
	}
	return program.Binary{Op: op, X: x, Y: number(0, sort)}
}

func both(x, y program.Expression) program.Expression {
	switch {
	case x == program.Truth(true) || y == program.Truth(false):
		return y
	case y == program.Truth(true) || x == program.Truth(false):
		return x
	}
	return program.Binary{Op: program.And, X: x, Y: y}
}

func either(x, y program.Expression) program.Expression {
	switch {
	case x == program.Truth(false) || y == program.Truth(true):
		return y
	case y == program.Truth(false) || x == program.Truth(true):
		return x
	}
	return program.Binary{Op: program.Or, X: x, Y: y}
}

// positive shows x > 0.
func (d domain) positive(x program.Expression, f facts) bool {
	if isInt(x) && f.atLeast(x, 1) || d.required(x, true) {
		return true
	}
	switch x := x.(type) {
	case program.Number:
		return x.Value.Sign() > 0
	case program.Ref:
		y, ok := d.definitions[x.Var]
		return ok && d.positive(y, facts{}) // what is known now may not have been then
	case program.Call:
		switch x.Func {
		case "exp":
			return true
		case "real", "sqrt":
			return d.positive(x.Args[0], f)
		case "log":
			return d.aboveOne(x.Args[0], f)
		}
	case program.Binary:
		switch x.Op {
		case program.Mul, program.Min:
			return d.positive(x.X, f) && d.positive(x.Y, f)
		case program.Quo:
			return !isInt(x) && d.positive(x.X, f) && d.positive(x.Y, f)
		case program.Sub:
			return d.ordered(x.X, x.Y)
		case program.Max:
			return d.positive(x.X, f) || d.positive(x.Y, f)
		case program.Add:
			return d.positive(x.X, f) && d.atLeastZero(x.Y, f) || d.atLeastZero(x.X, f) && d.positive(x.Y, f)
		}
	}
	return false
}

// aboveOne shows x > 1, of a number and of a quotient c/y with 0 < y < c.
func (d domain) aboveOne(x program.Expression, f facts) bool {
	if n, ok := x.(program.Number); ok {
		return n.Value.Cmp(big.NewRat(1, 1)) > 0
	}
	b, ok := x.(program.Binary)
	if !ok || b.Op != program.Quo || isInt(b) || !d.positive(b.Y, f) {
		return false
	}
	c, ok := b.X.(program.Number)
	return ok && slices.ContainsFunc(d.requires, func(r program.Expression) bool {
		q, ok := r.(program.Binary)
		if !ok {
			return false
		}
		y, limit, op := q.X, q.Y, q.Op
		if op == program.Gt || op == program.Ge {
			y, limit, op = q.Y, q.X, map[program.Op]program.Op{program.Gt: program.Lt, program.Ge: program.Le}[op]
		}
		n, ok := limit.(program.Number)
		if !ok || y.String() != b.Y.String() {
			return false
		}
		return op == program.Lt && n.Value.Cmp(c.Value) <= 0 || op == program.Le && n.Value.Cmp(c.Value) < 0
	})
}

// atLeastZero shows x >= 0.
func (d domain) atLeastZero(x program.Expression, f facts) bool {
	if d.positive(x, f) || isInt(x) && f.atLeast(x, 0) || d.required(x, false) {
		return true
	}
	switch x := x.(type) {
	case program.Number:
		return x.Value.Sign() >= 0
	case program.Ref:
		y, ok := d.definitions[x.Var]
		return ok && d.atLeastZero(y, facts{})
	case program.Call:
		switch x.Func {
		case "abs":
			return true
		case "real", "sqrt":
			return d.atLeastZero(x.Args[0], f)
		}
	case program.Binary:
		switch x.Op {
		case program.Mul, program.Add, program.Min:
			return d.atLeastZero(x.X, f) && d.atLeastZero(x.Y, f)
		case program.Quo:
			return d.atLeastZero(x.X, f) && d.positive(x.Y, f)
		case program.Max:
			return d.atLeastZero(x.X, f) || d.atLeastZero(x.Y, f)
		}
	}
	return false
}

// ordered reports whether x > y is required.
func (d domain) ordered(x, y program.Expression) bool {
	for _, r := range d.requires {
		b, ok := r.(program.Binary)
		if ok && (b.Op == program.Gt && b.X.String() == x.String() && b.Y.String() == y.String() ||
			b.Op == program.Lt && b.X.String() == y.String() && b.Y.String() == x.String()) {
			return true
		}
	}
	return false
}

// required reports whether a requirement compares the input x with what is positive, or
// at least 0, so that it is that too.
func (d domain) required(x program.Expression, strictly bool) bool {
	ref, ok := x.(program.Ref)
	if !ok || !ref.Var.Input {
		return false
	}
	for i, r := range d.requires {
		b, ok := r.(program.Binary)
		if !ok {
			continue
		}
		rest := domain{requires: slices.Delete(slices.Clone(d.requires), i, i+1)} // no circles
		strict := b.Op == program.Gt || b.Op == program.Lt
		above := func(y program.Expression) bool {
			return rest.positive(y, facts{}) || (strict || !strictly) && rest.atLeastZero(y, facts{})
		}
		switch b.Op {
		case program.Gt, program.Ge, program.Eq:
			if b.X.String() == ref.String() && above(b.Y) {
				return true
			}
		}
		switch b.Op {
		case program.Lt, program.Le, program.Eq:
			if b.Y.String() == ref.String() && above(b.X) {
				return true
			}
		}
	}
	return false
}
