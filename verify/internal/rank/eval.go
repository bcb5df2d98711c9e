package rank

import (
	"maps"
	"math"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// eval is what an expression is; it decides no condition that could be either.
func (m *machine) eval(x program.Expression, s *state) value {
	switch x := x.(type) {
	case program.Number, program.Truth:
		return public{x}
	case program.Ref:
		return m.variable(x.Var, s)
	case program.Length:
		return m.length(x, s)
	case program.Element:
		return m.element(x, s)
	case program.Unary:
		v := m.eval(x.X, s)
		if x.Op == program.Not {
			if p, ok := v.(public); ok {
				if t, ok := p.x.(program.Truth); ok {
					return public{!t}
				}
				return public{program.Unary{Op: program.Not, X: p.x}}
			}
			return m.combined("!", s, v)
		}
		return m.binary(program.Sub, public{number(0, program.SortOf(x))}, v, s)
	case program.Binary:
		v := m.eval(x.X, s)
		if x.Op == program.And || x.Op == program.Or {
			if p, ok := v.(public); ok && p.x == program.Expression(program.Truth(x.Op == program.Or)) {
				return v
			} else if ok && p.x == program.Expression(program.Truth(x.Op == program.And)) {
				return m.eval(x.Y, s)
			}
		}
		return m.binary(x.Op, v, m.eval(x.Y, s), s)
	case program.Call:
		var args []value
		var plain []program.Expression
		for _, a := range x.Args {
			v := m.eval(a, s)
			args = append(args, v)
			if p, ok := v.(public); ok {
				plain = append(plain, p.x)
			}
		}
		if len(plain) == len(args) {
			return public{program.Call{Func: x.Func, Args: plain}}
		}
		if v, ok := args[0].(sum); ok && x.Func == "real" {
			return v
		}
		return m.combined(x.Func, s, args...)
	case program.If3:
		if c, ok := m.eval(x.Cond, s).(public); ok {
			switch c.x {
			case program.Expression(program.Truth(true)):
				return m.eval(x.Then, s)
			case program.Expression(program.Truth(false)):
				return m.eval(x.Else, s)
			}
		}
	}
	return unknown{}
}

func (m *machine) variable(v *program.Variable, s *state) value {
	if x, ok := s.vars[v]; ok {
		return x
	}
	switch {
	case !v.Input || v.Slice:
		return unknown{}
	case !m.private[v]:
		return public{program.Ref{Var: v}}
	case v.Sort == program.Bool:
		return unknown{}
	}
	return sum{{of: v}: big.NewRat(1, 1)}
}

func (m *machine) length(x program.Length, s *state) value {
	c, made := s.columns[x.Slice]
	switch {
	case made && c.isList:
		return public{number(int64(len(c.list)), program.Int)}
	case made && c.old != nil && !c.open, !made && m.equal[x.Slice]:
		return size{}
	case !made && x.Slice.Input && !x.Slice.Stream && !m.private[x.Slice]:
		return public{x}
	}
	return unknown{}
}

func (m *machine) element(x program.Element, s *state) value {
	c := m.column(x.Slice, s)
	at := m.eval(x.Index, s)
	i, fixed := constant(at)
	if fixed && c.isList {
		if i >= 0 && i < len(c.list) {
			return c.list[i]
		}
		return unknown{}
	}
	e, ok := at.(index)
	if fixed && i == 0 && s.n > 0 {
		e, ok = index{s.first}, true
	}
	if !ok || c.isList {
		return unknown{}
	}
	v := c.old
	if c.open {
		switch came := s.came(e.of); {
		case e.of == s.now && c.set != nil:
			v = c.set
		case e.of == s.now || came < 0:
		case came > 0:
			v = c.now
		default:
			v = nil
		}
	}
	if v == nil {
		return unknown{}
	}
	return renamed(v, func(y id) id {
		if y == self {
			return e.of
		}
		return y
	})
}

// came says whether the loop has come to an element before the present one: 1, or -1 if it
// has not; 0 is not known.
func (s *state) came(x id) int {
	switch {
	case x == s.now, x == start:
		return -1
	case x.winner() && s.seen&(1<<x) == 0:
		return -1
	case x.winner(), x > low && x < start:
		return 1
	}
	return 0
}

// combined is a function of values: known where all may be told, and after loops over the
// list.
func (m *machine) combined(op string, s *state, args ...value) value {
	if s.now != none {
		return unknown{}
	}
	out := shown{}
	var texts []string
	for _, a := range args {
		t, ok := m.show(a, s)
		if !ok {
			return unknown{}
		}
		texts = append(texts, t.as)
		out.need = max(out.need, t.need)
	}
	out.as = op + "(" + strings.Join(texts, ", ") + ")"
	return out
}

func (m *machine) binary(op program.Op, a, b value, s *state) value {
	x, ok1 := a.(public)
	y, ok2 := b.(public)
	if ok1 && ok2 {
		return public{folded(program.Binary{Op: op, X: x.x, Y: y.x})}
	}
	if t, known := m.compare(op, a, b, s); known {
		return public{program.Truth(t)}
	}
	v, ok1 := sumOf(a)
	w, ok2 := sumOf(b)
	if ok1 && ok2 {
		switch op {
		case program.Add:
			return v.plus(w, big.NewRat(1, 1))
		case program.Sub:
			return v.plus(w, big.NewRat(-1, 1))
		case program.Mul, program.Quo:
			if k, ok := factor(b); ok && op == program.Mul {
				return sum{}.plus(v, k)
			} else if ok && k.Sign() != 0 && y.x.(program.Number).Sort == program.Real {
				return sum{}.plus(v, new(big.Rat).Inv(k))
			}
			if k, ok := factor(a); ok && op == program.Mul {
				return sum{}.plus(w, k)
			}
		case program.Min, program.Max:
			if above, known := m.compare(program.Ge, a, b, s); known {
				if above == (op == program.Max) {
					return a
				}
				return b
			} else if above, known := m.compare(program.Le, a, b, s); known {
				if above == (op == program.Min) {
					return a
				}
				return b
			}
		}
	}
	return m.combined(string(op), s, a, b)
}

func factor(v value) (*big.Rat, bool) {
	p, ok := v.(public)
	if !ok {
		return nil, false
	}
	n, ok := p.x.(program.Number)
	return n.Value, ok
}

// folded computes sums, differences, products and comparisons of constants.
func folded(b program.Binary) program.Expression {
	if x, ok := b.X.(program.Truth); ok {
		if y, ok := b.Y.(program.Truth); ok && (b.Op == program.Eq || b.Op == program.Ne) {
			return program.Truth((x == y) == (b.Op == program.Eq))
		}
		return b
	}
	x, ok1 := b.X.(program.Number)
	y, ok2 := b.Y.(program.Number)
	if !ok1 || !ok2 {
		return b
	}
	as := func(v *big.Rat) program.Expression { return program.Number{Value: v, Sort: program.SortOf(b)} }
	switch b.Op {
	case program.Add:
		return as(new(big.Rat).Add(x.Value, y.Value))
	case program.Sub:
		return as(new(big.Rat).Sub(x.Value, y.Value))
	case program.Mul:
		return as(new(big.Rat).Mul(x.Value, y.Value))
	}
	if t, ok := signOf(x.Value.Cmp(y.Value)).holds(b.Op); ok {
		return program.Truth(t)
	}
	return b
}

// signs are those that a difference may have.
type signs uint8

const (
	negative signs = 1 << iota
	zero
	positive
)

// holds is a comparison of two numbers, of which the sign of the difference is one of these.
func (s signs) holds(op program.Op) (yes, known bool) {
	var when signs
	switch op {
	case program.Lt:
		when = negative
	case program.Le:
		when = negative | zero
	case program.Gt:
		when = positive
	case program.Ge:
		when = positive | zero
	case program.Eq:
		when = zero
	case program.Ne:
		when = negative | positive
	default:
		return false, false
	}
	return s&when != 0, s&when == 0 || s&^when == 0
}

func signOf(n int) signs {
	switch {
	case n < 0:
		return negative
	case n > 0:
		return positive
	}
	return zero
}

func (s signs) reversed() signs {
	return s&zero | s&negative<<2 | s&positive>>2
}

// compare compares what is in the list, if that is known.
func (m *machine) compare(op program.Op, a, b value, s *state) (yes, known bool) {
	if _, ok := signs(0).holds(op); !ok {
		return false, false
	}
	return m.difference(a, b, s).holds(op)
}

// difference is the sign of a−b.
func (m *machine) difference(a, b value, s *state) signs {
	x, first := a.(index)
	y, second := b.(index)
	switch {
	case first && second && x.of == y.of && x.of != lost:
		return zero
	case first && second && (x.of != lost && y.of != lost || x.of.winner() || y.of.winner()):
		return m.later(x.of, y.of, s)
	case first && b == value(size{}):
		return negative
	case second && a == value(size{}):
		return positive
	}
	l1, h1, ok1 := m.span(a, s)
	l2, h2, ok2 := m.span(b, s)
	if ok1 && ok2 {
		all := signs(0)
		if l1 < h2 {
			all |= negative
		}
		if h1 > l2 {
			all |= positive
		}
		if l1 <= h2 && l2 <= h1 {
			all |= zero
		}
		return all
	}
	v, ok1 := sumOf(a)
	w, ok2 := sumOf(b)
	if !ok1 || !ok2 {
		return negative | zero | positive
	}
	return m.order(v.plus(w, big.NewRat(-1, 1)), s)
}

// span is between what a whole number lies.
func (m *machine) span(v value, s *state) (low, high int, ok bool) {
	switch v := v.(type) {
	case public:
		c, ok := constant(v)
		return c, c, ok
	case size:
		if s.n <= m.winners {
			return s.n, s.n, true
		}
		return s.n, math.MaxInt, true
	case index:
		switch {
		case v.of == lost:
			return 0, math.MaxInt, true
		case v.of == s.first:
			return 0, 0, true
		case v.of == s.now && s.exact:
			return s.at, s.at, true
		case v.of == s.now:
			return s.at, math.MaxInt, true
		}
		return 1, math.MaxInt, true
	}
	return 0, 0, false
}

// later says whether an element stands after another one, positive, or before it.
func (m *machine) later(x, y id, s *state) signs {
	either := negative | positive
	if x == lost || y == lost {
		return either
	}
	order := func(x, y id) signs {
		switch {
		case x == s.first:
			return negative
		case y == s.now && s.came(x) > 0:
			return negative
		case x == s.now && s.came(y) < 0:
			return negative
		case s.came(x) > 0 && s.came(y) < 0 && y != s.now:
			return negative
		}
		return either
	}
	if o := order(x, y); o != either {
		return o
	}
	return order(y, x).reversed()
}

// order is the sign of a difference of two noisy values, and a constant.
func (m *machine) order(d sum, s *state) signs {
	all := negative | zero | positive
	noisy, rest, ok := m.noisy(d)
	c, constant := rest[atom{}]
	switch {
	case !ok || len(rest) > 1 || len(rest) == 1 && !constant:
		return all
	case len(noisy) == 0 && !constant:
		return zero
	case len(noisy) == 0:
		return signOf(c.Sign())
	case len(noisy) != 2 || constant && !m.whole():
		return all
	}
	var x, y id
	for i, k := range noisy {
		if k.Sign() > 0 {
			x = i
		} else {
			y = i
		}
	}
	if x == none || y == none || new(big.Rat).Add(noisy[x], noisy[y]).Sign() != 0 {
		return all
	}
	above := m.above(x, y)
	if above == 0 {
		return all
	}
	larger, smaller := x, y
	if above < 0 {
		larger, smaller = y, x
	}
	if m.way.least {
		above = -above
	}
	if !m.whole() {
		return signOf(above)
	}
	apart, ok := m.apart(larger, smaller, s)
	if !ok {
		return all
	}
	// The difference is at least apart, or at most −apart, and a constant.
	end := big.NewRat(int64(above*apart), 1)
	if constant {
		end.Add(end, new(big.Rat).Quo(c, noisy[x]))
	}
	switch end.Sign() {
	case 0:
		return zero | signOf(above)
	case above:
		return signOf(above)
	}
	return all
}

// apart is by how much the noisy value of an element is at least larger than that of another
// one over the integers.
func (m *machine) apart(larger, smaller id, s *state) (least int, ok bool) {
	strict := positive // of equal ones, the first in the list is the largest
	if m.way.last {
		strict = negative
	}
	if m.later(larger, smaller, s) == strict {
		least = 1
	}
	switch {
	case !m.way.step:
		return least, true
	case larger == 1:
		least = 0 // the winner is as large as any of the others have to be
	}
	a, ok1 := m.ahead(larger, s)
	b, ok2 := m.ahead(smaller, s)
	return least + b - a, ok1 && ok2
}

// ahead is 1 for an element that stands before the winner, which has to be larger by a step,
// and 0 for one that stands after it, and the winner.
func (m *machine) ahead(x id, s *state) (step int, ok bool) {
	switch {
	case x == 1:
		return 0, true
	case x == s.first && x != lost:
		return 1, true
	case x == 2 && s.second != 0:
		return (s.second + 1) / 2, true
	case s.came(x) <= 0 && x != s.now:
		return 0, false
	case s.seen&(1<<1) == 0:
		return 1, true
	case x == s.now || s.after&(1<<(x-low)) != 0:
		return 0, true
	}
	return 1, x > low && x < start
}

// above compares elements in the order of which the winners are the first: 1 if x is above y,
// 0 if that is not known.
func (m *machine) above(x, y id) int {
	place := func(x id) int {
		switch {
		case x.winner(), x > low && x < start, x == under:
			return int(x)
		}
		return 0 // one of the others
	}
	switch a, b := place(x), place(y); {
	case a > 0 && b > 0 && a < b, x.winner() && b == 0:
		return 1
	case a > 0 && b > 0 && a > b, a == 0 && y.winner():
		return -1
	}
	return 0
}

// noisy takes a sum of noisy values apart: how often that of which element, and what is
// added. It is not ok where an element is not what noise is added to everywhere.
func (m *machine) noisy(d sum) (factors map[id]*big.Rat, rest sum, ok bool) {
	factors, rest = map[id]*big.Rat{}, sum{}
	data := map[id]map[*program.Variable]*big.Rat{}
	for a, k := range d {
		switch {
		case a.at == none:
			rest[a] = k
		case a.of == nil:
			factors[a.at] = k
		default:
			if data[a.at] == nil {
				data[a.at] = map[*program.Variable]*big.Rat{}
			}
			data[a.at][a.of] = k
		}
	}
	for x := range data {
		if factors[x] == nil {
			return nil, nil, false
		}
	}
	for x, k := range factors {
		of := map[*program.Variable]*big.Rat{}
		for v, f := range data[x] {
			of[v] = new(big.Rat).Quo(f, k)
			if m.whole() && (v.Sort != program.Int || !of[v].IsInt()) {
				return nil, nil, false
			}
		}
		if m.template == nil {
			m.template = of
		}
		if !maps.EqualFunc(m.template, of, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 }) {
			return nil, nil, false
		}
	}
	return factors, rest, true
}

// show is what the result tells where it tells a value.
func (m *machine) show(v value, s *state) (shown, bool) {
	switch v := v.(type) {
	case shown:
		return v, true
	case public, size:
		return shown{as: v.text()}, true
	case index:
		need := int(v.of)
		if m.way.step && need > 1 && s.n > m.winners {
			return shown{}, false // its noisy value need not be the second
		}
		return shown{as: v.text(), need: need}, v.of.winner()
	case sum:
		return m.showSum(v, s)
	}
	return shown{}, false
}

func (m *machine) showSum(v sum, s *state) (shown, bool) {
	noisy, rest, ok := m.noisy(v)
	if !ok {
		return shown{}, false
	}
	for a := range rest {
		if a.of != nil {
			return shown{}, false
		}
	}
	total, last := new(big.Rat), none
	for x, k := range noisy {
		if !x.winner() {
			return shown{}, false
		}
		total.Add(total, k)
		last = max(last, x)
	}
	need := int(last)
	if m.way.step {
		if step, ok := m.ahead(2, s); ok && len(noisy) == 2 && total.Sign() == 0 && last == 2 {
			d := new(big.Rat).Mul(noisy[1], big.NewRat(int64(-step), 1))
			if c := rest[atom{}]; len(rest) == 0 && d.Sign() == 0 || len(rest) == 1 && c != nil && c.Cmp(d) == 0 {
				m.gaps = true
				return shown{as: "·lead*" + noisy[1].RatString(), need: 1}, true
			}
		}
		if len(noisy) > 0 && s.n > m.winners {
			return shown{}, false
		}
	}
	switch {
	case total.Sign() != 0 && (s.n > m.winners || m.oneSided()):
		return shown{}, false // a noisy value itself
	case total.Sign() != 0 || m.way.step && last > 0:
		need = s.n // all of them are winners
	case last > 1 && !m.whole() && !m.oneSided():
		need-- // the last one may be the largest of the others
	}
	m.gaps = m.gaps || len(noisy) > 0
	return shown{as: v.text(), need: need}, true
}
