//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/audit"
)

// seeded bits make a drawing repeat itself.
type seeded struct{ *rand.Rand }

func (s seeded) Uint64() (uint64, error) { return s.Rand.Uint64(), nil }

// The drawings of docs/audit.md: what these audits draw with bits that are the same
// each time.
var auditDrawings = map[string]string{
	"differencing.svg":   "difference",
	"averaging.svg":      "average --queries 10",
	"reconstruction.svg": "reconstruct",
}

func TestAuditDrawings(t *testing.T) {
	page, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range auditDrawings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(string(page), "](plots/"+name+")") || !strings.Contains(string(page), "discreet audit "+args+" --plot docs/plots/"+name) {
				t.Errorf("docs/audit.md does not show %s, or how to draw it", name)
			}
			var c Command
			a := auditing{bits: seeded{rand.New(rand.NewPCG(5, 3))}}
			a.define(&c.Flags)
			rest, err := c.parse(strings.Fields(args))
			if err != nil {
				t.Fatal(err)
			}
			a.verb = rest[0]
			if err := a.settle(&c, false); err != nil {
				t.Fatal(err)
			}
			p, err := a.curve(t.Context(), newTerminal(nil, nil, nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := p.Write(&got, "svg"); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("../../docs/plots", name)
			want, err := os.ReadFile(path)
			switch {
			case err == nil && bytes.Equal(got.Bytes(), want):
			case *rewrite:
				if err := os.WriteFile(path, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			case err != nil:
				t.Fatal(err)
			case runtime.GOARCH == "amd64": // elsewhere last digits may differ
				t.Error("the drawing is out of date: make golden draws it anew")
			}
		})
	}
}

// What an attack shows is within what is allowed, and exact answers are not: the figures
// of the command itself. p below 1e-9 rejects what is right once in 10^9 lines.
func TestAuditFigures(t *testing.T) {
	for _, verb := range []string{"difference", "average", "threshold", "reconstruct"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			out, code := command(t, "audit", verb, "--json", "--epsilon", "0.5,2", "--queries", "128", "--units", "32", "--runs", "60")
			if verb == "difference" || verb == "threshold" {
				out, code = command(t, "audit", verb, "--json", "--epsilon", "0.5,2", "--units", "32", "--runs", "60")
			}
			if code != exitAnswered {
				t.Fatal(out)
			}
			var r playReport
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
func command(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, talk bytes.Buffer
	code := Main(t.Context(), args, strings.NewReader(""), &out, &talk)
	if code == exitAnswered {
		return out.String(), code
	}
	return out.String() + talk.String(), code
}
