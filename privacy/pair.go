package privacy

import (
	"errors"
	"fmt"
	"math/big"
)

// Pair is any release that is at least as hard to tell apart as two laws on as many
// outcomes, of which the i-th has the probability P[i] under the one and Q[i] under the
// other: they dominate whatever the release really does. Under AddRemove, and
// ReplaceSpecial, P is the law with the unit and Q the one without; neighbours lie both ways
// round, and both are accounted for. Under ReplaceOne neither of two units comes first,
// so that the pair must be its own mirror image.
//
// An outcome that Q does not have, p: 0, gives the unit away. What the probabilities of a
// law lack of 1, at most MaxMissing, is taken for such outcomes, in either direction. The
// pair is the owner's word: no accountant can check it.
type Pair struct{ P, Q []*big.Rat }

// MaxOutcomes is the greatest number of outcomes of a Pair.
const MaxOutcomes = 4096

// MaxMissing is how much of a law may be missing: what is more is a forgotten outcome.
func MaxMissing() *big.Rat { return big.NewRat(1, 1_000_000) }

func (Pair) event() {}

// Validate implements Event.
func (e Pair) Validate() error {
	if len(e.P) == 0 || len(e.P) != len(e.Q) {
		return errors.New("pair: the laws differ in their number of outcomes, or there are none")
	}
	if len(e.P) > MaxOutcomes {
		return fmt.Errorf("pair: more than %d outcomes", MaxOutcomes)
	}
	same, common := true, false
	for i := range e.P {
		p, q := e.P[i], e.Q[i]
		if p == nil || q == nil || p.Sign() < 0 || q.Sign() < 0 {
			return fmt.Errorf("pair: a probability of outcome %d is missing or negative", i+1)
		}
		if p.Sign() == 0 && q.Sign() == 0 {
			return fmt.Errorf("pair: outcome %d has probability 0 under both laws", i+1)
		}
		same, common = same && p.Cmp(q) == 0, common || p.Sign() > 0 && q.Sign() > 0
	}
	if !common {
		return errors.New("pair: the laws have no outcome in common: nothing is hidden")
	}
	for _, l := range []struct {
		name string
		law  []*big.Rat
	}{{"p", e.P}, {"q", e.Q}} {
		name, missing := l.name, missing(l.law)
		switch {
		case missing.Sign() < 0:
			return fmt.Errorf("pair: the probabilities %s add up to 1 + %s: round them down, or correct one", name, shortText(missing.Neg(missing)))
		case missing.Cmp(MaxMissing()) > 0:
			return fmt.Errorf("pair: the probabilities %s add up to 1 - %s: write what is missing as an outcome (p: 0 is one that only the first law has)", name, shortText(missing))
		case missing.Sign() > 0:
			same = false
		}
	}
	if same {
		return fmt.Errorf("pair: both laws are the same: it %w", errZero)
	}
	return nil
}

// missing is what the probabilities lack of 1.
func missing(law []*big.Rat) *big.Rat {
	rest := big.NewRat(1, 1)
	for _, p := range law {
		rest.Sub(rest, p)
	}
	return rest
}

func shortText(r *big.Rat) string {
	f, _ := r.Float64()
	return fmt.Sprintf("%.3g", f)
}

// Worst returns the greatest likelihood ratio of outcomes that both laws have, either way
// round, and the greatest probability of what one law has and the other has not. The pair is
// (ln ratio, only)-DP.
func (e Pair) Worst() (ratio, only *big.Rat) {
	ratio, only = big.NewRat(1, 1), new(big.Rat)
	lost, found := missing(e.P), missing(e.Q)
	for i := range e.P {
		switch p, q := e.P[i], e.Q[i]; {
		case q.Sign() == 0:
			lost.Add(lost, p)
		case p.Sign() == 0:
			found.Add(found, q)
		default:
			for _, r := range []*big.Rat{new(big.Rat).Quo(p, q), new(big.Rat).Quo(q, p)} {
				if r.Cmp(ratio) > 0 {
					ratio = r
				}
			}
		}
	}
	for _, r := range []*big.Rat{lost, found} {
		if r.Cmp(only) > 0 {
			only = r
		}
	}
	return ratio, only
}

// mirrored reports whether both ways round the pair is the same: each likelihood ratio
// has under P what its inverse has under Q.
func (e Pair) mirrored() bool {
	if missing(e.P).Cmp(missing(e.Q)) != 0 {
		return false
	}
	there, back := map[string]*big.Rat{}, map[string]*big.Rat{}
	add := func(to map[string]*big.Rat, p, q *big.Rat) {
		ratio := "none"
		if q.Sign() > 0 {
			ratio = new(big.Rat).Quo(p, q).String()
		}
		if to[ratio] == nil {
			to[ratio] = new(big.Rat)
		}
		to[ratio].Add(to[ratio], p)
	}
	for i := range e.P {
		if e.P[i].Sign() > 0 {
			add(there, e.P[i], e.Q[i])
		}
		if e.Q[i].Sign() > 0 {
			add(back, e.Q[i], e.P[i])
		}
	}
	if len(there) != len(back) {
		return false
	}
	for ratio, p := range there {
		if back[ratio] == nil || back[ratio].Cmp(p) != 0 {
			return false
		}
	}
	return true
}

func (e Pair) String() string               { return text(e) }
func (e Pair) MarshalJSON() ([]byte, error) { return encode(e) }
