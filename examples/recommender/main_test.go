package main

import (
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/roundtest"
)

// What kind of film it is halves most of what the mean leaves open. Rounded stars and tastes leave more than 0.5.
func TestNumbers(t *testing.T) {
	roundtest.Within(t, run, map[string]roundtest.Band{
		"mean, persons at epsilon 0.1": {0.75, 0.82}, "mean, persons at epsilon 1": {0.75, 0.82}, // 0.788 ± 0.001
		"content-based, without a guarantee": {0.55, 0.6}, "content-based, persons at epsilon 0.5": {0.55, 0.62}, // 0.57 and 0.58 ± 0.002
		"content-based, persons at epsilon 2": {0.55, 0.62},
	})
}
