package main

import (
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/round"
)

// One frame says nothing, five do. What is learned is random by a little; that it is learned is not.
func TestNumbers(t *testing.T) {
	got, err := round.Printed(run)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]float64{
		"by the last frame alone": {0.1, 0.4}, "without a guarantee": {0.9, 1}, "persons at epsilon 8": {0.75, 1},
	} {
		if x, ok := got[name]; !ok || x < want[0] || x > want[1] {
			t.Errorf("%s: %v, and not from %v to %v", name, x, want[0], want[1])
		}
	}
}
