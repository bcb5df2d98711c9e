package source_test

import (
	"context"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/source"
)

func TestExactness(t *testing.T) {
	read, err := source.Load(context.Background(), ".", "./testdata/exact")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range read[0].Units {
		if u.Function == nil {
			t.Errorf("%s: %v", u.Name, u.Refusals)
			continue
		}
		_, rest, _ := strings.Cut(u.Decl.Doc.Text(), "over: ")
		want, _, _ := strings.Cut(rest, "\n")
		over, note := source.Exactness(u.Function, u.Claim)
		word, text, _ := strings.Cut(want, ", ")
		if over != word || !strings.Contains(note, text) {
			t.Errorf("%s: %s, %q; want %s", u.Name, over, note, want)
		}
	}
	if len(read[0].Units) < 15 {
		t.Errorf("%d functions", len(read[0].Units))
	}
}
