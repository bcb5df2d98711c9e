package program

import "math/big"

// A Value is that of a scalar, in Number (a Bool is 0 or 1), or of a slice, in
// Elements.
type Value struct {
	Number   *big.Rat   `json:"number,omitempty"`
	Elements []*big.Rat `json:"elements,omitempty"`
}

// Inputs are values of a function's inputs, by their names.
type Inputs map[string]Value

// A Pair is a database and a neighbour of it.
type Pair struct{ First, Second Inputs }
