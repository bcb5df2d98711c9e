package learn

import (
	"encoding/binary"
	"errors"
	"math/big"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
)

// A sampler draws Poisson samples: every unit is in by a coin of its own.
//
// The coins have the rational rate with no error. A uniform number u below 1, written
// in base 256, is below the rate q if its first digit is below that of q, not if it
// is above, and where the digits are equal, which one unit in 256 meets, if the rest
// of u is below the rest of q: an exact coin with that rest for its rate.
type sampler struct {
	bits  noise.Bits
	digit int      // the first one of q; 256 for q = 1
	rest  *big.Rat // below 1
	word  [8]byte
}

func newSampler(rate *big.Rat, bits noise.Bits) (*sampler, error) {
	if rate.Sign() <= 0 || rate.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, errors.New("sampling rate is not above 0 and at most 1")
	}
	scaled := new(big.Rat).Mul(rate, big.NewRat(256, 1))
	digit := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	return &sampler{
		bits:  bits,
		digit: int(digit.Int64()),
		rest:  scaled.Sub(scaled, new(big.Rat).SetInt(digit)),
	}, nil
}

// sample appends to chosen those of n units that are in.
func (s *sampler) sample(n int, chosen []int) ([]int, error) {
	for unit := range n {
		if unit%8 == 0 {
			word, err := s.bits.Uint64()
			if err != nil {
				return nil, err
			}
			binary.LittleEndian.PutUint64(s.word[:], word)
		}
		switch digit := int(s.word[unit%8]); {
		case digit < s.digit:
			chosen = append(chosen, unit)
		case digit == s.digit:
			in, err := noise.Bernoulli(s.bits, s.rest)
			if err != nil {
				return nil, err
			}
			if in {
				chosen = append(chosen, unit)
			}
		}
	}
	return chosen, nil
}

// A loader is the one way to the examples in training: it samples at the rate that is
// accounted for, and knows how many examples a unit has at most.
type loader struct {
	*sampler
	units  int
	rows   []int // of the unit u: rows[from[u]:from[u+1]]
	from   []int // nil: unit u is row u
	chosen []int
}

// newLoader bounds what each unit can add: it keeps the first k examples of a unit,
// a function of the unit's own examples. Then what is sampled is a unit or, with
// Grouped, one of its examples.
func newLoader(set *example.Set, p Plan, bits noise.Bits) (*loader, error) {
	if p.Units.Mode == "" || p.Units.Mode == Single {
		if set.Units != nil {
			return nil, errors.New("load examples: the set names units, so the plan must say how their examples are bounded or grouped")
		}
	}
	s, err := newSampler(p.Rate(), bits)
	if err != nil {
		return nil, err
	}
	l := &loader{sampler: s, units: set.Len()}
	if set.Units == nil {
		return l, nil
	}
	k, units := p.Units.Examples, set.UnitCount()
	kept := make([]int, units+1) // where the unit before ended
	for _, u := range set.Units {
		kept[u+1] = min(kept[u+1]+1, k)
	}
	for u := range units {
		kept[u+1] += kept[u]
	}
	rows, next := make([]int, kept[units]), append([]int(nil), kept[:units]...)
	for row, u := range set.Units {
		if next[u] < kept[u+1] {
			rows[next[u]] = row
			next[u]++
		}
	}
	l.rows = rows
	if p.Units.Mode == Grouped {
		l.units = len(rows)
	} else {
		l.units, l.from = units, kept
	}
	return l, nil
}

// load draws a sample and appends its rows to rows, and to weights the share of each
// in its unit.
func (l *loader) load(rows []int, weights []float64) ([]int, []float64, error) {
	var err error
	if l.chosen, err = l.sample(l.units, l.chosen[:0]); err != nil {
		return nil, nil, err
	}
	for _, u := range l.chosen {
		switch {
		case l.from != nil:
			all := l.rows[l.from[u]:l.from[u+1]]
			rows = append(rows, all...)
			for range all {
				weights = append(weights, 1/float64(len(all)))
			}
			continue
		case l.rows != nil:
			u = l.rows[u]
		}
		rows, weights = append(rows, u), append(weights, 1)
	}
	return rows, weights, nil
}
