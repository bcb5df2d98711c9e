package verify

import (
	"go/types"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/sensitivity"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// What rules prove is evaluated on small inputs too: were they wrong, here because they are
// told a false claim of what is called, it would be refuted.
func TestRulesAreEvaluated(t *testing.T) {
	loaded, err := source.Load(t.Context(), "", "./testdata/trusted")
	if err != nil {
		t.Fatal(err)
	}
	units, claims := map[string]*source.Unit{}, map[string]*claim.Claim{}
	for _, u := range loaded[0].Units {
		units[u.Name] = u
		if u.Name == "Cheap" {
			claims[u.Info.Defs[u.Decl.Name].(*types.Func).FullName()] = u.Claim
		}
	}
	u := units["Caller"]
	d := &decision{unit: u, syntax: sensitivity.New(syntax(loaded), claims), options: Options{Timeout: time.Minute, Workers: 1}}
	if r := d.syntax.Cost(u.Info.Defs[u.Decl.Name].(*types.Func).FullName(), u.Claim); !r.Proved {
		t.Fatalf("the rules prove nothing, and nothing is tested: %s", r.Note)
	}
	if !d.static(t.Context()) || d.result.Verdict != Refuted {
		t.Errorf("%s: %s", d.result.Verdict, d.result.Note)
	}
}
