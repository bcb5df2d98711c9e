package source_test

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

func TestLoadPlain(t *testing.T) {
	read, err := source.Load(context.Background(), ".", "./testdata/plain")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range read {
		for _, r := range p.Refusals {
			t.Error(r)
		}
		for _, u := range p.Units {
			for _, r := range u.Refusals {
				t.Error(r)
			}
			if u.Claim == nil || u.Function == nil {
				t.Errorf("%s has no claim, or no function", u.Name)
				continue
			}
			t.Logf("%s\n%s", u.Claim.Text, program.Print(u.Function))
		}
	}
}
