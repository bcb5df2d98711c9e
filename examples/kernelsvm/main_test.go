package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/roundtest"
)

// A line is right as often as a coin, a kernel about as often as labels are, nineteen of twenty. What is not
// drawn moves the weights nearly as far as the theorem admits, and three times as far as any pair that was.
func TestNumbers(t *testing.T) {
	roundtest.Within(t, run, map[string]roundtest.Band{
		"a line, without a guarantee": {0.4, 0.7}, "a kernel, without a guarantee": {0.84, 0.96}, "a kernel, persons at epsilon 4": {0.84, 0.96}, // 0.902 ± 0.003
		"a kernel, persons at epsilon 1": {0.75, 0.96}, "the most of 100 drawn pairs": {0.02, 0.2}, // 0.88 ± 0.01, 0.075 ± 0.009
		"a pair that is not drawn": {0.3, 0.4}, "by the theorem, at most": {0.4, 0.401},
	})
}

// No neighbours' weights lie farther apart than the theorem says, few steps or many: of 200 pairs of random
// databases of ten people, of whom the last may be anybody. A sensitivity of 1/nλ would be exceeded.
func TestSensitivity(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	largest := 0.0
	for i := range 200 {
		v := svm{lambda: 0.05 + r.Float64()/5, h: 0.1 + r.Float64()/2, steps: 1 + r.IntN(300)}
		x, y := ring(10, uint64(i))
		f := newFeatures(2, 5, 1)
		for j := range x {
			x[j] = f.of(x[j])
		}
		before := v.train(x, y)
		x[9], y[9] = f.of([]float64{20 * r.NormFloat64(), 20 * r.NormFloat64()}), -y[9]
		after, square := v.train(x, y), 0.0
		for j := range before {
			square += (before[j] - after[j]) * (before[j] - after[j])
		}
		most := v.sensitivity(10)
		if moved := math.Sqrt(square); moved > most {
			t.Errorf("%+v: %v, by the theorem at most %v", v, moved, most)
		}
		if v.steps > 250 {
			largest = max(largest, math.Sqrt(square)*10*v.lambda)
		}
	}
	if largest < 1 {
		t.Errorf("no pair lies farther apart than %v of 1/nλ: the test sees nothing", largest)
	}
}
