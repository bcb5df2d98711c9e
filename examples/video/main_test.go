package main

import (
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/roundtest"
)

// One frame says nothing, five do. What is learned is random by a little; that it is learned is not.
func TestNumbers(t *testing.T) {
	roundtest.Within(t, run, map[string]roundtest.Band{
		"by the last frame alone": {0.1, 0.4}, "without a guarantee": {0.9, 1}, // 0.259 ± 0.005, 0.999
		"persons at epsilon 8": {0.75, 1}, // 0.92 ± 0.02
	})
}
