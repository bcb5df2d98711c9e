// Package privacy is the vocabulary of differential privacy as types: what a
// neighbouring database is, the amounts epsilon, delta and rho, the events that say
// what a release reveals, and the plans in which people write them.
//
// Amounts are exact: an epsilon is the decimal that was written, so that ten
// times 0.1 is 1. Events print as text and JSON that read back as the same event.
// The package says what things mean and refuses what means nothing (NaN,
// infinities, negatives, a delta of one, an event under a relation that it does not
// speak of); it composes nothing. What events imply is the business of packages
// accountant and filter.
package privacy

import "fmt"

// Neighbours is the relation between two databases that an analyst must not be
// able to tell apart. The zero value is AddRemove.
type Neighbours uint8

const (
	AddRemove  Neighbours = iota // one unit's rows are added or removed
	ReplaceOne                   // one unit's rows are replaced by another's
)

// String returns the relation's name in catalogs, "add-remove" or "replace-one".
func (n Neighbours) String() string {
	switch n {
	case AddRemove:
		return "add-remove"
	case ReplaceOne:
		return "replace-one"
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
	}
	return 0, fmt.Errorf("unknown neighbouring relation %q: want add-remove or replace-one", s)
}

// MarshalText implements encoding.TextMarshaler.
func (n Neighbours) MarshalText() ([]byte, error) {
	if n > ReplaceOne {
		return nil, fmt.Errorf("marshal neighbouring relation: no such relation %d", uint8(n))
	}
	return []byte(n.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Neighbours) UnmarshalText(text []byte) (err error) {
	*n, err = ParseNeighbours(string(text))
	return err
}
