package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/privacy"
)

// A run is charged whole before a record is read: of a file whose compression turns out to
// be cut, the charge stays; a column that the header lacks costs nothing. With the
// examples read first nothing is spent on either, and the test fails.
func TestLearnersChargeFirst(t *testing.T) {
	dir := town(t, 50)
	var cut bytes.Buffer
	z := gzip.NewWriter(&cut)
	fmt.Fprintln(z, "age,ill")
	for i := range 100_000 {
		fmt.Fprintf(z, "%d,%t\n", i*i%10, i%7 == 0)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{"odd.csv": "weight\n1\n", "cut.csv.gz": cut.String()[:cut.Len()/2]})
	for _, c := range []struct{ file, spent string }{{"odd.csv", "0"}, {"cut.csv.gz", "2 at "}} {
		said, _ := run(t, t.Context(), exitRefused, "train", "--csv", filepath.Join(dir, c.file), "--columns", "age=0..9", "--target", "ill=boolean",
			"--domain", "person", "--model", "bayes", "--target-epsilon", "2", "--catalog", filepath.Join(dir, "discreet.toml"), "--out", filepath.Join(dir, "m.model"), "--json")
		if got := spent(t, dir); !strings.HasPrefix(got, c.spent) {
			t.Errorf("%s: spent %s\n%s", c.file, got, said)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "m.model")); err == nil {
		t.Error("there is a model")
	}
}

// In every measure, what is charged for a run is within the target, and no less than what
// accountants make of its events.
func TestLearnersCostWhatTheySay(t *testing.T) {
	t.Parallel()
	encoding := &example.Encoding{Columns: []example.Column{{Name: "age", Type: "integer", Upper: 9}, {Name: "job", Type: "text", Values: []string{"a", "b"}}}}
	epsilon, delta := must(privacy.ParseEpsilon("1")), must(privacy.ParseDelta("1e-5"))
	for i, l := range learner.All() {
		if l.Method == dpFTRL || l.Model == "linear" {
			continue // as others: a network, and what logistic regression does
		}
		d := modelData{Encoding: &example.Encoding{Columns: encoding.Columns}}
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
			c, err := y.choose(t.Context(), &l, d.form(true), learner.Settings{}, o)
			if err != nil {
				t.Errorf("%s %s, %s, %v: %v", l.Model, l.Method, measure, relation, err)
				continue
			}
			f := must(y.allowanceOf(o))
			if charge := must(f.Charge([]privacy.Event{c.whole}, o.Delta)); !charge.Within(f.Budget()) {
				t.Errorf("%s %s, %s, %v: %v is beyond the target", l.Model, l.Method, measure, relation, c.whole)
			}
			if g := c.guarantee; g.Epsilon > 1+1e-9 || g.Neighbours != relation {
				t.Errorf("%s %s, %s, %v: the guarantee is %+v", l.Model, l.Method, measure, relation, g)
			}
			if l.Point && measure == filter.Approx {
				continue // its event is its guarantee
			}
			by := "zcdp"
			if l.Point || o.Delta.Sign() == 0 {
				by = "basic"
			}
			report := must(accountant.Epsilon(t.Context(), c.Event(), o.Delta.Float64()*(1-1e-9), accountant.Options{Neighbours: relation, Accountant: by}))
			if best, ok := report.Best(); !ok || best.Epsilon.High > 1+1e-6 {
				t.Errorf("%s %s, %s, %v: accountants say %v", l.Model, l.Method, measure, relation, best.Epsilon)
			}
		}
	}
}

// Three examples of a unit take three times the noise of one, and replacement twice that.
func TestLearnersHideUnits(t *testing.T) {
	t.Parallel()
	d := modelData{Classes: []string{"a", "b"}, Encoding: &example.Encoding{
		Columns: []example.Column{{Name: "job", Type: "text", Values: []string{"a", "b"}}},
		Target:  &example.Column{Name: "y", Type: "text", Values: []string{"a", "b"}}}}
	l, _ := learner.Find("bayes", "")
	scale := func(units bool, relation privacy.Neighbours) *big.Rat {
		y := payer{measure: filter.Pure, neighbours: relation}
		c, err := y.choose(t.Context(), &l, d.form(units), learner.Settings{}, cost.Options{Epsilon: must(privacy.ParseEpsilon("1")), PerUnit: 3})
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
