//go:build unix

package datafile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/datafile/datafiletest"
)

// tree makes empty files in a folder. One with an arrow is a link.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		name, to, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if link {
			err = errors.Join(err, os.Symlink(to, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(name), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func list(dir, pattern string) (string, error) {
	p, err := datafile.ParsePattern(dir, pattern)
	if err != nil {
		return "", err
	}
	l, err := p.List()
	if err != nil {
		return "", err
	}
	var names []string
	for _, f := range l.Files {
		name, _ := filepath.Rel(dir, f.Path)
		for i, v := range f.Values {
			name += fmt.Sprintf(" %s:%s", p.Keys[i], v.Text)
			if v.Null {
				name += "NULL"
			}
		}
		names = append(names, name)
	}
	text := strings.Join(names, "; ")
	if len(l.LeftOut) > 0 {
		text += "; left out " + strings.Join(l.LeftOut, ", ")
	}
	if len(l.Packed) > 0 {
		text += "; packed " + strings.Join(l.Packed, ", ")
	}
	return text, nil
}

func TestPatterns(t *testing.T) {
	dir := tree(t,
		"a.csv", "b.csv", "b10.csv", "c.txt", "p/b.CSV.gz", "p/b.csv.ZST", "p/_b.csv.gz", "p/c.csv.gz/a.csv", "p/b.csv", "_SUCCESS", "._a.csv", "_b.csv", ".hidden/a.csv",
		"v/year=2025/month=07/p0.csv", "v/year=2025/month=07/p1.csv", "v/year=2025/month=08/p0.csv", "v/year=2024/month=07/p0.csv",
		"v/_temporary/month=07/p0.csv", "v/year=2023", // a file, and no folder
		"h/k=__HIVE_DEFAULT_PARTITION__/x.csv", "h/k=a%2Fb%20c/x.csv", "h/k=%zz/x.csv", "h/k=100%/x.csv", "h/k=/x.csv", "h/k=a=b/x.csv",
		"h/k=%FF/x.csv", "h/k=%00/x.csv", "h/k=K%C3%B6ln/x.csv",
		"d/1/x.csv", "d/1/2/x.csv", "d/x.csv", "d/1/x/x.csv",
		"l/a.csv", "l/2025/x.csv", "l/link -> ../v", "o/new -> ../l/2025")
	for _, test := range []struct{ pattern, want string }{
		{"*.csv", "a.csv; b.csv; b10.csv; left out ._a.csv, _b.csv"},
		{"p/*.csv", "p/b.csv; packed b.csv.ZST"},
		{"?.csv", "a.csv; b.csv"},
		{"[b-z]*.csv", "b.csv; b10.csv"},
		{"[^b]*.csv", "a.csv; left out ._a.csv, _b.csv"},
		{"_*.csv", "_b.csv"},
		{".hidden/*.csv", ".hidden/a.csv"},
		{"./v/../?.csv", "a.csv; b.csv"},
		{"v/year=*/month=*/*.csv", "v/year=2024/month=07/p0.csv year:2024 month:07; v/year=2025/month=07/p0.csv year:2025 month:07; " +
			"v/year=2025/month=07/p1.csv year:2025 month:07; v/year=2025/month=08/p0.csv year:2025 month:08"},
		{"v/year=2025/month=0[78]/p0.csv", "v/year=2025/month=07/p0.csv year:2025 month:07; v/year=2025/month=08/p0.csv year:2025 month:08"},
		{"v/*/month=08/*.csv", "v/year=2025/month=08/p0.csv month:08; left out _temporary"},
		{"v/**/*.csv", "v/year=2024/month=07/p0.csv; v/year=2025/month=07/p0.csv; v/year=2025/month=07/p1.csv; v/year=2025/month=08/p0.csv; left out _temporary"},
		{"h/k=*/*.csv", "h/k=%00/x.csv k:NULL; h/k=%FF/x.csv k:NULL; h/k=%zz/x.csv k:%zz; h/k=/x.csv k:; h/k=100%/x.csv k:100%; " +
			"h/k=K%C3%B6ln/x.csv k:Köln; h/k=__HIVE_DEFAULT_PARTITION__/x.csv k:NULL; h/k=a%2Fb%20c/x.csv k:a/b c; h/k=a=b/x.csv k:a=b"},
		{"d/**/x.csv", "d/1/2/x.csv; d/1/x.csv; d/1/x/x.csv; d/x.csv"},
		{"d/**/1/**/x.csv", "d/1/2/x.csv; d/1/x.csv; d/1/x/x.csv"},
		{"l/**/*.csv", "l/2025/x.csv; l/a.csv"}, // through no link
		{"o/*/x.csv", "o/new/x.csv"},
	} {
		got, err := list(dir, test.pattern)
		if err != nil || got != test.want {
			t.Errorf("%s: %v\n got %s\nwant %s", test.pattern, err, got, test.want)
		}
		if got, err := list("/", filepath.Join(dir, test.pattern)); err != nil || strings.Count(got, ";") != strings.Count(test.want, ";") {
			t.Errorf("%s, from the root: %s, %v", test.pattern, got, err)
		}
	}
}

func TestPatternsRefused(t *testing.T) {
	for _, test := range []struct{ pattern, why string }{
		{`a\*.csv`, `has no \`},
		{"[a.csv", "is no pattern"},
		{"[!a].csv", "[^...]"},
		{"a**.csv", "by itself"},
		{"*/../a.csv", ".. stands"},
		{"k=*/../a.csv", ".. stands"},
		{"**", "names no files"},
		{"v/**/", "names no files"},
		{"*=*/a.csv", "before = stands"},
		{"=*/a.csv", "before = stands"},
		{"k=*/k=*/a.csv", "stands in it twice"},
		{"**/k=*/a.csv", "before **"},
	} {
		if _, err := datafile.ParsePattern(t.TempDir(), test.pattern); err == nil || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s: %v", test.pattern, err)
		}
	}
}

// Attack I10: a file that a pattern names twice, whose records would count twice.
func TestI10FileTwiceInAPattern(t *testing.T) {
	for _, test := range []struct{ pattern, link string }{
		{"*.csv", "b.csv -> a.csv"},
		{"*.csv", "b.csv -> ./a.csv"},
		{"*/*.csv", "y -> x"},
		{"k=*/*.csv", "k=2 -> k=1"},
		{"**/*.csv", "x/b.csv -> ../a.csv"},
	} {
		dir := tree(t, "a.csv", "x/x.csv", "k=1/x.csv", test.link)
		if got, err := list(dir, test.pattern); !errors.Is(err, datafile.ErrTwice) {
			t.Errorf("%s with %s: %s, %v", test.pattern, test.link, got, err)
		}
	}
	dir := tree(t, "a.csv")
	if err := os.Link(filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")); err != nil {
		t.Fatal(err)
	}
	if got, err := list(dir, "?.csv"); !errors.Is(err, datafile.ErrTwice) {
		t.Errorf("a hard link: %s, %v", got, err)
	}
}

// Attack I6: what matches a pattern and is no file is refused, at once.
func TestI6NoFileInAPattern(t *testing.T) {
	for _, s := range datafiletest.Specials(t, t.TempDir(), "t.csv") {
		dir := filepath.Dir(s.Path)
		if err := os.WriteFile(filepath.Join(dir, "other.csv"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := list(dir, "*.csv"); !errors.Is(err, datafile.ErrNotFile) {
			t.Errorf("%s: %s, %v", s.How, got, err)
		}
	}
	for pattern, name := range map[string]string{"*.csv": "gone.csv -> nowhere", "[a-z]*.csv": "a[1].csv", "?*.csv": "a\n.csv", "*.c?v": "\xff.csv"} {
		if got, err := list(tree(t, "x.csv", name), pattern); err == nil {
			t.Errorf("%q: %s", name, got)
		}
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		if got, err := list(dir, "*.csv"); !errors.Is(err, datafile.ErrNoMatch) {
			t.Errorf("nothing matches: %s, %v", got, err)
		}
	}
}
