package main

import (
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/round"
)

// The network is far better than a line, and the less so the smaller epsilon is. Prices'\” own noise is 12.
func TestNumbers(t *testing.T) {
	got, err := round.Printed(run)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]float64{
		"a line, without a guarantee": {80, 100}, "without a guarantee": {12, 45}, "persons at epsilon 8": {12, 45}, "persons at epsilon 2": {15, 70},
		"persons at epsilon 0.5": {25, 250},
	} {
		if x, ok := got[name]; !ok || x < want[0] || x > want[1] {
			t.Errorf("%s: %v, and not from %v to %v", name, x, want[0], want[1])
		}
	}
}
