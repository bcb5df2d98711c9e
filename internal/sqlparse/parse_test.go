package sqlparse

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// TestTrees holds the trees of what is accepted against testdata/trees, and the
// places of their nodes against testdata/spans. Rewrite them with -rewrite.
func TestTrees(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			q, err := Parse(d.Input)
			if err != nil {
				var b strings.Builder
				if err := err.(*diagnostic.Diagnostic).Write(&b); err != nil {
					t.Fatal(err)
				}
				return b.String()
			}
			checkSpans(t, q, d.Input)
			switch d.Cmd {
			case "tree":
				return dump(q) + "\n"
			case "spans":
				return dumpSpans(q, d.Input)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}
