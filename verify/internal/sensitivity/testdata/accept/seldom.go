package accept

import (
	"context"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// What programs do seldom: each has a rule that no other program of this folder meets.

// CopiedArray makes an array of another type.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func CopiedArray(q [2]float64) [2]float64 {
	type vector [2]float64
	v := vector(q)
	return v
}

// FirstThree fills an array.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func FirstThree(q []float64) [3]float64 {
	var out [3]float64
	for i := range out {
		if i < len(q) {
			out[i] = q[i]
		}
	}
	return out
}

// ArraySum ranges over an array.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func ArraySum(q [3]float64) float64 {
	s := 0.0
	for _, x := range q {
		s += x
	}
	return s
}

func both(x float64) (float64, float64) { return x, x }

func plus(x, y float64) float64 { return x + y }

// Passed gives two results on as two arguments.
//
// want: accepted: x: 2
//
//dp:sensitivity x = 2
func Passed(x float64) float64 { return plus(both(x)) }

func total(xs ...float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

// Spread gives a slice as many arguments.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Spread(q []float64) float64 { return total(q...) }

// Gathered gives many arguments.
//
// want: accepted: x: 3, y: 1
//
//dp:sensitivity x = 3
//dp:sensitivity y = 1
func Gathered(x, y float64) float64 { return total(x, 2*x, -y) }

func second(_ float64, y float64) float64 { return y }

func one(float64) float64 { return 1 }

// Ignored gives private data to functions that do not read them.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func Ignored(x float64) float64 { return second(7*x, x) + one(x) }

// WidenedType is an integer of a type that holds all of the other.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func WidenedType(x int16) int32 { return int32(x) }

// LeastOf has a bound with min.
//
// want: accepted: x: 2*min(a, b)
//
//dp:requires a > 0 && b > 0
//dp:sensitivity x = 2 * min(a, b)
func LeastOf(x, a, b float64) float64 { return 2 * min(a, b) * x }

// InParentheses sets a result in parentheses.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func InParentheses(x float64) (y float64) {
	(y) = +x
	return y
}

// AddedTo writes the sum out.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func AddedTo(q []float64) []float64 {
	out := make([]float64, len(q))
	for i := range q {
		out[i] = out[i] + q[i]
	}
	return out
}

func twice[T int | float64](x T) T { return 2 * x }

// Instantiated names the type.
//
// want: accepted: x: 2
//
//dp:sensitivity x = 2
func Instantiated(x float64) float64 { return twice[float64](x) }

// AskOneOfTwo asks of all, or of some, as a public number says.
//
// want: accepted: epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func AskOneOfTwo(ctx context.Context, d dataset.Dataset[int], n int, epsilon privacy.Epsilon) (int64, error) {
	asked := d
	if n > 3 {
		asked = dataset.Where(d, func(x int) bool { return x > n })
	}
	answer, err := dataset.NoisyCount(ctx, noise.System(), asked, dataset.Options{Epsilon: epsilon})
	return answer.Value, err
}

// AskNarrower asks of fewer each time.
//
// want: accepted: epsilon*n
//
//dp:adjacent bag(d) <= 1
//dp:requires n >= 0
//dp:cost float64(n) * epsilon
func AskNarrower(ctx context.Context, d dataset.Dataset[int], n int, epsilon privacy.Epsilon) (int64, error) {
	asked := d
	var sum int64
	for i := range n {
		asked = dataset.Where(asked, func(x int) bool { return x > i })
		answer, err := dataset.NoisyCount(ctx, noise.System(), asked, dataset.Options{Epsilon: epsilon})
		if err != nil {
			return 0, err
		}
		sum += answer.Value
	}
	return sum, nil
}

// AskWithBoth pays two parameters at once.
//
// want: accepted: a + b
//
//dp:adjacent bag(d) <= 1
//dp:cost a + b
func AskWithBoth(ctx context.Context, d dataset.Dataset[int], a, b privacy.Epsilon) (int64, error) {
	answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: a.Add(b)})
	return answer.Value, err
}

// AskForHalf parses a constant.
//
// want: accepted: 1/2
//
//dp:adjacent bag(d) <= 1
//dp:cost 1.0 / 2
func AskForHalf(ctx context.Context, d dataset.Dataset[int]) (int64, error) {
	half, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		return 0, err
	}
	answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: half})
	return answer.Value, err
}

// AskApproximately pays a delta, on one of two ways.
//
// want: accepted
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon, delta
func AskApproximately(ctx context.Context, d dataset.Dataset[int], n int, epsilon privacy.Epsilon, delta privacy.Delta) (int64, error) {
	if n > 3 {
		answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon, Delta: delta})
		return answer.Value, err
	}
	few := dataset.Where(d, func(x int) bool { return x > n })
	answer, err := dataset.NoisyCount(ctx, noise.System(), few, dataset.Options{Epsilon: epsilon})
	return answer.Value, err
}
