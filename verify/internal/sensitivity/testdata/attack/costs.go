package attack

import (
	"context"
	"iter"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

type embedded struct{ v float64 }

type embedding struct{ embedded }

// PromotedField sets a field of the struct within, and reads it there.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func PromotedField(x float64) float64 {
	var o embedding
	o.v = x
	return o.v
}

// SquaresFromBelow adds 385·x: the last square is 0, and those before are larger.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func SquaresFromBelow(x float64) float64 {
	s := 0.0
	for i := -10; i < 1; i++ {
		s += float64(i*i) * x
	}
	return s
}

// RoundsFromBelow draws 385 times.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func RoundsFromBelow(x, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := -10; i < 1; i++ {
		for j := 0; j < i*i; j++ {
			out = append(out, x+src.Laplace(1/eps))
		}
	}
	return out
}

// KeysBelowZero: for the key -1 it returns -x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KeysBelowZero(m map[int]float64, x float64) float64 {
	s := 0.0
	for k := range m {
		s += min(float64(k), 0) * x
	}
	return s
}

type table struct{ m map[int]float64 }

// WithinKeysBelowZero is the same of a map in a struct.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func WithinKeysBelowZero(t table, x float64) float64 {
	s := 0.0
	for k := range t.m {
		s += min(float64(k), 0) * x
	}
	return s
}

type seed uint64

func (s seed) Uint64() (uint64, error) { return uint64(s), nil }

// SeededByConstant has noise that everybody knows.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SeededByConstant(x, eps float64) float64 {
	return x + noise.NewSource(seed(1)).Laplace(1/eps)
}

// SeededByParameter has noise of a public number.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SeededByParameter(x, eps float64, s seed) float64 {
	return x + noise.NewSource(s).Laplace(1/eps)
}

// SeededBits does so by the interface.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SeededBits(x, eps float64, n uint64) float64 {
	var bits noise.Bits = seed(n)
	return x + noise.NewSource(bits).Laplace(1/eps)
}

// Louden shows nothing, but for what it leaves in q, which is as private as q is.
//
// want: accepted
//
//dp:adjacent each(q) <= 1
//dp:cost 0
func Louden(q []float64) {
	for i := range q {
		q[i] *= 1000
	}
}

// Loudened asks for what a function of cost 0 made a thousand times as loud.
//
// want: rejected
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps * float64(len(q))
func Loudened(q []float64, eps float64, src *noise.Source) float64 {
	w := slices.Clone(q)
	Louden(w)
	s := 0.0
	for _, x := range w {
		s += x
	}
	return s + src.Laplace(1/eps)
}

// OneOfTwo asks all records, or none: which of two datasets is asked depends on x.
//
// want: rejected
//
//dp:adjacent |x| <= 1 && bag(d) <= 1
//dp:cost epsilon
func OneOfTwo(ctx context.Context, d dataset.Dataset[int], x float64, epsilon privacy.Epsilon) (int64, error) {
	if x > 0 {
		d = dataset.Where(d, func(r int) bool { return true })
	} else {
		d = dataset.Where(d, func(r int) bool { return false })
	}
	n, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// OneOfTwoParts asks the i-th part, or the j-th.
//
// want: rejected
//
//dp:adjacent |x| <= 1 && bag(d) <= 1
//dp:cost epsilon
func OneOfTwoParts(ctx context.Context, d dataset.Dataset[int], keys []int, i, j int, x float64, epsilon privacy.Epsilon) (int64, error) {
	parts := dataset.Partition(d, keys, func(r int) int { return r })
	part := parts[i]
	if x > 0 {
		part = parts[j]
	}
	n, err := dataset.NoisyCount(ctx, noise.System(), part, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// EmptiedByRows asks no records if there are rows.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1 && bag(d) <= 1
//dp:cost epsilon
func EmptiedByRows(ctx context.Context, d dataset.Dataset[int], rows []int, epsilon privacy.Epsilon) (int64, error) {
	for range rows {
		d = dataset.Where(d, func(r int) bool { return false })
	}
	n, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// OneOrThree shows by the length of its result whether x is positive.
//
// want: rejected
//
//dp:adjacent |x| <= 1 && each(q) <= 1
//dp:cost eps
func OneOrThree(x float64, q []float64, eps privacy.Epsilon, bits noise.Bits) ([]int, error) {
	o := mechanism.ScoreOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps}
	m, err := mechanism.NewTopK(mechanism.TopKOptions{ScoreOptions: o, K: 1})
	if err != nil {
		return nil, err
	}
	if x > 0 {
		m, err = mechanism.NewTopK(mechanism.TopKOptions{ScoreOptions: o, K: 3})
	}
	return m.Choose(bits, q)
}

// OptionsWithin are replaced by others after one of them was set.
//
// want: rejected
//
//dp:adjacent each(q) <= 1
//dp:cost eps
func OptionsWithin(q []float64, eps, more privacy.Epsilon, bits noise.Bits) ([]int, error) {
	o := mechanism.TopKOptions{K: 1}
	o.Epsilon = eps
	o.Sensitivity = big.NewRat(1, 1)
	o.ScoreOptions = mechanism.ScoreOptions{Sensitivity: big.NewRat(1, 1), Epsilon: more}
	m, err := mechanism.NewTopK(o)
	if err != nil {
		return nil, err
	}
	return m.Choose(bits, q)
}

// SumOptionsWithin is the same of a dataset.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost eps
func SumOptionsWithin(ctx context.Context, d dataset.Dataset[int], eps, more privacy.Epsilon, bits noise.Bits) (float64, error) {
	o := dataset.SumOptions{Upper: 1}
	o.Epsilon = eps
	o.Options = dataset.Options{Epsilon: more}
	a, err := dataset.NoisySum(ctx, bits, d, func(r int) float64 { return float64(r) }, o)
	return a.Value, err
}

// RowsOfUnits: one row more makes a unit of even size one of odd size, and its number 1 of -1:
// twice as far as a unit that comes or goes.
//
// want: rejected: 2\*eps
//
//dp:adjacent bag(rows) <= 1
//dp:cost eps
func RowsOfUnits(ctx context.Context, rows []int, b budget.Budget, eps privacy.Epsilon, bits noise.Bits) (float64, error) {
	d, err := dataset.NewUnits(bits, rows, b, func(r int) int { return r % 10 })
	if err != nil {
		return 0, err
	}
	parity := func(g dataset.Group[int, int]) float64 { return float64(len(g.Records)%2*2 - 1) }
	a, err := dataset.NoisySum(ctx, bits, d, parity, dataset.SumOptions{Options: dataset.Options{Epsilon: eps}, Lower: -1, Upper: 1})
	return a.Value, err
}

// RowsOfBoundedUnits: of the rows -1 and 1 of a unit one is chosen, of -1 alone it is that. For
// epsilon of 2 the sum is 1 with a probability that is more than (1+e^4)/2 times as large.
//
// want: rejected: 2\*eps
//
//dp:adjacent bag(rows) <= 1
//dp:cost eps
func RowsOfBoundedUnits(ctx context.Context, rows []int, b budget.Budget, eps privacy.Epsilon, bits noise.Bits) (float64, error) {
	d, err := dataset.NewOfUnits(bits, rows, b, func(int) int { return 0 }, 1)
	if err != nil {
		return 0, err
	}
	a, err := dataset.NoisySum(ctx, bits, d, func(r int) float64 { return float64(r) }, dataset.SumOptions{Options: dataset.Options{Epsilon: eps}, Lower: -1, Upper: 1})
	return a.Value, err
}

// KeysOfZeros shows which rows there are.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:cost 0
func KeysOfZeros(rows []int) map[int]int {
	m := map[int]int{}
	for _, r := range rows {
		m[r] += 0
	}
	return m
}

// KeyOfRows: there is a key where there is a row.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:cost 0
func KeyOfRows(rows []int) int {
	m := map[int]int{}
	for range rows {
		m[1]++
	}
	return len(m)
}

// KeysInRounds are those of a loop within.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:cost 0
func KeysInRounds(rows []int) int {
	m := map[int]int{}
	for range rows {
		for i := range 3 {
			m[i] = 0
		}
	}
	return len(m)
}

// KeysBelow are there for all that is less than x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KeysBelow(x int) map[int]int {
	m := map[int]int{}
	for i := range 3 {
		if x > i {
			m[i] += 0
		}
	}
	return m
}

// OneOfTwoSources panics for positive s, if b is nil.
//
// want: rejected
//
//dp:adjacent |s| <= 1
//dp:cost 0
func OneOfTwoSources(s float64, a, b *noise.Source) float64 {
	if s > 0 {
		a = b
	}
	return a.Laplace(1)
}

// OfBits is of bits that the caller gives.
//
// want: accepted: eps
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func OfBits(x, eps float64, bits noise.Bits) float64 {
	return x + noise.NewSource(bits).Laplace(1/eps)
}

// SeedHandedOn gives bits that everybody knows to a function whose claim is of random ones.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SeedHandedOn(x, eps float64) float64 { return OfBits(x, eps, seed(1)) }

type kit struct{ bits noise.Bits }

// OfKit is of bits in a struct.
//
// want: accepted: eps
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func OfKit(x, eps float64, k kit) float64 {
	return x + noise.NewSource(k.bits).Laplace(1/eps)
}

// SeedInKit gives known bits in a struct.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SeedInKit(x, eps float64, k kit) float64 {
	k.bits = seed(3)
	return OfKit(x, eps, k)
}

// Answers costs eps for each pass over what it returns, which is proved by search alone.
//
// want: rejected: acts later
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Answers(q []float64, eps float64, src *noise.Source) iter.Seq[bool] {
	return func(yield func(bool) bool) {
		t := src.Laplace(2 / eps)
		for _, x := range q {
			above := x+src.Laplace(4/eps) >= t
			if !yield(above) || above {
				return
			}
		}
	}
}

// TwoPasses pays for one of two passes.
//
// want: rejected
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TwoPasses(q []float64, eps float64, src *noise.Source) ([]bool, []bool) {
	s := Answers(q, eps, src)
	return slices.Collect(s), slices.Collect(s)
}

// SpreadGaussian moves four numbers by 1 each, which discrete noise hides less than one that
// moves by 2: at epsilon 25 the delta is 1e-6.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 25, 0.0000001
func SpreadGaussian(x int64, src *noise.Source) []int64 {
	h := make([]int64, 4)
	for i := range h {
		h[i] = x
	}
	out := make([]int64, 4)
	for i := range out {
		out[i] = h[i] + src.DiscreteGaussian(0.5)
	}
	return out
}

func drawnOnce(b float64, src *noise.Source) float64 {
	for range 1 {
		return src.Laplace(b)
	}
	panic("no draw")
}

// DrawnInAnother adds one draw to all elements: the second less the first is x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost 20 * eps
func DrawnInAnother(x, eps float64, src *noise.Source) []float64 {
	n := drawnOnce(1/eps, src)
	out := make([]float64, 5)
	for i := range out {
		out[i] = x*float64(i) + n
	}
	return out
}

// UnpaidElsewhere: where b is negative and the second draw is not made, the first one is not
// paid for by it.
//
// want: rejected: not known to be at most
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps + b
func UnpaidElsewhere(x, b, eps float64, src *noise.Source) float64 {
	y := x + src.Laplace(1/eps)
	if b > 0 {
		y += x + src.Laplace(1/b)
	}
	return y
}

// Indebted claims that nothing costs less than nothing, where a is above 1000.
//
// want: rejected: no theorem gives the claimed
//
//dp:adjacent |x| <= 1
//dp:requires a > 0
//dp:cost 1000 - a, 0.1
func Indebted(x, a float64, src *noise.Source) float64 { return src.Laplace(a) }

// ZeroByZero costs what is no number where a is 0.
//
// want: rejected: a division by what may be zero
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps * a / a
func ZeroByZero(x, a, eps float64, src *noise.Source) float64 { return x + src.Laplace(1/eps) }

// ScoresDoubled writes to scores that a mechanism was asked for, and asks it again.
//
// want: rejected
//
//dp:adjacent each(q) <= 1
//dp:cost 2 * eps
func ScoresDoubled(q []float64, eps privacy.Epsilon) (int, int, error) {
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return 0, 0, err
	}
	scores := slices.Clone(q)
	i, err := m.Choose(noise.System(), scores)
	if err != nil {
		return 0, 0, err
	}
	for k := range scores {
		scores[k] *= 2
	}
	j, err := m.Choose(noise.System(), scores)
	return i, j, err
}

// SharesTooLarge asks at two thirds of ε twice.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:cost eps
func SharesTooLarge(rows []float64, eps privacy.Epsilon) ([]float64, []float64, error) {
	m, err := mechanism.NewVector(mechanism.VectorOptions{L1: big.NewRat(1, 1), Epsilon: eps.MulRat(big.NewRat(2, 3))})
	if err != nil {
		return nil, nil, err
	}
	first, err := m.Release(noise.System(), []float64{float64(len(rows))})
	if err != nil {
		return nil, nil, err
	}
	second, err := m.Release(noise.System(), []float64{float64(len(rows))})
	return first, second, err
}

// SharesOfChanged divides by a number that is changed before it is used.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:cost eps / 2
func SharesOfChanged(rows []float64, eps privacy.Epsilon) ([]float64, error) {
	half := big.NewRat(1, 2)
	half.Add(half, half)
	m, err := mechanism.NewVector(mechanism.VectorOptions{L1: big.NewRat(1, 1), Epsilon: eps.MulRat(half)})
	if err != nil {
		return nil, err
	}
	return m.Release(noise.System(), []float64{float64(len(rows))})
}
