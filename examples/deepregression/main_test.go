package main

import (
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/roundtest"
)

// The network is far better than a line, and little better at a small epsilon. Prices' own noise is 12.
func TestNumbers(t *testing.T) {
	roundtest.Within(t, run, map[string]roundtest.Band{
		"a line, without a guarantee": {80, 90},  // 84.7 ± 0.07
		"without a guarantee":         {22, 30},  // 25.9 ± 0.2
		"persons at epsilon 8":        {12, 55},  // 26 ± 4.7
		"persons at epsilon 0.25":     {40, 110}, // 72 ± 6
	})
}
