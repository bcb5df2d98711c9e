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
