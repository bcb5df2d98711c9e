package dataset

import (
	"context"
	"errors"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
)

// VectorOptions are those of sums of vectors.
type VectorOptions struct {
	Options
	// Dimension is the length of every vector. Required.
	Dimension int
	// Clip is the norm that a vector is scaled down to: L1 where noise is Laplace's
	// (Epsilon alone), L2 where it is Gaussian. Required.
	Clip float64
}

// vectorBits makes the squares of clipped vectors fit a uint64, in steps of about 2^-30
// of the norm.
const vectorBits = 30

// NoisyVectorSum is the sum of the vectors f of the records, each clipped. A vector of
// another length, one with a number that is not finite, and that of a record on which
// f panics count as zero.
func NoisyVectorSum[T any](ctx context.Context, bits noise.Bits, d Dataset[T], f func(T) []float64, o VectorOptions) (Answer[[]float64], error) {
	r, err := newRelease(bits, d.source, o.Options, "NoisyVectorSum")
	if err != nil {
		return Answer[[]float64]{}, err
	}
	if o.Dimension < 1 || !(o.Clip > 0) || math.IsInf(o.Clip, 1) {
		return Answer[[]float64]{}, refuse("a dimension of %d or a norm of %v is not positive and finite", o.Dimension, o.Clip)
	}
	g, err := gridFor(o.Clip, vectorBits)
	if err != nil {
		return Answer[[]float64]{}, err
	}
	c := newClip(g, o.Clip, r.gaussian())
	m, err := r.additive(new(big.Int).SetUint64(c.most), 1)
	if err != nil {
		return Answer[[]float64]{}, err
	}
	q, err := m.Bound(share(r.beta, o.Dimension))
	if err != nil {
		return Answer[[]float64]{}, err
	}
	return spend(ctx, r, func() (a Answer[[]float64], err error) {
		sums := make([]int64, o.Dimension) // no overflow: there are fewer than 2^33 records
		steps := make([]int64, o.Dimension)
		records := d.records()
		if len(records) >= 1<<(63-vectorBits) {
			return a, errTooMany
		}
		each(len(records), func(i int) {
			if v := f(records[i]); len(v) == o.Dimension && c.steps(v, steps) {
				for j, s := range steps {
					sums[j] += s
				}
			}
		}, nil)
		ns := integers(sums)
		if err := m.AddTo(bits, ns); err != nil {
			return a, err
		}
		for _, n := range ns {
			low, high := g.around(n, q)
			a.Value, a.Low, a.High = append(a.Value, g.of(n)), append(a.Low, low), append(a.High, high)
		}
		return a, nil
	})
}

// A clip scales vectors down to a norm, on a grid.
type clip struct {
	grid    grid
	norm    float64
	squared bool // L2, not L1
	perUnit float64
	most    uint64 // the norm in whole steps
}

func newClip(g grid, norm float64, squared bool) clip {
	return clip{g, norm, squared, g.perUnit(), uint64(norm * g.perUnit())}
}

// steps puts a vector on the grid so that its norm, of integers, is at most most. It
// returns false for one that is not finite.
//
// The norm of floats is off in its last bits. So the integers are checked, and shrunk
// until they fit.
func (c clip) steps(v []float64, into []int64) bool {
	var norm, largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	if math.IsInf(largest, 0) || math.IsNaN(largest) {
		return false
	}
	// In units of the largest component or the norm, so that nothing overflows, and
	// nothing that counts is lost.
	unit := max(largest, c.norm)
	for _, x := range v {
		if x /= unit; c.squared {
			norm += x * x
		} else {
			norm += math.Abs(x)
		}
	}
	if c.squared {
		norm = math.Sqrt(norm)
	}
	steps := unit * c.perUnit // how far one unit moves the sum, in steps
	if limit := float64(c.most); norm*unit > c.norm {
		steps = limit / norm
	}
	for i, x := range v {
		into[i] = int64(min(max(x/unit*steps, -2*float64(c.most)), 2*float64(c.most)))
	}
	for !c.fits(into) {
		for i, s := range into {
			into[i] -= int64(min(max(s, -1), 1))
		}
	}
	return true
}

func (c clip) fits(steps []int64) bool {
	var sum uint64
	limit := c.most
	if c.squared {
		limit *= limit
	}
	for _, s := range steps {
		size := uint64(max(s, -s))
		if size > c.most {
			return false
		}
		if c.squared {
			size *= size
		}
		if sum += size; sum > limit {
			return false
		}
	}
	return true
}

// errTooMany depends on the data, as want of memory does, which comes first: 2^33
// records are 64 GiB at least.
var errTooMany = errors.New("more than 2^33 records")
