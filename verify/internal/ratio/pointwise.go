package ratio

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Limits of a pointwise comparison.
const (
	maxUniformWays = 16 // of a uniform draw that is enumerated
	maxPointPaths  = 24
	maxPointCases  = 4000
)

// pointwise relates a part with uniform draws below numbers of any size, of private
// numbers of any size, value by value of what it reveals.
//
// Theorem. A path of the part, under conditions C on its data σ and its uniform draws u,
// of weight w beside them, reveals numbers h(σ, u). If each u can be solved for from
// h(σ, u) = y with a coefficient of 1 or −1, at most one u leads to y, and the part
// reveals y with probability Σ w·Π(1/n)·[C(σ, u(y)) and u(y) in range], summed over the
// paths. Which of these brackets hold for σ, and which for its neighbour σ', is one of
// finitely many cases; in each the probabilities are sums of weights, which are public. If
// their ratio is at most r in every case that σ, σ' and y can be in, the part can be
// coupled so that its outcome is equal at cost ln r. Cases are left out only if linear
// arithmetic excludes them: too many make r larger.
func (p *prover) pointwise(list []program.Statement, at state) (*enumeration, []fraction, error) {
	e := p.enumerate(list, at)
	first := e.facts("")
	paths, err := e.paths(first)
	if err != nil {
		return nil, nil, err
	}
	shapes := map[string][]*path{}
	var names []string
	for _, x := range paths {
		if err := x.solve(); err != nil {
			return nil, nil, err
		}
		if len(shapes[x.shape]) == 0 {
			names = append(names, x.shape)
		}
		shapes[x.shape] = append(shapes[x.shape], x)
	}
	e.outcomes = len(paths)
	all := map[string]fraction{}
	know := linear.And(first, e.facts(second), e.adjacency())
	cases := maxPointCases
	if impossible(know) {
		names = nil // there are no neighbours
	}
	for _, name := range names {
		c := &comparison{enumeration: e, paths: shapes[name], left: &cases, ratios: all}
		if err := c.split(know, 0, nil, nil); err != nil {
			return nil, nil, err
		}
	}
	var ratios []fraction
	for _, k := range slices.Sorted(maps.Keys(all)) {
		ratios = append(ratios, all[k])
	}
	return e, ratios, nil
}

// second marks the private data of the second run.
const second = "′"

// A point is what a machine notes of a path on which private numbers and uniform draws
// stay symbols.
type point struct {
	facts    linear.Formula // of the inputs
	conds    linear.Formula
	uniforms []uniform
	holes    []linear.Term
}

// A uniform is a draw of a path: a symbol, and how many values it may have.
type uniform struct {
	symbol linear.Var
	below  linear.Term
	ways   fraction
}

// A path is one way through a part. Its holes are numbers that it reveals.
type path struct {
	shape    string
	weight   fraction
	conds    linear.Formula
	uniforms []uniform
	holes    []linear.Term
}

// paths follows every path.
func (e *enumeration) paths(facts linear.Formula) ([]*path, error) {
	var all []*path
	for todo := [][]int{nil}; len(todo) > 0; {
		choices := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if *e.runs--; *e.runs < 0 || len(all) > maxPointPaths {
			return nil, undecided("more than %d paths", maxPointPaths)
		}
		m := e.machine(choices)
		m.point = &point{facts: facts, conds: linear.True()}
		shape, err := m.run()
		var f *fork
		switch {
		case errors.As(err, &f):
			for k := range f.ways {
				todo = append(todo, append(slices.Clone(choices), k))
			}
		case err != nil:
			return nil, err
		case len(m.weight.num) > 0:
			all = append(all, &path{shape, m.weight, m.point.conds, m.point.uniforms, m.point.holes})
		}
	}
	return all, nil
}

// uniform draws an integer: a symbol, or one of few.
func (m *machine) uniform(s *program.Draw) error {
	below, err := m.eval(s.Parameter)
	if err != nil {
		return err
	}
	if below, err = m.known(below); err != nil {
		return err
	}
	if m.hidden(below) {
		return undecided("the number %v of values depends on private data", below)
	}
	n, err := m.fraction(below)
	if err != nil {
		return err
	}
	share, err := m.quo(rational(one), n)
	if err != nil {
		return err
	}
	if m.point == nil {
		c, ok := n.constant()
		if !ok || !c.IsInt() || c.Sign() <= 0 || c.Num().BitLen() > 8 || c.Num().Int64() > maxUniformWays {
			return undecided("how many values %v are", below)
		}
		k, err := m.choice(int(c.Num().Int64()))
		m.vars[s.To] = program.Number{Value: big.NewRat(int64(k), 1), Sort: program.Int}
		m.weight = m.weight.times(share)
		return err
	}
	limit, err := m.term(below, "")
	if err != nil {
		return err
	}
	v := &program.Variable{Name: fmt.Sprintf("%s~%d", s.To.Name, len(m.point.uniforms)), Sort: program.Int}
	m.secrets[v.Name] = true // no probability may depend on it
	m.vars[s.To] = program.Ref{Var: v}
	m.weight = m.weight.times(share)
	u := uniform{linear.Var{Name: v.Name, Sort: linear.Int}, limit, n}
	m.point.uniforms = append(m.point.uniforms, u)
	return nil
}

// within says that a uniform draw is in its range.
func (u uniform) within() linear.Formula {
	x := u.symbol.Term()
	return linear.And(linear.Ge(x, linear.Number(0)), linear.Lt(x, u.below))
}

// decide takes a condition on private or public numbers for true or false.
func (m *machine) decide(x program.Expression) (bool, error) {
	f, err := m.formula(x, "")
	if err != nil {
		return false, err
	}
	know := []linear.Formula{m.point.facts, m.point.conds}
	for _, u := range m.point.uniforms {
		know = append(know, u.within())
	}
	before := linear.And(know...)
	yes := !impossible(linear.And(before, f))
	if yes && !impossible(linear.And(before, linear.Not(f))) {
		k, err := m.choice(2)
		if err != nil {
			return false, err
		}
		yes = k == 0
	}
	if !yes {
		f = linear.Not(f)
	}
	m.point.conds = linear.And(m.point.conds, f)
	return yes, nil
}

// impossible reports that a formula has no model.
func impossible(f linear.Formula) bool {
	r, err := linear.Unsat(context.Background(), f, linear.Limits{Conflicts: 2000})
	return err == nil && r.Verdict == linear.Refuted
}

// hole notes a number that is revealed, and returns its place.
func (m *machine) hole(x program.Expression) (string, error) {
	if program.SortOf(x) == program.Bool {
		yes, err := m.settle(x)
		return fmt.Sprint(yes), err
	}
	x, err := m.reduced(x)
	if err != nil {
		return "", err
	}
	t, err := m.term(x, "")
	if err != nil {
		if m.hidden(x) {
			return "", err
		}
		return x.String(), nil
	}
	m.point.holes = append(m.point.holes, t)
	return fmt.Sprintf("<%d %v>", len(m.point.holes), program.SortOf(x)), nil
}

// reduced writes remainders x % n, 0 <= x < 2n, as x or x-n, whichever it is.
func (m *machine) reduced(x program.Expression) (program.Expression, error) {
	switch y := x.(type) {
	case program.Unary:
		z, err := m.reduced(y.X)
		y.X = z
		return y, err
	case program.Binary:
		a, err := m.reduced(y.X)
		if err != nil {
			return x, err
		}
		b, err := m.reduced(y.Y)
		if err != nil {
			return x, err
		}
		y.X, y.Y = a, b
		if y.Op != program.Rem {
			return y, nil
		}
		low, err1 := m.term(a, "")
		n, err2 := m.term(b, "")
		if err1 != nil || err2 != nil {
			return x, nil
		}
		know := []linear.Formula{m.point.facts, m.point.conds}
		for _, u := range m.point.uniforms {
			know = append(know, u.within())
		}
		outside := linear.Or(linear.Lt(low, linear.Number(0)), linear.Ge(low, n.Add(n)))
		if !impossible(linear.And(append(know, outside)...)) {
			return x, nil
		}
		below, err := m.decide(program.Binary{Op: program.Lt, X: a, Y: b})
		if err != nil || below {
			return a, err
		}
		return program.Binary{Op: program.Sub, X: a, Y: b}, nil
	}
	return x, nil
}

// value is the variable of what hole i shows.
func (x *path) value(i int) linear.Term {
	return linear.Var{Name: fmt.Sprintf("shown~%d", i), Sort: x.holes[i].Sort()}.Term()
}

// solve replaces uniform draws by what they must have been for the values shown.
func (x *path) solve() error {
	solved := make([]bool, len(x.holes))
	var open []uniform
	ranges := linear.True()
	for _, u := range x.uniforms {
		i := slices.IndexFunc(x.holes, func(h linear.Term) bool {
			c := h.Coefficient(u.symbol)
			return h.IsInt() && plainTerm(h) && new(big.Rat).Abs(c).Cmp(one) == 0
		})
		if i < 0 || solved[i] {
			open = append(open, u)
			continue
		}
		c := x.holes[i].Coefficient(u.symbol) // its own inverse
		rest := x.holes[i].Sub(u.symbol.Term().Scale(c))
		s := linear.Substitution{u.symbol: x.value(i).Sub(rest).Scale(c)}
		x.conds, ranges = x.conds.Subst(s), linear.And(ranges, u.within()).Subst(s)
		for j := range x.holes {
			x.holes[j] = x.holes[j].Subst(s)
		}
		solved[i] = true
	}
	for i, h := range x.holes {
		if !solved[i] {
			x.conds = linear.And(x.conds, linear.Eq(x.value(i), h))
		}
	}
	x.conds = linear.And(x.conds, ranges)
	for _, u := range open {
		if slices.Contains(linear.Vars(x.conds), u.symbol) {
			return undecided("how many values of %s lead to one outcome", u.symbol.Name)
		}
		x.weight = x.weight.times(u.ways) // of all its values the same is said
	}
	return x.conds.Err()
}

// plainTerm reports that a term has no conditionals.
func plainTerm(t linear.Term) bool {
	_, _, ok := t.Linear()
	return ok
}

// A comparison is of the probabilities of one shape of outcome.
type comparison struct {
	*enumeration
	paths  []*path
	left   *int
	ratios map[string]fraction
}

// split goes through the cases of which paths lead to the outcome, in the first run and
// in the second. What is known has a model, as far as that was decided: if a condition
// can only hold, or only fail, it says nothing more.
func (c *comparison) split(know linear.Formula, i int, one, two []*path) error {
	if *c.left--; *c.left < 0 {
		return undecided("more than %d cases", maxPointCases)
	}
	if i == 2*len(c.paths) {
		return c.compare(one, two)
	}
	x := c.paths[i/2]
	cond := x.conds
	yes, no := slices.Concat(one, []*path{x}), slices.Clone(two)
	if i%2 == 1 {
		cond = c.renamed(cond)
		yes, no = slices.Clone(one), slices.Concat(two, []*path{x})
	}
	holds := linear.And(know, cond)
	if impossible(holds) {
		return c.split(know, i+1, one, two)
	}
	fails := linear.And(know, linear.Not(cond))
	if impossible(fails) {
		return c.split(know, i+1, yes, no)
	}
	if err := c.split(holds, i+1, yes, no); err != nil {
		return err
	}
	return c.split(fails, i+1, one, two)
}

// compare notes the ratio of the probabilities that paths add up to.
func (c *comparison) compare(one, two []*path) error {
	if len(one) == 0 {
		return nil
	}
	if len(two) == 0 {
		return fmt.Errorf("%w: %q is possible for some private data and impossible for their neighbours", errOutcome, one[0].shape)
	}
	sum := func(of []*path) fraction {
		s := rational(zero)
		for _, x := range of {
			s = s.plus(x.weight)
		}
		return s
	}
	r, err := c.quo(sum(one), sum(two))
	if err != nil {
		return err
	}
	if !c.positive(r.num) {
		return fmt.Errorf("%w: %q may have probability zero", errOutcome, one[0].shape)
	}
	c.ratios[r.String()] = r
	return nil
}

// renamed is a condition of the second run.
func (e *enumeration) renamed(f linear.Formula) linear.Formula {
	s := linear.Substitution{}
	for _, v := range linear.Vars(f) {
		if e.apart[v] {
			to := linear.Var{Name: v.Name + second, Sort: v.Sort}
			s[v] = to.Term()
			if v.Sort == linear.Bool {
				s[v] = to.Formula()
			}
		}
	}
	return f.Subst(s)
}

// facts is what is required of the inputs of a run, as far as it is linear.
func (e *enumeration) facts(run string) linear.Formula {
	m := e.machine(nil)
	known := linear.True()
	for _, r := range e.requirements() {
		element := false
		program.Walk(r, func(x program.Expression) {
			_, is := x.(program.Element)
			element = element || is
		})
		if f, err := m.formula(r, run); err == nil && !element {
			known = linear.And(known, f)
		}
	}
	for _, v := range e.f.Inputs {
		if v.Natural && !v.Slice {
			if t, err := m.term(program.Ref{Var: v}, run); err == nil {
				known = linear.And(known, linear.Ge(t, linear.Number(0)))
			}
		}
	}
	return known
}

// adjacency is how far the private inputs of the runs are apart, in either order.
func (e *enumeration) adjacency() linear.Formula {
	m := e.machine(nil)
	there, back := linear.True(), linear.True()
	for _, a := range e.claim.Adjacent {
		if a.Relation != claim.Scalar || a.Input.Sort == program.Bool {
			continue
		}
		low, err := m.term(a.Low, "")
		if err != nil {
			continue
		}
		high, err := m.term(a.High, "")
		if err != nil {
			continue
		}
		x, err := m.term(program.Ref{Var: a.Input}, "")
		if err != nil {
			continue
		}
		y, err := m.term(program.Ref{Var: a.Input}, second)
		if err != nil {
			continue
		}
		d := y.Sub(x)
		there = linear.And(there, linear.Le(low, d), linear.Le(d, high))
		back = linear.And(back, linear.Le(low, d.Neg()), linear.Le(d.Neg(), high))
	}
	return linear.Or(there, back)
}

// term reads a linear expression over leaves, of one run.
func (m *machine) term(x program.Expression, run string) (linear.Term, error) {
	var args []linear.Term
	of := func(xs ...program.Expression) error {
		for _, y := range xs {
			t, err := m.term(y, run)
			if err != nil {
				return err
			}
			args = append(args, t)
		}
		return nil
	}
	switch x := x.(type) {
	case program.Number:
		return linear.Constant(x.Value), nil
	case program.Ref, program.Element, program.Length:
		v, err := m.symbol(x, run)
		return v.Term(), err
	case program.Unary:
		if err := of(x.X); err == nil && x.Op == program.Sub {
			return args[0].Neg(), nil
		}
	case program.Binary:
		if err := of(x.X, x.Y); err != nil {
			return linear.Term{}, err
		}
		switch x.Op {
		case program.Add:
			return args[0].Add(args[1]), nil
		case program.Sub:
			return args[0].Sub(args[1]), nil
		case program.Min:
			return linear.Min(args[0], args[1]), nil
		case program.Max:
			return linear.Max(args[0], args[1]), nil
		case program.Mul:
			if t := args[0].Mul(args[1]); t.Err() == nil {
				return t, nil
			}
		}
	case program.Call:
		if x.Func == "real" {
			return m.term(x.Args[0], run)
		}
	}
	return linear.Term{}, undecided("%v is not linear", x)
}

// symbol is the variable of a leaf.
func (m *machine) symbol(x program.Expression, run string) (linear.Var, error) {
	v := linear.Var{Name: x.String(), Sort: map[program.Sort]linear.Sort{program.Int: linear.Int, program.Real: linear.Real, program.Bool: linear.Bool}[program.SortOf(x)]}
	private := m.hidden(x)
	switch x := x.(type) {
	case program.Ref:
		private = private || !m.same(x)
	case program.Length:
		if !m.same(x) {
			return v, undecided("the length of %v", x.Slice.Name)
		}
	}
	if private {
		m.apart[v] = true
		v.Name += run
	}
	return v, nil
}

// formula reads a condition over linear expressions, of one run.
func (m *machine) formula(x program.Expression, run string) (linear.Formula, error) {
	switch x := x.(type) {
	case program.Truth:
		return linear.Truth(bool(x)), nil
	case program.Ref, program.Element:
		if program.SortOf(x) == program.Bool {
			v, err := m.symbol(x, run)
			return v.Formula(), err
		}
	case program.Unary:
		if x.Op == program.Not {
			f, err := m.formula(x.X, run)
			return linear.Not(f), err
		}
	case program.Binary:
		switch x.Op {
		case program.And, program.Or:
			f, err := m.formula(x.X, run)
			if err != nil {
				return f, err
			}
			g, err := m.formula(x.Y, run)
			if x.Op == program.And {
				return linear.And(f, g), err
			}
			return linear.Or(f, g), err
		}
		compare, ok := comparisons[x.Op]
		if !ok || program.SortOf(x.X) == program.Bool {
			break
		}
		t, err := m.term(x.X, run)
		if err != nil {
			return linear.Formula{}, err
		}
		u, err := m.term(x.Y, run)
		return compare(t, u), err
	}
	return linear.Formula{}, undecided("%v is no linear condition", x)
}

var comparisons = map[program.Op]func(t, u linear.Term) linear.Formula{
	program.Eq: linear.Eq, program.Ne: linear.Ne, program.Lt: linear.Lt, program.Le: linear.Le, program.Gt: linear.Gt, program.Ge: linear.Ge,
}
