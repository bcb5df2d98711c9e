package ratio

import (
	"errors"
	"fmt"
	"go/token"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A relation is that of a variable's values in the two runs.
type relation uint8

const (
	equal relation = iota
	near           // second less first is in [low, high]
	apart          // nothing is known
)

// A value is what is known of a variable at one place, in both runs. That of a slice
// speaks of each of its elements.
type value struct {
	relation  relation
	low, high fraction           // if near
	expr      program.Expression // of a scalar, over the inputs of the same run; or nil
	// Of slices: whether the lengths are equal, and what they are if that is known.
	lengths bool
	length  program.Expression
	// uniform is what all elements are, or nil.
	uniform program.Expression
	// one says that at most one element differs; permuted, that the elements of the
	// one run are those of the other in another order.
	one, permuted bool
}

// A state is what is known where, and the most that was paid on the way there: the
// largest of the amounts.
type state struct {
	vars map[*program.Variable]value
	paid []cost
	dead bool // not reached
	// fresh are the draws that the last statements were: the shift of their noise may
	// still be chosen. If the next statement does not choose it, it is none.
	fresh []*program.Draw
}

// An exit is where a break or continue leads.
type exit struct {
	loop *program.Loop
	next bool // continue
}

// An effect is what a list of statements leads to.
type effect struct {
	end      state
	exits    map[exit][]state
	returned []cost // of the paths that end the function
	steps    []Step
}

// A prover relates two runs in lockstep: every branch is the same in both, every draw
// is coupled so that what was drawn is equal, or that its sum with private data is.
//
// Theorem (Barthe, Köpf, Olmedo and Zanella-Béguelin 2012, the rules of apRHL; for
// sampling by a shift or the exponential mechanism see the draws). If on every path the
// costs of the couplings add up to at most c and all outputs are equal, then
// P[M(D) in S] <= e^c P[M(D') in S] for every S. Proof: by induction over the
// statements; a part that is enumerated (see enumerate) is one draw of its outcome,
// whose probabilities have the ratio e^c.
type prover struct {
	algebra
	f     *program.Function
	claim *claim.Claim
	// public are inputs whose elements are taken as equal: the rounds of a loop that
	// do not meet the element in which neighbours differ.
	public map[*program.Variable]bool
	// moving are the leaves of enumerations that may have another value each time.
	moving map[string]bool
	// changed are the variables that the function sets.
	changed map[*program.Variable]bool
	// share is the epsilon that each sum with Gaussian noise costs; nil if none may.
	share *fraction
	// depth counts private branches inside each other.
	depth int
	// runs is how many enumerated paths are left.
	runs *int
	// hits are the conditions of loops that hold once, if they are looked at; directed
	// says of one in which run it holds, the first or the second.
	hits     map[*program.Loop][]hit
	directed map[string]bool
}

// list relates a list of statements. If the whole can be enumerated that decides;
// else statement after statement, and what fails that way in a part with draws before
// it.
func (p *prover) list(list []program.Statement, s state) (effect, error) {
	e, whole := p.part(list, s)
	if whole == nil {
		return e, nil
	}
	done := effect{end: s}
	before := []effect{done}
	for i, statement := range list {
		e, err := p.statement(statement, done.end)
		if err != nil {
			if e, failure := p.diverge(list[i:], done.end); failure == nil {
				return done.then(e), nil
			} else if _, branch := statement.(*program.If); branch && p.claim.Cost.Measure == claim.Approximate {
				err = failure
			}
			for from := i; from >= 0; from-- {
				for to := len(list); to > i; to-- {
					if from == 0 && to == len(list) {
						continue
					}
					e, failure := p.part(list[from:to], before[from].end)
					if failure != nil {
						continue
					}
					rest, failure := p.list(list[to:], e.end)
					if failure != nil {
						continue
					}
					return before[from].then(e).then(rest), nil
				}
			}
			if errors.Is(whole, errOutcome) {
				err = fmt.Errorf("%w; nor as a whole: %w", err, whole)
			}
			return effect{}, err
		}
		done = done.then(e)
		before = append(before, done)
		if done.end.dead {
			break
		}
	}
	return done, nil
}

// then is one effect after another one, which began where the first ended.
func (e effect) then(next effect) effect {
	joined := effect{end: next.end, exits: maps.Clone(e.exits), returned: slices.Concat(e.returned, next.returned), steps: slices.Concat(e.steps, next.steps)}
	if joined.exits == nil {
		joined.exits = map[exit][]state{}
	}
	for x, states := range next.exits {
		joined.exits[x] = slices.Concat(joined.exits[x], states)
	}
	return joined
}

// get is what is known of a variable; of one that was not set, nothing.
func (s state) get(v *program.Variable) value {
	if x, ok := s.vars[v]; ok {
		return x
	}
	return value{relation: apart}
}

func (s state) set(v *program.Variable, x value) state {
	s.vars = maps.Clone(s.vars)
	s.vars[v] = x
	return s
}

func (p *prover) pay(s state, c cost) state {
	s.paid = p.after(s.paid, []cost{c})
	return s
}

// join is what is known where two ways meet.
func (p *prover) join(s, t state) state {
	if s.dead {
		return t
	}
	if t.dead {
		return s
	}
	joined := state{vars: map[*program.Variable]value{}, paid: p.largest(slices.Concat(s.paid, t.paid))}
	for v, x := range s.vars {
		if y, ok := t.vars[v]; ok {
			joined.vars[v] = p.either(x, y)
		}
	}
	return joined
}

// either is what two values have in common.
func (p *prover) either(x, y value) value {
	z := p.hull(x, y)
	z.lengths = x.lengths && y.lengths
	if z.lengths && same(x.length, y.length) {
		z.length = x.length
	}
	if same(x.uniform, y.uniform) {
		z.uniform = x.uniform
	}
	z.permuted = (x.permuted || x.relation == equal) && (y.permuted || y.relation == equal)
	z.one = x.one && y.one
	return z
}

func same(x, y program.Expression) bool {
	return x != nil && y != nil && x.String() == y.String()
}

// hull is the relation of two values.
func (p *prover) hull(x, y value) value {
	switch {
	case x.relation == apart || y.relation == apart:
		return value{relation: apart}
	case x.relation == equal && y.relation == equal:
		if same(x.expr, y.expr) {
			return value{expr: x.expr}
		}
		return value{}
	}
	a, b := x.interval(), y.interval()
	low, ok := p.lower(a.low, b.low)
	if !ok {
		return value{relation: apart}
	}
	high, ok := p.lower(a.high.neg(), b.high.neg())
	if !ok {
		return value{relation: apart}
	}
	return value{relation: near, low: low, high: high.neg()}
}

// lower returns the lower of two bounds, if it is known which that is.
func (p *prover) lower(x, y fraction) (fraction, bool) {
	switch {
	case p.atMost(x, y):
		return x, true
	case p.atMost(y, x):
		return y, true
	}
	return fraction{}, false
}

// interval gives an equal value the distance 0.
func (x value) interval() value {
	if x.relation == equal {
		x.relation, x.low, x.high = near, rational(zero), rational(zero)
	}
	return x
}

// statement relates one statement.
func (p *prover) statement(s program.Statement, at state) (effect, error) {
	at.fresh = slices.DeleteFunc(slices.Clone(at.fresh), func(d *program.Draw) bool { return !usable(s, d) })
	e, err := p.relate(s, at)
	if _, draws := s.(*program.Draw); !draws {
		e.end.fresh = nil
	}
	return e, err
}

func (p *prover) relate(s program.Statement, at state) (effect, error) {
	line := p.line(s.Position())
	switch s := s.(type) {
	case *program.Assign:
		if s.To.Slice {
			x := at.get(s.Value.(program.Ref).Var)
			return effect{end: at.set(s.To, x)}, nil
		}
		x, after, steps := p.eval(s.Value, at, line)
		return effect{end: after.set(s.To, x), steps: steps}, nil
	case *program.Make:
		n, after, steps := p.eval(s.Length, at, line)
		nought := program.Number{Value: zero, Sort: s.To.Sort}
		x := value{lengths: n.relation == equal, length: n.expr, uniform: nought}
		if s.To.Sort == program.Bool {
			x.uniform = program.Truth(false)
		}
		if !x.lengths {
			x = value{relation: apart}
		}
		return effect{end: after.set(s.To, x), steps: steps}, nil
	case *program.Append:
		x, after, steps := p.eval(s.Value, at, line)
		return effect{end: after.set(s.To, p.appended(after.get(s.To), x)), steps: steps}, nil
	case *program.Store:
		return p.store(s, at, line)
	case *program.Draw:
		return p.draw(s, at, line)
	case *program.If:
		cond, after, steps := p.eval(s.Cond, at, line)
		if cond.relation != equal {
			return effect{}, undecided("line %d: the branch on %v depends on private data, and no sum with fresh noise makes it equal", line, s.Cond)
		}
		after.fresh = nil
		then, err := p.list(s.Then, after)
		if err != nil {
			return effect{}, err
		}
		otherwise, err := p.list(s.Else, after)
		if err != nil {
			return effect{}, err
		}
		both := effect{steps: steps, exits: map[exit][]state{}}.then(then).then(otherwise)
		both.end = p.join(then.end, otherwise.end)
		return both, nil
	case *program.Loop:
		return p.loop(s, at)
	case *program.Break:
		return effect{end: state{dead: true}, exits: map[exit][]state{{loop: s.Of}: {at}}}, nil
	case *program.Continue:
		return effect{end: state{dead: true}, exits: map[exit][]state{{s.Of, true}: {at}}}, nil
	case *program.Output:
		after, steps, err := p.reveal(s.Values, at, line)
		return effect{end: after, steps: steps}, err
	case *program.Return:
		after, steps, err := p.reveal(s.Values, at, line)
		return effect{end: state{dead: true}, returned: after.paid, steps: steps}, err
	}
	return effect{}, undecided("line %d: statements of this kind", line)
}

// appended is a slice with one more element.
func (p *prover) appended(old, x value) value {
	n, known := old.length.(program.Number)
	z := x
	if !known || n.Value.Sign() > 0 {
		z = p.hull(old, x)
	}
	z = value{relation: z.relation, low: z.low, high: z.high, lengths: old.lengths, one: old.one && x.relation == equal}
	if old.length != nil {
		z.length = fold(program.Binary{Op: program.Add, X: old.length, Y: program.Number{Value: one}})
	}
	return z
}

// usable reports whether a statement may choose the shift of noise that was just drawn:
// it reads it once; or whether it is another draw that has nothing to do with it.
func usable(s program.Statement, drawn *program.Draw) bool {
	uses := 0
	for _, e := range reads(s) {
		uses += mentions(e, drawn.To)
	}
	switch s.(type) {
	case *program.Loop:
		return false
	case *program.Draw:
		return uses == 0 && program.Written(s) != drawn.To
	}
	return uses == 1
}

// reveal asserts that values are equal.
func (p *prover) reveal(values []program.Expression, at state, line int) (state, []Step, error) {
	var steps []Step
	for _, e := range values {
		x, after, more := p.eval(e, at, line)
		at, steps = after, append(steps, more...)
		ref, slice := e.(program.Ref)
		if x.relation != equal || slice && ref.Var.Slice && !x.lengths {
			return at, nil, undecided("line %d: %v is revealed, and depends on private data", line, e)
		}
	}
	return at, steps, nil
}

// store sets one element.
//
// One element of a slice whose elements are all equal, set at an index that differs:
// the one run has the new value where the other has the old one, and the elements are
// the same but for their order.
func (p *prover) store(s *program.Store, at state, line int) (effect, error) {
	index, at, steps := p.eval(s.Index, at, line)
	x, at, more := p.eval(s.Value, at, line)
	steps = append(steps, more...)
	old := at.get(s.To)
	z := p.either(old, x)
	z.expr, z.uniform, z.length, z.lengths = nil, nil, old.length, old.lengths
	z.permuted, z.one = false, old.one && x.relation == equal
	if index.relation == equal {
		return effect{end: at.set(s.To, z), steps: steps}, nil
	}
	if !p.inRange(s.Index, old.length, at) {
		return effect{}, undecided("line %d: that the private index %v is in range in both runs", line, s.Index)
	}
	z = value{relation: apart, lengths: old.lengths, length: old.length}
	if old.relation == equal && old.uniform != nil && x.relation == equal && x.expr != nil {
		was, err := p.fraction(old.uniform)
		if err != nil {
			return effect{}, err
		}
		is, err := p.fraction(x.expr)
		if err != nil {
			return effect{}, err
		}
		if d, ok := p.size(is.minus(was)); ok {
			z.relation, z.low, z.high, z.permuted = near, d.neg(), d, true
		}
	}
	return effect{end: at.set(s.To, z), steps: steps}, nil
}

// size returns |x|, if the sign of x is known.
func (p *prover) size(x fraction) (fraction, bool) {
	switch {
	case p.nonnegative(x.num):
		return x, true
	case p.nonnegative(x.num.neg()):
		return x.neg(), true
	}
	return fraction{}, false
}

// inRange reports that the requirements put a private input between 0 and a length.
func (p *prover) inRange(index, length program.Expression, at state) bool {
	ref, ok := index.(program.Ref)
	if !ok || length == nil || !ref.Var.Input || assigned(p.f.Body)[ref.Var] {
		return false
	}
	low, high := ref.Var.Natural, false
	for _, c := range p.requirements() {
		b, ok := c.(program.Binary)
		if !ok {
			continue
		}
		x, y := b.X, b.Y
		switch b.Op {
		case program.Gt, program.Ge:
			x, y = y, x
		case program.Lt, program.Le:
		default:
			continue
		}
		strict := b.Op == program.Lt || b.Op == program.Gt
		if n, ok := x.(program.Number); ok && y.String() == ref.String() && n.Value.Sign() >= 0 {
			low = true
		}
		if x.String() == ref.String() && strict && p.value(y, at).String() == length.String() {
			high = true
		}
	}
	return low && high
}

// value writes an equal expression over inputs, as far as that is known.
func (p *prover) value(e program.Expression, at state) program.Expression {
	at.fresh = nil
	if x, _, _ := p.eval(e, at, 0); x.relation == equal && x.expr != nil {
		return x.expr
	}
	return e
}

func (p *prover) line(pos token.Pos) int {
	if p.f.File == nil || !pos.IsValid() {
		return 0
	}
	return p.f.File.Line(pos)
}
