// Package samplers draws from the distributions of package noise.
package samplers

import (
	"math/big"

	"github.com/discreet-dp/discreet/noise"
)

type mechanism struct {
	choice   *noise.Choice
	hit, way *big.Rat
}

// Index chooses by scores: exp(s/scale) is exp(ε·s/2) for ε = 2/scale.
//
//dp:adjacent each(s) <= 1
//dp:requires scale(m.choice) <= 7
//dp:cost 2/scale(m.choice)
func (m *mechanism) Index(stream *noise.Stream, s []int64) (int, error) {
	return m.choice.Index(stream, s)
}

// Toss tosses a coin.
//
//dp:adjacent |x| <= 1
//dp:requires m.hit > 0 && m.hit < 1
//dp:cost m.hit
func (m *mechanism) Toss(bits noise.Bits, x int) (bool, error) {
	if x > 0 {
		return noise.Bernoulli(bits, m.hit)
	}
	heads, err := noise.Bernoulli(bits, m.way)
	if err != nil {
		return false, err
	}
	return !heads, nil
}

// Any draws an index.
//
//dp:adjacent |x| <= 1
//dp:cost 1
func (m *mechanism) Any(stream *noise.Stream, x, n int) (int, error) {
	k, err := stream.Index(n + 1)
	if err != nil {
		return 0, err
	}
	return k - x, nil
}

// Below draws from a range that wraps around below zero.
//
//dp:adjacent |x| <= 1
//dp:cost 1
func (m *mechanism) Below(stream *noise.Stream, x, n int) (uint64, error) {
	return stream.Below(uint64(n))
}

// Compared compares addresses, not numbers.
//
//dp:adjacent |x| <= 1
//dp:cost 1
func (m *mechanism) Compared(x int) bool { return m.hit == m.way }

// Computed tosses a coin whose odds are not at hand.
//
//dp:adjacent |x| <= 1
//dp:cost 1
func (m *mechanism) Computed(bits noise.Bits, x int) (bool, error) {
	return noise.Bernoulli(bits, new(big.Rat).Inv(m.hit))
}
