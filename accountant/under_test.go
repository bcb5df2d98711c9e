package accountant

import (
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// An event that states its relation costs there what its twin without a statement does:
// under replace-one its sensitivities are the doubled ones already. Of the other relation
// nothing is said, whatever it lies in.
func TestStatedRelations(t *testing.T) {
	for _, tc := range []struct{ stated, plain string }{
		{"add_remove(laplace(1, sensitivity=2))", "laplace(1, sensitivity=2)"},
		{"3*add_remove(discrete_gaussian(2) + pure(0.1))", "3*(discrete_gaussian(2) + pure(0.1))"},
		{"poisson(0.1, add_remove(laplace(1)))", "poisson(0.1, laplace(1))"},
		{"add_remove(poisson(0.1, add_remove(gaussian(2))))", "poisson(0.1, gaussian(2))"},
		{"parallel(add_remove(pure(1)), laplace(2))", "parallel(pure(1), laplace(2))"},
		{"replace_one(laplace(1, sensitivity=2))", "laplace(1)"},
		{"replace_one(discrete_laplace(3, sensitivity=2) + discrete_gaussian(4, sensitivity=2))", "discrete_laplace(3) + discrete_gaussian(4)"},
		{"replace_one(tree(5, 8, sensitivity=2) + gaussian(4, sensitivity=2) + pure(0.1))", "tree(5, 8) + gaussian(4) + pure(0.1)"},
		{"replace_one(randomized_response(0.75))", "randomized_response(0.75)"},
		{"without_replacement(10, 100, replace_one(laplace(1, sensitivity=2)))", "without_replacement(10, 100, laplace(1))"},
		{"replace_one(without_replacement(10, 100, replace_one(gaussian(1, sensitivity=2))))", "without_replacement(10, 100, gaussian(1))"},
		{"shuffled(1000, replace_one(pure(1)))", "shuffled(1000, pure(1))"},
	} {
		holds := 0
		for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
			for _, group := range []int{0, 3} {
				o := Options{Neighbours: n, Group: group, Accountant: "rdp"}
				got, err := Epsilon(t.Context(), parse(t, tc.stated), 1e-6, o)
				if err != nil {
					continue
				}
				holds++
				want, err := Epsilon(t.Context(), parse(t, tc.plain), 1e-6, o)
				if err != nil {
					t.Fatal(err)
				}
				a, _ := got.Best()
				b, _ := want.Best()
				if *a.Epsilon != *b.Epsilon || a.Accountant != b.Accountant || len(got.Warnings) != len(want.Warnings) {
					t.Errorf("%s under %v in groups of %d: %v, want %v", tc.stated, n, group, a, b)
				}
			}
		}
		if holds != 2 {
			t.Errorf("%s holds in %d of 4 cases", tc.stated, holds)
		}
	}
	// What a ledger is charged for it: the doubled sensitivity once.
	ten, err := privacy.ParseEpsilon("10")
	if err != nil {
		t.Fatal(err)
	}
	f, err := filter.New(filter.Budget{Measure: filter.ZCDP, Epsilon: ten, Delta: parseDelta(t, "1e-6"), Neighbours: privacy.ReplaceOne})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Guarantee(t.Context(), parse(t, "replace_one(gaussian(2, sensitivity=2))"), f, privacy.Delta{}, Options{Neighbours: privacy.ReplaceOne})
	if err != nil || e.String() != "zcdp(0.5)" {
		t.Errorf("%v, %v", e, err)
	}
	if _, err := Guarantee(t.Context(), parse(t, "add_remove(gaussian(2))"), f, privacy.Delta{}, Options{Neighbours: privacy.ReplaceOne}); err == nil {
		t.Error("an add-remove event has a guarantee under replace-one")
	}
	if _, err := Guarantee(t.Context(), parse(t, "gaussian(2)"), f, privacy.Delta{}, Options{}); err == nil {
		t.Error("a guarantee for add-remove is given to a filter for replace-one")
	}
}
