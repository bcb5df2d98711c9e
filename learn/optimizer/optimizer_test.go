package optimizer

import (
	"encoding/json"
	"math"
	"testing"
)

// Schedules, step by step.
func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s     Schedule
		steps int
		want  []float64 // at steps 0, 1, ...
	}{
		{Schedule{}, 3, []float64{1, 1, 1}},
		{Schedule{Shape: Constant, WarmUp: 4}, 6, []float64{0.25, 0.5, 0.75, 1, 1, 1}},
		{Schedule{Shape: Stairs, Every: 2, Factor: 0.5}, 5, []float64{1, 1, 0.5, 0.5, 0.25}},
		{Schedule{Shape: Cosine}, 5, []float64{1, (1 + math.Sqrt2/2) / 2, 0.5, (1 - math.Sqrt2/2) / 2, 0}},
		{Schedule{Shape: Cosine, Final: 0.2}, 3, []float64{1, 0.6, 0.2}},
		{Schedule{Shape: Cosine, Final: 0.2, WarmUp: 2}, 3, []float64{0.5, 0.6, 0.2}},
		{Schedule{Shape: Cosine}, 1, []float64{1}},
	} {
		if err := c.s.Validate(); err != nil {
			t.Errorf("%+v: %v", c.s, err)
		}
		for step, want := range c.want {
			if got := c.s.At(step, c.steps); math.Abs(got-want) > 1e-15 {
				t.Errorf("%+v at step %d is %v, not %v", c.s, step, got, want)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	nan := math.NaN()
	for _, s := range []Spec{
		{}, {Rate: -1}, {Rate: nan}, {Rate: math.Inf(1)}, {Kind: "lbfgs", Rate: 1},
		{Rate: 1, Momentum: 1}, {Rate: 1, Beta1: -0.1}, {Rate: 1, Beta2: nan}, {Rate: 1, Epsilon: -1}, {Rate: 1, Decay: -1}, {Rate: 1, Decay: nan},
		{Rate: 1, Schedule: Schedule{Shape: "sine"}}, {Rate: 1, Schedule: Schedule{Shape: Stairs}},
		{Rate: 1, Schedule: Schedule{Shape: Stairs, Every: 1, Factor: nan}}, {Rate: 1, Schedule: Schedule{Shape: Cosine, Final: -1}},
		{Rate: 1, Schedule: Schedule{WarmUp: -1}}, {Rate: 1, Schedule: Schedule{Factor: 2}},
	} {
		if s.Validate() == nil {
			t.Errorf("%+v is taken", s)
		}
		if _, err := New(s, 1, 1); err == nil {
			t.Errorf("%+v makes an optimizer", s)
		}
	}
}

// The first two steps, by hand.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		s          Spec
		one, other float32
	}{
		{Spec{Rate: 0.5}, 0.5, 1},
		{Spec{Rate: 0.5, Decay: 0.5}, 0.25, 0.6875},
		{Spec{Kind: Momentum, Rate: 0.5, Momentum: 0.5}, 0.5, 0.75},
		// Adam's first step is the rate, whatever the gradient's size. The second has
		// means (0.5·0.5-0.5)/0.75 and (0.75·0.25+0.25)/0.4375 = 1.
		{Spec{Kind: Adam, Rate: 0.5, Beta1: 0.5, Beta2: 0.75, Epsilon: 1e-30}, 0.5, float32(0.5 + 0.5*(0.25/0.75)/1)},
		// Yogi's first step is Adam's. Then its second moment is 0.25+0.25, because 0.25 < 1.
		{Spec{Kind: Yogi, Rate: 0.5, Beta1: 0.5, Beta2: 0.75, Epsilon: 1e-30}, 0.5, float32(0.5 + 0.5*(0.25/0.75)/math.Sqrt(0.5/0.4375))},
	} {
		o, err := New(c.s, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		x := []float32{1}
		o.Step(x, []float64{1})
		if x[0] != c.one {
			t.Errorf("%+v: after a step %v, not %v", c.s, x[0], c.one)
		}
		o.Step(x, []float64{-1})
		mean := []float32{1}
		p, _ := New(c.s, 1, 2)
		p.StepMean(mean, []float32{8}, 8)
		if p.StepMean(mean, []float32{-2}, 2); mean[0] != x[0] {
			t.Errorf("%+v: by means %v, by gradients %v", c.s, mean[0], x[0])
		}
		if math.Abs(float64(x[0]-c.other)) > 1e-7 {
			t.Errorf("%+v: after two steps %v, not %v", c.s, x[0], c.other)
		}
	}
}

// A state that went through JSON goes on as if it had not.
func TestRestore(t *testing.T) {
	for _, kind := range []Kind{SGD, Momentum, Adam, Yogi} {
		s := Spec{Kind: kind, Rate: 0.1, Schedule: Schedule{Shape: Cosine, WarmUp: 2}}
		straight, _ := New(s, 2, 9)
		a := []float32{1, -2}
		gradient := func(i int) []float64 { return []float64{math.Sin(float64(i)), 3 * math.Cos(float64(i))} }
		var b []float32
		var broken *Optimizer
		for i := range 9 {
			if i == 4 {
				b = append(b, a...)
				data, err := json.Marshal(straight.State())
				if err != nil {
					t.Fatal(err)
				}
				var state State
				if err := json.Unmarshal(data, &state); err != nil {
					t.Fatal(err)
				}
				broken, _ = New(s, 2, 9)
				if err := broken.Restore(state); err != nil {
					t.Fatal(err)
				}
			}
			straight.Step(a, gradient(i))
			if broken != nil {
				broken.Step(b, gradient(i))
			}
		}
		if a[0] != b[0] || a[1] != b[1] {
			t.Errorf("%s: %v straight, %v restored", kind, a, b)
		}
		other, _ := New(s, 3, 9)
		if kind != SGD && other.Restore(straight.State()) == nil {
			t.Errorf("%s: another's state is taken", kind)
		}
	}
}
