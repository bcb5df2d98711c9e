package rank

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

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
	return m.order(v.plus(w, minusOne), s)
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
		least := 1
		if s.first == none {
			least = 0
		}
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
		return least, math.MaxInt, true
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
	noise, rest, ok := m.noisy(d)
	constant := len(rest) == 1 && rest[0].atom == atom{}
	switch {
	case !ok || len(rest) > 0 && !constant:
		return all
	case len(noise) == 0 && !constant:
		return zero
	case len(noise) == 0:
		return signOf(rest[0].factor.Sign())
	case len(noise) != 2 || constant && !m.whole():
		return all
	}
	x, y := noise[0], noise[1]
	if product(x.factor, minusOne).Cmp(y.factor) != 0 {
		return all
	}
	if x.factor.Sign() < 0 {
		x, y = y, x
	}
	above := m.above(x.at, y.at)
	if above == 0 {
		return all
	}
	larger, smaller := x.at, y.at
	if above < 0 {
		larger, smaller = y.at, x.at
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
		end.Add(end, quotient(rest[0].factor, x.factor))
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

// noisy takes a sum of noisy values apart: the noise of each element, and what is of none. It
// is not ok where an element is not what noise is added to everywhere.
func (m *machine) noisy(d sum) (noise, rest sum, ok bool) {
	of := 0 // what starts with the terms of no element
	for of < len(d) && d[of].at == none {
		of++
	}
	rest, d = d[:of], d[of:]
	for len(d) > 0 {
		of = 1
		for of < len(d) && d[of].at == d[0].at {
			of++
		}
		if d[0].of != nil || !m.adds(d[0].factor, d[1:of]) {
			return nil, nil, false
		}
		noise, d = append(noise, d[0]), d[of:]
	}
	return noise, rest, true
}

// adds reports whether noise with a factor is added to what it is added to everywhere.
func (m *machine) adds(factor *big.Rat, to []term) bool {
	if m.template == nil {
		template := sum{}
		for _, t := range to {
			f := quotient(t.factor, factor)
			if m.whole() && (t.of.Sort != program.Int || !f.IsInt()) {
				return false
			}
			template = append(template, term{atom{of: t.of}, f})
		}
		m.template = template
	}
	return slices.EqualFunc(m.template, to, func(x, y term) bool {
		return x.of == y.of && x.factor.Cmp(quotient(y.factor, factor)) == 0
	})
}
