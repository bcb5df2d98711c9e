package exact

import "math/big"

// An Event is a condition on all that a run reveals: the tuples of its outputs in
// order, and then what it returns.
type Event struct {
	// Outputs are the ranges of the tuples. The run gives as many, or with Prefix
	// at least as many.
	Outputs [][]Range
	Prefix  bool
	// Return are the ranges of the values that are returned; nil says nothing of
	// them.
	Return []Range
	// Not makes it all else that a run may do.
	Not bool
}

// A Range is a condition on one value: Low <= value <= High, nil being no bound. A
// Bool is 0 or 1.
type Range struct {
	Low, High *big.Rat
	// Slice is set for a slice, of exactly these elements.
	Slice    bool
	Elements []Range
}

// Is is the range of one value.
func Is(r *big.Rat) Range { return Range{Low: r, High: r} }
