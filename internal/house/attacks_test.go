package house_test

// The page of attacks and the tests agree.

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	caseRow      = regexp.MustCompile(`(?m)^\| ([A-GI-N][0-9]+) \| (.+) \| (.+) \|$`)
	caseTest     = regexp.MustCompile(`^Test([A-GI-N][0-9]+)[A-Z]`)
	testOrFolder = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`|\\bin `([a-z/]+)`")
)

// attackFolder has the tests that the page names without a package.
const attackFolder = "internal/attack"

// namedTests returns the tests that a cell of the page names, as FOLDER.TEST. A package
// holds for all that follows in its cell.
func namedTests(cell string) (names []string) {
	folder := attackFolder
	for _, m := range testOrFolder.FindAllStringSubmatch(cell, -1) {
		if m[2] != "" {
			folder = m[2]
		} else {
			names = append(names, folder+"."+m[1])
		}
	}
	return names
}

func TestNamedTests(t *testing.T) {
	got := strings.Join(namedTests("`TestA`, `FuzzB`: none; exactly, in `a/b`, `TestC`; always: `TestD`; in `e`, `TestF`; `discreet x`"), " ")
	if want := attackFolder + ".TestA " + attackFolder + ".FuzzB a/b.TestC a/b.TestD e.TestF"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAttacksPage(t *testing.T) {
	inRoot(t)
	tests := map[string]bool{} // all of the module's, as FOLDER.TEST
	var attacks []string       // those named after a case
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
			test := filepath.ToSlash(filepath.Dir(path)) + "." + m[1]
			if tests[test] = true; caseTest.MatchString(m[1]) {
				attacks = append(attacks, test)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/attacks.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{} // a case's row by its test
	var cases []string
	for _, row := range caseRow.FindAllStringSubmatch(string(page), -1) {
		cases = append(cases, row[1])
		names := namedTests(row[3])
		if len(names) == 0 && !strings.Contains(row[3], "outside the promise") {
			t.Errorf("%s has neither a test nor a reason: %s", row[1], row[3])
		}
		for _, test := range names {
			if named[test+row[1]] = row[1]; !tests[test] {
				t.Errorf("%s names %s, which does not exist", row[1], test)
			}
		}
	}
	for _, test := range attacks {
		if c := caseTest.FindStringSubmatch(test[strings.LastIndex(test, ".")+1:])[1]; named[test+c] == "" {
			t.Errorf("%s is not on the page under %s", test, c)
		}
	}
	var want []string
	for _, group := range []struct {
		letter string
		most   int
	}{{"A", 12}, {"B", 19}, {"C", 13}, {"D", 10}, {"E", 12}, {"F", 10}, {"G", 5}, {"I", 17}, {"J", 7}, {"K", 6}, {"L", 6}, {"M", 2}, {"N", 5}} {
		for n := range group.most {
			want = append(want, group.letter+strconv.Itoa(n+1))
		}
	}
	if !slices.Equal(cases, want) {
		t.Errorf("the page has the cases %v, the catalogue %v", cases, want)
	}
}
