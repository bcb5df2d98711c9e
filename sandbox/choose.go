package sandbox

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Bin is how many outputs of a key have values in [Lower, Upper); the last bin of
// a key has its Upper too.
type Bin struct {
	Answer
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Histogram counts the outputs of each key by their values, in bins between edges that
// ascend. Values outside of all are in none. An output is in one bin, so the whole
// histogram costs and errs as Count does.
func (j *Job) Histogram(ctx context.Context, bits noise.Bits, edges []float64, c Cost) ([]Bin, error) {
	if len(edges) < 2 || !slices.IsSorted(edges) || len(slices.Compact(slices.Clone(edges))) != len(edges) ||
		math.IsNaN(edges[0]) || math.IsInf(edges[0], 0) || math.IsInf(edges[len(edges)-1], 0) {
		return nil, fmt.Errorf("%w: the edges of bins are two numbers or more, and ascend", ErrOptions)
	}
	beta, err := c.beta()
	if err != nil {
		return nil, err
	}
	distance, err := j.distance()
	if err != nil {
		return nil, err
	}
	m, err := c.additive(distance, big.NewRat(1, 1))
	if err != nil {
		return nil, err
	}
	keys, each := max(len(j.Mapper.options.Keys), 1), len(edges)-1
	q, err := m.Bound(beta.Quo(beta, big.NewRat(int64(keys*each), 1)))
	if err != nil {
		return nil, err
	}
	collect := func() *binned { return &binned{edges, make([]int64, keys*each)} }
	return release(ctx, bits, j, "histogram", c, []privacy.Event{m.Event()}, collect, func(all []*binned) ([]Bin, error) {
		counts := make([]*big.Int, keys*each)
		for i := range counts {
			counts[i] = new(big.Int)
			for _, b := range all {
				counts[i].Add(counts[i], big.NewInt(b.counts[i]))
			}
		}
		if err := m.AddTo(bits, counts); err != nil {
			return nil, err
		}
		bins := make([]Bin, len(counts))
		for i, n := range counts {
			bins[i] = Bin{Answer: grid{}.answer(n, q), Lower: edges[i%each], Upper: edges[i%each+1]}
			if j.Mapper.options.Keys != nil {
				bins[i].Key = j.Mapper.options.Keys[i/each]
			}
		}
		return bins, nil
	})
}

// binned counts in bins, those of a key in a row.
type binned struct {
	edges  []float64
	counts []int64
}

func (b *binned) add(key int, value float64) {
	i, exact := slices.BinarySearch(b.edges, value)
	last := len(b.edges) - 1
	if !exact || i == last {
		i--
	}
	if i >= 0 && i < last {
		b.counts[key*last+i]++
	}
}

// QuantileOptions say which quantiles of which outputs are wanted.
type QuantileOptions struct {
	// Key is that of the outputs, if they have keys.
	Key string
	// Quantiles ascend between 0 and 1, as 1/2 for the median.
	Quantiles []*big.Rat
	// Step is the distance of the candidates, from the lower end of the range to the
	// upper.
	Step *big.Rat
	// Epsilon is what all quantiles together cost.
	Epsilon privacy.Epsilon
}

// Quantiles are numbers that about the given shares of a key's outputs lie below,
// chosen from candidates by the exponential mechanism: see mechanism.Quantile. They
// have no interval.
func (j *Job) Quantiles(ctx context.Context, bits noise.Bits, o QuantileOptions) ([]float64, error) {
	outputs, err := j.Outputs()
	if err != nil {
		return nil, err
	}
	key, ok := j.Mapper.keys[o.Key]
	if !ok {
		return nil, fmt.Errorf("%w: key %q is not declared", ErrOptions, o.Key)
	}
	m, err := mechanism.NewQuantile(mechanism.QuantileOptions{
		Lower: new(big.Rat).SetFloat64(j.Mapper.options.Lower), Upper: new(big.Rat).SetFloat64(j.Mapper.options.Upper), Step: o.Step,
		Quantiles: o.Quantiles, MaxRows: outputs, Neighbours: j.Budget.Neighbours(), Epsilon: o.Epsilon,
	})
	if err != nil {
		return nil, err
	}
	collect := func() *listed { return &listed{key: key} }
	return release(ctx, bits, j, "quantiles", Cost{}, []privacy.Event{m.Event()}, collect, func(all []*listed) ([]float64, error) {
		var values []float64
		for _, l := range all {
			values = append(values, l.values...)
		}
		return m.Choose(bits, values)
	})
}

// listed keeps the values of a key; their order is chance.
type listed struct {
	key    int
	values []float64
}

func (l *listed) add(key int, value float64) {
	if key == l.key {
		l.values = append(l.values, value)
	}
}

// Max is the key whose sum of outputs is the largest with noise (mechanism.NoisyMax);
// with values that are all 1, the key with the most outputs.
//
// A unit's outputs move each key's sum by no more than all of them together would if
// they had that key. Of values with one sign, a unit that is added moves all sums
// in one direction, which halves the noise.
func (j *Job) Max(ctx context.Context, bits noise.Bits, epsilon privacy.Epsilon) (string, error) {
	distance, err := j.distance()
	if err != nil {
		return "", err
	}
	o := j.Mapper.options
	if o.Keys == nil {
		return "", fmt.Errorf("%w: there are no keys to choose from", ErrOptions)
	}
	g, err := j.Mapper.gridAround(0, scoreBits)
	if err != nil {
		return "", err
	}
	m, err := mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{Noise: mechanism.ExponentialNoise, ScoreOptions: mechanism.ScoreOptions{
		Sensitivity: new(big.Rat).SetInt(distance.Mul(distance, g.most)), Epsilon: epsilon, Grid: big.NewRat(1, 1),
		Monotone: j.Budget.Neighbours() == privacy.AddRemove && (o.Lower >= 0 || o.Upper <= 0),
	}})
	if err != nil {
		return "", err
	}
	collect := func() *sums { return newSums(len(o.Keys), g) }
	return release(ctx, bits, j, "max", Cost{}, []privacy.Event{m.Event()}, collect, func(all []*sums) (string, error) {
		_, totals := together(all)
		scores := make([]float64, len(totals))
		for i, n := range totals { // in steps, clamped to what a float64 holds exactly
			switch {
			case n.IsInt64():
				scores[i] = float64(min(max(n.Int64(), -maxScore), maxScore))
			default:
				scores[i] = float64(n.Sign()) * maxScore
			}
		}
		i, err := m.Choose(bits, scores)
		if err != nil {
			return "", err
		}
		return o.Keys[i], nil
	})
}

// scoreBits makes sums of 2^33 outputs at most maxScore steps, which a float64 holds.
const scoreBits, maxScore = 20, 1 << 53
