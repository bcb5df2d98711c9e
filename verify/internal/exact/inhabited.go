package exact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Inhabited reports whether it found inputs that meet what a claim requires and may have
// neighbours. Where it did not there may be none, and then the claim says nothing. Of a
// function that was not read, f is nil.
func Inhabited(ctx context.Context, f *program.Function, cl *claim.Claim) (bool, error) {
	var c *code
	err := ErrUnsupported
	if f != nil {
		c, err = compile(f)
	}
	if errors.Is(err, ErrUnsupported) { // what is required does not depend on the body
		c, err = compile(&program.Function{Inputs: inputsOf(f, cl)})
	}
	if err != nil {
		return false, err
	}
	s := newSpace(c, cl)
	if len(s.settings(1, 2*searchDepth)) > 0 {
		for _, choice := range s.settings(64, 2*searchDepth) {
			for n := range 9 {
				if s.peopled(choice, n) {
					return true, nil
				}
			}
		}
	}
	found := s.repaired(ctx)
	return found, ctx.Err()
}

// inputsOf are the inputs of a function, or those that its claim names.
func inputsOf(f *program.Function, cl *claim.Claim) (all []*program.Variable) {
	if f != nil {
		return f.Inputs
	}
	add := func(v *program.Variable) {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	visit := func(e program.Expression) {
		if e == nil {
			return
		}
		program.Walk(e, func(e program.Expression) {
			switch e := e.(type) {
			case program.Ref:
				add(e.Var)
			case program.Element:
				add(e.Slice)
			case program.Length:
				add(e.Slice)
			}
		})
	}
	for _, a := range cl.Adjacent {
		add(a.Input)
		visit(a.Low)
		visit(a.High)
	}
	for _, e := range cl.Requires {
		visit(e)
	}
	return all
}

// peopled reports whether slices of n elements meet what is required, and whether there is a
// distance that neighbours of them may have.
func (s *space) peopled(choice setting, n int) bool {
	p := s.flat(choice, n)
	if !s.code.admissible(s.claim, p.first) {
		return false
	}
	for _, a := range s.claim.Adjacent {
		low, high, err := s.code.between(a, s.code.bind(p.first))
		if err != nil || low.cmp(high) > 0 {
			return false
		}
	}
	return true
}

const (
	maxRepairs = 24  // of one choice
	mostLength = 512 // of slices that are tried
)

// repaired looks for inputs by repairing choices: an input of a requirement that is false is set to
// where its sides are equal, as if they were linear in it, or beside that.
func (s *space) repaired(ctx context.Context) bool {
	lists := s.choices()
	if slices.ContainsFunc(lists, func(list []rational) bool { return len(list) == 0 }) {
		return false
	}
	for at := range 4 {
		choice := make(setting, len(lists))
		for i, list := range lists {
			choice[i] = list[at%len(list)]
		}
		if s.repair(ctx, choice, 2) {
			return true
		}
	}
	return false
}

// A repair is what repairing has come to.
type repair struct {
	choice setting
	n      int
	broken []program.Expression
}

func (s *space) repair(ctx context.Context, choice setting, n int) bool {
	now := s.judged(choice, n)
	seen := map[string]bool{}
	for range maxRepairs {
		if len(now.broken) == 0 {
			return s.peopled(now.choice, now.n)
		}
		var best *repair
		for _, e := range now.broken {
			if ctx.Err() != nil {
				return false
			}
			for _, next := range s.turned(now, e) {
				if !seen[fmt.Sprint(next.choice, next.n)] && (best == nil || len(next.broken) < len(best.broken)) {
					best = &next
				}
			}
		}
		if best == nil {
			return false
		}
		now = *best
		seen[fmt.Sprint(now.choice, now.n)] = true
	}
	return false
}

// judged says which requirements are false: what neighbours may be at least is at most what they
// may be at most, too.
func (s *space) judged(choice setting, n int) repair {
	r := repair{choice: choice, n: n}
	run := s.code.bind(s.flat(choice, n).first)
	for _, e := range s.wanted() {
		if !s.code.holds([]program.Expression{e}, run) {
			r.broken = append(r.broken, e)
		}
	}
	return r
}

// wanted is all that inputs have to meet.
func (s *space) wanted() (all []program.Expression) {
	for _, e := range slices.Concat(s.claim.Requires, s.code.function.Requires) {
		all = append(all, conjuncts(e)...)
	}
	for _, a := range s.claim.Adjacent {
		low := a.Low
		if low == nil {
			low = program.Number{Value: rational{}.rat(), Sort: program.Real}
		}
		all = append(all, program.Binary{Op: program.Le, X: low, Y: a.High})
	}
	return all
}

// turned changes one input, or the length of slices, for the sake of a requirement.
func (s *space) turned(now repair, e program.Expression) (all []repair) {
	for i, v := range s.code.function.Inputs {
		if !mentions(e, v) && !(v.Slice && reads(e, v)) {
			continue
		}
		set := func(x rational) repair {
			choice := slices.Clone(now.choice)
			choice[i] = x
			return s.judged(choice, now.n)
		}
		for _, x := range s.roots(e, now.choice[i], func(x rational) []value {
			choice := slices.Clone(now.choice)
			choice[i] = x
			return s.code.bind(s.flat(choice, now.n).first)
		}) {
			if v.Sort == program.Real || x.isInt() {
				all = append(all, set(x))
			}
		}
	}
	if slices.ContainsFunc(s.code.function.Inputs, func(v *program.Variable) bool { return v.Slice && reads(e, v) }) {
		for _, x := range s.roots(e, integer(int64(now.n)), func(x rational) []value {
			n, _ := x.int64()
			return s.code.bind(s.flat(now.choice, int(max(0, min(n, mostLength)))).first)
		}) {
			if n, ok := x.int64(); ok && n >= 0 && n <= mostLength {
				all = append(all, s.judged(now.choice, int(n)))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b repair) int { return cmp.Compare(len(a.broken), len(b.broken)) })
	return all
}

// reads reports whether an expression speaks of a slice.
func reads(e program.Expression, v *program.Variable) (found bool) {
	program.Walk(e, func(e program.Expression) {
		switch e := e.(type) {
		case program.Element:
			found = found || e.Slice == v
		case program.Length:
			found = found || e.Slice == v
		}
	})
	return found
}

// roots are numbers at which comparisons within e may turn: where the sides would be equal if
// they went on as from x to x+1, wholes around that, and what lies beside.
func (s *space) roots(e program.Expression, x rational, run func(rational) []value) (all []rational) {
	program.Walk(e, func(e program.Expression) {
		b, ok := e.(program.Binary)
		switch {
		case !ok:
			return
		case b.Op != program.Eq && b.Op != program.Ne && b.Op != program.Lt && b.Op != program.Le && b.Op != program.Gt && b.Op != program.Ge:
			return
		}
		apart := func(x rational) (rational, bool) {
			f, err := s.code.concrete(program.Binary{Op: program.Sub, X: b.X, Y: b.Y}, run(x))
			if err != nil {
				return rational{}, false
			}
			mid := f.enclosure().Hi()
			return rationalOf(mid), true
		}
		at := x
		for range 12 { // Newton's steps, by differences
			here, ok1 := apart(at)
			next, ok2 := apart(at.plus(integer(1)))
			slope := next.minus(here)
			if !ok1 || !ok2 || slope.sign() == 0 || at.long() {
				break
			}
			root := at.minus(here.times(slope.inverse())).coarse()
			if len(all) > 0 && same(root, at) {
				break
			}
			at = root
			for _, d := range []rational{{}, integer(1), integer(-1), fraction(1, 1000), fraction(-1, 1000), fraction(1, 1000000), fraction(-1, 1000000)} {
				all = append(all, at.plus(d))
			}
			down := wholly("floor", at)
			all = append(all, down, down.plus(integer(1)), down.plus(integer(-1)), down.plus(integer(2)))
		}
	})
	slices.SortFunc(all, rational.cmp)
	return slices.CompactFunc(append(all, fractions(0, 1)...), same)
}
