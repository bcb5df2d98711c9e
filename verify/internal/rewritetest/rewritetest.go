// Package rewritetest tests functions that packages such as fuse and absorb make of
// others: it reads their test data, and compares what is revealed. It is for tests alone.
package rewritetest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// Load reads the functions of a package, of which none is refused.
func Load(t *testing.T, pattern string) []*source.Unit {
	t.Helper()
	packages, err := source.Load(t.Context(), "", pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range packages[0].Units {
		if u.Function == nil {
			t.Fatal(u.Name, u.Refusals)
		}
	}
	return packages[0].Units
}

// Agree fails unless an event is as probable of g as of f.
func Agree(t *rapid.T, f, g *program.Function, in program.Inputs, event exact.Event) {
	t.Helper()
	o := exact.Options{Width: 1e-9}
	p, err := exact.Probability(t.Context(), f, in, event, o)
	if err != nil {
		t.Fatal(err)
	}
	q, err := exact.Probability(t.Context(), g, in, event, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Lo > q.Hi || q.Lo > p.Hi || p.Hi-p.Lo > 1e-6 || q.Hi-q.Lo > 1e-6 {
		t.Fatalf("%v: %v, and then %v\n%s", event.Return, p, q, program.Print(g))
	}
}
