//go:build cgo

package postgres_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestPsql holds sessions of psql against transcripts. Noisy numbers are shown as #.
func TestPsql(t *testing.T) {
	s := start(t, nil)
	datadriven.Walk(t, "testdata/psql", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := s.psql(t, "-c", d.Input)
			if d.HasArg("noisy") {
				out = blur(out)
			}
			return out
		})
	})
}

// blur puts # for each number, and drops the widths that depend on them.
func blur(out string) string {
	out = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?`).ReplaceAllString(out, "#")
	out = regexp.MustCompile(` +`).ReplaceAllString(out, " ")
	out = regexp.MustCompile(`-+(\+-+)*`).ReplaceAllString(out, "--")
	lines := strings.Split(out, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
