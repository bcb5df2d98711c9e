package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// SampleAggregateOptions say what is computed on blocks of the units, and how the
// results are put together.
type SampleAggregateOptions[T any] struct {
	// Blocks is the number of blocks, which is public. Required.
	Blocks int
	// Compute is computed on each block. It may do what it likes with the block, but
	// nothing else: it is trusted to depend on nothing but the block, and to end. A
	// block may be empty. Required.
	Compute func(block []T) float64
	// Lower, Lower+Step, ... up to at most Upper are the candidates for the answer,
	// which are public; at most 2^42 of them. Required. Results are clamped to them and
	// rounded to the nearest. A NaN, and a panic of Compute, count as Lower.
	Lower, Upper, Step *big.Rat
	// Mean is for the mean of the results; otherwise the answer is their median.
	Mean bool
	// Epsilon, for the median or the mean with Laplace noise, or Rho, for the mean with
	// Gaussian noise, is the guarantee. Exactly one is required.
	Epsilon privacy.Epsilon
	Rho     privacy.Rho
}

// SampleAggregate makes any function private: it is computed on random blocks of
// the units, and its results are aggregated privately (Nissim, Raskhodnikova and Smith
// 2007; with these aggregates Smith 2011 and, in GUPT, Mohan et al. 2012).
//
// Theorem. Each unit is put into a block by a draw of its own. So the draws of two
// neighbours can be coupled, each unit of both, and one and its replacement, in the
// same block: given the draws, one block differs, one result changes, from any
// candidate to any other. The aggregate's guarantee for that holds for every outcome of
// the draws, hence for their mixture: each of pure, zero-concentrated and f-DP is
// quasi-convex. (Bounded range is not, as the intervals of two draws may differ; but the
// pure guarantee and the Rényi divergences that accountants take from the median's event
// are.) It holds when a unit is added, removed or replaced.
type SampleAggregate[T any] struct {
	options SampleAggregateOptions[T]
	line    line
	median  *Quantile // or
	noise   Additive
}

// maxBlocks bounds the number of blocks.
const maxBlocks = 1 << 20

// NewSampleAggregate returns the mechanism with the given options.
func NewSampleAggregate[T any](o SampleAggregateOptions[T]) (*SampleAggregate[T], error) {
	if o.Blocks < 1 || o.Blocks > maxBlocks {
		return nil, fmt.Errorf("%w: the number of blocks is not between 1 and 2^20", ErrParameter)
	}
	if o.Compute == nil {
		return nil, fmt.Errorf("%w: there is nothing to compute", ErrParameter)
	}
	l, err := newLine(o.Lower, o.Upper, o.Step)
	if err != nil {
		return nil, err
	}
	s := &SampleAggregate[T]{options: o, line: l}
	if o.Mean {
		change := new(big.Rat).SetInt(new(big.Int).SetUint64(max(l.last, 1)))
		s.noise, err = additive(big.NewRat(1, 1), change, o.Epsilon, o.Rho)
	} else if o.Rho.Sign() > 0 {
		err = fmt.Errorf("%w: the median takes an epsilon, not a rho", ErrParameter)
	} else {
		// The number of results is public, and one of them is replaced.
		s.median, err = NewQuantile(QuantileOptions{
			Lower: o.Lower, Upper: o.Upper, Step: o.Step, Quantiles: []*big.Rat{half},
			Neighbours: privacy.ReplaceOne, Epsilon: o.Epsilon,
		})
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Event is what the answer reveals, under both relations: whichever is in force, one
// result is replaced.
func (s *SampleAggregate[T]) Event() privacy.Event {
	if s.median != nil {
		return s.median.event()
	}
	return s.noise.Event()
}

// Release returns the aggregate with noise. Each element of units is all that there is
// of one unit.
func (s *SampleAggregate[T]) Release(bits noise.Bits, units []T) (float64, error) {
	blocks := make([][]T, s.options.Blocks)
	for _, u := range units {
		k, err := noise.Uniform(bits, big.NewInt(int64(s.options.Blocks)))
		if err != nil {
			return 0, fmt.Errorf("split units: %w", err)
		}
		blocks[k.Int64()] = append(blocks[k.Int64()], u)
	}
	results := make([]float64, len(blocks))
	for i, block := range blocks {
		results[i] = s.compute(block)
	}
	return s.aggregate(bits, results)
}

// compute returns a number that is not NaN, whatever the block.
func (s *SampleAggregate[T]) compute(block []T) (result float64) {
	defer func() {
		if recover() != nil || math.IsNaN(result) {
			result = math.Inf(-1)
		}
	}()
	return s.options.Compute(block)
}

func (s *SampleAggregate[T]) aggregate(bits noise.Bits, results []float64) (float64, error) {
	if s.median != nil {
		x, err := s.median.Choose(bits, results)
		if err != nil {
			return 0, fmt.Errorf("aggregate: %w", err)
		}
		return x[0], nil
	}
	sum := new(big.Int)
	for _, number := range s.line.numbers(results) {
		sum.Add(sum, new(big.Int).SetUint64(number))
	}
	noisy := []*big.Int{sum}
	if err := s.noise.AddTo(bits, noisy); err != nil {
		return 0, fmt.Errorf("aggregate: %w", err)
	}
	mean := new(big.Rat).SetFrac(noisy[0], big.NewInt(int64(len(results))))
	f, _ := mean.Add(s.line.lower, mean.Mul(mean, s.line.step)).Float64()
	return f, nil
}

// Bound returns, for a mean, an α such that the answer is within α of the mean of the
// results but with probability beta; for a median, by how many results it is off at
// most, as Quantile.Bound. How far the results are from that of all units is the
// function's affair.
func (s *SampleAggregate[T]) Bound(beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if s.median != nil {
		return s.median.Bound(int64(s.options.Blocks), beta)
	}
	q, err := s.noise.Bound(beta)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	alpha := new(big.Rat).SetFrac(q, big.NewInt(int64(s.options.Blocks)))
	return upFloat(alpha.Mul(alpha, s.line.step)), nil
}
