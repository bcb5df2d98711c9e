package sensitivity_test

import (
	"strings"
	"testing"
)

// What the library and its examples claim by sensitivity is proved from the source
// that runs.
func TestRepository(t *testing.T) {
	all, p := load(t, "github.com/discreet-dp/discreet/examples/...", "github.com/discreet-dp/discreet/dataset")
	proved := 0
	for _, s := range all {
		if r := s.check(p); r.Proved {
			proved++
		} else {
			t.Errorf("%s: %s", s.full, reasons(r))
		}
	}
	if proved == 0 {
		t.Error("nothing is claimed")
	}
}

// All claims of the repository, and all programs of this package's tests, once their
// types are known.
func BenchmarkRepository(b *testing.B) {
	all, p := load(b, "github.com/discreet-dp/discreet/...", "./testdata/fuzz", "./testdata/duet", "./testdata/pinq")
	b.ResetTimer()
	for b.Loop() {
		for _, s := range all {
			if s.Claim.Cost == nil || strings.Contains(s.full, "sensitivity/testdata") || strings.Contains(s.full, "/examples/") {
				s.check(p)
			}
		}
	}
	b.ReportMetric(float64(len(all)), "functions")
}
