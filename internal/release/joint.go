package release

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/additive"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/sqltype"
)

// A release of several holders has its noise from parties: each of them adds the noise of the
// design, whole, to the sum of shares that it has. Whoever colludes with all parties but one
// sees the sum with that party's noise on it, at least, so that the design's events say what
// the release reveals.

// summed is the noise that so many parties have added. What it reveals is what the noise of
// one of them lets through.
type summed struct {
	mechanism.Additive
	parties int
}

// Bound is that of the sum.
func (s summed) Bound(beta *big.Rat) (*big.Int, error) {
	d, ok := s.Additive.(interface {
		BoundOfSum(n int, beta *big.Rat) (*big.Int, error)
	})
	if !ok {
		return nil, errors.New("bound noise: it has no bound of sums")
	}
	return d.BoundOfSum(s.parties, beta)
}

func (s summed) Variance() float64 { return float64(s.parties) * s.Additive.Variance() }

// AddTo adds the noise of all parties: nobody draws it so, who draws only his own.
func (s summed) AddTo(bits noise.Bits, values []*big.Int) error {
	for range s.parties {
		if err := s.Additive.AddTo(bits, values); err != nil {
			return err
		}
	}
	return nil
}

// Among makes the noise of a design that of so many parties together.
func (d *Design) Among(parties int) {
	for i := range d.Releases {
		for j := range d.Releases[i].Noise {
			n := &d.Releases[i].Noise[j]
			n.Additive = summed{n.Additive, parties}
		}
	}
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
