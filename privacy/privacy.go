// Package privacy is the vocabulary of differential privacy as types: what a
// neighbouring database is, the amounts epsilon, delta and rho, and the events that say
// what a release reveals.
//
// Amounts are exact: an epsilon is the decimal that was written, so that ten
// times 0.1 is 1. Events print as text and JSON, which package privacy/plan reads back
// as the same event.
//
// An event is data, which may be written as a literal; New makes it one that nobody else
// can change. A field Sensitivity is a distance, beside a Scale or Sigma; SensitivitySquared
// is the square of one in L2, beside a Variance, because roots are rarely rational.
//
// It guarantees that what means nothing is refused: NaN, infinities, negatives, a delta of
// one, an event under a relation that it does not speak of.
//
// It does not guarantee that an event describes what was released, and composes nothing.
// What events imply is the business of packages accountant and filter.
package privacy

import "fmt"

// Neighbours is the relation between two databases that an analyst must not be
// able to tell apart. The zero value is AddRemove.
type Neighbours uint8

const (
	AddRemove  Neighbours = iota // one unit's rows are added or removed
	ReplaceOne                   // one unit's rows are replaced by another's

	// ReplaceSpecial: one unit's rows are replaced by a special record, or such a record
	// by a unit's rows (Kairouz et al. 2021, "Practical and Private (Deep) Learning
	// Without Sampling or Shuffling", Definition 1.1). The special record counts as nothing
	// in every sum, so that noise sees the distance of AddRemove; in a randomized response
	// it gives every answer with the same probability; it stands in the part of a
	// partition that the unit stood in. The number of units is known, and the same. It is
	// for plans: no budget is kept for it, because no engine has such a record.
	ReplaceSpecial
)

// String returns the relation's name, "add-remove", "replace-one" or "replace-special".
func (n Neighbours) String() string {
	switch n {
	case AddRemove:
		return "add-remove"
	case ReplaceOne:
		return "replace-one"
	case ReplaceSpecial:
		return "replace-special"
	}
	return fmt.Sprintf("Neighbours(%d)", uint8(n))
}

// ParseNeighbours is the inverse of String.
func ParseNeighbours(s string) (Neighbours, error) {
	switch s {
	case "add-remove":
		return AddRemove, nil
	case "replace-one":
		return ReplaceOne, nil
	case "replace-special":
		return ReplaceSpecial, nil
	}
	return 0, fmt.Errorf("unknown neighbouring relation %q: want add-remove, replace-one or replace-special", s)
}

// MarshalText implements encoding.TextMarshaler.
func (n Neighbours) MarshalText() ([]byte, error) {
	if n > ReplaceSpecial {
		return nil, fmt.Errorf("marshal neighbouring relation: no such relation %d", uint8(n))
	}
	return []byte(n.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Neighbours) UnmarshalText(text []byte) (err error) {
	*n, err = ParseNeighbours(string(text))
	return err
}
