package cost_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/learntest"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

var unit = cost.Sensitivity{L1: big.NewRat(1<<24, 1), L2Squared: big.NewRat(1<<48, 1)}

func plan(t *testing.T, n privacy.Neighbours, measure filter.Measure, set *example.Set, o cost.Options) *cost.Plan {
	t.Helper()
	p, err := cost.New(learntest.Purse(t, measure, n), set, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func withNoise(t *testing.T, p *cost.Plan) *cost.Noise {
	t.Helper()
	n, err := p.Noise(big.NewRat(1, 1), 1, unit)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// moved is whether value with noise is above a threshold.
func moved(t *testing.T, n *cost.Noise, value int64, threshold float64) func() bool {
	return func() bool {
		x, err := n.Add(noise.System(), []int64{value}, 24)
		if err != nil {
			t.Fatal(err)
		}
		return x[0] > threshold
	}
}

// The noise hides what one example moves, and what is half of it does not.
func TestNoiseIsAudited(t *testing.T) {
	set := learntest.Labelled(2, []int32{1}, []float32{1})
	bound := func(measure filter.Measure, o cost.Options) float64 {
		n := withNoise(t, plan(t, privacy.AddRemove, measure, set, o))
		if measure == filter.Pure {
			return learntest.EpsilonBound(t, 6000, 0, moved(t, n, 1<<24, 1), moved(t, n, 0, 1))
		}
		return learntest.MuBound(t, 6000, moved(t, n, 1<<24, 0.5), moved(t, n, 0, 0.5))
	}
	if e := bound(filter.Pure, learntest.Pure(t, "1")); e > 1 {
		t.Errorf("noise for epsilon 1 shows %v", e)
	}
	if e := bound(filter.Pure, learntest.Pure(t, "2")); e < 1 {
		t.Errorf("half the noise shows only %v: the audit sees nothing", e)
	}
	if mu := bound(filter.ZCDP, learntest.Concentrated(t, "0.5")); mu > 1 {
		t.Errorf("noise for mu 1 shows %v", mu)
	}
	if mu := bound(filter.ZCDP, learntest.Concentrated(t, "2")); mu < 1 {
		t.Errorf("half the noise shows only %v: the audit sees nothing", mu)
	}
}

// Several examples of a unit, and replacement, need more noise in proportion.
func TestNoiseOfUnits(t *testing.T) {
	set := learntest.Labelled(2, []int32{1, 0}, []float32{1}, []float32{1})
	set.Units = []int32{0, 0}
	for _, c := range []struct {
		neighbours privacy.Neighbours
		perUnit    int
		want       float64
	}{{privacy.AddRemove, 1, 1}, {privacy.AddRemove, 3, 3}, {privacy.ReplaceOne, 1, 2}, {privacy.ReplaceOne, 3, 6}} {
		o := learntest.Concentrated(t, "0.5")
		o.PerUnit = c.perUnit
		n := withNoise(t, plan(t, c.neighbours, filter.ZCDP, set, o))
		if d := n.Deviation(24); math.Abs(d-c.want) > 1e-9 {
			t.Errorf("%v, %d examples a unit: deviation %v, want %v", c.neighbours, c.perUnit, d, c.want)
		}
	}
}

// What is charged is what was asked for, whatever the parts; and parts that are more than
// the whole are refused.
func TestChargeIsTheWhole(t *testing.T) {
	set := learntest.Labelled(2, []int32{1}, []float32{1})
	for _, c := range []struct {
		measure filter.Measure
		o       cost.Options
	}{
		{filter.Pure, learntest.Pure(t, "0.7")},
		{filter.ZCDP, learntest.Concentrated(t, "0.3")},
		{filter.Approx, learntest.Approx(t, "0.7", "0.00001")},
	} {
		b := learntest.Purse(t, c.measure, privacy.AddRemove)
		p, err := cost.New(b, set, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Noise(big.NewRat(1, 3), 7, unit); err != nil {
			t.Fatal(err)
		}
		if c.measure == filter.Pure {
			if _, err := p.Noise(big.NewRat(2, 3), 1, unit); err != nil {
				t.Fatal(err)
			}
		} else if _, _, err := p.Halves(big.NewRat(2, 3), unit.L2Squared); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Noise(big.NewRat(1, 1000), 1, unit); !errors.Is(err, cost.ErrParameter) {
			t.Errorf("%s: more than the whole: %v", c.measure, err)
		}
		if _, err := cost.NewRun(p, "test", func(context.Context, noise.Bits) (int, error) { return 0, nil }).Train(t.Context(), noise.System()); err != nil {
			t.Fatal(err)
		}
		spent, err := b.Spent(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		got, _ := spent.Epsilon.Rat().Float64()
		want, _ := c.o.Epsilon.Rat().Float64()
		if c.measure == filter.ZCDP {
			got, _ = spent.Rho.Rat().Float64()
			want, _ = c.o.Rho.Rat().Float64()
		}
		if got > want || got < want*(1-1e-6) {
			t.Errorf("%s: charged %v for %v", c.measure, got, want)
		}
	}
}

// Nothing is computed that is not paid.
func TestNothingWithoutBudget(t *testing.T) {
	set := learntest.Labelled(2, []int32{1}, []float32{1})
	b, err := budget.NewInMemory("poor", filter.Budget{Measure: filter.Pure, Epsilon: learntest.Epsilon(t, "0.5")})
	if err != nil {
		t.Fatal(err)
	}
	p, err := cost.New(b, set, learntest.Pure(t, "1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Noise(big.NewRat(1, 1), 1, unit); err != nil {
		t.Fatal(err)
	}
	_, err = cost.NewRun(p, "test", func(context.Context, noise.Bits) (int, error) {
		t.Error("computed before it was paid")
		return 0, nil
	}).Train(t.Context(), noise.System())
	if !errors.Is(err, budget.ErrExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestRows(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	set := learntest.Labelled(2, []int32{1, 0, 1, -1, 2, 1, 1}, []float32{1}, []float32{nan}, []float32{inf}, []float32{1}, []float32{1}, []float32{2}, []float32{3})
	if rows := plan(t, privacy.AddRemove, filter.Pure, set, learntest.Pure(t, "1")).Rows(true); !slices.Equal(rows, []int{0, 5, 6}) {
		t.Errorf("whole and labelled are %v", rows)
	}
	set.Units = []int32{0, 0, 0, 0, 0, 0, 0}
	o := learntest.Pure(t, "1")
	o.PerUnit = 2
	if rows := plan(t, privacy.AddRemove, filter.Pure, set, o).Rows(true); !slices.Equal(rows, []int{0, 5}) {
		t.Errorf("two of a unit are %v", rows)
	}
}

func TestRefusals(t *testing.T) {
	b := learntest.Purse(t, filter.ZCDP, privacy.AddRemove)
	good := learntest.Labelled(2, []int32{1}, []float32{1})
	units := learntest.Labelled(2, []int32{1}, []float32{1})
	units.Units = []int32{0}
	sequences := learntest.Labelled(2, []int32{1}, []float32{1})
	sequences.Outputs = 2
	both := learntest.Pure(t, "1")
	both.Rho = learntest.Rho(t, "1")
	for name, c := range map[string]struct {
		b   budget.Budget
		set *example.Set
		o   cost.Options
	}{
		"no budget":        {nil, good, learntest.Pure(t, "1")},
		"no set":           {b, nil, learntest.Pure(t, "1")},
		"no guarantee":     {b, good, cost.Options{}},
		"only delta":       {b, good, cost.Options{Delta: learntest.Delta(t, "0.1")}},
		"two guarantees":   {b, good, both},
		"unbounded units":  {b, units, learntest.Pure(t, "1")},
		"several outputs":  {b, sequences, learntest.Pure(t, "1")},
		"negative perUnit": {b, good, cost.Options{Epsilon: learntest.Epsilon(t, "1"), PerUnit: -1}},
	} {
		if _, err := cost.New(c.b, c.set, c.o); !errors.Is(err, cost.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
