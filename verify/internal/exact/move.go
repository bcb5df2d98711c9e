package exact

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A Move is two inputs for which a function without noise returns what lies farther apart
// than a claim of sensitivity allows.
type Move struct {
	program.Pair
	// Results are what is returned, in words: "returns [1 2]".
	Results [2]string
	// Claim is the claim with an adjacency of Input, the one that differs, by Moved.
	Claim *claim.Claim
	Input string
	Norm  claim.Norm
	Moved Interval
	// Distance is that of the results, and Allowed what the claim allows.
	Distance, Allowed Interval
}

// RefuteSensitivity searches for inputs that refute one of a claim's sensitivities: it runs
// the function on small ones, exactly. It returns nil where it finds none within its budget,
// and ErrUnsupported of functions that draw noise or yield.
//
// Neighbours are equal in all inputs but one, so that what other sensitivities allow is
// nothing. Which distance is meant is not guessed: where rows come and go, a slice that is
// returned may be a multiset, and the smaller distance counts; a return that does not show as
// many values as there are results, as that of an infinity, is left out.
func RefuteSensitivity(ctx context.Context, f *program.Function, cl *claim.Claim, results int, o Search) (*Move, error) {
	c, err := compile(f)
	if err != nil {
		return nil, err
	}
	for _, s := range c.steps {
		switch s.statement.(type) {
		case *program.Draw, *program.Output:
			return nil, unsupported("the sensitivity of what draws noise, or yields")
		}
	}
	for _, s := range cl.Sensitivities {
		cl := cl
		m := &mover{results: results, claimed: s, steps: 300_000}
		for i, v := range f.Inputs {
			if v.Name == s.Input || strings.HasPrefix(v.Name, s.Input+".") { // a struct is its fields
				m.inputs = append(m.inputs, i)
				cl = anywhere(cl, v)
			}
		}
		if m.inputs == nil {
			continue
		}
		m.space = newSpace(c, cl)
		for _, p := range spread(m.all(), o.Budget) {
			if x := m.try(ctx, p); x != nil {
				return x, nil
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// anywhere is a claim in which an input without an adjacency may move as far as it likes:
// that is what its sensitivity speaks of.
func anywhere(cl *claim.Claim, v *program.Variable) *claim.Claim {
	if slices.ContainsFunc(cl.Adjacent, func(a claim.Adjacency) bool { return a.Input == v }) {
		return cl
	}
	free := *cl
	far := program.Number{Value: new(big.Rat).SetInt64(1 << 30), Sort: program.Real}
	a := claim.Adjacency{Relation: claim.Scalar, Input: v, Low: program.Unary{Op: program.Sub, X: far}, High: far}
	if v.Slice {
		a.Relation = claim.Each
	}
	free.Adjacent = append(slices.Clip(cl.Adjacent), a)
	return &free
}

// A mover is a search for inputs that move a result too far.
type mover struct {
	*space
	inputs  []int // that are claimed of
	results int
	claimed claim.Sensitivity
	steps   int // that are left, of all runs together
}

// all lists pairs of inputs that differ in one, plain ones first. Not all are neighbours.
func (m *mover) all() (found []pair) {
	lengths, most := []int{1}, 60
	if slices.ContainsFunc(m.code.function.Inputs, func(v *program.Variable) bool { return v.Slice }) {
		lengths, most = []int{1, 2, 3, 4, 0, 24}, 16
	}
	levels := append(fractions(0, 1, 2, -1, 3, 5, -3), fraction(1, 2))
	seen := map[string]bool{}
	for k, s := range m.settings(most, searchDepth) {
		s = slices.Clone(s)
		for _, i := range m.inputs {
			s[i] = rational{}
		}
		if text := key(s); seen[text] {
			continue
		} else {
			seen[text] = true
		}
		values := levels
		if k == 0 {
			values = m.near(levels)
		}
		for _, n := range lengths {
			p := m.flat(s, n)
			size := len(m.of(p.first))
			if size <= 4 {
				for _, x := range values {
					found = append(found, m.moved(p, func(int) rational { return x })...)
				}
			}
			if size < 2 {
				continue
			}
			for _, x := range values[1:min(len(values), 60/size)] {
				found = append(found, m.moved(p, func(i int) rational { return x.times(integer(int64(i % 2))) })...)
				found = append(found, m.moved(p, func(i int) rational { return x.times(integer(int64(1 - i*2/size*2))) })...)
			}
			for _, step := range fractions(1, -2) {
				ramp := func(i int) rational { return integer(int64(i)).times(step) }
				found = append(found, m.moved(p, ramp)...)
				// So are the other slices: indices, weights.
				q := p.clone()
				for i, v := range m.code.function.Inputs {
					for j := range q.first[i] {
						if v.Slice {
							q.first[i][j] = ramp(j)
						}
					}
				}
				found = append(found, m.moved(q, ramp)...)
			}
		}
	}
	return found
}

// of are the numbers that are claimed of.
func (m *mover) of(run [][]rational) (all []rational) {
	for _, i := range m.inputs {
		all = append(all, run[i]...)
	}
	return all
}

// with is a run with other such numbers; of one input there may be more.
func (m *mover) with(run [][]rational, all []rational) [][]rational {
	run = slices.Clone(run)
	for k, i := range m.inputs {
		n := len(run[i])
		if k == len(m.inputs)-1 {
			n = len(all)
		}
		run[i], all = all[:n:n], all[n:]
	}
	return run
}

// near are numbers, and those that decide in the program: its constants, and some beside them.
func (m *mover) near(all []rational) []rational {
	all = slices.Clone(all)
	for _, c := range m.points {
		twice := c.times(integer(2))
		for _, x := range []rational{c, c.plus(integer(1)), c.plus(integer(-1)), twice.plus(integer(1)), twice.plus(integer(-1))} {
			if !slices.ContainsFunc(all, func(y rational) bool { return same(x, y) }) {
				all = append(all, x)
			}
		}
	}
	return all
}

func key(s setting) string {
	var b []byte
	for _, x := range s {
		b = append(append(b, x.rat().RatString()...), ' ')
	}
	return string(b)
}

// moved lists pairs of which the first has, in what is claimed of, numbers as they are given.
func (m *mover) moved(p pair, element func(int) rational) (found []pair) {
	was := make([]rational, len(m.of(p.first)))
	for j := range was {
		was[j] = element(j)
	}
	p.first = m.with(p.first, was)
	change := func(to []rational) { found = append(found, pair{p.first, m.with(p.first, to)}) }
	if m.bag() {
		back, dealt := slices.Clone(was), make([]rational, 0, len(was))
		slices.Reverse(back)
		for k := range 2 {
			for j := k; j < len(was); j += 2 {
				dealt = append(dealt, was[j])
			}
		}
		change(back)
		change(dealt)
		rows := append(fractions(1, 100, -100, 0, -1), m.points...)
		if len(was) == 0 {
			rows = m.near(rows)
		}
		for k, row := range rows {
			change(append(slices.Clone(was), row))
			if k < 3 {
				change(append([]rational{row}, was...))
			}
		}
		return found
	}
	by := fractions(1, -1, 2, 10)
	for _, i := range m.inputs {
		if m.code.function.Inputs[i].Sort == program.Real {
			by = append(fractions(1, -1), fraction(1, 2), fraction(1, 1024), fraction(-1, 1024), integer(10))
		}
	}
	for _, i := range m.inputs {
		for _, d := range m.moves(p, i) {
			if d.abs().cmp(integer(1<<20)) < 0 {
				by = append(by, d)
			}
		}
	}
	for _, d := range by {
		for j := range was {
			to := slices.Clone(was)
			to[j] = to[j].plus(d)
			change(to)
		}
		if len(was) < 2 {
			continue
		}
		all, across := slices.Clone(was), slices.Clone(was)
		for j := range was {
			all[j] = all[j].plus(d)
			if across[j] = across[j].plus(d); j%2 == 1 {
				across[j] = was[j].minus(d)
			}
		}
		change(all)
		change(across)
	}
	return found
}

// bag reports whether the claim is of rows that come and go.
func (m *mover) bag() bool { return m.relations[m.inputs[0]].Relation == claim.Bag }

// try runs a pair, and returns it if its results lie too far apart.
func (m *mover) try(ctx context.Context, p pair) *Move {
	c := m.code
	if c.neighbours(m.claim, p) != nil {
		return nil
	}
	a, ok := m.run(ctx, p.first)
	if !ok {
		return nil
	}
	b, ok := m.run(ctx, p.second)
	if !ok {
		return nil
	}
	most := rational{} // a bound below 0 is read as 0
	for _, run := range [][][]rational{p.first, p.second} {
		f, err := c.concrete(m.claimed.Most, c.bind(run))
		if err != nil {
			return nil
		}
		if f.near != nil {
			f = constant(rationalOf(f.near.Hi()))
		}
		if f.c.cmp(most) > 0 {
			most = f.c
		}
	}
	x, y := m.of(p.first), m.of(p.second)
	var by, apart []rational
	if m.bag() {
		by = fractions(int64(symmetricDifference(x, y)))
	} else {
		by = differences(x, y)
	}
	moved := m.size(by)
	for k := range a {
		if x, y := numbers(a[k]), numbers(b[k]); a[k].elements == nil {
			apart = append(apart, differences(x, y)...)
		} else {
			apart = append(apart, m.apart(x, y)...)
		}
	}
	far, allowed := m.size(apart), m.scaled(most, moved)
	if far.cmp(allowed) <= 0 {
		return nil
	}
	return &Move{
		Pair:    program.Pair{First: c.inputs(p.first), Second: c.inputs(p.second)},
		Results: [2]string{c.words(&Event{Return: ranges(a)}), c.words(&Event{Return: ranges(b)})},
		Claim:   m.claim, Input: m.claimed.Input, Norm: m.claimed.Norm,
		Moved: m.length(moved), Distance: m.length(far), Allowed: m.length(allowed),
	}
}

// run is what the function returns, where that is rational; false where it panics, which shows
// another number of values, fails, or takes long.
func (m *mover) run(ctx context.Context, in [][]rational) (out []value, ok bool) {
	steps := min(20_000, m.steps)
	x := &explorer{code: m.code, steps: steps, found: func(s *state) error {
		out = s.outputs[0]
		return nil
	}}
	err := x.explore(ctx, m.code.bind(in))
	m.steps -= steps - max(0, x.steps)
	ok = err == nil && len(out) == m.results
	for _, v := range out {
		for _, f := range v.elements {
			ok = ok && f.known()
		}
	}
	return out, ok
}

func numbers(v value) []rational {
	if v.elements == nil {
		return []rational{v.scalar.c}
	}
	all := []rational{}
	for _, f := range v.elements {
		all = append(all, f.c)
	}
	return all
}

// ranges are the conditions that values are these.
func ranges(tuple []value) (all []Range) {
	for _, v := range tuple {
		r := Range{Slice: v.elements != nil}
		for _, x := range numbers(v) {
			r.Elements = append(r.Elements, Is(x.rat()))
		}
		if !r.Slice {
			r = r.Elements[0]
		}
		all = append(all, r)
	}
	return all
}

func differences(x, y []rational) []rational {
	all := make([]rational, len(x))
	for i := range x {
		all[i] = y[i].minus(x[i])
	}
	return all
}

// apart is how two slices that are returned differ: element by element, and as multisets
// where they may be such and that is less.
func (m *mover) apart(x, y []rational) []rational {
	rows := fractions(int64(symmetricDifference(x, y)))
	if len(x) != len(y) {
		return rows
	}
	by := differences(x, y)
	bags := slices.ContainsFunc(m.relations, func(a *claim.Adjacency) bool { return a != nil && a.Relation == claim.Bag })
	if bags && m.size(rows).cmp(m.size(by)) < 0 {
		return rows
	}
	return by
}

// size is a vector's norm; in l2 its square, which is rational.
func (m *mover) size(all []rational) (sum rational) {
	for _, x := range all {
		switch x = x.abs(); {
		case m.claimed.Norm == claim.L2:
			sum = sum.plus(x.times(x))
		case m.claimed.Norm == claim.L1:
			sum = sum.plus(x)
		case x.cmp(sum) > 0:
			sum = x
		}
	}
	return sum
}

// scaled is k times a size.
func (m *mover) scaled(k, size rational) rational {
	if m.claimed.Norm == claim.L2 {
		k = k.times(k)
	}
	return k.times(size)
}

// length is a size for people.
func (m *mover) length(size rational) Interval {
	x := numeric.Of(size.rat())
	if m.claimed.Norm == claim.L2 {
		if root, ok := numeric.ExactSqrt(size.rat()); ok {
			x = numeric.Of(root)
		} else {
			x = x.Sqrt()
		}
	}
	return outward(x.Lo(), x.Hi())
}
