package mechanism

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// PrefixSumsOptions say what is added up, and what the sums must hide.
type PrefixSumsOptions struct {
	// Sensitivity is the most by which the items change between neighbours, all
	// together: 1 for counts by day of events of which a unit has one. Required.
	Sensitivity *big.Rat
	// Block is the number m of items in a block. Without it, or with 1, every item has
	// noise of its own and there are no blocks.
	Block int
	// Epsilon is the guarantee of all sums together. Required.
	Epsilon privacy.Epsilon
}

// PrefixSums gives the sum of the first item, of the first two, and so on: what was
// counted so far, day by day.
//
// Without blocks it adds up noisy items. With blocks it also has a noisy sum of each m
// items, and adds up noisy blocks and the noisy items after the last whole one: after n
// items n/m + m draws instead of n.
//
// Theorem (Chan, Shi and Song 2011, Simple Counting II and the two-level counter). An
// item is in one noisy item at most, and in one noisy block: noise of scale Δ/ε, or 2Δ/ε
// with blocks, makes all of them together ε-DP, and sums are made of them. The last item
// of a block needs no noise of its own.
//
// A PrefixSums is immutable and safe for concurrent use.
type PrefixSums struct {
	noise       *noise.DiscreteLaplace
	block       int
	sensitivity *big.Rat // of items and blocks together
}

// NewPrefixSums returns the mechanism with the given options.
func NewPrefixSums(o PrefixSumsOptions) (*PrefixSums, error) {
	if err := checkPositive("the sensitivity", o.Sensitivity); err != nil {
		return nil, err
	}
	if err := checkPositive("epsilon", o.Epsilon.Rat()); err != nil {
		return nil, err
	}
	if o.Block < 0 {
		return nil, fmt.Errorf("%w: a block has less than no items", ErrParameter)
	}
	p := &PrefixSums{block: max(o.Block, 1), sensitivity: new(big.Rat).Set(o.Sensitivity)}
	if p.block > 1 {
		p.sensitivity.Add(p.sensitivity, p.sensitivity)
	}
	n, err := stepNoise(p.sensitivity, o.Epsilon.Rat())
	if err != nil {
		return nil, err
	}
	p.noise = n
	return p, nil
}

// Event is what all sums together reveal.
func (p *PrefixSums) Event() privacy.Event {
	return privacy.DiscreteLaplace{Scale: p.noise.Scale(), Sensitivity: new(big.Rat).Set(p.sensitivity)}
}

// Sums returns the noisy sums. They wrap around where a sum does not fit into 64 bits.
func (p *PrefixSums) Sums(bits noise.Bits, items []int64) ([]int64, error) {
	release := p.ofItems
	if p.block > 1 {
		release = p.ofBlocks
	}
	sums, err := release(noise.NewStream(bits), items)
	if err != nil {
		return nil, fmt.Errorf("add up: %w", err)
	}
	return sums, nil
}

// ofItems is the mechanism without blocks.
//
//dp:adjacent one(items) <= 1
//dp:cost 1/scale(p.noise)
func (p *PrefixSums) ofItems(stream *noise.Stream, items []int64) ([]int64, error) {
	sums := make([]int64, len(items))
	next := int64(0)
	for i, x := range items {
		k, err := p.noise.Int64(stream)
		if err != nil {
			return nil, err
		}
		next += x + k
		sums[i] = next
	}
	return sums, nil
}

// ofBlocks is the mechanism with blocks.
//
//dp:adjacent one(items) <= 1
//dp:requires p.block > 0
//dp:cost 2/scale(p.noise)
func (p *PrefixSums) ofBlocks(stream *noise.Stream, items []int64) ([]int64, error) {
	sums := make([]int64, len(items))
	blocks, block, next := int64(0), int64(0), int64(0)
	for i, x := range items {
		block += x
		if (i+1)%p.block == 0 {
			k, err := p.noise.Int64(stream)
			if err != nil {
				return nil, err
			}
			blocks += block + k
			next, block = blocks, 0
		} else {
			k, err := p.noise.Int64(stream)
			if err != nil {
				return nil, err
			}
			next += x + k
		}
		sums[i] = next
	}
	return sums, nil
}

// Bound returns an α such that the n-th sum is off by at most α, but with probability at
// most beta; Bound(n, beta/n) holds for the first n together.
//
// For one draw it is that of the noise. A sum Y of N draws of scale t has
//
//	E[exp(hY)] <= (1−t²h²)^−N <= exp(2Nt²h²), |h| <= 1/(√2·t),
//
// the first because sinh(x)/x grows, so that sinh(h/2)/sinh(1/2t) <= th, the second because
// −ln(1−x) <= 2x up to 1/2. By Markov's inequality |Y| exceeds t·√(8N·ln(2/β)) with probability β at most, if ln(2/β) <= N, and
// √2·t·(N+ln(2/β)) in any case (Chan, Shi and Song 2011, Lemma 2.8).
func (p *PrefixSums) Bound(n int, beta *big.Rat) (*big.Int, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("%w: there are no items", ErrParameter)
	}
	draws := int64(n)
	if p.block > 1 {
		draws = int64(n/p.block + n%p.block)
	}
	if draws == 1 {
		q, err := p.noise.Bound(beta)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameter, err)
		}
		return q, nil
	}
	tail, of := logOver(2, beta), numeric.OfInt(draws)
	spread := numeric.OfInt(2).Sqrt().Mul(of.Add(tail))
	if tail.Hi().Cmp(big.NewRat(draws, 1)) <= 0 {
		spread = numeric.OfInt(8).Mul(of).Mul(tail).Sqrt()
	}
	return numeric.Ceil(numeric.Of(p.noise.Scale()).Mul(spread).Hi()), nil
}
