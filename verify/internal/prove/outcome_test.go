package prove_test

import (
	"errors"
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
