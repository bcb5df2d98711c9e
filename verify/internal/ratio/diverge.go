package ratio

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// diverge relates a list that begins with a branch on private data, by whether the
// condition holds in the runs: in both, in none, or in one of them.
//
// Theorem (up to bad; Barthe, Gaboardi, Grégoire, Hsu and Strub, Proving differential
// privacy via probabilistic couplings, 2016, and the fundamental lemma of
// game playing). If the condition holds in one run only, and each run by itself ends with
// one and the same public outcome o but with probability at most δ, then P[M(D) in S] <=
// P[M(D') in S] + δ. Proof: if S lacks o, P[M(D) in S] <= δ; else P[M(D') in S] >= 1−δ. The
// bad event is that noise exceeds what separates the outcomes; it is paid by its tail.
// Which of the cases holds is a matter of the data alone, so that the largest of their
// costs is enough, and costs of what comes after add up in both parts (Dwork, Kenthapadi
// et al. 2006).
func (p *prover) diverge(list []program.Statement, at state) (effect, error) {
	s, ok := list[0].(*program.If)
	if !ok {
		return effect{}, undecided("no branch")
	}
	at.fresh = nil
	if b, ok := s.Cond.(program.Binary); ok && (b.Op == program.And || b.Op == program.Or) {
		return p.nested(s, b, list[1:], at)
	}
	if p.depth++; p.depth > 6 {
		p.depth--
		return effect{}, undecided("line %d: private branches inside each other", p.line(s.Pos))
	}
	defer func() { p.depth-- }()
	difference, err := p.difference(s.Cond, at)
	if err != nil {
		return effect{}, fmt.Errorf("line %d: %w", p.line(s.Pos), err)
	}
	yes, err := p.list(slices.Concat(s.Then, list[1:]), at)
	if err != nil {
		return effect{}, err
	}
	no, err := p.list(slices.Concat(s.Else, list[1:]), at)
	if err != nil {
		return effect{}, err
	}
	result := yes.then(no)
	result.end = p.join(yes.end, no.end)
	for _, second := range []bool{false, true} {
		one, err := p.apart(s, list[1:], at, difference, second)
		if err != nil {
			return effect{}, err
		}
		end := p.join(result.end, one.end)
		result = result.then(one)
		result.end = end
	}
	return result, nil
}

// nested writes a branch on x && y, or on x || y, as two.
func (p *prover) nested(s *program.If, b program.Binary, rest []program.Statement, at state) (effect, error) {
	inner := &program.If{At: s.At, Cond: b.Y, Then: s.Then, Else: s.Else}
	outer := &program.If{At: s.At, Cond: b.X, Then: []program.Statement{inner}, Else: s.Else}
	if b.Op == program.Or {
		outer.Then, outer.Else = s.Then, []program.Statement{inner}
	}
	return p.list(append([]program.Statement{outer}, rest...), at)
}

// A gap is what a comparison compares with 0, and where it lies in the run in which the
// comparison holds, or does not, while it is the other way in the other run.
type gap struct {
	of        program.Expression // x−y of x < y, or of any comparison
	op        program.Op
	low, high fraction // of its distance between the runs
}

// difference takes a private comparison apart.
func (p *prover) difference(cond program.Expression, at state) (gap, error) {
	b, ok := cond.(program.Binary)
	if !ok {
		return gap{}, undecided("the private condition %v", cond)
	}
	switch b.Op {
	case program.Lt, program.Le, program.Gt, program.Ge, program.Eq, program.Ne:
	default:
		return gap{}, undecided("the private condition %v", cond)
	}
	of := program.Binary{Op: program.Sub, X: b.X, Y: b.Y}
	x, _, _ := p.eval(of, at, 0)
	if x.relation != near {
		return gap{}, undecided("how far %v moves between neighbours", of)
	}
	return gap{of, b.Op, x.low, x.high}, nil
}

// between bounds x−y in a run where the comparison holds, or does not, and in the other
// run it is the other way. With x−y = g here and g+d there: where g+d <= 0 (or < 0), g is
// at most −d <= −low, as low bounds the distance from here to there.
func (g gap) between(holds, second bool) (low, high *fraction) {
	from, to := g.low, g.high // of the distance to the other run
	if second {
		from, to = to.neg(), from.neg()
	}
	least, most := to.neg(), from.neg() // of −d
	nought := rational(zero)
	switch {
	case g.op == program.Eq && holds, g.op == program.Ne && !holds:
		return &nought, &nought
	case g.op == program.Eq || g.op == program.Ne:
		return &least, &most // there it is 0
	case (g.op == program.Gt || g.op == program.Ge) == holds:
		return &nought, &most
	}
	return &least, &nought
}

// apart shows that two runs have the same outcome but with a small probability, one of
// which takes the branch and one does not.
func (p *prover) apart(s *program.If, rest []program.Statement, at state, g gap, second bool) (effect, error) {
	line := p.line(s.Pos)
	var whole []program.Statement
	whole = append(append(whole, s), rest...)
	e := p.enumerate(whole, at)
	taken := slices.Concat(s.Then, rest)
	other := slices.Concat(s.Else, rest)
	type way struct {
		list  []program.Statement
		holds bool
		run   bool
	}
	ways := []way{{taken, true, second}, {other, false, !second}}
	var failure error
	for _, e.mostly = range []bool{false, true} {
		e.ends, e.kept, e.lengths = map[signal]bool{}, map[*program.Variable]bool{}, map[*program.Variable]map[string]program.Expression{}
		var outcomes []string
		var deltas []fraction
		var err error
		for _, w := range ways {
			low, high := g.between(w.holds, w.run)
			outcome, delta, failed := e.alone(w.list, g.of, low, high)
			if failed != nil {
				err = failed
				break
			}
			outcomes, deltas = append(outcomes, outcome), append(deltas, delta)
		}
		if err == nil && outcomes[0] != outcomes[1] {
			err = undecided("the one ends with %q, and the other with %q", outcomes[0], outcomes[1])
		}
		if err != nil {
			if failure == nil {
				failure = fmt.Errorf("line %d: where only one run takes the branch on %v: %w", line, s.Cond, err)
			}
			continue
		}
		delta, ok := p.lower(deltas[0].neg(), deltas[1].neg())
		if !ok {
			delta = deltas[0].plus(deltas[1]).neg()
		}
		delta = delta.neg()
		text := fmt.Sprintf("%v in one run only: both end with %q", s.Cond, outcomes[0])
		if len(delta.num) > 0 {
			text += fmt.Sprintf(" unless noise exceeds what separates them: the probability %v of that is paid once", delta)
		}
		return e.effect([]cost{{nothing(), delta}}, Step{line, text}), nil
	}
	return effect{}, failure
}

// alone follows one run: all that is private in it lies where the comparison says. It
// returns the outcome that it has but with probability delta.
func (e *enumeration) alone(list []program.Statement, of program.Expression, low, high *fraction) (string, fraction, error) {
	outcome, total := "", rational(zero)
	for todo := [][]int{nil}; len(todo) > 0; {
		choices := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if *e.runs--; *e.runs < 0 {
			return "", total, undecided("more than %d paths", maxRuns)
		}
		s := &solo{machine: &machine{enumeration: e, choices: choices, steps: maxSteps, weight: rational(one), vars: map[*program.Variable]program.Expression{}, slices: map[*program.Variable]sequence{}}, noise: map[string]*program.Draw{}, delta: rational(zero)}
		s.solo = s
		f, err := s.form(of)
		if err != nil {
			return "", total, err
		}
		s.of, s.low, s.high = f, low, high
		text, err := s.end(list)
		var q *fork
		switch {
		case errors.As(err, &q):
			for k := range q.ways {
				todo = append(todo, append(slices.Clone(choices), k))
			}
			continue
		case err != nil:
			return "", total, err
		}
		if outcome != "" && outcome != text {
			return "", total, undecided("it may end with %q, and with %q", outcome, text)
		}
		outcome = text
		if worst, ok := e.lower(total.neg(), s.delta.neg()); ok && !s.chosen {
			total = worst.neg()
		} else {
			total = total.plus(s.delta)
		}
	}
	return outcome, total, nil
}

// A solo follows one run on symbols, as a machine does, and does not know what noise
// it draws.
type solo struct {
	*machine
	noise     map[string]*program.Draw
	of        form // lies between low and high
	low, high *fraction
	delta     fraction // of what it took as not happening
	// chosen says that noise decided which way was taken: what is not to happen on
	// the other way may then happen besides, and both are paid (union bound). A coin is
	// independent of the noise, so that the worse of its ways is enough.
	chosen bool
}

// form reads an evaluated expression as a sum.
func (s *solo) form(e program.Expression) (form, error) {
	x, err := s.eval(e)
	if err != nil {
		return form{}, err
	}
	return s.sum(x)
}

func (s *solo) sum(x program.Expression) (form, error) {
	switch x := x.(type) {
	case program.Ref, program.Element:
		if s.hidden(x) {
			return form{map[string]*big.Rat{x.String(): one}, nothing()}, nil
		}
	case program.Unary:
		if x.Op == program.Sub {
			f, err := s.sum(x.X)
			return f.scale(big.NewRat(-1, 1)), err
		}
	case program.Call:
		if x.Func == "real" && s.hidden(x) {
			return s.sum(x.Args[0])
		}
	case program.Binary:
		if !s.hidden(x) {
			break
		}
		switch x.Op {
		case program.Add, program.Sub:
			k := one
			if x.Op == program.Sub {
				k = big.NewRat(-1, 1)
			}
			f, err := s.sum(x.X)
			if err != nil {
				return f, err
			}
			g, err := s.sum(x.Y)
			return f.plus(g, k), err
		case program.Mul:
			for _, sides := range [][2]program.Expression{{x.X, x.Y}, {x.Y, x.X}} {
				if k, ok := sides[0].(program.Number); ok {
					f, err := s.sum(sides[1])
					return f.scale(k.Value), err
				}
			}
		}
	}
	if s.hidden(x) {
		return form{}, undecided("the private %v is no sum", x)
	}
	c, err := s.amount(x)
	return form{map[string]*big.Rat{}, c}, err
}

// decide takes a side of a comparison that depends on private data: the side that it is
// known to have, or that it has but with a probability that is paid; else both.
func (s *solo) decide(x program.Binary) (bool, error) {
	f, err := s.sum(program.Binary{Op: program.Sub, X: x.X, Y: x.Y})
	if err != nil {
		return s.chance()
	}
	var draw *program.Draw
	var factor *big.Rat
	rest := form{map[string]*big.Rat{}, f.public}
	for v, c := range f.terms {
		if d, ok := s.noise[v]; !ok {
			rest.terms[v] = c
		} else if draw != nil {
			return s.chance()
		} else {
			draw, factor = d, c
		}
	}
	low, high := s.reach(rest)
	positive := func(a *amount, strict bool) bool {
		return a != nil && (s.covers(*a, nothing()) && (!strict || len(a.logs) == 0 && s.positive(a.rest.num)))
	}
	negative := func(a *amount) *amount {
		if a == nil {
			return nil
		}
		n := a.times(rational(big.NewRat(-1, 1)))
		return &n
	}
	upward := x.Op == program.Gt || x.Op == program.Ge
	strict := x.Op == program.Gt || x.Op == program.Lt
	if x.Op == program.Eq || x.Op == program.Ne {
		return s.chance()
	}
	if draw == nil {
		// f > 0 holds, or fails, by the bounds.
		above, below := low, negative(high)
		if !upward {
			above, below = negative(high), low
		}
		switch {
		case positive(above, strict):
			return true, nil
		case positive(below, !strict):
			return false, nil
		}
		return s.either()
	}
	scale, err := s.scale(draw)
	if err != nil {
		return false, err
	}
	// k·n + rest > 0 says that k·n > −rest >= −high: rare if that is far out. It fails when
	// −k·n >= rest >= low.
	size := new(big.Rat).Abs(factor)
	exceeds, falls := negative(high), low
	if !upward {
		exceeds, falls = low, negative(high)
	}
	far, holds := exceeds, false
	if s.mostly {
		far, strict, holds = falls, !strict, true
	}
	if far == nil {
		return s.chance()
	}
	t := far.times(rational(new(big.Rat).Inv(size)))
	tail, err := s.tail(draw.Law, scale, t, strict, s.integral(t))
	if err != nil {
		return s.chance()
	}
	s.delta = s.delta.plus(tail)
	return holds, nil
}

// chance is either where noise decides.
func (s *solo) chance() (bool, error) {
	s.chosen = true
	return s.either()
}

// either follows both sides: they must end alike.
func (s *solo) either() (bool, error) {
	k, err := s.choice(2)
	return k == 0, err
}

// draw takes noise as a private leaf; a coin either way, if it may be tossed: the other run
// may not toss it.
func (s *solo) draw(d *program.Draw) error {
	if d.Law == program.Bernoulli {
		if err := s.probability(d); err != nil {
			return err
		}
		heads, err := s.either()
		s.vars[d.To] = program.Truth(heads)
		return err
	}
	leaf := program.Ref{Var: &program.Variable{Name: fmt.Sprintf("%s#%d", d.To.Name, len(s.noise)), Sort: d.To.Sort}}
	s.secrets[leaf.String()] = true
	s.noise[leaf.String()] = d
	s.vars[d.To] = leaf
	return nil
}

// probability reports an error unless the parameter of a coin is known to be from 0 to 1.
func (s *solo) probability(d *program.Draw) error {
	x, err := s.eval(d.Parameter)
	if err != nil {
		return err
	}
	if s.hidden(x) {
		return undecided("the probability %v depends on private data", x)
	}
	heads, err := s.fraction(x)
	if err == nil && (!s.nonnegative(heads.num) || !s.nonnegative(rational(one).minus(heads).num)) {
		err = undecided("that %v is a probability", x)
	}
	return err
}

// keeps reports that a variable is what it was at the start.
func (s *solo) keeps(v *program.Variable) bool {
	if v.Slice {
		l, ok := s.slices[v]
		return !ok || l.base != nil && len(l.done) == 0 && len(l.elems) == 0 && l.base.Name == s.base(v).Name
	}
	x, ok := s.vars[v]
	return !ok || x.String() == s.leaf(v).String()
}

// scale is that of noise.
func (s *solo) scale(d *program.Draw) (fraction, error) {
	x, err := s.eval(d.Parameter)
	if err != nil {
		return fraction{}, err
	}
	if s.hidden(x) {
		return fraction{}, undecided("the scale %v depends on private data", x)
	}
	f, err := s.fraction(x)
	if err == nil && !s.positive(f.num) {
		err = undecided("that the scale %v is positive", x)
	}
	return f, err
}

// reach bounds a sum without noise.
func (s *solo) reach(f form) (low, high *amount) {
	if len(f.terms) == 0 {
		return &f.public, &f.public
	}
	k, ok := f.multiple(s.of)
	if !ok {
		return nil, nil
	}
	// f = k·of + public part.
	rest := f.plus(s.of, new(big.Rat).Neg(k)).public
	at := func(b *fraction) *amount {
		if b == nil {
			return nil
		}
		a := rest.plus(fixed(b.times(rational(k))))
		return &a
	}
	low, high = at(s.low), at(s.high)
	if k.Sign() < 0 {
		low, high = high, low
	}
	return low, high
}

// integral reports that an amount is a whole number.
func (s *solo) integral(a amount) bool {
	if len(a.logs) > 0 {
		return false
	}
	if d, ok := a.rest.den.constant(); !ok || d.Cmp(one) != 0 {
		return false
	}
	for _, t := range a.rest.num {
		if !t.coef.IsInt() {
			return false
		}
		for v, e := range t.powers {
			if !s.integers[v] || !e.IsInt() || e.Sign() < 0 {
				return false
			}
		}
	}
	return true
}
