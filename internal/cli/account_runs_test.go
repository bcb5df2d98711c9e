package cli

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// How often each filter admits an event: the contract's counts, and events that enter
// by a guarantee because no filter has a charge for them.
func TestRuns(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"pure(0.01) --filter pure --epsilon 1", "100"},
		{"pure(0.01) --filter approx --epsilon 1 --delta 1e-6", "100"},
		{"pure(0.01) --filter rogers --epsilon 1 --delta 1e-6", "147"},
		{"pure(0.01) --filter whitehouse --epsilon 1 --delta 1e-6", "349"},
		{"pure(0.002) --filter rogers --epsilon 0.2 --delta 2e-30", "31"},
		{"pure(0.002) --filter whitehouse --epsilon 0.2 --delta 2e-30", "73"},
		{"pure(0.1) --filter rogers --epsilon 1 --delta 0.001", "2"},
		{"pure(0.1) --filter whitehouse --epsilon 1 --delta 0.001", "6"},
		{"approx(0.01,1e-8) --filter whitehouse --epsilon 1 --delta 1e-6", "50"}, // half of delta
		{"gaussian(10) --filter gdp --epsilon 3 --delta 1e-5", "51"},
		{"gaussian(10) --filter gdp --epsilon 3 --delta 1e-5 --relation replace-one", "12"},
		{"10*gaussian(10)+zcdp(0.001) --filter zcdp --epsilon 3 --delta 1e-5", "4"},
		{"poisson(0.01,pure(1)) --filter pure --epsilon 3", "176"}, // ln(1 + 0.01(e-1))
		{"poisson(0.01,pure(1)) --filter approx --epsilon 3 --delta 1e-5", "176"},
		{"pure(0.01) --filter pure --epsilon 1 --group 2", "50"},
		{"gaussian(10) --filter gdp --epsilon 3 --delta 1e-5 --group 2", "12"},
		{"gaussian(10) --filter zcdp --epsilon 3 --delta 1e-5 --group 2 --relation replace-one", "2"},
		{"pure(1e-300) --filter pure --epsilon 1", "10000000000000000000000000000000000000000"},
	} {
		out, code := runAccount(t, strings.Fields("runs "+tc.args)...)
		if code != diagnostic.ExitAnswered || strings.TrimSpace(out) != tc.want {
			t.Errorf("runs %s: %s (exit code %d), want %s", tc.args, out, code, tc.want)
		}
	}
	for _, args := range []string{
		"gaussian(10) --filter approx --epsilon 3 --delta 1e-5",
		"gaussian(10) --filter whitehouse --epsilon 3 --delta 1e-5",
		"gaussian(10) --filter rogers --epsilon 3 --delta 1e-5",
		"poisson(0.01,gaussian(1)) --filter zcdp --epsilon 3 --delta 1e-5", // has no rho
		"pure(0.1) --filter rogers --epsilon 1 --delta 0.5",
		"pure(0.1) --filter whitehouse --epsilon 1",
	} {
		if out, code := runAccount(t, strings.Fields("runs "+args)...); code != diagnostic.ExitRefused || !strings.Contains(out, "D124") {
			t.Errorf("runs %s: exit code %d: %s", args, code, out)
		}
	}
}
