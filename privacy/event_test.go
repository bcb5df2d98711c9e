package privacy_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func eps(s string) privacy.Epsilon {
	e, err := privacy.ParseEpsilon(s)
	if err != nil {
		panic(err)
	}
	return e
}

func del(s string) privacy.Delta {
	d, err := privacy.ParseDelta(s)
	if err != nil {
		panic(err)
	}
	return d
}

func TestEventForms(t *testing.T) {
	rho, err := privacy.ParseRho("0.125")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		event      privacy.Event
		text, json string
	}{
		{privacy.DiscreteLaplace{Scale: rat("2"), Sensitivity: rat("1")}, "discrete_laplace(2, sensitivity=1)", `{"discrete_laplace":{"b":2,"sensitivity":1}}`},
		{privacy.Laplace{Scale: rat("1/3"), Sensitivity: rat("1/2")}, "laplace(1/3, sensitivity=0.5)", `{"laplace":{"b":"1/3","sensitivity":0.5}}`},
		{privacy.DiscreteGaussian{Variance: rat("123.4"), SensitivitySquared: rat("8")}, "discrete_gaussian(sqrt(123.4), sensitivity=sqrt(8))", `{"discrete_gaussian":{"sigma":"sqrt(123.4)","sensitivity":"sqrt(8)"}}`},
		{privacy.Gaussian{Variance: rat("1.21"), SensitivitySquared: rat("4")}, "gaussian(1.1, sensitivity=2)", `{"gaussian":{"sigma":1.1,"sensitivity":2}}`},
		{privacy.Selection{Epsilon: eps("0.5"), Delta: del("1e-9")}, "selection(0.5, 1e-9)", `{"selection":{"eps":0.5,"delta":1e-9}}`},
		{privacy.Pure{Epsilon: eps("1")}, "pure(1)", `{"pure":{"eps":1}}`},
		{privacy.Approx{Epsilon: eps("1"), Delta: del("0")}, "approx(1, 0)", `{"approx":{"eps":1,"delta":0}}`},
		{privacy.ZCDP{Rho: rho}, "zcdp(0.125)", `{"zcdp":{"rho":0.125}}`},
		{privacy.Repeat{Count: 8, Event: privacy.Selection{Epsilon: eps("0.5"), Delta: del("1e-9")}}, "8*selection(0.5, 1e-9)", `{"repeat":{"count":8,"event":{"selection":{"eps":0.5,"delta":1e-9}}}}`},
		{privacy.Repeat{Count: 2, Event: privacy.Repeat{Count: 3, Event: privacy.Pure{Epsilon: eps("1")}}}, "2*(3*pure(1))", `{"repeat":{"count":2,"event":{"repeat":{"count":3,"event":{"pure":{"eps":1}}}}}}`},
		{privacy.Repeat{Count: 2, Event: privacy.Sum{Events: []privacy.Event{privacy.Repeat{Count: 3, Event: privacy.Pure{Epsilon: eps("1")}}}}}, "2*(3*pure(1))", `{"repeat":{"count":2,"event":{"sum":[{"repeat":{"count":3,"event":{"pure":{"eps":1}}}}]}}}`},
		{privacy.Sum{Events: []privacy.Event{privacy.Pure{Epsilon: eps("1")}, privacy.Sum{Events: []privacy.Event{privacy.Pure{Epsilon: eps("2")}, privacy.Pure{Epsilon: eps("3")}}}}}, "pure(1) + (pure(2) + pure(3))", `{"sum":[{"pure":{"eps":1}},{"sum":[{"pure":{"eps":2}},{"pure":{"eps":3}}]}]}`},
		{privacy.Parallel{Events: []privacy.Event{privacy.Pure{Epsilon: eps("1")}, privacy.GDP{Mu: rat("1")}}}, "parallel(pure(1), gdp(1))", `{"parallel":[{"pure":{"eps":1}},{"gdp":{"mu":1}}]}`},
		{privacy.Exponential{Epsilon: eps("1")}, "exponential(1)", `{"exponential":{"eps":1}}`},
		{privacy.PermuteAndFlip{Epsilon: eps("1")}, "permute_and_flip(1)", `{"permute_and_flip":{"eps":1}}`},
		{privacy.NoisyMax{Epsilon: eps("1")}, "noisy_max(1)", `{"noisy_max":{"eps":1}}`},
		{privacy.SparseVector{Epsilon: eps("1")}, "sparse_vector(1)", `{"sparse_vector":{"eps":1}}`},
		{privacy.RandomizedResponse{P: rat("2/3"), K: 4}, "randomized_response(2/3, k=4)", `{"randomized_response":{"p":"2/3","k":4}}`},
		{privacy.RDP{Orders: []*big.Rat{rat("2"), rat("4.5")}, Eps: []*big.Rat{rat("0.5"), rat("1/3")}}, "rdp(2: 0.5, 4.5: 1/3)", `{"rdp":{"orders":[2,4.5],"eps":[0.5,"1/3"]}}`},
		{privacy.Tree{Sigma: rat("1.5"), Sensitivity: rat("2"), Leaves: 8}, "tree(1.5, 8, sensitivity=2)", `{"tree":{"sigma":1.5,"leaves":8,"sensitivity":2}}`},
		{privacy.TruncatedPoisson{Rate: rat("0.01"), N: 1000, AtMost: 20, Event: privacy.Gaussian{Variance: rat("1"), SensitivitySquared: rat("1")}}, "truncated_poisson(0.01, 1000, 20, gaussian(1, sensitivity=1))", `{"truncated_poisson":{"rate":0.01,"n":1000,"at_most":20,"event":{"gaussian":{"sigma":1,"sensitivity":1}}}}`},
		{privacy.Poisson{Rate: rat("0.01"), Event: privacy.Gaussian{Variance: rat("2"), SensitivitySquared: rat("1")}}, "poisson(0.01, gaussian(sqrt(2), sensitivity=1))", `{"poisson":{"rate":0.01,"event":{"gaussian":{"sigma":"sqrt(2)","sensitivity":1}}}}`},
		{privacy.WithoutReplacement{M: 10, N: 100, Event: privacy.Pure{Epsilon: eps("1")}}, "without_replacement(10, 100, pure(1))", `{"without_replacement":{"m":10,"n":100,"event":{"pure":{"eps":1}}}}`},
		{privacy.WithReplacement{M: 10, N: 100, Event: privacy.Pure{Epsilon: eps("1")}}, "with_replacement(10, 100, pure(1))", `{"with_replacement":{"m":10,"n":100,"event":{"pure":{"eps":1}}}}`},
		{privacy.Shuffled{N: 100, Event: privacy.Pure{Epsilon: eps("1")}}, "shuffled(100, pure(1))", `{"shuffled":{"n":100,"event":{"pure":{"eps":1}}}}`},
	} {
		if got := tc.event.String(); got != tc.text {
			t.Errorf("text is %s, want %s", got, tc.text)
		}
		data, err := json.Marshal(tc.event)
		if err != nil || string(data) != tc.json {
			t.Errorf("JSON of %v is %s, %v; want %s", tc.event, data, err, tc.json)
		}
		back, err := plan.UnmarshalEvent(data)
		if err != nil || back.String() != tc.text {
			t.Errorf("%s reads back as %v, %v", data, back, err)
		}
	}
}

func TestEventsRefused(t *testing.T) {
	for _, e := range []privacy.Event{
		privacy.DiscreteLaplace{}, privacy.DiscreteLaplace{Scale: rat("0"), Sensitivity: rat("1")}, privacy.DiscreteLaplace{Scale: rat("1"), Sensitivity: rat("-1")}, privacy.Laplace{Scale: rat("-2"), Sensitivity: rat("1")},
		privacy.DiscreteGaussian{Variance: rat("1"), SensitivitySquared: nil}, privacy.Gaussian{Variance: nil, SensitivitySquared: rat("1")}, privacy.Gaussian{Variance: rat("1"), SensitivitySquared: rat("0")},
		privacy.Selection{}, privacy.Pure{}, privacy.Approx{}, privacy.ZCDP{}, privacy.Repeat{}, privacy.Repeat{Count: 0, Event: privacy.Pure{Epsilon: eps("1")}}, privacy.Repeat{Count: -1, Event: privacy.Pure{Epsilon: eps("1")}}, privacy.Repeat{Count: 2, Event: privacy.Pure{}},
		privacy.Approx{Epsilon: eps("1"), Delta: del("0.6").Add(del("0.6"))},
		privacy.RandomizedResponse{}, privacy.RandomizedResponse{P: rat("1"), K: 2}, privacy.RandomizedResponse{P: rat("0.5"), K: 1}, privacy.RDP{}, privacy.RDP{Orders: []*big.Rat{rat("2")}, Eps: nil},
		privacy.RDP{Orders: []*big.Rat{rat("1")}, Eps: []*big.Rat{rat("1")}}, privacy.RDP{Orders: []*big.Rat{rat("2"), rat("2")}, Eps: []*big.Rat{rat("1"), rat("1")}}, privacy.GDP{}, privacy.GDP{Mu: rat("-1")},
		privacy.Tree{}, privacy.Tree{Sigma: rat("1"), Sensitivity: rat("1")}, privacy.Poisson{}, privacy.Poisson{Rate: rat("2"), Event: privacy.Pure{Epsilon: eps("1")}}, privacy.Poisson{Rate: rat("0.5"), Event: nil},
		privacy.WithoutReplacement{M: 3, N: 2, Event: privacy.Pure{Epsilon: eps("1")}}, privacy.WithReplacement{M: 1, N: privacy.MaxCount + 1, Event: privacy.Pure{Epsilon: eps("1")}}, privacy.Shuffled{N: 0, Event: privacy.Pure{Epsilon: eps("1")}}, privacy.Shuffled{N: 1, Event: nil},
		privacy.Sum{}, privacy.Sum{Events: []privacy.Event{nil}}, privacy.Parallel{}, privacy.Parallel{Events: []privacy.Event{privacy.Pure{}}}, privacy.Repeat{Count: privacy.MaxCount + 1, Event: privacy.Pure{Epsilon: eps("1")}},
	} {
		if err := e.Validate(); err == nil {
			t.Errorf("%#v is valid", e)
		}
		if data, err := json.Marshal(e); err == nil {
			t.Errorf("%#v is written as %s", e, data)
		}
		_ = e.String() // must not panic: it stands in error messages
	}
	for _, in := range []string{
		`{}`, `[]`, `null`, `1`, `{"pure":{"eps":1},"zcdp":{"rho":1}}`, `{"unknown":{}}`, `{"pure":{"eps":-1}}`, `{"pure":{"eps":"NaN"}}`,
		`{"pure":{"eps":1,"delta":0.1}}`, `{"pure":{"epsilon":1}}`, `{"approx":{"eps":1}}`, `{"approx":{"eps":1,"delta":1}}`,
		`{"laplace":{"sigma":1}}`, `{"gaussian":{"b":1}}`, `{"laplace":{"b":1,"sigma":1}}`, `{"gaussian":{"sigma":-1}}`,
		`{"gaussian":{"sigma":"sqrt(2"}}`, `{"gaussian":{"sigma":"sqrt(-2)"}}`, `{"laplace":{}}`,
		`{"repeat":{"count":1.5,"event":{"pure":{"eps":1}}}}`, `{"repeat":{"count":1}}`,
	} {
		if e, err := plan.UnmarshalEvent([]byte(in)); err == nil {
			t.Errorf("%s is read as %v", in, e)
		}
	}
	if e, err := plan.UnmarshalEvent([]byte(`{"gaussian":{"sigma":1.1}}`)); err != nil || e.String() != "gaussian(1.1, sensitivity=1)" {
		t.Errorf("a sensitivity left out is read as %v, %v", e, err)
	}
}
