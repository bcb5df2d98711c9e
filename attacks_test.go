package discreet_test

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
	testName     = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
)

func TestAttacksPage(t *testing.T) {
	tests := map[string]bool{} // all of the module's
	var attacks []string       // those named after a case
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = true
			if caseTest.MatchString(m[1]) {
				attacks = append(attacks, m[1])
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
		names := testName.FindAllStringSubmatch(row[3], -1)
		if len(names) == 0 && !strings.Contains(row[3], "outside the promise") {
			t.Errorf("%s has neither a test nor a reason: %s", row[1], row[3])
		}
		for _, m := range names {
			if named[m[1]+row[1]] = row[1]; !tests[m[1]] {
				t.Errorf("%s names %s, which does not exist", row[1], m[1])
			}
		}
	}
	for _, test := range attacks {
		if c := caseTest.FindStringSubmatch(test)[1]; named[test+c] == "" {
			t.Errorf("%s is not on the page under %s", test, c)
		}
	}
	var want []string
	for _, group := range []struct {
		letter string
		most   int
	}{{"A", 12}, {"B", 17}, {"C", 13}, {"D", 10}, {"E", 12}, {"F", 10}, {"G", 5}, {"I", 9}, {"J", 6}, {"K", 6}, {"L", 5}, {"M", 2}, {"N", 4}} {
		for n := range group.most {
			want = append(want, group.letter+strconv.Itoa(n+1))
		}
	}
	if !slices.Equal(cases, want) {
		t.Errorf("the page has the cases %v, the catalogue %v", cases, want)
	}
}
