package audit

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/clitest"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
)

func TestAuditDrawings(t *testing.T) {
	page, err := os.ReadFile("../../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range clitest.AuditDrawings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(string(page), "](plots/"+name+")") || !strings.Contains(string(page), "discreet audit "+args+" --plot docs/plots/"+name) {
				t.Errorf("docs/audit.md does not show %s, or how to draw it", name)
			}
			var c command.Command
			a := auditing{bits: seeded{rand.New(rand.NewPCG(5, 3))}}
			a.define(&c.Flags)
			rest, err := c.Parse(strings.Fields(args))
			if err != nil {
				t.Fatal(err)
			}
			a.verb = rest[0]
			if err := a.settle(&c, false); err != nil {
				t.Fatal(err)
			}
			p, err := a.curve(t.Context(), terminal.New(nil, nil, nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := p.WriteSVG(&got); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("../../../docs/plots", name)
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

// seeded bits make a drawing repeat itself.
type seeded struct{ *rand.Rand }

func (s seeded) Uint64() (uint64, error) { return s.Rand.Uint64(), nil }

var rewrite = flag.Bool("rewrite", false, "draw anew what is out of date")
