package privacy

import (
	"errors"
	"fmt"
	"math/big"
)

// Poisson is Event on a sample that every unit enters by itself with probability
// Rate. It is not what shuffled batches are.
type Poisson struct {
	Rate  *big.Rat // above 0, at most 1
	Event Event
}

// WithoutReplacement is Event on a uniformly drawn set of M among N units. N is
// public, so it speaks of ReplaceOne alone.
type WithoutReplacement struct {
	M, N  int64
	Event Event
}

// WithReplacement is Event on M independent uniform draws among N units, so that
// a unit may come several times. N is public: it speaks of ReplaceOne alone.
type WithReplacement struct {
	M, N  int64
	Event Event
}

// Shuffled is the set, without its order, of N units' reports by the local
// randomizer Event. It speaks of ReplaceOne alone.
type Shuffled struct {
	N     int64
	Event Event
}

func (Poisson) event()            {}
func (WithoutReplacement) event() {}
func (WithReplacement) event()    {}
func (Shuffled) event()           {}

func (e Poisson) Validate() error {
	if e.Rate == nil || e.Rate.Sign() <= 0 || e.Rate.Cmp(big.NewRat(1, 1)) > 0 {
		return errors.New("poisson: the rate is missing, not positive, or above 1")
	}
	return validateInner("poisson", e.Event)
}

func (e WithoutReplacement) Validate() error {
	if e.M < 1 || e.N < e.M {
		return errors.New("without_replacement: want 1 <= m <= n")
	}
	return validateInner("without_replacement", e.Event)
}

func (e WithReplacement) Validate() error {
	if e.M < 1 || e.N < 1 {
		return errors.New("with_replacement: m and n must be positive")
	}
	return validateInner("with_replacement", e.Event)
}

func (e Shuffled) Validate() error {
	if e.N < 1 {
		return errors.New("shuffled: n is not positive")
	}
	return validateInner("shuffled", e.Event)
}

func validateInner(name string, e Event) error {
	if e == nil {
		return fmt.Errorf("%s: the event is missing", name)
	}
	if err := e.Validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
