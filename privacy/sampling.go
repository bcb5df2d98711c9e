package privacy

import (
	"errors"
	"fmt"
	"math/big"
)

// Poisson is Event on a sample that every unit enters by itself with probability
// Rate. It is not what shuffled batches are. It speaks of a unit added to those
// who may be sampled; of one replaced only if Event is Gaussian noise.
type Poisson struct {
	Rate  *big.Rat // above 0, at most 1
	Event Event
}

// TruncatedPoisson is Event, Gaussian noise on a sum, on a sample that every one of at most N
// units enters by itself with probability Rate; of more than AtMost units in it, a uniformly
// drawn set of AtMost is kept.
type TruncatedPoisson struct {
	Rate      *big.Rat // above 0, at most 1
	N, AtMost int64
	Event     Event
}

// WithoutReplacement is Event on a uniformly drawn set of M among N units. N is
// public, so it speaks of ReplaceOne alone, and so must Event, about the sample.
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
// randomizer Event. It speaks of ReplaceOne alone. Of Laplace noise, a report is one number
// of an interval as wide as the sensitivity, or a vector within half of that, in L1, of a
// centre that all users have in common.
type Shuffled struct {
	N     int64
	Event Event
}

func (Poisson) event()            {}
func (TruncatedPoisson) event()   {}
func (WithoutReplacement) event() {}
func (WithReplacement) event()    {}
func (Shuffled) event()           {}

func (e Poisson) Validate() error {
	if e.Rate == nil || e.Rate.Sign() <= 0 || e.Rate.Cmp(big.NewRat(1, 1)) > 0 {
		return errors.New("poisson: the rate is missing, not positive, or above 1")
	}
	return validateInner("poisson", e.Event)
}

func (e TruncatedPoisson) Validate() error {
	if e.Rate == nil || e.Rate.Sign() <= 0 || e.Rate.Cmp(big.NewRat(1, 1)) > 0 {
		return errors.New("truncated_poisson: the rate is missing, not positive, or above 1")
	}
	if !isCount(e.N) || !isCount(e.AtMost) {
		return errors.New("truncated_poisson: want n and at_most from 1 to 1e12")
	}
	if err := validateInner("truncated_poisson", e.Event); err != nil {
		return err
	}
	if !gaussian(e.Event) {
		return errors.New("truncated_poisson: want gaussian, perhaps repeated or summed: what truncation costs is known of no other event")
	}
	return nil
}

func (e WithoutReplacement) Validate() error {
	if e.M < 1 || e.N < e.M || e.N > MaxCount {
		return errors.New("without_replacement: want 1 <= m <= n <= 1e12")
	}
	return validateInner("without_replacement", e.Event)
}

func (e WithReplacement) Validate() error {
	if !isCount(e.M) || !isCount(e.N) {
		return errors.New("with_replacement: want m and n from 1 to 1e12")
	}
	return validateInner("with_replacement", e.Event)
}

func (e Shuffled) Validate() error {
	if !isCount(e.N) {
		return errors.New("shuffled: want n from 1 to 1e12")
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
