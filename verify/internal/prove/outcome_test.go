package prove_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/prove"
)

// An outcome is whole, and results that are counted in units may not be: those that no
// outcome is would be told apart at no cost.
func TestOutcomesInUnits(t *testing.T) {
	u := units(t, "../internal/prove/testdata/traps")["Coarsely"]
	for _, units := range [][]string{nil, {"c"}} {
		c := &prove.Certificate{
			Version: 1,
			Program: prove.Hash(u.Function, u.Claim),
			Units:   units,
			Orientations: []prove.Orientation{{
				Direction: "forward",
				Alignment: []prove.Shift{{Draw: 1, Name: "discreteLaplace1", Expr: "-diff(y)"}},
			}},
		}
		if err := prove.Check(t.Context(), u.Function, u.Claim, c); !errors.Is(err, prove.ErrCertificate) {
			t.Errorf("in units %q: %v", units, err)
		}
	}
}

// Alignments of the source may speak of the outcome. They are checked like those that are
// found: a wrong one proves nothing of a right program, and what fails is said.
func TestAlignmentsByHand(t *testing.T) {
	needZ3(t)
	all := units(t, "./hand", "../internal/prove/testdata/traps")
	for _, c := range []struct{ name, fails string }{
		{"NoisyMax", ""},
		{"NoisyMaxStill", "arg is result in the second run too"},
		{"NoisyMaxAll", "the cost is covered by the claim"},
		{"NoisyMaxScaled", ""},
		{"Above", ""},
		{"AboveBackwards", "if the first run returns result, so does the second"},
		{"Calls", ""},
		{"DownwardsMoved", "one-sided noise is shifted upwards"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := all[c.name]
			if u == nil || u.Function == nil {
				t.Fatalf("%s is not read", c.name)
			}
			o, err := prove.Prove(t.Context(), u.Function, u.Claim, prove.Options{})
			if err != nil {
				t.Fatal(err)
			}
			tried := strings.Join(o.Tried, "\n")
			switch {
			case c.fails != "":
				if o.Status == prove.Proved || !strings.Contains(tried, "with the shifts of //dp:align, k: ") || !strings.HasSuffix(tried, c.fails) {
					t.Errorf("status %v, tried %q; want it said that this fails: %s", o.Status, tried, c.fails)
				}
			case o.Status != prove.Proved:
				t.Errorf("status %v, tried %q", o.Status, tried)
			default:
				if err := prove.Check(t.Context(), u.Function, u.Claim, o.Certificate); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
