package source_test

import (
	"context"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/source"
)

// That a function panics tells of private data where these decide it, directly or by
// what they let run; not where all that decides it is public.
func TestTellingPanic(t *testing.T) {
	read, err := source.Load(context.Background(), ".", "./testdata/panics")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range read[0].Units {
		if u.Function == nil || u.Claim == nil {
			t.Errorf("%s: %v", u.Name, u.Refusals)
			continue
		}
		pos, tells := source.TellingPanic(u.Function, u.Claim)
		if want := strings.HasPrefix(u.Name, "Tells"); tells != want || tells != pos.IsValid() {
			t.Errorf("%s: %v at %v", u.Name, tells, u.Fset.Position(pos))
		}
	}
}
