package learn

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/cli/input"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/privacy"
	"pgregory.net/rapid"
)

// In every measure, the noise is chosen so that a domain whose whole budget the target
// is admits the count and the run, by its own filter; and so that a hundredth less
// noise would not be admitted.
func TestCalibratedRunsFit(t *testing.T) {
	t.Parallel()
	for _, measure := range []filter.Measure{filter.Approx, filter.ZCDP, filter.RDP, filter.GDP, filter.Whitehouse} {
		for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
			for _, epsilon := range []string{"0.5", "3"} {
				target, delta := clitest.Must(privacy.ParseEpsilon(epsilon)), clitest.Must(privacy.ParseDelta("1e-5"))
				whole := filter.Budget{Measure: measure, Epsilon: target, Delta: delta, Neighbours: relation}
				if measure != filter.Approx {
					whole.SelectionDelta = clitest.Must(privacy.ParseDelta("5e-6"))
				}
				y := payer{measure, relation, whole}
				r := recipe{target: target}
				var err error
				if r.delta, err = y.deltaFor(target); err != nil {
					t.Fatal(err)
				}
				r.complete("logistic", measure)
				count := clitest.Must(counter(target, relation))
				r.count = count.Event().String()
				p, err := y.calibrate(t.Context(), r.plan(4321, false, relation), target)
				if err != nil {
					t.Fatalf("%s: %v", measure, err)
				}
				f := clitest.Must(filter.New(whole))
				within := func(multiplier float64) bool {
					p.Noise.Multiplier = multiplier
					event := clitest.Must(p.Event())
					run := clitest.Must(accountant.Guarantee(t.Context(), event, f, p.Delta, accountant.Options{Neighbours: relation}))
					return clitest.Must(f.Charge([]privacy.Event{count.Event(), run}, p.Delta)).Within(f.Budget())
				}
				z := p.Noise.Multiplier
				if !within(z) {
					t.Errorf("%s, %v, epsilon %s: noise %v is not admitted", measure, relation, epsilon, z)
				}
				if within(0.99 * z) {
					t.Errorf("%s, %v, epsilon %s: noise %v is more than need be", measure, relation, epsilon, z)
				}
				p.Noise.Multiplier = z
				if g := clitest.Must(p.Guarantee()); g.Epsilon > target.Float64() {
					t.Errorf("%s, %v: epsilon %v for a target of %s", measure, relation, g.Epsilon, epsilon)
				}
			}
		}
	}
}

// With a noisy count the cost is the same for every count: it was reserved, in effect,
// before anything was counted. Of very many units a step sees a smaller share, which costs
// no more.
func TestCostIsKnownBeforeTheCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := recipe{target: clitest.Must(privacy.ParseEpsilon("1")), delta: clitest.Must(privacy.ParseDelta("1e-5")), noise: 2, count: "discrete_laplace(50)"}
		r.complete(rapid.SampledFrom([]string{"logistic", "mlp", "cnn"}).Draw(t, "model"), rapid.SampledFrom([]filter.Measure{filter.Approx, filter.ZCDP}).Draw(t, "measure"))
		units := rapid.Int64Range(1, 1_000_000).Draw(t, "units")
		a := r.plan(units, false, privacy.AddRemove)
		b := r.plan(100_000, false, privacy.AddRemove)
		x, y := clitest.Must(a.Event()).String(), clitest.Must(b.Event()).String()
		if thinned := units > r.thinned*r.sampling; a.Population.Alike == thinned {
			t.Fatalf("of %d units the run is said to be alike for every count: %v", units, a.Population.Alike)
		}
		if thinned := units > r.thinned*r.sampling; thinned && (x == y || clitest.Must(a.Guarantee()).Epsilon > clitest.Must(b.Guarantee()).Epsilon) || !thinned && x != y {
			t.Fatalf("%s and %s", x, y)
		}
	})
}

// The same of other learners: what is charged is admitted by a budget that is the target,
// and not by one that is a fiftieth less.
func TestLearnersSpendTheirTarget(t *testing.T) {
	t.Parallel()
	form := (&input.ModelData{Encoding: &example.Encoding{Columns: []example.Column{{Name: "age", Type: "double", Lower: 0, Upper: 120}},
		Target: &example.Column{Name: "ill", Type: "boolean"}}, Classes: []string{"false", "true"}}).Form(false)
	for _, measure := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.RDP, filter.GDP, filter.Whitehouse} {
		for _, name := range [][2]string{{"tree", ""}, {"bayes", ""}, {"logistic", "objective"}, {"logistic", "output"}} {
			for _, epsilon := range []string{"0.5", "3"} {
				o := cost.Options{Epsilon: clitest.Must(privacy.ParseEpsilon(epsilon))}
				whole := filter.Budget{Measure: measure, Epsilon: o.Epsilon}
				if measure != filter.Pure {
					whole.Delta = clitest.Must(privacy.ParseDelta("1e-5"))
				}
				if measure == filter.Whitehouse {
					whole.SelectionDelta = clitest.Must(privacy.ParseDelta("5e-6"))
				}
				y := payer{measure, privacy.AddRemove, whole}
				if measure != filter.Pure {
					o.Delta = clitest.Must(y.deltaFor(o.Epsilon))
				}
				l, _ := learner.Find(name[0], name[1])
				c, err := y.choose(t.Context(), purseOf(y, o), &l, form, learner.Settings{}, o)
				if err != nil {
					t.Fatalf("%s, %v: %v", measure, name, err)
				}
				admits := func(share *big.Rat) bool {
					target := clitest.Must(privacy.NewEpsilon(share.Mul(share, o.Epsilon.Rat())))
					f := clitest.Must(y.allowanceOf(cost.Options{Epsilon: target, Delta: o.Delta}))
					charge, err := f.Charge([]privacy.Event{c.whole}, o.Delta) // of rdp, one of a target so much less may need other orders
					return err == nil && charge.Within(f.Budget())
				}
				if !admits(big.NewRat(1, 1)) {
					t.Errorf("%s, %v, epsilon %s: %v is not admitted", measure, name, epsilon, c.whole)
				}
				if admits(big.NewRat(49, 50)) {
					t.Errorf("%s, %v, epsilon %s: %v is less than it might be", measure, name, epsilon, c.whole)
				}
			}
		}
	}
}

// purseOf is a budget of a payer's measure that is a target.
func purseOf(y payer, o cost.Options) budget.Budget {
	b := y.whole
	if b.Measure == "" {
		b = filter.Budget{Measure: y.measure, Epsilon: o.Epsilon, Delta: o.Delta, Neighbours: y.neighbours}
	}
	return clitest.Must(budget.NewInMemory("town", b))
}
