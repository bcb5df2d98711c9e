package exact

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// response is the unit of package mechanism whose requirements leave little: three
// numbers bound each other from all sides.
func response(t *testing.T) *source.Unit {
	t.Helper()
	packages, err := source.Load(t.Context(), "../../..", "./mechanism")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range packages[0].Units {
		if u.Name == "BinaryResponse.say" {
			return u
		}
	}
	t.Fatal("there is no BinaryResponse.say")
	return nil
}

// Settings meet what is required, and differ.
func TestSettings(t *testing.T) {
	u := response(t)
	c, err := compile(u.Function)
	if err != nil {
		t.Fatal(err)
	}
	s := newSpace(c, u.Claim)
	all := s.settings(16, searchDepth)
	for i, choice := range all {
		if p := s.flat(choice, 0); !c.admissible(u.Claim, p.first) {
			t.Errorf("%v is not what is required", choice)
		}
		for _, other := range all[:i] {
			equal := true
			for j := range choice {
				equal = equal && same(choice[j], other[j])
			}
			if equal {
				t.Errorf("%v comes twice", choice)
			}
		}
	}
	if len(all) != 16 {
		t.Errorf("%d settings", len(all))
	}
}

// Without the last of its requirements, of the no of those who mean yes, the response
// tells more than its ratio: hit = 9/10, miss = 1/2 and ratio = 2 are found, where no is
// five times as likely.
func TestResponseWithoutABound(t *testing.T) {
	u := response(t)
	claim := *u.Claim
	claim.Requires = claim.Requires[:len(claim.Requires)-1]
	x, tried, err := Refute(t.Context(), u.Function, &claim, nil, Search{Budget: 300})
	if err != nil || x == nil {
		t.Fatalf("%v, %v", tried, err)
	}
	if x.Forced <= x.Claimed {
		t.Errorf("%v is forced, and %v claimed", x.Forced, x.Claimed)
	}
}

// Numbers that are far from the plain ones are tried where requirements name them; if
// none that is tried meets a requirement, there are no settings.
func TestSettingsAtTheEnds(t *testing.T) {
	u := response(t)
	c, err := compile(u.Function)
	if err != nil {
		t.Fatal(err)
	}
	var hit *program.Variable
	for _, v := range u.Function.Inputs {
		if v.Name == "b.told.hit" {
			hit = v
		}
	}
	one := program.Number{Value: big.NewRat(1, 1), Sort: program.Real}
	third := program.Number{Value: big.NewRat(1, 3), Sort: program.Real}
	ref := program.Ref{Var: hit}
	for _, test := range []struct {
		what program.Expression
		some bool
	}{
		{program.Binary{Op: program.Eq, X: ref, Y: third}, true},
		{program.Binary{Op: program.Lt, X: program.Binary{Op: program.Mul, X: ref, Y: ref}, Y: program.Unary{Op: program.Sub, X: one}}, false},
	} {
		claim := *u.Claim
		claim.Requires = append([]program.Expression{test.what}, claim.Requires...)
		all := newSpace(c, &claim).settings(4, searchDepth)
		if (len(all) > 0) != test.some {
			t.Errorf("%v: %d settings", test.what, len(all))
		}
		if _, _, err := Refute(t.Context(), u.Function, &claim, nil, Search{Budget: 100}); err != nil {
			t.Error(err)
		}
	}
}
