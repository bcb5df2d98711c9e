//go:build cgo

package attack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
)

// Under every measure a statement goes the whole way: it is explained, charged what
// was explained, answered, recorded, refused when the budget is at its end, and the
// ledger verifies.
func TestEveryMeasure(t *testing.T) {
	for _, test := range []struct {
		measure  filter.Measure
		spend    *discreet.QueryOptions
		noise    string // of a count over four groups
		cost     string // of the statement, in the measure
		answered int    // statements before the budget is at its end
		refused  *discreet.QueryOptions
	}{
		{"pure", pure("0.5"), "discrete_laplace", "epsilon 0.5", 6, approx("0.5", "1e-9")},
		{"approx", approx("0.5", "1e-9"), "discrete_laplace", "epsilon 0.5, delta 0", 6, concentrated("0.1")},
		{"zcdp", concentrated("0.05"), "discrete_gaussian", "rho 0.05, delta 0", 3, nil},
		{"whitehouse", pure("0.25"), "discrete_laplace", "epsilon^2 0.0625, delta 0", 4, concentrated("0.1")},
		{"rdp", concentrated("0.05"), "discrete_gaussian", "renyi 0.467", 3, nil},
		{"gdp", approx("0.2", "1e-9"), "discrete_laplace", "mu^2 0.0627", 6, concentrated("0.1")},
	} {
		t.Run(string(test.measure), func(t *testing.T) {
			ctx := context.Background()
			budget := "measure = \"" + string(test.measure) + "\"\nepsilon = 3.0\n"
			if test.measure != filter.Pure {
				budget += "delta = 1e-6\n"
			}
			w := newWorld(t, visits(budget), files{"visits.csv": crowd(20)})
			const sql = "SELECT city, count(*) FROM visits GROUP BY city"
			e := must(w.Explain(ctx, sql, test.spend))
			for answered := 0; ; answered++ {
				a, err := w.Query(ctx, sql, test.spend)
				if exhausted(err) {
					var r *discreet.Refusal
					if !errors.As(err, &r) || r.Asked == nil || r.Left == nil || answered != test.answered {
						t.Errorf("refused after %d answers, want %d: %v", answered, test.answered, err)
					}
					if asked := r.Asked.String(); !strings.HasPrefix(asked, test.cost) {
						t.Errorf("asked %s, want %s", asked, test.cost)
					}
					break
				} else if err != nil {
					t.Fatal(err)
				}
				charged := discreet.Remaining{Measure: test.measure, Amounts: a.Cost.Amounts}.String()
				if explained := (discreet.Remaining{Measure: test.measure, Amounts: e.Cost.Amounts}).String(); charged != explained {
					t.Fatalf("charged %s, explained %s", charged, explained)
				}
				if m := a.Mechanisms[0].Mechanism; m != test.noise || m != e.Mechanisms[0].Mechanism {
					t.Errorf("noise is %s, explained %s, want %s", m, e.Mechanisms[0].Mechanism, test.noise)
				}
				back := &discreet.Answer{}
				if err := json.Unmarshal(must(json.Marshal(a)), back); err != nil || back.Remaining.String() != a.Remaining.String() {
					t.Errorf("an answer reads back as one that leaves %v (%v), not %v", back.Remaining, err, a.Remaining)
				}
			}
			if test.refused != nil {
				if _, err := w.Query(ctx, sql, test.refused); err == nil || exhausted(err) {
					t.Errorf("%+v is admitted: %v", test.refused.Spend, err)
				}
			}
			b := must(w.ledger.Balance(ctx, "person"))
			if implied := must(b.Implies()); implied.Epsilon.Float64() > 3 || implied.Delta.Float64() > 1e-6*(1+1e-12) {
				t.Errorf("what is left, %v, implies (%v, %v)", b.Remaining, implied.Epsilon, implied.Delta)
			}
			if err := w.ledger.Verify(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// Private groups are chosen under every measure that has a delta, at its expense,
// and Gaussian noise is taken where a measure has a price for it.
func TestEveryMeasureWithPrivateGroups(t *testing.T) {
	for measure, gaussian := range map[string]bool{"approx": true, "zcdp": true, "whitehouse": true, "rdp": true, "gdp": false} {
		wide := strings.Replace(visits("measure = \""+measure+"\"\nepsilon = 100\ndelta = 1e-3\n"), "max_groups_per_unit = 2", "max_groups_per_unit = 60", 1)
		w := newWorld(t, wide, files{"visits.csv": crowd(20)})
		a := w.ask(t, "SELECT name, count(*) FROM visits GROUP BY name", approx("1", "1e-6"))
		names := fmt.Sprint(a.Cost.Events)
		if a.Cost.Delta.Sign() <= 0 || strings.Contains(names, "discrete_gaussian") != gaussian {
			t.Errorf("%s: costs %v for %s", measure, a.Cost.Amounts, names)
		}
		if !slices.ContainsFunc(a.Cost.Positive(), func(p filter.Part) bool { return p.Name == a.Cost.In(filter.Measure(measure))[0].Name }) {
			t.Errorf("%s: costs %v", measure, a.Cost.Amounts)
		}
		if err := w.ledger.Verify(context.Background()); err != nil {
			t.Errorf("%s: %v", measure, err)
		}
	}
}
