package sensitivity_test

import (
	"strings"
	"testing"
)

// No program that breaks its claim is proved, of all that verify is tested with, but where
// the result trusts what another claims.
func TestWrongProgramsAreNotProved(t *testing.T) {
	all, p := load(t, "../../testdata/delta", "../../testdata/lyu", "../../testdata/more", "../../testdata/right", "../../testdata/wrong", "../../testdata/fresh", "../../testdata/open")
	for _, s := range all {
		doc := s.Decl.Doc.Text()
		r := s.check(p)
		if r.Proved && len(r.Uses) == 0 && !strings.Contains(doc, "want: proved") {
			t.Errorf("%s: proved at %s by %s", s.full, r.Inferred, r.Note)
		}
		if r.Proved {
			t.Logf("%s: %s, %s", s.Name, r.Inferred, r.Plan)
		}
	}
}

// A proof that floats would break where they are rounded says that it is of real numbers.
func TestRoundingIsOfReals(t *testing.T) {
	all, p := checked(t)(programs())
	seen := 0
	for _, s := range all {
		if !strings.HasPrefix(s.Name, "Rounding") {
			continue
		}
		seen++
		if r := s.check(p); !r.Proved || r.Over != "reals" {
			t.Errorf("%s: proved %v over %s", s.Name, r.Proved, r.Over)
		}
	}
	if seen != 2 {
		t.Errorf("%d programs were seen", seen)
	}
}
