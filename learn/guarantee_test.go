package learn

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// mnist is the plan of the usual first example.
func mnist() Plan {
	return Plan{
		Population: Population{Units: 60000, Basis: Public}, Batch: 512, Steps: 4688,
		Clip: Clip{Norm: 1}, Noise: Noise{Multiplier: 1.23}, Optimizer: optimizer.Spec{Rate: 0.5},
		Delta: must(privacy.ParseDelta("1e-5")),
	}
}

func stairs(every int, factor float64) optimizer.Schedule {
	return optimizer.Schedule{Shape: optimizer.Stairs, Every: every, Factor: factor}
}

// A plan's event is the one that its owner would write for the accountant.
func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Plan)
		text   string
	}{
		{"as it is", func(*Plan) {}, "4688*poisson(512/60000, gaussian(1.23))"},
		{"clip and batches change nothing", func(p *Plan) {
			p.Clip = Clip{Norm: 0.1, Mode: PerLayer, Schedule: stairs(700, 0.9)}
			p.Physical, p.Optimizer.Kind, p.Noise.Sampler = 3, optimizer.Adam, Exact
		}, "4688*poisson(512/60000, gaussian(1.23))"},
		{"all units", func(p *Plan) { p.Batch = 60000; p.Steps = 3 }, "3*gaussian(1.23)"},
		{"one step", func(p *Plan) { p.Steps = 1 }, "poisson(512/60000, gaussian(1.23))"},
		{"noise in steps", func(p *Plan) { p.Noise.Schedule = stairs(2000, 0.5) },
			"2000*poisson(512/60000, gaussian(1.23)) + 2000*poisson(512/60000, gaussian(0.615)) + 688*poisson(512/60000, gaussian(0.3075))"},
		{"adaptive clipping pays out of the multiplier", func(p *Plan) { p.Clip.Mode, p.Clip.Quantile = Adaptive, 0.5 }, "4688*poisson(512/60000, gaussian(1.23))"},
	} {
		p := mnist()
		c.change(&p)
		want := must(must(plan.Parse(c.text)).Event())
		if got, err := p.Event(); err != nil || got.String() != want.String() {
			t.Errorf("%s: %v, %v; not %v", c.name, got, err, want)
		}
	}
	// What is left of a plan is its end.
	p := mnist()
	p.Noise.Schedule = stairs(2000, 0.5)
	for step, text := range map[int]string{
		1:    "1999*poisson(512/60000, gaussian(1.23)) + 2000*poisson(512/60000, gaussian(0.615)) + 688*poisson(512/60000, gaussian(0.3075))",
		2000: "2000*poisson(512/60000, gaussian(0.615)) + 688*poisson(512/60000, gaussian(0.3075))",
		4687: "poisson(512/60000, gaussian(0.3075))",
	} {
		want := must(must(plan.Parse(text)).Event())
		if got, err := p.eventFrom(step); err != nil || got.String() != want.String() {
			t.Errorf("from step %d: %v, %v; not %v", step, got, err, want)
		}
	}
	if _, err := p.eventFrom(4688); err == nil {
		t.Error("an event of no steps")
	}
}

// The guarantee is the accountant's, for either relation and for groups.
func TestGuarantee(t *testing.T) {
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		for _, k := range []int{1, 4} {
			p := mnist()
			p.Neighbours = n
			o := accountant.Options{Neighbours: n}
			if k > 1 {
				p.Units = Units{Grouped, k}
				o.Group = k
			}
			g, err := p.Guarantee()
			if err != nil {
				t.Fatal(err)
			}
			report := must(accountant.Epsilon(t.Context(), must(must(plan.Parse("4688*poisson(512/60000, gaussian(1.23))")).Event()), 1e-5, o))
			for _, b := range report.Bounds {
				got := map[accountant.Name]*float64{accountant.PLD: g.PLD, accountant.RDP: g.RDP}[b.Accountant]
				if got != nil && (*got < b.Epsilon.High || *got > b.Epsilon.High*(1+1e-9)) {
					t.Errorf("%v, %d together: %s says %v, not %v", n, k, b.Accountant, *got, b.Epsilon.High)
				}
			}
			if g.PLD == nil || g.RDP == nil || g.Epsilon != min(*g.PLD, *g.RDP) {
				t.Errorf("%v, %d together: %+v", n, k, g)
			}
		}
	}
	p := mnist()
	p.Noise.Multiplier = 1.0 / 1024
	p.Batch = p.Population.Units
	if g, err := p.Guarantee(); err == nil && g.Epsilon < 1e6 {
		t.Errorf("nearly no noise: epsilon %v", g.Epsilon)
	}
}

// A calibrated plan meets its epsilon, and one with a little less noise does not. A plan of grouped
// units, which takes ten times as long as the others together, is calibrated in one run of eight, and with DISCREET_SOAK.
func TestCalibrate(t *testing.T) {
	for i, change := range []func(*Plan){
		func(*Plan) {},
		func(p *Plan) { p.Neighbours = privacy.ReplaceOne },
		func(p *Plan) { p.Noise.Schedule = stairs(p.Steps/5, 0.9) },
		func(p *Plan) { p.Clip.Mode, p.Clip.Quantile = Adaptive, 0.5 },
		func(p *Plan) { p.Units, p.Noise.Multiplier = Units{Grouped, 2}, 2 },
	} {
		if i == 4 && rand.IntN(8) > 0 && os.Getenv("DISCREET_SOAK") == "" {
			continue
		}
		for _, epsilon := range []string{"0.5", "2.93", "8"} {
			p := mnist()
			if i > 0 { // which does not take that long
				p.Batch, p.Steps = 2048, 100
			}
			change(&p)
			if epsilon != "2.93" && (i > 0 || os.Getenv("DISCREET_SOAK") == "") {
				continue // some take a while
			}
			target := must(privacy.ParseEpsilon(epsilon))
			p, err := p.Calibrate(target)
			if err != nil {
				t.Fatal(err)
			}
			if g := must(p.Guarantee()); g.Epsilon > target.Float64() {
				t.Errorf("epsilon %v for %s at multiplier %v", g.Epsilon, epsilon, p.Noise.Multiplier)
			}
			p.Noise.Multiplier *= 0.999
			if g := must(p.Guarantee()); g.Epsilon <= target.Float64() {
				t.Errorf("%s is also met at multiplier %v", epsilon, p.Noise.Multiplier)
			}
		}
	}
	if _, err := mnist().Calibrate(privacy.Epsilon{}); err == nil {
		t.Error("epsilon 0 is met")
	}
}

// Epsilon so far ends at the RDP accountant's epsilon and never falls.
func TestSpendingSoFar(t *testing.T) {
	p := mnist()
	p.Noise.Schedule = stairs(1000, 0.9)
	s, err := p.spending()
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for _, step := range []int{0, 1, 100, 1000, 1001, 4688} {
		e := s.epsilon(step)
		if e < last {
			t.Errorf("epsilon falls to %v at step %d", e, step)
		}
		last = e
	}
	if g := must(p.Guarantee()); last < *g.RDP*0.999 || last > *g.RDP*1.05 {
		t.Errorf("the run ends at %v, its guarantee is %v", last, *g.RDP)
	}
}
