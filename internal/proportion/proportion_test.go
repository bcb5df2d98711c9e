package proportion

import (
	"math"
	"testing"
)

// Where nothing has succeeded, the bound solves (1−p)^n = β/2; also where 1−p has few
// digits of p.
func TestFailureRateOfNone(t *testing.T) {
	for _, n := range []int64{10, 1e6, 1 << 30, 1<<30 + 1, 1e12} {
		for _, tail := range []float64{0.25, 1e-9, 1e-200} {
			exact := -math.Expm1(math.Log(tail) / float64(n))
			if p := failureRate(0, n, tail); p < exact || p > exact*1.0002 {
				t.Errorf("of %d trials, at %v: %v, not %v", n, tail, p, exact)
			}
		}
	}
}

// Intervals of the largest numbers of respondents are intervals still.
func TestBounds(t *testing.T) {
	const beta = 1e-9
	for _, n := range []int64{1, 2, 10, 1e6, maxExactTrials, maxExactTrials + 1, 1e12} {
		for _, x := range []int64{0, 1, n / 3, n / 2, n - 1, n} {
			low, high := Bounds(min(x, n), n, beta)
			f := float64(min(x, n)) / float64(n)
			// Within the interval of the normal law with seven deviations, and more for few.
			reach := 7*math.Sqrt(f*(1-f)/float64(n)) + 25/float64(n) + 1e-11
			if !(low <= f && f <= high && low >= 0 && high <= 1 && f-low <= reach && high-f <= reach) {
				t.Errorf("%d of %d: [%v, %v]", x, n, low, high)
			}
		}
	}
	// Exactly: P(X >= 3) = β/2 of 5 at p = 0.1466.
	low, high := Bounds(3, 5, 0.05)
	if math.Abs(low-0.146633) > 1e-5 || math.Abs(high-0.947255) > 1e-5 {
		t.Errorf("3 of 5: [%v, %v]", low, high)
	}
}

// The bound of a mean solves exp(−n·KL) = β/2, and holds that of a binomial.
func TestMean(t *testing.T) {
	low, high := Mean(0.3, 1000, 0.05)
	kl := func(f, p float64) float64 { return f*math.Log(f/p) + (1-f)*math.Log((1-f)/(1-p)) }
	for _, p := range []float64{low, high} {
		if got := math.Exp(-1000 * kl(0.3, p)); math.Abs(got-0.025) > 1e-5 {
			t.Errorf("at %v the bound is %v", p, got)
		}
	}
	if l, h := Bounds(300, 1000, 0.05); !(low < l && l < 0.3 && 0.3 < h && h < high) {
		t.Errorf("[%v, %v] of a mean, [%v, %v] of a binomial", low, high, l, h)
	}
	if l, h := Mean(0, 10, 0.05); l != 0 || h >= 1 {
		t.Errorf("[%v, %v] of none", l, h)
	}
	if l, h := Mean(1.5, 10, 0.05); l <= 0 || h != 1 {
		t.Errorf("[%v, %v] of all", l, h)
	}
}
