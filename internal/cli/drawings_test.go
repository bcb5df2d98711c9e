//go:build cgo

package cli

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Every drawing of the docs is what the command that docs/accounting.md gives for
// it draws, or what TestAuditDrawings or TestTourIsDrawn does.
func TestDrawings(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/accounting.md"))
	if err != nil {
		t.Fatal(err)
	}
	given := regexp.MustCompile(`(?m)^discreet (account curve .*) --plot (docs/plots/\S+)$`).FindAllStringSubmatch(string(page), -1)
	names := slices.Concat(slices.Collect(maps.Keys(clitest.AuditDrawings)), slices.Collect(maps.Keys(clitest.AnswerDrawings)))
	for _, m := range given {
		names = append(names, filepath.Base(m[2]))
		t.Run(filepath.Base(m[2]), func(t *testing.T) {
			t.Parallel()
			fresh := filepath.Join(t.TempDir(), filepath.Base(m[2]))
			if out, code := runAccount(t, append(words(m[1])[1:], "--plot", fresh)...); code != diagnostic.ExitAnswered {
				t.Fatal(out)
			}
			got, err := os.ReadFile(fresh)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(root, m[2])
			want, err := os.ReadFile(path)
			switch {
			case err == nil && bytes.Equal(got, want):
			case *Rewrite:
				if err := os.WriteFile(path, got, 0o666); err != nil {
					t.Fatal(err)
				}
			case err != nil:
				t.Fatal(err)
			case runtime.GOARCH == "amd64": // elsewhere last digits may differ
				t.Error("the drawing is out of date: make golden draws it anew")
			}
		})
	}
	drawn, err := filepath.Glob(filepath.Join(root, "docs/plots/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range drawn {
		if !slices.Contains(names, filepath.Base(path)) {
			t.Errorf("%s: no command in docs/accounting.md draws it", path)
		}
	}
	for _, m := range regexp.MustCompile(`\]\((plots/\S+)\)`).FindAllStringSubmatch(string(page), -1) {
		if !slices.Contains(names, strings.TrimPrefix(m[1], "plots/")) {
			t.Errorf("%s: no command in docs/accounting.md draws it", m[1])
		}
	}
}
