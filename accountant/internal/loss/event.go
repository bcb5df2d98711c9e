package loss

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/privacy"
)

// A Direction says which of two neighbours P comes from.
type Direction uint8

const (
	Remove  Direction = iota // P has the unit, Q does not
	Add                      // Q has the unit, P does not
	Replace                  // P has one unit, Q another in its place
)

// String returns "remove", "add" or "replace".
func (d Direction) String() string {
	switch d {
	case Remove:
		return "remove"
	case Add:
		return "add"
	case Replace:
		return "replace"
	}
	return fmt.Sprintf("Direction(%d)", uint8(d))
}

// An Event is what is known of the loss of one event in one direction. Above
// dominates it; Below is the pair of two laws that one event of that description
// really has, so that what Below composes to is no more than the truth. They are
// the same where the bound is attained; Below is nil where nothing is known.
type Event struct{ Above, Below Pair }

// Of returns the loss of an event that releases something at once; Sum, Repeat and
// Parallel are the caller's. Sensitivities are distances between neighbours under
// the direction's relation: under Replace they are already doubled. An event that
// has no pair is refused with ErrUnsupported and the reason.
func Of(e privacy.Event, d Direction) (Event, error) {
	if d > Replace {
		return Event{}, fmt.Errorf("loss of %v: no such direction", e)
	}
	if e == nil {
		return Event{}, fmt.Errorf("loss: the event is missing")
	}
	if err := e.Validate(); err != nil {
		return Event{}, fmt.Errorf("loss: %w", err)
	}
	return instance(e, d, func(e privacy.Event) (Pair, error) {
		if _, ok := e.(privacy.Exponential); ok {
			return choice(e, 0.5)
		}
		return nil, nil // others have no Below: a law on a lattice stays on it
	})
}

// OfChoice is Of with Below of choices between two candidates whose scores lie at part, in
// [0, 1], of the way that one unit can move them: each part is a choice of that
// description. Without a choice in it, e has the loss of Of.
func OfChoice(e privacy.Event, d Direction, part float64) (Event, error) {
	return instance(e, d, func(e privacy.Event) (Pair, error) { return choice(e, part) })
}

// Attained is Of with Below of a profile of which, at each ε >= 0, some event of that
// description has δ(ε); not the same one at all, so that it is for one event alone.
func Attained(e privacy.Event, d Direction) (Event, error) { return instance(e, d, anyChoice) }

func instance(e privacy.Event, d Direction, below chooser) (Event, error) {
	l, err := of(e, d, below)
	if err != nil {
		return Event{}, fmt.Errorf("loss of %v: %w", e, err)
	}
	return l, nil
}

func of(e privacy.Event, d Direction, below chooser) (Event, error) {
	switch e := e.(type) {
	case privacy.Poisson:
		return ofPoisson(e, d, below)
	case privacy.TruncatedPoisson:
		return ofTruncated(e, d)
	case privacy.WithoutReplacement:
		if d != Replace {
			return Event{}, unsupported("a public number of units speaks of replacement alone")
		}
		base, err := of(e.Event, d, below)
		if err != nil {
			return Event{}, err
		}
		above, err := WithoutReplacement(base.Above, e.M, e.N)
		if err != nil || base.Below == nil {
			return Event{Above: above}, err
		}
		// All other units look like the replacement.
		sampled, err := poissonRemove(base.Below, rateAmong(e.M, e.N))
		return Event{above, sampled}, err
	case privacy.Skellam:
		s := e.L1
		if !s.IsInt() || !s.Num().IsInt64() || new(big.Rat).Mul(s, s).Cmp(e.SensitivitySquared) != 0 {
			return Event{}, unsupported("of a vector its law is not known, and one number moves by a whole number: the same sensitivity in L1 and L2")
		}
		return skellam(float(e.Variance), s.Num().Int64())
	case privacy.Pair:
		if d == Add {
			return attained(Stated(e.Q, e.P))
		}
		return attained(Stated(e.P, e.Q)) // under Replace it is its own mirror image
	case privacy.Exponential:
		above, err := BoundedRange(e.Epsilon.Float64())
		if err != nil {
			return Event{}, err
		}
		some, err := below(e)
		return Event{above, some}, err
	case privacy.PermuteAndFlip:
		return ofChoice(e, e.Epsilon, below)
	case privacy.NoisyMax:
		return ofChoice(e, e.Epsilon, below)
	case privacy.SparseVector:
		return above(RandomizedResponse(e.Epsilon.Float64()))
	case privacy.RandomizedResponse:
		if d != Replace {
			return Event{}, unsupported("every unit answers, so it speaks of replacement alone")
		}
		return attained(response(e.P, e.K))
	}
	return attained(plain(e))
}

// plain returns the pair of an event that attains it, and is the same both ways.
func plain(e privacy.Event) (Pair, error) {
	switch e := e.(type) {
	case privacy.Gaussian:
		return Gaussian(root(e.SensitivitySquared, e.Variance))
	case privacy.GDP:
		return Gaussian(float(e.Mu))
	case privacy.Tree:
		levels := bits.Len64(uint64(e.Leaves-1)) + 1 // ⌈log2 leaves⌉ + 1
		return Gaussian(quotient(e.Sensitivity, e.Sigma) * math.Sqrt(float64(levels)))
	case privacy.Laplace:
		return Laplace(quotient(e.Sensitivity, e.Scale))
	case privacy.DiscreteLaplace:
		if !e.Sensitivity.IsInt() || !e.Sensitivity.Num().IsInt64() {
			return nil, unsupported("over the integers a value moves by a whole number")
		}
		return DiscreteLaplace(float(e.Scale), e.Sensitivity.Num().Int64())
	case privacy.DiscreteGaussian:
		s, ok := wholeRoot(e.SensitivitySquared)
		if !ok {
			return nil, unsupported("over the integers a value moves by a whole number")
		}
		return DiscreteGaussian(float(e.Variance), s)
	case privacy.Pure:
		return RandomizedResponse(e.Epsilon.Float64())
	case privacy.Approx:
		return Approximate(e.Epsilon.Float64(), e.Delta.Float64())
	case privacy.Selection:
		return Approximate(e.Epsilon.Float64(), e.Delta.Float64())
	case privacy.ZCDP, privacy.RDP:
		return nil, unsupported("a bound on Rényi divergences is no pair of laws")
	case privacy.WithReplacement, privacy.Shuffled:
		return nil, unsupported("it is bounded by group profiles or cloning instead")
	case privacy.Sum, privacy.Repeat, privacy.Parallel:
		return nil, unsupported("a composition is no single event")
	}
	return nil, unsupported("it is unknown")
}

func ofChoice(e privacy.Event, eps privacy.Epsilon, below chooser) (Event, error) {
	above, err := RandomizedResponse(eps.Float64())
	if err != nil {
		return Event{}, err
	}
	some, err := below(e)
	return Event{above, some}, err
}

func ofPoisson(e privacy.Poisson, d Direction, below chooser) (Event, error) {
	q := rateFrom(e.Rate)
	if d == Replace {
		return ofPoissonReplace(e.Event, q)
	}
	base, err := of(e.Event, d, below)
	if err != nil {
		return Event{}, err
	}
	sample := poissonRemove
	if d == Add {
		sample = poissonAdd
	}
	above, err := sample(base.Above, q)
	if err != nil || base.Below == nil {
		return Event{Above: above}, err
	}
	sampled, err := sample(base.Below, q)
	return Event{above, sampled}, err
}

// ofPoissonReplace: additive noise alone says how a result with either unit differs
// from one with neither.
func ofPoissonReplace(e privacy.Event, q rate) (Event, error) {
	switch e := e.(type) {
	case privacy.Gaussian:
		return attained(sampledGaussianReplace(root(e.SensitivitySquared, e.Variance)/2, q))
	case privacy.Tree:
		pair, err := plain(e)
		if err != nil {
			return Event{}, err
		}
		return attained(sampledGaussianReplace(pair.(gaussian).mu/2, q))
	case privacy.Laplace, privacy.DiscreteLaplace, privacy.DiscreteGaussian:
		pair, err := plain(e)
		if err != nil {
			return Event{}, err
		}
		return above(sampledReplaced(pair, q))
	}
	return Event{}, unsupported("under replacement a Poisson sample needs additive noise, for results with neither unit")
}

func attained(p Pair, err error) (Event, error) { return Event{p, p}, err }
func above(p Pair, err error) (Event, error)    { return Event{Above: p}, err }

func unsupported(why string) error { return fmt.Errorf("%s: %w", why, ErrUnsupported) }

func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// rateFrom keeps the digits of both q and 1-q.
func rateFrom(q *big.Rat) rate {
	return rate{float(q), float(new(big.Rat).Sub(big.NewRat(1, 1), q))}
}

func quotient(a, b *big.Rat) float64 { return float(new(big.Rat).Quo(a, b)) }

// root is √(a/b), of which the quotient may be no float64.
func root(a, b *big.Rat) float64 {
	square := new(big.Float).SetPrec(128).SetRat(new(big.Rat).Quo(a, b))
	f, _ := square.Sqrt(square).Float64()
	return f
}

// wholeRoot returns the root of the square of a whole number.
func wholeRoot(square *big.Rat) (int64, bool) {
	if !square.IsInt() {
		return 0, false
	}
	root := new(big.Int).Sqrt(square.Num())
	return root.Int64(), root.IsInt64() && new(big.Int).Mul(root, root).Cmp(square.Num()) == 0
}
