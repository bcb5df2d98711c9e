package discreet_test

// What the documentation names exists.

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents are the pages that strangers read.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "bench/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	return pages
}

var (
	fence    = regexp.MustCompile("(?ms)^```.*?^```")
	quoted   = regexp.MustCompile("`([^`\n]+)`")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	repoPath = regexp.MustCompile(`^(\./)?[\w.*-]+(/[\w.*-]+)*/?$`)
	target   = regexp.MustCompile("(?m)(?:^[ $]*|&& |`)make ([a-z]+)\\b") // where a command begins
)

// namedPaths returns the paths of the repository that a page speaks of: what
// stands in backquotes and has a slash, or ends like a source file, and the
// links that leave the page. Paths are relative to the root, links to the page.
func namedPaths(page, text string) (paths []string) {
	prose := fence.ReplaceAllString(text, "")
	for _, m := range quoted.FindAllStringSubmatch(prose, -1) {
		p := m[1]
		first, _, _ := strings.Cut(strings.TrimPrefix(p, "./"), "/")
		domain := strings.Contains(strings.Trim(first, "."), ".") && strings.Contains(p, "/") // github.com/..., text/csv is not
		source := strings.HasSuffix(p, ".go") || strings.HasSuffix(p, ".md")
		if repoPath.MatchString(p) && !strings.HasPrefix(p, "_") && !domain && (strings.Contains(p, "/") || source) {
			paths = append(paths, strings.TrimSuffix(p, "/..."))
		}
	}
	for _, m := range link.FindAllStringSubmatch(prose, -1) {
		p, _, _ := strings.Cut(m[1], "#")
		if p != "" && !strings.Contains(p, ":") {
			paths = append(paths, filepath.Join(filepath.Dir(page), p))
		}
	}
	return paths
}

func TestNamedPathsExist(t *testing.T) {
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range namedPaths(page, string(text)) {
			if found, err := filepath.Glob(p); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", page, p)
			}
		}
	}
}

func TestNamedPaths(t *testing.T) {
	const text = "See `noise/laplace.go`, `ledger/`, `./engine/...`, `deps_test.go`, [promise](promise.md#words),\n" +
		"[site](https://example.org), `github.com/x/y`, `SELECT a/b FROM t`, `discreet.toml`, `a b/c`\n" +
		"```\n`not/this`\n```\n"
	got := strings.Join(namedPaths("docs/x.md", text), " ")
	if want := "noise/laplace.go ledger/ ./engine deps_test.go docs/promise.md"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNamedMakeTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range append(quoted.FindAllString(string(text), -1), fence.FindAllString(string(text), -1)...) {
			for _, m := range target.FindAllStringSubmatch(code, -1) {
				if !strings.Contains(string(makefile), "\n"+m[1]+":") {
					t.Errorf("%s names make %s, which does not exist", page, m[1])
				}
			}
		}
	}
}
