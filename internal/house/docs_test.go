package house_test

// What the documentation names exists.

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
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
	inRoot(t)
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
	const text = "See `noise/laplace.go`, `ledger/`, `./engine/...`, `doc.go`, [promise](promise.md#words),\n" +
		"[site](https://example.org), `github.com/x/y`, `SELECT a/b FROM t`, `discreet.toml`, `a b/c`\n" +
		"```\n`not/this`\n```\n"
	got := strings.Join(namedPaths("docs/x.md", text), " ")
	if want := "noise/laplace.go ledger/ ./engine doc.go docs/promise.md"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// section is a heading of a page, outside of code.
var section = regexp.MustCompile(`(?m)^#+ +(.*?) *$`)

// anchors are the names by which links reach a page's sections, as GitHub makes them:
// letters, digits, hyphens and underscores of the heading in lower case, and a number
// where a heading comes again.
func anchors(text string) map[string]bool {
	names, seen := map[string]bool{}, map[string]int{}
	for _, m := range section.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		heading := link.ReplaceAllString(m[1], "]") // of a linked heading, the words
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, heading)
		if n := seen[name]; n > 0 {
			names[name+"-"+strconv.Itoa(n)] = true
		}
		seen[name]++
		names[name] = true
	}
	return names
}

func TestLinkedSectionsExist(t *testing.T) {
	inRoot(t)
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			to, name, found := strings.Cut(m[1], "#")
			if !found || strings.Contains(to, ":") || to != "" && !strings.HasSuffix(to, ".md") {
				continue
			}
			there := text
			if to != "" {
				if there, err = os.ReadFile(filepath.Join(filepath.Dir(page), to)); err != nil {
					t.Errorf("%s links to %s: %v", page, m[1], err)
					continue
				}
			}
			if !anchors(string(there))[name] {
				t.Errorf("%s links to %s, where no section has that name", page, m[1])
			}
		}
	}
	const text = "# The \"words\": ε, `a_b` & so on\n## Again\n### Again\n```\n# no\n```\n## [Linked](x.md)\n"
	got := slices.Sorted(maps.Keys(anchors(text)))
	if want := []string{"again", "again-1", "linked", "the-words-ε-a_b--so-on"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// cited are the files that a comment names: what ends as a page, a source or data that
// stands beside sources, but for placeholders in capitals.
var cited = regexp.MustCompile(`^(?:\.{1,2}/)*[\w*-]+(?:/[\w.*-]+)*\.(?:md|go|json)$`)

func citedFiles(comment string) (files []string) {
	for _, w := range strings.FieldsFunc(comment, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]{}\"'`,;:=", r) }) {
		if w = strings.TrimRight(w, ".!?"); cited.MatchString(w) && !strings.Contains(w, "NAME") {
			files = append(files, w)
		}
	}
	return files
}

func TestCommentsNameWhatExists(t *testing.T) {
	inRoot(t)
	var files, sources []string
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if n := d.Name(); err != nil || d.IsDir() {
			if err == nil && file != "." && n[0] == '.' {
				return filepath.SkipDir
			}
			return err
		}
		file = "/" + filepath.ToSlash(file)
		files = append(files, file)
		if strings.HasSuffix(file, ".go") {
			sources = append(sources, file[1:])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	exists := func(from, named string) bool {
		for _, p := range []string{named, path.Join(path.Dir(from), named)} {
			if found, err := filepath.Glob(p); err == nil && len(found) > 0 {
				return true
			}
		}
		return slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "/"+named) })
	}
	n := 0
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		file := fset.AddFile(source, -1, len(text))
		var s scanner.Scanner
		s.Init(file, text, nil, scanner.ScanComments)
		for pos, tok, lit := s.Scan(); tok != token.EOF; pos, tok, lit = s.Scan() {
			if tok != token.COMMENT {
				continue
			}
			for _, named := range citedFiles(lit) {
				if n++; !exists(source, named) {
					t.Errorf("%s cites %s, which does not exist", fset.Position(pos), named)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("found %d citations", n)
	}
	got := strings.Join(citedFiles("// Of (x.md, section 2), ../b/c.json: 1. See `d.go`! https://e.org/f.md, NAME.go, h.csv, i.\n// j/k.go."), " ")
	if want := "x.md ../b/c.json d.go j/k.go"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNamedMakeTargetsExist(t *testing.T) {
	inRoot(t)
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

// A version's part of the changelog is what a user of it needs; the rest is in git's
// history. Merges that keep both sides bring lines back that were condensed.
func TestChangelogIsShort(t *testing.T) {
	inRoot(t)
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range strings.Split(string(text), "\n## ")[1:] {
		if name, rest, _ := strings.Cut(version, "\n"); strings.Count(rest, "\n") > 40 {
			t.Errorf("%s has %d lines, more than 40", name, strings.Count(rest, "\n"))
		}
	}
}
