package loss

import (
	"errors"
	"math"
)

// A Bracket is a number known from both sides: Low <= truth <= High. High is what
// decisions use; Estimate is the method's own value, between the two.
//
// High may be +Inf (no finite value is known), Low may be 0 (nothing is); all three
// are +Inf when no finite value exists.
type Bracket struct{ Low, Estimate, High float64 }

var errBracket = errors.New("bracket is empty or not a number")

// Check refuses a bracket that no number lies in. What computes a bracket calls it
// last, so that a lost sign or a NaN is an error and never a small answer.
func (b Bracket) Check() error {
	if !(b.Low <= b.Estimate && b.Estimate <= b.High) {
		return errBracket
	}
	return nil
}

// Outward returns the bracket widened by the absolute error e on either side, and
// one unit in the last place for the rounding of that.
func (b Bracket) Outward(e float64) Bracket {
	return Bracket{
		Low:      math.Nextafter(b.Low-e, math.Inf(-1)),
		Estimate: b.Estimate,
		High:     math.Nextafter(b.High+e, math.Inf(1)),
	}
}
