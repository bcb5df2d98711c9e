// Package programtest holds examples against their documentation.
package programtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/program"
)

// Check runs an example. What it always prints must stand in docs/datanode.md under the
// command that runs it, and its plot be docs/datanode/NAME.svg, which rewrite draws
// anew. It returns all that was printed.
func Check(t *testing.T, name string, run program.Run, rewrite bool) string {
	t.Helper()
	var out bytes.Buffer
	p, err := run(context.Background(), &out)
	if err != nil {
		t.Fatal(err)
	}
	always, _, found := strings.Cut(out.String(), program.Drawn)
	if !found {
		t.Errorf("nothing is %s\n%s", program.Drawn, &out)
	}
	page, err := os.ReadFile("../../docs/datanode.md")
	if err != nil {
		t.Fatal(err)
	}
	command := "`go run ./examples/" + name + "`"
	_, section, _ := strings.Cut(string(page), command)
	_, block, _ := strings.Cut(section, "```text\n")
	block, _, _ = strings.Cut(block, "```")
	if strings.TrimSpace(block) != strings.TrimSpace(always) {
		t.Errorf("docs/datanode.md shows under %s\n%s\nand it prints\n%s", command, block, always)
	}
	var fresh bytes.Buffer
	if err := p.WriteSVG(&fresh); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("../../docs/datanode", name+".svg")
	drawn, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(drawn, fresh.Bytes()):
	case rewrite:
		if err := os.WriteFile(path, fresh.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Fatal(err)
	case runtime.GOARCH == "amd64": // elsewhere last digits may differ
		t.Error("the drawing is out of date: make golden draws it anew")
	}
	return out.String()
}
