package main

import (
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/roundtest"
)

// How people are dealt out matters little to the global model, and all to a node's own: it gets its two kinds right, and half
// of everybody. Who knows where the kinds are gets 0.85 right. These
// numbers are random by ± 0.002.
func TestNumbers(t *testing.T) {
	roundtest.Within(t, run, map[string]roundtest.Band{
		"dealt out equally": {0.8, 0.9}, "by weights, each at one node": {0.8, 0.9}, "by weights, some at several nodes": {0.8, 0.9}, "two kinds at a node": {0.8, 0.9},
		"a node's own model, its own test data": {0.88, 0.97}, "a node's own model, everybody's test data": {0.35, 0.55},
		"the global model, the node's test data": {0.75, 0.92}, "the global model, everybody's test data": {0.8, 0.9},
		"one round, from nothing": {0.55, 0.7}, "one round, from a public model": {0.76, 0.9},
	})
}

// Every two kinds are at one node, each person is at one, and by weights the last node has the most.
func TestDealing(t *testing.T) {
	all := people(3000, 1)
	sum := 0
	for n, part := range kinds(all) {
		seen := map[int32]bool{}
		for _, l := range part.Labels {
			seen[l] = true
		}
		if sum += part.Len(); len(seen) != 2 {
			t.Errorf("node %d has the kinds %v", n, seen)
		}
	}
	parts := weighted(all, false)
	one := 0
	for _, p := range parts {
		one += p.Len()
	}
	if sum != all.Len() || one != all.Len() || parts[5].Len() < 3*parts[0].Len() {
		t.Errorf("%d and %d of %d people are at nodes, %d and %d at the first and the last", sum, one, all.Len(), parts[0].Len(), parts[5].Len())
	}
	several := weighted(all, true)
	if parts[5].Len() < all.Len()/5 || several[5].Len() < 3*several[0].Len() {
		t.Error("weights do not hold")
	}
}
