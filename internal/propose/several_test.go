package propose_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/propose"
)

var proposed = regexp.MustCompile(`(?m)^(\[tables\.\w+\]|source = "[^"]*"|\w+ = \{ type = "[^"]*")`)

// A folder is one table of all that is in it, and its folders are partitions where all of
// one level are called after one key. Nothing of their values goes into the proposal.
func TestFolders(t *testing.T) {
	const csv = "patient_id,cost\n7340191,7340191\n"
	for _, test := range []struct {
		init  string
		files []string
		want  string // table, source, columns of partitions
	}{
		{"visits", []string{"visits/a.csv", "visits/b.csv", "visits/_SUCCESS", "visits/.b.csv", "visits/note.txt"}, "visits visits/*.csv"},
		{"visits", []string{"visits/k=7340191/a.csv", "visits/k=7340192/a.csv"}, "visits visits/k=*/*.csv k:bigint?"},
		{"visits", []string{"visits/k=7340191/a.csv"}, "visits visits/k=*/*.csv k:bigint?"},
		{"visits/", []string{"visits/k=7340191/d=2025-07-01/a.csv", "visits/k=x/d=__HIVE_DEFAULT_PARTITION__/a.csv"}, "visits visits/k=*/d=*/*.csv k:text? d:date?"},
		{"visits", []string{"visits/all/k=1/a.csv", "visits/all/k=2/a.csv"}, "visits visits/all/k=*/*.csv k:bigint?"},
		{"visits", []string{"visits/7340191/a.csv", "visits/7340192/a.csv"}, "visits visits/*/*.csv"},
		{"visits", []string{"visits/k=1/a.csv", "visits/j=1/a.csv"}, "visits visits/*/*.csv"},
		{"visits", []string{"visits/a.csv", "visits/2025/a.csv", "visits/_tmp/a.jsonl"}, "visits visits/**/*.csv"},
		{"visits", []string{"visits/k=1/patient_id=7/a.csv"}, "visits visits/k=*/patient_id=*/*.csv k:bigint? patient_id:bigint?"},
		{"visits-2025-??.csv", []string{"visits-2025-07.csv", "visits-2025-08.csv"}, "visits_2025 visits-2025-??.csv"},
		{"in/year=2025/*.csv", []string{"in/year=2025/a.csv"}, "in in/year=2025/*.csv year:bigint?"},
	} {
		dir := t.TempDir()
		for _, name := range test.files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(csv), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		text, err := propose.Catalog(t.Context(), open(t), filepath.Join(dir, "discreet.toml"), []string{filepath.Join(dir, test.init)})
		if err != nil {
			t.Errorf("%s of %s: %v", test.init, test.files, err)
			continue
		}
		if strings.Contains(text, canary) {
			t.Errorf("%s of %s: the proposal holds data:\n%s", test.init, test.files, text)
		}
		got := ""
		for _, m := range proposed.FindAllString(text, -1) {
			if name, typ, ok := strings.Cut(m, ` = { type = "`); ok {
				if partition := strings.Contains(text, m) && strings.Contains(line(text, m), "a partition"); partition {
					got += " " + name + ":" + strings.TrimSuffix(typ, `"`)
				}
				continue
			}
			got += strings.NewReplacer("[tables.", "", "]", "", `source = "`, " ", `"`, "").Replace(m)
		}
		if got != test.want {
			t.Errorf("%s of %s: %s, want %s", test.init, test.files, got, test.want)
		}
		if strings.Contains(test.want, "patient_id:") == strings.Contains(text, `unit = "patient_id?"`) {
			t.Errorf("%s of %s: the unit is a partition, or the records' is none:\n%s", test.init, test.files, text)
		}
	}
}

// line is the one of a text in which something stands.
func line(text, what string) string {
	_, rest, _ := strings.Cut(text, what)
	rest, _, _ = strings.Cut(rest, "\n")
	return rest
}

func TestFoldersRefused(t *testing.T) {
	for _, test := range []struct {
		init  string
		files []string
		why   string
	}{
		{"visits", []string{"visits/a.csv", "visits/b.csv.gz"}, "files of two kinds"},
		{"visits", []string{"visits/a.txt", "visits/.a.csv"}, "no files that a catalog could declare"},
		{"visits/*.csv", []string{"visits/a.jsonl"}, "no file matches"},
		{"visits/**.csv", []string{"visits/a.csv"}, "by itself"},
		{"visits/*", []string{"visits/a.txt"}, "an ending of no known format"},
	} {
		dir := t.TempDir()
		for _, name := range test.files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("a\n1\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		var d *diagnostic.Diagnostic
		_, err := propose.Catalog(t.Context(), open(t), filepath.Join(dir, "discreet.toml"), []string{filepath.Join(dir, test.init)})
		if !errors.As(err, &d) || d.Code != "D096" || !strings.Contains(d.Message+d.Why, test.why) {
			t.Errorf("%s of %s: %v", test.init, test.files, err)
		}
	}
}

// What files of a pattern do not have in common with the first is said, without their names.
func TestFilesThatDiffer(t *testing.T) {
	const same = "patient_id,cost\n1,2\n"
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"alike":          {map[string]string{"a": same, "b": same}, nil},
		"a column less":  {map[string]string{"a": same, "b": "patient_id\n1\n", "c": "patient_id\n1\n"}, []string{`# 2 of 2 files that were compared with the first lack column "cost"`}},
		"a column more":  {map[string]string{"a": same, "b": "patient_id,cost,age\n1,2,3\n"}, []string{`# 1 of 1 files that were compared with the first have a column "age"`}},
		"another mark":   {map[string]string{"a": same, "b": "patient_id;cost\n1;2\n"}, []string{"# 1 of 1 files that were compared with the first are written in another way"}},
		"an empty one":   {map[string]string{"a": same, "b": ""}, []string{"# 1 of 1 files that were compared with the first cannot be read like it"}},
		"another order":  {map[string]string{"a": same, "b": "cost,patient_id\n1,2\n"}, nil},
		"compressed too": {map[string]string{"a": same}, nil},
	} {
		dir := t.TempDir()
		for file, text := range tc.files {
			path := filepath.Join(dir, "v", file+".csv")
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if name == "compressed too" {
			if err := os.WriteFile(filepath.Join(dir, "v", "c.csv.gz"), []byte(canary), 0o600); err != nil {
				t.Fatal(err)
			}
			tc.want = []string{"# 1 compressed files"}
		}
		text, err := propose.Catalog(t.Context(), open(t), filepath.Join(dir, "discreet.toml"), []string{filepath.Join(dir, "v/*.csv")})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for line := range strings.Lines(text) {
			if strings.Contains(line, "compared with the first") || strings.Contains(line, "compressed files") {
				got = append(got, line)
			}
		}
		if len(got) != len(tc.want) || len(got) > 0 && !strings.HasPrefix(got[0], tc.want[0]) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
