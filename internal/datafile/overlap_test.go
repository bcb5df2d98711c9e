package datafile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOverlap(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"visits.csv", "visits.csv", true},
		{"visits.csv", "staff.csv", false},
		{"v/*.csv", "v/2024.csv", true},
		{"v/*.csv", "v/2024/a.csv", false},
		{"v/*.csv", "v/*.csv.gz", false},
		{"v/**/*.csv", "v/2024/*.csv", true},
		{"v/**/*.csv", "v/a.csv", true},
		{"v/**/*.csv", "w/a.csv", false},
		{"v/year=*/month=1/*.parquet", "v/year=2024/*/part-?.parquet", true},
		{"v/year=*/*.parquet", "v/month=*/*.parquet", false},
		{"v/year=*/*.parquet", "v/year=2024/a.parquet", true},
		{"v/[a-c]*.csv", "v/[c-e]*.csv", true},
		{"v/[a-c]*.csv", "v/[d-e]*.csv", false},
		{"v/[^a]*.csv", "v/a*.csv", false},
		{"v/[^a].csv", "v/[^b].csv", true},
		{"a*", "*a", true},
		{"ab", "a*b?", false},
		{"/data/*.csv", "data/*.csv", false},
		{"v/**/x/**/*.csv", "v/**/y/*.csv", true},
		{"größe-*.csv", "größe-?.csv", true},
	} {
		if Overlap(tc.a, tc.b) != tc.want || Overlap(tc.b, tc.a) != tc.want {
			t.Errorf("%q and %q: want %v", tc.a, tc.b, tc.want)
		}
	}
}

// Law: two texts that name one file overlap. What a pattern names is asked of List, over a
// folder with every path of few letters; as a check of the other side, most pairs that
// overlap do name one (a third at least; it was 0.7).
func TestOverlapIsOfFiles(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a", "b", "ab", "ba", "k=1", "k=ab"}
	var files []string
	for _, first := range names {
		for _, second := range names {
			for _, path := range []string{"1" + first, "2" + first + "/1" + second, "2" + first + "/2" + second + "/1" + first} {
				files = append(files, path)
				at := filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	listed := func(text string) map[string]bool {
		found := map[string]bool{}
		if !IsPattern(text) {
			found[filepath.Join(dir, text)] = true
			return found
		}
		p, err := ParsePattern(dir, text)
		if err != nil {
			return nil
		}
		l, _ := p.List() // no match is an error, and names nothing
		for _, f := range l.Files {
			found[f.Path] = true
		}
		return found
	}
	part := rapid.SampledFrom([]string{"*", "a", "b", "?", "[ab]", "[^a]", "*b", "k=*", "a*", "1", "2"})
	level := func(t *rapid.T, last bool) string {
		if !last && rapid.IntRange(0, 3).Draw(t, "deep") == 0 {
			return "**"
		}
		text := map[bool]string{true: "1", false: "2"}[last] + strings.Join(rapid.SliceOfN(part, 1, 2).Draw(t, "parts"), "")
		return strings.ReplaceAll(text, "**", "*")
	}
	pattern := func(t *rapid.T) string {
		if rapid.IntRange(0, 3).Draw(t, "one") == 0 {
			return rapid.SampledFrom(files).Draw(t, "file")
		}
		var all []string
		for range rapid.IntRange(0, 2).Draw(t, "folders") {
			all = append(all, level(t, false))
		}
		return strings.Join(append(all, level(t, true)), "/")
	}
	common, overlapping := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			a, b := pattern(t), pattern(t)
			theirs := listed(b)
			one := slices.ContainsFunc(slices.Collect(func(yield func(string) bool) {
				for f := range listed(a) {
					if !yield(f) {
						return
					}
				}
			}), func(f string) bool { return theirs[f] })
			both := Overlap(a, b)
			if one && !both {
				t.Fatalf("%q and %q name one file, and do not overlap", a, b)
			}
			if one {
				common++
			}
			if both {
				overlapping++
			}
		}
	})
	t.Logf("%d pairs name one file, %d overlap", common, overlapping)
	if !testing.Short() && (common < 30 || 3*common < overlapping) {
		t.Errorf("%d pairs name one file, %d overlap", common, overlapping)
	}
}
