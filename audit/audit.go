// Package audit attacks answers about private data, and says what an attack's
// success proves about them.
//
// The attacks are textbook ones (differencing, averaging, probing a threshold,
// linear reconstruction) and know nothing of how answers are made: the same code
// runs against exact answers, against bounded noise and against a mechanism under
// a budget. Beside each stands the most success that differential privacy allows it
// (SuccessBound, PValue, TradeOff), and what its success proves of epsilon
// (EpsilonLowerBound, OneRunEpsilon) or of the whole curve (OneRunPValue, OneRunMu).
//
// It guarantees lower bounds: a sensitivity at least this large, an epsilon at least
// this large, with the confidence stated. An attack that succeeds more often than a
// guarantee allows refutes the guarantee.
//
// It does not guarantee that what withstands these attacks is private: a better attack
// may exist. Its results are computed from exact values, and are for their owner alone.
package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/noise"
)

var (
	// ErrParameter is wrapped by the refusal of parameters that mean nothing.
	ErrParameter = errors.New("bad audit parameter")
	// ErrRefused is wrapped by the error of an oracle that will not answer. An attack
	// goes on with the answers that it has.
	ErrRefused = errors.New("the query was refused")
)

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParameter, fmt.Sprintf(format, args...))
}

// A Subset says of each unit whether a query counts it. An oracle neither keeps nor
// changes it.
type Subset []bool

// An Oracle answers how many units of a subset have the secret bit.
//
// A unit's bit is whether its record is behind the count's filter: two databases in
// which one unit's bit differs are neighbours under AddRemove, for which the count
// has sensitivity 1.
type Oracle func(ctx context.Context, q Subset) (float64, error)

// An Attack guesses the bit of the unit target, one of n. Its error wraps ErrRefused
// if it was refused what it cannot do without.
type Attack func(ctx context.Context, o Oracle, n, target int) (bool, error)

// coins are fair bits, one at a time.
type coins struct {
	bits noise.Bits
	word uint64
	left int
}

func (c *coins) flip() (bool, error) {
	if c.left == 0 {
		w, err := c.bits.Uint64()
		if err != nil {
			return false, err
		}
		c.word, c.left = w, 64
	}
	b := c.word&1 == 1
	c.word >>= 1
	c.left--
	return b, nil
}

// Bits returns n independent fair bits: the secrets of n units of whom nothing is
// known beforehand.
func Bits(bits noise.Bits, n int) ([]bool, error) {
	out := make([]bool, n)
	c := coins{bits: bits}
	for i := range out {
		var err error
		if out[i], err = c.flip(); err != nil {
			return nil, fmt.Errorf("draw bits: %w", err)
		}
	}
	return out, nil
}
