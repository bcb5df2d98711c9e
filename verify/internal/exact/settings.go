package exact

import (
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A space is where pairs of neighbours are searched for.
type space struct {
	code  *code
	claim *claim.Claim
	// relations are the adjacencies of each input; nil for one that is equal.
	relations []*claim.Adjacency
	// points are values that matter: the program's constants.
	points []rational
	// steps is set where distances that are not whole may matter more than whole ones:
	// there is whole noise, or rounding.
	steps bool
	// scaled is set where the function computes a parameter of its noise first.
	scaled bool
}

func newSpace(c *code, cl *claim.Claim) *space {
	s := &space{code: c, claim: cl, relations: make([]*claim.Adjacency, len(c.function.Inputs))}
	for i, v := range c.function.Inputs {
		for j := range cl.Adjacent {
			if cl.Adjacent[j].Input == v {
				s.relations[i] = &cl.Adjacent[j]
			}
		}
	}
	visit := func(e program.Expression) {
		if call, ok := e.(program.Call); ok {
			switch call.Func {
			case "floor", "ceil", "round", "int":
				s.steps = true
			}
		}
	}
	c.expressions(visit)
	for _, st := range c.steps {
		if d, ok := st.statement.(*program.Draw); ok {
			s.steps = s.steps || d.Law == program.DiscreteLaplace || d.Law == program.Geometric || d.Law == program.DiscreteGaussian
			program.Walk(d.Parameter, func(e program.Expression) {
				ref, ok := e.(program.Ref)
				s.scaled = s.scaled || ok && !ref.Var.Input
			})
		}
	}
	s.points = append([]rational{integer(0), integer(1)}, c.constants()...)
	return s
}

// searchDepth is that of settings that a search tries.
const searchDepth = 12

// A setting is a choice of all inputs that are not made element by element: scalars,
// for slices their pattern.
type setting []rational

// settings lists choices of scalars that meet what is required with inputs of some
// length, plain ones first: of each choice the place in its list, added up, is at most
// depth.
func (s *space) settings(most, depth int) []setting {
	lists := s.choices()
	conditions, values := s.staged(), s.blank()
	var found []setting
	choice := make(setting, len(lists))
	tried := 0
	// Diagonals: those that leave the first choices least come first. A choice that makes
	// a requirement false is not followed.
	var walk func(i, rest int)
	walk = func(i, rest int) {
		if i == len(lists) {
			for _, n := range []int{2, 1, 0, 3, 4, 5, 6, 8} {
				if p := s.flat(choice, n); s.code.admissible(s.claim, p.first) {
					found = append(found, slices.Clone(choice))
					break
				}
			}
			return
		}
		first := 0
		if i == len(lists)-1 {
			first = rest
		}
		for k := first; k < len(lists[i]) && k <= rest && len(found) < most && tried < maxTried; k++ {
			tried++
			choice[i] = lists[i][k]
			if i < len(values) && values[i].scalar != nil {
				values[i] = value{scalar: constant(choice[i])}
			}
			if s.code.holds(conditions[i], values) {
				walk(i+1, rest-k)
			}
		}
	}
	for sum := 0; sum <= depth && len(found) < most && tried < maxTried && (sum == 0 || len(lists) > 0); sum++ {
		walk(0, sum)
	}
	if len(found) == 0 {
		found = s.scattered(lists, most)
	}
	return found
}

// maxTried bounds the choices of an input that are looked at.
const maxTried = 20_000

// blank are inputs of 0, and empty slices.
func (s *space) blank() []value {
	return s.code.bind(s.flat(make(setting, len(s.code.function.Inputs)+len(s.loose())), 0).first)
}

// staged are the requirements that no slice makes true or false, by the last input that
// they speak of; those of none are with the first.
func (s *space) staged() [][]program.Expression {
	stages := make([][]program.Expression, len(s.code.function.Inputs)+len(s.loose()))
	for _, e := range s.plain() {
		for _, c := range conjuncts(e) {
			last := 0
			for i, v := range s.code.function.Inputs {
				if mentions(c, v) {
					last = i
				}
			}
			if last < len(stages) {
				stages[last] = append(stages[last], c)
			}
		}
	}
	return stages
}

// alone are the requirements that speak of one input only.
func (s *space) alone(v *program.Variable) []program.Expression {
	var all []program.Expression
	for _, e := range s.plain() {
		for _, c := range conjuncts(e) {
			others := slices.ContainsFunc(s.code.function.Inputs, func(w *program.Variable) bool { return w != v && mentions(c, w) })
			if mentions(c, v) && !others {
				all = append(all, c)
			}
		}
	}
	return all
}

// ends are the numbers that requirements name, and some near them.
func ends(requirements []program.Expression) []rational {
	var all []rational
	for _, e := range requirements {
		program.Walk(e, func(x program.Expression) {
			if n, ok := x.(program.Number); ok {
				for _, d := range []rational{{}, integer(1), integer(-1), fraction(1, 10), fraction(-1, 10)} {
					all = append(all, rationalOf(n.Value).plus(d))
				}
			}
		})
	}
	return all
}

func conjuncts(e program.Expression) []program.Expression {
	if b, ok := e.(program.Binary); ok && b.Op == program.And {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []program.Expression{e}
}

func mentions(e program.Expression, v *program.Variable) bool {
	found := false
	program.Walk(e, func(x program.Expression) {
		ref, ok := x.(program.Ref)
		found = found || ok && ref.Var == v
	})
	return found
}

// choices are what settings choose from for each input, the plain ones first; and how
// much longer than others the loose slices are.
func (s *space) choices() [][]rational {
	var lists [][]rational
	inCost := s.mentioned()
	for i, v := range s.code.function.Inputs {
		switch {
		case v.Slice && s.relations[i] != nil:
			lists = append(lists, fractions(0))
		case v.Slice: // the same element throughout, or one more each time
			lists = append(lists, append(fractions(0, 1), rising))
		case v.Sort == program.Bool:
			lists = append(lists, fractions(0, 1))
		case s.relations[i] != nil:
			var all []rational
			tries := slices.Concat(s.points, fractions(2, 5, 20, -1), []rational{fraction(1, 2)})
			if s.steps {
				tries = slices.Insert(tries, 1, fraction(1, 2))
			}
			for _, x := range tries {
				known := slices.ContainsFunc(all, func(y rational) bool { return same(x, y) })
				if !known && (x.isInt() || v.Sort == program.Real) {
					all = append(all, x)
				}
			}
			lists = append(lists, all)
		case inCost[v] == small:
			lists = append(lists, []rational{fraction(1, 1000), fraction(1, 100000), fraction(1, 10), fraction(1, 1000000000), {}, integer(-16)})
		case inCost[v] == price:
			lists = append(lists, []rational{integer(1), fraction(1, 2), integer(2), fraction(1, 4), integer(4), fraction(1, 10), {}, integer(-1), integer(-16)})
		case v.Sort == program.Real && s.bounding(v):
			lists = append(lists, []rational{integer(1), fraction(1, 2), integer(2), fraction(1, 10), integer(10), {}, integer(-1)})
		case v.Sort == program.Int:
			lists = append(lists, fractions(1, 2, 4, 0, 3, 5, 10, -1, 100))
		default:
			all := append(fractions(0, 1, 2, -1, 4, 10, 100), fraction(1, 2), fraction(1, 4), fraction(1, 10), fraction(9, 10), fraction(1, 1000))
			// Of a probability few are left, which then come early; and numbers at and near
			// the ends of what is required.
			run, alone := s.blank(), s.alone(v)
			for _, x := range ends(alone) {
				if !slices.ContainsFunc(all, func(y rational) bool { return same(x, y) }) {
					all = append(all, x)
				}
			}
			lists = append(lists, slices.DeleteFunc(all, func(x rational) bool {
				run[i] = value{scalar: constant(x)}
				return !s.code.holds(alone, run)
			}))
		}
	}
	for i, v := range s.code.function.Inputs {
		if !v.Slice {
			lists[i] = s.within(v, i, lists[i])
		}
	}
	for range s.loose() {
		lists = append(lists, fractions(0, 1, -1))
	}
	return lists
}

// within are choices of an input, or, where what is required of it alone holds of none of
// them, the numbers that are named there, those beside them, and those halfway between two.
func (s *space) within(v *program.Variable, i int, list []rational) []rational {
	alone, run := s.alone(v), s.blank()
	fits := func(x rational) bool {
		run[i] = value{scalar: constant(x)}
		return s.code.holds(alone, run)
	}
	if slices.ContainsFunc(list, fits) {
		return list
	}
	var named []rational
	for _, e := range alone {
		program.Walk(e, func(e program.Expression) {
			if n, ok := e.(program.Number); ok {
				named = append(named, rationalOf(n.Value))
			}
		})
	}
	var more []rational
	for j, x := range named {
		for _, y := range named[:j] {
			more = append(more, x.plus(y).times(fraction(1, 2)))
		}
		more = append(more, x, x.plus(integer(1)), x.plus(integer(-1)))
	}
	more = slices.DeleteFunc(more, func(x rational) bool { return !fits(x) || v.Sort != program.Real && !x.isInt() })
	return append(more, list...)
}

// loose are the public slices beside other slices, whose lengths may differ.
func (s *space) loose() (found []int) {
	all := 0
	for i, v := range s.code.function.Inputs {
		if v.Slice {
			all++
			if s.relations[i] == nil {
				found = append(found, i)
			}
		}
	}
	if all < 2 {
		return nil
	}
	return found
}

// axes are the settings that differ from the plainest one in a single input: its farther
// choices, which the diagonals reach late where there are many inputs.
func (s *space) axes() []setting {
	var all []setting
	lists := s.choices()
	plain := s.settings(1, searchDepth)
	for i, list := range lists {
		for _, x := range list {
			if len(plain) > 0 && !same(plain[0][i], x) {
				t := slices.Clone(plain[0])
				t[i] = x
				all = append(all, t)
			}
		}
	}
	required := s.plain()
	return slices.DeleteFunc(all, func(t setting) bool { return !s.code.holds(required, s.code.bind(s.flat(t, 0).first)) })
}

// plain are the requirements that no slice makes true or false.
func (s *space) plain() []program.Expression {
	all := slices.Concat(s.claim.Requires, s.code.function.Requires)
	return slices.DeleteFunc(all, func(e program.Expression) bool {
		found := false
		program.Walk(e, func(e program.Expression) {
			switch e := e.(type) {
			case program.Element, program.Length:
				found = true
			case program.Ref:
				found = found || e.Var.Slice
			}
		})
		return found
	})
}

// scattered are choices from all over the lists, for requirements that no plain ones
// meet; the same ones each time (splitmix64).
func (s *space) scattered(lists [][]rational, most int) (found []setting) {
	state := uint64(1)
	below := func(n int) int {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return int((z ^ z>>31) % uint64(n))
	}
	plain := s.plain()
	if slices.ContainsFunc(lists, func(list []rational) bool { return len(list) == 0 }) {
		return nil
	}
	for range 20_000 {
		choice := make(setting, len(lists))
		for i, list := range lists {
			choice[i] = list[below(len(list))]
		}
		if !s.code.holds(plain, s.code.bind(s.flat(choice, 0).first)) {
			continue
		}
		for _, n := range []int{2, 1, 3} {
			if s.code.admissible(s.claim, s.flat(choice, n).first) {
				found = append(found, choice)
				break
			}
		}
		if len(found) == most {
			break
		}
	}
	return found
}

// rising is the choice of a public slice of 0, 1, 2, and so on.
var rising = integer(2)

func fractions(all ...int64) []rational {
	var r []rational
	for _, n := range all {
		r = append(r, integer(n))
	}
	return r
}

// What an input means to the cost.
type role uint8

const (
	free role = iota
	price
	small
)

// mentioned are the inputs of which the cost speaks.
func (s *space) mentioned() map[*program.Variable]role {
	roles := map[*program.Variable]role{}
	mark := func(r role) func(program.Expression) {
		return func(e program.Expression) {
			if ref, ok := e.(program.Ref); ok && ref.Var.Sort == program.Real && roles[ref.Var] == free {
				roles[ref.Var] = r
			}
		}
	}
	if cost := s.claim.Cost; cost != nil {
		program.Walk(cost.Epsilon, mark(price))
		program.Walk(cost.Rho, mark(price))
		program.Walk(cost.Delta, mark(small))
	}
	return roles
}

// constants are the numbers that a function names.
func (c *code) constants() []rational {
	var all []rational
	visit := func(e program.Expression) {
		n, ok := e.(program.Number)
		if !ok {
			return
		}
		if r := rationalOf(n.Value); !slices.ContainsFunc(all, func(x rational) bool { return same(x, r) }) {
			all = append(all, r)
		}
	}
	c.expressions(visit)
	return all[:min(len(all), 8)]
}

// expressions visits those of all conditions, assignments, and what is revealed.
func (c *code) expressions(visit func(program.Expression)) {
	for _, st := range c.steps {
		program.Walk(st.cond, visit)
		switch st := st.statement.(type) {
		case *program.Assign:
			program.Walk(st.Value, visit)
		case *program.Output:
			for _, e := range st.Values {
				program.Walk(e, visit)
			}
		case *program.Return:
			for _, e := range st.Values {
				program.Walk(e, visit)
			}
		}
	}
}

// bounding reports that an input is a unit of distances.
func (s *space) bounding(v *program.Variable) bool {
	found := false
	for _, a := range s.claim.Adjacent {
		for _, e := range []program.Expression{a.Low, a.High} {
			program.Walk(e, func(e program.Expression) {
				r, ok := e.(program.Ref)
				found = found || ok && r.Var == v
			})
		}
	}
	return found
}

// flat is the pair of equal inputs of a setting, slices having n equal elements.
func (s *space) flat(choice setting, n int) pair {
	more := map[int]int{}
	for k, i := range s.loose() {
		d, _ := choice[len(s.code.function.Inputs)+k].int64()
		more[i] = int(d)
	}
	var p pair
	for i, v := range s.code.function.Inputs {
		run := []rational{choice[i]}
		if v.Slice {
			run = slices.Repeat(run, max(0, n+more[i]))
			for j := range run {
				if same(choice[i], rising) {
					run[j] = integer(int64(j))
				}
				if v.Sort == program.Bool && j > 0 {
					run[j] = run[j%2]
				}
			}
		}
		p.first = append(p.first, run)
		p.second = append(p.second, slices.Clone(run))
	}
	return p
}

// raised is a flat pair with the elements of private slices at a level.
func (s *space) raised(choice setting, n int, level rational) pair {
	p := s.flat(choice, n)
	for i, v := range s.code.function.Inputs {
		for j := range p.first[i] {
			if v.Slice && s.relations[i] != nil {
				p.first[i][j], p.second[i][j] = level, level
			}
		}
	}
	return p
}

// levels are numbers at which rows may count: those that a function names, and beside them.
func (s *space) levels() []rational {
	all := fractions(0, 1)
	for _, c := range s.points {
		for _, d := range fractions(1, -1, 0) {
			if x := c.plus(d); !slices.ContainsFunc(all, func(y rational) bool { return same(x, y) }) {
				all = append(all, x)
			}
		}
	}
	return all[:min(len(all), 8)]
}

// sizes are lengths that the function may ask for: numbers that it names, and those beside
// them, where a row that comes or goes decides.
func (s *space) sizes() (all []int) {
	if !slices.ContainsFunc(s.relations, func(r *claim.Adjacency) bool { return r != nil && r.Input.Slice }) {
		return nil
	}
	if slices.ContainsFunc(s.relations, func(r *claim.Adjacency) bool { return r != nil && r.Relation == claim.Bag }) {
		all = []int{1, 2, 3} // of equal rows, which count or not
	}
	for _, c := range s.points {
		if n, ok := c.int64(); ok && n > 4 && n <= 60 {
			all = append(all, int(n)-1, int(n), int(n)+1)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A coordinate is one element of one input.
type coordinate struct{ input, element int }

// coordinates are those in which neighbours may differ.
func (s *space) coordinates(p pair) []coordinate {
	var all []coordinate
	for i, r := range s.relations {
		if r == nil || r.Relation == claim.Bag {
			continue
		}
		for j := range p.first[i] {
			all = append(all, coordinate{i, j})
		}
	}
	return all
}

// moves are the distances that neighbours may have in an input: the extreme ones,
// and none.
func (s *space) moves(p pair, input int) []rational {
	r := s.relations[input]
	lo, hi, err := s.code.between(*r, s.code.bind(p.first))
	if err != nil {
		return nil
	}
	if s.code.function.Inputs[input].Sort != program.Real {
		lo, hi = wholly("ceil", lo), wholly("floor", hi)
	}
	all := []rational{hi, lo, {}}
	if s.code.function.Inputs[input].Sort == program.Int {
		// The extremes may lie outside of what is required, or of what is looked at.
		for _, d := range fractions(1, -1) {
			if d.cmp(lo) > 0 && d.cmp(hi) < 0 {
				all = append(all, d)
			}
		}
	}
	if s.steps && s.code.function.Inputs[input].Sort == program.Real {
		all = append(all, hi.times(fraction(1, 2)))
	}
	slices.SortFunc(all, rational.cmp)
	return slices.CompactFunc(all, same)
}

func wholly(how string, r rational) rational {
	if r.isInt() {
		return r
	}
	return rationalOfInt(whole(how, r.rat()))
}

// pairs lists neighbours that differ from a flat pair in the extremes, all of them
// up to most.
func (s *space) pairs(p pair, most int) []pair {
	found := s.bags(p)
	all := s.coordinates(p)
	var walk func(i int, p pair, moved map[int]bool)
	walk = func(i int, p pair, moved map[int]bool) {
		if len(found) >= most {
			return
		}
		if i == len(all) {
			if len(moved) > 0 {
				found = append(found, p)
			}
			return
		}
		c := all[i]
		for _, d := range s.moves(p, c.input) {
			if d.sign() != 0 && s.relations[c.input].Relation == claim.One && moved[c.input] {
				continue
			}
			q, next := p, moved
			if d.sign() != 0 {
				q = p.clone()
				q.second[c.input][c.element] = q.first[c.input][c.element].plus(d)
				next = map[int]bool{c.input: true}
				for k := range moved {
					next[k] = true
				}
			}
			walk(i+1, q, next)
		}
	}
	walk(0, p, map[int]bool{})
	return slices.DeleteFunc(found, func(p pair) bool { return s.code.neighbours(s.claim, p) != nil })
}

// bags lists pairs in which rows come or go.
func (s *space) bags(p pair) []pair {
	var found []pair
	for i, r := range s.relations {
		if r == nil || r.Relation != claim.Bag {
			continue
		}
		_, most, err := s.code.between(*r, s.code.bind(p.first))
		if err != nil {
			continue
		}
		n, _ := wholly("floor", most).int64()
		for _, row := range append(fractions(1, 0, -1, 100, -100), s.points...) {
			q := p.clone()
			for range min(n, 4) {
				q.second[i] = append(q.second[i], row)
			}
			found = append(found, q)
			if n >= 2 && len(p.first[i]) > 0 { // one for another
				q := p.clone()
				q.second[i][0] = row
				found = append(found, q)
			}
		}
	}
	return found
}
