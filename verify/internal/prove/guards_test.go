package prove_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/prove"
)

// What looks like a proof of a wrong program, but for one thing, is none: each condition of the
// theorem is the only one that fails of a certificate.
func TestAlmostProofs(t *testing.T) {
	all := units(t, "../internal/prove/testdata/traps")
	forward := func(shift string) []prove.Orientation {
		return []prove.Orientation{{Direction: "forward", Alignment: shifts(shift)}}
	}
	scaled := []prove.Orientation{{Direction: "forward", Alignment: []prove.Shift{{Draw: 1, Name: "noise", Expr: "-diff(x)"}}}}
	for _, almost := range []struct {
		name         string
		units        []string
		orientations []prove.Orientation
		fails        string
	}{
		{"Squeezed", nil, []prove.Orientation{
			{Direction: "forward", Alignment: shifts("cond(e >= 0 && e <= 2 - x, -e / 2, 0)")},
			{Direction: "backward", Alignment: shifts("cond(e > 2 - x, -diff(x), 0)")},
		}, "it might not keep volume"},
		{"Interval", nil, forward("cond(e >= 0 && e < 4 - x && e >= 4 - x - diff(x) || e >= 4 - x && e < 4 - x - diff(x), -diff(x), 0)"), "is injective"},
		{"Unbounded", nil, forward("-diff(x)"), "no constant bound"},
		{"Downwards", nil, forward("-diff(x)"), "one-sided noise is shifted upwards"},
		{"Even", nil, forward("-diff(x) * (1 / 2)"), "not whole by its form"},
		{"NoneBefore", nil, forward("-diff(x)"), "n is positive where a draw moves"},
		{"ChosenBefore", nil, []prove.Orientation{{Direction: "forward"}}, "n is positive where a draw moves"},
		{"Ways", nil, []prove.Orientation{{Direction: "forward"}}, "too many paths"},
		{"ChosenUnit", []string{"c"}, scaled, "an index of degree 1"},
		{"DrawnUnit", []string{"c"}, scaled, "an integer of degree 1"},
		{"LocalIndex", nil, []prove.Orientation{{Direction: "forward"}}, "both runs read the same element of out"},
	} {
		u := all[almost.name]
		c := &prove.Certificate{Version: 1, Program: prove.Hash(u.Function, u.Claim), Units: almost.units, Orientations: almost.orientations}
		if err := prove.Check(t.Context(), u.Function, u.Claim, c); err == nil || !strings.Contains(err.Error(), almost.fails) {
			t.Errorf("%s: the check says %v; want %q", almost.name, err, almost.fails)
		}
	}
}

// shifts are those of the one draw of a function.
func shifts(expr string) []prove.Shift { return []prove.Shift{{Draw: 0, Name: "noise", Expr: expr}} }
