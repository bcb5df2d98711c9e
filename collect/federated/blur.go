package federated

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

// A Blur is the noise of a run, by rounds. Its state is the tree's, which must be kept where a
// run goes on after a crash: a node of the tree has one noise for good.
type Blur struct {
	Next int        `json:"next"` // the first round that may come
	Tree *cost.Tree `json:"tree,omitempty"`
}

var errNoise = errors.New("noise beyond the range of integers")

// Add adds the noise of a round to an update: fresh noise, or with FTRL what the noise of the
// sum of all updates of the tree so far gains since the round before. Of that sum a reader
// of all rounds sees each with the noise of the tree's nodes, and nothing else. Rounds
// that were left out are leaves of the tree that nothing is added to.
func (b *Blur) Add(p Plan, bits noise.Bits, round int, u *Update) error {
	v := p.Privacy
	if round < b.Next || round >= p.Rounds {
		return fmt.Errorf("round %d has its noise, or is none of the plan's", round)
	}
	variance, err := v.Variance()
	if err != nil {
		return err
	}
	draw := func() ([]float64, error) { return draws(bits, variance, len(u.Sum)) }
	var add []float64
	if v.Method == FTRL {
		first := 0 // of the round's tree
		if v.Restart > 0 {
			first = round - round%v.Restart
		}
		if b.Tree == nil || b.Next <= first {
			b.Tree = &cost.Tree{}
		}
		before := b.Tree.Noise(len(u.Sum))
		for int(b.Tree.Steps) <= round-first {
			if err := b.Tree.Grow(draw); err != nil {
				return err
			}
		}
		add = b.Tree.Noise(len(u.Sum))
		for j, x := range before {
			add[j] -= x
		}
	} else if add, err = draw(); err != nil {
		return err
	}
	for j, x := range add {
		u.Sum[j] += int64(x)
	}
	if v.Adaptive != nil {
		variance, err := v.Adaptive.countVariance()
		if err != nil {
			return err
		}
		count, err := draws(bits, variance, 1)
		if err != nil {
			return err
		}
		u.Within += int64(count[0])
	}
	b.Next = round + 1
	return nil
}

// draws are exact discrete Gaussian integers. Floats hold them, and sums of as many of them as
// a tree has levels, exactly.
func draws(bits noise.Bits, variance *big.Rat, n int) ([]float64, error) {
	a, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(1, 1), Variance: variance})
	if err != nil {
		return nil, err
	}
	values := make([]*big.Int, n)
	for i := range values {
		values[i] = new(big.Int)
	}
	if err := a.AddTo(bits, values); err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i, x := range values {
		if !x.IsInt64() || x.BitLen() > 46 {
			return nil, errNoise
		}
		out[i] = float64(x.Int64())
	}
	return out, nil
}
