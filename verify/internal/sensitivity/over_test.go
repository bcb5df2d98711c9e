package sensitivity_test

import "testing"

// Over says of which numbers a result speaks: floats that may round what is private are
// reals, whatever whole numbers go into them and come out.
func TestOver(t *testing.T) {
	want := map[string]string{
		"WholeAll": "integers", "ThereAndBack": "reals", "SumBack": "reals", "Shifted": "reals",
		"AnySize": "reals", "OfBoundedSize": "grid", "WeighedAfter": "grid", "BackInCallee": "reals",
		"HalfOfWhole": "reals", "InElement": "reals", "LessThanThree": "reals", "LessThanQuotient": "reals", "LessThanSum": "reals",
	}
	all, p := load(t, "./testdata/over")
	for _, s := range all {
		r := s.check(p)
		if !r.Proved || string(r.Over) != want[s.Name] {
			t.Errorf("%s: %v over %s, want %s: %s", s.Name, r.Proved, r.Over, want[s.Name], reasons(r))
		}
		delete(want, s.Name)
	}
	for name := range want {
		t.Errorf("there is no %s", name)
	}
}
