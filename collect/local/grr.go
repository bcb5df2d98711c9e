package local

import (
	"iter"
	"math/big"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// grr is generalized randomized response: the value with probability p, each other with q.
// The mechanism is that of package mechanism, whose kernel is proved from its source.
type grr struct {
	k        int
	response *mechanism.RandomizedResponse
}

func newGRR(k int, e privacy.Epsilon) (*grr, error) {
	r, err := mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Answers: k, Epsilon: e})
	if err != nil {
		return nil, err
	}
	return &grr{k, r}, nil
}

func (g *grr) truth() *big.Rat { return g.response.Truth() }
func (g *grr) lie() *big.Rat   { return over(not(g.truth()), whole(g.k-1)) }

func (g *grr) form() form       { return form{numbers: []uint64{uint64(g.k)}} }
func (g *grr) channel() channel { return plainChannel(g.truth(), g.lie()) }
func (g *grr) ratio() *big.Rat  { return over(g.truth(), g.lie()) }

func (g *grr) reply(s *noise.Stream, r Report, value int) (Report, error) {
	y, err := g.response.Respond(s, value)
	return append(r, uint64(y)), err
}

func (g *grr) law(_ Report, value int) iter.Seq2[Report, *big.Rat] {
	return func(yield func(Report, *big.Rat) bool) {
		for y := range g.k {
			p := g.lie()
			if y == value {
				p = g.truth()
			}
			if !yield(Report{uint64(y)}, p) {
				return
			}
		}
	}
}

func (g *grr) counter() counter { return &tallies{counts: make([]uint64, g.k), vote: g.vote} }

func (g *grr) vote(r Report, counts []uint64) { counts[r[0]]++ }

func (g *grr) parameters(d *Description) { d.pair(g.channel()) }
