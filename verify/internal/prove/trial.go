package prove

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A test is neighbouring inputs, samples of the first run and an outcome, all of
// them numbers: an alignment that fails one is no proof.
type test struct {
	scalars map[*p.Variable]pair
	slices  map[*p.Variable][]pair
	samples []*big.Rat
	outcome []*big.Rat
	next    int
	more    func(*p.Draw) *big.Rat // further samples, while the test is made
}

// A pair is a number and its distance; of a truth value, 0 or 1 and the other less
// it.
type pair struct{ value, diff *big.Rat }

func (x pair) second() *big.Rat { return new(big.Rat).Add(x.value, x.diff) }

func (x pair) of(s p.Sort) value {
	if s == p.Bool {
		return truth(linear.Truth(x.value.Sign() != 0), linear.Truth(x.second().Sign() != 0))
	}
	return number(linear.Constant(x.value), linear.Constant(x.diff))
}

func (t *test) scalar(v *p.Variable) value { return t.scalars[v].of(v.Sort) }

// element reads an input slice.
func (t *test) element(m *machine, v *p.Variable, index value) value {
	i, one := index.num.IsConstant()
	j, two := index.second().IsConstant()
	xs := t.slices[v]
	in := func(r *big.Rat) bool { return r.IsInt() && r.Sign() >= 0 && r.Cmp(rational(int64(len(xs)))) < 0 }
	if !one || !two || !in(i) || !in(j) {
		return m.failed("an index of %s is out of range", v.Name)
	}
	x, y := xs[i.Num().Int64()], xs[j.Num().Int64()]
	return pair{x.value, new(big.Rat).Sub(y.second(), x.value)}.of(v.Sort)
}

// sample is the next one of the first run.
func (t *test) sample(m *machine, d *p.Draw) linear.Term {
	if t.next == len(t.samples) {
		if t.more == nil || t.next > 4*longest {
			m.failed("a test has no further samples")
			return linear.Term{}
		}
		t.samples = append(t.samples, t.more(d))
	}
	t.next++
	return linear.Constant(t.samples[t.next-1])
}

// A maker makes tests. They lie on a coarse grid, on which the branches of two
// runs fall apart often; what it makes is the same each time.
type maker struct {
	*static
	c      *claim.Claim
	budget *budget
	units  map[*p.Variable]*big.Rat // what costs are counted in: 1 in tests, if that is allowed
	state  uint64
	points []*big.Rat
	// publics are values of public reals: those that requirements name are among them.
	publics []*big.Rat
	lengths []int // of slices, that requirements may allow
}

func newMaker(s *static, c *claim.Claim, b *budget) *maker {
	mk := &maker{static: s, c: c, budget: b, units: map[*p.Variable]*big.Rat{}, state: 1}
	for _, x := range b.positive {
		p.Walk(x, func(x p.Expression) {
			if r, ok := x.(p.Ref); ok && r.Var.Sort == p.Real {
				mk.units[r.Var] = mk.unit(r.Var)
			}
		})
	}
	for k := int64(-6); k <= 6; k++ {
		mk.points = append(mk.points, big.NewRat(k, 2))
	}
	seen := map[string]bool{}
	note := func(x p.Expression) {
		p.Walk(x, func(x p.Expression) {
			if n, ok := x.(p.Number); ok && !seen[n.String()] && n.Value.Cmp(rational(2)) > 0 {
				seen[n.String()] = true
				for k := int64(-2); k <= 2; k++ {
					mk.points = append(mk.points, new(big.Rat).Add(n.Value, rational(k)))
				}
			}
		})
	}
	mk.publics = []*big.Rat{rational(0), rational(0), rational(1), rational(2), big.NewRat(1, 2), rational(-1)}
	for _, x := range c.Requires {
		p.Walk(x, func(x p.Expression) {
			if n, ok := x.(p.Number); ok && n.Value.Cmp(rational(2)) > 0 {
				mk.publics = append(mk.publics, new(big.Rat).Add(n.Value, rational(2)), n.Value, new(big.Rat).Neg(n.Value))
			}
		})
	}
	p.Each(s.f.Body, func(st p.Statement) {
		switch st := st.(type) {
		case *p.Assign:
			note(st.Value)
		case *p.If:
			note(st.Cond)
		}
	})
	var some []int
	all := []int{1, 2, 2, 3, 3, 4, 5, 5}
	for _, n := range all {
		mk.lengths = []int{n}
		if mk.allowed() {
			some = append(some, n)
		}
	}
	if mk.lengths = some; some == nil {
		mk.lengths = all
	}
	mk.state = 1
	return mk
}

// allowed reports whether requirements hold of one of a few tests.
func (mk *maker) allowed() bool {
	for range 20 {
		if t := mk.make(false, false); t != nil {
			m := newMachine(mk.static, mk.c, mk.budget, nil, t)
			if m.begin(); m.err == nil {
				return true
			}
		}
	}
	return false
}

// below is less than n (splitmix64: no noise comes of it).
func (mk *maker) below(n int) int {
	mk.state += 0x9e3779b97f4a7c15
	z := mk.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

func pick[T any](mk *maker, xs ...T) T { return xs[mk.below(len(xs))] }

// make is a test that some requirement may not hold of; nil if it does not. A long one
// has elements enough for what is cheap to exceed the claim.
func (mk *maker) make(swapped, long bool) *test {
	t := &test{scalars: map[*p.Variable]pair{}, slices: map[*p.Variable][]pair{}, outcome: make([]*big.Rat, len(mk.pointwise))}
	for i := range t.outcome {
		t.outcome[i] = rational(-1)
	}
	length := pick(mk, mk.lengths...)
	for _, v := range mk.f.Inputs {
		if !v.Slice {
			t.scalars[v] = pair{mk.public(v), new(big.Rat)}
		}
	}
	m := newMachine(mk.static, mk.c, mk.budget, nil, t)
	m.swapped = swapped
	for _, v := range mk.f.Inputs {
		if !v.Slice {
			m.inputs[v] = t.scalar(v)
		}
	}
	if long {
		length = m.exceeding()
	}
	flat := mk.below(2) == 0
	uneven := mk.slices() > 1 && mk.below(4) == 0 // public slices may be of other lengths
	for _, v := range mk.f.Inputs {
		a, adjacent := mk.adjacent[v]
		var diff func(i int, x *big.Rat) *big.Rat
		if adjacent {
			if a.Relation == claim.Bag {
				return nil
			}
			l, h := m.bounds(a)
			low, ok1 := l.IsConstant()
			high, ok2 := h.IsConstant()
			if !ok1 || !ok2 || low.Cmp(high) > 0 {
				return nil
			}
			distance := mk.distances(low, high, v.Sort == p.Int, a.Relation == claim.One, length)
			diff = func(i int, x *big.Rat) *big.Rat {
				d := distance(i)
				if v.Sort != p.Bool || d.Sign() == 0 {
					return d
				}
				if d = rational(1 - 2*x.Num().Int64()); d.Cmp(low) < 0 || d.Cmp(high) > 0 {
					return new(big.Rat) // it can only stay as it is
				}
				return d
			}
		}
		value := func() *big.Rat {
			switch {
			case v.Sort == p.Bool:
				return rational(int64(mk.below(2)))
			case v.Sort == p.Int && v.Natural:
				return rational(int64(mk.below(5)))
			case v.Sort == p.Int:
				return rational(int64(mk.below(7) - 3))
			case flat:
				return new(big.Rat)
			}
			return pick(mk, mk.points...)
		}
		switch {
		case v.Slice:
			n := length
			if uneven && !adjacent {
				n = max(0, n+pick(mk, -1, 0, 1, 2))
			}
			for i := range n {
				x := pair{value(), new(big.Rat)}
				if adjacent {
					x.diff = diff(i, x.value)
				}
				t.slices[v] = append(t.slices[v], x)
			}
		case adjacent:
			x := value()
			t.scalars[v] = pair{x, diff(0, x)}
		}
	}
	return t
}

// slices is how many of the inputs are.
func (mk *maker) slices() int {
	n := 0
	for _, v := range mk.f.Inputs {
		if v.Slice {
			n++
		}
	}
	return n
}

// longest bounds the tests that are long.
const longest = 60

// exceeding is how many draws, each moved by one, cost more than is claimed: of those
// that cost least.
func (m *machine) exceeding() int {
	n := 1
	for _, b := range m.budget.counters {
		goal, ok := m.eval(b.goal, &state{}).num.IsConstant()
		if !ok {
			continue
		}
		for _, rate := range b.rate {
			r, ok := m.eval(rate, &state{}).num.IsConstant()
			if !ok || r.Sign() <= 0 {
				continue
			}
			if q := new(big.Rat).Quo(goal, r); q.Cmp(rational(longest)) < 0 && q.Sign() >= 0 {
				whole := new(big.Int).Quo(q.Num(), q.Denom())
				n = max(n, int(whole.Int64())+2)
			} else if q.Sign() > 0 {
				n = longest
			}
		}
	}
	return min(n, longest)
}

// distances are those of a slice: often at the ends of the adjacency's interval,
// and one-sided or alternating.
func (mk *maker) distances(low, high *big.Rat, whole, one bool, length int) func(int) *big.Rat {
	values := []*big.Rat{low, high}
	if low.Sign() <= 0 && high.Sign() >= 0 {
		values = append(values, new(big.Rat))
	}
	if mid := new(big.Rat).Mul(new(big.Rat).Add(low, high), big.NewRat(1, 2)); !whole || mid.IsInt() {
		values = append(values, mid)
	}
	pattern, at := mk.below(4), mk.below(length)
	return func(i int) *big.Rat {
		switch {
		case one && i != at:
			return new(big.Rat)
		case pattern == 0:
			return values[0]
		case pattern == 1:
			return values[1]
		case pattern == 2 && !one:
			return values[i%2]
		}
		return pick(mk, values...)
	}
}

// unit is the first of 1, 2, 1/2, and what lies around numbers of the requirements that
// meets those which speak of nothing but v.
func (mk *maker) unit(v *p.Variable) *big.Rat {
	var own []p.Expression
	tries := []*big.Rat{rational(1), rational(2), big.NewRat(1, 2)}
	for _, x := range conjuncts(mk.c.Requires) {
		alone := true
		var numbers []*big.Rat
		p.Walk(x, func(x p.Expression) {
			switch x := x.(type) {
			case p.Ref:
				alone = alone && x.Var == v
			case p.Element, p.Length:
				alone = false
			case p.Number:
				numbers = append(numbers, x.Value)
			}
		})
		if !alone {
			continue
		}
		own = append(own, x)
		for _, n := range numbers {
			tries = append(tries, new(big.Rat).Add(n, rational(1)), n, new(big.Rat).Mul(n, big.NewRat(1, 2)), new(big.Rat).Sub(n, rational(1)))
		}
	}
	for _, r := range tries {
		m := newMachine(mk.static, mk.c, mk.budget, nil, &test{})
		m.inputs[v] = number(linear.Constant(r), linear.Term{})
		if !slices.ContainsFunc(own, func(x p.Expression) bool { return !m.eval(x, &state{}).one.IsTrue() }) {
			return r
		}
	}
	return rational(1)
}

// public is a value of a public scalar.
func (mk *maker) public(v *p.Variable) *big.Rat {
	switch {
	case v.Sort == p.Bool:
		return rational(int64(mk.below(2)))
	case v.Sort == p.Int:
		return rational(pick[int64](mk, 1, 1, 1, 2, 2, 2, 3, 0, 4, -1)) // sizes are small
	case mk.units[v] != nil:
		return mk.units[v]
	}
	return pick(mk, mk.publics...)
}

// steady samples are the same large ones of either sign each time, of some draws: loops
// take the same way in each iteration.
func (mk *maker) steady(t *test) func(*p.Draw) *big.Rat {
	free := mk.sampler(t)
	signs := map[*p.Draw]int64{}
	for _, d := range mk.draws {
		signs[d] = pick[int64](mk, -1, 0, 1)
	}
	return func(d *p.Draw) *big.Rat {
		x := free(d)
		if k := signs[d]; k != 0 && shifted(d.Law) && (k > 0 || d.Law != p.Exponential && d.Law != p.Geometric) {
			x = rational(50 * k)
		}
		return x
	}
}

// sampler draws on the grid.
func (mk *maker) sampler(t *test) func(*p.Draw) *big.Rat {
	return func(d *p.Draw) *big.Rat {
		switch d.Law {
		case p.Bernoulli:
			return rational(int64(mk.below(2)))
		case p.Choose:
			return rational(int64(mk.below(max(1, len(t.slices[d.Scores])))))
		}
		x := pick(mk, mk.points...)
		if d.To.Sort == p.Int {
			x = rational(int64(mk.below(9) - 4))
		}
		if d.Law == p.Exponential || d.Law == p.Geometric {
			x = new(big.Rat).Abs(x)
		}
		return x
	}
}

// pair is the test as inputs.
func (t *test) pair() p.Pair {
	first, second := p.Inputs{}, p.Inputs{}
	for v, x := range t.scalars {
		first[v.Name] = p.Value{Number: x.value}
		second[v.Name] = p.Value{Number: x.second()}
	}
	for v, xs := range t.slices {
		var a, b p.Value
		for _, x := range xs {
			a.Elements = append(a.Elements, x.value)
			b.Elements = append(b.Elements, x.second())
		}
		first[v.Name], second[v.Name] = a, b
	}
	return p.Pair{First: first, Second: second}
}
