package learn

// What an audit makes of the trainer, and of trainers that differ from it in one fault
// each, planted between the stages of its steps.

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/leakage"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A suspect is a trainer, and what is broken in it.
type suspect struct {
	plan  Plan
	spec  network.Spec
	start func(parameters []float32) // nil: all 0
	fault string
}

// The faults.
const (
	none             = ""
	silentFirstLayer = "no noise on the first layer"
	silentLastLayer  = "no noise on the last layer"
	privateBatch     = "divides by the private batch size"
	fixedBatches     = "fixed batches"
	clipAfterSum     = "clips after the sum"
	noiseReused      = "noise reused between steps"
)

// planned is a plan of plain descent: its event is steps × Poisson sampling of batch of
// units, with Gaussian noise.
func planned(units, batch int64, steps int, multiplier float64) Plan {
	return Plan{
		Population: Population{Units: units, Basis: Public}, Batch: batch, Steps: steps, Clip: Clip{Norm: 1},
		Noise: Noise{Multiplier: multiplier}, Optimizer: optimizer.Spec{Rate: 1}, Delta: must(privacy.ParseDelta("1e-5")),
	}
}

// Run implements leakage.Trainer.
func (s *suspect) Run(ctx context.Context, set *example.Set, rows []int, see func([]float32)) error {
	net, err := network.New(s.spec)
	if err != nil {
		return err
	}
	if s.start != nil {
		s.start(net.Parameters())
	}
	t, err := newTrainer(s.plan, set.Pick(rows), net, 1)
	if err != nil {
		return err
	}
	s.plant(t, rows)
	see(net.Parameters())
	for range s.plan.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := t.step(); err != nil {
			return err
		}
		see(net.Parameters())
	}
	return nil
}

// plant plants the fault. The rows are those that the trainer's set was picked from.
func (s *suspect) plant(t *trainer, rows []int) {
	sound, blocks := t.stages, t.net.Blocks()
	switch s.fault {
	case silentFirstLayer:
		t.stages.blur = func(sum []float32, sigma float64) error { return sound.blur(sum[blocks[0].To:], sigma) }
	case silentLastLayer:
		t.stages.blur = func(sum []float32, sigma float64) error {
			return sound.blur(sum[:blocks[len(blocks)-1].From], sigma)
		}
	case privateBatch:
		t.stages.load = func(r []int, w []float64) ([]int, []float64, error) {
			r, w, err := sound.load(r, w)
			t.stages.denominator = float64(max(1, len(r)))
			return r, w, err
		}
	case fixedBatches:
		t.stages.load = func(r []int, w []float64) ([]int, []float64, error) {
			for i, row := range rows {
				if s.turn(row, t.done) {
					r, w = append(r, i), append(w, 1)
				}
			}
			return r, w, nil
		}
	case clipAfterSum:
		t.stages.add = func(rows []int, clip float64, sum []float32) (network.Statistics, error) {
			f, err := t.pass.Gradient(t.set, rows, sum)
			length := 0.0
			for _, x := range sum {
				length += float64(x) * float64(x)
			}
			for i := range sum {
				sum[i] = float32(float64(sum[i]) * min(1, clip/math.Sqrt(length)))
			}
			return f, err
		}
	case noiseReused:
		var noise []float32
		t.stages.blur = func(sum []float32, sigma float64) error {
			if noise == nil {
				noise = make([]float32, len(sum))
				if err := sound.blur(noise, sigma); err != nil {
					return err
				}
			}
			for i := range sum {
				sum[i] += noise[i]
			}
			return nil
		}
	}
}

// turn says when a loader takes a row that goes through all rows in fixed batches.
func (s *suspect) turn(row, step int) bool {
	n := int(s.plan.Population.Units / s.plan.Batch)
	return row%n == step%n
}

// claim is what the accountant certifies of the plan: many points of its curve.
func (s *suspect) claim(t *testing.T) audit.Points {
	t.Helper()
	event, err := s.plan.Event()
	if err != nil {
		t.Fatal(err)
	}
	points, err := accountant.DeltaCurve(t.Context(), event, []float64{0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3}, accountant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var claim audit.Points
	for _, p := range points {
		claim = append(claim, audit.Point{Epsilon: p.X, Delta: p.Y.High})
	}
	return claim
}

// significance is the probability with which an audit of this file calls a sound
// trainer broken, at most: the p-values are those of theorems, counted once for each view.
const significance = 1e-9

// linear is a network of one layer, or of two, for canaries of one feature each. In the
// second, every canary has weights of its own in both layers: the first is the
// identity, and the gradient is as long in either.
func linear(features, layers int) (network.Spec, func([]float32)) {
	spec := network.Spec{Input: []int{features}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Squared}
	if layers == 1 {
		return spec, nil
	}
	spec.Layers = []network.Layer{{Type: "linear", Width: features}, {Type: "linear", Width: 1}}
	return spec, func(p []float32) {
		for i := range features {
			p[i*features+i] = 1
			p[features*(features+1)+i] = float32(1 / math.Sqrt(float64(features)))
		}
	}
}

// inOneRun audits with Dirac canaries, whose gradients everybody knows.
func inOneRun(t *testing.T, s *suspect, canaries int) *leakage.CanaryReport {
	t.Helper()
	set := leakage.Dirac(canaries)
	net, err := network.New(s.spec)
	if err != nil {
		t.Fatal(err)
	}
	if s.start != nil {
		s.start(net.Parameters())
	}
	o, err := leakage.NewGradientObserver(net, set, 0)
	if err != nil {
		t.Fatal(err)
	}
	o.Turn = s.turn
	r, err := leakage.OneRun(t.Context(), s, set, 0, o, nil, leakage.GuessOptions{Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inManyRuns audits with one canary, the last row, and a score of each run.
func inManyRuns(t *testing.T, s *suspect, set *example.Set, runs int, score func(start, end []float32) float64) float64 {
	t.Helper()
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	scores, in, err := leakage.Repeat(t.Context(), noise.System(), runs, func(ctx context.Context, in bool) (float64, error) {
		used := rows[:len(rows)-1]
		if in {
			used = rows
		}
		var start, end []float32
		err := s.Run(ctx, set, used, func(p []float32) {
			if start == nil {
				start = append(start, p...)
			}
			end = append(end[:0], p...)
		})
		return score(start, end), err
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := leakage.Runs(scores, in, audit.Counts.Success)
	if err != nil {
		t.Fatal(err)
	}
	// Of independent runs that are (0, δ)-private, each is guessed with SuccessBound.
	p := 1.0
	for _, g := range s.claim(t) {
		if g.Epsilon == 0 {
			p = audit.PValue(c.Correct(), c.Runs(), audit.SuccessBound(g.Epsilon, g.Delta))
		}
	}
	t.Logf("%q: %d of %d runs guessed, p-value %.3g", s.fault, c.Correct(), c.Runs(), p)
	return p
}

// Each fault is told from a sound trainer of the same plan. A sound one is called broken
// with probability at most 1e-9: the p-values are those of theorems, whatever the law of
// the scores. With what probability a broken one passes stands beside it.
func TestBrokenTrainersFall(t *testing.T) {
	thousand, _ := linear(1000, 1)
	some, _ := linear(400, 1)
	two, start := linear(300, 2)
	wide, _ := linear(4000, 1)
	narrow, _ := linear(1, 1)
	still := &example.Set{Width: 4000, Features: make([]float32, 11*4000), Outputs: 1, Targets: make([]float32, 11)}
	opposed := &example.Set{Width: 1, Features: []float32{1e3, 1e3}, Outputs: 1, Targets: []float32{1e6, -1e9}}
	for _, tc := range []struct {
		suspect suspect
		faults  []string
		audit   func(t *testing.T, s *suspect) float64
	}{
		// A silent layer moves by 1/√2 for members and by 0 for others: all 213 guesses are
		// right, unless the coins are off even by 43; it passes with 15 wrong ones, when they
		// are off by 57, 6.6 standard deviations: 4e-11.
		{suspect{plan: planned(300, 300, 1, 4), spec: two, start: start}, []string{silentFirstLayer, silentLastLayer}, oneRun},
		// Of its 7 turns the loader shows a sum 7 greater, with noise of √7: Φ(1.32) = 0.91
		// are guessed, of those that are not passed over 0.95, 800 ± 7 of 841, where 1e-9
		// takes 707.
		{suspect{plan: planned(1000, 2, 3500, 1), spec: thousand}, []string{fixedBatches}, oneRun},
		// A member's steps differ unless it was in all 8 or in none, 1 time of 128: 298 ± 2
		// of 300 are guessed, where 1e-9 takes 262.
		{suspect{plan: planned(400, 200, 8, 8), spec: some}, []string{noiseReused}, oneRun},
		// The noise of 4000 weights is divided by 10 or by 11: its length tells which, by 9
		// standard deviations. All 120 runs are guessed, where 1e-9 takes 103. No row has a
		// gradient.
		{suspect{plan: planned(10, 10, 1, 2), spec: wide}, []string{privateBatch}, func(t *testing.T, s *suspect) float64 {
			return inManyRuns(t, s, still, 240, func(start, end []float32) float64 {
				length := 0.0
				for i := range end {
					length += float64(end[i]-start[i]) * float64(end[i]-start[i])
				}
				return -length
			})
		}},
		// One gradient outweighs the other and turns the sum about: 2 clipping bounds, of
		// 16 steps with noise of 4 each. Φ(1) = 0.84 is guessed where Φ(1/2) = 0.69 is allowed:
		// of 1600 runs 1346 ± 15, where 1e-9 takes 1218.
		{suspect{plan: planned(2, 2, 16, 4), spec: narrow}, []string{clipAfterSum}, func(t *testing.T, s *suspect) float64 {
			return inManyRuns(t, s, opposed, 3200, func(start, end []float32) float64 { return float64(start[0] - end[0]) })
		}},
	} {
		for _, fault := range append([]string{none}, tc.faults...) {
			s := tc.suspect
			s.fault = fault
			p := tc.audit(t, &s)
			if refuted := p <= significance; refuted != (fault != none) {
				t.Errorf("%q: p-value %v", fault, p)
			}
		}
	}
}

func oneRun(t *testing.T, s *suspect) float64 {
	t.Helper()
	r := inOneRun(t, s, int(s.plan.Population.Units))
	claim := s.claim(t)
	p := r.Refutes(claim)
	t.Logf("%q: %d of %d canaries guessed by the %s, epsilon %.3g at 1e-5, mu %.3g, p-value %.3g", s.fault, r.Correct, r.Guesses, r.View, r.Epsilon, r.Mu, p)
	return p
}
