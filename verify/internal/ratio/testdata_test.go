package ratio_test

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/ratio"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

func TestTry(t *testing.T) {
	read, err := source.Load(context.Background(), "../../..", "./verify/testdata/right", "./verify/testdata/wrong", "./verify/testdata/more", "./verify/testdata/lyu")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range read {
		for _, u := range p.Units {
			for _, r := range u.Refusals {
				t.Log(u.Name, r)
			}
			if u.Function == nil || !ratio.Applies(u.Function) {
				continue
			}
			o, err := ratio.Prove(context.Background(), u.Function, u.Claim)
			if err != nil {
				t.Logf("%s %s: %v", p.Path, u.Name, err)
			} else {
				t.Logf("%s %s: %s, claim %s", p.Path, u.Name, o.Least, u.Claim.Cost.Epsilon)
			}
		}
	}
}
