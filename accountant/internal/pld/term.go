package pld

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

// A Term is Count events of one kind.
type Term struct {
	loss.Event
	Count int64
}

// A Target is the question: exactly one of Delta and Epsilon is asked about, and
// the other given.
type Target struct {
	Epsilon, Delta float64
	Given          Given
	// Tolerance is the wanted width in ε; 0 is max(0.001·ε, 1e-6), and much less
	// where that is cheap.
	Tolerance float64
}

// Given says which side of a Target is given.
type Given uint8

const (
	GivenDelta   Given = iota // ε is asked for
	GivenEpsilon              // δ is asked for
)

var errTerms = errors.New("compose: no events")

// maxCount is the greatest total number of events: float64 counts them exactly,
// and rounding errors that grow with them stay small.
const maxCount = 1 << 40

func check(terms []Term, t Target) error {
	if len(terms) == 0 {
		return errTerms
	}
	total := 0.0
	for _, m := range terms {
		if m.Above == nil || m.Count < 1 {
			return fmt.Errorf("compose: a term has no pair, or the count %d", m.Count)
		}
		total += float64(m.Count)
	}
	switch {
	case total > maxCount:
		return fmt.Errorf("compose %g events: more than %d", total, int64(maxCount))
	case t.Given == GivenDelta && !(t.Delta >= 0 && t.Delta < 1):
		return fmt.Errorf("compose: delta %v, want 0 <= delta < 1", t.Delta)
	case t.Given == GivenEpsilon && !(t.Epsilon >= 0 && !math.IsInf(t.Epsilon, 1)):
		return fmt.Errorf("compose: epsilon %v, want it finite and not negative", t.Epsilon)
	case t.Given > GivenEpsilon || !(t.Tolerance >= 0):
		return fmt.Errorf("compose: target %+v means nothing", t)
	}
	return nil
}
