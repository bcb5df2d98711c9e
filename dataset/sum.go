package dataset

import (
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

// NoisyCount is the number of records. Noise may take it below zero.
func NoisyCount[T any](ctx context.Context, bits noise.Bits, d Dataset[T], o Options) (Answer[int64], error) {
	r, err := newRelease(bits, d.source, o, "NoisyCount")
	if err != nil {
		return Answer[int64]{}, err
	}
	m, err := r.additive(big.NewInt(1), 1)
	if err != nil {
		return Answer[int64]{}, err
	}
	q, err := m.Bound(r.beta)
	if err != nil {
		return Answer[int64]{}, err
	}
	return spend(ctx, r, func() (a Answer[int64], err error) {
		n := []*big.Int{big.NewInt(int64(len(d.records())))}
		if err := m.AddTo(bits, n); err != nil {
			return a, err
		}
		a.Value, a.Low, a.High = whole(n[0]), whole(new(big.Int).Sub(n[0], q)), whole(new(big.Int).Add(n[0], q))
		return a, nil
	})
}

// whole clamps to what an int64 holds.
func whole(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// NoisyHistogram counts the records of each key. The keys are public and different;
// records with another key, or on which key panics, count nowhere.
//
// One record changes one count by 1, so in L1 as in L2 the counts of all keys together
// move no further than one count of all records: the whole histogram costs and errs
// as NoisyCount does.
func NoisyHistogram[T any, K comparable](ctx context.Context, bits noise.Bits, d Dataset[T], keys []K, key func(T) K, o Options) (Answer[[]int64], error) {
	s, index := divide(d.source, keys)
	r, err := newRelease(bits, s, o, "NoisyHistogram")
	if err != nil {
		return Answer[[]int64]{}, err
	}
	m, err := r.additive(big.NewInt(1), 1)
	if err != nil {
		return Answer[[]int64]{}, err
	}
	q, err := m.Bound(share(r.beta, len(keys)))
	if err != nil {
		return Answer[[]int64]{}, err
	}
	return spend(ctx, r, func() (a Answer[[]int64], err error) {
		counts := make([]int64, len(keys))
		records := d.records()
		each(len(records), func(i int) {
			if at, ok := index[key(records[i])]; ok {
				counts[at]++
			}
		}, nil)
		ns := integers(counts)
		if err := m.AddTo(bits, ns); err != nil {
			return a, err
		}
		for _, n := range ns {
			a.Value = append(a.Value, whole(n))
			a.Low = append(a.Low, whole(new(big.Int).Sub(n, q)))
			a.High = append(a.High, whole(new(big.Int).Add(n, q)))
		}
		return a, nil
	})
}

func integers(counts []int64) []*big.Int {
	ns := make([]*big.Int, len(counts))
	for i, c := range counts {
		ns[i] = big.NewInt(c)
	}
	return ns
}

// share returns 1/n of a probability of failure.
func share(beta *big.Rat, n int) *big.Rat { return new(big.Rat).Quo(beta, big.NewRat(int64(n), 1)) }

// SumOptions are those of sums and averages.
type SumOptions struct {
	Options
	// Lower and Upper are what values are clamped to. Required.
	Lower, Upper float64
	// Default is the value of a record on which the function panics or is not a number;
	// it is clamped as well.
	Default float64
}

// clamped is numbers between two bounds on a grid.
type clamped struct {
	grid         grid
	lower, upper float64
	center       float64 // what is subtracted of each number first
	perUnit      float64
	least, most  int64 // in steps, less the center
	instead      int64 // of a number
	perRecord    *big.Int
}

// sumBits makes sums of up to 2^12 records fit an int64, in steps of about 2^-50 of
// the largest number.
const sumBits, sumAtOnce = 50, 1 << 12

func newClamped(o SumOptions, center float64, bits int) (*clamped, error) {
	if !(o.Lower <= o.Upper) || math.IsInf(o.Lower, 0) || math.IsInf(o.Upper, 0) || math.IsNaN(o.Default) {
		return nil, refuse("the bounds %v and %v or the default %v mean nothing", o.Lower, o.Upper, o.Default)
	}
	size := max(math.Abs(o.Lower-center), math.Abs(o.Upper-center))
	if size == 0 {
		return nil, refuse("the bounds %v and %v leave nothing to add up", o.Lower, o.Upper)
	}
	g, err := gridFor(size, bits)
	if err != nil {
		return nil, err
	}
	c := &clamped{grid: g, perUnit: g.perUnit(), lower: o.Lower, upper: o.Upper, center: center}
	c.least, c.most = math.MinInt64, math.MaxInt64
	c.least, c.most = c.steps(o.Lower), c.steps(o.Upper)
	c.instead = c.steps(o.Default)
	c.perRecord = big.NewInt(max(-c.least, c.most))
	return c, nil
}

// steps clamps a number and puts it on the grid. Rounding is monotone, so that what
// lies between the bounds does so in steps as well.
func (c *clamped) steps(x float64) int64 {
	x = min(max(x, c.lower), c.upper)
	return min(max(int64(math.RoundToEven((x-c.center)*c.perUnit)), c.least), c.most)
}

// sum adds up f over the records, exactly.
func sum[T any](c *clamped, records []T, f func(T) float64) *big.Int {
	total := new(big.Int)
	for part := range slices.Chunk(records, sumAtOnce) {
		var s int64
		add := func(i int) {
			if x := f(part[i]); math.IsNaN(x) {
				s += c.instead
			} else {
				s += c.steps(x)
			}
		}
		each(len(part), add, func(int) { s += c.instead })
		total.Add(total, big.NewInt(s))
	}
	return total
}

// NoisySum is the sum of f over the records, clamped and rounded to a grid of about
// 2^-50 of the larger bound.
func NoisySum[T any](ctx context.Context, bits noise.Bits, d Dataset[T], f func(T) float64, o SumOptions) (Answer[float64], error) {
	r, err := newRelease(bits, d.source, o.Options, "NoisySum")
	if err != nil {
		return Answer[float64]{}, err
	}
	c, err := newClamped(o, 0, sumBits)
	if err != nil {
		return Answer[float64]{}, err
	}
	m, err := r.additive(c.perRecord, 1)
	if err != nil {
		return Answer[float64]{}, err
	}
	q, err := m.Bound(r.beta)
	if err != nil {
		return Answer[float64]{}, err
	}
	return spend(ctx, r, func() (a Answer[float64], err error) {
		n := []*big.Int{sum(c, d.records(), f)}
		if err := m.AddTo(bits, n); err != nil {
			return a, err
		}
		a.Value = c.grid.of(n[0])
		a.Low, a.High = c.grid.around(n[0], q)
		return a, nil
	})
}

// NoisyAverage is the mean of f over the records, clamped: the noisy sum of what lies
// above or below the middle of the bounds, over the noisy count, at half of the cost
// each. Where the noisy count is below 1 it is the middle.
func NoisyAverage[T any](ctx context.Context, bits noise.Bits, d Dataset[T], f func(T) float64, o SumOptions) (Answer[float64], error) {
	r, err := newRelease(bits, d.source, o.Options, "NoisyAverage")
	if err != nil {
		return Answer[float64]{}, err
	}
	middle := o.Lower/2 + o.Upper/2
	c, err := newClamped(o, middle, sumBits)
	if err != nil {
		return Answer[float64]{}, err
	}
	sums, err := r.additive(c.perRecord, 2)
	if err != nil {
		return Answer[float64]{}, err
	}
	counts, err := r.additive(big.NewInt(1), 2)
	if err != nil {
		return Answer[float64]{}, err
	}
	qs, err := sums.Bound(share(r.beta, 2))
	if err != nil {
		return Answer[float64]{}, err
	}
	qn, err := counts.Bound(share(r.beta, 2))
	if err != nil {
		return Answer[float64]{}, err
	}
	return spend(ctx, r, func() (a Answer[float64], err error) {
		s, n := []*big.Int{sum(c, d.records(), f)}, []*big.Int{big.NewInt(int64(len(d.records())))}
		if err := sums.AddTo(bits, s); err != nil {
			return a, err
		}
		if err := counts.AddTo(bits, n); err != nil {
			return a, err
		}
		mean := func(s float64, n *big.Int) float64 {
			count, _ := new(big.Float).SetInt(n).Float64()
			return min(max(middle+s/count, o.Lower), o.Upper)
		}
		a.Value, a.Low, a.High = middle, o.Lower, o.Upper
		if n[0].Sign() > 0 {
			a.Value = mean(c.grid.of(s[0]), n[0])
		}
		// Both the sum and the count lie in their intervals together.
		if few, many := new(big.Int).Sub(n[0], qn), new(big.Int).Add(n[0], qn); few.Sign() > 0 {
			low, high := c.grid.around(s[0], qs)
			a.Low = min(mean(low, few), mean(low, many))
			a.High = max(mean(high, few), mean(high, many))
		}
		return a, nil
	})
}
