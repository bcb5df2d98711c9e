package filter

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Max returns the larger of t and u in each part.
func (t Total) Max(u Total) Total {
	return Total{pick(t.Loss, u.Loss, 1), pick(t.Delta, u.Delta, 1)}
}

// Min returns the smaller of t and u in each part.
func (t Total) Min(u Total) Total {
	return Total{pick(t.Loss, u.Loss, -1), pick(t.Delta, u.Delta, -1)}
}

func pick(u, v Units, sign int) Units {
	if u.Cmp(v)*sign >= 0 {
		return u
	}
	return v
}

// Times returns n times t, for an n that is not negative.
func (t Total) Times(n int64) Total {
	return Total{t.Loss.times(big.NewInt(n)), t.Delta.times(big.NewInt(n))}
}

// Quo returns the largest total of which n fit t, for a positive n.
func (t Total) Quo(n int64) Total {
	share := func(u Units) Units { return Units{new(big.Int).Quo(u.int(), big.NewInt(n))} }
	return Total{share(t.Loss), share(t.Delta)}
}

// Total is the inverse of Filter.Amounts, rounded down.
func (a Amounts) Total(m Measure) Total {
	in := a.In(m)
	t := Total{Loss: floorUnits(in[0].Amount.Rat())}
	if len(in) > 1 {
		t.Delta = floorUnits(in[1].Amount.Rat())
	}
	return t
}

// EventOf returns an event that f charges with t, rounded up where t is the square of no
// rational: a guarantee in the measure's own terms. It is for totals that do not come from
// events, such as the maximum over the parts of a partition.
//
// The charges of such events add up as totals do, under every filter of the same measure.
// Nothing else holds of them: that two halves of a total stand for the whole is the
// filter's sum, and a tighter composition of the events must not be applied to it.
func EventOf(f Filter, t Total) (privacy.Event, error) {
	e, err := eventOf(f, t)
	if err == nil && e == nil {
		err = errors.New("nothing was charged")
	}
	if err != nil {
		return nil, fmt.Errorf("event of a charge: %w", err)
	}
	return e, nil
}

func eventOf(f Filter, t Total) (privacy.Event, error) {
	loss, err := lossEvent(f, t.Loss.Rat())
	if err != nil || t.Delta.Sign() == 0 {
		return loss, err
	}
	delta, err := privacy.NewDelta(t.Delta.Rat())
	if err != nil || loss == nil {
		return privacy.Approx{Delta: delta}, err
	}
	return privacy.Sum{Events: []privacy.Event{loss, privacy.Approx{Delta: delta}}}, nil
}

// lossEvent returns an event without a delta, or nil for no loss.
func lossEvent(f Filter, loss *big.Rat) (privacy.Event, error) {
	if loss.Sign() == 0 {
		return nil, nil
	}
	switch m := f.Measure(); m {
	case Pure, Approx:
		eps, err := privacy.NewEpsilon(loss)
		return privacy.Pure{Epsilon: eps}, err
	case Whitehouse:
		eps, err := privacy.NewEpsilon(rootUp(loss))
		return privacy.Pure{Epsilon: eps}, err
	case ZCDP:
		rho, err := privacy.NewRho(loss)
		return privacy.ZCDP{Rho: rho}, err
	case RDP:
		order, _ := Order(f)
		return privacy.RDP{Orders: []*big.Rat{order}, Eps: []*big.Rat{loss}}, nil
	case GDP:
		return privacy.GDP{Mu: rootUp(loss)}, nil
	default:
		return nil, fmt.Errorf("the measure %q has none of its own: %w", m, ErrUnsupported)
	}
}

// rootUp returns a rational whose square is at least r.
func rootUp(r *big.Rat) *big.Rat {
	if root, ok := numeric.ExactSqrt(r); ok {
		return root
	}
	return numeric.CeilDigits(numeric.Of(r).Sqrt().Hi(), 60)
}
