package learn

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/privacy"
)

// In every measure, what is charged for a run is within the target, and no less than what
// accountants make of its events.
func TestLearnersCostWhatTheySay(t *testing.T) {
	t.Parallel()
	encoding := &example.Encoding{Columns: []example.Column{{Name: "age", Type: "integer", Upper: 9}, {Name: "job", Type: "text", Values: []string{"a", "b"}}}}
	epsilon, delta := clitest.Must(privacy.ParseEpsilon("1")), clitest.Must(privacy.ParseDelta("1e-5"))
	for i, l := range learner.All() {
		if l.Method == dpFTRL || l.Model == "linear" {
			continue // as others: a network, and what logistic regression does
		}
		d := input.ModelData{Encoding: &example.Encoding{Columns: encoding.Columns}}
		switch l.Predicts {
		case learner.Number:
			d.Encoding.Target = &example.Column{Name: "y", Type: "integer", Upper: 5}
		case learner.Either, learner.Classes:
			d.Encoding.Target = &example.Column{Name: "y", Type: "text", Values: []string{"a", "b", "c"}}
			d.Classes = d.Encoding.ClassNames()
		}
		for _, measure := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP} {
			relation := privacy.Neighbours(i % 2) // add-remove, replace-one
			o := cost.Options{Epsilon: epsilon, Delta: delta, PerUnit: 3}
			if measure == filter.Pure {
				o.Delta = privacy.Delta{}
			}
			y := payer{measure: measure, neighbours: relation}
			c, err := y.choose(t.Context(), purseOf(y, o), &l, d.Form(true), learner.Settings{}, o)
			if err != nil {
				t.Errorf("%s %s, %s, %v: %v", l.Model, l.Method, measure, relation, err)
				continue
			}
			f := clitest.Must(y.allowanceOf(o))
			if charge := clitest.Must(f.Charge([]privacy.Event{c.whole}, o.Delta)); !charge.Within(f.Budget()) {
				t.Errorf("%s %s, %s, %v: %v is beyond the target", l.Model, l.Method, measure, relation, c.whole)
			}
			if g := c.guarantee; g.Epsilon > 1+1e-9 || g.Neighbours != relation {
				t.Errorf("%s %s, %s, %v: the guarantee is %+v", l.Model, l.Method, measure, relation, g)
			}
			if l.Point && measure == filter.Approx {
				continue // its event is its guarantee
			}
			report := clitest.Must(accountant.Epsilon(t.Context(), c.Event(), o.Delta.Float64()*(1-1e-9), accountant.Options{Neighbours: relation}))
			if best, ok := report.Best(); !ok || best.Epsilon.High > 1+1e-6 {
				t.Errorf("%s %s, %s, %v: accountants say %v", l.Model, l.Method, measure, relation, best.Epsilon)
			}
		}
	}
}

// Three examples of a unit take three times the noise of one, and replacement twice that.
func TestLearnersHideUnits(t *testing.T) {
	t.Parallel()
	d := input.ModelData{Classes: []string{"a", "b"}, Encoding: &example.Encoding{
		Columns: []example.Column{{Name: "job", Type: "text", Values: []string{"a", "b"}}},
		Target:  &example.Column{Name: "y", Type: "text", Values: []string{"a", "b"}}}}
	l, _ := learner.Find("bayes", "")
	scale := func(units bool, relation privacy.Neighbours) *big.Rat {
		y := payer{measure: filter.Pure, neighbours: relation}
		c, err := y.choose(t.Context(), nil, &l, d.Form(units), learner.Settings{}, cost.Options{Epsilon: clitest.Must(privacy.ParseEpsilon("1")), PerUnit: 3})
		if err != nil {
			t.Fatal(err)
		}
		return c.Events()[0].(privacy.DiscreteLaplace).Scale
	}
	for _, c := range []struct {
		units    bool
		relation privacy.Neighbours
		want     int64
	}{{false, privacy.AddRemove, 2}, {true, privacy.AddRemove, 6}, {false, privacy.ReplaceOne, 4}, {true, privacy.ReplaceOne, 12}} {
		if got := scale(c.units, c.relation); got.Cmp(big.NewRat(c.want, 1)) != 0 {
			t.Errorf("units %v, %v: noise of scale %v, want %d", c.units, c.relation, got, c.want)
		}
	}
}
