package check_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/check"
)

// several declares a private table of several files.
func several(source string) string {
	return "[domains.p]\nmeasure = \"pure\"\nepsilon = 1\n[tables.t]\nsource = \"" + source + "\"\ndomain = \"p\"\nunit = \"id\"\nmax_groups_per_unit = 2\nmax_rows_per_group = 2\n" +
		"[tables.t.columns]\nid = { type = \"bigint\" }\nx = { type = \"integer\", lower = 0, upper = 9 }\nk = { type = \"integer\" }\n"
}

// findings are what a report says, a line each.
func findings(r *check.Report) (all []string) {
	for _, f := range r.Tables[0].Findings {
		all = append(all, strings.TrimPrefix(string(f.Severity)+" "+f.Column+": "+f.Message, "  "))
	}
	return all
}

// A report on several files says how many they are, counts over all of them, and names
// the file that is not as the catalog says.
func TestSeveralFiles(t *testing.T) {
	for _, test := range []struct {
		ending string
		files  map[string]string // under k=
		says   []string          // in order
		types  string
		rows   int64
	}{
		{".csv", map[string]string{"1/a": "id,x\n1,2\n2,30\n", "2/a": "x,id\n1,1\n", "__HIVE_DEFAULT_PARTITION__/a": "id,x\n3,z\n", "2/_b": ""},
			[]string{"warning x: not of type integer, so NULL for statements: 1 of 4", "outside the bounds, so clamped: 1 of 4"}, "", 4},
		{".csv", map[string]string{"1/a": "id,x\n1,2\n", "2/a": "id\n1\n", "3/a": "id,k,x\n1,2,3\n"},
			[]string{"warning k: a partition, whose value is in the folders' names", "problem x: no such column in k=2/a.csv"}, "", 3},
		{".csv", map[string]string{"1/a": "id,x\n1,2\n", "2/a": ""}, []string{"problem : the file cannot be checked: k=2/a.csv: it has no first record"}, "", 0},
		{".jsonl", map[string]string{"1/a": `{"id": 1, "x": 2}`, "2/a": `{"id": 1}`}, nil, "", 2},
		{".jsonl", map[string]string{"1/a": `{"id": 1}`, "2/a": `{"id": 1}`}, []string{"problem x: no record has this key"}, "", 2},
		{".parquet", map[string]string{"1/a": "1::BIGINT AS id, 2 AS x", "2/a": "'2' AS id, 300::BIGINT AS x", "3/a": "1::BIGINT AS id, 3 AS x"},
			[]string{"warning x: outside the bounds, so clamped: 1 of 3"}, "INTEGER, BIGINT", 3},
		{".parquet", map[string]string{"1/a": "1::BIGINT AS id, 2 AS x", "2/a": "1::BIGINT AS id, 9 AS k"},
			[]string{"warning k: a partition", "problem x: no such column in k=2/a.parquet"}, "INTEGER", 2},
		{".parquet", map[string]string{"1/a": "1::BIGINT AS id, 2 AS x", "2/a": ""}, []string{"problem : the file cannot be checked: k=2/a.parquet: it is not a Parquet file"}, "", 0},
	} {
		o, dir := open(t), t.TempDir()
		for name, text := range test.files {
			path := filepath.Join(dir, "k="+name+test.ending)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if text == "" || test.ending != ".parquet" {
				write(t, dir, "k="+name+test.ending, text)
			} else {
				o.do(t, "COPY (SELECT "+text+") TO '"+path+"' (FORMAT parquet)")
			}
		}
		r := run(t, o, dir, several("k=*/*"+test.ending))
		got := findings(r)
		rest := got
		for _, want := range test.says {
			at := slices.IndexFunc(rest, func(s string) bool { return strings.Contains(s, want) })
			if at < 0 {
				t.Errorf("%s: nothing says %q: %q", test.ending, want, got)
				break
			}
			rest = rest[at+1:]
		}
		if r.Sound() == strings.Contains(strings.Join(test.says, "\n"), "problem") {
			t.Errorf("%s: sound is %v: %q", test.ending, r.Sound(), got)
		}
		table := r.Tables[0]
		if table.Rows != test.rows || test.types != "" && table.Columns[1].FileType != test.types {
			t.Errorf("%s: %d rows, %+v", test.ending, table.Rows, table.Columns)
		}
		if f := table.Files; test.rows == 4 && (f == nil || f.Count != 3 || f.Partitions != 3 || !slices.Equal(f.LeftOut, []string{"k=2/_b.csv"})) {
			t.Errorf("%s: %+v", test.ending, f)
		}
	}
}

// The file that has damaged values is named, before a ledger is made over it.
func TestSeveralDamaged(t *testing.T) {
	o, dir := open(t), t.TempDir()
	for _, name := range []string{"a.parquet", "b.parquet", "c.parquet"} {
		o.do(t, "COPY (SELECT 1::BIGINT AS id, 'Köln' AS x, 1 AS k) TO '"+filepath.Join(dir, name)+"' (FORMAT parquet, COMPRESSION uncompressed)")
	}
	text, err := os.ReadFile(filepath.Join(dir, "b.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "b.parquet", strings.ReplaceAll(string(text), "ö", "\xf6 "))
	declared := strings.Replace(several("?.parquet"), `type = "integer", lower = 0, upper = 9`, `type = "text"`, 1)
	if got := strings.Join(findings(run(t, o, dir, declared)), "\n"); !strings.Contains(got, "problem x: b.parquet: it has text that is not UTF-8") {
		t.Error(got)
	}
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), declared)
	if err != nil {
		t.Fatal(err)
	}
	unread, _, err := check.FindUnread(t.Context(), c, o, nil)
	if err != nil || len(unread) != 1 || !strings.Contains(unread[0].Damage, "b.parquet: it has text") {
		t.Errorf("%+v, %v", unread, errors.Join(err))
	}
}
