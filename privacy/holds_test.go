package privacy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// Which neighbours an event speaks of, and why not of the others. What
// dp_accounting's accountants refuse as a mismatch is among them (randomized response
// and fixed-size samples under add-remove, sampled Laplace noise under replace-one);
// where they only lack a method, as for plain Laplace noise under replace-one, an
// event speaks. A tree's unit that is added or removed leaves the others' places
// alone, which is what they call a special replacement.
// What speaks of replace-special is what dp_accounting's accountants support under
// REPLACE_SPECIAL, and why the rest does not is said.
func TestHoldsUnderReplaceSpecial(t *testing.T) {
	for text, why := range map[string]string{
		"gaussian(1)": "", "laplace(1)": "", "discrete_laplace(1)": "", "discrete_gaussian(1)": "", "tree(1, 8)": "",
		"pure(1) + approx(1, 1e-6) + zcdp(1) + rdp(2: 1) + gdp(1) + exponential(1) + permute_and_flip(1)": "",
		"randomized_response(0.75)":                               "",
		"poisson(0.1, gaussian(1))":                               "",
		"poisson(0.1, 2*(gaussian(1) + laplace(1)))":              "",
		"poisson(0.1, poisson(0.1, discrete_gaussian(1)))":        "",
		"poisson(0.1, randomized_response(0.75))":                 "additive noise only",
		"poisson(0.1, pure(1))":                                   "additive noise only",
		"without_replacement(5, 10, gaussian(1))":                 "account under replace-one, which includes it",
		"with_replacement(5, 10, gaussian(1))":                    "account under replace-one, which includes it",
		"shuffled(10, randomized_response(0.75))":                 "account under replace-one, which includes it",
		"3*shuffled(10, randomized_response(0.75))":               "account under replace-one, which includes it",
		"parallel(gaussian(1), shuffled(10, pure(1)))":            "account under replace-one, which includes it",
		"parallel(gaussian(1), randomized_response(0.75))":        "",
		"replace_special(gaussian(1))":                            "",
		"replace_one(gaussian(1))":                                "calibrated for replace-one",
		"add_remove(gaussian(1))":                                 "calibrated for add-remove",
		"poisson(0.1, add_remove(gaussian(1)))":                   "additive noise only",
		"2*poisson(0.1, replace_special(gaussian(1)))":            "additive noise only",
		"parallel(replace_special(pure(1)), add_remove(pure(1)))": "calibrated for add-remove",
	} {
		p, err := plan.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		e, err := p.Event()
		if err != nil {
			t.Fatal(text, err)
		}
		switch err := privacy.Holds(e, privacy.ReplaceSpecial); {
		case why == "" && err != nil, why != "" && (err == nil || !strings.Contains(err.Error(), why)):
			t.Errorf("%s: %v, want %q", text, err, why)
		}
	}
	if err := privacy.Holds(privacy.Under{Neighbours: privacy.ReplaceSpecial, Event: privacy.GDP{Mu: rat("1")}}, privacy.ReplaceOne); err == nil {
		t.Error("what was calibrated for replace-special holds under replace-one")
	}
}

func TestHolds(t *testing.T) {
	const (
		both    = ""
		add     = "account under add-remove"
		replace = "replace-one"
	)
	for _, tc := range []struct {
		plan            string
		remove, replace string // what the refusal under add-remove and replace-one says
	}{
		{"laplace(1)", both, both},
		{"discrete_laplace(1)", both, both},
		{"gaussian(1)", both, both},
		{"discrete_gaussian(1)", both, both},
		{"pure(1) + approx(1, 1e-6) + selection(1, 1e-6) + zcdp(1) + gdp(1) + rdp(2: 1)", both, both},
		{"exponential(1) + permute_and_flip(1) + noisy_max(1) + sparse_vector(1)", both, both},
		{"tree(1, 1024)", both, both},
		{"randomized_response(0.75)", replace, both},
		{"100 * (pure(1) + randomized_response(0.75))", replace, both},

		{"poisson(0.1, gaussian(1))", both, both},
		{"poisson(0.1, 3*gaussian(1) + gaussian(2))", both, both},
		{"poisson(0.1, poisson(0.5, gaussian(1)))", both, both},
		{"poisson(0.1, laplace(1))", both, add},
		{"poisson(0.1, pure(1))", both, add},
		{"poisson(0.1, gaussian(1) + laplace(1))", both, add},
		{"poisson(0.1, 2*poisson(0.1, gaussian(1)))", both, add},
		{"poisson(0.1, randomized_response(0.75))", replace, add},
		{"poisson(0.1, without_replacement(5, 10, gaussian(1)))", "within poisson", add},
		{"poisson(0.1, parallel(pure(1), laplace(1)))", both, add},

		{"without_replacement(10, 100, gaussian(1))", replace, both},
		{"without_replacement(10, 100, laplace(1))", replace, both},
		{"without_replacement(10, 100, randomized_response(0.75))", replace, both},
		{"without_replacement(10, 100, shuffled(10, randomized_response(0.75)))", replace, both},
		{"without_replacement(10, 100, shuffled(11, pure(1)))", replace, "over 11 units, but the sample has 10"},
		{"without_replacement(10, 100, without_replacement(5, 10, pure(1)))", replace, both},
		{"without_replacement(10, 100, pure(1) + 2*without_replacement(5, 50, pure(1)))", replace, "over 50 units, but the sample has 10"},
		{"without_replacement(10, 100, poisson(0.1, gaussian(1)))", replace, both},
		{"without_replacement(10, 100, poisson(0.1, laplace(1)))", replace, "within without_replacement"},
		{"with_replacement(10, 100, gaussian(1))", replace, both},
		{"with_replacement(10, 100, with_replacement(10, 10, gaussian(1)))", replace, both},
		{"with_replacement(10, 100, with_replacement(10, 100, gaussian(1)))", replace, "over 100 units"},

		{"shuffled(1000, randomized_response(0.75))", replace, both},
		{"shuffled(1000, 2*(pure(1) + laplace(1)))", replace, both},
		{"shuffled(1000, poisson(0.1, pure(1)))", replace, "poisson within shuffled: a report is of one unit"},
		{"shuffled(1000, pure(1) + shuffled(1000, pure(1)))", replace, "shuffled within shuffled"},
		{"shuffled(1000, parallel(pure(1), pure(1)))", replace, "parallel within shuffled"},
		{"shuffled(1000, tree(1, 8))", replace, "tree within shuffled"},

		{"add_remove(laplace(1))", both, "calibrated for add-remove"},
		{"replace_one(laplace(1))", "calibrated for replace-one", both},
		{"pure(1) + 3*add_remove(gaussian(1))", both, "calibrated for add-remove"},
		{"add_remove(replace_one(pure(1)))", "within add_remove", "calibrated for add-remove"},
		{"replace_one(randomized_response(0.75))", "calibrated for replace-one", both},
		{"add_remove(randomized_response(0.75))", replace, "calibrated for add-remove"},
		{"poisson(0.1, add_remove(gaussian(1)))", both, add},
		{"poisson(0.1, replace_one(gaussian(1)))", "calibrated for replace-one", "known for gaussian only"},
		{"replace_one(2*poisson(0.1, gaussian(1)))", "calibrated for replace-one", "depends on the sensitivity of add-remove"},
		{"poisson(0.1, replace_one(laplace(1)))", "calibrated for replace-one", add},
		{"without_replacement(10, 100, add_remove(laplace(1)))", replace, "calibrated for add-remove"},
		{"without_replacement(10, 100, replace_one(laplace(1)))", replace, both},
		{"shuffled(1000, replace_one(tree(1, 8)))", replace, "tree within shuffled"},
		{"parallel(replace_one(pure(1)), pure(1))", "calibrated for replace-one", "a unit may leave one part for another"},
		{"parallel(add_remove(pure(1)), pure(1))", both, "calibrated for add-remove"},
		{"parallel(pure(1), gaussian(1))", both, both},
		{"parallel(poisson(0.1, gaussian(1)), gaussian(1))", both, both},
		{"parallel(poisson(0.1, laplace(1)), gaussian(1))", both, add},
		{"parallel(randomized_response(0.75))", replace, both},
		{"parallel(randomized_response(0.75), pure(1))", replace, "a unit may leave one part for another"},
		{"parallel(shuffled(10, pure(1)), pure(1))", replace, "a unit may leave one part for another"},
	} {
		p, err := plan.Parse(tc.plan)
		if err != nil {
			t.Errorf("%s: %v", tc.plan, err)
			continue
		}
		e, err := p.Event()
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range map[privacy.Neighbours]string{privacy.AddRemove: tc.remove, privacy.ReplaceOne: tc.replace} {
			err := privacy.Holds(e, n)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s under %v: %v; want %q", tc.plan, n, err, want)
			}
		}
	}
	var relation *privacy.RelationError
	err := privacy.Holds(privacy.Poisson{Rate: rat("0.1"), Event: privacy.RandomizedResponse{P: rat("0.75"), K: 2}}, privacy.AddRemove)
	if !errors.As(err, &relation) || relation.Event.String() != "randomized_response(0.75, k=2)" || relation.Neighbours != privacy.AddRemove {
		t.Errorf("the refusal is %#v", err)
	}
	for _, e := range []privacy.Event{nil, privacy.Pure{}, privacy.Sum{}} {
		if privacy.Holds(e, privacy.AddRemove) == nil {
			t.Errorf("%v holds", e)
		}
	}
	if privacy.Holds(privacy.Pure{Epsilon: eps("1")}, 7) == nil {
		t.Error("an event speaks of a relation that does not exist")
	}
}
