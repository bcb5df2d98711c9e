//go:build cgo

package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/privacy"
)

// What an attack shows is within what is allowed, and exact answers are not: the figures
// of the command itself. p below 1e-9 rejects what is right once in 10^9 lines.
func TestAuditFigures(t *testing.T) {
	for _, verb := range []string{"difference", "average", "threshold", "reconstruct"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			out, code := runCommand(t, "audit", verb, "--json", "--epsilon", "0.5,2", "--queries", "128", "--units", "32", "--runs", "60")
			if verb == "difference" || verb == "threshold" {
				out, code = runCommand(t, "audit", verb, "--json", "--epsilon", "0.5,2", "--units", "32", "--runs", "60")
			}
			if code != diagnostic.ExitAnswered {
				t.Fatal(out)
			}
			var r struct {
				Results []struct {
					Answers           string
					Epsilon           *privacy.Epsilon
					Right, Of         int
					Allowed           *float64
					EpsilonLowerBound *float64 `json:"epsilon_lower_bound"`
					PValue            *float64 `json:"p_value"`
				}
			}
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatal(err)
			}
			for _, x := range r.Results {
				switch {
				case x.Answers == "exact" && (x.Right != x.Of || *x.EpsilonLowerBound < 1.5):
					t.Errorf("exact answers: %+v", x)
				case x.Answers == "discreet" && (*x.PValue < 1e-9 || *x.Allowed != audit.SuccessBound(x.Epsilon.Float64(), 0)):
					t.Errorf("discreet: %+v", x)
				}
			}
			if n := len(r.Results); n != 4 && verb != "average" || verb == "average" && n != 6 {
				t.Errorf("%d lines", n)
			}
		})
	}
}

// command runs discreet and returns its standard output, and its exit code.
func runCommand(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, talk bytes.Buffer
	code := Main(t.Context(), args, strings.NewReader(""), &out, &talk)
	if code == diagnostic.ExitAnswered {
		return out.String(), code
	}
	return out.String() + talk.String(), code
}
