package fresh

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

type candidate struct {
	index int
	value float64
}

func (c candidate) beats(d candidate) bool { return d.index < 0 || c.value > d.value }

type tournament struct {
	winner int
	score  float64
	played bool
}

func (t *tournament) enter(i int, score float64) {
	if t.played && score <= t.score {
		return
	}
	t.winner, t.score, t.played = i, score, true
}

func flip(b bool, odds float64, src *noise.Source) bool {
	if src.Bernoulli(odds / (1 + odds)) {
		return b
	}
	return !b
}

var errEmpty = errors.New("no candidates")

// InfStart begins with an infinity.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func InfStart(q []float64, eps float64, src *noise.Source) int {
	best := math.Inf(-1)
	arg := -1
	for i, x := range q {
		v := x + src.Laplace(2/eps)
		if v > best {
			best = v
			arg = i
		}
	}
	return arg
}

// InfMin begins with the other one.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func InfMin(q []float64, eps float64, src *noise.Source) (arg int) {
	least := math.Inf(1)
	for i := range q {
		if v := q[i] + src.Laplace(2/eps); v < least {
			least, arg = v, i
		}
	}
	return
}

// MaxFloatStart begins with the least float.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func MaxFloatStart(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, -math.MaxFloat64
	for i, x := range q {
		if v := x + src.Laplace(2/eps); v > best {
			arg, best = i, v
		}
	}
	return arg
}

// MinIntStart begins with the least integer.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func MinIntStart(q []int64, eps float64, src *noise.Source) int {
	arg, best := -1, int64(math.MinInt64)
	for i, x := range q {
		if v := x + src.DiscreteLaplace(2/eps); v > best {
			arg, best = i, v
		}
	}
	return arg
}

// StructInf keeps the winner in a struct that begins with an infinity.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func StructInf(q []float64, eps float64, src *noise.Source) int {
	best := candidate{index: -1, value: math.Inf(-1)}
	for i, x := range q {
		if v := x + src.Laplace(2/eps); v > best.value {
			best = candidate{i, v}
		}
	}
	return best.index
}

// StructBest keeps it in one that has no index yet.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func StructBest(q []float64, eps float64, src *noise.Source) int {
	best := candidate{index: -1}
	for i, x := range q {
		c := candidate{i, x + src.Laplace(2/eps)}
		if c.beats(best) {
			best = c
		}
	}
	return best.index
}

// PointerBest keeps it behind a pointer, with an early return.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func PointerBest(q []float64, eps float64, src *noise.Source) int {
	t := &tournament{winner: -1}
	for i, x := range q {
		t.enter(i, x+src.Laplace(2/eps))
	}
	return t.winner
}

// ClosureNoise has noise from a closure, and goes on where nothing is won.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClosureNoise(q []float64, eps float64, src *noise.Source) int {
	noisy := func(i int) float64 { return q[i] + src.Laplace(2/eps) }
	if len(q) == 0 {
		return -1
	}
	arg, best := 0, noisy(0)
	for i := 1; i < len(q); i++ {
		v := noisy(i)
		if v <= best {
			continue
		}
		arg, best = i, v
	}
	return arg
}

// MaxInf compares, and takes the maximum.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func MaxInf(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, math.Inf(-1)
	for i, x := range q {
		v := x + src.Laplace(2/eps)
		if v >= best {
			arg = i
		}
		best = math.Max(best, v)
	}
	return arg
}

// SlicesMaxIndex is by package slices.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func SlicesMaxIndex(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i, x := range q {
		noisy[i] = x + src.Laplace(2/eps)
	}
	return slices.Index(noisy, slices.Max(noisy))
}

// ClonedInPlace adds noise to a copy.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func ClonedInPlace(q []float64, eps float64, src *noise.Source) int {
	noisy := slices.Clone(q)
	for i := range noisy {
		noisy[i] += src.Laplace(2 / eps)
	}
	arg := 0
	for i, x := range noisy {
		if x > noisy[arg] {
			arg = i
		}
	}
	return arg
}

// WithError passes over the first count in its loop.
//
// want: proved
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func WithError(counts []int64, eps float64, src *noise.Source) (int, error) {
	if len(counts) == 0 {
		return 0, errEmpty
	}
	arg := 0
	best := counts[0] + src.DiscreteLaplace(2/eps)
	for i, n := range counts {
		if i == 0 {
			continue
		}
		if noisy := n + src.DiscreteLaplace(2/eps); noisy > best {
			arg, best = i, noisy
		}
	}
	return arg, nil
}

// Compared compares by package cmp.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Compared(q []float64, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		v := x + src.Laplace(2/eps)
		if arg >= 0 && cmp.Compare(v, best) <= 0 {
			continue
		}
		arg, best = i, v
	}
	return arg
}

// UnaryBits encodes one of k values in as many bits, two of which differ between neighbours.
//
// want: proved
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func UnaryBits(value, k int, eps float64, src *noise.Source) []bool {
	p := math.Exp(eps/2) / (1 + math.Exp(eps/2))
	out := make([]bool, k)
	for i := range out {
		bit := i == value
		if !src.Bernoulli(p) {
			bit = !bit
		}
		out[i] = bit
	}
	return out
}

// OptimizedUnary has other odds for the one bit that is set (Wang et al. 2017).
//
// want: proved
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func OptimizedUnary(value, k int, eps float64, src *noise.Source) []bool {
	var out []bool
	for i := range k {
		if i == value {
			out = append(out, src.Bernoulli(0.5))
		} else {
			out = append(out, src.Bernoulli(1/(1+math.Exp(eps))))
		}
	}
	return out
}

// Rappor lies in each bit with the probability f/2 (Erlingsson, Pihur and Korolova 2014).
//
// want: proved
//
//dp:adjacent |value| <= k
//dp:requires f > 0 && f < 1
//dp:cost 2 * math.Log((1-f/2)/(f/2))
func Rappor(value, k int, f float64, src *noise.Source) []bool {
	out := make([]bool, k)
	for i := range k {
		out[i] = i == value
		if src.Bernoulli(f) {
			out[i] = src.Bernoulli(0.5)
		}
	}
	return out
}

// UnaryHelper flips bits in a function.
//
// want: proved
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func UnaryHelper(value, k int, eps float64, src *noise.Source) []bool {
	var report []bool
	for i := 0; i < k; i++ {
		report = append(report, flip(i == value, math.Exp(eps/2), src))
	}
	return report
}

// UnaryInts has numbers for bits.
//
// want: proved
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func UnaryInts(value, k int, eps float64, src *noise.Source) []int {
	report := make([]int, k)
	p := 1 / (1 + math.Exp(eps/2))
	for i := range report {
		lie := src.Bernoulli(p)
		if i == value && !lie || i != value && lie {
			report[i] = 1
		}
	}
	return report
}

// UnaryOdds is OptimizedUnary by its odds.
//
// want: proved
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func UnaryOdds(value, k int, eps float64, src *noise.Source) []bool {
	out := make([]bool, k)
	for i := range out {
		p := 1 / (1 + math.Exp(eps))
		if i == value {
			p = 0.5
		}
		out[i] = src.Bernoulli(p)
	}
	return out
}

// OneBitMean tells one bit of a number, with odds that are linear in it (Ding, Kulkarni and Yekhanin 2017).
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && x >= 0 && x <= 1
//dp:cost eps
func OneBitMean(x, eps float64, src *noise.Source) bool {
	e := math.Exp(eps)
	return src.Bernoulli((1 + x*(e-1)) / (e + 1))
}

// ExponentialDifference makes Laplace noise of exponential noise.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ExponentialDifference(x, eps float64, src *noise.Source) float64 {
	a, b := src.Exponential(1/eps), src.Exponential(1/eps)
	return x + a - b
}

// GeometricDifference does so for integers.
//
// want: proved
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func GeometricDifference(n int64, eps float64, src *noise.Source) int64 {
	return n + src.Geometric(1/eps) - src.Geometric(1/eps)
}

// BadInfHalf has half of the noise.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BadInfHalf(q []float64, eps float64, src *noise.Source) int {
	best, arg := math.Inf(-1), -1
	for i, x := range q {
		v := x + src.Laplace(1/eps)
		if v > best {
			best, arg = v, i
		}
	}
	return arg
}

// BadInfBest tells the maximum.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BadInfBest(q []float64, eps float64, src *noise.Source) float64 {
	best := math.Inf(-1)
	for _, x := range q {
		best = max(best, x+src.Laplace(2/eps))
	}
	return best
}

// BadInfReset tells that it is still infinite.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BadInfReset(x, eps float64, src *noise.Source) bool {
	best := math.Inf(-1)
	if x > 0 {
		best = x
	}
	return math.IsInf(best, -1)
}

// BadStruct tells the noisy score.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BadStruct(q []float64, eps float64, src *noise.Source) float64 {
	best := candidate{index: -1}
	for i, x := range q {
		c := candidate{i, x + src.Laplace(2/eps)}
		if c.beats(best) {
			best = c
		}
	}
	return best.value
}

// BadPointer has no noise.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BadPointer(q []float64, eps float64, src *noise.Source) int {
	t := &tournament{winner: -1}
	for i, x := range q {
		t.enter(i, x)
	}
	return t.winner
}

// BadUnary pays for one bit of two.
//
// want: refuted
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func BadUnary(value, k int, eps float64, src *noise.Source) []bool {
	p := math.Exp(eps) / (1 + math.Exp(eps))
	out := make([]bool, k)
	for i := range out {
		bit := i == value
		if !src.Bernoulli(p) {
			bit = !bit
		}
		out[i] = bit
	}
	return out
}

// BadOptimizedUnary says yes too often.
//
// want: refuted
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func BadOptimizedUnary(value, k int, eps float64, src *noise.Source) []bool {
	var out []bool
	for i := range k {
		if i == value {
			out = append(out, src.Bernoulli(0.75))
		} else {
			out = append(out, src.Bernoulli(1/(1+math.Exp(eps))))
		}
	}
	return out
}

// BadRappor pays for one bit of two.
//
// want: refuted
//
//dp:adjacent |value| <= k
//dp:requires f > 0 && f < 1
//dp:cost math.Log((1-f/2)/(f/2))
func BadRappor(value, k int, f float64, src *noise.Source) []bool {
	out := make([]bool, k)
	for i := range k {
		out[i] = i == value
		if src.Bernoulli(f) {
			out[i] = src.Bernoulli(0.5)
		}
	}
	return out
}

// Thermometer sets all bits from the value on.
//
// want: refuted
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func Thermometer(value, k int, eps float64, src *noise.Source) []bool {
	out := make([]bool, k)
	on := false
	for i := range out {
		if i == value {
			on = true
		}
		out[i] = on != src.Bernoulli(1/(1+math.Exp(eps/2)))
	}
	return out
}

// UnaryTwice encodes twice.
//
// want: refuted
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func UnaryTwice(value, k int, eps float64, src *noise.Source) []bool {
	var report []bool
	for range 2 {
		for i := 0; i < k; i++ {
			report = append(report, flip(i == value, math.Exp(eps/2), src))
		}
	}
	return report
}

// UnaryNoLie never hides the bit that is set.
//
// want: refuted
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func UnaryNoLie(value, k int, eps float64, src *noise.Source) []bool {
	out := make([]bool, k)
	for i := range out {
		out[i] = i == value || src.Bernoulli(1/(1+math.Exp(eps)))
	}
	return out
}

// UnaryOtherCounter has two bits for each value.
//
// want: refuted
//
//dp:adjacent |value| <= k
//dp:requires eps > 0 && k > 1
//dp:cost eps
func UnaryOtherCounter(value, k int, eps float64, src *noise.Source) []bool {
	var report []bool
	for i := 0; i < k; i++ {
		report = append(report, flip(i/2 == value, math.Exp(eps/2), src))
	}
	return report
}

// KaryShift adds something that is not 0, modulo k.
//
// want: proved
//
//dp:adjacent |category| <= k
//dp:requires eps > 0 && k >= 2 && category >= 0 && category < k
//dp:cost eps
func KaryShift(category, k int, eps float64, src *noise.Source) int {
	e := math.Exp(eps)
	if src.Bernoulli(e / (e + float64(k-1))) {
		return category
	}
	return (category + 1 + src.Uniform(k-1)) % k
}

// BadKaryShift adds too much.
//
// want: refuted
//
//dp:adjacent |category| <= k
//dp:requires eps > 0 && k >= 2 && category >= 0 && category < k
//dp:cost eps
func BadKaryShift(category, k int, eps float64, src *noise.Source) int {
	e := math.Exp(eps)
	if src.Bernoulli(e / (e + float64(k-1))) {
		return category
	}
	return (category + 2 + src.Uniform(k-1)) % k
}

// UnaryAndBit tells another bit in every round, too.
//
// want: refuted
//
//dp:adjacent |value| <= k
//dp:adjacent |also| <= 1
//dp:requires eps > 0 && k > 1
//dp:cost 2 * eps
func UnaryAndBit(value, k int, also bool, eps float64, src *noise.Source) []bool {
	var out []bool
	p := 1 / (1 + math.Exp(eps/2))
	for i := range k {
		out = append(out, (i == value) != src.Bernoulli(p))
		out = append(out, also != src.Bernoulli(p))
	}
	return out
}

// OneBitTwice has the odds of twice the epsilon.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && x >= 0 && x <= 1
//dp:cost eps
func OneBitTwice(x, eps float64, src *noise.Source) bool {
	e := math.Exp(2 * eps)
	return src.Bernoulli((1 + x*(e-1)) / (e + 1))
}

// BadDifference has two scales.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BadDifference(x, eps float64, src *noise.Source) float64 {
	return x + src.Exponential(1/eps) - src.Exponential(0.5/eps)
}
