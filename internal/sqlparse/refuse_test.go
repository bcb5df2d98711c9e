package sqlparse

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/diagnostic/diagnostictest"
)

func TestRefusals(t *testing.T) {
	diagnostictest.Run(t, "testdata/refuse/*.sql", func(sql string) error {
		_, err := Parse(sql)
		return err
	})
}

// TestExamples holds the catalogue to its word: each code's example triggers it.
func TestExamples(t *testing.T) {
	for _, e := range diagnostic.Entries() {
		if e.Code >= "D010" {
			continue
		}
		_, err := Parse(e.Example)
		d, ok := err.(*diagnostic.Diagnostic)
		if !ok || d.Code != e.Code {
			t.Errorf("%s: %q gives %v", e.Code, e.Example, err)
		} else if d.Source != "query" || d.Text != e.Example {
			t.Errorf("%s: the diagnostic does not hold the text", e.Code)
		}
	}
}
