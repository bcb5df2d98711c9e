package loss

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/privacy"
)

// Stated returns the pair of laws on as many outcomes as there are probabilities, each of
// which adds up to at most 1: what P lacks is taken for outcomes that Q does not have, and
// the other way round, which is the worst that it may be.
func Stated(p, q []*big.Rat) (Pair, error) {
	lost, found := big.NewRat(1, 1), big.NewRat(1, 1)
	// Outcomes of one ratio are one outcome.
	type outcome struct{ ratio, p *big.Rat }
	var outcomes []outcome
	for i := range p {
		if p[i].Sign() < 0 || q[i].Sign() < 0 {
			return nil, fmt.Errorf("stated pair: a negative probability")
		}
		if p[i].Sign() > 0 && q[i].Sign() > 0 {
			lost.Sub(lost, p[i])
			found.Sub(found, q[i])
			outcomes = append(outcomes, outcome{new(big.Rat).Quo(p[i], q[i]), p[i]})
		}
	}
	if lost.Sign() < 0 || found.Sign() < 0 {
		return nil, fmt.Errorf("stated pair: the probabilities of outcomes that both laws have add up to more than 1")
	}
	slices.SortFunc(outcomes, func(a, b outcome) int { return a.ratio.Cmp(b.ratio) })
	d := &discrete{noQ: upward(lost), noP: upward(found)}
	for i := 0; i < len(outcomes); {
		sum := new(big.Rat)
		ratio := outcomes[i].ratio
		for ; i < len(outcomes) && outcomes[i].ratio.Cmp(ratio) == 0; i++ {
			sum.Add(sum, outcomes[i].p)
		}
		a := Atom{logOf(ratio), logOf(sum)}
		if n := len(d.atoms); n > 0 && d.atoms[n-1].Loss >= a.Loss { // next to each other in float64
			a.LogP = logAdd(d.atoms[n-1].LogP, a.LogP)
			d.atoms = d.atoms[:n-1]
		}
		d.atoms = append(d.atoms, a)
	}
	switch len(d.atoms) {
	case 0:
		return nil, fmt.Errorf("stated pair: no outcome that both laws have: %w", ErrUnsupported)
	case 1:
		d.step = 1
	case 2:
		d.step = d.atoms[1].Loss - d.atoms[0].Loss
	}
	return d, nil
}

// SpecialResponse is the pair of a randomized response of a unit against that of the
// special record, which gives each answer with the same probability.
func SpecialResponse(e privacy.RandomizedResponse, d Direction) (Event, error) {
	uniform := big.NewRat(1, int64(e.K))
	rest := func(p *big.Rat) *big.Rat { return new(big.Rat).Sub(big.NewRat(1, 1), p) }
	p, q := []*big.Rat{e.P, rest(e.P)}, []*big.Rat{uniform, rest(uniform)}
	if d == Add {
		p, q = q, p
	}
	return attained(Stated(p, q))
}

// upward is r, and no less.
func upward(r *big.Rat) float64 {
	f, exact := r.Float64()
	if !exact && f < 1 && new(big.Rat).SetFloat64(f).Cmp(r) < 0 {
		return math.Nextafter(f, 1)
	}
	return f
}

// logOf is ln r to some units of the last place, of whatever size, and near 1 too.
func logOf(r *big.Rat) float64 {
	if near := new(big.Rat).Sub(r, big.NewRat(1, 1)); near.Cmp(big.NewRat(-1, 2)) > 0 && near.Cmp(big.NewRat(1, 1)) < 0 {
		return math.Log1p(float(near))
	}
	f := new(big.Float).SetPrec(64).SetRat(r)
	mantissa := new(big.Float)
	exponent := f.MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log(m) + float64(exponent)*math.Ln2
}
