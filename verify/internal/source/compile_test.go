package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/source"
)

// Packages that do not compile are refused whole, each fault with its place.
func TestPackagesThatDoNotCompile(t *testing.T) {
	for _, test := range []struct{ text, place, want string }{
		{"package p\n\nvar x int = \"é\"\n", "p.go:3:13", "cannot use"},
		{"package p\n\nfunc f() { return 1 }\n", "p.go:3:19", "too many return values"},
		{"package p\n\nfunc {\n", "p.go:3:6", "expected"},
		{"package p\n\nfunc f(int) {}\n\nvar _ = f()\n", "p.go:5:11", "not enough arguments in call to f, have (), want (int)"},
		{"package p\n\nimport \"example.org/nowhere\"\n", "p.go:3:8", "no required module provides package example.org/nowhere"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module example.org/p\n\ngo 1.26\n", "p.go": test.text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := source.Load(t.Context(), dir, "./...")
		var compile *source.CompileError
		if !errors.As(err, &compile) || !errors.Is(err, source.ErrCompile) {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		// It is said once, whoever says it.
		at := 0
		for _, f := range compile.Faults {
			if f.Position.String() == filepath.Join(dir, test.place) {
				at++
				if !strings.Contains(f.Text, test.want) {
					t.Errorf("%q: no %q in\n%v", test.text, test.want, err)
				}
			}
		}
		if at != 1 || strings.Contains(err.Error(), "\n# ") {
			t.Errorf("%q: %d at %s in\n%v", test.text, at, test.place, err)
		}
	}
	if _, err := source.Load(t.Context(), t.TempDir(), "./nowhere"); !errors.Is(err, source.ErrCompile) {
		t.Errorf("no such package: %v", err)
	}
}
