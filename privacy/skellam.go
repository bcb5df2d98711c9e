package privacy

import (
	"errors"
	"math/big"
)

// Skellam is noise over the integers, in each coordinate of a vector of integers the
// difference of two Poisson variables of mean Variance/2. Noise of several parties adds up
// to Skellam noise, which makes it one for sums of which no party sees a part. Of
// the vector it knows the L1 sensitivity beside the L2 one, whose square is kept.
//
// As of DiscreteGaussian, the privacy loss distribution is that of one number: accountants
// that use it ask that both sensitivities are the same whole number.
type Skellam struct{ Variance, SensitivitySquared, L1 *big.Rat }

func (Skellam) event() {}

// Validate implements Event.
func (e Skellam) Validate() error {
	if err := validate("skellam", e.Variance, e.SensitivitySquared); err != nil {
		return err
	}
	switch {
	case e.L1 == nil || e.L1.Sign() <= 0:
		return errors.New("skellam: the L1 sensitivity is missing or not positive")
	case new(big.Rat).Mul(e.L1, e.L1).Cmp(e.SensitivitySquared) < 0:
		return errors.New("skellam: the L1 sensitivity l1 is below the L2 one, which no vector has: of one number both are the same")
	}
	return nil
}

func (e Skellam) String() string               { return text(e) }
func (e Skellam) MarshalJSON() ([]byte, error) { return encode(e) }
