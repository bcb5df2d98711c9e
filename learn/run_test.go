package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

var ctx = context.Background()

// purse is a budget in memory.
func purse(t testing.TB, measure filter.Measure, epsilon string, n privacy.Neighbours) *budget.InMemory {
	t.Helper()
	b := filter.Budget{Measure: measure, Epsilon: must(privacy.ParseEpsilon(epsilon)), Neighbours: n}
	if measure != filter.Pure {
		b.Delta = must(privacy.ParseDelta("1e-4"))
	}
	if measure != filter.Pure && measure != filter.Approx {
		b.SelectionDelta = must(privacy.ParseDelta("5e-5"))
	}
	made, err := budget.NewInMemory("people", b)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func accuracy(t testing.TB, net *network.Network, set *example.Set) float64 {
	t.Helper()
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	s, err := net.NewPass(network.PassOptions{}).Losses(set, rows, make([]float64, len(rows)))
	if err != nil {
		t.Fatal(err)
	}
	return float64(s.Correct) / float64(s.Labels)
}

// A network of a few hundred weights learns a circle from 20,000 points at ε = 2. Of 8 runs 0.966 ± 0.006 were right and
// more: 0.9 is 11 deviations away.
func TestLearns(t *testing.T) {
	calibrated := map[string]Plan{} // by what is charged: neither clips nor optimizers change it
	for _, c := range []struct {
		name   string
		change func(*Plan)
	}{
		{"sgd", func(*Plan) {}},
		{"adam, adaptive, exact noise", func(p *Plan) {
			p.Optimizer.Kind, p.Optimizer.Rate = "adam", 0.05
			p.Clip = Clip{Mode: Adaptive, Norm: 0.1, Quantile: 0.5}
			p.Noise.Sampler = Exact
		}},
		{"momentum, per layer", func(p *Plan) {
			p.Optimizer.Kind, p.Optimizer.Rate = "momentum", 0.2
			p.Clip.Mode = PerLayer
		}},
	} {
		p := small()
		p.Population.Units, p.Batch, p.Steps = 20_000, 1000, 150
		p.Optimizer.Rate = 2
		c.change(&p)
		p.Noise.Multiplier = 1
		event := must(p.Event()).String()
		if _, done := calibrated[event]; !done {
			calibrated[event] = must(p.Calibrate(must(privacy.ParseEpsilon("2"))))
		}
		p.Noise.Multiplier = calibrated[event].Noise.Multiplier
		b := purse(t, filter.Approx, "2", privacy.AddRemove)
		told := []Progress{}
		r, err := Start(ctx, Options{Plan: p, Network: mlp(32), Data: circles(20_000, 1), Budget: b, Statement: "learn a circle", Seed: 7,
			Progress: func(p Progress) { told = append(told, p) }})
		if err != nil {
			t.Fatal(err)
		}
		spent := must(b.Spent(ctx))
		if err := r.Train(ctx); err != nil {
			t.Fatal(err)
		}
		if a := accuracy(t, r.Network(), circles(5000, 99)); a < 0.9 {
			t.Errorf("%s: accuracy %v at multiplier %v", c.name, a, p.Noise.Multiplier)
		} else {
			t.Logf("%s: accuracy %v at multiplier %v", c.name, a, p.Noise.Multiplier)
		}
		// Paid at the start, and nothing since; 2 is nearly all.
		if after := must(b.Spent(ctx)); after.Epsilon.Cmp(spent.Epsilon) != 0 {
			t.Errorf("%s: %v at the start, %v at the end", c.name, spent, after)
		}
		if e := spent.Epsilon.Float64(); e > 2 || e < 1.95 {
			t.Errorf("%s: %v was charged", c.name, e)
		}
		if len(told) != p.Steps {
			t.Fatalf("%s: told of %d steps", c.name, len(told))
		}
		last := told[len(told)-1]
		if last.Step != p.Steps || last.Epsilon < 2 || last.Epsilon > 2.5 || !(last.Owner.Loss < told[0].Owner.Loss) || last.Owner.Examples == 0 {
			t.Errorf("%s: in the end %+v", c.name, last)
		}
	}
}

// One charge of the whole plan, in every filter's terms, for either relation; a budget
// that has less is not touched, and neither are the data.
func TestReservation(t *testing.T) {
	p := small()
	p.Population.Units, p.Batch, p.Steps, p.Noise.Multiplier = 1000, 10, 100, 1.5
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		p.Neighbours = n
		g := must(p.Guarantee())
		for _, measure := range []filter.Measure{filter.Approx, filter.RDP, filter.ZCDP, filter.GDP} {
			o := Options{Plan: p, Network: mlp(4), Data: circles(1000, 1), Budget: purse(t, measure, "20", n), Statement: "train"}
			if _, err := Start(ctx, o); err != nil {
				t.Errorf("%v, %s: %v", n, measure, err)
			}
			if measure == filter.Approx {
				if e := must(o.Budget.(*budget.InMemory).Spent(ctx)).Epsilon.Float64(); math.Abs(e-g.Epsilon) > 1e-6 {
					t.Errorf("%v: %v was charged of %v", n, e, g.Epsilon)
				}
			}
			o.Budget = purse(t, measure, "0.01", n)
			before := fmt.Sprint(must(o.Budget.Left(ctx)))
			if r, err := Start(ctx, o); !errors.Is(err, budget.ErrExceeded) || r != nil {
				t.Errorf("%v, %s: %v, %v", n, measure, r, err)
			}
			if after := fmt.Sprint(must(o.Budget.Left(ctx))); after != before {
				t.Errorf("%v, %s: a refusal left %s of %s", n, measure, after, before)
			}
		}
	}
}

// What cannot be said to be safe is refused before anything is charged.
func TestRefusals(t *testing.T) {
	base := func() Options {
		return Options{Plan: small(), Network: mlp(4), Data: circles(1000, 1), Budget: purse(t, filter.Approx, "100", privacy.AddRemove)}
	}
	units := circles(10, 1)
	units.Units = make([]int32, 10)
	nan := math.NaN()
	for name, change := range map[string]func(*Options){
		"no data":                   func(o *Options) { o.Data = nil },
		"no budget":                 func(o *Options) { o.Budget = nil },
		"another width":             func(o *Options) { o.Network.Input = []int{3} },
		"no basis":                  func(o *Options) { o.Plan.Population.Basis = "" },
		"unknown basis":             func(o *Options) { o.Plan.Population.Basis = "counted" },
		"nobody":                    func(o *Options) { o.Plan.Population.Units = 0 },
		"no batch":                  func(o *Options) { o.Plan.Batch = 0 },
		"more than all":             func(o *Options) { o.Plan.Batch = 1001 },
		"no steps":                  func(o *Options) { o.Plan.Steps = 0 },
		"no delta":                  func(o *Options) { o.Plan.Delta = privacy.Delta{} },
		"another relation":          func(o *Options) { o.Plan.Neighbours = privacy.ReplaceOne },
		"no relation":               func(o *Options) { o.Plan.Neighbours = 7 },
		"no noise":                  func(o *Options) { o.Plan.Noise.Multiplier = 0 },
		"negative noise":            func(o *Options) { o.Plan.Noise.Multiplier = -1 },
		"noise that is no number":   func(o *Options) { o.Plan.Noise.Multiplier = nan },
		"endless noise":             func(o *Options) { o.Plan.Noise.Multiplier = math.Inf(1) },
		"noise that fades":          func(o *Options) { o.Plan.Noise.Schedule = stairs(1, 1e-3) },
		"noise that grows too far":  func(o *Options) { o.Plan.Steps, o.Plan.Noise.Schedule = 2, stairs(1, 5e5) },
		"noise of many values":      func(o *Options) { o.Plan.Steps, o.Plan.Noise.Schedule = 100, stairs(1, 0.999) },
		"noise along a cosine":      func(o *Options) { o.Plan.Noise.Schedule.Shape = "cosine" },
		"noise that warms up":       func(o *Options) { o.Plan.Noise.Schedule.WarmUp = 2 },
		"an unknown sampler":        func(o *Options) { o.Plan.Noise.Sampler = "none" },
		"no clip":                   func(o *Options) { o.Plan.Clip.Norm = 0 },
		"an endless clip":           func(o *Options) { o.Plan.Clip.Norm = math.Inf(1) },
		"a clip that is no number":  func(o *Options) { o.Plan.Clip.Norm = nan },
		"a clip of nearly nothing":  func(o *Options) { o.Plan.Clip.Norm = 1e-20 },
		"a clip of 1e-10 for each":  func(o *Options) { o.Data, o.Plan.Units, o.Plan.Clip.Norm = units, Units{Bounded, 1000}, 1e-7 },
		"a clip that falls too far": func(o *Options) { o.Plan.Clip.Schedule = stairs(1, 1e-3) },
		"a clip that warms up long": func(o *Options) { o.Plan.Clip = Clip{Norm: 1e-10, Schedule: optimizer.Schedule{WarmUp: 1e6}} },
		"a clip that ends at 0":     func(o *Options) { o.Plan.Clip.Schedule.Shape = "cosine" },
		"an unknown clip":           func(o *Options) { o.Plan.Clip.Mode = "soft" },
		"a quantile for nothing":    func(o *Options) { o.Plan.Clip.Quantile = 0.5 },
		"no quantile":               func(o *Options) { o.Plan.Clip.Mode = Adaptive },
		"a count that shows":        func(o *Options) { o.Plan.Clip = Clip{Mode: Adaptive, Norm: 1, Quantile: 0.5, CountNoise: 0.5} },
		"adaptive with a schedule":  func(o *Options) { o.Plan.Clip = Clip{Mode: Adaptive, Norm: 1, Quantile: 0.5, Schedule: stairs(1, 0.5)} },
		"units unsaid":              func(o *Options) { o.Data = units },
		"bounded by nothing":        func(o *Options) { o.Data, o.Plan.Units.Mode = units, Bounded },
		"single with many":          func(o *Options) { o.Plan.Units.Examples = 2 },
		"unknown units":             func(o *Options) { o.Plan.Units.Mode = "household" },
		"no rate":                   func(o *Options) { o.Plan.Optimizer.Rate = 0 },
		"weights of another":        func(o *Options) { o.Initial = []float32{1} },
		"negative workers":          func(o *Options) { o.Workers = -1 },
		"checkpoints in memory":     func(o *Options) { o.Checkpoint = t.TempDir() + "/c" },
		"checkpoints without path":  func(o *Options) { o.Every = 2 },
		"a batch beyond all bounds": func(o *Options) { o.Plan.Population.Units, o.Plan.Batch = 1e9, 1e8 },
		"no finite epsilon":         func(o *Options) { o.Plan.Batch, o.Plan.Steps, o.Plan.Noise.Multiplier = 1000, 1e9, 1.0/1024 },
	} {
		o := base()
		change(&o)
		if r, err := Start(ctx, o); err == nil {
			t.Errorf("%s is taken: %v", name, r.Guarantee())
		}
		if b, ok := o.Budget.(*budget.InMemory); ok && must(b.Spent(ctx)).Epsilon.Sign() != 0 {
			t.Errorf("%s is charged", name)
		}
	}
}

// A delta so small that the fast sampler's limit matters takes the exact one, and so does
// a budget without a delta for what it adds: where nobody asks for the fast one. What it
// adds is charged, by the epsilon at which the budget converts.
func TestFastNoiseIsPaidFor(t *testing.T) {
	ctx := t.Context()
	whole := must(privacy.ParseDelta("1e-5"))
	for name, c := range map[string]struct {
		budget    filter.Budget
		delta     string
		full      bool // all units in every step: the charge is the measure's own
		fast      bool
		converted bool // by the epsilon of the whole budget
	}{
		"an own delta":            {filter.Budget{Measure: filter.Approx, Delta: whole}, "9e-6", false, true, false},
		"all of delta":            {filter.Budget{Measure: filter.Approx, Delta: whole}, "1e-5", false, false, false},
		"a tiny delta":            {filter.Budget{Measure: filter.Approx, Delta: whole}, "1e-12", false, false, false},
		"rho":                     {filter.Budget{Measure: filter.ZCDP, Delta: whole, SelectionDelta: must(privacy.ParseDelta("5e-6"))}, "1e-6", true, true, true},
		"rho, no delta of events": {filter.Budget{Measure: filter.ZCDP, Delta: whole}, "1e-6", true, false, false},
		"a point in rho":          {filter.Budget{Measure: filter.ZCDP, Delta: whole, SelectionDelta: must(privacy.ParseDelta("5e-6"))}, "1e-6", false, true, false},
		"a divergence":            {filter.Budget{Measure: filter.RDP, Delta: whole, SelectionDelta: must(privacy.ParseDelta("5e-6"))}, "1e-6", false, true, true},
		"a divergence, no delta":  {filter.Budget{Measure: filter.RDP, Delta: whole}, "1e-6", false, false, false},
		"mu":                      {filter.Budget{Measure: filter.GDP, Delta: whole, SelectionDelta: must(privacy.ParseDelta("5e-6"))}, "1e-6", true, true, true},
		"a point in squares":      {filter.Budget{Measure: filter.Whitehouse, Delta: whole, SelectionDelta: must(privacy.ParseDelta("5e-6"))}, "1e-6", false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.budget.Epsilon = must(privacy.ParseEpsilon("8"))
			b := must(budget.NewInMemory("purse", c.budget))
			o := Options{Plan: small(), Network: mlp(4), Data: circles(1000, 1), Budget: b}
			if c.full {
				o.Plan.Batch = o.Plan.Population.Units
				o.Plan.Noise.Multiplier *= 20
			}
			o.Plan.Noise.Multiplier *= 4
			o.Plan.Delta, o.Plan.Noise.Sampler = must(privacy.ParseDelta(c.delta)), Fast
			if r, err := Start(ctx, o); (err == nil) != c.fast || err != nil && (!errors.Is(err, ErrLimit) || r != nil || must(b.Spent(ctx)).Delta.Sign() != 0) {
				t.Fatalf("the fast sampler: %v; spent %v", err, must(b.Spent(ctx)))
			}
			b = must(budget.NewInMemory("purse", c.budget))
			o.Budget, o.Plan.Noise.Sampler = b, ""
			r, err := Start(ctx, o)
			if err != nil {
				t.Fatal(err)
			}
			l := r.Limit()
			if fast := l.Sampler == Fast; fast != c.fast || fast != (l.Distance > 0) || fast != (l.Delta > 0) {
				t.Errorf("where nobody asks: %+v", l)
			}
			if !c.fast {
				return
			}
			epsilon := 8.0
			if !c.converted {
				charged := must(plan.Parse(r.Charged()))
				epsilon = must(charged.Event()).(privacy.Sum).Events[0].(privacy.Approx).Epsilon.Float64()
			}
			// The filter's own epsilon is rounded; the limit is rounded up in four digits.
			if want := (1 + math.Exp(epsilon)) * l.Distance; !(l.Delta >= want*(1-1e-9) && l.Delta <= want*1.01) {
				t.Errorf("it adds %g; want %g at epsilon %g", l.Delta, want, epsilon)
			}
			// What was charged is what the exact one is charged, and that.
			o.Plan.Noise.Sampler = Exact
			o.Budget = must(budget.NewInMemory("exact", c.budget))
			must(Start(ctx, o))
			spent, exact := must(b.Spent(ctx)), must(o.Budget.(*budget.InMemory).Spent(ctx))
			if got := spent.Delta.Float64() - exact.Delta.Float64(); !(math.Abs(got/l.Delta-1) < 1e-6) {
				t.Errorf("%g of delta was charged for %g", got, l.Delta)
			}
		})
	}
}

// The plan ends a run; what was not finished is no model.
func TestRunEnds(t *testing.T) {
	r, err := Start(ctx, Options{Plan: small(), Network: mlp(4), Data: circles(1000, 1), Budget: purse(t, filter.Approx, "100", privacy.AddRemove)})
	if err != nil {
		t.Fatal(err)
	}
	date := ModelOptions{Date: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	if _, err := r.Model(ctx, date); err == nil {
		t.Error("a model of a run that is not finished")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := r.Step(cancelled); !errors.Is(err, context.Canceled) || r.Done() != 0 {
		t.Error(err)
	}
	if err := r.Train(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.Step(ctx); err == nil || r.Done() != 10 {
		t.Errorf("step %d of 10: %v", r.Done(), err)
	}
	if _, err := r.Model(ctx, ModelOptions{}); err == nil {
		t.Error("a model without a date")
	}
	if _, err := r.Model(ctx, date); err != nil {
		t.Error(err)
	}
}

// Bounded and grouped units train; a plan that says neither does not.
func TestUnits(t *testing.T) {
	set := circles(3000, 1)
	for i := range set.Len() {
		set.Units = append(set.Units, int32(i/3))
	}
	for _, u := range []Units{{Bounded, 3}, {Bounded, 2}, {Grouped, 3}} {
		p := small()
		p.Units, p.Steps, p.Noise.Multiplier = u, 5, 4
		r, err := Start(ctx, Options{Plan: p, Network: mlp(4), Data: set, Budget: purse(t, filter.Approx, "100", privacy.AddRemove)})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Train(ctx); err != nil {
			t.Error(err)
		}
		if g := r.Guarantee(); (g.Group == 3) != (u.Mode == Grouped) {
			t.Errorf("%v: %+v", u, g)
		}
	}
}

// Figures are for the owner: no verb, log or JSON shows them by accident.
func TestFiguresAreWithheld(t *testing.T) {
	p := Progress{Owner: Figures{Examples: 12345, Loss: 6.789}}
	for _, text := range []string{fmt.Sprint(p), fmt.Sprintf("%+v", p), fmt.Sprintf("%#v", p), fmt.Sprintf("%d", p.Owner), p.Owner.String()} {
		if strings.Contains(text, "12345") || strings.Contains(text, "6.789") {
			t.Errorf("shown: %s", text)
		}
	}
	if data, err := json.Marshal(p); err == nil {
		t.Errorf("marshalled: %s", data)
	}
}

// Early warnings, each once.
func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		figures Figures
		want    string // "" for none
	}{
		"well":         {Figures{Examples: 10, Loss: 1, Clipped: 0.5, SignalToNoise: 1}, ""},
		"empty":        {Figures{Loss: math.NaN(), Clipped: math.NaN()}, ""},
		"all clipped":  {Figures{Examples: 10, Loss: 1, Clipped: 1, SignalToNoise: 1}, "nearly every gradient is clipped"},
		"none clipped": {Figures{Examples: 10, Loss: 1, SignalToNoise: 1}, "hardly any"},
		"noise":        {Figures{Examples: 10, Loss: 1, Clipped: 0.5, SignalToNoise: 0.01}, "noise above signal"},
		"no number":    {Figures{Examples: 10, Invalid: 10, Loss: math.NaN()}, "finite loss"},
	} {
		w := newWatch(small())
		var told []string
		for range 100 {
			told = append(told, w.look(c.figures)...)
		}
		if c.want == "" && told != nil || c.want != "" && (len(told) != 1 || !strings.Contains(told[0], c.want)) {
			t.Errorf("%s: %q", name, told)
		}
	}
}

// The seed gives the initial weights and nothing else: two runs end apart.
func TestSeed(t *testing.T) {
	var ends [][]float32
	for range 2 {
		r, err := Start(ctx, Options{Plan: small(), Network: mlp(4), Data: circles(1000, 1), Seed: 3, Budget: purse(t, filter.Approx, "100", privacy.AddRemove)})
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, slices.Clone(r.Network().Parameters()))
		if err := r.Train(ctx); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, slices.Clone(r.Network().Parameters()))
	}
	if !slices.Equal(ends[0], ends[2]) || slices.Equal(ends[1], ends[3]) {
		t.Error("runs with one seed begin apart, or end together")
	}
}
