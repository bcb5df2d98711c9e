package privacy

import (
	"errors"
	"fmt"
	"math/big"
)

// New returns an event that means something and that nobody else can change: a copy of e
// with all that it is made of. Events are data, which anybody may write as a literal; a
// literal shares its numbers and lists with whoever made it, and may mean nothing.
//
//	g, err := privacy.New(privacy.Gaussian{Variance: v, SensitivitySquared: s})
//
// Who keeps an event keeps a copy of this kind, and who uses one asks Holds, which refuses
// the same events.
func New[E Event](e E) (E, error) {
	var none E
	if err := sound(e); err != nil {
		return none, err
	}
	own, ok := clone(e).(E)
	if !ok {
		return none, fmt.Errorf("%T is no event of package privacy", e)
	}
	return own, nil
}

// clone copies a sound event.
func clone(e Event) Event {
	return rebuilt(e, func(r *big.Rat, _ int) *big.Rat { return new(big.Rat).Set(r) }, clone)
}

// Limits on what an event is made of, which no honest one reaches: a list that holds
// itself is endless.
const (
	maxDepth = 1000
	maxParts = 1 << 20
)

var errEndless = errors.New("the event is too large: its parts are endless, or nested too deeply")

// sound refuses what is no event, and an event that means nothing.
func sound(e Event) error {
	left := maxParts
	if err := finite(e, maxDepth, &left); err != nil {
		return err
	}
	return e.Validate()
}

// finite refuses values that Validate cannot be asked about: those of foreign types,
// as a pointer to an event is, and those that do not end.
func finite(e Event, depth int, left *int) (err error) {
	if e == nil {
		return errors.New("an event is missing")
	}
	if *left--; *left < 0 || depth == 0 {
		return errEndless
	}
	known := rebuilt(e, func(r *big.Rat, _ int) *big.Rat { return r }, func(part Event) Event {
		if part != nil && err == nil { // what lacks a part says so itself
			err = finite(part, depth-1, left)
		}
		return part
	})
	if known == nil {
		return fmt.Errorf("%T is no event of package privacy", e)
	}
	return err
}

// rebuilt returns e with its numbers and the events that stand directly in it replaced, in
// new lists; nil if e is of no type of this package. It is the one place that knows what
// events are made of. The degree of a number says how it grows with the distance of
// neighbours: 0 not at all, 1 as a sensitivity does, 2 as the square of one.
func rebuilt(e Event, number func(r *big.Rat, degree int) *big.Rat, part func(Event) Event) Event {
	numbers := func(rs []*big.Rat) []*big.Rat {
		out := make([]*big.Rat, len(rs))
		for i, r := range rs {
			out[i] = number(r, 0)
		}
		return out
	}
	parts := func(events []Event) []Event {
		out := make([]Event, len(events))
		for i, e := range events {
			out[i] = part(e)
		}
		return out
	}
	switch e := e.(type) {
	case Laplace:
		return Laplace{number(e.Scale, 0), number(e.Sensitivity, 1)}
	case DiscreteLaplace:
		return DiscreteLaplace{number(e.Scale, 0), number(e.Sensitivity, 1)}
	case Gaussian:
		return Gaussian{number(e.Variance, 0), number(e.SensitivitySquared, 2)}
	case DiscreteGaussian:
		return DiscreteGaussian{number(e.Variance, 0), number(e.SensitivitySquared, 2)}
	case Skellam:
		return Skellam{number(e.Variance, 0), number(e.SensitivitySquared, 2), number(e.L1, 1)}
	case Tree:
		return Tree{number(e.Sigma, 0), number(e.Sensitivity, 1), e.Leaves}
	case Pure, Approx, Selection, Exponential, PermuteAndFlip, NoisyMax, SparseVector, ZCDP:
		return e // amounts are immutable
	case RandomizedResponse:
		return RandomizedResponse{number(e.P, 0), e.K}
	case GDP:
		return GDP{number(e.Mu, 0)}
	case RDP:
		return RDP{numbers(e.Orders), numbers(e.Eps)}
	case Pair:
		return Pair{numbers(e.P), numbers(e.Q)}
	case Poisson:
		return Poisson{number(e.Rate, 0), part(e.Event)}
	case TruncatedPoisson:
		return TruncatedPoisson{number(e.Rate, 0), e.N, e.AtMost, part(e.Event)}
	case WithoutReplacement:
		return WithoutReplacement{e.M, e.N, part(e.Event)}
	case WithReplacement:
		return WithReplacement{e.M, e.N, part(e.Event)}
	case Shuffled:
		return Shuffled{e.N, part(e.Event)}
	case RepeatAndSelect:
		return RepeatAndSelect{number(e.Mean, 0), number(e.Shape, 0), part(e.Event)}
	case Under:
		return Under{e.Neighbours, part(e.Event)}
	case Repeat:
		return Repeat{e.Count, part(e.Event)}
	case Sum:
		return Sum{parts(e.Events)}
	case Parallel:
		return Parallel{parts(e.Events)}
	}
	return nil
}

// Map returns e with f of every event in it, from within.
func Map(e Event, f func(Event) Event) Event {
	same := func(r *big.Rat, _ int) *big.Rat { return r }
	if inner := rebuilt(e, same, func(part Event) Event { return Map(part, f) }); inner != nil {
		e = inner
	}
	return f(e)
}
