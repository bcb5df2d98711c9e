package main

import (
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/roundtest"
)

// What each line prints is random by a little; that it learns is not.
func TestLearns(t *testing.T) {
	bands := map[string]roundtest.Band{}
	for _, name := range []string{
		"dealt out, mean", "dealt out, weighted mean", "dealt out, four a round", "sorted, mean", "two poisoned, mean",
		"two poisoned, median", "two poisoned, trimmed mean", "two poisoned, ordered", "persons at epsilon 2",
	} {
		bands[name] = roundtest.Band{0.9, 1} // 0.98 ± 0.01 at most
	}
	roundtest.Within(t, run, bands)
}
