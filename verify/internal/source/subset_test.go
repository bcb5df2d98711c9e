package source_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/source"
)

var (
	example = regexp.MustCompile("(?ms)^```go\n(.*?)^```")
	refused = regexp.MustCompile(`// refused: (.*)`)
)

// imports are of what the examples use.
var imports = map[string]string{
	"errors.": "errors", "fmt.": "fmt", "noise.": "github.com/discreet-dp/discreet/noise", "math.": "math", "rand.": "math/rand", "slices.": "slices", "iter.": "iter",
}

// Every example of the reference page is what the page says, from a module of its own
// that replaces this one.
func TestSubsetPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/verify/subset.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/page\n\ngo 1.26.0\n\nrequire github.com/discreet-dp/discreet v0.0.0\n\nreplace github.com/discreet-dp/discreet => "+root+"\n")
	examples := example.FindAllStringSubmatch(string(page), -1)
	for i, m := range examples {
		text := fmt.Sprintf("package e%d\n\n", i)
		for use, path := range imports {
			if strings.Contains(m[1], use) {
				text += fmt.Sprintf("import %q\n", path)
			}
		}
		write(fmt.Sprintf("e%d/e.go", i), text+"\n"+m[1])
	}
	read, err := source.Load(context.Background(), dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(read) != len(examples) || len(read) < 35 {
		t.Fatalf("%d packages of %d examples", len(read), len(examples))
	}
	for _, p := range read {
		var i int
		if _, err := fmt.Sscanf(filepath.Base(p.Path), "e%d", &i); err != nil {
			t.Fatal(err)
		}
		text := examples[i][1]
		var refusals []source.Refusal
		refusals = append(refusals, p.Refusals...)
		read := len(p.Units) > 0
		for _, u := range p.Units {
			refusals = append(refusals, u.Refusals...)
			read = read && u.Function != nil && u.Claim != nil
			if (u.Function == nil || u.Claim == nil) != (len(u.Refusals) > 0) {
				t.Errorf("%s: function %v, claim %v, refusals %v", u.Name, u.Function != nil, u.Claim != nil, u.Refusals)
			}
		}
		want := refused.FindStringSubmatch(text)
		if want == nil {
			for _, r := range refusals {
				t.Errorf("refused: %v\n%s", r, text)
			}
			if !read {
				t.Errorf("not read:\n%s", text)
			}
			continue
		}
		if len(refusals) != 1 || !strings.HasPrefix(refusals[0].What+": "+refusals[0].Why, want[1]) || read {
			t.Errorf("want one refusal %q, have %v\n%s", want[1], refusals, text)
			continue
		}
		lines := strings.Split(text, "\n")
		header := strings.Count(fmt.Sprintf("package e%d\n\n\n", i), "\n")
		for use := range imports {
			if strings.Contains(text, use) {
				header++
			}
		}
		at := refusals[0].Position.Line - header - 1
		if !strings.HasPrefix(lines[0], "// refused") && !strings.Contains(lines[at]+lines[at-1], "// refused") {
			t.Errorf("%v is not where the page says: %q", refusals[0], lines[at])
		}
	}
}
