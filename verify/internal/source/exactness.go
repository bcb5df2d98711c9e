package source

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Exactness says over which numbers a verdict on the function speaks, and why.
//
//   - "integers": all that depends on private inputs or draws is whole, and no float
//     operation touches it;
//   - "grid": no float operation on what depends on private inputs or draws rounds.
//     Copies, comparisons and choices never do. A sum does not if both terms are
//     multiples of one grid and their sizes add up to at most 2^53 of its steps: so are
//     Round(x, scale), of at most 2^51 steps, and a draw of the same scale, of at most
//     2^52 (package noise);
//   - "reals": some operation may round. The note names the first.
//
// A claim of distances that need not be multiples of the grid speaks of no grid: the
// shifts of draws of which its proof is made are not either.
//
// Nor does one with a delta: that of a tail of real noise is not that of noise on the
// grid, where P(x >= 0) is above a half.
//
// In any of them the parameters of draws are what Go computes from public inputs.
func Exactness(f *program.Function, c *claim.Claim) (over, note string) {
	e := explore(f, c)
	switch {
	case e.rounds != "":
		return "reals", e.rounds + ": this says nothing of the compiled floats"
	case e.draws && c != nil && c.Cost != nil && c.Cost.Measure == claim.Approximate:
		return "reals", "delta is the probability of real noise, which that on the grid need not have: this says nothing of the compiled floats"
	case e.draws && c != nil && offGrid(c) != nil:
		return "reals", offGrid(c).String() + " need not be a multiple of the grid of noise: this says nothing of the compiled floats"
	case e.floats:
		return "grid", "no float operation on private data rounds"
	}
	return "integers", ""
}

// explore finds what the variables of a function may hold.
func explore(f *program.Function, c *claim.Claim) *exactness {
	e := &exactness{forms: map[*program.Variable]form{}, bags: map[*program.Variable]bool{}, assigned: map[*program.Variable]bool{}, defined: map[*program.Variable]program.Expression{}, file: f}
	assigned(f.Body, e.assigned)
	if c != nil {
		for _, a := range c.Adjacent {
			e.forms[a.Input] = form{private: true}
			e.bags[a.Input] = a.Relation == claim.Bag
		}
	}
	e.define(f.Body)
	for i := 0; e.changed || i == 0; i++ {
		e.changed, e.rounds, e.widen = false, "", i > 4
		e.list(f.Body, false)
	}
	return e
}

// A form is what is known of a variable's values.
type form struct {
	// private is set where they depend on private inputs or draws.
	private bool
	// steps bounds their size in steps of the grid of a scale; 0 is on all grids. It is
	// nil where they are on none that is known.
	steps *big.Int
	grid  string
}

func stepsOf(exponent uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), exponent) }

type exactness struct {
	file     *program.Function
	forms    map[*program.Variable]form
	bags     map[*program.Variable]bool // whose rows come and go
	assigned map[*program.Variable]bool
	defined  map[*program.Variable]program.Expression
	// jumped is set once what runs depends on private data from there on.
	jumped  bool
	changed bool
	widen   bool // what still grows grows for ever
	floats  bool
	draws   bool // of floats
	rounds  string
}

// offGrid is a bound of the distance of floats that is no whole number; nil if there is
// none.
func offGrid(c *claim.Claim) program.Expression {
	for _, a := range c.Adjacent {
		if a.Input.Sort != program.Real || a.Relation == claim.Bag {
			continue
		}
		for _, x := range []program.Expression{a.High, a.Low} {
			if u, ok := x.(program.Unary); ok {
				x = u.X
			}
			if n, ok := x.(program.Number); !ok || !n.Value.IsInt() {
				return x
			}
		}
	}
	return nil
}

func (e *exactness) list(stmts []program.Statement, private bool) {
	for _, s := range stmts {
		e.statement(s, private || e.jumped)
	}
}

func (e *exactness) statement(s program.Statement, private bool) {
	switch s := s.(type) {
	case program.Assign:
		e.join(s.To, e.form(s.Value, s), private)
	case program.Make:
		e.join(s.To, e.form(s.Length, s), private)
		e.join(s.To, form{steps: new(big.Int)}, private)
	case program.Append:
		e.join(s.To, e.form(s.Value, s), private)
	case program.Store:
		e.join(s.To, e.form(s.Value, s), private || e.form(s.Index, s).private)
	case program.Draw:
		p := e.form(s.Parameter, s)
		x := form{private: true}
		switch s.Law {
		case program.Laplace, program.Exponential, program.Gaussian:
			e.floats, e.draws = true, true
			if key, ok := e.key(s.Parameter); ok && !p.private {
				x.steps, x.grid = stepsOf(52), key
			}
		case program.Choose:
			e.floats = e.floats || s.Scores.Sort == program.Real && e.forms[s.Scores].private
		}
		e.join(s.To, x, private)
	case program.If:
		inner := e.form(s.Cond, s).private
		e.list(s.Then, private || inner)
		e.list(s.Else, private || inner)
		if inner && (jumps(s.Then) || jumps(s.Else)) && !e.jumped {
			e.jumped, e.changed = true, true
		}
	case *program.Loop:
		inner := e.form(s.Cond, s).private
		if inner && !e.jumped {
			e.jumped, e.changed = true, true // how often it runs
		}
		e.list(s.Body, private || inner)
		e.list(s.Post, private || inner)
	case program.Output:
		e.shown(s.Values, s)
	case program.Return:
		e.shown(s.Values, s)
	}
}

func (e *exactness) shown(values []program.Expression, s program.Statement) {
	for _, x := range values {
		e.form(x, s)
	}
}

// jumps reports whether what comes after depends on whether the statements run.
func jumps(stmts []program.Statement) bool {
	for _, s := range stmts {
		switch s := s.(type) {
		case program.Break, program.Continue, program.Return:
			return true
		case program.If:
			if jumps(s.Then) || jumps(s.Else) {
				return true
			}
		case *program.Loop:
			if jumps(s.Body) {
				return true
			}
		}
	}
	return false
}

// join adds to what a variable may hold.
func (e *exactness) join(v *program.Variable, x form, private bool) {
	x.private = x.private || private
	was, known := e.forms[v]
	now := x
	if v.Input && !known {
		was, known = form{}, true
	}
	if known {
		now = form{private: was.private || x.private}
		if grid, ok := same(was, x); ok {
			now.grid, now.steps = grid, was.steps
			if x.steps.Cmp(was.steps) > 0 {
				now.steps = x.steps
			}
		}
		if e.widen && now.steps != nil && was.steps != nil && now.steps.Cmp(was.steps) > 0 {
			now.steps = nil
		}
	}
	if now.steps == nil {
		now.grid = ""
	}
	if !known || now.private != was.private || now.grid != was.grid || (now.steps == nil) != (was.steps == nil) || now.steps != nil && now.steps.Cmp(was.steps) != 0 {
		e.forms[v] = now
		e.changed = true
	}
}

// same returns the grid that both are on.
func same(a, b form) (string, bool) {
	switch {
	case a.steps == nil || b.steps == nil:
		return "", false
	case a.steps.Sign() == 0:
		return b.grid, true
	case b.steps.Sign() == 0 || a.grid == b.grid:
		return a.grid, true
	}
	return "", false
}

// define finds the variables that are set once, before all branches, to what public
// inputs say: they stand for that.
func (e *exactness) define(body []program.Statement) {
	for i, s := range body {
		a, ok := s.(program.Assign)
		if !ok || a.To.Slice || a.To.Input {
			continue
		}
		others := map[*program.Variable]bool{}
		assigned(body[:i], others)
		assigned(body[i+1:], others)
		if _, constant := e.key(a.Value); constant && !others[a.To] {
			e.defined[a.To] = e.inline(a.Value)
		}
	}
}

// inline writes defined variables out.
func (e *exactness) inline(x program.Expression) program.Expression {
	switch x := x.(type) {
	case program.Ref:
		if y, ok := e.defined[x.Var]; ok {
			return y
		}
	case program.Unary:
		return program.Unary{Op: x.Op, X: e.inline(x.X)}
	case program.Binary:
		return program.Binary{Op: x.Op, X: e.inline(x.X), Y: e.inline(x.Y)}
	case program.Call:
		y := program.Call{Func: x.Func}
		for _, a := range x.Args {
			y.Args = append(y.Args, e.inline(a))
		}
		return y
	}
	return x
}

// key is a scale that is the same wherever it is computed.
func (e *exactness) key(scale program.Expression) (string, bool) {
	constant := true
	scale = e.inline(scale)
	program.Walk(scale, func(x program.Expression) {
		switch x := x.(type) {
		case program.Ref:
			constant = constant && x.Var.Input && !e.assigned[x.Var] && !e.forms[x.Var].private
		case program.Element:
			constant = false
		}
	})
	return scale.String(), constant
}

// form is what is known of an expression; operations that may round are noted.
func (e *exactness) form(x program.Expression, at program.Statement) form {
	f := e.value(x, at)
	if f.private && !wholeSort(x) {
		e.floats = true
	}
	return f
}

func wholeSort(x program.Expression) bool { return isInt(x) || isTruth(x) }

func isTruth(x program.Expression) bool {
	switch x := x.(type) {
	case program.Truth:
		return true
	case program.Ref:
		return x.Var.Sort == program.Bool
	case program.Element:
		return x.Slice.Sort == program.Bool
	case program.Unary:
		return x.Op == program.Not
	case program.Binary:
		switch x.Op {
		case program.Eq, program.Ne, program.Lt, program.Le, program.Gt, program.Ge, program.And, program.Or:
			return true
		}
	}
	return false
}

func (e *exactness) value(x program.Expression, at program.Statement) form {
	switch x := x.(type) {
	case program.Number:
		if x.Value.Sign() == 0 {
			return form{steps: new(big.Int)}
		}
	case program.Ref:
		return e.forms[x.Var]
	case program.Element:
		i := e.form(x.Index, at)
		f := e.forms[x.Slice]
		f.private = f.private || i.private
		return f
	case program.Length:
		// The length of a private slice is that of its neighbour, unless rows come and go;
		// that of a slice that was made depends on how it was.
		return form{private: e.bags[x.Slice] || !x.Slice.Input && e.forms[x.Slice].private}
	case program.Unary:
		return e.form(x.X, at)
	case program.Binary:
		return e.binary(x, at)
	case program.Call:
		return e.call(x, at)
	}
	return form{}
}

func (e *exactness) binary(x program.Binary, at program.Statement) form {
	a, b := e.form(x.X, at), e.form(x.Y, at)
	f := form{private: a.private || b.private}
	if wholeSort(x.X) && wholeSort(x.Y) {
		return f
	}
	grid, together := same(a, b)
	switch x.Op {
	case program.Add, program.Sub:
		if together {
			f.grid, f.steps = grid, new(big.Int).Add(a.steps, b.steps)
			if f.steps.Cmp(stepsOf(53)) <= 0 {
				return f
			}
			f.grid, f.steps = "", nil
		}
		if zeroSteps(a) || zeroSteps(b) {
			return f
		}
		e.round(f, x, at)
	case program.Mul, program.Quo, program.Rem:
		e.round(f, x, at)
	case program.Min, program.Max:
		if together {
			f.grid, f.steps = grid, a.steps
			if b.steps.Cmp(a.steps) > 0 {
				f.steps = b.steps
			}
		}
	}
	return f
}

func zeroSteps(f form) bool { return f.steps != nil && f.steps.Sign() == 0 }

func (e *exactness) call(x program.Call, at program.Statement) form {
	var f form
	for _, a := range x.Args {
		f.private = f.private || e.form(a, at).private
	}
	switch x.Func {
	case "grid":
		if key, ok := e.key(x.Args[1]); ok {
			f.steps, f.grid = stepsOf(51), key
		}
	case "abs":
		inner := e.form(x.Args[0], at)
		f.steps, f.grid = inner.steps, inner.grid
	case "floor", "ceil", "round", "int":
	default:
		e.round(f, x, at)
	}
	return f
}

// round notes the first operation that may round what is private.
func (e *exactness) round(f form, x program.Expression, at program.Statement) {
	if !f.private || e.rounds != "" {
		return
	}
	e.rounds = x.String() + " may round"
	if file := e.file.File; file != nil && int(at.Position()) >= file.Base() && int(at.Position()) <= file.Base()+file.Size() {
		e.rounds = fmt.Sprintf("line %d: %s", file.Line(at.Position()), e.rounds)
	}
}
