package rank

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// An id is an element of the list: one of the largest, counted from 1, or one of the others,
// below all of these.
type id int

const (
	none  id = 0
	low   id = 16 // low+j is the j-th largest of the others that this loop came to
	start id = 60 // the first element of the list, one of the others that this loop did not come to
	under id = 61 // the present element, below all low+j
	lost  id = 62 // one of the others
	self  id = 63 // in what a slice holds: the element of the same index
)

func (x id) winner() bool { return x > none && x < low }

// A value is one of those below. None is changed once it is made.
type value interface {
	// write appends a text that no other value has.
	write(to []byte) []byte
}

type (
	// public is the same in both runs: a constant, or an expression over inputs.
	public struct{ x program.Expression }

	// size is the number of elements.
	size struct{}

	// index is where an element stands.
	index struct{ of id }

	// sum is of noise, private data and public numbers, with factors: in order, of each
	// atom once, and none with the factor 0.
	sum []term

	// shown is a function of what the result may tell: which the largest are, and their
	// differences.
	shown struct {
		as   string
		need int // how many winners it tells of
	}

	// unknown is anything else.
	unknown struct{}
)

// A term is a part of a sum.
type term struct {
	atom
	factor *big.Rat // never changed
}

// An atom is the noise of an element (of is nil), a slice's element, a private number
// (without an element), or a public number, by its text; the constant has neither.
type atom struct {
	of   *program.Variable
	at   id
	text string
}

func (x public) write(to []byte) []byte { return append(to, x.x.String()...) }
func (size) write(to []byte) []byte     { return append(to, "·n"...) }
func (x index) write(to []byte) []byte {
	return strconv.AppendInt(append(to, "·at"...), int64(x.of), 10)
}
func (x shown) write(to []byte) []byte { return append(to, x.as...) }
func (unknown) write(to []byte) []byte { return append(to, "·unknown"...) }

func (x sum) write(to []byte) []byte {
	to = append(to, "·sum("...)
	for _, t := range x {
		if t.factor == one {
			to = append(to, '1')
		} else {
			to = append(to, t.factor.RatString()...)
		}
		to = append(append(to, '*'), t.name()...)
		to = append(strconv.AppendInt(append(to, '@'), int64(t.at), 10), '+')
	}
	return append(to, ')')
}

func text(x value) string { return string(x.write(nil)) }

func (x atom) name() string {
	if x.of != nil {
		return x.of.Name
	}
	return x.text
}

// compare puts what is of no element first, then the noise of an element before its data.
func (x atom) compare(y atom) int {
	if c := cmp.Compare(x.at, y.at); c != 0 || x == y {
		return c
	}
	switch {
	case x.of == nil && y.of != nil:
		return -1
	case x.of != nil && y.of == nil:
		return 1
	}
	return cmp.Compare(x.name(), y.name())
}

func (t term) equal(u term) bool { return t.atom == u.atom && t.factor.Cmp(u.factor) == 0 }

// Most factors are one of these.
var one, minusOne = big.NewRat(1, 1), big.NewRat(-1, 1)

// product and quotient are of factors, the second of a divisor that is not 0.
func product(x, y *big.Rat) *big.Rat {
	switch {
	case x == one:
		return y
	case y == one:
		return x
	}
	return new(big.Rat).Mul(x, y)
}

func quotient(x, y *big.Rat) *big.Rat {
	switch {
	case y == one:
		return x
	case x == y:
		return one
	}
	return new(big.Rat).Quo(x, y)
}

// plus is x + k·y.
func (x sum) plus(y sum, k *big.Rat) sum {
	z := make(sum, len(x), len(x)+len(y))
	copy(z, x)
	for _, t := range y {
		z = append(z, term{t.atom, product(t.factor, k)})
	}
	return z.collected()
}

// collected puts terms in order, and adds those of one atom.
func (x sum) collected() sum {
	slices.SortFunc(x, func(s, t term) int { return s.compare(t.atom) })
	z := x[:0]
	for _, t := range x {
		if last := len(z) - 1; last >= 0 && z[last].atom == t.atom {
			t.factor = new(big.Rat).Add(z[last].factor, t.factor)
			z = z[:last]
		}
		if t.factor.Sign() != 0 {
			z = append(z, t)
		}
	}
	return z
}

// sumOf reads a number as a sum.
func sumOf(v value) (sum, bool) {
	switch v := v.(type) {
	case sum:
		return v, true
	case public:
		if n, ok := v.x.(program.Number); ok {
			if n.Value.Sign() == 0 {
				return sum{}, true
			}
			return sum{{factor: n.Value}}, true
		}
		return sum{{atom{text: v.x.String()}, one}}, true
	}
	return nil, false
}

// renamed is a value with other names for elements. Two that are lost need not be the same.
func renamed(v value, by func(id) id) value {
	switch v := v.(type) {
	case index:
		return index{by(v.of)}
	case sum:
		same := true
		for _, t := range v {
			same = same && (t.at == none || by(t.at) == t.at && t.at != lost)
		}
		if same {
			return v
		}
		z := slices.Clone(v)
		for i, t := range z {
			if t.at != none {
				z[i].at = by(t.at)
			}
			if z[i].at == lost {
				return unknown{}
			}
		}
		return z.collected()
	case column:
		v.list = slices.Clone(v.list)
		for i, x := range v.list {
			v.list[i] = renamed(x, by)
		}
		return v
	}
	return v
}

// of lists the elements that a value speaks of.
func of(v value) (all []id) {
	switch v := v.(type) {
	case index:
		return []id{v.of}
	case sum:
		for _, t := range v {
			if t.at != none {
				all = append(all, t.at)
			}
		}
	}
	return all
}
