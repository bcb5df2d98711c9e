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
// reveals (the theorem is mechanism.Portion's).

// partyLaw is what each party draws of a release's noise over so many values. Of Gaussian noise the
// theorem bounds concentrated privacy: budgets that charge it otherwise (approx, by its own ε at a δ)
// have no shares of one.
func partyLaw(law mechanism.Additive, measure filter.Measure, values, honest int, by mechanism.Sharing) (*mechanism.Portion, error) {
	if _, is := law.Event().(privacy.DiscreteGaussian); is && honest > 1 && measure != filter.ZCDP {
		return nil, fmt.Errorf("share Gaussian noise: what its shares reveal is known in rho, and this budget counts %s", measure)
	}
	return mechanism.PortionOf(law, values, honest, by)
}

// summed is the noise that so many parties have added. What it reveals is what the design's noise
// lets through.
type summed struct {
	*mechanism.Portion
	parties int
}

// Bound is that of the sum.
func (s summed) Bound(beta *big.Rat) (*big.Int, error) { return s.BoundOfSum(s.parties, beta) }

// Variance is that of the sum.
func (s summed) Variance() float64 { return float64(s.parties) * s.Portion.Variance() }

// AddTo is nobody's: each party draws its own noise.
func (summed) AddTo(noise.Bits, []*big.Int) error {
	return errors.New("add noise: parties do, each its own")
}

// Among makes the noise of a design that of so many parties together, of whom so many are honest at
// least.
func (d *Design) Among(parties, honest int, by mechanism.Sharing, measure filter.Measure, values func(release int) int) error {
	d.Events = nil
	for i := range d.Releases {
		if d.Releases[i].Private || d.Releases[i].Chosen {
			return errors.New("share noise: the groups are chosen privately")
		}
		for j := range d.Releases[i].Noise {
			n := &d.Releases[i].Noise[j]
			own, err := partyLaw(n.Additive, measure, values(i), honest, by)
			if err != nil {
				return err
			}
			revealed, err := own.Reveals()
			if err != nil {
				return err
			}
			d.Events = append(d.Events, revealed)
			n.Additive = summed{own, parties}
		}
	}
	return nil
}

// PartyLaw is what each party draws for a component, of a design among parties.
func (r *Release) PartyLaw(component int) (*mechanism.Portion, error) {
	s, ok := r.Noise[component].Additive.(summed)
	if !ok {
		return nil, errors.New("the design is not one among parties")
	}
	return s.Portion, nil
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
	if r.Private || r.Chosen {
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
