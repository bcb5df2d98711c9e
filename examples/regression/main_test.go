package main

import (
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/roundtest"
)

// Incomes are off by 0.05 for whoever knows the line, and by 0.3 for who says 0; one buyer in ten is none by
// chance. Three answers of an epsilon of 1 fit a budget of 2, by their rho, and no fourth.
func TestNumbers(t *testing.T) {
	roundtest.Within(t, run, map[string]roundtest.Band{
		"incomes, without a guarantee": {0.045, 0.06}, "incomes, answer 1 at epsilon 1": {0.045, 0.1}, "incomes, answer 3 at epsilon 1": {0.045, 0.1}, // 0.051 ± 0.001
		"incomes, answers until refused": {3, 3},
		"who buys, without a guarantee":  {0.83, 0.92}, "who buys, persons at epsilon 4": {0.83, 0.92}, // 0.87 ± 0.002
		"who buys, persons at epsilon 1": {0.8, 0.92}, "who buys, persons at epsilon 0.25": {0.8, 0.93}, // 0.87 ± 0.004 and 0.01
	})
}
