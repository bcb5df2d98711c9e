package sandbox

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Cost is what a release may reveal: Epsilon for Laplace noise, or Rho for Gaussian
// noise. Exactly one is required.
type Cost struct {
	Epsilon privacy.Epsilon
	Rho     privacy.Rho
	// Delta is where a filter converts Gaussian noise that counts (ε, δ).
	Delta privacy.Delta
	// Confidence is that with which all intervals of an answer hold together; 0.95
	// if it is 0.
	Confidence float64
}

// An Answer is a noisy number under a key. The number without noise, of the outputs
// as they were forced into their range and rounded to a grid, is in [Low, High] with
// the confidence asked for.
type Answer struct {
	Key   string  `json:"key,omitempty"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// beta is the probability that an interval fails.
func (c Cost) beta() (*big.Rat, error) {
	if c.Confidence == 0 {
		c.Confidence = 0.95
	}
	if !(c.Confidence > 0 && c.Confidence < 1) {
		return nil, fmt.Errorf("%w: confidence %v does not lie between 0 and 1", ErrOptions, c.Confidence)
	}
	confidence, err := numeric.FromFloat(c.Confidence)
	if err != nil {
		return nil, fmt.Errorf("%w: confidence: %w", ErrOptions, err)
	}
	return confidence.Sub(big.NewRat(1, 1), confidence), nil
}

// additive returns noise for numbers at the given distance, in L1 and so in L2, at
// a share of the cost.
func (c Cost) additive(distance *big.Int, share *big.Rat) (mechanism.Additive, error) {
	d := new(big.Rat).SetInt(distance)
	switch {
	case (c.Epsilon.Sign() > 0) == (c.Rho.Sign() > 0):
		return nil, fmt.Errorf("%w: a release costs epsilon or rho, one of them", ErrOptions)
	case c.Epsilon.Sign() > 0:
		return mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: d, Epsilon: c.Epsilon.MulRat(share)})
	}
	return mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: d.Mul(d, d), Rho: c.Rho.MulRat(share)})
}

// A grid is the multiples of 2^exponent on which values are added, as integers.
type grid struct {
	exponent int
	center   float64  // which is taken from a value first
	most     *big.Int // in steps, in size
}

// sumBits makes a value at most 2^sumBits steps, so that sums of flushAt fit an int64.
const sumBits, flushAt = 42, 1 << 20

// gridAround returns a grid on which values less the center have at most 2^bits steps.
func (m *Mapper) gridAround(center float64, bits int) (grid, error) {
	o := m.options
	size := max(math.Abs(o.Lower-center), math.Abs(o.Upper-center))
	_, e := math.Frexp(size)
	if size == 0 || e < -900 || e > 900 {
		return grid{}, fmt.Errorf("%w: values in %v..%v cannot be added up", ErrOptions, o.Lower, o.Upper)
	}
	g := grid{exponent: e - bits, center: center}
	g.most = big.NewInt(max(-g.steps(o.Lower), g.steps(o.Upper), 0))
	return g, nil
}

// steps returns a value in steps. Every operation is monotone, so a value in the
// range has no more steps than its ends.
func (g grid) steps(v float64) int64 {
	return int64(math.Floor(math.Ldexp(v-g.center, -g.exponent) + 0.5))
}

// float returns n steps as the nearest float64.
func (g grid) float(n *big.Int) float64 {
	f := new(big.Float).SetInt(n)
	x, _ := f.SetMantExp(f, g.exponent).Float64()
	return x
}

// sums are the numbers and the sums of the outputs of each key. They are integers, so
// it does not matter who added them up, or in which order.
type sums struct {
	grid  grid
	count []int64
	part  []int64 // of the sum, less than flushAt values
	since []int32
	total []*big.Int
}

func newSums(keys int, g grid) *sums {
	s := &sums{grid: g, count: make([]int64, keys), part: make([]int64, keys), since: make([]int32, keys), total: make([]*big.Int, keys)}
	for i := range s.total {
		s.total[i] = new(big.Int)
	}
	return s
}

func (s *sums) add(key int, value float64) {
	s.count[key]++
	s.part[key] += s.grid.steps(value)
	if s.since[key]++; s.since[key] == flushAt {
		s.flush(key)
	}
}

func (s *sums) flush(key int) {
	s.total[key].Add(s.total[key], big.NewInt(s.part[key]))
	s.part[key], s.since[key] = 0, 0
}

// together returns the counts and the sums of all collectors.
func together(all []*sums) (counts, totals []*big.Int) {
	for key := range all[0].count {
		count, total := new(big.Int), new(big.Int)
		for _, s := range all {
			s.flush(key)
			count.Add(count, big.NewInt(s.count[key]))
			total.Add(total, s.total[key])
		}
		counts, totals = append(counts, count), append(totals, total)
	}
	return counts, totals
}

// release charges the budget for the events and then runs the job, which collects
// into what answer reads.
func release[C collector, A any](ctx context.Context, bits noise.Bits, j *Job, name string, c Cost, events []privacy.Event, collect func() C, answer func([]C) (A, error)) (A, error) {
	r := budget.Release{Statement: fmt.Sprintf("%s of what module %s makes", name, j.Mapper.Hash()), Events: events, Delta: c.Delta}
	a, err := budget.Spend(ctx, j.Budget, r, func() (none A, err error) {
		all, err := run(ctx, bits, j, collect)
		if err != nil {
			return none, err
		}
		return answer(all)
	})
	if err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// keyed names the answers by their keys.
func (j *Job) keyed(answers []Answer) []Answer {
	for i := range j.Mapper.options.Keys {
		answers[i].Key = j.Mapper.options.Keys[i]
	}
	return answers
}

// Count is how many outputs each key has.
func (j *Job) Count(ctx context.Context, bits noise.Bits, c Cost) ([]Answer, error) {
	return j.total(ctx, bits, "count", c, big.NewInt(1), grid{}, func(counts, _ []*big.Int) []*big.Int { return counts })
}

// Sum is the sum of the outputs of each key.
func (j *Job) Sum(ctx context.Context, bits noise.Bits, c Cost) ([]Answer, error) {
	if _, err := j.Outputs(); err != nil {
		return nil, err
	}
	g, err := j.Mapper.gridAround(0, sumBits)
	if err != nil {
		return nil, err
	}
	return j.total(ctx, bits, "sum", c, g.most, g, func(_, totals []*big.Int) []*big.Int { return totals })
}

// total releases a number of each key that an output changes by at most most: all
// numbers together change by at most most for each output, in L1 and in L2.
func (j *Job) total(ctx context.Context, bits noise.Bits, name string, c Cost, most *big.Int, g grid, of func(counts, totals []*big.Int) []*big.Int) ([]Answer, error) {
	beta, err := c.beta()
	if err != nil {
		return nil, err
	}
	distance, err := j.distance()
	if err != nil {
		return nil, err
	}
	m, err := c.additive(distance.Mul(distance, most), big.NewRat(1, 1))
	if err != nil {
		return nil, err
	}
	cells := max(len(j.Mapper.options.Keys), 1)
	q, err := m.Bound(beta.Quo(beta, big.NewRat(int64(cells), 1)))
	if err != nil {
		return nil, err
	}
	collect := func() *sums { return newSums(cells, g) }
	return release(ctx, bits, j, name, c, []privacy.Event{m.Event()}, collect, func(all []*sums) ([]Answer, error) {
		numbers := of(together(all))
		if err := m.AddTo(bits, numbers); err != nil {
			return nil, err
		}
		answers := make([]Answer, cells)
		for i, n := range numbers {
			answers[i] = g.answer(n, q)
		}
		return j.keyed(answers), nil
	})
}

// answer is n steps, give or take q.
func (g grid) answer(n, q *big.Int) Answer {
	return Answer{Value: g.float(n), Low: g.float(new(big.Int).Sub(n, q)), High: g.float(new(big.Int).Add(n, q))}
}

// Mean is the mean of the outputs of each key: the noisy sum of what lies above or
// below the middle of the range, over the noisy count, at half of the cost each. It
// stays in the range, and is its middle where the noisy count is below 1.
func (j *Job) Mean(ctx context.Context, bits noise.Bits, c Cost) ([]Answer, error) {
	distance, err := j.distance()
	if err != nil {
		return nil, err
	}
	o := j.Mapper.options
	g, err := j.Mapper.gridAround(o.Lower/2+o.Upper/2, sumBits)
	if err != nil {
		return nil, err
	}
	beta, err := c.beta()
	if err != nil {
		return nil, err
	}
	half := big.NewRat(1, 2)
	ofCount, err := c.additive(distance, half)
	if err != nil {
		return nil, err
	}
	ofSum, err := c.additive(distance.Mul(distance, g.most), half)
	if err != nil {
		return nil, err
	}
	cells := max(len(o.Keys), 1)
	beta.Quo(beta, big.NewRat(2*int64(cells), 1))
	qCount, err := ofCount.Bound(beta)
	if err != nil {
		return nil, err
	}
	qSum, err := ofSum.Bound(beta)
	if err != nil {
		return nil, err
	}
	collect := func() *sums { return newSums(cells, g) }
	return release(ctx, bits, j, "mean", c, []privacy.Event{ofCount.Event(), ofSum.Event()}, collect, func(all []*sums) ([]Answer, error) {
		counts, totals := together(all)
		if err := ofCount.AddTo(bits, counts); err != nil {
			return nil, err
		}
		if err := ofSum.AddTo(bits, totals); err != nil {
			return nil, err
		}
		answers := make([]Answer, cells)
		for i := range answers {
			answers[i] = j.mean(g, grid{}.answer(counts[i], qCount), g.answer(totals[i], qSum))
		}
		return j.keyed(answers), nil
	})
}

// mean is the middle and a quotient. If there are any outputs, their number is at
// least 1, and the mean an end of the interval at an end of both intervals.
func (j *Job) mean(g grid, count, sum Answer) Answer {
	o := j.Mapper.options
	at := func(s, n float64) float64 {
		return min(max(g.center+s/max(n, 1), o.Lower), o.Upper)
	}
	a := Answer{
		Value: g.center,
		Low:   min(at(sum.Low, count.Low), at(sum.Low, count.High)),
		High:  max(at(sum.High, count.Low), at(sum.High, count.High)),
	}
	if count.Value >= 1 {
		a.Value = at(sum.Value, count.Value)
	}
	return a
}
