package release

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/additive"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A release of several holders has its noise from parties: each of them adds noise to the sum of
// shares that it has. Whoever colludes with so many parties as may collude sees the sum with the noise
// of the others on it, at least, which together is the design's: so its events say what the release
// reveals.
//
// Theorem. Let h of m parties be honest.
//
// Laplace: if h = 1 each party adds the whole noise; else one of h shares of it, whose sum over any h
// parties is the whole noise, exactly (noise.LaplaceShare).
//
// Gaussian: each of the parties draws N_Z(0, s²). By Kairouz, Liu and Steinke 2021 (arXiv 2102.06387,
// Theorem 1 with d values of L2 distance Δ), the sum of h draws is ½e²-concentrated with
// ½e² ≤ Δ²/(2h·s²) + τd/4, τ = 10·Σ_{k<h} exp(−2π²s²·k/(k+1)) ≤ 10(h−1)·exp(−π²s²). With s² = σ²/h·(1 + 2^−10), and
// at least 16, that is at most Δ²/2σ², what the design's event says, if τd/4 ≤ Δ²/2σ² − Δ²/2hs²; else it is refused.
// The theorem bounds concentrated privacy: budgets that charge a Gaussian otherwise (approx, by its own ε
// at a δ) have no shares of one.

// A PartyLaw is the noise of one party: whole, or a share of the whole noise of so many.
type PartyLaw struct {
	Laplace  *big.Rat // the scale of the whole
	Gaussian *big.Rat // the variance of the party's own
	Honest   int      // 1: the party's noise is the whole
}

// leastShare is the least variance of a share of Gaussian noise.
const leastShare = 16

// partyLaw is what each party draws of a release's noise over so many values.
func partyLaw(law mechanism.Additive, measure filter.Measure, values, honest int) (PartyLaw, error) {
	switch e := law.Event().(type) {
	case privacy.DiscreteLaplace:
		return PartyLaw{Laplace: e.Scale, Honest: honest}, nil
	case privacy.DiscreteGaussian:
		if honest == 1 {
			return PartyLaw{Gaussian: e.Variance, Honest: 1}, nil
		}
		if measure != filter.ZCDP {
			return PartyLaw{}, fmt.Errorf("share Gaussian noise: what its shares reveal is known in rho, and this budget counts %s", measure)
		}
		own := new(big.Rat).Mul(e.Variance, big.NewRat(1025, 1024*int64(honest)))
		if least := big.NewRat(leastShare, 1); own.Cmp(least) < 0 {
			own = least
		}
		// π² > 9, and exp(−9) < 2^−12.
		bits := uint(12_000)
		if whole := new(big.Int).Quo(own.Num(), own.Denom()); whole.Cmp(big.NewInt(1000)) < 0 {
			bits = uint(12 * whole.Int64())
		}
		tau := new(big.Rat).SetFrac(big.NewInt(10*int64(honest-1)), new(big.Int).Lsh(big.NewInt(1), bits))
		tau.Mul(tau, big.NewRat(int64(values), 4))
		claimed := new(big.Rat).Quo(e.SensitivitySquared, new(big.Rat).Add(e.Variance, e.Variance))
		half := new(big.Rat).Mul(own, big.NewRat(2*int64(honest), 1))
		if tau.Add(tau, half.Quo(e.SensitivitySquared, half)); tau.Cmp(claimed) > 0 {
			return PartyLaw{}, errors.New("share Gaussian noise: so many values at so small a cost are not bounded by the theorem")
		}
		return PartyLaw{Gaussian: own, Honest: honest}, nil
	}
	return PartyLaw{}, fmt.Errorf("no party draws the noise of %v", law.Event())
}

// sums is a law that bounds sums of its draws.
type sums interface {
	BoundOfSum(n int, beta *big.Rat) (*big.Int, error)
}

// summed is the noise that so many parties have added. What it reveals is what the design's noise
// lets through.
type summed struct {
	mechanism.Additive
	parties int
	own     PartyLaw
}

// Bound is that of the sum. Of shares of Laplace noise the sum is more than the whole noise
// ⌊m/h⌋ times and at most that ⌈m/h⌉ times: what is missing to the latter is symmetric and independent,
// and the sum is symmetric and unimodal (a difference of two equal unimodal draws is: Hodges and Lehmann
// 1954), so that adding it makes no interval around 0 more likely.
func (s summed) Bound(beta *big.Rat) (*big.Int, error) {
	if s.own.Gaussian != nil {
		law, err := noise.NewDiscreteGaussian(s.own.Gaussian)
		if err != nil {
			return nil, err
		}
		return law.BoundOfSum(s.parties, beta)
	}
	d, ok := s.Additive.(sums)
	if !ok {
		return nil, errors.New("bound noise: it has no bound of sums")
	}
	return d.BoundOfSum((s.parties+s.own.Honest-1)/s.own.Honest, beta)
}

func (s summed) Variance() float64 {
	if s.own.Gaussian != nil {
		own, _ := s.own.Gaussian.Float64()
		return float64(s.parties) * own
	}
	return float64(s.parties) / float64(s.own.Honest) * s.Additive.Variance()
}

// AddTo is nobody's: each party draws its own noise.
func (summed) AddTo(noise.Bits, []*big.Int) error {
	return errors.New("add noise: parties do, each its own")
}

// Among makes the noise of a design that of so many parties together, of whom so many are honest at
// least.
func (d *Design) Among(parties, honest int, measure filter.Measure, values func(release int) int) error {
	for i := range d.Releases {
		for j := range d.Releases[i].Noise {
			n := &d.Releases[i].Noise[j]
			own, err := partyLaw(n.Additive, measure, values(i), honest)
			if err != nil {
				return err
			}
			n.Additive = summed{n.Additive, parties, own}
		}
	}
	return nil
}

// PartyLaw is what each party draws for a component, of a design among parties.
func (r *Release) PartyLaw(component int) (PartyLaw, error) {
	s, ok := r.Noise[component].Additive.(summed)
	if !ok {
		return PartyLaw{}, errors.New("the design is not one among parties")
	}
	return s.own, nil
}

// exactBits bounds the exact integers of every engine: they fit 128 bits with their sign.
const exactBits = 127

// lostWith is the probability with which the ring may be too small for a value, which is then
// wrong and as private as ever: what adds up modulo the ring is post-processing of what adds
// up without one.
func lostWith() *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 80))
}

// Reach bounds the absolute value of every noisy total of so many holders, but with
// probability 2^-80 for each. It follows from public parameters.
func (d *Design) Reach(holders int) (*big.Int, error) {
	reach := new(big.Int)
	for i := range d.Releases {
		for j := range d.Releases[i].Components {
			b, err := d.Releases[i].Noise[j].Bound(lostWith())
			if err != nil {
				return nil, err
			}
			if b.Cmp(reach) > 0 {
				reach = b
			}
		}
	}
	exact := new(big.Int).Lsh(big.NewInt(int64(holders)), exactBits)
	return exact.Add(exact, reach), nil
}

// Split returns the exact values of a release over its complete domains as additive shares, a
// vector for each party: component by component, each over all groups in their order.
func (r *Release) Split(exact *engine.Exact, domains [][]sqltype.Value, ring additive.Ring, parties int, bits noise.Bits) ([][]byte, error) {
	if r.Private {
		return nil, errors.New("split release: its groups are chosen privately")
	}
	if r.trees() > 0 {
		return nil, errors.New("split release: it has a tree of counts")
	}
	width := len(r.Keys) + len(r.Components)
	rows := exact.RevealExact()
	for _, row := range rows {
		if len(row) != width {
			return nil, errShape
		}
	}
	out := make([][]byte, parties)
	complete := r.complete(rows, domains)
	for i := range r.Components {
		values := make([]*big.Int, len(complete))
		for g, row := range complete {
			n, err := integer(row[len(r.Keys)+i])
			if err != nil {
				return nil, err
			}
			if n.BitLen() > exactBits {
				return nil, errShape
			}
			values[g] = n
		}
		shares, err := ring.Split(bits, values, parties)
		if err != nil {
			return nil, fmt.Errorf("split release: %w", err)
		}
		for p := range out {
			out[p] = append(out[p], shares[p]...)
		}
	}
	return out, nil
}

// Totals makes the released table of noisy totals, in Split's order, and returns the rest.
func (r *Release) Totals(domains [][]sqltype.Value, totals []*big.Int) (*Table, []*big.Int, error) {
	t := &Table{release: r, noisy: make([][]*big.Int, len(r.Components))}
	for _, row := range r.complete(nil, domains) {
		t.keys = append(t.keys, row[:len(r.Keys):len(r.Keys)])
	}
	for i := range r.Components {
		if len(totals) < len(t.keys) {
			return nil, nil, errors.New("read totals: some are missing")
		}
		t.noisy[i], totals = totals[:len(t.keys):len(t.keys)], totals[len(t.keys):]
	}
	return t, totals, nil
}
