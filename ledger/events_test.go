package ledger

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// What the mechanisms of the SQL path record is read back from the file as the
// same events, and is a plan that account takes.
func TestEventsOfMechanisms(t *testing.T) {
	var events []privacy.Event
	laplace := must(mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(7, 3), Epsilon: eps("0.003")}))
	gaussian := must(mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(8, 1), Rho: must(privacy.ParseRho("0.0001"))}))
	events = append(events, laplace.Event(), gaussian.Event())
	for _, o := range []mechanism.SelectionOptions{
		{MaxGroups: 1, Epsilon: eps("0.001"), Delta: del("1e-12")},
		{MaxGroups: 1, Epsilon: eps("0.1"), Delta: del("1e-9"), Neighbours: privacy.ReplaceOne},
		{MaxGroups: 7, Rho: must(privacy.ParseRho("0.0001")), Delta: del("1e-12")},
		{MaxGroups: 1000000, Rho: must(privacy.ParseRho("0.0001")), Delta: del("1e-12")},
	} {
		for _, e := range must(mechanism.ChooseSelection(o)).Events() {
			events = append(events, must(privacy.Released(e, o.Neighbours)))
		}
	}
	l, path := create(t, Options{Domains: []DomainBudget{{ID: "patient", Measure: filter.ZCDP, Epsilon: eps("3"), Delta: del("1e-7"), SelectionDelta: del("5e-8")}}})
	for _, e := range events {
		r := Request{Domain: "patient", Analyst: "ann", Statement: "SELECT", Events: []privacy.Event{e}, Now: now}
		if _, err := l.Reserve(ctx, r); err != nil {
			t.Fatalf("%v: %v", e, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = must(Open(ctx, path, Options{Now: now}))
	defer l.Close()
	var kept []privacy.Event
	for _, h := range must(l.History(ctx)) {
		kept = append(kept, h.Events...)
	}
	for _, kind := range []string{"discrete_laplace", "discrete_gaussian", "selection", "2*selection"} {
		if !slices.ContainsFunc(kept, func(e privacy.Event) bool { return strings.HasPrefix(e.String(), kind+"(") }) {
			t.Errorf("no %s among %v", kind, kept)
		}
	}
	if len(kept) != len(events) {
		t.Fatalf("%d events are kept of %d", len(kept), len(events))
	}
	for i, e := range events {
		if kept[i].String() != e.String() {
			t.Errorf("%v is kept as %v", e, kept[i])
		}
		p, err := plan.Parse(e.String())
		if err != nil {
			t.Fatalf("%v: %v", e, err)
		}
		if read := must(p.Event()); read.String() != e.String() {
			t.Errorf("%v is a plan that reads as %v", e, read)
		}
		if err := privacy.Holds(e, privacy.AddRemove); err != nil {
			t.Error(err)
		}
	}
	l.verifyOrFail(t)
}
