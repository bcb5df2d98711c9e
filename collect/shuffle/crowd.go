package shuffle

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
)

// withheld is how many respondents of a crowd are dropped: discrete Laplace noise, cut off at
// ±reach and moved so that it is never negative.
type withheld struct {
	Crowd
	noise *noise.DiscreteLaplace
	reach int64
}

func newWithheld(c Crowd) (*withheld, error) {
	switch {
	case c.Threshold < 2:
		return nil, fmt.Errorf("%w: the threshold of crowds is below 2", ErrParameter)
	case c.Epsilon.Sign() <= 0 || c.Epsilon.Float64() < 1e-3 || c.Epsilon.Float64() > 64:
		return nil, fmt.Errorf("%w: the epsilon of crowds is not from 0.001 to 64", ErrParameter)
	case c.Delta.Rat().Sign() <= 0 || c.Delta.Rat().Cmp(big.NewRat(1, 10)) > 0:
		return nil, fmt.Errorf("%w: the delta of crowds is not above 0 and at most 0.1", ErrParameter)
	}
	law, err := noise.NewDiscreteLaplace(new(big.Rat).Inv(c.Epsilon.Rat()))
	if err != nil {
		return nil, err
	}
	w := &withheld{Crowd: c, noise: law}
	for delta := c.Delta.Rat(); ; w.reach++ {
		if edge := w.edge(); new(big.Rat).SetFloat64(edge).Cmp(delta) <= 0 {
			return w, nil
		}
	}
}

// edge is an upper bound of the probability of 0, and of 2·reach: e^(−ε·reach) over the sum
// of e^(−ε|z|) for |z| ≤ reach.
func (w *withheld) edge() float64 {
	eps, reach := w.Epsilon.Float64(), float64(w.reach)
	sum := 1 + 2*math.Exp(-eps)*-math.Expm1(-eps*reach)/-math.Expm1(-eps)
	return math.Exp(-eps*reach) / sum * (1 + 0x1p-30)
}

// drop draws how many are dropped.
func (w *withheld) drop(s *noise.Stream) (int64, error) {
	for {
		z, err := w.noise.Int64(s)
		if err != nil {
			return 0, fmt.Errorf("draw noise of a crowd: %w", err)
		}
		if z >= -w.reach && z <= w.reach {
			return w.reach + z, nil
		}
	}
}

// MostDropped is the greatest number of a crowd's respondents who are dropped by noise; 0
// where there are no crowds.
func (p *Protocol) MostDropped() int {
	if p.crowd == nil {
		return 0
	}
	return int(2 * p.crowd.reach)
}

// Waiting is how many respondents the last shuffler waits for. With crowds it is at least twice a
// batch, and a batch and all that noise may withhold of one crowd, so that a batch is left
// unless crowds are many or small.
func (p *Protocol) Waiting() int {
	if p.crowd == nil {
		return p.Batch
	}
	return p.Batch + max(p.Batch, p.MostDropped())
}

// Survivors returns how many respondents of a crowd of n the shuffler passes on: n less D,
// where D is discrete Laplace noise of scale 1/ε, cut off at ±s and moved by s; none where
// less than the threshold are left. Which ones, is uniformly random.
//
// Theorem. Let ε and δ be the crowd's. (1) What passes shows at most (ε, δ) of one
// respondent more or less in the crowd, sizes alone: n−D and n+1−D′ have the same values but
// one each, of probability at most δ, and elsewhere a ratio of at most e^ε; a crowd of one is
// never seen, since the threshold is 2 or more. (2) With the messages: given that m pass, of n
// or of n+1 respondents, the messages of the m have laws within e^ε₀ of each other, since where
// the added one is among them, his bundle is within e^ε₀ of that of whoever else would be. So
// a respondent whose answer and crowd both change, which concerns two crowds, is protected by
// (2ε + 2ε₀, 2δ), against an observer to whom no respondent tells what he sent. (3) If the crowd stays, who passes does not depend on the answer: what the
// shuffling of those who pass guarantees, holds.
func (p *Protocol) Survivors(s *noise.Stream, n int) (int, error) {
	if p.crowd == nil {
		return n, nil
	}
	d, err := p.crowd.drop(s)
	if err != nil {
		return 0, err
	}
	if left := n - int(d); left >= p.crowd.Threshold {
		return left, nil
	}
	return 0, nil
}
