package propose_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/propose"
)

// Whatever a text file holds, however its columns are named, the proposal is a
// catalog that lacks nothing but decisions, or the file is refused.
func TestAnyTextFile(t *testing.T) {
	o, dir := open(t), t.TempDir()
	pieces := []string{"a", "B", "\"", "\"\"", ",", ",,", "\n", "\r\n", "\x00", "\xff", "\ufeff", "é", "\\", "?", "row", "{", "}", "[", ":", "\"a\":",
		"\"?\":", "1", "1.5", "true", "null", "2025-01-01", "#", "'", "\t", "\"A\": 2", "{\"a\": 1}", "{\"\": [1]}", " "}
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "text") {
			text += p
		}
		path := filepath.Join(dir, rapid.SampledFrom([]string{"x.csv", "x.jsonl"}).Draw(t, "name"))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		proposal, err := propose.Catalog(t.Context(), o, filepath.Join(dir, "discreet.toml"), []string{path})
		var d *diagnostic.Diagnostic
		if err != nil {
			if !errors.As(err, &d) || d.Code != "D096" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if _, err := catalog.Parse("discreet.toml", proposal); !errors.As(err, &d) {
			t.Fatalf("%q: the proposal loads undecided (%v):\n%s", text, err, proposal)
		}
	})
}
