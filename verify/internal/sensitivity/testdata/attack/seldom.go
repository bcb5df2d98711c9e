package attack

import (
	"context"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Beside the programs of accept/seldom.go, each wrong in one thing.

// want: rejected: at most
//
//dp:sensitivity q = 1
func SeldomArray(q []float64) float64 {
	v := [2]float64(q)
	return v[0] + 2*v[1] + v[0] // moved by q[0] = 1, it moves by 2
}

// want: rejected: at most 2
//
//dp:sensitivity q = 1
func SeldomFirst(q [3]float64) [3]float64 {
	var out [3]float64
	for i, x := range q {
		out[i] = x
		out[0] += x
	}
	return out
}

func seldomBoth(x float64) (float64, float64) { return x, x }

func seldomPlus(x, y float64) float64 { return x + y }

// want: rejected: at most 2
//
//dp:sensitivity x = 1
func SeldomPassed(x float64) float64 { return seldomPlus(seldomBoth(x)) }

func seldomTotal(xs ...float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

// want: rejected: at most
//
//dp:sensitivity x = 2
func SeldomGathered(x, y float64) float64 { return seldomTotal(x, 2*x, -y) }

// want: rejected: rounding jumps
//
//dp:sensitivity x = 1
func SeldomNarrowed(x int32) int16 { return int16(x) }

// want: rejected: rounding jumps
//
//dp:sensitivity x = 1
func SeldomSign(x int16) uint16 { return uint16(x) }

// want: rejected: at most
//
//dp:requires a > 0 && b > 0
//dp:sensitivity x = 2 * min(a, b)
func SeldomLeast(x, a, b float64) float64 { return (a + b) * x }

// want: rejected: at most
//
//dp:sensitivity q = 1
func SeldomAdded(q []float64) []float64 {
	out := make([]float64, len(q))
	for i := range q {
		out[i] = out[i] + q[i]
		out[i] = out[i] + q[i]
	}
	return out
}

// want: rejected: at most 2
//
//dp:sensitivity q = 1
func SeldomSwitch(q []float64, which int) float64 {
	switch which {
	case 1, 2:
		return q[0]
	case 3:
		return q[1] + q[0]
	default:
		return q[0] * 2
	}
}

// want: rejected: 2\*epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func SeldomTwice(ctx context.Context, d dataset.Dataset[int], n int, epsilon privacy.Epsilon) (int64, error) {
	asked := d
	if n > 3 {
		asked = dataset.Where(d, func(x int) bool { return x > n })
	}
	first, err := dataset.NoisyCount(ctx, noise.System(), asked, dataset.Options{Epsilon: epsilon})
	if err != nil {
		return 0, err
	}
	second, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
	return first.Value + second.Value, err
}

// Where n > 3 both questions are to the same part.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func SeldomSamePart(ctx context.Context, d dataset.Dataset[int], n int, epsilon privacy.Epsilon) (int64, error) {
	parts := dataset.Partition(d, []int{0, 1}, func(x int) int { return x % 2 })
	asked := parts[0]
	if n > 3 {
		asked = parts[1]
	}
	first, err := dataset.NoisyCount(ctx, noise.System(), asked, dataset.Options{Epsilon: epsilon})
	if err != nil {
		return 0, err
	}
	second, err := dataset.NoisyCount(ctx, noise.System(), parts[1], dataset.Options{Epsilon: epsilon})
	return first.Value + second.Value, err
}

// want: rejected: a \+ b
//
//dp:adjacent bag(d) <= 1
//dp:cost a
func SeldomSum(ctx context.Context, d dataset.Dataset[int], a, b privacy.Epsilon) (int64, error) {
	answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: a.Add(b)})
	return answer.Value, err
}

// want: rejected: number of the program
//
//dp:adjacent bag(d) <= 1
//dp:cost 1.0 / 2
func SeldomParsed(ctx context.Context, d dataset.Dataset[int], amount string) (int64, error) {
	epsilon, err := privacy.ParseEpsilon(amount)
	if err != nil {
		return 0, err
	}
	answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
	return answer.Value, err
}

// The second way costs a delta as well.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func SeldomDelta(ctx context.Context, d dataset.Dataset[int], n int, epsilon privacy.Epsilon, delta privacy.Delta) (int64, error) {
	if n > 3 {
		answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
		return answer.Value, err
	}
	answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon, Delta: delta})
	return answer.Value, err
}

// One way is taken, and then another question asked.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon, delta
func SeldomChoice(ctx context.Context, d dataset.Dataset[int], n int, epsilon privacy.Epsilon, delta privacy.Delta) (int64, error) {
	var v int64
	if n > 3 {
		answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon, Delta: delta})
		if err != nil {
			return 0, err
		}
		v = answer.Value
	} else {
		answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
		if err != nil {
			return 0, err
		}
		v = answer.Value
	}
	answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
	return answer.Value + v, err
}
