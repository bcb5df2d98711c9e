package main

import (
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/round"
)

// What kind of film it is halves most of what the mean leaves open. Rounded stars and tastes leave more than 0.5.
func TestNumbers(t *testing.T) {
	got, err := round.Printed(run)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]float64{
		"mean, persons at epsilon 0.1": {0.7, 0.95}, "mean, persons at epsilon 1": {0.7, 0.9}, "content-based, without a guarantee": {0.5, 0.62},
		"content-based, persons at epsilon 0.5": {0.5, 0.7}, "content-based, persons at epsilon 2": {0.5, 0.65},
	} {
		if x, ok := got[name]; !ok || x < want[0] || x > want[1] {
			t.Errorf("%s: %v, and not from %v to %v", name, x, want[0], want[1])
		}
	}
}
