package rank

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

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

// A value is one of those below.
type value interface{ text() string }

type (
	// public is the same in both runs: a constant, or an expression over inputs.
	public struct{ x program.Expression }

	// size is the number of elements.
	size struct{}

	// index is where an element stands.
	index struct{ of id }

	// sum is of noise, private data and public numbers, with factors.
	sum map[atom]*big.Rat

	// shown is a function of what the result may tell: which the largest are, and their
	// differences.
	shown struct {
		as   string
		need int // how many winners it tells of
	}

	// unknown is anything else.
	unknown struct{}
)

// An atom is the noise of an element (of is nil), a slice's element, a private number
// (without an element), or a public number, by its text; the constant has neither.
type atom struct {
	of   *program.Variable
	at   id
	text string
}

func (x public) text() string { return x.x.String() }
func (size) text() string     { return "·n" }
func (x index) text() string  { return fmt.Sprintf("·at%d", x.of) }
func (x shown) text() string  { return x.as }
func (unknown) text() string  { return "·unknown" }

func (x sum) text() string {
	var terms []string
	for a, k := range x {
		name := a.text
		if a.of != nil {
			name = a.of.Name
		}
		terms = append(terms, k.RatString()+"*"+name+"@"+strconv.Itoa(int(a.at)))
	}
	slices.Sort(terms)
	return "·sum(" + strings.Join(terms, "+") + ")"
}

// plus is x + k·y.
func (x sum) plus(y sum, k *big.Rat) sum {
	z := maps.Clone(x)
	for a, f := range y {
		f = new(big.Rat).Mul(f, k)
		if old, ok := z[a]; ok {
			f.Add(f, old)
		}
		if z[a] = f; f.Sign() == 0 {
			delete(z, a)
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
			return sum{{}: n.Value}, true
		}
		return sum{{text: v.x.String()}: big.NewRat(1, 1)}, true
	}
	return nil, false
}

// renamed is a value with other names for elements. Two that are lost need not be the same.
func renamed(v value, by func(id) id) value {
	switch v := v.(type) {
	case index:
		return index{by(v.of)}
	case sum:
		z := make(sum, len(v))
		for a, k := range v {
			if a.at != none {
				a.at = by(a.at)
			}
			if a.at == lost {
				return unknown{}
			}
			if old, ok := z[a]; ok {
				k = new(big.Rat).Add(k, old)
			}
			if z[a] = k; k.Sign() == 0 {
				delete(z, a)
			}
		}
		return z
	}
	return v
}

// of lists the elements that a value speaks of.
func of(v value) (all []id) {
	switch v := v.(type) {
	case index:
		return []id{v.of}
	case sum:
		for a := range v {
			if a.at != none {
				all = append(all, a.at)
			}
		}
	}
	return all
}
