package owner

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/check"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
)

var rewrite = flag.Bool("rewrite", false, "print anew what is out of date")

// A report is printed as testdata/report.txt has it.
func TestReport(t *testing.T) {
	text, err := os.ReadFile("../../check/testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	var r check.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	writeReport(terminal.New(nil, &got, nil), &r)
	const path = "testdata/report.txt"
	if *rewrite {
		if err := os.WriteFile(path, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || !bytes.Equal(want, got.Bytes()) {
		t.Errorf("%s differs (%v):\n%s", path, err, got.String())
	}
}

// What a check is at is shown in bytes of a file or in steps, and a bar only where it is
// known how many there are.
func TestProgressLine(t *testing.T) {
	for want, p := range map[string]check.Progress{
		"visits: reading [###############...............] 1.5 MB of 3.0 MB, table 1 of 2": {Table: "visits", At: 1, Tables: 2, Doing: "reading", Done: 1_500_000, All: 3_000_000, Bytes: true},
		"bills: counting units [##########....................] 3 of 9, table 2 of 2":     {Table: "bills", At: 2, Tables: 2, Doing: "counting units", Done: 3, All: 9},
		"visits: comparing columns": {Table: "visits", At: 1, Tables: 1, Doing: "comparing columns"},
	} {
		if got := progressLine(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Of a file that could not be read no rows are counted.
func TestUnreadTable(t *testing.T) {
	var got bytes.Buffer
	writeTable(terminal.New(nil, &got, nil), &check.Table{Name: "visits", Source: "held.duckdb#visits", Findings: []check.Finding{{Severity: check.Problem, Message: "it cannot be checked"}}})
	if want := "visits (held.duckdb#visits)\n  problem: it cannot be checked\n"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}
