package privacy

import (
	"errors"
	"math/big"
)

// RepeatAndSelect is the best result of a random number of independent runs of Event, whose
// results have a public order from worst to best, as that of a score that they hold. Nothing
// else of the runs is told, not even their number, which has the truncated negative binomial
// law with the given mean and shape (Papernot and Steinke 2022, Definition 1): shape 1 is
// the geometric law, and towards 0 it becomes the logarithmic one.
type RepeatAndSelect struct {
	Mean, Shape *big.Rat
	Event       Event
}

func (RepeatAndSelect) event() {}

// Validate implements Event.
func (e RepeatAndSelect) Validate() error {
	switch {
	case e.Mean == nil || e.Mean.Cmp(big.NewRat(1, 1)) < 0 || e.Mean.Cmp(new(big.Rat).SetInt64(MaxCount)) > 0:
		return errors.New("repeat_and_select: want a mean number of runs from 1 to 1e12")
	case e.Shape == nil || e.Shape.Cmp(big.NewRat(1, 1_000_000)) < 0 || e.Shape.Cmp(big.NewRat(1_000_000, 1)) > 0:
		return errors.New("repeat_and_select: want a shape from 1e-6 to 1e6")
	}
	return validateInner("repeat_and_select", e.Event)
}

func (e RepeatAndSelect) String() string               { return text(e) }
func (e RepeatAndSelect) MarshalJSON() ([]byte, error) { return encode(e) }
