package propose_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/propose"
)

var rewrite = flag.Bool("rewrite", false, "renew the golden files")

func open(t *testing.T) engine.Owner {
	t.Helper()
	o, err := duckdb.OpenOwner(t.Context(), duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

// canary is in every value of the test's data, as digits or as text.
const canary = "7340191"

// files writes one file of each format into dir, all of whose values are canaries.
func files(t *testing.T, o engine.Owner, dir string) {
	t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("Clinic Visits.csv", "\ufeffVisitorId,Time spent (minutes),\"a \"\"b\"\"\",paid,day,at,seen,visitorid,,note,gone\n"+
		strings.Repeat(canary+","+canary+",x"+canary+","+canary+".5,2025-01-01,08:30,2025-01-01 08:30:00,1,2,NA,\n", 3)+
		canary+",\"broken "+canary+"\n")
	write("people.jsonl", `{"patient_id": `+canary+`, "name": "`+canary+`", "born": "2025-01-01", "tags": ["`+canary+`"]}`+"\n"+
		canary+" not json\n"+`{"patient_id": null, "zip": "`+canary+`", "ok": true, "w": 1.5}`+"\n")
	do := func(text string) {
		if _, _, err := o.Rows(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TABLE t AS SELECT 7340191::BIGINT AS patient_id, 7::UTINYINT AS u8, 73401.91::DECIMAL(10,2) AS cost,
		'x7340191' AS name, TIMESTAMPTZ '2025-01-01 00:00:00+00' AS seen, [7340191] AS tags, 'x7340191'::BLOB AS raw, 7340191::HUGEINT AS h`)
	do(`COPY t TO '` + filepath.Join(dir, "o''hara.parquet") + `'`)
	do(`ATTACH '` + filepath.Join(dir, "clinic.duckdb") + `' AS c`)
	do(`CREATE TABLE c."Visits" AS SELECT patient_id, cost, 'x7340191'::ENUM('x7340191') AS kind FROM t`)
	do(`CREATE TABLE c.visits2 AS SELECT 7340191::BIGINT AS id, DATE '2025-01-01' AS day`)
	do(`DETACH c`)
}

func TestProposal(t *testing.T) {
	o, dir := open(t), t.TempDir()
	files(t, o, dir)
	path := filepath.Join(dir, "discreet.toml")
	text, err := propose.Catalog(t.Context(), o, path, []string{
		filepath.Join(dir, "Clinic Visits.csv"), filepath.Join(dir, "o'hara.parquet"), filepath.Join(dir, "people.jsonl"),
		filepath.Join(dir, "clinic.duckdb"), filepath.Join(dir, "clinic.duckdb#Visits")})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, canary) || strings.Contains(text, "2025") {
		t.Errorf("the proposal holds data:\n%s", text)
	}
	golden := "testdata/discreet.toml"
	if *rewrite {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != text {
		t.Errorf("%s differs (%v):\n%s", golden, err, text)
	}

	// It is refused as long as anything is undecided, for that alone.
	if err := propose.Create(path, text); err != nil {
		t.Fatal(err)
	}
	var problems diagnostic.List
	if _, err := catalog.Load(path); !errors.As(err, &problems) {
		t.Fatalf("Load of the proposal: %v", err)
	}
	for _, d := range problems {
		if d.Code != "D082" {
			t.Errorf("refused for more than being undecided: %v", d)
		}
	}

	// Decided, it loads.
	if _, err := catalog.Parse(path, decide(text)); err != nil {
		t.Errorf("Load of the decided proposal: %v", err)
	}
}

// decide fills a proposal in, as an owner might.
func decide(text string) string {
	for _, r := range []struct{ old, new string }{
		{`[domains."?"]`, "[domains.patient]"}, {`measure = "?"`, `measure = "zcdp"`}, {`epsilon = "?"`, "epsilon = 3.0"},
		{`delta = "?"`, "delta = 1e-7"}, {`domain = "?"`, `domain = "patient"`}, {`_unit = "?"`, "_unit = 8"},
		{`unit = "?"`, `unit = "row"`}, {`_group = "?"`, "_group = 4"}, {`, lower = "?", upper = "?"`, ""}, {`?"`, `"`},
	} {
		text = strings.ReplaceAll(text, r.old, r.new)
	}
	return text
}

// One "?" left anywhere is enough to be refused.
func TestEachMarkIsRefused(t *testing.T) {
	o, dir := open(t), t.TempDir()
	files(t, o, dir)
	text, err := propose.Catalog(t.Context(), o, filepath.Join(dir, "discreet.toml"), []string{filepath.Join(dir, "people.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile(`\?"`).FindAllStringIndex(text[strings.Index(text, "[domains"):], -1)
	if len(marks) < 15 {
		t.Fatalf("%d marks in\n%s", len(marks), text)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") || !strings.Contains(line, `?"`) {
			continue
		}
		almost := decide(strings.Replace(text, line, "@", 1))
		_, err := catalog.Parse("discreet.toml", strings.Replace(almost, "@", line, 1))
		var d *diagnostic.Diagnostic
		if !errors.As(err, &d) || d.Code != "D082" {
			t.Errorf("left undecided: %s\ngives %v", line, err)
		}
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "discreet.toml")
	if err := propose.Create(path, "mine"); err != nil {
		t.Fatal(err)
	}
	var d *diagnostic.Diagnostic
	if err := propose.Create(path, "other"); !errors.As(err, &d) || d.Code != "D095" {
		t.Errorf("second Create: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("overwritten with %q", text)
	}
}

func TestRefusedFiles(t *testing.T) {
	o, dir := open(t), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, file := range []string{
		filepath.Join(dir, "absent.csv"), dir, write("a.xlsx", canary), write("empty.csv", ""), write("empty.jsonl", ""),
		write("not.parquet", canary), write("not.duckdb", canary+strings.Repeat("x", 5000)), write("list.jsonl", "["+canary+"]\n"),
	} {
		_, err := propose.Catalog(t.Context(), o, filepath.Join(dir, "discreet.toml"), []string{file})
		var d *diagnostic.Diagnostic
		if !errors.As(err, &d) || d.Code != "D096" || strings.Contains(err.Error()+d.Why+d.Hint, canary) {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
	if _, err := propose.Catalog(t.Context(), o, "discreet.toml", nil); err == nil {
		t.Error("no files: no refusal")
	}
}
