package privacy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
)

// An Event is what one release reveals, as data. A Guarantee follows from events,
// never the other way round, so the ledger keeps events.
//
// A sensitivity is the distance between the query's values on two neighbouring
// databases. In an event that a ledger keeps these are neighbours under the
// domain's relation: with ReplaceOne it is already the doubled one. In a plan they
// are neighbours under AddRemove, and package accountant doubles it for ReplaceOne.
// Holds says which relations an event speaks of.
//
// String is the event in the text form of plans, such as
// "discrete_laplace(2, sensitivity=1)"; the JSON form is an object whose one key
// is the event's name. Both are exact; package privacy/plan reads them.
type Event interface {
	fmt.Stringer
	json.Marshaler
	// Validate reports why the event means nothing: a parameter that is
	// missing, negative, or zero where it must not be.
	Validate() error
	event()
}

// DiscreteLaplace is noise with P(x) proportional to exp(-|x|/Scale), over the
// multiples of a grid that the query's values lie on. Scale and Sensitivity (in
// L1) are in one unit. It is Sensitivity/Scale-DP.
type DiscreteLaplace struct{ Scale, Sensitivity *big.Rat }

// Laplace is DiscreteLaplace over the reals.
type Laplace struct{ Scale, Sensitivity *big.Rat }

// DiscreteGaussian is noise with P(x) proportional to exp(-x²/(2·Variance)), over
// the multiples of a grid that the query's values lie on; each coordinate of a
// vector has its own. It is parametrised by squares (of sigma, of the L2
// sensitivity) because those are the rationals: rho = SensitivitySquared/(2·Variance).
//
// Of a vector rho and the Rényi divergences hold. Its privacy loss distribution is not
// that of one number with the same L2 sensitivity, unless that is 1, where one coordinate
// moves: accountants that use it speak of one number.
//
// Variance is the parameter σ²; the variance of the discrete law is at most that.
type DiscreteGaussian struct{ Variance, SensitivitySquared *big.Rat }

// Gaussian is DiscreteGaussian over the reals.
type Gaussian struct{ Variance, SensitivitySquared *big.Rat }

// Selection is a private choice of which groups appear; it is (Epsilon, Delta)-DP.
// A filter that keeps a part of its delta for selection charges it there.
type Selection struct {
	Epsilon Epsilon
	Delta   Delta
}

// Pure is any Epsilon-DP release.
type Pure struct{ Epsilon Epsilon }

// Approx is any (Epsilon, Delta)-DP release.
type Approx struct {
	Epsilon Epsilon
	Delta   Delta
}

// ZCDP is any Rho-zCDP release.
type ZCDP struct{ Rho Rho }

func (DiscreteLaplace) event()  {}
func (Laplace) event()          {}
func (DiscreteGaussian) event() {}
func (Gaussian) event()         {}
func (Selection) event()        {}
func (Pure) event()             {}
func (Approx) event()           {}
func (ZCDP) event()             {}

var errZero = errors.New("costs nothing, so it can reveal nothing")

func (e DiscreteLaplace) Validate() error {
	return validate("discrete_laplace", e.Scale, e.Sensitivity)
}
func (e Laplace) Validate() error { return validate("laplace", e.Scale, e.Sensitivity) }
func (e DiscreteGaussian) Validate() error {
	return validate("discrete_gaussian", e.Variance, e.SensitivitySquared)
}
func (e Gaussian) Validate() error  { return validate("gaussian", e.Variance, e.SensitivitySquared) }
func (e Selection) Validate() error { return validatePoint("selection", e.Epsilon, e.Delta) }
func (e Approx) Validate() error    { return validatePoint("approx", e.Epsilon, e.Delta) }

func (e Pure) Validate() error {
	if e.Epsilon.Sign() <= 0 {
		return fmt.Errorf("pure: %w", errZero)
	}
	return nil
}

func (e ZCDP) Validate() error {
	if e.Rho.Sign() <= 0 {
		return fmt.Errorf("zcdp: %w", errZero)
	}
	return nil
}

func validate(name string, spread, sensitivity *big.Rat) error {
	switch {
	case spread == nil || spread.Sign() <= 0:
		return fmt.Errorf("%s: noise is missing or not positive", name)
	case sensitivity == nil || sensitivity.Sign() <= 0:
		return fmt.Errorf("%s: sensitivity is missing or not positive", name)
	}
	return nil
}

func validatePoint(name string, epsilon Epsilon, delta Delta) error {
	switch {
	case epsilon.Sign() == 0 && delta.Sign() == 0:
		return fmt.Errorf("%s: %w", name, errZero)
	case delta.Rat().Cmp(big.NewRat(1, 1)) >= 0:
		return fmt.Errorf("%s: delta is not below 1", name)
	}
	return nil
}
