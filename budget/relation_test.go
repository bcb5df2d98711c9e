package budget_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A mechanism is built for a relation; its events then speak of that one, of both, or of
// replacing one alone, whatever it was built for.
type built struct {
	events func(privacy.Neighbours) []privacy.Event
	speaks reach
}

type reach int

const (
	asked    reach = iota // of the relation that its options name
	stated                // of any: its sensitivity is what the caller says it is, for the relation in force
	both                  // of both, as its theorem says
	replaced              // of replacing one
	added                 // of adding one
)

func (r reach) of(built, n privacy.Neighbours) bool {
	switch r {
	case asked:
		return built == n
	case replaced:
		return n == privacy.ReplaceOne
	case added:
		return n == privacy.AddRemove
	}
	return true
}

var relations = []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne}

func mechanisms() map[string]built {
	eps, del, rho := must(privacy.ParseEpsilon("0.01")), must(privacy.ParseDelta("1e-9")), must(privacy.ParseRho("0.0001"))
	r := func(s string) *big.Rat { x, _ := new(big.Rat).SetString(s); return x }
	one := r("1")
	fixed := func(e privacy.Event) built {
		return built{func(privacy.Neighbours) []privacy.Event { return []privacy.Event{e} }, stated}
	}
	scores := mechanism.ScoreOptions{Sensitivity: one, Epsilon: eps}
	selection := func(n privacy.Neighbours) mechanism.SelectionOptions {
		return mechanism.SelectionOptions{MaxGroups: 2, Neighbours: n, Epsilon: eps, Delta: del}
	}
	sampled := func(n privacy.Neighbours, size bool, e privacy.Event) privacy.Event {
		o := mechanism.SubsampledOptions[int, int]{Neighbours: n, Event: e, Release: func(noise.Bits, []int) (int, error) { return 0, nil }}
		if size {
			o.Size, o.Of = 10, 100
		} else {
			o.Rate = r("1/10")
		}
		return must(mechanism.NewSubsampled(o)).Event()
	}
	gaussian := privacy.Gaussian{Variance: r("1000000"), SensitivitySquared: one}
	all := map[string]built{
		"NewLaplace":              fixed(must(mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: one, Epsilon: eps})).Event()),
		"NewGaussian":             fixed(must(mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: one, Rho: rho})).Event()),
		"NewVector":               fixed(must(mechanism.NewVector(mechanism.VectorOptions{Length: 2, L2: one, Rho: rho})).Event()),
		"NewPrefixSums":           fixed(must(mechanism.NewPrefixSums(mechanism.PrefixSumsOptions{Sensitivity: one, Block: 4, Epsilon: eps})).Event()),
		"NewExponential":          fixed(must(mechanism.NewExponential(mechanism.ExponentialOptions{Sensitivity: one, Epsilon: eps})).Event()),
		"NewExponentialRange":     fixed(must(mechanism.NewExponentialRange(mechanism.ExponentialRangeOptions{ScoreOptions: scores, Upper: 1})).Event()),
		"NewPermuteAndFlip":       fixed(must(mechanism.NewPermuteAndFlip(scores)).Event()),
		"NewNoisyMax":             fixed(must(mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{ScoreOptions: scores})).Event()),
		"NewTopK":                 fixed(must(mechanism.NewTopK(mechanism.TopKOptions{ScoreOptions: scores, K: 2})).Event()),
		"NewAboveThreshold":       fixed(must(mechanism.NewAboveThreshold(mechanism.AboveThresholdOptions{Sensitivity: one, Epsilon: eps})).Event()),
		"NewSparseVector":         fixed(must(mechanism.NewSparseVector(mechanism.SparseVectorOptions{Sensitivity: one, Epsilon: eps, Answers: 2})).Event()),
		"NewAdaptiveSparseVector": fixed(must(mechanism.NewAdaptiveSparseVector(mechanism.SparseVectorOptions{Sensitivity: one, Epsilon: eps, Answers: 2})).Event()),

		"NewMWEM": {fixed(must(mechanism.NewMWEM(mechanism.MWEMOptions{Cells: 2, Queries: [][]int{{0}}, Rounds: 1, Epsilon: eps})).Event()).events, both},
		"NewSmoothMedian": {fixed(must(mechanism.NewSmoothMedian(mechanism.SmoothMedianOptions{
			Lower: r("0"), Upper: r("9"), Step: one, Epsilon: eps})).Event()).events, both},
		"NewProposeTestRelease": {fixed(must(mechanism.NewProposeTestRelease(mechanism.ProposeTestReleaseOptions{
			Lower: r("0"), Upper: r("9"), Step: one, Bound: one, Epsilon: eps, Delta: del})).Event()).events, both},
		"NewSampleAggregate": {fixed(must(mechanism.NewSampleAggregate(mechanism.SampleAggregateOptions[int]{
			Blocks: 3, Compute: func([]int) float64 { return 0 }, Lower: r("0"), Upper: r("9"), Step: one, Epsilon: eps})).Event()).events, both},

		"NewRandomizedResponse": {fixed(must(mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Epsilon: eps})).Event()).events, replaced},
		"NewBinaryResponse":     {fixed(must(mechanism.NewBinaryResponse(mechanism.BinaryResponseOptions{No: r("0.51"), Yes: r("0.5")})).Event()).events, replaced},
		"NewTwoCoin":            {fixed(must(mechanism.NewTwoCoin(mechanism.TwoCoinOptions{First: r("0.99"), Second: r("0.5")})).Event()).events, replaced},

		"NewHistogram": {func(n privacy.Neighbours) []privacy.Event {
			return []privacy.Event{must(mechanism.NewHistogram(mechanism.HistogramOptions{Bins: 4, Neighbours: n, Epsilon: eps})).Event()}
		}, asked},
		"NewHistogram with Gaussian noise": {func(n privacy.Neighbours) []privacy.Event {
			return []privacy.Event{must(mechanism.NewHistogram(mechanism.HistogramOptions{Bins: 4, Neighbours: n, Rho: rho})).Event()}
		}, asked},
		"NewQuantile": {func(n privacy.Neighbours) []privacy.Event {
			return []privacy.Event{must(mechanism.NewQuantile(mechanism.QuantileOptions{
				Lower: r("0"), Upper: r("9"), Step: one, Quantiles: []*big.Rat{r("1/4"), r("1/2")}, Neighbours: n, Epsilon: eps})).Event()}
		}, asked},
		"ChooseSelection": {func(n privacy.Neighbours) []privacy.Event {
			return must(mechanism.ChooseSelection(selection(n))).Events()
		}, asked},
		"NewCountThreshold": {func(n privacy.Neighbours) []privacy.Event {
			o := selection(n)
			o.Epsilon = privacy.Epsilon{}
			return must(mechanism.NewCountThreshold(must(mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: one, Epsilon: eps})), o)).Events()
		}, asked},
		"NewStabilityHistogram": {func(n privacy.Neighbours) []privacy.Event {
			return []privacy.Event{must(mechanism.NewStabilityHistogram[string](selection(n))).Event()}
		}, asked},
		// A sample of a mechanism speaks of no more than the mechanism.
		"NewSubsampled": {func(n privacy.Neighbours) []privacy.Event {
			h := must(mechanism.NewHistogram(mechanism.HistogramOptions{Bins: 4, Neighbours: n, Epsilon: eps})).Event()
			return []privacy.Event{sampled(n, n == privacy.ReplaceOne, h)}
		}, asked},
		"NewSubsampled with noise": {func(n privacy.Neighbours) []privacy.Event {
			return []privacy.Event{sampled(privacy.AddRemove, false, gaussian)}
		}, added},
		"NewSubsampled with noise, of a number": {func(privacy.Neighbours) []privacy.Event {
			return []privacy.Event{sampled(privacy.ReplaceOne, true, gaussian)}
		}, replaced},
	}
	return all
}

// Every mechanism of package mechanism, built for each relation, is charged by budgets of
// every measure under just the relations that its event speaks of: as it stands, where
// the measure has a charge for it, and by the guarantee that an accountant finds. Without
// the statement of a relation, the histogram for add-remove is taken by a replace-one
// budget, where it costs twice as much.
func TestRelations(t *testing.T) {
	all := mechanisms()
	for _, name := range constructors(t) {
		if _, ok := all[name]; !ok {
			t.Errorf("mechanism.%s is missing here", name)
		}
	}
	ctx := context.Background()
	measures := []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.Whitehouse, filter.RDP, filter.GDP}
	eps, del := must(privacy.ParseEpsilon("5")), must(privacy.ParseDelta("1e-6"))
	charged := map[string]int{}
	for name, m := range all {
		for _, made := range relations {
			events := m.events(made)
			for _, n := range relations {
				speaks := m.speaks.of(made, n)
				for _, e := range events {
					if err := privacy.Holds(e, n); (err == nil) != speaks {
						t.Errorf("%s, for %v, under %v: %v: %v", name, made, n, e, err)
					}
				}
				for _, measure := range measures {
					b := filter.Budget{Measure: measure, Epsilon: eps, Delta: del, SelectionDelta: must(privacy.ParseDelta("5e-7")), Neighbours: n}
					if measure == filter.Pure {
						b.Delta = privacy.Delta{}
					}
					if measure == filter.Pure || measure == filter.Approx {
						b.SelectionDelta = privacy.Delta{}
					}
					payer := must(budget.NewInMemory(name, b))
					release := budget.Release{Statement: name, Events: events, Delta: must(privacy.ParseDelta("1e-8"))}
					if _, err := payer.Reserve(ctx, release); err == nil {
						charged[name]++
						if !speaks {
							t.Errorf("%s, for %v: a budget of %s under %v takes %v", name, made, measure, n, events)
						}
					}
					plan := privacy.Event(privacy.Sum{Events: events})
					g, err := accountant.Guarantee(ctx, plan, payer.Filter(), privacy.Delta{}, accountant.Options{Neighbours: n})
					if err == nil {
						charged[name]++
						if !speaks {
							t.Errorf("%s, for %v: an accountant has for %s under %v %v", name, made, measure, n, g)
						}
					}
				}
			}
		}
	}
	for name := range all {
		if charged[name] == 0 {
			t.Errorf("%s: nobody takes it, so nothing is tested", name)
		}
	}
}

// constructors are the functions of package mechanism that make something with events.
func constructors(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../mechanism/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "New") || strings.HasPrefix(f.Name.Name, "Choose")) {
				names[f.Name.Name] = true
			}
		}
	}
	if len(names) < 20 {
		t.Errorf("only %d constructors", len(names))
	}
	return slices.Sorted(maps.Keys(names))
}
