package source

import (
	"go/token"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// TellingPanic finds a place where private data, or noise, may decide that a function
// panics: one under a condition, in a loop or after a jump that depends on them. It
// follows what depends on what by data and by control, and errs by finding too much
// only (Volpano, Irvine and Smith, "A sound type system for secure flow analysis", 1996).
func TellingPanic(f *program.Function, c *claim.Claim) (token.Pos, bool) {
	d := newDependence(c)
	d.settle(f.Body)
	if d.found == nil {
		return token.NoPos, false
	}
	return d.found.Pos, true
}

// A dependence is what depends on private data or noise, by what was found so far.
type dependence struct {
	values  map[*program.Variable]bool // scalars, and elements of slices
	lengths map[*program.Variable]bool
	loops   map[*program.Loop]bool // of which it depends how often they run
	left    bool                   // it depends whether the function was left before its end
	changed bool
	found   *program.Return
	// visit, if set, is told of every statement, and whether it depends if that runs.
	visit func(s program.Statement, under bool)
}

func newDependence(c *claim.Claim) *dependence {
	d := &dependence{values: map[*program.Variable]bool{}, lengths: map[*program.Variable]bool{}, loops: map[*program.Loop]bool{}}
	for _, a := range c.Adjacent {
		d.values[a.Input] = true
		d.lengths[a.Input] = a.Relation == claim.Bag
	}
	return d
}

// settle finds all that depends. Whether the function was left is told by what stands before.
func (d *dependence) settle(stmts []program.Statement) {
	for d.changed = true; d.changed; d.left = false {
		d.changed = false
		d.list(stmts, false)
	}
}

// of reports whether an expression depends.
func (d *dependence) of(xs ...program.Expression) bool {
	depends := false
	for _, x := range xs {
		program.Walk(x, func(x program.Expression) {
			switch x := x.(type) {
			case program.Ref:
				depends = depends || d.values[x.Var] || d.lengths[x.Var]
			case program.Element:
				depends = depends || d.values[x.Slice]
			case program.Length:
				depends = depends || d.lengths[x.Slice]
			}
		})
	}
	return depends
}

func (d *dependence) mark(set map[*program.Variable]bool, v *program.Variable, depends bool) {
	if depends && !set[v] {
		set[v], d.changed = true, true
	}
}

// list follows statements that run or not by what depends, or by what does not.
func (d *dependence) list(stmts []program.Statement, under bool) {
	for _, s := range stmts {
		d.statement(s, under || d.left)
	}
}

func (d *dependence) statement(s program.Statement, under bool) {
	if d.visit != nil {
		d.visit(s, under)
	}
	switch s := s.(type) {
	case program.Assign:
		if from, ok := s.Value.(program.Ref); ok && s.To.Slice {
			d.mark(d.lengths, s.To, under || d.lengths[from.Var])
			d.mark(d.values, s.To, under || d.values[from.Var])
			return
		}
		d.mark(d.values, s.To, under || d.of(s.Value))
	case program.Make:
		d.mark(d.lengths, s.To, under || d.of(s.Length))
		d.mark(d.values, s.To, under)
	case program.Append:
		d.mark(d.lengths, s.To, under)
		d.mark(d.values, s.To, under || d.of(s.Value))
	case program.Store:
		d.mark(d.values, s.To, under || d.of(s.Index, s.Value))
	case program.Draw:
		d.mark(d.values, s.To, true)
	case program.If:
		under = under || d.of(s.Cond)
		d.list(s.Then, under)
		d.list(s.Else, under)
	case *program.Loop:
		under = under || d.loops[s] || d.of(s.Cond)
		visit := d.visit
		d.visit = nil
		d.list(s.Body, under) // what a round leaves, the next one does not begin
		d.visit = visit
		d.list(s.Body, under)
		d.list(s.Post, under || d.loops[s])
	case program.Break:
		d.jump(s.Of, under)
	case program.Continue:
		d.jump(s.Of, under)
	case program.Return:
		if under && s.Panic && d.found == nil {
			d.found = &s
		}
		d.left = d.left || under
	}
}

// jump notes that it depends which rounds of a loop, or which parts of them, run.
func (d *dependence) jump(of *program.Loop, under bool) {
	if under && !d.loops[of] {
		d.loops[of], d.changed = true, true
	}
}
