package verify

import (
	"go/types"
	"hash/crc32"
	"math/big"
	"os"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
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
	if r := d.syntax.Cost(t.Context(), u.Info.Defs[u.Decl.Name].(*types.Func).FullName(), u.Claim); !r.Proved {
		t.Fatalf("the rules prove nothing, and nothing is tested: %s", r.Note)
	}
	searched(t, d)
}

// searched fails unless a decision evaluates what the rules prove, and refutes it; and applies
// the rules alone where it only checks.
func searched(t *testing.T, d *decision) {
	t.Helper()
	if !d.static(t.Context()) || d.result.Verdict != Refuted {
		t.Errorf("%s: %s", d.result.Verdict, d.result.Note)
	}
	d.result, d.options.Check = Result{}, true
	if !d.static(t.Context()) || d.result.Verdict != Proved {
		t.Errorf("checked: %s: %s", d.result.Verdict, d.result.Note)
	}
}

// So is a sensitivity: here the rules are shown a body that keeps the claim, and the lowered
// program is of one that does not.
func TestSensitivitiesAreEvaluated(t *testing.T) {
	loaded, err := source.Load(t.Context(), "", "./testdata/trusted")
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]*source.Unit{}
	for _, u := range loaded[0].Units {
		units[u.Name] = u
	}
	u := *units["Once"]
	u.Function = units["Twice"].Function
	d := &decision{unit: &u, syntax: sensitivity.New(syntax(loaded), nil), options: Options{Timeout: time.Minute}}
	if r := d.syntax.Check(t.Context(), u.Info.Defs[u.Decl.Name].(*types.Func).FullName(), u.Claim); !r.Proved {
		t.Fatalf("the rules prove nothing, and nothing is tested: %s", r.Note)
	}
	searched(t, d)
}

// No right claim is refuted, and of nine tenths of what it allows nearly each is: what the
// evaluation tries is enough to tell how far results move. (Some may move less than the
// rules see.) A sixth of the programs is run, with DISCREET_SOAK all.
func TestRightSensitivities(t *testing.T) {
	loaded, err := source.Load(t.Context(), "", "./internal/sensitivity/testdata/accept")
	if err != nil {
		t.Fatal(err)
	}
	least, of := 7, func(name string) bool { return crc32.ChecksumIEEE([]byte(name))%6 == 0 }
	if os.Getenv("DISCREET_SOAK") != "" {
		least, of = 70, func(string) bool { return true }
	}
	seen, told := 0, 0
	for _, u := range loaded[0].Units {
		if len(u.Claim.Sensitivities) == 0 || u.Function == nil || !of(u.Name) {
			continue
		}
		seen++
		d := &decision{unit: u, options: Options{Timeout: time.Minute}}
		if d.moved(t.Context()) {
			t.Errorf("%s is refuted: %+v", u.Name, d.result.Counterexample)
		}
		for i := range u.Claim.Sensitivities {
			s := &u.Claim.Sensitivities[i]
			s.Most = program.Binary{Op: program.Mul, X: program.Number{Value: big.NewRat(9, 10), Sort: program.Real}, Y: s.Most}
		}
		if d.moved(t.Context()) {
			told++
		} else {
			t.Logf("nine tenths of what %s claims is not refuted", u.Name)
		}
	}
	if seen < least || 20*told < 19*seen {
		t.Errorf("of %d programs that were read %d do not move further than nine tenths", seen, seen-told)
	}
}
