package learn

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/internal/gaussian"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// A plan that goes by a noisy count has the count in its guarantee and in its cost, and
// is none without the event that the count was. CI takes one kind of units of each relation, not the same, others in each
// run, DISCREET_SOAK all.
func TestGuaranteeHasTheCount(t *testing.T) {
	one := rand.IntN(3)
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		for i, units := range []Units{{}, {Bounded, 3}, {Grouped, 2}} {
			if (one+int(n))%3 != i && os.Getenv("DISCREET_SOAK") == "" {
				continue
			}
			p := mnist()
			p.Neighbours, p.Units, p.Steps = n, units, 4
			p.Noise.Multiplier = 1
			alone := must(p.Guarantee())
			set := circles(600, 1)
			if units.Mode != "" {
				for i := range set.Len() {
					set.Units = append(set.Units, int32(i/3))
				}
			}
			b := purse(t, filter.Pure, "1", n)
			counted := must(CountUnits(ctx, b, set, units, must(privacy.ParseEpsilon("0.5"))))
			if e := must(b.Spent(ctx)).Epsilon.String(); e != "0.5" {
				t.Errorf("the count cost %s", e)
			}
			counted.Units = p.Population.Units
			p.Population = counted
			both := must(p.Guarantee())
			if !(both.Epsilon > alone.Epsilon*(1+1e-6)) || both.Epsilon > alone.Epsilon+0.5+1e-9 {
				t.Errorf("%v, %v: epsilon %v with a count of epsilon 0.5, %v without", n, units.Mode, both.Epsilon, alone.Epsilon)
			}
			// The accountant says so of the count as it was charged.
			least := must(accountant.Epsilon(ctx, must(must(plan.Parse(counted.Count)).Event()), 0, p.accounting()))
			if best, ok := least.Best(); !ok || math.Abs(best.Epsilon.High-0.5) > 1e-6 {
				t.Errorf("%v, %v: of %s the accountant says %+v", n, units.Mode, counted.Count, best.Epsilon)
			}
			f := must(filter.New(filter.Budget{Measure: filter.Approx, Epsilon: must(privacy.ParseEpsilon("2")), Delta: p.Delta, Neighbours: n}))
			if n == privacy.ReplaceOne || units.Mode == Grouped { // of which the search takes long
				if cost := must(p.Cost(ctx, f)); len(cost) != 2 || must(f.Charge(cost[:1], p.Delta)).Loss.Rat().Cmp(big.NewRat(1, 2)) < 0 {
					t.Errorf("%v, %v: the plan costs %v", n, units.Mode, cost)
				}
				continue
			}
			p = must(p.Within(ctx, f))
			cost := must(p.Cost(ctx, f))
			if charge := must(f.Charge(cost, p.Delta)); len(cost) != 2 || !charge.Within(f.Budget()) {
				t.Errorf("%v, %v: the plan costs %v of %v", n, units.Mode, charge, f.Budget())
			}
			if g := must(p.Guarantee()); g.Epsilon > 2 {
				t.Errorf("%v, %v: calibrated to 2, and epsilon %v", n, units.Mode, g.Epsilon)
			}
		}
	}
	for text, population := range map[string]Population{
		"without the event": {Units: 60000, Basis: NoisyCount},
		"with the event":    {Units: 60000, Basis: Public, Count: "discrete_laplace(2)"},
		"replace":           {Units: 60000, Basis: NoisyCount, Count: "replace_one(discrete_laplace(2))"},
		"the event of":      {Units: 60000, Basis: NoisyCount, Count: "twelve"},
	} {
		p := mnist()
		p.Population = population
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v", population, err)
		}
	}
}

// A run's guarantee has what fast noise adds at the epsilon that it states, and at least
// what was charged for that.
func TestGuaranteeHasTheSampler(t *testing.T) {
	for _, measure := range []filter.Measure{filter.Approx, filter.ZCDP} {
		for _, sampler := range []Sampler{Fast, Exact} {
			p := small()
			p.Noise.Sampler, p.Noise.Multiplier, p.Batch = sampler, 4, 1000
			r, err := Start(ctx, Options{Plan: p, Network: mlp(4), Data: circles(1000, 1), Budget: purse(t, measure, "8", privacy.AddRemove)})
			if err != nil {
				t.Fatal(err)
			}
			g := r.Guarantee()
			slip := g.Delta.Float64() - p.Delta.Float64()
			least := 0.0
			if sampler == Fast {
				least = max((1+math.Exp(g.Epsilon))*gaussian.Distance(r.draws), r.Limit().Delta)
			}
			if slip < least*(1-1e-3) || slip > least*1.01 {
				t.Errorf("%s, %s: a delta of %v beside the plan's, want %v", measure, sampler, slip, least)
			}
			report := must(accountant.Epsilon(ctx, must(must(plan.Parse(g.Event)).Event()), g.Delta.Float64(), accountant.Options{}))
			// The grids of two computations of one number differ.
			if best, _ := report.Best(); best.Epsilon.Low > g.Epsilon || best.Epsilon.High > g.Epsilon*(1+1e-4) || best.Epsilon.High < g.Epsilon*0.99 {
				t.Errorf("%s, %s: of %s accountants say %v, and the guarantee %v", measure, sampler, g.Event, best.Epsilon, g.Epsilon)
			}
		}
	}
}

// Where the count decides the run, epsilons add up; where all runs are alike, count and run
// are one plan.
func TestRunsThatTheCountDecides(t *testing.T) {
	p := mnist()
	p.Steps, p.Noise.Multiplier = 4, 1
	steps := must(p.Guarantee()).Epsilon
	p.Population = Population{Units: p.Population.Units, Basis: NoisyCount, Count: "pure(0.5)"}
	decided := must(p.Guarantee())
	if decided.Epsilon < steps+0.5 || decided.Epsilon > steps+0.5+1e-9 || decided.Accountant != "basic" {
		t.Errorf("epsilon %v by %s of steps of %v after a count of 0.5", decided.Epsilon, decided.Accountant, steps)
	}
	p.Population.Alike = true
	if alike := must(p.Guarantee()); alike.Epsilon >= decided.Epsilon || alike.Epsilon <= steps || alike.Event != decided.Event {
		t.Errorf("epsilon %v of %s where all runs are alike, %v of %s otherwise", alike.Epsilon, alike.Event, decided.Epsilon, decided.Event)
	}
	p.Population.Count, p.Population.Alike = "gaussian(10)", false // which shares delta
	if g := must(p.Guarantee()); g.Epsilon <= steps || g.Delta.Cmp(p.Delta) != 0 {
		t.Errorf("epsilon %v at %v", g.Epsilon, g.Delta)
	}
}
